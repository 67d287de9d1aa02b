"""Time the flagship's objective, and whole fits, on the processor and, if there is one, on a GPU.

An evaluation is what each step of L-BFGS needs: the logits of all rows, the likelihood of one
answer about each with its gradient, and the product of that gradient with the features. Features
and labels are random. Prints Markdown: the shortest of several repeats, and the greatest error of
the gradient, as a share of its largest entry, against the processor's in double precision.
``--fits`` times whole fits of methods that are trained by gradient descent, and says how good they
are on other rows. ``--flagship`` times automatic fits of the selection likelihood to one yes or no
about each row, and says how much probabilities of other rows differ from the processor's.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from complabel.datasets import make_digits, make_synthetic
from complabel.losses import AnswersLikelihood
from complabel.methods import (
    MLCLClassifier,
    NetworkLikelihoodClassifier,
    SelectionLikelihoodClassifier,
)
from complabel.metrics import average_precision
from complabel.simulate import draw_answers, draw_complementary

# Rows, features and labels.
CASES = [(100_000, 768, 20), (100_000, 768, 80), (1_000_000, 256, 20)]
SHARE = 0.1  # of labels that apply
# Of automatic fits, with the seconds on a GPU that are wanted.
FLAGSHIP = [((100_000, 768, 80), 5), ((1_000_000, 768, 80), 60)]
N_TEST = 2000


class Evaluation:
    """The value and the gradient (K, d) at weights (K, d), with everything on one device."""

    def __init__(self, X, coef, answers, device: str, dtype: torch.dtype) -> None:
        self.X = torch.from_numpy(X).to(device, dtype)
        self.coef = torch.from_numpy(coef).to(device, dtype)
        self.likelihood = AnswersLikelihood(answers, dtype=dtype, device=device)

    @torch.inference_mode()
    def __call__(self) -> tuple[float, torch.Tensor]:
        """Return the value and the gradient, once the device is done."""
        # Label by label, as in the fit: the likelihood reads it so.
        logits = torch.mm(self.coef, self.X.t()).t()
        found = self.likelihood(logits)
        gradient = torch.mm(found.through_logits.t(), self.X)
        # A transfer to the processor waits until the GPU is done.
        return float(found.values.sum()), gradient.cpu()


def seconds_of(evaluate: Evaluation, repeats: int) -> tuple[float, float]:
    """Return the seconds of the clock and of the processor, each the least of some repeats."""
    evaluate()  # the first call makes what later ones reuse
    clock, processor = [], []
    for _ in range(repeats):
        began, worked = time.perf_counter(), time.process_time()
        evaluate()
        clock.append(time.perf_counter() - began)
        processor.append(time.process_time() - worked)
    return min(clock), min(processor)


def ways(threads: Sequence[int]) -> Iterator[tuple[str, str, int]]:
    """Yield a name, the device and the threads of the processor."""
    for number in threads:
        yield f"processor, {number} thread{'s' * (number > 1)}", "cpu", number
    if torch.cuda.is_available():
        yield torch.cuda.get_device_name(), "cuda", 1


def rows_of_case(shape, question: str, repeats: int, threads: Sequence[int]) -> Iterator[str]:
    """Yield a row of the table for each way to evaluate."""
    n, d, n_labels = shape
    rng = np.random.default_rng(0)
    Y = (rng.random((n, n_labels)) < SHARE).astype(np.uint8)
    answers = draw_answers(Y, question=question, random_state=0)
    coef = rng.standard_normal((n_labels, d)) / np.sqrt(d)
    X, exact, first = rng.standard_normal((n, d), dtype=np.float32), None, 0.0
    for dtype in (torch.float64, torch.float32):
        for name, device, number in ways(threads):
            torch.set_num_threads(number)
            evaluate = Evaluation(X, coef, answers, device, dtype)
            gradient = evaluate()[1].double()
            exact = gradient if exact is None else exact
            clock, processor = seconds_of(evaluate, repeats)
            first = first or clock
            error = float((gradient - exact).abs().max() / exact.abs().max())
            cells = [f"{n:,} x {d}, {n_labels} labels", question, str(dtype)[6:], name]
            cells += [f"{clock:.5f}", "" if device == "cuda" else f"{processor:.2f}"]
            yield f"| {' | '.join(cells)} | {first / clock:.1f} | {error:.0e} |"


def wide(n_features: int, n_labels: int) -> torch.nn.Module:
    """Return a network with two hidden layers."""
    return torch.nn.Sequential(
        torch.nn.Linear(n_features, 2048),
        torch.nn.ReLU(),
        torch.nn.Linear(2048, 2048),
        torch.nn.ReLU(),
        torch.nn.Linear(2048, n_labels),
    )


def convolutional(shape: tuple[int, ...], n_labels: int) -> torch.nn.Module:
    """Return a small network for pictures."""
    return torch.nn.Sequential(
        torch.nn.Conv2d(shape[0], 32, 3, padding=1),
        torch.nn.BatchNorm2d(32),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(32, 64, 3, padding=1),
        torch.nn.BatchNorm2d(64),
        torch.nn.ReLU(),
        torch.nn.Conv2d(64, n_labels, 3, padding=1),
        torch.nn.AdaptiveMaxPool2d(1),
        torch.nn.Flatten(),
    )


def rows_of_fits(share: float, threads: Sequence[int]) -> Iterator[str]:
    """Yield a row of the table for each way to fit, after a short fit that warms up."""
    n = max(int(8000 * share), 500)
    table = make_synthetic(n, n_features=512, n_labels=12, signal=4.0, random_state=0)
    digits = make_digits(max(int(5000 * share), 500), random_state=0)
    pictures = digits.X.astype(np.float32).reshape(-1, 1, 16, 16)
    named = draw_complementary(table.Y, random_state=0)
    asked, of_digits = (
        draw_answers(each.Y, question="asked", answers_per_item=4, random_state=0)
        for each in (table, digits)
    )
    mlcl = {"learning_rate": 0.01, "epochs": 5}
    network = {"learning_rate": 0.001, "epochs": 5}
    cases = [
        ("MLCL, a linear map", MLCLClassifier, mlcl, table.X, named, table.Y),
        ("MLCL, a wide network", MLCLClassifier, {**mlcl, "network": wide, "learning_rate": 0.001},
         table.X, named, table.Y),
        ("likelihood, a wide network", NetworkLikelihoodClassifier, {**network, "network": wide},
         table.X, asked, table.Y),
        ("likelihood, pictures", NetworkLikelihoodClassifier, {**network, "network": convolutional},
         pictures, of_digits, digits.Y),
    ]  # fmt: skip
    for title, kind, settings, X, said, Y in cases:
        first, part = 0.0, np.arange(len(Y)) % 5 > 0
        for name, device, number in ways(threads):
            torch.set_num_threads(number)
            fitted = kind(**settings, device=device, random_state=0)
            kind(**{**settings, "epochs": 1}, device=device).fit(X[:400], said[:400])
            began = time.perf_counter()
            fitted.fit(X[part], said[part])
            seconds = time.perf_counter() - began
            first = first or seconds
            quality = average_precision(Y[~part], fitted.predict_proba(X[~part]))
            cells = f"{title} | {name} | {seconds:.1f} | {first / seconds:.1f} | {quality:.3f}"
            yield f"| {cells} |"


def logistic(shape: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return single-precision features, and labels that are logistic in them."""
    n, d, n_labels = shape
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    coef = 2 / np.sqrt(d) * rng.standard_normal((d, n_labels), dtype=np.float32)
    return X, (X @ coef + rng.logistic(size=(n, n_labels)) > 2).astype(np.uint8)


def rows_of_flagship(share: float, threads: Sequence[int]) -> Iterator[str]:
    """Yield a row of the table for each way to fit; the first one is compared with."""
    for (n, d, n_labels), wanted in FLAGSHIP:
        n = int(n * share)
        X, Y = logistic((n + N_TEST, d, n_labels))
        asked = draw_answers(Y[:n], question="asked", random_state=0)
        first, exact = 0.0, None
        for name, device, number in ways(threads):
            torch.set_num_threads(number)
            torch.ones(9, 9, device=device).mm(torch.ones(9, 9, device=device)).sum().item()
            began, worked = time.perf_counter(), time.process_time()
            fitted = SelectionLikelihoodClassifier(device=device, random_state=0)
            fitted.fit(X[:n], asked)
            seconds, processor = time.perf_counter() - began, time.process_time() - worked
            found = fitted.predict_proba(X[n:])
            first, exact = first or seconds, found if exact is None else exact
            memory = torch.cuda.max_memory_allocated() / 1e9 if device == "cuda" else 0.0
            cells = [f"{n:,} x {d}, {n_labels} labels", name, f"{seconds:.1f}", f"{wanted}"]
            cells += [f"{processor:.1f}", f"{first / seconds:.1f}", f"{memory:.1f}"]
            cells += [f"{np.abs(found - exact).max():.0e}"]
            cells += [f"{average_precision(Y[n:], found):.3f}"]
            yield f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="share of the rows, to try it")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="of the processor")
    parser.add_argument("--question", nargs="+", default=["asked", "named"])
    parser.add_argument("--fits", action="store_true", help="time whole fits instead")
    parser.add_argument("--flagship", action="store_true", help="time automatic fits instead")
    given = parser.parse_args()
    if not torch.cuda.is_available():
        print("There is no GPU that torch can use here: only the processor is measured.\n")
    if given.fits:
        print("| fit | on | seconds | times | average precision |\n|---|---|--:|--:|--:|")
        for row in rows_of_fits(given.share, given.threads):
            print(row, flush=True)
        return
    if given.flagship:
        print(
            "| features | on | seconds | wanted on a GPU | processor seconds | times | GPU GB",
            end="",
        )
        print(" | difference | average precision |\n|---|---" + "|--:" * 7 + "|", flush=True)
        for row in rows_of_flagship(given.share, given.threads):
            print(row, flush=True)
        return
    print("| features | answers | type | on | seconds | processor seconds | times | error |")
    print("|---|---|---|---|--:|--:|--:|--:|", flush=True)
    for n, d, n_labels in CASES:
        for question in given.question:
            shape = (int(n * given.share), d, n_labels)
            for row in rows_of_case(shape, question, given.repeats, given.threads):
                print(row, flush=True)


if __name__ == "__main__":
    main()
