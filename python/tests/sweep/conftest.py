"""Fixtures and helpers of the sweeps' tests."""

import hashlib
import os
import signal
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, os.path.dirname(__file__))

import sweep_tasks
from tangere import sweep


def processes():
    """(pid, parent, command line) of all processes."""
    out = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parent = int(Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1])
                command = Path(f"/proc/{entry}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            out.append((int(entry), parent, command))
    return out


def descendants(root, text=""):
    """Living processes below one, whose command has this text."""
    everyone = processes()
    parents = {pid: parent for pid, parent, _ in everyone}
    out = []
    for pid, _, command in everyone:
        above = parents.get(pid, 0)
        while above not in (0, 1, root):
            above = parents.get(above, 0)
        if above == root and text in command:
            out.append(pid)
    return out


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def digest(run):
    """The hash of the merged file, the same whoever made it."""
    return hashlib.sha256(run.merge().read_bytes()).hexdigest()


def wait_until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


WAVE_ROWS = sweep.grid(x=[0.5, 1.0, 2.5]) * sweep.seeds(160)  # 480 rows


def wave(out, chunk=4, **how):
    return sweep.run(sweep_tasks.wave, WAVE_ROWS, out, chunk=chunk, seed=3, **how)


def check_whole(run, reference, chunks=120, rows=480):
    """All chunks are done, none lost, none doubled, and the table is that of the reference."""
    status = run.status
    assert (status.chunks, status.done, status.failed, status.torn) == (chunks, chunks, 0, 0)
    assert run.table().column("row").to_pylist() == list(range(rows))
    assert digest(run) == reference


@pytest.fixture(scope="session")
def reference(tmp_path_factory):
    """The digest of the table, made by one worker that nobody disturbs."""
    return digest(wave(tmp_path_factory.mktemp("reference") / "sweep", workers=1))


@pytest.fixture
def task_log(tmp_path, monkeypatch):
    """Every chunk that is begun is a line in it; workers are slowed down so that they can be disturbed."""
    log = tmp_path / "computed.log"
    log.touch()
    monkeypatch.setenv("SWEEP_TEST_LOG", str(log))
    monkeypatch.setenv("SWEEP_TEST_NAP", "0.012")
    return log


@pytest.fixture(autouse=True)
def nothing_left():
    """No process outlives its test."""
    yield
    end = time.monotonic() + 20.0
    while (left := [p for p in descendants(os.getpid()) if not zombie(p)]) and time.monotonic() < end:
        time.sleep(0.1)
    kill(left)
    if left:
        pytest.fail(f"processes were left: {left}")


def zombie(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
