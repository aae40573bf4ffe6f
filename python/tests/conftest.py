"""Fixtures for all tests."""

import json

import numpy as np
import pytest

import tangere as tg


def world_of(bodies, tmp_path, **options):
    """A world of the bodies of a scene, over a floor."""
    floor = {"name": "floor", "fixed": True, "friction": 0.4, "shape": {"type": "halfspace", "normal": [0, 0, 1]}}
    file = tmp_path / "scene.json"
    file.write_text(
        json.dumps({"format": "tangere-scene", "version": 1, "time_step": 0.005, "bodies": [floor, *bodies]})
    )
    return tg.load(file, **options)


@pytest.fixture
def sliding_box(tmp_path):
    """A box that slides over the floor."""
    box = {
        "name": "box",
        "shape": {"type": "box", "size": [0.5, 0.4, 0.2]},
        "mass": 2,
        "position": [0, 0, 0.0999],
        "velocity": [1, 0.3, 0, 0, 0, 0.5],
    }
    return world_of([box], tmp_path)


@pytest.fixture
def smooth_box(sliding_box):
    """The same by smooth contact."""
    return sliding_box.replace(formulation="single_level", smooth=tg.SmoothOptions(kappa=1e-3, tolerance=1e-8))


@pytest.fixture
def cartpole():
    return tg.load("cartpole.xml")


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def moved(world, state, tangent):
    """A state moved by (dq, dv) in its tangent."""
    nv = world.nv
    return tg.State(tg.integrate(world.model, state.q, tangent[:nv]), state.v + tangent[nv:])


def difference(world, a, b):
    """The tangent from state a to state b."""
    return np.concatenate([tg.difference(world.model, a.q, b.q), b.v - a.v])
