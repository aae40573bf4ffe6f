/// Two shapes: how much may they grow until they touch, and how far are they apart? With a file name as argument the
/// pair is recorded there, to be looked at with `tangere view`.

#include <cstdio>
#include <fstream>

#include "tangere/io/query_recording.hpp"
#include "tangere/io/recording_text.hpp"
#include "tangere/proximity/answers.hpp"

int main(int argc, char** argv) {
  using namespace tangere;
  const Shape capsule = Capsule{.radius = 0.2, .length = 1.0};
  const Shape crate = Box{.size = {0.5, 0.4, 0.3}};
  const Pose X_WCrate = Pose::translation({0.9, 0.6, 0.1});

  const ScalingAnswer scaled = scaling(capsule, {}, crate, X_WCrate);
  const Vector12 g = gradient(scaled);
  std::printf("alpha %.6f: %s\n", scaled.alpha, scaled.alpha > 1.0 ? "apart" : "overlapping");
  std::printf("a metre of the crate along y changes it by %.6f\n", g[7]);

  const Distance nearest = distance(capsule, {}, crate, X_WCrate);
  std::printf("distance %.6f m between (%.3f, %.3f, %.3f) and (%.3f, %.3f, %.3f)\n", nearest.distance, nearest.p_A[0],
              nearest.p_A[1], nearest.p_A[2], nearest.p_B[0], nearest.p_B[1], nearest.p_B[2]);
  if (argc > 1) {
    // the same pair as a query (docs/query.md)
    const char* query = R"({"a": {"shape": {"type": "capsule", "radius": 0.2, "length": 1.0}}, )"
                        R"("b": {"shape": {"type": "box", "size": [0.5, 0.4, 0.3]}, "position": [0.9, 0.6, 0.1]}})";
    std::ofstream(argv[1]) << recording_text(record_queries(query, "pair"));
  }
  return scaled.alpha > 1.0 && nearest.distance > 0.0 ? 0 : 1;
}
