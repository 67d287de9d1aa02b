"""Compare a small convolutional network with the kernel of the flagship, on pictures of digits.

One answer about each of 2,000 pictures; average precision on 500 others, which show other digits
of the same kind. Prints Markdown: means over seeds, and processor seconds of a fit on one thread.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from complabel.datasets import make_digits
from complabel.losses import AnswersLikelihood
from complabel.methods import NetworkLikelihoodClassifier, SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

RATE = 0.003


def network(shape, n_labels: int) -> nn.Module:
    """Return a network that looks for each digit everywhere in a picture."""
    return nn.Sequential(
        *(nn.Conv2d(shape[0], 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU()),
        *(nn.Conv2d(32, n_labels, 3, padding=1), nn.AdaptiveMaxPool2d(1), nn.Flatten()),
    )


def by_loop(pictures, answers, seed: int, cardinality: float | None, epochs: int) -> nn.Module:
    """Train the network in a plain loop."""
    torch.manual_seed(seed)
    likelihood = AnswersLikelihood(answers, dtype=torch.float32)
    images = torch.from_numpy(pictures)
    data = TensorDataset(images, torch.arange(len(images)))
    model = network(images.shape[1:], answers.n_labels)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, weight_decay=1e-4)
    for _ in range(epochs):
        for batch, rows in DataLoader(data, batch_size=64, shuffle=True):
            logits = model(batch)
            loss = -likelihood.batch(rows).log_likelihood(logits).mean()
            if cardinality is not None:
                loss += (torch.sigmoid(logits).sum(dim=1) - cardinality).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return model.eval()


def one_seed(data, question: str, seed: int, epochs: int):
    """Yield the name of each way, its average precision and its seconds."""
    pictures = data.X.astype(np.float32).reshape(-1, 1, 16, 16)
    answers = draw_answers(data.Y, question=question, random_state=seed)
    order = np.random.default_rng(seed).permutation(np.unique(data.groups))
    test = np.isin(data.groups, order[:2])
    precision = lambda scores: average_precision(data.Y[test], scores)  # noqa: E731
    settings = {"network": network, "learning_rate": RATE, "epochs": epochs, "random_state": seed}

    started = time.process_time()
    flagship = SelectionLikelihoodClassifier(random_state=seed).fit(data.X[~test], answers[~test])
    seconds = time.process_time() - started
    yield (
        "`SelectionLikelihoodClassifier`",
        precision(flagship.predict_proba(data.X[test])),
        seconds,
    )

    cardinality = flagship.cardinality_
    started = time.process_time()
    found = NetworkLikelihoodClassifier(**settings, batch_size=64, cardinality=cardinality)
    found.fit(pictures[~test], answers[~test])
    seconds = time.process_time() - started
    yield "`NetworkLikelihoodClassifier`", precision(found.predict_proba(pictures[test])), seconds

    started = time.process_time()
    model = by_loop(pictures[~test], answers[~test], seed, cardinality, epochs)
    seconds = time.process_time() - started
    with torch.no_grad():
        logits = model(torch.from_numpy(pictures[test])).numpy()
    yield "the plain loop", precision(logits), seconds

    if question == "asked":
        started = time.process_time()
        known = NetworkLikelihoodClassifier(**settings, batch_size=64)
        known.fit(pictures[~test], draw_answers(data.Y[~test], question="ticked"))
        seconds = time.process_time() - started
        scores = known.predict_proba(pictures[test])
        yield "the network with all true labels", precision(scores), seconds


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--question", nargs="+", default=["asked"], help="such as: asked free")
    given = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # free namings cannot show whether labels are alike
    data = make_digits(2500)
    print("| answers | learner | average precision, by seed | mean | seconds |")
    print("|---|---|---|--:|--:|", flush=True)
    for question in given.question:
        found: dict[str, list[tuple[float, float]]] = {}
        for seed in range(given.seeds):
            for name, precision, seconds in one_seed(data, question, seed, given.epochs):
                found.setdefault(name, []).append((precision, seconds))
        for name, values in found.items():
            each = ", ".join(f"{precision:.3f}" for precision, _ in values)
            precision, seconds = np.mean(values, axis=0)
            print(f"| {question} | {name} | {each} | {precision:.3f} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
