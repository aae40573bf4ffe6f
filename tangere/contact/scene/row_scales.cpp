#include "tangere/contact/scene/row_scales.hpp"

#include <algorithm>
#include <cmath>

#include "tangere/geometry/bounds.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/multibody/mass_matrix.hpp"
#include "tangere/multibody/way_columns.hpp"

namespace tangere {
namespace {

/// Metres, of a body that has neither mass nor shape.
constexpr double kSomeReach = 0.1;

}  // namespace

RowScales::RowScales(const Model& model) : smooth_(model) {
  Data data(model);
  (void)mass_matrix(model, data, neutral_configuration(model));
  factor_mass_matrix(model, data);
  // column by column: the inverse of a large model's M is larger than all else
  VectorX x(model.nv());
  for (int k = 0; k < model.nv(); ++k) {
    x.setZero();
    x[k] = 1.0;
    solve_mass_matrix(model, data, x);
    coordinate_.push_back(x[k]);
  }
  tree_mass_.assign(static_cast<std::size_t>(model.nv()), 0.0);
  Matrix6X motions(6, model.nv());
  for (int b = 0; b < model.num_bodies(); ++b) {
    const std::span<const int> way = way_of(model, b);
    tree_.push_back(way.empty() ? -1 : way.front());
    if (!way.empty()) tree_mass_[way.front()] += model.body(b).spec.inertia.mass;
    const auto length = static_cast<Eigen::Index>(way.size());
    way_columns(model, data, b, body_pose(model, data, b).p, motions.leftCols(length));
    // the diagonal of J M⁻¹ Jᵀ
    Vector6 mobility = Vector6::Zero();
    for (int i = 0; i < 6; ++i) {
      x.setZero();
      for (Eigen::Index k = 0; k < length; ++k) x[way[k]] = motions(i, k);
      solve_mass_matrix(model, data, x);
      for (Eigen::Index k = 0; k < length; ++k) mobility[i] += motions(i, k) * x[way[k]];
    }
    // a body that turns about its origin moves at its surface
    const double turning = mobility.tail<3>().sum() / 3.0;
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
    linear_.push_back(mobility.head<3>().sum() / 3.0 + turning * reach * reach);
    angular_.push_back(turning + (turning == 0.0 ? linear_.back() / (reach * reach) : 0.0));
  }
}

double RowScales::connected_mass(int body_A, int body_B) const {
  const auto tree_of = [&](int body) { return body < 0 ? -1 : tree_[body]; };
  const int A = tree_of(body_A);
  const int B = tree_of(body_B);
  double mass = A < 0 ? 0.0 : tree_mass_[A];
  if (B >= 0 && B != A) mass += tree_mass_[B];
  return mass;
}

}  // namespace tangere
