#include "tangere/proximity/broad_phase.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tangere/math/assert.hpp"
#include "tangere/math/error.hpp"
#include "tangere/proximity/batch/internal/pair_sort.hpp"
#include "tangere/proximity/broad_phase/internal/box_tree.hpp"

namespace tangere {
namespace {

/// More than this part of the bodies outside their fat boxes: the whole list is made again.
constexpr int kBulkFraction = 8;
/// The tree is sorted anew when it has grown by this factor, and at the latest after so many refits.
constexpr double kLoosenessLimit = 1.3;
constexpr int kMaxRefits = 32;
constexpr int kMarginTrial = 16;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::size_t at(int index) { return static_cast<std::size_t>(index); }

std::string to_text(const Vector3& v) {
  return std::to_string(v[0]) + ", " + std::to_string(v[1]) + ", " + std::to_string(v[2]);
}

void check(const Aabb& box) {
  const bool good = (box.lower.array() <= box.upper.array()).all() && (box.lower.array() < kInfinity).all() &&
                    (box.upper.array() > -kInfinity).all();
  if (good) [[likely]]
    return;
  if (box.lower.hasNaN()) throw InputError("box.lower", "must not be NaN, is " + to_text(box.lower));
  if (box.upper.hasNaN()) throw InputError("box.upper", "must not be NaN, is " + to_text(box.upper));
  if ((box.lower.array() == kInfinity).any())
    throw InputError("box.lower", "must be below infinity, is " + to_text(box.lower));
  throw InputError("box.upper", "must be above minus infinity and at least box.lower (" + to_text(box.lower) +
                                    "), is " + to_text(box.upper));
}

Aabb fattened(const Aabb& box, double margin) {
  double edge = 0.0;
  for (int k = 0; k < 3; ++k) {
    const double length = box.upper[k] - box.lower[k];
    if (length < kInfinity) edge = std::max(edge, length);
  }
  const Vector3 by = Vector3::Constant(margin * edge);
  return {box.lower - by, box.upper + by};
}

bool agree(CollisionBits a, CollisionBits b) { return (a.group & b.mask) != 0 && (b.group & a.mask) != 0; }

}  // namespace

void BroadPhaseOptions::verify() const {
  if (!(margin >= 0.0 && margin <= 10.0))
    throw InputError("options.margin", "must be from 0 to 10, is " + std::to_string(margin));
}

struct BroadPhase::Data {
  double margin = 0.0;
  PairFilter filter;

  // by id
  std::vector<Aabb> boxes;
  std::vector<Aabb> fat;
  std::vector<CollisionBits> bits;
  std::vector<char> used;
  /// Not as the tree and the candidates have it: added, removed, changed, or outside its fat box.
  std::vector<char> stale;
  /// Place in the tree; -1 for none.
  std::vector<int> slots;

  std::vector<int> stale_ids;
  /// A heap, smallest first.
  std::vector<int> free_ids;

  BoxTree tree;
  double sorted_looseness = 0.0;
  int refits = 0;
  /// Moves since the last refit.
  int moves = 0;
  /// Steps since the candidates were made as a whole, and how often in a row they did not last one.
  int age = 0;
  int wasted = 0;
  bool changed = false;

  /// Pairs of overlapping fat boxes whose bits agree, sorted.
  std::vector<BodyPair> candidates;

  // results and scratch
  std::vector<BodyPair> pairs;
  std::vector<int> found;
  std::vector<int> ids;
  std::vector<BodyPair> fresh;
  std::vector<BodyPair> merged;
  PairSorter sorter;

  void require(int id) const {
    if (id < 0 || id >= static_cast<int>(used.size()) || !used[at(id)])
      throw InputError("id", "is not in use: " + std::to_string(id));
  }
  void mark_stale(int id) {
    changed = true;
    if (stale[at(id)]) return;
    stale[at(id)] = 1;
    stale_ids.push_back(id);
  }
  [[nodiscard]] int size() const { return static_cast<int>(used.size() - free_ids.size()); }

  void refresh();
  [[nodiscard]] bool few_stale() const;
  void move_stale();
  void replace_candidates_of_stale();
  void remake_tree();
  void remake_candidates();
};

/// Brings the tree and the candidates up to date.
void BroadPhase::Data::refresh() {
  if (!changed) return;
  changed = false;
  ++age;
  if (stale_ids.empty()) return;
  if (few_stale()) {
    move_stale();
    replace_candidates_of_stale();
  } else {
    remake_tree();
    remake_candidates();
  }
  for (const int id : stale_ids) stale[at(id)] = 0;
  stale_ids.clear();
}

bool BroadPhase::Data::few_stale() const {
  const int count = static_cast<int>(stale_ids.size());
  return count <= size() / kBulkFraction && count <= tree.spare() && moves + count <= size();
}

void BroadPhase::Data::move_stale() {
  ids.clear();
  for (const int id : stale_ids) {
    int& slot = slots[at(id)];
    if (used[at(id)]) fat[at(id)] = fattened(boxes[at(id)], margin);
    if (used[at(id)] && slot >= 0 && tree.try_move(slot, fat[at(id)])) continue;
    if (slot >= 0) tree.erase(slot);
    slot = -1;
    if (used[at(id)]) ids.push_back(id);
  }
  tree.insert(ids, fat, slots);
  moves += static_cast<int>(stale_ids.size());
}

void BroadPhase::Data::replace_candidates_of_stale() {
  fresh.clear();
  for (const int id : stale_ids) {
    if (!used[at(id)]) continue;
    tree.for_each_overlap(fat[at(id)], [&](int other) {
      // of two stale bodies the smaller one brings the pair
      if (other == id || (stale[at(other)] && other < id) || !agree(bits[at(id)], bits[at(other)])) return;
      fresh.push_back({std::min(id, other), std::max(id, other)});
    });
  }
  sorter.sort(fresh, static_cast<int>(boxes.size()));
  std::erase_if(candidates, [&](const BodyPair& pair) { return stale[at(pair.a)] || stale[at(pair.b)]; });
  merged.resize(candidates.size() + fresh.size());
  std::merge(candidates.begin(), candidates.end(), fresh.begin(), fresh.end(), merged.begin());
  std::swap(candidates, merged);
}

void BroadPhase::Data::remake_tree() {
  bool same_bodies = true;
  for (const int id : stale_ids) same_bodies &= (slots[at(id)] >= 0) == (used[at(id)] != 0);
  // bodies too fast for the margin do without it; now and then it is tried again
  wasted = age > 1 ? 0 : wasted + 1;
  age = 0;
  const double list_margin = wasted >= 2 && wasted % kMarginTrial != 0 ? 0.0 : margin;
  ids.clear();
  for (int id = 0; id < static_cast<int>(boxes.size()); ++id) {
    slots[at(id)] = used[at(id)] ? slots[at(id)] : -1;
    if (!used[at(id)]) continue;
    ids.push_back(id);
    fat[at(id)] = fattened(boxes[at(id)], list_margin);
  }
  moves = 0;
  if (same_bodies && tree.spare() > size() / kBulkFraction && ++refits < kMaxRefits) {
    tree.refit(fat);
    if (tree.looseness() <= kLoosenessLimit * sorted_looseness) return;
  }
  tree.build(ids, fat, slots);
  sorted_looseness = tree.looseness();
  refits = 0;
}

void BroadPhase::Data::remake_candidates() {
  candidates.clear();
  tree.for_each_pair([&](int a, int b) {
    if (agree(bits[at(a)], bits[at(b)])) candidates.push_back({std::min(a, b), std::max(a, b)});
  });
  sorter.sort(candidates, static_cast<int>(boxes.size()));
  // room for the ups and downs of the following steps
  candidates.reserve(candidates.size() + candidates.size() / 2);
  merged.reserve(candidates.capacity());
  fresh.reserve(candidates.capacity());
}

BroadPhase::BroadPhase(const BroadPhaseOptions& options) : data_("BroadPhase", std::make_unique<Data>()) {
  options.verify();
  data_->margin = options.margin;
}
BroadPhase::~BroadPhase() = default;
BroadPhase::BroadPhase(BroadPhase&&) noexcept = default;
BroadPhase& BroadPhase::operator=(BroadPhase&&) noexcept = default;

int BroadPhase::add(const Aabb& box, CollisionBits bits) {
  check(box);
  Data& d = *data_;
  int id = static_cast<int>(d.boxes.size());
  if (d.free_ids.empty()) {
    d.boxes.push_back(box);
    d.fat.push_back(box);
    d.bits.push_back(bits);
    d.used.push_back(1);
    d.stale.push_back(0);
    d.slots.push_back(-1);
    d.stale_ids.reserve(d.boxes.capacity());
  } else {
    std::pop_heap(d.free_ids.begin(), d.free_ids.end(), std::greater<>());
    id = d.free_ids.back();
    d.free_ids.pop_back();
    d.boxes[at(id)] = box;
    d.bits[at(id)] = bits;
    d.used[at(id)] = 1;
  }
  d.mark_stale(id);
  return id;
}

void BroadPhase::remove(int id) {
  data_->require(id);
  data_->used[at(id)] = 0;
  data_->free_ids.push_back(id);
  std::push_heap(data_->free_ids.begin(), data_->free_ids.end(), std::greater<>());
  data_->mark_stale(id);
}

void BroadPhase::update(int id, const Aabb& box) {
  data_->require(id);
  check(box);
  data_->boxes[at(id)] = box;
  data_->changed = true;
  if (!contains(data_->fat[at(id)], box)) data_->mark_stale(id);
}

void BroadPhase::set_bits(int id, CollisionBits bits) {
  data_->require(id);
  data_->bits[at(id)] = bits;
  data_->mark_stale(id);
}

void BroadPhase::set_filter(PairFilter filter) { data_->filter = std::move(filter); }

int BroadPhase::size() const { return data_->size(); }

int BroadPhase::id_limit() const { return static_cast<int>(data_->boxes.size()); }

bool BroadPhase::is_used(int id) const { return id >= 0 && id < id_limit() && data_->used[at(id)]; }

const Aabb& BroadPhase::box(int id) const {
  data_->require(id);
  return data_->boxes[at(id)];
}

CollisionBits BroadPhase::bits(int id) const {
  data_->require(id);
  return data_->bits[at(id)];
}

std::span<const BodyPair> BroadPhase::pairs() {
  Data& d = *data_;
  d.refresh();
  if (d.pairs.size() < d.candidates.size()) d.pairs.resize(d.candidates.capacity());
  std::size_t count = 0;
  for (const BodyPair& pair : d.candidates) {
    d.pairs[count] = pair;
    count += overlap(d.boxes[at(pair.a)], d.boxes[at(pair.b)]);
  }
  if (d.filter) {
    const auto end = std::remove_if(d.pairs.begin(), d.pairs.begin() + static_cast<std::ptrdiff_t>(count),
                                    [&](const BodyPair& pair) { return !d.filter(pair.a, pair.b); });
    count = static_cast<std::size_t>(end - d.pairs.begin());
  }
  return {d.pairs.data(), count};
}

std::span<const int> BroadPhase::overlaps(const Aabb& box) {
  check(box);
  Data& d = *data_;
  d.refresh();
  d.found.clear();
  d.tree.for_each_overlap(box, [&](int id) {
    if (overlap(box, d.boxes[at(id)])) d.found.push_back(id);
  });
  std::sort(d.found.begin(), d.found.end());
  return d.found;
}

std::string BroadPhase::validate() const {
  const Data& d = *data_;
  for (int id = 0; id < id_limit(); ++id) {
    const std::string who = "body " + std::to_string(id);
    if (d.stale[at(id)]) continue;
    if (d.used[at(id)] && d.slots[at(id)] < 0) return who + " is not in the tree";
    if (!d.used[at(id)] && d.slots[at(id)] >= 0) return who + " is in the tree without being in use";
    if (d.used[at(id)] && !contains(d.fat[at(id)], d.boxes[at(id)])) return who + " is outside its fat box";
  }
  if (!std::is_sorted(d.candidates.begin(), d.candidates.end())) return "candidates are not sorted";
  if (std::adjacent_find(d.candidates.begin(), d.candidates.end()) != d.candidates.end())
    return "a candidate occurs twice";
  return d.tree.validate(d.fat, d.slots);
}

}  // namespace tangere
