"""Gradients through contact: of one step, and of where a box that is pushed over the floor ends up. With a file name as
argument the push is recorded there, to be watched with `tangere view`."""

import sys
from pathlib import Path

import numpy as np

import tangere as tg

world = tg.scene_from_text(
    """{"format": "tangere-scene", "version": 1, "time_step": 0.005, "bodies": [
    {"name": "floor", "fixed": true, "friction": 0.4, "shape": {"type": "halfspace", "normal": [0, 0, 1]}},
    {"name": "box", "shape": {"type": "box", "size": [0.5, 0.4, 0.2]}, "mass": 2, "position": [0, 0, 0.0999],
     "velocity": [1, 0.3, 0, 0, 0, 0.5]}]}"""
)
start = world.default_state()
u = np.zeros(world.nu)  # without actuators the control is the force and torque on the box
u[0] = 3.0

# one step, and how the next state (q, v) moves with state, control and the box's mass
step = world.record(start, u)
A, B = step.jacobians()
P = step.parameter_jacobians(["box.mass"])
print(
    f"one step: d v'_x / d v_x = {A[6, 6]:.6f}, d v'_x / d u_x = {B[6, 0]:.6f} (dt / m = {world.time_step / 2:.6f}), "
    f"d v'_x / d m = {P[6, 0]:.6f}: {step.gradient_quality()}"
)

# loss: x at the end of 40 steps; one backward pass gives its gradient in the start and in every control
steps = 40
controls = np.tile(u, (steps, 1))
rollout = world.rollout(start, controls)
print(f"x after {steps} steps: {rollout[-1].q[0]:.6f}")
if len(sys.argv) > 1:
    Path(sys.argv[1]).write_text(tg.recording(world, list(rollout)))
gradients = np.zeros((steps + 1, 2 * world.nv))
gradients[-1, : world.nv] = tg.point_gradient(world.model, rollout[-1].q, "box", [0, 0, 0], [1, 0, 0])
_, g_controls = rollout.reverse(gradients)

# the check: push a little more and a little less in step 10
h = 1e-4
ends = []
for side in (1, -1):
    changed = controls.copy()
    changed[10, 0] += side * h
    ends.append(world.rollout(start, changed)[-1].q[0])
difference = (ends[0] - ends[1]) / (2 * h)
print(f"d x / d force in step 10: {g_controls[10, 0]:.9f}, by a difference {difference:.9f}")
assert abs(g_controls[10, 0] - difference) < 1e-6 * abs(difference)
