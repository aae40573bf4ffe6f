#include "tests/support/random_worlds.hpp"

#include <Eigen/Geometry>

#include "tangere/multibody/configuration.hpp"
#include "tests/support/random_shapes.hpp"

namespace tangere::test {
namespace {

MassProperties with_mass(const Shape& shape, double mass) {
  MassProperties inertia = mass_properties(shape);
  inertia.inertia *= mass / inertia.mass;
  inertia.mass = mass;
  return inertia;
}

/// Capsules along x, the first at the height of the base.
void add_arm(ModelBuilder& builder, Random& random) {
  const Shape link = Capsule{.radius = 0.05, .length = 0.3};
  MassProperties inertia = with_mass(link, random.log_uniform(0.3, 3.0));
  inertia.center = Vector3(0.15, 0.0, 0.0);
  const Vector3 base(-0.6, random.uniform(-0.2, 0.2), random.uniform(0.2, 0.5));
  const double friction = random.uniform();
  int parent = kWorld;
  for (int i = 0; i < 3; ++i) {
    const std::string name = "link" + std::to_string(i);
    parent = builder.add_body(
        {.name = name,
         .inertia = inertia,
         .shapes = {{.name = name, .shape = link, .X_BS = Pose::translation({0.15, 0.0, 0.0}), .friction = friction}}},
        {.name = name,
         .type = JointType::revolute,
         .X_PJ = Pose::translation(i == 0 ? base : Vector3(0.3, 0.0, 0.0)),
         .axis = i == 1 ? Vector3(0.0, 0.6, 0.8) : Vector3(0.0, 1.0, 0.0),
         .dofs = {{.damping = 0.1}}},
        parent);
  }
}

}  // namespace

RandomWorld random_world(std::uint64_t seed) {
  Random random(seed);
  ModelBuilder builder("random");
  builder.add_body(
      {.name = "floor", .shapes = {{.name = "floor", .shape = HalfSpace{Vector3::UnitZ(), 0.0}, .friction = 1.0}}},
      {.name = "floor"});

  // bodies one above the other, each within its ball
  const int num_bodies = 1 + random.index(4);
  std::string name;
  std::vector<Pose> poses;
  double top = 0.0;
  for (int i = 0; i < num_bodies; ++i) {
    const auto& types = bounded_types();
    const std::string_view type = types[random.index(static_cast<int>(types.size()))];
    const Shape shape = random_shape(type, random, random.uniform(0.1, 0.5));
    const double reach = shape.set().outer_radius;
    const std::string body = "body" + std::to_string(i);
    const double mass = random.log_uniform(0.1, 10.0);
    const double friction = random.uniform() < 0.1 ? 0.0 : random.uniform();
    builder.add_body({.name = body,
                      .inertia = with_mass(shape, mass),
                      .shapes = {{.name = body, .shape = shape, .friction = friction}}},
                     {.name = body, .type = JointType::free});
    const double height = top + reach + 0.002;
    poses.emplace_back(random.rotation(), Vector3(random.uniform(-0.1, 0.1), random.uniform(-0.1, 0.1), height));
    top += 2.0 * reach + 0.002;
    name += (name.empty() ? "" : " ") + std::string(type);
  }
  if (random.uniform() < 0.25) {
    add_arm(builder, random);
    name += " arm";
  }

  WorldOptions options;
  options.time_step = 2e-3;
  World world(builder.build(), {}, options);
  State state{neutral_configuration(world.model()), VectorX::Zero(world.nv())};
  for (int i = 0; i < num_bodies; ++i) {
    const Pose& X = poses[i];
    state.q.segment<3>(7 * i) = X.p;
    state.q.segment<4>(7 * i + 3) = Eigen::Quaterniond(X.R).coeffs();
  }
  VectorX u(world.nu());
  for (int k = 0; k < world.nv(); ++k) {
    state.v[k] = random.uniform(-0.3, 0.3);
    u[k] = random.uniform(-0.02, 0.02);
  }
  return {std::move(name), std::move(world), std::move(state), std::move(u)};
}

}  // namespace tangere::test
