"""Gymnasium environments on batches: `tg.gym.make("cartpole", num_envs=64)`.

Observations are q and v beside each other; actions are controls scaled to [-1, 1].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from ._core import Batch, World

__all__ = ["ENVIRONMENTS", "Task", "TangereVectorEnv", "make"]

Numbers = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Task:
    """What makes a world an environment."""

    file: str
    time_step: float
    #: Steps of the world for one of the environment.
    frame_skip: int
    #: Controls at action 1.
    largest_control: float
    #: Reward from (q, v, action), one a world.
    reward: Callable[[Numbers, Numbers, Numbers], Numbers]
    #: Whether it is over, from (q, v).
    failed: Callable[[Numbers, Numbers], Numbers]
    #: Steps of the environment in an episode.
    max_steps: int = 1000


def _never(q: Numbers, v: Numbers) -> Numbers:
    return np.zeros(len(q), dtype=bool)


def _cost(action: Numbers, weight: float) -> Numbers:
    return weight * (action**2).sum(axis=1)


ENVIRONMENTS: dict[str, Task] = {
    "cartpole": Task(
        "cartpole.xml",
        0.01,
        2,
        15.0,
        lambda q, v, a: np.cos(q[:, 1]) - 0.01 * q[:, 0] ** 2 - _cost(a, 1e-3),
        lambda q, v: np.abs(q[:, 0]) > 5.0,
        500,
    ),
    "worm": Task("jump_worm.xml", 0.005, 4, 5.0, lambda q, v, a: v[:, 0] - _cost(a, 1e-3), _never),
    "half_cheetah": Task("half_cheetah.xml", 0.005, 4, 60.0, lambda q, v, a: v[:, 0] - _cost(a, 0.1), _never),
    "humanoid": Task(
        "humanoid.xml",
        0.005,
        3,
        100.0,
        lambda q, v, a: 1.0 + v[:, 0] - _cost(a, 1e-3),
        lambda q, v: (q[:, 2] < -0.4) | (q[:, 2] > 0.5),
    ),
}


class TangereVectorEnv(VectorEnv):
    """A batch of worlds as one vector environment. A world that is over starts anew with the next step."""

    def __init__(self, world: World, task: Task, num_envs: int = 1, num_threads: int = 0, noise: float = 0.01) -> None:
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}
        self.world = world
        self.task = task
        self.num_envs = num_envs
        self.noise = noise
        self.batch = Batch(world, num_envs, num_threads=num_threads)
        size = world.nq + world.nv
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float64)
        self.single_action_space = gymnasium.spaces.Box(-1.0, 1.0, (world.nu,), np.float64)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, num_envs)
        self._steps = np.zeros(num_envs, dtype=int)
        self._over = np.zeros(num_envs, dtype=bool)

    def _start(self, which: Numbers) -> None:
        indices = np.flatnonzero(which)
        if len(indices) == 0:
            return
        self.batch.reset(indices)
        self.batch.v[indices] += self.noise * self.np_random.normal(size=(len(indices), self.world.nv))
        self._steps[indices] = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Numbers, dict[str, Any]]:
        """All at the start, with a little noise on the velocities; `options["reset_mask"]` says which."""
        super().reset(seed=seed)
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, dtype=bool))
        self._start(mask)
        self._over &= ~mask
        return self.batch.states, {}

    def step(self, actions: Numbers) -> tuple[Numbers, Numbers, Numbers, Numbers, dict[str, Any]]:
        """One step of the environment for all."""
        actions = np.clip(np.asarray(actions, dtype=np.float64), -1.0, 1.0)
        again = self._over
        self._start(again)
        started = self.batch.states[again]
        for _ in range(self.task.frame_skip):
            self.batch.step(self.task.largest_control * actions)
        states = self.batch.states
        if again.any():
            # what was over is at its start now: this step was its reset
            states[again] = started
            self.batch.states = states
        q, v = states[:, : self.world.nq], states[:, self.world.nq :]
        self._steps += ~again
        reward = np.where(again, 0.0, self.task.reward(q, v, actions))
        terminated = ~again & (self.task.failed(q, v) | (np.array(self.batch.statuses) == "not_finite"))
        truncated = ~again & ~terminated & (self._steps >= self.task.max_steps)
        self._over = terminated | truncated
        return states, reward, terminated, truncated, {}


def make(name: str, num_envs: int = 1, num_threads: int = 0, noise: float = 0.01) -> TangereVectorEnv:
    """The vector environment of a task: cartpole, worm, half_cheetah, humanoid."""
    from . import InputError, load

    if name not in ENVIRONMENTS:
        raise InputError("name", f"there is no environment {name!r}; there are {', '.join(ENVIRONMENTS)}")
    task = ENVIRONMENTS[name]
    return TangereVectorEnv(load(task.file, time_step=task.time_step), task, num_envs, num_threads, noise)
