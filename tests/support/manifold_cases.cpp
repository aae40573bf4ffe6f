#include "tests/support/manifold_cases.hpp"

#include <cmath>
#include <numbers>

#include "tangere/geometry/support.hpp"
#include "tangere/math/random.hpp"
#include "tangere/math/so3.hpp"

namespace tangere::test {
namespace {

constexpr double kPi = std::numbers::pi;

MatrixX3 box_corners(double x, double y, double z) {
  MatrixX3 corners(8, 3);
  for (int i = 0; i < 8; ++i)
    corners.row(i) << ((i & 1) != 0 ? x : -x), ((i & 2) != 0 ? y : -y), ((i & 4) != 0 ? z : -z);
  return corners;
}

Pose at(double x, double y, double z) { return Pose::translation({x, y, z}); }
Pose at(double x, double y, double z, const Vector3& turn) { return {so3::exp(turn), {x, y, z}}; }

/// B turned, its lowest point 0.01 below the highest of A and shifted sideways from it.
Pose resting(const Shape& A, const Pose& X_A, const Shape& B, const Vector3& turn, double x = 0.0, double y = 0.0) {
  const Matrix3 R = so3::exp(turn);
  const Vector3 top = X_A * support(A, X_A.R.transpose() * Vector3::UnitZ());
  const Vector3 bottom = R * support(B, -(R.transpose() * Vector3::UnitZ()));
  return {R, top - bottom + Vector3(x, y, -0.01)};
}

std::vector<ManifoldCase> make_cases() {
  Random random(31);
  std::vector<ManifoldCase> cases;
  // A about the origin, B above; B tilted a little, the whole moved anywhere
  const auto add = [&](const std::string& name, const Shape& A, const Pose& X_A, const Shape& B, const Pose& X_B,
                       int num_points, std::vector<std::string> types) {
    const Pose X(random.rotation(), random.normal3());
    const Pose tilt = Pose::rotation(so3::exp(1e-3 * random.unit_vector()));
    cases.push_back({{name, A, X * X_A, B, X * X_B * tilt}, num_points, std::move(types)});
  };
  const Shape box = Box{{1, 1.1, 1.2}};
  const Shape slab = Box{{4, 5, 1}};
  const Shape hull = Polytope::from_vertices(box_corners(0.5, 0.4, 0.5));
  const Shape rounded = RoundedPolytope{Polytope::from_vertices(box_corners(0.5, 0.4, 0.3)), 0.1};
  const Shape pad = PaddedPolygon{(MatrixX2(4, 2) << 1, 0, -1, 0, 0, 1, 0, -1).finished(),
                                  (VectorX(4) << 0.5, 0.5, 0.4, 0.4).finished(), 0.1};
  const Shape plane = HalfSpace{{0, 0, 2}, 0.0};
  const Shape sphere = Sphere{0.3};
  const Shape capsule = Capsule{0.2, 1.0};
  const Shape wire = Capsule{0.05, 3.0};
  const Shape cylinder = Cylinder{0.3, 1.0};
  const double half_angle = 0.4;
  const Shape cone = Cone{1.0, half_angle};
  const Shape ellipsoid = Ellipsoid{{0.3, 0.5, 0.2}};
  const Shape sum = MinkowskiSum{{{Box{{0.6, 0.8, 0.4}}, Pose()}, {Cylinder{0.2, 0.3}, at(0, 0, 0, {0, kPi / 2, 0})}}};
  const Shape curved = MinkowskiSum{{{ellipsoid, Pose()}, {Cylinder{0.2, 0.3}, at(0, 0, 0, {0, 0.4, 0})}}};
  const Vector3 stand(0, kPi / 2, 0);
  const Vector3 upside_down(0, -kPi / 2, 0);
  const double on_side = 0.75 * std::sin(half_angle);
  const Vector3 tilt_edge(kPi / 4, 0, 0);
  const Matrix3 quarter = so3::exp(Vector3(0, 0, 1.3));
  const double edge = 0.5 * std::hypot(1.1, 1.2);
  const double edge_angle = std::atan2(1.1, 1.2);

  // flat on flat
  add("box_plane", plane, {}, box, at(0, 0, 0.59), 4, {"plane-vertex"});
  add("box_slab", slab, {}, box, at(0.2, 0.1, 1.09), 4, {"face-vertex"});
  add("slab_box", box, {}, slab, at(0.2, 0.1, 1.09), 4, {"vertex-face"});
  add("hull_slab", slab, {}, hull, at(0.2, 0.1, 0.99), 4, {"face-vertex"});
  add("box_offset", box, {}, box, at(0.3, 0.2, 1.19), 4, {"face-vertex", "vertex-face", "edge-edge"});
  add("box_turned", box, {}, box, at(0.02, 0.01, 1.19, {0, 0, kPi / 4}), 8, {"edge-edge"});
  add("rounded_plane", plane, {}, rounded, at(0, 0, 0.39), 4, {"plane-sphere"});
  add("rounded_box", box, {}, rounded, at(0.3, 0.35, 0.99), 4, {"face-sphere", "edge-pipe", "vertex-face"});
  add("rounded_rounded", rounded, {}, rounded, at(0.3, 0.2, 0.79, {0, 0, 0.1}), 4,
      {"face-sphere", "pipe-pipe", "sphere-face"});
  add("pad_box", slab, {}, pad, at(0.3, 0.2, 0.59), 4, {"face-sphere"});
  add("sum_slab", slab, {}, sum, at(0.3, 0.2, 0.84), 8, {"face-vertex"});
  // lines and points on flat
  add("edge_slab", slab, {}, box, at(0, 0, 0.49 + edge, {edge_angle, 0, 0}), 2, {"face-vertex"});
  add("edge_over_edge", slab, {}, box, at(1.8, 0, 0.49 + edge, {edge_angle, 0, 0}), 2, {"face-vertex", "edge-edge"});
  add("vertex_slab", slab, {}, box, resting(slab, {}, box, {edge_angle, 0.5, 0}, -2, -2), 1, {"face-vertex"});
  add("sphere_plane", plane, {}, sphere, at(0, 0, 0.29), 1, {"plane-sphere"});
  add("sphere_face", sphere, {}, slab, at(0, 0, 0.79), 1, {"sphere-face"});
  add("capsule_plane", plane, {}, capsule, at(0, 0, 0.19), 2, {"plane-sphere"});
  add("capsule_end_slab", slab, {}, capsule, at(0, 0, 1.19, stand), 1, {"face-sphere"});
  add("capsule_slab", slab, {}, capsule, at(1.8, 0, 0.69), 2, {"face-sphere", "edge-pipe"});
  add("cylinder_lying", plane, {}, cylinder, at(0, 0, 0.29), 2, {"plane-rim"});
  add("cylinder_lying_over_edge", slab, {}, cylinder, at(1.8, 0.1, 0.79), 2, {"face-rim", "edge-pipe"});
  add("cylinder_standing", plane, {}, cylinder, at(0, 0, 0.49, stand), 8, {"plane-rim"});
  add("cylinder_over_edge", slab, {}, cylinder, at(1.9, 0, 0.99, stand), 7, {"face-rim", "edge-rim"});
  add("vertex_cap", cylinder, at(0, 0, 0, upside_down), hull,
      resting(cylinder, at(0, 0, 0, upside_down), hull, {0.8, 0.5, 0}, -0.1, 0.05), 1, {"face-vertex"});
  add("cylinder_tilted", slab, {}, cylinder, resting(slab, {}, cylinder, {0, 0.5, 0}, -2, -2), 1, {"face-rim"});
  add("cone_base", slab, {}, cone, at(0, 0, 0.74, stand), 8, {"face-rim"});
  add("cone_apex", slab, {}, cone, at(0, 0, 1.24, upside_down), 1, {"face-vertex"});
  add("cone_side", slab, {}, cone, at(0, 0, 0.49 + on_side, {0, -half_angle, 0}), 2, {"face-rim", "face-vertex"});
  add("ellipsoid_face", slab, {}, ellipsoid, resting(slab, {}, ellipsoid, {0.3, 0.2, 0}, -2, -2), 1, {"face-surface"});
  add("curved_face", slab, {}, curved, resting(slab, {}, curved, {0.3, 0.2, 0}, -2, -2), 1, {"face-surface"});
  // parallel lines
  add("capsules_parallel", capsule, {}, wire, at(0.3, 0, 0.24), 2, {"sphere-pipe"});
  add("capsules_offset", capsule, {}, capsule, at(0.3, 0, 0.39), 2, {"sphere-pipe", "pipe-sphere"});
  add("cylinders_parallel", cylinder, {}, cylinder, at(0.3, 0, 0.59), 2, {"rim-pipe", "pipe-rim"});
  add("capsule_edge_parallel", box, at(0, 0, 0, {edge_angle, 0, 0}), wire, at(0.3, 0, edge + 0.04), 2, {"vertex-pipe"});
  add("cone_capsule_parallel", cone, at(0, 0, 0, {0, half_angle, 0}), wire, at(0.2, 0, on_side + 0.04), 2,
      {"vertex-pipe", "rim-pipe"});
  // one point
  add("edges_crossed", box, at(0, 0, 0, {edge_angle, 0, 0}), box,
      Pose(quarter * so3::exp(Vector3(edge_angle, 0, 0)), Vector3(0.1, 0.05, 2 * edge - 0.01)), 1, {"edge-edge"});
  add("sphere_edge", box, at(0, 0, 0, tilt_edge), sphere, at(0.1, 0, edge + 0.28), 1, {"edge-sphere"});
  add("sphere_vertex", box, {}, sphere, at(0.65, 0.7, 0.78), 1, {"vertex-sphere"});
  add("spheres", sphere, {}, Sphere{0.5}, at(0.3, 0.4, 0.6), 1, {"sphere-sphere"});
  add("capsule_sphere", capsule, {}, sphere, at(0.2, 0, 0.49), 1, {"pipe-sphere"});
  add("capsules_crossed", capsule, {}, wire, Pose(quarter, Vector3(0.1, 0, 0.24)), 1, {"pipe-pipe"});
  add("capsule_edge", box, at(0, 0, 0, {edge_angle, 0, 0}), capsule, Pose(quarter, Vector3(0.1, 0, edge + 0.19)), 1,
      {"edge-pipe"});
  add("capsule_vertex", box, at(0, 0, 0, {edge_angle, 0.7, 0}), capsule,
      resting(box, at(0, 0, 0, {edge_angle, 0.7, 0}), capsule, {0, 0.05, 0.4}, 0.3, 0), 1, {"vertex-pipe"});
  add("rim_sphere", cylinder, {}, sphere, at(0.6, 0.25, 0.4), 1, {"rim-sphere"});
  add("rim_edge", cylinder, at(0, 0, 0, {0, 0.7, 0}), box,
      resting(cylinder, at(0, 0, 0, {0, 0.7, 0}), box, {edge_angle, 0, 0}, -0.45, 0.01), 1, {"rim-edge"});
  add("cylinders_crossed", cylinder, {}, cylinder, Pose(quarter, Vector3(0.1, 0, 0.59)), 1, {"pipe-pipe"});
  add("cone_ruling_sphere", cone, at(0, 0, 0, {0, half_angle, 0}), sphere, at(0, 0, on_side + 0.29), 1,
      {"ruling-sphere"});
  add("cone_ruling_capsule", cone, at(0, 0, 0, {0, half_angle, 0}), capsule,
      Pose(quarter, Vector3(0, 0, on_side + 0.19)), 1, {"ruling-pipe"});
  add("cone_rim_ellipsoid", cone, at(0, 0, 0, {0.1, -0.9, 0}), ellipsoid,
      resting(cone, at(0, 0, 0, {0.1, -0.9, 0}), ellipsoid, {0.3, 0.2, 0}), 1, {"rim-surface"});
  add("apex_sphere", cone, at(0, 0, 0, stand), sphere, at(0.05, 0, 1.04), 1, {"vertex-sphere"});
  add("ellipsoids", ellipsoid, at(0, 0, 0, {0.3, 0.2, 0}), ellipsoid, at(0.1, 0.2, 0.4, {0.5, 0.1, 0.4}), 1,
      {"surface-surface"});
  add("ellipsoid_capsule", ellipsoid, at(0, 0, 0, {0.3, 0.2, 0}), capsule, at(0.1, 0, 0.42, {0, 0, 0.7}), 1,
      {"surface-pipe"});
  add("ellipsoid_edge", box, at(0, 0, 0, {edge_angle, 0, 0}), ellipsoid, at(0.1, 0.05, edge + 0.2, {0.3, 0.2, 0}), 1,
      {"edge-surface"});
  add("curved_ellipsoid", curved, {}, ellipsoid, at(0.1, 0.2, 0.6, {0.5, 0.1, 0.4}), 1, {"surface-surface"});
  return cases;
}

}  // namespace

const std::vector<ManifoldCase>& manifold_cases() {
  static const std::vector<ManifoldCase> cases = make_cases();
  return cases;
}

}  // namespace tangere::test
