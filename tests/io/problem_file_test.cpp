#include "tangere/io/problem_file.hpp"

#include <gtest/gtest.h>

#include "tangere/io/grasp_file.hpp"
#include "tangere/math/error.hpp"
#include "tests/support/folders.hpp"

namespace tangere::test {
namespace {

TEST(ProblemFile, AllOfOursLoad) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(scenes_folder() / "problems")) {
    SCOPED_TRACE(entry.path().string());
    ++count;
    if (is_grasp_file(entry.path())) {
      EXPECT_EQ(load_grasp(entry.path()).name, entry.path().stem().string());
      continue;
    }
    const ProblemFile file = load_problem(entry.path());
    EXPECT_EQ(file.name, entry.path().stem().string());
    EXPECT_GE(file.problem.terms().size(), 3u);
  }
  EXPECT_GE(count, 5);
}

std::string error_of(const std::string& parts) {
  const std::string text = R"({"format": "tangere-problem", "version": 1, "scene": "cartpole.xml", "steps": 10,)" +
                           std::string("\n") + parts + "}";
  try {
    (void)problem_from_text(text, scenes_folder() / "p.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

void expect_error(const std::string& parts, const std::string& place) {
  const std::string error = error_of(parts);
  EXPECT_NE(error.find(place), std::string::npos) << parts << "\n" << error;
  EXPECT_NE(error.find("p.json:2"), std::string::npos) << error;
}

TEST(ProblemFile, WrongInputIsNamedWithItsLine) {
  EXPECT_EQ(error_of(R"("costs": [])"), "");
  expect_error(R"("costs": [{"type": "speed"}])", "costs[0].type");
  expect_error(R"("costs": [{"type": "control", "weight": [1, 2]}])", "costs[0]");
  expect_error(R"("costs": [{"type": "control", "weight": 1, "colour": 3}])", "colour");
  expect_error(R"("constraints": [{"type": "reach", "coordinates": {"knee": 1}}])", "knee");
  expect_error(R"("constraints": [{"type": "reach_frame", "body": "hand", "position": [0, 0, 0]}])", "hand");
  expect_error(R"("constraints": [{"type": "control_bounds", "knots": [0, 99]}])", "knots");
  expect_error(R"("contact": "soft")", "contact");
  expect_error(R"("options": {"barrier": -1})", "options");
  expect_error(R"("start": {"q": [0]})", "start.q");
}

}  // namespace
}  // namespace tangere::test
