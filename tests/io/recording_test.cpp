#include "tangere/io/recording.hpp"

#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tangere/io/recording/recording_text.hpp"
#include "tangere/io/recording_reader.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/io/shape_json.hpp"
#include "tangere/math/error.hpp"
#include "tangere/sim/step.hpp"
#include "tangere/version.hpp"
#include "tests/support/folders.hpp"

namespace tangere {
namespace {

class RecordingWriting : public testing::Test {
 protected:
  RecordingWriting()
      : scene(load_scene(test::scenes_folder() / "mixed_stack.json")),
        world(scene.robot.model, scene.robot.actuators, {.time_step = scene.time_step}),
        folder(std::filesystem::temp_directory_path() / ("tangere_recording_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder);
  }
  ~RecordingWriting() override { std::filesystem::remove_all(folder); }

  void record(RecordingWriter& recording, int steps) {
    State state{scene.q, scene.v};
    Workspace workspace(world);
    recording.add(0, state);
    for (int i = 1; i <= steps; ++i) {
      const StepResult& result = step(world, state, VectorX::Zero(world.nu()), workspace, state);
      recording.add(i, state, result.contacts);
    }
  }

  [[nodiscard]] std::size_t num_files() const {
    const auto begin = std::filesystem::directory_iterator(folder);
    return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator()));
  }

  Scene scene;
  World world;
  std::filesystem::path folder;
};

TEST_F(RecordingWriting, HasShapesFramesContactsAndChannels) {
  const std::filesystem::path file = folder / "out.json";
  {
    // 5 ms a step, 60 frames a second: every fourth step
    RecordingWriter recording(world, file);
    EXPECT_EQ(recording.steps_per_frame(), 4);
    record(recording, 41);
    EXPECT_FALSE(std::filesystem::exists(file));
    recording.finish();
    EXPECT_EQ(recording.num_frames(), 11);
  }
  EXPECT_EQ(num_files(), 1U);
  const nlohmann::json out = nlohmann::json::parse(std::ifstream(file));
  EXPECT_EQ(out["format"], "tangere-recording");
  EXPECT_EQ(out["version"], 1);
  EXPECT_EQ(out["name"], "mixed_stack");
  EXPECT_EQ(out["time_step"], 0.005);
  ASSERT_EQ(out["bodies"].size(), 6U);
  EXPECT_EQ(out["bodies"][5], "dumbbell");

  // shapes come back as they were, with the colour of their body
  ASSERT_EQ(out["shapes"].size(), 8U);
  EXPECT_EQ(out["shapes"][2]["body"], 2);
  EXPECT_EQ(shape_from_json(out["shapes"][2]["shape"].dump()).type_name(), "cylinder");
  EXPECT_EQ(out["shapes"][2]["color"], (std::vector<double>{0.9, 0.6, 0.2, 1.0}));
  EXPECT_EQ(out["shapes"][6]["position"], (std::vector<double>{0.0, -0.4, 0.0}));

  ASSERT_EQ(out["frames"].size(), 11U);
  const nlohmann::json& first = out["frames"][0];
  EXPECT_EQ(first["t"], 0.0);
  EXPECT_EQ(first["contacts"].size(), 0U);
  ASSERT_EQ(first["poses"].size(), 6U);
  EXPECT_EQ(first["poses"][1], (std::vector<double>{0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 1.0}));
  const nlohmann::json& last = out["frames"][10];
  EXPECT_NEAR(last["t"].get<double>(), 0.2, 1e-12);
  ASSERT_GT(last["contacts"].size(), 0U);
  double pushed = 0.0;  // on the floor, from below
  for (const nlohmann::json& contact : last["contacts"]) {
    ASSERT_EQ(contact["bodies"].size(), 2U);
    if (contact["bodies"][0] != 0) continue;
    EXPECT_NEAR(contact["normal"][2].get<double>(), 1.0, 1e-9);
    pushed += contact["impulse"][2].get<double>();
  }
  // 10.5 kg rest on it, within what still rocks
  EXPECT_NEAR(pushed, 10.5 * 9.81 * 0.005, 0.1);

  // channels: names in the header, values in every frame
  ASSERT_EQ(out["channels"].size(), 5U);
  EXPECT_EQ(out["channels"][0], (nlohmann::json{{"name", "energy"}, {"unit", "J"}}));
  EXPECT_EQ(out["channels"][3]["name"], "num_contacts");
  ASSERT_EQ(last["values"].size(), 5U);
  EXPECT_EQ(last["values"][3], last["contacts"].size());
  EXPECT_EQ(last["values"][0].get<double>(), last["values"][1].get<double>() + last["values"][2].get<double>());
  EXPECT_EQ(last["q"].size(), static_cast<std::size_t>(world.nq()));
  EXPECT_EQ(last["v"].size(), static_cast<std::size_t>(world.nv()));
  EXPECT_EQ(out["complete"], true);
}

TEST_F(RecordingWriting, IsStampedWithWhatMadeIt) {
  RecordingOptions options;
  options.made_by = {.command = "simulate", .seed = 18446744073709551615ULL, .options = {{"steps", "7"}}};
  options.channels = {{"reward", "m"}};
  options.state = false;
  {
    RecordingWriter recording(world, folder / "out.json", options);
    const State state{scene.q, scene.v};
    recording.add(0, state, {}, std::array{2.5});
    EXPECT_THROW(recording.add(4, state), InputError);
    recording.finish();
  }
  const nlohmann::json out = nlohmann::json::parse(std::ifstream(folder / "out.json"));
  EXPECT_EQ(out["made_by"]["program"], "tangere " + std::string(kVersion));
  EXPECT_EQ(out["made_by"]["command"], "simulate");
  EXPECT_EQ(out["made_by"]["seed"], "18446744073709551615");
  EXPECT_EQ(out["made_by"]["options"]["steps"], "7");
  EXPECT_EQ(out["made_by"]["options"]["integrator"], "semi_implicit");
  EXPECT_EQ(out["channels"][5]["name"], "reward");
  EXPECT_EQ(out["frames"][0]["values"][5], 2.5);
  EXPECT_FALSE(out["frames"][0].contains("q"));
}

TEST_F(RecordingWriting, HasGhosts) {
  VectorX moved = scene.q;
  moved[2] += 1.0;
  const std::array times{0.0, 0.5};
  const std::array configurations{scene.q, moved};
  RecordingWriter recording(world, folder / "out.json");
  recording.add_ghost("guess", times, configurations);
  EXPECT_THROW(recording.add_ghost("guess", std::span(times).first(1), configurations), InputError);
  recording.add(0, {scene.q, scene.v});
  EXPECT_THROW(recording.add_ghost("late", times, configurations), InputError);
  recording.finish();
  const nlohmann::json out = nlohmann::json::parse(std::ifstream(folder / "out.json"));
  ASSERT_EQ(out["ghosts"].size(), 1U);
  EXPECT_EQ(out["ghosts"][0]["t"], times);
  EXPECT_EQ(out["ghosts"][0]["poses"][0], out["frames"][0]["poses"]);
  EXPECT_EQ(out["ghosts"][0]["poses"][1][1][2].get<double>(), 1.2);
}

/// What a live view hears is what the file has.
TEST_F(RecordingWriting, TellsAListener) {
  struct Listener : RecordingListener {
    void on_header(std::string_view header) override { text += header; }
    void on_frame(std::string_view frame) override {
      if (frames++ > 0) text += kBetweenFrames;
      text += frame;
    }
    void on_finish() override { text += kRecordingEnd; }
    std::string text;
    int frames = 0;
  } listener;
  RecordingOptions options;
  options.listener = &listener;
  RecordingWriter recording(world, folder / "out.json", options);
  record(recording, 8);
  recording.finish();
  std::stringstream file;
  file << std::ifstream(folder / "out.json").rdbuf();
  EXPECT_EQ(listener.text, file.str());
  // and without a file
  Listener alone;
  options.listener = &alone;
  RecordingWriter no_file(world, {}, options);
  record(no_file, 8);
  no_file.finish();
  EXPECT_EQ(alone.text, listener.text);
  EXPECT_EQ(num_files(), 1U);
}

TEST_F(RecordingWriting, ThatIsNotFinishedStaysUnderItsOtherName) {
  const std::filesystem::path file = folder / "out.json";
  std::ofstream(file) << "older";
  {
    RecordingWriter recording(world, file);
    record(recording, 10);
    EXPECT_EQ(num_files(), 2U);
    EXPECT_EQ(recording.partial_file(), folder / "out.json.partial");
  }
  EXPECT_EQ(num_files(), 2U);
  std::string text;
  std::ifstream(file) >> text;
  EXPECT_EQ(text, "older");
  const Recording partial = load_recording(folder / "out.json.partial");
  EXPECT_FALSE(partial.complete);
  EXPECT_EQ(partial.frames.size(), 3U);
}

TEST_F(RecordingWriting, WithoutFramesLeavesNothing) {
  { const RecordingWriter recording(world, folder / "out.json"); }
  EXPECT_EQ(num_files(), 0U);
}

TEST_F(RecordingWriting, TakesAtMostTheFramesAskedFor) {
  EXPECT_EQ(RecordingWriter(world, folder / "a.json", {.frames_per_second = 200.0}).steps_per_frame(), 1);
  EXPECT_EQ(RecordingWriter(world, folder / "a.json", {.frames_per_second = 1e9}).steps_per_frame(), 1);
  EXPECT_EQ(RecordingWriter(world, folder / "a.json", {.frames_per_second = 199.0}).steps_per_frame(), 2);
  EXPECT_EQ(RecordingWriter(world, folder / "a.json", {.frames_per_second = 10.0}).steps_per_frame(), 20);
}

TEST_F(RecordingWriting, SaysAtOnceWhatCannotBeWritten) {
  const auto message = [&](const std::filesystem::path& file, const RecordingOptions& options = {}) {
    try {
      RecordingWriter recording(world, file, options);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message(folder / "none" / "out.json").find("none/out.json: cannot be written: No such file"),
            std::string::npos);
  EXPECT_NE(message(folder).find("it is a folder"), std::string::npos);
  EXPECT_NE(message("/dev/null").find("is not a regular file"), std::string::npos);
  EXPECT_NE(message(folder / "out.json", {.frames_per_second = 0.0}).find("must be above 0"), std::string::npos);
  EXPECT_EQ(num_files(), 0U);
}

}  // namespace
}  // namespace tangere
