"""The Ray engine, on Ray's side: a process that turns leases into tasks of Ray and their ends into answers.

It is a process of its own because Ray ends the process it was started in when its head dies.
"""

from __future__ import annotations

import glob
import os
import signal
import threading
import time
from typing import Any

from .wire import read_message, write_message

__all__ = ["main"]

_OLDEST = (2, 52)


def _lease(paths: list[str], kind: str, work: Any) -> Any:
    """The function that a worker of Ray runs. It goes there as code, and finds tangere on the paths of here or of its own."""
    import os
    import sys

    os.environ["TANGERE_SWEEP_WORKER"] = "1"
    sys.path.extend(p for p in paths if p not in sys.path and os.path.isdir(p))
    from tangere.sweep.worker import run_lease

    return run_lease(kind, work)


def _connect(ray: Any, wish: dict[str, Any]) -> None:
    quiet = {"logging_level": "ERROR", "log_to_driver": True}
    if wish["address"] is not None:
        ray.init(address=wish["address"], **quiet)
        return
    ray.init(
        num_cpus=wish["workers"],
        num_gpus=0,
        include_dashboard=wish["dashboard"],
        object_store_memory=100 << 20,
        _node_ip_address="127.0.0.1",
        _temp_dir=wish["folder"],
        **quiet,
    )


def _reasons(error: BaseException | None) -> str:
    """An error with those that caused it: a token that is refused is one of them."""
    out = []
    while error is not None:
        out.append(f"{type(error).__name__}: {str(error).strip()}")
        error = error.__cause__ or error.__context__
    return "; because of ".join(dict.fromkeys(out))


def _slots(ray: Any, wish: dict[str, Any]) -> int:
    """Two leases a core: one that is computed and one to go on with."""
    cores = int(ray.cluster_resources().get("CPU", 0))
    return 2 * max(1, min(cores, wish["workers"] or cores))


class _Bridge:
    def __init__(self, ray: Any, wish: dict[str, Any], sink: Any) -> None:
        self._ray, self._wish, self._sink = ray, wish, sink
        self._sending = threading.Lock()
        _lease.__module__ = "__main__"  # to go as code, not as a name that must be installed there
        self._task = ray.remote(num_cpus=1, max_retries=0)(_lease)

    def send(self, message: Any) -> None:
        with self._sending:
            try:
                write_message(self._sink, message)
            except OSError:
                os._exit(1)

    def submit(self, lease: int, kind: str, work: Any) -> None:
        reference = self._task.remote(self._wish["paths"], kind, work)
        reference.future().add_done_callback(lambda future: self._ended(lease, future))

    def _ended(self, lease: int, future: Any) -> None:
        errors = self._ray.exceptions
        try:
            self.send(("answer", lease, future.result()))
        except errors.RayTaskError as error:
            self.send(("refused", f"a worker cannot do its work: {error}"))
        except (errors.WorkerCrashedError, errors.OutOfMemoryError) as error:
            first = str(error).strip().splitlines()[0]
            self.send(("died", lease, f"the worker was killed, or out of memory ({first})", True))
        except Exception as error:  # its node, or what held its answer
            self.send(("died", lease, f"{type(error).__name__}: {error}", False))

    def watch(self) -> None:
        """Says so when cores come and go."""
        known, wait = None, threading.Event()
        while not wait.wait(1.0):
            try:
                slots = _slots(self._ray, self._wish)
            except Exception:
                continue
            if slots != known:
                self.send(("slots", slots))
                known = slots


def _children_named(names: tuple[str, ...]) -> set[str]:
    """Which of these programs run as children of this process (Linux; nothing elsewhere)."""
    found = set()
    for task in glob.glob("/proc/self/task/*/children"):
        try:
            with open(task) as file:
                pids = file.read().split()
            for pid in pids:
                with open(f"/proc/{pid}/stat") as file:
                    _, _, rest = file.read().partition("(")
                name, _, state = rest.rpartition(")")
                if name in names and state.split()[0] != "Z":
                    found.add(name)
        except OSError:
            continue
    return found


def _end_with_head() -> None:
    """Ends this process as soon as the head of its own Ray is gone, in the start too; Ray itself would wait."""
    seen: set[str] = set()
    while True:
        now = _children_named(("gcs_server", "raylet"))
        if seen - now:
            os._exit(1)
        seen |= now
        time.sleep(0.2)


def main(from_driver: int, to_driver: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, sink = os.fdopen(from_driver, "rb"), os.fdopen(to_driver, "wb")
    wish = read_message(source)
    try:
        import ray
    except ImportError as error:
        write_message(sink, ("refused", f"it is not there ({error}): pip install 'ray >= 2.52'"))
        return
    version = tuple(int(part) for part in ray.__version__.split(".")[:2])
    if version < _OLDEST:
        write_message(sink, ("refused", f"{ray.__version__} is too old, 2.52 is the first that can ask for a token"))
        return
    if wish["address"] is None:
        threading.Thread(target=_end_with_head, daemon=True).start()
    try:
        _connect(ray, wish)
        bridge = _Bridge(ray, wish, sink)
        bridge.send(("slots", _slots(ray, wish)))
    except Exception as error:
        write_message(sink, ("refused", _reasons(error)))
        return
    threading.Thread(target=bridge.watch, daemon=True).start()
    try:
        while (message := read_message(source)) is not None:
            bridge.submit(*message)
    except (EOFError, OSError):
        os._exit(1)  # the driver was killed; a Ray of ours ends with this process
    if wish["address"] is not None:
        ray.shutdown()
    os._exit(0)  # and with it a Ray of ours
