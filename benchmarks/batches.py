"""What does a batch of the exact likelihood cost a network, beside masked cross-entropy?

Both sides take the same batches of the same digits. Figures are milliseconds of processor time,
medians of repeats that take turns: of the loss and its gradient alone, and with a network of two
layers (256, 64 and 10 units), forward and backward. In "a mix", a third of the items each were
asked about, named freely, and named from menus of four.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from complabel.answers import Answers
from complabel.experiments.datasets import load_dataset
from complabel.losses import AnswersLikelihood
from complabel.simulate import draw_answers

CELLS = {"answers": ("asked", "ticked", "free", "menu-4", "a mix"), "batch": (64, 1024)}
TIMES = ("masked", "exact", "masked_with_network", "exact_with_network")
_MIXED, _REPEATS, _WARM = ("asked", "free", "menu-4"), 60, 3


def answers_of(Y: Any, name: str) -> Answers:
    """Return answers of a kind; a mix has each kind for a third of the items."""
    if name != "a mix":
        return draw_answers(Y, question=name, random_state=0)
    third = np.random.default_rng(0).integers(3, size=len(Y))
    of_kind = [draw_answers(Y, question=each, random_state=0) for each in _MIXED]
    return Answers.concatenate(
        [each.only(third[each.item] == at) for at, each in enumerate(of_kind)]
    )


def milliseconds(steps: Sequence[Callable[[], Any]]) -> list[float]:
    """Return the median processor time of each step; the steps take turns."""
    taken = np.empty((_REPEATS + _WARM, len(steps)))
    for repeat, at in np.ndindex(taken.shape):
        started = time.process_time()
        steps[at]()
        taken[repeat, at] = 1e3 * (time.process_time() - started)
    return [*np.median(taken[_WARM:], axis=0)]


def measure(*, draw: int, data: Any, batch: int, **cell: str) -> dict[str, float]:
    """Return the milliseconds of both losses, alone and with a network."""
    digits = load_dataset("digits")
    pictures, answers = torch.from_numpy(digits.X).float(), answers_of(digits.Y, cell["answers"])
    applies = torch.from_numpy(answers.known_relevant).float()
    judged = torch.from_numpy(answers.known_relevant | answers.complementary).float()
    likelihood = AnswersLikelihood(answers, dtype=torch.float32)
    generator = torch.Generator().manual_seed(0)
    rows = [torch.randperm(len(pictures), generator=generator)[:size] for size in CELLS["batch"]]
    at = rows[CELLS["batch"].index(batch)]
    logits = torch.randn(batch, answers.n_labels, requires_grad=True)
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, answers.n_labels))

    def masked(z: Any) -> Any:
        return functional.binary_cross_entropy_with_logits(
            z, applies[at], weight=judged[at], reduction="sum"
        ) / len(at)

    def exact(z: Any) -> Any:
        return -likelihood.batch(at).log_likelihood(z).mean()

    def alone(loss: Any) -> Any:
        return lambda: torch.autograd.grad(loss(logits), logits)

    def whole(loss: Any) -> Any:
        def step() -> None:
            network.zero_grad()
            loss(network(pictures[at])).backward()

        return step

    steps = [how(loss) for how in (alone, whole) for loss in (masked, exact)]
    return dict(zip(TIMES, milliseconds(steps), strict=True))
