"""What people's answers of earlier months tell of a machine's labels in this one.

A month has new items, and perhaps another version of the machine. How often the machine's yes and
no are right, label by label, may be as it was, may have moved, or may be another for some labels or
for all. Which of these holds is not known, so all are members of one mixture, and the new answers
decide. The old likelihood of a logit becomes one of the new logit: blurred by a normal drift; and
with some chance a label is as if new, so that its old answers are as probable as by the other
labels of its time. In the last member, all labels are as if new, with a mean and a spread of their
own: the old answers tell nothing. (Hobbs, Carlin, Mandrekar and Sargent, "Hierarchical commensurate
and power prior models for adaptive incorporation of historical information", Biometrics 2011.)

How often the machine says a label of the new items is never taken from an earlier month.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import special

from complabel._parameters import Array, Bools, Ints
from complabel.frequencies._counts import Counts
from complabel.frequencies._exchangeable import GRID, Exchangeable, Function, Likelihood

_TINY = float(np.finfo(np.float64).tiny)


class Drift(NamedTuple):
    """How logits of a month may lie beside those of the month before."""

    sd: float  # of the drift of a label
    anew: float  # share of labels that are as if new; 1: the months have nothing in common
    chance: float


SAME = Drift(0.0, 0.0, 0.4)
DRIFTS = (SAME, Drift(0.0, 0.2, 0.2), Drift(0.5, 0.1, 0.25), Drift(0.0, 1.0, 0.15))


class Member(NamedTuple):
    """What earlier months tell if the last drift was one of DRIFTS."""

    log_chance: float
    log_likelihoods: dict[float, Function]  # of logits, for each rise


NOTHING_BEFORE = Member(0.0, {})


@dataclass(frozen=True)
class StratumBefore:
    """What people answered in one stratum of a month, by labels of the newest month."""

    cells: list[tuple[Array | None, Counts]]  # log-odds (K,) of the score; None: as the newest
    drifts: Array  # the posterior (J,) of DRIFTS between it and the month before it

    @property
    def informed(self) -> Bools:
        """Which labels somebody was asked about, (K,)."""
        return np.asarray(np.any([each.judged.any(axis=0) for _, each in self.cells], axis=0))

    def log_likelihood(self, rise: float, shifts: Array) -> Function:
        """Return it as a function of logits (K, N); ``shifts`` (K,) are the newest month's."""
        cells = [
            (rise * (shifts if odds is None else odds)[:, np.newaxis], each)
            for odds, each in self.cells
        ]
        return lambda logits: sum(
            (each.log_likelihood(logits + offset) for offset, each in cells), np.zeros_like(logits)
        )


def members(
    months: Sequence[StratumBefore],
    rises: Mapping[float, float],
    shifts: Array,
    prior: tuple[float, float],
) -> list[Member]:
    """Return what several months tell, the oldest first, for each of DRIFTS since the last one."""
    of_drifts: list[Member] = []
    informed = np.zeros(len(shifts), dtype=np.bool_)
    for month in months:
        informed = informed | month.informed
        logs = {rise: month.log_likelihood(rise, shifts) for rise in rises}
        for rise, own in logs.items() if of_drifts else ():
            older = [each.log_likelihoods[rise] for each in of_drifts]
            logs[rise] = _both(own, older, month.drifts.reshape(-1, 1, 1))
        likelihoods = [
            Likelihood.of(logs[rise], np.zeros_like, len(shifts), np.log(chance))
            for rise, chance in rises.items()
        ]
        alone = Exchangeable.of(likelihoods, prior, informed)
        of_drifts = [_member(drift, logs, alone, informed) for drift in DRIFTS]
    return of_drifts


def _member(
    drift: Drift, logs: dict[float, Function], alone: Exchangeable, informed: Bools
) -> Member:
    anew = np.where(informed, alone.log_chances(), 0.0)[:, np.newaxis]
    log_chance = float(np.log(drift.chance))
    if drift.anew == 1:
        # All labels together, with one mean and one spread, are not what they are one by one.
        log_chance += alone.log_evidence - float(anew.sum())
        return Member(log_chance, dict.fromkeys(logs, lambda logits: anew + np.zeros_like(logits)))
    moved = logs
    if drift.sd:
        moved = {rise: _blurred(of, drift.sd, informed) for rise, of in logs.items()}
    if drift.anew:
        weights = np.array([1 - drift.anew, drift.anew]).reshape(2, 1, 1)
        nothing: Function = np.zeros_like
        moved = {
            rise: _both(nothing, [of, lambda logits: anew + np.zeros_like(logits)], weights)
            for rise, of in moved.items()
        }
    return Member(log_chance, moved)


def _both(own: Function, older: Sequence[Function], weights: Array) -> Function:
    """Return what a month says, and what a mixture of others says."""
    return lambda logits: (
        own(logits) + special.logsumexp([each(logits) for each in older], b=weights, axis=0)
    )


def _blurred(of: Function, sd: float, informed: Bools) -> Function:
    logs = of(np.tile(GRID, (len(informed), 1)))
    highest = logs.max(axis=1, keepdims=True)
    blurred = np.log(np.maximum(np.exp(logs - highest) @ _kernel(sd), _TINY)) + highest
    blurred[~informed] = 0.0
    return lambda logits: np.stack(
        [np.interp(at, GRID, values) for at, values in zip(logits, blurred, strict=True)]
    )


@functools.lru_cache(maxsize=8)
def _kernel(sd: float) -> Array:
    """Return the chances (G, G) of a node before, for each node; what lies beyond is at the end."""
    ends = np.r_[-np.inf, (GRID[1:] + GRID[:-1]) / 2, np.inf]
    return np.diff(special.ndtr((ends[:, np.newaxis] - GRID) / sd), axis=0)


def of_labels(counts: Counts, place: Ints) -> Counts:
    """Return counts of other labels (K,), by their places; -1: nothing is known of it."""
    known = (place >= 0).astype(np.float64)
    yes, judged = counts.yes[:, place] * known, counts.judged[:, place] * known
    return Counts(yes, judged, counts.missed[:, place], counts.invented[:, place])
