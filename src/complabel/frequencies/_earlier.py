"""Earlier months of a machine: what people said then, and where a newer month finds it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from complabel._parameters import Array, Ints
from complabel._settings import setting
from complabel.answers import Answers, check_positions, text_of
from complabel.errors import InputError
from complabel.frequencies._counts import Audit, by_machine
from complabel.frequencies._estimate import checked_machines, rates_of_mistakes
from complabel.frequencies._machine_strata import Strata
from complabel.frequencies._strata import Asked, Earlier, StrataPosterior

# Answers, what the machine says, and perhaps where people were unsure.
Month: TypeAlias = tuple[Answers, ArrayLike] | tuple[Answers, ArrayLike, Any]


@dataclass(frozen=True)
class EarlierMonth:
    """A month with what is known of it."""

    answers: Answers
    machine: Array  # (n, K)
    posterior: StrataPosterior

    def labels(self, newest: Answers) -> Ints:
        """Return the places here of the labels of another month, (K,); -1: not there."""
        in_order = np.arange(newest.n_labels)
        return _places(self.answers.label_names, newest.label_names, in_order)

    def items(self, newest: Answers) -> Ints:
        """Return the places here of the items of another month, (n,); -1: not there."""
        # Without names, the first item of a month is not that of another one.
        return _places(self.answers.item_names, newest.item_names, np.full(newest.n_items, -1))

    def seen_from(self, newest: Answers) -> Earlier:
        """Return what a newer month takes from this one."""
        return Earlier(self.posterior, self.labels(newest))


def months_of(before: Sequence[Month], answers: Answers, strata: Strata) -> list[Earlier]:
    """Return what earlier months tell who asks, the oldest first."""
    return [each.seen_from(answers) for each in earlier_months(before, answers, strata)]


def earlier_months(
    before: Sequence[Month],
    answers: Answers,
    strata: Strata,
    *,
    missed: ArrayLike = 0.0,
    invented: ArrayLike = 0.0,
) -> list[EarlierMonth]:
    """Return the months before that of ``answers`` and ``strata``, the oldest first."""
    scored = any(strata.kinds[at].scored for at in np.unique(strata.of_pairs).tolist())
    months: list[EarlierMonth] = []
    for old, said, *unsure in reversed(before):
        unnamed = old.label_names is None or answers.label_names is None
        if unnamed and old.n_labels != answers.n_labels:
            raise InputError(
                f"a month of {setting('before')} has {old.n_labels} labels, and the newest one"
                f" {answers.n_labels}; name the labels of both"
            )
        machines = checked_machines("before", said, old.shape)
        if len(machines) > 1:
            raise InputError(
                f"{setting('before')} has {len(machines)} machines of one month; give one",
                parameter="before",
            )
        words = np.where(np.isnan(machines), np.nan, machines >= 0.5)
        of_month = Strata.of(machines if scored else words, old)
        audit, asked = asked_about(old, of_month, missed, invented, *unsure or [None])
        older = [each.seen_from(old) for each in months]
        month = EarlierMonth(old, machines[0], asked.frequencies(older))
        if not len(audit.item) or (month.labels(answers) < 0).all():
            lack = "labels of the newest one" if len(audit.item) else "answers about the machine"
            raise InputError(f"a month of {setting('before')} has no {lack}; leave it out")
        months.append(month)
    return months


def drawn_by_others(answers: Answers, machines: Sequence[Array]) -> int:
    """Return how many questions were drawn by what other machines say than these."""
    draws = answers.drawn[by_machine(answers)]
    own = [f"machine {each} " for each in Strata.of(np.stack(machines), answers).digests]
    return int(np.sum([not text.startswith(tuple(own)) for text in draws.tolist()]))


def asked_about(
    answers: Answers, strata: Strata, missed: ArrayLike, invented: ArrayLike, unsure: Any
) -> tuple[Audit, Asked]:
    """Return what people said about machines, and where they were unsure."""
    audit, counted = strata.audit(answers), None
    if unsure is not None:
        items, labels = check_positions(unsure, answers)
        counted = np.zeros_like(strata.shares)
        np.add.at(counted, (strata.cell[items, labels], labels), 1.0)
    rates = rates_of_mistakes(missed, invented, answers)
    return audit, Asked.of(strata, audit, *rates, unsure=counted)


def _places(mine: Iterable[Any] | None, others: Iterable[Any] | None, unnamed: Ints) -> Ints:
    if mine is None or others is None:
        return unnamed
    place = {text_of(name): at for at, name in enumerate(mine)}
    return np.array([place.get(text_of(name), -1) for name in others], dtype=np.intp)
