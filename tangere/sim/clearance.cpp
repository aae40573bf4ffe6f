#include "tangere/sim/clearance.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/task_pool.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"
#include "tangere/sim/internal/clearance_workspace.hpp"

namespace tangere {
namespace {

using internal::NearPair;
using internal::PieceOrder;
using internal::WorldPieces;

constexpr double kLargestMargin = 1e6;

/// Asks about two pieces; false if they are farther apart than `at_most`.
bool ask_distance(const ClearanceOptions& options, PieceOrder pair, double at_most, ClearanceWorkspace::Data& d,
                  NearPair& out) {
  const auto& all = d.pieces->pieces;
  const Distance r = distance(*all[pair.A].geometry, d.placed.X_W[pair.A], *all[pair.B].geometry, d.placed.X_W[pair.B],
                              {.at_most = at_most}, d.distances);
  if (r.status == DistanceStatus::beyond || !(r.distance <= at_most)) return false;
  out = {pair, r.distance, r.p_A, r.p_B, r.normal, r.status == DistanceStatus::solved, Vector12()};
  if (options.gradients) out.gradient = distance_gradient(d.distances);
  return true;
}

bool ask_scaling(const ClearanceOptions& options, PieceOrder pair, double at_most, ClearanceWorkspace::Data& d,
                 NearPair& out) {
  const auto& all = d.pieces->pieces;
  if (!(at_most > 0.0)) return false;
  const Scaling r = scaling(*all[pair.A].geometry, d.placed.X_W[pair.A], *all[pair.B].geometry, d.placed.X_W[pair.B],
                            {.at_most = at_most}, d.scalings);
  if (r.status == ScalingStatus::beyond || !(r.alpha <= at_most)) return false;
  const bool solved = r.status == ScalingStatus::solved || r.status == ScalingStatus::zero_scaling;
  out = {pair, r.alpha, r.p_A, r.p_B, r.normal, solved, Vector12()};
  if (options.gradients) out.gradient = scaling_gradient(d.scalings);
  return true;
}

/// One entry per pair of shapes, unsorted.
void find_pairs(const ClearanceOptions& options, double limit, ClearanceWorkspace::Data& d) {
  const WorldPieces& pieces = *d.pieces;
  const bool by_distance = options.metric == ClearanceMetric::distance;
  d.found.clear();
  int mover = -1;
  bool mover_meets_fixed = true;
  d.placed.for_each_near(pieces, by_distance ? options.margin : 0.0, {}, [&](int i, int j) {
    const int shape_i = pieces.pieces[i].shape;
    const int shape_j = pieces.pieces[j].shape;
    const bool meets_fixed = !pieces.pieces[j].moves;
    if (shape_i != mover || meets_fixed != mover_meets_fixed) {
      mover = shape_i;
      mover_meets_fixed = meets_fixed;
      ++d.stamp;
    }
    const bool known = d.stamps[shape_j] == d.stamp;
    const double at_most = known ? d.found[d.place_of[shape_j]].value : limit;
    NearPair near;
    const PieceOrder pair = ordered(pieces, i, j);
    if (by_distance ? !ask_distance(options, pair, at_most, d, near) : !ask_scaling(options, pair, at_most, d, near))
      return true;
    if (!known) {
      d.stamps[shape_j] = d.stamp;
      d.place_of[shape_j] = static_cast<int>(d.found.size());
      d.found.push_back(near);
    } else if (near.value < at_most) {
      d.found[d.place_of[shape_j]] = near;
    }
    return true;
  });
}

bool is_before(const WorldPieces& pieces, const NearPair& x, const NearPair& y) {
  if (x.value != y.value) return x.value < y.value;
  const int a = pieces.pieces[x.pieces.A].shape - pieces.pieces[y.pieces.A].shape;
  return a != 0 ? a < 0 : pieces.pieces[x.pieces.B].shape < pieces.pieces[y.pieces.B].shape;
}

void write_answer(const ClearanceOptions& options, double limit, ClearanceWorkspace::Data& d) {
  const WorldPieces& pieces = *d.pieces;
  Clearance& answer = d.answer;
  answer.names = pieces.names;
  answer.nv = pieces.world.nv();
  answer.limit = limit;
  answer.pairs.clear();
  std::sort(d.found.begin(), d.found.end(),
            [&](const NearPair& x, const NearPair& y) { return is_before(pieces, x, y); });
  const auto nv = static_cast<std::size_t>(answer.nv);
  answer.gradients.assign(options.gradients ? d.found.size() * nv : 0, 0.0);
  for (std::size_t k = 0; k < d.found.size(); ++k) {
    const NearPair& near = d.found[k];
    ClearancePair pair = name_pair(pieces, near.pieces);
    pair.value = near.value;
    pair.p_A = near.p_A;
    pair.p_B = near.p_B;
    pair.normal = near.normal;
    pair.solved = near.solved;
    pair.row = static_cast<int>(k);
    answer.pairs.push_back(pair);
    if (options.gradients) add_gradient(pieces, d.placed, near.pieces, near.gradient, answer.gradients.data() + k * nv);
  }
}

bool touches(ClearanceWorkspace::Data& d, int i, int j, double margin) {
  const auto& all = d.pieces->pieces;
  const PieceOrder pair = ordered(*d.pieces, i, j);
  const Shape& A = *all[pair.A].geometry;
  const Shape& B = *all[pair.B].geometry;
  if (margin == 0.0) return overlaps(A, d.placed.X_W[pair.A], B, d.placed.X_W[pair.B], d.distances);
  const Distance r = distance(A, d.placed.X_W[pair.A], B, d.placed.X_W[pair.B], {.at_most = margin}, d.distances);
  return r.distance <= margin;
}

void require_margin(double margin) {
  if (!(margin >= 0.0 && margin <= kLargestMargin))
    throw InputError("margin", "must be between 0 and 1e6, got " + internal::to_text(margin));
}

}  // namespace

void ClearanceOptions::verify() const { require_margin(margin); }

ClearanceWorkspace::ClearanceWorkspace(const World& world, const PairSelection& selection)
    : data_("ClearanceWorkspace",
            std::make_unique<Data>(std::make_shared<const internal::WorldPieces>(world, selection))) {}
ClearanceWorkspace::~ClearanceWorkspace() = default;
ClearanceWorkspace::ClearanceWorkspace(ClearanceWorkspace&&) noexcept = default;
ClearanceWorkspace& ClearanceWorkspace::operator=(ClearanceWorkspace&&) noexcept = default;

const Clearance& clearance(const World& world, VectorArgument q, const ClearanceOptions& options,
                           ClearanceWorkspace& workspace) {
  options.verify();
  ClearanceWorkspace::Data& d = workspace.data();
  require_world(*d.pieces, world);
  const bool by_distance = options.metric == ClearanceMetric::distance;
  const double limit = by_distance ? options.margin : 1.0 + options.margin;
  d.placed.scale_boxes(*d.pieces, by_distance ? 1.0 : limit);
  d.placed.place(*d.pieces, q);
  find_pairs(options, limit, d);
  write_answer(options, limit, d);
  return d.answer;
}

bool in_collision(const World& world, VectorArgument q, ClearanceWorkspace& workspace, double margin) {
  require_margin(margin);
  ClearanceWorkspace::Data& d = workspace.data();
  require_world(*d.pieces, world);
  d.placed.scale_boxes(*d.pieces, 1.0);
  d.placed.place(*d.pieces, q);
  // what touched last may still do
  if (d.touching.a >= 0 && touches(d, d.touching.a, d.touching.b, margin)) return true;
  bool any = false;
  d.placed.for_each_near(*d.pieces, margin, {}, [&](int i, int j) {
    any = touches(d, i, j, margin);
    if (any) d.touching = {i, j};
    return !any;
  });
  return any;
}

Clearance clearance(const World& world, VectorArgument q, const ClearanceOptions& options,
                    const PairSelection& selection) {
  ClearanceWorkspace workspace(world, selection);
  return clearance(world, q, options, workspace);
}

bool in_collision(const World& world, VectorArgument q, const PairSelection& selection, double margin) {
  ClearanceWorkspace workspace(world, selection);
  return in_collision(world, q, workspace, margin);
}

double smooth_minimum(const Clearance& clearance, double smoothing, VectorX* gradient) {
  if (!(smoothing > 0.0 && std::isfinite(smoothing)))
    throw InputError("smoothing", "must be above 0, got " + internal::to_text(smoothing));
  if (gradient != nullptr && clearance.gradients.empty() && !clearance.pairs.empty())
    throw InputError("clearance", "has no gradients: ask for them");
  if (gradient != nullptr) gradient->setZero(clearance.nv);
  // all relative to the smallest, so that nothing overflows
  const double least = clearance.smallest();
  const double edge = std::exp((least - clearance.limit) / smoothing);
  double sum = edge;
  for (const ClearancePair& pair : clearance.pairs)
    sum += std::exp((least - pair.value) / smoothing) - edge * (1.0 + (clearance.limit - pair.value) / smoothing);
  if (gradient != nullptr) {
    for (const ClearancePair& pair : clearance.pairs) {
      const double weight = (std::exp((least - pair.value) / smoothing) - edge) / sum;
      *gradient += weight * clearance.gradient(pair);
    }
  }
  return least - smoothing * std::log(sum);
}

struct ClearanceBatch::Data {
  Data(const World& of, const PairSelection& selection, int num_threads)
      : world(of), pieces(std::make_shared<const internal::WorldPieces>(of, selection)), pool(num_threads) {
    for (int i = 0; i < pool.num_threads(); ++i) workspaces.emplace_back(of, selection);
    minima.resize(workspaces.size());
  }

  /// task(number, q, workspace, thread) for every configuration.
  template <class F>
  void for_all(In configurations, const F& task) {
    const int n = count(configurations);
    const int run_length = std::clamp(n / (8 * pool.num_threads()), 1, 64);
    pool.run(n, run_length, [&](int i, int thread) {
      const Eigen::Map<const VectorX> q(configurations.data() + std::ptrdiff_t{i} * world.nq(), world.nq());
      try {
        task(i, q, workspaces[thread], thread);
      } catch (const InputError& error) {
        throw InputError("configurations[" + std::to_string(i) + "]." + error.field(), error.reason());
      }
    });
  }

  [[nodiscard]] int count(In configurations) const {
    const auto nq = static_cast<std::size_t>(world.nq());
    if (nq == 0 || configurations.size() % nq != 0)
      throw InputError("configurations", "must be rows of " + std::to_string(nq) + " numbers, got " +
                                             std::to_string(configurations.size()));
    return static_cast<int>(configurations.size() / nq);
  }

  World world;
  std::shared_ptr<const internal::WorldPieces> pieces;
  TaskPool pool;
  std::vector<ClearanceWorkspace> workspaces;
  std::vector<VectorX> minima;
  std::vector<Clearance> answers;
};

ClearanceBatch::ClearanceBatch(const World& world, const PairSelection& selection, int num_threads)
    : data_(std::make_unique<Data>(world, selection, num_threads)) {}
ClearanceBatch::~ClearanceBatch() = default;

std::span<const Clearance> ClearanceBatch::run(In configurations, const ClearanceOptions& options) {
  Data& d = *data_;
  options.verify();
  d.answers.resize(static_cast<std::size_t>(d.count(configurations)));
  d.for_all(configurations, [&](int i, VectorArgument q, ClearanceWorkspace& workspace, int /*thread*/) {
    Clearance& answer = d.answers[i];
    answer = clearance(d.world, q, options, workspace);
    // the names of one table, whose owner this is
    answer.names = d.pieces->names;
    for (ClearancePair& pair : answer.pairs) {
      pair.a = (*answer.names)[pair.shape_A];
      pair.b = (*answer.names)[pair.shape_B];
    }
  });
  return d.answers;
}

void ClearanceBatch::minimum(In configurations, const ClearanceOptions& options, double smoothing, Out values,
                             Out gradients) {
  Data& d = *data_;
  options.verify();
  if (!(smoothing >= 0.0)) throw InputError("smoothing", "must not be negative, got " + internal::to_text(smoothing));
  const auto n = static_cast<std::size_t>(d.count(configurations));
  const auto nv = static_cast<std::size_t>(d.world.nv());
  if (values.size() != n)
    throw InputError("values", "must have " + std::to_string(n) + " numbers, got " + std::to_string(values.size()));
  if (!gradients.empty() && gradients.size() != n * nv)
    throw InputError("gradients", "must have " + std::to_string(n * nv) + " numbers or none, got " +
                                      std::to_string(gradients.size()));
  ClearanceOptions asked = options;
  asked.gradients = !gradients.empty();
  d.for_all(configurations, [&](int i, VectorArgument q, ClearanceWorkspace& workspace, int thread) {
    const Clearance& near = clearance(d.world, q, asked, workspace);
    VectorX& gradient = d.minima[thread];
    if (smoothing > 0.0) {
      values[i] = smooth_minimum(near, smoothing, asked.gradients ? &gradient : nullptr);
    } else {
      values[i] = near.smallest();
      if (asked.gradients) {
        gradient.setZero(d.world.nv());
        if (!near.pairs.empty()) gradient = near.gradient(near.pairs.front());
      }
    }
    if (asked.gradients)
      Eigen::Map<VectorX>(gradients.data() + static_cast<std::ptrdiff_t>(i * nv), d.world.nv()) = gradient;
  });
}

void ClearanceBatch::in_collision(In configurations, std::span<char> out, double margin) {
  Data& d = *data_;
  const auto n = static_cast<std::size_t>(d.count(configurations));
  if (out.size() != n)
    throw InputError("out", "must have " + std::to_string(n) + " entries, got " + std::to_string(out.size()));
  d.for_all(configurations, [&](int i, VectorArgument q, ClearanceWorkspace& workspace, int /*thread*/) {
    out[i] = static_cast<char>(tangere::in_collision(d.world, q, workspace, margin));
  });
}

}  // namespace tangere
