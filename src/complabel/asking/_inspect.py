"""The function ``inspect_answers``, which inspects answers before a fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from complabel._parameters import AnyArray
from complabel.answers import QUESTIONS, Answers, contradictions_table
from complabel.asking._choice import tests_of_choice
from complabel.asking._findings import Context, all_findings
from complabel.asking._inspection import (
    Agreement,
    AnnotatorSummary,
    Contradiction,
    Inspection,
    Knowledge,
    LabelSummary,
)
from complabel.asking._statistics import (
    AnswerStatements,
    Shared,
    identical_labels,
    look_at_features,
    names_of_labels,
    nested_exclusions,
    shares_that_differ,
    summarize_kinds,
    times_of,
)
from complabel.errors import InputError
from complabel.frequencies import (
    LabelFrequencies,
    estimate_label_frequencies,
    judged_at_random,
    rates_of_lists,
)

_MOST_APART = 5  # people whose answers are looked at apart from the others
_SHOWN = 100  # contradictions that are listed
# An estimate from named labels takes minutes with more labels, or with more menu entries.
_MOST_LABELS = 200
_MOST_CELLS = 200_000
# Menus alone give frequencies only through answers that say that all labels of a menu apply.
_LEAST_ALL_APPLY = 50
# Relative standard error. A worse estimate from menus alone depends mostly on the prior.
_MOST_ERROR = 0.2


def inspect_answers(
    answers: Answers,
    X: ArrayLike | None = None,
    *,
    labels_listed: bool = True,
    source: str = "answers.csv",
    features: str = "",
) -> Inspection:
    """Count answers, find contradictions and failing assumptions, and say what to ask next.

    No model is fitted. Label frequencies are estimated, if the answers allow it. Tests use the
    significance level .01.

    Parameters
    ----------
    answers : Answers
        They may contradict each other: make them with ``contradictions="keep"``. Then both
        statements count.
    X : array-like or sparse matrix of shape (n_items, n_features), optional
        Finite features, one row for each item.
    labels_listed : bool, default=True
        Give False if the labels were taken from the answers, so that others may be missing.
    source : str, default="answers.csv"
        Name of the answers in the suggested commands; empty to leave commands out.
    features : str, default=""
        Name of the features in the suggested commands, if they are in a file.

    Returns
    -------
    Inspection
        Counts, tests, estimates and findings.

    Raises
    ------
    InputError
        If ``answers`` is not an Answers object, or if X does not fit it or is not finite.

    Examples
    --------
    >>> from complabel.simulate import draw_answers
    >>> rng = np.random.default_rng(0)
    >>> Y = (rng.random((500, 5)) < 0.3).astype(np.uint8)
    >>> named = draw_answers(Y[~Y.all(axis=1)], random_state=0)
    >>> found = inspect_answers(named)
    >>> found.next_step.name, found.next_step.command
    ('choice-unchecked', 'complabel ask answers.csv -n 200 --out questions.csv')
    """
    if not isinstance(answers, Answers):
        raise InputError(
            f"answers must be Answers, got {type(answers).__name__}; Answers.from_table makes them"
            " from a table"
        )
    statements = AnswerStatements.by(answers)
    differing = tuple(shares_that_differ(statements))
    knowledge, by_label, audit = _what_is_known(statements, [each.annotator for each in differing])
    shared = Shared.of(statements)
    agreement = shared.agreement()
    names = names_of_labels(answers)
    disputed = contradictions_table(answers, most=_SHOWN)
    kinds, identical = summarize_kinds(statements), identical_labels(statements)
    inspection = Inspection(
        n_items=answers.n_items,
        n_labels=answers.n_labels,
        n_answers=answers.n_answers,
        n_unanswered=int(np.count_nonzero(~answers.answered)),
        n_all_apply=int(np.count_nonzero(answers.exhausted & (answers.question == "named"))),
        n_contradictions=len(statements.contradicted),
        n_repeated=statements.n_repeated(),
        questions={
            word: int(np.count_nonzero(answers.question == word))
            for word in QUESTIONS
            if (answers.question == word).any()
        },
        labels=_labels(statements, by_label),
        annotators=_annotators(statements, shared, agreement),
        contradictions=tuple(
            Contradiction(str(item), str(label), *sides)
            for item, label, *sides in zip(*disputed.values(), strict=True)
        ),
        agreement=agreement,
        knowledge=knowledge,
        kinds=kinds,
        times=times_of(answers, kinds),
        tests=tuple(tests_of_choice(statements, audit)),
        identical=tuple(tuple(names[label] for label in group) for group in identical),
        nested=tuple((names[a], names[b]) for a, b in nested_exclusions(statements)),
        features=None if X is None else look_at_features(X, statements),
        yes_shares=differing,
    )
    context = Context(inspection, statements, labels_listed, source, features)
    return replace(inspection, findings=all_findings(context))


_Columns: TypeAlias = dict[str, AnyArray]  # by the names of LabelSummary; arrays are (K,)


def _labels(statements: AnswerStatements, known: _Columns) -> tuple[LabelSummary, ...]:
    about_all = int((np.diff(statements.answers.offered.indptr) == 0).sum())
    offered = np.bincount(statements.answers.offered.indices, minlength=statements.n_labels)
    columns = known | {
        "offered": offered + about_all,
        "named": statements.counts(statements.is_kind("named")),
        "absent": statements.counts(statements.is_kind("absent", "implied_no")),
        "relevant": statements.counts(statements.applies),
        "excluded": statements.counts(statements.is_kind("excluded")),
        "judged": statements.counts(statements.judged),
        "yes": statements.counts(statements.judged & statements.applies),
    }
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return tuple(
        LabelSummary(label=name, **dict(zip(columns, row, strict=True)))
        for name, row in zip(names_of_labels(statements.answers), rows, strict=True)
    )


def _annotators(
    statements: AnswerStatements, shared: Shared, agreement: Agreement | None
) -> tuple[AnnotatorSummary, ...]:
    answers, n = statements.answers, len(statements.answers.annotator_names)
    if not n:
        return ()
    judged = statements.judged & (answers.annotator[statements.answer] >= 0)
    person = answers.annotator[statements.answer[judged]]
    n_answers = np.bincount(answers.annotator[answers.annotator >= 0], minlength=n)
    n_judged = np.bincount(person, minlength=n)
    n_yes = np.bincount(person, weights=statements.applies[judged], minlength=n)
    seconds: dict[int, list[float]] = {}
    for at, taken in zip(answers.annotator.tolist(), answers.seconds.tolist(), strict=True):
        if at >= 0 and not np.isnan(taken):
            seconds.setdefault(at, []).append(taken)
    n_shared, agreed, rates = np.zeros(n, dtype=np.intp), np.zeros(n), np.full(n, np.nan)
    may_disagree = len(set(statements.applies[statements.judged])) > 1  # some could disagree
    if agreement is not None and may_disagree:
        n_shared, agreed = shared.by_person()
        if agreement.error_rate is not None:
            rates = shared.error_rates(agreement.error_rate)
    return tuple(
        AnnotatorSummary(
            annotator=answers.annotator_names[at],
            answers=int(n_answers[at]),
            judged=int(n_judged[at]),
            yes_share=float(n_yes[at] / n_judged[at]) if n_judged[at] else None,
            shared=int(n_shared[at]),
            agreement=float(agreed[at]) if n_shared[at] else None,
            error_rate=None if np.isnan(rates[at]) else float(rates[at]),
            seconds=median(seconds[at]) if at in seconds else None,
        )
        for at in np.argsort(-n_answers, kind="stable").tolist()
    )


def _what_is_known(
    statements: AnswerStatements, differing: list[str]
) -> tuple[Knowledge, _Columns, LabelFrequencies | None]:
    """Return what is known about label frequencies; the last is from random judgements only."""
    answers = statements.answers
    at_random = judged_at_random(answers)
    judged = answers.judges
    n_items = max(answers.n_items, 1)
    at_least, denied = (
        np.bincount(pairs % answers.n_labels, minlength=answers.n_labels) / n_items
        for pairs in (statements.affirmed, statements.denied)
    )
    columns = {"at_least": at_least, "at_most": 1 - denied}
    audit = estimate_label_frequencies(answers.only(at_random)) if at_random.any() else None
    estimate, reason = _estimate(answers, audit)
    if estimate is not None:
        columns["frequency"] = estimate.values
        columns["low"], columns["high"] = estimate.intervals.T
        if estimate.propensities is not None:
            columns["propensity"] = estimate.propensities
        rates = rates_of_lists(answers, np.minimum(estimate.values, 1 - 1e-6))
        if rates is not None:
            columns["exclusion_rate"] = rates
    summary = Knowledge(
        known=estimate is not None,
        reason=reason,
        n_random=int(at_random.sum()),
        n_not_random=int((judged & ~at_random).sum()),
        at_least=float(at_least.sum()),
        at_most=float((1 - denied).sum()),
        cardinality=None if estimate is None else estimate.cardinality,
        error=None if estimate is None else estimate.cardinality_error,
        spread=None if estimate is None or estimate.propensities is None else estimate.spread,
        apart=() if estimate is None else tuple(_apart(answers.only(at_random), differing)),
    )
    return summary, columns, audit


def _apart(answers: Answers, differing: list[str]) -> Iterator[tuple[str, float, float]]:
    """Yield the cardinality by each of those who differ, and by the others, with its error."""
    codes = [answers.annotator_names.index(name) for name in differing[:_MOST_APART]]
    others = ~np.isin(answers.annotator, codes)
    parts = [(repr(answers.annotator_names[code]), answers.annotator == code) for code in codes]
    for name, rows in [*parts, ("the others", others)]:
        if codes and rows.any():
            estimate = estimate_label_frequencies(answers.only(rows))
            yield name, estimate.cardinality, estimate.cardinality_error


def _estimate(
    answers: Answers, audit: LabelFrequencies | None
) -> tuple[LabelFrequencies | None, str]:
    """Return the best estimate that takes only seconds, and what it is based on."""
    judged = "" if audit is None else f"{audit.n_audit:,} random judgements"
    named = answers.chooses
    if not named.any() and audit is not None:
        return audit, judged
    if not named.any():
        return None, "nothing was judged at random"
    if answers.n_labels > _MOST_LABELS:
        if audit is not None:
            return audit, f"{judged}; with {answers.n_labels:,} labels, named ones are not used"
        return None, "nothing was judged at random"
    used, sample = _sampled(answers)
    if audit is None and not (answers.question == "named").any():
        return None, "nothing was judged at random, and what people name by choice is no sample"
    if audit is None and np.count_nonzero(used.exhausted) < _LEAST_ALL_APPLY:
        return None, "nothing was judged at random, and few said that all labels of a menu apply"
    try:
        estimate = estimate_label_frequencies(used)
    except InputError:
        return None, "the answers to random questions do not tell"
    if audit is None and estimate.cardinality_error > _MOST_ERROR * estimate.cardinality:
        return None, f"nothing was judged at random, and the menus{sample} tell too little"
    if estimate.propensities is None or not (answers.question == "named").any():
        return estimate, judged
    return estimate, " and ".join(filter(None, [judged, f"labels named{sample}"]))


def _sampled(answers: Answers) -> tuple[Answers, str]:
    """Return answers with few enough menus for seconds of work, and words for the reduction."""
    n_named = np.diff(answers.chosen.indptr)
    slow = answers.chooses & (
        (answers.n_offered < answers.n_labels) | (answers.asked_for != 1) | (n_named != 1)
    )
    rows, most = np.flatnonzero(slow), _MOST_CELLS // answers.n_labels
    if len(rows) <= most:
        return answers, ""
    drawn = np.random.default_rng(0).choice(rows, most, replace=False)
    slow[drawn] = False
    return answers.only(~slow), f" (a random {most:,} of {len(rows):,} menus)"
