#include "tangere/proximity/broad_phase/internal/box_tree.hpp"

#include <algorithm>
#include <cmath>

#include "tangere/math/assert.hpp"

namespace tangere {
namespace {

/// Most growth of a leaf block's summed edges by a box that moves in place.
constexpr double kGrowthLimit = 1.5;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

Aabb hull(const Aabb& a, const Aabb& b) { return {a.lower.cwiseMin(b.lower), a.upper.cwiseMax(b.upper)}; }

bool bounded(const Aabb& box) { return box.lower.allFinite() && box.upper.allFinite(); }

}  // namespace

void BoxTree::resize(int num_slots) {
  const int width = kWidth;
  int blocks = std::max(1, (num_slots + width - 1) / width);
  ids_.assign(at(width * blocks), -1);
  depth_ = 0;
  for (bool top = false; !top; blocks = (blocks + width - 1) / width) {
    top = blocks == 1;
    std::vector<BoxBlock>& level = levels_[at(depth_++)];
    level.resize(at(blocks));
    for (BoxBlock& block : level) {
      for (int i = 0; i < width; ++i) block.clear(i);
    }
  }
}

void BoxTree::build(std::span<const int> ids, std::span<const Aabb> boxes, std::span<int> slots) {
  const int num_bounded = sort_items(ids, boxes);
  // unbounded boxes from a block of their own, then the spare places
  const int first_unbounded = (num_bounded + kWidth - 1) / kWidth * kWidth;
  used_ = first_unbounded + static_cast<int>(ids.size()) - num_bounded;
  resize(used_ + used_ / 4 + kWidth);
  for (int i = 0; i < static_cast<int>(items_.size()); ++i) {
    const int slot = i < num_bounded ? i : first_unbounded + i - num_bounded;
    ids_[at(slot)] = items_[at(i)].id;
    slots[at(items_[at(i)].id)] = slot;
  }
  refit(boxes);
}

int BoxTree::sort_items(std::span<const int> ids, std::span<const Aabb> boxes) {
  items_.resize(ids.size());
  std::size_t front = 0;
  std::size_t back = ids.size();
  for (const int id : ids) {
    const Aabb& box = boxes[at(id)];
    if (bounded(box)) {
      items_[front++] = {0.5 * box.lower + 0.5 * box.upper, id};
    } else {
      items_[--back] = {Vector3::Zero(), id};
    }
  }
  sort({items_.data(), front});
  return static_cast<int>(front);
}

void BoxTree::sort(std::span<Item> items) {
  while (items.size() > kWidth) {
    Vector3 lower = items[0].centre;
    Vector3 upper = lower;
    for (const Item& item : items) {
      lower = lower.cwiseMin(item.centre);
      upper = upper.cwiseMax(item.centre);
    }
    Eigen::Index axis = 0;
    (0.5 * upper - 0.5 * lower).maxCoeff(&axis);
    // the left part has 8, 16, 32, … items, at least half of all: nodes and subtrees coincide
    const std::size_t left = std::bit_ceil(items.size()) / 2;
    std::nth_element(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(left), items.end(),
                     [axis](const Item& a, const Item& b) { return a.centre[axis] < b.centre[axis]; });
    sort(items.first(left));
    items = items.subspan(left);
  }
}

void BoxTree::refit(std::span<const Aabb> boxes) {
  for (int slot = 0; slot < used_; ++slot) {
    const int id = ids_[at(slot)];
    if (id >= 0) levels_[0][at(slot / kWidth)].set(slot % kWidth, boxes[at(id)]);
  }
  compute_hulls();
}

void BoxTree::compute_hulls() {
  for (int level = 1; level < depth_; ++level) {
    const std::vector<BoxBlock>& below = levels_[at(level - 1)];
    for (int i = 0; i < static_cast<int>(below.size()); ++i) {
      levels_[at(level)][at(i / kWidth)].set(i % kWidth, below[at(i)].hull());
    }
  }
}

bool BoxTree::try_move(int slot, const Aabb& box) {
  if (depth_ > 1) {
    const int block = slot / kWidth;
    const Aabb before = levels_[1][at(block / kWidth)].box(block % kWidth);
    const Aabb after = hull(before, box);
    // not <=, so that a block that was or becomes unbounded is left
    if (!((after.upper - after.lower).sum() < kGrowthLimit * (before.upper - before.lower).sum())) return false;
  }
  levels_[0][at(slot / kWidth)].set(slot % kWidth, box);
  grow(slot, box);
  return true;
}

void BoxTree::insert(std::span<const int> ids, std::span<const Aabb> boxes, std::span<int> slots) {
  TANGERE_ASSERT(spare() >= static_cast<int>(ids.size()));
  sort_items(ids, boxes);
  for (const Item& item : items_) {
    const int slot = used_++;
    ids_[at(slot)] = item.id;
    slots[at(item.id)] = slot;
    levels_[0][at(slot / kWidth)].set(slot % kWidth, boxes[at(item.id)]);
    grow(slot, boxes[at(item.id)]);
  }
}

void BoxTree::grow(int slot, const Aabb& box) {
  for (int level = 1; level < depth_; ++level) {
    slot /= kWidth;
    BoxBlock& block = levels_[at(level)][at(slot / kWidth)];
    const Aabb before = block.box(slot % kWidth);
    if (contains(before, box)) return;
    // NaN: the node was empty
    block.set(slot % kWidth, std::isnan(before.lower[0]) ? box : hull(before, box));
  }
}

void BoxTree::erase(int slot) {
  levels_[0][at(slot / kWidth)].clear(slot % kWidth);
  ids_[at(slot)] = -1;
}

double BoxTree::looseness() const {
  double sum = 0.0;
  for (const BoxBlock& block : levels_[1]) {
    if (depth_ == 1) break;
    for (int k = 0; k < 3; ++k) {
      for (int i = 0; i < kWidth; ++i) {
        const double edge = block.upper[k][i] - block.lower[k][i];
        sum += std::isfinite(edge) ? edge : 0.0;
      }
    }
  }
  return sum;
}

std::string BoxTree::validate(std::span<const Aabb> boxes, std::span<const int> slots) const {
  const auto same = [](const Aabb& a, const Aabb& b) { return a.lower == b.lower && a.upper == b.upper; };
  for (int slot = 0; slot < static_cast<int>(ids_.size()); ++slot) {
    const std::string where = "slot " + std::to_string(slot);
    const int id = ids_[at(slot)];
    const Aabb box = levels_[0][at(slot / kWidth)].box(slot % kWidth);
    if (id < 0) {
      if (!std::isnan(box.lower[0])) return where + " is empty and has a box";
      continue;
    }
    if (slot >= used_) return where + " is spare and has an id";
    if (slots[at(id)] != slot) return where + " is not the place of its id";
    if (!same(box, boxes[at(id)])) return where + " has another box than its id";
    for (int level = 1, node = slot / kWidth; level < depth_; ++level, node /= kWidth) {
      if (!contains(levels_[at(level)][at(node / kWidth)].box(node % kWidth), box)) {
        return where + " sticks out of its node on level " + std::to_string(level);
      }
    }
  }
  if (levels_[at(depth_ - 1)].size() != 1) return "the top is not one block";
  return {};
}

}  // namespace tangere
