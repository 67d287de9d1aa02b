"""The crowd that judged relations of sentences, and a regression that learns from its votes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from complabel.answers import Answers

FEW = 5  # a relation with fewer positives is not given to a logistic regression
FOLDS = 3
STRENGTHS = np.logspace(-0.5, 2.5, 7)  # C of a logistic regression, of which folds choose one


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

    @property
    def n_labels(self) -> int:
        """Number of relations."""
        return int(self.ticks.shape[1])

    def shown(self, each: int, rng: np.random.Generator) -> np.ndarray:
        """Mark ``each`` answers about every sentence, drawn at random, (A,)."""
        order = rng.permutation(len(self.item))
        place = pd.Series(self.item[order]).groupby(self.item[order]).cumcount().to_numpy()
        return np.isin(np.arange(len(order)), order[place < each])

    def votes(self, rows: np.ndarray) -> np.ndarray:
        """Return the share of these answers that tick a relation, (n, K)."""
        sums = np.zeros((self.n_items, self.n_labels))
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

    def judged(self, rows: np.ndarray) -> pd.DataFrame:
        """Return each judgement of these answers, against the majority of the other people."""
        n_people = np.bincount(self.item)
        sums = self.votes(np.arange(len(self.item))) * n_people[:, np.newaxis]
        item, ticks = self.item[rows], self.ticks[rows]
        others = (sums.round()[item] - ticks) / (n_people[item, np.newaxis] - 1)
        applies, said = (others > 0.5).ravel(), ticks.ravel() == 1
        found = {"annotator": np.repeat(self.person[rows], self.n_labels)}
        found |= {"applies": applies, "not": ~applies}
        return pd.DataFrame(found | {"missed": applies & ~said, "invented": ~applies & said})


def features(sentences: pd.DataFrame) -> Any:
    """Return weights of words: of the sentence, between and around the two terms, and in them."""
    parts = []
    for row in sentences.itertuples(index=False):
        words = row.sentence.lower().split()
        (a, b), (c, d) = sorted(
            [(row.term1_first, row.term1_last), (row.term2_first, row.term2_last)]
        )
        terms = [f"1_{word}" for word in row.term1.lower().split()]
        terms += [f"2_{word}" for word in row.term2.lower().split()]
        around = words[max(0, a - 2) : a] + words[d : d + 2] + terms
        parts.append([" ".join(each) for each in (words, words[b:c], around)])
    how: Any = {"min_df": 2, "sublinear_tf": True}
    blocks = [
        TfidfVectorizer(ngram_range=(1, longest), **how).fit_transform(texts)
        for texts, longest in zip(zip(*parts, strict=True), (1, 2, 1), strict=True)
    ]
    return sparse.hstack(blocks).tocsr()


def logistic(X: Any, shares: np.ndarray, new: Any) -> np.ndarray:
    """Return probabilities by a logistic regression of each label; see ``of_label``."""
    found = np.tile(shares.mean(axis=0), (new.shape[0], 1))
    for k in np.flatnonzero(shares.sum(axis=0) >= FEW):
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
    fold[np.argsort(share, kind="stable")] = np.arange(len(share)) % FOLDS  # stratified
    fold = np.tile(fold, 2)

    def fitted(strength: float, rows: np.ndarray) -> LogisticRegression:
        rows = rows & (weights > 0)
        model = LogisticRegression(C=strength, max_iter=500)
        return model.fit(twice[rows], applies[rows], sample_weight=weights[rows])

    def loss(strength: float, out: np.ndarray) -> float:
        chances = fitted(strength, ~out).predict_proba(twice[out])
        told = {"sample_weight": weights[out], "labels": [0, 1], "normalize": False}
        return float(log_loss(applies[out], chances, **told))

    losses = [sum(loss(each, fold == at) for at in range(FOLDS)) for each in STRENGTHS]
    best = STRENGTHS[int(np.argmin(losses))]
    return np.asarray(fitted(best, weights > 0).predict_proba(new)[:, 1])
