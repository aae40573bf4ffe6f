#include "tests/support/crowds.hpp"

#include <Eigen/Geometry>

#include "tangere/math/random.hpp"
#include "tangere/multibody/configuration.hpp"

namespace tangere::test {
namespace {

constexpr double kDensity = 500.0;
constexpr double kFriction = 0.5;

/// Bodies with their poses, and the world of them.
class CrowdBuilder {
 public:
  void add_plane(const char* name, const Vector3& normal, double offset) {
    builder_.add_body(
        {.name = name, .shapes = {{.name = name, .shape = HalfSpace{normal, offset}, .friction = kFriction}}},
        {.name = name});
  }

  /// A floor at z = 0 and walls at ± half_width.
  void add_bin(double half_width) {
    add_plane("floor", Vector3::UnitZ(), 0.0);
    add_plane("left", Vector3::UnitX(), -half_width);
    add_plane("right", -Vector3::UnitX(), -half_width);
    add_plane("front", Vector3::UnitY(), -half_width);
    add_plane("back", -Vector3::UnitY(), -half_width);
  }

  void add(const Shape& shape, const Pose& X_WB) {
    const std::string name = "body" + std::to_string(poses_.size());
    builder_.add_body({.name = name,
                       .inertia = mass_properties(shape, kDensity),
                       .shapes = {{.name = name, .shape = shape, .friction = kFriction}}},
                      {.name = name, .type = JointType::free});
    poses_.push_back(X_WB);
  }

  [[nodiscard]] Crowd build(std::string name, double time_step) {
    WorldOptions options;
    options.time_step = time_step;
    World world(builder_.build(), {}, options);
    State start{neutral_configuration(world.model()), VectorX::Zero(world.nv())};
    for (std::size_t i = 0; i < poses_.size(); ++i) {
      const auto first = static_cast<Eigen::Index>(7 * i);
      start.q.segment<3>(first) = poses_[i].p;
      start.q.segment<4>(first + 3) = Eigen::Quaterniond(poses_[i].R).coeffs();
    }
    return {std::move(name), std::move(world), std::move(start)};
  }

 private:
  ModelBuilder builder_{"crowd"};
  std::vector<Pose> poses_;
};

/// Place number i of a grid of 3 x 2 places a layer, apart enough for anything of radius 0.18.
Vector3 place_in_bin(int i, double first_height) {
  return {0.36 * (i % 3 - 1), 0.4 * (i / 3 % 2 - 0.5), first_height + 0.38 * (i / 6)};
}
constexpr double kBinHalfWidth = 0.58;

Shape shape_of(int i, Random& random) {
  const double size = random.uniform(0.8, 1.2);
  switch (i % 6) {
    case 0:
      return Box{.size = size * Vector3(0.2, 0.15, 0.12)};
    case 1:
      return Sphere{.radius = 0.09 * size};
    case 2:
      return Capsule{.radius = 0.06 * size, .length = 0.12 * size};
    case 3:
      return Cylinder{.radius = 0.08 * size, .length = 0.15 * size};
    case 4:
      return Cone{.height = 0.18 * size, .half_angle = 0.45};
    default:
      return Ellipsoid{.semi_axes = size * Vector3(0.12, 0.08, 0.06)};
  }
}

}  // namespace

Crowd bin_of_boxes(int count, double time_step) {
  Random random(1);
  CrowdBuilder crowd;
  crowd.add_bin(kBinHalfWidth);
  for (int i = 0; i < count; ++i) {
    const Vector3 size(random.uniform(0.15, 0.22), random.uniform(0.12, 0.2), random.uniform(0.1, 0.18));
    crowd.add(Box{.size = size}, Pose(random.rotation(), place_in_bin(i, 0.25)));
  }
  return crowd.build("bin of " + std::to_string(count) + " boxes", time_step);
}

Crowd brick_pyramid(int height, double time_step) {
  const Vector3 size(0.4, 0.2, 0.15);
  CrowdBuilder crowd;
  crowd.add_plane("floor", Vector3::UnitZ(), 0.0);
  int count = 0;
  for (int course = 0; course < height; ++course)
    for (int i = 0; i < height - course; ++i, ++count)
      crowd.add(Box{.size = size},
                Pose::translation({1.05 * size.x() * (i + 0.5 * course), 0.0, size.z() * (course + 0.5)}));
  return crowd.build("pyramid of " + std::to_string(count) + " bricks", time_step);
}

Crowd heap_of_shapes(int count, double time_step) {
  Random random(2);
  CrowdBuilder crowd;
  crowd.add_bin(kBinHalfWidth);
  for (int i = 0; i < count; ++i) {
    const Shape shape = shape_of(i, random);
    crowd.add(shape, Pose(random.rotation(), place_in_bin(i, 0.25)));
  }
  return crowd.build("heap of " + std::to_string(count) + " shapes", time_step);
}

}  // namespace tangere::test
