"""JAX, run by `make test-frameworks`."""

import threading

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import tangere as tg  # noqa: E402


@pytest.fixture(params=["cartpole", "sliding_box", "smooth_box"])
def world(request):
    return request.getfixturevalue(request.param)


def numbers(world, n=None, seed=3):
    rng = np.random.default_rng(seed)
    x = world.default_state()
    lead = () if n is None else (n,)
    v = x.v + 0.05 * rng.normal(size=(*lead, world.nv))
    q = np.broadcast_to(x.q, (*lead, world.nq))
    return jnp.asarray(np.concatenate([q, v], axis=-1)), jnp.asarray(rng.normal(size=(*lead, world.nu)))


def test_the_step_is_that_of_numpy(world):
    x, u = numbers(world)
    after = tg.jax.step(world)(x, u)
    state = world.step(tg.State(np.asarray(x[: world.nq]), np.asarray(x[world.nq :])), np.asarray(u))
    np.testing.assert_array_equal(np.asarray(after), np.concatenate([state.q, state.v]))


def test_check_grads_of_steps(world):
    x, u = numbers(world)
    check_grads(tg.jax.step(world), (x, u), order=1, modes=("fwd", "rev"), eps=1e-6, atol=1e-4, rtol=1e-4)


def test_check_grads_of_rollouts(world):
    x, u = numbers(world)
    controls = jnp.stack([u, 0.5 * u, -u])
    check_grads(tg.jax.rollout(world), (x, controls), order=1, modes=("fwd", "rev"), eps=1e-6, atol=1e-4, rtol=1e-4)


def test_rollouts_are_steps_one_after_the_other(world):
    x, u = numbers(world)
    step, controls = tg.jax.step(world), jnp.stack([u, -u])
    first = step(x, controls[0])
    states = tg.jax.rollout(world)(x, controls)
    np.testing.assert_allclose(states, jnp.stack([x, first, step(first, controls[1])]), atol=1e-9)


def test_vmap_is_the_same_as_one_by_one(world):
    x, u = numbers(world, 5)
    step = tg.jax.step(world)
    one_by_one = jnp.stack([step(a, b) for a, b in zip(x, u)])
    np.testing.assert_array_equal(jax.vmap(step)(x, u), one_by_one)
    np.testing.assert_array_equal(jax.jit(step)(x, u), one_by_one)
    # one of both is the same for all
    np.testing.assert_array_equal(jax.vmap(step, (0, None))(x, u[0]), jnp.stack([step(a, u[0]) for a in x]))
    np.testing.assert_array_equal(step(x, u[0]), jnp.stack([step(a, u[0]) for a in x]))
    jacobians = jax.jit(jax.vmap(jax.jacfwd(step, (0, 1))))(x, u)
    for i in range(5):
        for of_all, of_one in zip(jacobians, jax.jacrev(step, (0, 1))(x[i], u[i])):
            np.testing.assert_allclose(of_all[i], of_one, atol=1e-12)


def test_jacobians_are_those_of_the_world(cartpole):
    x, u = numbers(cartpole)
    A, B = jax.jacfwd(tg.jax.step(cartpole), (0, 1))(x, u)
    state = tg.State(np.asarray(x[: cartpole.nq]), np.asarray(x[cartpole.nq :]))
    for ours, theirs in zip((A, B), cartpole.jacobians(state, np.asarray(u))):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


POSES = jnp.array([[0.9, 0.6, 0.1, 0.2, 0.1, 0.3, 0.9], [0.2, 0.1, 0.05, 0.1, -0.4, 0.3, 0.8]])


@pytest.mark.parametrize("query", [tg.jax.scaling, tg.jax.distance])
def test_check_grads_of_pairs(query):
    """Apart, and overlapping."""
    ask = query(tg.Capsule(0.2, 1.0), tg.Box([0.5, 0.4, 0.3]))
    X_A = jnp.array([0.01, 0.02, -0.03, 0.1, 0.2, 0.05, 0.95])
    for X_B in POSES:
        check_grads(ask, (X_A, X_B), order=1, modes=("fwd", "rev"), eps=1e-6, atol=1e-4, rtol=1e-4)
    values = jax.jit(jax.vmap(ask, (None, 0)))(X_A, POSES)
    assert values.shape == (2,) and values[1] < values[0]
    np.testing.assert_array_equal(ask(X_A, POSES), values)
    gradients = jax.vmap(jax.grad(ask, 1), (None, 0))(X_A, POSES)
    assert gradients.shape == (2, 7) and bool(jnp.isfinite(gradients).all())


def test_single_precision(cartpole):
    x, u = numbers(cartpole, 3)
    step = tg.jax.step(cartpole)
    after = step(x.astype(jnp.float32), u.astype(jnp.float32))
    assert after.dtype == jnp.float32
    np.testing.assert_allclose(after, step(x, u), atol=1e-5)


def test_what_is_not_finite_stays_so(cartpole):
    x, u = numbers(cartpole)
    assert bool(jnp.isnan(tg.jax.step(cartpole)(x.at[0].set(jnp.nan), u)).all())
    assert bool(jnp.isnan(tg.jax.distance(tg.Sphere(1), tg.Sphere(1))(POSES[0] * jnp.inf, POSES[1])))


def test_wrong_sizes_are_named(cartpole):
    x, u = numbers(cartpole)
    step = tg.jax.step(cartpole)
    with pytest.raises(tg.InputError, match=r"x: must have the shape \(..., 4\)"):
        step(x[:3], u)
    with pytest.raises(tg.InputError, match="u: must have the shape"):
        step(x, jnp.zeros(7))
    with pytest.raises(tg.InputError, match="mode"):
        tg.jax.step(cartpole, mode="fast")
    with pytest.raises(Exception, match="quaternion"):
        tg.jax.distance(tg.Sphere(1), tg.Sphere(1))(jnp.zeros(7), POSES[0]).block_until_ready()


def test_threads(sliding_box):
    """Compiled functions called from many threads at once."""
    x, u = numbers(sliding_box, 4)
    ask = jax.jit(jax.value_and_grad(lambda x, u: tg.jax.step(sliding_box)(x, u).sum()))
    expected = ask(x, u)
    wrong = []

    def call():
        for _ in range(20):
            value, gradient = ask(x, u)
            if value != expected[0] or not (gradient == expected[1]).all():
                wrong.append(value)

    threads = [threading.Thread(target=call) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


def test_training(cartpole):
    """The controls of 100 steps, by 50 iterations of Adam: the loss falls at least ten times."""
    roll = tg.jax.rollout(cartpole)
    x0 = jnp.asarray(np.concatenate([cartpole.default_state().q, cartpole.default_state().v]))
    goal = x0[0] + 0.5
    loss = jax.jit(jax.value_and_grad(lambda u: (roll(x0, u)[-1, 0] - goal) ** 2))
    u = jnp.zeros((100, cartpole.nu))
    mean, square, losses = 0.0, 0.0, []
    for i in range(1, 51):
        value, g = loss(u)
        losses.append(float(value))
        mean, square = 0.9 * mean + 0.1 * g, 0.999 * square + 0.001 * g**2
        u = u - 0.1 * (mean / (1 - 0.9**i)) / (jnp.sqrt(square / (1 - 0.999**i)) + 1e-8)
    assert min(losses) < 0.1 * losses[0]
