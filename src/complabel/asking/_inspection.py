"""The result of ``inspect_answers``: counts, tests, estimates and findings."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

Severity: TypeAlias = Literal["problem", "warning", "note"]
"""Severity of a finding: correct it before a fit; the fit may be wrong; good to know."""

SEVERITIES: tuple[Severity, ...] = ("problem", "warning", "note")
"""All severities, the most severe first."""


_LEAST_SHARED = 30  # with fewer shared pairs, too little is known about people

DEPENDS = "named against what else applies"
"""The name of the :class:`ChoiceTest` that looks at pairs of labels."""


@dataclass(frozen=True)
class Finding:
    """An assumption that fails or cannot be checked, and what to do about it.

    Attributes
    ----------
    name : str
        A name such as ``"choice-unchecked"``; ``docs/inspect.md`` explains all names.
    severity : str
        One of :data:`SEVERITIES`.
    what, advice : str
        What was found, with numbers, and what to do.
    command : str
        The command that does it; empty if there is none.
    title : str
        The headline: what is found, in a few words.
    """

    name: str
    severity: Severity
    what: str
    advice: str
    command: str
    title: str


@dataclass(frozen=True)
class LabelSummary:
    """What the answers say about one label; None: it is not known."""

    label: str
    offered: int  # answers whose question was about this label, alone or among others
    # Answers that mark the label so. One that names fewer labels than it was asked for counts as
    # relevant for each offered label that it does not name.
    named: int
    absent: int
    relevant: int
    excluded: int
    judged: int  # answers that judged the label by itself
    yes: int  # those of them that said "yes"
    at_least: float  # bounds of the share of items to which it applies, if all answers are right
    at_most: float
    frequency: float | None = None  # estimate of that share
    low: float | None = None  # its 95 % interval
    high: float | None = None
    propensity: float | None = None  # how readily it is named, relative to a typical label
    exclusion_rate: float | None = None  # how often it is excluded where it does not apply

    @property
    def mentioned(self) -> int:
        """Number of answers that mark the label in any way."""
        return self.named + self.absent + self.relevant + self.excluded


@dataclass(frozen=True)
class AnnotatorSummary:
    """What one annotator answered."""

    annotator: str
    answers: int
    judged: int  # labels judged one by one
    yes_share: float | None  # of "yes" among the judged labels
    shared: int  # judgements about pairs of item and label that others judged, too
    agreement: float | None  # share of the others who say the same, mean over shared judgements
    error_rate: float | None  # share of answers given at random; None if too few are shared
    seconds: float | None = None  # median of the answers with a time


@dataclass(frozen=True)
class YesShare:
    """Somebody who says yes to random questions more or less often than the others."""

    annotator: str
    judged: int  # labels, in answers to random questions
    said: float  # share of "yes" among them
    expected: float  # the share that the others' answers about the same labels give
    at_random: float  # share of answers at random that explains the difference best
    p_value: float  # after Holm's correction


@dataclass(frozen=True)
class Contradiction:
    """A label of an item about which answers contradict each other."""

    item: str
    label: str
    yes: int  # answers that say that the label applies
    no: int
    says_yes: tuple[str, ...]  # names of the known annotators, sorted
    says_no: tuple[str, ...]


@dataclass(frozen=True)
class Agreement:
    """How far annotators agree about pairs of item and label that several of them judged."""

    n_pairs: int
    n_judgements: int
    observed: float  # share of couples of judgements that agree; pairs weigh by their judgements
    alpha: float | None  # Krippendorff's, for two categories with gaps: 1 full agreement, 0 chance
    alpha_error: float | None  # its standard error; None, as alpha, if all judgements are the same
    error_rate: float | None  # share of random answers that explains the disagreement, for all
    error: float | None  # its standard error; both are None if they agree no more than by chance


@dataclass(frozen=True)
class KindSummary:
    """What one kind of question took, and how far people agree about it."""

    kind: str  # of those in complabel._questions
    answers: int
    timed: int  # answers with a time
    offered: float  # median number of labels that a question was about
    seconds: float | None  # median of an answer; None, as the next three, without times
    low: float | None  # a quarter of the answers took less
    high: float | None  # a quarter took more
    each: float | None  # median of the seconds for a judged label; None if labels were named
    agreement: Agreement | None  # about the pairs that several people judged in this way


@dataclass(frozen=True)
class Times:
    """What judging labels takes these people, and which question is worth its time; seconds."""

    looking: float | None  # at an item: the line for no label; None if all offered as many labels
    each: float | None  # more for each label on offer: the slope of the line
    asked: float | None  # median of one yes or no; None, as the next, with fewer than 10 times
    ticked: float | None  # median of ticking: all labels or menus, whichever is worth more
    labels: int  # how many labels were ticked then; else how many to try
    ratio: float | None  # of ticking to one yes or no
    break_even: float  # the ratio at which both are worth the same
    n_long: int  # answers that took ten times as long as the median of their kind


@dataclass(frozen=True)
class Knowledge:
    """What is known about how often labels apply."""

    known: bool  # whether the answers allow an estimate
    reason: str  # what it is based on, or why there is none
    n_random: int  # answers that judge labels one by one, with questions drawn at random
    n_not_random: int  # the same, not drawn at random: these are not used
    at_least: float  # bounds of the mean number of labels that apply, if all answers are right
    at_most: float
    cardinality: float | None = None  # estimate of that number
    error: float | None = None  # its standard error
    spread: float | None = None  # of propensities: the standard deviation of their logarithms
    # Who differs from the others, the others, the cardinality by each, and its standard error.
    apart: tuple[tuple[str, float, float], ...] = ()


@dataclass(frozen=True)
class ChoiceTest:
    """A test whether the offered labels are named with equal chances."""

    name: str
    statistic: float  # chi-square, or the largest absolute z of all pairs of labels
    dof: int  # degrees of freedom, or the number of pairs tested
    p_value: float
    n_answers: int
    labels: tuple[str, ...] = ()  # those, or pairs of those, that stand out, in words
    # How much it matters: the standard deviation of log-propensities, or the largest change of one
    # among the pairs that stand out; None if it is not estimated.
    effect: float | None = None


@dataclass(frozen=True)
class FeatureSummary:
    """What the features of the items show, and how they fit the answers."""

    n_features: int
    n_constant: int  # features with the same value for all items
    n_same: int  # items that share all features with another item
    n_contradicting: int  # those of them whose answers contradict each other


@dataclass(frozen=True)
class Inspection:
    """The result of :func:`inspect_answers`; ``as_json()`` returns it as plain data.

    Attributes
    ----------
    n_items, n_labels, n_answers : int
    n_unanswered : int
        Number of items without an answer.
    n_all_apply : int
        Number of answers that name fewer labels than asked for: all other offered labels apply.
    n_contradictions : int
        Number of pairs of item and label about which answers contradict each other.
    n_repeated : int
        How often an annotator said the same about a label of an item again.
    questions : dict of str to int
        Number of answers for each question.
    labels : tuple of LabelSummary
    annotators : tuple of AnnotatorSummary
        One entry for each named annotator, most answers first.
    contradictions : tuple of Contradiction
        The first hundred contradictions.
    agreement : Agreement or None
        None if no pair of item and label was judged by two annotators.
    knowledge : Knowledge
    kinds : tuple of KindSummary
        One entry for each kind of question, most answers first.
    times : Times or None
        None if no judgement has a time.
    tests : tuple of ChoiceTest
    identical : tuple of tuple of str
        Groups of labels that have the same marks in all answers.
    nested : tuple of (str, str)
        Pairs of labels: the first is excluded wherever the second is.
    features : FeatureSummary or None
        None if no features were given.
    yes_shares : tuple of YesShare
        Who says yes to random questions more or less often than the others, the clearest first.
    findings : tuple of Finding
        The most severe first; equally severe ones in the order in which to deal with them.
    """

    n_items: int
    n_labels: int
    n_answers: int
    n_unanswered: int
    n_all_apply: int
    n_contradictions: int
    n_repeated: int
    questions: dict[str, int]
    labels: tuple[LabelSummary, ...]
    annotators: tuple[AnnotatorSummary, ...]
    contradictions: tuple[Contradiction, ...]
    agreement: Agreement | None
    knowledge: Knowledge
    kinds: tuple[KindSummary, ...]
    times: Times | None
    tests: tuple[ChoiceTest, ...]
    identical: tuple[tuple[str, ...], ...]
    nested: tuple[tuple[str, str], ...]
    features: FeatureSummary | None
    yes_shares: tuple[YesShare, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def next_step(self) -> Finding | None:
        """The finding to deal with first; None if there is nothing to do before a fit."""
        return next((each for each in self.findings if each.severity != "note"), None)

    @property
    def people_compared(self) -> bool:
        """Whether people who could disagree judged the same pairs, enough to tell who errs."""
        enough = self.agreement is not None and self.agreement.n_pairs >= _LEAST_SHARED
        return enough and self.only_says is None

    @property
    def only_says(self) -> str | None:
        """What all judgements say, "yes" or "no", so that nobody disagrees; None if they differ."""
        judged, yes = (sum(getattr(x, of) for x in self.labels) for of in ("judged", "yes"))
        return "yes" if yes == judged > 0 else "no" if yes == 0 < judged else None

    def finding(self, name: str) -> Finding | None:
        """Return the finding with this name, or None."""
        return next((each for each in self.findings if each.name == name), None)

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, str and numbers, with ``next_step``."""
        step = self.next_step
        name = None if step is None else step.name
        return {"next_step": name, **json.loads(json.dumps(asdict(self)))}
