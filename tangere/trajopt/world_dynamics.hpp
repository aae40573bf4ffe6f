#pragma once

/// The dynamics of a world: x = [q; v], dx = [δq; δv], contact solved as the phase says.

#include "tangere/trajopt/dynamics.hpp"

namespace tangere {

class WorldDynamics final : public Dynamics {
 public:
  /// Keeps a copy of the world. InputError for a world that smooth contact does not support, when it is asked for.
  explicit WorldDynamics(World world) : world_(std::move(world)) {}

  [[nodiscard]] int nx() const override { return world_.nq() + world_.nv(); }
  [[nodiscard]] int ndx() const override { return 2 * world_.nv(); }
  [[nodiscard]] int nu() const override { return world_.nu(); }
  void plus(const VectorX& x, const VectorX& dx, VectorX& out) const override;
  void minus(const VectorX& x_0, const VectorX& x_1, VectorX& dx) const override;
  void minus_jacobian(const VectorX& x_0, const VectorX& x_1, MatrixX& J) const override;
  [[nodiscard]] std::string control_name(int i) const override;
  [[nodiscard]] std::string state_name(int i) const override;
  void control_limits(VectorX& lower, VectorX& upper) const override;
  [[nodiscard]] const Model* model() const override { return &world_.model(); }
  [[nodiscard]] std::unique_ptr<Stepper> stepper(const VectorX& time_steps, const ContactPhase& phase) const override;

  [[nodiscard]] const World& world() const { return world_; }

 private:
  World world_;
};

}  // namespace tangere
