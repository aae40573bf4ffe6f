#include "tangere/solvers/qp/qp.hpp"

#include <cmath>
#include <string>

#include "tangere/math/error.hpp"

namespace tangere {
namespace {

/// Q may be off symmetric by this much of its largest entry.
constexpr double kAsymmetry = 1e-12;

void require(bool condition, const char* field, const char* reason) {
  if (!condition) throw InputError(field, reason);
}

}  // namespace

QpProblem::QpProblem(const MatrixX& Q, const VectorX& q, const MatrixX& G, const VectorX& h) {
  const auto n = q.size();
  if (n < 1 || n > kMaxQpVariables) throw InputError("q", "must have 1 to 6 entries, got " + std::to_string(n));
  require(Q.rows() == n && Q.cols() == n, "Q", "must be square, with a row for each entry of q");
  require(G.rows() == h.size(), "h", "must have an entry for each row of G");
  require(G.cols() == n || G.rows() == 0, "G", "must have a column for each entry of q");
  resize(static_cast<int>(n), static_cast<int>(h.size()));
  this->Q() = Q;
  this->q() = q;
  if (G.rows() > 0) this->G() = G;
  this->h() = h;
}

void QpProblem::resize(int num_variables, int num_rows) {
  if (num_variables < 1 || num_variables > kMaxQpVariables)
    throw InputError("num_variables", "must be between 1 and 6, got " + std::to_string(num_variables));
  if (num_rows < 0) throw InputError("num_rows", "must not be negative, got " + std::to_string(num_rows));
  n_ = num_variables;
  m_ = num_rows;
  G_.resize(static_cast<std::size_t>(n_) * static_cast<std::size_t>(m_));
  h_.resize(static_cast<std::size_t>(m_));
}

double QpProblem::objective(const Eigen::Ref<const VectorX>& x) const {
  double sum = constant;
  for (int i = 0; i < n_; ++i) {
    double Qx = 0.0;
    for (int j = 0; j < n_; ++j) Qx += Q_[n_ * i + j] * x[j];
    sum += x[i] * (0.5 * Qx + q_[i]);
  }
  return sum;
}

void QpProblem::verify() const {
  require(n_ >= 1, "num_variables", "must be between 1 and 6, got 0");
  require(Q().allFinite(), "Q", "must be finite");
  require(q().allFinite(), "q", "must be finite");
  require(G().allFinite(), "G", "must be finite");
  require(h().allFinite(), "h", "must be finite");
  require(std::isfinite(constant), "constant", "must be finite");
  const double allowed = kAsymmetry * Q().cwiseAbs().maxCoeff();
  for (int i = 0; i < n_; ++i) {
    require(Q_[n_ * i + i] >= 0.0, "Q", "must be positive semidefinite, but its diagonal has a negative entry");
    for (int j = 0; j < i; ++j) require(std::abs(Q_[n_ * i + j] - Q_[n_ * j + i]) <= allowed, "Q", "must be symmetric");
  }
}

std::string_view to_string(QpStatus status) {
  switch (status) {
    case QpStatus::solved:
      return "solved";
    case QpStatus::iteration_limit:
      return "iteration_limit";
    case QpStatus::numerical_limit:
      return "numerical_limit";
  }
  return "unknown";
}

void QpSolution::resize(int num_variables, int num_rows) {
  n_ = num_variables;
  s_.resize(static_cast<std::size_t>(num_rows));
  z_.resize(static_cast<std::size_t>(num_rows));
}

}  // namespace tangere
