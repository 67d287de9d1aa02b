"""How often does a loss notice a network that ends in a sigmoid, and is it ever wrong?

Fresh networks, every other one linear, are trained for 100 batches of 64 rows. "warned" is how many
of 40 the loss took for networks whose outputs are probabilities. Features are normal numbers, or
small ones (a spread of .05).
"""

import warnings
from typing import Any

import torch
from torch import nn

from complabel.answers import Answers
from complabel.losses import AnswersLikelihood

FEATURES = {"normal": 1.0, "small": 0.05}
ENDS = {"logits": nn.Identity(), "sigmoid": nn.Sigmoid(), "softmax": nn.Softmax(dim=1)}
CELLS = {"features": tuple(FEATURES), "labels": (2, 10), "ends_in": tuple(ENDS)}
QUICK = {"features": ("small",)}


def warned(seed: int, features: str, n_labels: int, end: str) -> bool:
    """Train a network, and return whether the loss warned."""
    torch.manual_seed(seed)
    plain = torch.randn(512, 20)
    applies = (plain @ torch.randn(20, n_labels) / 20**0.5 > 0.8).numpy()
    likelihood = AnswersLikelihood(Answers.from_arrays(relevant=applies, absent=~applies))
    middle = [nn.Linear(20, 32), nn.ReLU()] if seed % 2 else []
    network = nn.Sequential(*middle, nn.Linear(32 if middle else 20, n_labels), ENDS[end])
    optimizer = torch.optim.Adam(network.parameters(), lr=0.001)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(100):
            rows = torch.randint(len(plain), (64,))
            logits = network(FEATURES[features] * plain[rows])
            loss = -likelihood.batch(rows).log_likelihood(logits).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if caught or logits.min() < 0 or logits.max() > 1:  # decided
                break
    return bool(caught)


def measure(*, draw: int, data: Any, features: str, labels: int, ends_in: str) -> dict[str, int]:
    """Return how many networks of 40 are taken for ones whose outputs are probabilities."""
    return {"warned": sum(warned(seed, features, labels, ends_in) for seed in range(40))}
