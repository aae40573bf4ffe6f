"""The driver: hands chunks to a pool in leases, and believes only what is on the disk.

A lease is as many chunks as take about a quarter of a second, so that handing out costs nothing. A worker that dies
leaves chunks without receipt: they are tried again one by one, after all others, so that it is known which one kills
its worker. That one is given up after some tries, with a receipt that says why. A worker that was killed from outside
counts less: it may be a scheduler's doing, or a person's.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from .errors import SweepError, is_storage_error, storage_error
from .local import Answer
from .manifest import Manifest
from .progress import Progress
from .shards import Failure, Receipt, Store

__all__ = ["Limits", "Pool", "drive"]

_LEASE_SECONDS = 0.25
_LONGEST_LEASE = 64
# A chunk whose worker was killed from outside is tried so often at least: it may be innocent, or need too much memory.
_LEAST_KILLS = 10
# A disk that lost a chunk's files this often has a trouble of its own.
_MOST_LOSSES = 5


class Pool(Protocol):
    """An engine's processes, which do leases."""

    slots: int

    def submit(self, lease: int, kind: str, work: Any) -> None: ...
    def poll(self, seconds: float) -> list[Answer]: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class Limits:
    """How often a chunk that kills its worker is tried, and how long a chunk may take (seconds)."""

    tries: int = 3
    chunk_seconds: float | None = None


@dataclass
class _Drive:
    store: Store
    manifest: Manifest
    limits: Limits
    progress: Progress
    show: Callable[[Progress], None]
    #: Chunks nobody has, and those that were in a lease whose worker died: these go alone, and last.
    fresh: deque[int]
    suspects: deque[int] = field(default_factory=deque)
    deaths: dict[int, int] = field(default_factory=dict)
    kills: dict[int, int] = field(default_factory=dict)
    losses: dict[int, int] = field(default_factory=dict)
    leases: dict[int, list[int]] = field(default_factory=dict)
    next_lease: int = 0
    seconds_of_chunk: float | None = None
    receipts: list[Receipt] = field(default_factory=list)
    trouble: SweepError | None = None


def drive(store: Store, manifest: Manifest, pool: Pool, pending: list[int], limits: Limits,
          progress: Progress, show: Callable[[Progress], None]) -> None:  # fmt: skip
    """Does the pending chunks. Throws StorageError if the folder fails, after what was in flight has ended."""
    d = _Drive(store, manifest, limits, progress, show, deque(pending))
    while True:
        _hand_out(d, pool)
        if not d.leases:
            break
        for answer in pool.poll(1.0):
            _take(d, answer)
        d.progress.seconds = time.monotonic() - d.progress.start
        show(d.progress)
    if d.trouble is not None:
        raise d.trouble


def _lease_size(d: _Drive, slots: int) -> int:
    """Chunks of the next lease: long enough to be cheap, short enough that all workers end together."""
    if d.seconds_of_chunk is None:
        return 1
    wanted = int(min(_LONGEST_LEASE, max(1.0, _LEASE_SECONDS / max(d.seconds_of_chunk, 1e-6))))
    return max(1, min(wanted, math.ceil(len(d.fresh) / (2 * slots))))


def _hand_out(d: _Drive, pool: Pool) -> None:
    while d.trouble is None and len(d.leases) < pool.slots and (d.fresh or d.suspects):
        alone = not d.fresh
        if alone:
            chunks = [d.suspects.popleft()]
        else:
            chunks = [d.fresh.popleft() for _ in range(_lease_size(d, pool.slots))]
        lease = d.next_lease
        d.next_lease += 1
        d.leases[lease] = chunks
        pool.submit(lease, "chunks", ((str(d.store.folder), d.limits.chunk_seconds, alone), chunks))


def _take(d: _Drive, answer: Answer) -> None:
    chunks = d.leases.pop(answer.lease)
    if answer.died is not None:
        _bury(d, chunks, answer)
        return
    for chunk, kind, what in answer.result:
        if kind == "done":
            _done(d, chunk, what)
        elif kind == "failed":
            _fail(d, chunk, d.deaths.get(chunk, 0) + 1, what)
        elif kind == "died":
            _bury(d, [chunk], Answer(answer.lease, died=what[0], killed=what[1]))
        elif kind == "refused":
            d.trouble = d.trouble or SweepError(f"a worker cannot do chunks of {d.store.folder}: {what}")
        else:
            number, text = what
            if is_storage_error(number):
                d.trouble = d.trouble or storage_error(d.store.folder, number, text)
            else:
                d.trouble = d.trouble or SweepError(f"{d.store.folder}: cannot be written: {text}")


def _done(d: _Drive, chunk: int, receipt: Receipt) -> None:
    # it is done if the disk says so
    if not d.store.matches(receipt, contents=False):
        d.losses[chunk] = d.losses.get(chunk, 0) + 1
        if d.losses[chunk] >= _MOST_LOSSES:
            d.trouble = SweepError(f"{d.store.shard(chunk)}: vanishes or changes after it was written")
        d.fresh.append(chunk)
        return
    mean = d.seconds_of_chunk
    d.seconds_of_chunk = receipt.seconds if mean is None else 0.9 * mean + 0.1 * receipt.seconds
    d.receipts.append(receipt)
    d.progress.add(receipt.rows, False, time.monotonic())


def _bury(d: _Drive, chunks: list[int], answer: Answer) -> None:
    """Chunks of a lease whose worker died: some may be done; one alone is to blame, several are tried one by one."""
    left = []
    for chunk in chunks:
        receipt = d.store.read_receipt(chunk, d.manifest.key)
        if receipt is not None and d.store.matches(receipt):
            _done(d, chunk, receipt)
        else:
            left.append(chunk)
    if len(chunks) == 1 and left and answer.was_running:
        counts, most = (d.kills, max(d.limits.tries, _LEAST_KILLS)) if answer.killed else (d.deaths, d.limits.tries)
        counts[left[0]] = counts.get(left[0], 0) + 1
        if counts[left[0]] >= most:
            _fail(d, left[0], d.deaths.get(left[0], 0) + d.kills.get(left[0], 0), str(answer.died))
            return
    d.suspects.extend(left)


def _fail(d: _Drive, chunk: int, tries: int, text: str) -> None:
    start, stop = d.manifest.range_of(chunk)
    try:
        d.store.write_failure(Failure(chunk, start, stop - 1, tries, text))
    except OSError as error:
        d.trouble = d.trouble or storage_error(d.store.folder, error.errno, str(error))
        return
    d.progress.add(0, True, time.monotonic())
