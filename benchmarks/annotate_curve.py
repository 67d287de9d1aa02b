"""How often does the interval hold of what ten more minutes bring, and when may sittings end?

One simulated person works for forty minutes: yes/no or ticking, with the times of
``annotate_sitting``, without mistakes or with those of people. The model learns as in ``annotate``.
After 5, 10, 20 and 30 minutes, what is said about the next ten is compared with what came: the
score of the later model minus that of the earlier one, both on what was said until then. The rule
was chosen on the sets of "chosen", before the others were looked at. Figures are shares of sittings
(``said``, ``came`` and ``length``: sums over sittings with an interval, by sitting); ``slope``: the
last slope alone held; ``first_end``: the sitting may end here first; ``false_end``: it may end, and
ten more minutes brought .01 or more.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from benchmarks.annotate_kinds import SPREAD
from benchmarks.annotate_sitting import INVENTED, MISSED, TIMES
from complabel.answers import Answers
from complabel.datasets import make_digits, make_synthetic
from complabel.errors import AnnotationError
from complabel.experiments.datasets import load_dataset
from complabel.live._learner import Refits, ten_more, worth_it

CELLS = {"part": ("chosen", "checked")}
DRAWS, NEEDS, QUICK = 32, ("checked",), {"part": ("chosen",)}
SETS = {  # with so many draws
    "chosen": {"digits": 2, "synthetic": 1, "weak": 1},
    "checked": {"scene": 2, "yeast": 2, "corel5k": 1, "easy": 3},
}
MADE: dict[str, dict[str, Any]] = {
    "synthetic": {},
    "weak": {"n_features": 30, "n_labels": 12, "signal": 1.0},
    "easy": {"n_features": 5, "n_labels": 4, "signal": 4.0},
}
MINUTES, ASKED = (2.5, 5, 10, 15, 20, 30, 40), (5, 10, 20, 30)
POOL, COLUMNS = 1700, 20  # items to ask about, of so many principal components


def load(name: str, data: Any, seed: int) -> tuple[Any, Any]:
    """Return the features and the true labels of the items that a sitting asks about."""
    if name in MADE:
        loaded: Any = make_synthetic(POOL, random_state=seed, **MADE[name])
    else:
        loaded = make_digits() if name == "digits" else load_dataset(name, data_dir=data)
    rows = np.random.default_rng(seed).permutation(loaded.X.shape[0])[:POOL]
    X = loaded.X[rows]
    X = X.toarray() if hasattr(X, "toarray") else X
    if X.shape[1] > COLUMNS:
        X = PCA(COLUMNS, random_state=0).fit_transform(X)
    return X, loaded.Y[rows].astype(bool)


def sit(X: Any, Y: Any, way: str, *, seconds: float, errs: bool, seed: int, kernel: str) -> Any:
    """Return, by minute, the minutes of the curve, and its scores with their errors by item."""
    rng = np.random.default_rng([seed, way == "ticked", errs])
    n_items, n_labels = Y.shape
    order = rng.permutation(n_items)
    took = seconds * np.exp(SPREAD * rng.normal(size=n_items))
    asked = np.ones((n_items, n_labels), dtype=bool)
    if way == "asked":
        asked = np.eye(n_labels, dtype=bool)[rng.integers(n_labels, size=n_items)]
    wrong = rng.random(Y.shape) < np.where(Y, MISSED, INVENTED)
    yes = Y ^ wrong if errs else Y
    refits, points, known = Refits(X, seed=seed), [], {}
    for model in (refits.model, *refits._of_folds):
        model.set_params(kernel=kernel)
    for minutes in MINUTES:
        item = order[: np.searchsorted(took.cumsum(), 60 * minutes)]
        answers = Answers.from_arrays(
            relevant=asked[item] & yes[item],
            absent=asked[item] & ~yes[item],
            item=item,
            n_items=n_items,
            question=way,
            probability=1 / n_labels if way == "asked" else 1.0,
            seconds=took[: len(item)],
        )
        before = refits._points[-1:]
        refits.update(answers, took[: len(item)])
        if refits._points[-1:] == before:
            continue  # nothing can be learned yet
        points.append(refits._points[-1])
        refits._points = [*points]
        try:
            areas = refits._areas(answers, np.flatnonzero(answers.answered))
        except AnnotationError:  # nobody has said yet that a label applies
            continue
        known[minutes] = np.array([point.minutes for point in points]), areas
    return known


def compare(known: Any, at: float) -> dict[str, float]:
    """Return what was said at some minute about the next ten, and what came."""
    names = ("interval", "held", "slope", "said", "came", "length", "end", "false_end")
    found = dict.fromkeys(names, 0.0)
    if at not in known or at + 10 not in known:
        return found
    (minutes, areas), later = known[at], known[at + 10][1]
    came, said = later[-1][0] - later[len(areas) - 1][0], ten_more(minutes, areas)
    if said:
        low, high = by_slope(minutes, areas)
        found |= {"interval": 1, "held": said["low"] <= came <= said["high"], "came": came}
        found |= {"slope": low <= came <= high, "said": said["gain"]}
        found |= {"length": said["high"] - said["low"]}
    ends = not worth_it(said)
    return found | {"end": ends, "false_end": ends and came >= 0.01}


def by_slope(minutes: Any, areas: list[tuple[float, Any]]) -> tuple[float, float]:
    """Return the interval if each doubling of minutes gains what the last one did."""
    at = np.abs(np.log(2 * minutes / minutes[-1])).argmin()
    ahead = np.log2(1 + 10 / minutes[-1]) / np.log2(minutes[-1] / minutes[at])
    (before, by_item), (now, by_item_now) = areas[at], areas[-1]
    gain, reach = now - before, 1.2816 * np.linalg.norm(by_item_now - by_item)
    return ahead * (gain - reach), ahead * (gain + reach)


def measure(*, draw: int, data: Any, part: str) -> Any:
    """Return what became of one sitting, or of two if they are to check."""
    every = [
        (name, seed, way, times, errs)
        for name, n in SETS[part].items()
        for seed in range(n)
        for way, times, errs in itertools.product(("asked", "ticked"), TIMES, (False, True))
    ]
    n = len(every) // DRAWS
    rows: dict[int, list[dict[str, float]]] = {at: [] for at in ASKED}
    for name, seed, way, times, errs in every[n * draw : n * (draw + 1)]:
        # Digits need a kernel; without a search for one, the others take less time.
        how: Any = {"kernel": "auto" if name == "digits" else "linear", "errs": errs, "seed": seed}
        known = sit(*load(name, data, seed), way, seconds=TIMES[times][way], **how)
        ended = 0.0
        for at in ASKED:
            one = compare(known, at)
            end = one.pop("end")
            rows[at].append({**one, "first_end": end > ended})
            ended = max(ended, end)
    return [
        ({"minutes": at}, {name: np.mean([each[name] for each in of]) for name in of[0]})
        for at, of in rows.items()
    ]
