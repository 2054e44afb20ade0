// A network between two processes that the test can cut: forwards connections to one address of loopback.
#ifndef REVERSI_TESTS_STORES_TCP_PROXY_H_
#define REVERSI_TESTS_STORES_TCP_PROXY_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace reversi::stores {

class TcpProxy {
 public:
  // Forwards to host:port of 127.0.0.1.
  explicit TcpProxy(const std::string& target);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  const std::string& address() const { return address_; }  // host:port for clients

  enum class Mode {
    kOpen,
    kCut,     // connections are closed, new ones too
    kFrozen,  // nothing gets through, nothing is closed
    kOneWay,  // what clients send gets through, answers do not
  };
  // Holds for every byte that is sent after it returns. A test failure when the proxy does not take it in a minute.
  void Set(Mode mode);

 private:
  void Run();

  const int target_port_;
  int listener_ = -1;
  std::string address_;
  std::atomic<Mode> mode_ = Mode::kOpen;
  std::atomic<uint64_t> rounds_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace reversi::stores

#endif  // REVERSI_TESTS_STORES_TCP_PROXY_H_
