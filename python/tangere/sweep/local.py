"""The local engine: worker processes of this machine. One that dies is replaced; what it had not begun goes on."""

from __future__ import annotations

import os
import select
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from .errors import SweepError
from .wire import Child

__all__ = ["Answer", "LocalPool"]


# Workers in a row that die before they are up, after which it is given up.
_MOST_NEVER_READY = 5


@dataclass(frozen=True)
class Answer:
    """The end of a lease: what it gave, or how the worker died on it."""

    lease: int
    result: Any = None
    died: str | None = None
    #: Whether it died of what was done to it from outside, and not of what it did.
    killed: bool = False
    #: Whether the worker was computing it when it died, and not only writing it.
    was_running: bool = True


@dataclass
class _Worker:
    child: Child
    #: Leases that it has, in order, and those of them that are computed.
    leases: deque[int] = field(default_factory=deque)
    computed: set[int] = field(default_factory=set)
    #: Whether it came up.
    ready: bool = False

    @property
    def uncomputed(self) -> int:
        return len(self.leases) - len(self.computed)


class LocalPool:
    """`workers` processes; each has one lease to compute and one to go on with."""

    def __init__(self, workers: int) -> None:
        self._workers = [_Worker(Child("tangere.sweep.worker")) for _ in range(workers)]
        self._leases: dict[int, tuple[str, Any]] = {}
        self._waiting: deque[int] = deque()
        #: Leases that it is good to have out.
        self.slots = 2 * workers
        self.workers = workers
        self._never_ready = 0

    def submit(self, lease: int, kind: str, work: Any) -> None:
        self._leases[lease] = (kind, work)
        self._waiting.append(lease)
        self._hand_out()

    def _hand_out(self) -> None:
        while self._waiting:
            worker = min(self._workers, key=lambda w: w.uncomputed)
            if worker.uncomputed >= 2:
                return
            lease = self._waiting.popleft()
            worker.leases.append(lease)
            worker.child.send((lease, *self._leases[lease]))  # if it died, its pipe will say so

    def poll(self, seconds: float) -> list[Answer]:
        """Answers that came within this time; returns with the first."""
        answers: list[Answer] = []
        poller = select.poll()
        for worker in self._workers:
            poller.register(worker.child.fileno(), select.POLLIN)
        for descriptor, _ in poller.poll(1000.0 * seconds):
            k = next(k for k, w in enumerate(self._workers) if w.child.fileno() == descriptor)
            worker = self._workers[k]
            for message in worker.child.receive():
                if message[0] == "ready":
                    worker.ready, self._never_ready = True, 0
                    continue
                if message[0] == "computed":
                    worker.computed.add(message[1])
                    continue
                _, lease, result = message
                worker.leases.remove(lease)
                worker.computed.discard(lease)
                del self._leases[lease]
                answers.append(Answer(lease, result))
            if worker.child.ended:
                answers += self._replace(k)
        self._hand_out()
        return answers

    def _replace(self, k: int) -> list[Answer]:
        """A new worker in the place of a dead one."""
        worker = self._workers[k]
        died, killed = worker.child.how_it_ended(), worker.child.was_killed()
        worker.child.close()
        self._never_ready += 0 if worker.ready else 1
        if self._never_ready > _MOST_NEVER_READY:
            raise SweepError(f"worker processes do not come up: {died} (what they said is above)")
        self._workers[k] = _Worker(Child("tangere.sweep.worker"))
        answers = []
        begun = worker.ready
        unbegun = []
        for lease in worker.leases:
            if lease in worker.computed:
                answers.append(Answer(lease, died=died, killed=killed, was_running=False))
            elif begun:
                answers.append(Answer(lease, died=died, killed=killed))
                begun = False
            else:
                unbegun.append(lease)
        for answer in answers:
            del self._leases[answer.lease]
        self._waiting.extendleft(reversed(unbegun))
        return answers

    def pids(self) -> list[int]:
        return [worker.child.process.pid for worker in self._workers]

    def close(self) -> None:
        for worker in self._workers:
            worker.child.kill()


def run_alone(kind: str, work: Any) -> Answer:
    """A lease in a process of its own, whose death is known exactly."""
    pool = LocalPool(1)
    try:
        pool.submit(0, kind, work)
        while True:
            for answer in pool.poll(60.0):
                return answer
    finally:
        pool.close()


def default_workers() -> int:
    """One a core that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
