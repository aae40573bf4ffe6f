#pragma once

/// Contents of a Data (private to multibody), in the order in which the algorithms fill it.

#include <memory>
#include <vector>

#include "tangere/math/aligned.hpp"
#include "tangere/multibody/data.hpp"
#include "tangere/multibody/links.hpp"

namespace tangere {

/// Blocks of an articulated inertia: force = A v + B w, torque = Bᵀ v + D w.
struct ArticulatedInertia {
  Columns3 A{};
  Columns3 B{};
  Columns3 D{};
};

/// Sums over a subtree: inertia, linear momentum, the C of link_columns.hpp, force and wrench.
struct Load {
  SpatialInertia I;
  Vec4 P{};
  Columns3 C{};
  Force F;
  Force W;

  Load& operator+=(const Load& o) {
    I += o.I;
    P += o.P;
    C += o.C;
    F += o.F;
    W += o.W;
    return *this;
  }
};

struct Data::Memory {
  /// Linear in the coordinates. Matrices, which are not, come with the first call that fills them.
  explicit Memory(const Model& model);
  /// Memory for right-hand sides.
  void need_columns(int nv);

  /// The links that it was made for.
  std::shared_ptr<const Links> links;

  /// How far the world pass went for the state at hand: 0 nothing, 1 poses and S, 2 velocities, 3 accelerations.
  int world_order = 0;
  /// State of the mass matrix: 0 nothing, 1 M, 2 its factors.
  int mass_order = 0;

  // by link, in the link's own frame
  std::vector<Frame> X;  // in the parent's frame, at q
  std::vector<Motion> V;
  std::vector<Motion> A;
  std::vector<Force> F;
  std::vector<ArticulatedInertia> articulated;
  std::vector<Motion> bias;
  std::vector<Force> bias_force;

  // by link, in world axes about the tree's origin
  std::vector<Frame> X_W;    // p from the tree's origin
  std::vector<Vec4> origin;  // of its tree, from the world's
  std::vector<Motion> V_W;
  std::vector<Motion> A_W;  // gravity is the world's upward acceleration
  std::vector<SpatialInertia> composite;
  std::vector<Force> F_W;  // composite after a backward pass
  std::vector<Force> wrench_W;
  std::vector<Vec4> momentum;      // linear, composite
  std::vector<Columns3> coriolis;  // composite (inverse_dynamics_derivatives.cpp)

  // by velocity coordinate
  std::vector<Motion> S;  // world axes, about the tree's origin
  std::vector<Force> U;   // articulated inertia times S, link's frame
  std::vector<double> d;  // pivots: the inertia that each coordinate meets, those beyond it left free
  std::vector<double> u;
  std::vector<Motion> psi_dot;
  std::vector<Motion> psi_dot_dot;
  std::vector<Motion> S_dot_plus;

  // for derivatives in the placements of joints: all that hangs from each body and link; coordinates beyond a joint
  std::vector<Load> body_loads;
  std::vector<Load> link_loads;
  std::vector<bool> beyond;

  // results
  VectorX tau;
  VectorX bias_tau;
  VectorX acceleration;
  MatrixX M;
  AlignedVector M_rows;  // row k along the way to k (links.hpp)
  AlignedVector L_rows;  // M = Lᵀ D L: L likewise, 1 / D at the end of each row
  MatrixX M_inverse;
  VectorX factored_diagonal;  // what was added to the diagonal of M before it was factored
  VectorX scratch;
  RowMatrixX dtau_dq;
  RowMatrixX dtau_dv;
  AlignedVector columns;  // right-hand sides of solve_mass_matrix_columns, in rows of column_stride
  int column_stride = 0;
  RowMatrixX da_dq;
  RowMatrixX da_dv;
};

/// The memory, if it was made for this model (or a copy of it); otherwise InputError.
[[nodiscard]] Data::Memory& memory_of(const Model& model, Data& data);
[[nodiscard]] const Data::Memory& memory_of(const Model& model, const Data& data);
/// InputError for a wrong number of coordinates, numbers that are not finite, and quaternions of length zero (the zero
/// vector is no configuration of a free joint).
void require_configuration(const Model& model, VectorArgument q);
/// InputError unless the vector has as many entries as expected, all of them finite.
void require_vector(const char* name, VectorArgument x, int expected);
/// InputError unless the vector has as many entries as expected.
void require_size(const char* name, Eigen::Index size, int expected);
/// InputError unless wrenches are empty or one per body, and finite.
void require_wrenches(const Model& model, std::span<const Vector6> wrenches);

/// X of every link from q.
void place_links(const Links& tree, const double* q, Data::Memory& m);
/// World pass over what place_links left: poses and S. Velocities are out of date after it.
void place_in_world(const Links& tree, Data::Memory& m);
/// Velocities (and with a, accelerations) of the world pass.
void move_in_world(const Links& tree, const double* v, const double* a, Data::Memory& m);
/// Wrenches of the bodies (world axes, about the world's origin) summed by link, about the tree's origin.
void gather_wrenches(const Links& tree, std::span<const Vector6> wrenches, Data::Memory& m);
/// Forward dynamics into m.acceleration, with the pivots in m.d.
void articulated_bodies(const Model& model, VectorArgument q, VectorArgument v, VectorArgument tau,
                        std::span<const Vector6> wrenches, Data::Memory& m);
/// The dense M from its rows.
void spread_mass_matrix(const Links& tree, Data::Memory& m);

}  // namespace tangere
