/// Points on bodies, and how configurations and states move along their tangents.

#include "python/src/world.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/points.hpp"
#include "tangere/sim/state_tangent.hpp"

namespace tangere::python {
namespace {

using nb::literals::operator""_a;

VectorX read_q(const SharedModel& s, const Numbers& q, const char* name = "q") {
  return read_vector(q, name, s.model->nq());
}

nb::tuple both(const MatrixX& a, const MatrixX& b) { return nb::make_tuple(to_array(a), to_array(b)); }

void bind_points(nb::module_& m) {
  m.def(
      "point_position",
      [](const SharedModel& s, const Numbers& q, const std::string& body, const Numbers& p_B) {
        return to_array(point_position(*s.model, read_q(s, q), body, read_vector3(p_B, "p_B")));
      },
      "model"_a, "q"_a, "body"_a, "p_B"_a = nb::make_tuple(0, 0, 0), "The point p_B of a body in world axes, (3,).");
  m.def(
      "point_gradient",
      [](const SharedModel& s, const Numbers& q, const std::string& body, const Numbers& p_B, const Numbers& dl_dp) {
        return to_array(
            point_gradient(*s.model, read_q(s, q), body, read_vector3(p_B, "p_B"), read_vector3(dl_dp, "dl_dp")));
      },
      "model"_a, "q"_a, "body"_a, "p_B"_a, "dl_dp"_a,
      "From the gradient of a loss in a point's position, world axes, to the one in q's tangent, (nv,).");
}

void bind_configurations(nb::module_& m) {
  m.def(
      "tangent_gradient",
      [](const SharedModel& s, const Numbers& q, const Numbers& dl_dq) {
        return to_array(tangent_gradient(*s.model, read_q(s, q), read_q(s, dl_dq, "dl_dq")));
      },
      "model"_a, "q"_a, "dl_dq"_a,
      "From the gradient of a loss in the numbers of q, (nq,), to the one in its tangent, (nv,).");
  m.def(
      "integrate_jacobians",
      [](const SharedModel& s, const Numbers& q, const Numbers& delta) {
        MatrixX d_q;
        MatrixX d_delta;
        integrate_jacobians(*s.model, read_q(s, q), read_vector(delta, "delta", s.model->nv()), d_q, d_delta);
        return both(d_q, d_delta);
      },
      "model"_a, "q"_a, "delta"_a, "d(q ⊕ δ) / dq and / dδ, (nv, nv) each.");
  m.def(
      "difference_jacobians",
      [](const SharedModel& s, const Numbers& q_0, const Numbers& q_1) {
        MatrixX d_q_0;
        MatrixX d_q_1;
        difference_jacobians(*s.model, read_q(s, q_0, "q_0"), read_q(s, q_1, "q_1"), d_q_0, d_q_1);
        return both(d_q_0, d_q_1);
      },
      "model"_a, "q_0"_a, "q_1"_a, "d(difference) / dq_0 and / dq_1, (nv, nv) each.");
}

void bind_state_tangents(nb::module_& m) {
  m.def(
      "plus",
      [](const SharedWorld& s, const WorldState& state, const Numbers& d) {
        require_state(*s.world, state);
        WorldState out{state.value};
        plus(s.model(), state.value, read_vector(d, "d", 2 * s.world->nv()), out.value);
        return out;
      },
      "world"_a, "state"_a, "d"_a, "The state moved along a tangent, (2 nv,): q ⊕ δq and v + δv.");
  m.def(
      "minus",
      [](const SharedWorld& s, const WorldState& to, const WorldState& from) {
        require_state(*s.world, to);
        require_state(*s.world, from);
        VectorX out(2 * s.world->nv());
        minus(s.model(), to.value, from.value, out);
        return to_array(out);
      },
      "world"_a, "to"_a, "start"_a, "The tangent d with start ⊕ d = to, (2 nv,).");
  m.def(
      "plus_jacobians",
      [](const SharedWorld& s, const WorldState& state, const Numbers& d) {
        require_state(*s.world, state);
        MatrixX d_state;
        MatrixX d_d;
        plus_jacobians(s.model(), state.value, read_vector(d, "d", 2 * s.world->nv()), d_state, d_d);
        return both(d_state, d_d);
      },
      "world"_a, "state"_a, "d"_a, "d(state ⊕ d) / d(state) and / dd, (2 nv, 2 nv) each.");
  m.def(
      "minus_jacobians",
      [](const SharedWorld& s, const WorldState& to, const WorldState& from) {
        require_state(*s.world, to);
        require_state(*s.world, from);
        MatrixX d_to;
        MatrixX d_from;
        minus_jacobians(s.model(), to.value, from.value, d_to, d_from);
        return both(d_to, d_from);
      },
      "world"_a, "to"_a, "start"_a, "d(minus) / d(to) and / d(start), (2 nv, 2 nv) each.");
}

}  // namespace

void bind_states(nb::module_& m) {
  bind_points(m);
  bind_configurations(m);
  bind_state_tangents(m);
}

}  // namespace tangere::python
