"""What is a small convolutional network worth beside a kernel, on pictures of digits?

One answer about each of 2,000 pictures; average precision on 500 others, which show other digits of
the same kind. Seconds are processor time of a fit on one thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from benchmarks._fits import timed
from complabel.datasets import make_digits
from complabel.losses import AnswersLikelihood
from complabel.methods import NetworkLikelihoodClassifier, SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

CELLS = [
    {"question": "asked", "epochs": 20},
    {"question": "free", "epochs": 20},
    {"question": "free", "epochs": 60},
]
DRAWS, QUICK, TIMES = 3, {"question": ("asked",)}, ("seconds",)
RATE = 0.003


def network(shape: Any, n_labels: int, width: int = 16) -> nn.Module:
    """Return a network that looks for each digit everywhere in a picture."""
    first, second = nn.BatchNorm2d(width), nn.BatchNorm2d(2 * width)
    return nn.Sequential(
        *(nn.Conv2d(shape[0], width, 3, padding=1), first, nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(width, 2 * width, 3, padding=1), second, nn.ReLU()),
        *(nn.Conv2d(2 * width, n_labels, 3, padding=1), nn.AdaptiveMaxPool2d(1), nn.Flatten()),
    )


def by_loop(pictures: Any, answers: Any, seed: int, cardinality: Any, epochs: int) -> nn.Module:
    """Train the network in a plain loop."""
    torch.manual_seed(seed)
    likelihood = AnswersLikelihood(answers, dtype=torch.float32)
    images = torch.from_numpy(pictures)
    rows_of = TensorDataset(images, torch.arange(len(images)))
    model = network(images.shape[1:], answers.n_labels)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, weight_decay=1e-4)
    for _ in range(epochs):
        for batch, rows in DataLoader(rows_of, batch_size=64, shuffle=True):
            logits = model(batch)
            loss = -likelihood.batch(rows).log_likelihood(logits).mean()
            if cardinality is not None:
                loss += (torch.sigmoid(logits).sum(dim=1) - cardinality).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return model.eval()


def measure(*, draw: int, data: Any, question: str, epochs: int) -> Any:
    """Return average precision and seconds of each learner."""
    digits, found = make_digits(2500), []
    pictures = digits.X.astype(np.float32).reshape(-1, 1, 16, 16)
    answers = draw_answers(digits.Y, question=question, random_state=draw)
    order = np.random.default_rng(draw).permutation(np.unique(digits.groups))
    test = np.isin(digits.groups, order[:2])
    settings: Any = {"network": network, "learning_rate": RATE, "epochs": epochs, "batch_size": 64}

    def told(name: str, scores: Any, seconds: float) -> None:
        precision = float(average_precision(digits.Y[test], scores))
        found.append(({"learner": name}, {"precision": precision, "seconds": seconds}))

    kernel = SelectionLikelihoodClassifier(random_state=draw)
    seconds = timed(lambda: kernel.fit(digits.X[~test], answers[~test]))[2]
    told("kernel", kernel.predict_proba(digits.X[test]), seconds)
    expected = kernel.cardinality_
    model = NetworkLikelihoodClassifier(**settings, random_state=draw, cardinality=expected)
    seconds = timed(lambda: model.fit(pictures[~test], answers[~test]))[2]
    told("network", model.predict_proba(pictures[test]), seconds)
    loop, _, seconds = timed(
        lambda: by_loop(pictures[~test], answers[~test], draw, expected, epochs)
    )
    with torch.no_grad():
        told("plain loop", loop(torch.from_numpy(pictures[test])).numpy(), seconds)
    if question == "asked":
        known = NetworkLikelihoodClassifier(**settings, random_state=draw)
        every = draw_answers(digits.Y[~test], question="ticked")
        seconds = timed(lambda: known.fit(pictures[~test], every))[2]
        told("network all true labels", known.predict_proba(pictures[test]), seconds)
    return found
