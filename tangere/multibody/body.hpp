#pragma once

/// A rigid body: inertia, shapes that collide, shapes to draw.

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tangere/geometry/mass_properties.hpp"
#include "tangere/geometry/mesh.hpp"
#include "tangere/geometry/shape.hpp"
#include "tangere/math/se3.hpp"

namespace tangere {

/// A shape that collides, posed in the body's frame. Two of different bodies are a candidate pair if each one's group
/// is in the other's mask.
struct CollisionShape {
  std::string name{};
  Shape shape;
  Pose X_BS{};
  /// Coefficient of Coulomb friction; a pair takes the smaller of the two.
  double friction = 1.0;
  /// Coefficient of restitution; a pair takes the product.
  double restitution = 0.0;
  std::uint32_t group = 1;
  std::uint32_t mask = 0xffffffff;
};

/// Something to draw: one of our shapes, or a mesh as the file has it.
struct VisualShape {
  std::string name{};
  std::variant<Shape, std::shared_ptr<const TriangleMesh>> geometry;
  Pose X_BV{};
  /// Red, green, blue, opacity in [0, 1].
  Vector4 color{0.7, 0.7, 0.7, 1.0};
};

struct BodySpec {
  std::string name{};
  /// Mass, centre of mass in the body's frame, inertia about the centre in the body's axes. A body may be massless as
  /// long as something beyond its joint has mass.
  MassProperties inertia{0.0, Vector3::Zero(), Matrix3::Zero()};
  std::vector<CollisionShape> shapes{};
  std::vector<VisualShape> visuals{};
};

}  // namespace tangere
