#include "tests/support/all_shapes.hpp"

#include <cmath>
#include <numbers>
#include <ostream>

#include "tangere/math/random.hpp"
#include "tests/support/random_shapes.hpp"

namespace tangere::test {
namespace {

MatrixX3 cube_corners() {
  MatrixX3 corners(8, 3);
  for (int i = 0; i < 8; ++i)
    corners.row(i) << ((i & 1) != 0 ? 1 : -1), ((i & 2) != 0 ? 1 : -1), ((i & 4) != 0 ? 1 : -1);
  return corners;
}

/// A prism over a regular polygon, off centre along its axis.
MatrixX3 prism_corners(int sides) {
  MatrixX3 corners(2 * sides, 3);
  for (int i = 0; i < sides; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / sides;
    corners.row(2 * i) << -0.3, std::cos(angle), std::sin(angle);
    corners.row(2 * i + 1) << 0.9, std::cos(angle), std::sin(angle);
  }
  return corners;
}

PaddedPolygon pentagon(double radius) {
  MatrixX2 C(5, 2);
  VectorX d(5);
  for (int i = 0; i < 5; ++i) {
    C.row(i) << 2.0 * std::cos(0.4 * std::numbers::pi * i), 2.0 * std::sin(0.4 * std::numbers::pi * i);
    d[i] = 0.8 + 0.2 * i;
  }
  return {C, d, radius};
}

std::vector<NamedShape> make_shapes() {
  Random random(42);
  const auto turned = [&](double x, double y, double z) { return Pose(random.rotation(), Vector3(x, y, z)); };

  std::vector<NamedShape> shapes;
  const auto add = [&](const char* name, Shape shape) { shapes.push_back({name, std::move(shape)}); };
  add("sphere", Sphere{.radius = 0.7});
  add("tiny_sphere", Sphere{.radius = 1e-4});
  add("ellipsoid", Ellipsoid{.semi_axes = {0.5, 1.0, 1.5}});
  add("needle_ellipsoid", Ellipsoid{.semi_axes = {0.01, 2.0, 0.02}});
  const Matrix3 P{{2.0, 0.3, -0.4}, {0.3, 1.0, 0.2}, {-0.4, 0.2, 3.0}};
  add("ellipsoid_by_P", Ellipsoid{.P = P});
  add("box", Box{.size = {1.0, 2.0, 0.6}});
  add("plate", Box{.size = {5.0, 0.01, 3.0}});
  add("cube_by_vertices", Polytope::from_vertices(cube_corners()));
  add("prism_by_vertices", Polytope::from_vertices(prism_corners(7)));
  add("polytope", random_polytope(random, 12));
  Polytope unnormalised = random_polytope(random, 20);
  for (int i = 0; i < 20; ++i) {
    const double factor = random.log_uniform(0.1, 10.0);
    unnormalised.A.row(i) *= factor;
    unnormalised.b[i] *= factor;
  }
  add("unnormalised_polytope", unnormalised);
  add("skewed_polytope", random_polytope(random, 10, 1.0, 100.0));
  add("rounded_cube", RoundedPolytope{.core = Polytope::from_vertices(cube_corners()), .radius = 0.3});
  add("rounded_polytope", RoundedPolytope{.core = random_polytope(random, 9), .radius = 0.2});
  add("capsule", Capsule{.radius = 0.4, .length = 1.5});
  add("thin_capsule", Capsule{.radius = 0.01, .length = 3.0});
  add("cylinder", Cylinder{.radius = 0.6, .length = 1.1});
  add("disk", Cylinder{.radius = 2.0, .length = 0.02});
  add("cone", Cone{.height = 1.2, .half_angle = 0.5});
  add("blunt_cone", Cone{.height = 0.3, .half_angle = 1.4});
  add("padded_polygon", pentagon(0.15));
  add("thick_padded_polygon", pentagon(2.0));
  add("halfspace", HalfSpace{.normal = {1.0, -2.0, 0.5}, .offset = 0.4});
  const Shape exact_sum = MinkowskiSum{
      {{Box{.size = {0.5, 0.7, 0.9}}, turned(0.1, 0.0, 0.0)}, {random_polytope(random, 8), turned(0.0, 0.1, 0.0)}}};
  add("polytope_sum", exact_sum);
  add("padded_sum", MinkowskiSum{{{Capsule{.radius = 0.2, .length = 1.0}, turned(0.3, 0.2, 0.0)},
                                  {pentagon(0.1), turned(0.0, -0.1, 0.1)},
                                  {Sphere{.radius = 0.1}, Pose()}}});
  const Shape curved_sum = MinkowskiSum{{{Cone{.height = 0.8, .half_angle = 0.6}, turned(0.1, 0.1, 0.0)},
                                         {Ellipsoid{.semi_axes = {0.2, 0.5, 0.3}}, turned(0.0, -0.1, 0.0)}}};
  add("curved_sum", curved_sum);
  add("nested_sum", MinkowskiSum{{{curved_sum, turned(0.2, 0.0, 0.3)},
                                  {Cylinder{.radius = 0.3, .length = 0.5}, turned(0.1, 0.2, 0.0)},
                                  {exact_sum, turned(-0.1, 0.0, 0.1)}}});
  add("bundle", Bundle{{{Box{.size = {1.0, 1.0, 1.0}}, Pose()},
                        {Capsule{.radius = 0.2, .length = 1.0}, turned(2.0, 0.0, 0.0)},
                        {exact_sum, turned(0.0, 4.0, 0.0)}}});
  return shapes;
}

}  // namespace

const std::vector<NamedShape>& all_shapes() {
  static const std::vector<NamedShape> shapes = make_shapes();
  return shapes;
}

std::vector<NamedShape> convex_shapes() {
  std::vector<NamedShape> selected;
  for (const NamedShape& named : all_shapes())
    if (named.shape.is_convex()) selected.push_back(named);
  return selected;
}

std::vector<NamedShape> bounded_convex_shapes() {
  std::vector<NamedShape> selected;
  for (const NamedShape& named : convex_shapes())
    if (!named.shape.is_half_space()) selected.push_back(named);
  return selected;
}

void PrintTo(const NamedShape& shape, std::ostream* stream) { *stream << shape.name; }

}  // namespace tangere::test
