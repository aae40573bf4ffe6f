"""Gradients that see a contact before it happens: a box slides closely over the floor. Hard contact says nothing about the
floor until the box reaches it; smooth contact does, from the farther the larger its relaxation. With a file name as
argument the box is recorded there as it slides over the smooth floor, to be watched with `tangere view`."""

import sys
from pathlib import Path

import tangere as tg

hard = tg.scene_from_text(
    """{"format": "tangere-scene", "version": 1, "time_step": 0.01, "bodies": [
    {"name": "floor", "fixed": true, "friction": 0.4, "shape": {"type": "halfspace", "normal": [0, 0, 1]}},
    {"name": "box", "shape": {"type": "box", "size": [0.4, 0.3, 0.2]}, "mass": 1, "position": [0, 0, 0.1],
     "velocity": [1, 0, 0, 0, 0, 0]}]}"""
)


def at_height(world, height):
    """The state that much above the floor, remembering no contacts."""
    state = world.default_state()
    state.q[2] += height
    return state


def sensitivity(world, height):
    """d v'_x / d (height): how much a little more height lets the box slide faster."""
    return world.jacobians(at_height(world, height))[0][6, 2]


def difference(world, height, h=1e-6):
    """The same by a difference of the step."""
    less, more = (world.step(at_height(world, height + side)).v[0] for side in (-h, h))
    return (more - less) / (2 * h)


relaxations = [1e-2, 1e-3, 1e-4]
print("d v'_x / d height of a sliding box, 1/s")
print("  height   hard" + "".join(f"   kappa {kappa:.0e}" for kappa in relaxations))
worst = 0.0
for height in (0.0005, 0.002, 0.005, 0.02):
    line = f"  {height:.4f}  {sensitivity(hard, height):5.2f}"
    for kappa in relaxations:
        # differences want the solution, not a part of kappa beside it
        options = tg.SmoothOptions(kappa=kappa, tolerance=1e-11 / kappa)
        smooth = hard.replace(formulation="single_level", smooth=options)
        analytical, by_difference = sensitivity(smooth, height), difference(smooth, height)
        worst = max(worst, abs(analytical - by_difference) / (1.0 + abs(by_difference)))
        line += f"   {analytical:11.4f}"
    print(line)
print(f"worst difference from finite differences: {worst:.1e}")

if len(sys.argv) > 1:
    world = hard.replace(formulation="single_level", smooth=tg.SmoothOptions(kappa=1e-3))
    states = [world.default_state()]
    for _ in range(60):
        states.append(world.step(states[-1]))
    Path(sys.argv[1]).write_text(tg.recording(world, states))
assert worst < 1e-4
