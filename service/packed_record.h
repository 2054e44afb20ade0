// A record in fewer bytes, for a store in memory that is seldom asked for it: numbers of as many bits as they need. Not
// for keeping longer than the process lives: the next build may pack otherwise.
#ifndef REVERSI_SERVICE_PACKED_RECORD_H_
#define REVERSI_SERVICE_PACKED_RECORD_H_

#include <string>
#include <string_view>

#include "service/bytes.h"

namespace reversi {

// Empty = these are not a record's bytes.
std::string PackRecord(std::string_view record);
// The record whole, but for its put_id, which is 0: only the writer of an unfinished put looks for it.
Bytes UnpackRecord(std::string_view packed);

}  // namespace reversi

#endif  // REVERSI_SERVICE_PACKED_RECORD_H_
