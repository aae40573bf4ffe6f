"""A worker: leases in, answers out. Chunks are written and synchronised by threads while the next one is computed.

A lease is (number, kind, work). The kind `chunks` is ((folder, time limit, alone), list of chunks), its answer an outcome
per chunk; `alone` is a chunk that may kill. `gradient` is in summed.py. `computed` is sent when the worker turns to the next lease, `answer` when all of
it is on the disk. A worker whose driver is gone ends at once: what it leaves is whole or not there.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import importlib
import os
import queue
import signal
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from . import manifest as manifests
from .chunk import TaskFailed, compute, metadata, to_bytes
from .errors import InputError, SweepError
from .local import run_alone
from .manifest import Manifest
from .shards import Receipt, Store
from .wire import read_message, write_message

__all__ = ["Outcome", "main", "run_lease"]

# Threads that wait for the disk. They hardly compute.
_WRITERS = 8
# Chunks that may wait for the disk before computing waits too.
_MOST_UNWRITTEN = 64

# (chunk, "done", receipt) | (chunk, "failed", text) | (chunk, "died", (text, killed)) | (chunk, "refused", text)
# | (chunk, "storage", (errno, text))
Outcome = tuple[int, str, Any]

# Kinds of leases and the functions (context, work) -> answer that do them.
KINDS = {"gradient": "tangere.sweep.summed:work_on"}

_loaded: dict[str, tuple[float, Manifest]] = {}


def load(folder: str) -> Manifest:
    """The manifest of a folder, read again if it changed; this process's code is compared with it."""
    changed = os.stat(os.path.join(folder, "manifest.json")).st_mtime
    known = _loaded.get(folder)
    if known is None or known[0] != changed:
        loaded = manifests.read(Path(folder))
        loaded.check_code()
        to_bytes(pa.table({"warm": [0.5]}), {})  # what pyarrow imports late is not a chunk's time
        _loaded[folder] = known = (changed, loaded)
    return known[1]


def _limit_time(seconds: float) -> None:
    """The kernel ends this process when the time is over: a loop in C++ cannot hold that up."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _prepare(folder: str, chunk: int, time_limit: float | None) -> tuple[Path, Receipt]:
    """Computes a chunk, and writes its shard under another name."""
    manifest = load(folder)
    start = time.perf_counter()
    if time_limit is not None:
        _limit_time(time_limit)
    try:
        table = compute(manifest, chunk)
    finally:
        if time_limit is not None:
            _limit_time(0.0)
    about = metadata(manifest.key, manifest.identity, manifest.accepted, chunk)
    contents = to_bytes(table, about)
    digest = hashlib.sha256(contents).hexdigest()
    seconds = time.perf_counter() - start
    receipt = Receipt(chunk, digest, len(contents), table.num_rows, seconds, socket.gethostname(), os.getpid(),
                      manifest.key)  # fmt: skip
    return Store(Path(folder)).prepare_shard(chunk, contents), receipt


def _commit(folder: str, chunk: int, temporary: Path, receipt: Receipt) -> Outcome:
    try:
        return chunk, "done", Store(Path(folder)).commit_shard(temporary, receipt)
    except OSError as error:
        return chunk, "storage", (error.errno, str(error))


def _start_chunk(writers: concurrent.futures.Executor, folder: str, chunk: int,
                 time_limit: float | None) -> Any:  # fmt: skip
    """Computes a chunk; its outcome, or the promise of one."""
    try:
        load(folder)
    except (InputError, SweepError) as error:
        return chunk, "refused", str(error)
    except OSError as error:
        return chunk, "storage", (error.errno, str(error))
    except Exception as error:  # the task's own file cannot be imported
        return chunk, "refused", f"the task cannot be imported: {type(error).__name__}: {error}"
    try:
        temporary, receipt = _prepare(folder, chunk, time_limit)
    except (TaskFailed, SweepError) as error:
        return chunk, "failed", str(error)
    except OSError as error:
        return chunk, "storage", (error.errno, str(error))
    return writers.submit(_commit, folder, chunk, temporary, receipt)


def _outcome(started: Any) -> Outcome:
    return started.result() if isinstance(started, concurrent.futures.Future) else started


_executor: list[concurrent.futures.Executor] = []


def _writers() -> concurrent.futures.Executor:
    if not _executor:
        _executor.append(concurrent.futures.ThreadPoolExecutor(_WRITERS))
    return _executor[0]


def start_lease(kind: str, work: Any) -> Callable[[], Any]:
    """Does the computing of a lease. What is given waits for the rest of it and gives the answer."""
    if kind != "chunks":
        module, name = KINDS[kind].split(":")
        answer = getattr(importlib.import_module(module), name)(work)
        return lambda: answer
    (folder, time_limit, _), chunks = work
    unwritten = threading.Semaphore(_MOST_UNWRITTEN)
    started = []
    for chunk in chunks:
        unwritten.acquire()
        one = _start_chunk(_writers(), folder, chunk, time_limit)
        if isinstance(one, concurrent.futures.Future):
            one.add_done_callback(lambda _: unwritten.release())
        else:
            unwritten.release()
        started.append(one)
    return lambda: [_outcome(one) for one in started]


def run_lease(kind: str, work: Any) -> Any:
    """A whole lease, for engines that have processes of their own, and may not say how these died.

    A chunk that may kill runs in a process below.
    """
    if kind == "chunks" and work[0][2]:
        answer = run_alone(kind, work)
        return answer.result if answer.died is None else [(c, "died", (answer.died, answer.killed)) for c in work[1]]
    return start_lease(kind, work)()


def main(from_driver: int, to_driver: int) -> None:
    """The process of the local engine."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, sink = os.fdopen(from_driver, "rb"), os.fdopen(to_driver, "wb")
    leases: queue.Queue[Any] = queue.Queue()
    unanswered: queue.Queue[Any] = queue.Queue()
    sending = threading.Lock()

    def send(message: Any) -> None:
        with sending:
            try:
                write_message(sink, message)
            except OSError:
                os._exit(1)

    def listen() -> None:
        try:
            while True:
                leases.put(read_message(source))
        except (EOFError, OSError):
            os._exit(1)  # the driver is gone, or has enough

    def answer() -> None:
        while True:
            number, finish = unanswered.get()
            send(("answer", number, finish()))

    send(("ready",))
    threading.Thread(target=listen, daemon=True).start()
    threading.Thread(target=answer, daemon=True).start()
    while True:
        number, kind, work = leases.get()
        finish = start_lease(kind, work)
        send(("computed", number))
        unanswered.put((number, finish))
