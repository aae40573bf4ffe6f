#pragma once

/// A system of articulated bodies: constant once built, shared between threads. Everything that changes with the state
/// is in a `Data` (data.hpp).
///
///   ModelBuilder builder("pendulum");
///   builder.add_body({.name = "arm", .inertia = mass_properties(Capsule{0.05, 1.0})},
///                    {.name = "hinge", .type = JointType::revolute, .axis = {0, 1, 0}});
///   const Model model = builder.build();
///
/// Bodies form trees; each hangs from its parent (or the world) by one joint. Bodies and joints share one index: joint
/// i carries body i, and parents come first.

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tangere/multibody/body.hpp"
#include "tangere/multibody/joint.hpp"

namespace tangere {

/// The world, as a parent or as a partner of a constraint.
inline constexpr int kWorld = -1;
/// The most velocity coordinates of a model: dense matrices of them (mass matrix, derivatives) take half a gigabyte.
inline constexpr int kMostCoordinates = 8192;

struct Body {
  BodySpec spec;
  /// kWorld for roots.
  int parent = kWorld;
};

struct Joint {
  JointSpec spec;
  /// Its first coordinates in q and v, and how many there are.
  int first_q = 0;
  int first_v = 0;
  int nq = 0;
  int nv = 0;
  /// The joint that a mimic follows; -1 without.
  int mimic_source = -1;
};

/// A place on a body that has a name: a site of MJCF, a tool point.
struct NamedFrame {
  std::string name{};
  int body = kWorld;
  Pose X_BF{};
};

/// Two bodies held together beyond the tree: read and kept here, enforced by whoever simulates.
struct LoopConstraint {
  enum class Kind { weld, connect };
  std::string name{};
  Kind kind = Kind::weld;
  int body_A = kWorld;
  int body_B = kWorld;
  /// Weld: the frames that coincide. Connect: the points, by their translations.
  Pose X_AC{};
  Pose X_BC{};
};

struct Links;

/// Copies share everything. Moving is copying: what was moved from stays a model.
class Model {
 public:
  Model(const Model&) = default;
  Model& operator=(const Model&) = default;
  ~Model() = default;

  [[nodiscard]] const std::string& name() const { return parts_->name; }
  [[nodiscard]] const Vector3& gravity() const { return parts_->gravity; }
  [[nodiscard]] int num_bodies() const { return static_cast<int>(parts_->bodies.size()); }
  [[nodiscard]] int nq() const { return nq_; }
  [[nodiscard]] int nv() const { return nv_; }
  [[nodiscard]] std::span<const Body> bodies() const { return parts_->bodies; }
  [[nodiscard]] std::span<const Joint> joints() const { return parts_->joints; }
  /// InputError for an index that the model does not have.
  [[nodiscard]] const Body& body(int i) const { return at(parts_->bodies, "body", i); }
  [[nodiscard]] const Joint& joint(int i) const { return at(parts_->joints, "joint", i); }
  /// One per velocity coordinate.
  [[nodiscard]] std::span<const DofSpec> dofs() const { return parts_->dofs; }
  /// Body pairs that never collide (first < second), sorted: asked for, or joined by a loop or a joint that is not
  /// free.
  [[nodiscard]] std::span<const std::pair<int, int>> excluded_pairs() const { return parts_->excluded; }
  /// Neither excluded nor held together by fixed joints.
  [[nodiscard]] bool may_collide(int body_A, int body_B) const;
  [[nodiscard]] std::span<const LoopConstraint> constraints() const { return parts_->constraints; }
  [[nodiscard]] std::span<const NamedFrame> frames() const { return parts_->frames; }

  /// Indices by name; InputError if there is none, with the names that come near.
  [[nodiscard]] int body_index(std::string_view name) const;
  [[nodiscard]] int joint_index(std::string_view name) const;
  /// A named frame, or a body by its name: its own frame. InputError if there is neither.
  [[nodiscard]] NamedFrame frame(std::string_view name) const;
  [[nodiscard]] double total_mass() const;
  /// The name of each velocity coordinate: that of the joint, with an index (`base[2]`) if the joint has several.
  [[nodiscard]] std::string dof_name(int v) const;

  /// The tree as the algorithms see it (links.hpp).
  [[nodiscard]] const Links& links() const { return *links_; }
  [[nodiscard]] const std::shared_ptr<const Links>& shared_links() const { return links_; }

 private:
  friend class ModelBuilder;
  struct Parts {
    std::string name{};
    Vector3 gravity = Vector3::Zero();
    std::vector<Body> bodies{};
    std::vector<Joint> joints{};
    std::vector<DofSpec> dofs{};
    std::vector<std::pair<int, int>> excluded{};
    std::vector<LoopConstraint> constraints{};
    std::vector<NamedFrame> frames{};
  };
  Model(Parts parts, int nq, int nv);

  template <class T>
  static const T& at(const std::vector<T>& list, const char* kind, int i) {
    if (i < 0 || i >= static_cast<int>(list.size())) fail(kind, i, list.size());
    return list[i];
  }
  [[noreturn]] static void fail(const char* kind, int index, std::size_t count);

  std::shared_ptr<const Parts> parts_;
  int nq_ = 0;
  int nv_ = 0;
  std::shared_ptr<const Links> links_;
};

/// Collects bodies and validates them: every function throws InputError naming the body or joint, the quantity, its
/// value and what is allowed, and leaves the builder as it was.
class ModelBuilder {
 public:
  explicit ModelBuilder(std::string name);
  /// With everything that a model has, to change some of it.
  explicit ModelBuilder(const Model& model);

  /// Default (0, 0, -9.81).
  void set_gravity(const Vector3& gravity);
  /// Adds a body and the joint it hangs from; answers with the body's index. Names must be new; an empty joint name
  /// becomes that of the body.
  int add_body(BodySpec body, JointSpec joint, int parent = kWorld);
  int add_body(BodySpec body, JointSpec joint, std::string_view parent);
  /// Replaces what a body or joint was given (same type and names).
  void set_body(int index, BodySpec body);
  void set_joint(int index, JointSpec joint);
  void exclude_pair(int body_A, int body_B);
  void add_constraint(LoopConstraint constraint);
  /// Frames have names of their own: none twice. A body may have the name of a frame; the frame is found then.
  void add_frame(NamedFrame frame);

  [[nodiscard]] int num_bodies() const { return static_cast<int>(bodies_.size()); }
  /// kWorld - 1 if there is none.
  [[nodiscard]] int find_body(std::string_view name) const;
  /// The body that was given for an index below num_bodies().
  [[nodiscard]] const BodySpec& body(int index) const { return bodies_[index].spec; }

  /// Throws InputError also for joints that nothing with inertia along them hangs from (the mass matrix would be
  /// singular everywhere), for mimics of unknown joints or in a circle, and beyond kMostCoordinates.
  [[nodiscard]] Model build() const;

 private:
  std::string name_{};
  Vector3 gravity_{0.0, 0.0, -9.81};
  std::vector<Body> bodies_{};
  std::vector<JointSpec> joints_{};
  std::vector<std::pair<int, int>> excluded_;
  std::vector<LoopConstraint> constraints_{};
  std::vector<NamedFrame> frames_{};
  std::set<std::string, std::less<>> frame_names_;
  std::map<std::string, int, std::less<>> body_by_name_;
  std::set<std::string> joint_names_;
};

}  // namespace tangere
