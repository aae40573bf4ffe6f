#include "tangere/multibody/model.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/multibody/internal/links_builder.hpp"
#include "tangere/multibody/model_check.hpp"

namespace tangere {

// Model
// ---------------------------------------------------------------------------------------------------------------------

namespace {

/// Longer names are not suggested: comparing them takes the square of their length.
constexpr std::size_t kLongestSuggested = 200;

/// Edit distance, to suggest names.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

template <class List, class Name>
int index_of(const List& list, const Name& name_of, const char* kind, std::string_view name) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (name_of(list[i]) == name) return static_cast<int>(i);
  std::string nearest;
  std::size_t fewest = std::max<std::size_t>(name.size() / 2, 2) + 1;
  for (const auto& each : list) {
    const std::string& candidate = name_of(each);
    if (std::max(candidate.size(), name.size()) > kLongestSuggested) continue;
    if (const std::size_t n = edits(candidate, name); n < fewest) {
      fewest = n;
      nearest = candidate;
    }
  }
  std::string reason = "there is no " + std::string(kind) + " '" + std::string(name) + "'";
  if (!nearest.empty()) reason += "; did you mean '" + nearest + "'?";
  throw InputError(kind, reason);
}

}  // namespace

Model::Model(Parts parts, int nq, int nv)
    : parts_(std::make_shared<const Parts>(std::move(parts))),
      nq_(nq),
      nv_(nv),
      links_(
          std::make_shared<const Links>(build_links(parts_->bodies, parts_->joints, parts_->dofs, parts_->gravity))) {}

void Model::fail(const char* kind, int index, std::size_t count) {
  throw InputError(kind, count == 0
                             ? "the model has none, got " + std::to_string(index)
                             : "must be between 0 and " + std::to_string(count - 1) + ", got " + std::to_string(index));
}

int Model::body_index(std::string_view name) const {
  return index_of(
      parts_->bodies, [](const Body& body) -> const std::string& { return body.spec.name; }, "body", name);
}

int Model::joint_index(std::string_view name) const {
  return index_of(
      parts_->joints, [](const Joint& joint) -> const std::string& { return joint.spec.name; }, "joint", name);
}

NamedFrame Model::frame(std::string_view name) const {
  for (const NamedFrame& frame : parts_->frames)
    if (frame.name == name) return frame;
  for (int b = 0; b < num_bodies(); ++b)
    if (body(b).spec.name == name) return {std::string(name), b, Pose()};
  if (name == "world") return {"world", kWorld, Pose()};
  // the names that come near
  std::vector<std::string> names;
  for (const NamedFrame& frame : parts_->frames) names.push_back(frame.name);
  for (const Body& each : parts_->bodies) names.push_back(each.spec.name);
  (void)index_of(
      names, [](const std::string& each) -> const std::string& { return each; }, "frame", name);
  return {};
}

bool Model::may_collide(int body_A, int body_B) const {
  const auto link_of = [&](int body) { return body == kWorld ? -1 : links_->bodies[body].link; };
  if (link_of(body_A) == link_of(body_B)) return false;
  const std::pair<int, int> pair = std::minmax({body_A, body_B});
  return !std::binary_search(parts_->excluded.begin(), parts_->excluded.end(), pair);
}

double Model::total_mass() const {
  double total = 0.0;
  for (const Body& body : parts_->bodies) total += body.spec.inertia.mass;
  return total;
}

std::string Model::dof_name(int v) const {
  for (const Joint& joint : parts_->joints) {
    if (v < joint.first_v || v >= joint.first_v + joint.nv) continue;
    return joint.nv == 1 ? joint.spec.name : joint.spec.name + "[" + std::to_string(v - joint.first_v) + "]";
  }
  throw InputError("v", "must be between 0 and " + std::to_string(nv_ - 1) + ", got " + std::to_string(v));
}

// ModelBuilder
// ---------------------------------------------------------------------------------------------------------------------

ModelBuilder::ModelBuilder(std::string name) : name_(std::move(name)) {}

ModelBuilder::ModelBuilder(const Model& model)
    : name_(model.name()),
      gravity_(model.gravity()),
      bodies_(model.bodies().begin(), model.bodies().end()),
      excluded_(model.excluded_pairs().begin(), model.excluded_pairs().end()),
      constraints_(model.constraints().begin(), model.constraints().end()),
      frames_(model.frames().begin(), model.frames().end()) {
  for (const NamedFrame& frame : frames_) frame_names_.insert(frame.name);
  for (const Joint& joint : model.joints()) {
    joints_.push_back(joint.spec);
    joint_names_.insert(joint.spec.name);
  }
  for (int i = 0; i < num_bodies(); ++i) body_by_name_.emplace(model.body(i).spec.name, i);
}

void ModelBuilder::set_gravity(const Vector3& gravity) {
  for (int i = 0; i < 3; ++i) internal::require_finite("gravity", gravity[i]);
  gravity_ = gravity;
}

int ModelBuilder::find_body(std::string_view name) const {
  const auto found = body_by_name_.find(name);
  return found == body_by_name_.end() ? kWorld - 1 : found->second;
}

int ModelBuilder::add_body(BodySpec body, JointSpec joint, std::string_view parent) {
  if (parent == "world") return add_body(std::move(body), std::move(joint), kWorld);
  const int index = find_body(parent);
  if (index < kWorld)
    throw ModelError(ModelError::Part::body, body.name, "parent",
                     "there is no body '" + std::string(parent) + "' yet; parents come first");
  return add_body(std::move(body), std::move(joint), index);
}

int ModelBuilder::add_body(BodySpec body, JointSpec joint, int parent) {
  if (joint.name.empty()) joint.name = body.name;
  if (parent < kWorld || parent >= num_bodies())
    throw ModelError(ModelError::Part::body, body.name, "parent",
                     "must be the index of an earlier body or kWorld, got " + std::to_string(parent));
  if (body.name.empty()) throw InputError("body.name", "must not be empty");
  if (body.name == "world" || find_body(body.name) >= 0)
    throw ModelError(ModelError::Part::body, body.name, "", "there is a body of this name already");
  if (joint_names_.contains(joint.name))
    throw ModelError(ModelError::Part::joint, joint.name, "", "there is a joint of this name already");
  verify(body);
  verify(joint);
  body_by_name_.emplace(body.name, num_bodies());
  joint_names_.insert(joint.name);
  bodies_.push_back({std::move(body), parent});
  joints_.push_back(std::move(joint));
  return num_bodies() - 1;
}

void ModelBuilder::set_body(int index, BodySpec body) {
  if (index < 0 || index >= num_bodies()) throw InputError("index", "there is no body " + std::to_string(index));
  Body& old = bodies_[index];
  if (body.name != old.spec.name)
    throw ModelError(ModelError::Part::body, body.name, "", "must keep the name '" + old.spec.name + "'");
  verify(body);
  old.spec = std::move(body);
}

void ModelBuilder::set_joint(int index, JointSpec joint) {
  if (index < 0 || index >= num_bodies()) throw InputError("index", "there is no joint " + std::to_string(index));
  JointSpec& old = joints_[index];
  if (joint.name != old.name)
    throw ModelError(ModelError::Part::joint, joint.name, "", "must keep the name '" + old.name + "'");
  if (joint.type != old.type)
    throw ModelError(ModelError::Part::joint, joint.name, "type",
                     "must stay " + std::string(to_string(old.type)) + ", got " + std::string(to_string(joint.type)));
  verify(joint);
  old = std::move(joint);
}

void ModelBuilder::exclude_pair(int body_A, int body_B) {
  for (const int body : {body_A, body_B})
    if (body < kWorld || body >= num_bodies())
      throw InputError("exclude_pair", "there is no body " + std::to_string(body));
  if (body_A == body_B) throw InputError("exclude_pair", "needs two different bodies, got " + std::to_string(body_A));
  excluded_.emplace_back(std::min(body_A, body_B), std::max(body_A, body_B));
}

void ModelBuilder::add_constraint(LoopConstraint constraint) {
  for (const int body : {constraint.body_A, constraint.body_B})
    if (body < kWorld || body >= num_bodies())
      throw InputError(constraint.name, "there is no body " + std::to_string(body));
  if (constraint.body_A == constraint.body_B) throw InputError(constraint.name, "needs two different bodies");
  internal::require_pose(constraint.name + ".X_AC", constraint.X_AC);
  internal::require_pose(constraint.name + ".X_BC", constraint.X_BC);
  constraints_.push_back(std::move(constraint));
}

void ModelBuilder::add_frame(NamedFrame frame) {
  if (frame.name.empty()) throw InputError("frame.name", "must not be empty");
  if (frame_names_.contains(frame.name)) throw InputError(frame.name, "there is a frame of this name already");
  if (frame.body < kWorld || frame.body >= num_bodies())
    throw InputError(frame.name, "there is no body " + std::to_string(frame.body));
  internal::require_pose(frame.name + ".X_BF", frame.X_BF);
  frame_names_.insert(frame.name);
  frames_.push_back(std::move(frame));
}

Model ModelBuilder::build() const {
  Model::Parts parts{
      .name = name_, .gravity = gravity_, .bodies = bodies_, .constraints = constraints_, .frames = frames_};
  int nq = 0;
  int nv = 0;
  for (const JointSpec& spec : joints_) {
    Joint joint;
    joint.spec = spec;
    joint.first_q = nq;
    joint.first_v = nv;
    joint.nq = num_positions(spec.type);
    joint.nv = num_velocities(spec.type);
    nq += joint.nq;
    nv += joint.nv;
    for (int k = 0; k < joint.nv; ++k) {
      const std::size_t given = spec.dofs.size();
      parts.dofs.push_back(given == 0 ? DofSpec{} : spec.dofs[given == 1 ? 0 : k]);
    }
    parts.joints.push_back(std::move(joint));
  }
  if (nv > kMostCoordinates)
    throw InputError(name_, "must have at most " + std::to_string(kMostCoordinates) + " velocity coordinates, has " +
                                std::to_string(nv));
  connect_mimics(parts.joints);
  // neighbours do not collide, by joints and by loops, but what is free of its parent does
  parts.excluded = neighbour_pairs(bodies_, joints_, constraints_);
  parts.excluded.insert(parts.excluded.end(), excluded_.begin(), excluded_.end());
  std::sort(parts.excluded.begin(), parts.excluded.end());
  parts.excluded.erase(std::unique(parts.excluded.begin(), parts.excluded.end()), parts.excluded.end());

  Model model(std::move(parts), nq, nv);
  require_movable(model);
  return model;
}

}  // namespace tangere
