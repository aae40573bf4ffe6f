#pragma once

/// The contact problem of a step: everything that pushes beyond the smooth dynamics, as rows of one complementarity
/// problem.
///
///   M (v⁺ − v) + dt (c − τ) = Jᵀ f,   w = J v⁺ − target,   f in its box and complementary to w
///
/// Rows come in blocks. A block sits at a place x between two bodies A and B with a frame D; a linear row is the
/// relative velocity of B against A at x along a column of D, an angular one the relative angular velocity. Contacts
/// are such blocks, and so are welds and connected points (x on B, D turning with A): all move by one `FrameMotion`,
/// and no derivative knows which is which. Limits, dry friction and mimics are rows of one or two coordinates.
///
/// A target closes the gap φ of its row, dtarget = −gain dφ (docs/algorithms/hard-contact.md, section 2), or is
/// −restitution J v where a contact bounces.

#include <span>
#include <vector>

#include "tangere/contact/contact.hpp"
#include "tangere/contact/options.hpp"
#include "tangere/contact/scene/collision_scene.hpp"
#include "tangere/contact/scene/row_scales.hpp"
#include "tangere/math/aligned.hpp"
#include "tangere/multibody/way_columns.hpp"
#include "tangere/solvers/lcp/boxed_lcp.hpp"

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

/// Two bodies with something between them; twists of both are taken about `origin`.
struct BodyRows {
  int body_A = kWorld;
  int body_B = kWorld;
  Vector3 origin = Vector3::Zero();
};

struct RowBlock {
  int pair = 0;
  /// The contact it is of; -1 for a constraint.
  int contact = -1;
  int first_row = 0;
  int num_rows = 0;
  /// From the pair's origin.
  Vector3 x = Vector3::Zero();
  Matrix3 D = Matrix3::Identity();
  /// dφ of the angular rows: this times their J (constraints with an angular gap).
  Matrix3 angular_gap = Matrix3::Identity();
};

/// The name of a row from one step to the next.
struct RowKey {
  int first = 0;
  int second = 0;
  ContactFeature feature_A{};
  ContactFeature feature_B{};
  int axis = 0;
  RowKind kind = RowKind::normal;

  bool operator==(const RowKey&) const = default;
};

struct ContactProblem {
  double time_step = 0.0;
  Redundancy redundancy = Redundancy::compliance;
  bool reduce_rows = true;
  std::vector<Contact> contacts;
  std::vector<BodyRows> pairs;
  std::vector<RowBlock> blocks;
  /// One a block, in twists about the block's place; only if asked for.
  std::vector<FrameMotion> motions;
  std::vector<Row> rows;
  /// One a row.
  std::vector<BoxedLcpRow> boxes;
  std::vector<RowKey> keys;
  /// num_rows x nv, row after row.
  AlignedVector J;

  [[nodiscard]] int num_rows() const { return static_cast<int>(rows.size()); }
  using JacobianMap = Eigen::Map<const RowMatrixX>;
  [[nodiscard]] JacobianMap jacobian(int nv) const { return {J.data(), num_rows(), nv}; }
};

/// Whether an impact at this contact bounces, the bodies closing at this normal velocity (negative).
[[nodiscard]] bool bounces(const Contact& contact, double closing, double time_step, const ContactOptions& options);
/// Velocity of B relative to A at the contact, along its normal [m/s].
[[nodiscard]] double normal_velocity(const Model& model, const Data& data, const BodyVelocities& velocities,
                                     const Contact& contact);

/// Fills a problem whose contacts (and, for derivatives, their motions) have been found. `velocities` are the old ones,
/// at which impacts are judged; `data` has the poses at q. `fastest` is how fast each coordinate may be in the step, as
/// far as is known: limits within its reach take part. With a time step of 0 it is that of an impact: impulses only,
/// no gaps are closed, and what rubs in joints has no time to. Of joints and loops those take part whose coordinates
/// are marked in `only`; all where that is empty.
class ProblemBuilder {
 public:
  void build(const Model& model, const RowScales& scales, const Data& data, const BodyVelocities& velocities,
             VectorArgument q, VectorArgument fastest, double time_step, const ContactOptions& options,
             bool with_motions, ContactProblem& problem, std::span<const char> only = {});

 private:
  Matrix6X columns_;
  std::vector<int> blocks_of_tree_;
};

}  // namespace tangere
