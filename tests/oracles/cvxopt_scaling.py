#!/usr/bin/python3
"""Writes tests/data/cvxopt_scaling.jsonl: random pairs with certified minimum scaling.

    /usr/bin/python3 tests/oracles/cvxopt_scaling.py            (about two minutes on an idle core; needs python3-cvxopt, python3-numpy)

Every unordered pair of the ten convex primitives (two half-spaces excluded), Minkowski sums (rotated, offset, some
nested) against each of them and against one another. Sizes are log-uniform in 0.01 to 10, aspect ratios go to 1:1000,
attitudes are uniform, and the distance of the centres is set so that alpha is log-uniform in 0.05 to 20.

A line is a query (shape, position, quaternion of a and b) with
    alpha_lower, alpha_upper   rigorous bounds by support points (scaling_oracle.certify), at most 2e-9 apart
    alpha_cvxopt               what CVXOPT's conelp found, a check of the bounds (null: did not converge at 1e-6)
    gradient_b                 the gradient of alpha with respect to the position of b, absent where CVXOPT and the
                               bounds do not agree on it
    gradient_error             how far the two are apart, relative: what the gradient can be trusted to

Inputs are rounded before anything is solved, so that the file holds the very numbers that the bounds speak of.
Same seed, same file.
"""

import argparse
import itertools
import json
import pathlib
import sys
from collections import Counter

import numpy as np

from scaling_oracle import Support, certify, conelp, rotation, vertices_of

PRIMITIVES = (
    "sphere",
    "ellipsoid",
    "box",
    "polytope",
    "rounded_polytope",
    "capsule",
    "cylinder",
    "cone",
    "padded_polygon",
    "halfspace",
)
OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "data" / "cvxopt_scaling.jsonl"
CERTIFIED_GAP = 2e-9


def rounded(value, digits=5):
    """The value with a few significant digits, as the file will have it."""
    if np.ndim(value):
        return [rounded(v, digits) for v in value]
    return float(f"{value:.{digits - 1}e}")


class Generator:
    def __init__(self, seed):
        self.random = np.random.Generator(np.random.PCG64(seed))

    def uniform(self, low, high):
        return self.random.uniform(low, high)

    def log_uniform(self, low, high):
        return float(np.exp(self.random.uniform(np.log(low), np.log(high))))

    def unit(self, dim=3):
        n = self.random.normal(size=dim)
        return n / np.linalg.norm(n)

    def quaternion(self):
        """A random attitude whose quaternion is four decimals of exact unit length: integers with squares adding up to 10^8.

        Two of the integers come from a uniform unit quaternion, the other two are a random one of the ways that are left.
        """
        numbers = np.arange(10001)
        while True:
            a, b = np.rint(1e4 * self.unit(4)[:2]).astype(int)
            rest = 10**8 - a * a - b * b
            root = np.rint(np.sqrt(np.maximum(rest - numbers**2, 0))).astype(int)
            ways = numbers[numbers**2 + root**2 == rest]
            if len(ways):
                c = int(self.random.choice(ways))
                signs = self.random.choice((-1, 1), 2)
                q = self.random.permutation([a, b, signs[0] * c, signs[1] * root[c]])
                return [int(v) / 1e4 for v in (q if q[3] >= 0 else -q)]

    def aspect(self):
        """Shortest over longest: half of the shapes are compact, a fifth are needles and plates to 1:1000."""
        draw = self.random.random()
        return self.log_uniform(0.3, 1) if draw < 0.5 else self.log_uniform(0.02, 1) if draw < 0.8 else self.log_uniform(1e-3, 0.02)

    def extents(self, dim=3):
        """Three sizes, the longest log-uniform in 0.01 to 10."""
        shortest = self.aspect()
        parts = np.array([1.0, shortest, self.log_uniform(shortest, 1)])[:dim]
        return self.log_uniform(0.01, 10) * self.random.permutation(parts)

    def faces(self, count, dim):
        """Unit normals and offsets of a bounded polyhedron around the origin, about of unit size."""
        while True:
            normals = np.array([self.unit(dim) for _ in range(count)])
            offsets = self.random.uniform(0.5, 1.0, count)
            # a bounded polyhedron holds no ray: its corners are near, and some corner lies in every direction
            corners = vertices_of(normals, offsets)
            if len(corners) <= dim or np.linalg.norm(corners, axis=1).max() > 4:
                continue
            probes = np.array([self.unit(dim) for _ in range(200)])
            if (probes @ corners.T).max(axis=1).min() > 0.05 and _positively_spans(normals):
                return normals, offsets

    def polytope(self):
        extents = self.extents() / 2
        draw = self.random.random()
        if draw < 0.15:  # by vertices
            while True:
                count = int(self.random.integers(4, 9))
                points = np.array([self.unit() for _ in range(count)])
                if _positively_spans(points, margin=0.15):
                    return {"vertices": [rounded(p, 4) for p in points * extents]}
        count = int(self.random.integers(4, 11)) if draw < 0.97 else int(self.random.integers(20, 41))
        normals, offsets = self.faces(count, 3)
        # scaled along the axes: a row a becomes a / extents; the offset stays
        return {"A": [rounded(a, 3) for a in normals * extents.min() / extents], "b": rounded(offsets * extents.min(), 3)}

    def primitive(self, kind):
        if kind == "sphere":
            shape = {"radius": rounded(self.log_uniform(0.01, 10))}
        elif kind == "ellipsoid":
            semi_axes = rounded(self.extents() / 2)
            shape = {"semi_axes": semi_axes}
            if self.random.random() < 0.4:
                R = rotation(self.quaternion())
                P = R @ np.diag(1 / np.array(semi_axes) ** 2) @ R.T
                upper = [rounded(v, 8) for v in ((P + P.T) / 2).ravel()]
                shape = {"P": [[upper[min(i, j) * 3 + max(i, j)] for j in range(3)] for i in range(3)]}
        elif kind == "box":
            shape = {"size": rounded(self.extents())}
        elif kind == "polytope":
            shape = self.polytope()
        elif kind == "rounded_polytope":
            shape = self.polytope()
            size = Support({"type": "polytope", **shape}).outer
            shape["radius"] = rounded(size * self.log_uniform(0.003, 1))
        elif kind in ("capsule", "cylinder"):
            thin = self.aspect()
            size = self.log_uniform(0.01, 10)
            # a needle, or (cylinder only) a disk
            radius, length = (size * thin / 2, size) if kind == "capsule" or self.random.random() < 0.6 else (size / 2, size * thin)
            shape = {"radius": rounded(radius), "length": rounded(length)}
        elif kind == "cone":
            size, thin = self.log_uniform(0.01, 10), self.aspect()
            height, radius = (size, size * thin / 2) if self.random.random() < 0.6 else (size * thin, size / 2)
            shape = {"height": rounded(height), "half_angle": rounded(np.arctan(radius / height), 10)}
        elif kind == "padded_polygon":
            extents = self.extents(3)[:2] / 2
            normals, offsets = self.faces(int(self.random.integers(3, 9)), 2)
            shape = {
                "C": [rounded(c, 3) for c in normals * extents.min() / extents],
                "d": rounded(offsets * extents.min(), 3),
                "radius": rounded(extents.max() * self.aspect()),
            }
        else:
            shape = {"normal": rounded(self.unit() * self.log_uniform(0.5, 2)), "offset": rounded(self.random.normal())}
        return {"type": kind, **shape}

    def minkowski_sum(self, nested):
        """Two parts, rotated and offset; the offsets add up to less than the ball inside, so that the origin is interior."""
        kinds = self.random.choice(PRIMITIVES[:-1], 2)
        shapes = [self.primitive(kind) for kind in kinds]
        if nested:
            shapes[1] = self.minkowski_sum(False)
        supports = [Support(shape) for shape in shapes]
        offset = self.random.normal(size=3) * max(s.outer for s in supports)
        rest = -offset + self.unit() * self.uniform(0, 0.6) * sum(s.inner for s in supports)
        parts = [
            {"shape": shape, "position": rounded(position, 8), "quaternion": self.quaternion()}
            for shape, position in zip(shapes, (offset, rest))
        ]
        return {"type": "minkowski_sum", "parts": parts}

    def shape(self, kind):
        return self.minkowski_sum(self.random.random() < 0.2) if kind == "minkowski_sum" else self.primitive(kind)

    def pair(self, kinds):
        """A pair with alpha log-uniform in 0.05 to 20."""
        kinds = self.random.permutation(kinds)
        bodies = [
            {"shape": self.shape(kind), "position": rounded(self.random.normal(size=3), 8), "quaternion": self.quaternion()}
            for kind in kinds
        ]
        pair = {"a": bodies[0], "b": bodies[1]}
        target = self.log_uniform(0.05, 20)
        origin = np.array(pair["a"]["position"])
        if "halfspace" in kinds:
            which = list(kinds).index("halfspace")
            plane, other = bodies[which], bodies[1 - which]
            normal = rotation(plane["quaternion"]) @ np.array(plane["shape"]["normal"])
            h = Support(other["shape"]).value(-rotation(other["quaternion"]).T @ normal)
            height = (target * h + plane["shape"]["offset"]) / (normal @ normal)
            sideways = np.cross(normal, self.random.normal(size=3))
            d = (height * normal + sideways) * (1 if which == 0 else -1)
        else:
            # alpha grows linearly along a ray: place b on one, see, and move it to where alpha is the target
            d = self.unit()
            pair["b"]["position"] = list(origin + d)
            _, at_one, _ = certify(pair, gap=1e-3)
            d = d * target / at_one
        pair["b"]["position"] = rounded(origin + d, 8)
        return pair


def _positively_spans(vectors, margin=1e-3):
    """Whether every direction makes an acute angle with some vector: 0 is in the interior of their hull."""
    dim = vectors.shape[1]
    for subset in itertools.combinations(range(len(vectors)), dim - 1):
        plane = vectors[list(subset)]
        normal = np.cross(*plane) if dim == 3 else np.array([-plane[0, 1], plane[0, 0]])
        length = np.linalg.norm(normal)
        if length < 1e-6:
            continue
        sides = vectors @ normal / length
        if sides.max() < margin or sides.min() > -margin:
            return False
    return True


def fixture(pair):
    """The pair with its bounds, or None if they do not meet."""
    program = conelp(pair)
    directions = [program[2]] if program and np.isfinite(program[2]).all() and np.linalg.norm(program[2]) > 0 else []
    lower, upper, n = certify(pair, directions)
    if not upper - lower <= CERTIFIED_GAP * upper:
        return None, program
    line = dict(pair, alpha_lower=lower, alpha_upper=upper, alpha_cvxopt=rounded(program[0], 12) if program else None)
    if directions:
        error = float(np.linalg.norm(n - program[2]) / np.linalg.norm(n))
        if error < 1e-3:
            line["gradient_b"] = rounded(n, 8)
            line["gradient_error"] = rounded(error, 2)
    return line, program


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--per-combination", type=int, default=40)
    parser.add_argument("--seed", type=int, default=20240607)
    parser.add_argument("--output", type=pathlib.Path, default=OUTPUT)
    arguments = parser.parse_args()

    generator = Generator(arguments.seed)
    kinds = PRIMITIVES + ("minkowski_sum",)
    combinations = [c for c in itertools.combinations_with_replacement(kinds, 2) if c != ("halfspace", "halfspace")]
    kept, dropped, tolerances, distances, gaps = 0, Counter(), Counter(), [], []
    with open(arguments.output, "w", encoding="utf-8") as file:
        for combination in combinations:
            for _ in range(arguments.per_combination):
                line, program = fixture(generator.pair(combination))
                tolerances[program[3] if program else "failed"] += 1
                if line is None:
                    dropped[combination] += 1
                    continue
                kept += 1
                gaps.append(1 - line["alpha_lower"] / line["alpha_upper"])
                if program:
                    distances.append(max(0, 1 - program[0] / line["alpha_lower"], program[0] / line["alpha_upper"] - 1))
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
            if sys.stderr.isatty():
                print(f"\r{'-'.join(combination):40}{kept:6}", end="", file=sys.stderr)
    print(f"\n{kept} of {len(combinations) * arguments.per_combination} pairs certified over {len(combinations)} combinations")
    print("dropped:", {"-".join(c): n for c, n in dropped.items()} or "none")
    print("CVXOPT converged at:", dict(sorted(tolerances.items(), key=str)))
    print(f"relative gap of the bounds: median {np.median(gaps):.1e}, max {max(gaps):.1e}")
    print(f"CVXOPT outside the bounds by (relative): median {np.median(distances):.1e}, max {max(distances):.1e}")
    print(f"{arguments.output}: {arguments.output.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
