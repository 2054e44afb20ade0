// A wire between callers and the server that tests can cut and block.
#ifndef REVERSI_TESTS_E2E_TCP_RELAY_H_
#define REVERSI_TESTS_E2E_TCP_RELAY_H_

#include <atomic>
#include <list>
#include <string>
#include <thread>

namespace reversi::e2e {

// Listens on a free loopback port and carries bytes to and from `target` (host:port, an IPv4 loopback).
class TcpRelay {
 public:
  explicit TcpRelay(const std::string& target);
  ~TcpRelay();
  TcpRelay(const TcpRelay&) = delete;
  TcpRelay& operator=(const TcpRelay&) = delete;

  const std::string& address() const { return address_; }
  // Resets every connection that is open now; later ones are served.
  void Cut() {
    cut_ = true;
    Wake();
  }
  // While blocked, nothing from the server is taken off its connections: its callers have stopped reading.
  void Block(bool blocked) {
    blocked_ = blocked;
    Wake();
  }

 private:
  struct Pair {
    int caller = -1;
    int server = -1;
    std::string to_server = {};  // taken, not yet passed on
    std::string to_caller = {};
    bool over = false;
  };
  void Run();
  void Accept();
  void Carry(Pair& pair);
  void Wake();

  uint16_t port_ = 0;
  std::string address_;
  int listener_ = -1;
  int wake_[2] = {-1, -1};
  std::atomic<bool> cut_ = false;
  std::atomic<bool> blocked_ = false;
  std::atomic<bool> stop_ = false;
  std::list<Pair> pairs_;  // of the relay's thread
  std::thread thread_;
};

}  // namespace reversi::e2e

#endif  // REVERSI_TESTS_E2E_TCP_RELAY_H_
