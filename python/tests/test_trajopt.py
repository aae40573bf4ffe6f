"""Trajectory optimisation."""

import copy
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import tangere as tg


def swing_up(cartpole, steps=100):
    """The pole of a cart goes up by 6 degrees."""
    problem = tg.OptimalControl(cartpole, [0, 0.1, 0, 0], steps=steps, time_step=0.02)
    problem.add(tg.ControlCost(weight=1e-2))
    problem.add(tg.ControlBounds(-10, 10))
    problem.add(tg.Reach(np.zeros(4)))
    return problem


def test_a_world_reaches_its_goal(cartpole):
    problem = swing_up(cartpole)
    rows = []
    result = tg.Optimizer(problem).solve(callback=rows.append)
    assert result.status == "solved" and 1 < len(rows) <= len(result.log)
    plan = result.plan
    assert plan.x.shape == (101, 4) and plan.u.shape == (100, 1) and plan.K.shape == (100, 1, 4)
    np.testing.assert_allclose(plan.x[-1], 0, atol=1e-5)
    # the same steps by the world itself
    replay = tg.verify(problem, plan)
    assert replay.strays < 1e-9 and replay.equality < 1e-5
    gains = tg.tracking_gains(problem, plan)
    assert gains.shape == (100, 1, 4) and tg.verify(problem, plan, gains=gains).strays < 1e-9
    assert problem.terms == [("cost", "control"), ("inequality", "control bounds"), ("equality", "reach")]


def test_functions_of_python(cartpole):
    """A cost and constraints with Jacobians, by differences, and the same by terms of the library."""
    by_terms = tg.OptimalControl(cartpole, np.zeros(4), steps=30, time_step=0.02)
    by_functions = copy.copy(by_terms)
    for problem in (by_terms, by_functions):
        problem.add(tg.ControlBounds(-10, 10))
    by_terms.add(tg.ControlCost(weight=0.1))
    by_terms.add(tg.Reach([0.2, 0, 0, 0], mask=[1, 0, 0, 0]))
    by_functions.add(
        tg.ResidualCost(
            lambda knot: knot.u, 1, jacobian=lambda knot: (np.zeros((1, 4)), np.eye(1)), weight=0.1, knots=(0, -2)
        )
    )
    by_functions.add(tg.Equality(lambda knot: knot.x[:1] - 0.2, 1, knots=-1))
    by_functions.add(tg.Inequality(lambda knot: knot.x[0] - 5.0, 1))
    options = tg.OptimizerOptions.hard_contact()
    a, b = (tg.Optimizer(problem, options).solve() for problem in (by_terms, by_functions))
    assert a.status == b.status == "solved"
    np.testing.assert_allclose(a.plan.x, b.plan.x, atol=1e-4)
    assert len(by_terms.terms) == 3 and len(by_functions.terms) == 4


def test_dynamics_by_a_function():
    """A pendulum, by its rate; the last state is where its own steps lead."""

    def rate(x, u, _):
        return [x[1], u[0] - np.sin(x[0])], [[0, 1], [-np.cos(x[0]), 0]], [[0], [1]]

    for function in (rate, lambda x, u, _: rate(x, u, _)[0]):
        problem = tg.OptimalControl(tg.FunctionDynamics(2, 1, function, rate=True), [0, 0], steps=40, time_step=0.1)
        problem.add(tg.ControlCost(weight=1e-2))
        problem.add(tg.Reach([np.pi, 0]))
        result = tg.Optimizer(problem).solve()
        assert result.status == "solved"
        np.testing.assert_allclose(result.plan.x[-1], [np.pi, 0], atol=1e-5)


def test_shapes_stay_apart():
    def pose(knot):
        return [knot.x[0], knot.x[1], 0], np.vstack([np.eye(2), np.zeros((4, 2))])

    dynamics = tg.FunctionDynamics(2, 2, lambda x, u, dt: (x + dt * u, np.eye(2), dt * np.eye(2)))
    problem = tg.OptimalControl(dynamics, [-1, 0], steps=20, time_step=0.1)
    problem.add(tg.ControlCost(weight=1.0))
    problem.add(tg.Reach([1, 0.01]))
    mover = tg.Collider("ball", tg.Sphere(0.1), pose)
    rock = tg.Collider.fixed("rock", tg.Sphere(0.3), [0, -0.05, 0])
    problem.add(tg.KeepApart([mover], [rock], metric="distance", margin=0.01))
    result = tg.Optimizer(problem).solve()
    assert result.status == "solved"
    gaps = [tg.distance(tg.Sphere(0.1), [*x, 0], tg.Sphere(0.3), [0, -0.05, 0]).distance for x in result.plan.x]
    assert 0.0099 < min(gaps) < 0.02


def test_problem_files():
    file = tg.load_problem("drone")
    result = tg.Optimizer(file.problem, file.options).solve(file.guess, restarts=file.restarts)
    assert result.status == "solved" and tg.verify(file.problem, result.plan).equality < 1e-5
    with pytest.raises(tg.InputError):
        tg.load_problem("no_such_problem")


def test_options_are_checked_and_pickled():
    options = tg.OptimizerOptions.through_contact()
    assert len(options.phases) > 1 and pickle.loads(pickle.dumps(options)) == options
    options.phases = [tg.ContactPhase("single_level", kappa=1e-3)]
    assert options.phases[0].formulation == "single_level"
    with pytest.raises(tg.InputError, match="tolerance"):
        tg.OptimizerOptions(tolerance=-1)


def test_errors_of_functions_come_back(cartpole):
    problem = swing_up(cartpole)
    problem.add(tg.Equality(lambda knot: 1 / 0, 1))
    with pytest.raises(ZeroDivisionError):
        tg.Optimizer(problem).solve()
    problem = swing_up(cartpole)
    problem.add(tg.Inequality(lambda knot: [1, 2, 3], 1))
    with pytest.raises(tg.InputError, match="shape"):
        tg.Optimizer(problem).solve()
    with pytest.raises(tg.InputError):
        problem.add(tg.Reach([1, 2]))
    with pytest.raises(tg.InputError, match="foot"):
        problem.add(tg.ReachFrame("foot", [0, 0, 0]))


def test_stopping(cartpole):
    """By False from the callback, and by Ctrl-C."""
    assert tg.Optimizer(swing_up(cartpole)).solve(callback=lambda _: False).status == "stopped"

    def slow(_):
        time.sleep(0.02)

    timer = threading.Timer(0.1, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(100):
            tg.Optimizer(swing_up(cartpole, 200)).solve(callback=slow)
    timer.join()
