"""How long a run will take, by the times in a store."""

import dataclasses

import pytest

from complabel.metrics import METRIC_NAMES
from complabel.studies import Forecast, Outcome, Plan, Store, forecast, plan_units

PLAN = Plan.model_validate(
    {
        "name": "small",
        "title": "t",
        "datasets": ["synthetic"],
        "folds": 3,
        "draws": [{"name": "free"}, {"name": "asked", "question": "asked"}],
        "rows": [{"method": "ridge"}, {"method": "prior"}],
    }
)
METRICS = dict.fromkeys(METRIC_NAMES, 0.5)


@pytest.fixture(scope="module")
def units():
    return plan_units(PLAN)[0]


def done(units, **place):
    return [u for u in units if (u.draw.name, u.row.method, u.fold) == tuple(place.values())]


def test_units_of_the_same_row_and_dataset_say_how_long(units):
    with Store(":memory:") as store:
        assert forecast(store, units) == Forecast(12, 0, 0.0)
        (first,) = done(units, draw="free", method="ridge", fold=0)
        (second,) = done(units, draw="free", method="ridge", fold=1)
        store.finish(first, Outcome(metrics=METRICS, fit_seconds=2.0, predict_seconds=1.0))
        store.finish(second, Outcome(metrics=METRICS, fit_seconds=4.5, predict_seconds=0.5))
        rest = [unit for unit in units if unit not in (first, second)]
        # Ridge has one fold more under the first draw, three under the other: 4 x (3 + 5) / 2.
        assert forecast(store, rest) == Forecast(10, 4, 16.0)


def test_units_by_other_code_say_it_and_failed_or_damaged_ones_do_not(units, tmp_path):
    path = tmp_path / "store.sqlite"
    ridge, prior = units[0], units[3]
    other = dataclasses.replace(ridge, key="0" * 64, identity=ridge.identity.replace("code", "x"))
    with Store(path) as store:
        store.finish(other, Outcome(metrics=METRICS, fit_seconds=2.0, predict_seconds=0.0))
        store.finish(prior, Outcome(error="ValueError: no"))
        assert forecast(store, units) == Forecast(12, 6, 12.0)
