#include "tangere/solvers/qp/qp_sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tangere/math/assert.hpp"

namespace tangere {
namespace {

/// A curvature below this fraction of Q's largest is none: the minimiser may slide.
constexpr double kFlat = 1e-13;
constexpr double kLostPivot = 1e-15;
/// A row whose part outside the span of the others is below this fraction depends on them.
constexpr double kDependent = 1e-9;
/// How far signs may be broken by a refined solution, relative.
constexpr double kRounding = 1e-12;
constexpr int kAttempts = 4;

double dot(const double* a, const double* b, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

void add(double factor, const double* a, double* to, int n) {
  for (int i = 0; i < n; ++i) to[i] += factor * a[i];
}

/// v less its components along the orthonormal rows of `basis`, twice for accuracy. Components are added to `parts`.
void take_out(const double* basis, int count, int stride, double* v, int n, double* parts = nullptr) {
  for (int pass = 0; pass < 2; ++pass) {
    for (int k = 0; k < count; ++k) {
      const double part = dot(basis + stride * k, v, n);
      add(-part, basis + stride * k, v, n);
      if (parts != nullptr) parts[k] += part;
    }
  }
}

/// Qx for the rows of Q.
void multiply(const double* Q, const double* x, double* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = dot(Q + n * i, x, n);
}

}  // namespace

void QpSensitivity::linearise(const QpProblem& problem, const QpSolution& solution, bool relaxed) {
  TANGERE_ASSERT(problem.num_variables() == solution.num_variables() && problem.num_rows() == solution.num_rows());
  problem_ = &problem;
  solution_ = &solution;
  relaxed_ = relaxed;
  n_ = problem.num_variables();
  const int m = problem.num_rows();
  active_.assign(static_cast<std::size_t>(m), 0);
  scratch_.resize(static_cast<std::size_t>(m));
  num_equations_ = 0;
  dependent_ = false;
  freedom_ = 0;
  if (!relaxed) {
    find_active_rows();
    reduce();
    return;
  }
  // all rows, by M = Q + Gᵀ diag(z/s) G
  double M[kN * kN];
  std::copy(problem.Q().data(), problem.Q().data() + n_ * n_, M);
  for (int i = 0; i < m; ++i) {
    const double* g = problem.G().data() + n_ * i;
    const double w = solution.z()[i] / solution.s()[i];
    for (int a = 0; a < n_; ++a) add(w * g[a], g, M + n_ * a, n_);
  }
  num_free_ = n_;
  std::fill(Z_, Z_ + kN * kN, 0.0);
  for (int a = 0; a < n_; ++a) Z_[kN * a + a] = 1.0;
  factor_reduced(M, n_);
}

/// A row is strictly active where its multiplier outweighs its slack, each in units of x: z |g| / Q against s / |g|.
void QpSensitivity::find_active_rows() {
  const auto s = solution_->s();
  const auto z = solution_->z();
  const int m = problem_->num_rows();
  double curvature = 0.0;
  for (int a = 0; a < n_; ++a) curvature = std::max(curvature, problem_->Q()(a, a));
  if (!(curvature > 0.0) && m > 0) curvature = z.maxCoeff() / std::max(s.maxCoeff(), 1e-300);
  for (int i = 0; i < m; ++i) {
    const double* g = problem_->G().data() + n_ * i;
    active_[i] = z[i] * dot(g, g, n_) > s[i] * curvature ? 1 : 0;
  }
}

void QpSensitivity::reduce() {
  orthogonalise();
  factor_reduced(problem_->Q().data(), num_free_);
  freedom_ = num_free_ - rank_;
}

/// Y: the span of the active rows, largest remaining row first; Z: the rest of the space.
void QpSensitivity::orthogonalise() {
  const int m = problem_->num_rows();
  num_equations_ = 0;
  int left = 0;
  for (int i = 0; i < m; ++i) left += active(i) ? 1 : 0;
  const auto taken = [&](int i) {
    return std::find(equation_, equation_ + num_equations_, i) != equation_ + num_equations_;
  };
  for (; left > 0 && num_equations_ < n_; --left) {
    double largest = kDependent;
    int best = -1;
    double v[kN];
    for (int i = 0; i < m; ++i) {
      if (!active(i) || taken(i)) continue;
      const double* g = problem_->G().data() + n_ * i;
      std::copy(g, g + n_, v);
      take_out(Y_, num_equations_, kN, v, n_);
      const double size = std::sqrt(dot(v, v, n_) / dot(g, g, n_));
      if (size > largest) {
        largest = size;
        best = i;
      }
    }
    if (best < 0) break;
    const double* g = problem_->G().data() + n_ * best;
    const int k = num_equations_;
    std::copy(g, g + n_, v);
    double* parts = T_ + kN * k;
    std::fill(parts, parts + kN, 0.0);
    take_out(Y_, k, kN, v, n_, parts);
    const double size = std::sqrt(dot(v, v, n_));
    parts[k] = size;
    for (int a = 0; a < n_; ++a) Y_[kN * k + a] = v[a] / size;
    equation_[num_equations_++] = best;
  }
  dependent_ = left > 0;

  // the projector onto the rest, one direction after the other taken from its longest row
  double P[kN * kN];
  for (int a = 0; a < n_; ++a) {
    double* row = P + kN * a;
    std::fill(row, row + n_, 0.0);
    row[a] = 1.0;
    for (int k = 0; k < num_equations_; ++k) add(-Y_[kN * k + a], Y_ + kN * k, row, n_);
  }
  for (num_free_ = 0; num_free_ < n_ - num_equations_; ++num_free_) {
    int best = 0;
    for (int a = 1; a < n_; ++a)
      if (P[(kN + 1) * a] > P[(kN + 1) * best]) best = a;
    double* z = Z_ + kN * num_free_;
    std::copy(P + kN * best, P + kN * best + n_, z);
    take_out(Y_, num_equations_, kN, z, n_);
    take_out(Z_, num_free_, kN, z, n_);
    const double scale = 1.0 / std::sqrt(dot(z, z, n_));
    for (int a = 0; a < n_; ++a) z[a] *= scale;
    for (int a = 0; a < n_; ++a) add(-z[a], z, P + kN * a, n_);
  }
}

/// Cholesky of Z A Zᵀ with the largest pivot first.
void QpSensitivity::factor_reduced(const double* A, int size) {
  double R[kN * kN];
  double diagonal[kN];
  double largest = 0.0;
  for (int a = 0; a < n_; ++a) largest = std::max(largest, A[n_ * a + a]);
  for (int i = 0; i < size; ++i) {
    double Az[kN];
    multiply(A, Z_ + kN * i, Az, n_);
    for (int j = 0; j < size; ++j) R[kN * i + j] = dot(Z_ + kN * j, Az, n_);
    diagonal[i] = R[kN * i + i];
    pivot_[i] = i;
  }
  rank_ = 0;
  for (int k = 0; k < size; ++k) {
    int best = k;
    for (int i = k + 1; i < size; ++i)
      if (R[kN * pivot_[i] + pivot_[i]] > R[kN * pivot_[best] + pivot_[best]]) best = i;
    std::swap(pivot_[k], pivot_[best]);
    for (int j = 0; j < k; ++j) std::swap(L_[kN * k + j], L_[kN * best + j]);
    const int p = pivot_[k];
    const double value = R[kN * p + p];
    if (!(value > (relaxed_ ? kLostPivot * diagonal[p] : kFlat * largest))) break;
    const double root = std::sqrt(value);
    L_[kN * k + k] = root;
    for (int i = k + 1; i < size; ++i) L_[kN * i + k] = R[kN * pivot_[i] + p] / root;
    for (int i = k + 1; i < size; ++i)
      for (int j = k + 1; j < size; ++j) R[kN * pivot_[i] + pivot_[j]] -= L_[kN * i + k] * L_[kN * j + k];
    ++rank_;
  }
}

/// dx += Zᵀ (Z A Zᵀ)⁻¹ Z rhs.
void QpSensitivity::solve_reduced(const double* rhs, double* dx) const {
  double v[kN];
  for (int i = 0; i < rank_; ++i) {
    v[i] = dot(Z_ + kN * pivot_[i], rhs, n_);
    for (int k = 0; k < i; ++k) v[i] -= L_[kN * i + k] * v[k];
    v[i] /= L_[kN * i + i];
  }
  for (int i = rank_ - 1; i >= 0; --i) {
    for (int k = i + 1; k < rank_; ++k) v[i] -= L_[kN * k + i] * v[k];
    v[i] /= L_[kN * i + i];
    add(v[i], Z_ + kN * pivot_[i], dx, n_);
  }
}

void QpSensitivity::solve(const double* a, const double* b, double* dx, double* dz) const {
  const int m = problem_->num_rows();
  const double* G = problem_->G().data();
  double rhs[kN];
  for (int i = 0; i < n_; ++i) {
    rhs[i] = -a[i];
    dx[i] = 0.0;
  }
  if (relaxed_) {
    const auto s = solution_->s();
    const auto z = solution_->z();
    for (int i = 0; b != nullptr && i < m; ++i) add(-z[i] / s[i] * b[i], G + n_ * i, rhs, n_);
    solve_reduced(rhs, dx);
    for (int i = 0; dz != nullptr && i < m; ++i)
      dz[i] = z[i] / s[i] * (dot(G + n_ * i, dx, n_) + (b != nullptr ? b[i] : 0.0));
    return;
  }

  // the active rows fix the part of δx in their span
  double Qx[kN];
  if (b != nullptr) {
    double y[kN];
    for (int k = 0; k < num_equations_; ++k) {
      y[k] = (-b[equation_[k]] - dot(T_ + kN * k, y, k)) / T_[kN * k + k];
      add(y[k], Y_ + kN * k, dx, n_);
    }
    multiply(problem_->Q().data(), dx, Qx, n_);
    add(-1.0, Qx, rhs, n_);
  }
  solve_reduced(rhs, dx);
  if (dz == nullptr) return;
  // and the multipliers balance what is left
  std::fill(dz, dz + m, 0.0);
  multiply(problem_->Q().data(), dx, Qx, n_);
  double y[kN];
  for (int k = num_equations_ - 1; k >= 0; --k) {
    y[k] = -dot(Y_ + kN * k, a, n_) - dot(Y_ + kN * k, Qx, n_);
    for (int i = k + 1; i < num_equations_; ++i) y[k] -= T_[kN * i + k] * y[i];
    y[k] /= T_[kN * k + k];
    dz[equation_[k]] = y[k];
  }
}

void QpSensitivity::forward(const QpProblem& change, Eigen::Ref<VectorX> dx) {
  const auto x = solution_->x();
  const auto z = solution_->z();
  double a[kN];
  multiply(change.Q().data(), x.data(), a, n_);
  for (int i = 0; i < n_; ++i) a[i] += change.q()[i];
  for (int i = 0; i < problem_->num_rows(); ++i) {
    const double* dg = change.G().data() + n_ * i;
    add(z[i], dg, a, n_);
    scratch_[i] = dot(dg, x.data(), n_) - change.h()[i];
  }
  solve(a, scratch_.data(), dx.data());
}

void QpSensitivity::backward(const Eigen::Ref<const VectorX>& dl_dx, QpProblem& gradient) const {
  const int m = problem_->num_rows();
  const auto x = solution_->x();
  const auto z = solution_->z();
  gradient.resize(n_, m);
  gradient.constant = 0.0;
  // d_x and d_z = z ∘ d_λ of (17); the matrix is symmetric, so the forward solve serves
  double d_x[kN];
  double* d_z = gradient.h().data();
  solve(dl_dx.data(), nullptr, d_x, d_z);
  for (int i = 0; i < n_; ++i) {
    gradient.q()[i] = d_x[i];                                                                 // (15)
    for (int j = 0; j < n_; ++j) gradient.Q()(i, j) = 0.5 * (d_x[i] * x[j] + x[i] * d_x[j]);  // (13)
  }
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n_; ++j) gradient.G()(i, j) = d_z[i] * x[j] + z[i] * d_x[j];  // (14)
    gradient.h()[i] = -d_z[i];                                                        // (16)
  }
}

bool QpSensitivity::refine(QpSolution& solution) {
  TANGERE_ASSERT(&solution == solution_ && !relaxed_);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    int wrong = -1;
    if (refine_once(solution, wrong)) return true;
    if (wrong < 0) break;
    // a row between active and not: the other way round
    char& flag = active_[wrong];
    flag = flag == 0 ? 1 : 0;
    reduce();
  }
  find_active_rows();
  reduce();
  return false;
}

/// False with the row whose sign is broken most, or -1.
bool QpSensitivity::refine_once(QpSolution& solution, int& wrong) {
  const int m = problem_->num_rows();
  const double* G = problem_->G().data();
  const auto h = problem_->h();
  // the conditions with active rows as equations: their residuals are a and b
  double x[kN];
  double a[kN];
  double dx[kN];
  std::copy(solution.x().data(), solution.x().data() + n_, x);
  refined_z_.assign(solution.z().data(), solution.z().data() + m);
  const double force = stationarity(x, refined_z_.data(), a);
  double length = 0.0;
  for (int i = 0; i < m; ++i) {
    scratch_[i] = dot(G + n_ * i, x, n_) - h[i];
    length = std::max(length, std::abs(h[i]));
  }
  step_z_.resize(static_cast<std::size_t>(m));
  solve(a, scratch_.data(), dx, step_z_.data());

  // all signs right, and nothing left over?
  add(1.0, dx, x, n_);
  double largest = kRounding;
  for (int i = 0; i < m; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double* g = G + n_ * i;
    const double slack = h[i] - dot(g, x, n_);
    const double z = active(i) ? refined_z_[k] + step_z_[k] : 0.0;
    double broken = active(i) ? -z * std::sqrt(dot(g, g, n_)) / force : -slack / length;
    if (active(i) && std::abs(slack) > kDependent * length) broken = std::abs(slack) / length;
    if (broken > largest) {
      largest = broken;
      wrong = i;
    }
    scratch_[k] = active(i) ? 0.0 : std::max(slack, 0.0);
    refined_z_[k] = std::max(z, 0.0);
  }
  if (wrong >= 0) return false;
  const double terms = stationarity(x, refined_z_.data(), a);
  double worst = 0.0;
  for (int i = 0; i < n_; ++i) worst = std::max(worst, std::abs(a[i]));
  const double residual = terms > 0.0 ? worst / terms : worst;
  if (!(residual <= std::max(kRounding, solution.dual_residual))) return false;

  std::copy(x, x + n_, solution.x().data());
  std::copy(scratch_.begin(), scratch_.end(), solution.s().data());
  std::copy(refined_z_.begin(), refined_z_.end(), solution.z().data());
  solution.objective = problem_->objective(solution.x());
  solution.gap = 0.0;
  solution.dual_residual = residual;
  return true;
}

/// a = Q x + q + Gᵀz over the active rows; answers with the size of its largest term.
double QpSensitivity::stationarity(const double* x, const double* z, double* a) const {
  multiply(problem_->Q().data(), x, a, n_);
  double largest = 0.0;
  for (int i = 0; i < n_; ++i) {
    largest = std::max({largest, std::abs(a[i]), std::abs(problem_->q()[i])});
    a[i] += problem_->q()[i];
  }
  for (int i = 0; i < problem_->num_rows(); ++i)
    if (active(i)) add(z[i], problem_->G().data() + n_ * i, a, n_);
  return largest;
}

}  // namespace tangere
