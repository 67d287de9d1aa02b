"""The settings of gradient descent, and devices."""

import numpy as np
import pytest
import torch

from complabel._training import Schedule, resolve_device
from complabel.errors import InputError


def test_the_learning_rate_follows_multi_step_lr():
    schedule = Schedule(learning_rate=0.3, optimizer="sgd", milestones=[2, 5, 5], epochs=8)
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.3)
    reference = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 5, 5], gamma=0.1)
    for epoch in range(1, 9):
        expected = optimizer.param_groups[0]["lr"]
        assert schedule.learning_rate_in(epoch) == pytest.approx(expected)
        optimizer.step()
        reference.step()


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
