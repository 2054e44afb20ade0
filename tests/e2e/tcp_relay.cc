#include "tests/e2e/tcp_relay.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

namespace reversi::e2e {
namespace {

constexpr size_t kMostHeld = 1 << 16;

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void Prepare(int connection) {
  const int on = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(connection, F_SETFL, fcntl(connection, F_GETFL) | O_NONBLOCK);
}

// Closes with a reset, as a cut does.
void Reset(int connection) {
  const linger now{1, 0};
  setsockopt(connection, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close(connection);
}

// Takes what is there; false when the other side is gone.
bool Take(int from, std::string& held) {
  char piece[16384];
  while (held.size() < kMostHeld) {
    const ssize_t n = recv(from, piece, sizeof piece, 0);
    if (n == 0) return false;
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    held.append(piece, static_cast<size_t>(n));
  }
  return true;
}

bool Pass(int to, std::string& held) {
  while (!held.empty()) {
    const ssize_t n = send(to, held.data(), held.size(), MSG_NOSIGNAL);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    held.erase(0, static_cast<size_t>(n));
  }
  return true;
}

}  // namespace

TcpRelay::TcpRelay(const std::string& target)
    : port_(static_cast<uint16_t>(std::stoi(target.substr(target.rfind(':') + 1)))) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in here = Loopback(0);
  socklen_t size = sizeof here;
  bind(listener_, reinterpret_cast<sockaddr*>(&here), size);
  listen(listener_, 128);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&here), &size);
  address_ = "127.0.0.1:" + std::to_string(ntohs(here.sin_port));
  if (pipe2(wake_, O_CLOEXEC | O_NONBLOCK) != 0) wake_[0] = -1;
  thread_ = std::thread([this] { Run(); });
}

TcpRelay::~TcpRelay() {
  stop_ = true;
  Wake();
  thread_.join();
  for (const Pair& pair : pairs_) {
    Reset(pair.caller);
    Reset(pair.server);
  }
  close(listener_);
  close(wake_[0]);
  close(wake_[1]);
}

void TcpRelay::Wake() {
  const ssize_t ignored = write(wake_[1], "", 1);
  static_cast<void>(ignored);
}

void TcpRelay::Run() {
  while (!stop_) {
    std::vector<pollfd> polled = {{wake_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    const bool blocked = blocked_;
    for (const Pair& pair : pairs_) {
      const bool from_server = !blocked && pair.to_caller.size() < kMostHeld;
      polled.push_back({pair.caller,
                        static_cast<short>((pair.to_server.size() < kMostHeld ? POLLIN : 0) |
                                           (pair.to_caller.empty() ? 0 : POLLOUT)),
                        0});
      polled.push_back(
          {pair.server, static_cast<short>((from_server ? POLLIN : 0) | (pair.to_server.empty() ? 0 : POLLOUT)), 0});
    }
    poll(polled.data(), polled.size(), -1);
    char woken[64];
    while (read(wake_[0], woken, sizeof woken) > 0) {
    }
    for (Pair& pair : pairs_) Carry(pair);
    const bool cut = cut_.exchange(false);
    pairs_.remove_if([cut](const Pair& pair) {
      if (!cut && !pair.over) return false;
      Reset(pair.caller);
      Reset(pair.server);
      return true;
    });
    Accept();
  }
}

void TcpRelay::Accept() {
  for (;;) {
    const int caller = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (caller < 0) return;
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in there = Loopback(port_);
    if (connect(server, reinterpret_cast<const sockaddr*>(&there), sizeof there) != 0) {
      Reset(caller);
      close(server);
      continue;
    }
    Prepare(caller);
    Prepare(server);
    pairs_.push_back({caller, server});
  }
}

void TcpRelay::Carry(Pair& pair) {
  const bool open = Take(pair.caller, pair.to_server) && Pass(pair.server, pair.to_server) &&
                    (blocked_ || Take(pair.server, pair.to_caller)) && Pass(pair.caller, pair.to_caller);
  pair.over = !open;
}

}  // namespace reversi::e2e
