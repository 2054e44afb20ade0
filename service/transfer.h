// All games of a store into a file, and from such a file into a store: the records as they are, so that versions, times,
// unlisted games and, under the same key, tokens survive.
//
//   file    = "reversi records 1\n" game… end
//   game    = size (4 bytes) checksum (4) body        body: version (8) length of id (1) id record
//   end     = 0 (4 bytes) checksum (4) games (8)
//
// Numbers are little-endian; a checksum is CRC-32C over what follows it, `size` bytes or the count of games.
#ifndef REVERSI_SERVICE_TRANSFER_H_
#define REVERSI_SERVICE_TRANSFER_H_

#include <cstdint>
#include <string>
#include <variant>

#include "service/store.h"

namespace reversi {

// The number of games moved, or what is wrong.
using Transferred = std::variant<uint64_t, std::string>;

// Waits for the store. The file appears under its name when it is whole. A game that changes meanwhile is taken as it
// stood at some moment of that time. The store must not have been used before.
Transferred ExportGames(Store& store, const std::string& file);

// Reads the whole file first: a damaged one is refused, by place, before any game is put. A game of which the store has
// the same or an earlier state is brought up to the file's; any other game under its id is left alone and ends the
// import. The store's version of a game counts its puts, so that a game is put event by event.
Transferred ImportGames(Store& store, const std::string& file);

}  // namespace reversi

#endif  // REVERSI_SERVICE_TRANSFER_H_
