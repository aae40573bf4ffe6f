"""Worlds, steps, derivatives, contacts, rollouts."""

import copy
import pickle
import threading

import numpy as np
import pytest

import tangere as tg
from conftest import difference, moved


def differences(world, x, u, h=1e-6):
    """A and B of a step by central differences."""
    nv, nu = world.nv, world.nu
    fresh = tg.State(x.q, x.v)
    columns = []
    for i in range(2 * nv + nu):
        d = np.zeros(2 * nv + nu)
        d[i] = h
        sides = [world.step(moved(world, fresh, s * d[: 2 * nv]), u + s * d[2 * nv :]) for s in (1, -1)]
        columns.append(difference(world, sides[1], sides[0]) / (2 * h))
    J = np.array(columns).T
    return J[:, : 2 * nv], J[:, 2 * nv :]


@pytest.mark.parametrize("kind", ["sliding_box", "smooth_box"])
def test_jacobians(kind, request, rng):
    world = request.getfixturevalue(kind)
    x = world.default_state()
    u = rng.normal(size=world.nu)
    A, B = world.jacobians(x, u)
    A_by_differences, B_by_differences = differences(world, x, u)
    np.testing.assert_allclose(A, A_by_differences, atol=2e-5)
    np.testing.assert_allclose(B, B_by_differences, atol=2e-5)
    step = world.record(x, u)
    assert step.next == world.step(x, u)
    assert step.gradient_quality() == "exact"
    g, d, du = rng.normal(size=2 * world.nv), rng.normal(size=2 * world.nv), rng.normal(size=world.nu)
    g_x, g_u = step.vjp(g)
    np.testing.assert_allclose(g_x, A.T @ g, atol=1e-10)
    np.testing.assert_allclose(g_u, B.T @ g, atol=1e-10)
    np.testing.assert_allclose(step.jvp(d, du), A @ d + B @ du, atol=1e-10)


def test_parameters(sliding_box):
    world, x, h = sliding_box, sliding_box.default_state(), 1e-6
    for name in ("floor.floor0.friction", "box.mass", "gravity.z"):
        value = world.parameters([name])[0]
        sides = [world.with_parameters({name: value + s * h}).step(x) for s in (1, -1)]
        expected = difference(world, sides[1], sides[0]) / (2 * h)
        np.testing.assert_allclose(world.gradient(name, x), expected, atol=1e-6)
    assert world.gradient(["box.mass", "gravity.z"], x).shape == (12, 2)
    with pytest.raises(tg.InputError, match="box"):
        world.gradient("box.box0.fricton", x)


def test_contacts_and_impulses(sliding_box):
    world, x = sliding_box, sliding_box.default_state()
    contacts = world.contacts(x)
    assert len(contacts) == 4 and {c.body_B for c in contacts} == {"box"}
    weight = sum(c.impulse[0] for c in contacts) / world.time_step
    assert weight == pytest.approx(2 * 9.81, rel=0.1)
    step = world.record(x)
    q, v, u = step.impulse_jacobians()
    assert len(step.impulses) == q.shape[0] == v.shape[0] == u.shape[0]
    assert step.impulse_parameter_jacobians(["box.mass"]).shape == (len(step.impulses), 1)
    assert step.diagnose().rank <= step.diagnose().num_clamped


def test_steps_are_functions(sliding_box):
    world, x = sliding_box, sliding_box.default_state()
    one, two = world.step(x), world.step(x)
    assert one == two and one.status == "solved"
    again = pickle.loads(pickle.dumps(world))
    assert again.step(x) == one
    changed = world.with_parameters({"box.mass": 3.0})
    assert pickle.loads(pickle.dumps(changed)).step(x) == changed.step(x)
    assert copy.deepcopy(x) == x and pickle.loads(pickle.dumps(one)) == one
    assert copy.copy(world) is world


def test_states_are_arrays(sliding_box):
    x = sliding_box.default_state()
    x.q[0] = 3.0
    assert x.q[0] == 3.0
    q = x.q
    x.v = 0
    assert not x.v.any()
    del x
    assert q[0] == 3.0
    with pytest.raises(tg.InputError, match="q"):
        sliding_box.state(q=[1, 2])


def test_rollout(sliding_box, rng):
    world, x = sliding_box, sliding_box.default_state()
    u = rng.normal(size=(30, world.nu))
    rollout = world.rollout(x, u, max_tapes=7)
    assert rollout.states.shape == (31, world.nq + world.nv) and len(rollout) == 31
    by_steps = x
    for row in u:
        by_steps = world.step(by_steps, row)
    assert rollout[-1] == by_steps
    gradients = np.zeros((31, 2 * world.nv))
    gradients[-1] = rng.normal(size=2 * world.nv)
    g_start, g_u = rollout.reverse(gradients)
    states, expected = [x], gradients[-1]
    for row in u:
        states.append(world.step(states[-1], row))
    for i in reversed(range(30)):
        expected, g_row = world.record(states[i], u[i]).vjp(expected)
        np.testing.assert_allclose(g_u[i], g_row, atol=1e-9)
    np.testing.assert_allclose(g_start, expected, atol=1e-9)


def test_threads_share_a_world(sliding_box):
    world, x = sliding_box, sliding_box.default_state()
    expected = world.rollout(x, np.zeros((50, world.nu))).states
    found = []

    def run():
        y, states = x, []
        for _ in range(50):
            y = world.step(y)
            states.append(np.concatenate([y.q, y.v]))
        found.append(np.array(states))

    threads = [threading.Thread(target=run) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(found) == 4
    for states in found:
        np.testing.assert_array_equal(states, expected[1:])


def test_options():
    options = tg.ContactOptions(margin=1e-2, bounce="discrete")
    assert pickle.loads(pickle.dumps(options)) == options and options != tg.ContactOptions()
    with pytest.raises(tg.InputError, match="compliance"):
        tg.ContactOptions(compliance=7.0)
    with pytest.raises(TypeError, match="no option 'margins'"):
        tg.ContactOptions(margins=1.0)
    with pytest.raises(tg.InputError, match="'event', 'discrete'"):
        options.bounce = "often"
    with pytest.raises(tg.InputError, match="single_level"):
        tg.load("cartpole.xml", formulation="soft")


def test_show(sliding_box, tmp_path, monkeypatch):
    viewer = tmp_path / "viewer.html"
    viewer.write_text('<html><script type="application/json" id="recording">null</script></html>')
    monkeypatch.setenv("TANGERE_VIEWER", str(viewer))
    states = [sliding_box.default_state()]
    for _ in range(5):
        states.append(sliding_box.step(states[-1]))
    page = tg.show(sliding_box, states, browser=False)
    assert "<iframe" in page._repr_html_()
    assert '"frames"' in page.save(tmp_path / "page.html").read_text()
