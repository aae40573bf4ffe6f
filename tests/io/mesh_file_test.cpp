#include "tangere/io/mesh_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tangere/geometry/mass_properties.hpp"
#include "tangere/io/robot_file.hpp"
#include "tangere/math/error.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tangere {
namespace {

using test::TemporaryFolder;

/// What the error of loading these bytes says.
std::string error_of(const std::string& name, const std::string& bytes) {
  const TemporaryFolder folder;
  try {
    (void)load_mesh(folder.write(name, bytes));
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find(name), std::string::npos) << text;
    return text.substr(text.find(name));
  }
  ADD_FAILURE() << "no error";
  return {};
}

TriangleMesh load(const std::string& name, const std::string& bytes, const Vector3& scale = Vector3::Ones()) {
  const TemporaryFolder folder;
  return load_mesh(folder.write(name, bytes), scale);
}

/// Positive for triangles that are counter-clockwise seen from outside.
double volume(const TriangleMesh& mesh) {
  double sum = 0.0;
  for (const auto& [a, b, c] : mesh.triangles)
    sum += mesh.vertices[a].dot(mesh.vertices[b].cross(mesh.vertices[c])) / 6.0;
  return sum;
}

const char* const kTetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// The cube of side 2, its faces squares.
const char* const kCube = R"(# a cube
mtllib cube.mtl
o cube
v -1 -1 -1
v  1 -1 -1 1.0
v  1  1 -1
v -1  1 -1 0.5 0.5 0.5
v -1 -1  1
v  1 -1  1
v  1  1  1
v -1  1  1
vt 0 0
vn 0 0 1
s off
usemtl grey
f 4 3 2 1
f 5/1/1 6/1/1 7/1/1 8/1/1
f 1//1 2//1 6//1 5//1
f 2/1 3/1 7/1 6/1
f -6 -5 \
  -1 -2 # back
f +4 1 5 8
l 1 2
)";

/// Bytes of a binary STL with these triangles.
std::string binary_stl(const TriangleMesh& mesh, const std::string& header = "") {
  std::string bytes = header;
  bytes.resize(80, '\0');
  const auto put = [&](const auto& value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes.append(raw, sizeof value);
  };
  put(static_cast<std::uint32_t>(mesh.triangles.size()));
  for (const auto& triangle : mesh.triangles) {
    for (int k = 0; k < 3; ++k) put(0.0F);
    for (const int i : triangle)
      for (int k = 0; k < 3; ++k) put(static_cast<float>(mesh.vertices[i][k]));
    put(std::uint16_t{0});
  }
  return bytes;
}

std::string text_stl(const TriangleMesh& mesh, const std::string& name = "part one") {
  std::string text = "solid " + name + "\n";
  for (const auto& triangle : mesh.triangles) {
    text += "  facet normal 0 0 nan\n    outer loop\n";
    for (const int i : triangle) {
      const Vector3& p = mesh.vertices[i];
      text +=
          "      vertex " + std::to_string(p.x()) + " " + std::to_string(p.y()) + " " + std::to_string(p.z()) + "\n";
    }
    text += "    endloop\n  endfacet\n";
  }
  return text + "endsolid " + name + "\n";
}

// OBJ
// ---------------------------------------------------------------------------------------------------------------------

TEST(MeshFile, ObjWithAllFormsOfCorners) {
  std::string text = kCube;
  text.replace(text.find("+4"), 2, "4");
  const TriangleMesh mesh = load("cube.obj", text);
  EXPECT_EQ(mesh.vertices.size(), 8);
  EXPECT_EQ(mesh.triangles.size(), 12);
  EXPECT_NEAR(volume(mesh), 8.0, 1e-12);
  // line endings and case of the name
  std::string windows;
  for (const char c : std::string(kTetrahedron)) windows += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_NEAR(volume(load("T.OBJ", windows)), 1.0 / 6.0, 1e-12);
}

TEST(MeshFile, ObjVerticesMayFollowTheirFaces) {
  EXPECT_NEAR(volume(load("t.obj", "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1")),
              1.0 / 6.0, 1e-12);
}

TEST(MeshFile, ScaleAndMirror) {
  EXPECT_NEAR(volume(load("t.obj", kTetrahedron, {2, 3, 4})), 4.0, 1e-12);
  EXPECT_NEAR(volume(load("t.obj", kTetrahedron, {-2, 3, 4})), 4.0, 1e-12);
  EXPECT_NEAR(volume(load("t.obj", kTetrahedron, {-1, -1, -1})), 1.0 / 6.0, 1e-12);
  const TemporaryFolder folder;
  const auto file = folder.write("t.obj", kTetrahedron);
  EXPECT_THROW((void)load_mesh(file, {1, 0, 1}), InputError);
  EXPECT_THROW((void)load_mesh(file, {1, std::nan(""), 1}), InputError);
}

TEST(MeshFile, OnlyWhatTheSurfaceNeeds) {
  // a vertex twice, one unused, a triangle without area
  const TriangleMesh mesh = load("t.obj", "v 9 9 9\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 0\nf 2 3 4\nf 5 3 4\nf 2 5 3\n");
  EXPECT_EQ(mesh.vertices.size(), 3);
  EXPECT_EQ(mesh.triangles.size(), 2);
}

TEST(MeshFile, ObjStatementsThatAreNotUsed) {
  const TemporaryFolder folder;
  folder.write("m.obj",
               "# vertices\nmtllib m.mtl\no part\ng one\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\nvt 0 0\ns off\n"
               "usemtl steel\nf 1 2 3\n\nl 1 2\nl 2 3\ncurv\x1b 1\n");
  std::vector<Notice> notices;
  (void)load_mesh(folder.path() / "m.obj", Vector3::Ones(), &notices);
  ASSERT_EQ(notices.size(), 2u);
  EXPECT_EQ(notices[0].line, 14);
  EXPECT_EQ(notices[0].element, "l");
  EXPECT_EQ(notices[1].line, 16);
  EXPECT_EQ(notices[1].element, "curv?");
  // of what is no OBJ file at all, not everything
  std::string garbage = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
  for (int i = 0; i < 1000; ++i) garbage += "word" + std::to_string(i) + "\n";
  folder.write("garbage.obj", garbage);
  notices.clear();
  (void)load_mesh(folder.path() / "garbage.obj", Vector3::Ones(), &notices);
  EXPECT_EQ(notices.size(), 20u);
}

TEST(MeshFile, ObjThereAndBack) {
  const TriangleMesh given{{{0.1, -0.0, 1e-17}, {1.0 / 3.0, 0, 0}, {0, 2e20, 0}, {0, 0, 1}}, {{0, 2, 1}, {0, 1, 3}}};
  const TemporaryFolder folder;
  folder.write("m.obj", to_obj(given));
  const TriangleMesh read = load_mesh(folder.path() / "m.obj");
  // vertices in the order they are met
  ASSERT_EQ(read.vertices.size(), 4u);
  const std::array<std::size_t, 4> order{0, 2, 1, 3};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(read.vertices[i], given.vertices[order[i]]);
  EXPECT_EQ(read.triangles.size(), 2u);
}

TEST(MeshFile, BadObj) {
  EXPECT_EQ(error_of("a.obj", "v 0 0 0\nv 1 0\n"), "a.obj:2: a vertex must have three coordinates, has 2");
  EXPECT_EQ(error_of("a.obj", "v 0 0 zero\n"), "a.obj:1: a coordinate must be a finite number, got 'zero'");
  for (const char* const number : {"nan", "inf", "-inf", "1e999", "1.0.0", "0x1", "1,5", "+-1", "--1"})
    EXPECT_NE(error_of("a.obj", "\nv 0 0 " + std::string(number)).find("a.obj:2: a coordinate"), std::string::npos);
  EXPECT_EQ(error_of("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n"), "a.obj:4: there is no vertex 4, only 3");
  EXPECT_EQ(error_of("a.obj", "v 0 0 0\nv 1 0 0\nf 1 2 -3\n"), "a.obj:3: there is no vertex -3, only 2");
  EXPECT_EQ(error_of("a.obj", "v 0 0 0\nf 1 2 0\n"), "a.obj:2: a corner must be a vertex number, got '0'");
  EXPECT_EQ(error_of("a.obj", "f 1 2 x/1/1\n"), "a.obj:1: a corner must be a vertex number, got 'x/1/1'");
  EXPECT_EQ(error_of("a.obj", "f 1 2 99999999999\n"), "a.obj:1: a corner must be a vertex number, got '99999999999'");
  EXPECT_EQ(error_of("a.obj", "v 0 0 0\nv 1 0 0\nf 1 2\n"), "a.obj:3: a face must have three corners or more, has 2");
  EXPECT_EQ(error_of("a.obj", "v 0 0 0\n"), "a.obj: has no triangles");
  EXPECT_EQ(error_of("a.obj", ""), "a.obj: has no triangles");
  EXPECT_EQ(error_of("a.obj", "v 0 0 0\nf 1 1 1\n"), "a.obj: has no triangles");
  EXPECT_NE(error_of("a.obj", std::string("\0\0v 0\0\n", 7) + "f \xff\xfe 2").find("got '?? "), 0);
}

// STL
// ---------------------------------------------------------------------------------------------------------------------

TEST(MeshFile, StlBinary) {
  const TriangleMesh tetrahedron = load("t.obj", kTetrahedron);
  // a header that looks like text, none, and bytes after the end
  for (const char* const header : {"", "solid with a name\nfacet normal", "exported"}) {
    const TriangleMesh mesh = load("t.stl", binary_stl(tetrahedron, header));
    EXPECT_EQ(mesh.vertices.size(), 4);
    EXPECT_EQ(mesh.triangles.size(), 4);
    EXPECT_NEAR(volume(mesh), 1.0 / 6.0, 1e-12);
  }
  EXPECT_EQ(load("t.stl", binary_stl(tetrahedron) + "\n").triangles.size(), 4);
}

TEST(MeshFile, StlText) {
  const TriangleMesh tetrahedron = load("t.obj", kTetrahedron);
  const std::string text = text_stl(tetrahedron);
  EXPECT_NEAR(volume(load("t.STL", text)), 1.0 / 6.0, 1e-12);
  EXPECT_NEAR(volume(load("t.stl", "\n" + text_stl(tetrahedron, ""))), 1.0 / 6.0, 1e-12);
  // two solids; capitals
  EXPECT_EQ(load("t.stl", text + text_stl(load("t.obj", kTetrahedron, {2, 2, 2}))).triangles.size(), 8);
  std::string capitals;
  for (const char c : text) capitals += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  EXPECT_EQ(load("t.stl", capitals).triangles.size(), 4);
}

TEST(MeshFile, BadStl) {
  const TriangleMesh tetrahedron = load("t.obj", kTetrahedron);
  const std::string binary = binary_stl(tetrahedron);
  EXPECT_EQ(error_of("a.stl", binary.substr(0, 200)),
            "a.stl: byte 200: ends too early: 4 triangles announced, 2 there (or it is no STL file)");
  EXPECT_EQ(error_of("a.stl", binary + std::string(50, '\0')),
            "a.stl: byte 284: 50 bytes follow the last of 4 triangles: the number of triangles is wrong, or it is no "
            "STL file");
  EXPECT_NE(error_of("a.stl", binary.substr(0, 50)).find("is no STL file"), std::string::npos);
  EXPECT_NE(error_of("a.stl", "").find("is no STL file"), std::string::npos);
  EXPECT_NE(error_of("a.stl", "not a mesh at all").find("is no STL file"), std::string::npos);
  EXPECT_EQ(error_of("a.stl", std::string(84, '\0')), "a.stl: has no triangles");
  std::string with_nan = binary;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(with_nan.data() + 84 + 50 + 12 + 4, &nan, sizeof nan);
  EXPECT_EQ(error_of("a.stl", with_nan), "a.stl: byte 150: a coordinate must be a finite number, got nan");

  const std::string text = text_stl(tetrahedron);
  EXPECT_EQ(error_of("a.stl", text.substr(0, text.find("endloop"))), "a.stl:7: ends too early, expected 'endloop'");
  EXPECT_EQ(error_of("a.stl", text.substr(0, text.find("endsolid"))), "a.stl:29: ends too early, expected 'facet'");
  std::string wrong = text;
  wrong.replace(wrong.find("endloop"), 7, "endlopp");
  EXPECT_EQ(error_of("a.stl", wrong), "a.stl:7: expected 'endloop', got 'endlopp'");
  wrong = text;
  wrong.replace(wrong.find("vertex 0.000000 0.000000"), 24, "vertex 0.000000 nan");
  EXPECT_EQ(error_of("a.stl", wrong), "a.stl:4: a coordinate must be a finite number, got 'nan'");
  EXPECT_EQ(error_of("a.stl", "solid nothing\nendsolid nothing\n"), "a.stl: has no triangles");
  EXPECT_EQ(error_of("a.stl", "solid"), "a.stl:1: ends too early, expected 'facet'");
}

// files
// ---------------------------------------------------------------------------------------------------------------------

TEST(MeshFile, BadFiles) {
  const TemporaryFolder folder;
  const auto message = [](const std::filesystem::path& file) {
    try {
      (void)load_mesh(file);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(message(folder.path() / "none.stl").find("none.stl: there is no such file"), std::string::npos);
  EXPECT_NE(message(folder.path() / "none.dae").find("none.dae: there is no such file"), std::string::npos);
  EXPECT_NE(message(folder.write("a.step", "x")).find("must be a mesh file"), std::string::npos);
  std::filesystem::create_directory(folder.path() / "folder.obj");
  EXPECT_NE(message(folder.path() / "folder.obj").find("is not a file"), std::string::npos);
  // larger than the limit, without writing it all
  const auto large = folder.write("large.obj", kTetrahedron);
  std::filesystem::resize_file(large, kMaxMeshFile + 1);
  EXPECT_NE(message(large).find("must have at most 100 MiB, has 100"), std::string::npos);
}

/// A header of twenty bytes must not ask for gigabytes.
TEST(MeshFile, BinaryGltfThatLies) {
  const TemporaryFolder folder;
  const auto message = [&](const std::string& bytes) {
    try {
      (void)load_mesh(folder.write("a.glb", bytes));
    } catch (const InputError& error) {
      return std::string(error.reason());
    }
    return std::string("no error");
  };
  const std::string head("glTF\x02\0\0\0", 8);
  if (message(head).starts_with("this build reads OBJ and STL only")) return;
  EXPECT_EQ(message(head + std::string("\xff\xff\xff\xff\xff\xff\xff\xffJSON", 12)),
            "says it has 4294967295 bytes, has 20");
  EXPECT_EQ(message(head + std::string("\x14\0\0\0\xff\xff\xff\xffJSON", 12)), "a chunk ends after the file (byte 12)");
}

/// A tetrahedron with corners at the origin, (1, 0, 0), (0, 2, 0) and (0, 0, 3), its node 1 2 3 further.
const char* const kCollada = R"(<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="centimeter" meter="0.01"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="12">0 0 0 1 0 0 0 2 0 0 0 3</float_array>
<technique_common><accessor source="#pa" count="4" stride="3">
<param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common>
</source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>
<p>0 2 1 0 1 3 0 3 2 1 2 3</p>
</triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s">
<node id="n"><translate>1 2 3</translate><instance_geometry url="#g"/></node>
</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>)";

const char* const kGltf = R"({"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
"nodes": [
{"children": [1], "translation": [1, 2, 3]}, {"mesh": 0}],
"meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
"accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0], "max": [1, 2, 3]},
  {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"}],
"bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 24}],
"buffers": [{"byteLength": 72, "uri": "data:application/octet-stream;base64,)"
                          "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAEBA"
                          "AAACAAEAAAABAAMAAAADAAIAAQACAAMA"
                          R"("}]})";

std::string with(std::string text, const std::string& what, const std::string& instead) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), instead);
}

/// Units and transforms count, the up axis does not: robots give the mesh's own axes.
TEST(MeshFile, ColladaAndGltf) {
  if (!is_mesh_file("a.dae")) GTEST_SKIP() << "built without assimp";
  const auto expect_corners = [](const TriangleMesh& mesh, double unit) {
    ASSERT_EQ(mesh.vertices.size(), 4);
    EXPECT_EQ(mesh.triangles.size(), 4);
    EXPECT_NEAR(volume(mesh), unit * unit * unit, 1e-6 * unit * unit * unit);
    for (const Vector3& corner : {Vector3(1, 2, 3), Vector3(2, 2, 3), Vector3(1, 4, 3), Vector3(1, 2, 6)})
      EXPECT_TRUE(std::any_of(mesh.vertices.begin(), mesh.vertices.end(), [&](const Vector3& vertex) {
        return (vertex - unit * corner).norm() < 1e-6 * unit;
      })) << corner.transpose();
  };
  expect_corners(load("a.dae", kCollada), 0.01);
  expect_corners(load("a.dae", with(kCollada, "Y_UP", "X_UP")), 0.01);
  expect_corners(load("a.dae", with(kCollada, "meter=\"0.01\"", "meter=\"1\"")), 1.0);
  expect_corners(load("a.gltf", kGltf), 1.0);
}

/// What the library behind would crash on, or ask for all memory.
TEST(MeshFile, BadCollada) {
  const auto error = [](const std::string& what, const std::string& instead) {
    return error_of("a.dae", with(kCollada, what, instead));
  };
  const std::string mesh = "COLLADA/library_geometries/geometry/mesh/";
  EXPECT_EQ(error("<p>0 2", "<p>0 x"),
            "a.dae:11: " + mesh + "triangles/p: must be indices, whole numbers from 0, got 'x'");
  EXPECT_EQ(error("<p>0 2", "<p>0 -2"),
            "a.dae:11: " + mesh + "triangles/p: must be indices, whole numbers from 0, got '-2'");
  EXPECT_EQ(error("<p>0 2 ", "<p>0, 2 "),
            "a.dae:11: " + mesh + "triangles/p: must be indices, whole numbers from 0, got '0,'");
  EXPECT_EQ(error("\"4\"><input", "\"1000000000\"><input"),
            "a.dae:10: " + mesh + "triangles.count: needs 3e+09 numbers or words, there are 12");
  EXPECT_EQ(error("offset=\"0\"", "offset=\"7\""),
            "a.dae:10: " + mesh + "triangles.count: needs 96 numbers or words, there are 12");
  EXPECT_EQ(error("0 0 3</", "0 0 three</"),
            "a.dae:5: " + mesh + "source/float_array: must be finite numbers, got 'three'");
  EXPECT_EQ(error("count=\"12\"", "count=\"13\""),
            "a.dae:5: " + mesh + "source/float_array.count: needs 13 numbers or words, there are 12");
  EXPECT_NE(error("count=\"4\" stride", "count=\"5\" stride").find("accessor.count: needs 15"), std::string::npos);
  EXPECT_NE(error("stride=\"3\"", "stride=\"2\"").find("a.dae:6"), std::string::npos);
  EXPECT_NE(error("<COLLADA", "<!DOCTYPE x [<!ENTITY a \"a\">]><COLLADA").find("a.dae:2: document types and entities"),
            std::string::npos);
  // an index that is not there
  EXPECT_NE(error("<p>0 2", "<p>0 9").find("a.dae"), std::string::npos);
}

TEST(MeshFile, NodesOfColladaAreBounded) {
  const std::string scene = "COLLADA/library_visual_scenes/visual_scene/";
  const auto error = [](const std::string& nodes) {
    return error_of("a.dae", with(kCollada, "<node", nodes + "<node"));
  };
  EXPECT_EQ(error("<node id='a'><instance_node url='#a'/></node>"), "a.dae:14: " + scene + "node: is below itself");
  EXPECT_EQ(error("<node id='a'><node name='b'><instance_node url='#a'/></node></node>"),
            "a.dae:14: " + scene + "node: is below itself");
  const auto chain = [](int length, const std::string& times) {
    std::string nodes;
    for (int i = 0; i < length; ++i) {
      const std::string instance = "<instance_node url='#c" + std::to_string(i + 1) + "'/>";
      nodes += "<node id='c" + std::to_string(i) + "'>" + instance + (times == "twice" ? instance : "") + "</node>";
    }
    return nodes;
  };
  EXPECT_NE(error(chain(101, "once")).find("is nested deeper than 100 nodes"), std::string::npos);
  EXPECT_NE(error(chain(100000, "once")).find("is nested deeper than 100 nodes"), std::string::npos);
  EXPECT_NE(error(chain(40, "twice")).find("must have at most 1e+05 nodes below it"), std::string::npos);
  std::string deep;
  for (int i = 0; i < 200000; ++i) deep += "<node>";
  EXPECT_NE(error(deep).find("nested deeper than 98 elements"), std::string::npos);
}

TEST(MeshFile, BadGltf) {
  EXPECT_NE(error_of("a.gltf", std::string(200000, '[')).find("nested deeper than 256 levels"), std::string::npos);
  EXPECT_EQ(error_of("a.gltf", with(kGltf, "{\"mesh\": 0}", "{\"children\": [0]}")),
            "a.gltf:3: nodes[0]: is below itself");
  EXPECT_EQ(error_of("a.gltf", with(kGltf, "[1], \"tr", "[2], \"tr")),
            "a.gltf:3: nodes[0].children[0]: must be a whole number from 0 to 1");
  std::string chain;
  for (int i = 0; i < 100000; ++i) chain += "{\"children\": [" + std::to_string(i + 1) + "]}, ";
  EXPECT_NE(
      error_of("a.gltf", with(kGltf, "\"nodes\": [\n", "\"nodes\": [" + chain)).find("is nested deeper than 100 nodes"),
      std::string::npos);
  EXPECT_EQ(error_of("a.gltf", "{\n\"nodes\" 1}").substr(0, 8), "a.gltf:2");
}

/// Without assimp it says how to build with it; with it, that there is no mesh in the file.
TEST(MeshFile, ColladaWithoutAMesh) {
  const TemporaryFolder folder;
  const auto file = folder.write("a.dae", "<COLLADA/>");
  try {
    (void)load_mesh(file);
    FAIL() << "no error";
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("a.dae"), std::string::npos) << message;
    EXPECT_EQ(message.find("TANGERE_ASSIMP=ON") == std::string::npos, is_mesh_file(file)) << message;
  }
}

}  // namespace
}  // namespace tangere
