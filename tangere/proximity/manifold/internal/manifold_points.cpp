/// From patches and single contacts to the points of the answer.

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "tangere/proximity/manifold/internal/manifold_derivatives.hpp"
#include "tangere/proximity/manifold/internal/manifold_polygon.hpp"
#include "tangere/proximity/manifold/internal/manifold_query.hpp"
#include "tangere/proximity/manifold/internal/manifold_single.hpp"

namespace tangere::internal {
namespace {

/// Patches whose nearest point is farther than the distance by more than this, in units of the size, are not the
/// contact.
constexpr double kSameDistance = 0.02;

/// Rates above this, in units of the size, are of edges about to be parallel or corners about to touch: they hold for
/// motions below a part of 1e-4, beyond which the contact is another one.
constexpr double kSteep = 1e4;

/// Whether a direction turns so fast with the poses.
bool turns_fast(const Matrix3x12& rate, double size) {
  for (const int body : {0, 6}) {
    if (!(rate.middleCols<3>(body).cwiseAbs().maxCoeff() * size <= kSteep)) return true;
    if (!(rate.middleCols<3>(body + 3).cwiseAbs().maxCoeff() <= kSteep)) return true;
  }
  return false;
}

/// Whether a point does, with what is `far` from the bodies' origins at most.
bool runs(const Matrix3x12& rate, double far) {
  for (const int body : {0, 6}) {
    if (!(rate.middleCols<3>(body).cwiseAbs().maxCoeff() <= kSteep)) return true;
    if (!(rate.middleCols<3>(body + 3).cwiseAbs().maxCoeff() <= kSteep * far)) return true;
  }
  return false;
}

// the place of the contact point between p_A and p_B
double weight_of(double roundness_A, double roundness_B) {
  if (roundness_A == roundness_B) return 0.5;
  if (std::isinf(roundness_A)) return 1.0;
  if (std::isinf(roundness_B)) return 0.0;
  return roundness_A / (roundness_A + roundness_B);
}

void finish(const PatchJacobian& J, bool reference_is_A, double weight, ContactJacobian& out) {
  out.exists = J.exists;
  out.p_A = reference_is_A ? J.p_R : J.p_I;
  out.p_B = reference_is_A ? J.p_I : J.p_R;
  out.normal = reference_is_A ? J.N : Matrix3x12(-J.N);
  out.distance = J.distance;
  out.point = (1.0 - weight) * out.p_A + weight * out.p_B;
}

/// The names of both features at a point of a patch, the reference's first.
std::pair<ContactFeature, ContactFeature> names(const Patch& patch, const PatchPoint& point) {
  using Kind = PatchPoint::Kind;
  const Feature& R = *patch.reference_feature;
  const Feature& I = *patch.incident_feature;
  const SupportTerms& terms_R = *patch.reference->terms;
  const SupportTerms& terms_I = *patch.incident->terms;
  const auto whole = [](const SupportTerms& terms, const Feature& feature) {
    return feature.dimension == 2 ? ContactFeature{feature.kind, -1, -1} : edge_feature(terms, feature, 0, 1);
  };
  switch (point.kind) {
    case Kind::incident_corner:
    case Kind::incident_end:
      return {whole(terms_R, R), corner_feature(terms_I, I, point.i)};
    case Kind::reference_corner:
    case Kind::reference_end:
      return {corner_feature(terms_R, R, point.j), whole(terms_I, I)};
    case Kind::crossing:
      break;
  }
  return {edge_feature(terms_R, R, point.j, (point.j + 1) % R.count),
          edge_feature(terms_I, I, point.i, (point.i + 1) % I.count)};
}

double patch_weight(const Patch& patch, const PatchPoint& point, bool reference_is_A) {
  double at_incident = 0.0;
  switch (point.kind) {
    case PatchPoint::Kind::incident_corner:
      at_incident = 1.0;
      break;
    case PatchPoint::Kind::reference_corner:
      break;
    case PatchPoint::Kind::crossing:
      at_incident = weight_of(patch.reference->terms->radius, patch.incident_feature->dimension == 1
                                                                  ? patch.incident_feature->roundness
                                                                  : patch.incident->terms->radius);
      break;
    default:
      at_incident = weight_of(patch.reference_feature->roundness, patch.incident_feature->roundness);
  }
  return reference_is_A ? at_incident : 1.0 - at_incident;
}

}  // namespace

void finish_without(ContactJacobian& out) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  out.exists = false;
  out.point.setConstant(nan);
  out.p_A.setConstant(nan);
  out.p_B.setConstant(nan);
  out.normal.setConstant(nan);
  out.distance.setConstant(nan);
}

bool take_patch(const ManifoldQuery& query, bool reference_is_A, Manifold& manifold) {
  const Patch& patch = query.patch;
  std::array<int, Patch::kCapacity> kept;
  std::array<Vector2, Patch::kCapacity> flat;
  const PlaneBasis plane(patch.N);
  int count = 0;
  int deepest = -1;
  for (int k = 0; k < patch.count; ++k) {
    flat[k] = plane(patch[k].p_R - patch[0].p_R);
    if (!(patch[k].distance <= query.options.margin)) continue;
    kept[count++] = k;
    // a tie within rounding goes to the first
    if (deepest < 0 || patch[k].distance < patch[deepest].distance - 1e-9 * query.size) deepest = k;
  }
  if (count == 0) return false;
  if (patch[deepest].distance > query.nearest.distance + kSameDistance * query.size) return false;
  if (count > query.options.max_points)
    count = reduce({flat.data(), static_cast<std::size_t>(patch.count)}, {kept.data(), static_cast<std::size_t>(count)},
                   query.options.max_points, deepest);

  std::array<std::pair<ContactFeature, ContactFeature>, kMaxManifoldPoints> name;
  for (int k = 0; k < count; ++k) {
    auto& [A, B] = name[k];
    std::tie(A, B) = names(patch, patch[kept[k]]);
    if (!reference_is_A) std::swap(A, B);
  }
  std::array<int, kMaxManifoldPoints> order;
  for (int k = 0; k < count; ++k) order[k] = k;
  const auto key = [&](int k) {
    const auto& [A, B] = name[k];
    return std::tuple(A.first, A.second, B.first, B.second, k);
  };
  std::sort(order.begin(), order.begin() + count, [&](int a, int b) { return key(a) < key(b); });

  Matrix3x12 N_rate;
  const bool differentiable = query.options.derivatives && patch_normal_rate(patch, query.size, N_rate);
  manifold.num_points = count;
  for (int k = 0; k < count; ++k) {
    const int from = order[k];
    std::tie(manifold.points[k].feature_A, manifold.points[k].feature_B) = name[from];
    write_patch_point(query, patch[kept[from]], reference_is_A, differentiable ? &N_rate : nullptr, k, manifold);
  }
  return true;
}

void write_patch_point(const ManifoldQuery& query, const PatchPoint& source, bool reference_is_A,
                       const Matrix3x12* N_rate, int k, Manifold& manifold) {
  const Patch& patch = query.patch;
  ContactPoint& point = manifold.points[k];
  point.p_A = reference_is_A ? source.p_R : source.p_I;
  point.p_B = reference_is_A ? source.p_I : source.p_R;
  point.normal = reference_is_A ? patch.N : Vector3(-patch.N);
  point.distance = source.distance;
  point.weight = patch_weight(patch, source, reference_is_A);
  point.point = point.p_A + point.weight * (point.p_B - point.p_A);
  if (!query.options.derivatives) return;
  ContactJacobian& J = manifold.jacobians[k];
  if (N_rate == nullptr) return finish_without(J);
  const PatchJacobian rates = patch_jacobian(patch, source, *N_rate);
  const double far = std::max((source.p_R - query.A.X_body.p).norm(), (source.p_R - query.B.X_body.p).norm());
  if (rates.exists && !turns_fast(rates.N, query.size) && !runs(rates.p_R, far) && !runs(rates.p_I, far))
    finish(rates, reference_is_A, point.weight, J);
  else
    finish_without(J);
}

bool take_single(const ManifoldQuery& query, Manifold& manifold) {
  // a half-space has neither corners nor edges: what meets it is a patch
  if (query.A.terms->half_space || query.B.terms->half_space) return false;
  SingleContact contact;
  find_single_contact(query.A, query.feature_A, query.B, query.feature_B, query.nearest.normal, query.size, contact);
  if (!contact.found) return false;
  manifold.num_points = 1;
  write_single(query, contact, 0, manifold);
  return true;
}

void write_single(const ManifoldQuery& query, const SingleContact& contact, int k, Manifold& manifold) {
  ContactPoint& point = manifold.points[k];
  point.feature_A = contact.feature_A;
  point.feature_B = contact.feature_B;
  point.p_A = contact.solution.p_A;
  point.p_B = contact.solution.p_B;
  point.normal = contact.solution.n;
  point.distance = contact.solution.distance;
  point.weight = weight_of(contact.roundness_A, contact.roundness_B);
  point.point = point.p_A + point.weight * (point.p_B - point.p_A);
  if (!query.options.derivatives) return;
  ContactJacobian& J = manifold.jacobians[k];
  const StationaryJacobian rates = stationary_jacobian(contact.side_A, contact.side_B, contact.solution, query.size);
  if (rates.exists && !turns_fast(rates.n, query.size))
    finish({rates.n, rates.p_A, rates.p_B, rates.distance, true}, true, point.weight, J);
  else
    finish_without(J);
}

void take_nearest(const ManifoldQuery& query, Manifold& manifold) {
  ContactPoint& point = manifold.points[0];
  manifold.num_points = 1;
  point.feature_A = {query.feature_A.kind, -1, -1};
  point.feature_B = {query.feature_B.kind, -1, -1};
  point.p_A = query.nearest.p_A;
  point.p_B = query.nearest.p_B;
  point.normal = query.nearest.normal;
  point.distance = query.nearest.distance;
  point.weight = 0.5;
  point.point = 0.5 * (point.p_A + point.p_B);
  if (query.options.derivatives) finish_without(manifold.jacobians[0]);
}

}  // namespace tangere::internal
