#include "service/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace reversi::cli {

Terminal ChooseTerminal(ColorChoice choice, bool output_is_terminal, const std::string& no_color,
                        const std::string& term) {
  Terminal terminal;
  terminal.live = output_is_terminal && !term.empty() && term != "dumb";
  terminal.color = choice == ColorChoice::kAlways ||
                   (choice == ColorChoice::kAuto && terminal.live && no_color.empty());
  return terminal;
}

Terminal DetectTerminal(ColorChoice choice) {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  Terminal terminal = ChooseTerminal(choice, isatty(STDOUT_FILENO) == 1, variable("NO_COLOR"), variable("TERM"));
  winsize size{};
  if (terminal.live && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) terminal.rows = size.ws_row;
  return terminal;
}

std::string ScrollAway(const Terminal& terminal) {
  return std::string(terminal.live ? static_cast<size_t>(terminal.rows) : 0, '\n');
}

void LineReader::Read() {
  char chunk[4096];
  const ssize_t n = read(fd_, chunk, sizeof chunk);
  if (n > 0) {
    buffer_.append(chunk, static_cast<size_t>(n));
  } else if (n == 0 || errno != EINTR) {
    ended_ = true;
  }
}

std::string LineReader::Take() {
  const size_t end = buffer_.find('\n');
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end == std::string::npos ? end : end + 1);
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

}  // namespace reversi::cli
