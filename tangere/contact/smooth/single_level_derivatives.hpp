#pragma once

/// Derivatives of v⁺ through the single-level problem, by the implicit function theorem on the factors of its last
/// Newton step: with r the momenta's residual after the pairs are eliminated,
///
///   dv⁺/dx = −S⁻¹ r_x
///
/// x moves the poses at the end of the step at fixed v⁺, which the pairs answer as they answer to v⁺ itself
/// (SmoothPair::Y), and it moves what the momenta were before the step. Where the island limits its restitution by
/// F(x; v⁺, …) = 0 (rebound_energy.hpp), the unknown x is eliminated after v⁺.

#include "tangere/contact/scene/coupled_coordinates.hpp"
#include "tangere/contact/smooth/single_level.hpp"
#include "tangere/contact/step_parameter.hpp"

namespace tangere {

/// A solved step, and how its forces depend on the state.
struct SmoothLinearisation {
  SmoothState state;
  Eigen::Ref<const VectorX> v_plus;
  const SmoothWarmStart& solved;
  /// dτ/dq and dτ/dv of the actuators, diagonal.
  const VectorX& tau_q;
  const VectorX& tau_v;
  /// dt stiffness of the coordinates, which acts as a damper on the old velocity.
  const VectorX& implicit_damping;
};

class SingleLevelDerivatives {
 public:
  explicit SingleLevelDerivatives(const Model& model);

  /// dv⁺ by q, v and τ: nv x nv each.
  [[nodiscard]] GradientQuality jacobians(SingleLevelContact& contact, Data& data, const SmoothLinearisation& step,
                                          MatrixX& d_q, MatrixX& d_v, MatrixX& d_tau);
  /// Coordinates coupled in the last `jacobians`: entries of all three are zero except within one island.
  [[nodiscard]] const CoupledCoordinates& coupled() const { return coupled_; }

  /// gᵀ dv⁺ / d(q, v, τ).
  [[nodiscard]] GradientQuality reverse(SingleLevelContact& contact, Data& data, const SmoothLinearisation& step,
                                        VectorArgument g, VectorX& g_q, VectorX& g_v, VectorX& g_tau);

  /// dv⁺ by parameters: nv x their number.
  [[nodiscard]] GradientQuality parameters(SingleLevelContact& contact, Data& data, const SmoothLinearisation& step,
                                           std::span<const StepParameter> parameters, MatrixX& out);

 private:
  friend class SmoothParameterColumn;
  /// At the velocities of the tree, which are those of the step after its refinements.
  void smooth_terms(SingleLevelContact& contact, Data& data, const SmoothLinearisation& step);
  void island_terms(SingleLevelContact& contact, const Data& data, SmoothIsland& island,
                    const SmoothLinearisation& step);
  /// Derivative of the restitution that an island keeps; false if it keeps all, or none.
  bool limit_terms(SingleLevelContact& contact, const SmoothIsland& island, const SmoothLinearisation& step);
  void rebound_terms(SingleLevelContact& contact, const Data& data, const SmoothIsland& island, const PairSlot& slot);
  void free_terms(const FreeMover& mover, int row, const SmoothLinearisation& step);
  void pair_terms(const SmoothProblem& problem, const SmoothIsland& island, const PairSlot& slot);
  void add_turning(const SmoothProblem& problem, const SmoothIsland& island, const PairSlot& slot, std::size_t side,
                   double sign);
  void equality_terms(SmoothProblem& problem, const SmoothIsland& island, const Data& data);
  void old_gap_terms(const SmoothProblem& problem, const SmoothIsland& island);
  void tree_terms(const SmoothProblem& problem, const SmoothIsland& island, const SmoothLinearisation& step);
  /// `on` every island, its factors and r_x in place.
  template <class OnIsland>
  GradientQuality visit(SingleLevelContact& contact, Data& data, const SmoothLinearisation& step, OnIsland&& on) {
    forward_kinematics(model_, data, step.state.q);
    return contact.revisit(data, step.state, step.v_plus, step.solved, [&](SmoothIsland& island) {
      if (island.with_tree()) smooth_terms(contact, data, step);
      island_terms(contact, data, island, step);
      on(island);
    });
  }
  [[nodiscard]] int dof_of(const SmoothProblem& problem, const SmoothIsland& island, int place) const;

  const Model& model_;
  // of the trees, in the model's coordinates
  MatrixX tree_q_;
  MatrixX tree_v_;
  MatrixX integrate_q_;
  MatrixX integrate_d_;
  VectorX v_plus_;
  VectorX acceleration_;
  VectorX displacement_;
  // of an island, in units: columns by δq, δv and δτ of its own coordinates
  ScratchMatrix r_;
  std::vector<int> dofs_;
  CoupledCoordinates coupled_;
  Matrix6X response_;
  Matrix6X motions_;
  Matrix6X velocities_;
  ScratchVector by_gap_;
  ScratchVector by_depth_;
  MatrixX turning_;
  ScratchVector weights_;
  // of an island that limits its restitution: F by what is before the step, and −dv⁺/dx / (dF/dx)
  ScratchVector limit_q_;
  ScratchVector limit_v_;
  ScratchVector limit_tau_;
  ScratchVector limit_response_;
  ScratchVector seed_;
};

}  // namespace tangere
