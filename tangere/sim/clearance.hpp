#pragma once

/// Clearance of a world: all pairs of shapes that are nearer than a margin (robots with obstacles, with each other and
/// with themselves), each with its gradient in the configuration; and whether anything touches at all.
///
///   const Clearance near = clearance(world, q, {.margin = 0.2});
///   for (const ClearancePair& pair : near.pairs) use(pair.a, pair.b, pair.value, near.gradient(pair));
///   if (in_collision(world, q)) …
///
/// Pairs are those that may collide in simulation: not both fixed to the world, not joined by a joint, not excluded,
/// and with groups and masks that agree. A pair is one of two shapes; of bundles, the nearest parts. In loops, with a
/// workspace, nothing is allocated:
///
///   ClearanceWorkspace workspace(world, {.include = {{"arm/*", "*"}}, .exclude = {{"arm/hand", "cup"}}});
///   const Clearance& near = clearance(world, q, {.margin = 0.2}, workspace);
///
/// How. Shapes are taken apart into their convex parts. Those that stand still are in a tree of boxes made once; each
/// one that moves is looked up there, and met with the others that move. Boxes that overlap are asked by `distance` or
/// `scaling` with the margin as bound, so that most pairs take one support.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tangere/math/owned.hpp"
#include "tangere/multibody/data.hpp"
#include "tangere/sim/world.hpp"

namespace tangere {

/// Two sides of pairs, in either order, by names. A pattern is matched against the shape's name (`body`, or
/// `body/shape` where the body has several) and its body's: `*` is any text, `?` one character, and `|` stands between
/// alternatives.
struct PairPattern {
  std::string a = "*";
  std::string b = "*";
};

/// Selects pairs that may collide: those of `include` that are not of `exclude`.
struct PairSelection {
  /// Empty: all.
  std::vector<PairPattern> include{};
  std::vector<PairPattern> exclude{};
};

enum class ClearanceMetric {
  /// Signed distance, metres.
  distance,
  /// Minimum scaling alpha: smooth deep inside, no unit, 1 at contact.
  scaling,
};

struct ClearanceOptions {
  /// Pairs up to this distance; with `scaling`, up to alpha = 1 + margin. Not negative.
  double margin = 0.1;
  ClearanceMetric metric = ClearanceMetric::distance;
  bool gradients = true;

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

/// In world axes, normal and points as those of Distance and Scaling.
struct ClearancePair {
  /// Names of the shapes; valid as long as the answer, a copy of it or the workspace exists.
  std::string_view a;
  std::string_view b;
  /// Numbers of the shapes in World::scene, shape_A < shape_B, and the parts that decide (0 for convex shapes).
  int shape_A = -1;
  int shape_B = -1;
  int part_A = 0;
  int part_B = 0;
  /// Signed distance or alpha.
  double value = 0.0;
  /// Nearest points, and the unit normal from A to B.
  Vector3 p_A = Vector3::Zero();
  Vector3 p_B = Vector3::Zero();
  Vector3 normal = Vector3::Zero();
  /// False where rounding stopped the query before its tolerance.
  bool solved = true;
  /// The row of `Clearance::gradients`.
  int row = 0;
};

struct Clearance {
  /// Ascending by value, then by shapes.
  std::vector<ClearancePair> pairs;
  /// d(value) / dq of every pair, one row of nv numbers each (tangents: q ⊕ δ, configuration.hpp). Empty if not asked
  /// for. Mimic joints count as coordinates of their own.
  std::vector<double> gradients;
  int nv = 0;
  /// The value from which on pairs are left out.
  double limit = 0.0;
  /// Owner of the names.
  std::shared_ptr<const std::vector<std::string>> names;

  [[nodiscard]] Eigen::Map<const VectorX> gradient(const ClearancePair& pair) const {
    return {gradients.data() + std::ptrdiff_t{pair.row} * nv, gradients.empty() ? 0 : nv};
  }
  /// The smallest value; `limit` if no pair is nearer.
  [[nodiscard]] double smallest() const { return pairs.empty() ? limit : pairs.front().value; }
};

/// A smooth stand-in for the smallest value, with its gradient (nv) if wanted. With m = limit, x = value and s =
/// smoothing > 0, in units of the value:
///
///   -s log( e^(-m/s) + Σ e^(-x/s) - e^(-m/s) (1 + (m - x) / s) )
///
/// Once differentiable where pairs are, also as pairs come within the margin and leave it. At most s log(1 + number of
/// pairs) below the smallest value and at most s / 2 above it; `limit` without pairs.
[[nodiscard]] double smooth_minimum(const Clearance& clearance, double smoothing, VectorX* gradient = nullptr);

/// Memory of the queries for one world (and worlds stepped in other ways, World::with) and one selection of pairs. One
/// per thread. Throws InputError for patterns that match no shape.
class ClearanceWorkspace {
 public:
  explicit ClearanceWorkspace(const World& world, const PairSelection& selection = {});
  ~ClearanceWorkspace();
  ClearanceWorkspace(ClearanceWorkspace&&) noexcept;
  ClearanceWorkspace& operator=(ClearanceWorkspace&&) noexcept;

  struct Data;
  [[nodiscard]] Data& data() { return *data_; }

 private:
  Owned<Data> data_;
};

/// The answer is valid until the next query of the workspace. Throws InputError for a wrong configuration.
const Clearance& clearance(const World& world, VectorArgument q, const ClearanceOptions& options,
                           ClearanceWorkspace& workspace);
/// Whether a pair is nearer than the margin (0: overlaps or touches), at the first one found.
[[nodiscard]] bool in_collision(const World& world, VectorArgument q, ClearanceWorkspace& workspace,
                                double margin = 0.0);

/// The same for a single question: these make a workspace.
[[nodiscard]] Clearance clearance(const World& world, VectorArgument q, const ClearanceOptions& options = {},
                                  const PairSelection& selection = {});
[[nodiscard]] bool in_collision(const World& world, VectorArgument q, const PairSelection& selection = {},
                                double margin = 0.0);

/// Questions about many configurations, over threads. The answer for a configuration has the same bits for any number
/// of threads, and those of the functions above. Configurations are rows of nq numbers. Not for concurrent use.
class ClearanceBatch {
 public:
  /// 0 threads: as many as the machine has.
  explicit ClearanceBatch(const World& world, const PairSelection& selection = {}, int num_threads = 0);
  ~ClearanceBatch();
  ClearanceBatch(const ClearanceBatch&) = delete;
  ClearanceBatch& operator=(const ClearanceBatch&) = delete;

  using In = std::span<const double>;
  using Out = std::span<double>;

  /// One answer per configuration; valid until the next call. Throws InputError naming the first wrong one.
  std::span<const Clearance> run(In configurations, const ClearanceOptions& options = {});
  /// The smallest value (smoothing 0) or the smooth minimum of each, and their gradients (rows of nv; empty: none).
  void minimum(In configurations, const ClearanceOptions& options, double smoothing, Out values, Out gradients);
  /// 1 where a pair is nearer than the margin.
  void in_collision(In configurations, std::span<char> out, double margin = 0.0);

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace tangere
