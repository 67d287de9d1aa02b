"""Consensus of raters who say no, maybe or yes, judged by experts, beside crowd-kit's methods.

The data are 1,135 pairs of a picture and a label of ImageNet, about which 78 raters and five
experts answered (L. Beyer and others, Are we done with ImageNet?, arXiv 2006.07159). The answers of
3, 5 or 10 raters of each pair are shown to the methods. Truth is what most of the five experts say;
they say yes or no only.

    python -m benchmarks.raters --data DIR                 # complabel, votes
    pip install crowd-kit
    python -m benchmarks.raters --data DIR --crowd-kit     # beside crowd-kit

DIR holds ``crowd/imagenet/imagenet.npz``. With ``--design pairs``, each pair is answered by raters
of its own, drawn at random; with ``--design raters``, a few raters answer all pairs. ``--sizes 78``
shows all answers.

Printed are means over draws of the average precision and the log-loss of all pairs, and the
differences from complabel's with standard errors, draw by draw. "Maybe" is an answer to complabel.
It is an answer to the others, too (``three``), or yes (``yes``), or no (``no``), or left out
(``left out``), or both yes and no (``both``). Three answers need a rule that makes one number of
them: maybe counts 0, one half or 1 in it. Each method has a line with its best average precision
and its best log-loss, over all such ways *and* over the bounds .000001, .01 and .05 of its
probabilities; so the experts choose for the others. ``--all`` prints each way. complabel has no
such choice: maybe counts 1 (``share + unsure``), since an expert says yes or no and raters who
are unsure do not deny; its lines with one half and 0 are printed beside it. These are the numbers
of ``find_consensus``, found without its tables of people, which take most of its time.
``beta-binomial`` are votes with a prior that fits them best.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize, sparse, special
from sklearn.metrics import average_precision_score, log_loss

from complabel._training import one_thread
from complabel.answers import Answers
from complabel.people._states import Judgements, choose_states, fit_states

_NO, _MAYBE, _YES = range(3)
_BOUNDS = (1e-6, 0.01, 0.05)  # of probabilities
_COUNTS = {"0": 0.0, "1/2": 0.5, "1": 1.0}  # maybe
_SLOW = ("zero-based skill", "MACE", "GLAD")  # they get three answers, and yes for maybe


class Crowd:
    """The answers of R raters about P pairs, (R, P), and whether most experts say yes, (P,)."""

    def __init__(self, path: Path) -> None:
        data = np.load(path)
        self.said = data["raters"].astype(int)
        self.truth = (data["experts"] == _YES).mean(axis=0) > 0.5
        self.picture = data["picture"].astype(int)
        self.label = np.unique(data["label"], return_inverse=True)[1]

    def drawn(self, size: int, design: str, seed: int) -> pd.DataFrame:
        """Draw the raters of each pair: a row for each answer, as crowd-kit takes them."""
        n_raters, n_pairs = self.said.shape
        rng = np.random.default_rng(seed)
        chance = rng.random((n_raters, n_pairs if design == "pairs" else 1))
        worker = np.broadcast_to(np.argsort(chance, axis=0)[:size], (size, n_pairs)).ravel()
        task = np.tile(np.arange(n_pairs), size)
        return pd.DataFrame({"task": task, "worker": worker, "label": self.said[worker, task]})

    def as_answers(self, rows: pd.DataFrame) -> tuple[Answers, tuple[np.ndarray, ...]]:
        """Return yes and no as complabel takes them, and the positions of maybe."""
        shape = (self.picture.max() + 1, self.label.max() + 1)
        sure = rows[rows["label"] != _MAYBE]

        def marks(word: int) -> Any:
            at = np.flatnonzero(sure["label"] == word)
            ones = (np.ones(len(at), dtype=np.uint8), (at, self.label[sure["task"].iloc[at]]))
            return sparse.csr_array(ones, shape=(len(sure), shape[1]))

        answers = Answers.from_arrays(
            relevant=marks(_YES),
            absent=marks(_NO),
            question="asked",
            item=self.picture[sure["task"]],
            annotator=[f"{worker:02}" for worker in sure["worker"]],
            n_items=shape[0],
        )
        maybe = rows[rows["label"] == _MAYBE]
        people = pd.Index(answers.annotator_names).get_indexer([f"{w:02}" for w in maybe["worker"]])
        return answers, (self.picture[maybe["task"]], self.label[maybe["task"]], people)

    def scores(self, found: np.ndarray, bound: float) -> tuple[float, float]:
        """Return the average precision and the log-loss."""
        clipped = np.clip(found, bound, 1 - bound)
        return average_precision_score(self.truth, found), log_loss(self.truth, clipped)


def by_complabel(crowd: Crowd, rows: pd.DataFrame) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the share of people who say yes, with maybe as 1, as one half and as 0."""
    answers, unsure = crowd.as_answers(rows)
    log_odds = np.zeros(answers.shape)
    judgements = Judgements.of(answers, unsure)
    n_states = choose_states(judgements, log_odds, np.random.default_rng(0))
    found = fit_states(judgements, log_odds, n_states).of_all(judgements, log_odds)
    share, of_unsure, applies = (each[crowd.picture, crowd.label] for each in found)
    yield "complabel", share + of_unsure
    yield "complabel, maybe counts 1/2", share + of_unsure / 2
    yield "complabel, maybe counts 0", share
    yield "complabel, applies", applies
    two = fit_states(judgements, log_odds, 2).of_all(judgements, log_odds)
    yield "complabel, always two states", (two[0] + two[1])[crowd.picture, crowd.label]


def beta_binomial(rows: pd.DataFrame) -> Iterator[tuple[str, np.ndarray]]:
    """Yield shares of votes, drawn to a common one as much as makes the votes likeliest."""
    n = np.bincount(rows["task"])
    for name, worth in _COUNTS.items():
        yes = np.bincount(rows["task"], np.array([0.0, worth, 1.0])[rows["label"]])

        def loss(logs: np.ndarray, yes: np.ndarray = yes) -> float:
            a, b = np.exp(logs)
            return float((special.betaln(a, b) - special.betaln(yes + a, n - yes + b)).sum())

        a, b = np.exp(optimize.minimize(loss, np.zeros(2), method="Nelder-Mead").x)
        yield name, (yes + a) / (n + a + b)


def aggregations() -> dict[str, Callable[[], Any]]:
    """Return the methods of crowd-kit."""
    from crowdkit import aggregation

    return {
        "majority vote": aggregation.MajorityVote,
        "Dawid-Skene": lambda: aggregation.DawidSkene(n_iter=100),
        "one-coin Dawid-Skene": lambda: aggregation.OneCoinDawidSkene(n_iter=100),
        "Wawa": aggregation.Wawa,
        "zero-based skill": aggregation.ZeroBasedSkill,
        "M-MSR": lambda: aggregation.MMSR(random_state=0),
        "KOS": lambda: aggregation.KOS(random_state=0),
        "MACE": lambda: aggregation.MACE(random_state=0),
        "GLAD": aggregation.GLAD,
    }


def told(rows: pd.DataFrame, way: str) -> pd.DataFrame:
    """Return the rows with maybe as another answer, or without it."""
    if way == "both":
        halves = [rows.replace({"label": {_MAYBE: word}}) for word in (_NO, _YES)]
        return pd.concat(halves, ignore_index=True)
    if way == "left out":
        return rows[rows["label"] != _MAYBE]
    return rows if way == "three" else rows.replace({"label": {_MAYBE: _YES * (way == "yes")}})


def probabilities(model: Any, table: pd.DataFrame) -> pd.DataFrame:
    """Return the probability of each answer; 1 for that of methods that only choose one."""
    model.fit(table)
    if hasattr(model, "probas_"):
        return model.probas_
    if hasattr(model, "skills_") and not hasattr(model, "labels_"):  # Wawa, zero-based skill
        from crowdkit.aggregation import MajorityVote

        return MajorityVote().fit_predict_proba(table, model.skills_)
    labels = model.fit_predict(table)
    return pd.DataFrame({word: 1.0 * (labels == word) for word in (_NO, _MAYBE, _YES)})


def by_crowd_kit(
    make: Callable[[], Any], rows: pd.DataFrame, n: int, ways: tuple[str, ...]
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the probabilities of a method in all ways to understand maybe."""
    for way in ways:
        model, table = make(), told(rows, way)
        try:
            chances = probabilities(model, table)
        except (KeyError, ValueError) as error:  # of methods for two answers that get three
            print(f"{type(model).__name__}, {way}: {error}", file=sys.stderr)
            continue
        chances = chances.reindex(index=range(n), columns=range(3)).fillna(0.0).to_numpy()
        for count, worth in _COUNTS.items() if way == "three" else [("0", 0.0)]:
            yield f"{way}, maybe counts {count}", chances @ [0.0, worth, 1.0]


def measured(crowd: Crowd, rows: pd.DataFrame, names: list[str]) -> Iterator[tuple[Any, ...]]:
    """Yield a method, a way to use it, and its probabilities."""
    for name, found in by_complabel(crowd, rows):
        yield name, "", found
    for way, found in beta_binomial(rows):
        yield "beta-binomial", way, found
    makers = aggregations() if names else {}
    for name in makers if names == ["all"] else names:
        ways = ("three", "yes") if name in _SLOW else ("three", "yes", "no", "left out", "both")
        for way, found in by_crowd_kit(makers[name], rows, len(crowd.truth), ways):
            yield f"crowd-kit {name}", way, found


def show(size: int, scores: dict[Any, list[tuple[float, float]]], every_way: bool) -> None:
    """Print a line for each method, with the best of its ways for either criterion."""
    ours = np.array(scores["complabel", "", _BOUNDS[0]])
    print(f"\n{size} raters a pair, {len(ours)} draws\n")
    print("| method | average precision | difference | log-loss | difference |")
    print("|---|--:|--:|--:|--:|")
    for name in dict.fromkeys(key[0] for key in scores):
        of_name = {key: np.array(values) for key, values in scores.items() if key[0] == name}
        of_name = {key: values for key, values in of_name.items() if len(values) == len(ours)}
        cells = []
        for at, best in ((0, max), (1, min)) if of_name else ():
            way = best(of_name, key=lambda key: of_name[key][:, at].mean())
            values = of_name[way][:, at]
            apart = values - ours[:, at]
            error = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else np.nan
            cells += [f"{values.mean():.4f} | {apart.mean():+.4f} ± {error:.4f}"]
            if every_way:
                for key, each in of_name.items():
                    print(f"    {key} {each.mean(axis=0).round(4)}", file=sys.stderr)
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print a table for each number of raters."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="+", default=[3, 5, 10])
    parser.add_argument("--design", choices=["pairs", "raters"], default="pairs")
    parser.add_argument("--crowd-kit", nargs="*", metavar="METHOD", help="all, or some by name")
    parser.add_argument("--all", action="store_true", help="print each way to understand maybe")
    args = parser.parse_args()
    methods = ["all"] if args.crowd_kit == [] else args.crowd_kit or []
    crowd = Crowd(args.data / "crowd" / "imagenet" / "imagenet.npz")
    started = time.perf_counter()
    for size in args.sizes:
        scores: dict[Any, list[tuple[float, float]]] = defaultdict(list)
        for draw in range(args.draws if size < len(crowd.said) else 1):
            rows = crowd.drawn(size, args.design, draw)
            with one_thread(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for name, way, found in measured(crowd, rows, methods):
                    bounds = _BOUNDS[:1] if name.startswith("complabel") else _BOUNDS
                    for bound in bounds:
                        scores[name, way, bound].append(crowd.scores(found, bound))
            print(f"{time.perf_counter() - started:6.0f} s  {size}, {draw}", file=sys.stderr)
        show(size, scores, args.all)


if __name__ == "__main__":
    main()
