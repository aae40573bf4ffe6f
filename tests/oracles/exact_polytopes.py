"""Minimum scaling of two polytopes in rational arithmetic: alpha and the free directions at the optimum, exactly.

With d = r_B - r_A, the difference body M = A - B is a polytope whose faces have normals from a finite list (face normals of A
and of B, cross products of edges), so

    alpha = max over that list of  n.d / (h_A(n) + h_B(-n)).

Directions that are no face of M only give smaller values, so the list may hold more than the faces: all normals through
three vertices and all cross products of vertex differences. The maximisers n / h(n) span the set of optimal
normals; the vertices of (alpha A) and (d + alpha B) intersected span the set of optimal points.
"""

import itertools
from fractions import Fraction


def rotation(quaternion):
    """Rotation matrix of an integer or rational quaternion x y z w of any length: rational."""
    x, y, z, w = (Fraction(v) for v in quaternion)
    s = 2 / (x * x + y * y + z * z + w * w)
    return [
        [1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)],
        [s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w)],
        [s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y)],
    ]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def minus(a, b):
    return tuple(x - y for x, y in zip(a, b))


def primitive(n):
    """The direction scaled so that equal directions compare equal; None for zero."""
    size = max(abs(v) for v in n)
    return tuple(v / size for v in n) if size else None


def rank(vectors):
    """Rank of a list of 3-vectors."""
    rows, result = [list(v) for v in vectors], 0
    for column in range(3):
        pivot = next((i for i in range(result, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[result], rows[pivot] = rows[pivot], rows[result]
        for i in range(result + 1, len(rows)):
            factor = rows[i][column] / rows[result][column]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[result])]
        result += 1
    return result


def box_vertices(size):
    half = [Fraction(str(s)) / 2 for s in size]
    return [tuple(s * h for s, h in zip(signs, half)) for signs in itertools.product((-1, 1), repeat=3)]


def posed(vertices, quaternion):
    R = rotation(quaternion)
    return [tuple(dot(row, v) for row in R) for v in vertices]


def differences(vertices):
    return {primitive(minus(a, b)) for a, b in itertools.combinations(vertices, 2)}


def face_rows(vertices):
    """(n, offset) of the faces of a hull around the origin."""
    faces = set()
    for a, b, c in itertools.combinations(vertices, 3):
        n = primitive(cross(minus(b, a), minus(c, a)))
        if n is None:
            continue
        if dot(n, a) < 0:
            n = minus((0, 0, 0), n)
        if all(dot(n, v) <= dot(n, a) for v in vertices):
            faces.add((n, dot(n, a)))
    return list(faces)


def solve3(rows, rhs):
    """The point where three planes meet, or None."""
    a, b, c = rows
    bc, ca, ab = cross(b, c), cross(c, a), cross(a, b)
    determinant = dot(a, bc)
    if not determinant:
        return None
    return tuple((rhs[0] * x + rhs[1] * y + rhs[2] * z) / determinant for x, y, z in zip(bc, ca, ab))


def scaling(vertices_a, vertices_b, d):
    """(alpha, point freedom, normal freedom) of two hulls in world axes about their centres, B's centre at d from A's."""
    faces_a, faces_b = face_rows(vertices_a), face_rows(vertices_b)
    candidates = {n for n, _ in faces_a} | {minus((0, 0, 0), n) for n, _ in faces_b}
    for u, v in itertools.product(differences(vertices_a), differences(vertices_b)):
        n = primitive(cross(u, v))
        if n is not None:
            candidates |= {n, minus((0, 0, 0), n)}
    best = {}
    for n in candidates:
        height = dot(n, d)
        if height > 0:
            h = max(dot(n, v) for v in vertices_a) - min(dot(n, v) for v in vertices_b)
            best[tuple(x / h for x in n)] = height / h
    alpha = max(best.values())
    normals = [n for n, value in best.items() if value == alpha]
    # the optimal points: all vertices of the intersection of the scaled bodies
    planes = [(n, alpha * b) for n, b in faces_a] + [(n, alpha * b + dot(n, d)) for n, b in faces_b]
    points = []
    for triple in itertools.combinations(planes, 3):
        x = solve3([n for n, _ in triple], [b for _, b in triple])
        if x is not None and all(dot(n, x) <= b for n, b in planes):
            points.append(x)
    return alpha, rank([minus(p, points[0]) for p in points]), rank([minus(n, normals[0]) for n in normals])
