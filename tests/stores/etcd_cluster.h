// Real etcd processes on free loopback ports, with their data in a temporary folder and every write synced.
#ifndef REVERSI_TESTS_STORES_ETCD_CLUSTER_H_
#define REVERSI_TESTS_STORES_ETCD_CLUSTER_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace reversi::stores {

// A fresh folder that is removed with everything in it.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Runs a command to its end; returns its exit code, and what it wrote in `output`. One that does not end in a minute is
// killed: a test failure.
int Run(const std::vector<std::string>& words, std::string* output = nullptr);

// GET over plain HTTP from host:port of 127.0.0.1; empty when nobody answers within a second.
std::string HttpGet(const std::string& address, const std::string& path);

// A port of 127.0.0.1 that nobody listens on.
int FreePort();

class EtcdCluster {
 public:
  // Starts the nodes and waits until they take writes; throws, which fails the test, when they do not in a minute. A
  // node dies with the thread that started it. `flags` go to every node.
  explicit EtcdCluster(int nodes, std::vector<std::string> flags = {});
  // Kills what runs.
  ~EtcdCluster();
  EtcdCluster(const EtcdCluster&) = delete;
  EtcdCluster& operator=(const EtcdCluster&) = delete;

  // host:port of every node, for clients.
  std::vector<std::string> endpoints() const;
  const std::string& endpoint(int node) const { return nodes_[static_cast<size_t>(node)].client; }
  std::string joined_endpoints() const;
  const std::string& folder() const { return folder_.path(); }

  void Start(int node);
  void Kill(int node);    // SIGKILL
  void Pause(int node);   // SIGSTOP
  void Resume(int node);  // SIGCONT
  // Waits until this node takes linearizable reads; false after a minute.
  bool WaitReady(int node);
  // The node that leads, as it says itself; -1 = none.
  int Leader() const;
  // etcdctl against all nodes; a test failure when it fails.
  std::string Ctl(std::vector<std::string> words) const;

 private:
  struct Node {
    std::string client;
    std::string peer;
    pid_t pid = -1;
  };
  TempFolder folder_;
  const std::vector<std::string> flags_;
  const bool tls_;
  std::vector<Node> nodes_;
};

}  // namespace reversi::stores

#endif  // REVERSI_TESTS_STORES_ETCD_CLUSTER_H_
