"""Pair queries and their derivatives, by differences."""

import numpy as np
import pytest

import tangere as tg

CAPSULE = tg.Capsule(0.2, 1.0)
CRATE = tg.Box([0.5, 0.4, 0.3])
X_A = tg.Pose([0.1, 0, 0], [0, 0, np.sin(0.2), np.cos(0.2)])
X_B = tg.Pose([0.9, 0.6, 0.1], [np.sin(0.3), 0, 0, np.cos(0.3)])


def by_differences(value, h=1e-6):
    out = []
    for i in range(12):
        step = np.zeros(12)
        step[i] = h
        sides = [value(X_A.perturbed(s * step[:6]), X_B.perturbed(s * step[6:])) for s in (1, -1)]
        out.append((np.asarray(sides[0]) - np.asarray(sides[1])) / (2 * h))
    return np.array(out).T


@pytest.mark.parametrize(
    "query, value",
    [(tg.scaling, "alpha"), (tg.distance, "distance"), (tg.proximity, "phi")],
    ids=["scaling", "distance", "proximity"],
)
def test_gradients(query, value):
    answer = query(CAPSULE, X_A, CRATE, X_B)
    assert answer.status == "solved"
    ask = lambda a, b: getattr(query(CAPSULE, a, CRATE, b), value)  # noqa: E731
    np.testing.assert_allclose(answer.gradient(), by_differences(ask), atol=2e-7)
    points = lambda a, b: query(CAPSULE, a, CRATE, b).p_B  # noqa: E731
    np.testing.assert_allclose(answer.jacobian().p_B, by_differences(points), atol=1e-5)
    d_A, d_B = answer.parameter_gradient()
    h = 1e-6
    for i in range(len(CAPSULE.parameters)):
        step = np.eye(len(CAPSULE.parameters))[i] * h
        sides = [
            getattr(query(CAPSULE.with_parameters(CAPSULE.parameters + s * step), X_A, CRATE, X_B), value)
            for s in (1, -1)
        ]
        assert d_A[i] == pytest.approx((sides[0] - sides[1]) / (2 * h), abs=1e-6)
    assert d_B.shape == (3,)


def test_scaling_with_smoothing():
    answer = tg.scaling(CAPSULE, X_A, CRATE, X_B, smoothing=1e-3)
    assert answer.method == "conic"
    ask = lambda a, b: tg.scaling(CAPSULE, a, CRATE, b, smoothing=1e-3, tolerance=1e-11).alpha  # noqa: E731
    np.testing.assert_allclose(answer.gradient(), by_differences(ask), atol=1e-6)
    d_A, d_B = answer.parameter_jacobian()
    assert d_A.shape == (4, 2) and d_B.shape == (4, 3)
    assert answer.quaternion_gradient().shape == (14,)


def test_manifold():
    points = tg.manifold(CRATE, [0, 0, 0], CRATE, [0, 0, 0.3], derivatives=True)
    assert len(points) == 4
    assert all(p.type == "vertex-face" or p.type == "face-vertex" for p in points)
    np.testing.assert_allclose(points[0].jacobian.distance[8], 1.0)
    with pytest.raises(tg.InputError, match="derivatives=True"):
        tg.manifold(CRATE, [0, 0, 0], CRATE, [0, 0, 0.3])[0].jacobian


def test_answers_outlive_what_they_were_asked_about():
    def ask():
        ball = tg.Sphere(0.3)
        return tg.scaling(ball, [0, 0, 0], tg.Box([1, 1, 1]), [2, 0, 0])

    answers = [ask() for _ in range(100)]
    first = answers[0].jacobian().x_alpha
    for other in answers[1:]:
        np.testing.assert_array_equal(other.jacobian().x_alpha, first)


def test_the_parameter_jacobian_needs_no_other_derivative_before():
    for make in (lambda: tg.Sphere(1.0), lambda: tg.Box([1, 2, 3])):
        answer = tg.scaling(make(), [0, 0, 0], make(), [5, 0.3, 0.2])
        d_A, d_B = answer.parameter_jacobian()
        np.testing.assert_allclose(d_A[3], answer.parameter_gradient()[0], atol=1e-6)
        np.testing.assert_allclose(d_B[3], answer.parameter_gradient()[1], atol=1e-6)
