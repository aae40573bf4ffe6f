#include "tangere/proximity/manifold/internal/manifold_single.hpp"

#include <algorithm>

namespace tangere::internal {
namespace {

/// How far outside a line a contact may be, in units of its length, and how far below the support plane, in units of
/// `size`.
constexpr double kWithin = 1e-9;
constexpr double kOnSupport = 1e-9;
/// How far the normal may be from the given one: stationary points farther away are other ones.
constexpr double kTurn = 0.02;
/// Rounding, in units of the coordinates.
constexpr double kRounding = 1e-14;
/// More corners of a face than this are not tried.
constexpr int kMostTried = 16;

/// The lines and corners of one shape's feature.
struct Choices {
  const ManifoldBody& body;
  const Feature& feature;
  /// The exact feature of the shape along n, in place of corners that stand for a rim.
  Feature exact;
  bool round_outline;
  double roundness;

  Choices(const ManifoldBody& b, const Feature& f, const Vector3& n) : body(b), feature(f), round_outline(f.disc) {
    find_feature(*body.terms, body.X.R.transpose() * n, 0.0, exact);
    roundness = std::max(body.terms->radius, f.dimension < 2 ? f.roundness : 0.0);
  }
  [[nodiscard]] int num_lines() const {
    if (feature.dimension == 0 || round_outline) return 0;
    return feature.dimension == 1 ? 1 : std::min(feature.count, kMostTried);
  }
  /// The corners of the feature, then the exact one.
  [[nodiscard]] int num_own_corners() const {
    return feature.dimension == 0 || round_outline ? 0 : std::min(feature.count, kMostTried);
  }
  [[nodiscard]] int num_corners() const { return num_own_corners() + 1; }
  [[nodiscard]] StationarySide line(int i) const {
    const int j = (i + 1) % feature.count;
    return {&body, {corner(feature, i), corner(feature, j)}, 2, true, 0.5};
  }
  [[nodiscard]] ContactFeature line_name(int i) const {
    return edge_feature(*body.terms, feature, i, (i + 1) % feature.count);
  }
  [[nodiscard]] StationarySide corner_side(int i) const {
    const Corner& c = i < num_own_corners() ? corner(feature, i) : exact.corners[0];
    return {&body, {c, c}, 1, false, 0.0};
  }
  [[nodiscard]] ContactFeature corner_name(int i) const {
    return i < num_own_corners() ? corner_feature(*body.terms, feature, i) : corner_feature(*body.terms, exact, 0);
  }
  [[nodiscard]] static const Corner& corner(const Feature& f, int i) { return f.corners[i]; }
};

double reach(const ManifoldBody& body) { return body.X.p.norm() + body.terms->outer_radius; }

bool is_contact(const StationarySide& A, const StationarySide& B, const Stationary& s, const Vector3& n, double size) {
  if (!s.converged || !((s.n - n).norm() <= kTurn)) return false;
  if (A.free && (s.t_A < -kWithin || s.t_A > 1.0 + kWithin)) return false;
  if (B.free && (s.t_B < -kWithin || s.t_B > 1.0 + kWithin)) return false;
  const double slack = kOnSupport * size + kRounding * (reach(*A.body) + reach(*B.body));
  return s.n.dot(s.p_A) >= A.body->support(s.n) - slack && -s.n.dot(s.p_B) >= B.body->support(-s.n) - slack;
}

}  // namespace

void find_single_contact(const ManifoldBody& A, const Feature& feature_A, const ManifoldBody& B,
                         const Feature& feature_B, const Vector3& n, double size, SingleContact& contact) {
  contact.found = false;
  const Choices a(A, feature_A, n);
  const Choices b(B, feature_B, -n);
  contact.roundness_A = a.roundness;
  contact.roundness_B = b.roundness;
  const auto attempt = [&](const StationarySide& side_A, const ContactFeature& name_A, const StationarySide& side_B,
                           const ContactFeature& name_B) {
    const Stationary s = solve_stationary(side_A, side_B, n, size);
    if (!is_contact(side_A, side_B, s, n, size)) return false;
    contact.side_A = side_A;
    contact.side_B = side_B;
    contact.solution = s;
    contact.feature_A = name_A;
    contact.feature_B = name_B;
    contact.found = true;
    return true;
  };
  for (int i = 0; i < a.num_lines(); ++i)
    for (int j = 0; j < b.num_lines(); ++j)
      if (attempt(a.line(i), a.line_name(i), b.line(j), b.line_name(j))) return;
  for (int i = 0; i < a.num_lines(); ++i)
    for (int j = 0; j < b.num_corners(); ++j)
      if (attempt(a.line(i), a.line_name(i), b.corner_side(j), b.corner_name(j))) return;
  for (int i = 0; i < a.num_corners(); ++i)
    for (int j = 0; j < b.num_lines(); ++j)
      if (attempt(a.corner_side(i), a.corner_name(i), b.line(j), b.line_name(j))) return;
  for (int i = 0; i < a.num_corners(); ++i)
    for (int j = 0; j < b.num_corners(); ++j)
      if (attempt(a.corner_side(i), a.corner_name(i), b.corner_side(j), b.corner_name(j))) return;
}

}  // namespace tangere::internal
