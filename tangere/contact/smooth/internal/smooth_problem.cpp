#include "tangere/contact/smooth/internal/smooth_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <Eigen/Geometry>

#include "tangere/multibody/links.hpp"

namespace tangere {
namespace {

using Kind = SideBody::Kind;

int collision_rows(const PairSlot& slot) {
  return SmoothSide::num_rows(slot.pair.A.rows()) + SmoothSide::num_rows(slot.pair.B.rows());
}

}  // namespace

Vector6 PairSlot::impulse() const {
  Vector6 W = units.impulse() * pair.impulse();
  W.tail<3>() *= units.length;
  return W;
}

Vector12 Lowering::by_twists(const Vector3& point) const {
  Vector12 out = Vector12::Zero();
  if (side < 0) return out;
  Vector6 rise;
  rise << normal, (center - point).cross(normal);
  out.segment<6>(6 * side) = slope * rise;
  out.segment<6>(6 * (1 - side)) = -slope * rise;
  return out;
}

Vector6 PairSlot::respond_to_lowering(const Vector12& b_by_twists) const {
  const int first = 6 * lowering.side;
  const SmoothSide& plane = lowering.side == 0 ? pair.A : pair.B;
  const Vector3 down = plane.X.R * plane.shape().support->center / -units.length;
  const double gap = -b_by_twists.segment<3>(first).dot(lowering.normal) / units.length;
  return pair.Y.block<6, 3>(0, first) * down + pair.respond_outside({.gap = gap});
}

std::size_t SmoothProblem::num_rows_of(const PairSlot& slot) const {
  return static_cast<std::size_t>((bilevel ? 0 : collision_rows(slot)) + slot.pair.num_contact_rows());
}

std::size_t SmoothProblem::num_auxiliaries_of(const PairSlot& slot) const {
  return static_cast<std::size_t>(slot.pair.A.rows().num_aux + slot.pair.B.rows().num_aux);
}

void SmoothProblem::lay_out() {
  int rows = 0;
  int auxiliaries = 0;
  int numbers = 0;
  int inner = 0;
  for (std::size_t i = 0; i < num_pairs; ++i) {
    pairs[i].first_row = rows;
    pairs[i].first_y = auxiliaries;
    (bilevel ? inner : rows) += collision_rows(pairs[i]);
    rows += pairs[i].pair.num_contact_rows();
    for (SmoothSide* side : {&pairs[i].pair.A, &pairs[i].pair.B}) {
      auxiliaries += side->rows().num_aux;
      numbers += SmoothSide::num_scratch(side->rows());
    }
  }
  for (JointRow& row : joint_rows) {
    row.first_row = rows;
    rows += row.kind == JointRow::Kind::friction ? 2 : 1;
  }
  for (AlignedVector* vector : {&z, &s, &r_s}) vector->resize(static_cast<std::size_t>(rows));
  for (AlignedVector* vector : {&inner_z, &inner_s, &inner_r, &inner_d})
    vector->assign(static_cast<std::size_t>(inner), 0.0);
  for (AlignedVector* vector : {&y, &y_saved, &r_y, &y_0, &dy}) vector->resize(static_cast<std::size_t>(auxiliaries));
  scratch.resize(static_cast<std::size_t>(numbers));

  double* next_scratch = scratch.data();
  int next_inner = 0;
  for (std::size_t i = 0; i < num_pairs; ++i) {
    int row = pairs[i].first_row;
    int at_y = pairs[i].first_y;
    for (SmoothSide* side : {&pairs[i].pair.A, &pairs[i].pair.B}) {
      int& at = bilevel ? next_inner : row;
      side->bind({.z = (bilevel ? inner_z : z).data() + at,
                  .s = (bilevel ? inner_s : s).data() + at,
                  .r_s = (bilevel ? inner_r : r_s).data() + at,
                  .y = y.data() + at_y,
                  .r_y = r_y.data() + at_y,
                  .y_0 = y_0.data() + at_y,
                  .scratch = next_scratch});
      at += SmoothSide::num_rows(side->rows());
      at_y += side->rows().num_aux;
      next_scratch += SmoothSide::num_scratch(side->rows());
    }
    pairs[i].pair.at = {z.data() + row, s.data() + row};
  }
}

void SmoothIsland::set(std::size_t first_pair, std::size_t last_pair, std::span<const int> movers, bool with_tree) {
  first_pair_ = first_pair;
  last_pair_ = last_pair;
  movers_.assign(movers.begin(), movers.end());
  place_of_mover_.resize(p_.free.size());
  for (std::size_t i = 0; i < movers_.size(); ++i) place_of_mover_[movers_[i]] = 6 * static_cast<int>(i);
  with_tree_ = with_tree;
  alone_ = !with_tree;
  for (std::size_t i = first_pair; i < last_pair; ++i)
    for (const SideBody& side : p_.pairs[i].sides) alone_ = alone_ && side.kind == Kind::free;
  n_ = tree_place() + (with_tree ? p_.tree->size() : 0);
  num_equalities_ = with_tree ? static_cast<int>(p_.lambda.size()) : 0;

  // rows of the pairs, then of the joints
  cones_.clear();
  int row = 0;
  int end_y = 0;
  const auto orthant = [&](int size) {
    if (size > 0) cones_.push_back({NcpCone::Kind::orthant, row, size});
    row += size;
  };
  const auto second_order = [&](int size) {
    cones_.push_back({NcpCone::Kind::second_order, row, size});
    row += size;
  };
  for (std::size_t i = first_pair; i < last_pair; ++i) {
    PairSlot& slot = p_.pairs[i];
    for (const SmoothSide* side : {&slot.pair.A, &slot.pair.B}) {
      if (!p_.bilevel) {
        orthant(side->rows().num_orthant);
        for (int c = 0; c < side->rows().num_cones; ++c) second_order(4);
      }
      end_y = slot.first_y + slot.pair.A.rows().num_aux + slot.pair.B.rows().num_aux;
    }
    orthant(1);
    if (slot.pair.num_friction == 0) continue;
    if (slot.pair.shape == FrictionShape::cone) {
      second_order(1 + slot.pair.num_friction);
    } else {
      for (int k = 0; k < slot.pair.num_friction; ++k) second_order(2);
    }
  }
  first_row_ = 0;
  if (last_pair > first_pair)
    first_row_ = static_cast<std::size_t>(p_.pairs[first_pair].first_row);
  else if (with_tree && !p_.joint_rows.empty())
    first_row_ = static_cast<std::size_t>(p_.joint_rows.front().first_row);
  if (with_tree)
    for (const JointRow& joint : p_.joint_rows) {
      if (joint.kind == JointRow::Kind::friction)
        second_order(2);
      else
        orthant(1);
    }
  num_rows_ = static_cast<std::size_t>(row);
  first_y_ = last_pair > first_pair ? static_cast<std::size_t>(p_.pairs[first_pair].first_y) : 0;
  last_y_ = last_pair > first_pair ? static_cast<std::size_t>(end_y) : 0;

  residual_.reset(num_unknowns());
  dv_.reset(num_unknowns());
  pivots_.resize(static_cast<std::size_t>(num_unknowns()));
}

/// Poses of the sets at the end of the step, from the pair's origin in its units.
void SmoothIsland::place_pair(PairSlot& slot) {
  for (int i = 0; i < 2; ++i) {
    const SideBody& body = slot.sides[i];
    Pose X = body.X;
    if (body.kind == Kind::free) X = p_.free[body.index].X_next * body.X;
    if (body.kind == Kind::tree) X = p_.tree->pose(body.index) * body.X;
    slot.side(i).X = {X.R, (X.p - slot.origin) / slot.units.length};
  }
}

/// The point where both impulses act lies where the contact point was before the step, carried back by the velocity
/// that the lighter body has the larger share of; levers are from the old centres of mass.
void SmoothIsland::set_levers(PairSlot& slot) {
  const Vector3 x = slot.point();
  Vector3 carried = Vector3::Zero();
  for (std::size_t i = 0; i < 2; ++i)
    if (slot.sides[i].kind == Kind::free) carried += slot.weights[i] * p_.free[slot.sides[i].index].V_c;
  for (std::size_t i = 0; i < 2; ++i)
    if (slot.sides[i].kind == Kind::free)
      slot.levers[i] = (x - p_.time_step * carried - p_.free[slot.sides[i].index].center) / slot.units.length;
}

int SmoothIsland::place_of_dof(const SideBody& body, int dof) const {
  if (body.kind == Kind::tree) return tree_place() + p_.tree->place(dof);
  return place_of(body.index) + dof - p_.free[body.index].first_v;
}

void SmoothIsland::add_impulse(const PairSlot& slot, const Vector6& W, double sign, double* r) const {
  for (int i = 0; i < 2; ++i) {
    const SideBody& body = slot.sides[i];
    const double factor = sign * sign_of(i);
    if (body.kind == Kind::free) {
      const Units& units = p_.free[body.index].units;
      const Vector3 F = W.head<3>();
      const Vector3 torque = slot.levers[i].cross(F) + W.tail<3>();
      const double linear = factor * slot.units.impulse() / units.impulse();
      double* at = r + place_of(body.index);
      Eigen::Map<Vector3>(at) += linear * F;
      Eigen::Map<Vector3>(at + 3) += (linear * slot.units.length / units.length) * torque;
    }
    if (body.kind == Kind::tree) {
      Vector6 in_si = slot.units.impulse() * W;
      in_si.tail<3>() *= slot.units.length;
      p_.tree->add_force(body.index, slot.point(), in_si, factor, r + tree_place());
    }
  }
}

/// Bilevel: the collision at the poses of the iterate, to the end.
bool SmoothIsland::collide(PairSlot& slot) {
  const bool warm = slot.collided;
  slot.collided = p_.collisions.solve(slot.pair, slot.units.length, warm,
                                      {.kappa = p_.kappa,
                                       .tolerance = p_.inner_tolerance,
                                       .max_iterations = kCollisionIterations,
                                       .num_refinements = p_.inner_refinements});
  return slot.collided;
}

/// Squares of larger ones are no numbers.
constexpr double kLargestVelocity = 1e150;

double SmoothIsland::evaluate() {
  if (std::exchange(evaluated_, false)) return norm_;
  double* r = residual_.view().data();
  for (const int i : movers_) {
    FreeMover& mover = p_.free[i];
    mover.update();
    Eigen::Map<Vector6>(r + place_of(i)) = mover.residual();
  }
  if (with_tree_) {
    // a direction of a singular matrix may lead to what is no number: that iterate is then given up
    if (!(p_.tree->v.array().abs() < kLargestVelocity).all()) return std::numeric_limits<double>::infinity();
    p_.tree->update();
    p_.tree->residual(r + tree_place());
    evaluate_equalities();
  }
  double worst = 0.0;
  for (std::size_t k = first_pair_; k < last_pair_; ++k) {
    PairSlot& slot = p_.pairs[k];
    place_pair(slot);
    if (p_.bilevel && !collide(slot)) return std::numeric_limits<double>::infinity();
    set_levers(slot);
    std::array<SideVelocity, 2> velocities;
    const Vector3 x = slot.point();
    for (std::size_t i = 0; i < 2; ++i) {
      const SideBody& body = slot.sides[i];
      if (body.kind == Kind::free) {
        const FreeMover& mover = p_.free[body.index];
        velocities[i] = {mover.velocity_at(x) / slot.units.speed, mover.W * (slot.units.length / slot.units.speed)};
      }
      if (body.kind == Kind::tree) {
        const Vector6 V = p_.tree->twist(body.index, x);
        velocities[i] = {V.head<3>() / slot.units.speed, V.tail<3>() * (slot.units.length / slot.units.speed)};
      }
    }
    worst = larger_norm(worst,
                        slot.pair.evaluate(slot.num_cones * p_.kappa + slot.rebound_gap, velocities[0], velocities[1]));
    add_impulse(slot, slot.pair.impulse(), -1.0, r);
  }
  if (with_tree_) worst = larger_norm(worst, evaluate_joint_rows());
  for (int i = 0; i < num_unknowns(); ++i) worst = larger_norm(worst, std::abs(r[i]));
  return norm_ = worst;
}

Vector6 SmoothIsland::velocity_after(int mover) const {
  Vector6 residual = Vector6::Zero();
  if (alone_) residual = residual_.view().segment<6>(place_of(mover));
  return p_.free[mover].velocity_after(residual);
}

void SmoothIsland::velocities(double* v) const {
  for (const int i : movers_) Eigen::Map<Vector6>(v + place_of(i)) = velocity_after(i);
  if (!with_tree_) return;
  int at = tree_place();
  for (const int dof : p_.tree->dofs()) v[at++] = p_.tree->v[dof];
}

void SmoothIsland::velocity_changes(const double* x, double* v) const {
  for (const int i : movers_) {
    const FreeMover& mover = p_.free[i];
    const Matrix3 Rt = mover.X_WL.R.transpose();
    const double* at = x + place_of(i);
    Vector6 own;
    own << mover.units.speed * (Rt * Eigen::Map<const Vector3>(at)),
        (mover.units.speed / mover.units.length) * (Rt * Eigen::Map<const Vector3>(at + 3));
    Eigen::Map<Vector6>(v + place_of(i)).noalias() = mover.velocity_after_derivative() * own;
  }
  if (!with_tree_) return;
  int at = tree_place();
  for (const int dof : p_.tree->dofs()) {
    v[at] = p_.units->velocity(dof) * x[at];
    ++at;
  }
}

/// dv += what an impulse on B (pair's units) gives by the columns of the last factors.
void SmoothIsland::add_response(const PairSlot& slot, const Vector6& W, double* dv) const {
  for (int i = 0; i < 2; ++i) {
    const SideBody& body = slot.sides[i];
    const Vector6 own = sign_of(i) * W;
    if (body.kind == Kind::free) Eigen::Map<Vector6>(dv + place_of(body.index)) += slot.free[i].force * own;
    if (body.kind == Kind::tree) {
      const TreeMover::Columns& columns = slot.tree[i];
      const std::span<const int> way = way_of(p_.tree->model(), body.index);
      for (int k = 0; k < columns.count; ++k)
        dv[tree_place() + p_.tree->place(way[k])] += columns.force.col(k).dot(own);
    }
  }
}

/// Motion of a side along the last dv.
SmoothIsland::Motion SmoothIsland::motion(const PairSlot& slot, int i) const {
  const SideBody& body = slot.sides[i];
  const double* dv = dv_.view().data();
  Motion out{Vector6::Zero(), Vector6::Zero()};
  if (body.kind == Kind::free) {
    const FreeColumns& columns = slot.free[i];
    const Eigen::Map<const Vector6> own(dv + place_of(body.index));
    out.xi.noalias() = columns.xi * own;
    out.dU.noalias() = columns.U * own;
  }
  if (body.kind == Kind::tree) {
    const TreeMover::Columns& columns = slot.tree[i];
    const std::span<const int> way = way_of(p_.tree->model(), body.index);
    for (int k = 0; k < columns.count; ++k) {
      const double own = dv[tree_place() + p_.tree->place(way[k])];
      out.xi += own * columns.xi.col(k);
      out.dU += own * columns.U.col(k);
    }
  }
  return out;
}

void SmoothIsland::correct(std::span<const double> r, double second_order, std::span<double> dz, std::span<double> ds) {
  double* dv = dv_.view().data();
  for (int i = 0; i < num_unknowns(); ++i) dv[i] = -residual_[i];
  const auto local = [&](int row) { return static_cast<std::size_t>(row) - first_row_; };
  for (std::size_t k = first_pair_; k < last_pair_; ++k) {
    PairSlot& slot = p_.pairs[k];
    const double* at = r.data() + local(slot.first_row);
    const int rows_A = SmoothSide::num_rows(slot.pair.A.rows());
    const int rows_B = SmoothSide::num_rows(slot.pair.B.rows());
    Vector6 W;
    slot.pair.bend(p_.bilevel ? 0.0 : second_order, dz.data() + local(slot.first_row) + rows_A + rows_B);
    if (p_.bilevel)
      slot.pair.respond(p_.inner_d.data(), p_.inner_d.data(), at, W);
    else
      slot.pair.respond(at, at + rows_A, at + rows_A + rows_B, W);
    add_response(slot, W, dv);
  }
  if (with_tree_)
    for (const JointRow& row : p_.joint_rows) {
      double own = 0.0;
      double slope = 0.0;
      joint_response(row, r.data() + local(row.first_row), own, slope);
      dv[tree_place() + p_.tree->place(row.dof)] += own;
    }
  solve_velocities(dv);

  for (std::size_t k = first_pair_; k < last_pair_; ++k) {
    PairSlot& slot = p_.pairs[k];
    const std::size_t first = local(slot.first_row);
    const auto rows_A = static_cast<std::size_t>(SmoothSide::num_rows(slot.pair.A.rows()));
    const auto rows_B = static_cast<std::size_t>(SmoothSide::num_rows(slot.pair.B.rows()));
    const double* at = r.data() + first;
    double* z = dz.data() + first;
    double* s = ds.data() + first;
    double* dy = p_.dy.data() + slot.first_y;
    const Motion A = motion(slot, 0);
    const Motion B = motion(slot, 1);
    if (p_.bilevel) {
      slot.pair.recover_contact(at, A.xi, B.xi, B.dU - A.dU, z, s);
      continue;
    }
    slot.pair.recover(at, at + rows_A, at + rows_A + rows_B, A.xi, B.xi, A.dU, B.dU, z, s, z + rows_A, s + rows_A,
                      z + rows_A + rows_B, s + rows_A + rows_B, dy, dy + slot.pair.A.rows().num_aux);
  }
  if (with_tree_)
    for (const JointRow& row : p_.joint_rows) {
      const std::size_t at = local(row.first_row);
      recover_joint_row(row, r.data() + at, dz.data() + at, ds.data() + at);
    }
}

void SmoothIsland::save() {
  for (const int i : movers_) {
    FreeMover& mover = p_.free[i];
    mover.V_saved = mover.V;
    mover.W_saved = mover.W;
  }
  if (with_tree_) {
    p_.tree->v_saved = p_.tree->v;
    p_.lambda_saved = p_.lambda;
  }
  for (std::size_t k = first_pair_; k < last_pair_; ++k) {
    PairSlot& slot = p_.pairs[k];
    slot.x_saved = slot.pair.x;
    slot.alpha_saved = slot.pair.alpha;
    slot.n_saved = slot.pair.n;
    slot.T_saved = slot.pair.T;
  }
  for (std::size_t i = first_y_; i < last_y_; ++i) p_.y_saved[i] = p_.y[i];
}

void SmoothIsland::advance(double a) {
  const double* dv = dv_.view().data();
  for (const int i : movers_) {
    FreeMover& mover = p_.free[i];
    const double* own = dv + place_of(i);
    const double speed = mover.units.speed;
    mover.V = mover.V_saved + (a * speed) * Eigen::Map<const Vector3>(own);
    mover.W = mover.W_saved + (a * speed / mover.units.length) * Eigen::Map<const Vector3>(own + 3);
  }
  if (with_tree_) {
    for (int i = 0; i < p_.tree->size(); ++i) {
      const int dof = p_.tree->dofs()[i];
      p_.tree->v[dof] = p_.tree->v_saved[dof] + a * p_.units->velocity(dof) * dv[tree_place() + i];
    }
    for (std::size_t i = 0; i < p_.lambda.size(); ++i)
      p_.lambda[i] = p_.lambda_saved[i] + a * dv[static_cast<std::size_t>(n_) + i];
  }
  for (std::size_t k = first_pair_; k < last_pair_; ++k) {
    PairSlot& slot = p_.pairs[k];
    if (!p_.bilevel) {
      slot.pair.x = slot.x_saved + a * slot.pair.dx;
      slot.pair.alpha = slot.alpha_saved + a * slot.pair.dalpha;
    }
    slot.pair.n = slot.n_saved;
    slot.pair.T = slot.T_saved;
  }
  if (p_.bilevel) return;
  for (std::size_t i = first_y_; i < last_y_; ++i) p_.y[i] = p_.y_saved[i] + a * p_.dy[i];
}

/// Normals and tangents too: they are carried from iterate to iterate.
template <class On>
void SmoothIsland::for_each_part(On&& on) const {
  for (const int i : movers_) {
    FreeMover& mover = p_.free[i];
    on(mover.V.data(), std::size_t{3});
    on(mover.W.data(), std::size_t{3});
  }
  if (with_tree_) {
    on(p_.tree->v.data(), static_cast<std::size_t>(p_.tree->v.size()));
    on(p_.lambda.data(), p_.lambda.size());
  }
  for (std::size_t k = first_pair_; k < last_pair_; ++k) {
    SmoothPair& pair = p_.pairs[k].pair;
    on(pair.x.data(), std::size_t{3});
    on(&pair.alpha, std::size_t{1});
    on(pair.n.data(), std::size_t{3});
    on(pair.T.data(), std::size_t{6});
  }
  on(p_.y.data() + first_y_, last_y_ - first_y_);
}

void SmoothIsland::write(std::vector<double>& y) const {
  y.clear();
  for_each_part([&](const double* numbers, std::size_t count) { y.insert(y.end(), numbers, numbers + count); });
}

void SmoothIsland::read(const std::vector<double>& y) {
  const double* from = y.data();
  for_each_part([&](double* numbers, std::size_t count) {
    std::copy_n(from, count, numbers);
    from += count;
  });
}

}  // namespace tangere
