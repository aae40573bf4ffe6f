/// The chain. Each method ends in `set_newton`, whose candidates are solutions of their sets at the compliance asked
/// for, with friction that follows the normal force; the first that verifies is the answer:
///
///   |f - projection(f - w' / d)|∞ ≤ tolerance max(|f|∞, |b / d|∞ / 1000),   w' = A f + b + C f,   d = diagonal of A +
///   C
///
/// with friction bounds of that same f. A cold start guesses that what approaches, sticks. A force within 1e-13 of a
/// bound, relative to the largest, counts as there: so a normal row with neither force nor velocity separates whatever
/// the rounding, and a friction row without force is clamped as long as its normal presses.

#include "tangere/solvers/lcp/boxed_lcp.hpp"

#include <cmath>
#include <string>

#include "tangere/math/error.hpp"
#include "tangere/solvers/lcp/internal/boxed_lcp_data.hpp"

namespace tangere {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Sets tried after the first.
constexpr int kSetSteps = 5;
/// Up to here Lemke's path is shorter than the primal Newton method with its rounds.
constexpr int kFewRows = 36;
/// Most pieces of Lemke's path from the best forces; few, as the interior point takes over.
constexpr int kPieces = 60;
constexpr int kFewPieces = 20;
constexpr int kFirstSweeps = 10;
constexpr int kFirstRounds = 10;
constexpr int kRestarts = 5;
constexpr int kRestartRounds = 40;
/// Sweeps of the last resort.
constexpr int kLastSweeps = 200;
constexpr double kTie = 1e-13;

void require(bool condition, const char* field, int index, const char* reason) {
  if (!condition) throw InputError(std::string(field) + "[" + std::to_string(index) + "]", reason);
}

void verify_rows(std::span<const BoxedLcpRow> rows) {
  const int n = static_cast<int>(rows.size());
  for (int i = 0; i < n; ++i) {
    const BoxedLcpRow& row = rows[i];
    require(row.compliance >= 0.0 && row.compliance < kInfinity, "rows", i, "compliance must be finite and at least 0");
    if (row.normal < 0) {
      require(row.normal == -1, "rows", i, "normal must be -1 or the index of a row");
      require(row.lower <= row.upper && row.lower < kInfinity && row.upper > -kInfinity, "rows", i,
              "needs lower ≤ upper, not both infinite on one side");
      continue;
    }
    require(row.normal < n, "rows", i, "normal must be -1 or the index of a row");
    require(rows[row.normal].normal == -1, "rows", i, "normal must not be a friction row");
    require(rows[row.normal].lower >= 0.0, "rows", i, "normal must be a row with lower ≥ 0");
    require(row.friction >= 0.0 && row.friction < kInfinity, "rows", i, "friction must be finite and at least 0");
  }
}

/// x · 0 summed is 0 unless something is not finite.
bool all_finite(const double* x, int n) { return (Eigen::Map<const VectorX>(x, n).array() * 0.0).sum() == 0.0; }

void require_size(bool right_size, const char* field, Eigen::Index size) {
  if (!right_size) throw InputError(field, "must have one row a row, " + std::to_string(size));
}

int first_not_finite(const double* x) {
  int i = 0;
  while (std::isfinite(x[i])) ++i;
  return i;
}

[[noreturn]] void fail_at(int i, int j, const char* reason) {
  throw InputError("A(" + std::to_string(i) + ", " + std::to_string(j) + ")", reason);
}

}  // namespace

std::string_view to_string(BoxedLcpStage stage) {
  switch (stage) {
    case BoxedLcpStage::previous_sets:
      return "previous_sets";
    case BoxedLcpStage::set_newton:
      return "set_newton";
    case BoxedLcpStage::dantzig:
      return "dantzig";
    case BoxedLcpStage::primal_newton:
      return "primal_newton";
    case BoxedLcpStage::restarts:
      return "restarts";
    case BoxedLcpStage::lemke:
      return "lemke";
    case BoxedLcpStage::interior_point:
      return "interior_point";
    case BoxedLcpStage::none:
      return "none";
  }
  return "unknown";
}

void BoxedLcpOptions::verify() const {
  if (!(compliance >= 1e-12 && compliance <= 1e-2)) throw InputError("compliance", "must be from 1e-12 to 1e-2");
  if (!(tolerance > 0.0 && tolerance < 1.0)) throw InputError("tolerance", "must be above 0 and below 1");
  if (only == BoxedLcpStage::previous_sets || only == BoxedLcpStage::set_newton || only == BoxedLcpStage::restarts)
    throw InputError("only", "must be dantzig, primal_newton, lemke, interior_point or none");
}

void BoxedLcpSolver::Data::resize(int rows_now) {
  n = rows_now;
  const std::size_t size = static_cast<std::size_t>((n + 7) & ~7);
  if (d.size() >= size) return;
  for (AlignedVector* x : {&d,           &inverse_d, &asked,       &search, &f,
                           &w,           &best_f,    &best_w,      &right,  &pivot_scale,
                           &lower,       &upper,     &g,           &w_g,    &target,
                           &w_target,    &h,         &cover,       &b_path, &df,
                           &dw,          &left,      &asked_right, &change, &clamped_stiffness,
                           &spread_force})
    x->resize(size);
  for (std::vector<RowSet>* x : {&sets, &next, &best_sets, &box_sets}) x->resize(size);
  position.resize(size);
  clamped.reserve(size);
  coupled.reserve(size);
  system.resize(n);
}

LcpBounds BoxedLcpSolver::Data::bounds(int i, const double* force) const {
  const BoxedLcpRow& row = rows[i];
  if (row.normal < 0) return {row.lower, row.upper};
  const double most = row.friction * std::max(0.0, force[row.normal]);
  return {-most, most};
}

void BoxedLcpSolver::Data::multiply(const double* force, double* velocity) {
  if (sparse != nullptr) {
    std::fill_n(body_vector.begin(), sparse->vector_size(), 0.0);
    for (int i = 0; i < n; ++i)
      if (force[i] != 0.0) sparse->add_velocity(i, force[i], body_vector.data());
    for (int i = 0; i < n; ++i) velocity[i] = sparse->along(i, body_vector.data());
    return;
  }
  using Matrix = Eigen::Map<const MatrixX, Eigen::Unaligned, Eigen::OuterStride<>>;
  Eigen::Map<VectorX>(velocity, n).noalias() =
      Matrix(A, n, n, Eigen::OuterStride<>(stride)) * Eigen::Map<const VectorX>(force, n);
}

void BoxedLcpSolver::Data::multiply_add(const double* force, double* velocity) {
  multiply(force, velocity);
  Eigen::Map<VectorX>(velocity, n) += Eigen::Map<const VectorX>(b, n);
}

void BoxedLcpSolver::Data::read(const Eigen::Ref<const VectorX>& vector, std::span<const BoxedLcpRow> rows_now,
                                const BoxedLcpOptions& options, std::span<const RowSet> previous) {
  options.verify();
  const auto size = static_cast<Eigen::Index>(rows_now.size());
  require_size(vector.size() == size, "b", size);
  require_size(previous.empty() || static_cast<Eigen::Index>(previous.size()) == size, "previous", size);
  verify_rows(rows_now);
  b = vector.data();
  rows = rows_now;
  tolerance = options.tolerance;
  factorisations = 0;
  work = 0.0;
  resize(static_cast<int>(size));
  for (int i = 0; i < static_cast<int>(previous.size()); ++i)
    require(previous[i] <= RowSet::upper, "previous", i, "must be a set");
  if (!all_finite(b, n)) require(false, "b", first_not_finite(b), "must be finite");
}

void BoxedLcpSolver::Data::read_matrix(const Eigen::Ref<const MatrixX>& matrix) {
  require_size(matrix.rows() == n && matrix.cols() == n, "A", n);
  sparse = nullptr;
  A = matrix.data();
  stride = matrix.outerStride();
  for (int i = 0; i < n; ++i) {
    if (!all_finite(column(i), n)) fail_at(first_not_finite(column(i)), i, "must be finite");
    d[i] = column(i)[i];
  }
}

void BoxedLcpSolver::Data::read_parts(const SparseRows& parts) {
  require_size(parts.num_rows() == n, "A", n);
  sparse = &parts;
  A = nullptr;
  reserve_bodies();
  for (const AlignedVector* values : {&parts.J, &parts.Z, &parts.M})
    if (!all_finite(values->data(), static_cast<int>(values->size()))) throw InputError("A", "must be finite");
  for (int i = 0; i < n; ++i) d[i] = parts.diagonal(i);
  connect_nodes();
}

void BoxedLcpSolver::Data::read_scales(const BoxedLcpOptions& options) {
  b_scale = 0.0;
  soft = asked.data();
  search_is_asked = true;
  for (int i = 0; i < n; ++i) {
    if (!(d[i] > 0.0)) fail_at(i, i, "must be positive");
    asked[i] = rows[i].compliance > 0.0 ? rows[i].compliance : options.compliance * d[i];
    // what hardly moves gives way by its compliance
    inverse_d[i] = 1.0 / (d[i] + asked[i]);
    search[i] = std::max(asked[i], kSearchCompliance * d[i]);
    search_is_asked = search_is_asked && search[i] == asked[i];
    b_scale = std::max(b_scale, std::abs(b[i]) * inverse_d[i]);
  }
}

bool BoxedLcpSolver::Data::rests() {
  if (b_scale > 0.0) return false;
  for (int i = 0; i < n; ++i)
    if (rows[i].normal < 0 && !(rows[i].lower <= 0.0 && rows[i].upper >= 0.0)) return false;
  for (int i = 0; i < n; ++i) {
    best_f[i] = best_w[i] = 0.0;
    best_sets[i] = rows[i].normal < 0 ? LcpBounds{rows[i].lower, rows[i].upper}.set_of(0.0) : RowSet::lower;
  }
  best_residual = 0.0;
  best_stage = BoxedLcpStage::none;
  return true;
}

void BoxedLcpSolver::Data::guess_sets() {
  for (int i = 0; i < n; ++i)
    if (rows[i].normal < 0) sets[i] = LcpBounds{rows[i].lower, rows[i].upper}.set_of(-b[i] * inverse_d[i]);
  for (int i = 0; i < n; ++i)
    if (rows[i].normal >= 0)
      sets[i] = rows[i].friction > 0.0 && sets[rows[i].normal] == RowSet::clamped ? RowSet::clamped : RowSet::lower;
}

void BoxedLcpSolver::Data::run_only(BoxedLcpStage stage) {
  if (stage == BoxedLcpStage::lemke) {
    (void)lemke_from_afar(1);
    return;
  }
  if (stage == BoxedLcpStage::interior_point) {
    if (sparse == nullptr) throw InputError("only", "interior_point is for A by its parts");
    (void)interior_point();
    return;
  }
  (void)from_sweeps(stage == BoxedLcpStage::dantzig ? &Data::pivot_box : &Data::minimise_box, kRestartRounds, stage);
}

bool BoxedLcpSolver::Data::from_sweeps(BoxMethod method, int rounds, BoxedLcpStage stage) {
  std::fill(g.begin(), g.begin() + n, 0.0);
  sweep(kFirstSweeps, false);
  return lag_bounds(method, rounds, stage);
}

void BoxedLcpSolver::Data::run(std::span<const RowSet> previous, BoxedLcpStage only) {
  if (rests()) return;
  best_residual = kInfinity;
  if (only != BoxedLcpStage::none) {
    run_only(only);
    return;
  }
  if (previous.empty()) {
    guess_sets();
  } else {
    std::copy(previous.begin(), previous.end(), sets.begin());
    if (set_newton(1, BoxedLcpStage::previous_sets)) return;
  }
  if (set_newton(kSetSteps, BoxedLcpStage::set_newton)) return;
  if (!previous.empty() && lemke_from_best(sparse != nullptr ? kFewPieces : kPieces)) return;
  if (sparse != nullptr && (interior_point() || lemke_from_best(std::max(kPieces, n)))) return;
  // the primal Newton method beats Lemke's path only where pieces cost as much as its steps, and there are many
  const bool path_first = n <= kFewRows || sparse != nullptr;
  if (path_first && lemke_from_afar(1)) return;
  // pivoting takes more factorisations than the path, and fails where its lagged bounds do not settle
  if (n <= kFewRows && from_sweeps(&Data::pivot_box, kFirstRounds, BoxedLcpStage::dantzig)) return;
  if (from_sweeps(&Data::minimise_box, kFirstRounds, BoxedLcpStage::primal_newton)) return;
  if (!path_first && lemke_from_afar(1)) return;
  for (int restart = 1; restart <= kRestarts; ++restart) {
    std::fill(g.begin(), g.begin() + n, 0.0);
    sweep(30 * restart, restart % 2 == 0);
    if (lag_bounds(&Data::minimise_box, kRestartRounds, BoxedLcpStage::restarts)) return;
    if (lemke_from_afar(static_cast<std::uint64_t>(restart) + 1)) return;
  }
}

void BoxedLcpSolver::Data::project(double* force) const {
  for (const bool friction : {false, true})
    for (int i = 0; i < n; ++i)
      if ((rows[i].normal >= 0) == friction) force[i] = bounds(i, force).clamp(force[i]);
}

void BoxedLcpSolver::Data::give_up() {
  const auto try_forces = [&](const AlignedVector& forces) {
    std::copy(forces.begin(), forces.begin() + n, f.begin());
    project(f.data());
    for (int i = 0; i < n; ++i) sets[i] = bounds(i, f.data()).set_of(f[i]);
    multiply_add(f.data(), w.data());
    offer(assess(), best_stage);
  };
  // sets may be better than the forces that are left of them inside their bounds
  const bool found = best_residual < kInfinity;
  best_residual = kInfinity;
  if (found) try_forces(best_f);
  std::fill(g.begin(), g.begin() + n, 0.0);
  sweep(kLastSweeps, false);
  try_forces(g);
  if (best_residual < kInfinity) return;
  // nothing is finite: the least forces
  std::fill(best_f.begin(), best_f.begin() + n, 0.0);
  project(best_f.data());
  for (int i = 0; i < n; ++i) best_sets[i] = bounds(i, best_f.data()).set_of(best_f[i]);
  multiply_add(best_f.data(), best_w.data());
}

const BoxedLcpSolution& BoxedLcpSolver::Data::answer() {
  if (!(best_residual <= tolerance)) give_up();
  std::swap(f, best_f);
  std::swap(w, best_w);
  std::swap(sets, best_sets);
  double largest = b_scale;
  for (int i = 0; i < n; ++i) largest = std::max(largest, std::abs(f[i]));
  bool moved = false;
  const auto settle = [&](int i) {
    const LcpBounds box = bounds(i, f.data());
    const double inside = box.clamp(f[i]);
    if (sets[i] == RowSet::clamped) {
      if (inside - box.lower <= kTie * largest) {
        sets[i] = RowSet::lower;
      } else if (box.upper - inside <= kTie * largest) {
        sets[i] = RowSet::upper;
      }
    }
    const double settled = sets[i] == RowSet::clamped ? inside : sets[i] == RowSet::lower ? box.lower : box.upper;
    moved = moved || settled != f[i];
    f[i] = settled;
  };
  // normals first: friction follows them
  for (int i = 0; i < n; ++i)
    if (rows[i].normal < 0) settle(i);
  for (int i = 0; i < n; ++i)
    if (rows[i].normal >= 0) settle(i);
  if (moved) {
    multiply_add(f.data(), w.data());
    best_residual = assess();
  }

  solution.f.reset(n) = Eigen::Map<const VectorX>(f.data(), n);
  solution.w.reset(n) = Eigen::Map<const VectorX>(w.data(), n);
  solution.sets.assign(sets.begin(), sets.begin() + n);
  solution.stage = best_stage;
  solution.residual = best_residual;
  solution.status = best_residual <= tolerance ? BoxedLcpStatus::solved : BoxedLcpStatus::approximate;
  solution.factorisations = factorisations;
  return solution;
}

BoxedLcpSolver::BoxedLcpSolver() : data_("BoxedLcpSolver", std::make_unique<Data>()) {}
BoxedLcpSolver::~BoxedLcpSolver() = default;
BoxedLcpSolver::BoxedLcpSolver(BoxedLcpSolver&&) noexcept = default;
BoxedLcpSolver& BoxedLcpSolver::operator=(BoxedLcpSolver&&) noexcept = default;

const BoxedLcpSolution& BoxedLcpSolver::solve(const Eigen::Ref<const MatrixX>& A, const Eigen::Ref<const VectorX>& b,
                                              std::span<const BoxedLcpRow> rows, const BoxedLcpOptions& options,
                                              std::span<const RowSet> previous) {
  data_->read(b, rows, options, previous);
  data_->read_matrix(A);
  data_->read_scales(options);
  data_->run(previous, options.only);
  return data_->answer();
}

const BoxedLcpSolution& BoxedLcpSolver::solve(const SparseRows& A, const Eigen::Ref<const VectorX>& b,
                                              std::span<const BoxedLcpRow> rows, const BoxedLcpOptions& options,
                                              std::span<const RowSet> previous) {
  data_->read(b, rows, options, previous);
  data_->read_parts(A);
  data_->read_scales(options);
  data_->run(previous, options.only);
  return data_->answer();
}

}  // namespace tangere
