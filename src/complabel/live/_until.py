"""The end of a sitting: how far its goals are, which labels to ask about, and how long it takes."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from complabel._drawn import AIMED
from complabel._parameters import AnyArray, Array, Bools
from complabel._questions import QuestionKind
from complabel._settings import setting
from complabel.answers import Answers
from complabel.errors import InputError
from complabel.live._asker import News
from complabel.live._drawing import ListedQuestions, Question
from complabel.trust import (
    FIGURES,
    FREQUENCIES,
    MODEL,
    Goal,
    Part,
    Standing,
    chances_after,
    foreseen,
    how_far,
    order_of_evaluation,
    quantiles_of,
    questions_left,
)

if TYPE_CHECKING:
    from complabel.live._learner import Learner

# Labels that are known well enough have this share of the questions together, so that the answers
# stay a sample to learn from.
_OF_KNOWN = 0.1
_FIRST_LOOK = 20  # answers
_OFTEN, _LEAST_STEP = 50, 5  # looks at frequencies: after a 50th more answers, and at least 5
_MANY = 1_000_000  # pairs of an item and a label; a look takes seconds, so there are only due ones
_MOST_AIMED = 200_000  # questions of a sitting that are drawn by a model's predictions
_NORMAL_80 = 1.2816
# Times as said are too short or too long by this share beside what is allowed for (scene and yeast
# in benchmarks/until.py).
_BESIDE = 0.06
_LEFT = 10  # a person who took this many times the median had left the desk


@dataclass
class Until:
    """Follows the answers of a sitting until its goals are reached.

    ``probabilities`` (n, K) are the predictions that the goals are about, NaN where there are none;
    without them, the goals of a model are those of the ``learner``. Rates of mistakes are those of
    the people.
    """

    goals: Sequence[Goal]
    n_labels: int
    size: int | None = None  # labels on offer in a question; None: as far as it is seen
    probabilities: Any = None
    missed: float = 0.0
    invented: float = 0.0
    learner: Learner | None = None
    standings: list[Standing] = field(default_factory=list)
    obstacles: dict[Goal, str] = field(default_factory=dict)  # foreseen before the first question
    is_reached: bool = False
    next_look: int = _FIRST_LOOK
    has_equal_pairs: bool = False  # whether all pairs of a label had the same chance
    _looking: threading.Lock = field(default_factory=threading.Lock)
    _due: dict[Goal, int] = field(default_factory=dict)  # at how many answers to look again
    _news: News | None = None
    _items: AnyArray | None = None  # those that goals are about; None: all
    _weights: Array = field(init=False)
    _per_answer: float = 1.0  # judgements

    def __post_init__(self) -> None:
        self._weights = np.ones(self.n_labels)

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        n_labels: int,
        question: str | None,
        *,
        learns: bool,
        has_predictions: bool,
        missed: float = 0.0,
        invented: float = 0.0,
    ) -> Self:
        """Read goals as they are typed, and refuse those that nothing tells.

        ``question`` is what people are asked, None if a file lists it. A goal about a model is told
        by predictions, which :meth:`predict` takes, or by the one that ``learns`` meanwhile.
        """
        if missed + invented >= 1:
            raise InputError(
                f"{setting('missed')} and {setting('invented')} add up to 1 or more, so that yes"
                " would mean no"
            )
        goals = [Goal.parse(text) for text in texts]
        until = cls(goals, n_labels, missed=missed, invented=invented)
        if question not in (None, "mixed"):
            kind = QuestionKind.parse(question, n_labels, others=["mixed"])
            until.size = kind.n_offered(n_labels)
            for goal in goals:
                goal.refuse_question(kind)
        answerable = (FREQUENCIES, *FIGURES) if has_predictions else (FREQUENCIES,)
        of_model = [goal for goal in goals if goal.figure not in answerable]
        if of_model and not learns:
            raise InputError(
                f"{setting('until', of_model[0])} is about a model: give {setting('features')},"
                f" from which one learns meanwhile, or {setting('against')} with the predictions"
                " of one (but not for the goal model)"
            )
        return until

    def predict(self, probabilities: Array, path: Path) -> None:
        """Let goals be about the predictions (n, K) of a file, which are about all pairs."""
        if gaps := int(np.isnan(probabilities).sum()):
            raise InputError(
                f"{path} says nothing about {gaps:,} pairs of an item and a label; a goal is about"
                " all of them, so give predictions for all items"
            )
        self.probabilities = probabilities

    @property
    def aim(self) -> str | None:
        """What yes/no questions are aimed at: "frequencies" (labels), a figure, or nothing."""
        if any(goal.by_label for goal in self.goals):
            return FREQUENCIES
        figures = [goal.figure for goal in self.goals if goal.figure != MODEL]
        return figures[0] if figures and self.probabilities is not None else None

    @property
    def needs_chances(self) -> bool:
        """Whether a goal needs answers to random questions."""
        return any(goal.figure != MODEL for goal in self.goals)

    def mark(self, labels: Sequence[str]) -> str:
        """Return a digest of the predictions, whatever the order of the labels."""
        order = sorted(range(len(labels)), key=lambda label: labels[label])
        digest = hashlib.sha256(json.dumps([labels[label] for label in order]).encode())
        for label in order:
            digest.update(np.ascontiguousarray(self.probabilities[:, label]).tobytes())
        return digest.hexdigest()

    def agree(self, names: Sequence[str], labels: Sequence[str]) -> None:
        """Put the labels of predictions, as they were given, into the order of the answers."""
        if self.probabilities is not None:
            self.probabilities = self.probabilities[:, [[*names].index(name) for name in labels]]

    def omit(self, items: Sequence[int], n_items: int) -> None:
        """Leave items out that nobody can be asked about: goals are about the others."""
        if len(items):
            self._items = np.delete(np.arange(n_items), items)

    def foresee(self, n_items: int, labels: Sequence[str]) -> None:
        """Find which goals so few items cannot reach, before the first question."""
        rates: Any = {"missed": self.missed, "invented": self.invented}
        p = self.probabilities
        if self._items is not None:
            n_items, p = len(self._items), None if p is None else p[self._items]
        for goal in (each for each in self.goals if each.figure != MODEL):
            shape, unknown = (n_items, len(labels)), (math.nan,) * 3
            standing = foreseen(goal, shape, labels, p, **rates)
            if standing and (obstacle := standing.obstacle()):
                if p is not None:
                    obstacle += ", if the predictions are about right"
                self.obstacles[goal] = obstacle
                names = labels if goal.by_label else [None]
                parts = [Part(name, math.nan, 0.0, 1.0, False, unknown) for name in names]
                self.standings.append(Standing(goal, parts, 0, unknown))

    def weights(self) -> Array:
        """Return in which proportion to ask about labels, (K,)."""
        return self._weights

    def look(
        self,
        news_since: Callable[[tuple[int, int, int]], News],
        n_answered: int,
        *,
        last: bool = False,
    ) -> None:
        """Find how far the goals are.

        A goal over all labels counts as reached only when its look is due, also at the end
        (``last``). The first look after a new start is due.
        """
        with self._looking:
            self._look(news_since, n_answered, last)

    def _look(
        self, news_since: Callable[[tuple[int, int, int]], News], n_answered: int, last: bool
    ) -> None:
        news = news_since((0, 0, 0) if self._news is None else self._news.mark)
        self._news = news if self._news is None else self._news.then(news)
        answers = (self._news if self._items is None else self._news.about(self._items)).answers
        if self.has_equal_pairs:
            answers = with_shares(answers)
        self._per_answer = float(answers.n_offered.mean()) if answers.n_answers else 1.0
        known = {standing.goal: standing for standing in self.standings}
        for goal in self.goals:
            is_due = goal.by_label or goal.figure == MODEL or n_answered >= self._due.get(goal, 0)
            if not (is_due or last) and np.size(self.probabilities) > _MANY:
                continue
            standing = self._of(goal, answers)
            if standing is None:
                continue
            if is_due:
                self._due[goal] = standing.next_look(n_answered)
            if is_due or not standing.is_reached:  # in between, it is shown how far it is
                known[goal] = standing
        standings = [known[goal] for goal in self.goals if goal in known]
        often = _OFTEN if self.aim == FREQUENCIES else 20
        self.next_look = n_answered + max(_LEAST_STEP, n_answered // often)
        self.standings = standings
        self.is_reached = len(standings) == len(self.goals) and all(
            standing.is_reached for standing in standings
        )
        by_label = [
            [part.is_reached for part in standing.parts]
            for standing in standings
            if standing.goal.by_label
        ]
        if by_label:
            self._weights = _weights_of(np.all(by_label, axis=0))

    def _of(self, goal: Goal, answers: Answers) -> Standing | None:
        rates: Any = {"missed": self.missed, "invented": self.invented}
        if not self._is_of_learner(goal):
            p = self.probabilities
            p = p if p is None or self._items is None else p[self._items]
            return how_far(answers, [goal], probabilities=p, **rates)[0]
        if goal.figure == MODEL and self.learner is not None:
            return _of_the_end(goal, self.learner.state() or {})
        standings = () if self.learner is None else self.learner.standings
        return next((each for each in standings if each.goal == goal), None)

    def _is_of_learner(self, goal: Goal) -> bool:
        others = (FREQUENCIES,) if self.probabilities is None else (FREQUENCIES, *FIGURES)
        return goal.figure not in others

    def learn_from(self, learner: Learner) -> None:
        """Let a learner find how far the goals are that are about its model."""
        self.learner = learner
        figures = [g for g in self.goals if self._is_of_learner(g) and g.figure != MODEL]
        if figures:
            rates = {"missed": self.missed, "invented": self.invented}
            find = functools.partial(how_far_of_model, figures, rates, self.has_equal_pairs)
            learner.follow(find)

    def state(self, seconds: Sequence[float]) -> dict[str, Any]:
        """Return what is known, as JSON; ``seconds`` are what answers took."""
        return {
            "reached": self.is_reached,
            "goals": [self._as_json(standing, np.array(seconds)) for standing in self.standings],
        }

    def _as_json(self, standing: Standing, seconds: Array) -> dict[str, Any]:
        size = self._per_answer if self.size is None else self.size
        left = questions_left(standing, size)
        if self.has_equal_pairs and self.size == 1 and standing.drawn_left is not None:
            drawn = aimed_left(standing.drawn_left, standing.n_judgements)
            low, middle, high = np.ceil(quantiles_of(drawn)).tolist()
            left = low, middle, high
        part, obstacle = standing.farthest, standing.obstacle()
        if obstacle is None and math.isnan(left[1]):
            obstacle = self.obstacles.get(standing.goal)
        return {
            "goal": str(standing.goal),
            "reached": standing.is_reached,
            "sentence": standing.sentence(),
            "known": sum(each.is_reached for each in standing.parts),
            "of": len(standing.parts),
            "label": part.label,
            "value": _finite(part.value),
            "low": _finite(part.low),
            "high": _finite(part.high),
            "within": _finite(standing.goal.within),
            "obstacle": obstacle,
            "answers_left": [_finite(each) for each in left],
            "minutes_left": [_finite(each) for each in minutes_left(left, seconds)],
        }


def _of_the_end(goal: Goal, learned: Mapping[str, Any]) -> Standing:
    """Return how far a model is from where more answers are not worth their time."""
    from complabel.live._learner import worth_it  # imports torch

    more, unknown = learned.get("ten_minutes"), (math.nan,) * 3
    gain, low, high = unknown if more is None else (more["gain"], more["low"], more["high"])
    part = Part(None, gain, low, high, not worth_it(more), unknown)
    return Standing(goal, [part], learned.get("answers", 0), unknown)


def how_far_of_model(
    goals: Sequence[Goal],
    rates: Any,
    has_equal_pairs: bool,
    answers: Answers,
    p: Array,
    n_items: int,
) -> list[Standing]:
    """Tell how far goals are that are about what models say which have not seen the answers.

    Others of the ``n_items`` come with further answers.
    """
    answers = with_shares(answers) if has_equal_pairs else answers
    return how_far(answers, goals, probabilities=p, n_items=n_items, **rates)


def _weights_of(reached: Bools) -> Array:
    """Return how probable questions about labels (K,) are, of which some have reached the goal."""
    n_known = int(reached.sum())
    n_open = len(reached) - n_known
    of_known = _OF_KNOWN / (1 - _OF_KNOWN) * n_open / max(n_known, 1)
    return np.where(reached, min(of_known, 1.0) if n_open else 1.0, 1.0)


def aimed_left(left: Array, n: int) -> Array:
    """Return how many questions are left (D,), where so many more are needed of each label (D, K).

    The labels that are known are asked about less, and it is known of a label at the next look.
    """
    left, n_labels = np.sort(left, axis=1), left.shape[1]
    total, before = np.zeros(len(left)), np.zeros(len(left))
    for n_known, here in enumerate(np.minimum(left, _MANY).T):
        weights = _weights_of(np.arange(n_labels) < n_known)
        weight = float(weights[-1] / weights.sum())  # of one that is open
        step = np.maximum((n + total) / _OFTEN, _LEAST_STEP)
        late = step / 2 / (n_labels - n_known)
        total += np.where(here > 0, (here - before) / weight + late, 0.0)
        before = here
    return np.where(np.isfinite(left[:, -1]), total, np.inf)


def minutes_left(left: Sequence[float], seconds: Array) -> tuple[float, float, float]:
    """Return the minutes that answers will take, at chances of .1, .5 and .9.

    Both are uncertain: how many answers are left, and what an answer takes.
    """
    if len(seconds) < 2 or not all(map(math.isfinite, left)):
        return (math.nan,) * 3
    seconds = np.minimum(seconds, _LEFT * np.median(seconds))
    mean = float(seconds.mean())
    low, middle, high = left
    if not middle or not mean:
        return (0.0, middle * mean / 60, high * mean / 60)
    of_time = seconds.std() / mean * math.sqrt(1 / len(seconds) + 1 / middle)

    def end(at: float, sign: int) -> float:
        of_answers = abs(math.log(max(at, 0.5) / middle)) / _NORMAL_80
        spread = math.hypot(of_answers, of_time, _BESIDE)
        return middle * mean / 60 * math.exp(sign * _NORMAL_80 * spread)

    return end(low, -1), middle * mean / 60, end(high, 1)


def with_shares(answers: Answers) -> Answers:
    """Return answers whose probability of a yes/no question is its label's share of them.

    The labels were chosen by what was known of them, and items at random. So all pairs of a label
    had the same chance, whenever they were drawn.
    """
    asked = (answers.question == "asked") & ~np.isnan(answers.probability)
    label = (answers.relevant + answers.absent)[np.flatnonzero(asked)].indices
    probability = answers.probability.copy()
    probability[asked] = shares_of(label)
    return replace(answers, probability=probability)


def shares_of(label: AnyArray) -> Array:
    """Return the share of each entry's label among the entries."""
    _, place, count = np.unique(label, return_inverse=True, return_counts=True)
    return np.asarray(count[place] / max(len(label), 1))


def aimed_questions(
    probabilities: Any, figure: str, overlap: float, seed: int, without: Sequence[int]
) -> ListedQuestions:
    """Return questions in an order in which they tell most about a figure of predictions."""
    rng = np.random.default_rng([seed, 3])
    n_items, n_labels = probabilities.shape
    pairs, every = order_of_evaluation(probabilities, figure, _MOST_AIMED, rng)
    item, label = np.divmod(pairs, n_labels)
    copies = 1 + (rng.random(len(pairs)) < overlap)
    columns = (item.tolist(), label.tolist(), every[pairs].tolist(), copies.tolist())
    return ListedQuestions(
        [
            Question(number, i, "asked", (k,), p, None, n, AIMED)
            for number, (i, k, p, n) in enumerate(zip(*columns, strict=True))
        ],
        without=frozenset(without),
        chances_after=lambda n, chance: chances_after(n, n_items, every, chance),
    )


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
