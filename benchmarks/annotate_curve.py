"""What ten more minutes bring: how often the learner's interval holds, and when sittings end.

    python -m benchmarks.annotate_curve --data-dir DIR --curves curves.json
    python -m benchmarks.annotate_curve --curves curves.json

One simulated person works for forty minutes on each of some data sets: yes/no or ticking, with the
times of ``annotate_sitting.py``, without mistakes or with those of people. The model learns as it
does in ``annotate``, and at some minutes the curve of its scores is kept. The first command writes
all curves to a file; the second one reads them. Then what was said about the next ten minutes is
compared with what came: the score of the later model minus that of the earlier one, both on what
was said until then.
"""

from __future__ import annotations

import argparse
import itertools
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from benchmarks.annotate_sitting import INVENTED, MISSED, SPREAD, TIMES
from complabel.answers import Answers
from complabel.datasets import make_digits, make_synthetic
from complabel.experiments.datasets import load_dataset
from complabel.live._learner import LearningError, Refits, area, ten_more, worth_it

MINUTES = (2.5, 5, 10, 15, 20, 30, 40)
# The rule was chosen on the first data sets, before the others were looked at.
CHOSEN_ON = {"digits": 2, "synthetic": 1, "weak": 1}  # with so many draws
CHECKED_ON = {"scene": 2, "yeast": 2, "corel5k": 1, "easy": 3}
ASKED = (5, 10, 20, 30)  # minutes
WAYS = ("asked", "ticked")
POOL, COLUMNS = 1700, 20  # items to ask about, of so many principal components


def load(name: str, data_dir: Path | None, seed: int) -> tuple[Any, Any]:
    """Return the features and the true labels of the items that a sitting asks about."""
    if name == "digits":
        data = make_digits()
    elif name == "synthetic":
        data = make_synthetic(POOL, random_state=seed)
    elif name == "weak":
        data = make_synthetic(POOL, n_features=30, n_labels=12, signal=1.0, random_state=seed)
    elif name == "easy":
        data = make_synthetic(POOL, n_features=5, n_labels=4, signal=4.0, random_state=seed)
    else:
        data = load_dataset(name, data_dir=data_dir)
    rows = np.random.default_rng(seed).permutation(data.X.shape[0])[:POOL]
    X = data.X[rows]
    X = X.toarray() if hasattr(X, "toarray") else X
    if X.shape[1] > COLUMNS:
        X = PCA(COLUMNS, random_state=0).fit_transform(X)
    return X, data.Y[rows].astype(bool)


def sit(
    X: Any, Y: Any, way: str, *, seconds: float, errs: bool, seed: int, kernel: str
) -> list[dict[str, Any]]:
    """Return what is known at each of the minutes: the curve, and what it would be on all items.

    Scores come with columns whose inner products are the covariances of the scores.
    """
    rng = np.random.default_rng([seed, way == "ticked", errs])
    n_items, n_labels = Y.shape
    order = rng.permutation(n_items)
    took = seconds * np.exp(SPREAD * rng.normal(size=n_items))
    asked = np.ones((n_items, n_labels), dtype=bool)
    if way == "asked":
        asked = np.eye(n_labels, dtype=bool)[rng.integers(n_labels, size=n_items)]
    wrong = rng.random(Y.shape) < np.where(Y, MISSED, INVENTED)
    yes = Y ^ wrong if errs else Y
    refits, points, of_all, known = Refits(X, seed=seed), [], [], []
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
        of_all.append(_area_of_all(refits, points[-1].models, X, yes))
        refits._points = [*points]
        try:
            areas = refits._areas(answers, np.flatnonzero(answers.answered))
        except LearningError:  # nobody has said yet that a label applies
            continue
        known.append(
            {
                "at": minutes,
                "minutes": [point.minutes for point in points],
                "scores": [value for value, _ in areas],
                "errors": np.linalg.qr(np.array([one for _, one in areas]).T)[1].T.tolist(),
                "of_all": [*of_all],
                "answers": len(item),
            }
        )
    return known


def _area_of_all(refits: Refits, models: list[Any], X: Any, yes: Any) -> float:
    """Return the score that models would have if the person had judged all labels of all items."""
    logits = np.empty(yes.shape)
    for number, model in enumerate(models):
        logits[refits._fold == number] = model(X[refits._fold == number])
    return area(logits.ravel(), yes.ravel(), np.zeros(yes.size, dtype=int))[0]


def sit_all(data_dir: Path | None, path: Path) -> None:
    """Write the curves of all sittings to a file, one sitting a line."""
    warnings.simplefilter("ignore")
    with open(path, "a", encoding="utf-8") as file:
        for name, n_draws in {**CHOSEN_ON, **CHECKED_ON}.items():
            for draw in range(n_draws):
                X, Y = load(name, data_dir, draw)
                for way, times, errs in itertools.product(WAYS, TIMES, (False, True)):
                    how = {"seconds": TIMES[times][way], "errs": errs, "seed": draw}
                    # Digits need a kernel; without a search for one, the others take less time.
                    kernel = "auto" if name == "digits" else "linear"
                    known = sit(X, Y, way, **how, kernel=kernel)
                    about = {"data": name, "way": way, "times": times, "errs": errs, "draw": draw}
                    file.write(json.dumps({**about, "known": known}) + "\n")
                    file.flush()
                    scores = [f"{one['scores'][-1]:.3f}" for one in known]
                    print(*about.values(), *scores, flush=True)


def compare(sitting: dict[str, Any], at: float) -> dict[str, Any] | None:
    """Return what was said at some minute about the next ten, and what came; None without scores.

    "came" is the difference of scores on what was said until then, with its error; "of all" is the
    difference if all labels of all items had been judged.
    """
    known = {one["at"]: one for one in sitting["known"]}
    if at not in known or at + 10 not in known:
        return None
    now, later = known[at], known[at + 10]
    areas = [*zip(now["scores"], np.array(now["errors"]), strict=True)]
    before = len(now["scores"]) - 1  # the number of the earlier model in the later curve
    said = ten_more(np.array(now["minutes"]), areas)
    return {
        "said": said,
        "by slope": by_slope(np.array(now["minutes"]), areas) if said else None,
        "came": later["scores"][-1] - later["scores"][before],
        "of all": later["of_all"][-1] - later["of_all"][before],
    }


def by_slope(minutes: Any, areas: list[tuple[float, Any]]) -> tuple[float, float]:
    """Return the interval if each doubling of minutes gains what the last one did."""
    at = np.abs(np.log(2 * minutes / minutes[-1])).argmin()
    ahead = np.log2(1 + 10 / minutes[-1]) / np.log2(minutes[-1] / minutes[at])
    (before, by_item), (now, by_item_now) = areas[at], areas[-1]
    gain, reach = now - before, 1.2816 * np.linalg.norm(by_item_now - by_item)
    return ahead * (gain - reach), ahead * (gain + reach)


def print_coverage(sittings: list[dict[str, Any]]) -> None:
    """Print how often the interval of 80 % held what came, and means of what was said and came."""
    print("| minutes | score | interval | held | of all | by slope | said | came | length |")
    for at in ASKED:
        compared = [one for one in (compare(sitting, at) for sitting in sittings) if one]
        told = [one for one in compared if one["said"]]
        cells = [at, len(compared), len(told)]
        for which in ("came", "of all"):
            held = [one["said"]["low"] <= one[which] <= one["said"]["high"] for one in told]
            cells.append(sum(held))
        cells.append(sum(one["by slope"][0] <= one["came"] <= one["by slope"][1] for one in told))
        said = np.array([[*one["said"].values()] for one in told]).reshape(-1, 3)  # gain, low, high
        came = [one["came"] for one in told]
        means = said[:, 0].mean(), np.mean(came), (said[:, 2] - said[:, 1]).mean()
        print("|", *(f"{cell} |" for cell in cells), *(f"{mean:.3f} |" for mean in means))


def print_stops(sittings: list[dict[str, Any]]) -> None:
    """Print when sittings stop that may stop at some minutes, and what they would have gained."""
    moments = [
        [(at, one) for at in ASKED if (one := compare(sitting, at)) and not worth_it(one["said"])]
        for sitting in sittings
    ]
    stops = [of_one[0] for of_one in moments if of_one]
    print(f"{len(stops)} stop, after", sorted(at for at, _ in stops))
    at_all = [*itertools.chain.from_iterable(moments)]
    for title, told in (("at these", stops), ("at all moments that say so", at_all)):
        false = [sum(one[which] >= 0.01 for _, one in told) for which in ("came", "of all")]
        most = max((one["came"] for _, one in told), default=float("nan"))
        print(f"{title}, {len(told)}: .01 or more came {false[0]} times, of all {false[1]}")
        print(f"  the most was {most:.3f}")


def main() -> None:
    """Sit, or read the curves of earlier sittings; print how often intervals hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--curves", type=Path, required=True)
    options = parser.parse_args()
    if not options.curves.exists():
        sit_all(options.data_dir, options.curves)
    sittings = [json.loads(line) for line in options.curves.read_text().splitlines()]
    for title, names in (("chosen on", CHOSEN_ON), ("checked on", CHECKED_ON)):
        of_these = [sitting for sitting in sittings if sitting["data"] in names]
        print(f"\n{title}", *names, f"({len(of_these)} sittings)")
        print_coverage(of_these)
        print_stops(of_these)


if __name__ == "__main__":
    main()
