// What the terminal can show, and lines typed at it.
#ifndef REVERSI_SERVICE_CLI_TERMINAL_H_
#define REVERSI_SERVICE_CLI_TERMINAL_H_

#include <optional>
#include <string>

namespace reversi::cli {

enum class ColorChoice { kAuto, kAlways, kNever };

struct Terminal {
  bool color = false;  // output takes colours
  bool live = false;   // output can be redrawn in place
  int rows = 0;        // its height; 0 where unknown
};

// What the choice comes to. `no_color` and `term` are those variables' values, empty when unset.
Terminal ChooseTerminal(ColorChoice choice, bool output_is_terminal, const std::string& no_color,
                        const std::string& term);
// The same for standard output and the environment of this process.
Terminal DetectTerminal(ColorChoice choice);

// Clears the screen and goes to its top left corner.
inline constexpr char kClearScreen[] = "\x1b[H\x1b[2J";
// Scrolls what is on the screen out of sight, where it can be found again, before the first drawing.
std::string ScrollAway(const Terminal& terminal);

// Lines of a file descriptor, for a loop that polls.
class LineReader {
 public:
  explicit LineReader(int fd) : fd_(fd) {}
  int fd() const { return fd_; }
  // A whole line is there already, without another read.
  bool HasLine() const { return buffer_.find('\n') != std::string::npos || (ended_ && !buffer_.empty()); }
  // No line is there and none will come.
  bool Ended() const { return ended_ && buffer_.empty(); }
  // Reads what is there; call when the descriptor is readable.
  void Read();
  // Takes the first line, without its end. Requires HasLine().
  std::string Take();

 private:
  int fd_;
  std::string buffer_;
  bool ended_ = false;
};

}  // namespace reversi::cli

#endif  // REVERSI_SERVICE_CLI_TERMINAL_H_
