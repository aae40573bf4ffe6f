#pragma once

/// Edges of a large hull, to find its farthest vertex by walking uphill instead of looking at all vertices (not
/// installed). On a convex polyhedron a vertex with no higher neighbour is the highest.
///
/// A walk begins at a vertex that was the highest in a nearby direction: directions are sorted into the cells of a
/// cube's faces, so that there are two or three steps left. Nothing is remembered between walks.

#include <cmath>

#include "tangere/geometry/hull.hpp"
#include "tangere/geometry/support_terms.hpp"

namespace tangere {

/// Hulls of so many vertices have a graph: with fewer, looking at all of them is faster (measured: equal at about 100
/// for single supports).
inline constexpr int kVertexGraphFrom = 128;

/// Lies behind the vertices of the term, in the same block.
struct VertexGraph {
  /// Cells along an edge of the cube; 0: there is no graph, as rounding left a vertex that no edge leads to.
  int resolution;
  int num_vertices;
  /// x, y, z, 0 of each vertex, 32-byte aligned.
  const double* points;
  /// The neighbours of vertex i are from first[i] to first[i + 1].
  const int* first;
  const int* neighbours;
  /// First vertex of a walk, per cell.
  const int* start;
};

/// The graph of a term; null without.
[[nodiscard]] inline const VertexGraph* graph_of(const SupportTerm& term) {
  if (term.kind != SupportTerm::Kind::vertices || term.num_vertices < kVertexGraphFrom) return nullptr;
  const auto* graph = reinterpret_cast<const VertexGraph*>(term.vertices + 3 * term.padded_vertices);
  return graph->resolution > 0 ? graph : nullptr;
}

/// The cell of a direction that is not zero.
[[nodiscard]] inline int direction_cell(int resolution, double x, double y, double z) {
  const double ax = std::abs(x);
  const double ay = std::abs(y);
  const double az = std::abs(z);
  int face = 0;
  double u = y;
  double v = z;
  double w = x;
  double length = ax;
  if (ay > ax && ay >= az) {
    face = 2;
    u = z;
    v = x;
    w = y;
    length = ay;
  } else if (az > ax && az > ay) {
    face = 4;
    u = x;
    v = y;
    w = z;
    length = az;
  }
  face += w > 0.0 ? 0 : 1;
  const double scale = 0.5 * resolution / length;
  const auto cell = [&](double t) {
    const int i = static_cast<int>((t + length) * scale);
    // also for NaN
    return i >= 0 && i < resolution ? i : (i < 0 ? 0 : resolution - 1);
  };
  return (face * resolution + cell(u)) * resolution + cell(v);
}

/// The graph of a hull's vertices (one a row) in the order given; empty if it is not connected.
struct VertexEdges {
  int resolution = 0;
  std::vector<int> first;
  std::vector<int> neighbours;
  std::vector<int> start;
};
[[nodiscard]] VertexEdges find_vertex_edges(const MatrixX3& vertices);

}  // namespace tangere
