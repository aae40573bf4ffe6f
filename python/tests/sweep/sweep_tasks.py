"""Tasks of the tests: what workers import."""

import errno
import os
import signal
import time
from pathlib import Path

import numpy as np

import tangere as tg
from tangere import sweep


if "SWEEP_TEST_FULL" in os.environ and "TANGERE_SWEEP_WORKER" in os.environ:
    from tangere.sweep import shards

    _synchronise = shards._synchronise

    def _full(file):
        """A disk that is full after ten shards."""
        name = os.path.basename(file)
        if os.path.exists(os.environ["SWEEP_TEST_FULL"]) and name[:8].isdigit() and int(name[:8]) >= 10:
            raise OSError(errno.ENOSPC, "No space left on device")
        _synchronise(file)

    shards._synchronise = _full


def note(log, text):
    """A line in a file that all processes append to."""
    with open(log, "a") as file:
        file.write(f"{text}\n")


@sweep.task
def wave(x, seed, rng, row):
    """Numbers of all kinds, and a nested column; it tells that it ran."""
    if row % 4 == 0 and "SWEEP_TEST_LOG" in os.environ:
        note(os.environ["SWEEP_TEST_LOG"], row)
    time.sleep(float(os.environ.get("SWEEP_TEST_NAP", "0")))
    length = 2 + row % 3
    return {
        "y": float(np.sin(x + seed)),
        "count": int(row),
        "name": f"row {row}",
        "path": rng.normal(size=(length, 2)),
        "flags": np.arange(length) % 2 == 0,
        "maybe": None if row % 5 else 0.5,
    }


@sweep.task
def fall(height, seed):
    """A box falls: the engine's own numbers."""
    world = tg.load("tray.json")
    state = world.default_state()
    for _ in range(3):
        state = world.step(state, u=0)
    return {"q": state.q, "height_and_seed": height + seed % 7}


@sweep.task(batch=True)
def doubled(rows, rng, factor=2):
    return {"twice": factor * rows["x"], "noise": rng.normal(size=len(rows["x"])), "wide": np.ones((len(rows["x"]), 3))}


@sweep.task
def crashes(x, mode, log):
    """Some rows never end well."""
    note(log, x)
    if x == 7:
        if mode == "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        if mode == "exit":
            os._exit(9)
        if mode == "loop":
            while True:
                pass
        raise ValueError("this row is bad")
    return x * x


@sweep.task
def fills(x):
    """Two hundred kilobytes that do not compress."""
    return {"noise": np.random.default_rng(x).bytes(200_000)}


@sweep.task
def mixed(x):
    """Types that differ from chunk to chunk."""
    return {"a": x if x < 4 else x + 0.5, "b": None if x < 4 else "text", "c": np.zeros(0) if x < 4 else np.ones(2)}


def start(index, rng):
    return {"index": index, "angle": rng.uniform(-1, 1)}


@sweep.task
def angle_of(index, angle):
    return {"cosine": np.cos(angle)}


@sweep.task
def any_columns(**columns):
    return {"number": len(columns)}


@sweep.task
def naps(x, seconds):
    time.sleep(seconds)
    return x


@sweep.task
def lies_down(x, marker):
    """Waits until a file is there: chunks that can be held."""
    while not Path(marker).exists():
        time.sleep(0.01)
    return x


@sweep.task
def parabola(parameters, x):
    return 0.5 * float((parameters[0] - x) ** 2) * 2.0, np.array([2.0 * (parameters[0] - x)])


@sweep.task(batch=True)
def parabolas(parameters, episodes):
    d = parameters[0] - episodes["x"]
    return float((d**2).sum()), np.array([2.0 * d.sum()])


@sweep.task
def bad_loss(parameters, kind, x):
    if kind == "throw":
        raise KeyError("lost")
    if kind == "exit":
        os._exit(3)
    return 1.0 if kind == "form" else (1.0, np.zeros(x))


@sweep.task
def episode(seed, rng):
    length = 5 + seed % 3
    return {"path": rng.normal(size=(length + 1, 4)), "u": rng.normal(size=(length, 2)), "goal": rng.normal(size=3),
            "reached": bool(seed % 2)}  # fmt: skip
