/// Corners and edges that do not touch yet, but may as the parts turn within a step.
///
/// Of each part, what lies within the angle `turn` of the normal: a face, a line or a point. They may meet in
///
///   corner and face   the corner's foot inside the outline of the face; the normal is the face's
///   two edges         crossing each other, seen along a × b, which is the normal
///
/// Both points of such a pair belong to the parts, so parts that are apart along n* are apart here too: the distance is
/// at least theirs over n · n*.

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include <Eigen/Geometry>

#include "tangere/proximity/manifold/internal/manifold_derivatives.hpp"
#include "tangere/proximity/manifold/internal/manifold_query.hpp"

namespace tangere::internal {
namespace {

constexpr double kMostTurn = 0.6;
/// Edges within this of parallel have no normal to speak of (sine).
constexpr double kParallel = 0.05;
/// A crossing this near to the end of an edge, in units of its length, is that corner.
constexpr double kAtEnd = 1e-3;
/// Points this near to each other, in units of the size, with normals of this cosine, are one.
constexpr double kSamePlace = 1e-2;
constexpr double kSameNormal = 0.99;
/// How far a normal may be from that of the distance (cosine).
constexpr double kSameSide = 0.7;
/// Points deeper than the distance by more than this part of the size are not contacts.
constexpr double kDeeper = 0.02;
/// More corners of a face than this are not tried.
constexpr int kMostTried = 16;

/// Candidates: corner `i` of the incident part and the face of the reference, or edges i of A and j of B.
struct Candidate {
  bool corner = true;
  bool reference_is_A = true;
  int i = 0;
  int j = 0;
  double distance = 0.0;
};

class Ahead {
 public:
  Ahead(ManifoldQuery& query, double turn) : query_(query), turn_(turn), n_(query.nearest.normal) {
    find_feature(*query.A.terms, query.A.X.R.transpose() * n_, turn, query.feature_A);
    find_feature(*query.B.terms, query.B.X.R.transpose() * -n_, turn, query.feature_B);
  }

  void find() {
    for (const bool of_A : {true, false}) find_corners(of_A);
    find_edges();
    std::sort(found_.begin(), found_.begin() + count_, [](const Candidate& a, const Candidate& b) {
      return std::tie(a.distance, a.corner, a.reference_is_A, a.i, a.j) <
             std::tie(b.distance, b.corner, b.reference_is_A, b.i, b.j);
    });
  }

  void add_to(Manifold& manifold) {
    for (int k = 0; k < count_ && manifold.num_points < query_.options.max_points; ++k) {
      const Candidate& candidate = found_[k];
      if (candidate.corner)
        add_corner(candidate, manifold);
      else
        add_edges(candidate, manifold);
    }
  }

 private:
  [[nodiscard]] const ManifoldBody& body(bool of_A) const { return of_A ? query_.A : query_.B; }
  [[nodiscard]] const Feature& face_of(bool of_A) const { return of_A ? query_.feature_A : query_.feature_B; }

  void offer(const Candidate& candidate) {
    const bool meets = candidate.distance <= query_.options.margin &&
                       candidate.distance >= std::min(0.0, query_.nearest.distance) - kDeeper * query_.size;
    if (meets && count_ < static_cast<int>(found_.size())) found_[count_++] = candidate;
  }

  /// One corner of the other part, above the face of this one: into the query's patch.
  void set_patch(bool of_A, const Corner& corner) {
    const ManifoldBody& R = body(of_A);
    const ManifoldBody& I = body(!of_A);
    point_.dimension = 0;
    point_.count = 1;
    point_.corners[0] = corner;
    point_.kind = FeatureKind::vertex;
    point_.m = I.X.R.transpose() * -face_normal(R, face_of(of_A));
    point_.dm_dn.setIdentity();
    find_face_patch(R, face_of(of_A), I, point_, query_.size, query_.patch);
  }

  void find_corners(bool of_A) {
    const Feature& face = face_of(of_A);
    if (face.dimension != 2 || face.inscribed) return;
    const ManifoldBody& R = body(of_A);
    const ManifoldBody& I = body(!of_A);
    if (face_normal(R, face).dot(of_A ? n_ : Vector3(-n_)) < kSameSide) return;
    Feature& below = below_[of_A ? 0 : 1];
    find_feature(*I.terms, I.X.R.transpose() * -face_normal(R, face), turn_, below);
    for (int i = 0; i < std::min(below.count, kMostTried); ++i) {
      set_patch(of_A, below.corners[i]);
      if (query_.patch.count > 0) offer({true, of_A, i, 0, query_.patch[0].distance});
    }
  }

  void add_corner(const Candidate& candidate, Manifold& manifold) {
    const bool of_A = candidate.reference_is_A;
    const Feature& below = below_[of_A ? 0 : 1];
    ContactFeature of_face{face_of(of_A).kind, -1, -1};
    ContactFeature of_corner = corner_feature(*body(!of_A).terms, below, candidate.i);
    if (!of_A) std::swap(of_face, of_corner);
    set_patch(of_A, below.corners[candidate.i]);
    const Vector3 normal = of_A ? query_.patch.N : Vector3(-query_.patch.N);
    if (is_there(query_.patch[0].p_I, normal, manifold)) return;
    const int k = make_room(of_face, of_corner, manifold);
    if (k < 0) return;
    Matrix3x12 N_rate;
    const bool differentiable = query_.options.derivatives && patch_normal_rate(query_.patch, query_.size, N_rate);
    write_patch_point(query_, query_.patch[0], of_A, differentiable ? &N_rate : nullptr, k, manifold);
  }

  [[nodiscard]] static int num_edges(const Feature& feature) {
    const bool straight = feature.kind == FeatureKind::face || feature.kind == FeatureKind::edge;
    if (feature.disc || feature.inscribed || !straight || feature.dimension == 0) return 0;
    return feature.dimension == 1 ? 1 : std::min(feature.count, kMostTried);
  }
  [[nodiscard]] static StationarySide side_of(const ManifoldBody& body, const Feature& feature, int i) {
    const auto j = static_cast<std::size_t>((i + 1) % feature.count);
    return {&body, {feature.corners[i], feature.corners[j]}, 2, true, 0.5};
  }

  /// The crossing of two edges; false if there is none.
  [[nodiscard]] bool cross(int i, int j, SingleContact& contact) const {
    contact.side_A = side_of(query_.A, query_.feature_A, i);
    contact.side_B = side_of(query_.B, query_.feature_B, j);
    const auto end = [](const StationarySide& side, int k) -> Vector3 { return side.body->X * side.corners[k].fixed; };
    const Vector3 a = end(contact.side_A, 1) - end(contact.side_A, 0);
    const Vector3 b = end(contact.side_B, 1) - end(contact.side_B, 0);
    Vector3 n = a.cross(b);
    const double size = n.norm();
    if (!(size > kParallel * a.norm() * b.norm())) return false;
    n /= n.dot(n_) < 0.0 ? -size : size;
    if (n.dot(n_) < kSameSide) return false;
    const Vector3 apart = end(contact.side_B, 0) - end(contact.side_A, 0);
    const double t_A = apart.cross(b).dot(a.cross(b)) / (size * size);
    const double t_B = apart.cross(a).dot(a.cross(b)) / (size * size);
    const auto inside = [](double t) { return t > kAtEnd && t < 1.0 - kAtEnd; };
    if (!inside(t_A) || !inside(t_B)) return false;
    contact.side_A.t = t_A;
    contact.side_B.t = t_B;
    contact.solution = solve_stationary(contact.side_A, contact.side_B, n, query_.size);
    // edges of curved sums move with the normal: the solution may lie past their ends, or on another side
    const Stationary& s = contact.solution;
    return s.converged && inside(s.t_A) && inside(s.t_B) && s.n.dot(n_) >= kSameSide;
  }

  void find_edges() {
    SingleContact contact;
    for (int i = 0; i < num_edges(query_.feature_A); ++i)
      for (int j = 0; j < num_edges(query_.feature_B); ++j)
        if (cross(i, j, contact)) offer({false, true, i, j, contact.solution.distance});
  }

  void add_edges(const Candidate& candidate, Manifold& manifold) {
    SingleContact contact;
    if (!cross(candidate.i, candidate.j, contact)) return;
    const auto name = [](const ManifoldBody& of, const Feature& feature, int i) {
      return edge_feature(*of.terms, feature, i, (i + 1) % feature.count);
    };
    contact.feature_A = name(query_.A, query_.feature_A, candidate.i);
    contact.feature_B = name(query_.B, query_.feature_B, candidate.j);
    contact.roundness_A = query_.A.terms->radius;
    contact.roundness_B = query_.B.terms->radius;
    if (is_there(contact.solution.p_B, contact.solution.n, manifold)) return;
    if (const int k = make_room(contact.feature_A, contact.feature_B, manifold); k >= 0)
      write_single(query_, contact, k, manifold);
  }

  /// Corners of aligned shapes meet in one point under several names.
  [[nodiscard]] bool is_there(const Vector3& p, const Vector3& normal, const Manifold& manifold) const {
    const auto points = manifold.contacts();
    return std::any_of(points.begin(), points.end(), [&](const ContactPoint& point) {
      const double away = std::min((point.p_A - p).norm(), (point.p_B - p).norm());
      return away < kSamePlace * query_.size && point.normal.dot(normal) > kSameNormal;
    });
  }

  /// A free place for a point of these features, in their order. -1 if there is one already.
  [[nodiscard]] int make_room(const ContactFeature& A, const ContactFeature& B, Manifold& manifold) const {
    const auto key = [](const ContactFeature& a, const ContactFeature& b) {
      return std::tuple(a.first, a.second, b.first, b.second);
    };
    int k = manifold.num_points;
    for (int i = 0; i < manifold.num_points; ++i) {
      const ContactPoint& point = manifold.points[i];
      if (key(point.feature_A, point.feature_B) == key(A, B)) return -1;
      if (k == manifold.num_points && key(A, B) < key(point.feature_A, point.feature_B)) k = i;
    }
    for (int i = manifold.num_points++; i > k; --i) {
      manifold.points[i] = manifold.points[static_cast<std::size_t>(i) - 1];
      if (query_.options.derivatives) manifold.jacobians[i] = manifold.jacobians[static_cast<std::size_t>(i) - 1];
    }
    manifold.points[k].feature_A = A;
    manifold.points[k].feature_B = B;
    return k;
  }

  ManifoldQuery& query_;
  double turn_;
  Vector3 n_;
  /// The corners of B above A's face, and those of A above B's.
  std::array<Feature, 2> below_;
  Feature point_;
  int count_ = 0;
  std::array<Candidate, 64> found_;
};

}  // namespace

void add_ahead(ManifoldQuery& query, Manifold& manifold) {
  const double turn = std::min(kMostTurn, 2.0 * query.options.margin / query.size);
  if (turn <= query.options.angular_tolerance || manifold.num_points >= query.options.max_points) return;
  Ahead ahead(query, turn);
  ahead.find();
  ahead.add_to(manifold);
}

}  // namespace tangere::internal
