#pragma once

/// The tree as the algorithms see it (not installed).
///
/// Every joint becomes links of five kinds, one to six coordinates each, whose motion is constant in the link's own
/// frame: a universal joint is two revolute links, a planar one two prismatic and a revolute, and the links in between
/// have no mass. The frame of a link with an axis has it along z. Bodies that a fixed joint holds belong to the link
/// they are fixed to. So no algorithm knows joint types, and none has a motion subspace that changes with q.

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "tangere/multibody/spatial.hpp"

namespace tangere {

struct Link {
  enum class Kind { revolute, prismatic, screw, ball, free };

  Kind kind = Kind::revolute;
  /// -1: the world.
  int parent = -1;
  /// First coordinates, and the number of velocities.
  int q = 0;
  int v = 0;
  int nv = 1;
  double pitch = 0.0;
  /// The link's frame in the parent link's, at the neutral configuration.
  Frame X;
  /// Inertia of all bodies fixed to the link, in its frame.
  SpatialInertia inertia;
};

/// Placement of a body on its link.
struct Attachment {
  /// -1: fixed to the world.
  int link = -1;
  Frame X_LB;
};

struct Links {
  std::vector<Link> links;
  std::vector<Attachment> bodies;
  /// For each velocity coordinate: its link, and the coordinate before it on the way to the root (-1 at the root).
  std::vector<int> link_of_dof;
  std::vector<int> parent_dof;
  /// The coordinates on the way from the root to each one, itself the last, in rows of `stride`; rows are filled up
  /// with the coordinate itself. The way to a coordinate on the way is its beginning.
  std::vector<int> way;
  std::vector<int> way_length;
  int stride = 0;
  /// The coordinates beyond each one, itself excluded: those of k from first_beyond[k] to first_beyond[k + 1].
  std::vector<int> beyond;
  std::vector<int> first_beyond;
  /// By link: the link of its tree whose origin the tree's quantities in world axes are taken about, the first that is
  /// not prismatic: what slides goes far.
  std::vector<int> origin_of_link;
  /// Joint's first and last link (last < first: fixed), by joint.
  std::vector<std::pair<int, int>> links_of_joint;
  std::vector<double> armature;
  std::vector<double> damping;
  std::vector<double> stiffness;
  std::vector<double> rest;
  /// Position coordinate of each velocity with stiffness.
  std::vector<int> q_of_dof;
  /// First coordinates of quaternions in q.
  std::vector<int> quaternions;
  Vec4 gravity{};
  bool has_passive = false;
  bool has_sliding_roots = false;

  [[nodiscard]] const int* way_to(int dof) const { return way.data() + static_cast<std::ptrdiff_t>(dof) * stride; }
  [[nodiscard]] int size() const { return static_cast<int>(links.size()); }
  [[nodiscard]] const Link& operator[](int i) const { return links[i]; }
};

}  // namespace tangere
