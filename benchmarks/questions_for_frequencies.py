"""Whether questions about what a model is unsure of tell label frequencies better than random ones.

A linear model learns from one label named per item and 200 random yes/no answers, and predicts all
items: the best case for drawing by its doubts, with chances in proportion to sqrt(p (1 - p)) mixed
with equal ones (Zrnic and Candes, "Active Statistical Inference", ICML 2024). Then 200 questions
are drawn in each way and the frequency of each label is estimated by answers weighted with the
inverse of their chances, plainly (Hajek) and sharpened by the predictions. Printed is the mean
squared error over labels, relative to random and balanced questions with the same estimate;
below 1 is better. Labels are weighed alike, or by 1 / (pi (1 - pi)).
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel.answers import Answers
from complabel.experiments.datasets import load_dataset
from complabel.methods import SelectionLikelihoodClassifier
from complabel.simulate import draw_answers, draw_propensities

Array = NDArray[np.float64]
_PRIOR_ANSWERS = 2.0  # how much all labels together count beside the answers about one
_DRAWS = 10  # of questions, for each model
_WAYS = ("random", "random, not balanced", "doubts 50 %", "doubts 80 %", "balanced doubts 80 %")


def predictions(X: Any, Y: NDArray[np.uint8], sd: float, n: int, seed: int) -> Array:
    """Return the probabilities (N, K) of a model that saw no answer of those to be asked."""
    propensities = draw_propensities(Y.shape[1], sd, seed) if sd else None
    named = draw_answers(Y, propensities=propensities, random_state=seed)
    asked = draw_answers(Y, question="asked", items_share=n / len(Y), random_state=seed + 1000)
    yes = asked.relevant.sum() / asked.n_answers
    model = SelectionLikelihoodClassifier(
        kernel="linear",
        scaling="standardize",
        alpha=0.02,
        rank=None,
        cardinality=float(yes * Y.shape[1]),
        propensities="equal" if propensities is None else propensities,
        random_state=0,
    )
    return np.asarray(model.fit(X, Answers.concatenate([named, asked])).predict_proba(X))


def chances(way: str, p: Array, n: int) -> Array:
    """Return the chance of each pair (N, K) to be asked about; they sum to n."""
    n_labels = p.shape[1]
    equal = np.full(p.shape, n / p.size)
    if "doubts" not in way:
        return equal
    doubt = np.sqrt(p * (1 - p))
    share = 0.5 if "50" in way else 0.8
    by_doubt = n * doubt / doubt.sum()
    if way.startswith("balanced"):
        by_doubt = n / n_labels * doubt / doubt.sum(axis=0)
    return np.asarray(np.minimum(share * by_doubt + (1 - share) * equal, 1.0))


def drawn(way: str, chance: Array, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw pairs with these chances, as many as they sum to: systematically, in random order.

    Where labels are balanced they follow each other, so that each has its number.
    """
    n_labels = chance.shape[1]
    if way == "random" or way.startswith("balanced"):
        items = np.argsort(rng.random(chance.shape), axis=0)
        labels = rng.permutation(n_labels)
        order = (items * n_labels + np.arange(n_labels)).T[labels].ravel()
    else:
        order = rng.permutation(chance.size)
    steps = np.floor(np.cumsum(chance.ravel()[order]) + rng.random())
    picked = np.zeros(chance.size, dtype=np.bool_)
    picked[order] = np.diff(steps, prepend=0) > 0
    return picked.reshape(chance.shape)


def frequencies(
    Y: NDArray[np.uint8], asked: NDArray[np.bool_], chance: Array, p: Array | None
) -> Array:
    """Return how often labels apply (K,), by answers weighted with the inverse of their chances."""
    weight = asked / chance
    residual = Y - p if p is not None else Y.astype(np.float64)
    total = weight.sum(axis=0)
    effective = total**2 / np.maximum((weight**2).sum(axis=0), 1e-300)
    pooled = (weight * residual).sum() / total.sum()
    of_label = (weight * residual).sum(axis=0) / np.maximum(total, 1e-300)
    mean = (effective * of_label + _PRIOR_ANSWERS * pooled) / (effective + _PRIOR_ANSWERS)
    return np.asarray(mean if p is None else mean + p.mean(axis=0))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--propensity-sd", type=float, default=0.0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    n = options.questions
    print(
        "| dataset | estimate | error of random | random, not balanced "
        + "".join(f"| {way} " for way in _WAYS[2:])
        + "|\n|---|---|---|---|---|---|---|"
    )
    for name in options.datasets:
        data = load_dataset(name, data_dir=options.data_dir)
        Y = np.asarray(data.Y)
        true = Y.mean(axis=0)
        scales = {"alike": np.ones_like(true), "relative": 1 / (true * (1 - true))}
        errors: dict[tuple[str, str, str], list[float]] = {}
        for repeat in range(options.repeats):
            p = predictions(data.X, Y, options.propensity_sd, n, repeat)
            rng = np.random.default_rng(repeat)
            for way in _WAYS:
                chance = chances(way, p, n)
                for _ in range(_DRAWS):
                    asked = drawn(way, chance, rng)
                    for title, given in (("plain", None), ("sharpened", p)):
                        off = (frequencies(Y, asked, chance, given) - true) ** 2
                        for scale, factor in scales.items():
                            errors.setdefault((title, scale, way), []).append(
                                float((off * factor).mean())
                            )
        for title in ("plain", "sharpened"):
            for scale in scales:
                bar, *others = (np.mean(errors[title, scale, way]) for way in _WAYS)
                ratios = " | ".join(f"{each / bar:.2f}" for each in others)
                print(f"| {name} | {title}, {scale} | {bar:.5f} | {ratios} |", flush=True)


if __name__ == "__main__":
    main()
