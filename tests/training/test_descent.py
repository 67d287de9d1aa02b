"""SGD with momentum and milestones, against torch's own; settings and devices."""

import numpy as np
import pytest
import torch
from scipy import sparse

from complabel._training import Schedule, resolve_device, train_linear, train_network
from complabel._training._descent import SGD
from complabel.errors import InputError
from complabel.losses import GDFLoss

N_SAMPLES, N_FEATURES, N_LABELS = 90, 6, 4
SCHEDULE = Schedule(
    epochs=9,
    batch_size=32,
    learning_rate=0.2,
    weight_decay=0.01,
    optimizer="sgd",
    momentum=0.8,
    milestones=(4, 7),
)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_steps_equal_torch_optim_sgd(momentum):
    gradients = torch.randn(20, 3, 5, generator=torch.Generator().manual_seed(0))
    parameter = torch.ones(3, 5)
    mine = SGD(parameter, learning_rate=0.1, momentum=momentum)
    reference = torch.nn.Parameter(torch.ones(3, 5))
    theirs = torch.optim.SGD([reference], lr=0.1, momentum=momentum)
    for number, gradient in enumerate(gradients):
        rate = 0.1 if number < 10 else 0.02
        mine.learning_rate = theirs.param_groups[0]["lr"] = rate
        mine.step(gradient)
        reference.grad = gradient.clone()
        theirs.step()
    torch.testing.assert_close(parameter, reference.detach())


def test_the_learning_rate_follows_multi_step_lr():
    schedule = Schedule(learning_rate=0.3, optimizer="sgd", milestones=[2, 5, 5], epochs=8)
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.3)
    reference = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 5, 5], gamma=0.1)
    for epoch in range(1, 9):
        expected = optimizer.param_groups[0]["lr"]
        assert schedule.learning_rate_in(epoch) == pytest.approx(expected)
        optimizer.step()
        reference.step()


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_SAMPLES, N_FEATURES)) * (rng.random((N_SAMPLES, N_FEATURES)) < 0.5)
    complementary = np.eye(N_LABELS, dtype=np.uint8)[rng.integers(N_LABELS, size=N_SAMPLES)]
    return X, complementary


def torch_loop(X, complementary, schedule, generator):
    """Train torch.nn.Linear by torch.optim.SGD from the start and in the order train_linear has."""
    bound = N_FEATURES**-0.5
    start = torch.empty(N_LABELS, N_FEATURES + 1).uniform_(-bound, bound, generator=generator)
    linear = torch.nn.Linear(N_FEATURES, N_LABELS)
    linear.load_state_dict({"weight": start[:, :-1], "bias": start[:, -1]})
    optimizer = torch.optim.SGD(
        linear.parameters(),
        lr=schedule.learning_rate,
        momentum=schedule.momentum,
        weight_decay=schedule.weight_decay,
    )
    decay = torch.optim.lr_scheduler.MultiStepLR(optimizer, list(schedule.milestones), gamma=0.1)
    inputs, targets = (torch.tensor(array, dtype=torch.float32) for array in (X, complementary))
    for _ in range(schedule.epochs):
        for batch in torch.randperm(len(X), generator=generator).split(schedule.batch_size):
            optimizer.zero_grad()
            GDFLoss()(linear(inputs[batch]), targets[batch]).backward()
            optimizer.step()
        decay.step()
    return linear


@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_linear_map_trains_as_torch_trains_it(problem, as_given):
    X, complementary = problem
    found = train_linear(
        as_given(X),
        GDFLoss(),
        {"complementary": complementary},
        schedule=SCHEDULE,
        generator=torch.Generator().manual_seed(1),
        device=torch.device("cpu"),
    )
    expected = torch_loop(X, complementary, SCHEDULE, torch.Generator().manual_seed(1))
    np.testing.assert_allclose(found.coef, expected.weight.detach(), atol=1e-5)
    np.testing.assert_allclose(found.intercept, expected.bias.detach(), atol=1e-5)


def test_a_network_trains_as_a_linear_map_does(problem):
    X, complementary = problem
    labels = {"complementary": complementary}
    settings = {"schedule": SCHEDULE, "device": torch.device("cpu")}
    generator = torch.Generator().manual_seed(2)
    expected = train_linear(X, GDFLoss(), labels, generator=generator, **settings)

    generator = torch.Generator().manual_seed(2)
    bound = N_FEATURES**-0.5
    start = torch.empty(N_LABELS, N_FEATURES + 1).uniform_(-bound, bound, generator=generator)
    network = torch.nn.Linear(N_FEATURES, N_LABELS)
    network.load_state_dict({"weight": start[:, :-1], "bias": start[:, -1]})
    train_network(network, X, GDFLoss(), labels, generator=generator, **settings)
    np.testing.assert_allclose(network.weight.detach(), expected.coef, atol=1e-5)
    np.testing.assert_allclose(network.bias.detach(), expected.intercept, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("epochs", [0, 2.0, "5"]),
        ("batch_size", [0, None]),
        ("learning_rate", [0.0, -1, float("nan"), float("inf"), "0.1"]),
        ("weight_decay", [-1e-4, float("nan"), float("inf"), "0.1"]),
        ("optimizer", ["lbfgs"]),
        ("momentum", [1.0, -0.1]),
        ("milestones", [(0,), 100, (1.5,)]),
    ],
)
def test_settings_out_of_range_are_refused(name, wrong):
    for value in wrong:
        with pytest.raises(InputError, match=f"^{name} must be"):
            Schedule(**{name: value})


def test_the_smallest_settings_are_taken():
    schedule = Schedule(epochs=np.int64(1), batch_size=1, learning_rate=1e-30, weight_decay=0)
    assert (schedule.epochs, schedule.batch_size) == (1, 1)


def test_auto_is_cuda_if_there_is_some_and_devices_are_checked():
    expected = "cuda" if torch.cuda.is_available() else "cpu"
    assert resolve_device("auto").type == expected
    assert resolve_device("cpu") == torch.device("cpu")
    for name in ("cuda:99", "abacus"):
        with pytest.raises(InputError, match=f"device='{name}' cannot be used here"):
            resolve_device(name)
