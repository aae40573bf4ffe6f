#pragma once

/// Worlds of the smooth-contact experiments: bodies that move in a plane, and free ones, over a floor.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tangere/math/random.hpp"
#include "tangere/sim/step.hpp"

namespace tangere::experiments {

/// A body in the plane z = 0, y up.
struct PlanarBody {
  Shape shape;
  /// x, y, angle, and their rates.
  Vector3 q = Vector3::Zero();
  Vector3 v = Vector3::Zero();
  double mass = 1.0;
  double inertia = 0.2;
};
/// A posed shape that stands still.
struct Fixture {
  Shape shape;
  Pose X_WS{};
};

struct Setup {
  World world;
  State state;
};

/// Friction of all that touches; the floor is y ≤ 0.
[[nodiscard]] Setup planar_setup(const std::vector<PlanarBody>& bodies, const std::vector<Fixture>& fixtures,
                                 double friction, const WorldOptions& options, double gravity = 9.81);
/// The prism of a polygon with these rows (not normalised) and offsets, `half_depth` to both sides.
[[nodiscard]] Shape prism(const std::vector<Vector2>& rows, const std::vector<double>& offsets, double half_depth);

/// A free body.
struct FreeBody {
  Shape shape;
  Pose X_WB{};
  /// Linear in world axes, angular in body axes.
  Vector3 velocity = Vector3::Zero();
  Vector3 omega = Vector3::Zero();
  MassProperties inertia{};
};
/// With a floor z ≤ 0 if `floor`.
[[nodiscard]] Setup free_setup(const std::vector<FreeBody>& bodies, bool floor, double friction,
                               const WorldOptions& options, double gravity = 9.81,
                               const std::vector<Fixture>& fixtures = {});
struct Kind {
  const char* name;
  Shape shape;
};
/// Eight shapes of about half a metre, times `size`.
[[nodiscard]] std::vector<Kind> kinds(double size);
/// Between two heights near the axis, of random attitude and motion, all of it scaled by `size`.
[[nodiscard]] FreeBody random_body(const Shape& shape, double mass, double size, double low, double high,
                                   Random& random);
/// Homogeneous, of this mass.
[[nodiscard]] MassProperties inertia_of(const Shape& shape, double mass);

/// Options of a cell: single level, cold, pairs at any distance, as the paper has it.
[[nodiscard]] WorldOptions smooth_options(double frequency, double kappa);

/// What a run of steps had to show.
struct RunCount {
  long steps = 0;
  /// Islands solved, and their iterations.
  long islands = 0;
  long iterations = 0;
  /// Steps that were not solved by the first start; not at all.
  long second_tries = 0;
  long failures = 0;
  std::array<long, kNumSmoothRungs> rungs{};
  /// The largest of a run's end (1 − α), where it was measured.
  double violation = 0.0;

  void add(const StepResult& result);
  void add(const RunCount& other);
  [[nodiscard]] double mean_iterations() const;
};
/// For the log of results, and back.
[[nodiscard]] nlohmann::json to_json(const RunCount& count);
[[nodiscard]] RunCount run_count(const nlohmann::json& json);
/// `rung n, …` of those that acted beyond the first start.
[[nodiscard]] std::string ladder_text(const RunCount& count);

/// The largest 1 − α over all pairs of shapes that may collide, by the scaling query; not below 0.
[[nodiscard]] double violation(const World& world, const VectorX& q, Data& data);

}  // namespace tangere::experiments
