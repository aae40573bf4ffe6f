#include "tangere/proximity/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/proximity/internal/part_nodes.hpp"
#include "tangere/proximity/internal/pose_check.hpp"
#include "tangere/proximity/scaling/internal/scaling_workspace.hpp"

namespace tangere {
namespace {

constexpr double kLargestSmoothing = 0.01;
constexpr double kSmallestSmoothing = 1e-12;
constexpr double kLargestRelativeGap = 0.5;

/// The pose of a part of a shape at X_WS.
Pose part_pose(const Pose& X_WS, const Shape& shape, const ConvexPart& part) {
  return shape.is_convex() ? X_WS : X_WS * part.X_SP;
}

/// s ∘ z = kappa alpha e has a solution only while kappa times the degree (the relative gap) is below 1.
void require_smoothing(double smoothing, int degree) {
  if (smoothing * degree <= kLargestRelativeGap) return;
  throw InputError("options.smoothing", "times the pair's barrier degree (" + std::to_string(degree) +
                                            ": one per face, two per cone) must be at most 0.5, got " +
                                            internal::to_text(smoothing));
}

Scaling read_answer(const SupportPair& pair) {
  const SupportScaling& found = pair.found;
  const bool scaled_A = pair.scaled_A;
  const bool scaled_B = pair.scaled_B;
  Scaling r;
  r.status = found.beyond ? ScalingStatus::beyond : ScalingStatus::solved;
  r.alpha = found.alpha;
  r.normal = inverse_root(found.n.squaredNorm()) * found.n;
  r.x = scaled_A ? Vector3(pair.X_WA.p + found.alpha * found.s_A) : Vector3(pair.X_WB.p + found.alpha * found.s_B);
  r.p_A = scaled_A ? Vector3(pair.X_WA.p + found.s_A) : r.x;
  r.p_B = scaled_B ? Vector3(pair.X_WB.p + found.s_B) : r.x;
  const double separation = (r.p_A - r.p_B).norm();
  r.center_line_gap = r.alpha < 1.0 ? -separation : separation;
  r.point_freedom = -1;
  r.normal_freedom = -1;
  r.method = ScalingMethod::support;
  r.iterations = found.supports;
  r.gap = found.gap;
  r.residual = 0.0;
  r.part_A = pair.index_A;
  r.part_B = pair.index_B;
  return r;
}

/// The smallest alpha over all pairs of parts, by the conic route.
Scaling conic_over_parts(const Shape& A, const Shape& B, const ScalingOptions& options, ScalingWorkspace::Data& data) {
  const std::span<const ConvexPart> parts_A = A.parts();
  const std::span<const ConvexPart> parts_B = B.parts();
  // memory for every pair, in both programs because they change places
  for (const ConvexPart& part_A : parts_A) {
    for (const ConvexPart& part_B : parts_B) {
      data.solved->program.reserve(*part_A.set, *part_B.set);
      data.trial->program.reserve(*part_A.set, *part_B.set);
    }
  }
  // a pair whose bounding balls are too far apart cannot be it
  bool any = false;
  for (std::size_t i = 0; i < parts_A.size(); ++i) {
    for (std::size_t j = 0; j < parts_B.size(); ++j) {
      const ConvexSet& set_A = *parts_A[i].set;
      const ConvexSet& set_B = *parts_B[j].set;
      SolvedPair& trial = *data.trial;
      trial.X_WA = part_pose(data.X_WA, A, parts_A[i]);
      trial.X_WB = part_pose(data.X_WB, B, parts_B[j]);
      const double reach = set_A.outer_radius + set_B.outer_radius;
      if (any && (trial.X_WA.p - trial.X_WB.p).norm() >= data.alpha * reach) continue;
      trial.part_A = parts_A[i];
      trial.part_B = parts_B[j];
      trial.index_A = static_cast<int>(i);
      trial.index_B = static_cast<int>(j);
      require_smoothing(options.smoothing, set_A.rows.degree() + set_B.rows.degree());
      solve_pair(options, trial);
      const double alpha = trial.status == ScalingStatus::zero_scaling ? 0.0 : trial.program.engine.u[3];
      if (any && !(alpha < data.alpha)) continue;
      any = true;
      data.alpha = alpha;
      std::swap(data.solved, data.trial);
    }
  }
  data.has_conic = true;
  data.free = options.smoothing > 0.0 ? Freedom{} : freedom(*data.solved, data.rank_storage);
  Scaling result = read_answer(*data.solved);
  result.point_freedom = data.free.point;
  result.normal_freedom = data.free.normal;
  return result;
}

/// Asks about two parts by supports, if their alpha may be smaller than what was found. False if it is not certified.
bool try_parts(int i, int j, const Shape& A, const Shape& B, const ScalingQuestion& question, bool& any,
               ScalingWorkspace::Data& data) {
  const ConvexPart& part_A = A.parts()[i];
  const ConvexPart& part_B = B.parts()[j];
  SupportPair& trial = data.support_trial;
  trial.terms_A = part_A.set->support.get();
  trial.terms_B = part_B.set->support.get();
  trial.X_WA = part_pose(data.X_WA, A, part_A);
  trial.X_WB = part_pose(data.X_WB, B, part_B);
  const double reach = trial.terms_A->outer_radius + trial.terms_B->outer_radius;
  if (any && (trial.X_WA.p - trial.X_WB.p).norm() >= data.found.found.alpha * reach) return true;
  ScalingQuestion of_part = question;
  if (any) of_part.at_most = std::min(of_part.at_most, data.found.found.alpha);
  support_scaling(*trial.terms_A, trial.X_WA, *trial.terms_B, trial.X_WB, of_part, data.cast, trial.found);
  if (!trial.found.certified) return false;
  trial.scaled_A = !trial.terms_A->half_space;
  trial.scaled_B = !trial.terms_B->half_space;
  if (any && !(trial.found.alpha < data.found.found.alpha)) return true;
  any = true;
  trial.part_A = &part_A;
  trial.part_B = &part_B;
  trial.index_A = i;
  trial.index_B = j;
  data.found = trial;
  return true;
}

/// The smallest alpha over all pairs of parts, by supports. False if one of them is not certified. Where one shape has
/// a tree, only nodes are looked at whose origins are near enough: alpha is at least their distance by both outer
/// radii.
bool supports_over_parts(const Shape& A, const Shape& B, const ScalingQuestion& question,
                         ScalingWorkspace::Data& data) {
  const PartNodes nodes_A(A);
  const PartNodes nodes_B(B);
  bool any = false;
  bool certified = true;
  if ((nodes_A.has_tree() || nodes_B.has_tree()) && nodes_A.is_usable() && nodes_B.is_usable()) {
    const RelativeBoxes boxes(data.X_WA, data.X_WB);
    const auto bound = [&](const PartTree::Node& a, const PartTree::Node& b) {
      return boxes.origins_apart(a, b) / (a.radius + b.radius);
    };
    walk_parts(
        nodes_A, nodes_B, bound,
        [&] {
          if (!certified) return 0.0;
          return any ? data.found.found.alpha : std::numeric_limits<double>::infinity();
        },
        [&](int i, int j) { certified = certified && try_parts(i, j, A, B, question, any, data); });
    return certified;
  }
  for (int i = 0; i < static_cast<int>(A.parts().size()); ++i)
    for (int j = 0; j < static_cast<int>(B.parts().size()); ++j)
      if (!try_parts(i, j, A, B, question, any, data)) return false;
  return true;
}

void require_bounded(const Shape& A, const Shape& B) {
  const auto has_plane = [](const Shape& shape) {
    // a tree is of bounded parts
    if (part_tree_of(shape) != nullptr) return false;
    const std::span<const ConvexPart> parts = shape.parts();
    return std::any_of(parts.begin(), parts.end(), [](const ConvexPart& part) { return !part.set->scaled; });
  };
  if (has_plane(A) && has_plane(B))
    throw InputError("shapes", "two half-spaces have no scaling: at least one shape must be bounded");
}

}  // namespace

std::string_view to_string(ScalingStatus status) {
  switch (status) {
    case ScalingStatus::solved:
      return "solved";
    case ScalingStatus::zero_scaling:
      return "zero_scaling";
    case ScalingStatus::iteration_limit:
      return "iteration_limit";
    case ScalingStatus::numerical_limit:
      return "numerical_limit";
    case ScalingStatus::beyond:
      return "beyond";
  }
  return "unknown";
}

void ScalingOptions::verify() const {
  if (!(tolerance >= 1e-13 && tolerance <= 1e-2)) {
    throw InputError("options.tolerance", "must be between 1e-13 and 1e-2, got " + internal::to_text(tolerance));
  }
  if (max_iterations < 1)
    throw InputError("options.max_iterations", "must be at least 1, got " + std::to_string(max_iterations));
  if (!(smoothing == 0.0 || (smoothing >= kSmallestSmoothing && smoothing <= kLargestSmoothing))) {
    throw InputError("options.smoothing", "must be 0 or between 1e-12 and 0.01, got " + internal::to_text(smoothing));
  }
  if (!(at_most > 0.0)) throw InputError("options.at_most", "must be above 0, got " + internal::to_text(at_most));
  if (smoothing > 0.0 && method == ScalingMethod::support)
    throw InputError("options.method", "must be auto or conic with smoothing: the support route has none");
}

std::string_view to_string(ScalingMethod method) {
  switch (method) {
    case ScalingMethod::automatic:
      return "auto";
    case ScalingMethod::conic:
      return "conic";
    case ScalingMethod::support:
      return "support";
  }
  return "unknown";
}

ScalingWorkspace::ScalingWorkspace() : data_("ScalingWorkspace", std::make_unique<Data>()) {}
ScalingWorkspace::~ScalingWorkspace() = default;
ScalingWorkspace::ScalingWorkspace(ScalingWorkspace&&) noexcept = default;
ScalingWorkspace& ScalingWorkspace::operator=(ScalingWorkspace&&) noexcept = default;
long ScalingWorkspace::num_fallbacks() const { return data_->num_fallbacks; }

const SolvedPair& ScalingWorkspace::Data::conic() {
  if (has_conic) return *solved;
  const auto part = [](const SupportTerms* terms, const ConvexPart* of_bundle) {
    // without an owner: `owner` has the whole shape
    return of_bundle != nullptr ? *of_bundle : ConvexPart{{std::shared_ptr<const ConvexSet>(), terms->set}, Pose(), 0};
  };
  SolvedPair& pair = *solved;
  pair.part_A = part(found.terms_A, found.part_A);
  pair.part_B = part(found.terms_B, found.part_B);
  pair.X_WA = found.X_WA;
  pair.X_WB = found.X_WB;
  pair.index_A = found.index_A;
  pair.index_B = found.index_B;
  pair.program.reserve(*pair.part_A.set, *pair.part_B.set);
  trial->program.reserve(*pair.part_A.set, *pair.part_B.set);
  solve_pair({.tolerance = tolerance}, pair);
  free = freedom(pair, rank_storage);
  if (!has_bundle) {
    num_parameters_A = pair.part_A.set->num_parameters;
    num_parameters_B = pair.part_B.set->num_parameters;
  }
  has_conic = true;
  return pair;
}

Scaling scaling(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB, const ScalingOptions& options,
                ScalingWorkspace& workspace, PairCache* cache) {
  prefetch_object(A);
  prefetch_object(B);
  prefetch_object(X_WA);
  prefetch_object(X_WB);
  const SupportTerms* terms_A = A.support_terms();
  const SupportTerms* terms_B = B.support_terms();
  const SupportTerms* near_A = A.near_support_terms();
  const SupportTerms* near_B = B.near_support_terms();
  prefetch_far(near_A, terms_A);
  prefetch_far(near_B, terms_B);
  options.verify();
  require_pose(X_WA, "X_WA");
  require_pose(X_WB, "X_WB");
  ScalingWorkspace::Data& data = workspace.data();
  data.has_query = false;
  data.owner.keep(A, B);
  data.has_conic = false;
  data.linearised_pair = nullptr;
  data.X_WA = X_WA;
  data.X_WB = X_WB;
  data.smoothing = options.smoothing;
  data.tolerance = options.tolerance;
  data.by_supports = false;

  data.has_bundle = terms_A == nullptr || terms_B == nullptr;
  const bool convex = !data.has_bundle;
  if (convex ? near_A->half_space && near_B->half_space : true) require_bounded(A, B);
  if (options.method != ScalingMethod::conic && options.smoothing == 0.0) {
    const ScalingQuestion question{.tolerance = options.tolerance, .at_most = options.at_most};
    SupportPair& found = data.found;
    if (convex) {
      found.terms_A = terms_A;
      found.terms_B = terms_B;
      found.X_WA = X_WA;
      found.X_WB = X_WB;
      found.part_A = found.part_B = nullptr;
      found.index_A = found.index_B = 0;
      found.scaled_A = !near_A->half_space;
      found.scaled_B = !near_B->half_space;
      data.cast.remember(cache, terms_A, terms_B);
      support_scaling(*near_A, X_WA, *near_B, X_WB, question, data.cast, found.found);
      data.cast.remember(nullptr, nullptr, nullptr);
      data.by_supports = found.found.certified;
    } else {
      data.by_supports = supports_over_parts(A, B, question, data);
      data.num_parameters_A = static_cast<int>(A.parameters().size());
      data.num_parameters_B = static_cast<int>(B.parameters().size());
    }
    if (data.by_supports) {
      data.has_query = !found.found.beyond;
      return read_answer(found);
    }
  }
  const Scaling result = conic_over_parts(A, B, options, data);
  data.num_parameters_A = static_cast<int>(A.parameters().size());
  data.num_parameters_B = static_cast<int>(B.parameters().size());
  data.has_query = true;
  if (options.method != ScalingMethod::conic && options.smoothing == 0.0 &&
      result.status != ScalingStatus::zero_scaling) {
    ++data.num_fallbacks;
  }
  return result;
}

}  // namespace tangere
