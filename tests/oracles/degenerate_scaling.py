#!/usr/bin/python3
"""Writes tests/data/degenerate_scaling.jsonl: constructed degenerate pairs with known minimum scaling.

    /usr/bin/python3 tests/oracles/degenerate_scaling.py        (half a minute; needs python3-cvxopt, python3-numpy)

Pairs of polytopes are solved in rational arithmetic (exact_polytopes); the others are set up so that the normal n of the contact is
known, and alpha = n.d / (h_A(n) + h_B(-n)) is a closed form, written beside each case. Every alpha is then checked
against bounds by support points (to 1e-11) and against CVXOPT where it converges (to 1e-6), and the freedoms of curved pairs of
ordinary size against a numerical count. A line is a query (a, b) with

    name, alpha, status            status is `solved`, or `zero_scaling` where alpha = 0
    point_freedom                  dimension of the set of optimal points x
    normal_freedom                 dimension of the set of optimal normals
    nearly_degenerate              true where the freedoms are exact but a perturbation of 1e-7 makes them larger
    gradient_b                     the gradient of alpha w.r.t. the position of b, where the normal is unique
"""

import json
import pathlib
from fractions import Fraction
from math import atan, cos, pi, sin, sqrt, tan

import exact_polytopes
import numpy as np
from scaling_oracle import Support, certify, cone_program, conelp, scaled_shape

OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "data" / "degenerate_scaling.jsonl"
IDENTITY = (0, 0, 0, 1)
HALF_TURN_Y = (0, 1, 0, 0)
HALF_TURN_Z = (0, 0, 1, 0)
QUARTER_TURN_Z = (0, 0, 1, 1)  # x to y
QUARTER_TURN_Y = (0, 1, 0, 1)  # x to -z

OCTAHEDRON = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
OCTAHEDRON_FACES = [[x, y, z] for x in (1, -1) for y in (1, -1) for z in (1, -1)]
TETRAHEDRON = [(1, 0, 1), (-1, 0, 1), (0, 1, -1), (0, -1, -1)]  # an edge along x on top, along y below
SQUARE = [[1, 0], [-1, 0], [0, 1], [0, -1]]

CASES = []


# --- shapes ---


def sphere(radius):
    return {"type": "sphere", "radius": radius}


def box(*size):
    return {"type": "box", "size": list(size)}


def hull(vertices):
    return {"type": "polytope", "vertices": [list(v) for v in vertices]}


def capsule(radius, length):
    return {"type": "capsule", "radius": radius, "length": length}


def cylinder(radius, length):
    return {"type": "cylinder", "radius": radius, "length": length}


def cone(height, half_angle):
    return {"type": "cone", "height": height, "half_angle": half_angle}


def ellipsoid(*semi_axes):
    return {"type": "ellipsoid", "semi_axes": list(semi_axes)}


def octahedron():
    return {"type": "polytope", "A": OCTAHEDRON_FACES, "b": [1] * 8}


def rounded_octahedron(radius):
    return {"type": "rounded_polytope", "A": OCTAHEDRON_FACES, "b": [1] * 8, "radius": radius}


def rounded_cube(half, radius):
    A = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
    return {"type": "rounded_polytope", "A": A, "b": [half] * 6, "radius": radius}


def padded_square(half, radius):
    return {"type": "padded_polygon", "C": SQUARE, "d": [half] * 4, "radius": radius}


def floor():
    return {"type": "halfspace", "normal": [0, 0, 1], "offset": 0}


# --- cases ---


def body(shape, position, quaternion):
    q = np.array([float(v) for v in quaternion])
    return {"shape": shape, "position": [float(v) for v in position], "quaternion": list(q / np.linalg.norm(q))}


def add(name, a, b, d, alpha, freedom, turn_a=IDENTITY, turn_b=IDENTITY, origin=(0, 0, 0), nearly=False):
    """a at `origin`, b at origin + d; freedom = (point, normal)."""
    pair = {"a": body(a, origin, turn_a), "b": body(b, np.add(origin, d), turn_b)}
    CASES.append(dict(name=name, **pair, alpha=float(alpha), point=freedom[0], normal=freedom[1], nearly=nearly))


def add_zero(name, a, b, d=(0, 0, 0), turn_b=IDENTITY):
    """Coincident centres, or a centre in the half-space: alpha = 0."""
    CASES.append(
        dict(name=name, a=body(a, (0, 0, 0), IDENTITY), b=body(b, d, turn_b), alpha=0.0, point=None, normal=None, nearly=False)
    )


def add_polytopes(name, a, b, d, turn_a=IDENTITY, turn_b=IDENTITY, origin=(0, 0, 0), nearly=False):
    """Two boxes or hulls: alpha and freedoms in rational arithmetic."""

    def vertices(shape, turn):
        points = (
            exact_polytopes.box_vertices(shape["size"])
            if shape["type"] == "box"
            else [tuple(Fraction(v) for v in p) for p in OCTAHEDRON]
            if "A" in shape
            else [tuple(Fraction(v) for v in p) for p in shape["vertices"]]
        )
        return exact_polytopes.posed(points, [Fraction(str(v)) for v in turn])

    exact_d = [Fraction(float(o + v)) - Fraction(float(o)) for o, v in zip(origin, d)]
    alpha, point, normal = exact_polytopes.scaling(vertices(a, turn_a), vertices(b, turn_b), exact_d)
    add(name, a, b, d, alpha, (point, normal), turn_a, turn_b, origin, nearly)


def scaled_lists(shape, factor):
    return json.loads(json.dumps(scaled_shape(shape, factor), default=lambda array: array.tolist()))


def add_scales(name):
    """The case of that name in other units: alpha is the same."""
    case = next(c for c in CASES if c["name"] == name)
    for factor in (1e-6, 1e-3, 1e3, 1e6):
        copy = dict(case, name=f"{name}, scale {factor:g}")
        for key in "ab":
            copy[key] = {
                "shape": scaled_lists(case[key]["shape"], factor),
                "position": [v * factor for v in case[key]["position"]],
                "quaternion": case[key]["quaternion"],
            }
        CASES.append(copy)


def polytope_cases():
    cube, small = box(2, 2, 2), box(1, 1, 1)
    add_polytopes("box faces aligned", cube, cube, (3, 0, 0))
    add_polytopes("box faces offset", cube, small, (3, 0.5, 0.25))
    add_polytopes("box faces off by 1e-7 rad", cube, cube, (3, 0, 0), turn_b=(0, 0, "5e-8", 1), nearly=True)
    add_polytopes("box faces offset and off by 1e-7 rad", cube, small, (3, 0.5, 0.25), turn_b=(0, "3e-8", "-4e-8", 1), nearly=True)
    add_polytopes("parallel edges", cube, cube, (3, 3, 0))
    add_polytopes("parallel edges offset", cube, small, (3, 3, 0.5))
    add_polytopes("parallel edges off by 1e-7 rad", cube, cube, (3, 3, 0), turn_b=("5e-8", 0, 0, 1), nearly=True)
    add_polytopes("edge on face", cube, cube, (3, 0, 0), turn_b=(0, 0, 1, 2))
    add_polytopes("crossed edges", hull(TETRAHEDRON), hull(TETRAHEDRON), (0, 0, 3))
    add_polytopes("vertex on vertex, boxes", cube, cube, (3, 3, 3))
    add_polytopes("vertex on vertex, octahedra", octahedron(), octahedron(), (3, 0, 0))
    add_polytopes("vertex on face", octahedron(), cube, (3, 0, 0))
    add_polytopes("vertex on edge", octahedron(), cube, (3, 0, 0), turn_b=(0, 0, 1, 3))
    add_polytopes("face on face, octahedra", octahedron(), octahedron(), (1, 1, 1))
    add_polytopes("parallel edges, octahedra", octahedron(), hull(OCTAHEDRON), (2, 2, 0))
    add_polytopes("touching boxes", cube, cube, (2, 0, 0))
    add_polytopes("touching boxes + 1e-9", cube, cube, (2 + 2e-9, 0, 0))
    add_polytopes("touching boxes - 1e-9", cube, cube, (2 - 2e-9, 0, 0))
    add_polytopes("deep penetration, boxes", cube, box(1, 2, 3), (0.001, 0.002, 0.0005), turn_b=(1, 2, 3, 4))
    add_polytopes("boxes 1e-10 apart", cube, small, (6e-11, 8e-11, 0))
    add_polytopes("boxes 1e4 apart", cube, small, (6e3, 8e3, 0), turn_b=(1, 2, 3, 4))
    add_polytopes("boxes 1e6 from the world origin", cube, small, (3, 0.5, 0.25), origin=(1e6, -2e6, 5e5))
    add_polytopes("octahedra 1e6 from the world origin", octahedron(), octahedron(), (1, 1, 1), origin=(1e6, 1e6, -1e6))
    add_polytopes("plates 1:1000 stacked", box(1, 1, 0.001), box(1, 1, 0.001), (0.25, 0.125, 0.01))
    add_polytopes("plates 1:1000 side by side", box(1, 1, 0.001), box(1, 1, 0.001), (1.5, 0, 0))
    add_polytopes("plate 1:1000 edge on plate", box(1, 1, 0.001), box(1, 1, 0.001), (0, 0, 0.75), turn_b=QUARTER_TURN_Y)
    add_polytopes("needles 1:1000 crossed", box(1, 0.001, 0.001), box(1, 0.001, 0.001), (0, 0, 0.01), turn_b=QUARTER_TURN_Z)
    add_polytopes("needles 1:1000 end to end", box(1, 0.001, 0.001), box(1, 0.001, 0.001), (1.5, 0, 0))
    add_polytopes("size ratio 1:1000, boxes", box(1000, 1000, 1000), small, (505, 100, 50))
    add_polytopes("size ratio 1:1000, octahedron vertex", box(2000, 2000, 2000), octahedron(), (0, 0, 1100))
    add_scales("box faces offset")
    add_scales("face on face, octahedra")


def round_cases():
    # two spheres: |d| / (R_A + R_B)
    add("spheres", sphere(0.5), sphere(1), (1, 2, 2), 3 / 1.5, (0, 0))
    add("touching spheres", sphere(0.5), sphere(1), (0.5, 1, 1), 1, (0, 0))
    add("touching spheres + 1e-9", sphere(0.5), sphere(1), (0, 0, 1.5 + 1.5e-9), 1 + 1e-9, (0, 0))
    add("spheres 1e-10 apart", sphere(0.5), sphere(1), (0, 6e-11, 8e-11), 1e-10 / 1.5, (0, 0))
    add("spheres 1e4 apart", sphere(0.5), sphere(1), (6e3, 0, 8e3), 1e4 / 1.5, (0, 0))
    add("spheres 1e6 from the world origin", sphere(0.5), sphere(1), (1, 2, 2), 3 / 1.5, (0, 0), origin=(1e6, 1e6, -1e6))
    add("size ratio 1:1000, spheres", sphere(0.001), sphere(1), (0, 0, 3.003), 3, (0, 0))
    add("size ratio 1:1000, sphere on a face", box(2, 2, 2), sphere(0.001), (0, 0.25, 2.002), 2, (0, 0))
    # ellipsoids on a common principal axis: |d| / (a + b)
    add("ellipsoids end to end", ellipsoid(2, 1, 0.5), ellipsoid(1, 3, 1), (6, 0, 0), 2, (0, 0))
    add("needle ellipsoids 1:1000 end to end", ellipsoid(1, 0.001, 0.001), ellipsoid(1, 0.001, 0.001), (3, 0, 0), 1.5, (0, 0))
    add("disk ellipsoids 1:1000 stacked", ellipsoid(1, 1, 0.001), ellipsoid(1, 1, 0.001), (0, 0, 0.01), 5, (0, 0))
    add("ellipsoid pole on a face", box(2, 2, 2), ellipsoid(1, 0.5, 0.25), (0.25, 0.25, 2.5), 2, (0, 0))
    pole = {"type": "ellipsoid", "P": [[1, 0, 0], [0, 4, 0], [0, 0, 16]]}  # the same by P
    add("ellipsoid by P, pole on a face", box(2, 2, 2), pole, (0.25, 0.25, 2.5), 2, (0, 0))
    add("deep penetration, ellipsoids", ellipsoid(2, 1, 0.5), ellipsoid(1, 3, 1), (0.003, 0, 0), 0.001, (0, 0))
    # parallel axes: height / (R_A + R_B) as long as the scaled segments overlap
    pill = capsule(0.5, 2)
    add("capsules parallel", pill, pill, (0, 0, 3), 3, (1, 0))
    add("capsules parallel and offset", pill, capsule(0.25, 1), (1, 0, 3), 4, (1, 0))
    # at alpha = 3 the end of one segment is just over the end of the other: 6 = 3 (2/2 + 2/2)
    add("capsules parallel, ends meet", pill, pill, (6, 0, 3), 3, (0, 0))
    # axes crossed at 1e-7 rad: still height / (R_A + R_B), and the point is unique, barely
    add("capsules off by 1e-7 rad", pill, pill, (0, 0, 3), 3, (0, 0), turn_b=(0, 0, 5e-8, 1), nearly=True)
    # on one line: |d| / (sum of half-lengths and radii)
    add("capsules collinear", pill, capsule(0.25, 1), (6.75, 0, 0), 3, (0, 0))
    add("capsules crossed", pill, pill, (0, 0, 3), 3, (0, 0), turn_b=QUARTER_TURN_Z)
    add("capsules with crossing axes, touching", pill, pill, (0, 0, 1), 1, (0, 0), turn_b=QUARTER_TURN_Z)
    add("capsules 1e-10 apart", pill, pill, (0, 0, 1e-10), 1e-10, (1, 0))
    add("needle capsules 1:1000 crossed", capsule(0.001, 2), capsule(0.001, 2), (0.5, 0.25, 0.02), 10, (0, 0), turn_b=QUARTER_TURN_Z)
    add("needle capsules 1:1000 parallel", capsule(0.001, 2), capsule(0.001, 2), (0.5, 0, 0.02), 10, (1, 0))
    add("capsule on a face", box(4, 4, 2), pill, (0.25, 0.5, 3), 2, (1, 0))
    add("capsule cap on a face", box(4, 4, 2), pill, (0.25, 0.5, 5), 2, (0, 0), turn_b=QUARTER_TURN_Y)
    # n = (1, 0, 1)/sqrt 2 from the edge along y: h_A = 2/sqrt 2, h_B = 1/2
    add("capsule along an edge", box(2, 2, 2), pill, (2, 0, 2), 2 * sqrt(2) / (sqrt(2) + 0.5), (1, 0), turn_b=QUARTER_TURN_Z)
    add("capsules parallel, 1e6 from the world origin", pill, pill, (0, 0, 3), 3, (1, 0), origin=(-1e6, 3e5, 1e6))
    add_scales("capsules parallel and offset")
    add_scales("spheres")


def cylinder_and_cone_cases():
    can = cylinder(0.5, 2)
    slab = box(4, 4, 2)
    # n along the axis: h = L/2; across it: h = R
    add("cylinder on a face", slab, can, (0.25, 0.5, 3), 2, (1, 0))
    add("cylinder cap on a face", slab, can, (0.25, 0.5, 4), 2, (2, 0), turn_b=QUARTER_TURN_Y)
    add("cylinder caps facing", can, cylinder(0.25, 1), (3, 0, 0), 2, (2, 0))
    add("cylinder caps facing, offset", can, cylinder(0.25, 1), (3, 0.5, 0), 2, (2, 0))
    add("cylinders parallel", can, can, (0.5, 0, 3), 3, (1, 0))
    add("cylinders crossed", can, can, (0, 0, 3), 3, (0, 0), turn_b=QUARTER_TURN_Z)
    # the rims of the difference body (radius 1, half-length 2): both the side and the cap give alpha = 2
    add("cylinder rims", can, can, (4, 2, 0), 2, (0, 1))
    add("capsule cap on a cylinder cap", can, capsule(0.5, 2), (5, 0, 0), 2, (0, 0))
    add("capsule along a cylinder", can, capsule(0.5, 2), (0.25, 0, 2), 2, (1, 0))
    disk = cylinder(1, 0.002)
    add("disks 1:1000 stacked", disk, disk, (0.01, 0.25, 0), 5, (2, 0))
    add("disks 1:1000 side by side", disk, disk, (0, 3, 0), 1.5, (1, 0))
    # the rim's generator (along y, length 0.002) on the cap: |d| / (L/2 + R)
    add("disk 1:1000 edge on disk", disk, disk, (2.002, 0, 0), 2, (1, 0), turn_b=QUARTER_TURN_Z)
    needle = cylinder(0.001, 2)
    add("needle cylinders 1:1000 crossed", needle, needle, (0.5, 0.25, 0.02), 10, (0, 0), turn_b=QUARTER_TURN_Z)
    add("needle cylinder 1:1000 end on a face", slab, needle, (0, 0, 4), 2, (2, 0), turn_b=QUARTER_TURN_Y)
    # the cone: h = H/4 towards the base, 3H/4 towards the apex, (3H/4) sin(beta) normal to the side
    hat = cone(2, 0.5)
    add("cone base on a face", hat, slab, (5, 0, 0.5), 2, (2, 0))
    add("cone apex on a face", hat, slab, (-7, 0, 0), 2, (0, 0))
    add("cone apex on a sphere", hat, sphere(0.5), (-4, 0, 0), 2, (0, 0))
    add("cone apexes facing", hat, cone(1, 0.3), (-4.5, 0, 0), 2, (0, 2), turn_b=HALF_TURN_Z)
    add("cone bases facing", hat, cone(1, 0.3), (1.5, 0, 0), 2, (2, 0), turn_b=HALF_TURN_Y)
    # the axis is lifted by beta so that the lowest generator of the side is level: it lies on the face z = 1
    add("cone side on a face", box(8, 8, 2), hat, (0, 0, 3), 3 / (1 + 1.5 * sin(0.5)), (1, 0), turn_b=lift_of(0.5))
    pin = cone(2, atan(0.001))
    add("needle cone 1:1000 apex on a face", pin, slab, (-7, 0, 0), 2, (0, 0))
    add("needle cone 1:1000 base on a face", pin, slab, (5, 0, 0), 2, (2, 0))
    add("needle cone 1:1000 apexes facing", pin, pin, (-6, 0, 0), 2, (0, 2), turn_b=HALF_TURN_Z)
    plate = cone(0.002, atan(500))
    add("flat cone 1:1000 base on a face", plate, slab, (4.001, 0.5, 0.5), 2, (2, 0))
    add("flat cone 1:1000 apex on a face", plate, slab, (-4.003, 0, 0), 2, (0, 0))
    add("cylinder 1e4 apart from a cone", can, hat, (1e4, 0, 0), 1e4 / 2.5, (0, 0))
    add("cone base on a face, 1e6 from the world origin", hat, slab, (5, 0, 0.5), 2, (2, 0), origin=(1e6, 2e6, 3e6))
    add("cylinder cap 1e-10 from a cone base", can, hat, (1e-10, 0, 0), 1e-10 / 1.5, (2, 0), turn_b=HALF_TURN_Y)
    add_scales("cone base on a face")
    add_scales("cylinder rims")


def lift_of(angle):
    """Turns the x axis up towards z by the angle."""
    return (0, -sin(angle / 2), 0, cos(angle / 2))


def padded_and_sum_cases():
    tile = padded_square(1, 0.25)
    add("padded polygon on a face", box(4, 4, 2), tile, (0.5, 0.25, 2.5), 2, (2, 0))
    add("padded polygons stacked", tile, padded_square(0.5, 0.25), (0.5, 0, 1), 2, (2, 0))
    add("padded polygons side by side", tile, padded_square(0.5, 0.25), (4, 0.25, 0), 2, (1, 0))
    # corner to corner: n = (1, 1, 0)/sqrt 2, cores add up to 1.5 sqrt 2, balls to 0.5
    add("padded polygons corner to corner", tile, padded_square(0.5, 0.25), (3, 3, 0), 3 * sqrt(2) / (1.5 * sqrt(2) + 0.5), (0, 0))
    # face to face: n = (1, 1, 1)/sqrt 3, each core 1/sqrt 3
    add("rounded octahedra face on face", rounded_octahedron(0.25), rounded_octahedron(0.25), (1, 1, 1), 3 / (2 + 0.5 * sqrt(3)), (2, 0))
    add("rounded cubes, parallel edges", rounded_cube(1, 0.25), rounded_cube(0.5, 0.25), (3, 3, 0.25), 3 * sqrt(2) / (1.5 * sqrt(2) + 0.5), (1, 0))
    add("rounded cubes, vertex on vertex", rounded_cube(1, 0.25), rounded_cube(1, 0.25), (3, 3, 3), 3 * sqrt(3) / (2 * sqrt(3) + 0.5), (0, 0))
    crate = {
        "type": "minkowski_sum",
        "parts": [
            {"shape": box(2, 2, 2), "position": [0.25, 0, 0], "quaternion": list(IDENTITY)},
            {"shape": sphere(0.5), "position": [0, 0, 0], "quaternion": list(IDENTITY)},
        ],
    }
    # towards x: 1 + 0.5 + 0.25 of the sum, 1 of the box
    add("sum of box and sphere on a face", crate, box(2, 2, 2), (5.5, 0.5, 0), 2, (2, 0))


def half_space_cases():
    cube = box(2, 2, 2)
    # alpha = height / h(-z)
    add("box face on the plane", floor(), cube, (5, 0, 2), 2, (2, 0))
    add("box face on the plane, half-space second", cube, floor(), (5, 0, -2), 2, (2, 0))
    add("box edge on the plane", floor(), cube, (0, 0, 2), sqrt(2), (1, 0), turn_b=(tan(pi / 8), 0, 0, 1))
    # the diagonal (1, 1, 1) turned down: about (1, -1, 0), by the angle between -z and the diagonal's mirror image
    vertical = (1 / sqrt(2), -1 / sqrt(2), 0, 0)
    angle = float(np.arccos(1 / sqrt(3)))
    turn = (vertical[0] * sin(angle / 2), vertical[1] * sin(angle / 2), 0, cos(angle / 2))
    add("box vertex on the plane", floor(), cube, (0, 0, 3), 3 / sqrt(3), (0, 0), turn_b=turn)
    add("octahedron vertex on the plane", floor(), octahedron(), (1, 2, 3), 3, (0, 0))
    add("cone apex on the plane", floor(), cone(2, 0.5), (0, 0, 3), 2, (0, 0), turn_b=lift_of(pi / 2))
    add("cone base on the plane", floor(), cone(2, 0.5), (0, 0, 3), 6, (2, 0), turn_b=lift_of(-pi / 2))
    add("cone side on the plane", floor(), cone(2, 0.5), (0, 0, 3), 2 / sin(0.5), (1, 0), turn_b=lift_of(0.5))
    add("cylinder side on the plane", floor(), cylinder(0.5, 2), (0, 0, 1), 2, (1, 0))
    add("cylinder cap on the plane", floor(), cylinder(0.5, 2), (0, 0, 1), 1, (2, 0), turn_b=QUARTER_TURN_Y)
    add("capsule on the plane", floor(), capsule(0.5, 2), (0, 0, 1), 2, (1, 0))
    add("sphere on the plane", floor(), sphere(0.5), (3, 4, 1), 2, (0, 0))
    add("padded polygon on the plane", floor(), padded_square(1, 0.25), (0, 0, 1), 4, (2, 0))
    add("touching the plane + 1e-9", floor(), sphere(0.5), (0, 0, 0.5 + 5e-10), 1 + 1e-9, (0, 0))
    add("box face on the plane, far out", floor(), cube, (1e3, -1e3, 2), 2, (2, 0), origin=(1e6, 1e6, 1e6))
    add_scales("box edge on the plane")
    add_zero("centre on the plane", floor(), cube)
    add_zero("centre in the half-space", floor(), sphere(0.5), d=(1, 1, -3))


def zero_cases():
    add_zero("coincident centres, boxes", box(2, 2, 2), box(1, 1, 1))
    add_zero("coincident centres, spheres", sphere(0.5), sphere(1))
    add_zero("coincident centres, capsule and cone", capsule(0.5, 2), cone(2, 0.5), turn_b=(1, 2, 3, 4))
    add_zero("coincident centres, ellipsoid and octahedron", ellipsoid(2, 1, 0.5), octahedron())
    add_zero("coincident centres, padded polygon and cylinder", padded_square(1, 0.25), cylinder(0.5, 2), turn_b=(0, 1, 0, 1))


# --- checks ---


def directions(count=16):
    """Well spread directions (a spiral on the sphere)."""
    z = np.linspace(-0.95, 0.95, count)
    turn = 2.4 * np.arange(count)
    return np.stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z], axis=1)


def dimension(cloud, size):
    """How many directions a cloud of points extends in, relative to `size`."""
    return int((np.linalg.svd(cloud - cloud.mean(axis=0), compute_uv=False) > 0.02 * size).sum())


def point_freedom(pair, alpha):
    """The points of both bodies at alpha (1 + 1e-7), pushed to all sides: curved contacts give way by the root of that only."""
    program, unit = cone_program(pair)
    limit = program.alpha(-1.0)
    limit[0, -1] = alpha * (1 + 1e-7)
    program.nonnegative(limit)
    found = [program.solve(1e-7, objective=(*c, 0)) for c in directions()]
    points = np.array([f[1] for f in found if f is not None])
    return dimension(points, 1.0) if len(points) > 8 else None


def normal_freedom(pair, alpha):
    """The gradients at positions 1e-4 around: they differ where the normal is free."""
    d = np.subtract(pair["b"]["position"], pair["a"]["position"])
    gradients = []
    for c in directions():
        moved = dict(pair, b=dict(pair["b"], position=list(np.add(pair["b"]["position"], 1e-4 * np.linalg.norm(d) * c))))
        gradients.append(certify(moved)[2])
    return dimension(np.array(gradients), alpha / np.linalg.norm(d))


def ordinary(pair):
    """Whether sizes are near one and shapes compact, so that the numerical counts mean something."""
    shapes = [pair[key]["shape"] for key in "ab" if pair[key]["shape"]["type"] != "halfspace"]
    supports = [Support(shape) for shape in shapes]
    distance = np.linalg.norm(np.subtract(pair["b"]["position"], pair["a"]["position"]))
    sizes = [distance] + [s.outer for s in supports] + [s.inner for s in supports]
    return max(sizes) < 60 * min(sizes)


def checked(case):
    """The line of a case, after its alpha and freedoms have been checked."""
    line = {
        "name": case["name"],
        "a": case["a"],
        "b": case["b"],
        "alpha": case["alpha"],
        "status": "solved" if case["alpha"] > 0 else "zero_scaling",
        "point_freedom": case["point"],
        "normal_freedom": case["normal"],
        "nearly_degenerate": case["nearly"],
    }
    if case["alpha"] == 0:
        return line
    program = conelp(case)
    guess = [] if program is None else [program[2]]
    lower, upper, n = certify(case, guess)
    magnitude = max(np.abs(case[key]["position"]).max() for key in "ab")
    distance = np.linalg.norm(np.subtract(case["b"]["position"], case["a"]["position"]))
    slack = 1e-11 + 4e-16 * magnitude / distance
    problems = []
    if not lower * (1 - slack) <= case["alpha"] <= upper * (1 + slack):
        problems.append(f"alpha {case['alpha']!r} is not in [{lower!r}, {upper!r}]")
    if upper - lower > 2e-9 * upper:
        problems.append(f"bounds do not meet: [{lower!r}, {upper!r}]")
    if program is not None and abs(program[0] / case["alpha"] - 1) > 1e-6:
        problems.append(f"CVXOPT found {program[0]!r}, not {case['alpha']!r}")
    if ordinary(case) and not case["nearly"]:
        counted = (point_freedom(case, case["alpha"]), normal_freedom(case, case["alpha"]))
        if counted[0] not in (None, case["point"]) or counted[1] != case["normal"]:
            problems.append(f"freedoms {case['point']}, {case['normal']}, but {counted} were counted")
    for problem in problems:
        print(f"{case['name']}: {problem}")
    if case["normal"] == 0 and not case["nearly"]:
        line["gradient_b"] = [float(f"{v:.9e}") for v in n]
    line["failed"] = bool(problems)
    return line


def main():
    polytope_cases()
    round_cases()
    cylinder_and_cone_cases()
    padded_and_sum_cases()
    half_space_cases()
    zero_cases()
    lines = [checked(case) for case in CASES]
    failed = sum(line.pop("failed", False) for line in lines)
    if failed:
        raise SystemExit(f"{failed} of {len(lines)} cases failed their check; nothing written")
    with open(OUTPUT, "w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
    print(f"{len(lines)} cases, {sum(ordinary(c) and not c['nearly'] for c in CASES if c['alpha'] > 0)} with counted freedoms: {OUTPUT}")


if __name__ == "__main__":
    main()
