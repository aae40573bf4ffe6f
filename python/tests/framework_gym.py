"""Gymnasium, run by `make test-frameworks`."""

import numpy as np
import pytest

pytest.importorskip("gymnasium")

import tangere as tg  # noqa: E402


@pytest.mark.parametrize("name", ["cartpole", "worm", "half_cheetah", "humanoid"])
def test_environments(name):
    env = tg.gym.make(name, num_envs=3)
    first, _ = env.reset(seed=1)
    assert env.observation_space.contains(first)
    again, _ = env.reset(seed=1)
    np.testing.assert_array_equal(first, again)
    env.action_space.seed(1)
    for _ in range(20):
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        assert env.observation_space.contains(observation) and np.isfinite(reward).all()
        assert terminated.shape == truncated.shape == (3,)


def test_what_is_over_starts_anew():
    env = tg.gym.make("cartpole", num_envs=2)
    env.reset(seed=1)
    env.batch.q[1, 0] = 6.0
    _, _, terminated, _, _ = env.step(np.zeros((2, 1)))
    assert list(terminated) == [False, True]
    observation, reward, terminated, _, _ = env.step(np.zeros((2, 1)))
    assert not terminated.any() and abs(observation[1, 0]) < 2.0 and reward[1] == 0.0
    with pytest.raises(tg.InputError, match="cartpole"):
        tg.gym.make("cartpool")
