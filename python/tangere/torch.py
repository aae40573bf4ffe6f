"""PyTorch: steps, rollouts and pair queries with gradients.

    batch = tg.Batch(world, 1024)
    x = torch.tensor(batch.states, requires_grad=True)
    for t in range(200):
        x = tg.torch.step(batch, x, policy(x))
    loss = -x[:, batch.index("root.y")].mean()
    loss.backward()

States are rows of q and v. Gradients are those in these numbers (of a quaternion: of the function that normalises it).
All functions compute in float64 and answer in the type of their arguments; they have backward and forward mode, and work
under `torch.func` (grad, vjp, jvp, vmap and what is made of them). A second derivative is refused. `torch.compile` leaves
its graph around them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from torch.autograd import Function

from . import _core
from ._core import Batch, Shape, World

__all__ = ["distance", "rollout", "scaling", "step"]

Rows: TypeAlias = Any
"""Arrays whose first axis is the batch."""


class _Operation(NamedTuple):
    """A function of rows with its products: vjp(*arguments, *gradients), jvp(*arguments, *tangents)."""

    value: Callable[..., tuple[Rows, ...]]
    vjp: Callable[..., tuple[Rows, ...]]
    jvp: Callable[..., tuple[Rows, ...]]


def _numpy(x: torch.Tensor) -> np.ndarray[Any, np.dtype[np.float64]]:
    return x.detach().to("cpu", torch.float64).contiguous().numpy()


def _like(x: Any, other: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(x)).to(other.device, other.dtype)


def _merged(info: Any, in_dims: Any, tensors: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    """The axis of vmap and the batch as one."""
    out = []
    for x, axis in zip(tensors, in_dims):
        x = x.expand(info.batch_size, *x.shape) if axis is None else x.movedim(axis, 0)
        out.append(x.reshape(-1, *x.shape[2:]))
    return out


def _split(info: Any, results: tuple[torch.Tensor, ...]) -> tuple[Any, Any]:
    return tuple(x.reshape(info.batch_size, -1, *x.shape[1:]) for x in results), (0,) * len(results)


class _Product(Function):
    """Products with derivatives; they have none themselves."""

    @staticmethod
    def forward(product: Callable[..., tuple[Rows, ...]], *x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(_like(y, x[0]) for y in product(*map(_numpy, x)))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *g: torch.Tensor) -> Any:
        raise NotImplementedError("tangere.torch has first derivatives only")

    @staticmethod
    def jvp(ctx: Any, *d: Any) -> Any:
        raise NotImplementedError("tangere.torch has first derivatives only")

    @staticmethod
    def vmap(info: Any, in_dims: Any, product: Any, *x: torch.Tensor) -> tuple[Any, Any]:
        return _split(info, _Product.apply(product, *_merged(info, in_dims[1:], x)))


class _Apply(Function):
    """An operation. What is saved are its arguments: derivatives make the steps again, which costs no memory."""

    @staticmethod
    def forward(operation: _Operation, *x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(_like(y, x[0]) for y in operation.value(*map(_numpy, x)))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.operation = inputs[0]
        ctx.save_for_backward(*inputs[1:])
        ctx.save_for_forward(*inputs[1:])

    @staticmethod
    def backward(ctx: Any, *g: torch.Tensor) -> Any:
        return None, *_Product.apply(ctx.operation.vjp, *ctx.saved_tensors, *g)

    @staticmethod
    def jvp(ctx: Any, _: None, *d: torch.Tensor | None) -> Any:
        x = ctx.saved_tensors
        tangents = [torch.zeros_like(a) if b is None else b for a, b in zip(x, d)]
        return _Product.apply(ctx.operation.jvp, *x, *tangents)

    @staticmethod
    def vmap(info: Any, in_dims: Any, operation: Any, *x: torch.Tensor) -> tuple[Any, Any]:
        return _split(info, _Apply.apply(operation, *_merged(info, in_dims[1:], x)))


# steps


@functools.lru_cache(maxsize=32)
def _batch_of(world: World, n: int) -> Batch:
    return Batch(world, n, num_threads=1 if n == 1 else 0)


def _in_batches(target: Batch | World, run: Callable[..., tuple[Rows, ...]], *rows: Rows) -> tuple[Rows, ...]:
    """run(batch, ...) for n rows, or for as many times n as vmap makes of them."""
    total = len(rows[0])
    if isinstance(target, World):
        return run(_batch_of(target, total), *rows)
    n = len(target)
    if total % n != 0:
        raise _core.InputError("x", f"must have {n} rows, one a world, got {total}")
    if total == n:
        return run(target, *rows)
    parts = [run(target, *(r[at : at + n] for r in rows)) for at in range(0, total, n)]
    return tuple(np.concatenate(of_all) for of_all in zip(*parts))


def _step(b: Batch, x: Rows, u: Rows) -> tuple[Rows, ...]:
    return (b.rollout(u[None], x)[1],)


def _step_vjp(b: Batch, x: Rows, u: Rows, g: Rows) -> tuple[Rows, ...]:
    gradients = np.zeros((2, len(b), 2 * b.world.nv))
    gradients[1] = b.gradient_to_tangent(_step(b, x, u)[0], g)
    g_x, g_u = b.rollout_vjp(x, u[None], gradients)
    return b.gradient_from_tangent(x, g_x), g_u[0]


def _step_jvp(b: Batch, x: Rows, u: Rows, dx: Rows, du: Rows) -> tuple[Rows, ...]:
    after, A, B = b.linearize(x, u)
    d = np.einsum("nij,nj->ni", A, b.rates_to_tangent(x, dx)) + np.einsum("nij,nj->ni", B, du)
    return (b.tangent_to_rates(after, d),)


def _rollout(b: Batch, x: Rows, u: Rows) -> tuple[Rows, ...]:
    return (b.rollout(np.ascontiguousarray(u.swapaxes(0, 1)), x).swapaxes(0, 1),)


def _rollout_vjp(b: Batch, x: Rows, u: Rows, g: Rows) -> tuple[Rows, ...]:
    controls = np.ascontiguousarray(u.swapaxes(0, 1))
    states = b.rollout(controls, x)
    gradients = np.stack([b.gradient_to_tangent(s, row) for s, row in zip(states, g.swapaxes(0, 1))])
    g_x, g_u = b.rollout_vjp(x, controls, gradients)
    return b.gradient_from_tangent(x, g_x), g_u.swapaxes(0, 1)


def _rollout_jvp(b: Batch, x: Rows, u: Rows, dx: Rows, du: Rows) -> tuple[Rows, ...]:
    states = b.rollout(np.ascontiguousarray(u.swapaxes(0, 1)), x)
    d = b.rates_to_tangent(x, dx)
    moved = [b.tangent_to_rates(states[0], d)]
    for t in range(u.shape[1]):
        _, A, B = b.linearize(states[t], u[:, t])
        d = np.einsum("nij,nj->ni", A, d) + np.einsum("nij,nj->ni", B, du[:, t])
        moved.append(b.tangent_to_rates(states[t + 1], d))
    return (np.stack(moved, axis=1),)


# steps with the impulses of their contacts


def _records(b: Batch, x: Rows, u: Rows) -> list[_core.Step]:
    nq = b.world.nq
    out = []
    for i, (row, control) in enumerate(zip(x, u)):
        world = b.world_at(i)
        out.append(world.record(_core.State(_core.normalized(world.model, row[:nq]), row[nq:]), control))
    return out


def _impulses(b: Batch, x: Rows, u: Rows) -> tuple[Rows, ...]:
    records = _records(b, x, u)
    rows = [r.impulses for r in records]
    padded = np.zeros((len(rows), max(map(len, rows))))
    for to, row in zip(padded, rows):
        to[: len(row)] = row
    return np.stack([np.concatenate([r.next.q, r.next.v]) for r in records]), padded


def _impulses_vjp(b: Batch, x: Rows, u: Rows, g: Rows, g_impulses: Rows) -> tuple[Rows, ...]:
    records = _records(b, x, u)
    after = np.stack([np.concatenate([r.next.q, r.next.v]) for r in records])
    tangents = b.gradient_to_tangent(after, g)
    pairs = [r.vjp(t, gi[: len(r.impulses)]) for r, t, gi in zip(records, tangents, g_impulses)]
    return b.gradient_from_tangent(x, np.stack([p[0] for p in pairs])), np.stack([p[1] for p in pairs])


def _impulses_jvp(b: Batch, x: Rows, u: Rows, dx: Rows, du: Rows) -> tuple[Rows, ...]:
    records = _records(b, x, u)
    nv = b.world.nv
    d = b.rates_to_tangent(x, dx)
    after = np.stack([np.concatenate([r.next.q, r.next.v]) for r in records])
    moved = b.tangent_to_rates(after, np.stack([r.jvp(t, c) for r, t, c in zip(records, d, du)]))
    padded = np.zeros((len(records), max(len(r.impulses) for r in records)))
    for to, r, t, c in zip(padded, records, d, du):
        of_q, of_v, of_u = r.impulse_jacobians()
        to[: len(r.impulses)] = of_q @ t[:nv] + of_v @ t[nv:] + of_u @ c
    return moved, padded


_PARTS = {
    "step": (_step, _step_vjp, _step_jvp),
    "rollout": (_rollout, _rollout_vjp, _rollout_jvp),
    "impulses": (_impulses, _impulses_vjp, _impulses_jvp),
}


def _operation(target: Batch | World, name: str) -> _Operation:
    return _Operation(*(functools.partial(_in_batches, target, part) for part in _PARTS[name]))


def _shaped(target: Batch | World, x: torch.Tensor, u: torch.Tensor, axes: int) -> tuple[torch.Tensor, torch.Tensor]:
    """x as (..., nq + nv) and u as (..., nu) behind the same leading axes; `axes` of u are its own."""
    world = target if isinstance(target, World) else target.world
    if not isinstance(target, World) and x.dim() == 1:
        x = x.expand(len(target), -1)
    u = u.to(x.dtype)
    if u.dim() == 0:
        u = u.expand(world.nu)
    lead = torch.broadcast_shapes(x.shape[:-1], u.shape[:-axes])
    return x.expand(*lead, x.shape[-1]), u.expand(*lead, *u.shape[-axes:])


@torch.compiler.disable
def step(
    batch: Batch | World, x: torch.Tensor, u: torch.Tensor | float = 0.0, *, impulses: bool = False
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """The states one time step after x, (n, nq + nv), with controls u, (n, nu), (nu,) or one number.

    Of a batch (n is its size; its live states are left alone) or of a world (any leading axes). The answer depends on x
    and u only. With `impulses` (hard contact) also the impulses of all contact rows, (n, most rows of any), zero where a
    world has fewer: their gradients are those of forces.
    """
    x, u = _shaped(batch, x, torch.as_tensor(u, device=x.device), 1)
    lead = x.shape[:-1]
    rows = x.reshape(-1, x.shape[-1]), u.reshape(-1, u.shape[-1])
    out = _Apply.apply(_operation(batch, "impulses" if impulses else "step"), *rows)
    results = [y.reshape(*lead, y.shape[-1]) for y in out]
    return (results[0], results[1]) if impulses else results[0]


@torch.compiler.disable
def rollout(batch: Batch | World, x: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """All states from x, (n, nq + nv), with controls u, (steps, n, nu): (steps + 1, n, nq + nv).

    Of a batch of n worlds, or of a world (any leading axes n). The reverse pass goes from checkpoint to checkpoint.
    """
    if u.dim() < 2:
        raise _core.InputError("u", "must have the shape (steps, n, nu)")
    if u.dim() == 2 and not isinstance(batch, World):
        u = u[:, None].expand(-1, len(batch), -1)
    x, u = _shaped(batch, x, u.movedim(0, -2), 2)
    lead = x.shape[:-1]
    (out,) = _Apply.apply(
        _operation(batch, "rollout"), x.reshape(-1, x.shape[-1]), u.reshape(-1, *u.shape[-2:])
    )
    return out.reshape(*lead, *out.shape[1:]).movedim(-2, 0)


# pairs

_QUERIES: dict[str, tuple[Any, str]] = {
    "scaling": (_core.scaling_batch, "alpha"),
    "distance": (_core.distance_batch, "distance"),
}


def _normalized(poses: Any) -> Any:
    lengths = np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    if not (lengths > 0).all():
        raise _core.InputError("quaternion", "must not have the length 0")
    return np.concatenate([poses[:, :3], poses[:, 3:] / lengths], axis=1)


def _pose_gradient(poses: Any, tangents: Any) -> Any:
    """From gradients in pose tangents (n, 6) to those in position and quaternion x y z w, of what normalises it."""
    length = np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    x, y, z, w = (poses[:, 3:] / length).T
    a, b, c = (2.0 * tangents[:, 3:] / length).T
    turn = [w * a - z * b + y * c, z * a + w * b - x * c, -y * a + x * b + w * c, -x * a - y * b - z * c]
    return np.concatenate([tangents[:, :3], np.stack(turn, axis=1)], axis=1)


def _ask(query: str, A: Shape, B: Shape, X_A: Rows, X_B: Rows) -> Any:
    return _QUERIES[query][0]([A, B], 0, _normalized(X_A), 1, _normalized(X_B), gradients=True)


def _query_value(query: str, A: Shape, B: Shape, X_A: Rows, X_B: Rows) -> tuple[Rows, ...]:
    return (_ask(query, A, B, X_A, X_B)[_QUERIES[query][1]],)


def _query_vjp(query: str, A: Shape, B: Shape, X_A: Rows, X_B: Rows, g: Rows) -> tuple[Rows, ...]:
    rows = g[:, None] * _ask(query, A, B, X_A, X_B)["gradient"]
    return _pose_gradient(X_A, rows[:, :6]), _pose_gradient(X_B, rows[:, 6:])


def _query_jvp(query: str, A: Shape, B: Shape, X_A: Rows, X_B: Rows, d_A: Rows, d_B: Rows) -> tuple[Rows, ...]:
    rows = _ask(query, A, B, X_A, X_B)["gradient"]
    of_A = _pose_gradient(X_A, rows[:, :6]) * d_A
    of_B = _pose_gradient(X_B, rows[:, 6:]) * d_B
    return (of_A.sum(1) + of_B.sum(1),)


def _pair(query: str, A: Shape, X_A: torch.Tensor, B: Shape, X_B: torch.Tensor) -> torch.Tensor:
    X_A, X_B = torch.broadcast_tensors(X_A, X_B)
    if X_A.shape[-1:] != (7,):
        raise _core.InputError("X_A", f"must have the shape (..., 7), got {tuple(X_A.shape)}")
    operation = _Operation(*(functools.partial(f, query, A, B) for f in (_query_value, _query_vjp, _query_jvp)))
    (out,) = _Apply.apply(operation, X_A.reshape(-1, 7), X_B.reshape(-1, 7))
    return out.reshape(X_A.shape[:-1])


@torch.compiler.disable
def scaling(A: Shape, X_A: torch.Tensor, B: Shape, X_B: torch.Tensor) -> torch.Tensor:
    """The minimum scaling of two shapes at poses (..., 7), position and quaternion x y z w: (...)."""
    return _pair("scaling", A, X_A, B, X_B)


@torch.compiler.disable
def distance(A: Shape, X_A: torch.Tensor, B: Shape, X_B: torch.Tensor) -> torch.Tensor:
    """The signed distance of two shapes at poses (..., 7): (...)."""
    return _pair("distance", A, X_A, B, X_B)
