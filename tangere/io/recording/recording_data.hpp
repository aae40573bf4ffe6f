#pragma once

/// Contents of a recording (docs/simulate.md has the schema of the file). `load_recording` of recording_reader.hpp
/// gives one, RecordingWriter of recording.hpp writes one as a simulation goes, and `recording_text` writes a whole
/// one.

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tangere/geometry/mesh.hpp"
#include "tangere/geometry/shape.hpp"

namespace tangere {

inline constexpr int kRecordingVersion = 1;

/// X_WB: position, then quaternion x y z w, as in the file and to the bit. All NaN: the body is not there in this
/// frame.
using RecordedPose = std::array<double, 7>;
[[nodiscard]] RecordedPose recorded_pose(const Pose& X);
[[nodiscard]] RecordedPose absent_pose();
[[nodiscard]] bool is_present(const RecordedPose& pose);
[[nodiscard]] Pose pose_of(const RecordedPose& pose);

/// The purpose of a shape.
enum class ShapeRole { collision, visual, both };

struct RecordedShape {
  /// Index into the bodies.
  int body = 0;
  std::string name{};
  ShapeRole role = ShapeRole::both;
  /// A convex shape of ours; none where the file of a robot gives a mesh to draw.
  std::optional<Shape> shape{};
  /// To draw with; none where the shape's numbers say it all (sphere, box, …).
  std::shared_ptr<const TriangleMesh> mesh{};
  Pose X_BS{};
  Vector4 color{0.7, 0.7, 0.7, 1.0};
};

/// A moving part of the tree, with its axis along z (multibody/links.hpp): what sliders need to move the bodies.
struct RecordedLink {
  /// `revolute`, `prismatic`, `screw`, `ball` or `free`.
  std::string kind{};
  /// -1: the world.
  int parent = -1;
  /// Its first coordinate in q.
  int first_q = 0;
  /// Screws only: pitch [m/rad].
  double pitch = 0.0;
  /// In the parent's frame, where all its coordinates are zero.
  Pose X_PL{};
};

/// The link that a body is fixed to (-1: the world).
struct RecordedAttachment {
  int link = -1;
  Pose X_LB{};
};

/// An angle or a length of q.
struct RecordedCoordinate {
  std::string name{};
  int q = 0;
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  /// -1, or the coordinate it follows: multiplier q[source] + offset.
  int source = -1;
  double multiplier = 1.0;
  double offset = 0.0;
};

/// A scalar that every frame has a value of.
struct RecordedChannel {
  std::string name{};
  std::string unit{};
};

struct RecordedContact {
  int body_A = 0;
  int body_B = 0;
  /// `vertex-face`, …, or `smooth`; empty: not known.
  std::string type{};
  /// World axes; the normal from A to B, the impulse on B in N s.
  Vector3 point = Vector3::Zero();
  Vector3 normal = Vector3::UnitZ();
  Vector3 impulse = Vector3::Zero();
  double distance = std::numeric_limits<double>::quiet_NaN();
};

/// A query on the shapes of two bodies.
struct RecordedPair {
  int body_A = 0;
  int body_B = 0;
  /// The minimum scaling; NaN: it was not asked for.
  double alpha = std::numeric_limits<double>::quiet_NaN();
  /// Point at which the scaled shapes touch (NaN without alpha), the points on the shapes themselves, and the normal
  /// from A to B.
  Vector3 point = Vector3::Constant(std::numeric_limits<double>::quiet_NaN());
  Vector3 witness_A = Vector3::Zero();
  Vector3 witness_B = Vector3::Zero();
  Vector3 normal = Vector3::UnitZ();
};

struct RecordedFrame {
  /// Seconds.
  double t = 0.0;
  /// One a body.
  std::vector<RecordedPose> poses{};
  /// State of the model; empty: not recorded.
  std::vector<double> q{};
  std::vector<double> v{};
  std::vector<RecordedContact> contacts{};
  std::vector<RecordedPair> pairs{};
  /// One a channel.
  std::vector<double> values{};
};

/// Another trajectory of the same bodies, with times of its own, to be seen through.
struct RecordedGhost {
  std::string name{};
  std::vector<double> t{};
  std::vector<std::vector<RecordedPose>> poses{};
};

/// The program that made the recording.
struct RecordingStamp {
  /// `tangere 0.1.0`.
  std::string program{};
  std::string command{};
  std::optional<std::uint64_t> seed{};
  /// Names and values.
  std::vector<std::pair<std::string, std::string>> options{};
};

struct Recording {
  std::string name{};
  /// Time step [s]; 0 if there are no steps.
  double time_step = 0.0;
  /// The axis of the world that is shown upwards, of unit length.
  Vector3 up = Vector3::UnitZ();
  RecordingStamp made_by{};
  std::vector<std::string> bodies{};
  std::vector<RecordedShape> shapes{};
  /// Either empty, or with one attachment a body: then the page has sliders for the coordinates.
  std::vector<RecordedLink> links{};
  std::vector<RecordedAttachment> attachments{};
  std::vector<RecordedCoordinate> coordinates{};
  std::vector<RecordedChannel> channels{};
  std::vector<RecordedGhost> ghosts{};
  std::vector<RecordedFrame> frames{};
  /// False: the run that wrote it did not come to its end.
  bool complete = true;
};

}  // namespace tangere
