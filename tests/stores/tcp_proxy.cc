#include "tests/stores/tcp_proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <list>
#include <vector>

namespace reversi::stores {
namespace {

constexpr std::chrono::seconds kPatience{60};

sockaddr_in Loopback(int port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(static_cast<uint16_t>(port));
  return at;
}

void SetUp(int socket) {
  const int yes = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  fcntl(socket, F_SETFL, O_NONBLOCK);
}

// One way of a connection: what has been read and not yet written.
struct Way {
  int from;
  int to;
  std::string held;

  // False = the connection is over.
  bool Move() {
    char piece[65536];
    while (held.size() < (1 << 20)) {
      const ssize_t n = read(from, piece, sizeof piece);
      if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return false;
      if (n < 0) break;
      held.append(piece, static_cast<size_t>(n));
    }
    while (!held.empty()) {
      const ssize_t n = send(to, held.data(), held.size(), MSG_NOSIGNAL);
      if (n < 0) return errno == EAGAIN;
      held.erase(0, static_cast<size_t>(n));
    }
    return true;
  }
};

struct Connection {
  Way up;
  Way down;
};

void Close(const Connection& connection) {
  close(connection.up.from);
  close(connection.up.to);
}

}  // namespace

TcpProxy::TcpProxy(const std::string& target) : target_port_(std::stoi(target.substr(target.rfind(':') + 1))) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at = Loopback(0);
  socklen_t size = sizeof at;
  bind(listener_, reinterpret_cast<sockaddr*>(&at), size);
  listen(listener_, 64);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size);
  address_ = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
  fcntl(listener_, F_SETFL, O_NONBLOCK);
  thread_ = std::thread([this] { Run(); });
}

TcpProxy::~TcpProxy() {
  stopping_ = true;
  thread_.join();
  close(listener_);
}

void TcpProxy::Set(Mode mode) {
  mode_ = mode;
  // The round under way may still be of the old kind; one more is surely of the new one.
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (const uint64_t round = rounds_; rounds_ < round + 2;) {
    if (std::chrono::steady_clock::now() > end) {
      ADD_FAILURE() << "the proxy to port " << target_port_ << " stands still";
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void TcpProxy::Run() {
  std::list<Connection> connections;
  for (; !stopping_; ++rounds_) {
    const Mode mode = mode_;
    std::vector<pollfd> watched;
    if (mode != Mode::kFrozen) watched.push_back({listener_, POLLIN, 0});
    for (const Connection& c : connections) {
      if (mode == Mode::kOpen || mode == Mode::kOneWay) watched.push_back({c.up.from, POLLIN, 0});
      if (mode == Mode::kOpen) watched.push_back({c.up.to, POLLIN, 0});
    }
    poll(watched.data(), watched.size(), 5);
    if (mode != Mode::kFrozen) {
      for (int client = 0; (client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
        const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        // A target that is stopped must not stop the proxy.
        const timeval patience{1, 0};
        setsockopt(server, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        const sockaddr_in to = Loopback(target_port_);
        if (mode == Mode::kCut || connect(server, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
          close(client);
          close(server);
          continue;
        }
        SetUp(client);
        SetUp(server);
        connections.push_back({{client, server, {}}, {server, client, {}}});
      }
    }
    for (auto it = connections.begin(); it != connections.end();) {
      bool going = mode != Mode::kCut;
      if (mode == Mode::kOpen || mode == Mode::kOneWay) going = going && it->up.Move();
      if (mode == Mode::kOpen) going = going && it->down.Move();
      if (going) {
        ++it;
      } else {
        Close(*it);
        it = connections.erase(it);
      }
    }
  }
  for (const Connection& connection : connections) Close(connection);
}

}  // namespace reversi::stores
