#include "tangere/geometry/part_tree.hpp"

#include <numeric>

#include "tangere/geometry/bounds.hpp"
#include "tangere/geometry/support_terms.hpp"

namespace tangere {
namespace {

constexpr int kLeaf = 2;

struct Item {
  Aabb box;
  Vector3 origin;
  double radius;
};

void set_bounds(PartTree::Node& node, std::span<const int> members, const std::vector<Item>& items) {
  Aabb box = items[members.front()].box;
  Aabb origins{items[members.front()].origin, items[members.front()].origin};
  for (const int i : members) {
    box.lower = box.lower.cwiseMin(items[i].box.lower);
    box.upper = box.upper.cwiseMax(items[i].box.upper);
    origins.lower = origins.lower.cwiseMin(items[i].origin);
    origins.upper = origins.upper.cwiseMax(items[i].origin);
    node.radius = std::max(node.radius, items[i].radius);
  }
  node.center = 0.5 * (box.lower + box.upper);
  node.half = 0.5 * (box.upper - box.lower);
  node.origin_center = 0.5 * (origins.lower + origins.upper);
  node.origin_half = 0.5 * (origins.upper - origins.lower);
}

/// Halves at the median along the axis on which the middles spread most.
void split(PartTree& tree, int at, int first, int count, const std::vector<Item>& items) {
  const std::span<int> members(tree.order.data() + first, static_cast<std::size_t>(count));
  set_bounds(tree.nodes[at], members, items);
  if (count <= kLeaf) {
    tree.nodes[at].first = first;
    tree.nodes[at].count = count;
    return;
  }
  Vector3 low = items[members.front()].box.lower + items[members.front()].box.upper;
  Vector3 high = low;
  for (const int i : members) {
    const Vector3 middle = items[i].box.lower + items[i].box.upper;
    low = low.cwiseMin(middle);
    high = high.cwiseMax(middle);
  }
  int axis = 0;
  (high - low).maxCoeff(&axis);
  const auto middle_of = [&](int i) { return items[i].box.lower[axis] + items[i].box.upper[axis]; };
  const int half = count / 2;
  std::nth_element(members.begin(), members.begin() + half, members.end(),
                   [&](int i, int j) { return middle_of(i) != middle_of(j) ? middle_of(i) < middle_of(j) : i < j; });
  const int child = static_cast<int>(tree.nodes.size());
  tree.nodes.resize(tree.nodes.size() + 2);
  tree.nodes[at].first = child;
  split(tree, child, first, half, items);
  split(tree, child + 1, first + half, count - half, items);
}

}  // namespace

std::shared_ptr<const PartTree> make_part_tree(std::span<const ShapePart> parts) {
  if (parts.size() < static_cast<std::size_t>(kPartTreeFrom)) return nullptr;
  std::vector<Item> items;
  for (const ShapePart& part : parts) {
    if (part.shape.is_half_space()) return nullptr;
    items.push_back({bounds(part.shape, part.X), part.X.p, part.shape.support_terms()->outer_radius});
  }
  auto tree = std::make_shared<PartTree>();
  tree->order.resize(parts.size());
  std::iota(tree->order.begin(), tree->order.end(), 0);
  tree->nodes.reserve(2 * parts.size());
  tree->nodes.resize(1);
  split(*tree, 0, 0, static_cast<int>(parts.size()), items);
  return tree;
}

}  // namespace tangere
