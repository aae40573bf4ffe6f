#include "tangere/sim/state_tangent.hpp"

#include <string>

#include "tangere/math/error.hpp"

namespace tangere {
namespace {

void require_tangent_size(const Model& model, Eigen::Index size) {
  if (size != 2 * model.nv())
    throw InputError("x", "must have " + std::to_string(2 * model.nv()) + " entries, got " + std::to_string(size));
}

void require_velocity(const Model& model, const State& state) {
  if (state.v.size() != model.nv())
    throw InputError("state.v",
                     "must have " + std::to_string(model.nv()) + " entries, got " + std::to_string(state.v.size()));
}

/// nv x nv blocks of configurations, on the diagonal with those of velocities.
void set_blocks(double sign, MatrixX& scratch, MatrixX& out) {
  const Eigen::Index nv = scratch.rows();
  out.setZero(2 * nv, 2 * nv);
  out.topLeftCorner(nv, nv) = scratch;
  out.bottomRightCorner(nv, nv).diagonal().setConstant(sign);
}

}  // namespace

void plus(const Model& model, const State& state, VectorArgument x, State& out) {
  require_tangent_size(model, x.size());
  require_velocity(model, state);
  out.q.resize(model.nq());
  integrate(model, state.q, x.head(model.nv()), out.q);
  out.v = state.v + x.tail(model.nv());
}

void minus(const Model& model, const State& to, const State& from, Eigen::Ref<VectorX> x) {
  require_tangent_size(model, x.size());
  require_velocity(model, to);
  require_velocity(model, from);
  difference(model, from.q, to.q, x.head(model.nv()));
  x.tail(model.nv()) = to.v - from.v;
}

void plus_jacobians(const Model& model, const State& state, VectorArgument x, MatrixX& d_state, MatrixX& d_x) {
  require_tangent_size(model, x.size());
  MatrixX by_q, by_delta;
  integrate_jacobians(model, state.q, x.head(model.nv()), by_q, by_delta);
  set_blocks(1.0, by_q, d_state);
  set_blocks(1.0, by_delta, d_x);
}

void minus_jacobians(const Model& model, const State& to, const State& from, MatrixX& d_to, MatrixX& d_from) {
  MatrixX by_from, by_to;
  difference_jacobians(model, from.q, to.q, by_from, by_to);
  set_blocks(1.0, by_to, d_to);
  set_blocks(-1.0, by_from, d_from);
}

}  // namespace tangere
