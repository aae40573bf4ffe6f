/// One traversal for reading and writing: `for_each` calls f(name, value) for each parameter of a primitive in the
/// order of the rows' derivatives (rows_*.cpp), and what f writes to value goes into the specification.

#include "tangere/geometry/internal/parameters.hpp"

#include "tangere/math/check.hpp"

namespace tangere::internal {
namespace {

constexpr const char* kAxis[3] = {"x", "y", "z"};

template <class F>
void for_each(Sphere& sphere, F&& f) {
  f("radius", sphere.radius);
}

template <class F>
void for_each(Ellipsoid& ellipsoid, F&& f) {
  if (!ellipsoid.P) {
    for (int i = 0; i < 3; ++i) f(std::string("semi_axes.") + kAxis[i], ellipsoid.semi_axes[i]);
    return;
  }
  // an entry off the diagonal stands for both
  constexpr int kEntries[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  for (const auto& [i, j] : kEntries) {
    f(std::string("P.") + kAxis[i] + kAxis[j], (*ellipsoid.P)(i, j));
    (*ellipsoid.P)(j, i) = (*ellipsoid.P)(i, j);
  }
}

template <class F>
void for_each(Box& box, F&& f) {
  for (int i = 0; i < 3; ++i) f(std::string("size.") + kAxis[i], box.size[i]);
}

template <class Faces, class F>
void for_each_face(const std::string& faces, Faces& A, const std::string& offsets, VectorX& b, F&& f) {
  for (Eigen::Index i = 0; i < A.rows(); ++i)
    for (Eigen::Index k = 0; k < A.cols(); ++k) f(faces + "[" + std::to_string(i) + "]." + kAxis[k], A(i, k));
  for (Eigen::Index i = 0; i < b.size(); ++i) f(offsets + "[" + std::to_string(i) + "]", b[i]);
}

template <class F>
void for_each(Polytope& polytope, F&& f) {
  for_each_face("A", polytope.A, "b", polytope.b, f);
}

template <class F>
void for_each(RoundedPolytope& rounded, F&& f) {
  for_each(rounded.core, f);
  f("radius", rounded.radius);
}

template <class F>
void for_each(Capsule& capsule, F&& f) {
  f("radius", capsule.radius);
  f("length", capsule.length);
}

template <class F>
void for_each(Cylinder& cylinder, F&& f) {
  f("radius", cylinder.radius);
  f("length", cylinder.length);
}

template <class F>
void for_each(Cone& cone, F&& f) {
  f("height", cone.height);
  f("half_angle", cone.half_angle);
}

template <class F>
void for_each(PaddedPolygon& polygon, F&& f) {
  for_each_face("C", polygon.C, "d", polygon.d, f);
  f("radius", polygon.radius);
}

template <class F>
void for_each(HalfSpace& half_space, F&& f) {
  for (int i = 0; i < 3; ++i) f(std::string("normal.") + kAxis[i], half_space.normal[i]);
  f("offset", half_space.offset);
}

template <class Spec>
concept Composite = requires(Spec spec) {
  spec.parts;
};

std::string part_name(std::size_t i) { return "parts[" + std::to_string(i) + "]"; }

struct Read {
  template <class Spec>
  ParameterList operator()(const Spec& spec) const {
    ParameterList list;
    Spec copy = spec;
    for_each(copy, [&](const std::string& name, double& value) {
      list.names.push_back(name);
      list.values.push_back(value);
    });
    return list;
  }

  template <Composite Spec>
  ParameterList operator()(const Spec& spec) const {
    ParameterList list;
    for (std::size_t i = 0; i < spec.parts.size(); ++i) {
      const Shape& shape = spec.parts[i].shape;
      for (const std::string& name : shape.parameter_names()) list.names.push_back(part_name(i) + "." + name);
      list.values.insert(list.values.end(), shape.parameters().begin(), shape.parameters().end());
    }
    return list;
  }
};

struct Write {
  const VectorX& values;

  template <class Spec>
  ShapeSpec operator()(const Spec& spec) const {
    Spec copy = spec;
    Eigen::Index next = 0;
    for_each(copy, [&](const std::string&, double& value) { value = values[next++]; });
    return copy;
  }

  template <Composite Spec>
  ShapeSpec operator()(const Spec& spec) const {
    Spec result;
    Eigen::Index next = 0;
    for (std::size_t i = 0; i < spec.parts.size(); ++i) {
      const Shape& shape = spec.parts[i].shape;
      const Eigen::Index count = shape.parameters().size();
      result.parts.push_back(
          {with_prefix(part_name(i), [&] { return shape.with_parameters(values.segment(next, count)); }),
           spec.parts[i].X});
      next += count;
    }
    return result;
  }
};

}  // namespace

ParameterList parameters_of(const ShapeSpec& spec) { return std::visit(Read{}, spec); }

ShapeSpec with_parameters_of(const ShapeSpec& spec, const VectorX& values) { return std::visit(Write{values}, spec); }

}  // namespace tangere::internal
