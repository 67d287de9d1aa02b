"""The function ``inspect_answers``, which inspects answers before a fit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from complabel.answers import QUESTIONS, Answers
from complabel.asking._agreement import Shared
from complabel.asking._choice import tests_of_choice
from complabel.asking._features import look_at_features
from complabel.asking._finding_context import Context
from complabel.asking._findings import all_findings
from complabel.asking._hierarchy import identical_labels, nested_exclusions
from complabel.asking._inspection import (
    Agreement,
    AnnotatorSummary,
    Inspection,
    LabelSummary,
)
from complabel.asking._known import Known, what_is_known
from complabel.asking._statements import (
    KINDS,
    Statements,
    exhausted,
    n_offered_by_label,
    names_of_labels,
)
from complabel.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_NORMAL_95 = 1.96


def inspect_answers(
    answers: Answers,
    X: ArrayLike | None = None,
    *,
    labels_listed: bool = True,
    source: str = "answers.csv",
    features: str = "",
) -> Inspection:
    """Count answers, find contradictions and failing assumptions, and say what to ask next.

    No model is fitted. Label frequencies are estimated, if the answers allow it.

    Parameters
    ----------
    answers : Answers
        They may contradict each other: make them with ``contradictions="keep"``.
    X : array-like or sparse matrix of shape (n_items, n_features), optional
        Finite features, one row for each item.
    labels_listed : bool, default=True
        Whether the list of labels is complete. Give False if it was taken from the answers,
        because labels that no answer mentions are then missing.
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

    Notes
    -----
    If two people contradict each other about a label, both statements count. Tests use the
    significance level .01.

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
    statements = Statements.of(answers)
    known = what_is_known(statements)
    shared = Shared.of(statements)
    agreement = shared.agreement()
    identical = identical_labels(statements)
    nested = nested_exclusions(statements)
    names = names_of_labels(answers)
    found = Inspection(
        n_items=answers.n_items,
        n_labels=answers.n_labels,
        n_answers=answers.n_answers,
        n_unanswered=int(np.count_nonzero(~answers.answered)),
        n_all_apply=int(np.count_nonzero(exhausted(answers))),
        n_contradictions=len(statements.contradicted),
        n_repeated=statements.n_repeated(),
        questions={
            word: int(np.count_nonzero(answers.question == word))
            for word in QUESTIONS
            if (answers.question == word).any()
        },
        labels=_labels(statements, known),
        annotators=_annotators(statements, shared, agreement),
        contradictions=statements.contradictions(),
        agreement=agreement,
        knowledge=known.summary,
        tests=tuple(tests_of_choice(statements, known.audit)),
        identical=tuple(tuple(names[label] for label in group) for group in identical),
        nested=tuple((names[a], names[b]) for a, b in nested),
        features=None if X is None else look_at_features(X, statements),
    )
    context = Context(
        seen=found,
        answers=answers,
        statements=statements,
        labels_listed=labels_listed,
        source=source,
        features=features,
    )
    return replace(found, findings=all_findings(context))


def _labels(statements: Statements, known: Known) -> tuple[LabelSummary, ...]:
    """Sum up the answers about each label."""
    answers = statements.answers
    kind = {name: statements.kind == at for at, name in enumerate(KINDS)}
    columns = {
        "offered": n_offered_by_label(answers),
        "named": statements.counts(kind["named"]),
        "absent": statements.counts(kind["absent"]),
        "relevant": statements.counts(kind["relevant"] | kind["implied"]),
        "excluded": statements.counts(kind["excluded"]),
        "judged": statements.counts(statements.judged),
        "yes": statements.counts(statements.judged & statements.yes),
        "at_least": known.at_least,
        "at_most": known.at_most,
    }
    if known.frequencies is not None:
        pi = np.clip(known.frequencies.values, 1e-9, 1 - 1e-9)
        reach = _NORMAL_95 * known.frequencies.standard_errors / (pi * (1 - pi))
        columns["frequency"] = pi
        columns["low"] = special.expit(special.logit(pi) - reach)
        columns["high"] = special.expit(special.logit(pi) + reach)
        if known.frequencies.propensities is not None:
            columns["propensity"] = known.frequencies.propensities
    if known.exclusion_rates is not None:
        columns["exclusion_rate"] = known.exclusion_rates
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return tuple(
        LabelSummary(label=name, **dict(zip(columns, row, strict=True)))
        for name, row in zip(names_of_labels(answers), rows, strict=True)
    )


def _annotators(
    statements: Statements, shared: Shared, agreement: Agreement | None
) -> tuple[AnnotatorSummary, ...]:
    """Sum up the answers of each annotator."""
    answers, n = statements.answers, len(statements.answers.annotator_names)
    if not n:
        return ()
    judged = statements.judged & (answers.annotator[statements.answer] >= 0)
    person = answers.annotator[statements.answer[judged]]
    n_answers = np.bincount(answers.annotator[answers.annotator >= 0], minlength=n)
    n_judged = np.bincount(person, minlength=n)
    n_yes = np.bincount(person, weights=statements.yes[judged], minlength=n)
    n_shared, agreed, rates = np.zeros(n, dtype=np.intp), np.zeros(n), np.full(n, np.nan)
    if agreement is not None:
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
        )
        for at in np.argsort(-n_answers, kind="stable").tolist()
    )
