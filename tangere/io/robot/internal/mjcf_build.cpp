/// From what was read of an MJCF file to a model.
///
/// A body with joints 1 … n becomes a chain: massless bodies `<body>/<joint>` behind the joints 1 … n-1, the body
/// behind the last. All of them share the body's frame: with anchors a_k, X_PB(q) = X_PB Π T(a_k) J_k(q_k) T(-a_k).

#include <algorithm>
#include <array>
#include <bit>

#include <Eigen/Geometry>

#include "tangere/io/robot/internal/mend.hpp"
#include "tangere/io/robot/internal/mjcf_parts.hpp"
#include "tangere/io/robot/internal/unit_check.hpp"
#include "tangere/math/check.hpp"
#include "tangere/multibody/model_check.hpp"

namespace tangere::internal {
namespace {

/// MuJoCo draws these groups unless told otherwise; the others hold what only collides.
constexpr int kDrawnGroups = 3;
/// Most kinds of contype and conaffinity of which every two are compared.
constexpr std::size_t kMostKindsCompared = 1000;

void name_everything(MjcfReader& reader, std::set<std::string>& body_names, std::set<std::string>& joint_names) {
  body_names.insert("world");
  for (const MjcfBody& body : reader.bodies) {
    body_names.insert(body.name);
    for (const MjcfJoint& joint : body.joints) joint_names.insert(joint.name);
  }
  for (std::size_t i = 1; i < reader.bodies.size(); ++i) {
    MjcfBody& body = reader.bodies[i];
    if (body.name.empty()) body.name = new_name("body" + std::to_string(i), body_names);
    for (std::size_t k = 0; k < body.joints.size(); ++k) {
      std::string& name = body.joints[k].name;
      if (!name.empty()) continue;
      name = new_name(body.joints.size() == 1 ? body.name : body.name + "/joint" + std::to_string(k + 1), joint_names);
    }
  }
}

std::map<MjcfContactBits, MjcfContactBits> bits_of(MjcfReader& reader, ContactBits contact_bits) {
  std::set<MjcfContactBits> given;
  for (const MjcfBody& body : reader.bodies)
    for (const MjcfGeom& geom : body.geoms)
      if (geom.collides()) given.insert(geom.bits());
  std::map<MjcfContactBits, MjcfContactBits> bits;
  if (contact_bits == ContactBits::settled) bits = both_ways(given, reader.contact_pairs);
  if (!bits.empty() || given.empty()) return bits;
  if (contact_bits == ContactBits::settled)
    reader.report(reader.files.root(),
                  "there are more than 32 kinds of contype and conaffinity: geoms collide only "
                  "where each one's type is in the other's affinity",
                  NoticeRank::collision);
  for (const MjcfContactBits& pair : given) bits[pair] = pair;
  return bits;
}

BodySpec spec_of(const MjcfReader& reader, const MjcfBody& body,
                 const std::map<MjcfContactBits, MjcfContactBits>& bits) {
  BodySpec spec;
  spec.name = body.name;
  spec.inertia = body.inertia;
  for (const MjcfGeom& geom : body.geoms) {
    if (geom.collides()) {
      const MjcfContactBits pair = bits.at(geom.bits());
      spec.shapes.push_back({geom.name, geom.shape, geom.X_BS, geom.friction_of_pair.value_or(geom.friction),
                             reader.options.restitution, pair.contype, pair.conaffinity});
    }
    if (geom.collides() && geom.group >= kDrawnGroups) continue;
    VisualShape visual{geom.name, geom.shape, geom.X_BS, geom.color};
    if (geom.mesh != nullptr) {
      visual.geometry = geom.mesh;
      visual.X_BV = geom.X_BM;
    }
    spec.visuals.push_back(std::move(visual));
  }
  return spec;
}

JointSpec spec_of(const MjcfJoint& joint, const Pose& X_PB) {
  JointSpec spec;
  spec.name = joint.name;
  spec.type = joint.type;
  spec.axis = joint.axis;
  spec.dofs = {joint.dof};
  spec.mimic = joint.mimic;
  // a free joint's coordinates are the pose in the world itself
  if (joint.type == JointType::free) return spec;
  spec.X_CJ = Pose::translation(joint.anchor);
  spec.X_PJ = X_PB * spec.X_CJ;
  // MuJoCo's coordinate is `ref` where the file has the body
  if (joint.ref != 0.0 && joint.type == JointType::revolute)
    spec.X_PJ = spec.X_PJ * Pose::rotation(Eigen::AngleAxisd(-joint.ref, joint.axis).toRotationMatrix());
  if (joint.ref != 0.0 && joint.type == JointType::prismatic)
    spec.X_PJ = spec.X_PJ * Pose::translation(-joint.ref * joint.axis);
  return spec;
}

JointSpec fixed_joint(std::string name, const Pose& X_PB) {
  JointSpec spec;
  spec.name = std::move(name);
  spec.X_PJ = X_PB;
  return spec;
}

void require_plane_stands(const MjcfReader& reader, const std::vector<int>& weld) {
  for (std::size_t i = 1; i < reader.bodies.size(); ++i)
    for (const MjcfGeom& geom : reader.bodies[i].geoms)
      if (geom.shape.is_half_space() && weld[i] != 0)
        geom.element.fail("a plane must stand still: it is for the world and bodies fixed to it");
}

/// The body that each one is fixed to, in the end: itself if it has joints.
std::vector<int> weld_groups(const MjcfReader& reader) {
  std::vector<int> weld(reader.bodies.size(), 0);
  for (std::size_t i = 1; i < weld.size(); ++i) {
    const MjcfBody& body = reader.bodies[i];
    weld[i] = body.joints.empty() ? weld[body.parent] : static_cast<int>(i);
  }
  return weld;
}

bool collides(const MjcfBody& body) {
  return std::any_of(body.geoms.begin(), body.geoms.end(), [](const MjcfGeom& geom) { return geom.collides(); });
}

/// Bodies fixed to each other do not collide, nor do they with what hangs from them by a joint: so it is in models too,
/// but for bodies with several joints, which become several bodies.
void exclude_neighbours(MjcfReader& reader, const std::vector<int>& weld, ModelBuilder& builder) {
  std::map<int, std::vector<int>> groups;
  for (std::size_t i = 0; i < weld.size(); ++i)
    if (collides(reader.bodies[i])) groups[weld[i]].push_back(static_cast<int>(i));
  std::size_t count = 0;
  const auto exclude = [&](int a, int b) { builder.exclude_pair(reader.body(a).index, reader.body(b).index); };
  for (const auto& [w, group] : groups) {
    if (w == 0) continue;
    const int parent = reader.body(w).parent;
    const int above = weld[parent];
    if (above != 0) {
      const auto found = groups.find(above);
      if (found == groups.end()) continue;
      count += found->second.size() * group.size();
      reader.body(w).element.located([&] { require_few_neighbours(count); });
      for (const int a : found->second)
        for (const int b : group) exclude(a, b);
    } else if (parent != 0 && reader.body(w).joints.size() == 1 && collides(reader.body(parent)) &&
               collides(reader.body(w))) {
      reader.report(reader.body(w).element,
                    "does not collide with its parent '" + reader.body(parent).name +
                        "' here (in MuJoCo it does, because that is fixed to the world)",
                    NoticeRank::collision);
    }
  }
}

// contact and equality
// ---------------------------------------------------------------------------------------------------------------------

void read_contact(MjcfReader& reader, const XmlElement& section, ModelBuilder& builder) {
  for (const XmlElement& element : reader.files.children(section)) {
    if (element.name() == "pair") continue;
    if (element.name() != "exclude") {
      element.mark_unused();
      continue;
    }
    element.use({"name"});
    const int a = reader.body(reader.body_named(element, "body1")).index;
    const int b = reader.body(reader.body_named(element, "body2")).index;
    element.located([&] { builder.exclude_pair(a, b); });
  }
}

/// <pair>: two geoms that collide whatever their bits say. Their friction becomes that of the pair.
void read_pair(MjcfReader& reader, const XmlElement& element) {
  const MjcfAttributes attributes = reader.defaults.of(element, {"pair"});
  element.use({"name", "class"});
  std::array<MjcfGeom*, 2> geoms{};
  for (const int side : {0, 1}) {
    const char* attribute = side == 0 ? "geom1" : "geom2";
    const std::string name = element.text(attribute);
    for (MjcfBody& body : reader.bodies)
      for (MjcfGeom& geom : body.geoms)
        if (geom.name == name) geoms[side] = &geom;
    if (geoms[side] == nullptr && reader.options.strict) element.fail(attribute, "there is no geom '" + name + "'");
    if (geoms[side] == nullptr) {
      element.use_all();
      return reader.report(element, "left out, because geom '" + name + "' is not there", NoticeRank::collision);
    }
  }
  for (const int side : {0, 1}) {
    if (geoms[side]->in_pair == 0) geoms[side]->in_pair = ++reader.geoms_in_pairs;
  }
  const auto [a, b] = std::pair(geoms[0]->in_pair, geoms[1]->in_pair);
  reader.contact_pairs.insert({a, b});
  reader.contact_pairs.insert({b, a});
  const std::optional<VectorX> friction = attributes.numbers("friction", 1, 5);
  if (!friction) return;
  if ((*friction)[0] < 0.0) attributes.fail("friction", "must not be negative, got " + to_text((*friction)[0]));
  // the pair takes the smaller of the two
  for (MjcfGeom* geom : geoms) {
    if (geom->friction_of_pair && *geom->friction_of_pair != (*friction)[0])
      reader.report(element, "geom '" + geom->name + "' has several pairs: the largest friction counts for all",
                    NoticeRank::collision);
    geom->friction_of_pair = std::max(geom->friction_of_pair.value_or(0.0), (*friction)[0]);
  }
}

/// The joints that follow others; before the model is built.
void read_mimic(MjcfReader& reader, const XmlElement& element) {
  const auto joint_named = [&](const char* attribute) {
    MjcfJoint* joint = reader.find_joint(element.text(attribute));
    if (joint == nullptr) element.fail(attribute, "there is no joint '" + element.text(attribute) + "'");
    return joint;
  };
  MjcfJoint* follower = joint_named("joint1");
  const MjcfJoint* source = element.has("joint2") ? joint_named("joint2") : nullptr;
  VectorX p = element.find_numbers("polycoef", 0, 5).value_or(VectorX());
  const Eigen::Index given = p.size();
  p.conservativeResize(5);
  for (Eigen::Index k = given; k < 5; ++k) p[k] = k == 1 ? 1.0 : 0.0;
  const auto scalar = [](const MjcfJoint& j) { return num_velocities(j.type) == 1; };
  if (source == nullptr || !p.tail<3>().isZero(0.0) || !scalar(*follower) || !scalar(*source) || follower->mimic) {
    reader.report(element, "only a joint that follows one other linearly is read");
    return;
  }
  follower->mimic = Mimic{source->name, p[1], follower->ref + p[0] - p[1] * source->ref};
}

/// Between two sites: their frames coincide, or their origins.
void read_loop_of_sites(MjcfReader& reader, const XmlElement& element, ModelBuilder& builder) {
  const MjcfSite& a = reader.site_named(element, "site1");
  const MjcfSite& b = reader.site_named(element, "site2");
  LoopConstraint loop;
  loop.kind = element.name() == "weld" ? LoopConstraint::Kind::weld : LoopConstraint::Kind::connect;
  loop.name = element.find_text("name").value_or(element.name() + std::to_string(element.line()));
  loop.body_A = a.body == 0 ? kWorld : reader.body(a.body).index;
  loop.body_B = b.body == 0 ? kWorld : reader.body(b.body).index;
  loop.X_AC = a.X_BS;
  loop.X_BC = b.X_BS;
  element.located([&] { builder.add_constraint(loop); });
}

void read_loop(MjcfReader& reader, const XmlElement& element, ModelBuilder& builder) {
  if (element.has("site1") || element.has("site2")) return read_loop_of_sites(reader, element, builder);
  const bool weld = element.name() == "weld";
  const int a = reader.body_named(element, "body1");
  const int b = element.has("body2") ? reader.body_named(element, "body2") : 0;
  const Pose X_AB = reader.body(a).X_WB.inverse() * reader.body(b).X_WB;
  LoopConstraint loop;
  loop.kind = weld ? LoopConstraint::Kind::weld : LoopConstraint::Kind::connect;
  loop.name = element.find_text("name").value_or(element.name() + std::to_string(element.line()));
  loop.body_A = a == 0 ? kWorld : reader.body(a).index;
  loop.body_B = b == 0 ? kWorld : reader.body(b).index;
  if (weld) {
    // in B, where the anchor is; a zero quaternion asks for the poses of the file
    loop.X_BC = Pose::translation(element.find_vector3("anchor").value_or(Vector3::Zero()));
    loop.X_AC = X_AB * loop.X_BC;
    if (const std::optional<VectorX> pose = element.find_numbers("relpose", 7, 7))
      if (const std::optional<Matrix3> R = rotation_of_wxyz(Vector4(pose->tail<4>())))
        loop.X_AC = Pose(*R, pose->head<3>()) * loop.X_BC;
  } else {
    loop.X_AC = Pose::translation(element.vector3("anchor"));
    loop.X_BC = Pose::translation(X_AB.inverse() * loop.X_AC.p);
  }
  element.located([&] { builder.add_constraint(loop); });
}

/// Equalities of one kind, the active ones.
template <class F>
void each_equality(MjcfReader& reader, const std::vector<XmlElement>& sections, bool joints, F&& f) {
  for (const XmlElement& section : sections) {
    if (section.name() != "equality") continue;
    for (const XmlElement& element : reader.files.children(section)) {
      const std::string kind = element.name();
      const bool known = kind == "joint" || kind == "weld" || kind == "connect";
      if (!known) element.mark_unused();
      if (!known || (kind == "joint") != joints) continue;
      element.use({"name"});
      reader.defaults.require_class(element, "class");
      if (element.find_boolean("active").value_or(true)) {
        f(element);
      } else {
        element.use_all();
        reader.report(element, "left out, because it is not active");
      }
    }
  }
}

/// Adds the body that hangs from a joint, or is fixed where `element` is the body's own. What is wrong with a mass is
/// so in the <inertial>, if there is one.
int add_located(const MjcfBody& body, const XmlElement& element, ModelBuilder& builder, BodySpec spec,
                const JointSpec& joint, int parent) {
  try {
    return builder.add_body(std::move(spec), joint, parent);
  } catch (const ModelError& error) {
    const bool about_mass = internal::is_about_mass(error);
    const XmlElement wrong = about_mass ? body.inertial_element.value_or(element) : element;
    throw InputError(wrong.place() + ": " + error.field(), error.reason());
  } catch (const InputError& error) {
    throw InputError(element.place() + ": " + error.field(), error.reason());
  }
}

/// Errors of the whole model are about a joint: say where it is.
Model build_located(MjcfReader& reader, ModelBuilder& builder) {
  const auto element_of = [&](int index) {
    for (const MjcfBody& body : reader.bodies)
      for (const MjcfJoint& joint : body.joints)
        if (joint.index == index) return joint.element;
    return reader.files.root();
  };
  try {
    if (reader.options.strict) return builder.build();
    return build_mended(builder, [&](int joint, std::string text) { reader.report(element_of(joint), text); });
  } catch (const ModelError& error) {
    for (const MjcfBody& body : reader.bodies)
      for (const MjcfJoint& joint : body.joints)
        if (error.part() == ModelError::Part::joint && error.name() == joint.name)
          throw InputError(joint.element.place() + ": " + error.field(), error.reason());
    throw InputError(reader.files.root().place() + ": " + error.field(), error.reason());
  } catch (const InputError& error) {
    throw InputError(reader.files.root().place() + ": " + error.field(), error.reason());
  }
}

/// The body behind its joints, with massless ones between them.
void add_chain(MjcfBody& body, const BodySpec& spec, int parent, std::set<std::string>& body_names,
               ModelBuilder& builder) {
  Pose X_PB = body.X_PB;
  for (std::size_t k = 0; k < body.joints.size(); ++k) {
    MjcfJoint& joint = body.joints[k];
    BodySpec link;
    if (k + 1 == body.joints.size())
      link = spec;
    else
      link.name = new_name(body.name + "/" + joint.name, body_names);
    parent = joint.index = add_located(body, joint.element, builder, std::move(link), spec_of(joint, X_PB), parent);
    X_PB = Pose();
  }
  body.index = parent;
}

}  // namespace

std::string new_name(const std::string& wanted, std::set<std::string>& taken) {
  if (taken.insert(wanted).second) return wanted;
  const auto name = [&](int k) { return wanted + "_" + std::to_string(k); };
  // the first that is free behind one that is not, in few tries
  int used = 1;
  int free = 2;
  while (taken.contains(name(free))) {
    used = free;
    free *= 2;
  }
  while (free - used > 1) {
    const int middle = used + (free - used) / 2;
    (taken.contains(name(middle)) ? used : free) = middle;
  }
  return *taken.insert(name(free)).first;
}

std::map<MjcfContactBits, MjcfContactBits> both_ways(const std::set<MjcfContactBits>& given,
                                                     const std::set<std::pair<int, int>>& pairs) {
  const auto meets = [&](const MjcfContactBits& a, const MjcfContactBits& b) {
    return (a.contype & b.conaffinity) != 0 || pairs.contains({a.in_pair, b.in_pair});
  };
  const auto equal = [](const MjcfContactBits& a) { return a.contype == a.conaffinity; };
  const auto meets_as_met = [&](const MjcfContactBits& a) {
    return std::ranges::all_of(given, [&](const MjcfContactBits& b) { return meets(a, b) == meets(b, a); });
  };
  std::map<MjcfContactBits, MjcfContactBits> bits;
  // as they are
  const bool few = given.size() <= kMostKindsCompared;
  if ((pairs.empty() && std::ranges::all_of(given, equal)) ||
      (pairs.empty() && few && std::ranges::all_of(given, meets_as_met))) {
    for (const MjcfContactBits& a : given) bits[a] = a;
    return bits;
  }
  // one bit each
  if (given.size() > 32) return bits;
  std::uint32_t bit = 1;
  for (const MjcfContactBits& a : given) {
    MjcfContactBits& out = bits[a] = {bit, 0};
    std::uint32_t other = 1;
    for (const MjcfContactBits& b : given) {
      if (meets(a, b) || meets(b, a)) out.conaffinity |= other;
      other <<= 1;
    }
    bit <<= 1;
  }
  return bits;
}

Model build_model(MjcfReader& reader, const std::vector<XmlElement>& sections, const std::string& name,
                  ContactBits contact_bits) {
  std::set<std::string> body_names;
  std::set<std::string> joint_names;
  name_everything(reader, body_names, joint_names);
  each_equality(reader, sections, true, [&](const XmlElement& element) { read_mimic(reader, element); });

  // gravity
  ModelBuilder builder(name);
  for (const XmlElement& section : sections)
    if (section.name() == "option")
      if (const std::optional<Vector3> gravity = section.find_vector3("gravity"))
        section.located([&] { builder.set_gravity(*gravity); });

  // what is fixed to the world is a body; then all others, joint by joint
  for (const XmlElement& section : sections)
    if (section.name() == "contact")
      for (const XmlElement& element : reader.files.children(section))
        if (element.name() == "pair") read_pair(reader, element);
  const std::map<MjcfContactBits, MjcfContactBits> bits = bits_of(reader, contact_bits);
  for (std::size_t i = 0; i < reader.bodies.size(); ++i) {
    MjcfBody& body = reader.bodies[i];
    BodySpec spec = spec_of(reader, body, bits);
    if (const std::string remark = unit_remark(spec); !remark.empty()) reader.report(body.element, remark);
    if (i == 0) {
      body.index = kWorld;
      if (body.geoms.empty()) continue;
      spec.name = new_name("worldbody", body_names);
      body.index = builder.add_body(spec, fixed_joint(new_name("worldbody", joint_names), Pose()));
      continue;
    }
    const int parent = body.parent == 0 ? kWorld : reader.body(body.parent).index;
    if (body.joints.empty()) {
      const JointSpec fixed = fixed_joint(new_name(body.name, joint_names), body.X_PB);
      body.index = add_located(body, body.element, builder, spec, fixed, parent);
    } else {
      add_chain(body, spec, parent, body_names, builder);
    }
  }

  // who collides with whom
  const std::vector<int> weld = weld_groups(reader);
  require_plane_stands(reader, weld);
  exclude_neighbours(reader, weld, builder);
  for (const XmlElement& section : sections)
    if (section.name() == "contact") read_contact(reader, section, builder);
  each_equality(reader, sections, false, [&](const XmlElement& element) { read_loop(reader, element, builder); });
  for (const MjcfSite& site : reader.sites) builder.add_frame({site.name, reader.body(site.body).index, site.X_BS});
  return build_located(reader, builder);
}

}  // namespace tangere::internal
