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
#include "tangere/contact/hard_contact.hpp"
#include "tangere/contact/options.hpp"
#include "tangere/contact/row.hpp"
#include "tangere/contact/scene/collision_scene.hpp"
#include "tangere/contact/scene/row_scales.hpp"
#include "tangere/math/aligned.hpp"
#include "tangere/multibody/way_columns.hpp"
#include "tangere/solvers/lcp/boxed_lcp.hpp"

namespace tangere {

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
[[nodiscard]] bool bounces(const Contact& contact, double closing, double time_step, double touching,
                           const ContactOptions& options);
/// Velocity of B relative to A at the contact, along its normal [m/s].
[[nodiscard]] double normal_velocity(const Model& model, const Data& data, const BodyVelocities& velocities,
                                     const Contact& contact);

/// Everything that the rows of a step are made from.
struct RowInputs {
  const Model& model;
  const RowScales& scales;
  /// Poses at q.
  const Data& data;
  /// The old ones, at which impacts are judged.
  const BodyVelocities& velocities;
  Eigen::Ref<const VectorX> q;
  /// How fast each coordinate may be in the step, as far as is known: limits within its reach take part.
  Eigen::Ref<const VectorX> fastest;
  /// 0: an impact, which has impulses only; no gaps are closed, and what rubs in joints has no time to.
  double time_step;
  const ContactOptions& contact;
  const HardContact& hard;
  bool with_motions;
  /// Joints and loops take part whose coordinates are marked here; all where it is empty.
  std::span<const char> only{};
};

/// Fills a problem whose contacts (and, for derivatives, their motions) have been found.
class ProblemBuilder {
 public:
  void build(const RowInputs& inputs, ContactProblem& problem);

 private:
  Matrix6X columns_;
  std::vector<int> blocks_of_tree_;
};

}  // namespace tangere
