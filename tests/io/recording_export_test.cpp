#include "tangere/io/recording_export.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tangere/geometry/support.hpp"
#include "tangere/io/recording/recording_model.hpp"
#include "tangere/io/recording_page.hpp"
#include "tangere/math/error.hpp"
#include "tests/support/all_shapes.hpp"

namespace tangere::test {
namespace {

/// One body a shape, which moves and turns; the last body is absent in the first frame.
Recording all_shapes_recording() {
  Recording recording;
  recording.name = "all";
  for (const NamedShape& named : all_shapes()) {
    add_shape(recording, {.body = static_cast<int>(recording.bodies.size()), .name = named.name}, named.shape);
    recording.bodies.push_back(named.name);
  }
  recording.bodies.emplace_back("late, \"quoted\"");
  recording.channels = {{"height", "m"}};
  for (int i = 0; i < 4; ++i) {
    RecordedFrame frame{.t = 0.25 * i};
    for (std::size_t b = 0; b < recording.bodies.size(); ++b) {
      const double angle = 1.2 * i;
      frame.poses.push_back(recorded_pose(
          Pose::from_quaternion({static_cast<double>(b), 0.1 * i, 0}, std::sin(angle), 0, 0, std::cos(angle))));
    }
    if (i == 0) frame.poses.back() = absent_pose();
    frame.values = {1.0 / (i + 3.0)};
    recording.frames.push_back(frame);
  }
  return recording;
}

std::vector<unsigned char> decoded(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> bytes;
  unsigned group = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    group = group << 6 | static_cast<unsigned>(digits.find(c));
    if ((bits += 6) < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<unsigned char>(group >> bits & 255U));
  }
  return bytes;
}

/// A glTF document and its numbers.
struct Gltf {
  explicit Gltf(const std::string& text) : json(nlohmann::json::parse(text)) {
    const std::string uri = json["buffers"][0]["uri"];
    bytes = decoded(uri.substr(uri.find(',') + 1));
    EXPECT_EQ(bytes.size(), json["buffers"][0]["byteLength"].get<std::size_t>());
  }
  [[nodiscard]] std::vector<float> floats(const nlohmann::json& accessor_index, std::size_t width) const {
    const nlohmann::json& accessor = json["accessors"][accessor_index.get<std::size_t>()];
    EXPECT_EQ(accessor["componentType"], 5126);
    const nlohmann::json& view = json["bufferViews"][accessor["bufferView"].get<std::size_t>()];
    std::vector<float> values(accessor["count"].get<std::size_t>() * width);
    EXPECT_EQ(view["byteLength"].get<std::size_t>(), 4 * values.size());
    std::memcpy(values.data(), bytes.data() + view["byteOffset"].get<std::size_t>(), 4 * values.size());
    return values;
  }

  nlohmann::json json;
  std::vector<unsigned char> bytes;
};

TEST(RecordingGltf, HasTheTrueShapes) {
  const Recording recording = all_shapes_recording();
  const Gltf gltf(to_gltf(recording));
  EXPECT_EQ(gltf.json["asset"]["version"], "2.0");
  // z becomes y
  EXPECT_NEAR(gltf.json["nodes"][0]["rotation"][0].get<double>(), -std::sqrt(0.5), 1e-12);
  std::size_t drawn = 0;
  for (const nlohmann::json& node : gltf.json["nodes"]) {
    if (!node.contains("mesh")) continue;
    const RecordedShape& shape = recording.shapes[drawn++];
    EXPECT_EQ(node["name"], shape.name);
    if (shape.shape->is_half_space()) continue;
    const nlohmann::json& primitive = gltf.json["meshes"][node["mesh"].get<std::size_t>()]["primitives"][0];
    const std::vector<float> positions = gltf.floats(primitive["attributes"]["POSITION"], 3);
    for (const Vector3& direction : {Vector3(1, 0, 0), Vector3(0, 0, -1), Vector3(0.48, 0.64, -0.6)}) {
      double reach = -1e300;
      for (std::size_t i = 0; i < positions.size(); i += 3)
        reach = std::max(reach, direction.dot(Eigen::Vector3f(&positions[i]).cast<double>()));
      EXPECT_NEAR(reach, direction.dot(support(*shape.shape, direction)), 0.01 * shape.shape->set().outer_radius)
          << shape.name;
    }
  }
  EXPECT_EQ(drawn, recording.shapes.size());
}

/// Recorded colours are those of screens, factors of glTF linear: half the signal is a fifth of the light.
TEST(RecordingGltf, HasLinearColors) {
  Recording recording = all_shapes_recording();
  for (RecordedShape& shape : recording.shapes) shape.color = Vector4(0.5, 0.0, 1.0, 0.5);
  const Gltf gltf(to_gltf(recording));
  ASSERT_EQ(gltf.json["materials"].size(), 1U);
  const nlohmann::json& factor = gltf.json["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"];
  EXPECT_NEAR(factor[0].get<double>(), 0.21404, 1e-5);
  EXPECT_EQ(factor[1].get<double>(), 0.0);
  EXPECT_NEAR(factor[2].get<double>(), 1.0, 1e-12);
  EXPECT_EQ(factor[3].get<double>(), 0.5);
}

/// A ball that rolls away stays above the floor that is drawn.
TEST(RecordingGltf, FloorReachesUnderAllThatMoves) {
  Recording recording;
  recording.bodies = {"floor", "ball"};
  add_shape(recording, {.body = 0, .name = "floor"}, Shape(HalfSpace{Vector3(0, 0, 1), 0.0}));
  add_shape(recording, {.body = 1, .name = "ball"}, Shape(Sphere{0.5}));
  for (const double x : {0.0, 300.0})
    recording.frames.push_back(
        {.t = x, .poses = {recorded_pose(Pose{}), recorded_pose(Pose::translation({-x, x, 0.5}))}});
  const Gltf gltf(to_gltf(recording));
  const nlohmann::json& position = gltf.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"];
  const nlohmann::json& accessor = gltf.json["accessors"][position.get<std::size_t>()];
  EXPECT_GE(accessor["max"][0].get<double>(), 301.0);
  EXPECT_LE(accessor["min"][1].get<double>(), -301.0);
}

TEST(RecordingGltf, EqualShapesShareAMesh) {
  Recording recording;
  for (const double radius : {0.5, 0.25, 0.5, 0.5}) {
    add_shape(recording, {.body = static_cast<int>(recording.bodies.size()), .name = "ball"}, Shape(Sphere{radius}));
    recording.bodies.emplace_back("ball " + std::to_string(recording.bodies.size()));
  }
  recording.shapes.back().color = Vector4(1, 0, 0, 1);
  const Gltf gltf(to_gltf(recording));
  EXPECT_EQ(gltf.json["meshes"].size(), 3U);
}

/// Numbers of recordings are doubles, those of glTF are not.
TEST(RecordingGltf, RefusesNumbersThatDoNotFit) {
  Recording recording = all_shapes_recording();
  recording.frames[2].poses[1][0] = 1e39;
  try {
    (void)to_gltf(recording);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.field(), recording.bodies[1]);
    EXPECT_EQ(error.reason(), "1e+39 is too large for glTF, whose numbers are of single precision");
  }
}

TEST(RecordingGltf, AnimatesEveryBody) {
  const Recording recording = all_shapes_recording();
  const Gltf gltf(to_gltf(recording));
  ASSERT_EQ(gltf.json["animations"].size(), 1U);
  const nlohmann::json& animation = gltf.json["animations"][0];
  std::size_t translations = 0;
  std::size_t scales = 0;
  for (const nlohmann::json& channel : animation["channels"]) {
    const nlohmann::json& sampler = animation["samplers"][channel["sampler"].get<std::size_t>()];
    EXPECT_EQ(gltf.floats(sampler["input"], 1), (std::vector<float>{0, 0.25, 0.5, 0.75}));
    const std::string body = gltf.json["nodes"][channel["target"]["node"].get<std::size_t>()]["name"];
    const auto b = static_cast<std::size_t>(std::find(recording.bodies.begin(), recording.bodies.end(), body) -
                                            recording.bodies.begin());
    if (channel["target"]["path"] == "scale") {
      ++scales;
      EXPECT_EQ(gltf.floats(sampler["output"], 3)[0], 0.0F);
      EXPECT_EQ(gltf.floats(sampler["output"], 3)[3], 1.0F);
    } else if (channel["target"]["path"] == "translation") {
      ++translations;
      EXPECT_FLOAT_EQ(gltf.floats(sampler["output"], 3)[10], static_cast<float>(recording.frames[3].poses[b][1]));
    } else {
      // neighbours are on one side of the sphere
      const std::vector<float> q = gltf.floats(sampler["output"], 4);
      for (std::size_t i = 4; i < q.size(); i += 4) {
        double product = 0.0;
        for (std::size_t k = 0; k < 4; ++k)
          product += static_cast<double>(q[i + k]) * static_cast<double>(q[i + k - 4]);
        EXPECT_GE(product, 0.0);
      }
    }
  }
  EXPECT_EQ(translations, recording.bodies.size());
  EXPECT_EQ(scales, 1U);
  // times need their range
  const auto input = animation["samplers"][0]["input"].get<std::size_t>();
  EXPECT_EQ(gltf.json["accessors"][input]["max"][0], 0.75);
}

TEST(RecordingGltf, OfNothingIsStillValid) {
  const nlohmann::json json = nlohmann::json::parse(to_gltf(Recording{}));
  EXPECT_FALSE(json.contains("buffers"));
  EXPECT_FALSE(json.contains("meshes"));
  EXPECT_EQ(json["nodes"].size(), 1U);
}

TEST(RecordingCsv, HasALineAFrame) {
  const Recording recording = all_shapes_recording();
  std::istringstream lines(to_csv(recording));
  std::string header;
  std::getline(lines, header);
  EXPECT_TRUE(header.starts_with("t,height (m),"));
  EXPECT_TRUE(header.ends_with("\"late, \"\"quoted\"\".qw\"\r")) << header;
  std::string line;
  std::vector<std::string> all;
  while (std::getline(lines, line)) all.push_back(line);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_TRUE(all[0].starts_with("0,0.3333333333333333,0,0,0,0,0,0,1,"));
  EXPECT_TRUE(all[0].ends_with(",,,,,,,\r"));
  const auto commas = [](const std::string& text) { return std::count(text.begin(), text.end(), ','); };
  for (const std::string& row : all) EXPECT_EQ(commas(row), 1 + 7 * static_cast<long>(recording.bodies.size()));
}

TEST(RecordingPage, PutsTheRecordingIntoItsPlace) {
  const std::string page = "<html>" + std::string(kPagePlaceholder) + "</html>";
  EXPECT_EQ(
      recording_page(page, R"({"name": "</script><b>"})"),
      R"(<html><script type="application/json" id="recording">{"name": "\u003c/script>\u003cb>"}</script></html>)");
  EXPECT_THROW((void)recording_page("<html></html>", "{}"), InputError);
}

}  // namespace
}  // namespace tangere::test
