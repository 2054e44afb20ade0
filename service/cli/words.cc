#include "service/cli/words.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace reversi::cli {
namespace {

// "COLOR_" for Color: what the zero value's name has before UNSPECIFIED.
absl::string_view Prefix(const google::protobuf::EnumDescriptor& type) {
  return absl::StripSuffix(type.FindValueByNumber(0)->name(), "UNSPECIFIED");
}

}  // namespace

std::string EnumWord(const google::protobuf::EnumDescriptor& type, int value) {
  const auto* known = type.FindValueByNumber(value);
  if (known == nullptr) return absl::StrCat(value);
  return absl::AsciiStrToLower(absl::StripPrefix(known->name(), Prefix(type)));
}

std::optional<int> ParseEnumWord(const google::protobuf::EnumDescriptor& type, absl::string_view word) {
  const auto* known = type.FindValueByName(absl::StrCat(Prefix(type), absl::AsciiStrToUpper(word)));
  if (known == nullptr || known->number() == 0) return std::nullopt;
  return known->number();
}

std::vector<std::string> EnumWords(const google::protobuf::EnumDescriptor& type) {
  std::vector<std::string> words;
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() != 0) words.push_back(EnumWord(type, type.value(i)->number()));
  }
  return words;
}

std::string ColorTitle(v1::Color color) {
  std::string word = Word(color);
  word[0] = absl::ascii_toupper(static_cast<unsigned char>(word[0]));
  return word;
}

}  // namespace reversi::cli
