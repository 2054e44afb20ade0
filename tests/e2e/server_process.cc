#include "tests/e2e/server_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <regex>
#include <thread>

extern char** environ;

namespace reversi::e2e {
namespace {

using Clock = std::chrono::steady_clock;

bool Names(const std::vector<std::string>& flags, std::string_view flag) {
  return std::any_of(flags.begin(), flags.end(),
                     [flag](const std::string& f) { return f.substr(0, flag.size()) == flag; });
}

int UnlinkedFile() {
  std::string path = testing::TempDir() + "reversi_server_XXXXXX";
  const int file = mkostemp(path.data(), O_CLOEXEC);
  unlink(path.c_str());
  return file;
}

std::string Content(int file) {
  std::string content;
  char piece[4096];
  for (off_t at = 0;;) {
    const ssize_t n = pread(file, piece, sizeof piece, at);
    if (n <= 0) return content;
    content.append(piece, static_cast<size_t>(n));
    at += n;
  }
}

// The child dies with the test, so that a crashed test leaves no server behind.
pid_t Spawn(const Launch& launch, int out, int err) {
  std::vector<std::string> words = {launch.binary};
  words.insert(words.end(), launch.flags.begin(), launch.flags.end());
  std::vector<std::string> variables = launch.environment;
  for (char** v = environ; *v != nullptr; ++v) variables.push_back(*v);
  std::vector<char*> argv, envp;
  for (std::string& word : words) argv.push_back(word.data());
  for (std::string& variable : variables) envp.push_back(variable.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  execve(argv[0], argv.data(), envp.data());
  _exit(127);
}

// The exit code, or minus the signal; false while it still runs.
bool Reap(pid_t pid, int* code) {
  int status = 0;
  if (waitpid(pid, &status, WNOHANG) != pid) return false;
  *code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return true;
}

int WaitFor(pid_t pid, std::chrono::seconds patience) {
  int code = 0;
  for (const auto end = Clock::now() + patience; !Reap(pid, &code);) {
    if (Clock::now() > end) {
      kill(pid, SIGKILL);
      waitpid(pid, &code, 0);
      return -SIGKILL;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return code;
}

// Reads up to the end of the first line, without going beyond it.
std::string FirstLine(int pipe) {
  std::string line;
  for (const auto end = Clock::now() + kPatience; Clock::now() < end;) {
    pollfd ready{pipe, POLLIN, 0};
    if (poll(&ready, 1, 100) <= 0) continue;
    char letter = 0;
    if (read(pipe, &letter, 1) <= 0 || letter == '\n') break;
    line += letter;
  }
  return line;
}

}  // namespace

Ended RunToEnd(const Launch& launch) {
  const int out = UnlinkedFile();
  const int err = UnlinkedFile();
  const pid_t pid = Spawn(launch, out, err);
  Ended ended;
  ended.code = WaitFor(pid, kPatience);
  ended.out = Content(out);
  ended.err = Content(err);
  close(out);
  close(err);
  return ended;
}

std::unique_ptr<ServerProcess> ServerProcess::Start(Launch launch) {
  if (!Names(launch.flags, "--listen")) launch.flags.push_back("--listen=127.0.0.1:0");
  if (!Names(launch.flags, "--metrics_listen")) launch.flags.push_back("--metrics_listen=127.0.0.1:0");
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return nullptr;
  std::unique_ptr<ServerProcess> server(new ServerProcess);
  server->err_ = UnlinkedFile();
  server->out_ = ends[0];
  server->pid_ = Spawn(launch, ends[1], server->err_);
  close(ends[1]);
  server->line_ = FirstLine(ends[0]);
  static const std::regex form(R"(reversi_server listening grpc=(\S+:\d+) metrics=(\S+:\d+)(?: .*)?)");
  std::smatch match;
  if (!std::regex_match(server->line_, match, form)) {
    ADD_FAILURE() << launch.binary << " did not start; its line: '" << server->line_ << "', its stderr:\n"
                  << server->Errors();
    return nullptr;
  }
  server->address_ = match[1];
  server->metrics_ = match[2];
  return server;
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0 && !ended_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(out_);
  close(err_);
}

bool ServerProcess::Running() {
  if (!ended_) ended_ = Reap(pid_, &code_);
  return !ended_;
}

void ServerProcess::Signal(int signal) {
  if (Running()) kill(pid_, signal);
}

int ServerProcess::Wait(std::chrono::seconds patience) {
  if (Running()) {
    code_ = WaitFor(pid_, patience);
    ended_ = true;
  }
  return code_;
}

int ServerProcess::Stop(std::chrono::seconds patience) {
  Signal(SIGTERM);
  return Wait(patience);
}

std::string ServerProcess::Errors() { return Content(err_); }

}  // namespace reversi::e2e
