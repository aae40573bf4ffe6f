"""Messages between a driver and its child processes: a length, then a pickled tuple, through pipes of their own."""

from __future__ import annotations

import os
import pickle
import signal
import struct
import subprocess
import sys
from typing import Any, BinaryIO

from .tasks import IN_WORKER

__all__ = ["Child", "read_message", "write_message"]

_LENGTH = struct.Struct("<Q")


def write_message(file: BinaryIO, message: Any) -> None:
    body = pickle.dumps(message, protocol=5)
    file.write(_LENGTH.pack(len(body)) + body)
    file.flush()


def read_message(file: BinaryIO) -> Any:
    """The next message. Throws EOFError at the end."""
    head = file.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    body = file.read(_LENGTH.unpack(head)[0])
    if len(body) < _LENGTH.unpack(head)[0]:
        raise EOFError
    return pickle.loads(body)


class Child:
    """A process `python -m <module>` of ours, with a pipe to it and one back. What it prints goes to standard error."""

    def __init__(self, module: str, extra: dict[str, str] | None = None) -> None:
        to_child, self._to = os.pipe()
        self._from, from_child = os.pipe()
        environment = {**os.environ, IN_WORKER: "1", "PYTHONUNBUFFERED": "1", **(extra or {})}
        environment["PYTHONPATH"] = os.pathsep.join(os.path.abspath(p) if p else os.getcwd() for p in sys.path)
        # one chunk is one core's work: libraries in it must not start as many threads as there are cores
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            environment.setdefault(name, "1")
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-c", f"import {module} as m; m.main({to_child}, {from_child})"],
                pass_fds=(to_child, from_child),
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr.fileno() if _has_descriptor(sys.stderr) else subprocess.DEVNULL,
                env=environment,
                start_new_session=True,  # Ctrl-C is for the driver
            )
        finally:
            os.close(to_child)
            os.close(from_child)
        self._out = os.fdopen(self._to, "wb")
        os.set_blocking(self._from, False)
        self._buffer = bytearray()
        self.ended = False

    def fileno(self) -> int:
        return self._from

    def send(self, message: Any) -> bool:
        """False if the process is gone."""
        try:
            write_message(self._out, message)
            return True
        except (BrokenPipeError, ValueError):
            return False

    def receive(self) -> list[Any]:
        """All messages that are there. `ended` is set at the end of the pipe: the process is gone, or goes."""
        while True:
            try:
                block = os.read(self._from, 1 << 20)
            except BlockingIOError:
                break
            if not block:
                self.ended = True
                break
            self._buffer += block
        messages = []
        while len(self._buffer) >= _LENGTH.size:
            end = _LENGTH.size + _LENGTH.unpack_from(self._buffer)[0]
            if len(self._buffer) < end:
                break
            messages.append(pickle.loads(bytes(self._buffer[_LENGTH.size : end])))
            del self._buffer[:end]
        return messages

    def kill(self) -> None:
        self.process.kill()
        self.close()

    def close(self, seconds: float = 5.0) -> None:
        """Closes the pipes, which ends the process, and waits for it."""
        for close in (self._out.close, lambda: os.close(self._from)):
            try:
                close()
            except OSError:
                pass
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def was_killed(self) -> bool:
        """Whether it ended by what others do to it, once it has: a kill, or the kernel where memory runs out."""
        return self.process.poll() in (-signal.SIGKILL, -signal.SIGTERM)

    def how_it_ended(self) -> str:
        """In words, once it has."""
        try:
            code = self.process.wait(5.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        if code >= 0:
            return f"the worker ended with exit code {code}"
        name = signal.Signals(-code).name if -code in list(signal.Signals) else f"signal {-code}"
        meaning = {"SIGALRM": ": over its time limit", "SIGSEGV": ": a crash", "SIGKILL": ": out of memory, or killed"}
        return f"the worker was ended by {name}{meaning.get(name, '')}"


def _has_descriptor(file: Any) -> bool:
    try:
        file.fileno()
        return True
    except (OSError, AttributeError, ValueError):
        return False
