#pragma once

/// The point of a convex body M that is nearest to d, or, with d inside, the nearest point of its boundary (private to
/// proximity). M is a sum of terms without balls (ray_body.hpp), in world axes about its own centre.
///
///   outside   Gilbert, Johnson and Keerthi: the nearest point of a simplex of M's points; the farthest point of M
///             towards d joins it until none is nearer. Finite on polytopes.
///   inside    Van den Bergen's expanding polytope, from the simplex that holds d.
///   segments  two of them make a parallelogram: closed form.
///   curved    both converge slowly on curved bodies, so from nearby Newton's method on the unit sphere takes over, on
///             the few smooth pieces φ_i(n) = h_i(n) - n·d that meet at the answer: minimise max φ_i, with the Hessian
///             of h_i less φ_i times the identity.

#include <limits>
#include <vector>

#include "tangere/proximity/scaling/internal/ray_body.hpp"

namespace tangere {

struct ActivePieces;

/// Question to a search: the distance, or only a bound of it.
struct DistanceQuestion {
  double tolerance = 1e-9;
  /// From M without balls: an answer above this is not wanted.
  double at_most = std::numeric_limits<double>::infinity();
  /// Only whether d is farther from M than this (radius of the balls).
  bool side_only = false;
  double side_of = 0.0;
};

struct DistanceHit {
  bool certified = false;
  /// Farther than asked for: the distance is a lower bound, and the point its support.
  bool beyond = false;
  /// Positive outside M.
  double distance = 0.0;
  /// The bounds' distance over the scale of the tolerance.
  double gap = 0.0;
  /// Unit, from M to d (outwards).
  Direction n{0.0, 0.0, 1.0};
  /// The nearest point of M.
  BodyPoint point;
  int supports = 0;
  /// The smooth pieces that meet there, and their weights.
  int num_pieces = 0;
  int slots[3] = {0, 0, 0};
  double weights[3] = {0.0, 0.0, 0.0};
  /// The disc whose flat side it is, if no piece is given.
  int flat_term = -1;
};

class DistanceSearch {
 public:
  RayBody body;
  Vec4 d{};
  /// Radii of the balls about M's centre inside M with its balls (the scale of tolerances), inside M without them, and
  /// around it.
  double extent = 1.0;
  double core_extent = 1.0;
  double size = 1.0;

  void run(const DistanceQuestion& question, DistanceHit& hit);
  /// The same for a body of two segments, in closed form (distance_segments.cpp).
  void segments(DistanceHit& hit);

  /// The pieces of the answer.
  [[nodiscard]] const int* pieces(int slot) const { return pieces_.data() + slot * body.num_terms; }

 private:
  static constexpr int kMostVertices = 512;
  static constexpr int kMostFaces = 2 * kMostVertices;
  static constexpr double kSliverDistance = std::numeric_limits<double>::infinity();

  /// Corners of the simplex, by slot, and the weights of its nearest point.
  struct Simplex {
    int slot[4];
    double weight[4];
    int count = 0;
  };
  /// Whether Newton's method was started from a face, and how that ended.
  enum class Followed { no, in_vain, to_an_answer };
  struct Face {
    int corner[3];
    Direction n{0.0, 0.0, 0.0};
    /// Points farther along n than this are outside its plane, beyond rounding.
    double seen_above = 0.0;
    /// How deep the boundary above is at least.
    double distance = 0.0;
    Followed followed = Followed::no;

    /// Without area it has no normal and bounds nothing.
    [[nodiscard]] bool is_sliver() const { return distance == kSliverDistance; }
    [[nodiscard]] bool is_seen_from(Vec4 w) const { return dot(w, n) > seen_above; }
  };
  /// How a search from one direction ends: at an answer, at none that is shallow enough, or nowhere; or where it should
  /// look which pieces there are before it goes on.
  enum class Descent { answer, too_deep, lost, on_the_way };
  /// Limits of a search: an answer no deeper than this, and not the one that is known; how often a piece that turns
  /// out to be farther may join it, and how long (squared) its steps may be.
  struct Bounds {
    double deepest = std::numeric_limits<double>::infinity();
    const DistanceHit* known = nullptr;
    int attempts = 4;
    double longest = std::numeric_limits<double>::infinity();
  };
  /// The shallowest way out so far.
  struct Shallowest {
    double depth = std::numeric_limits<double>::infinity();
    /// A local answer to rounding, not just the support along some normal.
    bool exact = false;
    /// How often Newton's method was tried without an answer, and the growing steps to wait before the next time.
    int in_vain = 0;
    int rest = 0;
    /// A face without an answer: the support along its normal, and the corners of the face below.
    int corners[4] = {0, 0, 0, 0};
    DistanceHit hit;
    /// Shallower by this part of the scale.
    [[nodiscard]] double below(double part, double least_scale) const;
  };

  void name_corners(double sigma, double tau, DistanceHit& hit);
  /// One search, its first support along n; the supports of `hit` are counted on.
  void search_from(const Direction& n, const DistanceQuestion& question, DistanceHit& hit);
  /// Whether a lower bound, proved by the last support, ends the search.
  [[nodiscard]] bool is_enough(const DistanceQuestion& question, double lower, const Direction& n, int slot,
                               DistanceHit& hit) const;
  [[nodiscard]] bool touching(double tolerance, DistanceHit& hit);
  [[nodiscard]] int add_support(const Direction& n, DistanceHit& hit);
  void copy_vertex(int from, int to);
  /// From d to the corner: M's point less d.
  [[nodiscard]] Vec4 from_d(int slot) const { return vertices_[slot].v - d; }
  /// Reduces the simplex to the feature nearest to d; false if it holds d.
  [[nodiscard]] bool reduce(Simplex& simplex) const;
  /// The direction of y, from the simplex's nearest point to d, made square to the simplex.
  [[nodiscard]] Direction normal_of(const Simplex& simplex, Vec4 y, double length) const;
  [[nodiscard]] Direction square_to(const Simplex& simplex, const Direction& n) const;
  [[nodiscard]] bool is_corner_of(const Simplex& simplex, int slot) const;
  [[nodiscard]] bool outside(const DistanceQuestion& question, Simplex& simplex, DistanceHit& hit);
  void inside(double tolerance, Simplex& simplex, DistanceHit& hit);
  [[nodiscard]] bool straight_below(const DistanceHit& hit, double depth) const;
  [[nodiscard]] Descent descend(Direction n, const int* from, int count, const Bounds& bounds, DistanceHit& trial,
                                int& top);
  [[nodiscard]] int nearest_open_face(const Shallowest& found, double tolerance) const;
  void follow(Face& face, double tolerance, Shallowest& found);
  [[nodiscard]] bool grow(int nearest, double tolerance, Shallowest& found);
  void polish(double tolerance, DistanceHit& hit);
  [[nodiscard]] Simplex foot_on_faces(const Direction& n, double highest) const;
  void flat_body(const Simplex& simplex, DistanceHit& hit) const;
  [[nodiscard]] bool surround(Simplex& simplex, DistanceHit& hit);
  [[nodiscard]] bool add_face(int i, int j, int k, double least);
  void first_faces(const Simplex& simplex);
  [[nodiscard]] bool add_corner(int corner, double least);
  [[nodiscard]] bool is_corner(int point) const;
  void remove_face(int f);
  [[nodiscard]] bool touches_horizon(const Face& face) const;
  void toggle_edge(int from, int to);
  [[nodiscard]] double lowest_face() const;
  /// Newton from n on the pieces of some corners. At an answer, n, point and pieces of `hit` are it, up to the
  /// certificate.
  /// On the way, n and pieces of `hit` are where it is; with `look`, that is as soon as the answer is near.
  [[nodiscard]] Descent newton(Direction n, const int* corners, int count, const Bounds& bounds, bool look,
                               DistanceHit& hit);
  void choose_three(const Direction& n, int* slots) const;
  /// Whether a support is of a piece of `hit`, and whether all pieces are those of a known answer.
  [[nodiscard]] bool has_piece(const DistanceHit& hit, int slot) const;
  [[nodiscard]] bool same_pieces(const ActivePieces& active, const DistanceHit& known) const;
  /// The flat side of a disc, where h_M has a kink.
  [[nodiscard]] bool flat_disc(const Direction& n, DistanceHit& hit);
  void read(const Simplex& simplex, DistanceHit& hit) const;

  std::vector<BodyPoint> vertices_;
  std::vector<int> pieces_;
  std::vector<Face> faces_;
  std::vector<int> horizon_;
  int num_vertices_ = 0;
  int num_faces_ = 0;
  int num_slivers_ = 0;
  /// Some term is curved; and h_M has but one piece.
  bool curved_ = false;
  bool smooth_ = false;
};

}  // namespace tangere
