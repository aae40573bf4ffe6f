#pragma once

/// The single-level problem of a step (private to contact): everything that moves, all pairs, joint limits and dry
/// friction of joints, loops and mimics; and the part of it that one island is, as the interior point sees it.
///
/// Unknowns are the velocities (in units) and the variables of the pairs. The pairs are eliminated onto the velocities
/// one by one (smooth_pair.hpp); what is left is one system of the size of the island's velocities,
///
///   S = blockdiag(momenta) − Σ forceᵀ (impulse's response) (motions),      not symmetric: LU
///
/// with the impulses of loops and mimics (smooth_equality.hpp) beside the velocities of the trees.

#include <array>
#include <memory>
#include <vector>

#include "tangere/contact/smooth/free_mover.hpp"
#include "tangere/contact/smooth/internal/bilevel.hpp"
#include "tangere/contact/smooth/internal/rebound.hpp"
#include "tangere/contact/smooth/internal/smooth_equality.hpp"
#include "tangere/contact/smooth/internal/smooth_pair.hpp"
#include "tangere/contact/smooth/internal/tree_mover.hpp"
#include "tangere/contact/smooth/smooth_warm_start.hpp"
#include "tangere/math/aligned.hpp"
#include "tangere/math/scratch_matrix.hpp"
#include "tangere/solvers/ncp/ncp.hpp"

namespace tangere {

/// The body that carries a side of a pair.
struct SideBody {
  enum class Kind { fixed, free, tree };
  Kind kind = Kind::fixed;
  /// Free: the mover. Tree: the body.
  int index = 0;
  /// The set's frame in the frame of the free body's link, of the tree's body, or in the world.
  Pose X;
};

/// How a free side answers, in units of the pair and of the body.
struct FreeColumns {
  Matrix6 xi;
  Matrix6 U;
  /// forceᵀ: from an impulse (force, torque about x) to momenta.
  Matrix6 force;
  /// dt d(velocity of the centre).
  Matrix3x6c center;
};

/// A half-space that is lowered for a step, by a function D of how far above its plane the centre of the other set is
/// before the step: 0 from half the radius of a ball within that set, and as deep as the centre is below the plane. α
/// knows no centres below the plane; of the overlap D is what stays for this step.
struct Lowering {
  /// Side of the half-space; -1 for none.
  int side = -1;
  /// −dD by the centre's height.
  double slope = 0.0;
  /// Before the step, world: out of the half-space, and the other set's centre.
  Vector3 normal = Vector3::Zero();
  Vector3 center = Vector3::Zero();

  /// dD by the twists of A and B about a point before the step.
  [[nodiscard]] Vector12 by_twists(const Vector3& point) const;
};

struct PairSlot {
  PairKey key;
  SmoothPair pair;
  std::array<SideBody, 2> sides;
  Units units;
  /// World; the pair's positions are from here.
  Vector3 origin = Vector3::Zero();
  /// d of d κ: cones of the collision.
  int num_cones = 0;
  /// b of rebound.hpp, and its place among the rebounds; -1 for pairs that neither bounce nor overlap.
  double rebound_gap = 0.0;
  int rebound = -1;
  Lowering lowering;
  int island = 0;
  int first_row = 0;
  int first_y = 0;
  /// Bilevel: the collision's numbers are an answer.
  bool collided = false;
  /// Not part of the factors: it has none of its own.
  bool left_out = false;
  /// Share of each body's velocity in the point that both impulses act at.
  std::array<double, 2> weights{};
  /// From the old centres to that point.
  std::array<Vector3, 2> levers;

  std::array<FreeColumns, 2> free;
  std::array<TreeMover::Columns, 2> tree;
  Vector3 x_saved = Vector3::Zero();
  double alpha_saved = 0.0;
  Vector3 n_saved = Vector3::Zero();
  Eigen::Matrix<double, 3, 2, Eigen::DontAlign> T_saved = Eigen::Matrix<double, 3, 2, Eigen::DontAlign>::Zero();

  [[nodiscard]] SmoothSide& side(int i) { return i == 0 ? pair.A : pair.B; }
  [[nodiscard]] Vector3 point() const { return origin + units.length * pair.x; }
  /// On B: force and torque about the point, SI.
  [[nodiscard]] Vector6 impulse() const;
  /// The impulse (units) by D of its lowered half-space, where b moves so by the twists of the sets before the step.
  [[nodiscard]] Vector6 respond_to_lowering(const Vector12& b_by_twists) const;
};

/// A limit (one number of z and s) or dry friction (a cone of two) of a tree's coordinate.
struct JointRow {
  enum class Kind { lower, upper, friction };
  Kind kind = Kind::lower;
  int dof = 0;
  /// The limit, or the largest impulse, in units.
  double bound = 0.0;
  /// Limits, in units of position: what a step takes back of a violation, what weight keeps away from the limit and
  /// what it makes in a step, and what is left of the violation that was there before the step, with its derivatives by
  /// the violation and by the way out of it that the old velocity makes in a step (`keep_overlap` in rebound.hpp).
  double recovery = 0.0;
  double hover = 0.0;
  double fall = 0.0;
  double kept = 0.0;
  double kept_slope = 0.0;
  double kept_speed = 0.0;
  /// Compliance of limits, in units (SmoothContact::compliance).
  double compliance = 0.0;
  int first_row = 0;
  double residual = 0.0;
  double residual_2 = 0.0;

  [[nodiscard]] double side() const { return kind == Kind::lower ? 1.0 : -1.0; }
};

/// Everything of a step. Rows and auxiliaries lie island by island.
struct SmoothProblem {
  std::vector<FreeMover> free;
  std::unique_ptr<TreeMover> tree;
  /// In use; the vector is larger, its entries keep their memory.
  std::vector<PairSlot> pairs;
  std::size_t num_pairs = 0;
  /// Rebounds of the pairs that may bounce or overlap; the vector may be longer than their number.
  std::vector<Rebound> rebounds;
  std::vector<JointRow> joint_rows;
  /// Loops and mimics of the trees, and their impulses one after another.
  std::vector<SmoothEquality> equalities;
  AlignedVector lambda;
  AlignedVector lambda_saved;
  const CoordinateUnits* units = nullptr;
  double time_step = 0.0;
  double kappa = 0.0;
  bool frozen_normal = false;
  /// Collisions are solved at every iterate (bilevel.hpp): their rows are not the interior point's.
  bool bilevel = false;
  int inner_refinements = 0;
  double inner_tolerance = 1e-2;
  CollisionSolver collisions;

  // bilevel: rows of the collisions
  AlignedVector inner_z;
  AlignedVector inner_s;
  AlignedVector inner_r;
  AlignedVector inner_d;

  AlignedVector z;
  AlignedVector s;
  AlignedVector r_s;
  AlignedVector y;
  AlignedVector y_saved;
  AlignedVector r_y;
  AlignedVector y_0;
  AlignedVector dy;
  AlignedVector scratch;

  [[nodiscard]] Formulation formulation() const { return bilevel ? Formulation::bilevel : Formulation::single_level; }
  /// Entries of z that are a pair's, and of y.
  [[nodiscard]] std::size_t num_rows_of(const PairSlot& slot) const;
  [[nodiscard]] std::size_t num_auxiliaries_of(const PairSlot& slot) const;
  /// After pairs and joint rows are listed, in the order of islands: memory for all of them.
  void lay_out();
};

class SmoothIsland final : public NcpProblem {
 public:
  explicit SmoothIsland(SmoothProblem& problem) : p_(problem) {}

  /// Pairs [first, last), the free movers listed, and the tree with its joint rows or not.
  void set(std::size_t first_pair, std::size_t last_pair, std::span<const int> movers, bool with_tree);

  [[nodiscard]] std::span<const NcpCone> cones() const override { return cones_; }
  [[nodiscard]] std::span<double> z() override { return {p_.z.data() + first_row_, num_rows_}; }
  [[nodiscard]] std::span<double> s() override { return {p_.s.data() + first_row_, num_rows_}; }
  double evaluate() override;
  /// Nothing has changed since the last `evaluate`: the next one has nothing to do.
  void keep_evaluation() { evaluated_ = true; }
  bool factor() override;
  void solve(std::span<const double> r, std::span<double> dz, std::span<double> ds) override {
    correct(r, 0.0, dz, ds);
  }
  void correct(std::span<const double> r, double second_order, std::span<double> dz, std::span<double> ds) override;
  void save() override;
  void advance(double a) override;
  void write(std::vector<double>& y) const override;
  void read(const std::vector<double>& y) override;

  [[nodiscard]] int num_velocities() const { return n_; }
  /// Velocities, then the impulses of loops and mimics.
  [[nodiscard]] int num_unknowns() const { return n_ + num_equalities_; }
  [[nodiscard]] std::size_t first_pair() const { return first_pair_; }
  [[nodiscard]] std::size_t last_pair() const { return last_pair_; }
  [[nodiscard]] std::span<const int> movers() const { return movers_; }
  [[nodiscard]] bool with_tree() const { return with_tree_; }
  [[nodiscard]] int tree_place() const { return 6 * static_cast<int>(movers_.size()); }
  [[nodiscard]] int place_of(int mover) const { return place_of_mover_[mover]; }
  /// v̂ of a free mover, by the last `evaluate`. Where nothing from outside pushes the island it is by the impulses, so
  /// that momentum is kept to rounding; else by V and W, whose error contact makes smaller than that of impulses.
  [[nodiscard]] Vector6 velocity_after(int mover) const;
  /// x = S⁻¹ x, and S⁻ᵀ x, in units; x as long as the unknowns.
  void solve_velocities(double* x, std::ptrdiff_t stride = 1, int columns = 1) const;
  void solve_velocities_transposed(double* x) const;
  /// v⁺ of the iterate in the model's coordinates, one a velocity of the island; and its change for a change of the
  /// unknowns (units), the state held.
  void velocities(double* v) const;
  void velocity_changes(const double* x, double* v) const;
  /// The Newton matrix before its factorisation, for tests.
  [[nodiscard]] MatrixX velocity_matrix();

  /// Poses of a pair's sets at the end of the step.
  void place_pair(PairSlot& slot);
  /// r += sign (momenta that an impulse (pair's units) on B, and its opposite on A, gives).
  void add_impulse(const PairSlot& slot, const Vector6& W, double sign, double* r) const;
  /// Index of a model's coordinate among the island's velocities; it must be one of them.
  [[nodiscard]] int place_of_dof(const SideBody& body, int dof) const;

 private:
  void set_levers(PairSlot& slot);
  /// Calls on(numbers, count) for all that y is.
  template <class On>
  void for_each_part(On&& on) const;
  [[nodiscard]] bool collide(PairSlot& slot);
  double evaluate_joint_rows();
  void evaluate_equalities();
  void add_equalities();
  void side_columns(PairSlot& slot, int i);
  void add_pair(PairSlot& slot);
  void assemble();
  void joint_response(const JointRow& row, const double* r, double& own, double& slope) const;
  void recover_joint_row(const JointRow& row, const double* r, double* dz, double* ds) const;
  void add_response(const PairSlot& slot, const Vector6& W, double* dv) const;
  /// The twist of a side, and the change of its velocity.
  struct Motion {
    Vector6 xi;
    Vector6 dU;
  };
  [[nodiscard]] Motion motion(const PairSlot& slot, int i) const;
  void sub_block(const PairSlot& slot, int row_side, int column_side);

  SmoothProblem& p_;
  std::size_t first_pair_ = 0;
  std::size_t last_pair_ = 0;
  std::vector<int> movers_;
  std::vector<int> place_of_mover_;
  bool with_tree_ = false;
  bool alone_ = false;
  bool evaluated_ = false;
  double norm_ = 0.0;
  int n_ = 0;
  int num_equalities_ = 0;
  std::size_t first_row_ = 0;
  std::size_t num_rows_ = 0;
  std::size_t first_y_ = 0;
  std::size_t last_y_ = 0;
  std::vector<NcpCone> cones_;
  ScratchMatrix S_;
  std::vector<int> pivots_;
  ScratchVector residual_;
  ScratchVector dv_;
  ScratchVector impulses_;
  Matrix6X response_;
};

}  // namespace tangere
