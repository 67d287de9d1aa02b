"""What is a small convolutional network worth beside a kernel, on pictures of digits?

One answer about each of 2,000 pictures; average precision on 500 others, which show other digits of
the same kind. Seconds are processor time of a fit on one thread.
"""

from functools import partial
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


def by_loop(pictures: Any, answers: Any, seed: int, cardinality: Any, epochs: int) -> Any:
    """Train the network in a plain loop; return what predicts with it."""
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
    model.eval()
    return lambda X: model(torch.from_numpy(X)).detach().numpy()


def measure(*, draw: int, data: Any, question: str, epochs: int) -> Any:
    """Return average precision and seconds of each learner."""
    digits, found = make_digits(2500), []
    pictures = digits.X.astype(np.float32).reshape(-1, 1, 16, 16)
    order = np.random.default_rng(draw).permutation(np.unique(digits.groups))
    test = np.isin(digits.groups, order[:2])
    answers = draw_answers(digits.Y, question=question, random_state=draw)[~test]
    settings: Any = {"network": network, "learning_rate": RATE, "epochs": epochs, "batch_size": 64}
    settings["random_state"] = draw

    def learns(name: str, learn: Any, X: Any, y: Any = answers) -> None:
        """Learn from the answers to X; measure on other items."""
        predict, _, seconds = timed(lambda: learn(X[~test], y))
        precision = average_precision(digits.Y[test], predict(X[test]))
        found.append(({"learner": name}, {"precision": precision, "seconds": seconds}))

    kernel = SelectionLikelihoodClassifier(random_state=draw)
    learns("kernel", lambda X, y: kernel.fit(X, y).predict_proba, digits.X)
    told = {"cardinality": kernel.cardinality_}
    model = NetworkLikelihoodClassifier(**settings, **told)
    learns("network", lambda X, y: model.fit(X, y).predict_proba, pictures)
    learns("plain loop", partial(by_loop, seed=draw, epochs=epochs, **told), pictures)
    if question == "asked":
        known = NetworkLikelihoodClassifier(**settings)
        every = draw_answers(digits.Y[~test], question="ticked")
        name = "network all true labels"
        learns(name, lambda X, y: known.fit(X, y).predict_proba, pictures, every)
    return found
