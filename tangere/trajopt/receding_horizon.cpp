#include <algorithm>

#include "tangere/math/error.hpp"
#include "tangere/trajopt/internal/optimizer_memory.hpp"

/// Receding horizon: the iterate moves on by one knot, with slacks and multipliers where the rows of two knots are
/// alike. Slacks that no longer fit their rows are lifted, and their multipliers go to μ / s: what was inactive and has
/// a large multiplier would stall the solve.

namespace tangere {

using internal::KnotLinear;
using internal::KnotPoint;

void Optimizer::Memory::shift(const VectorX& measured) {
  if (!was_solved) throw InputError("optimizer", "has no solve to go on from");
  problem.set_start(measured);
  if (!inserted.empty()) {
    inserted.clear();
    resize_rows();
  }
  const int last = problem.num_steps();
  for (int k = 0; k < last; ++k) {
    KnotPoint& point = points[k];
    KnotPoint& next = points[k + 1];
    point.x = next.x;
    if (k + 1 < last) point.u = next.u;
    KnotLinear& own = linear[k];
    const bool is_alike = point.s.size() == next.s.size() && point.c.size() == next.c.size();
    if (!is_alike) {
      own.lambda.setZero();
      own.z = weights.barrier * point.s.cwiseInverse();
      continue;
    }
    point.s = next.s;
    own.z = linear[k + 1].z;
    own.lambda = linear[k + 1].lambda;
  }
  points[0].x = measured;
  // the last state follows from the control before it, which is held
  if (steppers.back()->step(last - 1, points[last - 1].x, points[last - 1].u, scratch.next))
    points[last].x = scratch.next;
  weights.barrier = std::max(weights.barrier, options.shift_barrier);
  weights.merit = 0.0;
  regularisation = options.least_regularisation;
  is_shifted = true;
}

/// After a shift, when the rows are known.
void Optimizer::Memory::lift_slacks() {
  constexpr double kLeast = 1e-4;
  for (std::size_t k = 0; k < points.size(); ++k)
    for (int i = 0; i < points[k].s.size(); ++i) {
      double& s = points[k].s[i];
      const double room = -points[k].h[i];
      if (std::abs(room - s) <= 0.1 * s) continue;
      s = std::max(room, kLeast * options.slack);
      linear[k].z[i] = weights.barrier / s;
    }
  is_shifted = false;
}

}  // namespace tangere
