#pragma once

/// The dynamics of a world: x = [q; v; θ], dx = [δq; δv; δθ], contact solved as the phase says.
///
/// θ are parameters of the world that the optimiser chooses together with the motion (none by default). They are the
/// same at all knots: θ' = θ. Free the start's entries of them (Horizon::free_start), and bound or weigh them at knot
/// 0.

#include <span>
#include <string>
#include <vector>

#include "tangere/sim/step_parameters.hpp"
#include "tangere/trajopt/dynamics.hpp"

namespace tangere {

/// A number that moves parameters of the world: each is its value in the world + factor (θ - value).
struct DesignVariable {
  struct Part {
    StepParameter parameter;
    double factor = 1.0;
  };
  std::string name;
  /// θ of the world as it is given.
  double value = 0.0;
  std::vector<Part> parts;
};

/// One parameter by its name (sim/step_parameters.hpp); θ is its value.
[[nodiscard]] DesignVariable design_variable(const World& world, std::string_view parameter);

class WorldDynamics final : public Dynamics {
 public:
  /// Keeps a copy of the world. InputError for a world that smooth contact does not support, when it is asked for, and
  /// for parameters that the world does not have.
  explicit WorldDynamics(World world, std::vector<DesignVariable> design = {});

  [[nodiscard]] int nx() const override { return world_.nq() + world_.nv() + num_design(); }
  [[nodiscard]] int ndx() const override { return 2 * world_.nv() + num_design(); }
  [[nodiscard]] int nu() const override { return world_.nu(); }
  void plus(const VectorX& x, const VectorX& dx, VectorX& out) const override;
  void minus(const VectorX& x_0, const VectorX& x_1, VectorX& dx) const override;
  void minus_jacobian(const VectorX& x_0, const VectorX& x_1, MatrixX& J) const override;
  [[nodiscard]] std::string control_name(int i) const override;
  [[nodiscard]] std::string state_name(int i) const override;
  void control_limits(VectorX& lower, VectorX& upper) const override;
  [[nodiscard]] const Model* model() const override { return &world_.model(); }
  /// False where θ moves placements, sizes, masses or centres.
  [[nodiscard]] bool has_fixed_geometry() const override;
  [[nodiscard]] bool is_flat() const override { return world_.nq() == world_.nv(); }
  [[nodiscard]] std::unique_ptr<Stepper> stepper(const VectorX& time_steps, const ContactPhase& phase,
                                                 int num_threads) const override;

  [[nodiscard]] const World& world() const { return world_; }
  [[nodiscard]] const std::vector<DesignVariable>& design() const { return design_; }
  [[nodiscard]] int num_design() const { return static_cast<int>(design_.size()); }
  /// [q; v; θ of the world as it is].
  [[nodiscard]] VectorX state(const VectorX& q, const VectorX& v) const;
  /// The world with the θ of a state. InputError if they are not possible (a negative mass).
  [[nodiscard]] World world_at(const Eigen::Ref<const VectorX>& theta) const;

  /// The parameters that θ moves, and d parameters / dθ.
  [[nodiscard]] const std::vector<StepParameter>& parameters() const { return parameters_; }
  [[nodiscard]] const MatrixX& parameter_map() const { return map_; }

 private:
  World world_;
  std::vector<DesignVariable> design_;
  std::vector<StepParameter> parameters_;
  VectorX values_;
  MatrixX map_;
};

}  // namespace tangere
