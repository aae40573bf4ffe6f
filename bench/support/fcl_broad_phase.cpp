#include "bench/support/fcl_broad_phase.hpp"

#include <utility>
#include <vector>

#include <fcl/broadphase/broadphase_dynamic_AABB_tree.h>
#include <fcl/geometry/shape/box.h>
#include <fcl/narrowphase/collision_object.h>

namespace tangere::bench {
namespace {

using Object = fcl::CollisionObjectd;
using Pairs = std::vector<std::pair<Object*, Object*>>;

bool store_pair(Object* a, Object* b, void* pairs) {
  static_cast<Pairs*>(pairs)->emplace_back(a, b);
  return false;
}

}  // namespace

struct FclBroadPhase::Data {
  std::vector<std::unique_ptr<Object>> objects;
  std::vector<Object*> moved;
  fcl::DynamicAABBTreeCollisionManagerd manager;
  Pairs pairs;
};

FclBroadPhase::FclBroadPhase(std::span<const Aabb> boxes) : data_(std::make_unique<Data>()) {
  std::vector<Object*> all;
  for (const Aabb& box : boxes) {
    const Vector3 size = box.upper - box.lower;
    data_->objects.push_back(std::make_unique<Object>(std::make_shared<fcl::Boxd>(size), Matrix3::Identity(),
                                                      Vector3(0.5 * (box.lower + box.upper))));
    data_->objects.back()->computeAABB();
    all.push_back(data_->objects.back().get());
  }
  data_->manager.registerObjects(all);
  data_->manager.setup();
}

FclBroadPhase::~FclBroadPhase() = default;

void FclBroadPhase::set(std::span<const Aabb> boxes, std::span<const int> moved) {
  data_->moved.clear();
  for (const int i : moved) {
    const Aabb& box = boxes[i];
    Object& object = *data_->objects[i];
    object.setTranslation(0.5 * (box.lower + box.upper));
    object.computeAABB();
    data_->moved.push_back(&object);
  }
}

std::size_t FclBroadPhase::update_and_count_pairs() {
  if (data_->moved.size() < data_->objects.size() / 10) {
    data_->manager.update(data_->moved);
  } else {
    data_->manager.update();
  }
  data_->pairs.clear();
  data_->manager.collide(&data_->pairs, store_pair);
  return data_->pairs.size();
}

}  // namespace tangere::bench
