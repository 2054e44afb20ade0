// The API's enum values as the words a person types and reads: COLOR_BLACK is "black", BOARD_8X8 "8x8".
#ifndef REVERSI_SERVICE_CLI_WORDS_H_
#define REVERSI_SERVICE_CLI_WORDS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "google/protobuf/generated_enum_reflection.h"
#include "reversi/v1/reversi.pb.h"

namespace reversi::cli {

// The word of a value; "unspecified" for zero, the number for a value this build does not know.
std::string EnumWord(const google::protobuf::EnumDescriptor& type, int value);
// The value of a word in lower or upper case; never the zero value.
std::optional<int> ParseEnumWord(const google::protobuf::EnumDescriptor& type, absl::string_view word);
// All words but the zero value's, in the order of the enum.
std::vector<std::string> EnumWords(const google::protobuf::EnumDescriptor& type);

template <typename Enum>
std::string Word(Enum value) {
  return EnumWord(*google::protobuf::GetEnumDescriptor<Enum>(), value);
}
template <typename Enum>
std::optional<Enum> ParseWord(absl::string_view word) {
  const auto value = ParseEnumWord(*google::protobuf::GetEnumDescriptor<Enum>(), word);
  return value ? std::optional(static_cast<Enum>(*value)) : std::nullopt;
}
template <typename Enum>
std::vector<std::string> Words() {
  return EnumWords(*google::protobuf::GetEnumDescriptor<Enum>());
}

// "Black" … for text that begins with it.
std::string ColorTitle(v1::Color color);

}  // namespace reversi::cli

#endif  // REVERSI_SERVICE_CLI_WORDS_H_
