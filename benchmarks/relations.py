"""Consensus of real people about the relations that sentences state, beside crowd-kit's.

The data are 24,032 answers of 201 people about 1,600 sentences and 18 relations (A. Dumitrache,
L. Aroyo and C. Welty, CrowdTruth Corpus for Open Domain Relation Extraction, 2018). Some of the 15
people of each sentence are shown to the methods; the majority of the *others* is taken for true.

    python -m benchmarks.relations --data-dir DIR                 # complabel alone
    pip install crowd-kit
    python -m benchmarks.relations --data-dir DIR --crowd-kit     # beside crowd-kit

DIR holds ``crowd/relations`` with answers.csv, sentences.csv and labels.txt. Printed are means over
draws of the people who are shown. ``accuracy`` and ``pairs`` (average precision) are over all pairs
of a sentence and a relation, ``labels`` is the mean of the relations' average precisions, and
``sentences`` is the label ranking average precision of sentences with a relation.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, log_loss

from complabel import metrics
from complabel._training import one_thread
from complabel.answers import Answers
from complabel.methods import SelectionLikelihoodClassifier
from complabel.people import find_consensus

_FEW = 5  # a relation with fewer positives is not given to a logistic regression
_MISTAKES = {"missed": 0.24, "invented": 0.03}  # means found from three answers (--only rates)
_FOLDS = 3
_STRENGTHS = np.logspace(-0.5, 2.5, 7)  # C of a logistic regression, of which folds choose one


@dataclass(frozen=True)
class Crowd:
    """Sentences with features X (n, d), and who ticked which of K relations, row by row."""

    X: Any
    item: np.ndarray  # (A,)
    person: np.ndarray  # (A,)
    ticks: np.ndarray  # (A, K)

    @classmethod
    def read(cls, folder: Path) -> Crowd:
        """Read the files of the corpus."""
        answers = pd.read_csv(folder / "answers.csv", keep_default_na=False)
        sentences = pd.read_csv(folder / "sentences.csv", keep_default_na=False)
        labels = (folder / "labels.txt").read_text().split()
        ticks = answers["ticked"].str.get_dummies("|").reindex(columns=labels, fill_value=0)
        at = {name: row for row, name in enumerate(sentences["item"])}
        item = answers["item"].map(at).to_numpy()
        return cls(features(sentences), item, answers["annotator"].to_numpy(), ticks.to_numpy())

    @property
    def n_items(self) -> int:
        """Number of sentences."""
        return int(self.X.shape[0])

    def shown(self, each: int, rng: np.random.Generator) -> np.ndarray:
        """Mark ``each`` answers about every sentence, drawn at random, (A,)."""
        order = rng.permutation(len(self.item))
        place = pd.Series(self.item[order]).groupby(self.item[order]).cumcount().to_numpy()
        marked = np.zeros(len(order), dtype=bool)
        marked[order[place < each]] = True
        return marked

    def majority(self, rows: np.ndarray) -> np.ndarray:
        """Return what most of these answers tick, (n, K)."""
        return (self.votes(rows) > 0.5).astype(int)

    def votes(self, rows: np.ndarray) -> np.ndarray:
        """Return the share of these answers that tick a relation, (n, K)."""
        sums = np.zeros((self.n_items, self.ticks.shape[1]))
        np.add.at(sums, self.item[rows], self.ticks[rows])
        counts = np.bincount(self.item[rows], minlength=self.n_items)
        return sums / np.maximum(counts, 1)[:, np.newaxis]

    def answers(self, rows: np.ndarray) -> Answers:
        """Return these answers as complabel takes them."""
        return Answers.from_arrays(
            relevant=self.ticks[rows],
            absent=1 - self.ticks[rows],
            question="ticked",
            item=self.item[rows],
            annotator=self.person[rows],
            n_items=self.n_items,
        )


def features(sentences: pd.DataFrame) -> Any:
    """Return weights of words: of the sentence, between and around the two terms, and in them."""
    parts: dict[str, list[str]] = {"sentence": [], "between": [], "around": []}
    places = ["sentence", "term1", "term2", "term1_first", "term1_last", "term2_first"]
    rows = sentences[[*places, "term2_last"]].itertuples(index=False)
    for text, first_term, second_term, *bounds in rows:
        words = text.lower().split()
        (a, b), (c, d) = sorted([bounds[:2], bounds[2:]])
        parts["sentence"].append(" ".join(words))
        parts["between"].append(" ".join(words[b:c]))
        beside = words[max(0, a - 2) : a] + words[d : d + 2]
        terms = [f"1_{word}" for word in first_term.lower().split()]
        terms += [f"2_{word}" for word in second_term.lower().split()]
        parts["around"].append(" ".join(beside + terms))
    several = {"between": (1, 2)}
    blocks = [
        TfidfVectorizer(
            min_df=2, sublinear_tf=True, ngram_range=several.get(name, (1, 1))
        ).fit_transform(texts)
        for name, texts in parts.items()
    ]
    return sparse.hstack(blocks).tocsr()


def scores_of(truth: np.ndarray, scores: np.ndarray) -> dict[str, float]:
    """Return all criteria of scores (n, K)."""
    some = truth.any(axis=1)
    known = [k for k in range(truth.shape[1]) if truth[:, k].any()]
    by_label = [average_precision_score(truth[:, k], scores[:, k]) for k in known]
    return {
        "accuracy": float(np.mean((scores > 0.5) == truth)),
        "pairs": float(average_precision_score(truth.ravel(), scores.ravel())),
        "labels": float(np.mean(by_label)),
        "sentences": metrics.average_precision(truth[some], scores[some]),
    }


def by_crowd_kit(crowd: Crowd, rows: np.ndarray, make: Callable[[], Any]) -> np.ndarray:
    """Return the probabilities (n, K) of an aggregation of crowd-kit, relation by relation."""
    found = np.zeros((crowd.n_items, crowd.ticks.shape[1]))
    for k in range(found.shape[1]):
        table = pd.DataFrame(
            {"task": crowd.item[rows], "worker": crowd.person[rows], "label": crowd.ticks[rows, k]}
        )
        model = make()
        model.fit(table)
        chances = model.probas_
        if 1 in chances:
            found[chances.index.to_numpy(), k] = chances[1].to_numpy()
    return np.nan_to_num(found)


def aggregations() -> dict[str, Callable[[], Any]]:
    """Return the methods of crowd-kit that take yes and no."""
    from crowdkit import aggregation

    return {
        "crowd-kit Dawid-Skene": lambda: aggregation.DawidSkene(n_iter=100),
        "crowd-kit one-coin Dawid-Skene": lambda: aggregation.OneCoinDawidSkene(n_iter=100),
        "crowd-kit MACE": lambda: aggregation.MACE(random_state=0),
        "crowd-kit GLAD": aggregation.GLAD,
    }


def linear(**settings: Any) -> SelectionLikelihoodClassifier:
    """Return the selection likelihood on a linear map."""
    return SelectionLikelihoodClassifier(kernel="linear", random_state=0, **settings)


def consensus(crowd: Crowd, args: argparse.Namespace) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the scores of each method for the sentences that some people answered about."""
    for draw in range(args.draws):
        shown = crowd.shown(args.people, np.random.default_rng(draw))
        truth = crowd.majority(np.flatnonzero(~shown))
        rows = np.flatnonzero(shown)
        answers = crowd.answers(rows)
        yield "majority", scores_of(truth, crowd.votes(rows))
        if args.crowd_kit:
            for name, make in aggregations().items():
                yield name, scores_of(truth, by_crowd_kit(crowd, rows, make))
        alone = find_consensus(None, answers)
        yield "complabel, answers alone", scores_of(truth, alone.share)
        found = find_consensus(
            crowd.X, answers, classifier=linear(error_rate=0.05), random_state=draw
        )
        yield "complabel, with the sentences", scores_of(truth, found.share)
        if args.two_states:
            model = linear(missed="auto", invented="auto").fit(crowd.X, answers)
            yield (
                "complabel, two states",
                scores_of(truth, model.predict_consensus(crowd.X, answers)),
            )


def unseen(crowd: Crowd, args: argparse.Namespace) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the scores of models on sentences that nobody was asked about."""
    for draw in range(args.draws):
        rng = np.random.default_rng(draw)
        order = rng.permutation(crowd.n_items)
        train, test = np.sort(order[len(order) // 3 :]), np.sort(order[: len(order) // 3])
        truth = crowd.majority(np.arange(len(crowd.item)))[test]
        for each in args.answers:
            rows = np.flatnonzero(crowd.shown(each, rng) & np.isin(crowd.item, train))
            answers = crowd.answers(rows)[train]
            ways: dict[str, dict[str, Any]] = {"no rates": {}, "rates given": _MISTAKES}
            if each > 1:  # one answer tells no rates, and "auto" assumes no mistakes then
                auto = {"missed": "auto", "invented": "auto"}
                ways = {"no rates": {"error_rate": 0.05}, "rates found": auto}
            for name, settings in ways.items():
                found = linear(**settings).fit(crowd.X[train], answers).predict_proba(crowd.X[test])
                yield f"{each} a sentence: complabel, {name}", scores_of(truth, found)
            for name, shares in consensus_of(crowd, rows, train, args):
                ways_to_learn = {"labels": (shares > 0.5).astype(float)}
                if each > 1 and "crowd-kit" not in name:
                    ways_to_learn["shares"] = shares
                for what, learned in ways_to_learn.items():
                    found = logistic(crowd.X[train], learned, crowd.X[test])
                    yield (
                        f"{each} a sentence: logistic regression, {what} of {name}",
                        scores_of(truth, found),
                    )


def consensus_of(
    crowd: Crowd, rows: np.ndarray, train: np.ndarray, args: argparse.Namespace
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield what each method says about sentences that people answered about, (len(train), K)."""
    yield "votes", crowd.votes(rows)[train]
    if args.crowd_kit:
        for name, make in aggregations().items():
            if "one-coin" in name:
                continue
            yield name, by_crowd_kit(crowd, rows, make)[train]
    answers = crowd.answers(rows)[train]
    if answers.n_answers > len(train):
        classifier = linear(error_rate=0.05)
        found = find_consensus(crowd.X[train], answers, classifier=classifier, random_state=0)
        yield "find_consensus", found.share


def rates(crowd: Crowd, args: argparse.Namespace) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield rates of people and of relations, found from the shown answers, beside those counted.

    Counted are the shown answers against the majority of the 14 others, of people and relations
    with at least 20 pairs that apply.
    """
    rows = np.flatnonzero(crowd.shown(args.people, np.random.default_rng(0)))
    found = find_consensus(
        crowd.X, crowd.answers(rows), classifier=linear(error_rate=0.05), random_state=0
    )
    sums = np.zeros((crowd.n_items, crowd.ticks.shape[1]))
    np.add.at(sums, crowd.item, crowd.ticks)
    others = np.bincount(crowd.item)[crowd.item[rows], np.newaxis] - 1
    ticks = crowd.ticks[rows]
    applies = (sums[crowd.item[rows]] - ticks) / others > 0.5
    shape = applies.shape
    counted = pd.DataFrame(
        {
            "annotator": np.repeat(crowd.person[rows], shape[1]),
            "label": np.tile(np.arange(shape[1]), shape[0]),
            "applies": applies.ravel(),
            "not": ~applies.ravel(),
            "missed": (applies & (ticks == 0)).ravel(),
            "invented": (~applies & (ticks == 1)).ravel(),
        }
    )
    said = pd.DataFrame(found.doubtful)
    said["applies"] = np.where(said["said"], 1 - said["wrong"], said["wrong"])
    said["missed"] = np.where(said["said"], 0, said["wrong"])
    said["invented"] = np.where(said["said"], said["wrong"], 0)
    said["not"] = 1 - said["applies"]
    numbers = ["applies", "not", "missed", "invented"]
    for name, by in (("people", "annotator"), ("relations", "label")):
        ours = said.groupby(by)[numbers].sum()
        sure = counted.groupby(by)[numbers].sum().query("applies >= 20")
        table = pd.DataFrame(index=sure.index)
        for rate, of in (("missed", "applies"), ("invented", "not")):
            table[rate] = (ours[rate] / ours[of]).loc[sure.index]
            table[f"counted_{rate}"] = sure[rate] / sure[of]
        if by == "annotator":
            table = table.join(pd.DataFrame(found.people).set_index(by).filter(regex="low|high"))
        yield name, table


def show_rates(name: str, table: pd.DataFrame) -> None:
    """Print how near the rates that were found come to those that were counted."""
    print(f"\nrates of {len(table)} {name}, found beside counted\n")
    print("| | mean found | mean counted | mean distance | correlation | in the 95 % interval |")
    print("|---|--:|--:|--:|--:|--:|")
    for rate in ("missed", "invented"):
        ours, counted = table[rate], table[f"counted_{rate}"]
        figures = [ours.mean(), counted.mean(), (ours - counted).abs().mean(), ours.corr(counted)]
        cells = " | ".join(f"{value:.3f}" for value in figures)
        inside = ""
        if f"{rate}_low" in table:
            known = counted.between(table[f"{rate}_low"], table[f"{rate}_high"])
            inside = f"{known.mean():.2f}"
        print(f"| {rate} | {cells} | {inside} |")


def logistic(X: Any, shares: np.ndarray, new: Any) -> np.ndarray:
    """Return probabilities by a logistic regression of each label; see ``of_label``."""
    found = np.tile(shares.mean(axis=0), (new.shape[0], 1))
    for k in np.flatnonzero(shares.sum(axis=0) >= _FEW):
        found[:, k] = of_label(X, shares[:, k], new)
    return found


def of_label(X: Any, share: np.ndarray, new: Any) -> np.ndarray:
    """Return the probabilities of a logistic regression; folds choose its penalty.

    A row with a share between 0 and 1 counts as both, with these weights.
    """
    twice = sparse.vstack([X, X]).tocsr()
    applies = np.repeat([1, 0], len(share))
    weights = np.concatenate([share, 1 - share])
    fold = np.empty(len(share), dtype=int)
    fold[np.argsort(share, kind="stable")] = np.arange(len(share)) % _FOLDS  # stratified
    fold = np.tile(fold, 2)

    def fitted(strength: float, rows: np.ndarray) -> LogisticRegression:
        rows = rows & (weights > 0)
        model = LogisticRegression(C=strength, max_iter=500)
        return model.fit(twice[rows], applies[rows], sample_weight=weights[rows])

    def loss(strength: float, out: np.ndarray) -> float:
        chances = fitted(strength, ~out).predict_proba(twice[out])
        told = {"sample_weight": weights[out], "labels": [0, 1], "normalize": False}
        return float(log_loss(applies[out], chances, **told))

    losses = [sum(loss(each, fold == at) for at in range(_FOLDS)) for each in _STRENGTHS]
    best = _STRENGTHS[int(np.argmin(losses))]
    return np.asarray(fitted(best, weights > 0).predict_proba(new)[:, 1])


def main() -> None:
    """Run the comparison and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--people", type=int, default=3, help="shown for each sentence")
    parser.add_argument(
        "--answers", type=int, nargs="+", default=[1, 3], help="a sentence, for unseen sentences"
    )
    parser.add_argument("--crowd-kit", action="store_true")
    parser.add_argument("--two-states", action="store_true", help="also the model's consensus")
    parser.add_argument("--only", choices=["consensus", "rates", "unseen"])
    args = parser.parse_args()
    crowd = Crowd.read(args.data_dir / "crowd" / "relations")
    if args.only in (None, "rates"):
        with one_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, table in rates(crowd, args):
                show_rates(name, table)
    for name, measure in (("consensus", consensus), ("unseen", unseen)):
        if args.only not in (None, name):
            continue
        rows, started = [], time.perf_counter()
        with one_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for method, scores in measure(crowd, args):
                rows.append({"method": method, **scores})
                told = " ".join(f"{value:.4f}" for value in scores.values())
                print(f"{time.perf_counter() - started:7.0f} s  {told}  {method}", file=sys.stderr)
        of_method = pd.DataFrame(rows).groupby("method", sort=False)
        means, errors = of_method.mean(), of_method.sem().fillna(0)
        print(f"\n{name}, means of {args.draws} draws, with standard errors\n")
        print("| method | " + " | ".join(means) + " |")
        print("|---|" + "--:|" * means.shape[1])
        for method, values in means.iterrows():
            cells = zip(values, errors.loc[method], strict=True)
            print(f"| {method} | " + " | ".join(f"{v:.4f} ± {e:.4f}" for v, e in cells) + " |")


if __name__ == "__main__":
    main()
