#include "tangere/contact/hard/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Geometry>

#include "tangere/math/so3.hpp"

namespace tangere {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Limits take part from this far on (metres or radians), and farther as far as a step may go.
constexpr double kLimitMargin = 1e-3;

/// Below this part of the columns it is made of, a row of J is rounding.
constexpr double kNoMotion = 1e-12;

/// Compliance of rows that repeat no others, as a part of that of the others.
constexpr double kAlone = 1e-4;

struct Target {
  double value = 0.0;
  double gain = 0.0;
};

/// The velocity that takes back a part of an error, up to the correction speed.
Target target_of_error(double error, double time_step, const ContactOptions& options) {
  if (time_step == 0.0) return {};
  const double speed = -options.correction * error / time_step;
  if (std::abs(speed) > options.correction_speed) return {std::copysign(options.correction_speed, speed), 0.0};
  return {speed, options.correction / time_step};
}

/// A gap is closed within the step but for the last of it, a penetration is an error.
Target target_of_gap(double gap, double time_step, double touching, const ContactOptions& options) {
  if (time_step == 0.0) return {};
  if (gap > touching) return {-(gap - (1.0 - options.correction) * touching) / time_step, 1.0 / time_step};
  if (gap > 0.0) return {-options.correction * gap / time_step, options.correction / time_step};
  return target_of_error(gap, time_step, options);
}

class Assembly {
 public:
  Assembly(const RowInputs& in, ContactProblem& problem)
      : model_(in.model),
        data_(in.data),
        scales_(in.scales),
        dt_(in.time_step),
        options_(in.contact),
        hard_(in.hard),
        with_motions_(in.with_motions),
        only_(in.only),
        p_(problem) {}

  void add_contacts(const BodyVelocities& velocities) {
    for (std::size_t i = 0; i < p_.contacts.size(); ++i) {
      const Contact& contact = p_.contacts[i];
      const int pair = pair_of(contact.body_A, contact.body_B, contact.point);
      const Vector3& origin = p_.pairs[pair].origin;
      begin_block(pair, static_cast<int>(i), contact.point - origin, contact.frame);

      Target target = target_of_gap(contact.distance, dt_, hard_.touching, options_);
      const double closing = normal_velocity(model_, data_, velocities, contact);
      Row normal{.kind = RowKind::normal,
                 .target = target.value,
                 .gain = target.gain,
                 .connected_mass = scales_.connected_mass(contact.body_A, contact.body_B)};
      if (bounces(contact, closing, dt_, hard_.touching, options_)) {
        normal.target = -contact.restitution * closing;
        normal.gain = 0.0;
        normal.restitution = contact.restitution;
      }
      const int n = p_.num_rows();
      add(normal, {.lower = 0.0, .upper = kInfinity}, contact);
      if (contact.friction > 0.0)
        for (int axis = 1; axis < 3; ++axis)
          add({.kind = RowKind::tangential, .axis = axis}, {.normal = n, .friction = contact.friction}, contact);
      if (options_.torsional_friction > 0.0)
        add({.kind = RowKind::torsional, .axis = 3}, {.normal = n, .friction = options_.torsional_friction}, contact);
      if (hard_.rolling_friction > 0.0)
        for (int axis = 4; axis < 6; ++axis)
          add({.kind = RowKind::rolling, .axis = axis}, {.normal = n, .friction = hard_.rolling_friction}, contact);
    }
  }

  /// Welds and connected points: x is the point on B, D turns with A.
  void add_constraints() {
    for (std::size_t i = 0; i < model_.constraints().size(); ++i) {
      const LoopConstraint& constraint = model_.constraints()[i];
      if (!takes_part(constraint.body_A) && !takes_part(constraint.body_B)) continue;
      const Pose A = pose(constraint.body_A) * constraint.X_AC;
      const Pose B = pose(constraint.body_B) * constraint.X_BC;
      const int pair = pair_of(constraint.body_A, constraint.body_B, B.p);
      begin_block(pair, -1, B.p - p_.pairs[pair].origin, A.R);
      if (with_motions_) p_.motions.push_back(on_B_turning_with_A());
      const Vector3 gap = A.R.transpose() * (B.p - A.p);
      const RowKey key{.first = static_cast<int>(i), .kind = RowKind::weld};
      for (int axis = 0; axis < 3; ++axis) add_equality({.kind = RowKind::weld, .axis = axis}, gap[axis], key);
      if (constraint.kind == LoopConstraint::Kind::connect) continue;
      const Vector3 turn = so3::log(A.R.transpose() * B.R);
      p_.blocks.back().angular_gap = so3::right_jacobian_inverse(-turn);
      for (int axis = 0; axis < 3; ++axis) add_equality({.kind = RowKind::weld, .axis = 3 + axis}, turn[axis], key);
    }
  }

  void add_coordinates(VectorArgument q, VectorArgument fastest) {
    for (const Joint& joint : model_.joints()) {
      if (joint.nv > 0 && !takes_part_dof(joint.first_v)) continue;
      for (int k = 0; k < joint.nv; ++k) {
        const int dof = joint.first_v + k;
        const DofSpec& spec = model_.dofs()[dof];
        // coordinates with a quaternion have no limits
        if (options_.joint_limits && joint.nq == joint.nv) {
          const double position = q[joint.first_q + k];
          const double reach = dt_ > 0.0 ? kLimitMargin + 2.0 * dt_ * std::abs(fastest[dof]) : hard_.touching;
          if (position - spec.lower < reach) add_limit(dof, 1.0, position - spec.lower);
          if (spec.upper - position < reach) add_limit(dof, -1.0, spec.upper - position);
        }
        if (options_.joint_friction && spec.friction > 0.0 && dt_ > 0.0)
          add_row({.kind = RowKind::joint_friction, .dof = dof},
                  {.lower = -dt_ * spec.friction, .upper = dt_ * spec.friction},
                  {.first = dof, .kind = RowKind::joint_friction});
      }
      if (options_.mimics && joint.mimic_source >= 0) {
        const Joint& source = model_.joint(joint.mimic_source);
        const Mimic& mimic = *joint.spec.mimic;
        const double gap = q[joint.first_q] - mimic.multiplier * q[source.first_q] - mimic.offset;
        add_equality(
            {.kind = RowKind::mimic, .dof = joint.first_v, .dof2 = source.first_v, .coefficient2 = -mimic.multiplier},
            gap, {.first = joint.first_v, .kind = RowKind::mimic});
      }
    }
  }

  /// Rows may repeat each other unless they are the only ones of their trees.
  void set_compliances(std::vector<int>& blocks_of_tree) {
    blocks_of_tree.assign(static_cast<std::size_t>(model_.nv()), 0);
    const auto count = [&](int body, int change) {
      const std::span<const int> way = way_of(model_, body);
      return way.empty() ? 0 : blocks_of_tree[way.front()] += change;
    };
    const auto bodies_of = [&](const Row& row) -> std::pair<int, int> {
      if (row.dof >= 0) return {body_of_dof(row.dof), kWorld};
      const BodyRows& pair = p_.pairs[p_.blocks[row.block].pair];
      return {pair.body_A, pair.body_B};
    };
    for (const Row& row : p_.rows) {
      // a contact counts once, whatever it rubs
      const bool first = row.kind == RowKind::normal || row.dof >= 0 || (row.kind == RowKind::weld && row.axis == 0);
      if (!first) continue;
      const auto [A, B] = bodies_of(row);
      count(A, 1);
      count(B, 1);
    }
    for (std::size_t r = 0; r < p_.rows.size(); ++r) {
      const auto [A, B] = bodies_of(p_.rows[r]);
      // loops are often not quite what they should be: their rows give way as those that repeat each other do
      const bool alone = count(A, 0) <= 1 && count(B, 0) <= 1 && p_.rows[r].kind != RowKind::weld;
      p_.boxes[r].compliance = (alone ? kAlone : 1.0) * options_.compliance * scale_of(p_.rows[r]);
    }
  }

  void fill_jacobian(Matrix6X& columns) {
    const auto nv = static_cast<std::size_t>(model_.nv());
    p_.J.assign(p_.rows.size() * nv, 0.0);
    for (const RowBlock& block : p_.blocks) {
      const BodyRows& pair = p_.pairs[block.pair];
      double scale[2] = {0.0, 0.0};  // of the linear and of the angular columns
      for (const int side : {0, 1}) {
        const int body = side == 0 ? pair.body_A : pair.body_B;
        const std::span<const int> way = way_of(model_, body);
        const auto length = static_cast<Eigen::Index>(way.size());
        way_columns(model_, data_, body, pair.origin + block.x, columns.leftCols(length));
        for (Eigen::Index k = 0; k < length; ++k)
          for (const int half : {0, 1})
            scale[half] = std::max(scale[half], columns.block<3, 1>(3 * half, k).cwiseAbs().maxCoeff());
        for (int r = block.first_row; r < block.first_row + block.num_rows; ++r) {
          const int axis = p_.rows[r].axis;
          const Vector3 along = (side == 0 ? -1.0 : 1.0) * block.D.col(axis % 3);
          const Eigen::Index first = axis < 3 ? 0 : 3;
          double* row = p_.J.data() + static_cast<std::size_t>(r) * nv;
          for (Eigen::Index k = 0; k < length; ++k) row[way[k]] += along.dot(columns.block<3, 1>(first, k));
        }
      }
      // what the bodies cannot do is no row: zero, not rounding
      for (int r = block.first_row; r < block.first_row + block.num_rows; ++r) {
        Eigen::Map<VectorX> row(p_.J.data() + static_cast<std::size_t>(r) * nv, model_.nv());
        const int half = p_.rows[r].axis < 3 ? 0 : 1;
        if (row.cwiseAbs().maxCoeff() <= kNoMotion * scale[half]) row.setZero();
      }
    }
    for (std::size_t r = 0; r < p_.rows.size(); ++r) {
      const Row& row = p_.rows[r];
      if (row.dof < 0) continue;
      p_.J[r * nv + static_cast<std::size_t>(row.dof)] = row.coefficient;
      if (row.dof2 >= 0) p_.J[r * nv + static_cast<std::size_t>(row.dof2)] = row.coefficient2;
    }
  }

 private:
  [[nodiscard]] bool takes_part_dof(int dof) const { return only_.empty() || only_[dof] != 0; }
  [[nodiscard]] bool takes_part(int body) const {
    const std::span<const int> way = way_of(model_, body);
    return only_.empty() || (!way.empty() && takes_part_dof(way.front()));
  }

  [[nodiscard]] Pose pose(int body) const { return body == kWorld ? Pose() : body_pose(model_, data_, body); }

  static FrameMotion on_B_turning_with_A() {
    FrameMotion motion;
    motion.point.setZero();
    motion.point.block<3, 3>(0, 6).setIdentity();
    motion.rotation.setZero();
    motion.rotation.block<3, 3>(0, 3).setIdentity();
    motion.distance.setZero();
    return motion;
  }

  /// The last pair if it is the same (contacts come in order), a new one otherwise.
  int pair_of(int body_A, int body_B, const Vector3& origin) {
    if (p_.pairs.empty() || p_.pairs.back().body_A != body_A || p_.pairs.back().body_B != body_B)
      p_.pairs.push_back({body_A, body_B, origin});
    return static_cast<int>(p_.pairs.size()) - 1;
  }

  void begin_block(int pair, int contact, const Vector3& x, const Matrix3& D) {
    p_.blocks.push_back({.pair = pair, .contact = contact, .first_row = p_.num_rows(), .x = x, .D = D});
  }

  void add(Row row, const BoxedLcpRow& box, const Contact& contact) {
    add_row(row, box, {contact.shape_A, contact.shape_B, contact.feature_A, contact.feature_B, row.axis, row.kind});
  }

  void add_row(Row row, const BoxedLcpRow& box, RowKey key) {
    if (row.dof < 0) {
      row.block = static_cast<int>(p_.blocks.size()) - 1;
      ++p_.blocks.back().num_rows;
    }
    key.axis = row.axis;
    p_.rows.push_back(row);
    p_.boxes.push_back(box);
    p_.keys.push_back(key);
  }

  /// A row that pushes both ways.
  void add_equality(Row row, double error, const RowKey& key) {
    const Target target = target_of_error(error, dt_, options_);
    row.target = target.value;
    row.gain = target.gain;
    add_row(row, {.lower = -kInfinity, .upper = kInfinity}, key);
  }

  /// How easily the row moves, in general.
  [[nodiscard]] double scale_of(const Row& row) const {
    if (row.dof >= 0) {
      double scale = row.coefficient * row.coefficient * scales_.coordinate(row.dof);
      if (row.dof2 >= 0) scale += row.coefficient2 * row.coefficient2 * scales_.coordinate(row.dof2);
      return scale;
    }
    const BodyRows& pair = p_.pairs[p_.blocks[row.block].pair];
    return row.axis < 3 ? scales_.linear(pair.body_A, pair.body_B) : scales_.angular(pair.body_A, pair.body_B);
  }

  [[nodiscard]] int body_of_dof(int dof) const {
    for (int b = 0; b < model_.num_bodies(); ++b)
      if (const Joint& joint = model_.joint(b); dof >= joint.first_v && dof < joint.first_v + joint.nv) return b;
    return kWorld;
  }

  void add_limit(int dof, double sign, double gap) {
    const Target target = target_of_gap(gap, dt_, hard_.touching, options_);
    add_row({.kind = RowKind::limit, .dof = dof, .coefficient = sign, .target = target.value, .gain = target.gain},
            {.lower = 0.0, .upper = kInfinity}, {.first = dof, .second = sign > 0.0 ? 0 : 1, .kind = RowKind::limit});
  }

  const Model& model_;
  const Data& data_;
  const RowScales& scales_;
  double dt_;
  const ContactOptions& options_;
  const HardContact& hard_;
  bool with_motions_;
  std::span<const char> only_;
  ContactProblem& p_;
};

}  // namespace

std::string_view to_string(RowKind kind) {
  switch (kind) {
    case RowKind::normal:
      return "normal";
    case RowKind::tangential:
      return "tangential";
    case RowKind::torsional:
      return "torsional";
    case RowKind::rolling:
      return "rolling";
    case RowKind::weld:
      return "weld";
    case RowKind::limit:
      return "limit";
    case RowKind::joint_friction:
      return "joint friction";
    case RowKind::mimic:
      return "mimic";
  }
  return "?";
}

bool bounces(const Contact& contact, double closing, double time_step, double touching, const ContactOptions& options) {
  const double fastest = std::min(closing, contact.expected_velocity);
  const bool reaches = contact.distance <= touching || contact.distance + time_step * fastest < 0.0;
  return reaches && contact.restitution > 0.0 && -closing * contact.restitution > options.bounce_speed;
}

double normal_velocity(const Model& model, const Data& data, const BodyVelocities& velocities, const Contact& contact) {
  const Vector6 relative = velocities.twist(model, data, contact.body_B, contact.point) -
                           velocities.twist(model, data, contact.body_A, contact.point);
  return contact.frame.col(0).dot(relative.head<3>());
}

void ProblemBuilder::build(const RowInputs& inputs, ContactProblem& problem) {
  problem.time_step = inputs.time_step;
  problem.redundancy = inputs.hard.redundancy;
  problem.reduce_rows = inputs.hard.reduce_rows;
  problem.pairs.clear();
  problem.blocks.clear();
  problem.rows.clear();
  problem.boxes.clear();
  problem.keys.clear();
  if (columns_.cols() != inputs.model.nv()) columns_.setZero(6, inputs.model.nv());
  Assembly assembly(inputs, problem);
  assembly.add_contacts(inputs.velocities);
  if (inputs.contact.constraints) assembly.add_constraints();
  assembly.add_coordinates(inputs.q, inputs.fastest);
  assembly.set_compliances(blocks_of_tree_);
  assembly.fill_jacobian(columns_);
}

}  // namespace tangere
