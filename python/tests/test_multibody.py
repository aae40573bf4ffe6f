"""Models, kinematics, dynamics and their derivatives."""

import pickle

import numpy as np
import pytest

import tangere as tg


@pytest.fixture
def model():
    return tg.load_robot(tg.scene_file("humanoid.xml")).model


def state(model, rng):
    return tg.random_configuration(model, 3), rng.normal(size=model.nv), rng.normal(size=model.nv)


def test_builder_and_pickle():
    builder = tg.ModelBuilder("pendulum")
    arm = builder.add_body(
        "arm", tg.CollisionShape(tg.Capsule(0.05, 1.0), name="rod", friction=0.5), joint="revolute", axis=[0, 1, 0], mass=2.0
    )
    builder.add_body("bob", tg.Sphere(0.1), joint="fixed", parent="arm", X_PJ=[0.5, 0, 0])
    model = builder.build()
    assert (arm, model.nq, model.nv, model.num_bodies) == (0, 1, 1, 2)
    assert model.body("arm")["mass"] == pytest.approx(2.0)
    again = pickle.loads(pickle.dumps(model))
    q = [0.3]
    np.testing.assert_array_equal(tg.mass_matrix(again, q), tg.mass_matrix(model, q))
    np.testing.assert_array_equal(again.parameters(), model.parameters())
    heavier = model.with_parameters({"arm.mass": 3.0})
    assert heavier.total_mass == pytest.approx(model.total_mass + 1.0)
    with pytest.raises(tg.InputError, match="arm"):
        model.body_index("arn")


@pytest.mark.parametrize("file", ["humanoid.xml", "half_cheetah.xml", "arm.urdf", "drone.xml"])
def test_files_survive_pickle(file):
    model = tg.load_robot(tg.scene_file(file)).model
    again = pickle.loads(pickle.dumps(model))
    assert again.body_names == model.body_names and again.dof_names == model.dof_names
    np.testing.assert_array_equal(again.parameters(), model.parameters())
    q = tg.random_configuration(model, 1)
    np.testing.assert_array_equal(tg.mass_matrix(again, q), tg.mass_matrix(model, q))


def test_dynamics(model, rng):
    q, v, a = state(model, rng)
    tau = tg.inverse_dynamics(model, q, v, a)
    np.testing.assert_allclose(tg.forward_dynamics(model, q, v, tau), a, atol=1e-7)
    M = tg.mass_matrix(model, q)
    np.testing.assert_allclose(M @ a + tg.bias_forces(model, q, v), tau, atol=1e-9)
    np.testing.assert_allclose(tg.inverse_mass_matrix(model, q) @ M, np.eye(model.nv), atol=1e-9)
    Y = tg.inertial_regressor(model, q, v, a)
    d = tg.inverse_dynamics_parameter_derivatives(model, q, v, a, ["pelvis.mass"])
    assert Y.shape == (model.nv, 10 * model.num_bodies) and d.shape == (model.nv, 1)


def test_dynamics_derivatives(model, rng):
    q, v, a = state(model, rng)
    d = tg.inverse_dynamics_derivatives(model, q, v, a)
    f = tg.forward_dynamics_derivatives(model, q, v, d.value)
    np.testing.assert_allclose(f.value, a, atol=1e-7)
    step = rng.normal(size=model.nv)
    h = 1e-6
    sides = [tg.inverse_dynamics(model, tg.integrate(model, q, s * h * step), v, a) for s in (1, -1)]
    np.testing.assert_allclose(d.d_q @ step, (sides[0] - sides[1]) / (2 * h), atol=1e-5)
    np.testing.assert_allclose(f.d_q, -f.d_tau @ d.d_q, atol=1e-6)


def test_kinematics(model, rng):
    q, v, a = state(model, rng)
    k = tg.Kinematics(model, q, v, a)
    foot = model.body_names[-1]
    np.testing.assert_allclose(k.body_jacobian(foot) @ v, k.body_velocity(foot), atol=1e-12)
    np.testing.assert_allclose(
        k.body_jacobian(foot) @ a + k.body_jacobian_rate(foot) @ v, k.body_acceleration(foot), atol=1e-10
    )
    np.testing.assert_allclose(k.center_of_mass_jacobian @ v, k.center_of_mass_velocity, atol=1e-12)
    np.testing.assert_allclose(k.kinetic_energy, 0.5 * v @ tg.mass_matrix(model, q) @ v, rtol=1e-12)
    np.testing.assert_allclose(k.centroidal_matrix @ v, k.centroidal_momentum, atol=1e-10)
    assert k.body_pose(len(model.body_names) - 1) == k.body_pose(foot)
    with pytest.raises(tg.InputError, match="body"):
        k.body_pose(99)
