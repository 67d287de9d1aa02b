"""How often a loss takes a network for one that ends in a sigmoid, and how often it is right.

    python -m benchmarks.sigmoid_outputs

Fresh networks, every other one linear, are trained for 100 batches of 64 rows. The loss warns if it
takes the outputs for probabilities. Features are normal numbers, or small ones (a spread of .05).
"""

import argparse
import warnings

import torch
from torch import nn

from complabel.answers import Answers
from complabel.losses import AnswersLikelihood

FEATURES = {"normal": 1.0, "small": 0.05}
ENDS = {"logits": nn.Identity(), "sigmoid": nn.Sigmoid(), "softmax": nn.Softmax(dim=1)}


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


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", type=int, default=40)
    n = parser.parse_args().networks
    print("| features | labels |", *(f"{end} |" for end in ENDS))
    print("|---|--:|" + "--:|" * len(ENDS))
    for features in FEATURES:
        for n_labels in (2, 10):
            shares = (sum(warned(s, features, n_labels, end) for s in range(n)) for end in ENDS)
            print(f"| {features} | {n_labels} |", *(f"{share} of {n} |" for share in shares))


if __name__ == "__main__":
    main()
