// The files that settings name: keys, certificates, passwords.
#ifndef REVERSI_SERVICE_SMALL_FILE_H_
#define REVERSI_SERVICE_SMALL_FILE_H_

#include <cstddef>
#include <string>

namespace reversi {

// Every authority that a system trusts is a quarter of it.
inline constexpr size_t kMaxSmallFileBytes = 1 << 20;

// Reads the whole file. Returns what is wrong, beginning with the name; empty = nothing. Only a regular file of 1 to
// kMaxSmallFileBytes bytes is read: what waits for a writer or never ends is none.
std::string ReadSmallFile(const std::string& name, std::string* content);

}  // namespace reversi

#endif  // REVERSI_SERVICE_SMALL_FILE_H_
