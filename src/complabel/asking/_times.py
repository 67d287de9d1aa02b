"""How long people take for each kind of question, and which one to ask at these times."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from complabel.answers import Answers
from complabel.asking._inspection import KindSummary, Times
from complabel.asking._said import Said, Shared

BREAK_EVEN = {1: 1.0, 5: 3.7, 6: 3.6, 10: 9.4, 14: 12.0, 15: 10.0}
"""How many times as long as one yes or no, by the number of labels, ticking them may take so that
it is worth as much: five random labels on the four datasets, all labels of scene, digits, yeast
and corel5k (the study how-to-ask, docs/how-to-ask.md). With more labels, the last one holds."""

_MOST_TICKED = 40  # nobody reads more labels than this for each item: a menu of them is tried
_MENU = 10  # labels of this menu
_LEAST_TIMED = 10  # answers of a kind or of a size; the median of fewer says too little


def kinds_of(answers: Answers) -> NDArray[np.str_]:
    """Return the kind of question of each answer, (A,), a key of ``KINDS``."""
    some = answers.n_offered < answers.n_labels
    one = answers.n_offered == 1
    judged, named = answers.question == "asked", answers.question == "named"
    ticked = answers.question == "ticked"
    which = [judged & one, judged, ticked & some, ticked, named & some, named]
    return np.select(which, ["asked", "several", "ticked-menu", "ticked", "menu", "named"], "rule")


def summarize_kinds(said: Said, kinds: NDArray[np.str_]) -> tuple[KindSummary, ...]:
    """Return a summary of each kind of question, those with most answers first."""
    answers, found = said.answers, []
    names, counts = np.unique(kinds, return_counts=True)
    for at in np.argsort(-counts, kind="stable"):
        of_kind = kinds == names[at]
        timed = of_kind & ~np.isnan(answers.seconds)
        seconds, size = answers.seconds[timed], answers.n_offered[timed]
        low, median, high = np.quantile(seconds, [0.25, 0.5, 0.75]) if timed.any() else [None] * 3
        judges = names[at] in ("asked", "several", "ticked", "ticked-menu")
        found.append(
            KindSummary(
                kind=str(names[at]),
                answers=int(counts[at]),
                timed=int(timed.sum()),
                offered=float(np.median(answers.n_offered[of_kind])),
                seconds=_plain(median),
                low=_plain(low),
                high=_plain(high),
                each=float(np.median(seconds / size)) if judges and timed.any() else None,
                agreement=Shared.of(said, of_kind).agreement(),
            )
        )
    return tuple(found)


def _plain(value: float | None) -> float | None:
    return None if value is None else float(value)


def times_of(
    answers: Answers, kinds: NDArray[np.str_], found: tuple[KindSummary, ...]
) -> Times | None:
    """Return what the seconds say; None if no judgement has a time."""
    judging = np.isin(kinds, ["asked", "several", "ticked", "ticked-menu"])
    timed = judging & ~np.isnan(answers.seconds)
    if not timed.any():
        return None
    looking, each = _line(answers.n_offered[timed], answers.seconds[timed])
    enough = {one.kind: one for one in found if one.timed >= _LEAST_TIMED and one.seconds}
    asked = enough["asked"].seconds if "asked" in enough else None
    ticks = [enough[kind] for kind in ("ticked", "ticked-menu") if kind in enough]
    best = max(ticks, key=lambda one: break_even(one.offered) / (one.seconds or 1), default=None)
    labels = answers.n_labels if answers.n_labels <= _MOST_TICKED else _MENU
    labels = labels if best is None else round(best.offered)
    ticked = None if best is None else best.seconds
    return Times(
        looking=looking,
        each=each,
        asked=asked,
        ticked=ticked,
        labels=labels,
        ratio=ticked / asked if asked and ticked else None,
        break_even=break_even(labels),
        n_long=int(sum(_n_long(answers.seconds[timed & (kinds == kind)]) for kind in {*kinds})),
    )


def break_even(n_labels: float) -> float:
    """Return how many times as long as one yes or no ticking this many labels may take."""
    return float(np.interp(n_labels, [*BREAK_EVEN], [*BREAK_EVEN.values()]))


def _n_long(seconds: NDArray[np.float64]) -> int:
    """Count answers that took ten times as long as the median: somebody left the desk."""
    return int((seconds > 10 * np.median(seconds)).sum()) if len(seconds) else 0


def _line(
    size: NDArray[np.intp], seconds: NDArray[np.float64]
) -> tuple[float | None, float | None]:
    """Return seconds for looking at an item and for each label on offer; None if one size is known.

    The line is fitted by least squares to the medians of the sizes with enough times, each weighted
    by its number of answers, so that nobody who left the desk decides.
    """
    sizes, counts = np.unique(size, return_counts=True)
    sizes, counts = sizes[counts >= _LEAST_TIMED], counts[counts >= _LEAST_TIMED]
    if len(sizes) < 2:
        return None, None
    medians = [np.median(seconds[size == one]) for one in sizes]
    looking, each = np.polynomial.polynomial.polyfit(sizes, medians, 1, w=np.sqrt(counts))
    return float(looking), float(each)
