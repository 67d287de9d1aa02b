"""The plan of a fit: what the answers determine, what is known, and what is to be chosen."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from complabel._parameters import check_real
from complabel.answers import Answers, AssumedUniformWarning
from complabel.errors import AnnotationError, InputError
from complabel.frequencies import estimate_label_frequencies, rates_of_exclusion
from complabel.losses import AnswersLikelihood, check_rates
from complabel.methods._kinds import (
    AnswerKinds,
    given_propensities,
    refuse_undetermined_propensities,
    warn_of_free_namings,
)
from complabel.methods.selection._anchored import cardinalities_of, given_to, sharpened
from complabel.methods.selection._choices import Choices
from complabel.methods.selection._exclusions import named_where_excluded
from complabel.methods.selection._search import cardinality_grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.frequencies import LabelFrequencies
    from complabel.methods.selection._setting import Parameters

# Standard deviations of log-propensities. At .1 labels are nearly alike; at 1.1, one label in
# twenty comes to mind six times as readily as a usual one.
_SPREADS = (0.1, 0.14, 0.2, 0.28, 0.4, 0.56, 0.8, 1.1)
# If answers contradict each other, some are mistakes. Then rates below .03 are not tried.
_ERROR_RATES = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.4, 0.5)
_LEAST_OF_CONTRADICTIONS = 0.03
# The search for the rates of annotators starts here.
_FIRST_ERROR_RATE = 0.05
_RANKS = (2, 4, 8, 16, 32)
# With propensities=None, they are fitted from this many random answers per label on. The share of
# "yes" among ten answers has a standard error of at most .16.
_ENOUGH_PER_LABEL = 10
# stacklevel of warnings: from a helper below, over plan_for, _learn, _fit and fit, to its caller.
_CALLER = 6


@dataclass(frozen=True)
class Plan:
    """The answers that a fit learns from, and the values that its search chooses from."""

    choices: Choices
    cardinalities: Sequence[float | None]
    ranks: Sequence[int | None]
    spreads: Sequence[float | None]
    mistakes: Sequence[float | None]
    by_annotator: bool

    @property
    def can_be_sharpened(self) -> bool:
        """Whether frequencies were estimated, so that predictions can improve them."""
        found = self.choices.frequencies
        return found is not None and found.cardinality_error > 0

    def sharpened(self, logits: NDArray[np.float64]) -> Plan:
        """Return a plan with frequencies that predictions improve.

        ``logits`` (n, K) must come from a fit without the judgements of random labels.
        """
        choices = sharpened(self.choices, logits)
        assert choices.frequencies is not None
        grid = self.cardinalities
        if len(grid) > 1:
            grid = cardinalities_of(choices.frequencies)
        return replace(self, choices=choices, cardinalities=grid)


def plan_for(classifier: Parameters, answers: Answers, *, n_features: int) -> Plan:
    """Return the plan that follows from a classifier's parameters and the answers."""
    kinds = AnswerKinds.of(answers)
    frequencies = _frequencies(classifier, kinds, answers)
    given = given_propensities(classifier.propensities, answers.n_labels)
    spreads: Sequence[float | None] = [None]
    if frequencies is not None and given is None and classifier.propensities == "equal":
        frequencies = replace(frequencies, propensities=None)
    elif given is None and (frequencies is None or frequencies.propensities is None):
        spreads = _spreads(classifier, kinds, answers.n_labels)
    rates = _exclusion_rates(classifier, kinds, answers, frequencies)
    if rates is None:
        answers = named_where_excluded(answers)
    error_rates, mistakes = _error_rates(classifier, answers, rates)
    return Plan(
        Choices(answers, given, error_rates, rates, frequencies),
        cardinalities=_cardinalities(classifier, kinds, answers.n_labels, frequencies),
        ranks=_ranks(classifier, kinds, most=min(answers.n_labels, n_features)),
        spreads=spreads,
        mistakes=mistakes,
        by_annotator=classifier.error_rate == "per-annotator",
    )


def _frequencies(
    classifier: Parameters, kinds: AnswerKinds, answers: Answers
) -> LabelFrequencies | None:
    """Return the label frequencies, given or estimated, that a fit should use; else None.

    They are not estimated if most answers determine them, because then the likelihood uses these
    answers directly. Nor if there are fewer random judgements than labels: these say too little.
    """
    given = given_to(classifier, answers)
    if given is not None or classifier.label_frequencies is None:
        return given
    known = classifier.cardinality is None or classifier._single
    given_w = classifier.propensities
    open_w = given_w is None or (isinstance(given_w, str) and given_w == "auto")
    if known or not open_w or not kinds.free or kinds.judged < answers.n_labels:
        return None
    if 2 * kinds.determining >= kinds.all:
        return None
    return estimate_label_frequencies(answers)


def _cardinalities(
    classifier: Parameters,
    kinds: AnswerKinds,
    n_labels: int,
    frequencies: LabelFrequencies | None,
) -> Sequence[float | None]:
    """Return the cardinalities to choose from.

    It is one value if the caller gave it, and None if the answers determine the cardinality.
    """
    c = classifier.cardinality
    if c == "auto":
        if frequencies is not None:
            return cardinalities_of(frequencies)
        # With one class per row, exactly one label is relevant, as predict_proba assumes.
        if classifier._single:
            return [1.0]
        return [None] if 2 * kinds.determining >= kinds.all else cardinality_grid(n_labels)
    if c is not None:
        check_real("cardinality", c, above=0, below=n_labels)
    return [c]  # type: ignore[list-item]


def _ranks(classifier: Parameters, kinds: AnswerKinds, *, most: int) -> Sequence[int | None]:
    """Return the ranks to choose from; only full rank if all labels were named freely."""
    if classifier.rank != "auto":
        return [classifier.rank]  # type: ignore[list-item]
    if kinds.free == kinds.all:
        return [None]
    return [None, *(rank for rank in _RANKS if rank < most)]


def _spreads(classifier: Parameters, kinds: AnswerKinds, n_labels: int) -> Sequence[float | None]:
    """Return the spreads of propensities to choose from; None means that all labels are alike."""
    given = classifier.propensities
    if given == "auto":
        refuse_undetermined_propensities(kinds)
        return _SPREADS
    enough = kinds.menus + min(kinds.judged, kinds.free) >= _ENOUGH_PER_LABEL * n_labels
    if given is None and kinds.determine_propensities and enough:
        return [None, *_SPREADS]
    if given is None and kinds.free:
        warn_of_free_namings()
    return [None]


def _error_rates(
    classifier: Parameters,
    answers: Answers,
    exclusion_rates: NDArray[np.float64] | None,
) -> tuple[NDArray[np.float64] | None, Sequence[float | None]]:
    """Return the given error rates (R + 1,) or None, and the rates to choose from.

    A common rate is chosen by held-out answers. If it were fitted together with the map, it would
    be too small: a map that fits the training answers closely also explains their mistakes.
    """
    given = classifier.error_rate
    if given == "per-annotator":
        if not answers.annotator_names:
            raise InputError(
                "error_rate='per-annotator', but the answers do not say who gave them; give Answers"
                " the annotators, or use error_rate='auto' for one rate of all"
            )
        return None, [_FIRST_ERROR_RATE]
    if given == "auto":
        try:
            AnswersLikelihood(answers, exclusion_rates=exclusion_rates)
        except AnnotationError:  # answers contradict each other, so some are mistakes
            return None, [rate for rate in _ERROR_RATES if rate >= _LEAST_OF_CONTRADICTIONS]
        return None, [None, *_ERROR_RATES]
    if given == 0:
        return None, [None]
    return check_rates("error_rate", given, len(answers.annotator_names) + 1, "annotator"), [None]


def _exclusion_rates(
    classifier: Parameters,
    kinds: AnswerKinds,
    answers: Answers,
    frequencies: LabelFrequencies | None,
) -> NDArray[np.float64] | None:
    """Return exclusion rates, given or from label frequencies; None if they are not known."""
    given = classifier.exclusion_rates
    if isinstance(given, str):
        raise InputError(
            f"exclusion_rates is {given!r}; give None, a number or one number per label"
        )
    if given is not None:
        return check_rates("exclusion_rates", given, answers.n_labels, "label")
    if not kinds.excluded:
        return None
    if frequencies is None and kinds.judged >= answers.n_labels:
        frequencies = estimate_label_frequencies(answers)
    if frequencies is not None:
        return rates_of_exclusion(answers, frequencies.values)
    warnings.warn(
        "a rule or a report excluded labels, but it is not known how often it excludes a label that"
        " does not apply, so these labels are treated as named freely. Give exclusion_rates, or ask"
        " yes/no questions about random labels of some items",
        AssumedUniformWarning,
        stacklevel=_CALLER,
    )
    return None
