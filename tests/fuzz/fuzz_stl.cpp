/// Any bytes are STL triangles or an InputError. Those of a mesh have a convex hull or, flat to a line, none.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tangere/geometry/mesh_hull.hpp"
#include "tangere/io/mesh/internal/mesh_parsers.hpp"
#include "tangere/math/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const tangere::TriangleMesh mesh = tangere::internal::cleaned(tangere::internal::parse_stl(bytes, "fuzz.stl"));
    (void)tangere::hull_of_mesh(mesh);
  } catch (const tangere::InputError&) {
    // said what is wrong
  }
  return 0;
}
