#include "tangere/solvers/conic/conic_lanes.hpp"

#include <limits>

namespace tangere {
namespace {

using Engine = ConicEngine<1>;

template <class F>
[[gnu::always_inline]] inline auto on(LaneBlock& block, F&& f) {
  return with_lane_operations<LaneOperations>(block, [&](auto operations) { return f(block, operations); });
}
template <class F>
[[gnu::always_inline]] inline auto on_arrow(LaneBlock& block, F&& f) {
  return with_lane_operations<LaneArrowOperations>(block, [&](auto operations) { return f(block, operations); });
}

/// L D Lᵀ of a symmetric 4x4 matrix in each lane, see ConicEngine::factor.
struct LaneLdl {
  Lane l10, l20, l30, l21, l31, l32;
  Lane i0, i1, i2, i3;
  LaneMask valid;

  explicit LaneLdl(const LaneSymmetric& M) {
    constexpr double floor = 1e-15;
    const Lane d0 = M.v[0];
    i0 = 1.0 / d0;
    const Lane a10 = M.v[1], a20 = M.v[3], a30 = M.v[6];
    l10 = a10 * i0;
    l20 = a20 * i0;
    l30 = a30 * i0;
    const Lane d1 = max(M.v[2] - l10 * a10, floor * M.v[2]);
    const Lane a21 = M.v[4] - l20 * a10, a31 = M.v[7] - l30 * a10;
    i1 = 1.0 / d1;
    l21 = a21 * i1;
    l31 = a31 * i1;
    const Lane d2 = max(M.v[5] - l20 * a20 - l21 * a21, floor * M.v[5]);
    const Lane a32 = M.v[8] - l30 * a20 - l31 * a21;
    i2 = 1.0 / d2;
    l32 = a32 * i2;
    const Lane d3 = max(M.v[9] - l30 * a30 - l31 * a31 - l32 * a32, floor * M.v[9]);
    i3 = 1.0 / d3;
    valid = (d0 > 0.0) & is_finite(d0 + d1 + d2 + d3);
  }
  [[nodiscard]] LaneVector solve(const LaneVector& r) const {
    const Lane y1 = r[1] - l10 * r[0];
    const Lane y2 = r[2] - l20 * r[0] - l21 * y1;
    const Lane y3 = r[3] - l30 * r[0] - l31 * y1 - l32 * y2;
    LaneVector x;
    x[3] = y3 * i3;
    x[2] = y2 * i2 - l32 * x[3];
    x[1] = y1 * i1 - l31 * x[3] - l21 * x[2];
    x[0] = r[0] * i0 - l30 * x[3] - l20 * x[2] - l10 * x[1];
    return x;
  }
};

std::size_t lanes_of_cone(int num_aux) {
  static_assert(sizeof(LaneCone) % sizeof(Lane) == 0);
  return sizeof(LaneCone) / sizeof(Lane) + static_cast<std::size_t>((8 + num_aux) * num_aux);
}

}  // namespace

std::size_t LaneStorage::size(int num_orthant, int num_cones, int num_aux) {
  const std::size_t lanes = static_cast<std::size_t>(num_orthant * (kRowY + num_aux)) +
                            static_cast<std::size_t>(num_cones) * lanes_of_cone(num_aux) +
                            static_cast<std::size_t>((14 + num_aux) * num_aux);
  return kLanes * lanes;
}

void LaneStorage::reserve(int num_orthant, int num_cones, int num_aux) {
  const std::size_t needed = size(num_orthant, num_cones, num_aux);
  if (memory_.size() < needed) memory_.resize(needed);
}

void LaneStorage::bind(int num_orthant, int num_cones, int num_aux, LaneBlock& block) {
  block.num_orthant = num_orthant;
  block.num_cones = num_cones;
  block.num_aux = num_aux;
  auto* next = reinterpret_cast<Lane*>(memory_.data());
  const auto take = [&next](int count) {
    Lane* const array = next;
    next += count;
    return array;
  };
  const auto take_vectors = [&](int count) { return reinterpret_cast<LaneVector*>(take(kShared * count)); };
  block.rows = take(num_orthant * block.stride());
  block.cones = reinterpret_cast<LaneCone*>(take(num_cones * static_cast<int>(sizeof(LaneCone) / sizeof(Lane))));
  block.cone_y = take_vectors(num_cones * num_aux);
  block.form_yu = take_vectors(num_cones * num_aux);
  block.form_yy = take(num_cones * num_aux * num_aux);
  block.y = take(num_aux);
  block.dy = take(num_aux);
  block.rhs = take(num_aux);
  block.pivot = take(num_aux);
  block.own_second = take(num_aux);
  block.own_centring = take(num_aux);
  block.coupling = take_vectors(num_aux);
  block.left = take_vectors(num_aux);
  block.factor = take(num_aux * num_aux);
}

/// One Mehrotra step of the live lanes; returns those in which there is no way on.
LaneMask ConicLanes::mehrotra_step(LaneMask live, double kappa) {
  LaneSymmetric H;
  for (int i = 0; i < 10; ++i) H.v[i] = Lane{};
  for (LaneBlock& block : blocks) on(block, [&](LaneBlock& b, auto operations) { operations.assemble(b, H); });
  const LaneLdl factors(H);

  // predictor
  LaneVector second{};
  LaneVector centring{};
  Lane ratio = splat(1.0);
  const LaneVector du = factors.solve({Lane{}, Lane{}, Lane{}, splat(-1.0)});
  for (LaneBlock& block : blocks) {
    ratio = max(ratio,
                on(block, [&](LaneBlock& b, auto operations) { return operations.predict(b, du, second, centring); }));
  }

  // centring weight, then the combined step
  const Lane mu = gap * inverse_degree_;
  const Lane rest = 1.0 - 1.0 / ratio;
  const Lane target = max(rest * rest * rest * mu, kappa * u[3]);
  const Lane use_second = select(target < mu, splat(1.0), Lane{});
  LaneVector rhs = plus(target * centring, -use_second, second);
  rhs[3] -= 1.0;
  for (LaneBlock& block : blocks) {
    on(block, [&](LaneBlock& b, auto operations) { operations.reduce_rhs(b, target, use_second, rhs); });
  }
  const LaneVector step_u = factors.solve(rhs);
  ratio = splat(1e-3);
  for (LaneBlock& block : blocks) {
    ratio = max(ratio, on(block, [&](LaneBlock& b, auto operations) {
                  return operations.combine(b, step_u, target, use_second);
                }));
  }
  const Lane step = min(splat(1.0), Engine::kBoundaryFraction / ratio);
  const LaneMask possible = factors.valid & is_finite(step * (step_u[0] + step_u[1] + step_u[2] + step_u[3])) &
                            (step >= Engine::kShortestStep);
  const LaneMask moving = live & possible;
  u = plus(u, keep(moving, step), keep(moving, step_u));
  Lane new_gap{};
  for (LaneBlock& block : blocks) {
    new_gap +=
        on(block, [&](LaneBlock& b, auto operations) { return operations.template advance<true>(b, step, moving); });
  }
  gap = select(moving, new_gap, gap);
  iterations = select(moving, iterations + 1.0, iterations);
  return live & ~possible;
}

/// max |s ∘ z - target e|.
Lane ConicLanes::error(const LaneProducts& products, Lane target) const {
  Lane worst = max(max(products.most - target, target - products.least), Lane{});
  for (const LaneBlock& block : blocks) {
    worst = max(worst, LaneArrowOperations<0>::cone_error(block, target));
  }
  return worst;
}

/// Gap (without relaxation) and dual residual are small enough. Measures the dual residual of the lanes asked.
LaneMask ConicLanes::settled(const EngineOptions& options, LaneMask asked) {
  const Lane tolerance = options.relative_tolerance * abs(u[3]);
  if (options.kappa == 0.0) asked &= gap <= tolerance;
  if (!any(asked)) return asked;
  Lane own{};
  LaneVector residual{Lane{}, Lane{}, Lane{}, splat(-1.0)};
  for (int k = 0; k < kBlocks; ++k) {
    const LaneVector pull =
        on(blocks[k], [&](LaneBlock& b, auto operations) { return operations.transposed_z(b, own); });
    residual = residual + pull;
    force[k] = freeze(asked, pull, force[k]);
  }
  const Lane worst = max(max(own, max(abs(residual[0]), max(abs(residual[1]), abs(residual[2])))) * dual_scale,
                         abs(residual[3]) * dual_scale_last);
  dual_residual = select(asked, worst, dual_residual);
  return asked & (worst <= tolerance);
}

void ConicLanes::take_full_step(LaneMask live) {
  Lane new_gap{};
  for (LaneBlock& block : blocks) {
    new_gap += on(
        block, [&](LaneBlock& b, auto operations) { return operations.template advance<false>(b, splat(1.0), live); });
  }
  gap = select(live, new_gap, gap);
  iterations = select(live, iterations + 1.0, iterations);
}

/// Arrow steps from nearby to the central-path point s ∘ z = target e. Lanes that get there are solved, the others
/// `failed`; their iterates have then only come nearer.
void ConicLanes::finish(const EngineOptions& options, LaneMask finishing, Lane target, LaneMask& failed) {
  failed = LaneMask{};
  for (int steps = 0; any(finishing); ++steps) {
    const LaneMask late = finishing & (iterations >= static_cast<double>(options.max_iterations));
    const LaneMask out = steps < options.max_final_steps ? late : finishing;
    failed |= out;
    finishing &= ~out;
    if (!any(finishing)) return;

    // the linearised conditions
    LaneVector centring{};
    LaneProducts products;
    for (int k = 0; k < kBlocks; ++k) {
      on_arrow(blocks[k],
               [&](LaneBlock& b, auto operations) { operations.assemble(b, reduced_[k], centring, products); });
    }
    LaneMatrix H;
    for (int a = 0; a < kShared; ++a) H.row[a] = reduced_[0].row[a] + reduced_[1].row[a];
    lu_.factor(H);
    const LaneVector at_zero = lu_.solve({Lane{}, Lane{}, Lane{}, splat(-1.0)});
    const LaneVector slope = lu_.solve(centring);
    if (options.kappa > 0.0) {
      // the step is affine in the target: aim at kappa times the new objective
      target = options.kappa * (u[3] + at_zero[3]) / (1.0 - options.kappa * slope[3]);
      const LaneMask impossible = finishing & ~(target > 0.0);
      failed |= impossible;
      finishing &= ~impossible;
    }
    const auto complete = [&](const LaneVector& du, Lane aim) {
      Lane worst{};
      for (LaneBlock& block : blocks) {
        worst =
            max(worst, on_arrow(block, [&](LaneBlock& b, auto operations) { return operations.complete(b, du, aim); }));
      }
      return worst;
    };

    // straight to the target if that is near enough; else first to the central path where we are, or half the way down
    Lane aim = target;
    const Lane before = error(products, target);
    LaneVector du = plus(at_zero, aim, slope);
    Lane after = complete(du, aim);
    LaneMask moving = finishing & (after <= max(0.5 * before, options.centrality * target));
    LaneMask other = finishing & ~moving;
    if (any(other)) {
      const LaneMask near = other & (before <= options.loosest_centrality * target);
      const LaneMask done = any(near) ? settled(options, near) : near;
      solved |= done;
      finishing &= ~done;
      other &= ~done;
    }
    if (any(other)) {
      const Lane mu = gap * inverse_degree_;
      const Lane second = select(error(products, mu) > 0.5 * mu, mu, sqrt(mu * target));
      aim = select(other, second, target);
      du = plus(at_zero, aim, slope);
      after = complete(du, aim);
      const LaneMask able = other & (after <= 0.5 * max(error(products, aim), aim));
      moving |= able;
      failed |= other & ~able;
      finishing = moving;
    }
    u = freeze(moving, u + du, u);
    take_full_step(moving);
    const LaneMask arrived = moving & (aim == target) & (after <= options.centrality * target);
    if (any(arrived)) {
      const LaneMask done = settled(options, arrived);
      solved |= done;
      finishing &= ~done;
    }
  }
}

void ConicLanes::run(const EngineOptions& options, LaneMask given) {
  inverse_degree_ = 1.0 / degree;
  Lane next_finish = splat(options.finish_below);
  Lane last_residual = splat(std::numeric_limits<double>::infinity());
  LaneMask live = given;
  LaneMask waiting{};
  LaneMask failed{};
  solved = LaneMask{};
  iterations = Lane{};
  dual_residual = Lane{};
  const auto invert = [&] {
    for (LaneBlock& block : blocks) on(block, [&](LaneBlock& b, auto operations) { operations.invert(b); });
  };
  invert();
  while (true) {
    // lanes near the end wait until all are; those that failed there must first come nearer
    const Lane value = u[3];
    const Lane tolerance = options.relative_tolerance * abs(value);
    waiting |= live & ~failed &
               (options.kappa > 0.0 ? gap * inverse_degree_ <= Engine::kNearTarget * options.kappa * value
                                    : gap <= max(next_finish * abs(value), tolerance));
    live &= ~waiting & (iterations < static_cast<double>(options.max_iterations));
    if (any(live)) {
      live &= ~mehrotra_step(live, options.kappa);
      failed = LaneMask{};
      continue;
    }
    if (!any(waiting)) return;

    // straight to a central point: well within the tolerance, but not so near the boundary that rounding spoils
    // derivatives (ConicEngine::final_target)
    const Lane comfortable =
        max(Engine::kFinalFraction * tolerance * inverse_degree_, Engine::kComfortableKappa * value);
    const Lane target =
        options.kappa > 0.0 ? options.kappa * value : min(comfortable, min(gap, 0.5 * tolerance) * inverse_degree_);
    finish(options, waiting, target, failed);
    waiting = LaneMask{};
    if (!any(failed)) return;

    // the others go on, if rounding lets them
    next_finish = select(failed, 1e-2 * gap / abs(u[3]), next_finish);
    live = failed;
    if (options.kappa == 0.0) {
      const LaneMask within = failed & (gap <= options.relative_tolerance * abs(u[3]));
      const LaneMask done = settled(options, within);
      solved |= done;
      live &= ~done & ~(within & (dual_residual > 0.5 * last_residual));
      last_residual = select(within, dual_residual, last_residual);
    }
    invert();
  }
}

void ConicLanes::linearise(LaneVector& weight, LaneVector (&pull)[kBlocks]) {
  LaneVector centring{};
  LaneProducts products;
  for (int k = 0; k < kBlocks; ++k) {
    on_arrow(blocks[k],
             [&](LaneBlock& b, auto operations) { operations.assemble(b, reduced_[k], centring, products); });
  }
  LaneMatrix H;
  for (int a = 0; a < kShared; ++a) H.row[a] = reduced_[0].row[a] + reduced_[1].row[a];
  H.row[3][3] -= 1.0 / u[3];
  lu_.factor(H);
  weight = lu_.solve_transposed({Lane{}, Lane{}, Lane{}, splat(1.0)});
  for (int k = 0; k < kBlocks; ++k) {
    pull[k] = weight[0] * reduced_[k].row[0];
    for (int a = 1; a < kShared; ++a) pull[k] = plus(pull[k], weight[a], reduced_[k].row[a]);
  }
}

}  // namespace tangere
