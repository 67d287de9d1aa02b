"""What people's answers tell beside several machines, beside machines that lie, and beside none.

several
    Three classifiers that learned from the same few items, so that their mistakes are correlated:
    a linear one, trees, and neighbours. Each says yes so seldom that it finds half of what applies
    (recall .49, .52 and .55). Their scores are steep, and rounded to two digits: most are exactly 0
    or 1. 200 questions of a person who does not err are drawn at random, or by what the machines
    say in three rounds. The ways are: no machine; the mean of the scores as one machine; the mean,
    clipped to .05 to .95; the majority; the first machine; and all as several machines.
odd
    Ten machines, each alone, in three rounds, beside 200 random questions without a machine. Three
    lie: one says the contrary, one says another label's, and one says the contrary of every other
    label. Others say yes and no by chance, are constant, or give scores.

Printed are the root mean square error of frequencies, the share of 95 % intervals that hold (mean,
worst label), and their width.
"""

from __future__ import annotations

import argparse
from typing import Any, TypeAlias

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier

from benchmarks._sets import answers_to, items_of, machine_of, randomly
from complabel.answers import Answers
from complabel.frequencies import estimate_label_frequencies

Array: TypeAlias = Any
_RECALL, _STEEP = (0.49, 0.52, 0.55), 40.0


def world(name: str, data: str) -> tuple[Any, Array]:
    """Return features and labels; digits:8 has eight labels, each of some of the ten digits."""
    if name != "digits:8":
        return items_of(name, data)
    X, y = load_digits(return_X_y=True)
    of = ((1, 7), (0, 8), (3, 5, 8), (4, 9), (2, 3), (6, 8, 9, 0), (5, 6), (1, 4, 7))
    return X / 16.0, np.stack([np.isin(y, each) for each in of], axis=1).astype(np.uint8)


def three_of(name: str, data: str, share: float, seed: int = 0) -> tuple[Array, Array]:
    """Return true labels (n, K), and scores (3, n, K) of the items that nobody learned from."""
    X, Y = world(name, data)
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    order = np.random.default_rng([seed, 13]).permutation(len(Y))
    few, rest = np.split(order, [int(share * len(Y))])
    trees = ExtraTreesClassifier(60, min_samples_leaf=3, n_jobs=1, random_state=seed)
    found = [
        OneVsRestClassifier(each).fit(X[few], Y[few]).predict_proba(X[rest])
        for each in (LogisticRegression(max_iter=300), trees, KNeighborsClassifier(25))
    ]
    rng, scores = np.random.default_rng([seed, 17]), []
    for p, recall in zip(found, _RECALL, strict=True):
        p = p + 0.02 * rng.random(p.shape)  # neighbours have many equal shares
        cut = np.quantile(p[Y[rest] == 1], 1 - recall)
        scores.append(np.round(1 / (1 + np.exp(-_STEEP * (p - cut))), 2))
    return Y[rest], np.stack(scores)


def odd_ones(name: str, data: str) -> tuple[Array, dict[str, Array]]:
    """Return true labels, and what ten machines say."""
    Y, p, said = machine_of(name, data, 0.1)
    rng = np.random.default_rng(5)
    every_other = said.copy()
    every_other[:, ::2] = 1 - every_other[:, ::2]
    by_chance = (rng.random(said.shape) < said.mean(axis=0)).astype(np.uint8)
    constant = said.copy()
    constant[:, :2] = (0, 1)
    return Y, {
        "good": said,
        "scores": p,
        "steep scores": np.round(1 / (1 + np.exp(-_STEEP * (p - 0.5))), 2),
        "misses half": said & (rng.random(said.shape) < 0.5),
        "invents": said | (rng.random(said.shape) < 0.2),
        "by chance": by_chance,
        "constant for two": constant,
        "lies: the contrary": 1 - said,
        "lies: another label": np.roll(said, 1, axis=1),
        "lies: every other label": every_other,
    }


def asked(Y: Array, machines: Any, draw: int, sizes: tuple[int, ...]) -> Answers:
    """Ask by what machines say, in rounds of these sizes."""
    from complabel.asking import suggest_questions

    rng = np.random.default_rng([draw, 2])
    none = np.empty(0, dtype=np.intp)
    found = answers_to(Y, none, none)
    for size in sizes:
        table = suggest_questions(found, size, against=machines, random_state=rng)
        items, labels = np.asarray(table["item"]), np.asarray(table["label"]).astype(np.intp)
        found = Answers.concatenate([found, answers_to(Y, items, labels)])
    return found


def figures(Y: Array, draws: range, machines: Any, sizes: tuple[int, ...] = ()) -> str:
    """Return a row: error, its standard error, what is held, and width."""
    truth, errors, held, widths = Y.mean(axis=0), [], [], []
    for draw in draws:
        answers = asked(Y, machines, draw, sizes) if sizes else randomly(Y, 200, draw)
        found = estimate_label_frequencies(answers, predictions=machines)
        low, high = found.intervals.T
        errors.append(np.sqrt(((found.values - truth) ** 2).mean()))
        held.append((low <= truth) & (truth <= high))
        widths.append((high - low).mean())
    error = np.std(errors, ddof=1) / np.sqrt(len(errors))
    hold = 100 * np.mean(held, axis=0)
    return (
        f"{np.mean(errors):.4f} ± {error:.4f} | {hold.mean():.0f} | {hold.min():.0f}"
        f" | {np.mean(widths):.3f} |"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["several", "odd"])
    parser.add_argument("--data", required=True, help="folder with the files of the datasets")
    parser.add_argument("--datasets", nargs="+", default=["digits:8", "scene", "yeast:8"])
    parser.add_argument("--share", type=float, default=0.1, help="of items to learn from")
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--ways", nargs="+", help="only these rows")
    given = parser.parse_args()
    draws, rounds = range(given.draws), (80, 60, 60)
    print("| labels | way | rmse | held, % | worst | width |")
    print("|---|---|---|---|---|---|")
    for name in given.datasets:
        if given.what == "odd":
            Y, machines = odd_ones(name, given.data)
            ways = {"no machine": (None, ())} | {k: (v, rounds) for k, v in machines.items()}
        else:
            Y, scores = three_of(name, given.data, given.share)
            said, mean = scores >= 0.5, scores.mean(axis=0)
            for each in said:
                right = (each * Y).sum()
                print(
                    f"# precision {right / each.sum():.2f}, recall {right / Y.sum():.2f}, exact"
                    f" {np.isin(scores, (0, 1)).mean():.2f}; frequencies {Y.mean(axis=0).round(2)}"
                )
            ways = {
                "no machine": (None, ()),
                "mean": (mean, ()),
                "mean, clipped": (np.clip(mean, 0.05, 0.95), ()),
                "majority": ((said.sum(axis=0) >= 2) * 1.0, ()),
                "the first": (scores[0], ()),
                "several": ([*scores], ()),
                "several, rounds": ([*scores], rounds),
                "yes and no of several": ([*(1.0 * said)], ()),
                "yes and no of several, rounds": ([*(1.0 * said)], rounds),
            }
        for way, (machine, sizes) in ways.items():
            if given.ways is None or way in given.ways:
                print(f"| {name} | {way} | {figures(Y, draws, machine, sizes)}", flush=True)


if __name__ == "__main__":
    main()
