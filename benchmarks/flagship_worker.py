"""Fit once to the data in a folder and measure: one process of `flagship.py` and its siblings.

It runs with the package of older commits, too, so it uses only what those have: the classifier and
average precision.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pickle
import pstats
import resource
import statistics
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import complabel
from complabel import metrics
from complabel.methods import SelectionLikelihoodClassifier

# Faster fits are repeated, so that imports that the first one waits for do not count.
_SHORT, _REPEATS = 5.0, 5
_FITTED = ("kernel_", "scaling_", "gamma_", "alpha_", "cardinality_", "n_iter_")


@dataclass(frozen=True)
class Times:
    """Wall and processor seconds of a fit."""

    wall: float
    cpu: float


def read_features(folder: Path, *, mapped: bool) -> Any:
    """Return the features (n, d): CSR, an array, or one that stays in its file."""
    if (folder / "X.npz").exists():
        return sparse.csr_array(sparse.load_npz(folder / "X.npz"))
    return np.load(folder / "X.npy", mmap_mode="r" if mapped else None)


def time_fit(classifier: Any, X: Any, y: Any) -> Times:
    """Fit, and return what it took."""
    wall, cpu = time.perf_counter(), _cpu_seconds()
    classifier.fit(X, y)
    return Times(time.perf_counter() - wall, _cpu_seconds() - cpu)


def fit_again(classifier: Any, X: Any, y: Any, first: Times) -> Times:
    """Return the median of several fits if the first one was short."""
    if first.wall > _SHORT:
        return first
    times = [time_fit(classifier, X, y) for _ in range(_REPEATS - 1)]
    return Times(*(statistics.median(getattr(t, name) for t in times) for name in ("wall", "cpu")))


def supervised() -> Any:
    """Return the reference that learns from all true labels."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    return OneVsRestClassifier(LogisticRegression())


def measure(folder: Path, *, reference: bool, profile: bool) -> dict[str, Any]:
    """Fit to the first rows and measure on the others."""
    with (folder / "rest.pkl").open("rb") as file:
        rest = pickle.load(file)
    n_train, settings = rest["n_train"], rest["settings"]
    X = read_features(folder, mapped=rest["mapped"])
    X_train, X_test = X[:n_train], X[n_train:]
    y = rest["Y_train"] if reference else rest["y_train"]
    classifier = supervised() if reference else SelectionLikelihoodClassifier(**settings)
    before, profiler = _peak_bytes(), cProfile.Profile()
    if profile:
        profiler.enable()
    first = time_fit(classifier, X_train, y)
    profiler.disable()
    peak = _peak_bytes()
    times = first if profile or reference else fit_again(classifier, X_train, y, first)
    found = {
        "seconds": times.wall,
        "cpu": times.cpu,
        "first_seconds": first.wall,
        "peak": peak,
        "peak_before": before,
        "precision": metrics.average_precision(rest["Y_test"], classifier.predict_proba(X_test)),
    }
    if not reference:
        found |= {"score": classifier.score(X_test, rest["y_test"]), **_choices(classifier)}
    return found | ({"spent": _spent(profiler)} if profile else {})


def _choices(classifier: Any) -> dict[str, Any]:
    """Return what was chosen, and from how many settings."""
    results = getattr(classifier, "cv_results_", {})
    chosen = {name: getattr(classifier, name) for name in _FITTED if hasattr(classifier, name)}
    tried = max((len(column) for column in results.values()), default=0)
    return {"chosen": chosen, "settings_tried": tried}


def _spent(profiler: cProfile.Profile) -> list[tuple[str, float]]:
    """Return the functions that took longest themselves, with their share of the time."""
    stats: Any = pstats.Stats(profiler)
    total = stats.total_tt
    own = sorted(((values[2], key) for key, values in stats.stats.items()), reverse=True)
    return [(_function(key), seconds / total) for seconds, key in own[:5]]


def _function(key: tuple[str, int, str]) -> str:
    """Return a short name of a function in a profile."""
    file, _, name = key
    name = name.replace("<built-in method ", "").replace("<method ", "").rstrip(">")
    return name if file == "~" else f"{Path(file).stem}.{name}"


def _cpu_seconds() -> float:
    """Return the processor time of this process and of those that it waited for."""
    own, others = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def _peak_bytes() -> int:
    """Return the most memory that this process had at a time."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def take_landmarks_of_nystroem() -> None:
    """Take the rows for the kernel that scikit-learn takes, as older commits do."""
    from complabel.methods.selection import _features

    def rows(n_rows: int, n_landmarks: int, seed: int) -> Any:
        return np.random.RandomState(seed).permutation(n_rows)[:n_landmarks]

    _features.landmark_rows = rows


def main() -> None:
    """Write what was measured as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--answer", type=Path, required=True)
    parser.add_argument("--reference", action="store_true", help="one-vs-rest, on true labels")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--landmarks-of-nystroem", action="store_true")
    options = parser.parse_args()
    if options.landmarks_of_nystroem:
        take_landmarks_of_nystroem()
    with warnings.catch_warnings():
        # Labels are drawn uniformly where it is assumed, and the package is not under test here.
        warnings.simplefilter("ignore")
        found = measure(options.folder, reference=options.reference, profile=options.profile)
    found["package"] = str(Path(complabel.__file__).parent)
    options.answer.write_text(json.dumps(found, default=float), encoding="utf-8")


if __name__ == "__main__":
    main()
