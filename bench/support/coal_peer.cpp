#include "bench/support/coal_peer.hpp"

#include <utility>

#if defined(TANGERE_HAS_COAL)
#include <coal/broadphase/broadphase_dynamic_AABB_tree.h>
#include <coal/collision.h>
#include <coal/distance.h>
#include <coal/shape/geometric_shapes.h>
#endif

namespace tangere::bench {

#if defined(TANGERE_HAS_COAL)

namespace {

using Geometry = std::shared_ptr<coal::CollisionGeometry>;

Geometry geometry_of(const Shape& shape) {
  if (const auto* sphere = shape.get_if<Sphere>()) return std::make_shared<coal::Sphere>(sphere->radius);
  if (const auto* box = shape.get_if<Box>()) return std::make_shared<coal::Box>(box->size);
  if (const auto* capsule = shape.get_if<Capsule>())
    return std::make_shared<coal::Capsule>(capsule->radius, capsule->length);
  const auto* cylinder = shape.get_if<Cylinder>();
  return std::make_shared<coal::Cylinder>(cylinder->radius, cylinder->length);
}

/// Their axes are along z, ours along x.
coal::Transform3s placed(const Shape& shape, const Pose& X) {
  Matrix3 turn = Matrix3::Identity();
  if (shape.get_if<Capsule>() != nullptr || shape.get_if<Cylinder>() != nullptr) turn << 0, 0, 1, 0, 1, 0, -1, 0, 0;
  return {Matrix3(X.R * turn), X.p};
}

struct NearCallback : coal::CollisionCallBackBase {
  double margin = 0.0;
  int count = 0;
  coal::DistanceRequest request;
  coal::DistanceResult result;
  bool collide(coal::CollisionObject* a, coal::CollisionObject* b) override {
    result.clear();
    coal::distance(a, b, request, result);
    count += result.min_distance <= margin ? 1 : 0;
    return false;
  }
};

struct HitCallback : coal::CollisionCallBackBase {
  bool hit = false;
  coal::CollisionRequest request;
  coal::CollisionResult result;
  bool collide(coal::CollisionObject* a, coal::CollisionObject* b) override {
    result.clear();
    hit = coal::collide(a, b, request, result) > 0;
    return hit;
  }
};

}  // namespace

struct CoalPeer::Data {
  std::vector<std::unique_ptr<coal::CollisionObject>> objects;
  std::vector<int> moving;
  std::vector<const Shape*> shapes;
  std::vector<std::pair<int, int>> pairs;
  coal::DynamicAABBTreeCollisionManager fixed;
  NearCallback near;
  HitCallback hit;
};

bool CoalPeer::is_there() { return true; }

CoalPeer::CoalPeer(std::span<const Object> objects, std::vector<std::pair<int, int>> pairs)
    : data_(std::make_unique<Data>()) {
  data_->pairs = std::move(pairs);
  std::vector<coal::CollisionObject*> fixed;
  for (const Object& object : objects) {
    data_->objects.push_back(
        std::make_unique<coal::CollisionObject>(geometry_of(*object.shape), placed(*object.shape, object.X_W)));
    data_->objects.back()->computeAABB();
    data_->shapes.push_back(object.shape);
    if (object.moves) {
      data_->moving.push_back(static_cast<int>(data_->objects.size()) - 1);
    } else {
      fixed.push_back(data_->objects.back().get());
    }
  }
  data_->fixed.registerObjects(fixed);
  data_->fixed.setup();
  data_->hit.request.num_max_contacts = 1;
  data_->hit.request.enable_contact = false;
}

CoalPeer::~CoalPeer() = default;

void CoalPeer::place(std::span<const Pose> moved) {
  for (std::size_t k = 0; k < data_->moving.size(); ++k) {
    coal::CollisionObject& object = *data_->objects[data_->moving[k]];
    object.setTransform(placed(*data_->shapes[data_->moving[k]], moved[k]));
    object.computeAABB();
  }
}

int CoalPeer::count_near(double margin) {
  data_->near.margin = margin;
  data_->near.count = 0;
  for (const int i : data_->moving) {
    coal::CollisionObject& object = *data_->objects[i];
    const coal::AABB box = object.getAABB();
    object.getAABB().expand(margin);
    data_->fixed.collide(&object, &data_->near);
    object.getAABB() = box;
  }
  for (const auto& [i, j] : data_->pairs) {
    coal::AABB box = data_->objects[i]->getAABB();
    box.expand(margin);
    if (box.overlap(data_->objects[j]->getAABB()))
      (void)data_->near.collide(data_->objects[i].get(), data_->objects[j].get());
  }
  return data_->near.count;
}

bool CoalPeer::collides() {
  data_->hit.hit = false;
  for (const int i : data_->moving) {
    data_->fixed.collide(data_->objects[i].get(), &data_->hit);
    if (data_->hit.hit) return true;
  }
  for (const auto& [i, j] : data_->pairs)
    if (data_->objects[i]->getAABB().overlap(data_->objects[j]->getAABB()) &&
        data_->hit.collide(data_->objects[i].get(), data_->objects[j].get()))
      return true;
  return false;
}

#else

struct CoalPeer::Data {};
bool CoalPeer::is_there() { return false; }
CoalPeer::CoalPeer(std::span<const Object> /*objects*/, std::vector<std::pair<int, int>> /*pairs*/) {}
CoalPeer::~CoalPeer() = default;
void CoalPeer::place(std::span<const Pose> /*moved*/) {}
int CoalPeer::count_near(double /*margin*/) { return 0; }
bool CoalPeer::collides() { return false; }

#endif

}  // namespace tangere::bench
