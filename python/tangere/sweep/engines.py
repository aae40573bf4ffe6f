"""Engines by name: what computes the chunks. A line to change: engine="local", "ray", "slurm", or one with options."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from .drive import Pool
from .errors import bad

__all__ = ["Local", "Ray", "Slurm", "engine_of"]


@dataclass(frozen=True)
class Local:
    """Processes of this machine; as many as it has cores if not said."""

    workers: int | None = None

    def pool(self) -> Pool:
        from .local import LocalPool, default_workers

        return LocalPool(self.workers or default_workers())


@dataclass(frozen=True)
class Ray:
    """Ray, 2.52 or newer, with token authentication.

    `address` None: a Ray of its own on this machine, which ends with the sweep. Else a cluster that is there
    (`10.0.0.1:6379`, or `auto`), whose token is that of the environment (docs/sweeps.md). `workers` says how many chunks
    are computed at once; None: as many as it has cores. `dashboard` and `statistics` (Ray's reports about its use) are
    off unless asked for. `restarts`: how often a Ray that died is started, or looked for, again.
    """

    address: str | None = None
    workers: int | None = None
    dashboard: bool = False
    statistics: bool = False
    restarts: int = 8

    def pool(self) -> Pool:
        from .ray_engine import RayPool

        return RayPool(self)


@dataclass(frozen=True)
class Slurm:
    """Writes the script of a job array; `sbatch` is for a person. `options` are lines for #SBATCH."""

    tasks: int = 64
    cores: int = 1
    options: tuple[str, ...] = ()


def check_workers(workers: Any) -> int | None:
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise bad("workers", f"must be a whole number above 0, got {workers!r}")
    return workers


def engine_of(engine: Any, workers: int | None = None) -> Local | Ray | Slurm:
    """An engine by its name, or the one that is given."""
    check_workers(workers)
    if isinstance(engine, (Local, Ray, Slurm)):
        check_workers(getattr(engine, "workers", None))
        if workers is not None:
            raise bad("workers", "belongs to the engine where that is an object")
        return engine
    if engine == "local":
        return Local(workers)
    if engine == "ray":
        return Ray(os.environ.get("TANGERE_RAY_ADDRESS"), workers)
    if engine == "slurm":
        return Slurm(**({"tasks": workers} if workers else {}))
    raise bad("engine", f"must be local, ray or slurm, got {engine!r}")
