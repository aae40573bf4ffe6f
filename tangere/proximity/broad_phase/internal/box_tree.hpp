#pragma once

/// A flat tree of boxes, eight children a node, without pointers: level 0 holds the boxes in blocks of eight, level
/// l + 1 the hull of every block of level l, again in blocks of eight. Node b of a level has its children in block b of
/// the level below. Private to proximity.
///
/// The order in level 0 is that of a kd-tree, cut at multiples of 8, 16, 32, …, by count along the axis on which the
/// centres spread most: balanced whatever the distribution and the sizes. Unbounded boxes come after all others. Boxes
/// that move a little do so in place (hulls grow), those that jump and new ones go into spare places at the end, sorted
/// among themselves; `refit` tightens, `build` sorts anew.

#include <array>
#include <bit>
#include <span>
#include <string>
#include <vector>

#include "tangere/proximity/broad_phase/internal/box_block.hpp"

namespace tangere {

class BoxTree {
 public:
  BoxTree() { resize(0); }

  /// Sorts anew: the boxes of these ids, boxes[id]. Writes slots[id], the place of each.
  void build(std::span<const int> ids, std::span<const Aabb> boxes, std::span<int> slots);
  /// Takes over boxes[id] for every id in the tree and recomputes all hulls; the order stays.
  void refit(std::span<const Aabb> boxes);

  [[nodiscard]] int spare() const { return static_cast<int>(ids_.size()) - used_; }
  /// Leaves the place empty until the next build.
  void erase(int slot);
  /// Takes over a box in its place, or answers false if that would make the leaf block much larger.
  [[nodiscard]] bool try_move(int slot, const Aabb& box);
  /// The boxes of these ids into spare places. Writes slots[id].
  void insert(std::span<const int> ids, std::span<const Aabb> boxes, std::span<int> slots);

  /// The summed edges of the bounded leaf blocks: what a worse order makes larger.
  [[nodiscard]] double looseness() const;

  /// f(id) for every box that overlaps the given one.
  template <class F>
  void for_each_overlap(const Aabb& box, F&& f) const;
  /// f(id, id) once for every pair of overlapping boxes.
  template <class F>
  void for_each_pair(F&& f) const;

  /// Empty, or what is wrong: a hull that does not contain its boxes, a place that does not lead back to its id.
  [[nodiscard]] std::string validate(std::span<const Aabb> boxes, std::span<const int> slots) const;

 private:
  static constexpr int kWidth = BoxBlock::kWidth;
  static constexpr int kMaxDepth = 11;  // 8^11 > 2^31

  struct Item {
    Vector3 centre;
    int id;
  };
  struct Node {
    int level;
    int block;
  };

  void resize(int num_slots);
  /// Fills items_: bounded boxes first, as a kd-tree, and answers with their number.
  int sort_items(std::span<const int> ids, std::span<const Aabb> boxes);
  static void sort(std::span<Item> items);
  void compute_hulls();
  void grow(int slot, const Aabb& box);

  template <class F>
  void for_each_pair_of_blocks(int a, int b, F&& f) const;

  std::array<std::vector<BoxBlock>, kMaxDepth> levels_;
  int depth_ = 0;
  /// By slot; -1 where empty.
  std::vector<int> ids_;
  int used_ = 0;
  std::vector<Item> items_;
};

template <class F>
void BoxTree::for_each_overlap(const Aabb& box, F&& f) const {
  std::array<Node, kWidth * kMaxDepth> stack;
  std::size_t size = 0;
  stack[size++] = {depth_ - 1, 0};
  while (size > 0) {
    const Node node = stack[--size];
    unsigned hits = levels_[node.level][node.block].overlaps(box);
    for (; hits != 0; hits &= hits - 1) {
      const int child = kWidth * node.block + std::countr_zero(hits);
      if (node.level == 0) {
        f(ids_[child]);
      } else {
        stack[size++] = {node.level - 1, child};
      }
    }
  }
}

template <class F>
void BoxTree::for_each_pair(F&& f) const {
  const int num_blocks = static_cast<int>(levels_[0].size());
  std::array<Node, kWidth * kMaxDepth> stack;
  for (int a = 0; a < num_blocks; ++a) {
    for_each_pair_of_blocks(a, a, f);
    if (depth_ == 1) continue;
    // the later blocks whose hulls overlap that of a
    const Aabb hull = levels_[1][a / kWidth].box(a % kWidth);
    std::size_t size = 0;
    stack[size++] = {depth_ - 1, 0};
    while (size > 0) {
      const Node node = stack[--size];
      unsigned hits = levels_[node.level][node.block].overlaps(hull);
      // children that lie wholly before a + 1 were met from the other side
      const int first = ((a + 1) >> (3 * (node.level - 1))) - kWidth * node.block;
      if (first > 0) hits = first < kWidth ? hits & (~0u << first) : 0u;
      for (; hits != 0; hits &= hits - 1) {
        const int child = kWidth * node.block + std::countr_zero(hits);
        if (node.level == 1) {
          for_each_pair_of_blocks(a, child, f);
        } else {
          stack[size++] = {node.level - 1, child};
        }
      }
    }
  }
}

template <class F>
void BoxTree::for_each_pair_of_blocks(int a, int b, F&& f) const {
  const BoxBlock& block_a = levels_[0][a];
  const BoxBlock& block_b = levels_[0][b];
  const int* ids_a = ids_.data() + kWidth * a;
  const int* ids_b = ids_.data() + kWidth * b;
  unsigned rows = 0xff;
  if (a != b) rows = block_a.overlaps(levels_[1][b / kWidth].box(b % kWidth));
  for (; rows != 0; rows &= rows - 1) {
    const int i = std::countr_zero(rows);
    unsigned hits = block_b.overlaps(block_a.box(i));
    if (a == b) hits &= ~1u << i;
    for (; hits != 0; hits &= hits - 1) f(ids_a[i], ids_b[std::countr_zero(hits)]);
  }
}

}  // namespace tangere
