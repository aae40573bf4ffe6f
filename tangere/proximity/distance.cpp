#include "tangere/proximity/distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/proximity/distance/internal/distance_workspace.hpp"
#include "tangere/proximity/internal/part_nodes.hpp"
#include "tangere/proximity/internal/pose_check.hpp"

namespace tangere {
namespace {

Vector3 to_vector(Vec4 v) { return {v[0], v[1], v[2]}; }

Columns operator-(const Columns& M) { return {{-M.c[0], -M.c[1], -M.c[2]}}; }

/// How far the lowest point of the other is above the plane.
void from_half_space(NearestPair& pair, RayBody& body) {
  const bool plane_is_B = pair.terms_B->half_space;
  const SupportTerms& plane = plane_is_B ? *pair.terms_B : *pair.terms_A;
  const SupportTerms& other = plane_is_B ? *pair.terms_A : *pair.terms_B;
  const Pose& X_plane = plane_is_B ? pair.X_WB : pair.X_WA;
  const Pose& X_other = plane_is_B ? pair.X_WA : pair.X_WB;
  const Vector3 outward = X_plane.R * plane.center;
  const Vector3 between = X_other.p - X_plane.p;
  body.clear();
  body.add(other, load_columns(X_other.R), true);
  body.radius_A = other.radius;
  const Direction down{-outward[0], -outward[1], -outward[2]};
  BodyPoint lowest = body.core_support(down);
  body.add_balls(down, lowest);
  const Vector3 s = to_vector(lowest.v);
  pair.distance = outward.dot(between + s) - plane.radius;
  const Vector3 foot = between + s - pair.distance * outward;
  pair.n = plane_is_B ? Vector3(-outward) : outward;
  pair.s_A = plane_is_B ? s : foot;
  pair.s_B = plane_is_B ? foot : s;
  pair.hit = DistanceHit{};
  pair.hit.certified = true;
  pair.hit.supports = 1;
}

/// The terms of both parts, in world axes about the centre of M, and d.
void place(const NearestPair& pair, DistanceSearch& search) {
  const SupportTerms& A = *pair.terms_A;
  const SupportTerms& B = *pair.terms_B;
  search.body.clear();
  search.body.add(A, load_columns(pair.X_WA.R), true);
  search.body.add(B, -load_columns(pair.X_WB.R), false);
  search.d =
      Vec4{pair.X_WB.p[0] - pair.X_WA.p[0], pair.X_WB.p[1] - pair.X_WA.p[1], pair.X_WB.p[2] - pair.X_WA.p[2], 0.0};
  search.extent = A.inner_radius + B.inner_radius;
  search.core_extent = std::max(0.0, search.extent - A.radius - B.radius);
  search.size = A.outer_radius + B.outer_radius;
}

bool are_capsules(const SupportTerms& A, const SupportTerms& B) {
  const auto is_capsule = [](const SupportTerms& S) {
    return S.num_terms == 1 && S.terms()->kind == SupportTerm::Kind::segment;
  };
  return is_capsule(A) && is_capsule(B);
}

/// The question about two shapes, asked of their sum without balls.
DistanceQuestion of_core(DistanceQuestion question, const NearestPair& pair) {
  const double radius = pair.terms_A->radius + pair.terms_B->radius;
  question.at_most += radius;
  question.side_of += radius;
  return question;
}

void solve(const DistanceQuestion& question, NearestPair& pair, DistanceSearch& search) {
  if (pair.terms_A->half_space || pair.terms_B->half_space) {
    from_half_space(pair, search.body);
    return;
  }
  place(pair, search);
  DistanceHit& hit = pair.hit;
  if (search.body.num_terms == 0) {
    // two balls
    const Vector3 between = to_vector(search.d - search.body.center.v);
    const double length = between.norm();
    hit = DistanceHit{};
    hit.certified = true;
    hit.distance = length;
    hit.n = length > 0.0 ? Direction{between[0] / length, between[1] / length, between[2] / length}
                         : Direction{1.0, 0.0, 0.0};
    hit.point = search.body.center;
    hit.num_pieces = 1;
    hit.weights[0] = 1.0;
  } else if (are_capsules(*pair.terms_A, *pair.terms_B)) {
    search.segments(hit);
  } else {
    search.run(of_core(question, pair), hit);
  }
  const SupportTerms& A = *pair.terms_A;
  const SupportTerms& B = *pair.terms_B;
  pair.n = Vector3(hit.n.x, hit.n.y, hit.n.z);
  pair.distance = hit.distance - A.radius - B.radius;
  if (hit.beyond) {
    pair.s_A = to_vector(hit.point.a) + A.radius * pair.n;
    pair.s_B = to_vector(hit.point.a - hit.point.v) - B.radius * pair.n;
    return;
  }
  // what rounding leaves across the normal is shared
  const Vector3 a = to_vector(hit.point.a);
  const Vector3 b = to_vector(hit.point.a - hit.point.v);
  const Vector3 off = pair.X_WB.p - pair.X_WA.p + b - a - hit.distance * pair.n;
  pair.s_A = a + 0.5 * off + A.radius * pair.n;
  pair.s_B = b - 0.5 * off - B.radius * pair.n;
}

/// Asks about two parts, if they may be nearer than what was found.
void try_parts(int i, int j, const Shape& A, const Shape& B, const DistanceQuestion& question, bool& any,
               DistanceWorkspace::Data& data) {
  const ConvexPart& part_A = A.parts()[i];
  const ConvexPart& part_B = B.parts()[j];
  NearestPair& trial = data.trial;
  trial.terms_A = part_A.set->support.get();
  trial.terms_B = part_B.set->support.get();
  if (trial.terms_A->half_space && trial.terms_B->half_space)
    throw InputError("shapes", "two half-spaces have no distance: at least one shape must be bounded");
  trial.X_WA = data.X_WA * part_A.X_SP;
  trial.X_WB = data.X_WB * part_B.X_SP;
  const double reach = trial.terms_A->outer_radius + trial.terms_B->outer_radius;
  if (any && (trial.X_WA.p - trial.X_WB.p).norm() - reach >= data.found.distance) return;
  DistanceQuestion of_part = question;
  if (any) of_part.at_most = std::min(of_part.at_most, data.found.distance);
  trial.part_A = &part_A;
  trial.part_B = &part_B;
  trial.index_A = i;
  trial.index_B = j;
  solve(of_part, trial, data.search);
  if (any && !(trial.distance < data.found.distance)) return;
  any = true;
  data.found = trial;
}

/// The smallest over all pairs of parts. Where one shape has a tree, only nodes are looked at whose boxes are nearer
/// than what was found.
void over_parts(const Shape& A, const Shape& B, const DistanceQuestion& question, DistanceWorkspace::Data& data) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const PartNodes nodes_A(A);
  const PartNodes nodes_B(B);
  bool any = false;
  if ((nodes_A.has_tree() || nodes_B.has_tree()) && nodes_A.is_usable() && nodes_B.is_usable()) {
    const RelativeBoxes boxes(data.X_WA, data.X_WB);
    const auto bound = [&](const PartTree::Node& a, const PartTree::Node& b) {
      const double apart = boxes.apart(a, b);
      return apart > 0.0 ? apart : -kInfinity;
    };
    walk_parts(
        nodes_A, nodes_B, bound, [&] { return any ? data.found.distance : kInfinity; },
        [&](int i, int j) { try_parts(i, j, A, B, question, any, data); });
  } else {
    for (int i = 0; i < static_cast<int>(A.parts().size()); ++i)
      for (int j = 0; j < static_cast<int>(B.parts().size()); ++j) try_parts(i, j, A, B, question, any, data);
  }
  // leave the search as the deciding pair has it
  if (!data.found.hit.beyond) solve(question, data.found, data.search);
}

}  // namespace

std::string_view to_string(DistanceStatus status) {
  switch (status) {
    case DistanceStatus::solved:
      return "solved";
    case DistanceStatus::numerical_limit:
      return "numerical_limit";
    case DistanceStatus::beyond:
      return "beyond";
  }
  return "unknown";
}

void DistanceOptions::verify() const {
  if (!(tolerance >= 1e-13 && tolerance <= 1e-2)) {
    throw InputError("options.tolerance", "must be between 1e-13 and 1e-2, got " + internal::to_text(tolerance));
  }
  if (std::isnan(at_most)) throw InputError("options.at_most", "must be a number");
}

DistanceWorkspace::DistanceWorkspace() : data_("DistanceWorkspace", std::make_unique<Data>()) {}
DistanceWorkspace::~DistanceWorkspace() = default;
DistanceWorkspace::DistanceWorkspace(DistanceWorkspace&&) noexcept = default;
DistanceWorkspace& DistanceWorkspace::operator=(DistanceWorkspace&&) noexcept = default;

namespace {

/// Answers the question, and leaves everything in the workspace.
void answer(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB, const DistanceQuestion& question,
            DistanceWorkspace::Data& data) {
  const SupportTerms* terms_A = A.support_terms();
  const SupportTerms* terms_B = B.support_terms();
  prefetch(terms_A);
  prefetch(terms_B);
  prefetch_object(X_WA);
  prefetch_object(X_WB);
  require_pose(X_WA, "X_WA");
  require_pose(X_WB, "X_WB");
  data.has_query = false;
  data.owner.keep(A, B);
  data.X_WA = X_WA;
  data.X_WB = X_WB;
  data.has_bundle = terms_A == nullptr || terms_B == nullptr;
  NearestPair& found = data.found;
  if (data.has_bundle) {
    over_parts(A, B, question, data);
    data.num_parameters_A = static_cast<int>(A.parameters().size());
    data.num_parameters_B = static_cast<int>(B.parameters().size());
  } else {
    if (terms_A->half_space && terms_B->half_space)
      throw InputError("shapes", "two half-spaces have no distance: at least one shape must be bounded");
    found.terms_A = terms_A;
    found.terms_B = terms_B;
    found.X_WA = X_WA;
    found.X_WB = X_WB;
    found.part_A = found.part_B = nullptr;
    found.index_A = found.index_B = 0;
    solve(question, found, data.search);
  }
}

}  // namespace

Distance distance(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB, const DistanceOptions& options,
                  DistanceWorkspace& workspace) {
  options.verify();
  DistanceWorkspace::Data& data = workspace.data();
  answer(A, X_WA, B, X_WB, {.tolerance = options.tolerance, .at_most = options.at_most}, data);
  const NearestPair& found = data.found;
  data.has_query = !found.hit.beyond;

  Distance r;
  r.status = found.hit.beyond      ? DistanceStatus::beyond
             : found.hit.certified ? DistanceStatus::solved
                                   : DistanceStatus::numerical_limit;
  r.distance = found.distance;
  r.p_A = found.X_WA.p + found.s_A;
  r.p_B = found.X_WB.p + found.s_B;
  r.normal = found.n;
  r.iterations = found.hit.supports;
  r.gap = found.hit.gap;
  r.part_A = found.index_A;
  r.part_B = found.index_B;
  return r;
}

bool overlaps(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB, DistanceWorkspace& workspace) {
  DistanceWorkspace::Data& data = workspace.data();
  answer(A, X_WA, B, X_WB, {.at_most = 0.0, .side_only = true}, data);
  return data.found.distance <= 0.0;
}

}  // namespace tangere
