"""Training a linear map, against the plain torch loop that it replaces."""

import numpy as np
import pytest
import torch
from scipy import sparse

from complabel._training import Schedule, resolve_device, train_linear, train_network
from complabel._training._linear import LinearTraining, _distinct
from complabel.experiments.losses import BinaryCrossEntropy
from complabel.losses import ComplementaryCrossEntropy, MLCLLoss

N_SAMPLES, N_FEATURES, N_LABELS = 150, 7, 4
CPU = torch.device("cpu")
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
SCHEDULE = Schedule(epochs=8, batch_size=32, learning_rate=0.05, weight_decay=0.01)
BY_SGD = Schedule(
    epochs=8,
    batch_size=32,
    learning_rate=0.2,
    weight_decay=0.01,
    optimizer="sgd",
    momentum=0.8,
    milestones=(3, 6),
)


def make_problem(seed=0):
    """Features with many zeros, one complementary label a row, and some known relevant ones."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N_SAMPLES, N_FEATURES)) * (rng.random((N_SAMPLES, N_FEATURES)) < 0.4)
    chosen = (X[:, :N_LABELS] + 0.3 * rng.standard_normal((N_SAMPLES, N_LABELS))).argmin(axis=1)
    complementary = np.eye(N_LABELS, dtype=np.uint8)[chosen]
    relevant = ((rng.random(complementary.shape) < 0.3) & (complementary == 0)).astype(np.uint8)
    return X, complementary, relevant


def mlcl_loss():
    return MLCLLoss((1 - torch.eye(N_LABELS)) / (N_LABELS - 1), beta=1.0)


LOSSES = {
    "mlcl": (mlcl_loss, 1),
    "mlcl with relevant": (mlcl_loss, 2),
    "softmax": (ComplementaryCrossEntropy, 1),
    "supervised": (BinaryCrossEntropy, 1),
}


def fit(X, targets, *, loss=None, schedule=SCHEDULE, seed=0, device="cpu", **settings):
    loss = mlcl_loss() if loss is None else loss
    return train_linear(
        X,
        loss,
        dict(zip(loss.label_names, targets, strict=False)),
        schedule=schedule,
        generator=torch.Generator().manual_seed(seed),
        device=torch.device(device),
        **settings,
    )


def start(generator):
    """The weights and biases that a fit of the problem starts from: torch.nn.Linear's law."""
    bound = N_FEATURES**-0.5
    drawn = torch.empty(N_LABELS, N_FEATURES + 1).uniform_(-bound, bound, generator=generator)
    linear = torch.nn.Linear(N_FEATURES, N_LABELS)
    with torch.no_grad():
        linear.weight.copy_(drawn[:, :-1])
        linear.bias.copy_(drawn[:, -1])
    return linear


def plain_loop(X, targets, *, loss, schedule, seed):
    """Minimize by autograd and torch's optimizers; return the module and each epoch's loss."""
    generator = torch.Generator().manual_seed(seed)
    linear = start(generator)
    inputs = torch.tensor(X, dtype=torch.float32)
    outputs = [torch.tensor(target, dtype=torch.float32) for target in targets]
    of = {"lr": schedule.learning_rate, "weight_decay": schedule.weight_decay}
    if schedule.optimizer == "sgd":
        optimizer = torch.optim.SGD(linear.parameters(), momentum=schedule.momentum, **of)
    else:
        optimizer = torch.optim.Adam(linear.parameters(), **of)
    milestones = torch.optim.lr_scheduler.MultiStepLR(optimizer, list(schedule.milestones))
    losses = []
    for _ in range(schedule.epochs):
        order = torch.randperm(len(X), generator=generator)
        total = 0.0
        for first in range(0, len(X), schedule.batch_size):
            batch = order[first : first + schedule.batch_size]
            optimizer.zero_grad()
            value = loss(linear(inputs[batch]), *(output[batch] for output in outputs))
            value.backward()
            optimizer.step()
            total += value.item() * len(batch)
        milestones.step()
        losses.append(total / len(X))
    return linear, losses


def assert_same_map(found, coef, intercept, *, atol=1e-4):
    np.testing.assert_allclose(found.coef, coef, rtol=0, atol=atol)
    np.testing.assert_allclose(found.intercept, intercept, rtol=0, atol=atol)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("name", "schedule"), [*((name, SCHEDULE) for name in LOSSES), ("mlcl", BY_SGD)]
)
def test_equals_torch_linear_its_optimizers_and_a_shuffled_loop(name, schedule, form, device):
    make_loss, n_targets = LOSSES[name]
    X, *targets = make_problem()
    targets = targets[:n_targets]
    linear, losses = plain_loop(X, targets, loss=make_loss(), schedule=schedule, seed=3)
    reported = []
    found = fit(
        form(X),
        targets,
        loss=make_loss(),
        schedule=schedule,
        seed=3,
        device=device,
        on_epoch=lambda *report: reported.append(report),
    )
    assert_same_map(found, linear.weight.detach().numpy(), linear.bias.detach().numpy())
    assert [report[:2] for report in reported] == [(epoch, 8) for epoch in range(1, 9)]
    np.testing.assert_allclose([report[2] for report in reported], losses, rtol=1e-5)
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_inputs_and_random_numbers_of_others_stay_as_they_were(form):
    before = torch.get_rng_state()
    X, *targets = make_problem()
    X = form(X.astype(np.float32))
    copies = [array.copy() for array in (X, *targets)]
    fit(X, targets)
    for array, copy in zip((X, *targets), copies, strict=True):
        assert array.dtype == copy.dtype
        assert (abs(array - copy)).sum() == 0
    assert torch.equal(torch.get_rng_state(), before)


def test_sparse_features_are_never_made_dense(never_dense, monkeypatch):
    X, complementary, _ = make_problem()
    expected = fit(X, [complementary])
    rows = sparse.csr_array(X)
    never_dense()
    found = fit(rows, [complementary])
    logits = found(rows)
    monkeypatch.undo()
    assert_same_map(found, expected.coef, expected.intercept, atol=1e-5)
    np.testing.assert_allclose(logits, X @ found.coef.T + found.intercept, atol=1e-12)


def test_the_map_is_double_precision_and_gives_logits():
    X, complementary, _ = make_problem()
    found = fit(X, [complementary])
    assert found.coef.dtype == found.intercept.dtype == np.float64
    assert found.coef.shape == (N_LABELS, N_FEATURES)
    assert found.intercept.shape == (N_LABELS,)
    expected = np.einsum("nd,kd->nk", X, found.coef) + found.intercept
    np.testing.assert_allclose(found(X), expected, atol=1e-12)
    np.testing.assert_allclose(found(sparse.csr_array(X)), expected, atol=1e-12)


@pytest.mark.parametrize("schedule", [SCHEDULE, BY_SGD], ids=["adam", "sgd"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_network_that_is_linear_trains_to_the_same_map(form, schedule):
    X, complementary, relevant = make_problem()
    generator = torch.Generator().manual_seed(11)
    linear = start(generator)
    train_network(
        linear,
        form(X),
        mlcl_loss(),
        {"complementary": complementary, "relevant": relevant},
        schedule=schedule,
        generator=generator,
        device=CPU,
    )
    found = fit(form(X), [complementary, relevant], schedule=schedule, seed=11)
    assert_same_map(found, linear.weight.detach().numpy(), linear.bias.detach().numpy())


def test_initial_biases_take_the_place_of_those_drawn_and_of_nothing_else():
    X, complementary, _ = make_problem()
    still = Schedule(epochs=1, batch_size=32, learning_rate=1e-12, weight_decay=0.0)
    drawn = fit(X, [complementary], schedule=still)
    set_by_hand = fit(X, [complementary], schedule=still, initial_bias=-1.5)
    np.testing.assert_allclose(set_by_hand.intercept, -1.5, rtol=1e-6)
    np.testing.assert_allclose(set_by_hand.coef, drawn.coef, rtol=0, atol=1e-9)


def test_the_learning_rate_follows_multi_step_lr():
    schedule = Schedule(learning_rate=0.3, optimizer="sgd", milestones=[2, 5, 5], epochs=8)
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.3)
    reference = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 5, 5], gamma=0.1)
    for epoch in range(1, 9):
        expected = optimizer.param_groups[0]["lr"]
        assert schedule.learning_rate_in(epoch) == pytest.approx(expected)
        optimizer.step()
        reference.step()


def test_auto_is_cuda_if_there_is_some_and_devices_are_checked():
    expected = "cuda" if torch.cuda.is_available() else "cpu"
    assert resolve_device("auto").type == expected
    assert resolve_device("cpu") == torch.device("cpu")


def test_rows_that_maps_share_are_kept_once():
    X, labels, _ = make_problem()
    parts = [(X[rows], labels[rows]) for rows in (slice(99), slice(40, None), slice(30, 120))]
    parts.append((parts[0][0], 1 - parts[0][1]))  # the same rows, other labels
    how = {"loss": mlcl_loss(), "schedule": None, "generator": None, "device": CPU}
    trainings = [LinearTraining(X=X, labels={"y": y}, **how) for X, y in parts]
    kept, places = _distinct(trainings)
    rows = [np.hstack(part) for part in parts]
    shared = np.concatenate([each[keep] for each, keep in zip(rows, kept, strict=True)])
    # Keys are sums, and a product may round those of its last rows in another way.
    least = len(np.unique(np.concatenate(rows), axis=0))
    assert least <= len(shared) <= least + 2 * len(trainings)
    for each, place in zip(rows, places, strict=True):
        np.testing.assert_array_equal(shared[place], each)
