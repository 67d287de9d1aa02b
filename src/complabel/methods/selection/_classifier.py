"""The classifier that maximizes the exact likelihood of answers, linear or with an RBF kernel."""

from __future__ import annotations

from typing import Any

from complabel._parameters import Array, Bools, Features
from complabel._training import Blocks
from complabel.answers import Answers
from complabel.methods._consensus import Answered, ConsensusMixin
from complabel.methods._features import refuse_overflow
from complabel.methods._saving import may_miss
from complabel.methods.selection._model import SelectionModel, plain_annotators, plain_model

# Attributes that only some fits set. Each fit deletes those of the fit before.
_ONLY_SOME = (
    *(name for name, each in SelectionModel._fitted.items() if may_miss(each)),
    *("coef_", "intercept_", "propensities_", "error_rates_", "exclusion_rates_", "exposure_"),
    *("missed_", "invented_", "missed_by_label_", "invented_by_label_", "_last_fit"),
)


class SelectionLikelihoodClassifier(SelectionModel, ConsensusMixin):
    r"""Multi-label classifier that maximizes the exact likelihood of people's answers.

    Labels are independent given x, with p = sigmoid(W phi(x) + b). A person who names a label that
    does not apply picks one of these labels. All are equally likely, unless propensities are given
    or fitted. Then label j is named with probability

    .. math:: q_j = (1 - p_j) \int_0^1 \prod_{k \neq j} (p_k + (1 - p_k) t) dt

    A person who names a label that applies does so with the mirror image of this: p and 1 - p are
    exchanged. If there is a menu, k runs over the labels on offer. A person who is asked whether
    label j applies says "yes" with probability p_j. A label that does not apply is excluded with
    its exclusion rate, and one that applies is tagged with its exposure. A fit minimizes ::

        mean over rows of [- log q + (sum_k p_k - c)^2]  +  alpha ||W||_F^2  +  prior of b

    where q is the probability of all answers about a row, and c is the cardinality, about which
    labels that were named freely say little. The prior draws biases to their mean, the more so the
    less the answers say about how often each label applies; it is left out if frequencies,
    mistakes or rates of exclusion are known or found. Features
    phi(x), alpha, c and the rank of W are chosen together by the likelihood of held-out answers. No
    true label is used.

    ``fit`` takes an indicator of labels that were named freely, or
    :class:`complabel.answers.Answers` of any kinds. If you can, ask yes/no questions about
    random labels: they need no assumption about which labels come to mind.

    Of items that people answered about, ``predict_consensus``, ``doubtful_answers`` and
    ``annotators_table`` say what the features and all answers tell together.

    Parameters
    ----------
    alpha : "auto" or float, default="auto"
        Weight of the squared norm of W, for scaled features. If most answers name labels freely,
        held-out answers hardly tell its values apart. Then ``"auto"`` averages the maps of the
        likeliest value and of three common ones, which count by how near their likelihood is.
    cardinality : "auto", float or None, default="auto"
        c, the expected number of relevant labels per row; where people name labels that apply, the
        mean of all rows. ``"auto"`` takes the mean of the values
        that held-out answers cannot tell apart, or 1 if ``y`` is one class per row. None leaves the
        penalty out. So does ``"auto"`` if at least half of the answers determine c: yes/no answers
        about random labels, random menus of two labels, and exclusions.
    scaling : {"auto", "standardize", "global", "rows"}, default="auto"
        Of linear features: each is divided by its standard deviation, or all by one number.
        ``"rows"`` first divides each row by its length, which is good for counts of words.
    kernel : {"auto", "linear", "rbf"}, default="auto"
        ``"rbf"`` learns a linear map of the kernel exp(-gamma ||x - x'||^2), approximated by its
        values at some training rows. ``"auto"`` is ``"linear"`` with more than 500,000 rows.
    gamma : "auto" or float, default="auto"
        Of the kernel. ``"auto"`` searches around one over the mean squared distance of two rows.
    n_components : int, default=500
        The maximum number of training rows that approximate the kernel.
    rank : "auto", int or None, default="auto"
        The greatest rank of W. A low rank makes labels share what they learn. None is full rank.
        ``"auto"`` compares None with 2, 4, 8, 16 and 32 by held-out answers, and takes a rank that
        is better by two standard errors; if all labels were named freely, it is None.
    label_frequencies : "auto", None or array-like of shape (K,), default="auto"
        The share of rows to which each label applies, in [0, 1]. The mean probability of each label
        is kept near it. None, or ``cardinality=None``, leaves this out. ``"auto"`` estimates the
        shares if labels were named freely and there are at least K yes/no answers about random
        labels, unless ``propensities`` are given, or at least half of the answers determine the
        cardinality. :func:`complabel.frequencies.estimate_label_frequencies` is improved by the
        predictions of a fit to the other answers; of the sums within 1.5 standard errors, the one
        is taken that predicts held-out answers best. Propensities follow from the frequencies.
    propensities : None, "auto", "equal" or array-like of shape (K,), default=None
        How readily each label comes to mind when a person names one, relative to the others.
        ``"auto"`` fits propensities; it is refused if the answers do not determine them. Namings
        from random menus that offer "all of these apply" do, and free namings together with yes/no
        answers about random labels. With None, propensities follow from label frequencies, if these
        are known. Otherwise they are fitted if there are ten such answers per label and held-out
        answers become likelier by two standard errors. Else all labels are treated as alike, with a
        warning if labels were named freely and the answers cannot show whether this is true.
    error_rate : float, "auto" or "per-annotator", default=0.0
        The probability, in [0, 1), that an answer is a mistake: drawn at random from all answers
        that the question allows. ``"auto"`` fits one rate for all annotators if held-out answers
        become likelier, or if answers contradict each other. ``"per-annotator"`` estimates one rate
        for each from held-out answers; the answers must say who gave them. These rates are pulled a
        little towards 0.1, with the weight of ten more answers.
    missed, invented : "auto", float or array-like of shape (R,) or (R, K), default=0.0
        One-sided mistakes, instead of ``error_rate``: the probabilities, in [0, 1], that a person
        does not see that a label applies, and that a person thinks that one applies which does not.
        One number, one for each of ``annotator_names``, or one for each of them and each label.
        ``"auto"`` (for both) finds them together with the model. This needs pairs of an item and a
        label that two people judged. If nobody contradicts anybody, there are no mistakes to find.
        If the answers do not tell the rates, a warning says so and how many pairs are needed: the
        fit then takes rates with which each label applies as often as people say (they miss as many
        labels as they invent). The answers tell the rates if ``cardinality_interval_`` is short:
        its upper end at most 2.5 times the lower one. If people are named, each gets
        their own rates, which are drawn to the common ones: the fewer answers, the more. Estimated
        label frequencies are corrected by rates that are given, which then add up to less than 1
        for each annotator, but not by those that are found.
    exclusion_rates : None, float or array-like of shape (K,), default=None
        The probability, in [0, 1], that a rule or report excludes a label that does not apply. With
        None, it is the share of rows with the label excluded, divided by the share to which it does
        not apply, by label frequencies that are given, or estimated from at least K yes/no answers
        about random labels. Without these, excluded labels are treated as named freely, with a
        warning. The rates are never fitted: features can predict a rule, and the likelihood would
        mistake this for a high rate.
    exposure : None, float or array-like of shape (K,), default=None
        The probability, in [0, 1], that a label that applies is tagged. With None, it follows from
        given ``label_frequencies``, or from yes/no answers about random labels: exposures are drawn
        from one beta distribution, so that some 200 answers tell them even of many labels. If these
        are too few, ``cardinality`` tells one exposure that all labels share, and if it is "auto",
        held-out answers choose it. Then a warning says so, and there is no ``exposure_``.
    cv : int, default=3
        Number of folds of the training data for the automatic choices.
    warm_start : bool, default=False
        Whether the next ``fit`` starts from this one: with more answers, about the same labels and
        columns of X. Its choices, scaling and estimates of frequencies and mistakes are kept, and
        ``alpha_`` times the number of rows, until there are a quarter more answers, or a parameter
        is changed. Fits are not averaged then. If all answers judge labels, and X is dense, a refit
        takes a few passes over X.
    threshold : {"probability", "minmax"}, default="probability"
        Rule of ``predict``: p > 0.5, or the same after scaling each row of p to [0, 1].
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where a fit is computed; ``"auto"`` is CUDA if torch finds a GPU and rows, features and
        labels multiplied are at least a billion. Predictions, and refits that take a few passes,
        use the processor. A model in a file holds ``"auto"`` in place of ``"cuda"``.
    random_state : int, numpy.random.Generator or None, default=None
        Seed of the folds, and of the rows that approximate the kernel.
    callback : callable or None, default=None
        Called with ("search", settings tried, None, held-out loss) during the search, and then with
        ("classifier", iteration, maximum of iterations, loss).

    Attributes
    ----------
    alpha_, cardinality_, kernel_, scaling_, gamma_, rank_
        As given or chosen; ``scaling_`` only of linear features, ``gamma_`` only of the kernel, and
        ``rank_`` only if it is not full.
    mean_cardinality_ : float
        The mean over training rows of sum_k p_k: the number of labels expected to apply to a row.
    label_frequencies_ : ndarray of shape (K,)
        Given or estimated label frequencies, if any, adjusted to ``cardinality_``.
    label_frequencies_errors_, label_frequencies_covariance_ : ndarray of shape (K,) and (K, K)
        Standard errors of estimated frequencies, and the covariance of their errors: what the
        answers alone tell. The fit learned from the same answers, so it makes no error smaller.
    label_frequencies_intervals_ : ndarray of shape (K, 2)
        Intervals of 95 % from these answers; they reach at least to ``label_frequencies_``.
    propensities_ : ndarray of shape (K,)
        Given or found propensities, if any; found ones have a geometric mean of 1.
    error_rate_ : float
        The mean error rate over the answers, and that of annotators that ``fit`` did not know.
    error_rates_ : ndarray of shape (n_annotators,)
        If there are mistakes, the error rates in the order of the answers' ``annotator_names``.
    missed_, invented_ : ndarray of shape (n_annotators,)
        Given or found rates of missed and invented labels, if any, in the order of the answers'
        ``annotator_names``; means over labels if they differ by label. One common rate, of shape
        (1,), if the answers do not say who gave them.
    missed_by_label_, invented_by_label_ : ndarray of shape (K,)
        The same by label, means over annotators, if they differ by label.
    exclusion_rates_ : ndarray of shape (K,)
        Exclusion rates, if they were given or follow from random answers.
    exposure_ : ndarray of shape (K,)
        Exposures, if they were given, or follow from random answers or the cardinality.
    cv_results_ : dict of ndarrays of shape (n_settings,)
        The settings that were tried, as in scikit-learn's searches. Only if something was chosen.

        - ``param_NAME``: the value of each parameter, masked if it is not used;
          ``param_propensity_spread`` is that of the prior of fitted log-propensities.
        - ``mean_test_score``: the mean log-likelihood of held-out rows. A setting that is clearly
          worse on the first fold is not fitted to the others, and only compared by it.
        - ``std_test_score`` over the folds, ``standard_error_of_difference`` to the best, and
          ``rank_test_score``.
        - ``n_resources``: the number of rows that the setting was tried on; of many rows, the
          search begins on a part. ``alpha_`` is divided by the ratio of all rows to those that a
          fold was trained on.
        - ``weight`` of the setting's map in the mean; 1 of one setting, unless most answers
          name labels freely.
        - ``chosen``, the likeliest of these. If label frequencies were estimated, ``alpha_`` and
          ``cardinality_`` are chosen again after the estimate is improved.
    cardinality_curve_ : dict of ndarrays of shape (n_cardinalities,)
        If one was chosen, each ``cardinality`` tried, and ``mean_log_likelihood`` with the best
        alpha for it.
    cardinality_interval_ : ndarray of shape (2,)
        If the cardinality was chosen and no label frequencies are known: between which values all
        fit about as well. The ends are the nearest values tried under which held-out answers are
        less likely by three standard errors; 0 or K if there is none. The lower end is at most the
        number that was said to apply, where people named labels that do. It only holds if labels
        come to mind as readily as the fit assumes. If rates of people were found: the interval of
        95 % of labels per item, by the profile of the likelihood over these rates.
    model_ : LinearMap or MappedLinear
        Maps features to the logits of p.
    coef_, intercept_ : ndarrays of shape (K, n_features) and (K,)
        Only if the logits are a linear map of X: not with a kernel or ``scaling_="rows"``.
    n_iter_ : int
        Number of iterations of the last fit.
    classes_ : ndarray of shape (K,)
    n_features_in_ : int

    Warns
    -----
    AssumedUniformWarning
        If people named labels that apply, and nothing tells how many apply. If labels were named
        freely, and the fit assumes that all come to mind equally (give ``propensities="equal"`` if
        they do), if the rates of exclusions or tags are not known, or if mistakes shall be found
        and the answers do not tell them.

    See Also
    --------
    FrequencyMatchedClassifier : Matches any method's scores to how often labels apply.
    NetworkLikelihoodClassifier : Trains any network by the same likelihood.
    complabel.losses.answers_log_likelihood : This likelihood as a function of logits.
    complabel.losses.SelectionLikelihoodLoss : The loss for labels named freely.

    Notes
    -----
    Where :func:`complabel.losses.answers_log_likelihood` is composite, as for several menus or
    mistakes, the fit is consistent, but it ignores what several answers say together.

    The fit is full-batch L-BFGS and deterministic. One evaluation takes O(n K^2 / 2 + n d K) time,
    where d is the mean number of non-zeros per row, or ``n_components`` with a kernel. A fit with
    automatic choices takes some thousand evaluations, on one thread. To at most 128 judgements of
    each label, of up to 3,000 rows, Newton's method takes some four steps. In memory are ``cv``
    copies of the features; with a kernel, of n x ``n_components`` numbers. The objective is not
    convex.

    ``X`` of ``fit`` may also be a Dask array, or pieces of a file, which
    :func:`complabel.files.read_features` returns with ``in_pieces=True``. These, and a memory map
    of more than 1 GiB, are read in blocks, once for each evaluation of the last fit.

    On a GPU, features stay in its memory if they take at most half of what is free; else they are
    copied there block by block for each evaluation. Products of sparse features, and the blocks of
    a Dask cluster, stay on the processor. Results differ from the processor's by rounding. If the
    memory of the GPU does not suffice, ``"auto"`` fits on the processor, with a warning, and
    ``"cuda"`` is refused. X may be a tensor on any device; what is returned are arrays of NumPy.

    References
    ----------
    Williams and Seeger, "Using the Nyström Method to Speed Up Kernel Machines", NIPS 2000, in
    scikit-learn's implementation.

    Examples
    --------
    People see two labels drawn at random, and name one that does not apply, if there is one:

    >>> import numpy as np
    >>> from complabel.simulate import draw_answers
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> relevant = (X > 0.5).astype(int)
    >>> answers = draw_answers(relevant, question="menu-2", random_state=0)
    >>> classifier = SelectionLikelihoodClassifier(kernel="linear", random_state=0)
    >>> classifier.fit(X, answers).predict([[2.0, -1.0, -1.0]])
    array([[1, 0, 0]])
    >>> round(classifier.mean_cardinality_, 1), round(float(relevant.sum(axis=1).mean()), 1)
    (0.9, 0.9)
    """

    models_the_choice = True
    understands_answers = True
    reads_pieces = True
    learns_beside_machine = True

    def _fit_answers(self, X: Features, answers: Answers, /) -> None:
        from complabel.methods.selection._plan import learn  # imports torch

        if not isinstance(X, Blocks):  # of blocks, values are checked in the first pass
            refuse_overflow(X)
        attributes = learn(self, X, answers, self._report)
        if "cardinality_" in attributes:  # a refit leaves what was chosen
            self._forget(*_ONLY_SOME)
            self.cardinality_ = attributes.pop("cardinality_")  # may be None
        self._set_some(attributes)
        self._set_derived()

    def _refit_to_rows(self, X: Features, answers: Answers, rows: Bools) -> bool:
        """Refit to some rows, (n,), of a checked X if that needs no copy; return whether it did."""
        from complabel.methods.selection._refit import relearn_rows  # imports torch

        return relearn_rows(self, X, answers, rows)

    def _state(self) -> dict[str, Any]:
        people = plain_annotators(self._annotators)
        return {**super()._state(), "model_": plain_model(self.model_), "_annotators": people}

    def _answers_log_likelihood(self, decision: Array, answers: Answers, /) -> Array:
        return self._annotators.likelihood(answers).log_likelihood(decision)

    def _answered(self, answers: Answers, /) -> Answered:
        # With the least exposure, a tag says that its label applies, and nothing of the others.
        likelihood = self._annotators.likelihood(answers, unknown_exposure=1e-9)
        known = likelihood.known
        listed = known.exclusion_rates, known.exposure
        return Answered(likelihood.answers, known.propensities, known.error_rates, *listed)

    def _report(self, stage: str, number: int, most: int | None, loss: float) -> None:
        if self.callback is not None:
            self.callback(stage, number, most, loss)
