#include "tangere/contact/smooth/internal/rebound.hpp"

#include <cmath>

#include <Eigen/Geometry>

#include "tangere/math/small_lu.hpp"
#include "tangere/math/so3.hpp"

namespace tangere {
namespace {

/// Contact points are within this many lengths of the pair's origin where two sets may meet within a step.
constexpr double kReach = 4.0;
/// A pair that overlaps is left to itself from this many times the speed of correction on, within a seam.
constexpr double kFast = 1.1;
constexpr double kFastSeam = 0.2;

}  // namespace

Gate gate(double x, double width) {
  const double t = x / width;
  if (t <= 0.0) return {};
  if (t >= 1.0) return {1.0, 0.0};
  return {t * t * t * (10.0 + t * (6.0 * t - 15.0)), 30.0 * t * t * (1.0 - t) * (1.0 - t) / width};
}

double gate_integral(double t) {
  if (t <= 0.0) return 0.0;
  return t < 1.0 ? t * t * t * t * (2.5 + t * (t - 3.0)) : t - 0.5;
}

KeptOverlap keep_overlap(const Overlap& from) {
  const double r = from.recovery;
  const double k = from.hover;
  const double q = r + from.kappa;
  const double t = from.overlap / q - 0.5;
  const Gate open = gate(t, 1.0);
  if (open.value == 0.0) return {};
  const double risen = gate_integral(t);
  const double share = k > 0.0 ? k / (k + r) : 0.0;
  const double normal = std::hypot(q, from.fall);
  const double pace = from.separation / normal;
  const Gate fast = gate(pace - kFast, kFastSeam);
  const double room = from.kappa + share * r + fast.value;
  const double by_overlap = open.value + room * open.slope / q;
  return {.value = q * risen + room * open.value,
          .by_overlap = by_overlap,
          .by_separation = fast.slope * open.value / normal,
          .by_recovery = risen - from.overlap / q * by_overlap +
                         (share * share - fast.slope * pace * q / (normal * normal)) * open.value,
          .by_fall = -fast.slope * pace * from.fall / (normal * normal) * open.value};
}

/// Memory of its own for the sets of `pair`.
void Rebound::bind(const SmoothPair& pair, double length) {
  pair_.A.set(pair.A.shape(), 1.0 / length, pair.A.pull());
  pair_.B.set(pair.B.shape(), 1.0 / length, pair.B.pull());
  int rows = 0;
  int auxiliaries = 0;
  int scratch = 0;
  for (const SmoothSide* side : {&pair_.A, &pair_.B}) {
    rows += SmoothSide::num_rows(side->rows());
    auxiliaries += side->rows().num_aux;
    scratch += SmoothSide::num_scratch(side->rows());
  }
  numbers_.resize(static_cast<std::size_t>(3 * rows + 3 * auxiliaries + scratch));
  double* row = numbers_.data();
  double* y = row + 3 * rows;
  double* own_scratch = y + 3 * auxiliaries;
  for (SmoothSide* side : {&pair_.A, &pair_.B}) {
    side->bind({.z = row,
                .s = row + rows,
                .r_s = row + 2 * rows,
                .y = y,
                .r_y = y + auxiliaries,
                .y_0 = y + 2 * auxiliaries,
                .scratch = own_scratch});
    row += SmoothSide::num_rows(side->rows());
    y += side->rows().num_aux;
    own_scratch += SmoothSide::num_scratch(side->rows());
  }
}

double Rebound::solve(const SmoothPair& pair, const Impact& impact, const NcpOptions& options,
                      CollisionSolver& collisions) {
  impact_ = impact;
  kappa_ = options.kappa;
  solved_ = false;
  (void)keep(1.0);
  const double fastest = impact.twist.head<3>().norm() + kReach * impact.twist.tail<3>().norm();
  const bool may_bounce = impact.restitution * fastest > impact.bounce_speed;
  if (!may_bounce && !impact.may_overlap) return 0.0;
  bind(pair, impact.length);
  pair_.A.X = impact.X_A;
  pair_.B.X = impact.X_B;
  if (!collisions.solve(pair_, impact.length, false, options)) return 0.0;
  f_ = 0.5 * (pair_.B.f - pair_.A.f);
  u_ = impact.twist.head<3>() + impact.twist.tail<3>().cross(pair_.x);
  solved_ = true;
  return keep(1.0);
}

double Rebound::keep(double share) {
  share_ = share;
  acts_ = bounces_ = rough_ = false;
  by_alpha_ = by_force_ = by_rate_ = by_speed_ = by_restitution_ = by_share_ = 0.0;
  if (!solved_) return 0.0;
  const double kept = keep_overlap();
  return bounce(kept) - kept;
}

/// φ, and what it makes of the derivatives of b = −φ.
double Rebound::keep_overlap() {
  const KeptOverlap kept = tangere::keep_overlap({.overlap = 1.0 + impact_.shift - pair_.alpha,
                                                  .separation = impact_.time_step * f_.dot(u_),
                                                  .recovery = impact_.recovery * f_.norm(),
                                                  .hover = impact_.hover,
                                                  .fall = impact_.fall * f_.norm(),
                                                  .kappa = kappa_});
  if (kept.by_overlap == 0.0) return 0.0;
  acts_ = true;
  by_alpha_ = kept.by_overlap;
  by_force_ = -kept.by_recovery * impact_.recovery - kept.by_fall * impact_.fall;
  by_rate_ = kept.by_separation * impact_.time_step;
  return kept.value;
}

/// b + φ, and the derivatives of b.
double Rebound::bounce(double kept) {
  const double e = impact_.restitution;
  const double h = impact_.time_step;
  const double a = pair_.alpha - 1.0 - impact_.shift;
  const double c = -f_.dot(u_);
  const double w = c / f_.norm();
  if (!(c > 0.0) || e == 0.0) return 0.0;
  const double way = h * c;
  const double t = a + e * way + kept;
  const double width = std::sqrt(kappa_);
  const Gate apart = gate(t / way, width);
  const Gate reaches = gate(1.0 - a / way, width);
  Gate fast = gate(1.0 - impact_.bounce_speed / (e * w), width);
  if (apart.value == 0.0 || reaches.value == 0.0 || fast.value == 0.0) return 0.0;
  acts_ = bounces_ = true;

  // t G(t / h c) by a + φ, by the way and by e; then the other gates
  const double rise = t * apart.value;
  by_share_ = rise * reaches.value * fast.value;
  fast.value *= share_;
  fast.slope *= share_;
  const double by_start = (apart.value + t / way * apart.slope) * reaches.value * fast.value;
  const double by_way = e * apart.value - t * (a + kept) / (way * way) * apart.slope;
  const double by_e = way * apart.value + t * apart.slope;
  const double slow = impact_.bounce_speed / (e * w);
  // φ is part of the start: b = −φ + …, so that of its derivatives 1 − by_start are left
  by_alpha_ = by_alpha_ * (1.0 - by_start) + by_start - rise * reaches.slope / way * fast.value;
  by_force_ *= 1.0 - by_start;
  by_rate_ = h * fast.value * (by_way * reaches.value + rise * reaches.slope * a / (way * way));
  by_speed_ = rise * reaches.value * fast.slope * slow / w;
  by_restitution_ = reaches.value * (by_e * fast.value + rise * fast.slope * slow / e);
  return rise * reaches.value * fast.value;
}

/// db for changes of (f, a) of A and B at fixed x and α, the velocities held.
double Rebound::change(const Vector4& g_A, const Vector4& g_B) const {
  Vector4 moved = g_A + g_B;
  lu_solve(H_.data(), 4, 4, pivots_, moved.data());
  const Vector3 df = 0.5 * (g_B - g_A + (pair_.A.H - pair_.B.H) * moved).head<3>();
  const Vector3 spin = impact_.twist.tail<3>();
  const double size = f_.norm();
  const double dc = -df.dot(u_) - f_.dot(spin.cross(moved.head<3>()));
  if (size < kNoDirection) return by_alpha_ * moved[3] + by_rate_ * dc;
  // w = c / |f|
  const double dw = (dc + f_.dot(u_) / (size * size) * f_.dot(df)) / size;
  return by_alpha_ * moved[3] + by_force_ * f_.dot(df) / size + by_rate_ * dc + by_speed_ * dw;
}

void Rebound::differentiate() {
  gradient_ = {};
  if (!acts_) return;
  acts_ = pair_.A.factor() && pair_.B.factor();
  if (acts_) {
    H_ = pair_.A.H + pair_.B.H;
    acts_ = lu_factor(H_.data(), 4, 4, pivots_);
  }
  rough_ = !acts_ || f_.norm() < kNoDirection;
  if (!acts_) return;
  for (int i = 0; i < 2; ++i) {
    const SmoothSide& side = i == 0 ? pair_.A : pair_.B;
    for (int k = 0; k < 6; ++k) {
      Vector4 g = Vector4::Zero();
      if (k < 3)
        g = side.H.col(k);
      else
        g.head<3>() = Vector3::Unit(k - 3).cross(side.f);
      gradient_.xi[6 * i + k] = i == 0 ? change(g, Vector4::Zero()) : change(Vector4::Zero(), g);
    }
  }
  gradient_.velocity = -(by_rate_ + (rough_ ? 0.0 : by_speed_ / f_.norm())) * f_;
  gradient_.restitution = by_restitution_;
}

double Rebound::by_size(int side, int parameter) {
  if (!acts_) return 0.0;
  const Vector4 g = (side == 0 ? pair_.A : pair_.B).parameter_forces(parameter);
  return side == 0 ? change(g, Vector4::Zero()) : change(Vector4::Zero(), g);
}

}  // namespace tangere
