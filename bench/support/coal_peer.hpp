#pragma once

/// Clearance by coal: its tree of boxes over what stands still, its distance for what is within the margin. Only where
/// the build has found coal (its wheel of PyPI has headers and library: -D TANGERE_COAL=<folder of the wheel>).

#include <memory>
#include <span>
#include <vector>

#include "tangere/geometry/shape.hpp"
#include "tangere/math/se3.hpp"

namespace tangere::bench {

class CoalPeer {
 public:
  struct Object {
    const Shape* shape;
    Pose X_W;
    bool moves;
  };
  /// `pairs`: of moving objects, that may meet. Spheres, boxes, capsules and cylinders.
  CoalPeer(std::span<const Object> objects, std::vector<std::pair<int, int>> pairs);
  ~CoalPeer();

  [[nodiscard]] static bool is_there();
  /// Takes over the poses of what moves, in the order of the objects; the boxes too.
  void place(std::span<const Pose> moved);
  /// The number of pairs nearer than the margin, with their distances and points.
  [[nodiscard]] int count_near(double margin);
  [[nodiscard]] bool collides();

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace tangere::bench
