/// Numbers and names in text.

#include "tangere/io/text/text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tangere/math/random.hpp"

namespace tangere::test {
namespace {

using internal::parse_integer;
using internal::parse_number;

TEST(Text, Numbers) {
  EXPECT_EQ(parse_number("1.5"), 1.5);
  EXPECT_EQ(parse_number(" \t+2e3\n"), 2000.0);
  EXPECT_EQ(parse_number("-0"), 0.0);
  EXPECT_EQ(parse_number("1e-400"), 0.0);
  for (const char* bad : {"", " ", "1e400", "nan", "inf", "-inf", "1,5", "1 2", "+-1", "0x10", "one"})
    EXPECT_EQ(parse_number(bad), std::nullopt) << bad;
  EXPECT_EQ(parse_integer("-7"), -7);
  for (const char* bad : {"", "7.0", "7 ", "99999999999"}) EXPECT_EQ(parse_integer(bad), std::nullopt) << bad;
}

TEST(Text, InfinityWhereItIsAllowed) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const char* text : {"inf", "+inf", "INF", "infinity", " Infinity "})
    EXPECT_EQ(parse_number(text, true), infinity);
  EXPECT_EQ(parse_number("-inf", true), -infinity);
  EXPECT_EQ(parse_number("nan", true), std::nullopt);
  EXPECT_EQ(parse_number("1e400", true), std::nullopt);
}

TEST(Text, NumbersComeBack) {
  EXPECT_EQ(internal::shortest(0.1), "0.1");
  EXPECT_EQ(internal::shortest(-0.0), "0");
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const double value = random.uniform(-1.0, 1.0) * std::pow(10.0, random.uniform(-200.0, 200.0));
    EXPECT_EQ(parse_number(internal::shortest(value)), value);
  }
}

TEST(Text, PrintableHasNoControlCharacters) {
  EXPECT_EQ(printable("arm\x1b[2J\a\x7f"), "arm?[2J??");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "?31m");
  EXPECT_EQ(printable("Rücken, 腕\nline"), "Rücken, 腕\nline");
  EXPECT_EQ(internal::quoted("a\nb\x1b"), "'a b?'");
  EXPECT_EQ(internal::excerpt(std::string(100, 'x'), 3), "xxx...");
}

}  // namespace
}  // namespace tangere::test
