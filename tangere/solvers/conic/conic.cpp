#include "tangere/solvers/conic/conic.hpp"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "tangere/math/error.hpp"
#include "tangere/solvers/conic/conic_engine.hpp"
#include "tangere/solvers/conic/conic_storage.hpp"

namespace tangere {
namespace {

/// Cones up to this dimension are held in kWideChunks short vectors.
constexpr int kWideChunks = 8;
constexpr int kLargestCone = 4 * kWideChunks;
constexpr int kMostVariables = kShared + kMaxAux;

/// How far a start is pushed into the cone.
constexpr double kWarmMargin = 1e-2;

/// The rows of a program for the engine: the first four variables are shared, the others own. A program of fewer
/// variables gets dummies, each held by the rows 1 ± t ≥ 0 (they stay at t = 0 and touch nothing else).
ConicRows to_rows(const ConicProgram& program, int cone_dimension) {
  const int n = static_cast<int>(program.c.size());
  const int dummies = std::max(0, kShared - n);
  const int num_aux = std::max(0, n - kShared);
  const int num_orthant = program.num_orthant + 2 * dummies;
  const int num_cones = static_cast<int>(program.cones.size());
  MatrixX S = MatrixX::Zero(num_orthant + cone_dimension * num_cones, kShared + num_aux + 1);
  const auto copy = [&](int to, int from, int count) {
    S.block(to, 0, count, n) = -program.G.middleRows(from, count);
    S.block(to, kShared + num_aux, count, 1) = program.h.segment(from, count);
  };
  copy(0, 0, program.num_orthant);
  for (int k = 0; k < dummies; ++k) {
    const int row = program.num_orthant + 2 * k;
    S(row, n + k) = 1.0;
    S(row + 1, n + k) = -1.0;
    S(row, kShared) = S(row + 1, kShared) = 1.0;
  }
  int from = program.num_orthant;
  for (int k = 0; k < num_cones; ++k) {
    copy(num_orthant + cone_dimension * k, from, program.cones[k]);
    from += program.cones[k];
  }
  return {num_aux, num_orthant, num_cones, std::move(S), cone_dimension};
}

/// The engine with its memory, for cones in C short vectors.
template <int C>
class Core {
 public:
  explicit Core(const ConicProgram& program)
      : rows_(to_rows(program, 4 * C)), num_variables_(static_cast<int>(program.c.size())) {
    storage_.reserve(rows_.view());
    storage_.bind(rows_.view(), engine_.blocks[0]);
    engine_.num_blocks = 1;
    for (int i = 0; i < std::min(num_variables_, kShared); ++i) engine_.cost[i] = program.c[i];
    cost_y_.assign(static_cast<std::size_t>(rows_.num_aux()), 0.0);
    for (int j = 0; j < rows_.num_aux(); ++j) cost_y_[j] = program.c[kShared + j];
    engine_.blocks[0].cost_y = cost_y_.data();
    // residuals relative to the numbers they come from
    const double cost_scale = 1.0 / (1.0 + program.c.lpNorm<Eigen::Infinity>());
    engine_.dual_scale = splat4(cost_scale);
    engine_.dual_scale_y = cost_scale;
    engine_.primal_scale = 1.0 / (1.0 + program.h.lpNorm<Eigen::Infinity>());
  }

  /// Puts (x, s, z) in and runs.
  EngineStatus run(const ConicProgram& program, const EngineOptions& options, const VectorX& x, const VectorX& s,
                   const VectorX& z) {
    ConicBlock<C>& b = engine_.blocks[0];
    for (int i = 0; i < kShared; ++i) engine_.u[i] = i < num_variables_ ? x[i] : 0.0;
    for (int j = 0; j < rows_.num_aux(); ++j) b.y[j] = x[kShared + j];
    // what the rows say, then the start beside it
    ConicEngine<C>::on(b, [&](ConicBlock<C>& block, auto operations) { operations.evaluate(block, engine_.u); });
    const int m = program.num_orthant;
    for (int i = 0; i < rows_.view().padded_orthant; ++i) {
      const double exact = b.s[i];
      b.s[i] = i < m ? s[i] : 1.0;
      b.z[i] = i < m ? z[i] : (i < rows_.num_orthant() ? 1.0 : 0.0);
      b.residual[i] = b.s[i] - exact;
    }
    Eigen::Index from = m;
    for (int k = 0; k < rows_.num_cones(); ++k) {
      ConeState<C>& cone = b.cones[k];
      const ConeVector<C> exact = cone.s;
      cone.s = cone.z = ConeVector<C>{};
      const int dimension = program.cones[k];
      for (int i = 0; i < dimension; ++i) {
        cone.s.v[i / 4][i % 4] = s[from + i];
        cone.z.v[i / 4][i % 4] = z[from + i];
      }
      cone.residual = cone.s - exact;
      from += dimension;
    }
    engine_.consistent = false;
    engine_.gap =
        ConicEngine<C>::on(b, [&](ConicBlock<C>& block, auto operations) { return operations.complementarity(block); });
    return engine_.run(options);
  }

  void read(const ConicProgram& program, ConicSolution& out) {
    const ConicBlock<C>& b = engine_.blocks[0];
    for (int i = 0; i < std::min(num_variables_, kShared); ++i) out.x[i] = engine_.u[i];
    for (int j = 0; j < rows_.num_aux(); ++j) out.x[kShared + j] = b.y[j];
    for (int i = 0; i < program.num_orthant; ++i) {
      out.s[i] = b.s[i];
      out.z[i] = b.z[i];
    }
    Eigen::Index at = program.num_orthant;
    for (int k = 0; k < rows_.num_cones(); ++k) {
      for (int i = 0; i < program.cones[k]; ++i, ++at) {
        out.s[at] = b.cones[k].s.v[i / 4][i % 4];
        out.z[at] = b.cones[k].z.v[i / 4][i % 4];
      }
    }
    out.iterations = engine_.iterations;
  }

 private:
  ConicRows rows_;
  int num_variables_;
  std::vector<double> cost_y_;
  BlockStorage<C> storage_;
  ConicEngine<C> engine_;
};

/// Adds to each block along its identity what it lacks to be inside the cone by `margin`.
void push_inside(const ConicProgram& program, VectorX& v, double margin) {
  double lack = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < program.num_orthant; ++i) lack = std::max(lack, -v[i]);
  Eigen::Index at = program.num_orthant;
  for (const int q : program.cones) {
    lack = std::max(lack, v.segment(at + 1, q - 1).norm() - v[at]);
    at += q;
  }
  if (lack < -margin) return;
  const double push = lack + margin;
  v.head(program.num_orthant).array() += push;
  at = program.num_orthant;
  for (const int q : program.cones) {
    v[at] += push;
    at += q;
  }
}

}  // namespace

void ConicProgram::verify() const {
  const auto require = [](bool condition, const char* field, const std::string& reason) {
    if (!condition) throw InputError(std::string("conic program.") + field, reason);
  };
  Eigen::Index rows = num_orthant;
  require(num_orthant >= 0, "num_orthant", "must not be negative, got " + std::to_string(num_orthant));
  for (const int q : cones) {
    require(q >= 2 && q <= kLargestCone, "cones",
            "dimensions must be between 2 and " + std::to_string(kLargestCone) + ", got " + std::to_string(q));
    rows += q;
  }
  require(c.size() >= 1 && c.size() <= kMostVariables, "c",
          "must have 1 to " + std::to_string(kMostVariables) + " entries, got " + std::to_string(c.size()));
  require(G.rows() == rows && G.cols() == c.size(), "G",
          "must be " + std::to_string(rows) + " x " + std::to_string(c.size()) + ", is " + std::to_string(G.rows()) +
              " x " + std::to_string(G.cols()));
  require(h.size() == rows, "h", "must have " + std::to_string(rows) + " entries, has " + std::to_string(h.size()));
  require(c.allFinite(), "c", "must be finite");
  require(G.allFinite(), "G", "must be finite");
  require(h.allFinite(), "h", "must be finite");
  require(Eigen::ColPivHouseholderQR<MatrixX>(G).rank() == c.size(), "G",
          "must have full column rank: some variable is not held");
}

void ConicOptions::verify() const {
  if (!(relative_tolerance >= 0.0 && absolute_tolerance >= 0.0 && relative_tolerance + absolute_tolerance > 0.0)) {
    throw InputError("options.relative_tolerance", "tolerances must not be negative, and not both zero");
  }
  if (max_iterations < 1)
    throw InputError("options.max_iterations", "must be at least 1, got " + std::to_string(max_iterations));
  if (!(kappa >= 0.0 && std::isfinite(kappa)))
    throw InputError("options.kappa", "must not be negative, got " + std::to_string(kappa));
}

std::string_view to_string(ConicStatus status) {
  switch (status) {
    case ConicStatus::solved:
      return "solved";
    case ConicStatus::iteration_limit:
      return "iteration_limit";
    case ConicStatus::numerical_limit:
      return "numerical_limit";
  }
  return "unknown";
}

struct ConicSolver::Data {
  ConicProgram program;
  std::variant<Core<1>, Core<kWideChunks>> core;
  Eigen::LLT<MatrixX> normal;  // Gᵀ G
  ConicSolution solution;
  VectorX start_x, start_s, start_z, scratch;
  bool has_solution = false;

  static bool wide(const ConicProgram& program) {
    return std::any_of(program.cones.begin(), program.cones.end(), [](int q) { return q > 4; });
  }
  explicit Data(ConicProgram p)
      : program(std::move(p)),
        core(wide(program) ? decltype(core)(std::in_place_index<1>, program)
                           : decltype(core)(std::in_place_index<0>, program)),
        normal(program.G.transpose() * program.G) {
    const Eigen::Index n = program.c.size();
    const Eigen::Index m = program.h.size();
    solution.x = start_x = scratch = VectorX::Zero(n);
    solution.s = solution.z = start_s = start_z = VectorX::Zero(m);
  }

  /// x = argmin |G x - h|, s = h - G x, z = the smallest with c + Gᵀ z = 0; both pushed inside.
  void cold_start() {
    start_x.noalias() = program.G.transpose() * program.h;
    normal.solveInPlace(start_x);
    start_s = program.h;
    start_s.noalias() -= program.G * start_x;
    scratch = -program.c;
    normal.solveInPlace(scratch);
    start_z.noalias() = program.G * scratch;
    const double size_s = std::max(1e-3, start_s.lpNorm<Eigen::Infinity>());
    const double size_z = std::max(1e-3, start_z.lpNorm<Eigen::Infinity>());
    push_inside(program, start_s, size_s);
    push_inside(program, start_z, size_z);
  }
  void warm_start() {
    start_x = solution.x;
    start_s = solution.s;
    start_z = solution.z;
    push_inside(program, start_s, kWarmMargin * std::max(1e-3, start_s.lpNorm<Eigen::Infinity>()));
    push_inside(program, start_z, kWarmMargin * std::max(1e-3, start_z.lpNorm<Eigen::Infinity>()));
  }
};

ConicSolver::ConicSolver(ConicProgram program) : data_("ConicSolver", nullptr) {
  program.verify();
  data_ = Owned("ConicSolver", std::make_unique<Data>(std::move(program)));
}
ConicSolver::~ConicSolver() = default;
ConicSolver::ConicSolver(ConicSolver&&) noexcept = default;
ConicSolver& ConicSolver::operator=(ConicSolver&&) noexcept = default;

const ConicProgram& ConicSolver::program() const { return data_->program; }

const ConicSolution& ConicSolver::solve(const ConicOptions& options) & {
  options.verify();
  Data& d = *data_;
  if (options.warm_start && d.has_solution) {
    d.warm_start();
  } else {
    d.cold_start();
  }
  EngineOptions engine{.relative_tolerance = options.relative_tolerance,
                       .absolute_tolerance = options.absolute_tolerance,
                       .max_iterations = options.max_iterations};
  if (options.kappa > 0.0) {
    engine.kappa = options.kappa;
    engine.centrality = 1e-11;
    engine.max_final_steps = options.max_iterations;
  }
  ConicSolution& out = d.solution;
  const EngineStatus status = std::visit(
      [&](auto& core) {
        const EngineStatus result = core.run(d.program, engine, d.start_x, d.start_s, d.start_z);
        core.read(d.program, out);
        return result;
      },
      d.core);
  out.status = status == EngineStatus::solved            ? ConicStatus::solved
               : status == EngineStatus::iteration_limit ? ConicStatus::iteration_limit
                                                         : ConicStatus::numerical_limit;
  out.objective = d.program.c.dot(out.x);
  out.gap = out.s.dot(out.z);
  d.start_s = d.program.h - out.s;
  d.start_s.noalias() -= d.program.G * out.x;
  out.primal_residual = d.start_s.lpNorm<Eigen::Infinity>();
  d.scratch = d.program.c;
  d.scratch.noalias() += d.program.G.transpose() * out.z;
  out.dual_residual = d.scratch.lpNorm<Eigen::Infinity>();
  d.has_solution = true;
  return out;
}

}  // namespace tangere
