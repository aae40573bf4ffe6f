"""Trains a policy with exact gradients through the engine, spread over workers.

A network of eight neurons is to bring a pole upright and keep it there, from starts that are new in every iteration.
Each episode gives its loss and the gradient in the weights: forward through `world.record`, backward through `vjp`. The
sum over the episodes has the same bits with any number of workers, so a training can be repeated anywhere.

    python examples/train_policy.py [ITERATIONS] [WORKERS] [ENGINE]
"""

import sys

import numpy as np

import tangere as tg
from tangere import sweep

STEPS = 75
WORLD = tg.load("cartpole.xml", time_step=0.02)
SCALE = np.array([1.0, 2.0, 1.0, 1.0])  # of q and v, as the network sees them
COST = np.array([0.2, 5.0, 0.05, 0.1])  # of x' x / 2 per step, and of u' u / 2
EFFORT = 1e-3


def start_weights(seed=0, neurons=8):
    rng = sweep.generator(seed, 0)
    return {"W": 0.5 * rng.normal(size=(neurons, 4)), "b": np.zeros(neurons), "w": 0.5 * rng.normal(size=neurons)}


@sweep.task
def loss(weights, rng):
    """The cost of an episode's motion, and its gradient in the weights."""
    W, b, w = weights["W"], weights["b"], weights["w"]
    state = WORLD.state(q=rng.uniform([-0.5, -0.4], [0.5, 0.4]), v=rng.uniform(-0.3, 0.3, size=2))

    # forward: x, the neurons h, the force u; what the step needs to be differentiated is kept
    tape, value = [], 0.0
    for _ in range(STEPS):
        x = np.concatenate([state.q, state.v])
        h = np.tanh(W @ (SCALE * x) + b)
        u = 10.0 * (w @ h)
        step = WORLD.record(state, u)
        tape.append((x, h, u, step))
        value += 0.5 * (x @ (COST * x) + EFFORT * u * u)
        state = step.next

    # backward: g is the gradient in the state after a step
    g = np.zeros(4)
    out = {name: np.zeros_like(entry) for name, entry in weights.items()}
    for x, h, u, step in reversed(tape):
        g_x, g_u = step.vjp(g)
        g_u = g_u[0] + EFFORT * u
        g_z = 10.0 * g_u * w * (1.0 - h * h)
        out["w"] += 10.0 * g_u * h
        out["W"] += np.outer(g_z, SCALE * x)
        out["b"] += g_z
        g = g_x + COST * x + SCALE * (W.T @ g_z)
    return value / STEPS, {name: entry / STEPS for name, entry in out.items()}


def train(iterations, episodes=64, rate=0.03, **where):
    """Adam; gives the weights and the mean loss of every iteration."""
    weights = start_weights()
    first = {name: np.zeros_like(entry) for name, entry in weights.items()}
    second = {name: np.zeros_like(entry) for name, entry in weights.items()}
    losses = []
    with sweep.Gradients(loss, **where) as gradients:
        for k in range(1, iterations + 1):
            value, gradient = gradients(weights, episodes, seed=k)
            losses.append(value / episodes)
            for name in weights:
                g = gradient[name] / episodes
                first[name] = 0.9 * first[name] + 0.1 * g
                second[name] = 0.99 * second[name] + 0.01 * g * g
                scale = np.sqrt(second[name] / (1 - 0.99**k)) + 1e-8
                weights[name] = weights[name] - rate * first[name] / (1 - 0.9**k) / scale
    return weights, losses


if __name__ == "__main__":
    iterations, workers, engine, *_ = [*sys.argv[1:], *["100", "2", "local"][len(sys.argv) - 1 :]]
    _, losses = train(int(iterations), workers=int(workers), engine=engine)
    for k in range(0, len(losses), max(1, len(losses) // 10)):
        print(f"iteration {k:3d}: mean loss {losses[k]:.4f}")
    print(f"last: {losses[-1]:.4f}")
