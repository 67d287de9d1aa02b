"""What a model file keeps about the answers of its fit."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from complabel.answers import QUESTIONS, STATEMENT_KINDS, Answers
from complabel.errors import InputError
from complabel.frequencies import estimate_label_frequencies, judged_at_random
from complabel.methods._base import ComplementaryClassifier


def notes_of(answers: Answers, classifier: ComplementaryClassifier) -> dict[str, Any]:
    """Return what a model file keeps about the answers of its fit, as plain values.

    ``n_items`` (those with answers), ``n_annotators``, ``questions`` and ``labels`` (numbers of
    answers, by question, and by what they say of each label); ``frequencies`` and ``intervals``
    from random judgements, if there are such and the fitted classifier has none.
    """
    statements = answers.statements()
    label, kind = statements.label, statements.kind
    of_kind = {name: label[kind == code] for code, name in enumerate(STATEMENT_KINDS)}
    notes: dict[str, Any] = {
        "n_items": int(np.count_nonzero(answers.answered)),
        "n_annotators": len(answers.annotator_names),
        "questions": {
            word: n for word in QUESTIONS if (n := int(np.count_nonzero(answers.question == word)))
        },
        "labels": {
            kind: np.bincount(labels, minlength=answers.n_labels).tolist()
            for kind, labels in of_kind.items()
            if len(labels)
        },
    }
    at_random = judged_at_random(answers)
    if not hasattr(classifier, "label_frequencies_") and at_random.any():
        # Rates of mistakes that the fit found may be too large to correct by them.
        with contextlib.suppress(InputError):
            frequencies = estimate_label_frequencies(
                answers.only(at_random), **_rates(classifier, answers)
            )
            notes["frequencies"] = frequencies.values.tolist()
            notes["intervals"] = frequencies.intervals.tolist()
    return notes


def _rates(classifier: Any, answers: Answers) -> dict[str, Any]:
    """Return the rates of mistakes that a classifier knows, as the estimate takes them."""
    known = {name: getattr(classifier, f"{name}_", None) for name in ("missed", "invented")}
    n_people = len(answers.annotator_names)
    return {
        name: rates if len(rates) == n_people else float(rates.mean())
        for name, rates in known.items()
        if rates is not None
    }
