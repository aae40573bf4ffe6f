"""CasADi, run by `make test-frameworks`."""

import numpy as np
import pytest

casadi = pytest.importorskip("casadi")

import tangere as tg  # noqa: E402


def check(function, arguments, atol):
    symbols = [casadi.MX.sym(f"a{i}", len(a)) for i, a in enumerate(arguments)]
    value = function(*symbols)
    for i, symbol in enumerate(symbols):
        jacobian = np.array(casadi.Function("J", symbols, [casadi.jacobian(value, symbol)])(*arguments))
        for k in range(len(arguments[i])):
            sides = []
            for sign in (1, -1):
                moved = [np.array(a, dtype=float) for a in arguments]
                moved[i][k] += sign * 1e-6
                sides.append(np.array(function(*moved)).ravel())
            np.testing.assert_allclose(jacobian[:, k], (sides[0] - sides[1]) / 2e-6, atol=atol)


def test_step(sliding_box):
    x = sliding_box.default_state()
    check(tg.casadi.step(sliding_box), [np.concatenate([x.q, x.v]), np.full(6, 0.3)], 1e-4)


@pytest.mark.parametrize("query", ["scaling", "distance"])
def test_pairs(query):
    function = getattr(tg.casadi, query)(tg.Capsule(0.2, 1.0), tg.Box([0.5, 0.4, 0.3]))
    check(function, [[0, 0, 0, 0, 0, 0, 1.0], [0.9, 0.6, 0.1, 0.2, 0.1, 0.3, 0.9]], 1e-5)
