#include "tangere/proximity/manifold.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/proximity/distance/internal/distance_workspace.hpp"
#include "tangere/proximity/internal/part_nodes.hpp"
#include "tangere/proximity/internal/pose_check.hpp"
#include "tangere/proximity/manifold/internal/manifold_query.hpp"

namespace tangere {

struct ManifoldWorkspace::Data {
  // a manifold is made while its shapes exist
  Data() { distance.data().owner.turn_off(); }
  DistanceWorkspace distance;
  std::vector<Manifold> manifolds;
  /// Parts that may be within the margin, where there are trees.
  std::vector<std::pair<int, int>> near;
};

namespace {

using internal::ManifoldQuery;

void require_convex(const Shape& shape, const char* name) {
  if (!shape.is_convex()) throw InputError(name, "must be convex, got a bundle: use manifolds()");
}

void require_pair(const Shape& A, const Shape& B) {
  if (A.is_half_space() && B.is_half_space())
    throw InputError("shapes", "two half-spaces have no manifold: at least one shape must be bounded");
}

ManifoldQuery make_query(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB, const Distance& nearest,
                         const ManifoldOptions& options) {
  const SupportTerms& terms_A = *A.support_terms();
  const SupportTerms& terms_B = *B.support_terms();
  const Vector3 origin = terms_A.half_space ? X_WB.p : X_WA.p;
  const Pose X_A(X_WA.R, X_WA.p - origin);
  const Pose X_B(X_WB.R, X_WB.p - origin);
  ManifoldQuery query{origin,
                      {&terms_A, X_A, X_A, 0},
                      {&terms_B, X_B, X_B, 6},
                      nearest,
                      options,
                      std::min(terms_A.outer_radius, terms_B.outer_radius),
                      options.angular_tolerance,
                      {},
                      {},
                      {}};
  query.nearest.p_A -= origin;
  query.nearest.p_B -= origin;
  return query;
}

void run(ManifoldQuery& query, Manifold& manifold) {
  internal::find_manifold(query, manifold);
  for (int k = 0; k < manifold.num_points; ++k) {
    ContactPoint& point = manifold.points[k];
    point.p_A += query.origin;
    point.p_B += query.origin;
    point.point += query.origin;
  }
}

/// The parts of a shape, itself if it is convex.
struct Parts {
  const Shape& shape;
  const Bundle* bundle = shape.get_if<Bundle>();

  [[nodiscard]] int count() const { return bundle != nullptr ? static_cast<int>(bundle->parts.size()) : 1; }
  [[nodiscard]] const Shape& operator[](int i) const { return bundle != nullptr ? bundle->parts[i].shape : shape; }
  [[nodiscard]] Pose pose(const Pose& X, int i) const { return bundle != nullptr ? X * bundle->parts[i].X : X; }
};

bool bounding_balls_apart(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB, double margin) {
  const double reach = A.support_terms()->outer_radius + B.support_terms()->outer_radius;
  return (X_WB.p - X_WA.p).norm() > reach + margin;
}

/// With a tree: the pairs of parts whose boxes are within the margin, in order. False without.
bool find_near_parts(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB, double margin,
                     std::vector<std::pair<int, int>>& out) {
  if (part_tree_of(A) == nullptr && part_tree_of(B) == nullptr) return false;
  const PartNodes nodes_A(A);
  const PartNodes nodes_B(B);
  if (!nodes_A.is_usable() || !nodes_B.is_usable()) return false;
  const RelativeBoxes boxes(X_WA, X_WB);
  const double beyond = std::nextafter(margin, std::numeric_limits<double>::infinity());
  out.clear();
  walk_parts(
      nodes_A, nodes_B, [&](const PartTree::Node& a, const PartTree::Node& b) { return boxes.apart(a, b); },
      [&] { return beyond; }, [&](int i, int j) { out.emplace_back(i, j); });
  std::sort(out.begin(), out.end());
  return true;
}

}  // namespace

std::string_view to_string(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::vertex:
      return "vertex";
    case FeatureKind::sphere:
      return "sphere";
    case FeatureKind::edge:
      return "edge";
    case FeatureKind::pipe:
      return "pipe";
    case FeatureKind::ruling:
      return "ruling";
    case FeatureKind::rim:
      return "rim";
    case FeatureKind::surface:
      return "surface";
    case FeatureKind::face:
      return "face";
    case FeatureKind::plane:
      return "plane";
    case FeatureKind::whole:
      return "whole";
  }
  return "unknown";
}

std::string ContactPoint::type() const {
  return std::string(to_string(feature_A.kind)) + "-" + std::string(to_string(feature_B.kind));
}

void ManifoldOptions::verify() const {
  if (!(margin >= 0.0 && margin <= internal::kLargestSize))
    throw InputError("options.margin", "must be finite and not negative, got " + internal::to_text(margin));
  if (max_points < 1 || max_points > kMaxManifoldPoints)
    throw InputError("options.max_points", "must be between 1 and " + std::to_string(kMaxManifoldPoints) + ", got " +
                                               std::to_string(max_points));
  if (!(angular_tolerance >= 1e-8 && angular_tolerance <= 0.1))
    throw InputError("options.angular_tolerance",
                     "must be between 1e-8 and 0.1, got " + internal::to_text(angular_tolerance));
  distance.verify();
}

ManifoldWorkspace::ManifoldWorkspace() : data_("ManifoldWorkspace", std::make_unique<Data>()) {}
ManifoldWorkspace::~ManifoldWorkspace() = default;
ManifoldWorkspace::ManifoldWorkspace(ManifoldWorkspace&&) noexcept = default;
ManifoldWorkspace& ManifoldWorkspace::operator=(ManifoldWorkspace&&) noexcept = default;

Manifold manifold_along(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB, const Distance& nearest,
                        const ManifoldOptions& options) {
  options.verify();
  require_pose(X_WA, "X_WA");
  require_pose(X_WB, "X_WB");
  require_convex(A, "A");
  require_convex(B, "B");
  require_pair(A, B);
  if (!(std::abs(nearest.normal.norm() - 1.0) <= 1e-6))
    throw InputError("nearest.normal", "must be of unit length, got " + internal::to_text(nearest.normal));
  ManifoldQuery query = make_query(A, X_WA, B, X_WB, nearest, options);
  Manifold result;
  run(query, result);
  return result;
}

std::span<const Manifold> manifolds(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB,
                                    const ManifoldOptions& options, ManifoldWorkspace& workspace) {
  options.verify();
  require_pose(X_WA, "X_WA");
  require_pose(X_WB, "X_WB");
  ManifoldWorkspace::Data& data = workspace.data();
  const Parts parts_A{A};
  const Parts parts_B{B};
  // farther ones have no contact
  DistanceOptions near = options.distance;
  near.at_most = std::min(near.at_most, options.margin);
  std::size_t count = 0;
  const auto visit = [&](int i, int j) {
    const Pose X_A = parts_A.pose(X_WA, i);
    const Pose X_B = parts_B.pose(X_WB, j);
    require_pair(parts_A[i], parts_B[j]);
    if (bounding_balls_apart(parts_A[i], X_A, parts_B[j], X_B, options.margin)) return;
    const Distance nearest = distance(parts_A[i], X_A, parts_B[j], X_B, near, data.distance);
    if (!(nearest.distance <= options.margin)) return;
    ManifoldQuery query = make_query(parts_A[i], X_A, parts_B[j], X_B, nearest, options);
    query.A.X_body = Pose(X_WA.R, X_WA.p - query.origin);
    query.B.X_body = Pose(X_WB.R, X_WB.p - query.origin);
    if (data.manifolds.size() == count) data.manifolds.emplace_back();
    Manifold& found = data.manifolds[count++];
    run(query, found);
    found.part_A = i;
    found.part_B = j;
  };
  if (find_near_parts(A, X_WA, B, X_WB, options.margin, data.near)) {
    for (const auto& [i, j] : data.near) visit(i, j);
  } else {
    for (int i = 0; i < parts_A.count(); ++i)
      for (int j = 0; j < parts_B.count(); ++j) visit(i, j);
  }
  return {data.manifolds.data(), count};
}

const Manifold& manifold(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB,
                         const ManifoldOptions& options, ManifoldWorkspace& workspace) {
  require_convex(A, "A");
  require_convex(B, "B");
  ManifoldWorkspace::Data& data = workspace.data();
  if (manifolds(A, X_WA, B, X_WB, options, workspace).empty()) {
    if (data.manifolds.empty()) data.manifolds.emplace_back();
    data.manifolds.front().num_points = 0;
  }
  return data.manifolds.front();
}

}  // namespace tangere
