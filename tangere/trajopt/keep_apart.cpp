#include "tangere/trajopt/keep_apart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tangere/geometry/bounds.hpp"
#include "tangere/math/error.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/proximity/distance.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"

namespace tangere {
namespace {

/// One pair. Queries of one thread share their memory.
class PairGap final : public KnotFunction {
 public:
  PairGap(Collider mover, Collider obstacle, KeepApart::Metric metric, double margin, double size)
      : A_(std::move(mover)), B_(std::move(obstacle)), metric_(metric), margin_(margin), size_(size) {}

  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] bool is_of_state() const override { return true; }

  void evaluate(const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) const override {
    thread_local ScalingWorkspace scalings;
    thread_local DistanceWorkspace distances;
    thread_local MatrixX J_A, J_B;
    Pose X_WA, X_WB;
    const int ndx = knot.dynamics.ndx();
    J_A.setZero(6, ndx);
    J_B.setZero(6, ndx);
    place(A_, knot, X_WA, J == nullptr ? nullptr : &J_A);
    place(B_, knot, X_WB, J == nullptr ? nullptr : &J_B);
    if (!X_WA.p.allFinite() || !X_WB.p.allFinite() || !X_WA.R.allFinite() || !X_WB.R.allFinite()) {
      value[0] = std::numeric_limits<double>::quiet_NaN();
      return;
    }
    Vector12 gradient = Vector12::Zero();
    if (metric_ == KeepApart::Metric::scaling) {
      value[0] = (1.0 + margin_ - scaling(A_.shape, X_WA, B_.shape, X_WB, {}, scalings).alpha) * size_;
      if (J != nullptr) gradient = -size_ * scaling_gradient(scalings);
    } else {
      value[0] = margin_ - distance(A_.shape, X_WA, B_.shape, X_WB, {}, distances).distance;
      if (J != nullptr) gradient = -distance_gradient(distances);
    }
    if (J == nullptr) return;
    J->x.row(0).noalias() = gradient.head<6>().transpose() * J_A;
    J->x.row(0).noalias() += gradient.tail<6>().transpose() * J_B;
  }

  void verify(const Dynamics& /*dynamics*/) const override {
    if (!A_.pose || !B_.pose) throw InputError("pose", "has no function");
    if (!std::isfinite(margin_)) throw InputError("margin", "must be finite");
  }

 private:
  static void place(const Collider& collider, const Knot& knot, Pose& X, MatrixX* J) {
    if (J == nullptr) {
      collider.pose(knot, X, nullptr);
      return;
    }
    Eigen::Ref<MatrixX> block(*J);
    collider.pose(knot, X, &block);
  }

  Collider A_;
  Collider B_;
  KeepApart::Metric metric_;
  double margin_;
  double size_;
};

/// Half the shortest edge of its bounds.
double thickness(const Shape& shape) {
  const Aabb box = bounds(shape);
  return 0.5 * (box.upper - box.lower).minCoeff();
}

}  // namespace

Collider fixed(std::string name, Shape shape, const Pose& X_WB) {
  return {std::move(name), std::move(shape), [X_WB](const Knot&, Pose& X, Eigen::Ref<MatrixX>*) { X = X_WB; }};
}

std::vector<Collider> colliders_of(const Dynamics& dynamics, const std::string& body) {
  if (dynamics.model() == nullptr) throw InputError("body", "needs dynamics with a model");
  if (!dynamics.has_fixed_geometry()) throw InputError("body", "has a place that the design changes");
  const Model& model = *dynamics.model();
  const int index = model.body_index(body);
  std::vector<Collider> out;
  for (const CollisionShape& shape : model.body(index).spec.shapes) {
    const auto pose = [index, X_BS = shape.X_BS](const Knot& knot, Pose& X, Eigen::Ref<MatrixX>* J) {
      const Model& own = *knot.dynamics.model();
      const Data& data = knot.kinematics();
      const Pose X_WB = body_pose(own, data, index);
      X = X_WB * X_BS;
      if (J == nullptr) return;
      Matrix6X& twist = knot.memory.scratch.twist;
      body_jacobian(own, data, index, twist);
      for (int k = 0; k < own.nv(); ++k) {
        const Vector3 omega = twist.col(k).tail<3>();
        J->block<3, 1>(0, k) = twist.col(k).head<3>() + omega.cross(X.p - X_WB.p);
        J->block<3, 1>(3, k) = X.R.transpose() * omega;
      }
    };
    out.push_back({shape.name.empty() ? body : body + "/" + shape.name, shape.shape, pose});
  }
  if (out.empty()) throw InputError("body", "'" + body + "' has no shapes");
  return out;
}

void add(OptimalControl& problem, const KeepApart& constraint) {
  if (constraint.movers.empty()) throw InputError(constraint.name + ".movers", "must have at least one entry");
  if (constraint.obstacles.empty()) throw InputError(constraint.name + ".obstacles", "must have at least one entry");
  for (const Collider& mover : constraint.movers)
    for (const Collider& obstacle : constraint.obstacles) {
      const double size = std::min(thickness(mover.shape), thickness(obstacle.shape));
      problem.add({.name = constraint.name + ": " + mover.name + ", " + obstacle.name,
                   .kind = Term::Kind::inequality,
                   .function = std::make_shared<PairGap>(mover, obstacle, constraint.metric, constraint.margin,
                                                         std::isfinite(size) ? size : 1.0),
                   .between_knots = constraint.between_knots},
                  constraint.knots);
    }
}

}  // namespace tangere
