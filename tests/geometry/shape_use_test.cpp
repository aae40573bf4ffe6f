/// Shapes that a workspace names outlive their last copy, and no longer than they are named.

#include "tangere/geometry/shape_use.hpp"

#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tangere {
namespace {

using internal::ShapeUse;

/// Sees whether what copies of a shape share still exists.
std::weak_ptr<const ConvexSet> watch(const Shape& shape) { return shape.parts().front().set; }

/// Ends a shape that nobody names, which is when others are looked after.
void end_another() { (void)Shape(Sphere{.radius = 1.0}); }

TEST(ShapeUse, EndsWithItsLastCopyWhereNobodyNamesIt) {
  std::optional<Shape> shape = Sphere{.radius = 1.0};
  const std::weak_ptr<const ConvexSet> seen = watch(*shape);
  std::optional<Shape> copy = shape;
  shape.reset();
  EXPECT_FALSE(seen.expired());
  copy.reset();
  EXPECT_TRUE(seen.expired());
}

TEST(ShapeUse, StaysWhileItIsNamed) {
  const Shape other = Sphere{.radius = 2.0};
  ShapeUse use;
  std::weak_ptr<const ConvexSet> seen;
  {
    const Shape box = Box{.size = Vector3(1.0, 2.0, 3.0)};
    seen = watch(box);
    use.name(other, box);
  }
  end_another();
  EXPECT_FALSE(seen.expired());
  use.name(other, other);
  end_another();
  EXPECT_TRUE(seen.expired());
}

TEST(ShapeUse, EndsWithWhoNamedIt) {
  std::weak_ptr<const ConvexSet> seen;
  {
    ShapeUse first;
    std::optional<ShapeUse> second(std::in_place);
    {
      const Shape bundle = Bundle{{{Sphere{.radius = 1.0}, Pose()}, {Box{.size = Vector3(1.0, 1.0, 1.0)}, Pose()}}};
      seen = watch(bundle);
      first.name(bundle, bundle);
      second->name(bundle, bundle);
    }
    second.reset();
    EXPECT_FALSE(seen.expired());
  }
  EXPECT_TRUE(seen.expired());
}

TEST(ShapeUse, OfManyThreads) {
  std::vector<std::thread> threads;
  std::vector<std::weak_ptr<const ConvexSet>> seen(4);
  for (std::size_t t = 0; t < seen.size(); ++t)
    threads.emplace_back([&, t] {
      ShapeUse use;
      for (int i = 0; i < 200; ++i) {
        const Shape A = Sphere{.radius = 1.0 + i};
        const Shape B = Capsule{.radius = 0.1, .length = 1.0 + i};
        use.name(A, B);
        seen[t] = watch(B);
      }
      EXPECT_FALSE(seen[t].expired());
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::weak_ptr<const ConvexSet>& one : seen) EXPECT_TRUE(one.expired());
}

}  // namespace
}  // namespace tangere
