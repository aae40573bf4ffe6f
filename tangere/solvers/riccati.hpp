#pragma once

/// Linear-quadratic problems of a trajectory, by one Riccati recursion.
///
///   minimise  Σ_k ½ δx_kᵀ Qxx δx_k + δu_kᵀ Qux δx_k + ½ δu_kᵀ Quu δu_k + qxᵀ δx_k + quᵀ δu_k
///   with      δx_{k+1} = A δx_k + B δu_k + d,   δx_0 = 0 but for the coordinates that are free
///
/// The last stage has a state only. The answer is a policy δu = k + K δx and the value ½ δxᵀ V δx + vᵀ δx it leads to.

#include <memory>
#include <span>
#include <vector>

#include "tangere/math/types.hpp"

namespace tangere {

struct LqStage {
  MatrixX A;
  MatrixX B;
  VectorX d;
  MatrixX Qxx;
  MatrixX Qux;
  MatrixX Quu;
  VectorX qx;
  VectorX qu;

  /// All zero, for nx states and nu controls.
  void resize(int nx, int nu);
};

/// The answer at one stage; the last one has V and v only.
struct LqPolicy {
  MatrixX K;
  VectorX k;
  MatrixX V;
  VectorX v;
};

class Riccati {
 public:
  Riccati();
  ~Riccati();
  Riccati(Riccati&&) noexcept;
  Riccati& operator=(Riccati&&) noexcept;

  /// Memory for `num_controls` stages with a control and the last one. Allocates only if it grows.
  void resize(int num_controls, int nx, int nu);

  /// The policies, last stage first, with `regularisation` (nu) added to the diagonal of every Quu. Answers with -1, or
  /// with the stage whose matrix of controls is not positive definite (the policies from there on are not made).
  [[nodiscard]] int factor(std::span<const LqStage> stages, const VectorX& regularisation);

  /// The free coordinates of the first δx that lead to the least value, the others zero. `regularisation` has one entry
  /// per coordinate. False if the value has no least.
  [[nodiscard]] bool least_start(std::span<const int> free, const VectorX& regularisation, VectorX& dx) const;

  /// The trajectory of the policies from dx[0]: one δx per stage, one δu per stage with a control.
  void roll_out(std::span<const LqStage> stages, std::vector<VectorX>& dx, std::vector<VectorX>& du) const;

  [[nodiscard]] const LqPolicy& at(int stage) const { return policies_[stage]; }

 private:
  struct Scratch;
  std::vector<LqPolicy> policies_;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace tangere
