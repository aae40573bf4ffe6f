#include "tangere/contact/scene/contact_size.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <Eigen/Geometry>

#include "tangere/contact/scene/contact_frame.hpp"
#include "tangere/geometry/bounds.hpp"
#include "tangere/math/error.hpp"

namespace tangere {
namespace {

/// Largest and smallest difference tried, relative to the parameter.
constexpr double kFirstStep = 1e-3;
constexpr double kLastStep = 1e-7;

/// Parameters below this part of the largest of their kind count as small.
constexpr double kSmallPart = 1e-2;

using Vector7 = Eigen::Matrix<double, 7, 1>;

/// A name without its indices and axes: parameters of one unit and size (`size.x` and `size.y`, `A[0].x` and `A[3].z`).
std::string kind_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  const bool axis = dot != std::string::npos && name.find_first_not_of("xyz", dot + 1) == std::string::npos;
  std::string out;
  int depth = 0;
  for (const char c : axis ? name.substr(0, dot) : name) {
    if (c == '[') ++depth;
    if (depth == 0) out += c;
    if (c == ']') --depth;
  }
  return out;
}

/// Half the diagonal of its box; infinite for a half-space.
double reach(const Shape& shape) {
  const Aabb box = bounds(shape);
  return 0.5 * (box.upper - box.lower).norm();
}

/// Point, normal and distance of a contact with other shapes, as long as its features are the same.
class Resized {
 public:
  Resized(const Contact& contact, const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB, int side,
          int parameter)
      : contact_(contact), A_(A), B_(B), X_WA_(X_WA), X_WB_(X_WB), side_(side), parameter_(parameter) {
    // far enough to see the contact again
    options_.margin = std::max(2.0 * contact.distance, 0.0) + 1e-3;
    // or from as far as the step looked, which is not known here, if it is one that meets only as the shapes turn
    if (find(A, B)) return;
    options_.ahead = true;
    options_.margin = std::max(options_.margin, std::min(reach(A), reach(B)));
  }

  [[nodiscard]] double value() const { return changed().parameters()[parameter_]; }

  /// The scale of differences: the parameter itself, or, if it is small beside others of its kind (a component of a
  /// normal may be 0) or absent, those others, or the shapes.
  [[nodiscard]] double typical_size() const {
    const std::string kind = kind_of(changed().parameter_names()[parameter_]);
    double largest = 0.0;
    for (std::size_t i = 0; i < changed().parameter_names().size(); ++i)
      if (kind_of(changed().parameter_names()[i]) == kind)
        largest = std::max(largest, std::abs(changed().parameters()[static_cast<Eigen::Index>(i)]));
    const double size = std::max(std::abs(value()), kSmallPart * largest);
    return size > 0.0 ? size : std::min(reach(A_), reach(B_));
  }

  [[nodiscard]] std::optional<Vector7> at(double value) {
    VectorX values = changed().parameters();
    values[parameter_] = value;
    try {
      const Shape other = changed().with_parameters(values);
      return find(side_ == 0 ? other : A_, side_ == 0 ? B_ : other);
    } catch (const InputError&) {
      return std::nullopt;  // no shape has this value
    }
  }

 private:
  [[nodiscard]] const Shape& changed() const { return side_ == 0 ? A_ : B_; }

  [[nodiscard]] std::optional<Vector7> find(const Shape& A, const Shape& B) {
    const ContactPoint* same = nullptr;
    // parts of bundles may have features of the same name: the nearest is meant
    const auto away = [this](const ContactPoint& point) { return (point.point - contact_.point).squaredNorm(); };
    for (const Manifold& patch : manifolds(A, X_WA_, B, X_WB_, options_, workspace_))
      for (const ContactPoint& point : patch.contacts())
        if (point.feature_A == contact_.feature_A && point.feature_B == contact_.feature_B &&
            (same == nullptr || away(point) < away(*same)))
          same = &point;
    if (same == nullptr) return std::nullopt;
    Vector7 out;
    out << same->point, same->normal, same->distance;
    return out;
  }

  const Contact& contact_;
  const Shape& A_;
  const Shape& B_;
  const Pose& X_WA_;
  const Pose& X_WB_;
  int side_;
  int parameter_;
  ManifoldOptions options_;
  ManifoldWorkspace workspace_;
};

/// The derivative by differences to x + h, x − h and their halves (`sides` 2), or to one side only (+1, −1).
std::optional<Vector7> difference(Resized& resized, double x, double h, int sides) {
  if (sides == 2) {
    const auto far_up = resized.at(x + h);
    const auto far_down = resized.at(x - h);
    const auto up = resized.at(x + 0.5 * h);
    const auto down = resized.at(x - 0.5 * h);
    if (!far_up || !far_down || !up || !down) return std::nullopt;
    return (4.0 * (*up - *down) / h - (*far_up - *far_down) / (2.0 * h)) / 3.0;
  }
  const double s = sides * h;
  const auto here = resized.at(x);
  const auto half = resized.at(x + 0.5 * s);
  const auto whole = resized.at(x + s);
  if (!here || !half || !whole) return std::nullopt;
  return (4.0 * *half - *whole - 3.0 * *here) / s;
}

std::optional<Vector7> derivative(Resized& resized) {
  const double x = resized.value();
  const double size = resized.typical_size();
  for (const int sides : {2, 1, -1})
    for (double h = kFirstStep; h >= kLastStep; h *= 0.1)
      if (auto found = difference(resized, x, h * size, sides)) return found;
  return std::nullopt;
}

}  // namespace

FrameChange contact_size_derivative(const Contact& contact, const Shape& A, const Pose& X_WA, const Shape& B,
                                    const Pose& X_WB, int side, int parameter) {
  Resized resized(contact, A, X_WA, B, X_WB, side, parameter);
  const std::optional<Vector7> rate = derivative(resized);
  if (!rate) return {};
  // the bodies do not turn: the frame follows the normal, and the direction its tangents follow stands still
  const Matrix3& R_WO = (normal_owner(contact.feature_A, contact.feature_B) == NormalOwner::A ? X_WA : X_WB).R;
  FrameChange out;
  out.point = rate->head<3>();
  out.rotation = frame_turn(contact.frame, R_WO, rate->segment<3>(3));
  out.distance = (*rate)[6];
  out.exists = true;
  return out;
}

}  // namespace tangere
