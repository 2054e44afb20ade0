// Debian's Abseil has a string_view of its own: the bridge to it.
#ifndef REVERSI_SERVICE_TEXT_H_
#define REVERSI_SERVICE_TEXT_H_

#include <string_view>

#include "absl/strings/string_view.h"

namespace reversi {

inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace reversi

#endif  // REVERSI_SERVICE_TEXT_H_
