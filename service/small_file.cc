#include "service/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace reversi {
namespace {

std::string Unreadable(const std::string& name) {
  return absl::StrCat(name, " cannot be read: ", std::strerror(errno));
}

// As ReadSmallFile, from the open file.
std::string ReadOpen(int file, const std::string& name, std::string* content) {
  struct stat status;
  if (::fstat(file, &status) != 0) return Unreadable(name);
  if (!S_ISREG(status.st_mode)) return absl::StrCat(name, " cannot be read: it is not a regular file");
  content->clear();
  char part[4096];
  // What the size says is not believed: the file may grow meanwhile, and those of the kernel say 0.
  for (;;) {
    const ssize_t got = ::read(file, part, sizeof(part));
    if (got < 0) return Unreadable(name);
    if (got == 0) break;
    content->append(part, static_cast<size_t>(got));
    if (content->size() > kMaxSmallFileBytes) {
      return absl::StrCat(name, " cannot be read: it has more than ", kMaxSmallFileBytes, " bytes");
    }
  }
  return content->empty() ? absl::StrCat(name, " cannot be read: it is empty") : std::string();
}

}  // namespace

std::string ReadSmallFile(const std::string& name, std::string* content) {
  // Opening a FIFO would wait for its writer.
  const int file = ::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return Unreadable(name);
  std::string wrong = ReadOpen(file, name, content);
  ::close(file);
  return wrong;
}

}  // namespace reversi
