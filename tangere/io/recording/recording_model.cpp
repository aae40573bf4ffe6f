#include "tangere/io/recording/recording_model.hpp"

#include <algorithm>
#include <map>

#include "tangere/io/shape_json.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/multibody/links.hpp"

namespace tangere {
namespace {

const Vector4 kGrey(0.7, 0.7, 0.7, 1.0);

/// The mesh of an equal shape that is in the recording already, or a new one.
std::shared_ptr<const TriangleMesh> mesh_of(const Recording& recording, const Shape& shape) {
  if (draws_itself(shape)) return nullptr;
  const std::string text = shape_to_json(shape);
  for (const RecordedShape& other : recording.shapes)
    if (other.mesh != nullptr && other.shape && other.shape->type_name() == shape.type_name() &&
        shape_to_json(*other.shape) == text)
      return other.mesh;
  return std::make_shared<TriangleMesh>(mesh(shape, {.resolution = 48}));
}

bool same_pose(const Pose& X, const Pose& Y) { return X.R.isApprox(Y.R, 1e-9) && (X.p - Y.p).norm() < 1e-9; }

/// Color of the visual with the shape's name, else of the one at its index, else of the last.
Vector4 color_of(const BodySpec& body, std::size_t index) {
  for (const VisualShape& visual : body.visuals)
    if (!visual.name.empty() && visual.name == body.shapes[index].name) return visual.color;
  if (body.visuals.empty()) return kGrey;
  return body.visuals[std::min(index, body.visuals.size() - 1)].color;
}

/// Whether a visual is just what collides, once more.
bool is_collision_shape(const BodySpec& body, const VisualShape& visual) {
  const Shape* drawn = std::get_if<Shape>(&visual.geometry);
  if (drawn == nullptr) return false;
  return std::any_of(body.shapes.begin(), body.shapes.end(), [&](const CollisionShape& shape) {
    return shape.shape.type_name() == drawn->type_name() && same_pose(shape.X_BS, visual.X_BV) &&
           shape_to_json(shape.shape) == shape_to_json(*drawn);
  });
}

void add_body_shapes(Recording& recording, int b, const BodySpec& body) {
  // what is only drawn; a body without such shapes is drawn as it collides
  std::vector<const VisualShape*> only_drawn;
  for (const VisualShape& visual : body.visuals)
    if (!is_collision_shape(body, visual)) only_drawn.push_back(&visual);

  for (std::size_t i = 0; i < body.shapes.size(); ++i) {
    const CollisionShape& shape = body.shapes[i];
    const bool drawn_too =
        only_drawn.empty() || std::any_of(body.visuals.begin(), body.visuals.end(), [&](const VisualShape& visual) {
          return is_collision_shape(body, visual) && same_pose(visual.X_BV, shape.X_BS);
        });
    add_shape(recording,
              {.body = b,
               .name = shape.name,
               .role = drawn_too ? ShapeRole::both : ShapeRole::collision,
               .X_BS = shape.X_BS,
               .color = color_of(body, i)},
              shape.shape);
  }
  for (const VisualShape* visual : only_drawn) {
    RecordedShape entry{.body = b,
                        .name = visual->name,
                        .role = body.shapes.empty() ? ShapeRole::both : ShapeRole::visual,
                        .X_BS = visual->X_BV,
                        .color = visual->color};
    if (const Shape* shape = std::get_if<Shape>(&visual->geometry)) {
      add_shape(recording, entry, *shape);
    } else {
      entry.mesh = std::get<std::shared_ptr<const TriangleMesh>>(visual->geometry);
      if (entry.mesh != nullptr) recording.shapes.push_back(std::move(entry));
    }
  }
}

const char* to_text(Link::Kind kind) {
  switch (kind) {
    case Link::Kind::revolute:
      return "revolute";
    case Link::Kind::prismatic:
      return "prismatic";
    case Link::Kind::screw:
      return "screw";
    case Link::Kind::ball:
      return "ball";
    case Link::Kind::free:
      break;
  }
  return "free";
}

void add_tree(Recording& recording, const Model& model) {
  const Links& tree = model.links();
  for (const Link& link : tree.links)
    recording.links.push_back({to_text(link.kind), link.parent, link.q, link.pitch, to_pose(link.X)});
  for (const Attachment& attachment : tree.bodies)
    recording.attachments.push_back({attachment.link, to_pose(attachment.X_LB)});

  // joints made of angles and lengths; those with quaternions have no sliders
  std::map<int, int> coordinate_of_q;
  for (const Joint& joint : model.joints()) {
    if (joint.nq != joint.nv) continue;
    for (int k = 0; k < joint.nv; ++k) {
      const DofSpec& dof = model.dofs()[joint.first_v + k];
      coordinate_of_q[joint.first_q + k] = static_cast<int>(recording.coordinates.size());
      recording.coordinates.push_back(
          {.name = model.dof_name(joint.first_v + k), .q = joint.first_q + k, .lower = dof.lower, .upper = dof.upper});
    }
  }
  for (const Joint& joint : model.joints()) {
    if (joint.mimic_source < 0) continue;
    RecordedCoordinate& follower = recording.coordinates[coordinate_of_q.at(joint.first_q)];
    follower.source = coordinate_of_q.at(model.joint(joint.mimic_source).first_q);
    follower.multiplier = joint.spec.mimic->multiplier;
    follower.offset = joint.spec.mimic->offset;
  }
}

/// The axis of the world that things fall against; z where they do not fall.
Vector3 up_of(const Vector3& gravity) {
  Eigen::Index axis = 2;
  if (gravity.cwiseAbs().maxCoeff(&axis) == 0.0) return Vector3::UnitZ();
  return Vector3::Unit(axis) * (gravity[axis] > 0.0 ? -1.0 : 1.0);
}

}  // namespace

bool draws_itself(const Shape& shape) {
  if (const auto* ellipsoid = shape.get_if<Ellipsoid>()) return !ellipsoid->P.has_value();
  return shape.get_if<Sphere>() != nullptr || shape.get_if<Box>() != nullptr || shape.get_if<Capsule>() != nullptr ||
         shape.get_if<Cylinder>() != nullptr || shape.get_if<Cone>() != nullptr || shape.is_half_space();
}

void add_shape(Recording& recording, const RecordedShape& base, const Shape& shape) {
  if (const auto* bundle = shape.get_if<Bundle>()) {
    for (const ShapePart& part : bundle->parts) {
      RecordedShape entry = base;
      entry.X_BS = base.X_BS * part.X;
      add_shape(recording, entry, part.shape);
    }
    return;
  }
  RecordedShape entry = base;
  entry.shape = shape;
  entry.mesh = mesh_of(recording, shape);
  recording.shapes.push_back(std::move(entry));
}

Recording describe_model(const Model& model) {
  Recording recording;
  recording.name = model.name();
  recording.up = up_of(model.gravity());
  for (int b = 0; b < model.num_bodies(); ++b) {
    recording.bodies.push_back(model.body(b).spec.name);
    add_body_shapes(recording, b, model.body(b).spec);
  }
  add_tree(recording, model);
  return recording;
}

std::vector<RecordedPose> poses_at(const Model& model, Data& data, VectorArgument q) {
  forward_kinematics(model, data, q);
  std::vector<RecordedPose> poses;
  poses.reserve(static_cast<std::size_t>(model.num_bodies()));
  for (int b = 0; b < model.num_bodies(); ++b) poses.push_back(recorded_pose(body_pose(model, data, b)));
  return poses;
}

namespace {

std::string type_of(const Contact& contact) {
  if (contact.feature_A.kind == FeatureKind::whole) return "smooth";
  return std::string(to_string(contact.feature_A.kind)) + "-" + std::string(to_string(contact.feature_B.kind));
}

}  // namespace

RecordedContact recorded_contact(const Contact& contact) {
  return {.body_A = contact.body_A,
          .body_B = contact.body_B,
          .type = type_of(contact),
          .point = contact.point,
          .normal = contact.frame.col(0),
          .impulse = contact.frame * contact.impulse,
          .distance = contact.distance};
}

}  // namespace tangere
