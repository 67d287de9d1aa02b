"""Time a batch of the exact likelihood of answers beside masked binary cross-entropy.

Prints Markdown. Both sides take the same batches of the same digits. All figures are medians of
the processor time of interleaved repeats in one run, with one thread.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from complabel.answers import Answers
from complabel.experiments.datasets import load_dataset
from complabel.losses import AnswersLikelihood
from complabel.simulate import draw_answers

BATCHES = (64, 1024)


def answers_of(Y) -> dict[str, Answers]:
    """Return answers of each kind about the same items; a mix has each kind for a third of them."""
    one = {name: draw_answers(Y, question=name, random_state=0) for name in QUESTIONS}
    third = np.random.default_rng(0).integers(3, size=len(Y))
    parts = [one[name].only(third[one[name].item] == at) for at, name in enumerate(MIXED)]
    return {**one, f"mixed: {', '.join(MIXED)}": Answers.concatenate(parts)}


QUESTIONS = ("asked", "ticked", "free", "menu-4")
MIXED = ("asked", "free", "menu-4")


def small_network(n_features: int, n_labels: int) -> nn.Module:
    """Return a small network of two layers."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(n_features, 64), nn.ReLU(), nn.Linear(64, n_labels))


def milliseconds(steps, repeats: int) -> list[float]:
    """Return the median processor time of each step; the steps take turns."""
    taken: list[list[float]] = [[] for _ in steps]
    for repeat in range(repeats + 3):
        for step, times in zip(steps, taken, strict=True):
            started = time.process_time()
            step()
            if repeat >= 3:  # the first ones warm up
                times.append(1e3 * (time.process_time() - started))
    return [statistics.median(times) for times in taken]


def losses_of(answers: Answers):
    """Return masked binary cross-entropy and our loss, as functions of logits and rows."""
    applies = torch.from_numpy(answers.known_relevant).float()
    judged = torch.from_numpy(answers.known_relevant | answers.complementary).float()
    likelihood = AnswersLikelihood(answers, dtype=torch.float32)

    def masked(logits, rows):
        return functional.binary_cross_entropy_with_logits(
            logits, applies[rows], weight=judged[rows], reduction="sum"
        ) / len(rows)

    def exact(logits, rows):
        return -likelihood.batch(rows).log_likelihood(logits).mean()

    return masked, exact


def compare(name: str, answers: Answers, pictures: torch.Tensor, repeats: int) -> None:
    """Print a line for each size of a batch."""
    masked, exact = losses_of(answers)
    generator = torch.Generator().manual_seed(0)
    for size in BATCHES:
        rows = torch.randperm(len(pictures), generator=generator)[:size]
        logits = torch.randn(size, answers.n_labels, requires_grad=True)
        network = small_network(pictures.shape[1], answers.n_labels)

        def alone(loss, logits=logits, rows=rows):
            torch.autograd.grad(loss(logits, rows), logits)

        def whole(loss, network=network, rows=rows):
            network.zero_grad()
            loss(network(pictures[rows]), rows).backward()

        steps = [lambda f=f, loss=loss: f(loss) for f in (alone, whole) for loss in (masked, exact)]
        a, b, c, d = milliseconds(steps, repeats)
        print(
            f"| {name} | {size:,} | {a:.2f} | {b:.2f} | {b / a:.1f} | {c:.2f} | {d:.2f}"
            f" | {d / c:.2f} |"
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=200)
    repeats = parser.parse_args().repeats
    torch.set_num_threads(1)
    data = load_dataset("digits")
    pictures = torch.from_numpy(data.X).float()
    print("Milliseconds; first the loss and its gradient alone, then with a small network:\n")
    print("| answers | batch | masked | ours | ratio | masked | ours | ratio |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name, answers in answers_of(data.Y).items():
        compare(name, answers, pictures, repeats)


if __name__ == "__main__":
    main()
