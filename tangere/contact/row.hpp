#pragma once

/// Rows of hard contact: what a report of a step says of them (contact/hard/problem.hpp has the problem they make).

#include <string_view>

#include "tangere/solvers/lcp/row_set.hpp"

namespace tangere {

enum class RowKind { normal, tangential, torsional, rolling, weld, limit, joint_friction, mimic };
[[nodiscard]] std::string_view to_string(RowKind kind);

struct Row {
  RowKind kind = RowKind::normal;
  /// Between bodies: the block and the axis (0 to 2 along the columns of D, 3 to 5 about them). -1: of coordinates.
  int block = -1;
  int axis = 0;
  /// Coordinate rows only: J = coefficient e_dof + coefficient2 e_dof2.
  int dof = -1;
  int dof2 = -1;
  double coefficient = 1.0;
  double coefficient2 = 0.0;
  double target = 0.0;
  /// dtarget/dφ = −gain.
  double gain = 0.0;
  /// Positive where the row bounces: the contact's, times what is kept of it (LcpSolution::restitution_kept).
  double restitution = 0.0;
  double restitution_kept = 1.0;
  /// Normal rows only: mass of everything connected to either body [kg].
  double connected_mass = 0.0;
};

}  // namespace tangere
