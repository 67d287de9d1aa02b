"""The demonstration: the same pictures, asked about in five ways; its sentences, and its page."""

from __future__ import annotations

import base64
import io
import math
import platform
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from complabel import methods
from complabel._parameters import check_integer
from complabel._training import one_thread
from complabel.answers import (
    Answers,
    AssumedUniformWarning,
    IgnoredAnswersWarning,
    UnansweredRowWarning,
)
from complabel.datasets import make_digits
from complabel.errors import InputError
from complabel.methods import ComplementaryClassifier
from complabel.metrics import average_precision
from complabel.reports._summarize import break_even
from complabel.reports._templates import get_template
from complabel.simulate import draw_answers
from complabel.studies import Seconds, result_versions

WAYS: Final = ("free", "asked", "ticked", "biased", "audited")
"""The ways of asking, in the order in which they are shown."""

_TEST_GROUPS = (8, 9)  # two of ten groups of images; no training picture has an image of these
# Six digits instead of ten need fewer answers, so the demonstration takes only seconds.
_N_LABELS = 6
# Only 30 % of all pictures show none of the other digits, so five are drawn for each one needed.
_DRAWN_FOR_ONE = 5
_PROPENSITY_SD = 1.0  # as in the docs' tables of biased answers
_SLOWER = (2.0, 4.0, 8.0, 16.0)  # what if a form takes so many times as long as a yes or no
_SHOWN = 8
_VERSIONS = ("complabel", "Python", "numpy", "scikit-learn", "torch")

_TITLES: Final = {  # of the ways of asking and the references; braces hold keys of the summary
    "free": "named freely",
    "asked": "asked yes or no",
    "ticked": "ticked, on {n_ticked:,} pictures",
    "biased": "named, with a bias",
    "audited": "named, with a bias, and {n_questions} asked",
    "prior": "for comparison: without looking at pictures",
    "supervised": "for comparison: with all true labels",
}

_ABOUT: Final = {
    "free": "“Name a digit that is not here.” All digits come to mind equally.",
    "asked": "“Is there a 3?” A random digit is asked about. The answer is yes or no.",
    "ticked": "“Tick all digits that are here.” In the time of 2 there are forms for {n_ticked:,}"
    " of the {n_train:,} pictures.",
    "biased": "As in 1, but some digits come to mind first: {most} comes {ratio:.0f} times as"
    " readily as {least}.",
    "audited": "As in 4, but for {n_questions} of the {n_train:,} pictures people say yes or no,"
    " as in 2.",
    "prior": "The same order of digits for every picture.",
    "supervised": "The same model, told which digits are on each picture. Its settings are chosen"
    " in the same way.",
}


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
            # The page itself explains what these warnings say: a method assumes that all labels
            # come to mind alike, ridge cannot use a "yes", and some pictures have no form.
            warnings.simplefilter("ignore", AssumedUniformWarning)
            warnings.simplefilter("ignore", IgnoredAnswersWarning)
            warnings.simplefilter("ignore", UnansweredRowWarning)
            classifier.fit(self.X[self.train], y)
            return classifier.predict_proba(self.X[self.test])

    def score(self, classifier: ComplementaryClassifier, y: Any) -> dict[str, float]:
        return self.measure(self.fit(classifier, y))

    def measure(self, scores: NDArray[np.float64]) -> dict[str, float]:
        Y = self.Y[self.test]
        place = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1)
        guessed = place < Y.sum(axis=1, keepdims=True)
        return {
            "average_precision": float(average_precision(Y, scores)),
            "found": float((guessed & (Y == 1)).sum() / Y.sum()),
        }

    def shown(self, rows: NDArray[np.intp]) -> list[dict[str, Any]]:
        """Return pictures as ``pixels`` (side, side), with the names of the digits on each."""
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
    """Ask about the same pictures in five ways, learn from the answers, and measure the models.

    Each training picture has one answer. "free": people name a digit that is not on it. "asked":
    they say yes or no to a random digit. "ticked": they tick all digits on it, but only of as many
    pictures as take no longer than "asked". "biased": some digits come to mind more readily.
    "audited": as "biased", but ``n_questions`` pictures have the yes/no answer. The result is plain
    data for JSON. ``found`` is the share of the shown digits that a model names, if it names as
    many as are shown. ``ticking`` says how long a form may take.
    """
    check_integer("seed", seed, at_least=0)
    check_integer("n_pictures", n_pictures, at_least=100)
    check_integer("n_questions", n_questions, at_least=1)
    rng = np.random.default_rng(seed)
    pictures = _draw_pictures(n_pictures, rng)
    if n_questions >= len(pictures.train):
        raise InputError(
            f"n_questions is {n_questions}, but there are only {len(pictures.train)} training"
            " pictures; take fewer questions, or more pictures"
        )
    Y = pictures.Y[pictures.train]
    propensities = rng.permutation(_spread_evenly(_N_LABELS))
    seconds = Seconds()  # as others measured them
    times = seconds.to_judge(_N_LABELS) / seconds.asked
    n_ticked = _forms_in_time(len(Y), times)
    answers = _ask(Y, propensities, n_questions, n_ticked, rng)
    # With default settings, but linear: it fits in seconds.
    flagship = methods.SelectionLikelihoodClassifier(kernel="linear", random_state=seed)
    ways, scores = {}, {}
    for number, way in enumerate(WAYS, start=1):
        tell(f"learning: way of asking {number} of {len(WAYS)}")
        scores[way] = pictures.fit(flagship, answers[way])
        others = _others(pictures, answers[way], seed)
        ways[way] = {**pictures.measure(scores[way]), "others": others}
    tell("learning: what if ticking takes longer")
    forms = [{"times": times, "pictures": n_ticked, **pictures.measure(scores["ticked"])}]
    for times in _SLOWER:
        n_slower = _forms_in_time(len(Y), times)
        fewer = answers["ticked"].only(np.arange(n_ticked) < n_slower)
        forms.append({"times": times, "pictures": n_slower, **pictures.score(flagship, fewer)})
    tell("learning: for comparison")
    versions = {"Python": platform.python_version(), **result_versions()}
    summary = {
        "seed": seed,
        "n_train": len(pictures.train),
        "n_test": len(pictures.test),
        "n_questions": n_questions,
        "n_ticked": n_ticked,
        "label_names": [str(k) for k in range(_N_LABELS)],
        "cardinality": float(Y.sum(axis=1).mean()),
        "propensities": propensities.tolist(),
        "ways": ways,
        "ticking": {"seconds": seconds.model_dump(), "forms": forms},
        "references": _references(pictures, answers["free"], Y, seed),
        "examples": {"training": _answered(pictures, answers), "test": _guessed(pictures, scores)},
        "versions": {name: versions[name] for name in _VERSIONS},
    }
    return {**summary, **_texts(summary), "meaning": _meaning(summary), "pays": _pays(summary)}


def _draw_pictures(n_pictures: int, rng: np.random.Generator) -> _Pictures:
    """Compose pictures with six of the ten digits; every fifth is for the test."""
    data = make_digits(_DRAWN_FOR_ONE * n_pictures, random_state=rng)
    assert data.groups is not None
    fits = data.Y[:, _N_LABELS:].sum(axis=1) == 0
    is_test = np.isin(data.groups, _TEST_GROUPS)
    n_test = n_pictures // 5
    train = np.flatnonzero(fits & ~is_test)[: n_pictures - n_test]
    test = np.flatnonzero(fits & is_test)[:n_test]
    return _Pictures(np.asarray(data.X), data.Y[:, :_N_LABELS], train, test)


def _spread_evenly(n_labels: int) -> NDArray[np.float64]:
    """Return propensities (K,) at quantiles of exp(sd * normal); random ones could be extreme."""
    middles = (np.arange(n_labels) + 0.5) / n_labels
    spread: NDArray[np.float64] = np.exp(_PROPENSITY_SD * ndtri(middles))
    return spread


def _forms_in_time(n_pictures: int, times: float) -> int:
    """Return how many forms are ticked in the time of a yes or no about each picture."""
    return max(1, int(n_pictures / times))


def _ask(
    Y: NDArray[np.uint8],
    propensities: NDArray[np.float64],
    n_questions: int,
    n_ticked: int,
    rng: np.random.Generator,
) -> dict[str, Answers]:
    free = draw_answers(Y, random_state=rng)
    asked = draw_answers(Y, question="asked", random_state=rng)
    biased = draw_answers(Y, propensities=propensities, random_state=rng)
    audited = np.zeros(len(Y), dtype=bool)
    audited[rng.choice(len(Y), n_questions, replace=False)] = True
    share = n_ticked / len(Y)
    ticked = draw_answers(Y, question="ticked", items_share=share, random_state=rng)
    return {
        "free": free,
        "asked": asked,
        "ticked": ticked,
        "biased": biased,
        "audited": Answers.concatenate(
            [biased.only(~audited[biased.item]), asked.only(audited[asked.item])]
        ),
    }


def _others(pictures: _Pictures, answers: Answers, seed: int) -> dict[str, float | None]:
    """Return the average precision of ridge, without and with matched scores."""
    ridge = methods.ComplementaryRidgeClassifier(random_state=seed)
    found: dict[str, float | None] = {
        "ridge": pictures.score(ridge, answers)["average_precision"],
        "matched": None,  # matching needs to know how often labels apply
    }
    if answers.judges.any():
        matched = methods.FrequencyMatchedClassifier(ridge)
        found["matched"] = pictures.score(matched, answers)["average_precision"]
    return found


def _references(
    pictures: _Pictures, named: Answers, Y: NDArray[np.uint8], seed: int
) -> dict[str, dict[str, float]]:
    supervised = methods.SupervisedClassifier(kernel="linear", random_state=seed)
    return {
        "prior": pictures.score(methods.PriorClassifier(), named),
        "supervised": pictures.score(supervised, Y),
    }


def _answered(pictures: _Pictures, answers: Mapping[str, Answers]) -> list[dict[str, Any]]:
    """Return the first training pictures; one has a yes/no answer in "audited", one no form."""
    mixed = answers["audited"]
    questioned = mixed.item[mixed.question == "asked"].min()
    every = np.arange(len(pictures.train))
    without_form = np.setdiff1d(every, answers["ticked"].item)[0]
    needed = [questioned, without_form]
    first = np.setdiff1d(every, needed)[: _SHOWN - len(set(needed))]
    shown = np.sort([*first, *set(needed)])
    found = pictures.shown(pictures.train[shown])
    for picture, row in zip(found, shown, strict=True):
        picture["answers"] = {way: _said(said, row) for way, said in answers.items()}
    return found


def _said(answers: Answers, row: int) -> dict[str, Any]:
    """Return what was said about a picture, and the labels of which it was said."""
    (at,) = np.nonzero(answers.item == row)
    if not len(at):
        return {"labels": [], "said": "nothing"}
    # All labels of a form are judged: those that are not ticked are absent.
    ticked = {"ticked": answers.relevant} if answers.question[at[0]] == "ticked" else {}
    said = {"named": answers.named, "no": answers.absent, "yes": answers.relevant}
    for words, mask in (ticked or said).items():
        (_, labels) = np.nonzero(mask[at].toarray())
        if len(labels):
            return {"labels": [str(k) for k in labels], "said": words}
    raise AssertionError("each answer says something")


def _guessed(
    pictures: _Pictures, scores: Mapping[str, NDArray[np.float64]]
) -> list[dict[str, Any]]:
    """Return the first test pictures with two or more digits, with each model's guesses."""
    how_many = pictures.Y[pictures.test].sum(axis=1)
    places = np.flatnonzero(how_many > 1)[:_SHOWN]
    found = pictures.shown(pictures.test[places])
    for at, picture in zip(places, found, strict=True):
        picture["guesses"] = {
            way: [str(k) for k in np.argsort(-of_way[at], kind="stable")[: how_many[at]]]
            for way, of_way in scores.items()
        }
    return found


def _texts(summary: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    readily = dict(zip(summary["label_names"], summary["propensities"], strict=True))
    most, least = max(readily, key=readily.__getitem__), min(readily, key=readily.__getitem__)
    facts = {**summary, "most": most, "least": least, "ratio": readily[most] / readily[least]}
    titles = {name: text.format(**facts) for name, text in _TITLES.items()}
    titles |= {way: f"{number} {titles[way]}" for number, way in enumerate(WAYS, start=1)}
    return {
        "titles": titles,
        "about": {name: text.format(**facts) for name, text in _ABOUT.items()},
    }


def _meaning(summary: Mapping[str, Any]) -> str:
    """Return advice if the figures support it, else only the figures."""
    found = {name: way["average_precision"] for name, way in summary["ways"].items()}
    free, asked, ticked, biased, audited = (f"{found[way]:.3f}" for way in WAYS)
    questions = summary["n_questions"]
    best = max(found, key=lambda way: found[way])
    advice = {
        "asked": f"Ask yes or no about random labels if you can: average precision {asked}. Ticking"
        f" all labels of fewer pictures, in the same time, teaches less: {ticked}.",
        "ticked": "Let people tick all labels of fewer pictures, in the time of a yes or no about"
        f" each: average precision {ticked} instead of {asked}. {_pays(summary)}",
    }
    if best in advice and found["biased"] < min(found["free"], found["audited"]):
        return (
            f"{advice[best]} Naming what comes to mind first teaches less: {biased} instead of"
            f" {free}. With {questions} yes/no questions among the answers it is {audited}."
        )
    return (
        f"Here the best way was “{_TITLES[best].format(**summary)}”: average precision"
        f" {found[best]:.3f}. In the same time, yes or no reached {asked} and ticking {ticked}. A"
        f" bias changed naming from {free} to {biased}. With {questions} yes/no questions among the"
        f" answers it was {audited}."
    )


def _pays(summary: Mapping[str, Any]) -> str:
    """Return a sentence that says how long ticking may take."""
    asked = summary["ways"]["asked"]["average_precision"]
    forms = summary["ticking"]["forms"]
    times = f"{forms[0]['times']:.1f} times as long as one yes or no"
    if forms[0]["average_precision"] < asked:
        return f"Here ticking does not pay, although it takes only {times}."
    slowest_first = [
        (form["pictures"] / summary["n_train"], form["average_precision"])
        for form in reversed(forms)
    ]
    longest, bound = break_even(asked, slowest_first)
    until = "even if it takes" if bound else "if it takes less than"
    return f"Here ticking pays {until} {longest:.2g} times as long as one yes or no."


def render_demo(summary: Mapping[str, Any]) -> str:
    """Render the result of :func:`run_demo` as one HTML page without external files."""
    readily = dict(zip(summary["label_names"], summary["propensities"], strict=True))
    most = max(readily.values())
    return get_template("demo.html.j2").render(
        summary, readily=[(name, w, w / most) for name, w in readily.items()], image=_grey_image
    )


def _grey_image(pixels: ArrayLike) -> str:
    """Return pixels (height, width), from 0 (white) to 1 (black), as the data URI of a PNG."""
    from matplotlib.image import imsave

    buffer = io.BytesIO()
    imsave(buffer, np.asarray(pixels), cmap="gray_r", vmin=0, vmax=1, format="png")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
