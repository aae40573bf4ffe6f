#pragma once

/// Row reduction per pair of bodies (private to contact).
///
/// All rows between two bodies read one relative twist and push with one wrench: six numbers, however many points there
/// are. So c > 6 clamped rows repeat each other, and the system of the derivatives (lcp_derivatives.hpp)
///
///   M dv − G N df = −r,   Wᵀ Gᵀ dv + C df = −s
///
/// (Gᵀ: the pair's twist of dv; W, N: 6 x c, the wrenches that rows read along, and push with when friction at its
/// bound goes with them; C: their compliances) has an equivalent of r ≤ 6 rows. With c̄ one of the compliances, D = (c̄
/// C⁻¹)^½ and D Wᵀ = Q Bᵀ, Q orthonormal (c x r), B 6 x r, eliminating df gives the same dv as
///
///   M dv − G N̄ df̄ = −r − G L s,   Bᵀ Gᵀ dv + c̄ df̄ = −Qᵀ D s,   N̄ = N D Q,   L = (N − N̄ Qᵀ D⁻¹) C⁻¹
///
/// Nothing is approximated but for directions below 1e-9 of the largest, which the compliance drowns. L is zero where
/// all points stick, or slide alike; elsewhere it is how the compliance shares what rows that contradict each other
/// ask.

#include <span>
#include <vector>

#include "tangere/math/scratch_matrix.hpp"
#include "tangere/math/types.hpp"

namespace tangere {

/// A clamped row within its pair; moments about the pair's origin.
struct PairRow {
  Vector6 reads;
  Vector6 pushes;
  double compliance = 0.0;
};

class RowReduction {
 public:
  /// Fewer rows are left as they are.
  static constexpr int kMostRows = 6;

  /// One pair: B and N̄ by their columns, and its rows.
  struct Pair {
    int rank = 0;
    double compliance = 0.0;
    /// Whether L is not zero.
    bool leaks = false;
    Matrix6 reads;
    Matrix6 pushes;
    /// Index of its first row among those of all reduced pairs.
    int first = 0;
  };

  void clear() { weights_.clear(); }
  /// Adds a pair.
  [[nodiscard]] Pair reduce(std::span<const PairRow> rows);

  /// A column of Qᵀ D (entries beyond the rank are zero), and of L: what an s of one in the i-th row of the pair is.
  [[nodiscard]] const Vector6& share(const Pair& pair, int i) const { return weight(pair, i).share; }
  [[nodiscard]] const Vector6& leak(const Pair& pair, int i) const { return weight(pair, i).leak; }

 private:
  struct Weight {
    Vector6 share = Vector6::Zero();
    Vector6 leak = Vector6::Zero();
  };
  [[nodiscard]] const Weight& weight(const Pair& pair, int i) const { return weights_[pair.first + i]; }
  void orthogonalise(Pair& pair, Eigen::Index count);

  std::vector<Weight> weights_;
  /// Wᵀ by its columns, one a row; the first `rank` that were chosen become Q's.
  ScratchMatrix columns_;
};

}  // namespace tangere
