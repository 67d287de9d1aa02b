"""How good a model is, by answers that it did not learn from: one object, for all who show it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from complabel._parameters import Array
from complabel.answers import Answers, pair_rows
from complabel.errors import AnnotationError
from complabel.frequencies import about_the_others, inverse_probability, judged_at_random
from complabel.methods import (
    ComplementaryClassifier,
    Predictions,
    cross_fit_probabilities,
    folds_of,
)
from complabel.metrics import complementary_ranking_error
from complabel.trust._features import features_tell, some
from complabel.trust._metrics import Figure, Figures, MetricEstimates, estimate_metrics
from complabel.trust._pairs import JudgedPairs
from complabel.trust._reliability import Reliability, reliability


@dataclass(frozen=True)
class Column:
    """A column of the table of figures: its title, and the text of a figure in it."""

    title: str
    text: Callable[[Figure], str]


# With so many random judgements of a label on average, chance leaves out none: exp(-20).
_CHANCE_OF_NONE = 20
# On the page, the first two are drawn.
COLUMNS = (
    Column("estimate", lambda of: "-" if math.isnan(of.value) else f"{of.value:.3f}"),
    Column("95 % interval", lambda of: f"{of.low:.3f} to {of.high:.3f}"),
    Column("judged", lambda of: f"{of.n_judgements:,}"),
    Column("to halve", lambda of: "more items" if (n := of.more_questions) is None else f"{n:+,}"),
)
"""What the command and the page show of each figure."""

FIGURES: Mapping[str, tuple[str, str]] = {
    "precision": ("Precision", "of the predicted labels, the share that applies"),
    "recall": ("Recall", "of the labels that apply, the share that is predicted"),
    "f1": ("F1", "the harmonic mean of both"),
    "average_precision": ("Average precision", "of the order of all pairs; needs no threshold"),
    "share": ("Share that applies", "of all pairs; the precision of a random order"),
}
"""Titles and meanings of the figures, the attributes of :class:`Figures`."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluation:
    """What :func:`evaluate_model` returns: how good a model is, by answers.

    Attributes
    ----------
    n_items : int
        Number of items with an answer.
    n_answers : int
        Number of answers.
    n_folds : int or None
        With cross-fitting, how many fits were measured; else None.
    rule : str
        When a label is predicted, in words.
    estimates : MetricEstimates or None
        Precision, recall, F1 and average precision with intervals, over all pairs and by label;
        None if no answer is to a random question.
    ranking_error : float or None
        The complementary ranking error of the scores. None with cross-fitting, if random questions
        were drawn with unequal chances, or if no item has a label that applies beside one that
        does not.
    log_likelihood : float or None
        The log-likelihood of an item's answers, in nats; None if ``ranking_error`` is, or if the
        method does not model all kinds of answers.
    constant : dict of str to float
        ``"ranking_error"`` and ``"log_likelihood"`` of one order, and of one guess, that are the
        same for all items. They are made from these answers; a useful model beats them.
    remarks : tuple of str
        What is left out, and why; warnings begin with that word.
    """

    n_items: int
    n_answers: int
    n_folds: int | None
    rule: str
    estimates: MetricEstimates | None
    ranking_error: float | None = None
    log_likelihood: float | None = None
    constant: Mapping[str, float] = field(default_factory=dict)
    remarks: tuple[str, ...]
    _reliability: Callable[[], Reliability] = field(repr=False)

    @cached_property
    def reliability(self) -> Reliability:
        """Whether the probabilities can be believed; random questions must be among the answers."""
        return self._reliability()

    @cached_property
    def least_known(self) -> tuple[str, ...]:
        """The labels, that with the longest interval of average precision first."""
        labels = {} if self.estimates is None else self.estimates.labels
        figures = {name: each.average_precision for name, each in labels.items()}
        lengths = {name: each.high - each.low for name, each in figures.items()}
        return tuple(sorted(lengths, key=lambda name: -lengths[name]))

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain values, without NaN; what is not known is left out."""
        values: dict[str, Any] = {"n_items": self.n_items, "n_answers": self.n_answers}
        if self.n_folds is not None:
            values["cross_fit"] = self.n_folds
        if self.ranking_error is not None:
            values["ranking_error"] = self.ranking_error
            if self.log_likelihood is not None:
                values["log_likelihood"] = self.log_likelihood
            values["constant"] = dict(self.constant)
        if self.estimates is not None:
            values["figures"] = _as_dict(self.estimates)
            values["n_judgements"] = self.estimates.n_judgements
            labels = self.estimates.labels
            values["figures_by_label"] = {name: _as_dict(each) for name, each in labels.items()}
        return values


def evaluate_model(
    model: ComplementaryClassifier,
    X: ArrayLike,
    answers: Answers,
    *,
    n_folds: int | None = None,
    missed: float = 0.0,
    invented: float = 0.0,
    on_fold: Callable[[int], None] | None = None,
    machine: ArrayLike | None = None,
) -> Evaluation:
    """Measure a fitted model on answers that it did not learn from.

    Parameters
    ----------
    model : ComplementaryClassifier
        Fitted.
    X : array-like or sparse matrix of shape (n_items, n_features)
        All items from which the questions were drawn, also those without an answer. See ``fit`` for
        how the rows of a data frame are paired with answers.
    answers : Answers
        Those to random questions give precision and recall.
    n_folds : int or None, default=None
        If the model learned from these answers, measure so many fits with its settings instead,
        each to the answers about other items: :func:`~complabel.methods.cross_fit_probabilities`.
    missed, invented : float, default=0.0
        How often people say no about a label that applies, and yes about one that does not.
    on_fold : callable or None, default=None
        Called after each of ``n_folds`` fits with the number of fits that are done.
    machine : array-like of shape (n_items, n_labels) or None, default=None
        What a machine says, for ``n_folds`` fits of a model that learned beside it.

    Returns
    -------
    Evaluation

    Raises
    ------
    AnnotationError
        If there are no answers, or nothing can be said from them.
    InputError
        If ``X`` or a rate is wrong.

    See Also
    --------
    estimate_metrics : The figures alone, from the probabilities of any model.

    Examples
    --------
    >>> from complabel.datasets import make_synthetic
    >>> from complabel.methods import ComplementaryRidgeClassifier
    >>> from complabel.simulate import draw_answers
    >>> data = make_synthetic(600, n_features=5, n_labels=4, signal=4.0, random_state=0)
    >>> learned = draw_answers(data.Y[:300], random_state=1)
    >>> model = ComplementaryRidgeClassifier().fit(data.X[:300], learned)
    >>> asked = draw_answers(data.Y[300:], question="asked", random_state=2)
    >>> found = evaluate_model(model, data.X[300:], asked)
    >>> found.estimates.n_judgements, found.ranking_error < found.constant["ranking_error"]
    (300, True)
    """
    answers = pair_rows(X, answers, names=("X", "answers"))
    if not answers.n_answers:
        raise AnnotationError("there are no answers; fill in some")
    predictions = None if n_folds is not None else Predictions.of(model, X)
    if predictions is None:
        assert n_folds is not None
        JudgedPairs.of(answers)  # nothing else can be measured, so refuse it before the fits
        fit_options: dict[str, Any] = {"n_folds": n_folds, "on_fold": on_fold}
        if machine is not None:
            from complabel.methods import fit_again  # loads torch

            outputs = np.asarray(machine)
            fit_options["fit"] = lambda items, rows, some: fit_again(
                model, rows, some, outputs[items]
            )
        probabilities = cross_fit_probabilities(model, X, answers, **fit_options)
    else:
        probabilities = predictions.probabilities
    threshold, rule, remarks = _rule(model)
    rates: Mapping[str, Any] = {"missed": missed, "invented": invented}
    estimates, ranked = None, dict[str, Any]()
    try:
        estimates = estimate_metrics(answers, probabilities, threshold=threshold, **rates)
    except AnnotationError as error:
        remarks = (f"precision and recall need answers to random questions: {error}",)
    else:
        remarks = (*remarks, *filter(None, [about_the_others(answers)]))
        labels = estimates._pairs.place % answers.n_labels
        judged = np.bincount(labels, minlength=answers.n_labels)
        if judged.mean() >= _CHANCE_OF_NONE and (without := np.flatnonzero(judged == 0)).size:
            names = some([estimates._label_names[label] for label in without])
            warning = f"warning: no random question was about {names}"
            remarks = (*remarks, f"{warning}; figures over all labels are about the others")
    folds = None if n_folds is None else folds_of(answers.answered, n_folds)
    if sentence := features_tell(answers, probabilities, folds=folds).sentence():
        remarks = (*remarks, f"warning: {sentence}")
    if predictions is not None:
        ranked, lacking = _ranked(predictions, answers, estimates)
        remarks = (*remarks, *lacking)
    return Evaluation(
        n_items=int(np.count_nonzero(answers.answered)),
        n_answers=answers.n_answers,
        n_folds=n_folds,
        rule=rule,
        estimates=estimates,
        remarks=remarks,
        _reliability=lambda: reliability(answers, probabilities, **rates),
        **ranked,
    )


def _rule(model: Any) -> tuple[float | Array, str, tuple[str, ...]]:
    """Return thresholds, a sentence about them, and a warning if the model predicts otherwise."""
    thresholds = getattr(model, "thresholds_", None)
    # Without thresholds of its own, a model predicts above the cut, and not at it.
    threshold = math.nextafter(model.cut, 1) if thresholds is None else thresholds
    least = "at least the model's threshold of this label"
    if thresholds is None:
        least = f"above {threshold:g}"
    sentence = f"A label is predicted if its probability is {least}."
    if not model._single and (thresholds is not None or model.threshold == "probability"):
        return threshold, sentence, ()
    other = "the most probable class alone" if model._single else f"threshold={model.threshold}"
    return threshold, sentence, (f"warning: the model itself predicts by another rule: {other}",)


def _ranked(
    predictions: Predictions, answers: Answers, estimates: MetricEstimates | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Measure what all answers say, or remark why not; if that fails, estimates are enough."""
    asked = (answers.question == "asked") & judged_at_random(answers)
    weights = inverse_probability(answers)[asked]
    if estimates is not None and not np.allclose(weights, weights[:1]):
        remark = (
            "the questions were drawn with unequal chances. Only the figures above allow for that;"
            " how the model ranks the labels of these answers is left out"
        )
        return {}, (remark,)
    from complabel.methods import constant_log_likelihood  # imports torch

    constant: dict[str, float] = {}
    # One order for all items: labels that were denied more are lower.
    order = np.tile(-answers.item_weight @ answers.complementary, (answers.n_items, 1))
    try:
        error = complementary_ranking_error(answers, predictions.scores)
        log_likelihood = predictions.log_likelihood(answers)
        constant["ranking_error"] = complementary_ranking_error(answers, order)
        if log_likelihood is not None:
            constant["log_likelihood"] = constant_log_likelihood(answers[answers.answered])
    except AnnotationError as lacking:  # as where all answers are yes
        if estimates is None:
            raise
        return {}, (f"there are no other figures: {lacking}",)
    figures = {"ranking_error": error, "log_likelihood": log_likelihood, "constant": constant}
    return figures, ()


def _as_dict(figures: Figures) -> dict[str, Any]:
    values = {name: asdict(getattr(figures, name)) for name in FIGURES}
    for each in values.values():
        each["value"] = None if math.isnan(each["value"]) else each["value"]
    return values
