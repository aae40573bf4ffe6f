#include "tangere/io/robot/internal/mend.hpp"

#include <algorithm>
#include <utility>

#include <Eigen/Eigenvalues>

#include "tangere/math/check.hpp"
#include "tangere/multibody/model_check.hpp"

namespace tangere::internal {
namespace {

/// Files are written with few digits: what is as near to a body's inertia is left as it is (as ModelBuilder has it).
constexpr double kRounding = 1e-3;

/// Nothing where the moments are those of a body.
std::string mend_moments(Matrix3& inertia) {
  inertia = (0.5 * (inertia + inertia.transpose())).eval();
  const Eigen::SelfAdjointEigenSolver<Matrix3> solver(inertia);
  const Vector3 moments = solver.eigenvalues();
  const double size = moments.cwiseAbs().maxCoeff();
  if (moments[0] >= -1e-9 * size && moments[0] + moments[1] >= (1.0 - kRounding) * moments[2]) return "";
  const Vector3 second = (0.5 * moments.sum() - moments.array()).max(0.0);
  const Vector3 mended = second.sum() - second.array();
  inertia = solver.eigenvectors() * mended.asDiagonal() * solver.eigenvectors().transpose();
  inertia = (0.5 * (inertia + inertia.transpose())).eval();
  return "no body has the principal moments " + to_text(VectorX(moments)) + ": taken are " + to_text(VectorX(mended));
}

BodySpec with_least_inertia(BodySpec body) {
  MassProperties& given = body.inertia;
  const double mass = given.mass + kMendedMass;
  // about the common centre, as if the new mass were at the old centre
  given = {mass, given.center, Matrix3(given.inertia + kMendedInertia * Matrix3::Identity())};
  return body;
}

}  // namespace

std::string mend_inertia(MassProperties& body) {
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : "; ") + what; };
  if (body.mass < 0.0) {
    add("a mass of " + to_text(body.mass) + " is taken as none");
    body.mass = 0.0;
  }
  if (const std::string what = mend_moments(body.inertia); !what.empty()) add(what);
  if (body.mass == 0.0 && !body.inertia.isZero(0.0)) {
    add("an inertia without mass has one of " + to_text(kLeastMass));
    body.mass = kLeastMass;
  }
  return text;
}

Model build_mended(ModelBuilder& builder, const std::function<void(int, std::string)>& report) {
  for (int mended = 0;; ++mended) {
    try {
      return builder.build();
    } catch (const ImmovableJoint& error) {
      if (mended == kMostMended) throw;
      const int index = error.joint();
      builder.set_body(index, with_least_inertia(builder.body(index)));
      report(index, "moves nothing that has inertia of its own: body '" + builder.body(index).name + "' gets " +
                        to_text(kMendedMass) + " kg and " + to_text(kMendedInertia) + " kg m² more");
    }
  }
}

}  // namespace tangere::internal
