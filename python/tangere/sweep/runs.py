"""A sweep in its folder: run it, go on with it, look at it, take its table."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import manifest as manifests
from .drive import Limits, drive
from .engines import Slurm, engine_of
from .errors import SweepError, bad, storage_error
from .manifest import Manifest
from .merge import merge, read_table
from .progress import Progress, Reporter
from .rows import rows as rows_of
from .shards import Failure, Receipt, Store, require_folder
from .tasks import IN_WORKER

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Policy", "Run", "Status", "open", "run"]


@dataclass(frozen=True)
class Policy:
    """How a sweep is driven; none of it changes a number of the table."""

    #: With engines by name: how many chunks at once (local, ray), tasks of the array (slurm).
    workers: int | None = None
    #: True: shown on standard error. A function: called with a `Progress`.
    progress: bool | Callable[[Progress], None] = False
    #: A chunk whose worker dies so often is given up.
    tries: int = 3
    #: A chunk that takes longer counts as one whose worker died.
    chunk_seconds: float | None = None
    #: Chunks that were given up are tried again.
    retry_failed: bool = False
    #: A folder whose code differs is gone on with; other differences are refused always.
    accept_changes: bool = False
    #: (k, n): chunks k, k + n, ... only, beside others that do the rest.
    share: tuple[int, int] | None = None

    def check(self) -> None:
        if self.tries < 1:
            raise bad("tries", f"must be at least 1, got {self.tries}")
        if self.chunk_seconds is not None and not 0 < self.chunk_seconds < 1e9:
            raise bad("chunk_seconds", f"must be above 0, got {self.chunk_seconds}")
        if self.share is not None and not 0 <= self.share[0] < self.share[1]:
            raise bad("share", f"(k, n) needs 0 <= k < n, got {self.share}")


@dataclass(frozen=True)
class Status:
    chunks: int
    done: int
    failed: int
    #: Receipts whose shard is not what they say; made again by `resume`.
    torn: int
    rows: int
    rows_done: int
    #: Computing, over all workers.
    seconds: float

    @property
    def pending(self) -> int:
        return self.chunks - self.done - self.failed

    def __str__(self) -> str:
        text = f"{self.done} of {self.chunks} chunks done ({self.rows_done} of {self.rows} rows, {self.seconds:.3g} s)"
        for count, name in ((self.pending, "to do"), (self.failed, "failed"), (self.torn, "torn")):
            text += f", {count} {name}" if count else ""
        return text


class Run:
    """The folder of a sweep. Reading needs no task, and no right to write."""

    def __init__(self, folder: str | os.PathLike[str], manifest: Manifest | None = None) -> None:
        self.folder = Path(os.path.abspath(folder))
        self._store = Store(self.folder)
        self._manifest = manifest
        self._written = manifest.to_json() if manifest else manifests.read_json(self.folder)

    @property
    def manifest(self) -> Manifest:
        """With its task, imported when it is needed."""
        if self._manifest is None:
            self._manifest = manifests.read(self.folder)
        return self._manifest

    @property
    def key(self) -> str:
        return manifests._key(self._written["identity"])

    @property
    def num_chunks(self) -> int:
        return -(-int(self._written["identity"]["rows"]) // int(self._written["identity"]["chunk"]))

    def receipts(self, verify: bool = False) -> list[Receipt]:
        """The receipts of chunks that are done; `verify` compares contents too, not only sizes."""
        return list(self._store.done(self.key, verify)[0].values())

    @property
    def status(self) -> Status:
        good, torn = self._store.done(self.key)
        failed = {f.chunk for f in self._store.failures()} - set(good)
        rows = sum(r.rows for r in good.values())
        seconds = sum(r.seconds for r in good.values())
        return Status(self.num_chunks, len(good), len(failed), len(torn), int(self._written["identity"]["rows"]),
                      rows, seconds)  # fmt: skip

    @property
    def failed(self) -> list[Failure]:
        """Chunks that were given up, and why."""
        good = self._store.done(self.key)[0]
        return [f for f in self._store.failures() if f.chunk not in good]

    def table(self) -> pa.Table:
        """The rows that are done, in order, as an Arrow table (`.to_pandas()`, `polars.from_arrow`)."""
        return read_table(self._store, self.receipts()).replace_schema_metadata(self._metadata())

    def merge(self, file: str | os.PathLike[str] | None = None) -> Path:
        """Writes them as one Parquet file (default: table.parquet in the folder)."""
        path = Path(file) if file is not None else self.folder / "table.parquet"
        try:
            merge(self._store, self._metadata(), self.receipts(), path)
        except OSError as error:
            raise storage_error(path, error.errno, str(error)) from None
        return path

    def _metadata(self) -> dict[bytes, bytes]:
        from .chunk import metadata

        return metadata(self.key, self._written["identity"], self._written["accepted"])

    def export_lerobot(self, folder: str | os.PathLike[str], **options: Any) -> Path:
        """A LeRobotDataset v3.0 of it: an episode a row (export_lerobot.py)."""
        from .export_lerobot import export

        return export(self, Path(folder), **options)

    def export_zarr(self, folder: str | os.PathLike[str]) -> Path:
        """A Zarr group of it: an array a column (export_zarr.py)."""
        from .export_zarr import export

        return export(self, Path(folder))

    def resume(self, engine: Any = "local", **policy: Any) -> Run:
        """Goes on with what is not done. The code of today must be that of the sweep."""
        loaded = self.manifest
        fresh = Manifest({**loaded.identity, **loaded.code_now()}, loaded.where, loaded.task, loaded.rows)
        return _run_in(self.folder, fresh, engine, Policy(**policy))

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r}: {self.status})"


def open(folder: str | os.PathLike[str]) -> Run:
    """The sweep of a folder."""
    return Run(folder)


def run(task: Any, rows: Any, out: str | os.PathLike[str], *, chunk: int = 256, seed: int = 0,
        options: dict[str, Any] | None = None, files: Iterable[str | os.PathLike[str]] = (), engine: Any = "local",
        **policy: Any) -> Run:  # fmt: skip
    """Runs a task for all rows, and gives the sweep. Calling it again goes on where it was.

    `rows`: a table of rows.py, a list of dictionaries, a data frame, a file. `out`: its folder, which all machines see.
    `chunk`: rows that are computed and kept together. `seed`: of all its random numbers. `options`: arguments of the
    task that are the same for all rows. `files`: scenes and others that the task reads, which belong to the sweep by
    their contents. `engine`: local, ray, slurm, or one with options (engines.py). The rest is a
    `Policy`.
    """
    if os.environ.get(IN_WORKER):
        raise SweepError("a worker imports this file and starts the sweep again: put the call below "
                         'if __name__ == "__main__":')  # fmt: skip
    made = manifests.make(task, rows_of(rows), chunk, seed, options or {}, files)
    return _run_in(Path(os.path.abspath(out)), made, engine, Policy(**policy))


def _run_in(folder: Path, made: Manifest, engine: Any, policy: Policy) -> Run:
    policy.check()
    chosen = engine_of(engine, policy.workers)
    require_folder(folder)
    store = Store(folder)
    store.check_writable()
    with store.lock(shared=policy.share is not None):
        if (folder / "manifest.json").exists():
            made = manifests.reconcile(folder, made, policy.accept_changes)
        else:
            try:
                manifests.write(folder, made)
            except OSError as error:
                raise storage_error(folder, error.errno, str(error)) from None
        if isinstance(chosen, Slurm):
            from .slurm import write_script

            script = write_script(folder, made, chosen)
            print(f"sbatch {script}        then: python -m tangere sweep status {folder}", file=sys.stderr)
            return Run(folder, made)
        _do_pending(store, made, chosen, policy)
    return Run(folder, made)


def _pending(store: Store, manifest: Manifest, policy: Policy) -> tuple[list[int], Progress]:
    """The chunks that are to be done, after torn shards were set aside."""
    k, n = policy.share or (0, 1)
    mine = range(k, manifest.num_chunks, n)
    good, torn = store.done(manifest.key, contents=True)
    for chunk in torn:
        if chunk in mine:
            aside = store.set_aside(chunk)
            print(f"tangere sweep: chunk {chunk} was torn or changed, and is made again (old: {aside})",
                  file=sys.stderr)  # fmt: skip
    given_up = set() if policy.retry_failed else {f.chunk for f in store.failures()}
    pending = [c for c in mine if c not in good and c not in given_up]
    before = [c for c in mine if c in good or c in given_up]
    rows = [r - l for l, r in map(manifest.range_of, mine)]
    return pending, Progress(len(mine), sum(rows), len(before), sum(good[c].rows for c in before if c in good),
                             time.monotonic())  # fmt: skip


def _do_pending(store: Store, manifest: Manifest, engine: Any, policy: Policy) -> None:
    store.remove_leftovers()
    pending, progress = _pending(store, manifest, policy)
    show: Callable[[Progress], None] = (
        policy.progress if callable(policy.progress) else Reporter() if policy.progress else lambda _: None
    )
    show(progress)
    if not pending:
        return
    pool = engine.pool()
    progress.start = time.monotonic()
    try:
        drive(store, manifest, pool, pending, Limits(policy.tries, policy.chunk_seconds), progress, show)
    except SweepError as error:
        done = len(store.done(manifest.key)[0])
        text = f"{error} {done} of {manifest.num_chunks} chunks are done and safe: mend it and call again."
        raise type(error)(text) from None
    finally:
        pool.close()
