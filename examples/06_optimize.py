"""A trajectory through contact: the half cheetah brings its head to a point, with the contacts it finds by itself; the plan
is then played with hard contact (docs/optimise.md). Argument: a file to record the motion to, to be watched with
`tangere view`."""

import sys
from pathlib import Path

import tangere as tg

task = tg.load_problem("half_cheetah")


def show(it):
    print(f"{it.iteration:3d}  cost {it.cost:.3e}  goal missed by {it.equality:.1e}  step {it.step:.2f}")


result = tg.Optimizer(task.problem, task.options).solve(callback=show)
print(f"{result.status} after {result.iterations} iterations")

# the plan replays: hard contact at its own step is what its last phase was made for
replay = tg.verify(task.problem, result.plan)
print(f"played: goal missed by {replay.equality:.1e}, states off by {replay.strays:.1e}")

if len(sys.argv) > 1:
    nq = task.world.nq
    states = [tg.State(x[:nq], x[nq:]) for x in result.plan.x]
    Path(sys.argv[1]).write_text(tg.recording(task.world, states, contacts=False))
assert result.status == "solved" and replay.strays <= 1e-6
