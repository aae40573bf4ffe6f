/// The rows of a tree's own coordinates in the single-level problem: limits, dry friction, loops and mimics.

#include <algorithm>
#include <cmath>

#include "tangere/contact/smooth/internal/smooth_problem.hpp"
#include "tangere/multibody/links.hpp"

namespace tangere {

double SmoothIsland::evaluate_joint_rows() {
  double worst = 0.0;
  double* r = residual_.view().data() + tree_place();
  for (JointRow& row : p_.joint_rows) {
    const double* z = p_.z.data() + row.first_row;
    const double* s = p_.s.data() + row.first_row;
    double& momentum = r[p_.tree->place(row.dof)];
    if (row.kind == JointRow::Kind::friction) {
      momentum -= z[1];
      row.residual = z[0] - row.bound;
      row.residual_2 = s[1] - p_.tree->v[row.dof] / p_.units->velocity(row.dof);
    } else {
      momentum -= row.side() * z[0];
      const auto q = p_.tree->model().links().q_of_dof[row.dof];
      row.residual = s[0] - row.side() * (p_.tree->q_next[q] - row.bound) / p_.units->position(row.dof) - row.kept -
                     row.compliance * z[0];
      row.residual_2 = 0.0;
    }
    worst = larger_norm(worst, larger_norm(std::abs(row.residual), std::abs(row.residual_2)));
  }
  return worst;
}

/// How the impulse of a joint's row answers: own + slope dv (units).
void SmoothIsland::joint_response(const JointRow& row, const double* r, double& own, double& slope) const {
  const double* z = p_.z.data() + row.first_row;
  const double* s = p_.s.data() + row.first_row;
  if (row.kind == JointRow::Kind::friction) {
    const double inverse = 1.0 / (s[0] - z[1] * s[1] / z[0]);
    slope = -inverse * (z[0] - z[1]) * (z[0] + z[1]) / z[0];
    own = 0.0;
    if (r == nullptr) return;
    own = inverse * (r[1] - z[1] * r[0] / z[0]) - slope * row.residual_2 +
          inverse * (s[1] - z[1] * s[0] / z[0]) * row.residual;
    return;
  }
  const double side = row.side();
  const double step = p_.time_step * p_.units->velocity(row.dof) / p_.units->position(row.dof);
  const double stiffness = s[0] + row.compliance * z[0];
  slope = -z[0] / stiffness * step;
  own = r == nullptr ? 0.0 : side * (r[0] + z[0] * row.residual) / stiffness;
}

void SmoothIsland::recover_joint_row(const JointRow& row, const double* r, double* dz, double* ds) const {
  const double* z = p_.z.data() + row.first_row;
  const double* s = p_.s.data() + row.first_row;
  const double dv = dv_[tree_place() + p_.tree->place(row.dof)];
  double own = 0.0;
  double slope = 0.0;
  joint_response(row, r, own, slope);
  if (row.kind == JointRow::Kind::friction) {
    dz[0] = -row.residual;
    dz[1] = own + slope * dv;
    ds[1] = dv - row.residual_2;
    ds[0] = (r[0] - s[0] * dz[0] - s[1] * dz[1] - z[1] * ds[1]) / z[0];
    return;
  }
  const double side = row.side();
  const double opening =
      side * p_.time_step * p_.units->velocity(row.dof) / p_.units->position(row.dof) * dv - row.residual;
  dz[0] = (r[0] - z[0] * opening) / (s[0] + row.compliance * z[0]);
  ds[0] = opening + row.compliance * dz[0];
}

void SmoothIsland::evaluate_equalities() {
  double* r = residual_.view().data();
  double* row = r + n_;
  const double* lambda = p_.lambda.data();
  for (SmoothEquality& equality : p_.equalities) {
    equality.evaluate(*p_.tree, lambda, row, r + tree_place());
    row += equality.num_rows();
    lambda += equality.num_rows();
  }
}

void SmoothIsland::add_equalities() {
  int first = n_;
  for (SmoothEquality& equality : p_.equalities) {
    equality.linearise(*p_.tree);
    const std::span<const int> dofs = equality.dofs();
    for (std::size_t j = 0; j < dofs.size(); ++j) {
      const auto column = static_cast<Eigen::Index>(j);
      const int at = tree_place() + p_.tree->place(dofs[j]);
      for (std::size_t i = 0; i < dofs.size(); ++i)
        S_.row(tree_place() + p_.tree->place(dofs[i]))[at] -= equality.T(static_cast<Eigen::Index>(i), column);
      for (int k = 0; k < equality.num_rows(); ++k) {
        S_.row(first + k)[at] += equality.G(k, column);
        S_.row(at)[first + k] -= equality.N(column, k);
      }
    }
    for (int k = 0; k < equality.num_rows(); ++k) S_.row(first + k)[first + k] += equality.compliance();
    first += equality.num_rows();
  }
}

}  // namespace tangere
