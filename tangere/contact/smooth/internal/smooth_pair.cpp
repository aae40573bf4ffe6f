#include "tangere/contact/smooth/internal/smooth_pair.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>

#include "tangere/math/small_lu.hpp"
#include "tangere/math/so3.hpp"

namespace tangere {
namespace {

/// Friction below this has no interior worth the name.
constexpr double kNoFriction = 1e-6;
/// An axis is near the normal from this cosine on.
constexpr double kNearNormal = 0.9;

/// Two directions across n.
Eigen::Matrix<double, 3, 2, Eigen::DontAlign> any_tangents(const Vector3& n) {
  int smallest = 0;
  n.cwiseAbs().minCoeff(&smallest);
  const Vector3 t = n.cross(Vector3::Unit(smallest)).normalized();
  Eigen::Matrix<double, 3, 2, Eigen::DontAlign> T;
  T << t, n.cross(t);
  return T;
}

}  // namespace

int SmoothPair::num_contact_rows() const {
  if (num_friction == 0) return 1;
  return shape == FrictionShape::cone ? 2 + num_friction : 1 + 2 * num_friction;
}

void SmoothPair::set_friction(double coefficient, double radius, FrictionShape form) {
  friction = coefficient;
  torsion_radius = radius;
  shape = form;
  num_friction = coefficient < kNoFriction ? 0 : (radius > 0.0 ? 3 : 2);
}

/// Index of direction k of β₁ and η₁.
int SmoothPair::tail_index(int k) const { return shape == FrictionShape::cone ? 2 + k : 2 + 2 * k; }
double SmoothPair::beta_0(int k) const { return at.z[shape == FrictionShape::cone ? 1 : 1 + 2 * k]; }
double SmoothPair::eta_0(int k) const { return at.s[shape == FrictionShape::cone ? 1 : 1 + 2 * k]; }

void SmoothPair::start(double nu) {
  at.s[0] = std::max(alpha - 1.0, 0.1);
  at.z[0] = nu / at.s[0];
  for (int i = 1; i < num_contact_rows(); ++i) at.z[i] = at.s[i] = 0.0;
  for (int k = 0; k < num_friction; ++k) {
    const int head = shape == FrictionShape::cone ? 1 : 1 + 2 * k;
    at.z[head] = at.s[head] = 1.0;
  }
  T.setZero();
}

void SmoothPair::carry_tangents(const Vector3& new_n) {
  const bool none = T.isZero(0.0);
  // at the same place the same tangents
  if (!none && new_n == n) return;
  if (none) {
    n = new_n;
    T = any_tangents(n);
    return;
  }
  // the smallest rotation from n to new_n, applied to T; a half turn has none
  const double c = n.dot(new_n);
  if (c < -0.999) {
    n = new_n;
    T = any_tangents(n);
    return;
  }
  const Vector3 axis = n.cross(new_n);
  for (int k = 0; k < 2; ++k) {
    const Vector3 t = T.col(k);
    T.col(k) = t * c + axis.cross(t) + axis * (axis.dot(t) / (1.0 + c));
  }
  // off the wear of many small turns
  T.col(0) = (T.col(0) - new_n * new_n.dot(T.col(0))).normalized();
  T.col(1) = new_n.cross(T.col(0));
  n = new_n;
}

/// By the axis of a set: a function of the poses alone.
void SmoothPair::fix_tangents(const Vector3& new_n) {
  n = new_n;
  const Matrix3& axes = (axes_of_B ? B : A).X.R;
  const Vector3 a = std::abs(n.dot(axes.col(0))) < kNearNormal ? axes.col(0) : axes.col(1);
  const double along = n.dot(a);
  const Vector3 across = a - n * along;
  const double size = across.norm();
  T.col(0) = across / size;
  T.col(1) = n.cross(T.col(0));
  spin_by_normal_ = T.col(1) * (-along / size);
  spin_by_turn_ = a.cross(T.col(1)) / size;
}

double SmoothPair::evaluate(double shift, const SideVelocity& at_A, const SideVelocity& at_B) {
  double worst = larger_norm(A.evaluate(x, alpha), B.evaluate(x, alpha));
  const Vector3 difference = B.f - A.f;
  length_ = difference.norm();
  if (length_ > 0.0) {
    if (shape == FrictionShape::pyramid)
      fix_tangents(difference / length_);
    else
      carry_tangents(difference / length_);
  }

  r_g_ << A.f + B.f, A.a + B.a - 1.0;
  worst = larger_norm(worst, r_g_.cwiseAbs().maxCoeff<Eigen::PropagateNaN>());
  r_gap_ = at.s[0] - (alpha - 1.0 - shift + compliance * at.z[0]);
  worst = larger_norm(worst, std::abs(r_gap_));

  v_rel_ = at_B.at_x - at_A.at_x;
  w_rel_ = at_B.spin - at_A.spin;
  for (int k = 0; k < num_friction; ++k) {
    const double slip = k < 2 ? T.col(k).dot(v_rel_) : torsion_radius * n.dot(w_rel_);
    r_eta_[k] = at.s[tail_index(k)] - slip;
    r_beta_[k] = beta_0(k) - friction * at.z[0];
    worst = larger_norm(worst, larger_norm(std::abs(r_eta_[k]), std::abs(r_beta_[k])));
  }
  return worst;
}

/// β ∘ η = κ e linearised, η₀ eliminated: db = inverse (r₂ − b r₁ / β₀) − Λ de + λ dβ₀.
void SmoothPair::friction_law() {
  Lambda_.setZero();
  lambda_.setZero();
  inverse_.setZero();
  if (shape == FrictionShape::pyramid) {
    for (int k = 0; k < num_friction; ++k) {
      const double beta = beta_0(k);
      const double eta = eta_0(k);
      const double b = at.z[tail_index(k)];
      const double e = at.s[tail_index(k)];
      inverse_(k, k) = 1.0 / (eta - b * e / beta);
      Lambda_(k, k) = inverse_(k, k) * (beta - b) * (beta + b) / beta;
      lambda_[k] = -inverse_(k, k) * (e - b * eta / beta);
    }
    return;
  }
  const double beta = beta_0(0);
  const double eta = eta_0(0);
  Vector3 b = Vector3::Zero();
  Vector3 e = Vector3::Zero();
  for (int k = 0; k < num_friction; ++k) {
    b[k] = at.z[tail_index(k)];
    e[k] = at.s[tail_index(k)];
  }
  // (η₀ 1 − b eᵀ / β₀)⁻¹, the denominator positive inside the cones
  inverse_ = (Matrix3::Identity() + b * e.transpose() / (beta * eta - b.dot(e))) / eta;
  Lambda_ = inverse_ * (beta * Matrix3::Identity() - b * b.transpose() / beta);
  lambda_ = -(inverse_ * (e - b * (eta / beta)));
}

/// x, α and n for changes of (f, a), `right` = what (dx, dα) has to answer to.
void SmoothPair::collision_change(const Vector4& g_A, const Vector4& g_B, const Vector4& right, Change& change) const {
  double solution[4] = {right[0], right[1], right[2], right[3]};
  lu_solve(H_.data(), 4, 4, pivots_, solution);
  const Vector4 u(solution[0], solution[1], solution[2], solution[3]);
  change.x = u.head<3>();
  change.alpha = u[3];
  const Vector3 df = (g_B - B.H * u - g_A + A.H * u).head<3>();
  change.n = frozen_normal_ ? Vector3::Zero() : Vector3((df - n * n.dot(df)) / length_);
  change.spin = shape == FrictionShape::pyramid ? spin_by_normal_.dot(change.n) : 0.0;
}

Vector3 SmoothPair::slip_change(const Change& change) const {
  Vector3 e = Vector3::Zero();
  const double opening = n.dot(v_rel_);
  const Vector3 carried = w_rel_.cross(change.x) + change.spin * v_rel_.cross(n);
  for (int k = 0; k < 2; ++k) e[k] = T.col(k).dot(carried) - opening * T.col(k).dot(change.n);
  if (num_friction == 3) e[2] = torsion_radius * w_rel_.dot(change.n);
  return e;
}

Vector6 SmoothPair::impulse_change(const Change& change) const {
  const Vector6 W = impulse();
  Vector6 out;
  Vector3 tangential = Vector3::Zero();
  Vector3 sliding = Vector3::Zero();
  for (int k = 0; k < std::min(num_friction, 2); ++k) {
    tangential += at.z[tail_index(k)] * T.col(k);
    sliding += change.b[k] * T.col(k);
  }
  out.head<3>() = n * (change.gamma - tangential.dot(change.n)) + at.z[0] * change.n + sliding;
  out.head<3>() += change.spin * n.cross(tangential);
  out.tail<3>() = change.x.cross(W.head<3>());
  if (num_friction == 3) out.tail<3>() += torsion_radius * (n * change.b[2] + at.z[tail_index(2)] * change.n);
  return out;
}

Vector6 SmoothPair::impulse() const {
  Vector6 W;
  W.head<3>() = at.z[0] * n;
  W.tail<3>().setZero();
  for (int k = 0; k < std::min(num_friction, 2); ++k) W.head<3>() += at.z[tail_index(k)] * T.col(k);
  if (num_friction == 3) W.tail<3>() = torsion_radius * at.z[tail_index(2)] * n;
  return W;
}

template <int First, int Count>
void SmoothPair::respond_to_twists(const Vector6& W) {
  // (x, α): H (dx, dα) = H_i (δ_i, 0) + (dθ_i × f_i, 0)
  Eigen::Matrix<double, 4, Count, Eigen::RowMajor> right = Eigen::Matrix<double, 4, Count, Eigen::RowMajor>::Zero();
  if constexpr (First == 0) {
    right.template block<4, 3>(0, 0) = A.H.leftCols<3>();
    right.template block<3, 3>(0, 3) = -so3::hat(A.f);
  }
  if constexpr (First + Count == 12) {
    right.template block<4, 3>(0, Count - 6) = B.H.leftCols<3>();
    right.template block<3, 3>(0, Count - 3) = -so3::hat(B.f);
  }
  Eigen::Matrix<double, 4, Count, Eigen::RowMajor> X = right;
  lu_solve(H_.data(), 4, 4, pivots_, X.data(), Count, Count);
  X_xi_.middleCols<Count>(First) = X;

  // n
  using Rows = Eigen::Matrix<double, 3, Count, Eigen::RowMajor>;
  Rows dn = Rows::Zero();
  if (!frozen_normal_) {
    Rows df = (A.H - B.H).topRows<3>() * X;
    if constexpr (First == 0) df.template leftCols<6>() -= right.template block<3, 6>(0, 0);
    if constexpr (First + Count == 12) df.template rightCols<6>() += right.template block<3, 6>(0, Count - 6);
    dn = (df - n * (n.transpose() * df)) / length_;
  }

  // the spin of a pyramid's tangents
  Eigen::Matrix<double, 1, Count> spin = Eigen::Matrix<double, 1, Count>::Zero();
  if (shape == FrictionShape::pyramid) {
    spin = spin_by_normal_.transpose() * dn;
    if (axes_of_B ? First + Count == 12 : First == 0)
      spin.template segment<3>(axes_of_B ? Count - 3 : 3) += spin_by_turn_.transpose();
  }

  // γ, friction, and the impulse
  const Eigen::Matrix<double, 1, Count> gamma = (-at.z[0] / stiffness()) * X.row(3);
  const Vector3 tangential = W.head<3>() - at.z[0] * n;
  Rows F = n * (gamma - tangential.transpose() * dn) + at.z[0] * dn;
  if (shape == FrictionShape::pyramid) F += n.cross(tangential) * spin;
  Rows torque = -so3::hat(W.head<3>()) * X.template topRows<3>();
  if (num_friction > 0) {
    const double opening = n.dot(v_rel_);
    Rows e = Rows::Zero();
    for (int k = 0; k < 2; ++k) {
      const Vector3 t = T.col(k);
      e.row(k) = t.cross(w_rel_).transpose() * X.template topRows<3>() - (opening * t.transpose()) * dn;
      if (shape == FrictionShape::pyramid) e.row(k) += n.cross(t).dot(v_rel_) * spin;
    }
    if (num_friction == 3) e.row(2) = (torsion_radius * w_rel_.transpose()) * dn;
    const Rows b = -Lambda_ * e + (friction * lambda_) * gamma;
    F += T * b.template topRows<2>();
    if (num_friction == 3) torque += torsion_radius * (n * b.row(2) + at.z[tail_index(2)] * dn);
    e_xi_.middleCols<Count>(First) = e;
    b_xi_.middleCols<Count>(First) = b;
  }
  Y.block<3, Count>(0, First) = F;
  Y.block<3, Count>(3, First) = torque;
}

bool SmoothPair::factor(bool frozen_normal) {
  frozen_normal_ = frozen_normal;
  if (!(length_ > 0.0) || !A.factor() || !B.factor()) return false;
  H_ = A.H + B.H;
  if (!lu_factor(H_.data(), 4, 4, pivots_)) return false;
  const Vector6 W = impulse();

  // to the relative velocity: through friction only
  Y.rightCols<6>().setZero();
  e_U_.setZero();
  b_U_.setZero();
  if (num_friction > 0) {
    friction_law();
    e_U_.topLeftCorner<2, 3>() = T.transpose();
    if (num_friction == 3) e_U_.row(2).tail<3>() = torsion_radius * n.transpose();
    b_U_ = -Lambda_ * e_U_;
    Y.block<3, 6>(0, 12) = T * b_U_.topRows<2>();
    if (num_friction == 3) Y.block<3, 6>(3, 12) = (torsion_radius * n) * b_U_.row(2);
  }

  // to the twists
  if (moves_A && moves_B) {
    respond_to_twists<0, 12>(W);
  } else {
    // what does not move has a zero twist, whatever is beside it: no NaN
    X_xi_.setZero();
    e_xi_.setZero();
    b_xi_.setZero();
    Y.leftCols<12>().setZero();
    if (moves_A) respond_to_twists<0, 6>(W);
    if (moves_B) respond_to_twists<6, 6>(W);
  }
  return true;
}

void SmoothPair::bend(double weight, const double* dz) {
  bent_ = weight != 0.0;
  if (!bent_) return;
  Vector3 dF = dz[0] * n;
  for (int k = 0; k < std::min(num_friction, 2); ++k) dF += dz[tail_index(k)] * T.col(k);
  bent_torque_ = weight * dx.cross(dF);
  // past a set whose origin moves by δ − dθ × (x − p)
  const auto slip = [&](const SmoothSide& side, const Vector6& xi, const Vector3& dw) {
    return Vector3(dw.cross(dx - xi.head<3>() + Vector3(xi.tail<3>()).cross(x - side.X.p)));
  };
  bent_slip_ = weight * (slip(B, xi_B_, dw_B_) - slip(A, xi_A_, dw_A_));
  bent_A_ = weight * Vector3(dx - xi_A_.head<3>()).cross(xi_A_.tail<3>());
  bent_B_ = weight * Vector3(dx - xi_B_.head<3>()).cross(xi_B_.tail<3>());
}

void SmoothPair::respond(const double* r_A, const double* r_B, const double* r, Vector6& out) {
  Vector4 g_A;
  Vector4 g_B;
  A.forces(r_A, g_A);
  B.forces(r_B, g_B);
  if (bent_) {
    g_A -= A.H.leftCols<3>() * bent_A_;
    g_B -= B.H.leftCols<3>() * bent_B_;
  }
  collision_change(g_A, g_B, g_A + g_B + r_g_, own_);
  own_.gamma = (r[0] - at.z[0] * (own_.alpha - r_gap_)) / stiffness();
  own_.e.setZero();
  own_.b.setZero();
  if (num_friction > 0) {
    own_.e = slip_change(own_);
    for (int k = 0; k < num_friction; ++k) own_.e[k] -= r_eta_[k];
    if (bent_) own_.e.head<2>() += T.transpose() * bent_slip_;
    Vector3 right = Vector3::Zero();
    Vector3 dbeta = Vector3::Zero();
    for (int k = 0; k < num_friction; ++k) {
      const int head = shape == FrictionShape::cone ? 1 : 1 + 2 * k;
      right[k] = r[tail_index(k)] - at.z[tail_index(k)] * r[head] / at.z[head];
      dbeta[k] = friction * own_.gamma - r_beta_[k];
    }
    own_.b = inverse_ * right - Lambda_ * own_.e + lambda_.cwiseProduct(dbeta);
  }
  out = impulse_change(own_);
  if (bent_) out.tail<3>() += bent_torque_;
}

Vector6 SmoothPair::respond_outside(const Outside& outside) const {
  Change change;
  collision_change(outside.g_A, outside.g_B, outside.g_A + outside.g_B, change);
  change.gamma = -at.z[0] / stiffness() * (change.alpha - outside.gap);
  change.e.setZero();
  change.b.setZero();
  if (num_friction > 0) {
    change.e = slip_change(change);
    change.b = -Lambda_ * change.e + lambda_ * (friction * change.gamma + outside.beta_0);
  }
  return impulse_change(change);
}

void SmoothPair::recover(const double* r_A, const double* r_B, const double* r, const Vector6& xi_A,
                         const Vector6& xi_B, const Vector6& dU_A, const Vector6& dU_B, double* dz_A, double* ds_A,
                         double* dz_B, double* ds_B, double* dz, double* ds, double* dy_A, double* dy_B) {
  recover_contact(r, xi_A, xi_B, dU_B - dU_A, dz, ds);
  Vector3 past_A = dx - xi_A.head<3>();
  Vector3 past_B = dx - xi_B.head<3>();
  if (bent_) {
    past_A += bent_A_;
    past_B += bent_B_;
  }
  A.recover(r_A, past_A, dalpha, dz_A, ds_A, dy_A);
  B.recover(r_B, past_B, dalpha, dz_B, ds_B, dy_B);
  xi_A_ = xi_A;
  xi_B_ = xi_B;
  dw_A_ = dU_A.tail<3>();
  dw_B_ = dU_B.tail<3>();
}

void SmoothPair::recover_contact(const double* r, const Vector6& xi_A, const Vector6& xi_B, const Vector6& dU,
                                 double* dz, double* ds) {
  Vector12 xi;
  xi << xi_A, xi_B;
  const Vector4 u = X_xi_ * xi;
  dx = own_.x + u.head<3>();
  dalpha = own_.alpha + u[3];
  dz[0] = (r[0] - at.z[0] * (dalpha - r_gap_)) / stiffness();
  ds[0] = dalpha - r_gap_ + compliance * dz[0];
  if (num_friction == 0) return;
  const Vector3 e = own_.e + e_xi_ * xi + e_U_ * dU;
  const Vector3 b = own_.b + b_xi_ * xi + b_U_ * dU;
  double dot = 0.0;
  for (int k = 0; k < num_friction; ++k) {
    const int i = tail_index(k);
    const int head = shape == FrictionShape::cone ? 1 : 1 + 2 * k;
    dz[i] = b[k];
    ds[i] = e[k];
    dz[head] = friction * dz[0] - r_beta_[k];
    if (shape == FrictionShape::pyramid) dot = 0.0;
    dot += at.s[i] * dz[i] + at.z[i] * ds[i];
    ds[head] = (r[head] - at.s[head] * dz[head] - dot) / at.z[head];
  }
}

}  // namespace tangere
