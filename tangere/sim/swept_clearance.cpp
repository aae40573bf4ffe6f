#include "tangere/sim/swept_clearance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/sim/internal/swept_bounds.hpp"

namespace tangere {
namespace {

using internal::PieceOrder;
using internal::WorldPieces;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// The most intervals to begin with.
constexpr int kMostRoots = 64;
/// Steps to a root of a slope or a distance, and the interval that is short enough.
constexpr int kMostSteps = 100;
constexpr double kShortest = 1e-15;
/// How often a search beside the smallest distance is tried again, and with what part of the step.
constexpr int kMostTries = 8;
constexpr double kShorter = 0.2;

/// Times from t - h to t + h, and the pairs that matter there.
struct Interval {
  double lower;
  double t;
  double h;
  std::size_t first;
  std::size_t count;
};
bool is_later(const Interval& x, const Interval& y) { return x.lower != y.lower ? x.lower > y.lower : x.t > y.t; }

}  // namespace

struct SweptWorkspace::Data {
  Data(const World& world, const PairSelection& selection)
      : pieces(world, selection), placed(pieces), motions(pieces), reach(pieces.pieces.size()) {
    const Model& model = world.model();
    q.resize(model.nq());
    v.resize(model.nv());
  }

  WorldPieces pieces;
  internal::PlacedPieces placed;
  internal::PieceMotions motions;
  internal::StraightMotion path;
  DistanceWorkspace distances;
  VectorX q;
  VectorX v;
  std::vector<double> reach;
  std::vector<Interval> intervals;
  std::vector<PieceOrder> pairs;
  /// Pairs of the two halves of the interval at hand.
  std::vector<PieceOrder> halves[2];
  SweptClearance answer;
  FirstContact contact;
};

namespace {

using Memory = SweptWorkspace::Data;

void move_to(Memory& m, double t) {
  m.path.evaluate(m.pieces.world.model(), t, m.q, m.v);
  m.placed.place(m.pieces, m.q);
}

Distance ask(Memory& m, PieceOrder pair, double at_most) {
  const auto& all = m.pieces.pieces;
  return distance(*all[pair.A].geometry, m.placed.X_W[pair.A], *all[pair.B].geometry, m.placed.X_W[pair.B],
                  {.at_most = at_most}, m.distances);
}

double speed_of(const Memory& m, PieceOrder pair) {
  return m.motions.of(pair.A, pair.B).speed + m.motions.of(pair.B, pair.A).speed;
}

/// So many intervals to begin with that nothing moves much farther than it is large.
int count_roots(Memory& m, double margin) {
  move_to(m, 0.5);
  m.motions.set(m.pieces, m.placed, m.v, 0.0);
  double speed = 0.0;
  double size = 0.0;
  for (const int i : m.pieces.moving) {
    speed = std::max(speed, m.motions.of(i).speed);
    size = std::max(size, m.pieces.pieces[i].radius);
  }
  const double step = std::max(margin, size);
  return step > 0.0 ? static_cast<int>(std::clamp(std::ceil(speed / step), 1.0, double{kMostRoots})) : 1;
}

/// At the middle of an interval: pairs that may come within the margin at some time of it.
void gather(Memory& m, double margin, double h) {
  m.motions.set(m.pieces, m.placed, m.v, h);
  for (const int i : m.pieces.moving) m.reach[i] = h * m.motions.of(i).speed;
  m.placed.for_each_near(m.pieces, margin, m.reach, [&](int i, int j) {
    m.pairs.push_back(ordered(m.pieces, i, j));
    return true;
  });
}

/// The smallest distance so far.
struct Nearest {
  double distance = kInfinity;
  double t = 0.0;
  double h = 0.0;
  PieceOrder pair{-1, -1};
};

/// State of the search; `proved` bounds everything that was discarded: nothing there is nearer.
struct Search {
  Nearest nearest;
  double proved = kInfinity;
  double accuracy = 0.0;

  [[nodiscard]] double wanted_below() const { return nearest.distance - accuracy; }
};

/// Looks at the middle of an interval, and pushes the halves that matter.
void split(const Interval& interval, Search& search, Memory& m) {
  const double h = interval.h;
  double lower[2] = {kInfinity, kInfinity};
  for (std::vector<PieceOrder>& half : m.halves) half.clear();
  for (std::size_t k = interval.first; k < interval.first + interval.count; ++k) {
    const PieceOrder pair = m.pairs[k];
    const double coarse = coarse_bound(m.pieces, m.placed, m.motions, pair, h);
    if (coarse >= search.wanted_below()) {
      search.proved = std::min(search.proved, coarse);
      continue;
    }
    const double enough = search.nearest.distance + h * speed_of(m, pair);
    const Distance now = ask(m, pair, enough);
    if (now.status != DistanceStatus::beyond && now.distance < search.nearest.distance)
      search.nearest = {now.distance, interval.t, h, pair};
    const internal::SweptBounds bounds = swept_bounds(m.pieces, m.placed, m.motions, pair, now, h);
    const double of_half[2] = {bounds.before, bounds.after};
    for (int side = 0; side < 2; ++side) {
      if (of_half[side] >= search.wanted_below()) {
        search.proved = std::min(search.proved, of_half[side]);
        continue;
      }
      m.halves[side].push_back(pair);
      lower[side] = std::min(lower[side], of_half[side]);
    }
  }
  for (int side = 0; side < 2; ++side) {
    const std::vector<PieceOrder>& half = m.halves[side];
    if (half.empty()) continue;
    m.intervals.push_back(
        {lower[side], interval.t + (side == 0 ? -0.5 : 0.5) * h, 0.5 * h, m.pairs.size(), half.size()});
    std::push_heap(m.intervals.begin(), m.intervals.end(), is_later);
    m.pairs.insert(m.pairs.end(), half.begin(), half.end());
  }
}

/// A pair at one time, with the derivative of its distance along the motion.
struct Sample {
  double t = 0.0;
  double distance = 0.0;
  double slope = 0.0;
  VectorX gradient;
};

Sample sample(Memory& m, PieceOrder pair, double t) {
  Sample out;
  out.t = t;
  move_to(m, t);
  out.distance = ask(m, pair, kInfinity).distance;
  out.gradient.setZero(m.v.size());
  add_gradient(m.pieces, m.placed, pair, distance_gradient(m.distances), out.gradient.data());
  out.slope = out.gradient.dot(m.v);
  return out;
}

/// The minimum between a, where the distance falls, and b, where it rises. Halving takes turns with the secant of the
/// slopes. In `low` the result: its gradient is the mean of both sides' that makes the slope zero.
void find_minimum(Memory& m, PieceOrder pair, Sample low, Sample high, Sample& out) {
  for (int step = 0; step < kMostSteps && high.t - low.t > kShortest && low.slope != 0.0 && high.slope != 0.0; ++step) {
    const double length = high.t - low.t;
    const double by_slopes = low.t - low.slope * length / (high.slope - low.slope);
    const bool halve = step % 3 == 2 || !(by_slopes > low.t && by_slopes < high.t);
    const double t = halve ? 0.5 * (low.t + high.t) : by_slopes;
    if (!(t > low.t && t < high.t)) break;
    Sample next = sample(m, pair, t);
    (next.slope <= 0.0 ? low : high) = std::move(next);
  }
  const double sum = high.slope - low.slope;
  const double weight = sum > 0.0 ? high.slope / sum : 0.5;
  out = low.distance <= high.distance ? low : high;
  out.gradient = weight * low.gradient + (1.0 - weight) * high.gradient;
  out.slope = 0.0;
}

/// The local minimum of the pair's distance beside the nearest time found.
Sample descend(Memory& m, const Nearest& nearest) {
  const Sample start = sample(m, nearest.pair, nearest.t);
  double step = std::max(nearest.h, 1e-6);
  const double side = start.slope < 0.0 ? 1.0 : -1.0;
  const double end = side > 0.0 ? 1.0 : 0.0;
  if (start.slope == 0.0 || start.t == end) return start;
  for (int attempt = 0; attempt < kMostTries; ++attempt, step *= kShorter) {
    Sample from = start;
    for (double stride = step;; stride *= 2.0) {
      const double t = std::clamp(from.t + side * stride, 0.0, 1.0);
      Sample to = sample(m, nearest.pair, t);
      Sample found = to;
      if (side * to.slope >= 0.0) {
        find_minimum(m, nearest.pair, side > 0.0 ? from : to, side > 0.0 ? to : from, found);
      } else if (t != end) {
        from = std::move(to);
        continue;
      }
      if (found.distance <= start.distance) return found;
      break;
    }
  }
  return start;
}

void write_pair(Memory& m, PieceOrder pieces, double t, ClearancePair& out) {
  move_to(m, t);
  const Distance at = ask(m, pieces, kInfinity);
  out = name_pair(m.pieces, pieces);
  out.value = at.distance;
  out.p_A = at.p_A;
  out.p_B = at.p_B;
  out.normal = at.normal;
  out.solved = at.status == DistanceStatus::solved;
}

/// The root of the pair's distance between low, where it is positive, and high, where it is not.
double find_contact(Memory& m, PieceOrder pair, Sample low, Sample high) {
  for (int step = 0; step < kMostSteps && high.t - low.t > kShortest; ++step) {
    const double by_secant = low.t + (high.t - low.t) * low.distance / (low.distance - high.distance);
    const bool halve = step % 3 == 2 || !(by_secant > low.t && by_secant < high.t);
    const double t = halve ? 0.5 * (low.t + high.t) : by_secant;
    if (!(t > low.t && t < high.t)) break;
    Sample next = sample(m, pair, t);
    if (next.distance == 0.0) return t;
    (next.distance > 0.0 ? low : high) = std::move(next);
  }
  return high.t;
}

/// A contact, once an interval is so short that nothing moves by more than the accuracy.
struct Passage {
  bool found = false;
  PieceOrder pair{-1, -1};
};
/// Looks at the middle of an interval, and pushes the halves that are not proved to be free, the earlier one last.
Passage look_for_contact(const Interval& interval, double accuracy, Memory& m) {
  const double h = interval.h;
  Passage out;
  for (std::vector<PieceOrder>& half : m.halves) half.clear();
  double nearest = kInfinity;
  for (std::size_t k = interval.first; k < interval.first + interval.count; ++k) {
    const PieceOrder pair = m.pairs[k];
    if (coarse_bound(m.pieces, m.placed, m.motions, pair, h) > 0.0) continue;
    const double reach = h * speed_of(m, pair);
    const Distance now = ask(m, pair, reach + 1e-6);
    const internal::SweptBounds bounds = swept_bounds(m.pieces, m.placed, m.motions, pair, now, h);
    if (!(bounds.before > 0.0)) m.halves[0].push_back(pair);
    if (!(bounds.after > 0.0)) m.halves[1].push_back(pair);
    if (bounds.before > 0.0 && bounds.after > 0.0) continue;
    // nothing moves enough any more to tell
    if (reach <= 0.5 * accuracy && now.distance < nearest && now.distance <= accuracy) {
      nearest = now.distance;
      out = {true, pair};
    }
  }
  if (out.found) return out;
  for (int side = 1; side >= 0; --side) {
    const std::vector<PieceOrder>& half = m.halves[side];
    if (half.empty()) continue;
    m.intervals.push_back({0.0, interval.t + (side == 0 ? -0.5 : 0.5) * h, 0.5 * h, m.pairs.size(), half.size()});
    m.pairs.insert(m.pairs.end(), half.begin(), half.end());
  }
  return out;
}

void require_end(const World& world, const char* name, VectorArgument q) {
  if (q.size() != world.nq())
    throw InputError(name, "must have " + std::to_string(world.nq()) + " numbers, got " + std::to_string(q.size()));
  if (!q.allFinite()) throw InputError(name, "must be finite");
}

void begin(const World& world, VectorArgument q0, VectorArgument q1, const SweptOptions& options, Memory& m) {
  options.verify();
  require_world(m.pieces, world);
  require_end(world, "q0", q0);
  require_end(world, "q1", q1);
  m.path.set(world.model(), q0, q1);
  m.intervals.clear();
  m.pairs.clear();
}

}  // namespace

void SweptOptions::verify() const {
  if (!(margin >= 0.0 && margin <= 1e6))
    throw InputError("margin", "must be between 0 and 1e6, got " + internal::to_text(margin));
  if (!(accuracy >= 1e-6 && accuracy <= 1.0))
    throw InputError("accuracy", "must be between 1e-6 and 1, got " + internal::to_text(accuracy));
  if (max_intervals < 1) throw InputError("max_intervals", "must be at least 1, got " + std::to_string(max_intervals));
}

SweptWorkspace::SweptWorkspace(const World& world, const PairSelection& selection)
    : data_("SweptWorkspace", std::make_unique<Data>(world, selection)) {}
SweptWorkspace::~SweptWorkspace() = default;
SweptWorkspace::SweptWorkspace(SweptWorkspace&&) noexcept = default;
SweptWorkspace& SweptWorkspace::operator=(SweptWorkspace&&) noexcept = default;

const SweptClearance& swept_clearance(const World& world, VectorArgument q0, VectorArgument q1,
                                      const SweptOptions& options, SweptWorkspace& workspace) {
  SweptWorkspace::Data& m = workspace.data();
  begin(world, q0, q1, options, m);
  SweptClearance& answer = m.answer;
  answer.names = m.pieces.names;
  answer.intervals = 0;
  answer.pair = {};
  answer.certified = true;

  Search search;
  search.nearest.distance = options.margin;
  search.accuracy = options.accuracy;
  const int roots = count_roots(m, options.margin);
  const double h = 0.5 / roots;

  // both ends, which no interval's middle is
  for (const double t : {0.0, 1.0}) {
    move_to(m, t);
    m.placed.for_each_near(m.pieces, options.margin, {}, [&](int i, int j) {
      const PieceOrder pair = ordered(m.pieces, i, j);
      const Distance now = ask(m, pair, search.nearest.distance);
      if (now.status != DistanceStatus::beyond && now.distance < search.nearest.distance)
        search.nearest = {now.distance, t, h, pair};
      return true;
    });
  }
  for (int k = 0; k < roots; ++k) {
    const std::size_t first = m.pairs.size();
    const double t = (2 * k + 1) * h;
    move_to(m, t);
    gather(m, options.margin, h);
    ++answer.intervals;
    split({-kInfinity, t, h, first, m.pairs.size() - first}, search, m);
  }
  // the most promising first
  while (!m.intervals.empty()) {
    std::pop_heap(m.intervals.begin(), m.intervals.end(), is_later);
    const Interval interval = m.intervals.back();
    m.intervals.pop_back();
    if (interval.lower >= search.wanted_below() || answer.intervals >= options.max_intervals) {
      answer.certified = interval.lower >= search.wanted_below();
      search.proved = std::min(search.proved, interval.lower);
      break;
    }
    ++answer.intervals;
    move_to(m, interval.t);
    m.motions.set(m.pieces, m.placed, m.v, interval.h);
    split(interval, search, m);
  }

  answer.nearer = search.nearest.pair.A >= 0;
  answer.distance = options.margin;
  answer.time = 0.0;
  answer.d_q0.setZero(world.nv());
  answer.d_q1.setZero(world.nv());
  if (answer.nearer) {
    const Sample best = descend(m, search.nearest);
    answer.distance = best.distance;
    answer.time = best.t;
    if (options.gradients) m.path.to_ends(world.model(), best.t, best.gradient, answer.d_q0, answer.d_q1);
    write_pair(m, search.nearest.pair, best.t, answer.pair);
  }
  answer.lower_bound = std::min(answer.distance, search.proved);
  return answer;
}

const FirstContact& first_contact(const World& world, VectorArgument q0, VectorArgument q1, const SweptOptions& options,
                                  SweptWorkspace& workspace) {
  SweptWorkspace::Data& m = workspace.data();
  begin(world, q0, q1, options, m);
  FirstContact& answer = m.contact;
  answer = {};
  answer.names = m.pieces.names;
  answer.certified = true;
  const int roots = count_roots(m, 0.0);
  const double h = 0.5 / roots;
  for (int k = 0; k < roots; ++k) {
    m.intervals.clear();
    m.pairs.clear();
    const double t = (2 * k + 1) * h;
    move_to(m, t);
    gather(m, 0.0, h);
    m.intervals.push_back({0.0, t, h, 0, m.pairs.size()});
    while (!m.intervals.empty()) {
      const Interval interval = m.intervals.back();
      m.intervals.pop_back();
      const double from = std::max(0.0, interval.t - interval.h);
      if (++answer.intervals > options.max_intervals) {
        answer.certified = false;
        answer.free_until = answer.time = from;
        return answer;
      }
      move_to(m, interval.t);
      m.motions.set(m.pieces, m.placed, m.v, interval.h);
      const Passage passage = look_for_contact(interval, options.accuracy, m);
      if (!passage.found) continue;
      answer.touches = true;
      answer.free_until = from;
      const Sample low = sample(m, passage.pair, from);
      const Sample high = sample(m, passage.pair, std::min(1.0, interval.t + interval.h));
      if (low.distance <= 0.0) {
        answer.time = from;
      } else if (high.distance <= 0.0) {
        answer.time = find_contact(m, passage.pair, low, high);
      } else {
        answer.time = interval.t;
      }
      write_pair(m, passage.pair, answer.time, answer.pair);
      return answer;
    }
  }
  return answer;
}

SweptClearance swept_clearance(const World& world, VectorArgument q0, VectorArgument q1, const SweptOptions& options,
                               const PairSelection& selection) {
  SweptWorkspace workspace(world, selection);
  return swept_clearance(world, q0, q1, options, workspace);
}

FirstContact first_contact(const World& world, VectorArgument q0, VectorArgument q1, const SweptOptions& options,
                           const PairSelection& selection) {
  SweptWorkspace workspace(world, selection);
  return first_contact(world, q0, q1, options, workspace);
}

}  // namespace tangere
