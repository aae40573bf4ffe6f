#pragma once

/// Derivatives of an impact that keeps only a part s of its restitution, as its energy allows no more
/// (contact/hard/lcp.hpp) (private to sim).
///
/// With s held the impact is any other one, and s moves so that no energy is gained: with
///
///   E = ½ v⁺ᵀ M v⁺ − ½ vᵀ M v = 0,   v_s = ∂v⁺/∂s,   D = dv⁺/dx with s held
///   ds/dx = −(E_x + v⁺ᵀ M D) / (v⁺ᵀ M v_s),   dv⁺/dx = D + v_s ds/dx
///
/// E_x is what is left at fixed v⁺: −M v for v, and ½ (v⁺ + v)ᵀ ∂M/∂x (v⁺ − v) for what moves M. All of it for
/// each island that is short of energy, over its trees.

#include <span>
#include <vector>

#include "tangere/contact/hard/lcp_derivatives.hpp"
#include "tangere/multibody/parameters.hpp"
#include "tangere/sim/step.hpp"

namespace tangere {

class ImpactEnergy {
 public:
  /// Before the impact is linearised in `data`: E_x of q and v.
  void prepare(const Model& model, Data& data, const Tape& impact);
  /// After it: v_s, and how the impulses move with s (RowUse::all).
  void linearise(const Model& model, const Data& data, const Tape& impact, LcpDerivatives& derivatives,
                 bool with_impulses);

  /// Corrects the columns of q and v: dv⁺, and the impulses unless null.
  void correct(ScratchMatrix& velocity, ScratchMatrix* impulses);
  /// Corrects a column of a parameter; null if it is none of the model.
  void correct(const Model& model, Data& data, const Tape& impact, const Parameter* parameter,
               Eigen::Ref<VectorX> velocity, ScratchVector* impulses);

 private:
  /// One island: sums and differences of v⁺ and v, momenta after and before.
  struct Island {
    VectorX sum;
    VectorX difference;
    VectorX after;
    VectorX before;
    VectorX E_q;
    /// 0 where nothing is kept: s does not move.
    double E_s = 0.0;
    VectorX v_s;
    ScratchVector f_s;
  };
  [[nodiscard]] std::span<Island> islands() { return std::span(islands_).first(count_); }

  std::vector<Island> islands_;
  std::size_t count_ = 0;
  ScratchVector s_;
  VectorX no_velocity_;
  VectorX ds_;
  MatrixX moved_;
};

}  // namespace tangere
