#include "tangere/trajopt/function_dynamics.hpp"

#include <array>
#include <vector>

#include "tangere/math/error.hpp"

namespace tangere {
namespace {

/// The inputs of the last step at every knot.
class FunctionStepper final : public Stepper {
 public:
  FunctionStepper(const StateFunction& f, int nx, int nu, VectorX time_steps)
      : f_(f),
        time_steps_(std::move(time_steps)),
        x_(time_steps_.size(), VectorX::Zero(nx)),
        u_(time_steps_.size(), VectorX::Zero(nu)),
        out_(nx) {}

  void begin() override {}

  bool step(int knot, const VectorX& x, const VectorX& u, VectorX& next) override {
    x_[knot] = x;
    u_[knot] = u;
    next.resize(x.size());
    f_(x, u, time_steps_[knot], next, nullptr);
    return next.allFinite();
  }

  bool jacobians(int knot, MatrixX& A, MatrixX& B) override {
    const Eigen::Index nx = x_[knot].size();
    const Eigen::Index nu = u_[knot].size();
    J_.x.setZero(nx, nx);
    J_.u.setZero(nx, nu);
    f_(x_[knot], u_[knot], time_steps_[knot], out_, &J_);
    if (J_.x.rows() != nx || J_.x.cols() != nx || J_.u.rows() != nx || J_.u.cols() != nu)
      throw InputError("dynamics", "the function resized its Jacobians");
    A = J_.x;
    B = J_.u;
    return A.allFinite() && B.allFinite();
  }

 private:
  const StateFunction& f_;
  VectorX time_steps_;
  std::vector<VectorX> x_;
  std::vector<VectorX> u_;
  VectorX out_;
  FunctionJacobians J_;
};

/// With stages k_i = f(x + c_i h k_{i-1}, u), c = (0, ½, ½, 1), and dk_i = f_x (I + c_i h dk_{i-1}).
class RungeKutta {
 public:
  RungeKutta(int nx, int nu, StateFunction rate)
      : rate_(std::move(rate)),
        at_(nx),
        slope_(nx),
        sum_(nx),
        slope_x_(nx, nx),
        slope_u_(nx, nu),
        sum_x_(nx, nx),
        sum_u_(nx, nu),
        J_{MatrixX::Zero(nx, nx), MatrixX::Zero(nx, nu)} {}

  void operator()(const VectorX& x, const VectorX& u, double h, VectorX& out, FunctionJacobians* J) {
    constexpr std::array<double, 4> kPlace = {0.0, 0.5, 0.5, 1.0};
    constexpr std::array<double, 4> kWeight = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    sum_.setZero();
    sum_x_.setZero();
    sum_u_.setZero();
    slope_.setZero();
    slope_x_.setZero();
    slope_u_.setZero();
    for (int i = 0; i < 4; ++i) {
      at_ = x + kPlace[i] * h * slope_;
      J_.x.setZero();
      J_.u.setZero();
      rate_(at_, u, h, slope_, J == nullptr ? nullptr : &J_);
      sum_ += kWeight[i] * slope_;
      if (J == nullptr) continue;
      slope_x_ *= kPlace[i] * h;
      slope_x_.diagonal().array() += 1.0;
      slope_u_ *= kPlace[i] * h;
      product_u_.noalias() = J_.x * slope_u_;
      slope_u_ = product_u_ + J_.u;
      product_x_.noalias() = J_.x * slope_x_;
      slope_x_ = product_x_;
      sum_x_ += kWeight[i] * slope_x_;
      sum_u_ += kWeight[i] * slope_u_;
    }
    out = x + h * sum_;
    if (J == nullptr) return;
    J->x = h * sum_x_;
    J->x.diagonal().array() += 1.0;
    J->u = h * sum_u_;
  }

 private:
  StateFunction rate_;
  VectorX at_;
  VectorX slope_;
  VectorX sum_;
  MatrixX slope_x_;
  MatrixX slope_u_;
  MatrixX sum_x_;
  MatrixX sum_u_;
  // aligned, as Riccati's scratch is
  Eigen::MatrixXd product_x_;
  Eigen::MatrixXd product_u_;
  FunctionJacobians J_;
};

}  // namespace

FunctionDynamics::FunctionDynamics(int nx, int nu, StateFunction f) : nx_(nx), nu_(nu), f_(std::move(f)) {
  if (nx < 1) throw InputError("dynamics.nx", "must be at least 1, got " + std::to_string(nx));
  if (nu < 1) throw InputError("dynamics.nu", "must be at least 1, got " + std::to_string(nu));
  if (!f_) throw InputError("dynamics", "has no function");
}

std::unique_ptr<Stepper> FunctionDynamics::stepper(const VectorX& time_steps, const ContactPhase& /*phase*/) const {
  return std::make_unique<FunctionStepper>(f_, nx_, nu_, time_steps);
}

StateFunction runge_kutta(int nx, int nu, StateFunction rate) {
  return [method = RungeKutta(nx, nu, std::move(rate))](const VectorX& x, const VectorX& u, double h, VectorX& out,
                                                        FunctionJacobians* J) mutable { method(x, u, h, out, J); };
}

}  // namespace tangere
