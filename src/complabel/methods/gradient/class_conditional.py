"""Base of the methods that assume one naming probability for each label that does not apply."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from complabel._parameters import Constraints
from complabel.answers import warn_assumed
from complabel.errors import AnnotationError
from complabel.frequencies import (
    LabelFrequencies,
    check_auto_or_given,
    estimate_label_frequencies,
    given_frequencies,
    judged_at_random,
)
from complabel.methods._saving import Numbers
from complabel.methods.gradient._base import TEXTS, GradientClassifier

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from complabel.answers import Answers
    from complabel.losses import LogitLoss
    from complabel.methods._arrays import Array, Features, Indicator

_CALLER = 5  # frames from _warn_of_assumption through _learn, _fit and fit to the caller of fit

CLASS_CONDITIONAL_TEXTS = {
    "sections": """Parameters
----------
{of_frequencies}

{rest}""",
    "rest": """Attributes
----------
naming_rates_ : ndarray of shape (K,)
    p, the probability that each label is named for a row to which it does not apply.
label_frequencies_ : ndarray of shape (K,)
    pi, as given, estimated or assumed.
label_frequencies_errors_ : ndarray of shape (K,), or None
    Standard errors of the estimate; None if nothing was estimated.
{attributes}

Warns
-----
AssumedUniformWarning
    If nothing says how often labels apply, so that all labels are assumed to have the same p.

See Also
--------
complabel.losses.{loss} : The formula.
complabel.frequencies.estimate_label_frequencies : What ``"auto"`` does with random answers.""",
    "of_frequencies": """label_frequencies : "auto" or array-like of shape (K,), default="auto"
    pi, the share of the rows to which each label applies ("class priors" in the paper), in [0, 1].
    p_j is the share of rows for which label j is named, divided by 1 - pi_j. ``"auto"`` estimates
    pi if y is Answers with at least K yes/no answers about random labels. Labels that were named
    freely do not determine pi. Then p is assumed to be the same for all labels and as small as
    possible, see Notes. *True* frequencies come from true training labels, which no real user has.
    If an experiment uses them, mark its figures, as a plan with ``label_frequencies = "true"``
    does.
learning_rate : float, default=0.01
    No paper states a rate for these datasets. ``complabel tune`` chooses one by held-out answers.
{parameters}""",
    "attributes": TEXTS["attributes"],
    "assumed": """If nothing tells how often labels apply, all labels share one p. It is the greater
of two lower bounds. The first is the share of rows for which the label that is named most is named;
it equals p if that label never applies. The second is m / (K - 1) for m labels named per row; it
equals p if one label applies to each row, so it is exact for one class per row. In other cases pi
tends to be too small.

The optimizer and its settings are those of the ComRank paper, the same as for the other methods
with a single loss. So only the loss differs. On scene and yeast, held-out *complementary* labels
rank lower with them than with Adam and the weight decay of the MLCL paper, 1e-4.

If y is Answers, every label that somebody named, excluded or judged not to apply is complementary,
and each item with an answer is unlabelled. Answers that a label applies are only used for
``label_frequencies``. Known relevant labels have no effect.""",
    "examples": """Examples
--------
>>> import numpy as np
>>> from complabel.simulate import draw_answers
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(400, 3))
>>> relevant = (X > [1.0, 0.5, 0.0]).astype(int)
>>> named = draw_answers(relevant, question="asked", random_state=0)
>>> classifier = {name}(learning_rate=0.1, epochs=30, random_state=0).fit(X, named)
>>> bool(classifier.predict_proba([[2.0, -2.0, -2.0]]).argmax() == 0)
True""",
}


@dataclass(kw_only=True, eq=False, repr=False)
class ClassConditionalClassifier(GradientClassifier):
    """Base of methods whose loss needs naming rates. Subclasses make the loss in ``_loss``."""

    understands_answers = True

    _fitted: ClassVar[Constraints] = {
        "naming_rates_": Numbers("K", at_least=0),
        "label_frequencies_": Numbers("K", at_least=0),
        "label_frequencies_errors_": (None, Numbers("K", at_least=0)),
    }

    label_frequencies: str | ArrayLike = "auto"
    optimizer: str = "sgd"
    weight_decay: float = 1e-3
    momentum: float = 0.9
    milestones: Sequence[int] = (100, 150)
    cut: float = 0.5

    @abstractmethod
    def _loss(self, naming_rates: Array) -> LogitLoss:
        """Return the loss for naming rates (K,)."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_auto_or_given(self.label_frequencies)

    def _fit(self, X: Features, complementary: Indicator, relevant: Indicator | None, /) -> None:
        del relevant
        self._learn(X, complementary, None)

    def _fit_answers(self, X: Features, answers: Answers, /) -> None:
        complementary = answers.complementary
        if not complementary.any():
            raise AnnotationError(
                f"{type(self).__name__} learns from labels that do not apply, and no answer of y"
                " names one; SelectionLikelihoodClassifier learns from other answers"
            )
        found = None
        enough = judged_at_random(answers).sum() >= answers.n_labels
        if isinstance(self.label_frequencies, str) and enough:
            found = estimate_label_frequencies(answers)
        self._learn(X, complementary, found)

    def _learn(self, X: Features, complementary: Indicator, found: LabelFrequencies | None) -> None:
        """Set the naming rates and train with them."""
        shares = complementary.mean(axis=0, dtype=np.float64)
        self.label_frequencies_errors_ = None
        if not isinstance(self.label_frequencies, str):
            frequencies = given_frequencies(
                self.label_frequencies, self.classes_, one_applies=self._single
            )
            rates = _rates_of(shares, frequencies)
        elif found is not None:
            frequencies, self.label_frequencies_errors_ = found.values, found.standard_errors
            rates = _rates_of(shares, frequencies)
        else:
            if not self._single:
                _warn_of_assumption()
            rates = _one_rate(shares)
            frequencies = 1 - shares / rates
        self.naming_rates_, self.label_frequencies_ = rates, frequencies
        self.model_ = self._train(
            X,
            self._loss(rates),
            {"complementary": complementary},
            generator=self._generator(),
            stage="classifier",
        )


def _rates_of(shares: Array, frequencies: Array) -> Array:
    """Return naming rates (K,) from the shares of rows with each label named, and frequencies.

    A rate is at most 1, also if a label is named more often than pi allows. A label that is never
    named gets the rate 1, which has no effect on the loss.
    """
    wrong = 1 - frequencies
    rates = np.divide(shares, wrong, out=np.ones_like(shares), where=shares < wrong)
    return np.where(shares > 0, rates, 1.0)


def _one_rate(shares: Array) -> Array:
    """Return the naming rate that all labels share, (K,): the greater of two lower bounds."""
    n_labels = len(shares)
    return np.full(n_labels, min(1.0, max(shares.max(), shares.sum() / (n_labels - 1))))


def _warn_of_assumption() -> None:
    """Warn that nothing says how often labels apply."""
    warn_assumed(
        "nothing says how often each label applies, and every label is taken to be named equally"
        " readily where it does not: give label_frequencies, or ask yes/no questions about random"
        " labels of some items (see docs/asking.md)",
        stacklevel=_CALLER,
    )
