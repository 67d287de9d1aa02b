"""How often do sittings stop falsely that end when frequencies are known?

"level" sums up, for each frequency, the chance that the interval misses it at the moment when it is
short enough, with a look after each answer. "frequencies" simulates 2,000 sittings on true labels;
people err as they did on relations (they miss .23 and invent .028), or not at all. In "beside", it
is known of all items what a machine says, or a model of other items; 2,000 sittings, 500 where
people err. "random" asks about random labels until the last one is known, and "fixed" is the number
of answers that would have been enough for the label that needs most.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from benchmarks._until import NEEDS as NEEDS
from benchmarks._until import load, predictions, rates_of
from complabel.frequencies import Audit, answers_left, beside_predictions, interval_at_goal

SETS = ("scene", "yeast", "digits", "corel5k")
WITHIN = ((0.05, (*SETS, "corel5k-all")), (0.03, SETS[:3]))
CELLS = [
    *({"what": "level", "within": within} for within in (0.02, 0.03, 0.05, 0.1, 0.15, 0.2)),
    *(
        {"what": "frequencies", "set": name, "within": within, "people": people}
        for within, names in WITHIN
        for name in names
        for people in ("right", "err")
    ),
    *({"what": "beside", "set": name, "within": 0.05, "people": "right"} for name in SETS),
    {"what": "beside", "set": "scene", "within": 0.03, "people": "right"},
    *({"what": "beside", "set": name, "within": 0.05, "people": "err"} for name in SETS[:3]),
]
QUICK = {"what": ("level", "frequencies"), "set": (None, "digits"), "within": (0.05,)}
MACHINES = {"good": (0.1, 0.01), "middling": (0.2, 0.03), "bad": (0.5, 0.1)}  # missed, invented
FIXED = 0.05  # level of the interval for a fixed number of answers


def level(within: float) -> dict[str, float]:
    """Return the greatest chance of a false stop, and mean numbers of answers."""
    stops = ends_of_sittings(within)
    ends = np.unique(stops[3:])  # the chance jumps where an interval ends
    at = np.clip(np.concatenate([ends - 1e-9, ends + 1e-9, [0.01, 0.1, 0.5]]), 1e-12, 1 - 1e-12)
    misses, answers = false_stops(stops, at)
    worst, few = int(misses.argmax()), dict(zip(("rare", "tenth", "half"), answers[-3:]))  # noqa: B905
    false = {"false": 100 * misses[worst], "at": min(at[worst], 1 - at[worst])}
    return {**false, **few, "fixed": fixed_number(0.5, within)}


def ends_of_sittings(within: float) -> Any:
    """Return where sittings about a label may end, (5, stops).

    Rows: answers, "yes", the logarithm of how many courses lead there, both ends of the interval.
    """
    found, paths = [], np.zeros(1)
    while np.isfinite(paths).any():
        n = len(paths)
        now = np.logaddexp(np.append(-np.inf, paths), np.append(paths, -np.inf))
        low, high = interval_at_goal(np.arange(n + 1.0), np.full(n + 1, float(n)), within).T
        met = ((high - low) / 2 <= within) & np.isfinite(now)
        n_met = np.full(met.sum(), float(n))
        found.append(np.array([n_met, np.flatnonzero(met), now[met], low[met], high[met]]))
        paths = np.where(met, -np.inf, now)
    return np.concatenate(found, axis=1)


def false_stops(stops: Any, shares: Any) -> tuple[Any, Any]:
    """Return the chance of a false stop, and the mean number of answers, for each share."""
    n, yes, paths, low, high = (row[:, np.newaxis] for row in stops)
    misses, answers = [], []
    for share in np.array_split(shares, len(shares) // 100 + 1):
        chance = np.exp(paths + special.xlogy(yes, share) + special.xlog1py(n - yes, -share))
        misses.append((chance * ((share < low) | (share > high))).sum(axis=0))
        answers.append((chance * n).sum(axis=0))
    return np.concatenate(misses), np.concatenate(answers)


def fixed_number(share: float, within: float) -> int:
    """Return the number of answers whose interval of 95 % has this half, on average."""
    n = np.arange(1.0, 2 / within**2)
    yes = share * n
    low = special.betaincinv(np.maximum(yes, 1e-9), n - yes + 1, FIXED / 2)
    high = special.betaincinv(yes + 1, np.maximum(n - yes, 1e-9), 1 - FIXED / 2)
    return int(n[np.argmax((high - low) / 2 <= within)])


def asked_in_all(stops: Any) -> float:
    """Return the answers of sittings about all labels; stops are (K, sittings)."""
    n = np.sort(np.array(stops), axis=0).astype(float)
    # Once the first label is known, a tenth of the questions goes to labels that are known.
    return float((len(n) * n[0] + (n - n[0]).sum(axis=0) / 0.9).mean())


def of_frequencies(Y: Any, within: float, rates: tuple[float, float]) -> dict[str, float]:
    """Return how sittings go that end when the frequency of each label is known."""
    rng = np.random.default_rng(0)
    (missed, invented), (n_items, n_labels) = rates, Y.shape
    told = 1 - missed - invented
    most = min(n_items, int(np.ceil(1.3 / (within * told) ** 2)) + 50)
    ends = np.zeros((most + 1, most + 1, 2))
    for n in range(1, most + 1):
        judged, items = np.full(n + 1, float(n)), n_items if told == 1 else np.inf
        ends[n, : n + 1] = interval_at_goal(np.arange(n + 1.0), judged, within * told, items)
    is_met = (ends[..., 1] - ends[..., 0]) / 2 <= within * told
    stops, wrong = [], []
    for y in Y.T > 0:
        said = np.where(y, 1 - missed, invented)
        orders = (rng.permutation(n_items)[:most] for _ in range(2000))
        runs = [rng.random(most) < said[order] for order in orders]
        yes = np.cumsum(np.array(runs), axis=1)  # (sittings, most)
        met = is_met[np.arange(1, most + 1), yes]
        stop = np.where(met.any(axis=1), met.argmax(axis=1), most - 1)
        low, high = (ends[stop + 1, yes[np.arange(len(yes)), stop]].T - invented) / told
        false = (y.mean() < low - 1e-12) | (y.mean() > high + 1e-12)
        wrong.append(100 * float(false[met.any(axis=1)].mean()))
        stops.append(stop + 1)
    fixed = max(fixed_number(invented + told * float(y), within * told) for y in Y.mean(axis=0))
    last = n_labels * float(np.max(stops, axis=0).mean())
    false = {"false": float(np.mean(wrong)), "worst": max(wrong)}
    return {**false, "answers": asked_in_all(stops), "random": last, "fixed": n_labels * fixed}


def of_beside(X: Any, Y: Any, within: float, rates: tuple[float, float], n: int) -> Any:
    """Yield how sittings go that know what a machine, or a model of other items, says."""
    p, truth = predictions(X, Y)
    rng = np.random.default_rng(0)
    machines: dict[str, Any] = {"none": [None] * Y.shape[1], "a model of other items": p.T >= 0.5}
    for quality, (missed, invented) in MACHINES.items():
        machines[quality] = (rng.random(p.shape) < np.where(truth, 1 - missed, invented)).T
    for machine, columns in machines.items():
        labels = zip(truth.T, columns, strict=True)
        stop, wrong = np.swapaxes([ends_of_label(*each, within, rates, n) for each in labels], 0, 1)
        false = {"false": 100 * wrong.mean(), "worst": 100 * wrong.mean(axis=1).max()}
        yield {"machine": machine}, {**false, "answers": asked_in_all(stop)}


def ends_of_label(truth: Any, predicted: Any, within: float, rates: Any, n_sittings: int) -> Any:
    """Ask about one label in many sittings at once; return where each ends, and if falsely."""
    rng, n_items = np.random.default_rng([0, int(truth.sum())]), len(truth)
    missed, invented = rates
    told, share = 1 - missed - invented, truth.mean()
    orders = np.array([rng.permutation(n_items) for _ in range(n_sittings)])
    said = rng.random(orders.shape) < np.where(truth[orders], 1 - missed, invented)
    stop, wrong = np.full(n_sittings, n_items), np.zeros(n_sittings, dtype=bool)
    open_ = np.arange(n_sittings)
    for n in range(1, n_items + 1):
        at = np.repeat(np.arange(len(open_)), n)
        item, applies = orders[open_, :n].ravel(), said[open_, :n].ravel()
        audit = Audit(item, at, np.full(len(at), -1), applies, np.ones(len(at)), len(open_))
        yes, judged = said[open_, :n].sum(axis=1).astype(float), np.full(len(open_), float(n))
        items = np.full(len(open_), float(n_items) if told == 1 else np.inf)
        width = np.full(len(open_), within * told)
        draws: Any = {"n_draws": 1, "rng": np.random.default_rng(0)}
        if predicted is None:
            left = answers_left(yes, judged, width, items, **draws)
        else:
            every = np.broadcast_to(predicted[:, np.newaxis], (n_items, len(open_)))
            yes, judged, items, left = beside_predictions(audit, every, width, items, **draws)
        reached = left.max(axis=0) <= 0
        ends = (interval_at_goal(yes, judged, width, items) - invented) / told
        low, high = ends[reached].T
        ended, open_ = open_[reached], open_[~reached]
        stop[ended], wrong[ended] = n, (share < low - 1e-9) | (share > high + 1e-9)
        if not len(open_):
            break
    return stop, wrong


def measure(*, draw: int, data: Any, what: str, within: float, **cell: Any) -> Any:
    """Return false stops of 100, answers, and what else the way of measuring tells."""
    if what == "level":
        return level(within)
    (X, Y), rates = load(cell["set"], data), rates_of(cell["people"])
    if what == "frequencies":
        return of_frequencies(Y, within, rates)
    return [*of_beside(X, Y, within, rates, 2000 if cell["people"] == "right" else 500)]
