#include "tangere/multibody/links.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "tangere/multibody/internal/links_builder.hpp"

namespace tangere {
namespace {

/// Axes whose cosine to a coordinate axis is larger are near it (joint.hpp says so).
constexpr double kNearAxis = 0.9;

/// A rotation whose third column is the axis; for the coordinate axes the other two follow in turn, and near one of
/// them they are turned with it: what rounding does to an axis does not turn the frame about it.
Matrix3 frame_along(const Vector3& axis) {
  const Vector3 a = axis.normalized();
  int near = 2;
  for (int k = 0; k < 3; ++k)
    if (a[k] > kNearAxis) near = k;
  Matrix3 along = Matrix3::Zero();
  for (int k = 0; k < 3; ++k) along((near + 1 + k) % 3, k) = 1.0;
  const Vector3 unit = along.col(2);
  if (a == unit) return along;
  return Eigen::Quaterniond::FromTwoVectors(unit, a) * along;
}

/// One link of a joint: its kind, and its frame in the joint's (both turned as at the neutral configuration).
struct Piece {
  Link::Kind kind;
  Matrix3 R_JL;
};

std::vector<Piece> pieces_of(const JointSpec& joint) {
  const Matrix3 R = frame_along(joint.axis);
  // in the plane: along the first column, along the second
  const Matrix3 first = R * frame_along(Vector3::UnitX());
  const Matrix3 second = R * frame_along(Vector3::UnitY());
  using enum Link::Kind;
  switch (joint.type) {
    case JointType::fixed:
      return {};
    case JointType::revolute:
      return {{revolute, R}};
    case JointType::prismatic:
      return {{prismatic, R}};
    case JointType::screw:
      return {{screw, R}};
    case JointType::universal:
      return {{revolute, R}, {revolute, frame_along(joint.axis2)}};
    case JointType::ball:
      return {{ball, Matrix3::Identity()}};
    case JointType::planar:
      return {{prismatic, first}, {prismatic, second}, {revolute, R}};
    case JointType::translation2:
      return {{prismatic, first}, {prismatic, second}};
    case JointType::translation3:
      return {{prismatic, frame_along(Vector3::UnitX())},
              {prismatic, frame_along(Vector3::UnitY())},
              {prismatic, Matrix3::Identity()}};
    case JointType::free:
      return {{free, Matrix3::Identity()}};
  }
  return {};
}

/// The ways from the root to every coordinate.
void add_ways(Links& tree) {
  const std::size_t nv = tree.parent_dof.size();
  int longest = 0;
  for (std::size_t k = 0; k < nv; ++k) {
    const int parent = tree.parent_dof[k];
    tree.way_length.push_back(parent < 0 ? 1 : tree.way_length[parent] + 1);
    longest = std::max(longest, tree.way_length.back());
  }
  tree.stride = (longest + 3) / 4 * 4;
  tree.way.resize(nv * static_cast<std::size_t>(tree.stride));
  for (std::size_t k = 0; k < nv; ++k) {
    int* way = tree.way.data() + k * static_cast<std::size_t>(tree.stride);
    std::fill_n(way, tree.stride, static_cast<int>(k));
    int at = tree.way_length[k];
    for (int j = static_cast<int>(k); j >= 0; j = tree.parent_dof[j]) way[--at] = j;
  }
  for (std::size_t k = 0; k < nv; ++k) {
    tree.first_beyond.push_back(static_cast<int>(tree.beyond.size()));
    const int at = tree.way_length[k] - 1;
    for (std::size_t j = k + 1; j < nv; ++j)
      if (tree.way_length[j] > at && tree.way_to(static_cast<int>(j))[at] == static_cast<int>(k))
        tree.beyond.push_back(static_cast<int>(j));
  }
  tree.first_beyond.push_back(static_cast<int>(tree.beyond.size()));
}

/// The origins that trees are seen from: what slides goes far, so the first link that does not.
void choose_origins(Links& tree) {
  std::vector<int> first_child(tree.links.size(), -1);
  for (int i = tree.size() - 1; i >= 0; --i)
    if (tree[i].parent >= 0) first_child[tree[i].parent] = i;
  for (int i = 0; i < tree.size(); ++i) {
    if (tree[i].parent >= 0) {
      tree.origin_of_link.push_back(tree.origin_of_link[tree[i].parent]);
      continue;
    }
    int at = i;
    while (tree[at].kind == Link::Kind::prismatic && first_child[at] >= 0) at = first_child[at];
    tree.origin_of_link.push_back(at);
    tree.has_sliding_roots = tree.has_sliding_roots || at != i;
  }
}

}  // namespace

SpatialInertia spatial_inertia(const MassProperties& body) {
  SpatialInertia out;
  out.m = body.mass;
  out.h = body.mass * to_vec4(body.center);
  out.I = to_columns(body.inertia) + second_moment(out.h, to_vec4(body.center));
  return out;
}

Links build_links(std::span<const Body> bodies, std::span<const Joint> joints, std::span<const DofSpec> dofs,
                  const Vector3& gravity) {
  Links tree;
  tree.gravity = to_vec4(gravity);
  std::vector<int> last_dof;
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const Joint& joint = joints[b];
    const JointSpec& spec = joint.spec;
    // from the parent's link to the joint
    int link = -1;
    Pose X = spec.X_PJ;
    if (bodies[b].parent != kWorld) {
      const Attachment& parent = tree.bodies[bodies[b].parent];
      link = parent.link;
      X = to_pose(parent.X_LB) * spec.X_PJ;
    }
    Matrix3 R_JL = Matrix3::Identity();
    int q = joint.first_q;
    int v = joint.first_v;
    const int first_link = tree.size();
    for (const Piece& piece : pieces_of(spec)) {
      Link next;
      next.kind = piece.kind;
      next.parent = link;
      next.q = q;
      next.v = v;
      next.nv = piece.kind == Link::Kind::free ? 6 : piece.kind == Link::Kind::ball ? 3 : 1;
      next.pitch = piece.kind == Link::Kind::screw ? spec.pitch : 0.0;
      next.X = to_frame(X * Pose::rotation(R_JL.transpose() * piece.R_JL));
      if (next.nv > 1) tree.quaternions.push_back(next.q + next.nv - 3);
      q += next.nv + (next.nv > 1 ? 1 : 0);
      int before = link < 0 ? -1 : last_dof[link];
      for (int k = 0; k < next.nv; ++k) {
        tree.link_of_dof.push_back(tree.size());
        tree.parent_dof.push_back(before);
        tree.q_of_dof.push_back(next.q + k);
        before = v++;
      }
      last_dof.push_back(before);
      link = tree.size();
      tree.links.push_back(next);
      // the next piece is placed in this one's frame
      X = Pose();
      R_JL = piece.R_JL;
    }
    tree.links_of_joint.emplace_back(first_link, tree.size() - 1);
    const Pose X_LJ = X * Pose::rotation(R_JL.transpose());
    const Attachment attachment{link, to_frame(X_LJ * spec.X_CJ.inverse())};
    tree.bodies.push_back(attachment);
    if (link >= 0) tree.links[link].inertia += transformed(attachment.X_LB, spatial_inertia(bodies[b].spec.inertia));
  }
  for (const DofSpec& dof : dofs) {
    tree.armature.push_back(dof.armature);
    tree.damping.push_back(dof.damping);
    tree.stiffness.push_back(dof.stiffness);
    tree.rest.push_back(dof.rest);
    tree.has_passive = tree.has_passive || dof.damping != 0.0 || dof.stiffness != 0.0;
  }
  add_ways(tree);
  choose_origins(tree);
  return tree;
}

}  // namespace tangere
