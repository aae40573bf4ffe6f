#include "tangere/geometry/support_terms.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include <Eigen/Eigenvalues>

#include "tangere/geometry/internal/rows.hpp"
#include "tangere/geometry/vertex_graph.hpp"
#include "tangere/math/block_memory.hpp"

namespace tangere {
namespace {

using Kind = SupportTerm::Kind;

int padded(const SupportSum::Term& term) {
  constexpr int padding = SupportTerm::kVertexPadding;
  return (static_cast<int>(term.vertices.rows()) + padding - 1) / padding * padding;
}

constexpr std::size_t kLine = 64;
std::size_t in_lines(std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

/// The edges of a term's hull and the memory that they take behind its vertices; none for small ones.
struct TermGraph {
  VertexEdges edges{};
  std::size_t bytes = 0;
};
TermGraph make_graph(const SupportSum::Term& term) {
  TermGraph out;
  const auto count = static_cast<std::size_t>(term.vertices.rows());
  if (term.kind != Kind::vertices || count < static_cast<std::size_t>(kVertexGraphFrom)) return out;
  out.edges = find_vertex_edges(term.vertices);
  out.bytes = in_lines(sizeof(VertexGraph));
  if (out.edges.resolution == 0) return out;
  const std::size_t indices = out.edges.first.size() + out.edges.neighbours.size() + out.edges.start.size();
  out.bytes += in_lines(4 * count * sizeof(double)) + in_lines(indices * sizeof(int));
  return out;
}

/// Writes the graph to its memory.
void write_graph(const TermGraph& graph, const MatrixX3& vertices, std::byte* memory) {
  const int count = static_cast<int>(vertices.rows());
  auto* points = reinterpret_cast<double*>(memory + in_lines(sizeof(VertexGraph)));
  auto* indices = reinterpret_cast<int*>(reinterpret_cast<std::byte*>(points) +
                                         in_lines(4 * static_cast<std::size_t>(count) * sizeof(double)));
  const VertexEdges& edges = graph.edges;
  int* neighbours = indices + edges.first.size();
  int* start = neighbours + edges.neighbours.size();
  new (memory) VertexGraph{edges.resolution, count, points, indices, neighbours, start};
  if (edges.resolution == 0) return;
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) points[4 * i + k] = vertices(i, k);
    points[4 * i + 3] = 0.0;
  }
  std::copy(edges.first.begin(), edges.first.end(), indices);
  std::copy(edges.neighbours.begin(), edges.neighbours.end(), neighbours);
  std::copy(edges.start.begin(), edges.start.end(), start);
}

struct MakeSum {
  const ConvexSet& set;

  static SupportSum one(SupportSum::Term term, double radius = 0.0) {
    SupportSum sum;
    sum.terms.push_back(std::move(term));
    sum.radius = radius;
    return sum;
  }
  [[nodiscard]] SupportSum hull(double radius = 0.0) const {
    return one({.kind = Kind::vertices, .vertices = set.core.vertices}, radius);
  }

  SupportSum operator()(const Sphere& sphere) const {
    SupportSum sum;
    sum.radius = sphere.radius;
    return sum;
  }
  SupportSum operator()(const Ellipsoid& ellipsoid) const {
    if (ellipsoid.P) {
      const Eigen::SelfAdjointEigenSolver<Matrix3> eigen(*ellipsoid.P);
      const Vector3 axes = eigen.eigenvalues().cwiseSqrt().cwiseInverse();
      return one({.kind = Kind::ellipsoid, .size = {axes[0], axes[1], axes[2]}, .R = eigen.eigenvectors()});
    }
    const Vector3& axes = ellipsoid.semi_axes;
    return one({.kind = Kind::ellipsoid, .size = {axes[0], axes[1], axes[2]}});
  }
  SupportSum operator()(const Box& box) const {
    return one({.kind = Kind::box, .size = {0.5 * box.size[0], 0.5 * box.size[1], 0.5 * box.size[2]}});
  }
  SupportSum operator()(const Polytope&) const { return hull(); }
  SupportSum operator()(const RoundedPolytope& rounded) const { return hull(rounded.radius); }
  SupportSum operator()(const Capsule& capsule) const {
    return one({.kind = Kind::segment, .size = {0.5 * capsule.length}}, capsule.radius);
  }
  SupportSum operator()(const Cylinder& cylinder) const {
    return one({.kind = Kind::discs,
                .size = {-0.5 * cylinder.length, 0.5 * cylinder.length, cylinder.radius, cylinder.radius}});
  }
  SupportSum operator()(const Cone& cone) const {
    return one({.kind = Kind::discs,
                .size = {-0.75 * cone.height, 0.25 * cone.height, 0.0, cone.height * std::tan(cone.half_angle)}});
  }
  SupportSum operator()(const PaddedPolygon& polygon) const { return hull(polygon.radius); }
  SupportSum operator()(const HalfSpace& half_space) const {
    const double length = half_space.normal.norm();
    SupportSum sum;
    sum.center = half_space.normal / length;
    sum.radius = half_space.offset / length;
    sum.half_space = true;
    return sum;
  }
  SupportSum operator()(const MinkowskiSum& minkowski) const {
    SupportSum sum;
    for (const ShapePart& part : minkowski.parts) {
      const SupportSum own = std::visit(MakeSum{part.shape.set()}, part.shape.spec());
      sum.center += part.X * own.center;
      sum.radius += own.radius;
      for (SupportSum::Term term : own.terms) {
        term.R = part.X.R * term.R;
        sum.terms.push_back(std::move(term));
      }
    }
    return sum;
  }
  // has no set of its own
  SupportSum operator()(const Bundle&) const { return {}; }
};

}  // namespace

std::shared_ptr<const SupportTerms> make_support_terms(const SupportSum& sum, const ConvexSet& set) {
  static const Matrix3 identity = Matrix3::Identity();
  std::size_t size = sizeof(SupportTerms) + sum.terms.size() * sizeof(SupportTerm);
  const auto is_turned = [](const SupportSum::Term& term) { return !term.R.isIdentity(0.0); };
  std::vector<TermGraph> graphs;
  for (const SupportSum::Term& term : sum.terms) {
    graphs.push_back(make_graph(term));
    size += static_cast<std::size_t>(3 * padded(term)) * sizeof(double) + graphs.back().bytes +
            (is_turned(term) ? sizeof(Matrix3) : 0);
  }
  void* memory = allocate_block(size);
  auto* block = new (memory) SupportTerms{};
  const std::shared_ptr<const SupportTerms> result(block, [size](const SupportTerms* p) { free_block(p, size); });
  block->center = sum.center;
  block->radius = sum.radius;
  block->inner_radius = set.inner_radius;
  block->outer_radius = set.outer_radius;
  block->set = &set;
  block->num_terms = static_cast<short>(sum.terms.size());
  block->half_space = sum.half_space;

  auto* to = static_cast<std::byte*>(memory) + sizeof(SupportTerms);
  auto* numbers = reinterpret_cast<double*>(to + sum.terms.size() * sizeof(SupportTerm));
  // axes after all vertices, which are whole cache lines
  auto* axes = numbers;
  for (std::size_t t = 0; t < sum.terms.size(); ++t)
    axes += 3 * padded(sum.terms[t]) + static_cast<std::ptrdiff_t>(graphs[t].bytes / sizeof(double));
  const TermGraph* graph = graphs.data();
  for (const SupportSum::Term& from : sum.terms) {
    const int count = static_cast<int>(from.vertices.rows());
    const int with_padding = padded(from);
    auto* term = new (to) SupportTerm{.kind = from.kind,
                                      .turned = is_turned(from),
                                      .num_vertices = count,
                                      .padded_vertices = with_padding,
                                      .vertices = numbers,
                                      .size = {from.size[0], from.size[1], from.size[2], from.size[3]},
                                      .axes = &identity};
    if (term->turned) {
      term->axes = new (axes) Matrix3(from.R);
      axes += from.R.size();
    }
    for (int k = 0; k < 3; ++k) {
      for (int i = 0; i < with_padding; ++i) *numbers++ = from.vertices(std::min(i, count - 1), k);
    }
    if (graph->bytes > 0) write_graph(*graph, from.vertices, reinterpret_cast<std::byte*>(numbers));
    numbers += graph->bytes / sizeof(double);
    ++graph;
    block->num_curved = static_cast<short>(block->num_curved + (term->is_polytope() ? 0 : 1));
    block->num_ellipsoids = static_cast<short>(block->num_ellipsoids + (term->kind == Kind::ellipsoid ? 1 : 0));
    to += sizeof(SupportTerm);
  }
  return result;
}

namespace internal {

std::shared_ptr<const SupportTerms> support_terms(const ShapeSpec& spec, const ConvexSet& set) {
  return make_support_terms(std::visit(MakeSum{set}, spec), set);
}

}  // namespace internal
}  // namespace tangere
