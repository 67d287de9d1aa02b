"""The steps of a fit: what the answers determine, what is known, what is chosen, and the fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch

from complabel._parameters import Array, Features, check_random_state, check_real
from complabel._training import (
    CPU,
    MUCH_WORK,
    Blocks,
    LinearMap,
    device_for,
    full_precision,
    one_thread,
)
from complabel.answers import Answers
from complabel.errors import AnnotationError, InputError
from complabel.frequencies import (
    LabelFrequencies,
    drawn_at_random,
    estimate_exposure,
    estimate_label_frequencies,
    frequencies_with_propensities,
    given_frequencies,
    judged_at_random,
    rates_of_lists,
    tag_shares,
)
from complabel.losses import AnswersLikelihood, check_rates
from complabel.methods._door import warn_assumed, warn_user
from complabel.methods._kinds import (
    AnswerKinds,
    given_propensities,
    refuse_shared_propensities,
    refuse_undetermined_propensities,
    warn_of_free_namings,
)
from complabel.methods.selection._annotators import Annotators, named_where_excluded
from complabel.methods.selection._blocks import SomeRows
from complabel.methods.selection._features import PreparedFeatures, feature_maps, landmark_rows
from complabel.methods.selection._known import KnownRates, OneSided
from complabel.methods.selection._likelihood import Likelihood
from complabel.methods.selection._mistakes import (
    Repeats,
    are_determined,
    first_rates,
    given_mistakes,
    warn_of_other_number,
    warn_of_unknown_mistakes,
)
from complabel.methods.selection._refit import LastFit, relearn
from complabel.methods.selection._search import (
    FIRST_ALPHA,
    HalvingSearch,
    Space,
    cardinality_grid,
    rung_sizes,
    search_order,
)
from complabel.methods.selection._trials import drawn_to, fit_maps

# Standard deviations of log-propensities. At .1 labels are nearly alike; at 1.1, one label in
# twenty comes to mind six times as readily as a usual one.
_SPREADS = (0.1, 0.14, 0.2, 0.28, 0.4, 0.56, 0.8, 1.1)
# If answers contradict each other, some are mistakes. Then rates below .03 are not tried.
_ERROR_RATES = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.4, 0.5)
_LEAST_OF_CONTRADICTIONS = 0.03
# The search for the rates of annotators starts here.
_FIRST_ERROR_RATE = 0.05
_RANKS = (2, 4, 8, 16, 32)
# With less judgements than this for each label, a low rank was never better by the two standard
# errors that it needs (simulations of ranks 1, 2 and 16, of 6 to 40 labels).
_ENOUGH_FOR_RANK = 30
# With propensities=None, they are fitted from this many random answers per label on. The share of
# "yes" among ten answers has a standard error of at most .16.
_ENOUGH_PER_LABEL = 10
# The sums of frequencies that are compared lie at these distances from the estimate, in standard
# errors. The search then also tries means of neighbours.
_STEPS = (-1.5, 0.0, 1.5)
# Sums of frequencies keep this share of K away from 0 and from K.
_LEAST_SHARE = 0.01
# To so many whole forms, and fewer, fits are calmed (``Search.calmed``).
_FEW_FORMS = 128
# Frequencies are kept this far from 0 and 1, because no finite logit has a sigmoid of 0 or 1.
_RAREST = 1e-6

Report = Callable[[str, int, "int | None", float], None]


def learn(classifier: Any, X: Features, answers: Answers, report: Report) -> dict[str, Any]:
    """Make the automatic choices of a SelectionLikelihoodClassifier, fit, and return attributes."""
    device = device_for(classifier.device, X.shape[0] * X.shape[1] * answers.n_labels)
    try:
        with full_precision() if device != CPU else nullcontext():
            return _learned(classifier, X, answers, report, device)
    except torch.OutOfMemoryError as error:
        if classifier.device != "auto":
            raise InputError(
                f"device={classifier.device!r} has too little free memory for this fit; give"
                " device='cpu', or end what else uses it"
            ) from error
        warn_user("the GPU has too little memory for this fit; the processor does it", UserWarning)
    return _learned(classifier, X, answers, report, CPU)


def _learned(
    classifier: Any, X: Features, answers: Answers, report: Report, device: torch.device
) -> dict[str, Any]:
    if hasattr(classifier, "_last_fit") and not isinstance(X, Blocks):
        last_fit = LastFit.usable(classifier, X, answers)
        if last_fit is not None:
            return relearn(classifier, last_fit, X, answers, device=device)
    # Estimated label frequencies are improved by the predictions of a fit without the judgements of
    # random labels. Then the sum of frequencies and alpha are chosen again.
    likelihood, space = plan_for(classifier, answers, n_features=X.shape[1])
    likelihood, answered = replace(likelihood, device=device), likelihood.known.frequencies
    rng = check_random_state(classifier.random_state)
    folds_seed, rows_seed = (int(seed) for seed in rng.integers(2**32, size=2))
    if isinstance(X, Blocks):
        n = X.shape[0]
        landmarks = landmark_rows(n, classifier.n_components, rows_seed)
        searched = search_order(n, folds_seed)[: rung_sizes(n)[-1]]
        X = SomeRows.of(X, np.concatenate([searched, landmarks]))
    search_of = partial(
        HalvingSearch,
        X,
        cv=classifier.cv,
        seed=folds_seed,
        tunes_alpha=classifier.alpha == "auto",
        on_setting=partial(report, "search"),
    )
    # With little work, threads would spend more time waiting for each other than they save.
    work = X.shape[0] * X.shape[1] * answers.n_labels
    with one_thread() if work < MUCH_WORK else nullcontext():
        names = ("kernel", "scaling", "gamma", "n_components")
        feature_settings = {name: getattr(classifier, name) for name in names}
        space = replace(space, features=feature_maps(X, **feature_settings, seed=rows_seed))
        search = search_of(likelihood, tunes_gamma=classifier.gamma == "auto")
        # Penalties are averaged where most answers name labels, which hardly tell them apart. The
        # next fit of a warm start goes on from one setting; blocks have rows enough.
        names_most = len(space.cardinalities) > 1 and likelihood.known.frequencies is None
        average = names_most and not classifier.warm_start and not isinstance(X, SomeRows)
        few_forms = _are_few_forms(classifier, likelihood, space)
        weights = search.choose_settings(space, average=average, few_forms=few_forms)
        setting, *others = weights
        curve, interval = None, None
        if len(space.cardinalities) > 1:
            curve = search.cardinality_curve()
            interval = (
                search.cardinality_interval() if likelihood.known.frequencies is None else None
            )
            interval = interval and _with_what_is_said(interval, answers)
        labels_per_item = _labels_per_item(search, answers)
        results = search.results()
        prepared = search.prepare(setting.features)
        if answered is not None and answered.cardinality_error > 0:
            named = replace(likelihood, answers=answers_without_audit(likelihood.answers))
            linear = fit_maps(prepared, named, setting).models[0]
            predictions = prepared.probabilities(linear)
            sharpened = _estimated(classifier, likelihood.answers, predictions=predictions)
            again = space.around(setting)
            if [*again.cardinalities] == _cardinalities_near(answered):
                again = replace(again, cardinalities=_cardinalities_near(sharpened))
            likelihood = likelihood.with_frequencies(sharpened)
            (setting,) = search_of(likelihood, tunes_gamma=False).choose_settings(again)
        iterations = partial(report, "classifier")
        fits = fit_maps(prepared, likelihood, setting, on_iteration=iterations)
        maps = [fits, *(fit_maps(prepared, likelihood, each, start=fits) for each in others)]
        log_w = None if setting.spread is None else fits.others[0]
        annotators = Annotators.of(likelihood.at(setting), setting, log_w)
        last_fit = None
        if classifier.warm_start and isinstance(prepared, PreparedFeatures):
            last_fit = LastFit.of(classifier, setting, likelihood, prepared, fits, annotators)
    models = [each.models[0] for each in maps]
    if few_forms:
        constant = likelihood.constant_logits(None)
        models = [
            LinearMap(each.kept * model.coef, drawn_to(constant, model.intercept, each.kept))
            for each, model in zip(weights, models, strict=True)
        ]
    linear = LinearMap.mean(models, [*weights.values()]) if others else models[0]
    mean = prepared.mean_cardinality(linear, likelihood.weights)
    warn_of_other_number(mean, labels_per_item)
    interval = interval or labels_per_item
    return {
        "alpha_": setting.alpha,
        "cardinality_": setting.cardinality,
        "mean_cardinality_": mean,
        "rank_": setting.rank,
        **{
            f"{name}_": value
            for name, value in (setting.features.parameters | setting.of_penalties).items()
        },
        **_of_frequencies(classifier, likelihood, setting.cardinality, answered),
        "cv_results_": results,
        "cardinality_curve_": curve,
        "cardinality_interval_": interval and np.sort([*interval, mean])[[0, 2]],
        "model_": prepared.model(linear),
        "n_iter_": fits.n_iter,
        "_annotators": annotators,
        "_last_fit": last_fit,
    }


def _with_what_is_said(interval: tuple[float, float], answers: Answers) -> tuple[float, float]:
    """Return between which numbers of labels per item all fit about as well; warn if it is wide.

    Where labels that apply were named, the least is what answers say. Labels that exclude each
    other, such as one for each item, are named as if more of them applied.
    """
    if not np.isin(answers.question, ("positive", "tagged")).any():
        return interval
    known = float(answers.known_relevant[answers.answered].sum(axis=1).mean())
    least, most = min(known, interval[0]), interval[1]
    if not are_determined((least, most)):
        warn_assumed(
            "labels that apply were named or tagged, which hardly tells how many apply to an item:"
            f" between {least:.3g} and {most:.3g}. Probabilities depend on it, the order of labels"
            " less. Give cardinality, or ask some 200 yes/no questions about random labels"
        )
    return least, most


def _labels_per_item(search: HalvingSearch, answers: Answers) -> tuple[float, float] | None:
    """Return between which numbers of labels per item the rates that were found are; else None.

    If the answers do not tell the rates, warn.
    """
    interval = search.labels_per_item
    if interval is None or are_determined(interval):
        return interval
    warn_of_unknown_mistakes(Repeats.of(answers), interval)
    return None


def answers_without_audit(answers: Answers) -> Answers:
    return answers.only(~judged_at_random(answers))


def _of_frequencies(
    classifier: Any, likelihood: Likelihood, sum_: float | None, answered: LabelFrequencies | None
) -> dict[str, Any]:
    """Return frequencies with the errors of the answers alone: the fit learned from the same."""
    if likelihood.known.frequencies is None or answered is None:
        return {}
    alone = answered.judged(None if classifier.cardinality == "auto" else sum_)
    frequencies = likelihood.known.frequencies.judged(sum_).with_errors_of(alone)
    shown = {"label_frequencies_": frequencies.values}
    if frequencies.cardinality_error > 0:
        shown["label_frequencies_errors_"] = frequencies.standard_errors
        shown["label_frequencies_covariance_"] = frequencies.covariance
        shown["label_frequencies_intervals_"] = frequencies.intervals
    return shown


def plan_for(classifier: Any, answers: Answers, *, n_features: int) -> tuple[Likelihood, Space]:
    """Return what a fit learns from, and the values to choose from; features are left open."""
    weights = answers.item_weight if answers.weighted else None
    kinds = AnswerKinds.of(answers)
    exposure, labels_per_item = _exposure(classifier, kinds, answers)
    shares = tag_shares(answers) if kinds.tagged and exposure is None else None
    if shares is not None:  # then tags do not tell how many labels apply
        kinds = replace(kinds, determining_tags=0)
    frequencies = _frequencies(classifier, kinds, answers)
    propensities = given_propensities(classifier.propensities, answers.n_labels)
    spreads: Sequence[float | None] = [None]
    refuse_shared_propensities(kinds, classifier.propensities)
    if frequencies is not None and propensities is None and classifier.propensities == "equal":
        frequencies = replace(frequencies, propensities=None)
    elif propensities is None and (frequencies is None or frequencies.propensities is None):
        spreads = _spreads(classifier, kinds, answers.n_labels)
    rates = _exclusion_rates(classifier, kinds, answers, frequencies)
    if rates is None and kinds.excluded:
        answers = named_where_excluded(answers)
    some = exposure if shares is None else np.full(answers.n_labels, 0.5)  # any is possible
    listed = {"exclusion_rates": rates, "exposure": some}
    known_rates, error_rates = _rates_of_mistakes(classifier, answers, listed)
    space = Space(
        features=(),
        cardinalities=_cardinalities(classifier, kinds, answers, frequencies, labels_per_item),
        alpha=FIRST_ALPHA if isinstance(classifier.alpha, str) else classifier.alpha,
        ranks=_ranks(classifier, kinds, answers, most=min(answers.n_labels, n_features)),
        spreads=spreads,
        error_rates=error_rates,
        by_annotator=classifier.error_rate == "per-annotator",
        of_each=not kinds.tell_numbers,
        finds_one_sided=isinstance(error_rates[0], OneSided),
    )
    known = KnownRates(
        propensities, known_rates, rates, exposure, tag_shares=shares, frequencies=frequencies
    )
    mean_weight = 1.0 if weights is None else float(weights.mean())
    return Likelihood(answers, known, weights, mean_weight), space


def _frequencies(classifier: Any, kinds: AnswerKinds, answers: Answers) -> LabelFrequencies | None:
    """Return the label frequencies, given or estimated, that a fit should use; else None."""
    # If most answers determine them, the likelihood uses these directly. Fewer random judgements
    # than labels say too little.
    values = classifier.label_frequencies
    if values is None:
        return None
    if not isinstance(values, str):
        checked = given_frequencies(values, classifier.classes_, one_applies=classifier._single)
        return frequencies_with_propensities(np.clip(checked, _RAREST, 1 - _RAREST), answers)
    if values != "auto":
        raise InputError(
            f"label_frequencies is {values!r}; give None, 'auto' or one number per label"
        )
    known = classifier.cardinality is None or classifier._single
    given_w = classifier.propensities
    open_w = given_w is None or (isinstance(given_w, str) and given_w == "auto")
    if known or not open_w or not kinds.free or kinds.judged < answers.n_labels:
        return None
    if 2 * kinds.determining >= kinds.all:
        return None
    return _estimated(classifier, answers)


def _estimated(
    classifier: Any, answers: Answers, *, predictions: Array | None = None
) -> LabelFrequencies:
    """Estimate label frequencies from answers with the mistakes that were given, if any."""
    mistakes: dict[str, Any] = {"missed": classifier.missed, "invented": classifier.invented}
    if any(isinstance(rates, str) for rates in mistakes.values()):
        mistakes = {}  # they will be found with the model, which needs the frequencies first
    answers = answers if predictions is None else drawn_at_random(answers)
    return estimate_label_frequencies(answers, predictions=predictions, **mistakes).with_choices


def _all_judged(answers: Answers) -> bool:
    if not answers.judges.all():
        return False
    pairs = np.unique(answers.statements().pair)
    return len(pairs) == int(answers.answered.sum()) * answers.n_labels


def _are_few_forms(classifier: Any, likelihood: Likelihood, space: Space) -> bool:
    """Return whether a fit is automatic, and learns from a few forms of all labels alone."""
    automatic = classifier.alpha == "auto" and not classifier.warm_start
    known = (
        likelihood.known.error_rates,
        likelihood.known.frequencies,
        likelihood.weights,
        *space.error_rates,
    )
    if not automatic or any(each is not None for each in known) or len(space.cardinalities) > 1:
        return False
    answered = int(likelihood.answers.answered.sum())
    return (
        answered <= _FEW_FORMS
        and space.cardinalities[0] is None
        and _all_judged(likelihood.answers)
    )


def _cardinalities(
    classifier: Any,
    kinds: AnswerKinds,
    answers: Answers,
    frequencies: LabelFrequencies | None,
    labels_per_item: float | None,
) -> Sequence[float | None]:
    """Return the cardinalities to choose from; None if the answers determine the cardinality."""
    c = classifier.cardinality
    if c == "auto":
        if labels_per_item is not None:  # by tags and judgements
            return [labels_per_item]
        if frequencies is not None:
            return _cardinalities_near(frequencies)
        # With one class per row, exactly one label is relevant, as predict_proba assumes.
        if classifier._single:
            return [1.0]
        determined = 2 * kinds.determining >= kinds.all or _all_judged(answers)
        return [None] if determined else cardinality_grid(answers.n_labels)
    if c is not None:
        check_real("cardinality", c, above=0, below=answers.n_labels)
    return [c]


def _cardinalities_near(frequencies: LabelFrequencies) -> Sequence[float]:
    """Return the sums of frequencies to choose from; only one if the frequencies are known.

    Labels that were named because they apply prefer too many, so judgements alone decide the sum.
    """
    judged = frequencies.judged(None)
    c, error = judged.cardinality, judged.cardinality_error
    if not error:
        return [c]
    n_labels = len(judged.values)
    steps = _STEPS if judged is frequencies else (0.0,)
    sums = np.clip(c + error * np.array(steps), _LEAST_SHARE * n_labels, None)
    return [float(each) for each in np.minimum(sums, (1 - _LEAST_SHARE) * n_labels)]


def _ranks(
    classifier: Any, kinds: AnswerKinds, answers: Answers, *, most: int
) -> Sequence[int | None]:
    """Return the ranks to choose from; only full rank if the answers can hardly tell them apart."""
    if classifier.rank != "auto":
        return [classifier.rank]
    few = answers.judges.all() and len(answers.statements()) < _ENOUGH_FOR_RANK * answers.n_labels
    if kinds.free == kinds.all or few:
        return [None]
    return [None, *(rank for rank in _RANKS if rank < most)]


def _spreads(classifier: Any, kinds: AnswerKinds, n_labels: int) -> Sequence[float | None]:
    propensities = classifier.propensities
    if propensities == "auto":
        refuse_undetermined_propensities(kinds)
        return _SPREADS
    if kinds.of_both:  # how readily labels are named differs between both
        return [None]
    enough = kinds.menus + min(kinds.judged, kinds.free) >= _ENOUGH_PER_LABEL * n_labels
    if propensities is None and kinds.determine_propensities and enough:
        return [None, *_SPREADS]
    if propensities is None and kinds.free:
        warn_of_free_namings(kinds)
    return [None]


def _rates_of_mistakes(
    classifier: Any, answers: Answers, listed: Mapping[str, Any]
) -> tuple[Array | None, Sequence[float | OneSided | None]]:
    """Return the given rates of any mistakes, or None, and the rates to choose from."""
    known = given_mistakes(classifier, answers)
    if known is None:
        return _error_rates(classifier, answers, listed)
    if not isinstance(known, str):
        return known, [None]
    contradictory = _contradict(answers, listed)
    repeats = Repeats.of(answers)
    if not (repeats.tell or contradictory):
        warn_of_unknown_mistakes(repeats)
    # If people always agree, there are no mistakes to find.
    return None, [first_rates(answers, repeats) if contradictory else None]


def _contradict(answers: Answers, listed: Mapping[str, Any]) -> bool:
    try:
        AnswersLikelihood(answers, **listed)
    except AnnotationError:
        return True
    return False


def _error_rates(
    classifier: Any, answers: Answers, listed: Mapping[str, Any]
) -> tuple[Array | None, Sequence[float | None]]:
    """Return the given error rates (R + 1,) or None, and the rates to choose from."""
    # A common rate is chosen by held-out answers. Fitted together with the map, it would be too
    # small: a map that fits the training answers closely also explains their mistakes.
    error_rate = classifier.error_rate
    if error_rate == "per-annotator":
        if not answers.annotator_names:
            raise InputError(
                "error_rate='per-annotator', but the answers do not say who gave them; give Answers"
                " the annotators, or use error_rate='auto' for one rate of all"
            )
        return None, [_FIRST_ERROR_RATE]
    if error_rate == "auto":
        if _contradict(answers, listed):
            return None, [rate for rate in _ERROR_RATES if rate >= _LEAST_OF_CONTRADICTIONS]
        return None, [None, *_ERROR_RATES]
    if error_rate == 0:
        return None, [None]
    return check_rates("error_rate", error_rate, len(answers.annotator_names) + 1, "annotator"), [
        None
    ]


def _exclusion_rates(
    classifier: Any, kinds: AnswerKinds, answers: Answers, frequencies: LabelFrequencies | None
) -> Array | None:
    exclusion_rates = classifier.exclusion_rates
    if isinstance(exclusion_rates, str):
        raise InputError(
            f"exclusion_rates is {exclusion_rates!r}; give None, a number or one number per label"
        )
    if exclusion_rates is not None:
        return check_rates("exclusion_rates", exclusion_rates, answers.n_labels, "label")
    if not kinds.excluded:
        return None
    if frequencies is None and kinds.judged >= answers.n_labels:
        frequencies = _estimated(classifier, answers)
    if frequencies is not None:
        return rates_of_lists(answers, frequencies.values)
    warn_assumed(
        "a rule or a report excluded labels, but it is not known how often it excludes a label that"
        " does not apply, so these labels are treated as named freely. Give exclusion_rates, or ask"
        " yes/no questions about random labels of some items"
    )
    return None


def _exposure(
    classifier: Any, kinds: AnswerKinds, answers: Answers
) -> tuple[Array | None, float | None]:
    """Return how often each label that applies is tagged (K,), if that is given or follows.

    If it follows from judgements, so does the number of labels per item.
    """
    if isinstance(classifier.exposure, str):
        raise InputError(
            f"exposure is {classifier.exposure!r}; give None, a number or one number per label",
            parameter="exposure",
        )
    if classifier.exposure is not None:
        return check_rates("exposure", classifier.exposure, answers.n_labels, "label"), None
    if not kinds.tagged:
        return None, None
    frequencies = classifier.label_frequencies
    if frequencies is not None and not isinstance(frequencies, str):
        checked = given_frequencies(frequencies, classifier.classes_, one_applies=False)
        return rates_of_lists(answers, np.maximum(checked, _RAREST), "tagged"), None
    exposure = estimate_exposure(answers, **_one_sided(classifier))
    if exposure is not None and are_determined(exposure.interval):
        return exposure.values, exposure.cardinality
    warn_assumed(
        "tags do not tell how readily each label is tagged: one that few items have may be rare, or"
        " seldom tagged. The fit assumes that all labels are alike in this. The order of items for"
        " each label hardly depends on it; the order of an item's labels, probabilities and"
        " thresholds do. Ask some 200 yes/no questions about random labels (complabel ask -n 200),"
        " or give exposure"
    )
    return None, None


def _one_sided(classifier: Any) -> dict[str, float]:
    """Return the mean rates of missed and invented labels, as far as they were given."""
    both = {name: getattr(classifier, name) for name in ("missed", "invented")}
    if any(isinstance(rates, str) for rates in both.values()):
        return {}
    return {name: float(np.mean(rates)) for name, rates in both.items()}
