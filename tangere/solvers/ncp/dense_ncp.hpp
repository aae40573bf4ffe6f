#pragma once

/// Relaxed complementarity problems without structure: f and its derivatives as dense matrices.
///
///   class Spring final : public DenseNcpFunction { … };
///   DenseNcp problem(spring);
///   NcpSolver solver;
///   const NcpResult result = solver.solve(problem, {.kappa = 1e-4});
///   problem.sensitivity(df_dtheta, dy, dz, ds);                          by the implicit function theorem

#include <vector>

#include "tangere/solvers/ncp/ncp.hpp"

namespace tangere {

/// f: ny + nz equations in y (ny), z and s (nz each).
class DenseNcpFunction {
 public:
  DenseNcpFunction() = default;
  DenseNcpFunction(const DenseNcpFunction&) = default;
  DenseNcpFunction& operator=(const DenseNcpFunction&) = default;
  DenseNcpFunction(DenseNcpFunction&&) = default;
  DenseNcpFunction& operator=(DenseNcpFunction&&) = default;
  virtual ~DenseNcpFunction() = default;

  [[nodiscard]] virtual int num_y() const = 0;
  /// In order and without holes, from 0 on.
  [[nodiscard]] virtual std::vector<NcpCone> cones() const = 0;
  virtual void value(const VectorX& y, const VectorX& z, const VectorX& s, VectorX& f) const = 0;
  /// Columns y, then z, then s.
  virtual void jacobian(const VectorX& y, const VectorX& z, const VectorX& s, MatrixX& J) const = 0;
};

class DenseNcp final : public NcpProblem {
 public:
  /// The function must outlive it. Starts at y = 0, z = s = e. InputError for cones with holes or of no size.
  explicit DenseNcp(const DenseNcpFunction& function);
  explicit DenseNcp(DenseNcpFunction&&) = delete;

  [[nodiscard]] std::span<const NcpCone> cones() const override { return cones_; }
  [[nodiscard]] std::span<double> z() override { return {z_.data(), static_cast<std::size_t>(z_.size())}; }
  [[nodiscard]] std::span<double> s() override { return {s_.data(), static_cast<std::size_t>(s_.size())}; }
  [[nodiscard]] VectorX& y() { return y_; }
  double evaluate() override;
  bool factor() override;
  void solve(std::span<const double> r, std::span<double> dz, std::span<double> ds) override;
  void save() override { y_saved_ = y_; }
  void advance(double a) override { y_ = y_saved_ + a * dy_; }
  void write(std::vector<double>& y) const override { y.assign(y_.begin(), y_.end()); }
  void read(const std::vector<double>& y) override { std::copy(y.begin(), y.end(), y_.begin()); }

  /// How the solution moves along a direction in which f moves by `df`, κ held. False if the matrix is singular.
  bool sensitivity(const VectorX& df, VectorX& dy, VectorX& dz, VectorX& ds);

 private:
  void solve_system(double* x) const;

  const DenseNcpFunction& function_;
  std::vector<NcpCone> cones_;
  VectorX y_;
  VectorX z_;
  VectorX s_;
  VectorX y_saved_;
  VectorX dy_;
  VectorX f_;
  MatrixX J_;
  // rows: f, then complementarity; columns: y, z, s
  std::vector<double> matrix_;
  std::vector<int> pivots_;
  std::vector<double> right_;
};

}  // namespace tangere
