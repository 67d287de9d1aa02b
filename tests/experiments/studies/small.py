"""What several tests of studies need: one fold that is fitted, and runs that are read back."""

import inspect
import os
from typing import ClassVar

import numpy as np
import pytest

from complabel.datasets import MultiLabelDataset
from complabel.experiments.methods import SupervisedBCEClassifier
from complabel.experiments.studies import Plan, Row, Store, _fold, run_study
from complabel.experiments.studies._labels import draw_labels
from complabel.experiments.studies._run import run_units
from complabel.methods import PriorClassifier


class Watched:
    """A method that keeps what it is given; see the fixture ``seen``."""

    seen: ClassVar[list[tuple]] = []

    def fit(self, X, y, **named):
        self.seen.append((X, y, named, dict(inspect.currentframe().f_back.f_locals)))
        return super().fit(X, y, **named)


class WatchedPrior(Watched, PriorClassifier):
    pass


class WatchedReference(Watched, SupervisedBCEClassifier):
    pass


WATCHED, REFERENCE = (f"{__name__}:Watched{each}" for each in ("Prior", "Reference"))


def small(**changes):
    """Return a small plan of MLCL."""
    fields = {"name": "small", "title": "A small study", "datasets": ["synthetic"]}
    return Plan.model_validate({**fields, "rows": [Row(method="mlcl")], "folds": 3, **changes})


PLAN = """
name = "own"
title = "On files of our own"
datasets = [{own}]
folds = 2
rows = [{{ method = "prior" }}]
"""


def plan_with(folder, own):
    """Write a plan on datasets of one's own; return its path."""
    path = folder / "plan.toml"
    path.write_text(PLAN.format(own=own), encoding="utf-8")
    return path


def rewrite(path, text):
    """Write a file anew, at a time that its predecessor does not have."""
    before = path.stat().st_mtime_ns
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(before + 10**9, before + 10**9))


def assert_out_of_reach(truth, reachable):
    """Check that what fit can see has neither a dataset nor the array of true labels."""
    arrays = [value for value in reachable if isinstance(value, np.ndarray)]
    assert arrays
    assert not any(np.shares_memory(array, truth) for array in arrays)
    assert not any(isinstance(value, MultiLabelDataset) for value in reachable)


def fit_fold(*given, **how):
    """Fit a method to the training part of a fold, as a run does."""
    return _fold.fit_fold(*_fold.prepare_fold(*given, **how))


def run_unit(unit):
    """Run a unit as a worker does; return its outcome."""
    labels = draw_labels(unit.data, unit.draw, seed=unit.plan.seed)
    ((_, outcome, *_),) = run_units(unit.data, labels, [unit])
    return outcome


def assert_stops_at_once(plan, error, message):
    """Check that a run of a plan is refused before its study is in the store."""
    with Store(":memory:") as store:
        with pytest.raises(error, match=message):
            run_study(plan, store, n_jobs=1)
        assert not store.studies()


def run(plan, **options):
    """Run a plan in this process and forget it; return what was counted, and the results."""
    with Store(":memory:") as store:
        summary = run_study(plan, store, n_jobs=1, **options)
        return summary, store.results(plan.name)
