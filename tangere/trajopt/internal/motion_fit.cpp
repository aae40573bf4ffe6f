#include "tangere/trajopt/internal/motion_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tangere/sim/step_derivatives.hpp"

namespace tangere::internal {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

World world_of_contact(const World& world, const ContactPhase& contact) {
  WorldOptions options = world.options();
  options.formulation = contact.formulation;
  if (contact.formulation != Formulation::lcp) {
    options.smooth.kappa = contact.kappa;
    options.smooth.tolerance = contact.tolerance;
    options.smooth.margin = contact.margin;
  }
  return world.with_options(options);
}

State state_of(const World& world, const VectorX& x) { return {x.head(world.nq()), x.tail(world.nv())}; }

VectorX vector_of(const State& state) {
  VectorX x(state.q.size() + state.v.size());
  x << state.q, state.v;
  return x;
}

/// One trajectory in a world, sample after sample.
class Motion {
 public:
  Motion(const MotionFit& fit, const World& world, const MotionPiece& piece, const VectorX& start)
      : fit_(fit),
        dynamics_(world_of_contact(world, fit.options.contact)),
        workspace_(dynamics_.world()),
        piece_(piece),
        state_(state_of(world, start)),
        u_(VectorX::Zero(world.nu())) {}

  /// The weighted residual of the state now.
  void residual(int sample, VectorX& out) {
    y_ = piece_.motion->x.col(sample);
    x_ = vector_of(state_);
    dynamics_.minus(y_, x_, out);
    out = out.cwiseProduct(fit_.weight);
  }

  void residual_jacobian(MatrixX& J) {
    dynamics_.minus_jacobian(y_, x_, J);
    J = fit_.weight.asDiagonal() * J;
  }

  [[nodiscard]] VectorX state() const { return vector_of(state_); }

  /// From a sample to the next; with `S`, the derivatives too. False where no step is made.
  bool advance(int sample, const MatrixX* d_values, MatrixX* S) {
    const World& world = dynamics_.world();
    if (piece_.motion->u.size() > 0) u_ = piece_.motion->u.col(sample);
    for (int i = 0; i < fit_.options.steps_per_sample; ++i) {
      const StepStatus status =
          step(world, state_, u_, workspace_, state_, S == nullptr ? nullptr : &tape_, {.max_speed = 1e4}).status;
      if (!is_made(status)) return false;
      if (S != nullptr) differentiate(*d_values, *S);
    }
    return true;
  }

 private:
  /// S becomes A S + [0, ∂f/∂θ dθ/dz].
  void differentiate(const MatrixX& d_values, MatrixX& S) {
    const World& world = dynamics_.world();
    const int ndx = 2 * world.nv();
    A_.resize(ndx, ndx);
    B_.resize(ndx, world.nu());
    // one-sided derivatives are still a direction to go
    (void)step_jacobians(world, tape_, workspace_, jacobians_);
    (void)step_parameter_jacobians(world, tape_, workspace_, fit_.unknowns.parameters(), parameters_);
    jacobians_.copy_to(A_, B_);
    next_.noalias() = A_ * S;
    const Eigen::Index nz = d_values.cols();
    next_.topRightCorner(world.nv(), nz).noalias() += parameters_.q * d_values;
    next_.bottomRightCorner(world.nv(), nz).noalias() += parameters_.v * d_values;
    S.swap(next_);
  }

  const MotionFit& fit_;
  WorldDynamics dynamics_;
  Workspace workspace_;
  const MotionPiece& piece_;
  State state_;
  Tape tape_;
  VectorX u_;
  VectorX x_;
  VectorX y_;
  StepJacobians jacobians_;
  StepParameterJacobians parameters_;
  MatrixX A_;
  MatrixX B_;
  MatrixX next_;
};

double cost_of(const MotionFit& fit, const World& world, const MotionPiece& piece, const VectorX& start) {
  Motion motion(fit, world, piece, start);
  VectorX r;
  double cost = 0.0;
  for (int k = piece.first; k <= piece.last; ++k) {
    motion.residual(k, r);
    cost += 0.5 * r.squaredNorm();
    if (k < piece.last && !motion.advance(k, nullptr, nullptr)) return kInfinity;
  }
  return std::isfinite(cost) ? cost : kInfinity;
}

void factor_of(const MotionFit& fit, const World& world, const MatrixX& d_values, MotionPiece& piece) {
  const int ndx = 2 * world.nv();
  const Eigen::Index columns = ndx + d_values.cols() + 1;
  const int samples = piece.last - piece.first + 1;
  Motion motion(fit, world, piece, piece.start);
  MatrixX rows = MatrixX::Zero(std::max<Eigen::Index>(columns, samples * ndx), columns);
  MatrixX S = MatrixX::Zero(ndx, columns - 1);
  S.leftCols(ndx).setIdentity();
  VectorX r;
  MatrixX J;
  for (int k = 0; k < samples; ++k) {
    motion.residual(piece.first + k, r);
    motion.residual_jacobian(J);
    rows.block(k * ndx, 0, ndx, columns - 1).noalias() = J * S;
    rows.block(k * ndx, columns - 1, ndx, 1) = r;
    if (k + 1 < samples && !motion.advance(piece.first + k, &d_values, &S)) break;
  }
  const Eigen::HouseholderQR<MatrixX> qr(rows);
  piece.factor = qr.matrixQR().topRows(columns).triangularView<Eigen::Upper>();
}

/// The state at a sample of a piece, or `otherwise`.
VectorX fitted_state(const MotionFit& fit, const World& world, const MotionPiece& piece, int sample,
                     const VectorX& otherwise) {
  Motion motion(fit, world, piece, piece.start);
  for (int k = piece.first; k < sample; ++k)
    if (!motion.advance(k, nullptr, nullptr)) return otherwise;
  return motion.state().allFinite() ? motion.state() : otherwise;
}

/// The state that a sample suggests.
VectorX measured_start(const MotionFit& fit, const WorldDynamics& dynamics, const MotionRecording& motion, int sample) {
  const World& world = dynamics.world();
  VectorX x = motion.x.col(sample);
  const int next = std::min<int>(sample + 3, static_cast<int>(motion.x.cols()) - 1);
  if (next == sample) return x;
  VectorX way;
  dynamics.minus(x, motion.x.col(next), way);
  const double time = (next - sample) * fit.options.steps_per_sample * world.options().time_step;
  for (int i = 0; i < world.nv(); ++i)
    if (fit.weight[world.nv() + i] == 0.0) x[world.nq() + i] = way[i] / time;
  return x;
}

}  // namespace

std::vector<MotionPiece> pieces_of(const MotionFit& fit, const WorldDynamics& dynamics,
                                   const std::vector<MotionRecording>& motions, int length,
                                   const std::vector<MotionPiece>& fitted) {
  std::vector<MotionPiece> pieces;
  for (const MotionRecording& motion : motions) {
    const int samples = static_cast<int>(motion.x.cols());
    const int most = length == 0 ? samples : std::min(length, samples);
    for (int first = 0; first + 1 < samples; first += most - 1)
      pieces.push_back({.motion = &motion, .first = first, .last = std::min(first + most - 1, samples - 1)});
  }
  for (MotionPiece& piece : pieces) {
    piece.start = measured_start(fit, dynamics, *piece.motion, piece.first);
    for (const MotionPiece& before : fitted)
      if (before.motion == piece.motion && piece.first >= before.first && piece.first < before.last)
        piece.start = fitted_state(fit, dynamics.world(), before, piece.first, piece.start);
  }
  return pieces;
}

bool find_costs(const MotionFit& fit, const World& world, TaskPool& pool, std::vector<MotionPiece>& pieces) {
  pool.run(static_cast<int>(pieces.size()), 1,
           [&](int i, int) { pieces[i].trial_cost = cost_of(fit, world, pieces[i], pieces[i].trial); });
  return std::all_of(pieces.begin(), pieces.end(), [](const MotionPiece& p) { return std::isfinite(p.trial_cost); });
}

void linearise(const MotionFit& fit, const World& world, const MatrixX& d_values, TaskPool& pool,
               std::vector<MotionPiece>& pieces) {
  pool.run(static_cast<int>(pieces.size()), 1, [&](int i, int) { factor_of(fit, world, d_values, pieces[i]); });
}

}  // namespace tangere::internal
