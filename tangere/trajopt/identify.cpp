#include "tangere/trajopt/identify.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/trajopt/internal/motion_fit.hpp"

/// One search, over pieces of one length:
///
///   until an iteration gains little
///     factor [J_start, J_z, r] of every piece
///     damp: rows √λ D below each factor, D the lengths of its columns; QR leaves [R_z, r_z] of each piece
///     all R_z under each other give δz, each piece's R_start its δx_0
///     keep the step where the cost falls, λ / 5; else λ x 5

namespace tangere {

using internal::MotionFit;
using internal::MotionPiece;
using internal::Unknowns;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeastDamping = 1e-9;
constexpr double kMostDamping = 1e8;

/// The longest step in a number: a factor of e^0.7 = 2 of what is positive.
constexpr double kLongestStep = 0.7;

/// A search over longer pieces may end with so many times the misfit of the one before.
constexpr double kMostGrowth = 1.1;
/// Parts of a direction below this are rounding.
constexpr double kLeastPart = 1e-4;

/// A step of the numbers and of all starts.
struct Step {
  VectorX dz;
  std::vector<VectorX> dx{};
};

/// The rows of a factor that are left where its start is eliminated, after damping of the start.
MatrixX without_start(const MatrixX& factor, int ndx, double damping) {
  const Eigen::Index columns = factor.cols();
  MatrixX rows(columns + ndx, columns);
  rows.topRows(columns) = factor;
  rows.bottomRows(ndx).setZero();
  for (int i = 0; i < ndx; ++i) rows(columns + i, i) = std::sqrt(damping) * std::max(factor.col(i).norm(), 1e-9);
  const Eigen::HouseholderQR<MatrixX> qr(rows);
  return qr.matrixQR().topRows(columns).triangularView<Eigen::Upper>();
}

/// Least-squares rows of all pieces and the prior in the numbers: upper triangular [R_z, r_z].
MatrixX joined(const std::vector<MatrixX>& reduced, int ndx, int nz, const VectorX& prior, const VectorX& away) {
  MatrixX rows = MatrixX::Zero(static_cast<Eigen::Index>(reduced.size()) * (nz + 1) + 2 * nz + 1, nz + 1);
  Eigen::Index at = 0;
  for (const MatrixX& one : reduced) {
    rows.middleRows(at, nz + 1) = one.bottomRightCorner(nz + 1, nz + 1);
    at += nz + 1;
  }
  for (int i = 0; i < nz && prior.size() > 0; ++i) {
    rows(at + i, i) = prior[i];
    rows(at + i, nz) = prior[i] * away[i];
  }
  (void)ndx;
  const Eigen::HouseholderQR<MatrixX> qr(rows);
  return qr.matrixQR().topRows(nz + 1).triangularView<Eigen::Upper>();
}

std::vector<MatrixX> reduce(const std::vector<MotionPiece>& pieces, int ndx, double damping) {
  std::vector<MatrixX> reduced;
  for (const MotionPiece& piece : pieces) reduced.push_back(without_start(piece.factor, ndx, damping));
  return reduced;
}

Step damped_step(const std::vector<MotionPiece>& pieces, int ndx, int nz, const VectorX& prior, const VectorX& away,
                 double damping) {
  const std::vector<MatrixX> reduced = reduce(pieces, ndx, damping);
  const MatrixX all = joined(reduced, ndx, nz, prior, away);
  MatrixX rows(2 * nz, nz);
  rows.topRows(nz) = all.topLeftCorner(nz, nz);
  rows.bottomRows(nz).setZero();
  const double largest = all.topLeftCorner(nz, nz).colwise().norm().maxCoeff();
  for (int i = 0; i < nz; ++i)
    rows(nz + i, i) = std::sqrt(damping) * std::max(all.topLeftCorner(nz, nz).col(i).norm(), 1e-6 * largest + 1e-12);
  VectorX right = VectorX::Zero(2 * nz);
  right.head(nz) = -all.col(nz).head(nz);
  Step step{.dz = rows.householderQr().solve(right)};
  const double longest = step.dz.lpNorm<Eigen::Infinity>();
  if (longest > kLongestStep) step.dz *= kLongestStep / longest;
  for (const MatrixX& one : reduced) {
    const VectorX of_start = -one.col(ndx + nz).head(ndx) - one.block(0, ndx, ndx, nz) * step.dz;
    step.dx.push_back(one.topLeftCorner(ndx, ndx).triangularView<Eigen::Upper>().solve(of_start));
  }
  return step;
}

double prior_cost(const VectorX& prior, const VectorX& away) {
  return prior.size() == 0 ? 0.0 : 0.5 * prior.cwiseProduct(away).squaredNorm();
}

std::string combination_text(const VectorX& direction, const Unknowns& unknowns) {
  std::string text;
  for (Eigen::Index i = 0; i < direction.size(); ++i) {
    const double part = direction[i];
    if (std::abs(part) < 0.1) continue;
    char number[32];
    std::snprintf(number, sizeof number, "%.2f ", std::abs(part));
    text += (text.empty() ? (part < 0.0 ? "-" : "") : (part < 0.0 ? " - " : " + "));
    text += number + unknowns.number_name(static_cast<int>(i));
  }
  return text;
}

/// A search and what it knows.
class Search {
 public:
  Search(const World& world, const Unknowns& unknowns, const MotionFit& fit)
      : world_(world), dynamics_(world), unknowns_(unknowns), fit_(fit), pool_(fit.options.num_threads) {
    z_ = unknowns.start();
    const VectorX& prior = fit.options.prior;
    if (prior.size() == 1) prior_.setConstant(z_.size(), 1.0 / prior[0]);
    if (prior.size() > 1) prior_ = prior.cwiseInverse();
  }

  /// Over pieces of that length. False if no motion is finite.
  bool run(const std::vector<MotionRecording>& recordings, int length, IdentifyResult& result) {
    const std::vector<MotionPiece> before_pieces = pieces_;
    const VectorX before_z = z_;
    const double before_misfit = before_pieces.empty() ? kInfinity : misfit();
    pieces_ = pieces_of(fit_, WorldDynamics(world_at(z_)), recordings, length, before_pieces);
    const int ndx = dynamics_.ndx();
    const int nz = unknowns_.size();
    World world = world_at(z_);
    for (MotionPiece& piece : pieces_) piece.trial = piece.start;
    if (!find_costs(fit_, world, pool_, pieces_)) {
      if (!before_pieces.empty()) pieces_ = before_pieces;
      return false;
    }
    take_trials();
    double damping = 1e-3;
    const IdentifyStatus before_status = result.status;
    result.status = IdentifyStatus::stalled;
    for (int i = 0; i < fit_.options.max_iterations; ++i, ++result.iterations) {
      linearise(fit_, world, unknowns_.jacobian(z_), pool_, pieces_);
      const double before = cost();
      bool better = false;
      for (; !better && damping < kMostDamping; damping *= better ? 0.2 : 5.0) {
        const Step step = damped_step(pieces_, ndx, nz, prior_, z_ - unknowns_.start(), damping);
        for (std::size_t p = 0; p < pieces_.size(); ++p) dynamics_.plus(pieces_[p].start, step.dx[p], pieces_[p].trial);
        const VectorX z = z_ + step.dz;
        const World trial = world_at(z);
        better = find_costs(fit_, trial, pool_, pieces_) && trial_cost(z) < before;
        if (!better) continue;
        z_ = z;
        world = trial;
        take_trials();
      }
      damping = std::max(damping, kLeastDamping);
      if (!better || before - cost() <= fit_.options.tolerance * before) {
        result.status = IdentifyStatus::solved;
        break;
      }
    }
    if (misfit() > kMostGrowth * before_misfit) {
      pieces_ = before_pieces;
      z_ = before_z;
      result.status = before_status;
    }
    return true;
  }

  /// Values, deviations, and what is not told.
  void report(IdentifyResult& result) {
    const int nz = unknowns_.size();
    const MatrixX d_values = unknowns_.jacobian(z_);
    linearise(fit_, world_at(z_), d_values, pool_, pieces_);
    const MatrixX all =
        joined(reduce(pieces_, dynamics_.ndx(), 0.0), dynamics_.ndx(), nz, prior_, VectorX(z_ - unknowns_.start()));
    const Eigen::JacobiSVD<MatrixX> svd(all.topLeftCorner(nz, nz), Eigen::ComputeFullV);
    result.singular_values = svd.singularValues();
    const double rounding = 1e-10 * std::max(result.singular_values[0], 1e-300);
    VectorX variance = VectorX::Zero(nz);
    MatrixX spread = MatrixX::Zero(nz, nz);
    for (int i = 0; i < nz; ++i) {
      const double s = result.singular_values[i];
      const VectorX direction = svd.matrixV().col(i);
      const double deviation = s > rounding ? 1.0 / s : kInfinity;
      spread.col(i) = (direction.array().abs() > kLeastPart).select(direction, 0.0) * std::min(deviation, 1e10);
      if (deviation <= fit_.options.most_uncertain) continue;
      result.not_identified.push_back({direction, deviation, combination_text(direction, unknowns_)});
    }
    result.values = unknowns_.values(z_);
    result.deviations = (d_values * spread).rowwise().norm();
    for (const internal::Unknown& unknown : unknowns_.list())
      for (int i = 0; i < unknown.num_parameters; ++i)
        result.names.push_back(parameter_name(world_, unknowns_.parameters()[unknown.first_parameter + i]));
    for (int i = 0; i < nz; ++i) result.numbers.push_back(unknowns_.number_name(i));
    result.world = world_at(z_);
    result.cost = cost();
    result.misfit = misfit();
  }

 private:
  [[nodiscard]] World world_at(const VectorX& z) const {
    return with_parameters(world_, unknowns_.parameters(), unknowns_.values(z));
  }
  /// Root of the mean squared residual, less what the free starts take away.
  [[nodiscard]] double misfit() const {
    double measured = 0.0, sum = 0.0;
    const double each = static_cast<double>((fit_.weight.array() > 0.0).count());
    for (const MotionPiece& piece : pieces_) {
      measured += std::max((piece.last - piece.first + 1.0) * each - dynamics_.ndx(), 0.0);
      sum += 2.0 * piece.cost;
    }
    return std::sqrt(sum / std::max(1.0, measured));
  }
  void take_trials() {
    for (MotionPiece& piece : pieces_) {
      piece.start = piece.trial;
      piece.cost = piece.trial_cost;
    }
  }
  [[nodiscard]] double cost() const {
    double sum = prior_cost(prior_, z_ - unknowns_.start());
    for (const MotionPiece& piece : pieces_) sum += piece.cost;
    return sum;
  }
  [[nodiscard]] double trial_cost(const VectorX& z) const {
    double sum = prior_cost(prior_, z - unknowns_.start());
    for (const MotionPiece& piece : pieces_) sum += piece.trial_cost;
    return sum;
  }

  const World& world_;
  WorldDynamics dynamics_;
  const Unknowns& unknowns_;
  const MotionFit& fit_;
  TaskPool pool_;
  VectorX prior_;
  VectorX z_;
  std::vector<MotionPiece> pieces_;
};

void require_recordings(const World& world, const std::vector<MotionRecording>& recordings) {
  if (recordings.empty()) throw InputError("recordings", "must have at least one entry");
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    const MotionRecording& motion = recordings[i];
    const std::string place = "recordings[" + std::to_string(i) + "]";
    const Eigen::Index samples = motion.x.cols();
    if (motion.x.rows() != world.nq() + world.nv() || samples < 2)
      throw InputError(place + ".x", "must have " + std::to_string(world.nq() + world.nv()) +
                                         " rows and at least 2 columns, got " + std::to_string(motion.x.rows()) +
                                         " x " + std::to_string(samples));
    if (motion.u.size() > 0 && (motion.u.rows() != world.nu() || motion.u.cols() != samples - 1))
      throw InputError(place + ".u", "must be " + std::to_string(world.nu()) + " x " + std::to_string(samples - 1) +
                                         ", got " + std::to_string(motion.u.rows()) + " x " +
                                         std::to_string(motion.u.cols()));
    if (!motion.x.allFinite()) throw InputError(place + ".x", "must be finite");
    if (!motion.u.allFinite()) throw InputError(place + ".u", "must be finite");
  }
}

/// 1 / noise of every tangent coordinate.
VectorX weights_of(const VectorX& noise, int ndx) {
  if (noise.size() != 1 && noise.size() != ndx)
    throw InputError("noise",
                     "must have 1 or " + std::to_string(ndx) + " entries, got " + std::to_string(noise.size()));
  VectorX weight(ndx);
  for (int i = 0; i < ndx; ++i) weight[i] = 1.0 / noise[noise.size() == 1 ? 0 : i];
  if (weight.isZero(0.0)) throw InputError("noise", "must be finite for at least one coordinate");
  return weight;
}

}  // namespace

std::string_view to_string(IdentifyStatus status) {
  switch (status) {
    case IdentifyStatus::solved:
      return "solved";
    case IdentifyStatus::stalled:
      return "stalled";
    case IdentifyStatus::not_finite:
      return "not_finite";
  }
  return "unknown";
}

void IdentifyOptions::verify() const {
  for (const double sigma : noise)
    if (!(sigma > 0.0)) throw InputError("noise", "must be above 0, got " + internal::to_text(sigma));
  for (const double sigma : prior)
    if (!(sigma > 0.0)) throw InputError("prior", "must be above 0, got " + internal::to_text(sigma));
  if (steps_per_sample < 1)
    throw InputError("steps_per_sample", "must be at least 1, got " + std::to_string(steps_per_sample));
  if (pieces.empty()) throw InputError("pieces", "must have at least one entry");
  for (const int length : pieces)
    if (length != 0 && length < 2)
      throw InputError("pieces", "must be 0 or at least 2 samples, got " + std::to_string(length));
  if (max_iterations < 1)
    throw InputError("max_iterations", "must be at least 1, got " + std::to_string(max_iterations));
  if (!(tolerance >= 0.0)) throw InputError("tolerance", "must not be negative, got " + internal::to_text(tolerance));
  if (!(most_uncertain > 0.0))
    throw InputError("most_uncertain", "must be above 0, got " + internal::to_text(most_uncertain));
}

IdentifyResult identify(const World& world, const std::vector<std::string>& parameters,
                        const std::vector<MotionRecording>& recordings, const IdentifyOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  options.verify();
  require_recordings(world, recordings);
  const Unknowns unknowns(world, parameters);
  if (options.prior.size() > 1 && options.prior.size() != unknowns.size())
    throw InputError("prior", "must have 0, 1 or " + std::to_string(unknowns.size()) + " entries, got " +
                                  std::to_string(options.prior.size()));
  const MotionFit fit{options, unknowns, weights_of(options.noise, 2 * world.nv())};
  Search search(world, unknowns, fit);
  IdentifyResult result{.world = world};
  bool finite = false;
  for (const int length : options.pieces) finite = search.run(recordings, length, result) || finite;
  if (!finite) result.status = IdentifyStatus::not_finite;
  search.report(result);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace tangere
