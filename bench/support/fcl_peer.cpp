#include "bench/support/fcl_peer.hpp"

#include <cmath>
#include <exception>
#include <limits>
#include <vector>

#include <fcl/geometry/shape/box.h>
#include <fcl/geometry/shape/capsule.h>
#include <fcl/geometry/shape/cone.h>
#include <fcl/geometry/shape/convex.h>
#include <fcl/geometry/shape/cylinder.h>
#include <fcl/geometry/shape/ellipsoid.h>
#include <fcl/narrowphase/distance.h>

#include "tangere/geometry/hull.hpp"

namespace tangere::bench {
namespace {

using Geometry = std::shared_ptr<fcl::CollisionGeometryd>;

/// A shape of FCL's and its frame F in our shape frame S.
struct PeerBody {
  Geometry geometry;
  Pose X_SF;
};

/// FCL's axis is z; here it lies along our x, or against it. Columns are FCL's axes in our frame.
Matrix3 z_along_x(double sign) {
  Matrix3 R;
  R << 0, 0, sign,  //
      0, 1, 0,      //
      -sign, 0, 0;
  return R;
}

Geometry convex(const Polytope& polytope) {
  const Hull hull = hull_of_half_spaces(polytope.A, polytope.b);
  auto vertices = std::make_shared<std::vector<fcl::Vector3d>>();
  for (Eigen::Index i = 0; i < hull.vertices.rows(); ++i) vertices->emplace_back(hull.vertices.row(i).transpose());
  // each face: the number of its corners, then their indices
  auto faces = std::make_shared<std::vector<int>>();
  for (const std::vector<int>& face : hull.faces) {
    faces->push_back(static_cast<int>(face.size()));
    faces->insert(faces->end(), face.begin(), face.end());
  }
  return std::make_shared<fcl::Convexd>(vertices, static_cast<int>(hull.faces.size()), faces);
}

std::optional<PeerBody> peer_body(const Shape& shape) {
  const Pose along = Pose::rotation(z_along_x(1.0));
  if (const auto* s = shape.get_if<Capsule>())
    return PeerBody{std::make_shared<fcl::Capsuled>(s->radius, s->length), along};
  if (const auto* s = shape.get_if<Cylinder>())
    return PeerBody{std::make_shared<fcl::Cylinderd>(s->radius, s->length), along};
  if (const auto* s = shape.get_if<Cone>()) {
    // FCL's apex is at +z and its origin at half the height: a quarter of the height from ours, towards the apex
    const double radius = s->height * std::tan(s->half_angle);
    return PeerBody{std::make_shared<fcl::Coned>(radius, s->height),
                    Pose(z_along_x(-1.0), Vector3(-0.25 * s->height, 0, 0))};
  }
  if (const auto* s = shape.get_if<Ellipsoid>(); s != nullptr && !s->P) {
    return PeerBody{std::make_shared<fcl::Ellipsoidd>(s->semi_axes), Pose()};
  }
  if (const auto* s = shape.get_if<Box>()) return PeerBody{std::make_shared<fcl::Boxd>(s->size), Pose()};
  if (const auto* s = shape.get_if<Polytope>()) return PeerBody{convex(*s), Pose()};
  return std::nullopt;
}

fcl::Transform3d transform(const Pose& X_WF) {
  fcl::Transform3d X = fcl::Transform3d::Identity();
  X.linear() = X_WF.R;
  X.translation() = X_WF.p;
  return X;
}

struct PosedPair {
  Geometry A;
  Geometry B;
  fcl::Transform3d X_WA;
  fcl::Transform3d X_WB;
};

}  // namespace

struct FclPeer::Data {
  std::vector<PosedPair, Eigen::aligned_allocator<PosedPair>> pairs;
  fcl::DistanceRequestd unsigned_request{/*enable_nearest_points_=*/false, /*enable_signed_distance=*/false};
  fcl::DistanceRequestd signed_request{/*enable_nearest_points_=*/false, /*enable_signed_distance=*/true};
};

FclPeer::FclPeer() : data_(std::make_unique<Data>()) {}
FclPeer::~FclPeer() = default;

std::optional<std::size_t> FclPeer::add(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB) {
  const std::optional<PeerBody> a = peer_body(A);
  const std::optional<PeerBody> b = peer_body(B);
  if (!a || !b) return std::nullopt;
  data_->pairs.push_back({a->geometry, b->geometry, transform(X_WA * a->X_SF), transform(X_WB * b->X_SF)});
  return data_->pairs.size() - 1;
}

double FclPeer::distance(std::size_t pair) const {
  const PosedPair& p = data_->pairs[pair];
  fcl::DistanceResultd result;
  return fcl::distance(p.A.get(), p.X_WA, p.B.get(), p.X_WB, data_->unsigned_request, result);
}

double FclPeer::signed_distance(std::size_t pair) const {
  const PosedPair& p = data_->pairs[pair];
  fcl::DistanceResultd result;
  try {
    return fcl::distance(p.A.get(), p.X_WA, p.B.get(), p.X_WB, data_->signed_request, result);
  } catch (const std::exception&) {
    return std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace tangere::bench
