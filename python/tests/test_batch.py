"""Batches of worlds and of pairs."""

import os
import threading

import numpy as np
import pytest

import tangere as tg


@pytest.fixture(params=["cartpole", "sliding_box", "smooth_box"])
def world(request):
    return request.getfixturevalue(request.param)


def spread(world, n, rng, scale=0.05):
    """n states near the world's start."""
    x = world.default_state()
    q = [tg.integrate(world.model, x.q, scale * rng.normal(size=world.nv)) for _ in range(n)]
    v = x.v + scale * rng.normal(size=(n, world.nv))
    return np.concatenate([q, v], axis=1)


def test_equals_single_worlds(world, rng):
    n = 7
    states, u = spread(world, n, rng), rng.normal(size=(20, n, world.nu))
    expected = [world.rollout(tg.State(s[: world.nq], s[world.nq :]), u[:, i]).states for i, s in enumerate(states)]
    for threads in (1, 2, 5):
        batch = tg.Batch(world, n, num_threads=threads)
        np.testing.assert_array_equal(batch.rollout(u, states), np.stack(expected, axis=1))
        batch.states = states
        for row in u:
            batch.step(row)
        np.testing.assert_array_equal(batch.states, np.stack(expected, axis=1)[-1])
        assert set(batch.statuses) == {"solved"}


def test_derivatives(world, rng):
    n = 4
    batch = tg.Batch(world, n, num_threads=2)
    states, u = spread(world, n, rng), rng.normal(size=(n, world.nu))
    with pytest.raises(tg.InputError, match="record"):
        batch.jacobians()
    batch.states = states
    batch.record(u)
    A, B = batch.jacobians()
    g, d, du = rng.normal(size=(n, 2 * world.nv)), rng.normal(size=(n, 2 * world.nv)), rng.normal(size=(n, world.nu))
    g_x, g_u = batch.vjp(g)
    np.testing.assert_allclose(g_x, np.einsum("nij,ni->nj", A, g), atol=1e-9)
    np.testing.assert_allclose(g_u, np.einsum("nij,ni->nj", B, g), atol=1e-9)
    d_next = batch.jvp(d, du)
    np.testing.assert_allclose(d_next, np.einsum("nij,nj->ni", A, d) + np.einsum("nij,nj->ni", B, du), atol=1e-9)
    again, A_again, B_again = batch.linearize(states, u)
    np.testing.assert_array_equal(again, batch.states)
    np.testing.assert_allclose(A_again, A, atol=1e-12)
    np.testing.assert_allclose(B_again, B, atol=1e-12)


def test_rollout_vjp(world, rng):
    n, steps = 3, 11
    batch = tg.Batch(world, n, num_threads=2, max_tapes=4)
    states, u = spread(world, n, rng), rng.normal(size=(steps, n, world.nu))
    gradients = rng.normal(size=(steps + 1, n, 2 * world.nv))
    g_x, g_u = batch.rollout_vjp(states, u, gradients)
    for i in range(n):
        rollout = world.rollout(tg.State(states[i, : world.nq], states[i, world.nq :]), u[:, i])
        g_start, g_controls = rollout.reverse(gradients[:, i])
        np.testing.assert_allclose(g_x[i], g_start, atol=1e-9)
        np.testing.assert_allclose(g_u[:, i], g_controls, atol=1e-9)


def test_parameters_of_their_own(sliding_box, smooth_box, rng):
    for world in (sliding_box, smooth_box):
        masses = np.array([1.0, 2.0, 5.0])
        batch = tg.Batch(world, 3, num_threads=2)
        batch.set("box.mass", masses)
        u = np.full((3, world.nu), 2.0)
        for _ in range(5):
            batch.step(u)
        for i, mass in enumerate(masses):
            single = tg.Batch(world.with_parameters({"box.mass": mass}), 1)
            for _ in range(5):
                single.step(u[:1])
            np.testing.assert_array_equal(batch.states[i], single.states[0])
        with pytest.raises(tg.InputError, match=r"worlds\[1\].*mass"):
            batch.set(["box.mass"], [[1.0], [-1.0], [1.0]])


def test_live_arrays_and_reset(cartpole):
    batch = tg.Batch(cartpole, 5)
    q, v = batch.q, batch.v
    start = batch.states
    q[:, 0] = np.arange(5)
    batch.step(1.0)
    assert np.shares_memory(q, batch.q) and q[3, 0] > 2.9
    batch.reset([0, 2])
    np.testing.assert_array_equal(batch.states[[0, 2]], start[[0, 2]])
    assert q[3, 0] > 2.9
    batch.reset(np.array([False, False, False, True, False]))
    np.testing.assert_array_equal(batch.states[3], start[3])
    v[1] = np.nan
    with pytest.raises(tg.InputError, match=r"worlds\[1\]"):
        batch.step()
    del batch
    assert q.shape == (5, cartpole.nq)
    with pytest.raises(tg.InputError, match="size"):
        tg.Batch(cartpole, 0)


def test_maps_of_tangents(sliding_box, rng):
    batch, n = tg.Batch(sliding_box, 4), 4
    nq, nv = sliding_box.nq, sliding_box.nv
    x = spread(sliding_box, n, rng, 0.3)
    d, h = rng.normal(size=(n, 2 * nv)), 1e-6
    rates = batch.tangent_to_rates(x, d)
    sides = [[tg.integrate(sliding_box.model, row[:nq], s * h * t[:nv]) for row, t in zip(x, d)] for s in (1, -1)]
    np.testing.assert_allclose(rates[:, :nq], (np.array(sides[0]) - sides[1]) / (2 * h), atol=1e-9)
    np.testing.assert_allclose(batch.rates_to_tangent(x, rates), d, atol=1e-12)
    g = rng.normal(size=(n, nq + nv))
    np.testing.assert_allclose((batch.gradient_to_tangent(x, g) * d).sum(1), (g * rates).sum(1), atol=1e-12)
    t = rng.normal(size=(n, 2 * nv))
    np.testing.assert_allclose((batch.gradient_from_tangent(x, t) * rates).sum(1), (t * d).sum(1), atol=1e-12)


def test_one_caller_at_a_time(cartpole):
    batch, u = tg.Batch(cartpole, 64), np.zeros((400, 64, cartpole.nu))
    errors = []

    def run():
        try:
            batch.rollout(u)
        except tg.InputError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=run) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all("another thread" in e for e in errors)


def test_fork(cartpole):
    batch = tg.Batch(cartpole, 16, num_threads=2)
    batch.step(1.0)
    expected = tg.Batch(cartpole, 16, num_threads=2)
    expected.step(1.0)
    expected.step(1.0)
    child = os.fork()
    if child == 0:
        batch.step(1.0)
        os._exit(0 if np.array_equal(batch.states, expected.states) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_pairs(rng):
    shapes = [tg.Sphere(0.3), tg.Box([1, 2, 3]), tg.Capsule(0.1, 1.0), tg.Cone(1.0, 0.4)]
    n = 50
    quaternions = rng.normal(size=(2, n, 4))
    quaternions /= np.linalg.norm(quaternions, axis=2, keepdims=True)
    X_A = np.concatenate([rng.normal(size=(n, 3)), quaternions[0]], axis=1)
    X_B = np.concatenate([rng.normal(size=(n, 3)) + [3, 0, 0], quaternions[1]], axis=1)
    A, B = rng.integers(0, 4, size=n), rng.integers(0, 4, size=n)
    for batch, single, value in ((tg.scaling_batch, tg.scaling, "alpha"), (tg.distance_batch, tg.distance, "distance")):
        found = batch(shapes, A, X_A, B, X_B, gradients=True)
        for i in range(n):
            one = single(shapes[A[i]], X_A[i], shapes[B[i]], X_B[i])
            assert found[value][i] == getattr(one, value)
            np.testing.assert_array_equal(found["gradient"][i], one.gradient())
            np.testing.assert_array_equal(found["normal"][i], one.normal)
        assert batch(shapes, 0, X_A, 1, X_B[:1])[value].shape == (n,)
        with pytest.raises(tg.InputError, match="A"):
            batch(shapes, 4, X_A, 1, X_B)
