import numpy as np
import pytest
import torch
from scipy import sparse

from complabel._training import Schedule, network_outputs, train_network
from complabel.losses import MLCLLoss

CPU = torch.device("cpu")
N_FEATURES, N_LABELS = 6, 3


def make_problem(n_samples=90):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, N_FEATURES)) * (rng.random((n_samples, N_FEATURES)) < 0.5)
    complementary = np.eye(N_LABELS, dtype=np.uint8)[X[:, :N_LABELS].argmin(axis=1)]
    return X, complementary


def make_network(seed=0):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return torch.nn.Sequential(
            torch.nn.Linear(N_FEATURES, 8),
            torch.nn.BatchNorm1d(8),
            torch.nn.ReLU(),
            torch.nn.Dropout(0.5),
            torch.nn.Linear(8, N_LABELS),
        )


def train(network, X, complementary, *, epochs=3, on_epoch=None, seed=0):
    with torch.random.fork_rng():
        torch.manual_seed(seed)  # of the dropout
        train_network(
            network,
            X,
            MLCLLoss((1 - torch.eye(N_LABELS)) / (N_LABELS - 1)),
            {"complementary": complementary},
            schedule=Schedule(epochs=epochs, batch_size=32, learning_rate=0.02),
            generator=torch.Generator().manual_seed(seed),
            device=CPU,
            on_epoch=on_epoch,
        )


def test_a_trained_network_is_left_ready_to_predict():
    X, complementary = make_problem()
    network = make_network().eval()
    train(network, X, complementary)
    assert not any(module.training for module in network.modules())
    state = {name: value.clone() for name, value in network.state_dict().items()}
    first = network_outputs(network, X, device=CPU)
    np.testing.assert_array_equal(network_outputs(network, X, device=CPU), first)
    for name, value in network.state_dict().items():
        assert torch.equal(value, state[name])


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_a_network_takes_the_steps_of_torch_optimizers(optimizer):
    X, complementary = make_problem()
    settings = {"learning_rate": 0.02, "weight_decay": 0.1, "optimizer": optimizer}
    schedule = Schedule(epochs=4, batch_size=32, milestones=[2], **settings)
    loss = MLCLLoss((1 - torch.eye(N_LABELS)) / (N_LABELS - 1))
    networks = []
    for _ in range(2):
        networks.append(torch.nn.Sequential(*list(make_network())[:3], make_network()[4]))
        networks[-1][1].weight.requires_grad_(False)  # it must stay as it is
    train_network(
        networks[0],
        X,
        loss,
        {"complementary": complementary},
        schedule=schedule,
        generator=torch.Generator().manual_seed(0),
        device=CPU,
    )
    of = {"lr": 0.02, "weight_decay": 0.1}
    by_torch = {
        "adam": lambda parameters: torch.optim.Adam(parameters, **of),
        "sgd": lambda parameters: torch.optim.SGD(parameters, momentum=schedule.momentum, **of),
    }[optimizer](networks[1].parameters())
    milestones = torch.optim.lr_scheduler.MultiStepLR(by_torch, [2])
    inputs, targets = (torch.tensor(each, dtype=torch.float32) for each in (X, complementary))
    generator = torch.Generator().manual_seed(0)
    for _ in range(schedule.epochs):
        for batch in torch.split(torch.randperm(len(X), generator=generator), 32):
            by_torch.zero_grad()
            loss(networks[1](inputs[batch]), targets[batch]).backward()
            by_torch.step()
        milestones.step()
    for found, expected in zip(networks[0].parameters(), networks[1].parameters(), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-5)


def test_epochs_are_reported_with_falling_losses():
    X, complementary = make_problem()
    reports = []
    torch.set_warn_always(True)  # else torch says it once per process, in whichever test is first
    try:
        train(
            make_network(), X, complementary, epochs=30, on_epoch=lambda *args: reports.append(args)
        )
    finally:
        torch.set_warn_always(False)
    assert [report[:2] for report in reports] == [(epoch, 30) for epoch in range(1, 31)]
    assert all(isinstance(report[2], float) for report in reports)
    assert reports[-1][2] < reports[0][2]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("n_samples", [1, 4096, 4097])
def test_outputs_do_not_depend_on_how_rows_are_batched(form, n_samples):
    X, _ = make_problem(n_samples)
    network = make_network().eval()
    with torch.no_grad():
        expected = network(torch.tensor(X, dtype=torch.float32)).numpy()
    found = network_outputs(network, form(X), device=CPU)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, atol=1e-5)
