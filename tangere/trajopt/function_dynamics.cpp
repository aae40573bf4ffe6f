#include "tangere/trajopt/function_dynamics.hpp"

#include <array>
#include <vector>

#include "tangere/math/error.hpp"

namespace tangere {
namespace {

/// The inputs of the last step at every knot. Every thread has its own copy of the function.
class FunctionStepper final : public Stepper {
 public:
  FunctionStepper(const StateFunction& f, int nx, int nu, VectorX time_steps, int num_threads)
      : time_steps_(std::move(time_steps)),
        threads_(num_threads, {f, VectorX::Zero(nx), {MatrixX::Zero(nx, nx), MatrixX::Zero(nx, nu)}}),
        x_(time_steps_.size(), VectorX::Zero(nx)),
        u_(time_steps_.size(), VectorX::Zero(nu)) {}

  void begin(bool /*is_trial*/) override {}

  bool step(int knot, const VectorX& x, const VectorX& u, VectorX& next) override {
    x_[knot] = x;
    u_[knot] = u;
    return value(threads_[0], x, u, time_steps_[knot], next);
  }

  bool step_with_jacobians(int knot, const VectorX& x, const VectorX& u, VectorX& next, MatrixX& A,
                           MatrixX& B) override {
    x_[knot] = x;
    u_[knot] = u;
    return linearize(knot, 0, x, u, next, A, B);
  }

  bool jacobians(int knot, int thread, MatrixX& A, MatrixX& B) override {
    return linear(threads_[thread], x_[knot], u_[knot], time_steps_[knot], threads_[thread].out, A, B);
  }

  bool linearize(int knot, int thread, const VectorX& x, const VectorX& u, VectorX& next, MatrixX& A,
                 MatrixX& B) override {
    return linear(threads_[thread], x, u, time_steps_[knot], next, A, B);
  }

  bool between(int knot, int thread, const VectorX& x, const VectorX& u, double tau, VectorX& out, MatrixX* A,
               MatrixX* B) override {
    const double time = tau * time_steps_[knot];
    return A == nullptr ? value(threads_[thread], x, u, time, out) : linear(threads_[thread], x, u, time, out, *A, *B);
  }

 private:
  struct Thread {
    StateFunction f;
    VectorX out;
    FunctionJacobians J;
  };

  static bool value(Thread& own, const VectorX& x, const VectorX& u, double time, VectorX& next) {
    next.resize(x.size());
    own.f(x, u, time, next, nullptr);
    if (next.size() != x.size()) throw InputError("dynamics", "the function resized its answer");
    return next.allFinite();
  }

  static bool linear(Thread& own, const VectorX& x, const VectorX& u, double time, VectorX& next, MatrixX& A,
                     MatrixX& B) {
    const Eigen::Index nx = x.size();
    const Eigen::Index nu = u.size();
    own.J.x.setZero(nx, nx);
    own.J.u.setZero(nx, nu);
    next.resize(nx);
    own.f(x, u, time, next, &own.J);
    if (own.J.x.rows() != nx || own.J.x.cols() != nx || own.J.u.rows() != nx || own.J.u.cols() != nu)
      throw InputError("dynamics", "the function resized its Jacobians");
    A = own.J.x;
    B = own.J.u;
    return next.allFinite() && A.allFinite() && B.allFinite();
  }

  VectorX time_steps_;
  std::vector<Thread> threads_;
  std::vector<VectorX> x_;
  std::vector<VectorX> u_;
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

std::unique_ptr<Stepper> FunctionDynamics::stepper(const VectorX& time_steps, const ContactPhase& /*phase*/,
                                                   int num_threads) const {
  return std::make_unique<FunctionStepper>(f_, nx_, nu_, time_steps, num_threads);
}

StateFunction runge_kutta(int nx, int nu, StateFunction rate) {
  return [method = RungeKutta(nx, nu, std::move(rate))](const VectorX& x, const VectorX& u, double h, VectorX& out,
                                                        FunctionJacobians* J) mutable { method(x, u, h, out, J); };
}

}  // namespace tangere
