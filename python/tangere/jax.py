"""JAX: steps, rollouts and pair queries as functions to jit, vmap and differentiate.

    step = tg.jax.step(world)
    roll = tg.jax.rollout(world)
    g = jax.jit(jax.grad(lambda u: cost(roll(x0, u))))(u)
    phi = tg.jax.distance(tg.Sphere(1), tg.Box([1, 1, 1]))

Each is a custom call of XLA on the CPU: no callback into Python, computed in float64 whatever the type of its arguments
(float32 unless `jax_enable_x64` is set). jit, vmap, grad, jvp, jacfwd and jacrev work, of first derivatives. A batch, by
leading axes or vmap, is one call and uses all threads. States are rows of q and v; derivatives are in these numbers (of
a quaternion: of the function that normalises it first). What is not finite on its way in is NaN on its way out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from . import _core
from ._core import Shape, World

__all__ = ["distance", "rollout", "scaling", "step"]

Array: TypeAlias = jax.Array
"""A JAX array, or what `jax.numpy.asarray` takes."""

if not hasattr(_core, "_xla_targets"):
    raise ImportError(
        "this build of tangere has no custom calls for XLA: it was compiled without jaxlib's headers. "
        "Install with TANGERE_JAX=1 pip install ."
    )
for _name, _target in _core._xla_targets.items():
    jax.ffi.register_ffi_target(_name, _target, platform="cpu")


def _call(target: str, number: int, results: Any, *arguments: Array) -> Any:
    return jax.ffi.ffi_call(target, results, vmap_method="broadcast_all")(*arguments, number=np.int64(number))


def _like(x: Array, *shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, x.dtype)


def _floating(*arguments: Any) -> list[Array]:
    """Arrays of one floating type: float64 if any is, else float32."""
    arrays = [jnp.asarray(a) for a in arguments]
    kind = jnp.promote_types(jnp.result_type(*arrays), jnp.float32)
    return [a.astype(kind) for a in arrays]


def _require_width(name: str, x: Array, width: int) -> None:
    if x.ndim == 0 or x.shape[-1] != width:
        raise _core.InputError(name, f"must have the shape (..., {width}), got {tuple(x.shape)}")


def _linearize(number: int, x: Array, u: Array) -> tuple[Array, Array, Array]:
    """The next states with d next / d x and d next / d u, for any leading axes."""
    lead, nx, nu = x.shape[:-1], x.shape[-1], u.shape[-1]
    results = (_like(x, *lead, nx), _like(x, *lead, nx, nx), _like(x, *lead, nx, nu))
    out: tuple[Array, Array, Array] = _call("tangere_linearize", number, results, x, u)
    return out


def _times(A: Array, x: Array) -> Array:
    return jnp.einsum("...ij,...j->...i", A, x, precision="highest")


def step(world: World, *, mode: str = "exact", num_threads: int = 0) -> Callable[..., Array]:
    """The step of a world as a function (x, u) -> next.

    x: (..., nq + nv), q and v beside each other. u: (..., nu), or one number for all controls; without it 0. `mode` is
    that of `World.jacobians`; `num_threads` 0: as many as the machine has, for batches.
    """
    number = _core._xla_world(world, mode, num_threads)
    nx, nu = world.nq + world.nv, world.nu

    @jax.custom_jvp
    def ask(x: Array, u: Array) -> Array:
        out: Array = _call("tangere_step", number, _like(x, *x.shape), x, u)
        return out

    @ask.defjvp
    def _(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
        after, A, B = _linearize(number, *primals)
        return after, _times(A, tangents[0]) + _times(B, tangents[1])

    def one_step(x: Any, u: Any = 0.0) -> Array:
        """The state one time step after x, (..., nq + nv), with the control u, (..., nu) or one number."""
        x, u = _floating(x, u)
        _require_width("x", x, nx)
        if u.ndim == 0:
            u = jnp.broadcast_to(u, (nu,))
        _require_width("u", u, nu)
        lead = jnp.broadcast_shapes(x.shape[:-1], u.shape[:-1])
        return ask(jnp.broadcast_to(x, (*lead, nx)), jnp.broadcast_to(u, (*lead, nu)))

    return one_step


def rollout(world: World, *, mode: str = "exact", num_threads: int = 0) -> Callable[[Any, Any], Array]:
    """Many steps of a world as a function (x, u) -> states.

    x: (..., nq + nv), u: (..., steps, nu), states: (..., steps + 1, nq + nv), the start first. Derivatives linearise
    all steps at once, over all threads, and keep a Jacobian per step; `jax.checkpoint` trades them for time.
    """
    number = _core._xla_world(world, mode, num_threads)
    nx, nu = world.nq + world.nv, world.nu

    @jax.custom_jvp
    def ask(x: Array, u: Array) -> Array:
        results = _like(x, *x.shape[:-1], u.shape[-2] + 1, nx)
        out: Array = _call("tangere_rollout", number, results, x, u)
        return out

    @ask.defjvp
    def _(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
        states = ask(*primals)
        _, A, B = _linearize(number, states[..., :-1, :], primals[1])
        forced = jnp.moveaxis(_times(B, tangents[1]), -2, 0)

        def move(d: Array, at: tuple[Array, Array]) -> tuple[Array, Array]:
            d = _times(at[0], d) + at[1]
            return d, d

        moved = jax.lax.scan(move, tangents[0], (jnp.moveaxis(A, -3, 0), forced))[1]
        return states, jnp.moveaxis(jnp.concatenate([tangents[0][None], moved]), 0, -2)

    def all_steps(x: Any, u: Any) -> Array:
        """All states from x, (..., nq + nv), with the controls u, (..., steps, nu)."""
        x, u = _floating(x, u)
        _require_width("x", x, nx)
        if u.ndim < 2:
            raise _core.InputError("u", f"must have the shape (..., steps, {nu}), got {tuple(u.shape)}")
        _require_width("u", u, nu)
        lead = jnp.broadcast_shapes(x.shape[:-1], u.shape[:-2])
        return ask(jnp.broadcast_to(x, (*lead, nx)), jnp.broadcast_to(u, (*lead, *u.shape[-2:])))

    return all_steps


def _pair(A: Shape, B: Shape, is_distance: bool) -> Callable[[Any, Any], Array]:
    number = _core._xla_pair(A, B, is_distance)

    @jax.custom_jvp
    def ask(X_A: Array, X_B: Array) -> Array:
        out: Array = _call("tangere_pair", number, _like(X_A, *X_A.shape[:-1]), X_A, X_B)
        return out

    @ask.defjvp
    def _(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
        X_A, X_B = primals
        results = (_like(X_A, *X_A.shape[:-1]), _like(X_A, *X_A.shape), _like(X_A, *X_A.shape))
        value, g_A, g_B = _call("tangere_pair_gradient", number, results, X_A, X_B)
        return value, (g_A * tangents[0]).sum(-1) + (g_B * tangents[1]).sum(-1)

    def query(X_A: Any, X_B: Any) -> Array:
        """The value at poses (..., 7), position and quaternion x y z w, of A and B: (...)."""
        X_A, X_B = _floating(X_A, X_B)
        _require_width("X_A", X_A, 7)
        _require_width("X_B", X_B, 7)
        X_A, X_B = jnp.broadcast_arrays(X_A, X_B)
        return ask(X_A, X_B)

    return query


def scaling(A: Shape, B: Shape) -> Callable[[Any, Any], Array]:
    """The minimum scaling of two shapes as a function of their poses: (..., 7), (..., 7) -> (...)."""
    return _pair(A, B, False)


def distance(A: Shape, B: Shape) -> Callable[[Any, Any], Array]:
    """The signed distance of two shapes as a function of their poses: (..., 7), (..., 7) -> (...)."""
    return _pair(A, B, True)
