"""Malformed calls: whatever is handed to the package, it answers or raises; the interpreter lives.

TANGERE_MALFORMED_CALLS says how many (default 3000).
"""

import os
import random
import threading

import numpy as np

import tangere as tg
from tangere import _core

NAN, INF = float("nan"), float("inf")


class Odd:
    """An object whose every conversion fails or lies."""

    def __array__(self, *_, **__):
        raise RuntimeError("no array")

    def __len__(self):
        return -1

    def __index__(self):
        return 10**30

    def __float__(self):
        return NAN


def objects(world):
    """What a call may be given: things of the package, and anything else."""
    x = world.default_state()
    batch = tg.Batch(world, 3, num_threads=2)
    model = world.model
    return [
        None, True, 0, 1, -1, 3, 10**30, -(10**30), 0.0, 1e-300, 1e300, NAN, INF, -INF, 1j, "", "box", "exact", "\0", b"abc",
        [], [1, 2, 3], [0, 0, 0, 0, 0, 0, 1], [NAN] * 3, [[]], [[1, 2], [3]], ["a"], {}, {"box.mass": -1}, {1: 2}, (), set(),
        object(), Odd(), int, print, np.zeros(0), np.zeros(3), np.zeros(6), np.zeros(7), np.ones(7), np.zeros((3, 3)),
        np.eye(4), np.zeros((2, 0)), np.zeros((4, 6)), np.full(6, NAN), np.zeros(3, dtype=complex), np.array(["x"]),
        np.zeros((3, 7)), np.zeros(12)[::2], np.zeros(6, dtype=np.float32), np.zeros(6, dtype=object), np.zeros((1,) * 20),
        np.ma.masked_array([1.0, 2.0], mask=[True, False]), memoryview(b"12345678"), world, model, x, batch, batch.q,
        world.record(x), world.rollout(x, np.zeros((3, world.nu))), tg.Sphere(1), tg.Box([1, 1, 1]), tg.HalfSpace([0, 0, 1]),
        tg.Bundle([tg.Sphere(1)]), tg.Pose(), tg.ContactOptions(), tg.SmoothOptions(), tg.ModelBuilder("b"),
        tg.scaling(tg.Sphere(1), [0, 0, 0], tg.Sphere(1), [3, 0, 0]), tg.mass_properties(tg.Sphere(1)),
        tg.OptimalControl(world, steps=2), tg.Optimizer(tg.OptimalControl(world, steps=2)), tg.OptimizerOptions(max_iterations=2),
        tg.ControlCost(weight=1), tg.Inequality(lambda knot: [1, 2, 3], 1), tg.Guess(), tg.BroadPhase(), tg.RestartOptions(count=1),
        tg.recording_from_text(tg.recording(world, [x])), tg.hull_of_points(np.random.default_rng(0).normal(size=(9, 3))),
        tg.mesh(tg.Sphere(1)), tg.Kinematics(model, x.q), tg.State(np.zeros(2), np.zeros(1)),
        _core.Shape.__new__(_core.Shape), _core.World.__new__(_core.World), _core.State.__new__(_core.State),
        _core.Batch.__new__(_core.Batch), _core.Step.__new__(_core.Step), _core.Model.__new__(_core.Model),
        _core.OptimalControl.__new__(_core.OptimalControl), _core.Optimizer.__new__(_core.Optimizer),
        _core.BroadPhase.__new__(_core.BroadPhase),
    ]  # fmt: skip


# Not called: what would take all memory or time by being asked for it, or writes to the terminal.
LEFT_OUT = {"__class__", "__init_subclass__", "__subclasshook__", "__reduce__", "__reduce_ex__", "__dir__", "__sizeof__"}


def callables(things):
    """Every function of the module, every class, and every method of every thing."""
    out = [getattr(_core, name) for name in dir(_core) if callable(getattr(_core, name)) and not name.startswith("__")]
    for thing in things:
        if type(thing).__module__.startswith("tangere"):
            for name in dir(type(thing)):
                if name not in LEFT_OUT:
                    out.append((thing, name))
    return out


def call(chosen, arguments, keywords):
    if not isinstance(chosen, tuple):
        return chosen(*arguments, **keywords)
    thing, name = chosen
    found = getattr(thing, name)
    if callable(found):
        return found(*arguments, **keywords)
    if arguments and name not in ("__doc__", "__module__"):
        setattr(thing, name, arguments[0])
    return found


KEYWORDS = ["x", "u", "mode", "smoothing", "tolerance", "names", "num_threads", "size", "q", "gradients", "nothing"]


def many_calls(world, seed, count):
    dice = random.Random(seed)
    things = objects(world)
    choices = callables(things)
    sizes = {"num_threads": [0, 1, 2, -1, "two"], "size": [1, 3, 0, -5, NAN]}
    failures = 0
    for _ in range(count):
        keywords = {}
        if dice.random() < 0.3:
            key = dice.choice(KEYWORDS)
            keywords[key] = dice.choice(sizes.get(key, things))
        arguments = [dice.choice(things) for _ in range(dice.choice([0, 1, 1, 2, 2, 3, 4, 5]))]
        try:
            call(dice.choice(choices), arguments, keywords)
        except Exception:  # noqa: BLE001: any exception is fine, nothing else is
            failures += 1
    return failures


def test_malformed_calls(sliding_box):
    count = int(os.environ.get("TANGERE_MALFORMED_CALLS", "3000"))
    seed = int(os.environ.get("TANGERE_MALFORMED_SEED", "1"))
    assert many_calls(sliding_box, seed, count) > 0
    # and the world still steps
    x = sliding_box.default_state()
    assert sliding_box.step(x).status == "solved"


def test_malformed_calls_in_threads(sliding_box):
    threads = [threading.Thread(target=many_calls, args=(sliding_box, seed, 300)) for seed in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert sliding_box.step(sliding_box.default_state()).status == "solved"


def test_malformed_calls_after_a_fork(sliding_box):
    child = os.fork()
    if child == 0:
        many_calls(sliding_box, 9, 300)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
