"""The demonstration: the same pictures, one answer each, asked for in four ways; as plain data."""

from __future__ import annotations

import math
import platform
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy.special import ndtri

from complabel._parameters import check_integer
from complabel._training import one_thread
from complabel.annotations import (
    Answers,
    AssumedUniformWarning,
    IgnoredAnswersWarning,
    draw_answers,
)
from complabel.datasets import make_digits
from complabel.errors import InputError
from complabel.methods import (
    ComplementaryRidgeClassifier,
    FrequencyMatchedClassifier,
    PriorClassifier,
    SelectionLikelihoodClassifier,
    make_classifier,
)
from complabel.metrics import average_precision
from complabel.studies import result_versions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods import ComplementaryClassifier

WAYS: Final = ("free", "asked", "biased", "audited")
"""The ways of asking, in the order in which they are shown."""

_TEST_GROUPS = (8, 9)  # two of the ten: their handwriting is in no training picture
# Fewer digits than ten are learned from fewer answers, and so in seconds.
_N_LABELS = 6
# Of all pictures 30 in 100 show none of the other digits: half more than are needed are left.
_DRAWN_FOR_ONE = 5
_PROPENSITY_SD = 1.0  # as in the docs' tables of biased answers
_SHOWN = 8


@dataclass(frozen=True)
class _Pictures:
    """Pictures X (n, pixels), the digits on them Y (n, K), and the rows of each part."""

    X: NDArray[np.float64]
    Y: NDArray[np.uint8]
    train: NDArray[np.intp]
    test: NDArray[np.intp]

    def fit(self, classifier: ComplementaryClassifier, y: Any) -> NDArray[np.float64]:
        """Learn from the training pictures; return scores of the test pictures, (n_test, K)."""
        with one_thread(), warnings.catch_warnings():
            # The page says what these say: named labels are taken to come to mind alike, and
            # ridge cannot use a "yes".
            warnings.simplefilter("ignore", AssumedUniformWarning)
            warnings.simplefilter("ignore", IgnoredAnswersWarning)
            classifier.fit(self.X[self.train], y)
            return classifier.predict_proba(self.X[self.test])

    def measure(self, scores: NDArray[np.float64]) -> dict[str, float]:
        """Compare scores of the test pictures with what is on them."""
        Y = self.Y[self.test]
        guessed = _first_guesses(scores, Y.sum(axis=1))
        return {
            "average_precision": float(average_precision(Y, scores)),
            "found": float((guessed & (Y == 1)).sum() / Y.sum()),
        }

    def shown(self, rows: NDArray[np.intp]) -> list[dict[str, Any]]:
        """Return some as ``pixels`` (side, side), with the names of what each ``shows``."""
        side = math.isqrt(self.X.shape[1])
        return [
            {
                "pixels": self.X[row].reshape(side, side).tolist(),
                "shows": [str(k) for k in np.flatnonzero(self.Y[row])],
            }
            for row in rows
        ]


def run_demo(
    *,
    seed: int = 0,
    n_pictures: int = 2000,
    n_questions: int = 200,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Ask for the same pictures in four ways, learn from each, and measure what was learned.

    The ways of asking have one answer for each training picture: a digit that is not on it, named
    freely ("free"); yes or no to a random digit ("asked"); named freely where some digits come to
    mind more readily ("biased"); and the same with some of the names replaced by the yes/no
    answers about these pictures ("audited").

    Parameters
    ----------
    seed : int, default=0
        Seed of the pictures, the answers and the methods.
    n_pictures : int, default=2000
        Four in five are learned from, the others are tested on.
    n_questions : int, default=200
        Yes/no answers among those of "audited".
    tell : callable, optional
        Called with a few words on what goes on.

    Returns
    -------
    dict
        Plain data (JSON can hold it): ``seed``, ``n_train``, ``n_test``, ``n_questions``,
        ``label_names``, ``cardinality``, ``propensities`` of "biased", ``ways`` (by name:
        ``average_precision`` and ``found`` of the selection likelihood, ``others`` with the average
        precision of other methods, None where one cannot learn), ``references`` (by name, the
        same figures), ``examples`` (``training`` and ``test`` pictures) and ``versions``.
        ``found`` is the share of the digits on test pictures that are among the likeliest ones, as
        many as the picture shows.

    Raises
    ------
    InputError
        If there are too few pictures, or more questions than training pictures.
    """
    check_integer("seed", seed, at_least=0)
    check_integer("n_pictures", n_pictures, at_least=100)
    check_integer("n_questions", n_questions, at_least=1)
    rng = np.random.default_rng(seed)
    pictures = _draw_pictures(n_pictures, rng)
    if n_questions >= len(pictures.train):
        raise InputError(
            f"n_questions is {n_questions}, and there are {len(pictures.train)} training pictures;"
            " take fewer questions, or more pictures"
        )
    Y = pictures.Y[pictures.train]
    propensities = rng.permutation(_spread_evenly(_N_LABELS))
    answers = _ask(Y, propensities, n_questions, rng)
    ways, scores = {}, {}
    for number, way in enumerate(WAYS, start=1):
        tell(f"learning: way of asking {number} of {len(WAYS)}")
        scores[way] = pictures.fit(_flagship(seed), answers[way])
        ways[way] = {
            **pictures.measure(scores[way]),
            "others": _others(pictures, answers[way], seed),
        }
    tell("learning: for comparison")
    return {
        "seed": seed,
        "n_train": len(pictures.train),
        "n_test": len(pictures.test),
        "n_questions": n_questions,
        "label_names": [str(k) for k in range(_N_LABELS)],
        "cardinality": float(Y.sum(axis=1).mean()),
        "propensities": propensities.tolist(),
        "ways": ways,
        "references": _references(pictures, answers["free"], Y, seed),
        "examples": {
            "training": _answered(pictures, answers),
            "test": _guessed(pictures, scores),
        },
        "versions": _versions(),
    }


def _draw_pictures(n_pictures: int, rng: np.random.Generator) -> _Pictures:
    """Compose pictures with some of the ten digits; one in five is for the test."""
    data = make_digits(_DRAWN_FOR_ONE * n_pictures, random_state=rng)
    assert data.groups is not None
    fits = data.Y[:, _N_LABELS:].sum(axis=1) == 0
    is_test = np.isin(data.groups, _TEST_GROUPS)
    n_test = n_pictures // 5
    train = np.flatnonzero(fits & ~is_test)[: n_pictures - n_test]
    test = np.flatnonzero(fits & is_test)[:n_test]
    return _Pictures(np.asarray(data.X), data.Y[:, :_N_LABELS], train, test)


def _spread_evenly(n_labels: int) -> NDArray[np.float64]:
    """Return propensities (K,) at even steps of exp(sd * normal): a draw might be extreme."""
    middles = (np.arange(n_labels) + 0.5) / n_labels
    spread: NDArray[np.float64] = np.exp(_PROPENSITY_SD * ndtri(middles))
    return spread


def _ask(
    Y: NDArray[np.uint8],
    propensities: NDArray[np.float64],
    n_questions: int,
    rng: np.random.Generator,
) -> dict[str, Answers]:
    """Draw one answer for each picture in each way of asking."""
    free = draw_answers(Y, random_state=rng)
    asked = draw_answers(Y, question="asked", random_state=rng)
    biased = draw_answers(Y, propensities=propensities, random_state=rng)
    audited = np.zeros(len(Y), dtype=bool)
    audited[rng.choice(len(Y), n_questions, replace=False)] = True
    return {
        "free": free,
        "asked": asked,
        "biased": biased,
        "audited": Answers.concatenate(
            [biased.only(~audited[biased.item]), asked.only(audited[asked.item])]
        ),
    }


def _flagship(seed: int) -> SelectionLikelihoodClassifier:
    """Return the method of the demonstration as it comes, but linear: learned in seconds."""
    return SelectionLikelihoodClassifier(kernel="linear", random_state=seed)


def _others(pictures: _Pictures, answers: Answers, seed: int) -> dict[str, float | None]:
    """Return the average precision of ridge, as it is and with its scores matched."""
    ridge = ComplementaryRidgeClassifier(random_state=seed)
    found: dict[str, float | None] = {
        "ridge": pictures.measure(pictures.fit(ridge, answers))["average_precision"],
        "matched": None,  # nothing but random questions tells what to match to
    }
    if (answers.question == "asked").any():
        matched = FrequencyMatchedClassifier(ridge)
        found["matched"] = pictures.measure(pictures.fit(matched, answers))["average_precision"]
    return found


def _references(
    pictures: _Pictures, named: Answers, Y: NDArray[np.uint8], seed: int
) -> dict[str, dict[str, float]]:
    """Return the figures of a ranking that no picture changes, and of learning from the truth."""
    supervised = make_classifier("supervised", dataset="digits", random_state=seed)
    return {
        "prior": pictures.measure(pictures.fit(PriorClassifier(), named)),
        "supervised": pictures.measure(pictures.fit(supervised, Y)),
    }


def _first_guesses(
    scores: NDArray[np.float64], how_many: Sequence[int] | NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Mark the labels of the greatest scores (n, K) of each row, as many as given for it (n,)."""
    place = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1)
    return place < np.asarray(how_many)[:, np.newaxis]


def _answered(pictures: _Pictures, answers: Mapping[str, Answers]) -> list[dict[str, Any]]:
    """Return the first training pictures, one of them with a question of the audit."""
    mixed = answers["audited"]
    questioned = mixed.item[mixed.question == "asked"].min()
    others = [row for row in range(_SHOWN) if row != questioned][: _SHOWN - 1]
    shown = np.sort([*others, questioned])
    found = pictures.shown(pictures.train[shown])
    for picture, row in zip(found, shown, strict=True):
        picture["answers"] = {way: _said(said, row) for way, said in answers.items()}
    return found


def _said(answers: Answers, row: int) -> dict[str, str]:
    """Return the only answer about an item: the ``label`` and what was ``said``."""
    (at,) = np.flatnonzero(answers.item == row)
    for mask, said in ((answers.named, "named"), (answers.absent, "no"), (answers.relevant, "yes")):
        (labels,) = np.nonzero(np.asarray(mask[[at]].toarray())[0])
        if len(labels):
            return {"label": str(labels[0]), "said": said}
    raise AssertionError("each answer says something")


def _guessed(
    pictures: _Pictures, scores: Mapping[str, NDArray[np.float64]]
) -> list[dict[str, Any]]:
    """Return the first test pictures of two digits or more, with each way's likeliest digits."""
    how_many = pictures.Y[pictures.test].sum(axis=1)
    places = np.flatnonzero(how_many > 1)[:_SHOWN]
    found = pictures.shown(pictures.test[places])
    for at, picture in zip(places, found, strict=True):
        picture["guesses"] = {
            way: [str(k) for k in np.argsort(-of_way[at], kind="stable")[: how_many[at]]]
            for way, of_way in scores.items()
        }
    return found


def _versions() -> dict[str, str]:
    """Return the versions that the figures depend on."""
    found = {"Python": platform.python_version(), **result_versions()}
    return {name: found[name] for name in ("complabel", "Python", "numpy", "scikit-learn", "torch")}
