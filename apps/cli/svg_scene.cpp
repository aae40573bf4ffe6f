#include "apps/cli/svg_scene.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <Eigen/Geometry>

#include "apps/cli/text.hpp"
#include "tangere/io/text/markup.hpp"

namespace tangere::cli {
namespace {

/// Neighbouring triangles that turn by more than this (cosine) meet in a sharp edge.
constexpr double kSharp = 0.9;

struct Edge {
  // of the triangles on both sides; the second stays zero at a border
  Vector3 normal[2] = {Vector3::Zero(), Vector3::Zero()};
  bool front[2] = {false, false};
  int count = 0;
};

Colour mixed(const Colour& a, const Colour& b, double t) { return (1.0 - t) * a + t * b; }

/// Convex hull of points in the plane (Andrew's monotone chain), in order.
std::vector<Vector2> planar_hull(std::vector<Vector2> points) {
  std::sort(points.begin(), points.end(),
            [](const Vector2& a, const Vector2& b) { return a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]); });
  const auto turn = [](const Vector2& a, const Vector2& b, const Vector2& c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  };
  std::vector<Vector2> hull;
  for (int side = 0; side < 2; ++side) {
    const std::size_t start = hull.size();
    for (const Vector2& p : points) {
      while (hull.size() >= start + 2 && turn(hull[hull.size() - 2], hull.back(), p) <= 0.0) hull.pop_back();
      hull.push_back(p);
    }
    hull.pop_back();
    std::reverse(points.begin(), points.end());
  }
  return hull;
}

}  // namespace

std::string hex(const Colour& colour) {
  std::array<int, 3> value{};
  for (int i = 0; i < 3; ++i) value[i] = static_cast<int>(std::lround(255.0 * std::clamp(colour[i], 0.0, 1.0)));
  return formatted("#%02x%02x%02x", value[0], value[1], value[2]);
}

Vector3 shadow_point(const Vector3& p, double floor) {
  const double drop = p[2] - floor;
  return {p[0] + 0.2 * drop, p[1] + 0.1 * drop, floor};
}

SvgScene::SvgScene(double width, double height) : width_(width), height_(height) {}

SvgScene::Point SvgScene::project(const Vector3& p) const {
  const Vector3 d = p - eye_;
  const double depth = d.dot(forward_);
  return {centre_.x + scale_ * d.dot(right_) / depth, centre_.y - scale_ * d.dot(up_) / depth};
}

void SvgScene::look(const std::vector<Vector3>& points, const Vector3& direction, const Rectangle& frame) {
  Vector3 lower = points.front();
  Vector3 upper = points.front();
  for (const Vector3& p : points) {
    lower = lower.cwiseMin(p);
    upper = upper.cwiseMax(p);
  }
  const Vector3 middle = 0.5 * (lower + upper);
  forward_ = -direction.normalized();
  right_ = forward_.cross(Vector3::UnitZ()).normalized();
  up_ = right_.cross(forward_);
  eye_ = middle - 2.5 * (upper - lower).norm() * forward_;

  // fit what is seen into the frame
  scale_ = 1.0;
  centre_ = {0.0, 0.0};
  constexpr double kFar = std::numeric_limits<double>::infinity();
  double left = kFar, right = -kFar, top = kFar, bottom = -kFar;
  for (const Vector3& p : points) {
    const Point q = project(p);
    left = std::min(left, q.x);
    right = std::max(right, q.x);
    top = std::min(top, q.y);
    bottom = std::max(bottom, q.y);
  }
  scale_ = std::min(frame.width / (right - left), frame.height / (bottom - top));
  centre_ = {frame.x + 0.5 * frame.width - 0.5 * scale_ * (left + right),
             frame.y + 0.5 * frame.height - 0.5 * scale_ * (top + bottom)};
}

Colour SvgScene::shaded(const Colour& colour, const Vector3& normal, const Vector3& at) const {
  const Vector3 light = (-0.45 * right_ + 0.8 * up_ - 0.55 * forward_).normalized();
  const Vector3 view = (eye_ - at).normalized();
  const double wrap = 0.5 + 0.5 * normal.dot(light);
  const double gloss = std::pow(std::max(0.0, normal.dot((light + view).normalized())), 40.0);
  const Colour shadow_tint(0.16, 0.18, 0.30);
  const Colour body = mixed(colour.cwiseProduct(Colour::Constant(0.55)) + 0.12 * shadow_tint,
                            mixed(colour, Colour::Ones(), 0.12), wrap);
  return mixed(body, Colour::Ones(), 0.22 * gloss);
}

void SvgScene::shadow(const std::vector<Vector3>& points, double floor) {
  std::vector<Vector2> cast;
  for (const Vector3& p : points) {
    const Point q = project(shadow_point(p, floor));
    cast.emplace_back(q.x, q.y);
  }
  body_ += "<path filter=\"url(#soft)\" fill=\"#475569\" opacity=\"0.20\" d=\"M";
  for (const Vector2& p : planar_hull(std::move(cast))) body_ += formatted("%.1f %.1f ", p[0], p[1]);
  body_ += "Z\"/>\n";
}

void SvgScene::surface(const TriangleMesh& mesh, const Colour& colour, double opacity) {
  // front faces, gathered by colour
  std::map<std::string, std::string> faces;
  std::map<std::pair<int, int>, Edge> edges;
  for (const std::array<int, 3>& triangle : mesh.triangles) {
    const auto at = [&](std::size_t k) -> const Vector3& { return mesh.vertices[triangle[k]]; };
    const Vector3 area = (at(1) - at(0)).cross(at(2) - at(0));
    if (!(area.norm() > 0.0)) continue;
    const Vector3 normal = area.normalized();
    const Vector3 middle = (at(0) + at(1) + at(2)) / 3.0;
    const bool front = normal.dot(eye_ - middle) > 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto [first, second] = std::minmax(triangle[k], triangle[(k + 1) % 3]);
      Edge& edge = edges[{first, second}];
      if (edge.count == 2) continue;
      edge.normal[edge.count] = normal;
      edge.front[edge.count++] = front;
    }
    if (!front) continue;
    std::string& path = faces[hex(shaded(colour, normal, middle))];
    path += "M";
    for (std::size_t k = 0; k < 3; ++k) {
      const Point q = project(at(k));
      path += formatted("%.1f %.1f ", q.x, q.y);
    }
    path += "Z";
  }

  // one group, so that a translucent body is one veil
  body_ += formatted(
      "<g opacity=\"%.2f\" fill=\"currentColor\" stroke=\"currentColor\" stroke-linejoin=\"round\" "
      "stroke-width=\"0.7\">\n",
      opacity);
  for (const auto& [fill, path] : faces)
    body_ += formatted("<path color=\"%s\" d=\"%s\"/>\n", fill.c_str(), path.c_str());
  body_ += "</g>\n";

  // sharp edges and the outline
  const Colour ink = mixed(colour, Colour(0.05, 0.07, 0.15), 0.45);
  body_ +=
      formatted("<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.1\" stroke-linecap=\"round\" opacity=\"%.2f\" d=\"",
                hex(ink).c_str(), opacity < 1.0 ? 0.55 : 0.9);
  for (const auto& [ends, edge] : edges) {
    const bool outline = edge.front[0] != edge.front[1];
    const bool sharp = edge.count == 2 && edge.normal[0].dot(edge.normal[1]) < kSharp;
    if (!outline && !(sharp && edge.front[0])) continue;
    const Point p = project(mesh.vertices[ends.first]);
    const Point q = project(mesh.vertices[ends.second]);
    body_ += formatted("M%.1f %.1f %.1f %.1f", p.x, p.y, q.x, q.y);
  }
  body_ += "\"/>\n";
}

void SvgScene::line(Point from, Point to, const Colour& colour, double width, const char* extra) {
  body_ += formatted("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%.1f\" %s/>\n",
                     from.x, from.y, to.x, to.y, hex(colour).c_str(), width, extra);
}

void SvgScene::arrow_head(Point from, Point to, const Colour& colour) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  if (!(length > 0.0)) return;
  const double ux = (to.x - from.x) / length;
  const double uy = (to.y - from.y) / length;
  body_ += formatted("<path fill=\"%s\" d=\"M%.1f %.1f %.1f %.1f %.1f %.1fZ\"/>\n", hex(colour).c_str(), to.x + 4 * ux,
                     to.y + 4 * uy, to.x - 9 * ux - 5.5 * uy, to.y - 9 * uy + 5.5 * ux, to.x - 9 * ux + 5.5 * uy,
                     to.y - 9 * uy - 5.5 * ux);
}

void SvgScene::dashed_line(const Vector3& from, const Vector3& to, const Colour& colour) {
  line(project(from), project(to), colour, 1.4, "stroke-dasharray=\"4 4\" stroke-linecap=\"round\"");
}

void SvgScene::arrow(const Vector3& from, const Vector3& to, const Colour& colour) {
  const Point p = project(from);
  const Point q = project(to);
  // the shaft ends inside the head
  line(p, {q.x - 0.06 * (q.x - p.x), q.y - 0.06 * (q.y - p.y)}, colour, 3.0, "stroke-linecap=\"round\"");
  arrow_head(p, q, colour);
}

void SvgScene::dot(const Vector3& at, double radius, const Colour& colour) {
  const Point p = project(at);
  swatch_dot(p.x, p.y, radius, colour);
}

void SvgScene::text(double x, double y, double size, const Colour& colour, const std::string& text, bool bold) {
  body_ += formatted("<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" fill=\"%s\"%s>", x, y, size, hex(colour).c_str(),
                     bold ? " font-weight=\"600\"" : "");
  body_ += internal::escaped(text) + "</text>\n";
}

void SvgScene::swatch(double x, double y, const Colour& colour, double opacity) {
  body_ += formatted(
      "<rect x=\"%.1f\" y=\"%.1f\" width=\"18\" height=\"12\" rx=\"3\" fill=\"%s\" fill-opacity=\"%.2f\" "
      "stroke=\"%s\"/>\n",
      x, y - 11, hex(colour).c_str(), opacity, hex(mixed(colour, Colour::Zero(), 0.3)).c_str());
}

void SvgScene::swatch_dot(double x, double y, double radius, const Colour& colour) {
  body_ += formatted("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\" stroke=\"#fff\" stroke-width=\"1.6\"/>\n",
                     x, y, radius, hex(colour).c_str());
}

void SvgScene::swatch_arrow(double x, double y, const Colour& colour) {
  line({x, y}, {x + 12, y}, colour, 2.5, "");
  arrow_head({x, y}, {x + 16, y}, colour);
}

std::string SvgScene::svg(const std::string& title) const {
  return formatted(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"system-ui, 'Segoe UI', "
             "Roboto, "
             "'DejaVu Sans', sans-serif\" role=\"img\" aria-label=\"%s\">\n",
             width_, height_, title.c_str()) +
         "<defs>\n<filter id=\"soft\" x=\"-30%\" y=\"-30%\" width=\"160%\" height=\"160%\"><feGaussianBlur "
         "stdDeviation=\"7\"/></filter>\n"
         "<linearGradient id=\"paper\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\"><stop offset=\"0\" stop-color=\"#ffffff\"/>"
         "<stop offset=\"1\" stop-color=\"#eef2f7\"/></linearGradient>\n</defs>\n" +
         formatted("<rect width=\"%.0f\" height=\"%.0f\" fill=\"url(#paper)\"/>\n", width_, height_) + body_ +
         "</svg>\n";
}

}  // namespace tangere::cli
