import numpy as np
import pytest
import torch

from complabel._training import Schedule, resolve_device
from complabel.errors import InputError


def test_the_defaults_are_the_papers():
    schedule = Schedule()
    assert (schedule.epochs, schedule.batch_size, schedule.weight_decay) == (200, 256, 1e-4)
    assert schedule.learning_rate in (1e-1, 1e-2, 1e-3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": 0}, "epochs must be an integer of at least 1, got 0"),
        ({"epochs": 2.0}, r"epochs must be an integer of at least 1, got 2\.0"),
        ({"epochs": "5"}, "epochs must be an integer of at least 1, got '5'"),
        ({"batch_size": 0}, "batch_size must be an integer of at least 1, got 0"),
        ({"batch_size": None}, "batch_size must be an integer of at least 1, got None"),
        ({"learning_rate": 0.0}, r"learning_rate must be a finite number above 0, got 0\.0"),
        ({"learning_rate": -1}, "learning_rate must be a finite number above 0, got -1"),
        ({"learning_rate": float("nan")}, "learning_rate must be a finite number above 0, got nan"),
        (
            {"weight_decay": -1e-4},
            r"weight_decay must be a finite number of at least 0, got -0\.0001",
        ),
        (
            {"weight_decay": float("nan")},
            "weight_decay must be a finite number of at least 0, got nan",
        ),
    ],
)
def test_values_out_of_range_are_refused(settings, message):
    with pytest.raises(InputError, match=f"^{message}"):
        Schedule(**settings)


def test_the_smallest_values_are_accepted():
    schedule = Schedule(epochs=1, batch_size=1, learning_rate=1e-30, weight_decay=0)
    assert (schedule.epochs, schedule.batch_size) == (1, 1)


@pytest.mark.parametrize("name", ["epochs", "batch_size"])
def test_numpy_integers_are_integers(name):
    assert getattr(Schedule(**{name: np.int64(5)}), name) == 5


@pytest.mark.parametrize("name", ["learning_rate", "weight_decay"])
def test_text_for_a_number_is_refused(name):
    with pytest.raises(InputError, match=name):
        Schedule(**{name: "0.1"})


@pytest.mark.parametrize("name", ["learning_rate", "weight_decay"])
def test_infinity_is_refused(name):
    with pytest.raises(InputError, match=name):
        Schedule(**{name: float("inf")})


def test_auto_is_cuda_where_there_is_some():
    expected = "cuda" if torch.cuda.is_available() else "cpu"
    assert resolve_device("auto").type == expected


def test_a_device_that_is_there_is_taken():
    assert resolve_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("name", ["cuda:99", "abacus"])
def test_a_device_that_is_not_there_is_refused(name):
    with pytest.raises(InputError, match=f"device='{name}' cannot be used here: .*'auto' or 'cpu'"):
        resolve_device(name)
