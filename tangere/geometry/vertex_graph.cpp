#include "tangere/geometry/vertex_graph.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "tangere/math/error.hpp"

namespace tangere {
namespace {

/// Cells per vertex, and the finest table.
constexpr double kCellsPerVertex = 0.5;
constexpr int kMostCells = 32;
constexpr int kFewestCells = 6;

/// A direction in the middle of a cell.
Vector3 middle_of(int resolution, int face, int i, int j) {
  const double u = 2.0 * (i + 0.5) / resolution - 1.0;
  const double v = 2.0 * (j + 0.5) / resolution - 1.0;
  const double w = face % 2 == 0 ? 1.0 : -1.0;
  if (face < 2) return {w, u, v};
  if (face < 4) return {v, w, u};
  return {u, v, w};
}

int climb(const MatrixX3& vertices, const VertexEdges& edges, const Vector3& n, int at) {
  double best = vertices.row(at) * n;
  for (bool higher = true; higher;) {
    higher = false;
    for (int k = edges.first[at]; k < edges.first[at + 1] && !higher; ++k) {
      const int next = edges.neighbours[k];
      const double height = vertices.row(next) * n;
      higher = height > best;
      if (!higher) continue;
      best = height;
      at = next;
    }
  }
  return at;
}

/// Every vertex can be reached from the first.
bool is_connected(const VertexEdges& edges, int count) {
  std::vector<char> seen(static_cast<std::size_t>(count));
  std::vector<int> open{0};
  seen[0] = 1;
  int reached = 0;
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    ++reached;
    for (int k = edges.first[at]; k < edges.first[at + 1]; ++k) {
      const int next = edges.neighbours[k];
      if (seen[next] != 0) continue;
      seen[next] = 1;
      open.push_back(next);
    }
  }
  return reached == count;
}

}  // namespace

VertexEdges find_vertex_edges(const MatrixX3& vertices) {
  const int count = static_cast<int>(vertices.rows());
  Hull hull;
  try {
    hull = hull_of_points(vertices);
  } catch (const InputError&) {
    // flat ones have no hull
    return {};
  }
  // the hull has its own order
  std::map<std::array<double, 3>, int> place;
  for (int i = 0; i < count; ++i) place[{vertices(i, 0), vertices(i, 1), vertices(i, 2)}] = i;
  std::vector<int> index;
  for (Eigen::Index i = 0; i < hull.vertices.rows(); ++i) {
    const auto found = place.find({hull.vertices(i, 0), hull.vertices(i, 1), hull.vertices(i, 2)});
    if (found == place.end()) return {};
    index.push_back(found->second);
  }
  std::vector<std::pair<int, int>> pairs;
  for (const std::vector<int>& face : hull.faces) {
    for (std::size_t k = 0; k < face.size(); ++k) {
      const int a = index[face[k]];
      const int b = index[face[(k + 1) % face.size()]];
      pairs.emplace_back(a, b);
      pairs.emplace_back(b, a);
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  VertexEdges edges;
  edges.first.assign(static_cast<std::size_t>(count) + 1, 0);
  for (const auto& [from, to] : pairs) {
    ++edges.first[from + 1];
    edges.neighbours.push_back(to);
  }
  for (int i = 0; i < count; ++i) edges.first[i + 1] += edges.first[i];
  if (!is_connected(edges, count)) return {};

  edges.resolution = std::clamp(static_cast<int>(std::sqrt(kCellsPerVertex * count / 6.0)), kFewestCells, kMostCells);
  int at = 0;
  for (int face = 0; face < 6; ++face) {
    for (int i = 0; i < edges.resolution; ++i) {
      for (int j = 0; j < edges.resolution; ++j) {
        at = climb(vertices, edges, middle_of(edges.resolution, face, i, j), at);
        edges.start.push_back(at);
      }
    }
  }
  return edges;
}

}  // namespace tangere
