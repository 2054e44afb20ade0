#include "service/cli/json.h"

#include "google/protobuf/util/json_util.h"

namespace reversi::cli {

std::string JsonLine(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  // Fails for a detail of a type that this build does not know; the caller still gets one object.
  if (!google::protobuf::util::MessageToJsonString(message, &json, options).ok()) return "{}";
  return json;
}

std::string ReadJson(absl::string_view json, google::protobuf::Message* message) {
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(json.data(), json.size()), message);
  return status.ok() ? "" : std::string(status.message());
}

}  // namespace reversi::cli
