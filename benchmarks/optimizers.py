"""Time training of a linear map by our Adam and SGD against torch's own.

Prints Markdown. Our optimizers are taken out and torch's, fused or not, put in their place; all
else stays. Figures are ratios within one run on one thread; repeats are interleaved and the
median is taken, so that what else the machine does bears on all sides alike.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import time

import numpy as np
import torch

from complabel._training import Schedule, _descent, _linear, train_linear
from complabel.experiments.losses import GDFLoss

# Instances, features, labels and epochs: like scene, like yeast, like delicious.
PROBLEMS = ((2000, 294, 6, 60), (1500, 103, 14, 60), (12_000, 500, 983, 2))


class Torchs:
    """torch's optimizer behind the interface of ours."""

    def __init__(self, weights: torch.Tensor, schedule: Schedule, *, fused: bool) -> None:
        self._weights = weights
        settings = {"lr": schedule.learning_rate, "fused": fused}
        if schedule.optimizer == "sgd":
            self._optimizer = torch.optim.SGD([weights], momentum=schedule.momentum, **settings)
        else:
            self._optimizer = torch.optim.Adam([weights], **settings)

    def step(self, gradient: torch.Tensor) -> None:
        """Take one step; the learning rate stays, as the schedules here have no milestones."""
        self._weights.grad = gradient
        self._optimizer.step()


CONTENDERS = {
    "ours": _descent.optimizer_of_tensor,
    "torch, fused": functools.partial(Torchs, fused=True),
    "torch": functools.partial(Torchs, fused=False),
}


def seconds(contender, X, labels, schedule: Schedule) -> float:
    """Return the processor time of a training with some optimizer."""
    _linear.optimizer_of_tensor = contender
    started = time.process_time()
    train_linear(
        X,
        GDFLoss(),
        labels,
        schedule=schedule,
        generator=torch.Generator().manual_seed(0),
        device=torch.device("cpu"),
    )
    return time.process_time() - started


def main() -> None:
    """Compare all, problem by problem."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    print("| instances x features x labels | optimizer | seconds | torch, fused | torch |")
    print("|---|---|---|---|---|")
    for n, d, n_labels, epochs in PROBLEMS:
        X = rng.standard_normal((n, d))
        complementary = np.eye(n_labels, dtype=np.uint8)[rng.integers(n_labels, size=n)]
        for optimizer in ("adam", "sgd"):
            schedule = Schedule(epochs=epochs, optimizer=optimizer)
            times: dict[str, list[float]] = {name: [] for name in CONTENDERS}
            for _ in range(repeats):
                for name, contender in CONTENDERS.items():
                    labels = {"complementary": complementary}
                    times[name].append(seconds(contender, X, labels, schedule))
            ratios = [
                statistics.median(t / o for t, o in zip(times[name], times["ours"], strict=True))
                for name in ("torch, fused", "torch")
            ]
            print(
                f"| {n:,} x {d} x {n_labels} | {optimizer} | {statistics.median(times['ours']):.2f}"
                f" | {ratios[0]:.2f} | {ratios[1]:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
