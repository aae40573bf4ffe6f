"""Sweeps: a function of a row, for as many rows as you like, on one machine or many; dead workers cost a chunk.

    from tangere import sweep

    @sweep.task
    def drop(shape, height, seed): ...

    if __name__ == "__main__":
        rows = sweep.grid(shape=["box", "sphere"], height=[0.5, 1.0]) * sweep.seeds(1000)
        run = sweep.run(drop, rows, out="drops", engine="local", progress=True)     # call it again to go on
        run.table().to_pandas().groupby("shape").mean()

Needs NumPy and pyarrow; the engine `ray` needs Ray. docs/sweeps.md has the rest.
"""

from __future__ import annotations

try:
    import pyarrow as _pyarrow  # noqa: F401
except ImportError:
    raise ImportError("tangere.sweep needs pyarrow: pip install 'tangere[sweep]', or pip install pyarrow") from None

from .engines import Local, Ray, Slurm
from .errors import StorageError, SweepError
from .optimal import optimize
from .progress import Progress
from .rows import Rows, generate, grid, rows, seeds
from .runs import Policy, Run, Status, open, run
from .seeds import generator
from .shards import Failure, Receipt
from .summed import Gradients, gradients
from .tasks import Task, task

__all__ = [
    "Failure",
    "Gradients",
    "Local",
    "Policy",
    "Progress",
    "Ray",
    "Receipt",
    "Rows",
    "Run",
    "Slurm",
    "Status",
    "StorageError",
    "SweepError",
    "Task",
    "generate",
    "generator",
    "gradients",
    "grid",
    "open",
    "optimize",
    "rows",
    "run",
    "seeds",
    "task",
]
