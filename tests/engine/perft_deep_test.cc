// The long tier of perft: tables of some thousand million leaves.
#include <gtest/gtest.h>

#include "engine/perft.h"
#include "tests/engine/golden.h"
#include "tests/engine/side_by_side.h"

namespace reversi {
namespace {

class DeepPerft : public testing::TestWithParam<size_t> {};

TEST_P(DeepPerft, CountsTheWholeRow) {
  const twin::DeepPerftRow row = twin::DeepPerftRows()[GetParam()];
  const Position start(ToRules(row.rules));
  for (size_t i = 0; i < row.leaves.size(); ++i) {
    EXPECT_EQ(Perft(start, row.first_depth + static_cast<int>(i)), row.leaves[i])
        << twin::Describe(row.rules) << " depth " << row.first_depth + static_cast<int>(i);
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, DeepPerft, testing::Range(size_t{0}, twin::DeepPerftRows().size()));

}  // namespace
}  // namespace reversi
