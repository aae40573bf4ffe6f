#pragma once

/// A knot of a trajectory as its costs and constraints see it.

#include <limits>
#include <memory>
#include <string>

#include "tangere/multibody/data.hpp"
#include "tangere/trajopt/dynamics.hpp"

namespace tangere {

/// Memory of one thread for functions of knots: kinematics are made at most once per state.
class KnotMemory {
 public:
  /// With a stepper, whose thread this is, for states between knots.
  explicit KnotMemory(const Dynamics& dynamics, Stepper* stepper = nullptr, int thread = 0);

  /// The state has changed.
  void forget() { fresh_ = false; }
  /// Kinematics of the model at [q; v]; InputError for dynamics without a model.
  [[nodiscard]] Data& kinematics(const Dynamics& dynamics, const VectorX& x);

  [[nodiscard]] Stepper* stepper() const { return stepper_; }
  [[nodiscard]] int thread() const { return thread_; }
  void set_stepper(Stepper* stepper) { stepper_ = stepper; }
  /// Memory for a second state beside this one.
  [[nodiscard]] KnotMemory& second(const Dynamics& dynamics);

  /// Scratch of the function that is being evaluated.
  struct Scratch {
    VectorX a;
    VectorX b;
    MatrixX square;
    Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::DontAlign> twist;
    Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::DontAlign> point;
    VectorX selected;
    RowMatrixX d_selected;
  } scratch;

 private:
  std::unique_ptr<Data> data_;
  bool fresh_ = false;
  Stepper* stepper_ = nullptr;
  int thread_ = 0;
  std::unique_ptr<KnotMemory> second_;
};

struct Knot {
  /// From 0; the last one has the state only, and its control is zero.
  int index = 0;
  /// Seconds from the first knot, and to the next one (0 at the last).
  double time = 0.0;
  double time_step = 0.0;
  const VectorX& x;
  const VectorX& u;
  const Dynamics& dynamics;
  KnotMemory& memory;

  [[nodiscard]] Data& kinematics() const { return memory.kinematics(dynamics, x); }
};

/// Rows per value, columns per tangent coordinate and per control. Zero before a function fills them.
struct KnotJacobians {
  Eigen::Ref<RowMatrixX, 0, Eigen::OuterStride<>> x;
  Eigen::Ref<RowMatrixX, 0, Eigen::OuterStride<>> u;
};

/// A vector that depends on one knot: costs and constraints are made of these. Constant.
class KnotFunction {
 public:
  virtual ~KnotFunction() = default;
  /// How many values; always the same.
  [[nodiscard]] virtual int size() const = 0;
  /// Values, and with `J` their Jacobians.
  virtual void evaluate(const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) const = 0;
  /// Whether the Jacobians are the same everywhere.
  [[nodiscard]] virtual bool is_linear(const Dynamics& /*dynamics*/) const { return false; }
  /// Whether the control has no effect: at the first knot such a constraint says something of the given start alone.
  [[nodiscard]] virtual bool is_of_state() const { return false; }
  /// Whether values are bounds on single controls, which trial steps keep of themselves.
  [[nodiscard]] virtual bool is_of_controls() const { return false; }
  /// Name of value `i` in messages.
  [[nodiscard]] virtual std::string row_name(int i) const { return "[" + std::to_string(i) + "]"; }
  /// Throws InputError for what does not fit the dynamics.
  virtual void verify(const Dynamics& dynamics) const = 0;
};

/// Knots from `first` to `last`, both included; negative ones count from the end (-1 is the last).
struct Knots {
  int first = 0;
  int last = -1;

  [[nodiscard]] static Knots all() { return {0, -1}; }
  [[nodiscard]] static Knots with_control() { return {0, -2}; }
  [[nodiscard]] static Knots after_start() { return {1, -1}; }
  [[nodiscard]] static Knots at(int knot) { return {knot, knot}; }
  [[nodiscard]] static Knots end() { return {-1, -1}; }
};

}  // namespace tangere
