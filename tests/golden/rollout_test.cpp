/// Determinism: rollouts of 200 steps give the same bits again, from another workspace, and over checkpoints.
///
/// Beside that, hashes.txt has hashes (FNV-1a over the bits of all states) from the builds they were made with: other
/// compilers, flags, processors and C libraries round differently, so a hash is compared only where all of these are as
/// they were (`build_key`), and elsewhere nothing is asserted of it. Where one is compared and differs, the numbers of
/// some step have changed. If that is meant:
///
///   TANGERE_GOLDEN_UPDATE=1 build/dev/bin/test_golden

#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tangere/io/scene_file.hpp"
#include "tangere/math/random.hpp"
#include "tangere/sim/rollout.hpp"
#include "tests/support/folders.hpp"

namespace tangere::test {
namespace {

constexpr int kSteps = 200;

const std::filesystem::path kHashes = data_folder() / "../golden/hashes.txt";

class Fnv1a {
 public:
  void add(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001b3; }
  void add(const VectorX& x) {
    for (const double value : x) {
      const auto bits = std::bit_cast<std::uint64_t>(value);
      for (int byte = 0; byte < 8; ++byte) add(static_cast<unsigned char>((bits >> (8 * byte)) & 0xff));
    }
  }
  void add(std::span<const State> states) {
    for (const State& state : states) {
      add(state.q);
      add(state.v);
    }
  }
  [[nodiscard]] std::string text() const {
    char out[17];
    std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(hash_));
    return out;
  }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

/// Its name, and a hash of what it can do: virtual machines have names that say little.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string name = "unknown processor";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) name = line.substr(line.find(':') + 2);
    if (!line.starts_with("flags")) continue;
    Fnv1a hash;
    for (const char c : line) hash.add(static_cast<unsigned char>(c));
    return name + " " + hash.text();
  }
  return name;
}

/// All that decides how numbers are rounded.
std::string build_key() {
  return std::string(TANGERE_GOLDEN_BUILD) + ", " + processor() + ", glibc " + gnu_get_libc_version();
}

/// `scene hash build key`, a line each.
std::map<std::string, std::string> read_hashes() {
  std::map<std::string, std::string> hashes;
  std::ifstream file(kHashes);
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(' ');
    const std::size_t second = line.find(' ', first + 1);
    if (line.starts_with('#') || second == std::string::npos) continue;
    hashes[line.substr(0, first) + " " + line.substr(second + 1)] = line.substr(first + 1, second - first - 1);
  }
  return hashes;
}

class GoldenRollout : public testing::TestWithParam<const char*> {
 protected:
  const Scene scene = load_scene(scenes_folder() / GetParam());
  const World world{scene.robot.model, {}, {.time_step = scene.time_step}};
  const State start{scene.robot.keyframes.empty() ? scene.q : scene.robot.keyframes.back().q, scene.v};
  MatrixX controls{world.nu(), kSteps};

  void SetUp() override {
    Random random(17);
    for (int i = 0; i < kSteps; ++i)
      for (int k = 0; k < world.nu(); ++k) controls(k, i) = random.uniform(-0.5, 0.5);
  }

  [[nodiscard]] std::string hash_of(std::span<const State> states) const {
    Fnv1a hash;
    hash.add(states);
    return hash.text();
  }
};

TEST_P(GoldenRollout, SameBits) {
  Rollout rollout(world);
  rollout.run(start, controls);
  const std::string hash = hash_of(rollout.states());
  ASSERT_EQ(rollout.num_approximate(), 0);
  rollout.run(start, controls);
  EXPECT_EQ(hash_of(rollout.states()), hash) << "the second run";

  // step by step, another workspace, tapes or not
  Workspace workspace(world);
  std::vector<State> states{start};
  Tape tape;
  bool touched = false;
  for (int i = 0; i < kSteps; ++i) {
    State next;
    const StepResult& result =
        step(world, states.back(), controls.col(i), workspace, next, i % 3 == 0 ? &tape : nullptr);
    touched = touched || !result.contacts.empty();
    states.push_back(next);
  }
  EXPECT_EQ(hash_of(states), hash) << "another workspace";
  EXPECT_TRUE(touched);

  const std::string key = std::string(GetParam()) + " " + build_key();
  std::map<std::string, std::string> hashes = read_hashes();
  if (std::getenv("TANGERE_GOLDEN_UPDATE") != nullptr && hashes[key] != hash) {
    // a line of this build is replaced, others stay
    std::string text;
    std::ifstream file(kHashes);
    for (std::string line; std::getline(file, line);) {
      if (!(line.starts_with(std::string(GetParam()) + " ") && line.ends_with(" " + build_key()))) text += line + "\n";
    }
    file.close();
    std::ofstream(kHashes) << text << GetParam() << " " << hash << " " << build_key() << "\n";
  } else if (hashes.contains(key)) {
    EXPECT_EQ(hash, hashes[key]) << "the numbers of some step have changed";
  } else {
    std::printf("no hash from this build (%s); it would be %s\n", build_key().c_str(), hash.c_str());
  }
}

/// Gradients too, whether all tapes are kept or steps are made again from checkpoints.
TEST_P(GoldenRollout, SameBitsOverCheckpoints) {
  std::vector<StateTangent> gradients(kSteps + 1);
  gradients.back() = {VectorX::Ones(world.nv()), VectorX::LinSpaced(world.nv(), -1.0, 1.0)};
  std::string first;
  for (const int max_tapes : {kSteps, 7, 1}) {
    Rollout rollout(world, {.max_tapes = max_tapes});
    rollout.run(start, controls);
    StateTangent g_start;
    MatrixX g_controls;
    (void)rollout.reverse(gradients, g_start, g_controls);
    Fnv1a hash;
    hash.add(rollout.states());
    hash.add(g_start.q);
    hash.add(g_start.v);
    hash.add(VectorX(g_controls.reshaped()));
    if (first.empty()) first = hash.text();
    EXPECT_EQ(hash.text(), first) << max_tapes << " tapes";
  }
}

std::string scene_name(const testing::TestParamInfo<const char*>& info) {
  return std::filesystem::path(info.param).stem().string();
}
INSTANTIATE_TEST_SUITE_P(Scenes, GoldenRollout, testing::Values("half_cheetah.xml", "humanoid.xml", "mixed_stack.json"),
                         scene_name);

}  // namespace
}  // namespace tangere::test
