/// The rows of the derivatives' system (lcp_derivatives.hpp): which there are, and how they move: s_x, and of r_x what
/// the motion of places and frames does.

#include <algorithm>

#include "tangere/contact/hard/internal/row_motion.hpp"
#include "tangere/contact/hard/lcp_derivatives.hpp"

namespace tangere {
namespace {

int normal_of(const ContactProblem& problem, int row) { return problem.boxes[row].normal; }

/// Friction rows at their bound: force divided by that of the normal. 0 for all other rows.
double slope_at_bound(const SolvedStep& step, int row) {
  const BoxedLcpRow& box = step.problem.boxes[row];
  const RowSet set = step.sets[row];
  if (set == RowSet::clamped || box.normal < 0) return 0.0;
  return set == RowSet::upper ? box.friction : -box.friction;
}

}  // namespace

void LcpDerivatives::choose_rows(const Model& model, const SolvedStep& step) {
  clamped_.clear();
  place_of_row_.assign(step.problem.rows.size(), -1);
  for (std::size_t r = 0; r < step.problem.rows.size(); ++r) {
    if (step.sets[r] != RowSet::clamped) continue;
    place_of_row_[r] = static_cast<int>(clamped_.size());
    clamped_.push_back(static_cast<int>(r));
  }
  followers_.clear();
  const ContactProblem::JacobianMap J = step.problem.jacobian(model.nv());
  for (int r = 0; r < step.problem.num_rows(); ++r) {
    const double slope = slope_at_bound(step, r);
    if (slope == 0.0) continue;
    const int normal = place_of_row(normal_of(step.problem, r));
    // rows that nothing moves along are not in the problem
    if (normal >= 0 && !J.row(r).isZero(0.0)) followers_.push_back({r, normal, slope});
  }
}

/// -1 for rows of coordinates.
int LcpDerivatives::pair_of_clamped(const ContactProblem& problem, int i) const {
  const int block = problem.rows[clamped_[i]].block;
  return block < 0 ? -1 : problem.blocks[block].pair;
}

/// Rows that bounce read the old velocity too, and welds have gaps of their own: those are left as they are.
bool LcpDerivatives::can_reduce(const SolvedStep& step, int first, int count) const {
  const ContactProblem& problem = step.problem;
  if (!problem.reduce_rows || problem.redundancy != Redundancy::compliance || count <= RowReduction::kMostRows)
    return false;
  return std::all_of(clamped_.begin() + first, clamped_.begin() + first + count, [&](int r) {
    const Row& row = problem.rows[r];
    return row.kind != RowKind::weld && row.restitution == 0.0;
  });
}

/// Which clamped rows are solved as they are, and which together.
void LcpDerivatives::reduce_pairs(const SolvedStep& step, RowUse use) {
  reduction_.clear();
  reduced_.clear();
  compliances_.clear();
  const auto count = static_cast<int>(clamped_.size());
  solved_of_clamped_.assign(clamped_.size(), -1);
  for (int first = 0, last = 0; first < count; first = last) {
    // rows of a pair are next to each other
    const int pair = pair_of_clamped(step.problem, first);
    for (last = first + 1; last < count && pair >= 0 && pair_of_clamped(step.problem, last) == pair;) ++last;
    if (use == RowUse::reduced && can_reduce(step, first, last - first)) {
      ReducedPair& reduced = reduced_.emplace_back();
      reduced.pair = pair;
      reduced.first = first;
      reduced.count = last - first;
      reduce_pair(step, reduced);
      continue;
    }
    for (int i = first; i < last; ++i) {
      solved_of_clamped_[i] = static_cast<int>(compliances_.size());
      const int r = clamped_[i];
      compliances_.push_back(step.problem.boxes[r].compliance);
    }
  }
}

void LcpDerivatives::reduce_pair(const SolvedStep& step, ReducedPair& reduced) {
  const ContactProblem& problem = step.problem;
  pair_rows_.clear();
  for (int i = reduced.first; i < reduced.first + reduced.count; ++i) {
    const int r = clamped_[i];
    const Row& row = problem.rows[r];
    const RowBlock& block = problem.blocks[row.block];
    const Vector6 reads = row_reader(block, row.axis);
    Vector6 pushes = reads;
    for (int other = block.first_row; other < block.first_row + block.num_rows; ++other)
      if (const double slope = slope_at_bound(step, other); slope != 0.0 && normal_of(problem, other) == r)
        pushes += slope * row_reader(block, problem.rows[other].axis);
    pair_rows_.push_back({reads, pushes, problem.boxes[r].compliance});
  }
  reduced.rows = reduction_.reduce(pair_rows_);
  reduced.solved = static_cast<int>(compliances_.size());
  compliances_.resize(compliances_.size() + static_cast<std::size_t>(reduced.rows.rank), reduced.rows.compliance);
}

/// J and N of the rows that are solved as they are: with each clamped normal goes the friction that is at its bound.
void LcpDerivatives::fill_rows(const Model& model, const SolvedStep& step) {
  const auto count = static_cast<Eigen::Index>(compliances_.size());
  const ContactProblem::JacobianMap J = step.problem.jacobian(model.nv());
  ScratchMatrix::View JC = J_.reset(count, model.nv());
  ScratchMatrix::View N = N_.reset(count, model.nv());
  for (std::size_t i = 0; i < clamped_.size(); ++i)
    if (const int solved = solved_of_clamped_[i]; solved >= 0) JC.row(solved) = J.row(clamped_[i]);
  N = JC;
  for (const Follower& follower : followers_)
    if (const int solved = solved_of_clamped_[follower.normal]; solved >= 0)
      N.row(solved) += follower.slope * J.row(follower.row);
}

/// How places and frames of the rows move: the rest of r_q, and s_q and s_v.
void LcpDerivatives::contact_terms(const Model& model, const Data& data, const SolvedStep& step) {
  const ContactProblem& problem = step.problem;
  const auto count = static_cast<Eigen::Index>(compliances_.size());
  (void)s_q_.reset(count, model.nv());
  (void)s_v_.reset(count, model.nv());
  leaks_ = std::any_of(reduced_.begin(), reduced_.end(), [](const ReducedPair& pair) { return pair.rows.leaks; });
  if (leaks_) (void)leak_q_.reset(model.nv(), model.nv());
  for (Matrix6X* columns : {&columns_A_, &columns_B_, &rates_A_, &rates_B_})
    if (columns->cols() != model.nv()) columns->setZero(6, model.nv());
  while (velocities_.size() < 2) velocities_.emplace_back(model);
  velocities_[0].set(model, data, step.v_plus);
  velocities_[1].set(model, data, step.v);

  auto reduced = reduced_.cbegin();
  for (std::size_t p = 0, first = 0; p < problem.pairs.size(); ++p) {
    std::size_t last = first;
    while (last < problem.blocks.size() && problem.blocks[last].pair == static_cast<int>(p)) ++last;
    const bool is_reduced = reduced != reduced_.cend() && reduced->pair == static_cast<int>(p);
    pair_terms(model, data, step, problem.pairs[p], {first, last}, is_reduced ? &*reduced++ : nullptr);
    first = last;
  }
  other_targets(model, step);
}

void LcpDerivatives::pair_terms(const Model& model, const Data& data, const SolvedStep& step, const BodyRows& pair,
                                const BlockRange& blocks, const ReducedPair* reduced) {
  set_columns(model, data, pair);
  Matrix6x12 dW = Matrix6x12::Zero();
  for (std::size_t b = blocks.first; b < blocks.last; ++b) {
    const RowBlock& block = step.problem.blocks[b];
    const FrameMotion& motion = step.problem.motions[b];
    const Matrix3x12 place = about_origin(motion.point, block.x);
    const Matrix3x12 turn = about_origin(motion.rotation, block.x);
    const Impulse impulse = impulse_of(step.problem, block, step.f);
    const Matrix3 F = so3::hat(impulse.force);
    const Matrix3x12 dF = -F * turn;
    dW.topRows<3>() += dF;
    dW.bottomRows<3>() += so3::hat(block.x) * dF - F * place - so3::hat(impulse.torque) * turn;
  }
  // rows at v⁺, and those that bounce also at v
  Matrix6x12 leak = Matrix6x12::Zero();
  for (const bool old : {false, true}) row_terms(model, data, step, pair, blocks, reduced, old, leak);
  add_wrench_motion(model, pair, dW, r_q_);
  if (reduced != nullptr && reduced->rows.leaks) add_wrench_motion(model, pair, leak, leak_q_);
}

/// s_q and s_v of a pair's rows at one of the velocities. What reduced rows leak is a wrench.
void LcpDerivatives::row_terms(const Model& model, const Data& data, const SolvedStep& step, const BodyRows& pair,
                               const BlockRange& blocks, const ReducedPair* reduced, bool old, Matrix6x12& leak) {
  const ContactProblem& problem = step.problem;
  const BodyVelocities& velocities = velocities_[old ? 1 : 0];
  const Vector6 V =
      velocities.twist(model, data, pair.body_B, pair.origin) - velocities.twist(model, data, pair.body_A, pair.origin);
  bool has_rates = false;
  Matrix6x12 shared = Matrix6x12::Zero();
  for (std::size_t b = blocks.first; b < blocks.last; ++b) {
    const RowBlock& block = problem.blocks[b];
    const FrameMotion& motion = problem.motions[b];
    const Matrix3x12 place = about_origin(motion.point, block.x);
    const Matrix3x12 turn = about_origin(motion.rotation, block.x);
    for (int r = block.first_row; r < block.first_row + block.num_rows; ++r) {
      const Row& row = problem.rows[r];
      const int i = place_of_row(r);
      if (i < 0 || (old && row.restitution == 0.0)) continue;
      if (!has_rates) set_rates(model, data, pair, velocities);
      has_rates = true;
      const double factor = old ? row.restitution : 1.0;
      Eigen::Matrix<double, 1, 12> moved = factor * row_motion<12>(block, row.axis, V, place, turn);
      if (!old && row.kind == RowKind::normal && row.gain != 0.0)
        moved += row.gain * about_origin(Eigen::Matrix<double, 1, 12>(motion.distance.transpose()), block.x);
      if (reduced != nullptr) {
        shared += reduction_.share(reduced->rows, i - reduced->first) * moved;
        if (reduced->rows.leaks) leak -= reduction_.leak(reduced->rows, i - reduced->first) * moved;
        continue;
      }
      const int solved = solved_of_clamped_[i];
      add_row_motion(model, pair, solved, moved.transpose(), factor * row_reader(block, row.axis));
      if (old) s_v_.view().row(solved) += row.restitution * J_.view().row(solved);
    }
  }
  if (reduced == nullptr || old) return;
  for (int k = 0; k < reduced->rows.rank; ++k) {
    add_row_motion(model, pair, reduced->solved + k, shared.row(k).transpose(), reduced->rows.reads.col(k));
    add_reduced_row(model, pair, *reduced, k);
  }
}

/// Columns of A and B about the pair's origin.
void LcpDerivatives::set_columns(const Model& model, const Data& data, const BodyRows& pair) {
  const auto length_A = static_cast<Eigen::Index>(way_of(model, pair.body_A).size());
  const auto length_B = static_cast<Eigen::Index>(way_of(model, pair.body_B).size());
  way_columns(model, data, pair.body_A, pair.origin, columns_A_.leftCols(length_A));
  way_columns(model, data, pair.body_B, pair.origin, columns_B_.leftCols(length_B));
}

void LcpDerivatives::set_rates(const Model& model, const Data& data, const BodyRows& pair,
                               const BodyVelocities& velocities) {
  const auto length_A = static_cast<Eigen::Index>(way_of(model, pair.body_A).size());
  const auto length_B = static_cast<Eigen::Index>(way_of(model, pair.body_B).size());
  velocities.twist_derivatives(model, data, pair.body_A, pair.origin, rates_A_.leftCols(length_A));
  velocities.twist_derivatives(model, data, pair.body_B, pair.origin, rates_B_.leftCols(length_B));
}

/// s_q of a row that the twists of A and B move, and that reads a relative twist which moves itself.
void LcpDerivatives::add_row_motion(const Model& model, const BodyRows& pair, int solved, const Vector12& moved,
                                    const Vector6& reader) {
  double* s = s_q_.row(solved);
  const std::span<const int> way_A = way_of(model, pair.body_A);
  const std::span<const int> way_B = way_of(model, pair.body_B);
  for (std::size_t k = 0; k < way_A.size(); ++k) {
    const auto column = static_cast<Eigen::Index>(k);
    s[way_A[k]] += moved.head<6>().dot(columns_A_.col(column)) - reader.dot(rates_A_.col(column));
  }
  for (std::size_t k = 0; k < way_B.size(); ++k) {
    const auto column = static_cast<Eigen::Index>(k);
    s[way_B[k]] += moved.tail<6>().dot(columns_B_.col(column)) + reader.dot(rates_B_.col(column));
  }
}

/// J and N of a row of a reduced pair.
void LcpDerivatives::add_reduced_row(const Model& model, const BodyRows& pair, const ReducedPair& reduced, int k) {
  double* J = J_.row(reduced.solved + k);
  double* N = N_.row(reduced.solved + k);
  for (const int side : {0, 1}) {
    const std::span<const int> way = way_of(model, side == 0 ? pair.body_A : pair.body_B);
    const Matrix6X& columns = side == 0 ? columns_A_ : columns_B_;
    const double sign = side == 0 ? -1.0 : 1.0;
    for (std::size_t j = 0; j < way.size(); ++j) {
      const auto column = columns.col(static_cast<Eigen::Index>(j));
      J[way[j]] += sign * reduced.rows.reads.col(k).dot(column);
      N[way[j]] += sign * reduced.rows.pushes.col(k).dot(column);
    }
  }
}

/// r_q −= (J_B − J_A)ᵀ dW (J_A, J_B)
void LcpDerivatives::add_wrench_motion(const Model& model, const BodyRows& pair, const Matrix6x12& dW,
                                       ScratchMatrix& out) {
  ScratchMatrix::View r_q = out.view();
  const std::span<const int> way_A = way_of(model, pair.body_A);
  const std::span<const int> way_B = way_of(model, pair.body_B);
  for (const int side : {0, 1}) {
    const std::span<const int> way = side == 0 ? way_A : way_B;
    const Matrix6X& columns = side == 0 ? columns_A_ : columns_B_;
    for (std::size_t k = 0; k < way.size(); ++k) {
      const Vector6 change = dW.middleCols<6>(6 * side) * columns.col(static_cast<Eigen::Index>(k));
      for (std::size_t j = 0; j < way_A.size(); ++j)
        r_q(way_A[j], way[k]) += columns_A_.col(static_cast<Eigen::Index>(j)).dot(change);
      for (std::size_t j = 0; j < way_B.size(); ++j)
        r_q(way_B[j], way[k]) -= columns_B_.col(static_cast<Eigen::Index>(j)).dot(change);
    }
  }
}

/// Targets of all rows but normals (none of these is reduced): −gain φ, dφ = J dq.
void LcpDerivatives::other_targets(const Model& model, const SolvedStep& step) {
  const ContactProblem& problem = step.problem;
  const ContactProblem::JacobianMap J = problem.jacobian(model.nv());
  ScratchMatrix::View s_q = s_q_.view();
  for (std::size_t i = 0; i < clamped_.size(); ++i) {
    const int r = clamped_[i];
    const int solved = solved_of_clamped_[i];
    const Row& row = problem.rows[r];
    if (row.gain == 0.0 || row.kind == RowKind::normal) continue;
    if (row.kind == RowKind::weld && row.axis >= 3) {
      const RowBlock& block = problem.blocks[row.block];
      for (int l = 0; l < 3; ++l)
        s_q.row(solved) += row.gain * block.angular_gap(row.axis - 3, l) * J.row(block.first_row + 3 + l);
    } else {
      s_q.row(solved) += row.gain * J.row(r);
    }
  }
}

void LcpDerivatives::displace(const Model& model, const Data& data, const SolvedStep& step,
                              const Displacement& displacement, Eigen::Ref<VectorX> r_x, Eigen::Ref<VectorX> s_x) {
  const ContactProblem& problem = step.problem;
  for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
    const RowBlock& block = problem.blocks[b];
    const BodyRows& pair = problem.pairs[block.pair];
    // everything about the place itself
    const Vector3 place = pair.origin + block.x;
    RowBlock here = block;
    here.x.setZero();
    Vector12 moved;
    moved << displacement.shapes(block, 0, place), displacement.shapes(block, 1, place);
    const FrameMotion& motion = problem.motions[b];
    const FrameChange change = displacement.change ? displacement.change(block) : FrameChange{};
    const Vector3 dp = motion.point * moved + change.point;
    const Vector3 dtheta = motion.rotation * moved + change.rotation;

    // r_x −= (J_B − J_A)ᵀ dW
    const Impulse impulse = impulse_of(problem, block, step.f);
    const Vector3 dF = cross(dtheta, impulse.force);
    Vector6 dW;
    dW << dF, cross(dp, impulse.force) + cross(dtheta, impulse.torque);
    for (const int side : {0, 1}) {
      const int body = side == 0 ? pair.body_A : pair.body_B;
      const std::span<const int> way = way_of(model, body);
      const auto length = static_cast<Eigen::Index>(way.size());
      way_columns(model, data, body, place, columns_A_.leftCols(length));
      for (Eigen::Index k = 0; k < length; ++k) r_x[way[k]] -= (side == 0 ? -1.0 : 1.0) * columns_A_.col(k).dot(dW);
    }

    for (int r = block.first_row; r < block.first_row + block.num_rows; ++r) {
      const Row& row = problem.rows[r];
      const int i = place_of_row(r);
      if (i < 0) continue;
      const Vector6 reader = row_reader(here, row.axis);
      for (const int old : {0, 1}) {
        const double factor = old == 0 ? 1.0 : row.restitution;
        if (factor == 0.0) continue;
        const BodyVelocities& velocities = velocities_[old];
        const Vector6 V =
            velocities.twist(model, data, pair.body_B, place) - velocities.twist(model, data, pair.body_A, place);
        const Vector6 dV =
            displacement.twist(pair.body_B, place, velocities) - displacement.twist(pair.body_A, place, velocities);
        s_x[i] += factor * (row_motion<1>(here, row.axis, V, dp, dtheta)[0] + reader.dot(dV));
      }
      if (row.gain == 0.0) continue;
      const Vector6 relative = moved.tail<6>() - moved.head<6>();
      if (row.kind == RowKind::normal) {
        s_x[i] += row.gain * (motion.distance.dot(moved) + change.distance);
      } else if (row.kind == RowKind::weld && row.axis >= 3) {
        for (int l = 0; l < 3; ++l)
          s_x[i] += row.gain * block.angular_gap(row.axis - 3, l) * row_reader(here, 3 + l).dot(relative);
      } else {
        s_x[i] += row.gain * reader.dot(relative);
      }
    }
  }
}

/// r += (J_B − J_A)ᵀ wrench, about the pair's origin.
void LcpDerivatives::add_wrench(const Model& model, const Data& data, const BodyRows& pair, const Vector6& wrench,
                                Eigen::Ref<VectorX> r) {
  set_columns(model, data, pair);
  for (const int side : {0, 1}) {
    const std::span<const int> way = way_of(model, side == 0 ? pair.body_A : pair.body_B);
    const Matrix6X& columns = side == 0 ? columns_A_ : columns_B_;
    for (std::size_t k = 0; k < way.size(); ++k)
      r[way[k]] += (side == 0 ? -1.0 : 1.0) * columns.col(static_cast<Eigen::Index>(k)).dot(wrench);
  }
}

}  // namespace tangere
