#include "tangere/math/assert.hpp"

#include <gtest/gtest.h>

namespace tangere {
namespace {

TEST(Assert, PassesSilently) {
  int num_evaluations = 0;
  TANGERE_ASSERT(++num_evaluations < 2);
  EXPECT_LE(num_evaluations, 1);
}

#ifdef TANGERE_ENABLE_ASSERTS
TEST(AssertDeathTest, NamesTheExpressionAndThePlace) {
  EXPECT_DEATH(TANGERE_ASSERT(1 + 1 == 3), "assert_test.cpp:[0-9]+: broken invariant: 1 \\+ 1 == 3");
}
#else
TEST(Assert, IsNotEvaluatedWhenOff) {
  int num_evaluations = 0;
  TANGERE_ASSERT(++num_evaluations < 0);
  EXPECT_EQ(num_evaluations, 0);
}
#endif

}  // namespace
}  // namespace tangere
