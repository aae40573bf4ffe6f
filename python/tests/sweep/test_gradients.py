"""Summed gradients: right, and the same bits whoever adds."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import sweep_tasks as tasks
from conftest import descendants, kill
from tangere import InputError, sweep
from tangere.sweep.summed import close_all, tree_sum

EXAMPLE = Path(__file__).parents[3] / "examples" / "train_policy.py"


@pytest.fixture(scope="module")
def example():
    sys.path.insert(0, str(EXAMPLE.parent))
    import train_policy

    return train_policy


def bits(result):
    value, gradient = result
    return value.hex(), {name: entry.tobytes() for name, entry in gradient.items()}


def test_the_tree_adds_neighbours():
    assert tree_sum([["a"]]) == ["a"]
    rng = np.random.default_rng(0)
    terms = list(rng.normal(size=13) * 10.0 ** rng.integers(-8, 8, 13))
    t = terms
    eight = ((t[0] + t[1]) + (t[2] + t[3])) + ((t[4] + t[5]) + (t[6] + t[7]))
    assert tree_sum(terms) == eight + (((t[8] + t[9]) + (t[10] + t[11])) + t[12])


def test_the_gradient_of_the_example_is_that_of_differences(example):
    weights = example.start_weights()
    draw = lambda: sweep.generator(4, 2)
    _, gradient = example.loss(weights, rng=draw())
    rng = np.random.default_rng(1)
    for _ in range(3):
        direction = {name: rng.normal(size=entry.shape) for name, entry in weights.items()}
        h = 1e-5
        ends = [example.loss({n: weights[n] + s * h * direction[n] for n in weights}, rng=draw())[0] for s in (1, -1)]
        along = sum((gradient[n] * direction[n]).sum() for n in weights)
        assert along == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-6)


def test_any_number_of_workers_gives_the_same_bits(example):
    weights = example.start_weights()
    found = []
    for workers in (1, 2, 3):
        with sweep.Gradients(example.loss, workers=workers) as gradients:
            found.append(bits(gradients(weights, 37, seed=5)))
    assert found[0] == found[1] == found[2]
    # the sum is the sum
    one_by_one = [example.loss(weights, rng=sweep.generator(5, k)) for k in range(37)]
    assert float.fromhex(found[0][0]) == pytest.approx(sum(v for v, _ in one_by_one), rel=1e-12)
    total = sum(g["W"] for _, g in one_by_one)
    assert np.frombuffer(found[0][1]["W"]) == pytest.approx(total.ravel(), rel=1e-9, abs=1e-12)


def test_dead_workers_change_no_bit(example):
    weights = example.start_weights()
    with sweep.Gradients(example.loss, workers=2) as gradients:
        expected = bits(gradients(weights, 64, seed=1))
        for _ in range(3):
            kill(descendants(os.getpid(), "tangere.sweep.worker"))
            assert bits(gradients(weights, 64, seed=1)) == expected


def test_ray_gives_the_same_bits(example):
    pytest.importorskip("ray")
    weights = example.start_weights()
    with sweep.Gradients(example.loss, workers=2) as local:
        expected = bits(local(weights, 37, seed=5))
    with sweep.Gradients(example.loss, engine="ray", workers=2) as ray:
        assert bits(ray(weights, 37, seed=5)) == expected


def test_the_example_learns_the_same_with_one_worker_and_two(example):
    weights_1, losses_1 = example.train(40, episodes=32, workers=1)
    weights_2, losses_2 = example.train(40, episodes=32, workers=2)
    assert losses_1 == losses_2 and all(np.array_equal(weights_1[n], weights_2[n]) for n in weights_1)
    assert np.mean(losses_1[-5:]) < 0.2 * np.mean(losses_1[:5])


def test_the_function_keeps_its_workers():
    args = (tasks.parabola, np.array([3.0]), [{"x": 1.0}, {"x": 2.0}])
    assert sweep.gradients(*args, workers=1) == (5.0, np.array([6.0]))
    before = descendants(os.getpid(), "tangere.sweep.worker")
    assert sweep.gradients(*args, workers=1)[0] == 5.0 and descendants(os.getpid(), "tangere.sweep.worker") == before
    close_all()


def test_batches():
    with sweep.Gradients(tasks.parabolas, workers=2, chunk=2) as gradients:
        value, gradient = gradients(np.array([3.0]), [{"x": 1.0}, {"x": 2.0}, {"x": 3.0}])
    assert value == 5.0 and gradient == np.array([6.0])


def test_what_a_loss_does_wrong_is_told():
    with sweep.Gradients(tasks.bad_loss, workers=1) as gradients:
        for kind, says in (("throw", "episode 0: KeyError: 'lost'.*sweep_tasks.py"), ("form", r"\(value, gradient\)"),
                           ("shape", "other shapes"), ("exit", "exit code 3, 3 times")):  # fmt: skip
            with pytest.raises(sweep.SweepError, match=says):
                gradients(np.zeros(2), sweep.grid(kind=[kind], x=[1, 2]))
    with pytest.raises(sweep.SweepError, match="closed"):
        gradients(np.zeros(2), 3)
    with pytest.raises(InputError, match="engine: must be local or ray"):
        sweep.Gradients(tasks.bad_loss, engine="slurm")
