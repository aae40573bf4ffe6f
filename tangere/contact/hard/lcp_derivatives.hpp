#pragma once

/// Derivatives of v⁺ through the complementarity problem, its sets held.
///
/// With clamped rows C (forces f_C), rows B at a friction bound (f_B = E f_C) and the rest at fixed bounds, the step is
///
///   r = M (v⁺ − v) + dt (c − τ) − N f_C − … = 0,     N = J_Cᵀ + J_Bᵀ E
///   s = J_C v⁺ + C f_C − target = 0              C: the compliances, constants of the model
///
/// and with r_x, s_x the partial derivatives at fixed v⁺ and f,
///
///   A = J_C M⁻¹ N + C,   K = M⁻¹ N A⁻¹,   Y = M⁻¹ r_x
///   dv⁺/dx = −Y + K (J_C Y − s_x),   df_C/dx = A⁻¹ (J_C Y − s_x)
///
/// r_q is one call of the inverse dynamics' derivatives at a = (v⁺ − v)/dt with the impulses as wrenches fixed in the
/// world, and what is left is that places and frames of the rows move with two bodies: a matrix 6 x 12 a pair of
/// bodies. Where more than six rows of a pair are clamped, their system is replaced by an equivalent one of up to six
/// (row_reduction.hpp).
///
/// Clamped rows may contradict each other: no motion gives all of them what they ask. With sliding friction the
/// compliance then answers by motions of the size of its inverse (contradictions.cpp).

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "tangere/contact/hard/internal/row_reduction.hpp"
#include "tangere/contact/hard/problem.hpp"
#include "tangere/contact/scene/contact_size.hpp"
#include "tangere/math/aligned.hpp"
#include "tangere/math/scratch_matrix.hpp"
#include "tangere/solvers/lcp/boxed_lcp_factor.hpp"

namespace tangere {

/// A step, as it was made.
struct SolvedStep {
  const ContactProblem& problem;
  const VectorX& q;
  const VectorX& v;
  /// The v that the inverse dynamics see: without bodies whose axes the step turns afterwards; zero in an impact.
  const VectorX& v_inertial;
  const VectorX& v_plus;
  /// Impulses, one per row.
  const ScratchVector& f;
  std::span<const RowSet> sets;
  /// dτ/dq and dτ/dv of the actuators, diagonal.
  const VectorX& tau_q;
  const VectorX& tau_v;
  /// First coordinates of the free joints of which only ω × v is not in the step.
  std::span<const int> floating_dofs;
  /// Additions of the step to the diagonal of M and to the damping (implicit dampers and springs).
  const VectorX& implicit_inertia;
  const VectorX& implicit_damping;
};

class LcpDerivatives {
 public:
  /// Prepares r_q, r_v, s_q, s_v and K for the functions below. Leaves the poses at q and the factors of M in `data`.
  /// With RowUse::reduced rows of a pair are reduced where the problem allows it.
  enum class RowUse { reduced, all };
  void linearise(const Model& model, Data& data, const SolvedStep& step, RowUse use = RowUse::reduced);
  /// d_q, d_v, d_tau, after `linearise`.
  void expand(const Model& model, const Data& data);

  /// dv⁺: nv x nv, after `expand`.
  [[nodiscard]] ScratchMatrix::ConstView d_q() const { return d_q_.view(); }
  [[nodiscard]] ScratchMatrix::ConstView d_v() const { return d_v_.view(); }
  [[nodiscard]] ScratchMatrix::ConstView d_tau() const { return d_tau_.view(); }

  /// s_x of the rows of the system (those of the clamped rows with RowUse::all), after `linearise`.
  [[nodiscard]] ScratchMatrix::ConstView s_q() const { return s_q_.view(); }
  [[nodiscard]] ScratchMatrix::ConstView s_v() const { return s_v_.view(); }

  /// Whether clamped rows contradict each other so that dv⁺ (with RowUse::all also df) is of the size of the inverse
  /// compliance. Derivatives are then of least norm: what rows ask is replaced by what motions can give, as near to it
  /// as the compliances weigh it. Of the state's directions after `linearise`, of a variable's after its `respond`.
  [[nodiscard]] bool contradicts() const { return contradicts_; }

  /// The clamped rows.
  [[nodiscard]] std::span<const int> clamped() const { return clamped_; }
  /// Friction at its bound, f = slope f_normal, with the place of its normal among the clamped rows.
  struct Follower {
    int row = 0;
    int normal = 0;
    double slope = 0.0;
  };
  [[nodiscard]] std::span<const Follower> followers() const { return followers_; }

  // df, wherever it is asked for, has all rows of the problem (0 for those at a fixed bound), and needs RowUse::all

  /// df/d(q, v, τ): number of rows x 3 nv, after `expand`.
  [[nodiscard]] ScratchMatrix::ConstView force_derivatives();

  /// gᵀ dv⁺/d(q, v, τ), and g_fᵀ df/d(q, v, τ) added to it unless g_f is empty; after `linearise`.
  void reverse(const Model& model, const Data& data, VectorArgument g, VectorArgument g_f, VectorX& g_q, VectorX& g_v,
               VectorX& g_tau);
  /// dv⁺ along (δq, δv, δτ), after `linearise`.
  void forward(const Model& model, const Data& data, VectorArgument dq, VectorArgument dv, VectorArgument dtau,
               VectorX& dv_plus, VectorX* df = nullptr);
  /// The r_x and s_x of a variable that moves bodies or the shapes on them (in place: both are added to). For side 0
  /// (A) or 1 (B) of a block, the twist of what it touches about a point; for a body, the change of its twist at some
  /// velocities (zero if only shapes move). Give them by std::ref: functions that are larger would be allocated.
  struct Displacement {
    std::function<Vector6(const RowBlock& block, int side, const Vector3& about)> shapes;
    std::function<Vector6(int body, const Vector3& about, const BodyVelocities& velocities)> twist;
    /// Motion of a block's place and frame without its bodies (a shape that grows); may be empty.
    std::function<FrameChange(const RowBlock& block)> change;
  };
  void displace(const Model& model, const Data& data, const SolvedStep& step, const Displacement& displacement,
                Eigen::Ref<VectorX> r_x, Eigen::Ref<VectorX> s_x);
  /// Index of a row among the clamped ones; -1 if it is not clamped.
  [[nodiscard]] int place_of_row(int row) const { return place_of_row_[row]; }
  /// The a and the wrenches that the smooth terms are taken at (empty if nothing pushes).
  [[nodiscard]] const VectorX& acceleration() const { return acceleration_; }
  [[nodiscard]] std::span<const Vector6> wrenches() const {
    return pushed_ ? std::span<const Vector6>(wrenches_) : std::span<const Vector6>();
  }
  /// dv⁺ for any variable, −P r_x − K s_x: r_x of size nv (becomes the answer), s_x one a clamped row.
  void respond(const Model& model, const Data& data, const ContactProblem& problem, Eigen::Ref<VectorX> r_x,
               VectorArgument s_x, ScratchVector* df = nullptr);

 private:
  /// Clamped rows of a pair that are reduced: they are first … first + count − 1 of the clamped ones, and together the
  /// rows `solved` … of the system that is solved.
  struct ReducedPair {
    int pair = 0;
    int first = 0;
    int count = 0;
    int solved = 0;
    RowReduction::Pair rows;
  };

  void choose_rows(const Model& model, const SolvedStep& step);
  void reduce_pairs(const SolvedStep& step, RowUse use);
  [[nodiscard]] bool can_reduce(const SolvedStep& step, int first, int count) const;
  [[nodiscard]] int pair_of_clamped(const ContactProblem& problem, int i) const;
  void reduce_pair(const SolvedStep& step, ReducedPair& reduced);
  void fill_rows(const Model& model, const SolvedStep& step);
  void smooth_terms(const Model& model, Data& data, const SolvedStep& step);
  void contact_terms(const Model& model, const Data& data, const SolvedStep& step);
  /// The range of the problem's blocks that belong to one pair.
  struct BlockRange {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  using Matrix6x12 = Eigen::Matrix<double, 6, 12, Eigen::RowMajor | Eigen::DontAlign>;
  void pair_terms(const Model& model, const Data& data, const SolvedStep& step, const BodyRows& pair,
                  const BlockRange& blocks, const ReducedPair* reduced);
  void row_terms(const Model& model, const Data& data, const SolvedStep& step, const BodyRows& pair,
                 const BlockRange& blocks, const ReducedPair* reduced, bool old, Matrix6x12& leak);
  void set_columns(const Model& model, const Data& data, const BodyRows& pair);
  void set_rates(const Model& model, const Data& data, const BodyRows& pair, const BodyVelocities& velocities);
  void add_row_motion(const Model& model, const BodyRows& pair, int solved, const Vector12& moved,
                      const Vector6& reader);
  void add_reduced_row(const Model& model, const BodyRows& pair, const ReducedPair& reduced, int k);
  void add_wrench_motion(const Model& model, const BodyRows& pair, const Matrix6x12& dW, ScratchMatrix& r_q);
  void add_wrench(const Model& model, const Data& data, const BodyRows& pair, const Vector6& wrench,
                  Eigen::Ref<VectorX> r);
  void other_targets(const Model& model, const SolvedStep& step);
  void factor_rows(const Model& model, const Data& data, const SolvedStep& step);
  void factor_straight();
  void find_contradictions(const Model& model, const Data& data);
  [[nodiscard]] bool explodes(VectorArgument leak, VectorArgument right, VectorArgument smooth);
  void make_consistent(const Model& model, const Data& data);
  void solve_rows(ScratchMatrix& x);
  void solve_rows_transposed(ScratchMatrix& x);
  template <class Forces>
  void set_forces(ScratchVector::ConstView right, Forces&& df);
  void add_force_gradient(VectorArgument g_f);

  double time_step_ = 0.0;
  VectorX v_;
  std::vector<int> floating_dofs_;
  std::vector<int> clamped_;
  std::vector<int> place_of_row_;
  std::vector<Follower> followers_;
  /// Index of a clamped row in the solved system (-1: in a reduced pair), and the compliances of the system's rows.
  std::vector<int> solved_of_clamped_;
  std::vector<double> compliances_;
  RowReduction reduction_;
  std::vector<ReducedPair> reduced_;
  std::vector<PairRow> pair_rows_;
  std::vector<Vector6> wrenches_;
  bool pushed_ = false;
  std::vector<BodyVelocities> velocities_;  // at v⁺ and at v
  VectorX acceleration_;
  Matrix6X columns_A_;
  Matrix6X columns_B_;
  Matrix6X rates_A_;
  Matrix6X rates_B_;

  // nv x nv; r_v without −M and without the part of the free joints
  ScratchMatrix r_q_;
  ScratchMatrix r_v_;
  // rows of the system x nv; N transposed
  ScratchMatrix J_;
  ScratchMatrix N_;
  ScratchMatrix s_q_;
  ScratchMatrix s_v_;
  // nv x rows
  ScratchMatrix MinvN_;
  ScratchMatrix K_;
  ScratchMatrix A_;
  // A⁺, or A⁻¹ P where rows contradict each other, instead of factors
  bool by_inverse_ = false;
  bool contradicts_ = false;
  bool with_forces_ = false;
  ScratchMatrix inverse_rows_;
  // nv x nv: what reduced pairs leak into r_q, if any does
  bool leaks_ = false;
  ScratchMatrix leak_q_;
  VectorX leak_;
  VectorX dq_;
  VectorX answer_;
  VectorX probe_answer_;
  VectorX by_compliance_;
  ScratchVector probe_right_;
  ScratchVector probe_miss_;
  ScratchMatrix projection_;
  ScratchVector softened_;
  ScratchVector product_;
  RowSystem transposed_;
  RowSystem straight_;
  enum class Factors { none, ready, singular };
  Factors straight_factors_ = Factors::none;
  AlignedVector scale_;
  // nv x 3 nv: Y of q, v and τ; rows x 3 nv: J Y − s
  ScratchMatrix Y_;
  ScratchMatrix right_;
  ScratchMatrix d_q_;
  ScratchMatrix d_v_;
  ScratchMatrix d_tau_;
  VectorX y_;
  ScratchVector z_;
  ScratchVector row_scratch_;
  ScratchMatrix df_;
  ScratchMatrix forces_;
};

}  // namespace tangere
