"""A crate, a ball and a can fall on the floor and come to rest. With a file name as argument it is recorded there, to be
watched with `tangere view`."""

import sys
from pathlib import Path

import numpy as np

import tangere as tg

# the text of a scene; tg.load reads files, and robots beside them
world = tg.scene_from_text(
    """{"format": "tangere-scene", "version": 1, "time_step": 0.005, "bodies": [
    {"name": "floor", "fixed": true, "shape": {"type": "halfspace", "normal": [0, 0, 1]}},
    {"name": "crate", "shape": {"type": "box", "size": [1, 1, 0.4]}, "mass": 4, "position": [0, 0, 0.3]},
    {"name": "ball", "shape": {"type": "sphere", "radius": 0.2}, "mass": 1, "position": [2, 0, 0.5]},
    {"name": "can", "shape": {"type": "cylinder", "radius": 0.1, "length": 0.5}, "mass": 2, "position": [-2, 0, 0.4]}]}"""
)

states = [world.default_state()]
for i in range(1, 201):
    state = world.step(states[-1])
    states.append(state)
    # free bodies one after the other, 7 coordinates each: position, then quaternion
    if i % 40 == 0:
        crate, ball, can = state.q[2], state.q[9], state.q[16]
        num_contacts = len(world.contacts(states[-2]))
        time = i * world.time_step
        print(f"t {time:.1f} s: heights of crate {crate:.4f}, ball {ball:.4f}, can {can:.4f}; {num_contacts} contacts")

if len(sys.argv) > 1:
    Path(sys.argv[1]).write_text(tg.recording(world, states))
    print(f"recorded: tangere view {sys.argv[1]}")
assert abs(state.q[2] - 0.2) < 1e-4 and abs(state.q[9] - 0.2) < 1e-4 and np.linalg.norm(state.v) < 1e-3
assert num_contacts > 0
