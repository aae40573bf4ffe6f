#!/usr/bin/env python3
"""Random problems of optimal control and their optima by Ipopt (through CasADi), one JSON object per line.

    ipopt_optimal_control.py > tests/data/ipopt_optimal_control.jsonl        (needs the wheels casadi and numpy)

    minimise  sum_k q/2 |x_k - t|^2 + r/2 |u_k|^2        x_0 given, k = 0 ... N (no u_N)
    with      x_{k+1} = A x_k + B u_k + bend * sin(D x_k),  |u| <= u_max,
              x_k[0] <= wall (k > 0),  radius^2 <= |x_k[0:2] - center|^2 (k > 0),  x_N[-1] = end

`bend` is 0 and there is no circle in the convex ones. Both solvers start from x_k = x_0, u = 0.
"""

import json
import sys

import casadi as ca
import numpy as np


def random_problem(random, convex):
    nx = int(random.integers(2, 5))
    nu = int(random.integers(1, 3))
    A = np.eye(nx) + 0.1 * random.normal(size=(nx, nx))
    B = 0.3 * random.normal(size=(nx, nu))
    x_0 = random.normal(size=nx)
    target = random.normal(size=nx)
    return {
        "convex": convex,
        "steps": int(random.integers(10, 31)),
        "A": A.tolist(),
        "B": B.tolist(),
        "D": random.normal(size=(nx, nx)).tolist(),
        "bend": 0.0 if convex else 0.1,
        "start": x_0.tolist(),
        "target": target.tolist(),
        "q": 1.0,
        "r": float(random.uniform(0.05, 0.5)),
        "u_max": float(random.uniform(0.3, 1.5)),
        "wall": float(max(x_0[0], target[0]) + random.uniform(0.0, 0.3)),
        # beside the way, so that both solvers go round it on the same side
        "center": (0.5 * (x_0[:2] + target[:2]) + 0.25 * np.array([-(target - x_0)[1], (target - x_0)[0]])).tolist(),
        "radius": 0.0 if convex else float(0.3 * np.linalg.norm((target - x_0)[:2])),
        "has_end": bool(random.integers(0, 2)),
        "end": float(0.7 * target[-1] + 0.3 * x_0[-1]),
    }


def solve(p):
    nx, nu, steps = len(p["start"]), len(p["B"][0]), p["steps"]
    A, B, D = ca.DM(p["A"]), ca.DM(p["B"]), ca.DM(p["D"])
    opti = ca.Opti()
    x = opti.variable(nx, steps + 1)
    u = opti.variable(nu, steps)
    cost = 0
    opti.subject_to(x[:, 0] == p["start"])
    for k in range(steps + 1):
        cost += 0.5 * p["q"] * ca.sumsqr(x[:, k] - p["target"])
        if k > 0:
            opti.subject_to(x[0, k] <= p["wall"])
            if p["radius"] > 0.0:
                opti.subject_to(ca.sumsqr(x[:2, k] - p["center"]) >= p["radius"] ** 2)
        opti.set_initial(x[:, k], p["start"])
        if k == steps:
            break
        cost += 0.5 * p["r"] * ca.sumsqr(u[:, k])
        opti.subject_to(x[:, k + 1] == A @ x[:, k] + B @ u[:, k] + p["bend"] * ca.sin(D @ x[:, k]))
        opti.subject_to(opti.bounded(-p["u_max"], u[:, k], p["u_max"]))
    if p["has_end"]:
        opti.subject_to(x[-1, steps] == p["end"])
    opti.minimize(cost)
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "tol": 1e-10, "max_iter": 500, "sb": "yes"})
    answer = opti.solve()
    return float(answer.value(cost)), np.atleast_2d(answer.value(u)).reshape(nu, steps).T.tolist()


def main():
    random = np.random.default_rng(7)
    for convex in (True, False):
        found = 0
        while found < 10:
            problem = random_problem(random, convex)
            start, center = np.array(problem["start"]), np.array(problem["center"])
            if problem["radius"] > 0.0 and min(np.linalg.norm(start[:2] - center), 1e9) < 1.1 * problem["radius"]:
                continue
            try:
                problem["cost"], problem["u"] = solve(problem)
            except RuntimeError as error:
                print(f"left out: {error}", file=sys.stderr)
                continue
            print(json.dumps(problem))
            found += 1


if __name__ == "__main__":
    main()
