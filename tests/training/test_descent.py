"""The settings of gradient descent, and devices."""

import pytest
import torch

from complabel._training import Schedule, resolve_device


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
