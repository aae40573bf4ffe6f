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
