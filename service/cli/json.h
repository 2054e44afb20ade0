// Protobuf JSON on one line: fields by the names of the .proto file, zero values included.
#ifndef REVERSI_SERVICE_CLI_JSON_H_
#define REVERSI_SERVICE_CLI_JSON_H_

#include <string>

#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"

namespace reversi::cli {

std::string JsonLine(const google::protobuf::Message& message);

// Reads JSON of a message strictly: an unknown field is an error. The error's text, empty when all is well.
std::string ReadJson(absl::string_view json, google::protobuf::Message* message);

}  // namespace reversi::cli

#endif  // REVERSI_SERVICE_CLI_JSON_H_
