"""A robot from a file, one step, and its linearisation. With a file name as argument some steps are recorded there, to be
watched with `tangere view`."""

import sys
from pathlib import Path

import numpy as np

import tangere as tg

world = tg.load("half_cheetah.xml")
u = np.zeros(world.nu)
first = world.record(world.default_state(), u)
A, B = first.jacobians()
print(f"dx' = A dx + B du: A is {A.shape[0]} x {A.shape[1]}, B is {B.shape[0]} x {B.shape[1]}, {first.gradient_quality()}")

status = first.next.status
if len(sys.argv) > 1:
    states = [first.next]
    for _ in range(100):
        states.append(world.step(states[-1], u))
    Path(sys.argv[1]).write_text(tg.recording(world, states))
    print(f"{len(world.contacts(states[-2], u))} contacts at the end")
    status = states[-1].status
assert first.gradient_quality() == "exact" and status == "solved"
