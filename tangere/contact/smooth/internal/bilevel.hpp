#pragma once

/// Bilevel smooth contact (DCOL's contact physics): the same contact, friction and dynamics as single_level.hpp, but
/// the collision of every pair is solved to the end at every iterate, and only its answer (x, α, n and their Jacobians
/// by the implicit function theorem) enters the outer problem. `WorldOptions::formulation = Formulation::bilevel`.
///
/// It is the baseline that the single level is measured by, and an honest one: analytic Jacobians, the same relaxation
/// and the same outer tolerance, inner solves started from the last iterate's answer.

#include "tangere/contact/smooth/internal/smooth_pair.hpp"
#include "tangere/solvers/ncp/ncp.hpp"

namespace tangere {

/// z ∘ s of a cold start, as a part of e, and what is added along e to an answer of other poses.
inline constexpr double kStartProduct = 0.1;
inline constexpr double kLift = 1e-2;
/// Iterations of a collision, cold or warm.
inline constexpr int kCollisionIterations = 60;

/// The collision of a pair at fixed poses (private to contact): α and x on the central path z ∘ s = κ e.
class CollisionProblem final : public NcpProblem {
 public:
  /// z and s of A's rows, then B's, in one piece; y likewise.
  void set(SmoothPair& pair);

  [[nodiscard]] std::span<const NcpCone> cones() const override { return cones_; }
  [[nodiscard]] std::span<double> z() override { return {pair_->A.numbers().z, num_rows_}; }
  [[nodiscard]] std::span<double> s() override { return {pair_->A.numbers().s, num_rows_}; }
  double evaluate() override;
  bool factor() override;
  void solve(std::span<const double> r, std::span<double> dz, std::span<double> ds) override;
  void save() override;
  void advance(double a) override;
  void write(std::vector<double>& y) const override;
  void read(const std::vector<double>& y) override;

 private:
  SmoothPair* pair_ = nullptr;
  std::size_t rows_A_ = 0;
  std::size_t num_rows_ = 0;
  std::size_t num_y_ = 0;
  std::vector<NcpCone> cones_;
  Vector4 r_g_ = Vector4::Zero();
  Vector4 u_saved_ = Vector4::Zero();
  Vector4 du_ = Vector4::Zero();
  std::vector<double> y_saved_;
  std::vector<double> dy_;
  Eigen::Matrix<double, 4, 4, Eigen::RowMajor | Eigen::DontAlign> H_;
  int pivots_[4] = {};
};

/// Collisions of a problem, one after another.
class CollisionSolver {
 public:
  /// From the pair's own numbers if they are an answer at other poses (`warm`), else and if that fails from the
  /// geometry. False if neither leads to a solution. `length` is the pair's unit.
  bool solve(SmoothPair& pair, double length, bool warm, const NcpOptions& options);
  [[nodiscard]] long num_iterations() const { return iterations_; }

 private:
  CollisionProblem problem_;
  NcpSolver solver_;
  long iterations_ = 0;
};

/// x and α of a cold start (single_level_solve.cpp): on the line of centres where both have to grow alike. In the
/// pair's units.
void place_start(SmoothPair& pair, double inverse_length);

}  // namespace tangere
