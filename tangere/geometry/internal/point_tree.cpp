#include "tangere/geometry/internal/point_tree.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

namespace tangere::internal {
namespace {

constexpr int kLeaf = 16;
/// More than bounds of boxes are wrong by.
constexpr double kRounding = 1e-12;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

PointTree::PointTree(const std::vector<Vector3>& points) : points_(points), order_(points.size()) {
  std::iota(order_.begin(), order_.end(), 0);
  if (!points.empty()) add_node(0, static_cast<int>(points.size()));
}

int PointTree::add_node(int begin, int end) {
  Vector3 low = Vector3::Constant(kInfinity);
  Vector3 high = -low;
  for (int k = begin; k < end; ++k) {
    const Vector3& p = points_[order_[k]];
    low = low.cwiseMin(p).eval();
    high = high.cwiseMax(p).eval();
  }
  const auto index = nodes_.size();
  nodes_.push_back({0.5 * (low + high), 0.5 * (high - low), begin, end});
  if (end - begin <= kLeaf) return static_cast<int>(index);

  // halves along the longest side
  Eigen::Index axis = 0;
  (high - low).maxCoeff(&axis);
  const int middle = begin + (end - begin) / 2;
  std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end, [&](int i, int j) {
    const double a = points_[i][axis];
    const double b = points_[j][axis];
    return a < b || (a == b && i < j);
  });
  const int first = add_node(begin, middle);
  const int second = add_node(middle, end);
  nodes_[index].first = first;
  nodes_[index].second = second;
  return static_cast<int>(index);
}

/// A descent with the faces that still matter: those of a box are a stretch at the end of one list.
struct PointTree::Search {
  const PointTree& tree;
  const Hull& hull;
  std::vector<int> faces;

  Search(const PointTree& of, const Hull& above) : tree(of), hull(above), faces(above.faces.size()) {
    std::iota(faces.begin(), faces.end(), 0);
  }

  /// Between which heights the highest face is for the points of a box.
  struct Bounds {
    double least = -kInfinity;
    double most = -kInfinity;
  };

  /// Appends those of the faces from `from` to `to` that may be the highest somewhere in the box, in their order.
  Bounds narrow(const Node& node, std::size_t from, std::size_t to) {
    Bounds bounds;
    std::vector<double>& most = scratch_;
    most.clear();
    for (std::size_t k = from; k < to; ++k) {
      const Eigen::Index face = faces[k];
      const Vector3 normal = hull.normals.row(face).transpose();
      const double middle = normal.dot(node.center) - hull.offsets[face];
      const double reach = normal.cwiseAbs().dot(node.half);
      most.push_back(middle + reach);
      bounds.least = std::max(bounds.least, middle - reach);
      bounds.most = std::max(bounds.most, middle + reach);
    }
    for (std::size_t k = from; k < to; ++k)
      if (most[k - from] >= bounds.least - kRounding) faces.push_back(faces[k]);
    return bounds;
  }

  [[nodiscard]] Height height(int point, std::size_t from) const {
    const Vector3& p = tree.points_[point];
    Height result{-kInfinity, 0};
    for (std::size_t k = from; k < faces.size(); ++k) {
      const Eigen::Index face = faces[k];
      const double height = hull.normals.row(face).dot(p) - hull.offsets[face];
      if (height > result.height) result = {height, static_cast<std::size_t>(face)};
    }
    return result;
  }

  [[nodiscard]] std::span<const int> points_of(const Node& node) const {
    return std::span(tree.order_)
        .subspan(static_cast<std::size_t>(node.begin), static_cast<std::size_t>(node.end - node.begin));
  }

  /// For PointTree::heights, below the faces from `from` to the end of the list.
  void heights(int index, std::size_t from, double floor, std::vector<Height>& out) {
    const Node& node = tree.nodes_[index];
    const std::size_t to = faces.size();
    const Bounds bounds = narrow(node, from, to);
    if (bounds.most < floor - kRounding) {
      for (const int i : points_of(node)) out[i] = {-kInfinity, 0};
    } else if (node.first < 0) {
      for (const int i : points_of(node)) out[i] = height(i, to);
    } else {
      heights(node.first, to, floor, out);
      heights(node.second, to, floor, out);
    }
    faces.resize(to);
  }

  /// For PointTree::lowest.
  void lowest(int index, std::size_t from, double& best) {
    const Node& node = tree.nodes_[index];
    const std::size_t to = faces.size();
    const Bounds bounds = narrow(node, from, to);
    if (bounds.least - kRounding < best) {
      if (node.first < 0)
        for (const int i : points_of(node)) best = std::min(best, height(i, to).height);
      else
        for (const int child : {node.first, node.second}) lowest(child, to, best);
    }
    faces.resize(to);
  }

 private:
  std::vector<double> scratch_;
};

void PointTree::heights(const Hull& hull, double floor, std::vector<Height>& out) const {
  out.resize(points_.size());
  if (!nodes_.empty()) Search(*this, hull).heights(0, 0, floor, out);
}

double PointTree::lowest(const Hull& hull) const {
  double best = kInfinity;
  if (!nodes_.empty()) Search(*this, hull).lowest(0, 0, best);
  return best;
}

}  // namespace tangere::internal
