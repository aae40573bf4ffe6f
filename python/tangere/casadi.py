"""CasADi: steps and pair queries as external functions with Jacobians.

    F = tg.casadi.step(world)              # (x, u) -> next, x = (q, v)
    alpha = tg.casadi.scaling(A, B)        # (X_A, X_B), poses (7,) -> alpha

The functions must be kept alive as long as what is built from them.
"""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

from . import _core
from ._core import Batch, Pose, Shape, World

__all__ = ["distance", "scaling", "step"]


def _vector(x: Any) -> Any:
    return np.asarray(x, dtype=np.float64).reshape(-1)


class _Function(casadi.Callback):
    """Dense vectors in, one dense vector out, with the Jacobian of all."""

    def __init__(self, name: str, sizes: list[int], size_out: int, value: Any, jacobian: Any, names: list[str]) -> None:
        casadi.Callback.__init__(self)
        self.sizes = sizes
        self.size_out = size_out
        self.value = value
        self.jacobian_of = jacobian
        self.names = names
        self.kept: list[Any] = []
        self.construct(name, {})

    def get_n_in(self) -> int:
        return len(self.sizes)

    def get_n_out(self) -> int:
        return 1

    def get_name_in(self, i: int) -> str:
        return self.names[i]

    def get_sparsity_in(self, i: int) -> Any:
        return casadi.Sparsity.dense(self.sizes[i])

    def get_sparsity_out(self, i: int) -> Any:
        return casadi.Sparsity.dense(self.size_out)

    def eval(self, arguments: list[Any]) -> list[Any]:
        return [casadi.DM(self.value(*(_vector(a) for a in arguments)))]

    def has_jacobian(self) -> bool:
        return True

    def get_jacobian(self, name: str, names_in: list[str], names_out: list[str], options: Any) -> Any:
        jacobian = _Jacobian(name, self, names_in, names_out, options)
        self.kept.append(jacobian)
        return jacobian


class _Jacobian(casadi.Callback):
    def __init__(self, name: str, of: _Function, names_in: list[str], names_out: list[str], options: Any) -> None:
        casadi.Callback.__init__(self)
        self.of = of
        self.names_in, self.names_out = names_in, names_out
        self.construct(name, options)

    def get_n_in(self) -> int:
        return len(self.of.sizes) + 1

    def get_n_out(self) -> int:
        return len(self.of.sizes)

    def get_name_in(self, i: int) -> str:
        return self.names_in[i]

    def get_name_out(self, i: int) -> str:
        return self.names_out[i]

    def get_sparsity_in(self, i: int) -> Any:
        if i < len(self.of.sizes):
            return casadi.Sparsity.dense(self.of.sizes[i])
        return casadi.Sparsity(self.of.size_out, 1)

    def get_sparsity_out(self, i: int) -> Any:
        return casadi.Sparsity.dense(self.of.size_out, self.of.sizes[i])

    def eval(self, arguments: list[Any]) -> list[Any]:
        blocks = self.of.jacobian_of(*(_vector(a) for a in arguments[: len(self.of.sizes)]))
        return [casadi.DM(np.ascontiguousarray(block)) for block in blocks]


def step(world: World, name: str = "step") -> Any:
    """The step as a function (x, u) -> next, with x = (q, v). Jacobians are in these numbers."""
    batch = Batch(world, 1, num_threads=1)
    nx, nv, nu = world.nq + world.nv, world.nv, world.nu

    def value(x: Any, u: Any) -> Any:
        return batch.rollout(u[None, None], x[None])[1, 0]

    def jacobian(x: Any, u: Any) -> tuple[Any, Any]:
        after, A, B = batch.linearize(x[None], u[None])
        # T next A T⁺ and T next B: the columns of T, and of the transpose of T⁺, are maps of unit vectors
        maps = Batch(world, 2 * nv, num_threads=1)
        unit = np.eye(2 * nv)
        out_rates = maps.tangent_to_rates(np.repeat(after, 2 * nv, axis=0), unit).T
        in_gradients = maps.gradient_from_tangent(np.repeat(x[None], 2 * nv, axis=0), unit)
        return out_rates @ A[0] @ in_gradients, out_rates @ B[0]

    return _Function(name, [nx, nu], nx, value, jacobian, ["x", "u"])


def _pair(query: Any, value_name: str, A: Shape, B: Shape, name: str) -> Any:
    def poses(*numbers: Any) -> list[Any]:
        return [Pose(x[:3], x[3:] / np.linalg.norm(x[3:])) for x in numbers]

    def value(X_A: Any, X_B: Any) -> Any:
        a, b = poses(X_A, X_B)
        return getattr(query(A, a, B, b), value_name)

    def jacobian(X_A: Any, X_B: Any) -> tuple[Any, Any]:
        a, b = poses(X_A, X_B)
        g = query(A, a, B, b).gradient()
        return _pose_gradient(X_A, g[:6])[None], _pose_gradient(X_B, g[6:])[None]

    return _Function(name, [7, 7], 1, value, jacobian, ["X_A", "X_B"])


def _pose_gradient(pose: Any, tangent: Any) -> Any:
    """From the gradient in the pose's tangent to that in position and quaternion, of what normalises it."""
    length = np.linalg.norm(pose[3:])
    x, y, z, w = pose[3:] / length
    turn = np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]])
    return np.concatenate([tangent[:3], turn @ tangent[3:] * (2.0 / length)])


def scaling(A: Shape, B: Shape, name: str = "scaling") -> Any:
    """The minimum scaling as a function of two poses (7,)."""
    return _pair(_core.scaling, "alpha", A, B, name)


def distance(A: Shape, B: Shape, name: str = "distance") -> Any:
    """The signed distance as a function of two poses (7,)."""
    return _pair(_core.distance, "distance", A, B, name)
