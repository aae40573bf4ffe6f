#include "tangere/contact/row_scales.hpp"

#include <algorithm>
#include <cmath>

#include "tangere/geometry/bounds.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/multibody/mass_matrix.hpp"

namespace tangere {
namespace {

/// Metres, of a body that has neither mass nor shape.
constexpr double kSomeReach = 0.1;

}  // namespace

RowScales::RowScales(const Model& model) : smooth_(model) {
  Data data(model);
  (void)mass_matrix(model, data, neutral_configuration(model));
  factor_mass_matrix(model, data);
  const MatrixX inverse = inverse_mass_matrix(model, data);
  for (int k = 0; k < model.nv(); ++k) coordinate_.push_back(inverse(k, k));
  Matrix6X J;
  for (int b = 0; b < model.num_bodies(); ++b) {
    body_jacobian(model, data, b, J);
    const MatrixX mobility = J * inverse * J.transpose();
    // a body that turns about its origin moves at its surface
    const double turning = mobility.bottomRightCorner(3, 3).trace() / 3.0;
    const MassProperties& inertia = model.body(b).spec.inertia;
    double reach = inertia.center.norm();
    if (inertia.mass > 0.0) reach += std::sqrt(inertia.inertia.trace() / inertia.mass);
    for (const LoopConstraint& constraint : model.constraints()) {
      if (constraint.body_A == b) reach = std::max(reach, constraint.X_AC.p.norm());
      if (constraint.body_B == b) reach = std::max(reach, constraint.X_BC.p.norm());
    }
    for (const CollisionShape& shape : model.body(b).spec.shapes) {
      const Aabb box = bounds(shape.shape, shape.X_BS);
      const double farthest = box.lower.cwiseAbs().cwiseMax(box.upper.cwiseAbs()).norm();
      if (std::isfinite(farthest)) reach = std::max(reach, farthest);
    }
    // whatever moves at all has a compliance
    if (reach == 0.0) reach = kSomeReach;
    linear_.push_back(mobility.topLeftCorner(3, 3).trace() / 3.0 + turning * reach * reach);
    angular_.push_back(turning + (turning == 0.0 ? linear_.back() / (reach * reach) : 0.0));
  }
}

}  // namespace tangere
