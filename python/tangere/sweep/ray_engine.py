"""The Ray engine, on the driver's side: a child process talks to Ray, so that no death of Ray is one of the driver.

Ray schedules leases on the cluster's cores and replaces workers; what is done is on the disk (shards.py), so nothing
hangs on Ray's own memory. When Ray, or its head, dies, the child dies with it; another one starts Ray, or looks for the
cluster, again, and leases that were out are handed out once more.
"""

from __future__ import annotations

import os
import secrets
import select
import shutil
import sys
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import Any

from .engines import Ray
from .errors import SweepError
from .local import Answer, default_workers
from .wire import Child

__all__ = ["RayPool"]

_START_SECONDS = 120.0
# How soon a driver of Ray believes that the head is gone.
_HEAD_SECONDS = "10"


def _write_token(folder: Path) -> Path:
    """A secret of its own for a Ray of its own, which nobody else may read."""
    file = folder / "token"
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(secrets.token_hex(32))
    return file


class RayPool:
    """A pool whose leases are tasks of Ray, one core each."""

    def __init__(self, engine: Ray) -> None:
        self._engine = engine
        self._leases: dict[int, tuple[str, Any]] = {}
        self._answers: deque[Answer] = deque()
        self._restarts = 0
        self._folder: Path | None = None
        self._child: Child | None = None
        self.slots = 2
        self._start()

    def _environment(self) -> dict[str, str]:
        out = {
            "RAY_AUTH_MODE": "token",
            "RAY_USAGE_STATS_ENABLED": "1" if self._engine.statistics else "0",
            "RAY_gcs_rpc_server_reconnect_timeout_s": _HEAD_SECONDS,
            "RAY_DEDUP_LOGS": "0",
        }
        if self._engine.address is None:
            # short: sockets live below it, and their paths have a limit
            self._folder = Path(tempfile.mkdtemp(prefix="tgray-"))
            # without it Ray puts the address of the network in the place of the loopback's
            out["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
            out["RAY_AUTH_TOKEN_PATH"] = str(_write_token(self._folder))
        return out

    def _start(self) -> None:
        """Starts the child, and waits until it is connected."""
        self._remove_folder()
        self._child = Child("tangere.sweep.ray_bridge", self._environment())
        engine = self._engine
        self._child.send({
            "address": engine.address, "workers": engine.workers or (None if engine.address else default_workers()),
            "dashboard": engine.dashboard, "folder": str(self._folder) if self._folder else None,
            "paths": [os.path.abspath(p) if p else os.getcwd() for p in sys.path],
        })  # fmt: skip
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end:
            for message in self._receive(1.0):
                if message[0] == "slots":
                    self.slots = message[1]
                    return
                if message[0] == "refused":
                    self.close()
                    raise SweepError(f"Ray: {message[1]}")
            if self._child.ended:
                raise SweepError(f"Ray does not start: {self._child.how_it_ended()}")
        self.close()
        raise SweepError(f"Ray does not start within {_START_SECONDS:.0f} s")

    def _receive(self, seconds: float) -> list[Any]:
        assert self._child is not None
        poller = select.poll()
        poller.register(self._child.fileno(), select.POLLIN)
        return self._child.receive() if poller.poll(1000.0 * seconds) else []

    def submit(self, lease: int, kind: str, work: Any) -> None:
        assert self._child is not None
        self._leases[lease] = (kind, work)
        self._child.send((lease, kind, work))

    def poll(self, seconds: float) -> list[Answer]:
        assert self._child is not None
        for message in self._receive(seconds):
            if message[0] == "slots":
                self.slots = message[1]
            elif message[0] == "answer":
                self._restarts = 0
                self._answer(Answer(message[1], message[2]))
            elif message[0] == "died":
                self._answer(Answer(message[1], died=message[2], killed=True, was_running=message[3]))
            else:
                raise SweepError(f"Ray: {message[1]}")
        if self._child.ended:
            self._start_again()
        answers, self._answers = list(self._answers), deque()
        return answers

    def _answer(self, answer: Answer) -> None:
        if self._leases.pop(answer.lease, None) is not None:
            self._answers.append(answer)

    def _start_again(self) -> None:
        assert self._child is not None
        how = self._child.how_it_ended()
        self._child.close()
        for lease in list(self._leases):
            self._answer(Answer(lease, died="Ray died", was_running=False))
        while True:
            self._restarts += 1
            if self._restarts > self._engine.restarts:
                raise SweepError(f"Ray died and does not come back ({how})")
            print(f"tangere sweep: Ray is gone ({how}); starting it again", file=sys.stderr)
            try:
                return self._start()
            except SweepError as error:
                how = str(error)
                time.sleep(min(10.0, 2.0**self._restarts))

    def close(self) -> None:
        if self._child is not None:
            self._child.send(None)
            self._child.close(seconds=10.0)
        self._remove_folder()

    def _remove_folder(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
