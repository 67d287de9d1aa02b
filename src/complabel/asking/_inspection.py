"""What a look at answers holds: counts, tests, what is known, and findings."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

Severity: TypeAlias = Literal["problem", "warning", "note"]
"""Of a finding: mend it before a fit; the fit may come out wrong; good to know."""

SEVERITIES: tuple[Severity, ...] = ("problem", "warning", "note")
"""All severities, the gravest first."""


@dataclass(frozen=True)
class Finding:
    """An assumption that fails or cannot be checked, and what to do about it.

    Attributes
    ----------
    name : str
        Such as ``"choice-unchecked"``; ``docs/inspect.md`` says what each means.
    severity : str
        Of :data:`SEVERITIES`.
    what : str
        What was found, with numbers.
    advice : str
        What to do.
    command : str
        The command that does it; empty if there is none.
    """

    name: str
    severity: Severity
    what: str
    advice: str
    command: str = ""


@dataclass(frozen=True)
class LabelSummary:
    """What answers say of one label; counts are of answers.

    Attributes
    ----------
    label : str
    offered : int
        Answers whose question was about the label, among others or alone.
    named, absent, relevant, excluded : int
        Answers that mark it so. It is also relevant where fewer labels were named than asked for.
    judged, yes : int
        Answers that judged it by itself, and how many of them said that it applies.
    at_least, at_most : float
        Bounds of the share of items to which it applies, if all answers are right.
    frequency, low, high : float or None
        The estimated share, with a 95 % interval; None where it cannot be known.
    propensity : float or None
        How readily it is named, beside a usual label; None if not known.
    exclusion_rate : float or None
        How often it is excluded where it does not apply; None if not known.
    """

    label: str
    offered: int
    named: int
    absent: int
    relevant: int
    excluded: int
    judged: int
    yes: int
    at_least: float
    at_most: float
    frequency: float | None = None
    low: float | None = None
    high: float | None = None
    propensity: float | None = None
    exclusion_rate: float | None = None

    @property
    def mentioned(self) -> int:
        """Answers that mark the label in any way."""
        return self.named + self.absent + self.relevant + self.excluded


@dataclass(frozen=True)
class AnnotatorSummary:
    """What one annotator answered.

    Attributes
    ----------
    annotator : str
    answers, judged : int
        Their answers, and labels they judged one by one.
    yes_share : float or None
        How many of these apply, they say.
    shared : int
        Their judgements of pairs of item and label that others judged, too.
    agreement : float or None
        Share of those others who say the same, on average over these judgements.
    error_rate : float or None
        Estimated share of answers given at random; None where too few are shared.
    """

    annotator: str
    answers: int
    judged: int
    yes_share: float | None
    shared: int
    agreement: float | None
    error_rate: float | None


@dataclass(frozen=True)
class Contradiction:
    """A label of one item that some answers say to apply and others deny, and who does."""

    item: str
    label: str
    yes: int
    no: int
    says_yes: tuple[str, ...]
    says_no: tuple[str, ...]


@dataclass(frozen=True)
class Agreement:
    """How far annotators agree on the pairs of item and label that several of them judged.

    Attributes
    ----------
    n_pairs, n_judgements : int
        Pairs that at least two annotators judged, and their judgements.
    observed : float
        Share of couples of judgements of one pair that agree, each pair weighted by how many
        judged it.
    alpha : float or None
        Krippendorff's, for two categories with gaps: 1 if all agree, 0 as by chance; None where
        all say the same.
    error_rate, error : float or None
        The share of answers at random that explains the disagreement, if it is the same for all,
        with its standard error; None if they agree no more than by chance.
    """

    n_pairs: int
    n_judgements: int
    observed: float
    alpha: float | None
    error_rate: float | None
    error: float | None


@dataclass(frozen=True)
class Knowledge:
    """What is known of how often labels apply.

    Attributes
    ----------
    known : bool
        Whether the answers can tell at all.
    reason : str
        What the estimate is from, or why there is none.
    n_random, n_not_random : int
        Answers that judge labels one by one, drawn at random or not; only the first count.
    at_least, at_most : float
        Bounds of the mean number of labels that apply to an item, if all answers are right.
    cardinality, error : float or None
        That number as estimated, with its standard error.
    spread : float or None
        How unequally labels come to mind: the standard deviation of logarithms of propensities.
    """

    known: bool
    reason: str
    n_random: int
    n_not_random: int
    at_least: float
    at_most: float
    cardinality: float | None = None
    error: float | None = None
    spread: float | None = None


@dataclass(frozen=True)
class ChoiceTest:
    """A test of the choice among labels on offer: all alike if ``p_value`` is not small.

    ``labels`` are those that stand out, or pairs of one named and one that applies, as text.
    """

    name: str
    statistic: float
    dof: int
    p_value: float
    n_answers: int
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class FeatureSummary:
    """What the features of the items show, and how they fit the answers."""

    n_features: int
    n_constant: int
    n_same: int
    n_contradicting: int


@dataclass(frozen=True)
class Inspection:
    """What :func:`inspect_answers` found; ``as_json()`` gives it as plain data.

    Attributes
    ----------
    n_items, n_labels, n_answers : int
    n_unanswered : int
        Items without an answer.
    n_all_apply : int
        Namings that left labels over: fewer were named than asked for.
    n_contradictions : int
    n_repeated : int
        Times that an annotator said the same of a label of an item once more.
    questions : dict of str to int
        Answers by question.
    labels : tuple of LabelSummary
    annotators : tuple of AnnotatorSummary
        Those with a name, most answers first.
    contradictions : tuple of Contradiction
        The first hundred.
    agreement : Agreement or None
        None where nothing was judged by two annotators.
    knowledge : Knowledge
    tests : tuple of ChoiceTest
    identical : tuple of tuple of str
        Groups of labels that all answers treat alike.
    nested : tuple of (str, str)
        The first is excluded wherever the second is.
    features : FeatureSummary or None
    findings : tuple of Finding
        The gravest first, and of equally grave ones those to mend first.
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
    tests: tuple[ChoiceTest, ...]
    identical: tuple[tuple[str, ...], ...]
    nested: tuple[tuple[str, str], ...]
    features: FeatureSummary | None
    findings: tuple[Finding, ...] = ()

    @property
    def next_step(self) -> Finding | None:
        """The finding to act upon first; None if there is nothing to do before a fit."""
        return next((each for each in self.findings if each.severity != "note"), None)

    def finding(self, name: str) -> Finding | None:
        """Return the finding of a name, or None.

        Parameters
        ----------
        name : str
        """
        return next((each for each in self.findings if each.name == name), None)

    def as_json(self) -> dict[str, Any]:
        """Return everything as lists, dictionaries, texts and numbers, ``next_step`` included."""
        step = self.next_step
        found: dict[str, Any] = _plain(asdict(self))
        return {"next_step": None if step is None else step.name, **found}


def _plain(value: Any) -> Any:
    """Turn tuples into lists, all the way down."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value
