/// Two shapes: how much may they grow until they touch, and how far are they apart?

#include <cstdio>

#include "tangere/proximity/distance.hpp"
#include "tangere/proximity/scaling.hpp"

int main() {
  using namespace tangere;
  const Shape capsule = Capsule{.radius = 0.2, .length = 1.0};
  const Shape crate = Box{.size = {0.5, 0.4, 0.3}};
  const Pose X_WCrate = Pose::translation({0.9, 0.6, 0.1});

  ScalingWorkspace workspace;
  const Scaling scaled = scaling(capsule, {}, crate, X_WCrate, {}, workspace);
  std::printf("alpha %.6f: %s\n", scaled.alpha, scaled.alpha > 1.0 ? "apart" : "overlapping");

  DistanceWorkspace distances;
  const Distance nearest = distance(capsule, {}, crate, X_WCrate, {}, distances);
  std::printf("distance %.6f m between (%.3f, %.3f, %.3f) and (%.3f, %.3f, %.3f)\n", nearest.distance, nearest.p_A[0],
              nearest.p_A[1], nearest.p_A[2], nearest.p_B[0], nearest.p_B[1], nearest.p_B[2]);
  return scaled.alpha > 1.0 && nearest.distance > 0.0 ? 0 : 1;
}
