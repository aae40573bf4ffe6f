"""The gradient of a sum over episodes, the same bits for any number of workers.

    sum_i loss(parameters, episode i),   value and gradient

Sums are those of a fixed binary tree: neighbours are added in pairs, then pairs of pairs, inside a chunk of episodes
first and then over the chunks. The tree depends on the number of episodes and the size of a chunk, on nothing else.
"""

from __future__ import annotations

import atexit
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from .chunk import _explain
from .drive import Pool
from .engines import engine_of
from .errors import InputError, SweepError, bad
from .rows import rows as rows_of
from .seeds import check_seed, generator
from .tasks import Task

__all__ = ["Gradients", "gradients"]


def _add(a: Any, b: Any) -> Any:
    """Sums of numbers, arrays, and dictionaries and lists of them."""
    if isinstance(a, Mapping):
        if set(a) != set(b):
            raise SweepError(f"gradients have other entries from episode to episode: {sorted(set(a) ^ set(b))}")
        return {name: _add(a[name], b[name]) for name in a}
    if isinstance(a, (list, tuple)):
        return type(a)(_add(x, y) for x, y in zip(a, b, strict=True))
    if np.shape(a) != np.shape(b):
        raise SweepError(f"gradients have other shapes from episode to episode: {np.shape(a)} and {np.shape(b)}")
    return a + b


def tree_sum(terms: list[Any]) -> Any:
    """The sum by a binary tree of neighbours."""
    while len(terms) > 1:
        pairs = [_add(terms[k], terms[k + 1]) for k in range(0, len(terms) - 1, 2)]
        terms = pairs + ([terms[-1]] if len(terms) % 2 else [])
    return terms[0]


def _checked(result: Any, where: str) -> tuple[Any, Any]:
    if not isinstance(result, tuple) or len(result) != 2:
        raise SweepError(f"{where}: a loss must give (value, gradient), got {type(result).__name__}")
    value, gradient = result
    return float(value), gradient


_tasks: dict[str, Task] = {}


def _load(identity: dict[str, Any], where: dict[str, str]) -> Task:
    key = repr((identity, where))
    if key not in _tasks:
        loaded = Task.load(identity, where)
        if loaded.identity() != identity:
            raise SweepError(f"the worker has another code of {identity['name']} than the driver: start anew")
        _tasks[key] = loaded
    return _tasks[key]


def work_on(work: Any) -> Any:
    """In a worker: ("done", sum of each chunk) or ("failed", text)."""
    (identity, where), parameters, seed, chunks = work
    try:
        task = _load(identity, where)
        return "done", [_chunk_sum(task, parameters, seed, start, columns) for start, columns in chunks]
    except Exception as error:
        explained = error if isinstance(error, (SweepError, InputError)) else _explain(error, identity["name"])
        return "failed", str(explained)


def _chunk_sum(task: Task, parameters: Any, seed: int, start: int, columns: dict[str, list[Any]]) -> tuple[Any, Any]:
    takes_rng = task.takes("rng")
    if task.batch:
        extra = {"rng": generator(seed, start)} if takes_rng else {}
        arrays = {name: np.asarray(values) for name, values in columns.items()}
        return _checked(task.function(parameters, arrays, **extra), f"episodes from {start} on")
    terms, passed = [], task.passed(columns)
    for k in range(len(next(iter(columns.values())))):
        arguments = {name: columns[name][k] for name in passed}
        if takes_rng:
            arguments["rng"] = generator(seed, start + k)
        try:
            terms.append(_checked(task.function(parameters, **arguments), f"episode {start + k}"))
        except SweepError:
            raise
        except Exception as error:
            raise SweepError(str(_explain(error, f"episode {start + k}"))) from None
    return tree_sum(terms)


class Gradients:
    """Workers that are kept from one call to the next: for the loop of a training.

    `loss(parameters, **episode)` gives (value, gradient): parameters and gradient are arrays, or dictionaries or lists
    of arrays. With `@sweep.task(batch=True)` it is `loss(parameters, episodes)`, a dictionary of columns for a chunk,
    and gives the sums over it.
    """

    def __init__(self, loss: Any, *, chunk: int = 8, engine: Any = "local", workers: int | None = None,
                 tries: int = 3) -> None:  # fmt: skip
        if isinstance(chunk, bool) or not isinstance(chunk, int) or chunk < 1:
            raise bad("chunk", f"must be a whole number of episodes above 0, got {chunk!r}")
        chosen = engine_of(engine, workers)
        if not hasattr(chosen, "pool"):
            raise bad("engine", "must be local or ray: a job array gives no answer in time")
        self._task, self._chunk, self._tries = Task.of(loss), chunk, tries
        self._pool: Pool | None = chosen.pool()
        self._next = 0

    def __call__(self, parameters: Any, episodes: Any, seed: int = 0) -> tuple[float, Any]:
        """The sums of value and gradient over the episodes: a table (rows.py), a list, or how many."""
        if self._pool is None:
            raise SweepError("these workers were closed")
        table, seed = rows_of(episodes), check_seed(seed)
        starts = list(range(0, len(table), self._chunk))
        chunks = [(s, table.slice(s, min(s + self._chunk, len(table)), seed)) for s in starts]
        code = self._task.identity(), self._task.reference.where()
        sums = self._collect(chunks, lambda part: (code, parameters, seed, part))
        value, gradient = tree_sum([sums[s] for s in starts])
        return value, gradient

    def _collect(self, chunks: list[Any], work: Any) -> dict[int, Any]:
        """Hands out the chunks, and again those of workers that died."""
        assert self._pool is not None
        size = max(1, len(chunks) // self._pool.slots)
        waiting = deque([chunks[k : k + size] for k in range(0, len(chunks), size)])
        out: dict[int, list[Any]] = {}
        sums: dict[int, Any] = {}
        deaths: dict[int, int] = {}
        trouble: str | None = None
        while waiting or out:
            while waiting and trouble is None and len(out) < self._pool.slots:
                self._next += 1
                out[self._next] = waiting.popleft()
                self._pool.submit(self._next, "gradient", work(out[self._next]))
            if not out:
                break
            for answer in self._pool.poll(1.0):
                part = out.pop(answer.lease)
                if answer.died is not None:
                    first = part[0][0]
                    deaths[first] = deaths.get(first, 0) + (len(part) == 1 and answer.was_running)
                    if deaths[first] >= self._tries:
                        trouble = trouble or f"episodes from {first} on: {answer.died}, {deaths[first]} times"
                    waiting.extend([one] for one in part)
                elif answer.result[0] == "failed":
                    trouble = trouble or answer.result[1]
                else:
                    sums.update((start, one) for (start, _), one in zip(part, answer.result[1]))
        if trouble is not None:
            raise SweepError(trouble)
        return sums

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def __enter__(self) -> Gradients:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_kept: dict[Any, Gradients] = {}


def close_all() -> None:
    """Ends the workers that `gradients` keeps."""
    while _kept:
        _kept.popitem()[1].close()


def gradients(loss: Any, parameters: Any, episodes: Any, *, chunk: int = 8, seed: int = 0, engine: Any = "local",
              workers: int | None = None) -> tuple[float, Any]:  # fmt: skip
    """Value and gradient of a loss, summed over episodes; see `Gradients`, whose workers it keeps until the end."""
    task = Task.of(loss)
    key = repr(task.identity()), chunk, engine, workers
    if key not in _kept:
        close_all()
        _kept[key] = Gradients(task, chunk=chunk, engine=engine, workers=workers)
    return _kept[key](parameters, episodes, seed)


atexit.register(close_all)
