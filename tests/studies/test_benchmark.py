import json

import numpy as np
import pytest

from complabel.datasets import make_synthetic
from complabel.errors import InputError
from complabel.metrics import METRIC_NAMES
from complabel.studies import results_as_json, run_benchmark


@pytest.fixture(scope="module")
def dataset():
    return make_synthetic(60, random_state=0)


def test_results_come_in_order_with_every_fold(dataset):
    folds = []
    results = list(
        run_benchmark(
            [dataset, dataset],
            ["prior"],
            n_folds=3,
            on_fold=lambda name, method, fold: folds.append((name, method, fold.fold)),
        )
    )
    assert [(r.dataset, r.method) for r in results] == [("synthetic", "prior")] * 2
    assert folds == [("synthetic", "prior", fold) for fold in range(3)] * 2


def test_a_record_has_what_the_interface_promises(dataset):
    (record,) = json.loads(results_as_json(run_benchmark([dataset], ["prior"], n_folds=4, seed=7)))
    assert record.keys() == {
        "dataset", "labels", "method", "learns_from", "seed", "folds", "seconds", "metrics",
    }  # fmt: skip
    assert (record["dataset"], record["labels"], record["method"]) == (
        "synthetic",
        "uniform",
        "prior",
    )
    assert (record["seed"], record["folds"]) == (7, 4)
    assert tuple(record["metrics"]) == METRIC_NAMES
    for values in record["metrics"].values():
        assert len(values["folds"]) == 4
        assert values["mean"] == pytest.approx(np.mean(values["folds"]))
        assert values["std"] == pytest.approx(np.std(values["folds"], ddof=1))


def test_an_unknown_method_is_refused_before_anything_runs(dataset):
    ran = []
    with pytest.raises(InputError, match=r"no method 'priro'.*'prior'"):
        run_benchmark([dataset], ["prior", "priro"], on_fold=lambda *fold: ran.append(fold))
    assert not ran
