#include "tests/stores/etcd_cluster.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <thread>

namespace reversi::stores {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{60};

// The child dies with the thread that calls this. Both outputs go to the file.
pid_t Spawn(std::vector<std::string> words, const std::string& output) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  // All of it before the fork: other threads may hold locks that the child would wait for.
  char version[] = "ETCDCTL_API=3";
  std::vector<char*> variables = {version};
  for (char** v = environ; *v != nullptr; ++v) variables.push_back(*v);
  variables.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  execvpe(argv[0], argv.data(), variables.data());
  _exit(127);
}

// Waits for the child's end and takes its status. Killed, and false, after a minute.
bool Reap(pid_t pid, int* status) {
  for (const auto end = Clock::now() + kPatience; Clock::now() < end;) {
    if (waitpid(pid, status, WNOHANG) == pid) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  kill(pid, SIGKILL);
  waitpid(pid, status, 0);
  return false;
}

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string joined;
  for (const std::string& part : parts) joined += (joined.empty() ? "" : ",") + part;
  return joined;
}

}  // namespace

std::string HttpGet(const std::string& address, const std::string& path) {
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{1, 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);  // connecting, too
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  std::string answer;
  if (connect(connection, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) {
    const std::string request = "GET " + path + " HTTP/1.0\r\n\r\n";
    if (write(connection, request.data(), request.size()) == static_cast<ssize_t>(request.size())) {
      char piece[16384];
      for (ssize_t n = 0; (n = read(connection, piece, sizeof piece)) > 0;) answer.append(piece, static_cast<size_t>(n));
    }
  }
  close(connection);
  return answer;
}

TempFolder::TempFolder() : path_(testing::TempDir() + "reversi_stores_XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no temporary folder " << path_;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

int Run(const std::vector<std::string>& words, std::string* output) {
  const TempFolder folder;
  const std::string file = folder.path() + "/output";
  const pid_t pid = Spawn(words, file);
  int status = 0;
  const bool ended = Reap(pid, &status);
  const std::string wrote = Content(file);
  if (!ended) ADD_FAILURE() << words[0] << " did not end in a minute; it wrote:\n" << wrote;
  if (output != nullptr) *output = wrote;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int FreePort() {
  std::random_device chance;
  for (int tries = 0; tries < 100; ++tries) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // Below the ports that the kernel gives away, so that no connection takes it before its owner comes.
    at.sin_port = htons(static_cast<uint16_t>(10'000 + chance() % 22'000));
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool free = bind(listener, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
    close(listener);
    if (free) return ntohs(at.sin_port);
  }
  ADD_FAILURE() << "no free port";
  return 0;
}

EtcdCluster::EtcdCluster(int nodes, std::vector<std::string> flags)
    : flags_(std::move(flags)),
      tls_(std::any_of(flags_.begin(), flags_.end(),
                       [](const std::string& flag) { return flag.rfind("--cert-file", 0) == 0; })) {
  for (int i = 0; i < nodes; ++i) {
    nodes_.push_back({"127.0.0.1:" + std::to_string(FreePort()), "127.0.0.1:" + std::to_string(FreePort())});
  }
  for (int i = 0; i < nodes; ++i) Start(i);
  for (int i = 0; i < nodes; ++i) {
    if (tls_ || WaitReady(i)) continue;
    for (int j = 0; j < nodes; ++j) Kill(j);
    // Nothing of the test can go well without it.
    throw std::runtime_error("etcd did not start:\n" + Content(folder() + "/" + std::to_string(i) + ".log"));
  }
}

EtcdCluster::~EtcdCluster() {
  for (size_t i = 0; i < nodes_.size(); ++i) Kill(static_cast<int>(i));
}

std::vector<std::string> EtcdCluster::endpoints() const {
  std::vector<std::string> all;
  for (const Node& node : nodes_) all.push_back(node.client);
  return all;
}

std::string EtcdCluster::joined_endpoints() const { return Joined(endpoints()); }

void EtcdCluster::Start(int node) {
  Node& one = nodes_[static_cast<size_t>(node)];
  std::vector<std::string> members;
  for (size_t i = 0; i < nodes_.size(); ++i) members.push_back("n" + std::to_string(i) + "=http://" + nodes_[i].peer);
  const std::string name = std::to_string(node);
  const std::string client = (tls_ ? "https://" : "http://") + one.client;
  std::vector<std::string> words = {
      "etcd", "--name=n" + name, "--data-dir=" + folder() + "/" + name, "--listen-client-urls=" + client,
      "--advertise-client-urls=" + client, "--listen-peer-urls=http://" + one.peer,
      "--initial-advertise-peer-urls=http://" + one.peer, "--initial-cluster=" + Joined(members),
      "--initial-cluster-token=" + folder(), "--snapshot-count=1000", "--quota-backend-bytes=8589934592",
      "--auto-compaction-retention=0", "--logger=zap"};
  words.insert(words.end(), flags_.begin(), flags_.end());
  one.pid = Spawn(std::move(words), folder() + "/" + name + ".log");
}

void EtcdCluster::Kill(int node) {
  Node& one = nodes_[static_cast<size_t>(node)];
  if (one.pid <= 0) return;
  kill(one.pid, SIGKILL);
  int ignored = 0;
  if (!Reap(one.pid, &ignored)) ADD_FAILURE() << "etcd node " << node << " did not end in a minute of SIGKILL";
  one.pid = -1;
}

void EtcdCluster::Pause(int node) { kill(nodes_[static_cast<size_t>(node)].pid, SIGSTOP); }
void EtcdCluster::Resume(int node) { kill(nodes_[static_cast<size_t>(node)].pid, SIGCONT); }

bool EtcdCluster::WaitReady(int node) {
  // /health asks for a linearizable read.
  for (const auto end = Clock::now() + kPatience; Clock::now() < end;) {
    if (HttpGet(endpoint(node), "/health").find("\"true\"") != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

int EtcdCluster::Leader() const {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (HttpGet(nodes_[i].client, "/metrics").find("\netcd_server_is_leader 1") != std::string::npos) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

std::string EtcdCluster::Ctl(std::vector<std::string> words) const {
  words.insert(words.begin(), {"etcdctl", "--endpoints=" + joined_endpoints()});
  std::string output;
  EXPECT_EQ(Run(words, &output), 0) << output;
  return output;
}

}  // namespace reversi::stores
