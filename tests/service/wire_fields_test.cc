#include "service/wire_fields.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "reversi/v1/reversi.pb.h"

namespace reversi {
namespace {

// A message of all kinds of fields, by hand and by protobuf.
TEST(WireFieldsTest, AreWhatProtobufWrites) {
  for (uint32_t number : {0u, 1u, 127u, 128u, 300u, 0xffffffffu}) {
    for (size_t length : {0, 1, 127, 128, 20'000}) {
      v1::Position message;
      WireFields fields(0);
      for (const std::string& row : {std::string(), std::string(length, 'a'), std::string("b\0", 2)}) {
        message.add_rows(row);
        fields.AddBytes(v1::Position::kRowsFieldNumber, row);
      }
      message.set_turn(static_cast<v1::Color>(number % 7));
      fields.AddNumber(v1::Position::kTurnFieldNumber, number % 7);
      message.set_placement(number % 2 == 1);
      fields.AddNumber(v1::Position::kPlacementFieldNumber, number % 2);
      WireFields discs(0);
      for (uint32_t disc : {number, 0u, 200u}) {
        message.add_discs(disc);
        discs.AddVarint(disc);
      }
      fields.AddBytes(v1::Position::kDiscsFieldNumber, discs.Take());
      message.set_ply(number);
      fields.AddNumber(v1::Position::kPlyFieldNumber, number);
      message.set_hash(number * 0x0102030405060708u);
      fields.AddFixed64(v1::Position::kHashFieldNumber, number * 0x0102030405060708u);
      EXPECT_EQ(fields.Take(), message.SerializeAsString()) << number << " " << length;
    }
  }
}

}  // namespace
}  // namespace reversi
