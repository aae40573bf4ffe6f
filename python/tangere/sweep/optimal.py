"""Many trajectory optimisations: one problem file, a table of starts, plans as nested columns."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from .errors import bad
from .rows import rows as rows_of
from .runs import Run, run
from .tasks import task

__all__ = ["optimize"]

_COLUMNS = ("q", "v", "noise", "index")


def _file_of(problem: str | os.PathLike[str]) -> Path:
    """The problem's file: its path, or that of the package's by its name."""
    from .. import _SHARE

    path = Path(problem)
    if path.is_file():
        return path.absolute()
    folder = _SHARE / "scenes" / "problems"
    packaged = folder / (path.name if path.suffix == ".json" else f"{path.name}.json")
    if packaged.is_file() and path.name == os.fspath(problem):
        return packaged
    there = sorted(p.stem for p in folder.glob("*.json"))
    raise bad("problem", f"no file and no problem {os.fspath(problem)!r}; there are {', '.join(there)}")


@functools.cache
def _load(file: str) -> tuple[dict[str, Any], Any, np.ndarray, np.ndarray]:
    """The file's JSON, its world, and its start."""
    from .. import load

    data = json.loads(Path(file).read_text())
    world = load(Path(file).parent / data["scene"])
    given = data.get("start", {})
    state = world.default_state()
    return data, world, np.array(given.get("q", state.q), dtype=float), np.array(given.get("v", state.v), dtype=float)


@task(version="1")
def solve(problem: str, rng: np.random.Generator, q: Any = None, v: Any = None, noise: float | None = None,
          plans: bool = True) -> dict[str, Any]:  # fmt: skip
    """One optimisation: from the start q, v (the problem's where not given), with noise in its tangent."""
    from .. import Optimizer, integrate, problem_from_text, verify

    data, world, usual_q, usual_v = _load(problem)
    start_q = usual_q if q is None else np.asarray(q, dtype=float)
    start_v = usual_v if v is None else np.asarray(v, dtype=float)
    for name, given, size in (("q", start_q, world.nq), ("v", start_v, world.nv)):
        if given.shape != (size,):
            raise bad(name, f"must have {size} numbers, got {given.shape}")
    if noise is None:
        noise = float(data.get("start_noise", 0.01)) if q is None and v is None else 0.0
    draw = noise * rng.normal(size=2 * world.nv)
    start_q, start_v = integrate(world.model, start_q, draw[: world.nv]), start_v + draw[world.nv :]
    statement = {**data, "start": {"q": start_q.tolist(), "v": start_v.tolist()}}
    loaded = problem_from_text(json.dumps(statement), problem)
    result = Optimizer(loaded.problem, loaded.options).solve(loaded.guess, restarts=loaded.restarts)
    phases = loaded.options.phases
    replay = verify(loaded.problem, result.plan, contact=phases[-1] if phases else None)
    out = {"start": np.concatenate([start_q, start_v]), "status": result.status, "iterations": result.iterations,
           "cost": result.cost, "violation": result.violation, "goal_error": replay.equality,
           "replay_strays": replay.strays}  # fmt: skip
    if plans:
        out |= {"x": np.asarray(result.plan.x), "u": np.asarray(result.plan.u)}
    return out


def optimize(problem: str | os.PathLike[str], starts: Any, out: str | os.PathLike[str], *, plans: bool = True,
             chunk: int = 1, **how: Any) -> Run:  # fmt: skip
    """Solves a problem from many starts, as a sweep.

    `problem`: a problem file (docs/optimise.md) or the name of one of the package. `starts`: how many starts with the
    problem's noise, or a table with the columns `q` and `v` (lists; the problem's where there is none) and `noise`
    (standard deviation in the tangent). The table of the answer has status, cost, violations, and with `plans` the
    columns x and u. `how` is for `run`.
    """
    file = _file_of(problem)
    table = rows_of(starts)
    if strange := [name for name in table.columns if name not in _COLUMNS]:
        raise bad("starts", f"has the column {strange[0]!r}; it may have q, v and noise")
    data = json.loads(file.read_text())
    files = [file, *([file.parent / data["scene"]] if isinstance(data.get("scene"), str) else [])]
    options = {"problem": str(file), "plans": plans}
    return run(solve, table, out, chunk=chunk, options=options, files=files, **how)
