"""Shapes, poses, masses, meshes."""

import copy
import pickle

import numpy as np
import pytest

import tangere as tg

SHAPES = [
    tg.Sphere(0.5),
    tg.Ellipsoid([0.3, 0.4, 0.5]),
    tg.Box([1, 2, 3]),
    tg.Polytope(vertices=[[1, 0, -0.3], [-1, 0, -0.3], [0, 1, -0.3], [0, -1, -0.3], [0, 0, 1]]),
    tg.RoundedPolytope(A=np.vstack([np.eye(3), -np.eye(3)]), b=np.ones(6), radius=0.1),
    tg.Capsule(radius=0.2, length=1.0),
    tg.Cylinder(0.2, 1.0),
    tg.Cone(1.0, 0.4),
    tg.PaddedPolygon(C=[[1, 0], [-1, 0], [0, 1], [0, -1]], d=[1, 1, 1, 1], radius=0.1),
    tg.HalfSpace([0, 0, 1]),
    tg.MinkowskiSum([tg.Sphere(0.1), (tg.Box([1, 1, 1]), [0.1, 0, 0])]),
    tg.Bundle([(tg.Sphere(0.1), [1, 0, 0]), (tg.Box([1, 1, 1]), [-1, 0, 0])]),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.type_name)
def test_shapes_are_values(shape):
    again = pickle.loads(pickle.dumps(shape))
    assert again == shape and hash(again) == hash(shape)
    np.testing.assert_array_equal(again.parameters, shape.parameters)
    assert copy.copy(shape) == shape and copy.deepcopy([shape])[0] == shape
    assert tg.Shape.from_json(shape.to_json()) == shape
    assert len(shape.parameter_names) == len(shape.parameters)
    assert shape.with_parameters(shape.parameters) == shape
    assert shape.type_name.split("_")[0] in repr(shape).lower()


@pytest.mark.parametrize("shape", [s for s in SHAPES if s.type_name != "halfspace"], ids=lambda s: s.type_name)
def test_mass_bounds_and_mesh(shape):
    mass = tg.mass_properties(shape, density=2.0)
    assert mass.mass > 0 and mass.inertia.shape == (3, 3)
    lower, upper = tg.bounds(shape)
    drawn = tg.mesh(shape)
    assert drawn.vertices.shape[1] == 3 and drawn.triangles.max() < len(drawn.vertices)
    assert (drawn.vertices >= lower - 1e-9).all() and (drawn.vertices <= upper + 1e-9).all()


def test_poses():
    X = tg.Pose([1, 2, 3], [0, 0, np.sin(0.1), np.cos(0.1)])
    np.testing.assert_allclose((X @ X.inverse()).matrix, np.eye(4), atol=1e-15)
    np.testing.assert_allclose(tg.Pose.exp(X.log()).matrix, X.matrix, atol=1e-14)
    np.testing.assert_allclose(X.transform([1, 0, 0]), X.matrix[:3, :3][:, 0] + [1, 2, 3])
    assert pickle.loads(pickle.dumps(X)) == X
    for form in (X.numbers, X.matrix, X):
        np.testing.assert_allclose(
            tg.distance(tg.Sphere(1), form, tg.Sphere(1), [9, 2, 3]).distance, 6.0, atol=1e-12
        )


@pytest.mark.parametrize(
    "make, field",
    [
        (lambda: tg.Sphere(-1.0), "sphere.radius"),
        (lambda: tg.Box([1, 2]), "box.size"),
        (lambda: tg.Box("large"), "box.size"),
        (lambda: tg.Polytope(), "polytope"),
        (lambda: tg.Ellipsoid(), "ellipsoid"),
        (lambda: tg.Cone(1.0, 2.0), "cone.half_angle"),
        (lambda: tg.Bundle([1]), "parts[0]"),
        (lambda: tg.scaling(tg.Sphere(1), [0, 0], tg.Sphere(1), None), "X_WA"),
        (lambda: tg.Pose([0, 0, 0], [0, 0, 0, 2]), "quaternion"),
        (lambda: tg.scaling(tg.Sphere(1), [0, 0, 0], tg.Sphere(1), [0, 0, 1], method="magic"), "method"),
    ],
)
def test_errors_name_what_is_wrong(make, field):
    with pytest.raises((tg.InputError, TypeError)) as error:
        make()
    if isinstance(error.value, tg.InputError):
        assert field in error.value.field and error.value.reason
        assert isinstance(error.value, ValueError)
