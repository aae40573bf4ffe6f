"""PyTorch: steps, rollouts and pair queries with gradients.

    batch = tg.Batch(world, 1024)
    x = torch.tensor(batch.states, requires_grad=True)
    for t in range(200):
        x = tg.torch.step(batch, x, policy(x))
    loss = -x[:, batch.index("root.y")].mean()
    loss.backward()

States are rows of q and v. Gradients are those in these numbers (of a quaternion: along the unit sphere). All functions
compute in float64 and answer in the type of their arguments. A second derivative is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from . import _core
from ._core import Batch, Shape

__all__ = ["distance", "rollout", "scaling", "step"]


def _numpy(x: torch.Tensor) -> np.ndarray[Any, np.dtype[np.float64]]:
    return x.detach().to("cpu", torch.float64).contiguous().numpy()


def _like(x: Any, other: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(x)).to(other.device, other.dtype)


class _Step(Function):
    """One step of a batch. What is saved is the argument: derivatives make the step again, which costs no memory."""

    @staticmethod
    def forward(ctx: Any, batch: Batch, x: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
        ctx.batch = batch
        ctx.save_for_backward(x, u)
        ctx.save_for_forward(x, u)
        states = _numpy(x)
        return _like(batch.rollout(_numpy(u)[None], states)[1], x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: torch.Tensor) -> tuple[None, torch.Tensor, torch.Tensor]:
        x, u = ctx.saved_tensors
        batch, states, controls = ctx.batch, _numpy(x), _numpy(u)
        next_states = batch.rollout(controls[None], states)[1]
        gradients = np.zeros((2, len(states), 2 * batch.world.nv))
        gradients[1] = batch.gradient_to_tangent(next_states, _numpy(g))
        g_x, g_u = batch.rollout_vjp(states, controls[None], gradients)
        return None, _like(batch.gradient_from_tangent(states, g_x), x), _like(g_u[0], u)

    @staticmethod
    def jvp(ctx: Any, _: None, dx: torch.Tensor | None, du: torch.Tensor | None) -> torch.Tensor:
        x, u = ctx.saved_tensors
        batch, states = ctx.batch, _numpy(x)
        next_states, A, B = batch.linearize(states, _numpy(u))
        d = np.zeros((len(states), 2 * batch.world.nv))
        if dx is not None:
            d += np.einsum("nij,nj->ni", A, batch.rates_to_tangent(states, _numpy(dx)))
        if du is not None:
            d += np.einsum("nij,nj->ni", B, _numpy(du))
        return _like(batch.tangent_to_rates(next_states, d), x)


class _Rollout(Function):
    """Many steps; the reverse pass goes from checkpoint to checkpoint."""

    @staticmethod
    def forward(ctx: Any, batch: Batch, x: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
        ctx.batch = batch
        states = batch.rollout(_numpy(u), _numpy(x))
        ctx.save_for_backward(x, u)
        ctx.states = states
        return _like(states, x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: torch.Tensor) -> tuple[None, torch.Tensor, torch.Tensor]:
        x, u = ctx.saved_tensors
        batch, rows = ctx.batch, _numpy(g)
        gradients = np.stack([batch.gradient_to_tangent(s, row) for s, row in zip(ctx.states, rows)])
        states = _numpy(x)
        g_x, g_u = batch.rollout_vjp(states, _numpy(u), gradients)
        return None, _like(batch.gradient_from_tangent(states, g_x), x), _like(g_u, u)


class _Pair(Function):
    """A pair query of two shapes at poses (n, 7)."""

    @staticmethod
    def forward(ctx: Any, query: str, A: Shape, B: Shape, X_A: torch.Tensor, X_B: torch.Tensor) -> torch.Tensor:
        ask, value = _QUERIES[query]
        poses = [_normalized(_numpy(X)) for X in (X_A, X_B)]
        found = ask([A, B], 0, poses[0], 1, poses[1], gradients=True)
        ctx.gradient = found["gradient"]
        ctx.save_for_backward(X_A, X_B)
        ctx.save_for_forward(X_A, X_B)
        return _like(found[value], X_A)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: torch.Tensor) -> tuple[None, None, None, torch.Tensor, torch.Tensor]:
        X_A, X_B = ctx.saved_tensors
        rows = _numpy(g)[:, None] * ctx.gradient
        g_A = _pose_gradient(_numpy(X_A), rows[:, :6])
        g_B = _pose_gradient(_numpy(X_B), rows[:, 6:])
        return None, None, None, _like(g_A, X_A), _like(g_B, X_B)

    @staticmethod
    def jvp(ctx: Any, q: None, a: None, b: None, dA: torch.Tensor | None, dB: torch.Tensor | None) -> torch.Tensor:
        X_A, X_B = ctx.saved_tensors
        out = np.zeros(len(ctx.gradient))
        for X, d, rows in ((X_A, dA, ctx.gradient[:, :6]), (X_B, dB, ctx.gradient[:, 6:])):
            if d is not None:
                out += (_pose_gradient(_numpy(X), rows) * _numpy(d)).sum(1)
        return _like(out, X_A)


_QUERIES: dict[str, tuple[Any, str]] = {
    "scaling": (_core.scaling_batch, "alpha"),
    "distance": (_core.distance_batch, "distance"),
}


def _normalized(poses: Any) -> Any:
    lengths = np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    return np.concatenate([poses[:, :3], poses[:, 3:] / lengths], axis=1)


def _pose_gradient(poses: Any, tangents: Any) -> Any:
    """From gradients in pose tangents (n, 6) to those in position and quaternion x y z w, of what normalises it."""
    length = np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    x, y, z, w = (poses[:, 3:] / length).T
    a, b, c = (2.0 * tangents[:, 3:] / length).T
    turn = [w * a - z * b + y * c, z * a + w * b - x * c, -y * a + x * b + w * c, -x * a - y * b - z * c]
    return np.concatenate([tangents[:, :3], np.stack(turn, axis=1)], axis=1)


def _rows(batch: Batch, x: torch.Tensor, u: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """x as (n, nq + nv) and u as (n, nu), of one type."""
    n = len(batch)
    if x.dim() == 1:
        x = x.expand(n, -1)
    u = u.to(x.dtype)
    if u.dim() == 0:
        u = u.expand(n, batch.world.nu)
    elif u.dim() == 1:
        u = u.expand(n, -1)
    return x, u


def step(batch: Batch, x: torch.Tensor, u: torch.Tensor | float = 0.0) -> torch.Tensor:
    """The states one time step after x, (n, nq + nv), with controls u, (n, nu), (nu,) or one number.

    n is the size of the batch, whose live states are left alone: the answer depends on x and u only.
    """
    x, u = _rows(batch, x, torch.as_tensor(u, device=x.device))
    return _Step.apply(batch, x, u)


def rollout(batch: Batch, x: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """All states from x, (n, nq + nv), with controls u, (steps, n, nu): (steps + 1, n, nq + nv)."""
    if x.dim() == 1:
        x = x.expand(len(batch), -1)
    if u.dim() == 2:
        u = u[:, None].expand(-1, len(batch), -1)
    return _Rollout.apply(batch, x, u.to(x.dtype))


def _pair(query: str, A: Shape, X_A: torch.Tensor, B: Shape, X_B: torch.Tensor) -> torch.Tensor:
    X_A, X_B = torch.broadcast_tensors(X_A, X_B)
    out = _Pair.apply(query, A, B, X_A.reshape(-1, 7), X_B.reshape(-1, 7))
    return out.reshape(X_A.shape[:-1])


def scaling(A: Shape, X_A: torch.Tensor, B: Shape, X_B: torch.Tensor) -> torch.Tensor:
    """The minimum scaling of two shapes at poses (..., 7), position and quaternion x y z w: (...)."""
    return _pair("scaling", A, X_A, B, X_B)


def distance(A: Shape, X_A: torch.Tensor, B: Shape, X_B: torch.Tensor) -> torch.Tensor:
    """The signed distance of two shapes at poses (..., 7): (...)."""
    return _pair("distance", A, X_A, B, X_B)
