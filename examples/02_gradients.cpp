/// How alpha and the distance change with the poses and the sizes; checked here against a finite difference.
/// With a file name as argument the pair is recorded there, at distances that the gradient foretells.

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

#include "tangere/io/query_recording.hpp"
#include "tangere/io/recording_text.hpp"
#include "tangere/proximity/answers.hpp"

int main(int argc, char** argv) {
  using namespace tangere;
  const Shape cone = Cone{.height = 0.6, .half_angle = 0.4};
  const Shape ellipsoid = Ellipsoid{.semi_axes = {0.3, 0.2, 0.5}};
  const Pose X_WB = Pose::from_quaternion({0.7, 0.2, 0.4}, 0.1, 0.3, 0.2, std::sqrt(0.86));

  const ScalingAnswer scaled = scaling(cone, {}, ellipsoid, X_WB);
  const Vector12 d_alpha = gradient(scaled);
  // what is less than the digits show has no sign
  const auto shown = [](double value) { return std::abs(value) < 5e-5 ? 0.0 : value; };
  std::printf("alpha %.6f, d alpha / d position of B: %.4f %.4f %.4f\n", scaled.alpha, shown(d_alpha[6]),
              shown(d_alpha[7]), shown(d_alpha[8]));

  // smoothed by kappa, even the touching point has a derivative everywhere
  const ScalingJacobian smoothed = jacobian(scaling(cone, {}, ellipsoid, X_WB, {.smoothing = 1e-4}));
  std::printf("smoothed: d(touching point) / d x of B: %.4f %.4f %.4f\n", smoothed.x_alpha(0, 6),
              smoothed.x_alpha(1, 6), smoothed.x_alpha(2, 6));

  const DistanceAnswer nearest = distance(cone, {}, ellipsoid, X_WB);
  std::printf("distance %.6f, with the cone's height it changes by %.4f per metre\n", nearest.distance,
              parameter_gradient(nearest).A[0]);

  // the check: move B by a little along x
  const double step = 1e-6;
  const Vector12 d_distance = gradient(nearest);
  const Pose moved(X_WB.R, X_WB.p + Vector3(step, 0, 0));
  const double difference = (distance(cone, {}, ellipsoid, moved).distance - nearest.distance) / step;
  std::printf("d distance / d x of B: %.6f, by a difference %.6f\n", d_distance[6], difference);
  if (argc > 1) {
    // queries (docs/query.md): B goes against the gradient of alpha
    std::string lines;
    for (int i = 0; i <= 8; ++i) {
      const Vector3 p = X_WB.p - 0.03 * i * d_alpha.segment<3>(6).normalized();
      lines += R"({"a": {"shape": {"type": "cone", "height": 0.6, "half_angle": 0.4}}, "b": {"shape": {"type": )"
               R"("ellipsoid", "semi_axes": [0.3, 0.2, 0.5]}, "quaternion": [0.1, 0.3, 0.2, )" +
               std::to_string(std::sqrt(0.86)) + R"(], "position": [)" + std::to_string(p[0]) + ", " +
               std::to_string(p[1]) + ", " + std::to_string(p[2]) + "]}}\n";
    }
    std::ofstream(argv[1]) << recording_text(record_queries(lines, "gradients"));
  }
  return std::abs(d_distance[6] - difference) < 1e-4 ? 0 : 1;
}
