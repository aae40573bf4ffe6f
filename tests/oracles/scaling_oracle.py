"""Minimum scaling of a pair of convex shapes, twice, without any code of Tangere.

    alpha = min { alpha : x in r_A + alpha R_A S_A,  x in r_B + alpha R_B S_B }

1. `conelp`: the cone program of the DCOL paper (eq. 9 to 28) in world coordinates, solved by CVXOPT. Lengths are
   divided by the distance of the centres, as CVXOPT's tolerances are absolute.
2. `certify`: a lower and an upper bound from support points alone. With d = r_B - r_A, M = R_A S_A - R_B S_B and
   its support function h,

       alpha = gauge of M at d = min { sum of l_k : sum of l_k q_k = d, l >= 0, q_k in M } = max over n of  n.d / h(n).

   Any support points q_k bound alpha from above, any direction n from below. The bounds are driven together by a
   primal simplex with column generation: the basis is three points of M whose cone contains d, its dual is n, and
   the entering column is the support point of n. It starts at the directions that the cone program found.

Shapes are dictionaries in the query format (design: "Command line and files"); quaternions are x y z w.
A half-space is not scaled: for it the answer is the closed form (distance of the centre) / (support of the other).
"""

import itertools

import cvxopt
import numpy as np
from cvxopt import solvers

solvers.options["show_progress"] = False

EPS = np.finfo(float).eps


def rotation(quaternion):
    """Rotation matrix of a quaternion x y z w, normalised first."""
    x, y, z, w = np.asarray(quaternion, float) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


# --- vertices and faces by brute force (a few dozen faces at most) ---


def vertices_of(A, b, tolerance=1e-9):
    """Vertices of the bounded polyhedron A p <= b, b > 0: all feasible intersections of dim faces."""
    A = np.asarray(A, float) / np.asarray(b, float)[:, None]
    dim = A.shape[1]
    subsets = np.array(list(itertools.combinations(range(len(A)), dim)))
    matrices = A[subsets]
    # a determinant relative to the rows' lengths: skip subsets of parallel faces
    size = np.prod(np.linalg.norm(matrices, axis=2), axis=1)
    regular = np.abs(np.linalg.det(matrices)) > 1e-9 * size
    points = np.linalg.solve(matrices[regular], np.ones((int(regular.sum()), dim, 1)))[:, :, 0]
    feasible = np.all(points @ A.T <= 1 + tolerance, axis=1)
    return points[feasible]


def faces_of(vertices):
    """Rows a with a.p <= 1 of the hull of points around the origin (few points: all triples)."""
    vertices = np.asarray(vertices, float)
    triples = vertices[np.array(list(itertools.combinations(range(len(vertices)), 3)))]
    size = np.prod(np.linalg.norm(triples, axis=2), axis=1)
    triples = triples[np.abs(np.linalg.det(triples)) > 1e-12 * size]
    rows = np.linalg.solve(triples, np.ones((len(triples), 3, 1)))[:, :, 0]
    return rows[np.all(rows @ vertices.T <= 1 + 1e-9, axis=1)]


# --- support maps, in the shape's frame ---


class Support:
    """Support map of a shape, with the radius of a ball about the origin inside it and of one around it."""

    def __init__(self, shape):
        self.kind = shape["type"]
        getattr(self, "_" + self.kind)(shape)

    def __call__(self, n):
        return self.point(n)

    def value(self, n):
        return float(n @ self.point(n))

    def _sphere(self, shape):
        radius = shape["radius"]
        self.point = lambda n: radius * _unit(n)
        self.inner = self.outer = radius

    def _ellipsoid(self, shape):
        if "P" in shape:
            inverse = np.linalg.inv(np.array(shape["P"], float))
            inverse = (inverse + inverse.T) / 2
        else:
            inverse = np.diag(np.array(shape["semi_axes"], float) ** 2)
        self.point = lambda n: (inverse @ n) / np.sqrt(n @ inverse @ n)
        eigenvalues = np.linalg.eigvalsh(inverse)
        self.inner, self.outer = np.sqrt(eigenvalues[0]), np.sqrt(eigenvalues[-1])

    def _box(self, shape):
        half = np.array(shape["size"], float) / 2
        self.point = lambda n: np.copysign(half, n)
        self.inner, self.outer = half.min(), np.linalg.norm(half)

    def _polytope(self, shape):
        if "vertices" in shape:
            vertices = np.array(shape["vertices"], float)
            self.inner = 1 / np.linalg.norm(faces_of(vertices), axis=1).max()
        else:
            A, b = np.array(shape["A"], float), np.array(shape["b"], float)
            vertices = vertices_of(A, b)
            self.inner = (b / np.linalg.norm(A, axis=1)).min()
        self.vertices = vertices
        self.point = lambda n: vertices[np.argmax(vertices @ n)]
        self.outer = np.linalg.norm(vertices, axis=1).max()

    def _rounded_polytope(self, shape):
        self._polytope(shape)
        core, radius = self.point, shape["radius"]
        self.point = lambda n: core(n) + radius * _unit(n)
        self.inner, self.outer = self.inner + radius, self.outer + radius

    def _capsule(self, shape):
        half, radius = shape["length"] / 2, shape["radius"]
        self.point = lambda n: np.array([np.copysign(half, n[0]), 0, 0]) + radius * _unit(n)
        self.inner, self.outer = radius, half + radius

    def _cylinder(self, shape):
        half, radius = shape["length"] / 2, shape["radius"]
        self.point = lambda n: _rim(np.copysign(half, n[0]), radius, n)
        self.inner, self.outer = min(half, radius), np.hypot(half, radius)

    def _cone(self, shape):
        height, half_angle = shape["height"], shape["half_angle"]
        radius = height * np.tan(half_angle)
        apex = np.array([-0.75 * height, 0, 0])

        def point(n):
            rim = _rim(0.25 * height, radius, n)
            return rim if n @ rim >= n @ apex else apex

        self.point = point
        self.inner = min(0.25 * height, 0.75 * height * np.sin(half_angle))
        self.outer = max(0.75 * height, np.hypot(0.25 * height, radius))

    def _padded_polygon(self, shape):
        flat = vertices_of(shape["C"], shape["d"])
        vertices = np.hstack([flat, np.zeros((len(flat), 1))])
        radius = shape["radius"]
        self.point = lambda n: vertices[np.argmax(vertices @ n)] + radius * _unit(n)
        self.inner, self.outer = radius, np.linalg.norm(vertices, axis=1).max() + radius

    def _minkowski_sum(self, shape):
        parts = [(Support(p["shape"]), rotation(p["quaternion"]), np.array(p["position"], float)) for p in shape["parts"]]
        offset = sum(p for _, _, p in parts)
        self.point = lambda n: offset + sum(R @ support(R.T @ n) for support, R, _ in parts)
        # each part holds a ball about its own origin, so the sum holds one about the offset
        self.inner = sum(support.inner for support, _, _ in parts) - np.linalg.norm(offset)
        self.outer = sum(support.outer for support, _, _ in parts) + np.linalg.norm(offset)


def _unit(n):
    length = np.linalg.norm(n)
    return n / length if length > 0 else np.array([1.0, 0, 0])


def _rim(axial, radius, n):
    length = np.hypot(n[1], n[2])
    return np.array([axial, radius * n[1] / length, radius * n[2] / length]) if length > 0 else np.array([axial, radius, 0])


# --- the cone program of the paper ---


def scaled_shape(shape, factor):
    """The shape with all lengths multiplied."""
    s = dict(shape)
    for key in ("radius", "length", "height", "offset"):
        if key in s:
            s[key] = s[key] * factor
    for key in ("b", "d", "size", "semi_axes", "vertices"):
        if key in s:
            s[key] = np.array(s[key], float) * factor
    if "P" in s:
        s["P"] = np.array(s["P"], float) / factor**2
    if "parts" in s:
        s["parts"] = [
            {
                "shape": scaled_shape(p["shape"], factor),
                "position": np.array(p["position"], float) * factor,
                "quaternion": p["quaternion"],
            }
            for p in s["parts"]
        ]
    return s


class ConeProgram:
    """Collects rows s = F v + f in the orthant and in second-order cones, v = (x, alpha, auxiliaries)."""

    ALPHA = 3

    def __init__(self, capacity=160):
        self.columns = 4
        self.capacity = capacity
        self.orthant, self.cones = [], []  # (row block (k, capacity + 1), body)
        self.body = None

    def variables(self, count):
        """New variables as an affine expression: rows of the identity, last column the constant."""
        rows = np.zeros((count, self.capacity + 1))
        rows[np.arange(count), self.columns + np.arange(count)] = 1
        self.columns += count
        return rows

    def alpha(self, coefficients=1.0):
        coefficients = np.atleast_1d(np.asarray(coefficients, float))
        rows = np.zeros((len(coefficients), self.capacity + 1))
        rows[:, self.ALPHA] = coefficients
        return rows

    def nonnegative(self, rows):
        self.orthant.append((np.atleast_2d(rows), self.body))

    def second_order(self, top, rows):
        self.cones.append((np.vstack([np.atleast_2d(top), rows]), self.body))

    def member(self, shape, Q, e):
        """e = x - r (world axes) is in alpha Q S."""
        kind = shape["type"]
        if kind == "sphere":
            self.second_order(self.alpha(shape["radius"]), e)
        elif kind == "ellipsoid":  # (23)
            P = np.array(shape["P"], float) if "P" in shape else np.diag(1 / np.array(shape["semi_axes"], float) ** 2)
            U = np.linalg.cholesky(P).T
            self.second_order(self.alpha(1.0), U @ Q.T @ e)
        elif kind == "box":
            half = np.array(shape["size"], float) / 2
            self.nonnegative(self.alpha(half) - Q.T @ e)
            self.nonnegative(self.alpha(half) + Q.T @ e)
        elif kind == "polytope":
            self.polytope(shape, Q.T @ e)
        elif kind == "rounded_polytope":
            y = self.variables(3)
            self.polytope(shape, y)
            self.second_order(self.alpha(shape["radius"]), e - Q @ y)
        elif kind in ("capsule", "cylinder"):  # (12), (13)
            half = shape["length"] / 2
            gamma = self.variables(1)
            self.second_order(self.alpha(shape["radius"]), e - Q[:, :1] @ gamma)
            self.nonnegative(self.alpha(half) - gamma)
            self.nonnegative(self.alpha(half) + gamma)
            if kind == "cylinder":  # (16), (17)
                self.nonnegative(self.alpha(half) - Q[:, 0] @ e)
                self.nonnegative(self.alpha(half) + Q[:, 0] @ e)
        elif kind == "cone":  # (19), (20)
            height, slope = shape["height"], np.tan(shape["half_angle"])
            from_apex = Q.T @ e + np.vstack([self.alpha(0.75 * height), self.alpha([0, 0])])
            self.second_order(slope * from_apex[0], from_apex[1:])
            self.nonnegative(self.alpha(0.25 * height) - Q[:, 0] @ e)
        elif kind == "padded_polygon":  # (25), (26)
            y = self.variables(2)
            self.nonnegative(self.alpha(shape["d"]) - np.array(shape["C"], float) @ y)
            self.second_order(self.alpha(shape["radius"]), e - Q[:, :2] @ y)
        elif kind == "halfspace":  # not scaled
            normal = Q @ np.array(shape["normal"], float)
            row = -normal @ e
            row[-1] += shape["offset"]
            self.nonnegative(row / np.linalg.norm(normal))
        elif kind == "minkowski_sum":
            rest = e
            for part in shape["parts"][:-1]:
                point = self.variables(3)
                rest = rest - point
                self.part(part, Q, point)
            self.part(shape["parts"][-1], Q, rest)
        else:
            raise ValueError(kind)

    def part(self, part, Q, e):
        position = Q @ np.array(part["position"], float)
        self.member(part["shape"], Q @ rotation(part["quaternion"]), e - self.alpha(position))

    def polytope(self, shape, p):
        if "vertices" in shape:
            A = faces_of(shape["vertices"])
            b = np.ones(len(A))
        else:
            A, b = np.array(shape["A"], float), np.array(shape["b"], float)
        lengths = np.linalg.norm(A, axis=1)
        self.nonnegative(self.alpha(b / lengths) - (A / lengths[:, None]) @ p)  # (10)

    def solve(self, tolerance, objective=(0, 0, 0, 1)):
        """(alpha, x, gradient of alpha w.r.t. the position of body 1) or None when CVXOPT gives up.

        `objective`: what to minimise, a linear function of (x, alpha).
        """
        blocks = self.orthant + self.cones
        F = np.vstack([block for block, _ in blocks])
        owner = np.concatenate([[body] * len(block) for block, body in blocks])
        n = self.columns
        c = np.zeros(n)
        c[:4] = objective
        dims = {"l": sum(len(block) for block, _ in self.orthant), "q": [len(block) for block, _ in self.cones], "s": []}
        solvers.options.update(abstol=tolerance, reltol=tolerance, feastol=tolerance, maxiters=100)
        try:
            result = solvers.conelp(cvxopt.matrix(c), cvxopt.matrix(-F[:, :n]), cvxopt.matrix(F[:, -1]), dims)
        except (ValueError, ArithmeticError, ZeroDivisionError):
            return None
        if result["status"] != "optimal":
            return None
        v, z = np.array(result["x"]).ravel(), np.array(result["z"]).ravel()
        of_body = owner == 1
        return v[self.ALPHA], v[:3], F[of_body, :3].T @ z[of_body]


def cone_program(pair):
    """The paper's cone program with lengths divided by the distance of the centres: (program, that distance)."""
    r = [np.array(pair[k]["position"], float) for k in "ab"]
    unit = np.linalg.norm(r[1] - r[0]) or 1.0
    program = ConeProgram()
    x = np.zeros((3, program.capacity + 1))
    x[np.arange(3), np.arange(3)] = 1
    for body, key in enumerate("ab"):
        program.body = body
        e = x.copy()
        e[:, -1] -= r[body] / unit
        program.member(scaled_shape(pair[key]["shape"], 1 / unit), rotation(pair[key]["quaternion"]), e)
    return program, unit


def conelp(pair, tolerances=(1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6)):
    """The paper's cone program by CVXOPT: (alpha, x, gradient w.r.t. the position of B, tolerance that converged) or None."""
    program, unit = cone_program(pair)
    for tolerance in tolerances:
        result = program.solve(tolerance)
        if result is not None:
            alpha, point, gradient = result
            return alpha, point * unit, gradient / unit, tolerance
    return None


# --- bounds from support points ---


def certify(pair, directions=(), gap=1e-12, iterations=400):
    """(lower, upper, n) with lower <= alpha <= upper and n = the gradient of alpha w.r.t. the position of B.

    `directions` are guesses of the normal. Rounding is allowed for in the bounds.
    """
    kinds = [pair[key]["shape"]["type"] for key in "ab"]
    if "halfspace" in kinds:
        return _half_space(pair, kinds.index("halfspace"))
    d = np.array(pair["b"]["position"], float) - np.array(pair["a"]["position"], float)
    supports = [Support(pair[key]["shape"]) for key in "ab"]
    R = [rotation(pair[key]["quaternion"]) for key in "ab"]

    def support(n):
        return R[0] @ supports[0](R[0].T @ n) - R[1] @ supports[1](-R[1].T @ n)

    inner = supports[0].inner + supports[1].inner
    noise = 8 * EPS * (supports[0].outer + supports[1].outer) / inner
    # the start: three points on the axes, inside the ball that M holds
    Q = np.diag(np.where(d >= 0, inner, -inner))
    lower, upper, best = 0.0, np.inf, None
    for n in directions:
        h = n @ support(n)
        if n @ d / h > lower:
            lower, best = n @ d / h, n / h
    pool = [support(n) for n in _around(directions)]

    for _ in range(iterations):
        weights = np.linalg.solve(Q, d)
        n = np.linalg.solve(Q.T, np.ones(3))
        kept = np.maximum(weights, 0)
        upper = min(upper, kept.sum() + np.linalg.norm(d - Q @ kept) / inner)
        entering = None
        if pool:
            values = np.array([q @ n for q in pool])
            k = int(np.argmax(values))
            if values[k] > 1 + 1e-13:
                entering = pool.pop(k)
            else:
                pool = []
        if entering is None:
            entering = support(n)
            bound = (n @ d) / (n @ entering)
            if bound > lower:
                lower, best = bound, n / (n @ entering)
            if upper - lower <= gap * upper or n @ entering <= 1 + 4 * EPS:
                break
        # ratio test: the point that leaves so that d stays in the cone of the three
        step = np.linalg.solve(Q, entering)
        ratio = np.where(step > 1e-14, kept / np.where(step > 1e-14, step, 1), np.inf)
        Q = Q.copy()
        Q[:, int(np.argmin(ratio))] = entering
    return lower * (1 - noise), upper * (1 + noise), best


def _around(directions):
    """Each direction and rings of directions about it, ever closer: curved shapes need points on all sides of d."""
    result = []
    for direction in directions:
        n = _unit(direction)
        u = _unit(np.cross(n, np.eye(3)[np.argmin(np.abs(n))]))
        v = np.cross(n, u)
        result.append(n)
        for radius in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
            for angle in (0.3, 2.4, 4.5):
                result.append(n + radius * (np.cos(angle) * u + np.sin(angle) * v))
    return result


def _half_space(pair, which):
    """alpha = (n.r - offset) / h(-n) with r the other centre: exact."""
    plane, other = pair["ab"[which]], pair["ab"[1 - which]]
    normal = rotation(plane["quaternion"]) @ np.array(plane["shape"]["normal"], float)
    d = np.array(other["position"], float) - np.array(plane["position"], float)
    R = rotation(other["quaternion"])
    support = Support(other["shape"])
    h = support.value(-R.T @ normal)
    alpha = (normal @ d - plane["shape"]["offset"]) / h
    magnitude = (np.linalg.norm(normal) * np.linalg.norm(d) + abs(plane["shape"]["offset"])) / h
    if alpha <= 0:
        return 0.0, 0.0, None
    noise = 8 * EPS * (magnitude + alpha * support.outer / support.inner)
    return alpha - noise, alpha + noise, normal / h if which == 0 else -normal / h
