#pragma once

/// A three-dimensional scene drawn as SVG: perspective, shaded triangles, soft shadows. Things are painted in the order
/// they are added, so the caller adds what is far first.

#include <string>
#include <vector>

#include "tangere/geometry/mesh.hpp"

namespace tangere::cli {

/// Red, green, blue, each 0 to 1.
using Colour = Vector3;

/// `#rrggbb`.
[[nodiscard]] std::string hex(const Colour& colour);

/// The shadow of a point on the plane z = floor.
[[nodiscard]] Vector3 shadow_point(const Vector3& p, double floor);

struct Rectangle {
  double x;
  double y;
  double width;
  double height;
};

class SvgScene {
 public:
  SvgScene(double width, double height);

  /// Looks from `direction` (z is up) so that all points fit into the frame.
  void look(const std::vector<Vector3>& points, const Vector3& direction, const Rectangle& frame);
  [[nodiscard]] const Vector3& eye() const { return eye_; }

  /// Soft shadow of a convex body on the plane z = floor.
  void shadow(const std::vector<Vector3>& points, double floor);
  /// Shaded surface of one convex body with its sharp edges and outline; `opacity` below 1 lets what is behind through,
  /// and no seams show.
  void surface(const TriangleMesh& mesh, const Colour& colour, double opacity);

  void dashed_line(const Vector3& from, const Vector3& to, const Colour& colour);
  void arrow(const Vector3& from, const Vector3& to, const Colour& colour);
  void dot(const Vector3& at, double radius, const Colour& colour);

  // in the plane of the picture

  void text(double x, double y, double size, const Colour& colour, const std::string& text, bool bold = false);
  void swatch(double x, double y, const Colour& colour, double opacity);
  void swatch_dot(double x, double y, double radius, const Colour& colour);
  void swatch_arrow(double x, double y, const Colour& colour);

  [[nodiscard]] std::string svg(const std::string& title) const;

 private:
  struct Point {
    double x;
    double y;
  };
  [[nodiscard]] Point project(const Vector3& p) const;
  [[nodiscard]] Colour shaded(const Colour& colour, const Vector3& normal, const Vector3& at) const;
  void line(Point from, Point to, const Colour& colour, double width, const char* extra);
  void arrow_head(Point from, Point to, const Colour& colour);

  double width_;
  double height_;
  Vector3 eye_ = Vector3::Zero();
  // axes of the picture and of depth, in the world
  Vector3 right_ = Vector3::UnitX();
  Vector3 up_ = Vector3::UnitZ();
  Vector3 forward_ = Vector3::UnitY();
  double scale_ = 1.0;
  Point centre_{0.0, 0.0};
  std::string body_;
};

}  // namespace tangere::cli
