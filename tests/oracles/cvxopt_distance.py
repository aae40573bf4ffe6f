#!/usr/bin/python3
"""Writes tests/data/cvxopt_distance.jsonl: the distance of the separated pairs of cvxopt_scaling.jsonl, by CVXOPT.

    /usr/bin/python3 tests/oracles/cvxopt_distance.py            (under a minute; needs python3-cvxopt, python3-numpy)

The same rows as the scaling's cone program with alpha fixed to 1 and a point of its own for each shape:

    minimise t   subject to   |x_B - x_A| <= t,   x_A in A,   x_B in B

A line is {"line": which pair (from 1), "distance": t, "tolerance": at which conelp converged}. Every third of the pairs
with alpha above 1.01 that converge at 1e-8 or better.
"""

import json
import pathlib

import numpy as np

from scaling_oracle import ConeProgram, rotation, scaled_shape

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"


class DistanceProgram(ConeProgram):
    """v = (x_A, t, x_B, auxiliaries); alpha is the number one."""

    def alpha(self, coefficients=1.0):
        coefficients = np.atleast_1d(np.asarray(coefficients, float))
        rows = np.zeros((len(coefficients), self.capacity + 1))
        rows[:, -1] = coefficients
        return rows


def distance(pair):
    """(distance, tolerance) or None."""
    r = [np.array(pair[k]["position"], float) for k in "ab"]
    unit = np.linalg.norm(r[1] - r[0]) or 1.0
    program = DistanceProgram()
    points = []
    for body, key in enumerate("ab"):
        program.body = body
        if body == 0:
            x = np.zeros((3, program.capacity + 1))
            x[np.arange(3), np.arange(3)] = 1
        else:
            x = program.variables(3)
        points.append(x)
        e = x.copy()
        e[:, -1] -= (r[body] - r[0]) / unit
        program.member(scaled_shape(pair[key]["shape"], 1 / unit), rotation(pair[key]["quaternion"]), e)
    t = np.zeros((1, program.capacity + 1))
    t[0, ConeProgram.ALPHA] = 1
    program.second_order(t, points[1] - points[0])
    for tolerance in (1e-10, 1e-9, 1e-8):
        result = program.solve(tolerance)
        if result is not None:
            return result[0] * unit, tolerance
    return None


def main():
    kept, tried = 0, 0
    with open(DATA / "cvxopt_scaling.jsonl", encoding="utf-8") as source, open(
        DATA / "cvxopt_distance.jsonl", "w", encoding="utf-8"
    ) as file:
        for number, line in enumerate(source, 1):
            pair = json.loads(line)
            if number % 3 or pair["alpha_lower"] < 1.01:
                continue
            tried += 1
            found = distance(pair)
            if found is None:
                continue
            kept += 1
            file.write(json.dumps({"line": number, "distance": found[0], "tolerance": found[1]}) + "\n")
    print(f"{kept} of {tried} separated pairs")


if __name__ == "__main__":
    main()
