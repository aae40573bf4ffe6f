#include "tangere/io/robot/internal/unit_check.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "tangere/geometry/bounds.hpp"
#include "tangere/math/check.hpp"

namespace tangere::internal {
namespace {

/// Longer than any body of a robot (m), and lighter than any that long, by the box around it (kg/m³; air has 1.2).
constexpr double kLong = 50.0;
constexpr double kLight = 1e-3;
/// Ten times denser than anything on earth (kg/m³): nothing but a mass in grams.
constexpr double kDense = 3e5;
/// How many times its shapes' reach the mass of a body may be spread over, and be away from them.
constexpr double kSpread = 300.0;
constexpr double kApart = 100.0;

struct Extent {
  Vector3 lower = Vector3::Constant(std::numeric_limits<double>::infinity());
  Vector3 upper = Vector3::Constant(-std::numeric_limits<double>::infinity());

  void add(const Vector3& p) {
    lower = lower.cwiseMin(p).eval();
    upper = upper.cwiseMax(p).eval();
  }
};

/// Around everything that the body shows or collides with, half-spaces left out.
Extent box_of(const BodySpec& body) {
  Extent box;
  const auto add_shape = [&](const Shape& shape, const Pose& X) {
    const Aabb own = bounds(shape, X);
    if (!own.lower.allFinite() || !own.upper.allFinite()) return;
    box.add(own.lower);
    box.add(own.upper);
  };
  for (const CollisionShape& shape : body.shapes) add_shape(shape.shape, shape.X_BS);
  for (const VisualShape& visual : body.visuals) {
    if (const Shape* shape = std::get_if<Shape>(&visual.geometry))
      add_shape(*shape, visual.X_BV);
    else
      for (const Vector3& p : std::get<std::shared_ptr<const TriangleMesh>>(visual.geometry)->vertices)
        box.add(visual.X_BV * p);
  }
  return box;
}

/// sqrt(I / m) about the axis where it is largest: no part of a body need be farther from its centre than that, but
/// some part must be as far.
double radius_of_gyration(const MassProperties& inertia) {
  const Eigen::SelfAdjointEigenSolver<Matrix3> principal(inertia.inertia, Eigen::EigenvaluesOnly);
  return std::sqrt(std::max(0.0, principal.eigenvalues()[2]) / inertia.mass);
}

}  // namespace

std::string unit_remark(const BodySpec& body) {
  const Extent box = box_of(body);
  const double mass = body.inertia.mass;
  if (!(mass > 0.0) || !box.lower.allFinite() || !box.upper.allFinite()) return {};
  const Vector3 sides = box.upper - box.lower;
  const double longest = sides.maxCoeff();
  if (longest > kLong && mass < kLight * sides.prod())
    return "its shapes are " + to_text(longest) + " m long but it weighs " + to_text(mass) +
           " kg: are lengths in millimetres?";

  const double reach = 0.5 * sides.norm();
  const double apart = (body.inertia.center - 0.5 * (box.lower + box.upper)).norm();
  if (apart > kApart * reach)
    return "its centre of mass is " + to_text(apart) + " m from its shapes, which reach " + to_text(reach) +
           " m: are these the same units?";
  const double gyration = radius_of_gyration(body.inertia);
  if (gyration > kSpread * (reach + apart))
    return "its inertia is that of " + to_text(mass) + " kg at " + to_text(gyration) + " m, but its shapes reach " +
           to_text(reach) + " m: is the inertia in kg m²?";
  // shapes may cover a part of the body only; its inertia says how large it is
  const double volume = sides.cwiseMax(gyration).prod();
  if (mass > kDense * volume)
    return "it weighs " + to_text(mass) + " kg in " + to_text(1000.0 * volume) + " litres: is its mass in grams?";
  return {};
}

}  // namespace tangere::internal
