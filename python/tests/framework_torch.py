"""PyTorch, run by `make test-frameworks`."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import tangere as tg  # noqa: E402


@pytest.fixture(params=["cartpole", "sliding_box", "smooth_box"])
def batch(request):
    return tg.Batch(request.getfixturevalue(request.param), 2)


def numbers(batch):
    torch.manual_seed(1)
    x = torch.tensor(batch.states)
    x[:, batch.world.nq :] += 0.05 * torch.randn(len(batch), batch.world.nv, dtype=x.dtype)
    return x.requires_grad_(), torch.randn(len(batch), batch.world.nu, dtype=x.dtype, requires_grad=True)


def test_gradcheck_of_steps(batch):
    x, u = numbers(batch)
    step = lambda x, u: tg.torch.step(batch, x, u)  # noqa: E731
    assert torch.autograd.gradcheck(step, (x, u), eps=1e-6, atol=1e-4, check_forward_ad=True)
    controls = torch.stack([u, u]).detach().requires_grad_()
    roll = lambda x, u: tg.torch.rollout(batch, x, u)  # noqa: E731
    assert torch.autograd.gradcheck(roll, (x, controls), eps=1e-6, atol=1e-4)


def test_gradcheck_of_pairs():
    A, B = tg.Capsule(0.2, 1.0), tg.Box([0.5, 0.4, 0.3])
    X_A = torch.tensor([[0, 0, 0, 0, 0, 0, 1.0]], dtype=torch.float64, requires_grad=True)
    X_B = torch.tensor([[0.9, 0.6, 0.1, 0.2, 0.1, 0.3, 0.9]], dtype=torch.float64, requires_grad=True)
    for query in (tg.torch.scaling, tg.torch.distance):
        ask = lambda a, b: query(A, a, B, b)  # noqa: E731, B023
        assert torch.autograd.gradcheck(ask, (X_A, X_B), eps=1e-6, atol=1e-5, check_forward_ad=True)


def test_single_precision(batch):
    x, u = numbers(batch)
    x32 = x.detach().float().requires_grad_()
    y = tg.torch.step(batch, x32, u.float())
    y.sum().backward()
    assert y.dtype == torch.float32 and x32.grad.dtype == torch.float32
    np.testing.assert_allclose(y.detach().numpy(), tg.torch.step(batch, x, u).detach().numpy(), atol=1e-4)


def test_training(cartpole):
    """The controls of 50 steps, by 50 iterations of Adam: the loss falls at least ten times."""
    batch = tg.Batch(cartpole, 1)
    x = torch.tensor(batch.states)
    u = torch.zeros(100, 1, cartpole.nu, dtype=x.dtype, requires_grad=True)
    target = x.clone()
    target[0, 0] += 0.5
    adam = torch.optim.Adam([u], lr=0.1)
    losses = []
    for _ in range(50):
        adam.zero_grad()
        loss = (tg.torch.rollout(batch, x, u)[-1, :, 0] - target[:, 0]).square().sum()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    assert min(losses) < 0.1 * losses[0]


def test_torch_func(batch):
    """grad, vjp, jvp, jacfwd and vmap of a batch and of its world."""
    x, u = numbers(batch)
    x, u = x.detach(), u.detach()
    for target in (batch, batch.world):
        step = lambda x, u: tg.torch.step(target, x, u)  # noqa: E731, B023
        forward = torch.func.jacfwd(step, (0, 1))(x, u)
        reverse = torch.func.jacrev(step, (0, 1))(x, u)
        for a, b in zip(forward, reverse):
            torch.testing.assert_close(a, b, atol=1e-8, rtol=1e-6)
        xs, us = torch.stack([x, x + 0.01]), torch.stack([u, -u])
        together = torch.func.vmap(step)(xs, us)
        torch.testing.assert_close(together, torch.stack([step(a, b) for a, b in zip(xs, us)]), atol=0, rtol=0)
        gradients = torch.func.vmap(torch.func.grad(lambda x, u: step(x, u).square().sum()))(xs, us)
        for a, b, g in zip(xs, us, gradients):
            a = a.requires_grad_()
            step(a, b).square().sum().backward()
            torch.testing.assert_close(g, a.grad, atol=1e-9, rtol=1e-7)


def test_worlds_take_any_leading_axes(cartpole):
    x = torch.randn(2, 3, 4, dtype=torch.float64)
    u = torch.randn(3, 1, dtype=torch.float64)
    after = tg.torch.step(cartpole, x, u)
    assert after.shape == (2, 3, 4)
    torch.testing.assert_close(after[1, 2], tg.torch.step(cartpole, x[1, 2], u[2]), atol=0, rtol=0)
    states = tg.torch.rollout(cartpole, x[0], torch.randn(5, 3, 1, dtype=torch.float64))
    assert states.shape == (6, 3, 4)
    controls = torch.randn(3, 3, 1, dtype=torch.float64, requires_grad=True)
    roll = lambda x, u: tg.torch.rollout(cartpole, x, u)  # noqa: E731
    start = x[0].clone().requires_grad_()
    assert torch.autograd.gradcheck(roll, (start, controls), eps=1e-6, atol=1e-4, check_forward_ad=True)


def test_gradients_of_impulses(sliding_box):
    """A loss on contact impulses; worlds of other masses are others."""
    batch = tg.Batch(sliding_box, 2)
    batch.set("box.mass", [2.0, 3.0])
    x, u = numbers(batch)
    step = lambda x, u: tg.torch.step(batch, x, u, impulses=True)  # noqa: E731
    after, impulses = step(x, u)
    assert impulses.shape[0] == 2 and impulses.shape[1] >= 9 and bool((impulses.abs().sum(1) > 0).all())
    torch.testing.assert_close(after, tg.torch.step(batch, x, u), atol=1e-9, rtol=1e-9)
    assert torch.autograd.gradcheck(step, (x, u), eps=1e-6, atol=1e-4, check_forward_ad=True)


def test_second_derivatives_are_refused(cartpole):
    x = torch.zeros(4, dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(tg.torch.step(cartpole, x).square().sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match="first derivatives"):
        g.sum().backward()


def test_compiled(cartpole):
    """Inside torch.compile: the graph is left around the step."""
    batch = tg.Batch(cartpole, 2)
    weight = torch.full((1, 4), 0.1, dtype=torch.float64, requires_grad=True)

    def loss(x):
        return tg.torch.step(batch, x, torch.tanh(x @ weight.T)).square().sum()

    x = torch.tensor(batch.states)
    expected = loss(x)
    (g,) = torch.autograd.grad(expected, weight)
    found = torch.compile(loss, backend="aot_eager")(x)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(torch.autograd.grad(found, weight)[0], g)


def test_policy_through_two_hundred_steps(cartpole):
    """A network that balances the pole, by backpropagation through 200 steps and 50 iterations of Adam."""
    torch.manual_seed(0)
    policy = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)).double()
    start = 0.05 * torch.randn(4, 4, dtype=torch.float64)
    adam = torch.optim.Adam(policy.parameters(), lr=0.02)
    losses = []
    for _ in range(50):
        x, loss = start, 0.0
        for _ in range(200):
            x = tg.torch.step(cartpole, x, 10.0 * torch.tanh(policy(x)))
            loss = loss + x.square().sum(1).mean() / 200
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    assert min(losses) < 0.1 * losses[0]
