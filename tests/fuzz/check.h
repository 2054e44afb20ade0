// A promise that holds for every input; a broken one stops the fuzzer there.
#ifndef REVERSI_TESTS_FUZZ_CHECK_H_
#define REVERSI_TESTS_FUZZ_CHECK_H_

#include <cstdio>
#include <cstdlib>

#define FUZZ_CHECK(condition)                                                       \
  do {                                                                              \
    if (!(condition)) {                                                             \
      std::fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);  \
      std::abort();                                                                 \
    }                                                                               \
  } while (false)

#endif  // REVERSI_TESTS_FUZZ_CHECK_H_
