"""What an audit of a machine is compared with: another system's audit, and a second person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from complabel._parameters import Array, Ints, check_array
from complabel.answers import Answers
from complabel.errors import InputError
from complabel.frequencies._estimate import checked_machines
from complabel.frequencies._machine import MachineAudit, MachineRates, summary
from complabel.frequencies._machine_strata import NO, NOTHING, YES, words_of

_N_DRAWS, _SURE = 4000, 0.8
# Of a pair that two people answered: all three agree, the machine disagrees, people disagree.
_ALL, _MACHINE, _PEOPLE = range(3)
_PRIOR = 1.0  # so many pairs, equally of the three; of a label, as all labels are


@dataclass(frozen=True, eq=False)
class AuditComparison:
    """How much more often labels apply to one system's items than to another's.

    Attributes
    ----------
    label_names : list of str
    differences : MachineRates
        The first frequency less the second one, of each label; ``overall`` is the difference of
        the mean number of labels of an item.
    probabilities : ndarray of shape (n_labels,), dtype float64
        Probability that the label applies more often to the first system's items.
    """

    label_names: list[str]
    differences: MachineRates
    probabilities: Array

    def lines(self) -> list[str]:
        """Say the difference of each label, and of the number of labels of an item."""
        values, ends = self.differences.values, self.differences.intervals
        lines = [
            f"{name}: {100 * value:+.1f} % ({100 * low:+.1f} to {100 * high:+.1f})"
            + ", no difference is known" * bool(low <= 0 <= high)
            for name, value, (low, high) in zip(self.label_names, values, ends, strict=True)
        ]
        value, low, high = self.differences.overall
        return [*lines, f"labels per item: {value:+.2f} ({low:+.2f} to {high:+.2f})"]


@dataclass(frozen=True, eq=False)
class SecondPerson:
    """How often people agree with each other, and how often a machine agrees with a person.

    Attributes
    ----------
    label_names : list of str
    n_pairs : ndarray of shape (n_labels,), dtype intp
        Pairs that two people answered, and of which the machine says something.
    people, machine, differences : MachineRates
        Agreement of two people; of the machine with one of them; the second less the first. NaN
        for labels with too few pairs.
    as_good : float
        Probability that the machine agrees with a person as often as a second person does, or
        less often by at most a margin.
    """

    label_names: list[str]
    n_pairs: Ints
    people: MachineRates
    machine: MachineRates
    differences: MachineRates
    as_good: float

    @property
    def verdict(self) -> str:
        """Whether the machine is as good as a second person, if that has a probability of .8."""
        if 1 - _SURE < self.as_good < _SURE:
            return "if it is as good as a second person is not known yet"
        return f"it is {'as good as' if self.as_good >= _SURE else 'worse than'} a second person"

    def lines(self) -> list[str]:
        """Say how good the machine is beside a second person: all labels, then one by one."""

        def line(name: str, people: Sequence[float], machine: Sequence[float], n: int) -> str:
            of_people, of_machine = (
                f"{100 * value:.0f} % ({100 * low:.0f} to {100 * high:.0f})"
                for value, low, high in (people, machine)
            )
            sentence = f"{name}: two people agree about {of_people} of {n:,} pairs"
            return f"{sentence}, the machine and a person about {of_machine}"

        overall = line(
            "a second person", self.people.overall, self.machine.overall, self.n_pairs.sum()
        )
        lines = [f"{overall}; {self.verdict}"]
        for at in np.flatnonzero(~np.isnan(self.people.values)):
            people, machine = (
                (each.values[at], *each.intervals[at]) for each in (self.people, self.machine)
            )
            lines.append(line(self.label_names[at], people, machine, self.n_pairs[at]))
        return lines


def compare_audits(first: MachineAudit, second: MachineAudit) -> AuditComparison:
    """Compare two systems: how much more often labels apply to the first one's items.

    Each system answered the same items, a machine judged the answers of both, and people answered
    questions about both. A machine may favour one system, so each audit has rates of its own.

    Parameters
    ----------
    first, second : MachineAudit
        Audits of the machine's labels of each system's items.

    Returns
    -------
    AuditComparison

    Raises
    ------
    InputError
        If the audits are about other labels.

    Examples
    --------
    >>> from complabel.frequencies import audit_machine
    >>> rng = np.random.default_rng(0)
    >>> def audit(shares):
    ...     Y = (rng.random((400, 2)) < shares).astype(np.uint8)
    ...     asked = np.eye(2, dtype=np.uint8)[np.arange(200) % 2]
    ...     answers = Answers.from_arrays(
    ...         relevant=asked * Y[:200], absent=asked * (1 - Y[:200]), question="asked",
    ...         item=np.arange(200), n_items=400,
    ...     )
    ...     return audit_machine(answers, np.where(rng.random(Y.shape) < 0.1, 1 - Y, Y))
    >>> compared = compare_audits(audit([0.7, 0.3]), audit([0.3, 0.3]))
    >>> compared.differences.intervals[:, 0] > 0
    array([ True, False])
    """
    if sorted(first.label_names) != sorted(second.label_names):
        odd = sorted({*first.label_names} ^ {*second.label_names})
        raise InputError(f"one audit has the label {odd[0]!r} and the other has not; compare"
                         " audits about the same labels")  # fmt: skip
    order = [second.label_names.index(name) for name in first.label_names]
    a, b = first.draws, second.draws[:, order]
    # Both audits draw from one seed, so one of them is shuffled.
    b = np.random.default_rng(1).permutation(b)[: len(a)]
    draws = a[: len(b)] - b
    whole = np.concatenate([draws, draws.sum(axis=1, keepdims=True)], axis=1)
    return AuditComparison(list(first.label_names), summary(whole), (draws > 0).mean(axis=0))


def compare_with_second_person(
    answers: Answers, machine: ArrayLike, *, margin: float = 0.02, least_pairs: int = 10
) -> SecondPerson:
    """Find if a machine agrees with people as often as people agree with each other.

    Two people answered the same pairs of an item and a label, which are random among those of
    which the machine says the same.

    Parameters
    ----------
    answers : Answers
        Yes and no of people, with all contradictions (``contradictions="keep"``) and the names of
        the people. If more than two people answered a pair, the first two count.
    machine : array-like of shape (n_items, n_labels)
        As for :func:`audit_machine`.
    margin : float, default=0.02
        So much less agreement is still as good.
    least_pairs : int, default=10
        Labels with fewer pairs have no figures of their own.

    Returns
    -------
    SecondPerson

    Raises
    ------
    InputError
        If no pair was answered by two people.
    """
    margin = float(check_array("margin", margin))
    (scores,) = checked_machines("machine", machine, answers.shape)
    words, n_labels = words_of(scores), answers.n_labels
    counts = np.zeros((3, 2, n_labels))
    for item, label, same, yes in answered_twice(answers):
        word = int(words[item, label])
        if word != NOTHING:
            outcome = _PEOPLE if not same else _ALL if yes == (word == YES) else _MACHINE
            counts[outcome, word, label] += 1
    n = counts.sum(axis=0)
    if not n.any():
        raise InputError("no pair of an item and a label was answered by two people; let a second"
                         " person answer the same questions, under another name")  # fmt: skip
    size = np.stack([(words == word).sum(axis=0) for word in (NO, YES)]).astype(np.float64)
    weight = np.where(n > 0, size / np.maximum(n, 1), 0.0)
    # Pairs stand for those of their label; so they tell as much as fewer pairs of equal weight.
    enough = (weight * n).sum(axis=1) ** 2 / np.maximum((weight**2 * n).sum(axis=1), 1e-12)
    shares = (counts * weight).sum(axis=2) / np.maximum((weight * n).sum(axis=1), 1e-12)
    rng = np.random.default_rng(0)
    pooled = [rng.dirichlet(shares[:, w] * enough[w] + _PRIOR / 3, _N_DRAWS) for w in (NO, YES)]
    parts = size.sum(axis=1) / size.sum()
    draws = np.full((3, _N_DRAWS, n_labels + 1), np.nan)
    draws[..., -1] = sum(part * each.T for part, each in zip(parts, pooled, strict=True))
    means = [_PRIOR * each.mean(axis=0) for each in pooled]
    for at in np.flatnonzero(n.sum(axis=0) >= least_pairs):
        of_words = [rng.dirichlet(counts[:, w, at] + means[w], _N_DRAWS) for w in (NO, YES)]
        part = size[:, at] / size[:, at].sum()
        draws[..., at] = sum(p * each.T for p, each in zip(part, of_words, strict=True))
    people, of_machine = draws[_ALL] + draws[_MACHINE], draws[_ALL] + draws[_PEOPLE] / 2
    difference = of_machine - people
    names = answers.label_names or [str(label) for label in range(n_labels)]
    return SecondPerson(
        label_names=list(names),
        n_pairs=n.sum(axis=0).astype(np.intp),
        people=summary(people),
        machine=summary(of_machine),
        differences=summary(difference),
        as_good=float((difference[:, -1] >= -margin).mean()),
    )


def answered_twice(answers: Answers) -> list[tuple[int, int, bool, bool]]:
    """Return pairs that two people answered: item, label, if they agree, and the first answer."""
    statements = answers.statements()
    first: dict[tuple[int, int], tuple[int, bool]] = {}
    pairs: dict[tuple[int, int], tuple[int, int, bool, bool]] = {}
    who = answers.annotator[statements.answer].tolist()
    columns = (statements.item.tolist(), statements.label.tolist(), statements.applies.tolist())
    for person, item, label, yes in zip(who, *columns, strict=True):
        other, first_yes = first.setdefault((item, label), (person, yes))
        if person >= 0 <= other and person != other:
            pairs.setdefault((item, label), (item, label, first_yes == yes, first_yes))
    return [*pairs.values()]
