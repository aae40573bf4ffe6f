/// Everything that is wrong with an MJCF file is an InputError with file, line and element.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tangere/io/robot/mjcf_reader.hpp"
#include "tangere/math/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tangere {
namespace {

std::string error_of(const std::string& text) {
  try {
    (void)mjcf_from_text(text, "bad.xml", {.strict = true});
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string error_in(const std::string& inside) { return error_of("<mujoco>\n" + inside + "\n</mujoco>"); }
std::string error_in_body(const std::string& inside) {
  return error_in("<worldbody><body name='b'>\n" + inside + "\n</body></worldbody>");
}

struct Case {
  const char* text;
  const char* error;
};

TEST(MjcfBadInput, ThingsInABody) {
  const std::string b = "bad.xml:3: mujoco/worldbody/body[b]";
  const Case cases[] = {
      {"<geom size='1' mass='-2'/>", "/geom.mass: must not be negative, got -2"},
      {"<geom size='1' density='-1'/>", "/geom.density: must not be negative, got -1"},
      {"<geom name='g' size='nan'/>", "/geom[g].size: must be finite numbers, got 'nan'"},
      {"<geom size='-1'/>", "/geom: sphere.radius: must be"},
      {"<geom/>", "/geom.size: must be 1 numbers for a sphere, got 0"},
      {"<geom type='box' size='1 2'/>", "/geom.size: must be 3 numbers for a box, got 2"},
      {"<geom type='blob' size='1'/>", "/geom.type: must be one of plane, "},
      {"<geom type='capsule' size='1' fromto='1 1 1 1 1 1'/>", "/geom.fromto: must have two different ends"},
      {"<geom size='1' fromto='1 1 1 1 1 2'/>", "/geom.fromto: is for capsules, "},
      {"<geom type='capsule' size='1' fromto='0 0 0 1 0 0' pos='0 0 5'/>",
       "/geom.fromto: gives the position, but 'pos'"},
      {"<geom size='1' class='none'/>", "/geom.class: there is no class 'none'"},
      {"<geom size='1' material='none'/>", "/geom.material: there is no material 'none'"},
      {"<geom size='1' rgba='2 0 0 1'/>", "/geom.rgba: must be between 0 and 1"},
      {"<geom size='1' friction='-1'/>", "/geom.friction: must not be negative, got -1"},
      {"<geom size='1' contype='1.5'/>", "/geom.contype: must be a whole number of 32 bits, got 1.5"},
      {"<geom type='mesh' mesh='none'/>", "/geom.mesh: there is no mesh 'none'"},
      {"<geom type='mesh'/>", "/geom.mesh: is required"},
      {"<geom size='1' quat='0 0 0 0'/>", "/geom.quat: must not be zero"},
      {"<geom size='1' quat='1 0 0 0' euler='1 2 3'/>", "/geom.euler: one orientation is enough, there is 'quat'"},
      {"<geom size='1' xyaxes='1 0 0 2 0 0'/>", "/geom.xyaxes: must not be zero, or parallel axes"},
      {"<geom name='g' size='1'/><geom name='g' size='1'/>", "/geom[g]: there is a geom 'g' already"},
      {"<joint name='j' axis='0 0 0'/>", "/joint[j].axis: must not be zero"},
      {"<joint type='gear'/>", "/joint.type: must be one of hinge, slide, ball, free, got 'gear'"},
      {"<joint range='2 1'/>", "/joint.range: the lower limit must be below the upper, got 2 and 1"},
      {"<joint range='1 1'/>", "/joint.range: the lower limit must be below the upper, got 1 and 1"},
      {"<joint limited='true' range='2 1'/>", "/joint.range: the lower limit must not be above the upper, got 2 and 1"},
      {"<joint limited='true'/>", "/joint.limited: needs the attribute 'range'"},
      {"<joint damping='-1'/>", "/joint.damping: must not be negative, got -1"},
      {"<joint/><freejoint/>", "/freejoint: a free joint must be the only one of its body"},
      {"<joint name='j'/><joint name='j'/>", "/joint[j]: there is a joint 'j' already"},
      {"<joint name='j'/>", "/joint[j]: j: moves nothing that has inertia"},
      {"<inertial mass='1' diaginertia='1 1 1'/>", "/inertial.pos: is required"},
      {"<inertial pos='0 0 0' diaginertia='1 1 1'/>", "/inertial.mass: is required"},
      {"<inertial pos='0 0 0' mass='-1' diaginertia='1 1 1'/>", "/inertial.mass: must not be negative, got -1"},
      {"<inertial pos='0 0 0' mass='1'/>", "/inertial.diaginertia: is required, or fullinertia"},
      {"<inertial pos='0 0 0' mass='1' diaginertia='1 1 1' fullinertia='1 1 1 0 0 0'/>", "/inertial.fullinertia: one"},
      {"<body name='b'/>", "/body[b]: there is a body 'b' already"},
      {"<body><freejoint/></body>", "/body/freejoint: a free joint is for bodies in the world only"},
  };
  for (const Case& c : cases) {
    const std::string error = error_in_body(c.text);
    EXPECT_TRUE(error.starts_with(b + c.error)) << c.text << "\n  gives " << error;
  }
}

TEST(MjcfBadInput, FromtoAndPosMayComeFromAClass) {
  for (const auto& [of_class, own] :
       {std::pair{"fromto='0 0 0 1 0 0'", "pos='0 0 1'"}, {"pos='0 0 1'", "fromto='0 0 0 1 0 0'"}}) {
    const std::string error = error_in(std::string("<default><geom ") + of_class + "/></default>\n<worldbody><body>" +
                                       "<geom type='capsule' size='.1' " + own + "/></body></worldbody>");
    EXPECT_TRUE(error.starts_with("bad.xml:3: mujoco/worldbody/body/geom.fromto: gives the position")) << error;
  }
}

TEST(MjcfBadInput, InertiasThatNoBodyHas) {
  // at the element, whatever the body hangs from
  const std::string place = "bad.xml:5: mujoco/worldbody/body[b]/inertial: b.inertia: ";
  for (const char* joint :
       {"", "<joint name='j'/>", "<joint name='i'/><joint name='j' axis='1 0 0'/>", "<freejoint/>"}) {
    const auto error_with = [&](const std::string& inertia) {
      return error_in_body(std::string(joint) + "\n<geom size='1'/>\n<inertial pos='0 0 0' mass='1' " + inertia + "/>");
    };
    const std::string triangle = error_with("diaginertia='1 1 5'");
    EXPECT_TRUE(triangle.starts_with(place + "no body has these principal moments")) << triangle;
    const std::string negative = error_with("fullinertia='1 1 1 3 0 0'");
    EXPECT_TRUE(negative.starts_with(place + "must be positive")) << negative;
  }
}

TEST(MjcfBadInput, OtherSections) {
  const std::string world = "<worldbody><body name='b'><joint name='j'/><geom size='1'/></body></worldbody>";
  const Case cases[] = {
      {"<compiler coordinate='global'/>", "compiler.coordinate: global coordinates are not read"},
      {"<compiler boundmass='-1'/>", "compiler.boundmass: must not be negative, got -1"},
      {"<compiler boundinertia='-1'/>", "compiler.boundinertia: must not be negative, got -1"},
      {"<compiler eulerseq='xy'/>", "compiler.eulerseq: must be three of x, y, z, X, Y, Z, got 'xy'"},
      {"<compiler angle='grad'/>", "compiler.angle: must be one of degree, radian, got 'grad'"},
      {"<option gravity='0 0'/>", "option.gravity: must be 3 numbers, got '0 0'"},
      {"<default><default/></default>", "default/default.class: is required"},
      {"<default><default class='a'/><default class='a'/></default>", "default/default[a].class: there is a class 'a'"},
      {"<asset><mesh name='m'/></asset>", "asset/mesh[m]: needs a file or vertices"},
      {"<asset><mesh file='none.obj'/></asset>", "asset/mesh.file: there is no file 'none.obj'"},
      {"<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 1 1 0'/></asset>", "asset/mesh[m]: vertices: "},
      {"<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 4'/></asset>",
       "asset/mesh[m].face: must be indices of vertices, 0 to 3, got 4"},
      {"<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1 1'/></asset>",
       "asset/mesh[m].vertex: must have three numbers a vertex, has 13"},
      {"<asset><material name='m'/><material name='m'/></asset>", "asset/material[m]: there is a material 'm' already"},
      {"<contact><exclude body1='b' body2='none'/></contact>", "contact/exclude.body2: there is no body 'none'"},
      {"<equality><weld body1='none'/></equality>", "equality/weld.body1: there is no body 'none'"},
      {"<equality><connect body1='b'/></equality>", "equality/connect.anchor: is required"},
      {"<equality><joint joint1='j' joint2='j'/></equality>", "worldbody/body[b]/joint[j]: j.mimic: follows itself"},
      {"<actuator><motor/></actuator>", "actuator/motor.joint: is required"},
      {"<actuator><motor joint='none'/></actuator>", "actuator/motor.joint: there is no joint 'none'"},
      {"<actuator><motor name='a' joint='j'/><motor name='a' joint='j'/></actuator>", "actuator/motor[a]: there is an"},
      {"<actuator><motor joint='j' ctrlrange='1 0'/></actuator>", "actuator/motor.ctrlrange: the lower limit must be"},
      {"<keyframe><key qpos='1 2'/></keyframe>", "keyframe/key.qpos: must be 1 numbers, got '1 2'"},
      {"<worldbody><joint/></worldbody>", "worldbody/joint: the world has no joints"},
      {"<worldbody><body><joint/><geom type='plane'/><geom size='1'/></body></worldbody>",
       "worldbody/body/geom: a plane must stand still"},
  };
  for (const Case& c : cases) {
    const std::string error = error_in(c.text + world);
    EXPECT_TRUE(error.starts_with(std::string("bad.xml:2: mujoco/") + c.error)) << c.text << "\n  gives " << error;
  }
}

/// The message for a file; "no error" if it is read.
std::string error_in_file(const std::filesystem::path& file) {
  try {
    (void)load_robot(file, {.strict = true});
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(MjcfBadInput, Files) {
  EXPECT_EQ(error_of("<robot/>"), "bad.xml:1: robot: must be <mujoco>");
  EXPECT_EQ(error_of("<mujoco/>"), "bad.xml:1: mujoco: needs an element <worldbody>");
  EXPECT_TRUE(error_of("<mujoco>\n<worldbody>\n<body name='b'").starts_with("bad.xml:3: "));
  EXPECT_TRUE(error_of("<!DOCTYPE x [<!ENTITY a 'b'>]><mujoco/>").starts_with("bad.xml:1: document types and"));
  EXPECT_TRUE(error_in("<worldbody/><include file='none.xml'/>")
                  .starts_with("bad.xml:2: mujoco/include.file: there is no file 'none.xml'"));

  // round in a circle, and a mesh that is none
  const test::TemporaryFolder folder;
  folder.write("a.xml", "<mujoco>\n\n<include file='main.xml'/></mujoco>");
  const auto main = folder.write("main.xml", "<mujoco><include file='a.xml'/><worldbody/></mujoco>");
  EXPECT_TRUE(error_in_file(main).starts_with((folder.path() / "a.xml").string() +
                                              ":3: mujoco/include.file: this file is there already"))
      << error_in_file(main);
  folder.write("m.obj", "nonsense\nf 1 2 3\n");
  const auto mesh = folder.write("mesh.xml", "<mujoco>\n<asset>\n<mesh file='m.obj'/></asset><worldbody/></mujoco>");
  EXPECT_TRUE(error_in_file(mesh).starts_with(mesh.string() + ":3: mujoco/asset/mesh: ")) << error_in_file(mesh);
}

/// Each is small enough alone.
TEST(MjcfBadInput, IncludedFilesThatAreTooLargeTogether) {
  const test::TemporaryFolder folder;
  folder.write("a.xml", "<mujoco>" + std::string(33u << 20, ' ') + "</mujoco>");
  const auto second = folder.write("b.xml", "<mujoco/>");
  std::filesystem::resize_file(second, 33u << 20);
  const auto main =
      folder.write("main.xml", "<mujoco><include file='a.xml'/>\n<include file='b.xml'/><worldbody/></mujoco>");
  EXPECT_EQ(error_in_file(main),
            main.string() + ":2: mujoco/include.file: included files may have at most 64 MB together");
}

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST(MjcfBadInput, NestingThroughFilesHasTheLimitOfOneFile) {
  // 2 + 60 levels, and those of the file they include; its root does not count
  const auto error_with = [](const std::string& open, const std::string& close, int levels) {
    const test::TemporaryFolder folder;
    folder.write("inner.xml", "<mujoco>\n" + repeated(open, levels) + repeated(close, levels) + "</mujoco>");
    const std::string error = error_in_file(
        folder.write("main.xml", "<mujoco><worldbody>" + repeated(open, 60) + "<include file='inner.xml'/>" +
                                     repeated(close, 60) + "</worldbody></mujoco>"));
    const std::string place = (folder.path() / "inner.xml").string();
    return error.starts_with(place) ? error.substr(place.size()) : error;
  };
  const std::string reason = "nested deeper than 98 elements, with the files around it";
  for (const auto& [open, close] : {std::pair{"<body>", "</body>"}, {"<frame>", "</frame>"}}) {
    EXPECT_EQ(error_with(open, close, 36), "no error");
    const std::string error = error_with(open, close, 37);
    EXPECT_TRUE(error.starts_with(":2: mujoco/.../") && error.ends_with(reason)) << error;
  }
}

TEST(MjcfBadInput, DefaultsNestThroughFilesToTheSameLimit) {
  const auto classes = [](int first, int count, const std::string& inside) {
    std::string open;
    for (int i = first; i < first + count; ++i) open += "<default class='c" + std::to_string(i) + "'>";
    return open + inside + repeated("</default>", count);
  };
  for (const int levels : {36, 37}) {
    const test::TemporaryFolder folder;
    folder.write("inner.xml", "<mujoco>" + classes(60, levels, "") + "</mujoco>");
    const std::string error = error_in_file(folder.write(
        "main.xml",
        "<mujoco><worldbody/><default>" + classes(0, 60, "<include file='inner.xml'/>") + "</default></mujoco>"));
    if (levels == 36)
      EXPECT_EQ(error, "no error");
    else
      EXPECT_TRUE(error.ends_with("default[c96]: nested deeper than 98 elements, with the files around it")) << error;
  }
}

TEST(MjcfBadInput, IncludesThatGoOnAndOn) {
  const test::TemporaryFolder folder;
  const auto write = [&](int i, const std::string& open, const std::string& close) {
    return folder.write("n" + std::to_string(i) + ".xml", "<mujoco>" + std::string(i == 0 ? "<worldbody>" : "") + open +
                                                              "<include file='n" + std::to_string(i + 1) + ".xml'/>" +
                                                              close + (i == 0 ? "</worldbody>" : "") + "</mujoco>");
  };
  // deeper and deeper
  for (int i = 0; i < 20; ++i) (void)write(i, repeated("<body>", 20), repeated("</body>", 20));
  const std::filesystem::path main = folder.path() / "n0.xml";
  EXPECT_TRUE(error_in_file(main).ends_with("nested deeper than 98 elements, with the files around it"))
      << error_in_file(main);
  // one after the other
  for (int i = 0; i < 1002; ++i) (void)write(i, "", "");
  EXPECT_EQ(error_in_file(main),
            (folder.path() / "n1000.xml").string() + ":1: mujoco/include.file: a model may include at most 1000 files");
}

}  // namespace
}  // namespace tangere
