"""CCMN and COMES, which assume one naming probability for each label that does not apply."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from complabel._parameters import Array, Constraints, Features, Real
from complabel.answers import Answers, about_positives
from complabel.errors import AnnotationError, manual_page
from complabel.experiments.losses import CCMNLoss, COMESHammingLoss, COMESRankingLoss
from complabel.frequencies import (
    check_auto_or_given,
    estimate_label_frequencies,
    given_frequencies,
    judged_at_random,
)
from complabel.losses import LogitLoss
from complabel.methods import GradientClassifier, Numbers, warn_assumed


@dataclass(kw_only=True, eq=False, repr=False)
class ClassConditionalClassifier(GradientClassifier):
    """Base of methods whose loss needs naming rates.

    The settings are those of the ComRank paper. On scene and yeast, held-out *complementary* labels
    rank lower with them than with Adam and the weight decay of the MLCL paper, 1e-4.
    """

    understands_answers = True

    _fitted: ClassVar[Constraints] = {
        "naming_rates_": Numbers("K"),
        "label_frequencies_": Numbers("K"),
        "label_frequencies_errors_": (None, Numbers("K")),
        "label_frequencies_intervals_": (None, Numbers("K", "ends")),
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

    def _fit_answers(self, X: Features, answers: Answers, /) -> None:
        # What was left over by somebody who named what applies, nobody named as what does not.
        positives = about_positives(answers)
        answers = answers.only(answers.question != "positive")
        complementary = answers.complementary
        if not complementary.any():
            raise AnnotationError(
                f"{type(self).__name__} learns from labels that do not apply, and no answer of y"
                f" names one{positives}; SelectionLikelihoodClassifier learns from other answers"
            )
        self._set_rates(complementary.mean(axis=0, dtype=np.float64), answers)
        loss = self._loss(self.naming_rates_)
        self._fit_model(X, loss, {"complementary": complementary})

    def _set_rates(self, shares: Array, answers: Answers) -> None:
        self.label_frequencies_errors_ = None
        self.label_frequencies_intervals_ = None
        if not isinstance(self.label_frequencies, str):
            frequencies = given_frequencies(
                self.label_frequencies, self.classes_, one_applies=self._single
            )
            rates = _rates_of(shares, frequencies)
        elif judged_at_random(answers).sum() >= answers.n_labels:
            found = estimate_label_frequencies(answers)
            frequencies, self.label_frequencies_errors_ = found.values, found.standard_errors
            self.label_frequencies_intervals_ = found.intervals
            rates = _rates_of(shares, frequencies)
        else:
            if not self._single:
                warn_assumed(
                    "nothing says how often each label applies, and every label is taken to be"
                    " named equally readily where it does not: give label_frequencies, or ask"
                    " yes/no questions about random labels of some items (see"
                    f" {manual_page('questions')})",
                )
            # the greater of two lower bounds, see CCMNClassifier
            bound = max(shares.max(), shares.sum() / (len(shares) - 1))
            rates = np.full(len(shares), min(1.0, bound))
            frequencies = 1 - shares / rates
        self.naming_rates_, self.label_frequencies_ = rates, frequencies


def _rates_of(shares: Array, frequencies: Array) -> Array:
    """Return naming rates (K,), at most 1; that of a label which is never named has no effect."""
    wrong = 1 - frequencies
    rates = np.divide(shares, wrong, out=np.ones_like(shares), where=shares < wrong)
    return np.where(shares > 0, rates, 1.0)


@dataclass(kw_only=True, eq=False, repr=False)
class CCMNClassifier(ClassConditionalClassifier):
    r"""Minimize an unbiased estimate of the cross-entropy under class-conditional label noise.

    Candidate labels are relevant labels with noise. A label that applies is always a candidate. A
    label that does not apply is a candidate with probability 1 - p_j. The cross-entropy with the
    target :math:`1 - \bar y_j / p_j` then has the supervised cross-entropy as its mean.

    Parameters
    ----------
    label_frequencies : "auto" or array-like of shape (K,), default="auto"
        pi, the share of the rows to which each label applies ("class priors" in the paper), in
        [0, 1]. p_j is the share of rows for which label j is named, divided by 1 - pi_j.
        ``"auto"`` estimates pi if y is Answers with at least K yes/no answers about random labels.
        Otherwise p is assumed to be the same for all labels and as small as possible, see Notes.
        *True* frequencies come from true training labels, which no real user has.
    network, learning_rate, weight_decay, batch_size, epochs, threshold, cut, optimizer, momentum
        As in :class:`ComplementaryLossClassifier`. No paper states a learning rate for these
        datasets. ``complabel tune`` chooses one by held-out answers.
    milestones, device, random_state, callback
        As in :class:`ComplementaryLossClassifier`.

    Attributes
    ----------
    naming_rates_ : ndarray of shape (K,)
        p, the probability that each label is named for a row to which it does not apply.
    label_frequencies_ : ndarray of shape (K,)
        pi, as given, estimated or assumed.
    label_frequencies_errors_ : ndarray of shape (K,), or None
        Standard errors of the estimate; None if nothing was estimated.
    label_frequencies_intervals_ : ndarray of shape (K, 2), or None
        Intervals of 95 %, as of :class:`complabel.frequencies.LabelFrequencies`.
    model_, coef_, intercept_
        As in :class:`ComplementaryLossClassifier`.

    Warns
    -----
    AssumedUniformWarning
        If nothing says how often labels apply, so that all labels are assumed to have the same p.

    Notes
    -----
    One p for all labels is the greater of two lower bounds: the share of rows for which the label
    that is named most is named (exact if that label never applies), and m / (K - 1) for m labels
    named per row (exact if one label applies to each row). In other cases pi tends to be too small.

    If y is Answers, every label that somebody named, excluded or judged not to apply is
    complementary, and each item with an answer is unlabelled. Answers that a label applies are only
    used for ``label_frequencies``. Known relevant labels have no effect.

    The estimate has no lower bound. If p_j is small, a linear map of many features overfits, and
    only ``weight_decay`` limits this.

    References
    ----------
    M.-K. Xie and S.-J. Huang, "CCMN: A General Framework for Learning with Class-Conditional
    Multi-Label Noise", IEEE TPAMI 2023. Its text was not available. By later papers, it extends the
    estimator of Natarajan et al., "Learning with Noisy Labels", NIPS 2013, which is the one used
    here. The settings are ours.

    Examples
    --------
    >>> import numpy as np
    >>> from complabel.simulate import draw_answers
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3))
    >>> relevant = (X > [1.0, 0.5, 0.0]).astype(int)
    >>> named = draw_answers(relevant, question="asked", random_state=0)
    >>> classifier = CCMNClassifier(learning_rate=0.1, epochs=30, random_state=0).fit(X, named)
    >>> bool(classifier.predict_proba([[2.0, -2.0, -2.0]]).argmax() == 0)
    True
    """

    def _loss(self, naming_rates: Array) -> LogitLoss:
        return CCMNLoss(naming_rates)


@dataclass(kw_only=True, eq=False, repr=False)
class COMESHammingClassifier(ClassConditionalClassifier):
    """COMES-HL: minimize the corrected risk of negative and unlabelled instances, by label.

    The instances for which label j was named are a sample of those to which it does not apply; all
    instances are unlabelled. With known label frequencies, both samples give the cross-entropy
    under full supervision. The part of the relevant labels cannot be negative, but its estimate
    can, so the loss takes the absolute value of the estimate.

    Parameters and attributes are those of :class:`CCMNClassifier`, and its Notes on p hold here,
    too. According to its reviews, the paper gives the true class priors to its method. Its
    optimizer and learning rates are not known here.

    References
    ----------
    W. Wang, T. Ma, M.-K. Xie, G. Niu and M. Sugiyama, "Rethinking Consistent Multi-Label
    Classification under Inexact Supervision", ICLR 2026, COMES-HL.
    """

    def _loss(self, naming_rates: Array) -> LogitLoss:
        return COMESHammingLoss(naming_rates)


@dataclass(kw_only=True, eq=False, repr=False)
class COMESRankingClassifier(ClassConditionalClassifier):
    r"""COMES-RL: rank all other labels above the named ones, with the weights 1 / p_j.

    The expected loss is the ranking loss under full supervision plus a constant, where sigmoids of
    differences of logits replace counts. Only differences between labels are learned, so f is a
    score and not a probability.

    The other parameters and the attributes are those of :class:`CCMNClassifier`, and its Notes on p
    hold here, too.

    Parameters
    ----------
    flooding : float, default=0.0
        The flood level, tuned in the paper. A batch of mean loss L contributes
        \|L - flooding\| + flooding, so training does not lower L below the level.

    References
    ----------
    The paper of :class:`COMESHammingClassifier`, COMES-RL.
    """

    _constraints: ClassVar[Constraints] = {"flooding": Real(at_least=0)}

    flooding: float = 0.0
    threshold: str = "minmax"

    def _loss(self, naming_rates: Array) -> LogitLoss:
        return COMESRankingLoss(naming_rates, flooding=self.flooding)
