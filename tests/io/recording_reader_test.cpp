#include "tangere/io/recording_reader.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tangere/geometry/support.hpp"
#include "tangere/io/recording/recording_model.hpp"
#include "tangere/io/recording/recording_text.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/io/shape_json.hpp"
#include "tangere/math/error.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tests/support/all_shapes.hpp"
#include "tests/support/folders.hpp"

namespace tangere::test {
namespace {

/// Everything that a recording can have.
Recording full_recording() {
  Recording recording;
  recording.name = "full \"of\" </script> things";
  recording.time_step = 0.1;
  recording.up = Vector3::UnitY();
  recording.made_by = {"tangere x", "test", 42, {{"a", "1"}}};
  recording.bodies = {"one", "two"};
  add_shape(recording, {.body = 0, .name = "ball", .color = {0.1, 0.2, 0.3, 0.4}}, Sphere{0.25});
  Polytope wedge = Polytope::from_vertices((MatrixX3(4, 3) << 1, 0, -1, -1, 1, -1, -1, -1, -1, 0, 0, 2).finished());
  add_shape(recording, {.body = 1, .role = ShapeRole::collision, .X_BS = Pose::translation({0, 0, 1})}, wedge);
  recording.shapes.push_back({.body = 1, .role = ShapeRole::visual, .mesh = recording.shapes.back().mesh});
  recording.links = {{"free", -1, 0, 0.0, {}}, {"screw", 0, 7, 0.5, Pose::translation({0, 1, 0})}};
  recording.attachments = {{0, {}}, {1, Pose::translation({0, 0, 3})}};
  recording.coordinates = {{.name = "turn", .q = 7, .lower = -1.0}};
  recording.channels = {{"height", "m"}, {"count", ""}};
  const RecordedPose here = recorded_pose(Pose::translation({1, 2, 3}));
  recording.ghosts = {{"guess", {0.0, 1.0}, {{here, here}, {here, absent_pose()}}}};
  for (int i = 0; i < 3; ++i) {
    RecordedFrame frame{.t = 0.1 * i, .poses = {here, absent_pose()}};
    frame.q = {1, 2, 3, 0, 0, 0, 1, 1.0 / 3.0};
    frame.v = {0, 0, 0, 0, 0, 0, 0.1};
    frame.contacts.push_back({0, 1, "vertex-face", {1, 2, 3}, {0, 0, 1}, {0, 0.1, 0.2}, -1e-5});
    frame.pairs.push_back({0, 1, 1.25, {0, 0, 1}, {0, 0, 0.5}, {0, 0, 0.75}, {0, 0, 1}});
    frame.values = {0.1 * i, std::nan("")};
    recording.frames.push_back(frame);
  }
  return recording;
}

std::string message_of(const std::string& text) {
  try {
    (void)recording_from_text(text, "bad.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(RecordingReader, GivesBackWhatWasWritten) {
  const Recording recording = full_recording();
  const std::string text = recording_text(recording);
  const Recording again = recording_from_text(text, "full.json");
  // every number and name is in the text
  EXPECT_EQ(recording_text(again), text);
  EXPECT_TRUE(again.complete);
  EXPECT_EQ(again.name, recording.name);
  EXPECT_EQ(again.made_by.seed, 42U);
  ASSERT_EQ(again.frames.size(), 3U);
  EXPECT_EQ(again.frames[1].q[7], 1.0 / 3.0);
  EXPECT_FALSE(is_present(again.frames[1].poses[1]));
  EXPECT_TRUE(std::isnan(again.frames[1].values[1]));
  EXPECT_EQ(again.shapes[1].mesh, again.shapes[2].mesh);
}

TEST(RecordingReader, ReadsWhatSomeoneFormatted) {
  // no line is as it was
  std::string text;
  for (const char c : recording_text(full_recording())) {
    if (c == '\n') continue;
    text += c;
    if (c == '[' || c == '{') text += '\n';
  }
  EXPECT_EQ(recording_text(recording_from_text(text, "formatted.json")), recording_text(full_recording()));
}

TEST(RecordingReader, ReadsEveryFileThatWasCutOffInItsFrames) {
  const std::string text = recording_text(full_recording());
  const std::size_t first = text.find(kFramesLine) + kFramesLine.size();
  std::size_t frames = 0;
  for (std::size_t length = first; length < text.size() - 1; ++length) {
    const Recording cut = recording_from_text(text.substr(0, length), "cut.json");
    EXPECT_GE(cut.frames.size(), frames) << length;
    frames = cut.frames.size();
    if (length < text.size() - 2) {
      EXPECT_FALSE(cut.complete) << length;
    }
  }
  EXPECT_EQ(frames, 3U);
  // in the header there is nothing to show yet
  for (std::size_t length = 0; length < first - 1; ++length)
    EXPECT_NE(message_of(text.substr(0, length)), "") << length;
}

TEST(RecordingReader, SaysWhereAFileIsWrong) {
  const std::string text = recording_text(full_recording());
  EXPECT_EQ(message_of(text), "");
  const auto broken = [&](const std::string& from, const std::string& to) {
    return message_of(replaced(text, from, to));
  };
  const auto expect = [&](const std::string& message, const std::string& part) {
    EXPECT_TRUE(message.starts_with("bad.json: ")) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(message_of(""), "JSON");
  expect(message_of("[1, 2]"), "format");
  expect(message_of("{}"), "is not a recording");
  expect(broken("\"version\": 1", "\"version\": 2"), "version: must be 1");
  expect(broken("\"up\": [0.0,1.0,0.0]", "\"up\": [0,2,0]"), "up: must have unit length");
  expect(broken("\"body\":1", "\"body\":2"), "shapes[1].body: must be a whole number from 0 to 1");
  expect(broken("\"radius\":0.25", "\"radius\":-1"), "shapes[0].shape");
  expect(broken("\"mesh\":0", "\"mesh\":7"), "shapes[1].mesh");
  expect(broken("\"triangles\": [", "\"triangles\": [9,"), "meshes[0].triangles");
  expect(broken("\"kind\":\"screw\"", "\"kind\":\"wheel\""), "links[1].kind: must be one of");
  expect(broken("\"parent\":0", "\"parent\":1"), "links[1].parent");
  expect(broken("{\"t\":0.1,", "{\"t\":0,"), "frames[1].t: must be later");
  expect(broken("{\"t\":0.1,", "{\"t\":null,"), "frames[1].t: must be a number");
  expect(broken("[[1.0,2.0,3.0,0.0,0.0,0.0,1.0],null],\"q\"", "[[1.0,2.0,3.0,0.0,0.0,0.0,2.0],null],\"q\""),
         "frames[0].poses[0]: the quaternion");
  expect(broken("[[1.0,2.0,3.0,0.0,0.0,0.0,1.0],null],\"q\"", "[null],\"q\""),
         "frames[0].poses: must have one entry a body");
  expect(broken("\"contacts\":[{\"bodies\":[0,1]", "\"contacts\":[{\"bodies\":[0,5]"),
         "frames[0].contacts[0].bodies[1]");
  expect(broken("\"values\":[0.0,null]", "\"values\":[0.0]"), "frames[0]: must have one value a channel");
  expect(broken("\"q\":[1.0,2.0,3.0,0.0,0.0,0.0,1.0,", "\"q\":[1.0,"), "frames[0].q: must have 8 numbers");
  expect(broken("\"first_q\":7", "\"first_q\":900000000"), "links[1].first_q: must be a whole number from 0 to 13");
  expect(broken("\"q\":7", "\"q\":14"), "coordinates[0].q: must be a whole number from 0 to 13");
  expect(message_of(text.substr(0, 300)), "header: the file was cut off before its first frame");
  // not at the end of the file: that was not cut off, it is wrong
  expect(broken("{\"t\":0.1,", "{\"t\":0.1"), "frames[1]: JSON");
}

/// Pages draw in single precision: what is too far away, too large or too late for that is refused, by its place.
TEST(RecordingReader, RefusesWhatCannotBeDrawn) {
  const std::string text = recording_text(full_recording());
  const auto expect = [&](const std::string& from, const std::string& to, const std::string& place) {
    const std::string message = message_of(replaced(text, from, to));
    EXPECT_TRUE(message.starts_with("bad.json: " + place + ": must ")) << message;
    EXPECT_NE(message.find("1e+09"), std::string::npos) << message;
  };
  const std::string pose = "[[1.0,2.0,3.0,0.0,0.0,0.0,1.0],null],\"q\"";
  for (const char* huge : {"1.1e9", "-1e20", "1e300"}) {
    expect(pose, "[[1.0," + std::string(huge) + ",3.0,0.0,0.0,0.0,1.0],null],\"q\"", "frames[0].poses[0][1]");
    expect("\"vertices\": [", "\"vertices\": [0,0," + std::string(huge) + ",", "meshes[0].vertices[2]");
    expect("\"position\":[0.0,0.0,1.0]", "\"position\":[0,0," + std::string(huge) + "]", "shapes[1].position[2]");
    expect("\"point\":[1.0,", "\"point\":[" + std::string(huge) + ",", "frames[0].contacts[0].point[0]");
    expect("\"witness_a\":[0.0,", "\"witness_a\":[" + std::string(huge) + ",", "frames[0].pairs[0].witness_a[0]");
    expect("\"t\":[0.0,1.0]", "\"t\":[0," + std::string(huge) + "]", "ghosts[0].t[1]");
    expect("\"q\":[1.0,", "\"q\":[" + std::string(huge) + ",", "frames[0].q[0]");
  }
  expect("{\"t\":0.2,", "{\"t\":2e9,", "frames[2].t");
  expect("\"radius\":0.25", "\"radius\":1e20", "shapes[0].shape");
  expect(R"({"type":"sphere","radius":0.25})", R"({"type":"halfspace","normal":[0,0,2],"offset":1e20})",
         "shapes[0].shape");
  // at the bound it is fine
  EXPECT_EQ(message_of(replaced(text, "\"radius\":0.25", "\"radius\":1e9")), "");
}

/// What the page cannot draw from numbers alone is refused here already.
TEST(RecordingReader, WantsMeshesOfShapesThatDoNotDrawThemselves) {
  const std::string text = recording_text(full_recording());
  EXPECT_NE(message_of(replaced(text, "\"mesh\":0,", "")).find("shapes[1]: a shape of type 'polytope' needs a mesh"),
            std::string::npos);
  EXPECT_NE(message_of(replaced(text, R"({"type":"sphere","radius":0.25})",
                                R"({"type":"bundle","parts":[{"shape":{"type":"sphere","radius":1}}]})"))
                .find("shapes[0]: a shape of type 'bundle' needs a mesh"),
            std::string::npos);
}

TEST(RecordingReader, KeepsStampsExactly) {
  Recording recording = full_recording();
  recording.made_by.seed = 18446744073709551615U;
  const std::string text = recording_text(recording);
  EXPECT_EQ(recording_from_text(text, "seed.json").made_by.seed, recording.made_by.seed);
  const auto seed = [&](const std::string& value) { return replaced(text, "\"18446744073709551615\"", value); };
  EXPECT_EQ(recording_from_text(seed("18446744073709551615"), "x").made_by.seed, recording.made_by.seed);
  EXPECT_EQ(recording_from_text(seed("9007199254740993"), "x").made_by.seed, 9007199254740993U);
  for (const char* wrong : {"1.5", "1e3", "-1", "\"1.5\"", "\"\"", "\"7x\"", "18446744073709551616"})
    EXPECT_NE(message_of(seed(wrong)).find("made_by.seed: must be a whole number from 0 to 18446744073709551615"),
              std::string::npos)
        << wrong;
  EXPECT_NE(message_of(seed("[1]")).find("made_by.seed"), std::string::npos);
  // other values may be numbers
  const Recording loose =
      recording_from_text(replaced(replaced(text, R"("a":"1")", R"("a":1.5,"c":"x")"), "\"tangere x\"", "3"), "x");
  EXPECT_EQ(loose.made_by.program, "3");
  EXPECT_EQ(loose.made_by.options, (std::vector<std::pair<std::string, std::string>>{{"a", "1.5"}, {"c", "x"}}));
  EXPECT_NE(
      message_of(replaced(text, R"("a":"1")", R"("a":{})")).find("made_by.options.a: must be a string or a number"),
      std::string::npos);
}

TEST(RecordingReader, NamesFilesThatCannotBeRead) {
  EXPECT_THROW((void)load_recording("/none/such.json"), InputError);
  try {
    (void)load_recording(std::filesystem::temp_directory_path());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("is a folder"), std::string::npos);
  }
}

/// Shapes are drawn as they are: by their numbers, or by a mesh that reaches every support point.
TEST(RecordingModel, ShapesThatDoNotDrawThemselvesHaveMeshes) {
  for (const NamedShape& named : all_shapes()) {
    Recording recording;
    recording.bodies = {"body"};
    add_shape(recording, {}, named.shape);
    ASSERT_FALSE(recording.shapes.empty());
    for (const RecordedShape& entry : recording.shapes) {
      ASSERT_TRUE(entry.shape->is_convex());
      if (entry.mesh == nullptr) continue;
      const double size = entry.shape->set().outer_radius;
      for (const Vector3& direction :
           {Vector3(1, 0, 0), Vector3(0, -1, 0), Vector3(0.6, 0, 0.8), Vector3(-0.6, 0.64, 0.48)}) {
        double reach = -1e300;
        for (const Vector3& vertex : entry.mesh->vertices) reach = std::max(reach, direction.dot(vertex));
        EXPECT_NEAR(reach, direction.dot(support(*entry.shape, direction)), 0.01 * size) << named.name;
      }
    }
  }
}

Pose motion_of(const RecordedLink& link, const std::vector<double>& q) {
  const double* at = q.data() + link.first_q;
  if (link.kind == "free") return Pose::from_quaternion({at[0], at[1], at[2]}, at[3], at[4], at[5], at[6]);
  if (link.kind == "ball") return Pose::from_quaternion(Vector3::Zero(), at[0], at[1], at[2], at[3]);
  if (link.kind == "prismatic") return Pose::translation({0, 0, at[0]});
  const Pose turn = Pose::from_quaternion(Vector3::Zero(), 0, 0, std::sin(at[0] / 2), std::cos(at[0] / 2));
  return link.kind == "screw" ? Pose(turn.R, Vector3(0, 0, link.pitch * at[0])) : turn;
}

/// The tree of a recording moves the bodies as the model does: what the sliders of the page rely on.
TEST(RecordingModel, TreeGivesThePosesOfTheModel) {
  for (const char* file : {"half_cheetah.xml", "humanoid.xml", "two_arms.json", "mixed_stack.json"}) {
    const Scene scene = load_scene(scenes_folder() / file);
    const Model& model = scene.robot.model;
    const Recording recording = describe_model(model);
    Random random(3);
    const VectorX q = random_configuration(model, random);
    const std::vector<double> numbers(q.begin(), q.end());
    std::vector<Pose> links;
    for (const RecordedLink& link : recording.links) {
      const Pose X_WP = link.parent < 0 ? Pose() : links[link.parent];
      links.push_back(X_WP * link.X_PL * motion_of(link, numbers));
    }
    Data data(model);
    forward_kinematics(model, data, q);
    for (int b = 0; b < model.num_bodies(); ++b) {
      const RecordedAttachment& at = recording.attachments[b];
      const Pose X_WB = at.link < 0 ? at.X_LB : links[at.link] * at.X_LB;
      EXPECT_TRUE(X_WB.R.isApprox(body_pose(model, data, b).R, 1e-9)) << file << " " << recording.bodies[b];
      EXPECT_LT((X_WB.p - body_pose(model, data, b).p).norm(), 1e-9) << file;
    }
  }
}

}  // namespace
}  // namespace tangere::test
