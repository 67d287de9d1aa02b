"""A model that learns while people answer, and says what another ten minutes would bring."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from sklearn.base import clone

from complabel._parameters import Array, Ints
from complabel._training import one_thread
from complabel.answers import Answers, resolve_contradictions
from complabel.errors import ComplabelError
from complabel.live._asker import News
from complabel.methods import SelectionLikelihoodClassifier
from complabel.trust import FeaturesTell, Standing, area, features_tell

_FEWEST = 20  # items with answers; before, there is nothing to learn
_FOLDS = 5  # with 3, the score of 110 answers was .1 lower than that of the model; with 5, .05
# Each point of the curve has at least so many times the minutes of the one before.
_STEP = 1.25
# The slope goes from about this share of the minutes to all of them.
_BACK, _LEAST_BACK = 0.5, 0.75
# The score is that of answers about at most this many items, the latest ones.
_MOST_SCORED = 4000
# A person who took this many times the median had left the desk.
_LEFT = 10
_AHEAD = 10.0  # minutes
# From simulated sittings (docs/evidence/learning.md): the share of what a score lacks to 1 that a
# doubling of minutes takes away, and the spread of this share between sittings.
_SHARE = 0.12, 0.06
# The error of the later score is this share of the error of the slope. Of slopes with a greater
# error, intervals did not hold.
_LATER, _MOST_ERROR = 0.7, 0.05
_TO_TENTHS = 1.2816  # of a normal distribution, in standard errors
# What is chosen with all answers, and its value where the choice leaves it out.
_CHOSEN = {"kernel": None, "scaling": "auto", "gamma": "auto", "rank": None, "cardinality": None}
_NICE = 5  # of 19: other processes come first


class LearningError(ComplabelError):
    """There is no model, and the message says why."""


@dataclass(frozen=True)
class _Point:
    """The models of a moment, one for each fold of items that it has not seen."""

    minutes: float
    models: list[Callable[[Any], Array]]


class Learner:
    """Learns from the answers so far, in a process of its own, so that pages stay quick.

    X (n, d) are the features of the things with these numbers; :class:`Refits` takes the
    ``options``, and the model's file keeps ``notes``. The latest refit found the ``standings``.
    Any thread may call it. It takes one core, and leaves it to whoever else wants it.
    """

    def __init__(self, X: Any, things: ArrayLike, *, notes: Any = None, **options: Any) -> None:
        self._notes = notes
        self.standings: list[Standing] = []
        self._things = np.asarray(things, dtype=np.intp)
        context = multiprocessing.get_context("spawn")
        self._pipe, there = context.Pipe()
        self._busy = threading.RLock()
        self._state: dict[str, Any] | None = None
        self._learning: tuple[int, float] | None = None  # from how many answers, and since when
        self._process = context.Process(target=_serve, args=(there,), daemon=True)
        with _without_interrupts():  # Ctrl-C is for the server, which then ends this process
            self._process.start()
        there.close()  # so that the pipe ends when the process does
        self._pipe.send((X, options))

    def update(self, news_since: Callable[[tuple[int, int, int]], News]) -> None:
        """Learn from all answers about the things so far; return when the model is refitted.

        The process keeps what it was told, and only the news since then are sent. Of people who
        contradict each other, those who are trusted are believed; else the majority, and of two
        people neither is.
        """
        with self._busy:  # nobody else tells it the same
            mark, n_known = self._ask("known")
            news = news_since(mark)
            n_answers = n_known + len(news.all_ids) - len(news.gone)
            self._learning = (n_answers, time.monotonic())
            try:
                state = self._ask("hear", news.about(self._things))
                self.standings = (state or {}).pop("standings", self.standings)
                self._state = state
            finally:
                self._learning = None

    def state(self) -> dict[str, Any] | None:
        """Return what is known, as JSON, with ``now``: what it does; None before the first update.

        While the first model is computed, the advice is what it does.
        """
        state, now = self._state, self.now()
        if state is None and now is None:
            return None
        report = {"score": None, "curve": [], "ten_minutes": None, **(state or {}), "now": now}
        if now and not report["curve"]:
            report["advice"] = f"{now[0].upper()}{now[1:]}. The first score comes then."
        return report

    def now(self) -> str | None:
        """Say what it computes at this moment; None if it computes nothing."""
        if self._learning is None:
            return None
        n_answers, since = self._learning
        seconds = time.monotonic() - since
        return f"the model is learning from {n_answers:,} answers, for {seconds:.0f} s so far"

    def follow(self, find: Callable[[Answers, Array, int], list[Standing]]) -> None:
        """Find the ``standings`` after each refit, as :meth:`Refits.follow` does."""
        self._ask("follow", find)

    def save(self, path: str | Path, **notes: Any) -> None:
        """Write the model, with these notes and those of before."""
        self._ask("save", str(Path(path).absolute()), {**(self._notes or {}), **notes})

    def _ask(self, *request: Any) -> Any:
        with self._busy:
            try:
                self._pipe.send(request)
                reply = self._pipe.recv()
            except (EOFError, OSError) as error:
                raise LearningError(
                    "the process that learns has ended, maybe for want of memory; all answers are"
                    " kept, and the same command starts it again"
                ) from error
        if isinstance(reply, Exception):
            raise reply
        return reply


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Let a process that is started here ignore SIGINT from its first moment on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)


def _serve(pipe: Any) -> None:
    """Do what the other end of a pipe asks for, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(_NICE)
    with contextlib.suppress(EOFError, OSError):
        X, options = pipe.recv()
        refits = Refits(X, **options)
        while True:
            name, *arguments = pipe.recv()
            try:
                reply = getattr(refits, name)(*arguments)
            except Exception as error:
                reply = error
            pipe.send(reply)


class Refits:
    """Refits a model to the answers so far, and scores it.

    The score is the chance that of two labels of any items, one that people say applies and one
    that they say does not, the model puts the right one first. It is of models that have not seen
    the answers about the item: items are in five folds, and each model is fitted to four of them.
    All earlier models are scored on the same answers as the present one, also on those that came
    later, so that the differences between them are no chance of who was asked what.

    ``seed`` is that of the folds and of the model; ``trusted`` people are right about what others
    say otherwise.
    """

    def __init__(self, X: Any, *, seed: int = 0, trusted: Sequence[str] = ()) -> None:
        self._X, self._trusted = X, trusted
        self._find: Callable[[Answers, Array, int], list[Standing]] | None = None
        self.model = SelectionLikelihoodClassifier(warm_start=True, random_state=seed)
        self._of_folds = [clone(self.model) for _ in range(_FOLDS)]
        order = np.random.default_rng(seed).permutation(X.shape[0])
        self._fold = order % _FOLDS  # (n,)
        self._points: list[_Point] = []
        self._news: News | None = None  # all that was said
        self._latest = np.zeros(X.shape[0])  # the id of the latest answer about each item
        self._state: dict[str, Any] = {"score": None, "curve": [], "ten_minutes": None}
        self._state["advice"] = f"The model starts when {_FEWEST} items have an answer."

    def follow(self, find: Callable[[Answers, Array, int], list[Standing]]) -> None:
        """Let ``find`` have answers, and what models say about their items that have not seen them.

        What it finds after each refit are the ``standings``.
        """
        self._find = find

    def known(self) -> tuple[tuple[int, int, int], int]:
        """Return until when all is known, and how many answers count."""
        return ((0, 0, 0), 0) if self._news is None else (self._news.mark, len(self._news.all_ids))

    def hear(self, news: News) -> dict[str, Any] | None:
        """Learn from what was known and some news about the rows of X, as ``update`` does."""
        self._news = news if self._news is None else self._news.then(news)
        self._latest[news.answers.item] = news.ids  # of several, the last one stays
        return self.update(self._news.answers, self._news.seconds)

    def update(self, answers: Answers, seconds: ArrayLike) -> dict[str, Any] | None:
        """Learn from answers about the rows of X, and return what is known, as JSON."""
        seconds = np.array(seconds, dtype=np.float64)
        if not seconds.size:
            return None
        began = time.perf_counter()
        with warnings.catch_warnings():
            # What people have not said yet, they may say in the next minute.
            warnings.simplefilter("ignore")
            trusted = [name for name in self._trusted if name in answers.annotator_names]
            answers = resolve_contradictions(answers, "majority", trusted=trusted)
            try:
                figures = self._learn(answers, _minutes_of(seconds))
            except ComplabelError as error:
                figures = {"advice": f"The model cannot learn yet: {error}."}
        figures["refit_seconds"] = time.perf_counter() - began
        self._state = {**self._state, "answers": answers.n_answers, **figures}
        return self._state

    def save(self, path: str, notes: Any) -> None:
        if not hasattr(self.model, "model_"):
            raise LearningError(f"there is no model to save yet. {self._state['advice']}")
        self.model.save(path, provenance=notes)

    def _learn(self, answers: Answers, minutes: float) -> dict[str, Any]:
        left = _FEWEST - int(answers.answered.sum())
        if left > 0:
            return {"advice": f"The model starts when {left} more items have an answer."}
        with one_thread():
            self._refit(answers, minutes)
            return self._figures(answers)

    def _refit(self, answers: Answers, minutes: float) -> None:
        X, fold, rows = self._X, self._fold, np.flatnonzero(answers.answered)
        if len(rows) < len(fold):
            X, fold, answers = X[rows], fold[rows], answers[rows]
        self.model.fit(X, answers)
        # All is as in the model of all answers, but how much weights are drawn to 0.
        chosen = {name: getattr(self.model, f"{name}_", usual) for name, usual in _CHOSEN.items()}
        for number, model in enumerate(self._of_folds):
            model.set_params(**chosen)
            if not model._refit_to_rows(X, answers, fold != number):
                model.fit(X[fold != number], answers[fold != number])
        now = _Point(minutes, [model.model_ for model in self._of_folds])
        if len(self._points) > 1 and self._points[-1].minutes < _STEP * self._points[-2].minutes:
            self._points.pop()
        self._points.append(now)

    def _logits(self, point: _Point, scored: Ints, n_labels: int) -> Array:
        """Return logits (m, K) by models that have seen no answer about these items."""
        logits, fold = np.empty((len(scored), n_labels)), self._fold[scored]
        for number in np.unique(fold):
            logits[fold == number] = point.models[number](self._X[scored[fold == number]])
        return logits

    def _areas(self, answers: Answers, scored: Ints) -> list[tuple[float, Array]]:
        statements = answers[scored].statements()
        areas = []
        for point in self._points:
            logits = self._logits(point, scored, answers.n_labels)
            areas.append(
                area(logits[statements.item, statements.label], statements.applies, statements.item)
            )
        return areas

    def _figures(self, answers: Answers) -> dict[str, Any]:
        items = np.flatnonzero(answers.answered)
        scored = np.sort(items[np.argsort(-self._latest[items])[:_MOST_SCORED]])
        areas = self._areas(answers, scored)
        curve = [
            [point.minutes, value, float(np.linalg.norm(by_item))]
            for point, (value, by_item) in zip(self._points, areas, strict=True)
        ]
        _, score, error = curve[-1]
        more = ten_more(np.array([point.minutes for point in self._points]), areas)
        probabilities = special.expit(self._logits(self._points[-1], scored, answers.n_labels))
        tell = features_tell(answers[scored], probabilities, folds=self._fold[scored])
        advice = _advice(score, error, tell, more)
        figures = {"score": score, "error": error, "curve": curve, "features": tell.as_dict()}
        if self._find is not None:
            n_items = min(self._X.shape[0], _MOST_SCORED)  # once all of them have an answer
            figures["standings"] = self._find(answers[scored], probabilities, n_items)
        return {**figures, "ten_minutes": more, "advice": advice}


def ten_more(minutes: Array, areas: list[tuple[float, Array]]) -> dict[str, float] | None:
    """Return what the score gains in ten more minutes, with an interval of 80 %, if it is known.

    A score lacks something to 1, and each doubling of minutes takes a share of it away. How large
    the share was in other sittings is a normal prior; what this sitting gained since half of its
    minutes, on the same answers, is observed. The interval holds the error of the later score, too.
    """
    positive = np.maximum(minutes, 1e-9)
    at = int(np.abs(np.log(positive / (_BACK * positive[-1]))).argmin())
    if not 0 < minutes[at] < _LEAST_BACK * minutes[-1]:
        return None
    (before, by_item), (now, by_item_now) = areas[at], areas[-1]
    doublings = math.log2(minutes[-1] / minutes[at])
    slope = (now - before) / doublings
    error = float(np.linalg.norm(by_item_now - by_item)) / doublings
    if not 0 < error <= _MOST_ERROR:  # without an error, both models are the same
        return None
    expected, spread = ((1 - max(now, 0.5)) * share for share in _SHARE)
    trust = spread**2 / (spread**2 + error**2)
    ahead = math.log2(1 + _AHEAD / minutes[-1])
    gain = ahead * (expected + trust * (slope - expected))
    reach = _TO_TENTHS * error * math.hypot(ahead * math.sqrt(trust), _LATER)
    return {"gain": gain, "low": gain - reach, "high": gain + reach}


def worth_it(ten_minutes: dict[str, float] | None) -> bool:
    """Whether ten more minutes may bring one more case of 100; True while that is not known."""
    return ten_minutes is None or ten_minutes["high"] >= 0.01


def _minutes_of(seconds: Array) -> float:
    """Return the minutes of people's work: all their seconds, also for what they skipped."""
    times = seconds[~np.isnan(seconds)]
    if not times.size:
        return 0.0
    return float(np.minimum(times, _LEFT * np.median(times)).sum() / 60)


def _advice(score: float, error: float, tell: FeaturesTell, more: dict[str, float] | None) -> str:
    sentence = (
        "Of two labels, one that applies and one that does not, the model puts the right one first"
        f" in {100 * score:.0f} of 100 cases (± {100 * error:.0f}). How often each label applies,"
        f" without features, tells it in {100 * tell.guess:.0f}."
    )
    if more is None:
        return sentence
    if not worth_it(more):
        return f"{sentence} Ten more minutes would hardly bring one case more: you may stop."
    return (
        f"{sentence} In 8 of 10 sittings like this one, ten more minutes bring between"
        f" {100 * more['low']:.1f} and {100 * more['high']:.1f} cases more."
    )
