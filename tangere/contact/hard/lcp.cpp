#include "tangere/contact/hard/lcp.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "tangere/contact/hard/least_squares.hpp"
#include "tangere/math/assert.hpp"
#include "tangere/multibody/mass_matrix.hpp"

namespace tangere {
namespace {

/// From here on a matrix of the bodies is smaller than one of the rows.
constexpr std::size_t kManyRows = 64;

/// A penetration is not taken back where that moves more than this many times the mass there is.
constexpr double kTooHeavy = 100.0;

/// Relative energy gains below this are rounding.
constexpr double kNoGain = 1e-12;
constexpr double kNoGainLeft = 1e-14;
constexpr int kMostReductions = 60;

/// The set of a row that was not there before, from those of the rows before it: limits and normals push where nothing
/// else keeps the bodies apart, friction where its normal does.
RowSet set_alone(const ContactProblem& problem, int r, VectorArgument v_free, const std::vector<RowSet>& before) {
  const BoxedLcpRow& box = problem.boxes[r];
  if (box.normal >= 0) return before[box.normal] == RowSet::clamped ? RowSet::clamped : RowSet::lower;
  const bool pushes_one_way = box.lower == 0.0;
  const double velocity = problem.jacobian(static_cast<int>(v_free.size())).row(r).dot(v_free);
  return pushes_one_way && velocity >= problem.rows[r].target ? RowSet::lower : RowSet::clamped;
}

}  // namespace

LcpContact::LcpContact(const Model& model) : sparse_(model) {
  tree_of_dof_.resize(static_cast<std::size_t>(model.nv()));
  for (int b = 0; b < model.num_bodies(); ++b) {
    const std::span<const int> way = way_of(model, b);
    for (const int k : way) tree_of_dof_[k] = way.front();
  }
  parent_.resize(tree_of_dof_.size());
}

/// The sets that rows of the same name had; what new ones would be if they were alone.
void LcpContact::guess_sets(const ContactProblem& problem, VectorArgument v_free) {
  guess_.clear();
  const std::size_t count = last_.keys.size();
  std::size_t cursor = 0;
  const auto wrapped = [&](std::size_t at) { return at < count ? at : at - count; };
  for (std::size_t r = 0; r < problem.keys.size(); ++r) {
    // rows keep their order, so the search is short
    std::size_t tried = 0;
    while (tried < count && !(last_.keys[wrapped(cursor + tried)] == problem.keys[r])) ++tried;
    if (tried < count) {
      cursor = wrapped(cursor + tried) + 1;
      guess_.push_back(last_.sets[cursor - 1]);
    } else {
      guess_.push_back(set_alone(problem, static_cast<int>(r), v_free, guess_));
    }
  }
}

int LcpContact::root(int tree) {
  while (parent_[tree] != tree) tree = parent_[tree];
  return tree;
}

/// Numbers the islands in the order of their first rows.
int LcpContact::find_islands(const Model& model, const ContactProblem& problem) {
  std::iota(parent_.begin(), parent_.end(), 0);
  const auto nv = static_cast<std::size_t>(model.nv());
  island_of_row_.assign(problem.rows.size(), -1);
  const auto tree_of_row = [&](std::size_t r) {
    // joins all trees of the row; -1 for a row between fixed bodies
    int first = -1;
    const double* row = problem.J.data() + r * nv;
    for (std::size_t k = 0; k < nv; ++k) {
      if (row[k] == 0.0) continue;
      const int tree = root(tree_of_dof_[k]);
      if (first < 0) first = tree;
      if (tree != first) parent_[std::max(tree, first)] = std::min(tree, first);
      first = std::min(first, tree);
    }
    return first;
  };
  // rows that nothing moves along are left out, and friction without its normal
  for (std::size_t r = 0; r < problem.rows.size(); ++r) {
    const int normal = problem.boxes[r].normal;
    const bool pushes = normal < 0 || island_of_row_[normal] >= 0;
    island_of_row_[r] = pushes ? tree_of_row(r) : -1;
    if (normal < 0 || island_of_row_[r] < 0) continue;
    // friction may move other trees than its normal, whose force bounds it
    const int one = root(island_of_row_[r]);
    const int other = root(island_of_row_[normal]);
    parent_[std::max(one, other)] = std::min(one, other);
  }
  local_.assign(nv, -1);
  int count = 0;
  for (std::size_t r = 0; r < problem.rows.size(); ++r) {
    const int row_tree = island_of_row_[r];
    if (row_tree < 0) continue;
    int& island = local_[root(row_tree)];
    if (island < 0) island = count++;
    island_of_row_[r] = island;
  }
  return count;
}

/// Gathers the rows of an island, and the place of each row among them.
void LcpContact::gather_rows(const ContactProblem& problem, int island) {
  const std::size_t n = problem.rows.size();
  rows_.clear();
  local_.assign(n, -1);
  for (std::size_t r = 0; r < n; ++r) {
    if (island_of_row_[r] != island) continue;
    local_[r] = static_cast<int>(rows_.size());
    rows_.push_back(static_cast<int>(r));
  }
}

/// b, boxes and sets of the rows in hand.
void LcpContact::gather_boxes(const ContactProblem& problem, VectorArgument v_free) {
  const auto nv = static_cast<std::size_t>(v_free.size());
  b_.resize(rows_.size());
  boxes_.clear();
  sets_.clear();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto r = static_cast<std::size_t>(rows_[i]);
    const double* row = problem.J.data() + r * nv;
    double b = -problem.rows[r].target;
    for (std::size_t k = 0; k < nv; ++k)
      if (row[k] != 0.0) b += row[k] * v_free[static_cast<Eigen::Index>(k)];
    b_[i] = b;
    boxes_.push_back(problem.boxes[r]);
    if (boxes_.back().normal >= 0) {
      boxes_.back().normal = local_[boxes_.back().normal];
      TANGERE_ASSERT(boxes_.back().normal >= 0);
    }
    sets_.push_back(guess_[r]);
  }
}

/// A of the rows in hand, over the entries of J that there are.
LcpContact::MatrixMap LcpContact::fill_matrix(const Model& model, const Data& data, const ContactProblem& problem) {
  const auto nv = static_cast<std::size_t>(model.nv());
  const std::size_t m = rows_.size();
  const std::size_t width = (m + 7) / 8 * 8;
  MinvJt_.assign(nv * width, 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    const double* row = problem.J.data() + static_cast<std::size_t>(rows_[i]) * nv;
    for (std::size_t k = 0; k < nv; ++k) MinvJt_[k * width + i] = row[k];
  }
  solve_mass_matrix_columns(model, data, MinvJt_.data(), static_cast<std::ptrdiff_t>(width), static_cast<int>(m));
  A_.assign(m * width, 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    const double* row = problem.J.data() + static_cast<std::size_t>(rows_[i]) * nv;
    double* to = A_.data() + i * width;
    for (std::size_t k = 0; k < nv; ++k) {
      const double a = row[k];
      if (a == 0.0) continue;
      const double* from = MinvJt_.data() + k * width;
      for (std::size_t j = 0; j < width; ++j) to[j] += a * from[j];
    }
  }
  const auto size = static_cast<Eigen::Index>(m);
  return {A_.data(), size, size, Eigen::OuterStride<>(static_cast<Eigen::Index>(width))};
}

/// Along a normal that its bodies hardly move along (hulls of links that overlap beside their joints), 1 / A_ii is the
/// mass of many robots: at the speed of a correction it would have the energy of a crash. Such a row lets nothing come
/// nearer, and takes nothing back.
template <class Diagonal>
void LcpContact::drop_heavy_corrections(const Diagonal& diagonal, ContactProblem& problem) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row& row = problem.rows[rows_[i]];
    const bool corrects = row.kind == RowKind::normal && row.restitution == 0.0 && row.target > 0.0;
    if (!corrects || kTooHeavy * row.connected_mass * diagonal(static_cast<Eigen::Index>(i)) >= 1.0) continue;
    b_[i] += row.target;
    row.target = 0.0;
    row.gain = 0.0;
  }
}

/// By the solver; then, if they are asked for, the impulses of least norm.
template <class Matrix>
LcpContact::Answer LcpContact::solve_once(const Matrix& A, const ContactProblem& problem,
                                          const BoxedLcpOptions& options) {
  const Eigen::Map<const VectorX> b(b_.data(), static_cast<Eigen::Index>(rows_.size()));
  const BoxedLcpSolution& solved = solver_.solve(A, b, boxes_, options, sets_);
  if constexpr (std::is_same_v<Matrix, MatrixMap>) {
    const bool asked = problem.redundancy == Redundancy::least_squares && solved.status == BoxedLcpStatus::solved;
    if (asked && least_squares_impulses(A, b, boxes_, solved.sets, f_ = solved.f.view(), w_ = solved.w.view()))
      return {solved, f_.data(), w_.data(), true};
  }
  return {solved, solved.f.view().data(), solved.w.view().data()};
}

/// E = f · J (v⁺ + v_free) / 2 over f A f / 2. Not counted is what rows are asked to add (corrections), and what forces
/// of the step have taken from the approach that restitution is measured by.
double LcpContact::gained_energy(const ContactProblem& problem, const Answer& answer) const {
  double gained = 0.0;
  double turned_over = 0.0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = problem.rows[rows_[i]];
    const double f = answer.f[i];
    const double w = answer.w[i];
    double asked = 0.0;
    if (bounce_targets_[i] == 0.0) {
      asked = std::max(f * row.target, 0.0);
    } else {
      const RowBlock& block = problem.blocks[row.block];
      const double closing = -bounce_targets_[i] / problem.contacts[block.contact].restitution;
      asked = 0.5 * f * std::max(b_[i] + row.target - closing, 0.0);
    }
    gained += f * (0.5 * (w + b_[i]) + row.target) - asked;
    turned_over += 0.5 * f * (w - b_[i]);
  }
  return turned_over > 0.0 ? gained / turned_over : 0.0;
}

/// Not if all that push bounce alike: e = 1 then comes out even, whatever the state.
bool LcpContact::may_gain(const ContactProblem& problem, const Answer& answer) const {
  double restitution = 0.0;
  bool mixed = false;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (answer.f[i] == 0.0) continue;
    const Row& row = problem.rows[rows_[i]];
    mixed = mixed || row.restitution == 0.0 || (restitution != 0.0 && row.restitution != restitution);
    restitution = std::max(restitution, row.restitution);
  }
  return mixed && restitution > 0.0;
}

/// The rows in hand that bounce do so with a part of their restitution.
void LcpContact::keep_restitution(double part, ContactProblem& problem) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row& row = problem.rows[rows_[i]];
    if (bounce_targets_[i] == 0.0) continue;
    const RowBlock& block = problem.blocks[row.block];
    b_[i] += row.target - part * bounce_targets_[i];
    row.target = part * bounce_targets_[i];
    row.restitution = part * problem.contacts[block.contact].restitution;
    row.restitution_kept = part;
  }
}

void LcpContact::mark_short_of_energy(const Model& model, const ContactProblem& problem, double kept) {
  const auto nv = static_cast<std::size_t>(model.nv());
  solution_.restitution_kept = std::min(solution_.restitution_kept, kept);
  std::vector<int>& island_of_dof = solution_.short_of_energy;
  island_of_dof.resize(nv, 0);
  const int island = 1 + *std::max_element(island_of_dof.begin(), island_of_dof.end());
  for (const int r : rows_) {
    const double* row = problem.J.data() + static_cast<std::size_t>(r) * nv;
    for (std::size_t k = 0; k < nv; ++k)
      if (row[k] != 0.0) island_of_dof[tree_of_dof_[k]] = island;
  }
  for (std::size_t k = 0; k < nv; ++k) island_of_dof[k] = island_of_dof[tree_of_dof_[k]];
}

/// Solves the rows in hand; where they bounce, with as much of their restitution as their energy allows.
template <class Matrix>
LcpContact::Answer LcpContact::solve_boxes(const Model& model, const Matrix& A, ContactProblem& problem,
                                           const BoxedLcpOptions& options) {
  Answer answer = solve_once(A, problem, options);
  if (!may_gain(problem, answer)) return answer;
  bounce_targets_.clear();
  for (const int r : rows_) {
    const Row& row = problem.rows[r];
    bounce_targets_.push_back(row.restitution > 0.0 ? row.target : 0.0);
  }
  double high_gain = gained_energy(problem, answer);
  if (high_gain <= kNoGain) {
    solution_.energy_margin = std::min(solution_.energy_margin, kNoGain - high_gain);
    return answer;
  }

  const auto solve_with = [&](double part) -> double {
    keep_restitution(part, problem);
    sets_.assign(answer.solved.sets.begin(), answer.solved.sets.end());
    const Answer again = solve_once(A, problem, options);
    answer.f = again.f;
    answer.w = again.w;
    answer.least_squares = again.least_squares;
    const double gain = gained_energy(problem, again);
    return std::abs(gain) <= kNoGainLeft ? 0.0 : gain;
  };
  // false position, with half the weight for an end that stays (Illinois)
  double low = 0.0;
  double high = 1.0;
  double kept = 0.0;
  double low_gain = solve_with(low);
  int last_side = 0;
  for (int i = 0; i < kMostReductions && low_gain < 0.0; ++i) {
    kept = high - high_gain * (high - low) / (high_gain - low_gain);
    const double gain = solve_with(kept);
    if (gain == 0.0 || kept <= low || kept >= high) break;
    const int side = gain < 0.0 ? -1 : 1;
    (side < 0 ? low : high) = kept;
    (side < 0 ? low_gain : high_gain) = gain;
    if (side == last_side) (side < 0 ? high_gain : low_gain) *= 0.5;
    last_side = side;
  }
  mark_short_of_energy(model, problem, kept);
  solution_.energy_margin = std::min(solution_.energy_margin, 1.0 - kept);
  return answer;
}

/// A few rows, by their matrix.
void LcpContact::solve_few(const Model& model, const Data& data, ContactProblem& problem,
                           const BoxedLcpOptions& options) {
  const MatrixMap A = fill_matrix(model, data, problem);
  drop_heavy_corrections([&](Eigen::Index i) { return A(i, i); }, problem);
  const Answer answer = solve_boxes(model, A, problem, options);
  if (answer.least_squares)
    for (const int r : rows_) problem.boxes[r].compliance = 0.0;
  const Eigen::Map<const VectorX> f(answer.f, A.rows());
  const Eigen::Map<const VectorX> w(answer.w, A.rows());
  keep(problem, answer.solved, f, w, [&](Eigen::Index i) { return A(i, i); });
  // M⁻¹ Jᵀ is there
  const auto width = static_cast<std::size_t>(A.outerStride());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const double impulse = f[static_cast<Eigen::Index>(i)];
    if (impulse == 0.0) continue;
    for (Eigen::Index k = 0; k < model.nv(); ++k)
      solution_.v_plus[k] += MinvJt_[static_cast<std::size_t>(k) * width + i] * impulse;
  }
}

/// Many rows, by the parts of their matrix.
void LcpContact::solve_many(const Model& model, const Data& data, ContactProblem& problem,
                            const BoxedLcpOptions& options) {
  const SparseRows& A = sparse_.build(model, data, problem, rows_);
  drop_heavy_corrections([&](Eigen::Index i) { return A.diagonal(static_cast<int>(i)); }, problem);
  const BoxedLcpSolution& solved = solve_boxes(model, A, problem, options).solved;
  keep(problem, solved, solved.f.view(), solved.w.view(),
       [&](Eigen::Index i) { return A.diagonal(static_cast<int>(i)); });
  sparse_.add_velocities(solved.f.view(), solution_.v_plus);
}

/// The answer of the island in hand, into that of the step.
template <class Diagonal>
void LcpContact::keep(const ContactProblem& problem, const BoxedLcpSolution& solved, VectorArgument f, VectorArgument w,
                      const Diagonal& diagonal) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto r = static_cast<Eigen::Index>(rows_[i]);
    solution_.f[r] = f[static_cast<Eigen::Index>(i)];
    solution_.w[r] = w[static_cast<Eigen::Index>(i)];
    solution_.sets[r] = solved.sets[i];
  }
  if (solved.status != BoxedLcpStatus::solved) solution_.status = solved.status;
  solution_.residual = std::max(solution_.residual, solved.residual);
  ++solution_.stages[static_cast<std::size_t>(solved.stage)];

  const double largest = solved.f.view().cwiseAbs().maxCoeff();
  if (!(largest > 0.0)) return;
  for (Eigen::Index i = 0; i < solved.f.size(); ++i) {
    const BoxedLcpRow& box = problem.boxes[rows_[i]];
    const double normal = box.normal < 0 ? 0.0 : solution_.f[box.normal];
    // friction of what does not press has no set to change
    if (box.normal >= 0 && normal == 0.0) continue;
    const double upper = box.normal < 0 ? box.upper : box.friction * normal;
    const double lower = box.normal < 0 ? box.lower : -upper;
    const double force = solved.f[i];
    const double margin = solved.sets[i] == RowSet::clamped ? std::min(force - lower, upper - force)
                                                            : std::abs(solved.w[i]) / diagonal(i);
    solution_.margin = std::min(solution_.margin, margin / largest);
  }
}

const LcpSolution& LcpContact::solve(const Model& model, const Data& data, ContactProblem& problem,
                                     VectorArgument v_free, const BoxedLcpOptions& options) {
  const std::size_t n = problem.rows.size();
  solution_.f.reset(static_cast<Eigen::Index>(n));
  solution_.w.reset(static_cast<Eigen::Index>(n));
  solution_.sets.assign(n, RowSet::lower);
  solution_.v_plus = v_free;
  solution_.status = BoxedLcpStatus::solved;
  solution_.residual = 0.0;
  solution_.stages.fill(0);
  solution_.num_islands = 0;
  solution_.margin = std::numeric_limits<double>::infinity();
  solution_.restitution_kept = 1.0;
  solution_.short_of_energy.clear();
  solution_.energy_margin = std::numeric_limits<double>::infinity();
  if (n == 0) {
    last_.keys.clear();
    last_.sets.clear();
    return solution_;
  }
  guess_sets(problem, v_free);
  solution_.num_islands = find_islands(model, problem);
  const bool by_parts = n >= kManyRows && problem.redundancy == Redundancy::compliance;
  if (by_parts) sparse_.invert_masses(model, data);
  for (int island = 0; island < solution_.num_islands; ++island) {
    gather_rows(problem, island);
    gather_boxes(problem, v_free);
    if (by_parts && rows_.size() >= kManyRows) {
      solve_many(model, data, problem, options);
    } else {
      solve_few(model, data, problem, options);
    }
  }
  last_.keys = problem.keys;
  last_.sets = solution_.sets;
  return solution_;
}

}  // namespace tangere
