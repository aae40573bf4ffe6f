#include "apps/cli/demo_pictures.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "apps/cli/demo_shapes.hpp"
#include "apps/cli/svg_scene.hpp"
#include "apps/cli/text.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/proximity/scaling.hpp"

namespace tangere::cli {
namespace {

constexpr double kWidth = 760.0;
constexpr double kHeight = 560.0;

const Colour kBlue(0.20, 0.45, 0.86);
const Colour kAmber(0.96, 0.60, 0.16);
const Colour kRed(0.86, 0.10, 0.22);
const Colour kGreen(0.03, 0.45, 0.33);
const Colour kInk(0.12, 0.16, 0.22);
const Colour kSoft(0.39, 0.45, 0.54);

struct PosedShape {
  Shape shape;
  Pose X;
  Colour colour;
};

/// The surface in the world, scaled about the shape's origin.
TriangleMesh world_mesh(const PosedShape& posed, double scale) {
  TriangleMesh surface = mesh(posed.shape, {.resolution = 64});
  for (Vector3& vertex : surface.vertices) vertex = posed.X * Vector3(scale * vertex);
  return surface;
}

std::string relation(double alpha) {
  if (alpha > 1.0 + 1e-6) return "apart";
  return alpha < 1.0 - 1e-6 ? "overlapping" : "touching";
}

/// `padded_polygon` as words.
std::string words(std::string_view type) {
  std::string text(type);
  std::replace(text.begin(), text.end(), '_', ' ');
  if (text.starts_with("minkowski")) text[0] = 'M';
  return text;
}

void draw_caption(SvgScene& scene, const PosedShape& a, const PosedShape& b, const Scaling& result) {
  const Vector3& n = result.normal;
  scene.text(28, 40, 20, kInk,
             words(a.shape.type_name()) + " and " + words(b.shape.type_name()) + ", " + relation(result.alpha), true);
  scene.text(28, 64, 15, kSoft, formatted("α = %.4f,  normal = (%.3f, %.3f, %.3f)", result.alpha, n[0], n[1], n[2]));
}

void draw_legend(SvgScene& scene, const PosedShape& a, const PosedShape& b, double alpha) {
  const double y = kHeight - 24;
  double x = 28;
  const auto entry = [&](const std::string& label, double width) {
    scene.text(x + 26, y, 14, kInk, label);
    x += width;
  };
  const double plain = alpha < 1.0 - 1e-6 ? 0.3 : 1.0;
  scene.swatch(x, y, a.colour, plain);
  entry("A", 56);
  scene.swatch(x, y, b.colour, plain);
  entry("B", 56);
  if (relation(alpha) != "touching") {
    scene.swatch(x, y, a.colour, 1.3 - plain);
    x += 22;
    scene.swatch(x, y, b.colour, 1.3 - plain);
    entry("scaled by α", 128);
  }
  scene.swatch_dot(x + 9, y - 5, 6, kRed);
  entry("touching point", 146);
  if (relation(alpha) != "touching") {
    scene.swatch_dot(x + 9, y - 5, 4, kInk);
    entry("witness points", 146);
  }
  scene.swatch_arrow(x, y - 5, kGreen);
  entry("normal", 90);
}

/// The touching plane separates the scaled copies, and all that is inside them: what is beyond it as seen from the eye
/// is painted first.
void draw_bodies(SvgScene& scene, const PosedShape& a, const PosedShape& b, const Scaling& result) {
  const bool eye_beyond_plane = result.normal.dot(scene.eye() - result.x) > 0.0;
  const PosedShape& far = eye_beyond_plane ? a : b;
  const PosedShape& near = eye_beyond_plane ? b : a;
  const double smaller = std::min(1.0, result.alpha);
  const double larger = std::max(1.0, result.alpha);
  const bool veils = relation(result.alpha) != "touching";
  if (result.alpha >= 1.0) {
    for (const PosedShape* posed : {&far, &near}) {
      scene.surface(world_mesh(*posed, smaller), posed->colour, 1.0);
      if (veils) scene.surface(world_mesh(*posed, larger), posed->colour, 0.24);
    }
  } else {
    // the shapes themselves overlap, and their copies are inside both
    for (const PosedShape* posed : {&far, &near}) scene.surface(world_mesh(*posed, smaller), posed->colour, 1.0);
    if (veils)
      for (const PosedShape* posed : {&far, &near}) scene.surface(world_mesh(*posed, larger), posed->colour, 0.24);
  }
}

Picture draw(const std::string& name, const PosedShape& a, const PosedShape& b, const Vector3& view) {
  ScalingWorkspace workspace;
  const Scaling result = scaling(a.shape, a.X, b.shape, b.X, {}, workspace);

  // all that is to be seen
  std::vector<Vector3> points;
  for (const PosedShape* posed : {&a, &b}) {
    const TriangleMesh outer = world_mesh(*posed, std::max(1.0, result.alpha));
    points.insert(points.end(), outer.vertices.begin(), outer.vertices.end());
  }
  double floor = points.front()[2];
  for (const Vector3& p : points) floor = std::min(floor, p[2]);
  floor -= 0.02;
  for (const PosedShape* posed : {&a, &b})
    for (const Vector3& p : world_mesh(*posed, 1.0).vertices) points.push_back(shadow_point(p, floor));

  SvgScene scene(kWidth, kHeight);
  scene.look(points, view, {70, 92, kWidth - 140, kHeight - 180});
  for (const PosedShape* posed : {&a, &b}) scene.shadow(world_mesh(*posed, 1.0).vertices, floor);
  draw_bodies(scene, a, b, result);

  // the answer, on top
  if (relation(result.alpha) != "touching") {
    // from each centre through x and the witness point, whichever is farther
    const double reach = std::max(1.0, 1.0 / result.alpha);
    scene.dashed_line(a.X.p, a.X.p + reach * (result.x - a.X.p), kInk);
    scene.dashed_line(b.X.p, b.X.p + reach * (result.x - b.X.p), kInk);
    scene.dot(result.p_A, 4, kInk);
    scene.dot(result.p_B, 4, kInk);
  }
  scene.arrow(result.x, result.x + 0.55 * result.normal, kGreen);
  scene.dot(result.x, 6.5, kRed);
  draw_caption(scene, a, b, result);
  draw_legend(scene, a, b, result.alpha);
  return {name, scene.svg(words(a.shape.type_name()) + " and " + words(b.shape.type_name()))};
}

Pose posed(const Vector3& p, const Vector3& rotation) { return {so3::exp(rotation), p}; }

PaddedPolygon hexagon(double size, double radius) {
  PaddedPolygon polygon{MatrixX2(6, 2), VectorX::Constant(6, size), radius};
  for (int i = 0; i < 6; ++i)
    polygon.C.row(i) << std::cos(i * std::numbers::pi / 3.0), std::sin(i * std::numbers::pi / 3.0);
  return polygon;
}

/// B moved along the line of centres until the shapes touch: alpha is proportional to the distance of the centres.
Pose touching(const DemoPair& pair) {
  ScalingWorkspace workspace;
  const double alpha =
      scaling(pair.shape_A, pair.X_WA, pair.shape_B, pair.X_WB, ScalingOptions{.tolerance = 1e-12}, workspace).alpha;
  return {pair.X_WB.R, pair.X_WA.p + (pair.X_WB.p - pair.X_WA.p) / alpha};
}

}  // namespace

std::vector<DemoPair> demo_pairs() {
  Random random(7);
  std::vector<DemoPair> pairs;
  const auto add = [&](const char* name, const Shape& a, const Pose& X_WA, const Shape& b, const Pose& X_WB) {
    pairs.push_back({name, a, X_WA, b, X_WB});
  };
  add("apart", Cone{.height = 1.8, .half_angle = 0.42}, posed({-1.1, 0.0, 0.1}, {0.3, 2.4, 0.4}),
      random_demo_polytope(16, 1.5, random), posed({1.3, 0.1, 0.35}, {0.2, 0.1, 0.5}));
  add("touching", Cylinder{.radius = 0.55, .length = 1.6}, posed({-0.8, 0.0, 0.0}, {0.1, -1.2, 0.3}),
      hexagon(0.75, 0.22), posed({1.0, -0.1, 0.25}, {0.9, 0.35, 0.2}));
  pairs.back().X_WB = touching(pairs.back());
  add("overlapping", Box{.size = {1.5, 1.1, 1.0}}, posed({-0.35, 0.0, 0.0}, {0.15, 0.1, -0.4}),
      Ellipsoid{.semi_axes = {1.0, 0.6, 0.7}}, posed({0.55, -0.1, 0.25}, {0.0, 0.4, -0.3}));
  add("sum", Capsule{.radius = 0.35, .length = 1.3}, posed({-1.0, 0.0, 0.2}, {0.0, -0.9, 0.4}),
      MinkowskiSum{{{Box{.size = {0.8, 0.8, 0.8}}, posed({0, 0, 0}, {0.2, 0.3, 0.1})},
                    {Cylinder{.radius = 0.35, .length = 0.3}, posed({0, 0, 0}, {0.0, 1.5707963, 0.0})}}},
      posed({1.0, 0.1, 0.0}, {0.0, 0.0, 0.3}));
  return pairs;
}

std::vector<Picture> demo_pictures() {
  const Vector3 view(0.35, -1.0, 0.42);
  std::vector<Picture> pictures;
  for (const DemoPair& pair : demo_pairs())
    pictures.push_back(draw(pair.name, {pair.shape_A, pair.X_WA, kBlue}, {pair.shape_B, pair.X_WB, kAmber}, view));
  return pictures;
}

}  // namespace tangere::cli
