/// One iteration:
///
///   r_d = Q x + q + Gᵀz,   r_p = G x + s - h,   w = z / s,   M = Q + Gᵀ diag(w) G = L Lᵀ
///   predictor   M δx = -r_d - Gᵀ(w ∘ r_p - z),       δs = -r_p - G δx,   δz = -z - w ∘ δs                       (7)
///   centring    σ = (gap after the longest predictor step / gap)³
///   both        the same with z + (δs ∘ δz - σμ e) / s for z, and 0.99 of the way to the boundary               (8)
///
/// With κ > 0, σμ is never below κ, and near κ the steps are plain Newton steps on s ∘ z = κ e.

#include "tangere/solvers/qp/qp_interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "tangere/math/error.hpp"
#include "tangere/solvers/qp/internal/qp_factor.hpp"
#include "tangere/solvers/qp/qp_sensitivity.hpp"

namespace tangere {
namespace {

constexpr double kToBoundary = 0.99;
constexpr double kClosestToBoundary = 0.9999;
constexpr double kShortestStep = 1e-9;
/// A step shorter than this, or one that widens the gap, is taken again towards the central path, at this fraction of
/// μ.
constexpr double kShortStep = 0.1;
constexpr double kCentring = 0.5;
constexpr double kRoundingOfObjective = 1e-14;
/// The gap aimed at, as a fraction of the one asked for.
constexpr double kUndershoot = 0.1;
/// Newton steps on s ∘ z = κ e begin at this multiple of κ, and end when the products are this near to it.
constexpr double kNewtonFrom = 10.0;
constexpr double kCentrality = 1e-10;
/// Iterations without progress in the dual residual before giving up.
constexpr int kPatience = 2;

/// Rows of G and M are padded with zeros to a power of two, so that they are whole registers.
constexpr int padded(int n) { return n <= 2 ? n : n <= 4 ? 4 : 8; }

/// Such a row as one value (the compilers' own vector types).
template <int P>
struct RowOf;
template <>
struct RowOf<1> {
  using Type = double;
};
template <>
struct RowOf<2> {
  using Type = double __attribute__((vector_size(16)));
};
template <>
struct RowOf<4> {
  using Type = double __attribute__((vector_size(32)));
};
template <>
struct RowOf<8> {
  using Type = double __attribute__((vector_size(64)));
};

/// A row in memory, at any address.
template <int P>
struct [[gnu::packed, gnu::may_alias]] RowInMemory {
  typename RowOf<P>::Type row;
};

/// The program and the iterate as plain arrays, and scratch of one number a row. `G` has padded rows.
struct View {
  const double* Q;
  const double* q;
  const double* G;
  const double* h;
  double* x;
  double* s;
  double* z;
  double* w;
  double* r_p;
  double* ds;
  double* dz;
  int m;
  double constant;
};

/// The size of a step that takes v + step dv to zero, at most 1 / fraction.
double longest(const double* v, const double* dv, int m, double so_far) {
  for (int i = 0; i < m; ++i) {
    if (-so_far * dv[i] > v[i]) so_far = -v[i] / dv[i];
  }
  return so_far;
}

template <int N>
class Run {
  static constexpr int P = padded(N);
  using Row = typename RowOf<P>::Type;

 public:
  Run(const View& view, const QpOptions& options) : v_(view), options_(options) {}

  void solve(QpSolution& out) {
    start();
    int iterations = 0;
    QpStatus status = QpStatus::iteration_limit;
    for (;; ++iterations) {
      measure();
      if (converged()) {
        status = QpStatus::solved;
        break;
      }
      if (!std::isfinite(gap_) || !std::isfinite(dual_) || stuck()) {
        status = QpStatus::numerical_limit;
        break;
      }
      if (iterations == options_.max_iterations) break;
      factor_.factor(M_);
      if (!step()) {
        status = QpStatus::numerical_limit;
        break;
      }
    }
    out.status = status;
    out.objective = objective_;
    out.gap = gap_;
    out.primal_residual = primal_;
    out.dual_residual = dual_;
    out.iterations = iterations;
  }

 private:
  [[nodiscard]] double row_dot(int i, const double* u) const {
    const double* g = v_.G + P * i;
    if constexpr (N == 6)
      return ((g[0] * u[0] + g[4] * u[4]) + g[2] * u[2]) + ((g[1] * u[1] + g[5] * u[5]) + g[3] * u[3]);
    double sum = 0.0;
    for (int a = 0; a < N; ++a) sum += g[a] * u[a];
    return sum;
  }

  static Row load(const double* from) { return reinterpret_cast<const RowInMemory<P>*>(from)->row; }
  static void store(const Row& row, double* to) { reinterpret_cast<RowInMemory<P>*>(to)->row = row; }

  void copy_Q() {
    for (int a = 0; a < N; ++a)
      for (int b = 0; b < P; ++b) M_[P * a + b] = b < N ? v_.Q[N * a + b] : 0.0;
  }

  /// A strictly positive start: the origin where that is strictly feasible, else the point of least regularised
  /// violation, with slacks and multipliers pushed into the interior.
  void start() {
    double q_size = 0.0;
    double Q_trace = 0.0;
    for (int a = 0; a < N; ++a) {
      q_size = std::max(q_size, std::abs(v_.q[a]));
      Q_trace += v_.Q[N * a + a];
      v_.x[a] = 0.0;
    }
    double G_trace = 0.0;
    double reach = 0.0;
    double smallest_h = std::numeric_limits<double>::infinity();
    for (int i = 0; i < v_.m; ++i) {
      const double g2 = row_dot(i, v_.G + P * i);
      G_trace += g2;
      reach += g2 > 0.0 ? std::abs(v_.h[i]) / std::sqrt(g2) : 0.0;
      smallest_h = std::min(smallest_h, v_.h[i]);
    }
    reach /= std::max(v_.m, 1);
    if (smallest_h > 0.0) {
      const double force = std::max(q_size, Q_trace / N * reach);
      const double mu = force > 0.0 && reach > 0.0 ? 0.1 * force * reach : 1.0;
      for (int i = 0; i < v_.m; ++i) {
        v_.s[i] = v_.h[i];
        v_.z[i] = mu / v_.s[i];
      }
      return;
    }
    const double weight = Q_trace > 0.0 && G_trace > 0.0 ? Q_trace / G_trace : 1.0;
    start_anywhere(weight);
  }

  void start_anywhere(double weight) {
    copy_Q();
    for (int a = 0; a < N; ++a) v_.x[a] = -v_.q[a];
    for (int i = 0; i < v_.m; ++i) {
      const double* g = v_.G + P * i;
      for (int a = 0; a < N; ++a) {
        v_.x[a] += weight * v_.h[i] * g[a];
        for (int b = 0; b < P; ++b) M_[P * a + b] += weight * g[a] * g[b];
      }
    }
    factor_.factor(M_);
    factor_.solve(v_.x);
    for (int i = 0; i < v_.m; ++i) {
      v_.s[i] = v_.h[i] - row_dot(i, v_.x);
      v_.z[i] = -weight * v_.s[i];
    }
    push_inside(v_.s);
    push_inside(v_.z);
  }

  void push_inside(double* v) const {
    double least = std::numeric_limits<double>::infinity();
    double size = 0.0;
    for (int i = 0; i < v_.m; ++i) {
      least = std::min(least, v[i]);
      size = std::max(size, std::abs(v[i]));
    }
    if (!(size > 0.0)) size = 1.0;
    if (least > 0.1 * size) return;
    const double shift = 0.5 * size - std::min(least, 0.0);
    for (int i = 0; i < v_.m; ++i) v[i] += shift;
  }

  /// Residuals, gap, objective, w and M at the iterate.
  void measure() {
    copy_Q();
    Row Gz_row{};
    Row M[N];
    for (int a = 0; a < N; ++a) M[a] = load(M_ + P * a);
    double primal_size = 0.0;
    double worst_primal = 0.0;
    gap_ = 0.0;
    off_center_ = 0.0;
    for (int i = 0; i < v_.m; ++i) {
      const double* g = v_.G + P * i;
      const double Gx = row_dot(i, v_.x);
      v_.r_p[i] = Gx + v_.s[i] - v_.h[i];
      worst_primal = std::max(worst_primal, std::abs(v_.r_p[i]));
      primal_size = std::max({primal_size, std::abs(v_.h[i]), std::abs(Gx)});
      const double product = v_.s[i] * v_.z[i];
      gap_ += product;
      off_center_ = std::max(off_center_, std::abs(product - options_.kappa));
      const double w = v_.w[i] = v_.z[i] / v_.s[i];
      const Row row = load(g);
      Gz_row += v_.z[i] * row;
      for (int a = 0; a < N; ++a) M[a] += (w * g[a]) * row;
    }
    for (int a = 0; a < N; ++a) store(M[a], M_ + P * a);
    double Gz[P];
    store(Gz_row, Gz);
    double dual_size = 0.0;
    double worst_dual = 0.0;
    double terms = std::abs(v_.constant);
    objective_ = v_.constant;
    for (int a = 0; a < N; ++a) {
      double Qx = 0.0;
      for (int b = 0; b < N; ++b) Qx += v_.Q[N * a + b] * v_.x[b];
      r_d_[a] = Qx + v_.q[a] + Gz[a];
      worst_dual = std::max(worst_dual, std::abs(r_d_[a]));
      dual_size = std::max({dual_size, std::abs(Qx), std::abs(v_.q[a]), std::abs(Gz[a])});
      objective_ += v_.x[a] * (0.5 * Qx + v_.q[a]);
      terms += std::abs(v_.x[a]) * (0.5 * std::abs(Qx) + std::abs(v_.q[a]));
    }
    primal_ = primal_size > 0.0 ? worst_primal / primal_size : worst_primal;
    dual_ = dual_size > 0.0 ? worst_dual / dual_size : worst_dual;
    const double floor = options_.gap_floor >= 0.0 ? options_.gap_floor : kRoundingOfObjective * terms;
    allowed_gap_ = std::min(std::max(options_.gap_tolerance * std::abs(objective_), floor), options_.gap_ceiling);
  }

  [[nodiscard]] bool converged() const {
    if (primal_ > options_.residual_tolerance || dual_ > options_.residual_tolerance) return false;
    if (options_.kappa > 0.0) return off_center_ <= kCentrality * options_.kappa;
    return gap_ <= allowed_gap_;
  }

  /// The gap is small enough, but rounding in M keeps the dual residual where it is.
  [[nodiscard]] bool stuck() {
    const bool worse = options_.kappa == 0.0 && gap_ <= allowed_gap_ && dual_ > 0.5 * last_dual_;
    last_dual_ = dual_;
    num_worse_ = worse ? num_worse_ + 1 : 0;
    return num_worse_ == kPatience;
  }

  /// δx for the right-hand side -r_d - Gᵀ(w ∘ r_p - z - c), and with it δs and δz. `correction(i)` is c.
  template <class Correction>
  void direction(Correction&& correction) {
    Row rhs = -load(r_d_);
    for (int i = 0; i < v_.m; ++i) {
      const double* g = v_.G + P * i;
      const double pull = v_.w[i] * v_.r_p[i] - v_.z[i] - correction(i);
      rhs -= pull * load(g);
    }
    store(rhs, dx_);
    factor_.solve(dx_);
    for (int i = 0; i < v_.m; ++i) {
      const double c = correction(i);
      v_.ds[i] = -v_.r_p[i] - row_dot(i, dx_);
      v_.dz[i] = -v_.z[i] - c - v_.w[i] * v_.ds[i];
    }
  }

  [[nodiscard]] double step_to_boundary() const {
    const double both = longest(v_.s, v_.ds, v_.m, 1.0 / kToBoundary);
    return longest(v_.z, v_.dz, v_.m, both);
  }

  [[nodiscard]] double gap_after(double step) const {
    double sum = 0.0;
    for (int i = 0; i < v_.m; ++i) sum += (v_.s[i] + step * v_.ds[i]) * (v_.z[i] + step * v_.dz[i]);
    return sum;
  }

  /// False where there is no way on.
  bool step() {
    const double mu = v_.m > 0 ? gap_ / v_.m : 0.0;
    // no further than asked for: the smaller the gap, the more of Q is lost in M
    const double kappa = options_.kappa > 0.0 || v_.m == 0 ? options_.kappa : kUndershoot * allowed_gap_ / v_.m;
    double fraction = kToBoundary;
    if (mu <= kNewtonFrom * kappa) {
      direction([&](int i) { return -kappa / v_.s[i]; });
    } else {
      direction([](int) { return 0.0; });
      const double affine = std::min(1.0, step_to_boundary());
      const double ratio = gap_ > 0.0 ? gap_after(affine) / gap_ : 0.0;
      const double target = std::max(ratio * ratio * ratio * mu, kappa);
      // δs and δz are overwritten row by row: their product is taken first
      for (int i = 0; i < v_.m; ++i) v_.ds[i] = (v_.ds[i] * v_.dz[i] - target) / v_.s[i];
      direction([&](int i) { return v_.ds[i]; });
      fraction = std::clamp(affine, kToBoundary, kClosestToBoundary);
    }
    double step = std::min(1.0, fraction * step_to_boundary());
    if (mu > kappa && (step < kShortStep || gap_after(step) > gap_)) {
      // off the path, where the correction may go astray: back to the path without it
      const double target = std::max(kCentring * mu, kappa);
      direction([&](int i) { return -target / v_.s[i]; });
      step = std::min(1.0, kToBoundary * step_to_boundary());
    }
    if (!(step > kShortestStep)) return false;
    for (int a = 0; a < N; ++a) v_.x[a] += step * dx_[a];
    for (int i = 0; i < v_.m; ++i) {
      v_.s[i] += step * v_.ds[i];
      v_.z[i] += step * v_.dz[i];
    }
    return true;
  }

  View v_;
  const QpOptions& options_;
  double M_[N * P];
  internal::SmallCholesky<N, P> factor_;
  double r_d_[P] = {};
  double dx_[P];
  double gap_ = 0.0;
  double off_center_ = 0.0;
  double primal_ = 0.0;
  double dual_ = 0.0;
  double objective_ = 0.0;
  double allowed_gap_ = 0.0;
  double last_dual_ = std::numeric_limits<double>::infinity();
  int num_worse_ = 0;
};

void require(bool condition, const char* field, const char* reason) {
  if (!condition) throw InputError(field, reason);
}

}  // namespace

void QpOptions::verify() const {
  require(gap_tolerance >= 0.0 && gap_tolerance < 1.0, "options.gap_tolerance", "must be in [0, 1)");
  require(!std::isnan(gap_floor), "options.gap_floor", "must be a number");
  require(gap_ceiling > 0.0, "options.gap_ceiling", "must be positive");
  require(residual_tolerance > 0.0 && residual_tolerance < 1.0, "options.residual_tolerance", "must be in (0, 1)");
  require(max_iterations >= 1, "options.max_iterations", "must be at least 1");
  require(kappa >= 0.0 && std::isfinite(kappa), "options.kappa", "must be finite and not negative");
}

struct QpInteriorPoint::Data {
  QpSolution solution;
  std::vector<double> rows;
  QpSensitivity sensitivity;
};

QpInteriorPoint::QpInteriorPoint() : data_("QpInteriorPoint", std::make_unique<Data>()) {}
QpInteriorPoint::~QpInteriorPoint() = default;
QpInteriorPoint::QpInteriorPoint(QpInteriorPoint&&) noexcept = default;
QpInteriorPoint& QpInteriorPoint::operator=(QpInteriorPoint&&) noexcept = default;

const QpSolution& QpInteriorPoint::solution() const { return data_->solution; }
QpSolution& QpInteriorPoint::solution() { return data_->solution; }

const QpSolution& QpInteriorPoint::solve(const QpProblem& problem, const QpOptions& options) & {
  const int n = problem.num_variables();
  const int m = problem.num_rows();
  const auto count = static_cast<std::size_t>(m);
  require(n >= 1, "problem", "has no variables");
  data_->solution.resize(n, m);
  const auto width = static_cast<std::size_t>(padded(n));
  data_->rows.resize((4 + width) * count);
  double* rows = data_->rows.data();
  double* G = rows + 4 * count;
  for (std::size_t i = 0; i < count; ++i) {
    const double* row = problem.G().data() + static_cast<std::size_t>(n) * i;
    std::fill(std::copy(row, row + n, G + width * i), G + width * (i + 1), 0.0);
  }
  QpSolution& out = data_->solution;
  const View view{problem.Q().data(),
                  problem.q().data(),
                  G,
                  problem.h().data(),
                  out.x().data(),
                  out.s().data(),
                  out.z().data(),
                  rows,
                  rows + count,
                  rows + 2 * count,
                  rows + 3 * count,
                  m,
                  problem.constant};
  switch (n) {
    case 1:
      Run<1>(view, options).solve(out);
      break;
    case 2:
      Run<2>(view, options).solve(out);
      break;
    case 3:
      Run<3>(view, options).solve(out);
      break;
    case 4:
      Run<4>(view, options).solve(out);
      break;
    case 5:
      Run<5>(view, options).solve(out);
      break;
    default:
      Run<6>(view, options).solve(out);
      break;
  }
  // where rounding stopped it at the end, the equations of the active rows get by
  if (out.status == QpStatus::numerical_limit && options.kappa == 0.0 && out.x().allFinite()) {
    data_->sensitivity.linearise(problem, out, false);
    if (data_->sensitivity.refine(out) && out.dual_residual <= options.residual_tolerance)
      out.status = QpStatus::solved;
  }
  return out;
}

}  // namespace tangere
