"""The units of a plan, and their keys."""

import json
import re
from collections import Counter

import pytest
from tests.experiments.studies.small import small

from complabel.experiments.studies import Draw, Row, benchmark_plan, plan_units
from complabel.methods import MLCLClassifier


def keys(**changes):
    units, _ = plan_units(small(**changes))
    return {unit.key for unit in units}


def test_the_units_of_a_plan_are_its_product():
    units, missing = plan_units(
        small(
            datasets=["synthetic", "digits"],
            rows=[Row(method="prior"), Row(method="mlcl", grid={"beta": [0.0, 1.0]})],
            draws=[Draw(name="u"), Draw(name="b", scheme="biased")],
        )
    )
    assert not missing
    assert len({unit.key for unit in units}) == len(units) == 2 * 3 * 2 * 3
    assert {(unit.dataset, unit.draw.name, unit.row.title, unit.fold) for unit in units} == {
        (dataset, draw, row, fold)
        for dataset in ("synthetic", "digits")
        for draw in ("u", "b")
        for row in ("Prior", "MLCL, beta = 0.0", "MLCL, beta = 1.0")
        for fold in range(3)
    }


def test_nothing_is_matched_where_nothing_is_asked_at_random():
    matched = {"method": "ridge", "match_frequencies": True}
    told = {**matched, "label_frequencies": "true"}
    draws = [Draw(name="free"), Draw(name="audit", audit=20), Draw(name="asked", question="asked")]
    units, _ = plan_units(small(draws=draws, rows=[Row(**matched), Row(**told)]))
    counted = Counter((unit.row.title, unit.draw.name) for unit in units)
    assert counted == {
        ("Ridge, matched frequencies", "audit"): 3,
        ("Ridge, matched frequencies", "asked"): 3,
        ("Ridge, matched to true frequencies", "free"): 3,
        ("Ridge, matched to true frequencies", "audit"): 3,
        ("Ridge, matched to true frequencies", "asked"): 3,
    }


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"folds": 4},
        {"datasets": ["digits"]},
        {"rows": [Row(method="mlcl", settings={"epochs": 7})]},
        {"rows": [Row(method="mlcl", none=["correlation"])]},
        {"rows": [Row(method="mlcl", relevant_per_row=1)]},
        {"rows": [Row(method="mlcl", relevant_share=0.1)]},
        {"rows": [Row(method="l-uw")]},
    ],
    ids=str,
)
def test_what_can_change_a_result_changes_its_key(change):
    assert not keys() & keys(**change)


WAYS = [
    {},
    {"scheme": "biased"},
    {"scheme": "biased", "sharpness": 2.0},
    {"asked_for": 2},
    {"question": "menu-2"},
    {"question": "menu-3"},
    {"question": "asked"},
    {"question": "ticked"},
    {"propensity_sd": 1.0},
    {"question": "menu-2", "propensity_sd": 1.0},
    {"question": "menu-2", "propensity_sd": 0.5},
    {"error_rate": 0.1},
    {"missed": 0.1},
    {"invented": 0.1},
    {"answers_per_item": 2},
    {"items_share": 0.5},
    {"audit": 50},
    {"question": "none", "audit": 50},
]


def test_every_way_of_asking_has_keys_and_studies_of_its_own():
    found = [keys(draws=[Draw(name="d", **way)]) for way in WAYS]
    assert len(set.union(*found)) == 3 * len(WAYS)
    names = {benchmark_plan(["synthetic"], ["prior"], draw=way).name for way in WAYS}
    assert len(names) == len(WAYS)


SPELLED = {"question": "free", "propensity_sd": 0, "error_rate": 0, "items_share": 1}


@pytest.mark.parametrize(
    ("one", "other", "method"),
    [
        ({"question": "asked"}, {"question": "asked", "propensity_sd": 1.0}, "mlcl"),
        ({"question": "ticked"}, {"question": "ticked", "propensity_sd": 1.0}, "mlcl"),
        ({}, {**SPELLED, "answers_per_item": 1}, "mlcl"),
        ({}, {"sharpness": 2.0}, "mlcl"),
        ({}, {"scheme": "biased"}, "supervised"),
    ],
)
def test_what_of_a_draw_does_not_count(one, other, method):
    rows = [Row(method=method)]
    one, other = (keys(draws=[Draw(name="d", **draw)], rows=rows) for draw in (one, other))
    assert one == other


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"title": "Other"},
        {"published": "table2"},
        {"rows": [Row(method="mlcl", title="Ours", published="MLCL")]},
        {"rows": [Row(method="mlcl", settings={"beta": 1.0})]},  # the default, spelled out
        {"draws": [Draw(name="other")]},
    ],
    ids=str,
)
def test_what_cannot_change_a_result_does_not_change_its_key(change):
    assert keys() == keys(**change)


def test_the_identity_says_what_the_key_stands_for():
    (unit, *_) = plan_units(small(rows=[Row(method="mlcl", settings={"epochs": 7})]))[0]
    identity = json.loads(unit.identity)
    assert identity["parameters"]["epochs"] == 7
    assert identity["parameters"] == json.loads(json.dumps(unit.parameters))
    assert set(identity["parameters"]) == set(MLCLClassifier().get_params())
    assert identity["versions"].keys() == {"complabel", "torch", "scikit-learn", "numpy", "scipy"}
    assert re.fullmatch("[0-9a-f]{64}", unit.key)


def test_folds_have_seeds_of_their_own():
    assert len({unit.parameters["random_state"] for unit in plan_units(small())[0]}) == 3


MINE = """
from complabel.methods import PriorClassifier


class Mine(PriorClassifier):
    def level(self):
        import own_near
        from own_package import inner
"""


def test_an_edited_module_of_ones_own_is_run_again_and_what_it_imports(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    files = {"own_top.py": MINE, "own_near.py": "import own_far, json\n", "own_far.py": ""}
    files |= {"own_package/__init__.py": "", "own_package/inner.py": "", "unused.py": ""}
    (tmp_path / "own_package").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    mine, others = ({"rows": [Row(method=name)]} for name in ("own_top:Mine", "prior"))
    before, of_others, seen = keys(**mine), keys(**others), set()
    for name, text in files.items():
        (tmp_path / name).write_text(f"{text}# edited\n", encoding="utf-8")
        now = keys(**mine)
        assert bool(now & before) == (name == "unused.py")
        seen |= now - before
        before = now
    assert len(seen) == 3 * (len(files) - 1)
    assert keys(**others) == of_others
