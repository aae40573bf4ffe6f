#include "tangere/io/mesh_file.hpp"

#include <gtest/gtest.h>

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
    sum += mesh.vertices[static_cast<std::size_t>(a)].dot(
               mesh.vertices[static_cast<std::size_t>(b)].cross(mesh.vertices[static_cast<std::size_t>(c)])) /
           6.0;
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
      for (int k = 0; k < 3; ++k) put(static_cast<float>(mesh.vertices[static_cast<std::size_t>(i)][k]));
    put(std::uint16_t{0});
  }
  return bytes;
}

std::string text_stl(const TriangleMesh& mesh, const std::string& name = "part one") {
  std::string text = "solid " + name + "\n";
  for (const auto& triangle : mesh.triangles) {
    text += "  facet normal 0 0 nan\n    outer loop\n";
    for (const int i : triangle) {
      const Vector3& p = mesh.vertices[static_cast<std::size_t>(i)];
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

/// Without assimp it says what to install; with it, that there is no mesh in the file.
TEST(MeshFile, ColladaWithoutAMesh) {
  const TemporaryFolder folder;
  const auto file = folder.write("a.dae", "<COLLADA/>");
  try {
    (void)load_mesh(file);
    FAIL() << "no error";
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("a.dae"), std::string::npos) << message;
    EXPECT_EQ(message.find("install libassimp-dev") == std::string::npos, is_mesh_file(file)) << message;
  }
}

}  // namespace
}  // namespace tangere
