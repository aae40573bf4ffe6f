/// The broad phase against all pairs one by one: scenes of every kind, random histories, filters, memory, bad input.

#include "tangere/proximity/broad_phase.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tests/support/allocation.hpp"

namespace tangere::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

bool boxes_overlap(const Aabb& a, const Aabb& b) {
  return (a.lower.array() <= b.upper.array()).all() && (b.lower.array() <= a.upper.array()).all();
}

bool bits_agree(CollisionBits a, CollisionBits b) { return (a.group & b.mask) && (b.group & a.mask); }

Aabb around(const Vector3& centre, const Vector3& half) { return {centre - half, centre + half}; }

Vector3 uniform3(Random& random, double low, double high) {
  return {random.uniform(low, high), random.uniform(low, high), random.uniform(low, high)};
}

/// All pairs, one by one.
std::vector<BodyPair> brute_force(const BroadPhase& broad_phase) {
  std::vector<BodyPair> pairs;
  for (int a = 0; a < broad_phase.id_limit(); ++a) {
    if (!broad_phase.is_used(a)) continue;
    for (int b = a + 1; b < broad_phase.id_limit(); ++b) {
      if (!broad_phase.is_used(b) || !bits_agree(broad_phase.bits(a), broad_phase.bits(b))) continue;
      if (boxes_overlap(broad_phase.box(a), broad_phase.box(b))) pairs.push_back({a, b});
    }
  }
  return pairs;
}

std::vector<int> brute_force(const BroadPhase& broad_phase, const Aabb& box) {
  std::vector<int> ids;
  for (int id = 0; id < broad_phase.id_limit(); ++id) {
    if (broad_phase.is_used(id) && boxes_overlap(broad_phase.box(id), box)) ids.push_back(id);
  }
  return ids;
}

std::vector<BodyPair> pairs_of(BroadPhase& broad_phase) {
  const std::span<const BodyPair> pairs = broad_phase.pairs();
  return {pairs.begin(), pairs.end()};
}

std::vector<int> overlaps_of(BroadPhase& broad_phase, const Aabb& box) {
  const std::span<const int> ids = broad_phase.overlaps(box);
  return {ids.begin(), ids.end()};
}

/// A way to draw boxes.
struct Scene {
  std::string name;
  std::function<Aabb(Random&)> draw;
};

std::vector<Scene> all_scenes() {
  return {
      {"uniform", [](Random& r) { return around(uniform3(r, -4, 4), uniform3(r, 0.2, 0.8)); }},
      {"clustered",
       [](Random& r) {
         const Vector3 cluster = 100.0 * Vector3(r.index(3), r.index(3), r.index(3));
         return around(cluster + 0.5 * r.normal3(), uniform3(r, 0.05, 0.3));
       }},
      {"all overlapping", [](Random& r) { return around(uniform3(r, -1, 1), uniform3(r, 1, 3)); }},
      {"none overlapping",
       [](Random& r) {
         const Vector3 cell(r.index(1 << 20), r.index(1 << 20), r.index(1 << 20));
         return around(cell, Vector3::Constant(0.4));
       }},
      {"flat",
       [](Random& r) {
         return around({r.uniform(-4, 4), r.uniform(-4, 4), 0.0}, {r.uniform(), r.uniform(), 0.0});
       }},
      {"on a line",
       [](Random& r) {
         return around({0.0, r.uniform(-40, 40), 0.0}, {0.0, r.uniform(), 0.0});
       }},
      {"points on a lattice",
       [](Random& r) { return around(Vector3(r.index(4), r.index(4), r.index(4)), Vector3::Zero()); }},
      {"touching lattice",
       [](Random& r) { return around(Vector3(r.index(9), r.index(9), r.index(9)), Vector3::Constant(0.5)); }},
      {"sizes from 1e-6 to 1e6",
       [](Random& r) {
         const double size = r.log_uniform(1e-6, 1e6);
         return around(r.log_uniform(1e-6, 1e6) * r.unit_vector(), size * uniform3(r, 0.1, 1.0));
       }},
      {"far from the origin",
       [](Random& r) { return around(Vector3::Constant(1e9) + uniform3(r, -4, 4), uniform3(r, 0.2, 0.8)); }},
      {"near the largest numbers",
       [](Random& r) { return around(1.5e308 * r.unit_vector(), 1e307 * uniform3(r, 0.1, 1.0)); }},
      {"some infinite",
       [](Random& r) {
         Aabb box = around(uniform3(r, -4, 4), uniform3(r, 0.2, 0.8));
         if (r.index(20) != 0) return box;
         for (int k = 0; k < 3; ++k) {
           if (r.index(2)) box.lower[k] = -kInf;
           if (r.index(2)) box.upper[k] = kInf;
         }
         return box;
       }},
      {"all infinite",
       [](Random& r) {
         Aabb box = around(uniform3(r, -4, 4), uniform3(r, 0.2, 0.8));
         (r.index(2) ? box.lower[r.index(3)] : box.upper[2]) = -kInf;
         if (box.upper[2] == -kInf) box.upper[2] = kInf;
         return box;
       }},
  };
}

class BroadPhaseScenes : public testing::TestWithParam<Scene> {};

TEST_P(BroadPhaseScenes, PairsAreThoseOfBruteForce) {
  for (const int n : {0, 1, 2, 7, 8, 9, 64, 65, 300, 700}) {
    SCOPED_TRACE(n);
    Random random(static_cast<std::uint64_t>(n) + 1);
    BroadPhase broad_phase;
    for (int i = 0; i < n; ++i) EXPECT_EQ(broad_phase.add(GetParam().draw(random)), i);
    EXPECT_EQ(pairs_of(broad_phase), brute_force(broad_phase));
    EXPECT_EQ(broad_phase.validate(), "");
    for (int i = 0; i < 20; ++i) {
      const Aabb box = GetParam().draw(random);
      EXPECT_EQ(overlaps_of(broad_phase, box), brute_force(broad_phase, box));
    }
  }
}

/// Add, remove, jump, drift and change bits at random; checked after every step.
TEST_P(BroadPhaseScenes, RandomHistories) {
  for (const double margin : {0.0, 0.1, 2.0}) {
    SCOPED_TRACE(margin);
    Random random(3);
    BroadPhase broad_phase({.margin = margin});
    std::set<int> used;
    const auto draw_bits = [&]() -> CollisionBits {
      return random.index(2) ? CollisionBits{}
                             : CollisionBits{1u << random.index(3), 1u + static_cast<unsigned>(random.index(7))};
    };
    for (int step = 0; step < 120; ++step) {
      SCOPED_TRACE(step);
      // now few changes, now many
      const int changes = random.index(3) == 0 ? 60 : 4;
      for (int change = 0; change < changes; ++change) {
        const int what = random.index(10);
        if (used.size() < 100 || what < 2) {
          int free = 0;
          while (used.count(free)) ++free;
          EXPECT_EQ(broad_phase.add(GetParam().draw(random), draw_bits()), free);
          used.insert(free);
          continue;
        }
        const int id = *std::next(used.begin(), random.index(static_cast<int>(used.size())));
        if (what < 4) {
          broad_phase.remove(id);
          used.erase(id);
        } else if (what < 6) {
          broad_phase.update(id, GetParam().draw(random));
        } else if (what < 7) {
          broad_phase.set_bits(id, draw_bits());
        } else {
          const Aabb& box = broad_phase.box(id);
          const Vector3 by = 0.1 * uniform3(random, -1, 1);
          broad_phase.update(id, {box.lower + by, box.upper + by});
        }
      }
      EXPECT_EQ(broad_phase.validate(), "");
      if (random.index(4) == 0) continue;  // so that changes pile up
      ASSERT_EQ(pairs_of(broad_phase), brute_force(broad_phase));
      ASSERT_EQ(broad_phase.validate(), "");
      const Aabb box = GetParam().draw(random);
      ASSERT_EQ(overlaps_of(broad_phase, box), brute_force(broad_phase, box));
      ASSERT_EQ(broad_phase.size(), static_cast<int>(used.size()));
    }
  }
}

/// All bodies move a little, for long: the list of candidates goes through every way of being renewed.
TEST_P(BroadPhaseScenes, Drift) {
  Random random(4);
  BroadPhase broad_phase;
  std::vector<Vector3> velocities;
  for (int i = 0; i < 300; ++i) {
    const Aabb box = GetParam().draw(random);
    const double size = (box.upper - box.lower).minCoeff();
    velocities.emplace_back((std::isfinite(size) ? 0.03 * size : 0.02) * random.unit_vector());
    broad_phase.add(box);
  }
  for (int step = 0; step < 60; ++step) {
    ASSERT_EQ(pairs_of(broad_phase), brute_force(broad_phase)) << step;
    ASSERT_EQ(broad_phase.validate(), "");
    for (int i = 0; i < 300; ++i) {
      const Aabb& box = broad_phase.box(i);
      const Vector3& by = velocities[i];
      broad_phase.update(i, {box.lower + by, box.upper + by});
    }
  }
}

/// The same bodies by another way: other order, detours, other ids in between, other questions, other margin.
TEST_P(BroadPhaseScenes, OnlyThePresentMatters) {
  Random random(5);
  std::vector<Aabb> boxes;
  boxes.reserve(200);
  for (int i = 0; i < 200; ++i) boxes.push_back(GetParam().draw(random));
  BroadPhase straight;
  for (const Aabb& box : boxes) straight.add(box);

  BroadPhase detour({.margin = 0.5});
  for (int i = 0; i < 300; ++i) detour.add(GetParam().draw(random));
  (void)detour.pairs();
  for (int i = 250; i > 100; --i) detour.remove(i);
  (void)detour.overlaps(boxes[0]);
  for (int i = 299; i > 250; --i) detour.remove(i);
  for (int i = 101; i < 200; ++i) EXPECT_EQ(detour.add(boxes[0]), i);
  (void)detour.pairs();
  for (int i = 199; i >= 0; --i) {
    detour.update(i, boxes[i]);
    if (i % 50 == 0) (void)detour.pairs();
  }
  EXPECT_EQ(pairs_of(straight), pairs_of(detour));
  EXPECT_EQ(overlaps_of(straight, boxes[7]), overlaps_of(detour, boxes[7]));
}

INSTANTIATE_TEST_SUITE_P(All, BroadPhaseScenes, testing::ValuesIn(all_scenes()), [](const auto& scene) {
  std::string name = scene.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

TEST(BroadPhase, TouchingIsOverlapping) {
  BroadPhase broad_phase;
  broad_phase.add(around({0, 0, 0}, Vector3::Constant(0.5)));
  broad_phase.add(around({1, 1, 1}, Vector3::Constant(0.5)));
  EXPECT_EQ(pairs_of(broad_phase), (std::vector<BodyPair>{{0, 1}}));
  broad_phase.update(1, {{std::nextafter(0.5, 1.0), 0.5, 0.5}, {1.5, 1.5, 1.5}});
  EXPECT_TRUE(broad_phase.pairs().empty());
}

TEST(BroadPhase, HalfSpacesMeetAllBelow) {
  BroadPhase broad_phase;
  const int floor = broad_phase.add(bounds(HalfSpace{.normal = {0, 0, 1}}));
  const int tilted = broad_phase.add(bounds(HalfSpace{.normal = {0.6, 0, 0.8}}));
  const int low = broad_phase.add(bounds(Sphere{1}, Pose::translation({5, 5, 0.9})));
  const int high = broad_phase.add(bounds(Sphere{1}, Pose::translation({5, 5, 1.1})));
  EXPECT_EQ(pairs_of(broad_phase),
            (std::vector<BodyPair>{{floor, tilted}, {floor, low}, {tilted, low}, {tilted, high}, {low, high}}));
}

TEST(BroadPhase, BitsAndFilter) {
  const Aabb box = around({0, 0, 0}, Vector3::Constant(1));
  BroadPhase broad_phase;
  // robots (1) meet all but one another, the scenery (2) meets robots only, a ghost meets nobody
  const CollisionBits robot{1, 2}, scenery{2, 1}, ghost{4, 0};
  for (const CollisionBits bits : {robot, scenery, ghost, robot, scenery}) broad_phase.add(box, bits);
  EXPECT_EQ(pairs_of(broad_phase), (std::vector<BodyPair>{{0, 1}, {0, 4}, {1, 3}, {3, 4}}));
  EXPECT_EQ(overlaps_of(broad_phase, box), (std::vector<int>{0, 1, 2, 3, 4}));
  // both sides must agree
  broad_phase.set_bits(2, {4, ~0u});
  EXPECT_EQ(broad_phase.pairs().size(), 4u);
  broad_phase.set_bits(0, {1, 6});
  EXPECT_EQ(pairs_of(broad_phase), (std::vector<BodyPair>{{0, 1}, {0, 2}, {0, 4}, {1, 3}, {3, 4}}));

  // the filter sees only what is left, in order, and may change its mind
  std::vector<BodyPair> asked;
  int left_out = 1;
  broad_phase.set_filter([&](int a, int b) {
    asked.push_back({a, b});
    return a != left_out && b != left_out;
  });
  EXPECT_EQ(pairs_of(broad_phase), (std::vector<BodyPair>{{0, 2}, {0, 4}, {3, 4}}));
  EXPECT_EQ(asked, (std::vector<BodyPair>{{0, 1}, {0, 2}, {0, 4}, {1, 3}, {3, 4}}));
  left_out = 4;
  EXPECT_EQ(pairs_of(broad_phase), (std::vector<BodyPair>{{0, 1}, {0, 2}, {1, 3}}));
  broad_phase.set_filter({});
  EXPECT_EQ(broad_phase.pairs().size(), 5u);
}

TEST(BroadPhase, TheSmallestFreeIdIsTakenFirst) {
  const Aabb box = around({0, 0, 0}, Vector3::Constant(1));
  BroadPhase broad_phase;
  for (int i = 0; i < 6; ++i) broad_phase.add(box);
  for (const int id : {4, 1, 3}) broad_phase.remove(id);
  for (const int id : {1, 3, 4, 6}) EXPECT_EQ(broad_phase.add(box), id);
  EXPECT_EQ(broad_phase.size(), 7);
}

TEST(BroadPhase, NoAllocationAfterWarmUp) {
  for (const double speed : {0.01, 0.3}) {
    Random random(6);
    BroadPhase broad_phase;
    std::vector<Vector3> homes;
    std::vector<Vector3> swings;
    const Vector3 half = Vector3::Constant(0.5);
    for (int i = 0; i < 1000; ++i) {
      homes.push_back(uniform3(random, -6, 6));
      swings.push_back(random.unit_vector());
      broad_phase.add(around(homes.back(), half));
    }
    std::size_t found = 0;
    const auto step = [&](int t) {
      for (int i = 0; i < 1000; ++i) {
        const std::size_t k = static_cast<std::size_t>(i);
        // some jump, the others swing to and fro
        const Vector3 centre = i % 100 == t % 100 ? homes[(k + 37) % 1000] : homes[k];
        broad_phase.update(i, around(centre + std::sin(speed * t) * swings[k], half));
      }
      found += broad_phase.pairs().size();
      found += broad_phase.overlaps(around(homes[0], half)).size();
    };
    const int period = 700;
    for (int t = 0; t < period; ++t) step(t);
    const AllocationCount count;
    for (int t = 0; t < period; ++t) step(t);
    EXPECT_EQ(count.so_far(), 0);
    EXPECT_GT(found, 0u);
  }
}

TEST(BroadPhase, BadInput) {
  const auto field = [](const std::function<void(BroadPhase&)>& call) -> std::string {
    BroadPhase broad_phase;
    broad_phase.add({{0, 0, 0}, {1, 1, 1}});
    broad_phase.remove(broad_phase.add({{0, 0, 0}, {1, 1, 1}}));
    try {
      call(broad_phase);
    } catch (const InputError& error) {
      // and nothing has happened
      EXPECT_EQ(broad_phase.size(), 1);
      EXPECT_TRUE(broad_phase.pairs().empty());
      EXPECT_EQ(broad_phase.validate(), "");
      return error.field();
    }
    return "no error";
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<Aabb, std::string>> boxes = {
      {{{0, nan, 0}, {1, 1, 1}}, "box.lower"},       {{{0, 0, 0}, {1, 1, nan}}, "box.upper"},
      {{{0, 0, 2}, {1, 1, 1}}, "box.upper"},         {{{kInf, 0, 0}, {kInf, 1, 1}}, "box.lower"},
      {{{0, -kInf, 0}, {1, -kInf, 1}}, "box.upper"}, {{{-kInf, 0, 0}, {kInf, 0, 0}}, "no error"}};
  for (const auto& entry : boxes) {
    const Aabb& box = entry.first;
    const std::string& expected = entry.second;
    EXPECT_EQ(field([&](BroadPhase& b) { b.add(box); }), expected);
    EXPECT_EQ(field([&](BroadPhase& b) { b.update(0, box); }), expected);
    EXPECT_EQ(field([&](BroadPhase& b) { (void)b.overlaps(box); }), expected);
  }
  const Aabb unit{{0, 0, 0}, {1, 1, 1}};
  for (const int id : {-1, 1, 2, std::numeric_limits<int>::max()}) {
    EXPECT_EQ(field([&](BroadPhase& b) { b.remove(id); }), "id");
    EXPECT_EQ(field([&](BroadPhase& b) { b.update(id, unit); }), "id");
    EXPECT_EQ(field([&](BroadPhase& b) { b.set_bits(id, {}); }), "id");
    EXPECT_EQ(field([&](BroadPhase& b) { (void)b.box(id); }), "id");
    EXPECT_EQ(field([&](BroadPhase& b) { (void)b.bits(id); }), "id");
  }
  for (const double margin : {-0.1, 11.0, nan}) {
    EXPECT_EQ(field([&](BroadPhase&) { BroadPhase other({.margin = margin}); }), "options.margin");
  }
}

}  // namespace
}  // namespace tangere::test
