#!/usr/bin/env python3
"""What Python costs over C++: calls, batches, PyTorch, JAX, import. Prints a table in Markdown.

PYTHONPATH=build/release/python build/venv/bin/python bench/python.py

The time of C++ is that of a loop without Python in it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import tangere as tg
from tangere import _core


def seconds(work: Callable[[], object], repeats: int) -> float:
    """The median time of a call, over groups of calls."""
    groups = []
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(repeats):
            work()
        groups.append((time.perf_counter() - start) / repeats)
    return float(np.median(groups))


def row(name: str, value: float, unit: str, aim: str) -> None:
    print(f"| {name} | {value:.3g} {unit} | {aim} |")


def pairs() -> None:
    A, B = tg.Capsule(0.2, 1.0), tg.Box([0.5, 0.4, 0.3])
    X_A, X_B = tg.Pose(), tg.Pose([0.9, 0.6, 0.1], [0, 0, 0, 1])
    call = seconds(lambda: tg.scaling(A, X_A, B, X_B), 5000)
    inside = np.median([_core._timed_scaling(A, X_A, B, X_B, 5000) for _ in range(9)])
    row("pair query, call over C++", 1e6 * (call - inside), "µs", "1.0")


def steps() -> None:
    world = tg.load("cartpole.xml")
    x, u = world.default_state(), np.zeros(world.nu)
    call = seconds(lambda: world.step(x, u), 2000)
    inside = float(np.median([_core._timed_step(world, x, 2000) for _ in range(9)]))
    row("`world.step` of a cartpole, call over C++", 1e6 * (call - inside), "µs", "1.5")
    n, T = 1024, 100
    rolls = {}
    for threads in (1, 2):
        batch = tg.Batch(world, n, num_threads=threads)
        rolls[threads] = seconds(lambda b=batch: b.rollout(np.zeros((T, world.nu))), 1) / (n * T)
    row("batch of 1024 cartpoles, one thread: C++ time a step over the batch's", inside / rolls[1], "", "0.95")
    row("the same, two threads over one", rolls[1] / rolls[2], "", "1.85")


def torch_step() -> None:
    try:
        import torch
    except ImportError:
        return
    world = tg.load("cartpole.xml")
    batch = tg.Batch(world, 1, num_threads=1)
    x = torch.tensor(batch.states, requires_grad=True)
    work = lambda: tg.torch.step(batch, x).sum().backward()  # noqa: E731
    row("torch: step forward and backward of one world", 1e6 * seconds(work, 200), "µs", "40 over C++")


def jax_step() -> None:
    try:
        import jax

        step = jax.jit(tg.jax.step(tg.load("cartpole.xml")))
    except ImportError:
        return
    x, u = jax.numpy.zeros(4), jax.numpy.zeros(1)
    step(x, u).block_until_ready()
    row("JAX: jitted step of one world", 1e6 * seconds(lambda: step(x, u).block_until_ready(), 500), "µs", "10 over C++")


def package() -> None:
    bare = "import time, numpy; t = time.perf_counter(); import tangere; print(time.perf_counter() - t)"
    times = [float(subprocess.check_output([sys.executable, "-c", bare], env=os.environ)) for _ in range(5)]
    row("import, after NumPy", float(np.median(times)), "s", "0.15")
    wheels = sorted(Path("build/wheels").glob("*.whl"))
    if wheels:
        row("wheel", wheels[-1].stat().st_size / 1e6, "MB", "8")


if __name__ == "__main__":
    print("| | measured | aim |\n| --- | --: | --: |")
    for part in (pairs, steps, torch_step, jax_step, package):
        part()
