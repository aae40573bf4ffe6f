/// Convex hulls, and which of many boxes overlap.

#include "python/src/support.hpp"
#include "tangere/geometry/hull.hpp"
#include "tangere/geometry/mass_properties.hpp"
#include "tangere/proximity/broad_phase.hpp"

namespace tangere::python {
namespace {

using nb::literals::operator""_a;

/// Lower and upper corner, as `bounds` answers.
Aabb read_box(const Numbers& lower, const Numbers& upper) {
  return {read_vector3(lower, "lower"), read_vector3(upper, "upper")};
}

nb::list pair_list(std::span<const BodyPair> pairs) {
  nb::list out;
  for (const BodyPair& pair : pairs) out.append(nb::make_tuple(pair.a, pair.b));
  return out;
}

void bind_hulls(nb::module_& m) {
  nb::class_<Hull>(m, "Hull", "A convex polyhedron in both descriptions.")
      .def_prop_ro(
          "vertices", [](const Hull& h) { return to_array(h.vertices); }, "Extreme points, (n, 3).")
      .def_prop_ro(
          "normals", [](const Hull& h) { return to_array(h.normals); }, "Unit, (faces, 3): normals p <= offsets.")
      .def_prop_ro(
          "offsets", [](const Hull& h) { return to_array(h.offsets); }, "(faces,).")
      .def_ro("faces", &Hull::faces, "Each face's vertices, counter-clockwise seen from outside.")
      .def("__repr__", [](const Hull& h) {
        return "Hull(vertices=" + std::to_string(h.vertices.rows()) + ", faces=" + std::to_string(h.normals.rows()) +
               ")";
      });
  m.def(
      "hull_of_points", [](const Numbers& points) { return hull_of_points(read_matrix(points, "points", -1, 3)); },
      "points"_a, "The convex hull of points, (n, 3).");
  m.def(
      "hull_of_half_spaces",
      [](const Numbers& A, const Numbers& b) {
        const MatrixX3 normals = read_matrix(A, "A", -1, 3);
        return hull_of_half_spaces(normals, read_vector(b, "b", normals.rows()));
      },
      "A"_a, "b"_a, "The polyhedron A p <= b, with b > 0.");
  m.def(
      "combined", [](const std::vector<MassProperties>& bodies) { return combined(bodies); }, "bodies"_a,
      "Mass properties of several bodies held together, all given in one frame.");
}

void bind_boxes(nb::module_& m) {
  nb::class_<BroadPhase>(m, "BroadPhase", "Which of many boxes overlap, step after step. Of one thread.")
      .def(
          "__init__",
          [](BroadPhase* self, double margin) { new (self) BroadPhase(BroadPhaseOptions{.margin = margin}); },
          "margin"_a = BroadPhaseOptions{}.margin, "`margin`: of the kept boxes, a part of the longest edge, 0 to 10.")
      .def(
          "add",
          [](BroadPhase& b, const Numbers& lower, const Numbers& upper, std::uint32_t group, std::uint32_t mask) {
            return b.add(read_box(lower, upper), {group, mask});
          },
          "lower"_a, "upper"_a, "group"_a = CollisionBits{}.group, "mask"_a = CollisionBits{}.mask,
          "A new body; its id is the smallest one free. Two bodies may be a pair if the mask of each has a bit of the "
          "other's group.")
      .def(
          "remove", [](BroadPhase& b, int id) { b.remove(id); }, "id"_a, "Of a body.")
      .def(
          "update",
          [](BroadPhase& b, int id, const Numbers& lower, const Numbers& upper) {
            b.update(id, read_box(lower, upper));
          },
          "id"_a, "lower"_a, "upper"_a, "Moves a body's box.")
      .def("__len__", [](const BroadPhase& b) { return b.size(); })
      .def(
          "pairs", [](BroadPhase& b) { return pair_list(b.pairs()); },
          nb::sig("def pairs(self) -> list[tuple[int, int]]"), "All pairs of overlapping boxes, in order.")
      .def(
          "overlaps",
          [](BroadPhase& b, const Numbers& lower, const Numbers& upper) {
            const std::span<const int> ids = b.overlaps(read_box(lower, upper));
            return std::vector<int>(ids.begin(), ids.end());
          },
          "lower"_a, "upper"_a, "The ids of all boxes that overlap the given one.");
}

}  // namespace

void bind_broad_phase(nb::module_& m) {
  bind_hulls(m);
  bind_boxes(m);
}

}  // namespace tangere::python
