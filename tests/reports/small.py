"""A small study whose results are made up, and a reader of pages."""

from __future__ import annotations

import math
from html.parser import HTMLParser

import numpy as np
from markupsafe import Markup

from complabel.metrics import METRICS
from complabel.reports._charts import Chart
from complabel.studies import Plan, StudyResults, UnitResult

ROWS = [
    {"method": "mlcl"},
    {"method": "prior", "title": "a < b & 50 % of_it | x"},
    {"method": "l-uw"},
    {"method": "supervised"},
]
DATASETS = ["scene", "yeast", "corel5k"]
DETAILS = {
    "label_names": ["Sun<set>", "Beach & sea", "snow_y"],
    "matrices": {
        "initial_transition_": [[0.0, 0.4, 0.6], [0.5, 0.0, 0.5], [0.3, 0.7, 0.0]],
        "label_correlation_": [[1.0, 0.9, 0.8], [0.9, 1.0, 0.7], [0.8, 0.7, 1.0]],
        "transition_": [[0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.4, 0.6, 0.0]],
    },
    "curves": {"selection": [3.0, 2.0, 1.0], "scores": [1.0, math.nan, 0.25]},
}
SIZE = {"n_samples": 900, "n_labels": 6}
SIZES = {"scene": {"n_samples": 2407, "n_labels": 6}}


def make_plan(**changed):
    fields = {
        "name": "small",
        "title": "A <small> study & more",
        "datasets": DATASETS,
        "rows": ROWS,
        "folds": 3,
        "published": "table2",
    }
    return Plan.model_validate(fields | changed)


def make_results(plan, *, change=lambda unit: {}, missing=(), seed=0):
    """Every unit done, with metrics that differ between rows; `change` overrides fields of one."""
    random = np.random.default_rng(seed)
    units = []
    for dataset in plan.datasets:
        for draw in plan.draws:
            for row_number, row in enumerate(plan.expanded_rows()):
                for fold in range(plan.folds):
                    values = 0.3 + 0.1 * row_number + 0.05 * random.random(len(METRICS))
                    fields = {
                        "key": f"{dataset}-{draw.name}-{row_number}-{fold}",
                        "dataset": dataset,
                        "draw": draw.name,
                        "row": row.title,
                        "method": row.method,
                        "parameters": {"random_state": fold, "alpha": len(dataset), "beta": 0.5},
                        "fold": fold,
                        "status": "done",
                        "metrics": dict(zip(METRICS, values.tolist(), strict=True)),
                        "fit_seconds": 1.0 + fold,
                        "predict_seconds": 0.25,
                        "peak_memory_mb": 300.0 + fold,
                        "fitted": {"alpha_": 0.1 * (fold + 1), "rule_": "top"},
                        "details": {}
                        if fold
                        else (DETAILS if row.method == "mlcl" else {}) | SIZES.get(dataset, SIZE),
                        "machine": {"system": "Linux", "torch": "2.9"},
                    }
                    if dataset not in missing:
                        units.append(UnitResult(**fields | change(UnitResult(**fields))))
    reasons = {name: f"put {name}.arff <there>" for name in missing}
    return StudyResults(plan=plan, units=units, missing=reasons)


def failing(unit):
    """Fold 1 of L-UW on yeast failed; nothing of it has run on corel5k."""
    nothing = {
        "metrics": {},
        "fit_seconds": math.nan,
        "predict_seconds": math.nan,
        "peak_memory_mb": math.nan,
        "fitted": {},
        "details": {},
        "machine": {},
    }
    if (unit.row, unit.dataset, unit.fold) == ("L-UW", "yeast", 1):
        return nothing | {"status": "failed", "error": "Traceback:\n  x\nValueError: <no> & never"}
    if (unit.row, unit.dataset) == ("L-UW", "corel5k"):
        return nothing | {"status": "pending"}
    return {}


class Page(HTMLParser):
    """A page's tables, line by line, and its elements with their texts; refuses wrong nesting."""

    VOID = frozenset({"meta", "img", "br", "path", "use"})

    def __init__(self, html):
        super().__init__()
        self.tables, self.elements, self._open = [], [], []
        self.feed(html)
        self.close()
        assert self._open == []

    @property
    def text(self):
        (html,) = self.find("html")
        return html[1]

    @property
    def attributes(self):
        return [attributes for _, attributes, _ in self.elements]

    def find(self, tag, **attributes):
        return [
            (found, "".join(text))
            for name, found, text in self.elements
            if name == tag and attributes.items() <= found.items()
        ]

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("th", "td"):
            self.tables[-1][-1].append("")
        if tag not in self.VOID:
            self._open.append(self.elements[-1])

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self._open.pop()[0] == tag

    def handle_data(self, data):
        for _, _, text in self._open:
            text.append(data)
        if {"th", "td"} & {tag for tag, *_ in self._open}:
            self.tables[-1][-1][-1] += data


def folds_of(results, row, dataset, metric):
    return [
        unit.metrics[metric]
        for unit in results.units
        if (unit.row, unit.dataset) == (row, dataset) and unit.status == "done"
    ]


def the_cell(summary, **place):
    (found,) = [cell for cell in summary.cells if place.items() <= vars(cell).items()]
    return found


HOSTILE = ["<script>alert(1)</script>", "a\"b' onload=x", "sea & sky\n{{ 7*7 }}", "łódź" * 12]
PEOPLE = ("<b>ann</b>", "bob & co")


def about_people():
    """How often two people and the unknown ones err, and 25 doubtful answers."""
    people = {
        "annotator": np.array([*PEOPLE, None], dtype=object),
        "judged": np.array([10, 2000, 0]),
        "missed": np.array([math.nan, 0.25, math.nan]),
        "missed_low": np.array([0.1, 0.2, 0.01]),
        "missed_high": np.array([0.9, 0.4, 0.99]),
        "invented": np.array([0.03, 0.01, math.nan]),
        "invented_low": np.array([0.02, 0.005, 0.01]),
        "invented_high": np.array([0.04, 0.015, 0.99]),
    }
    doubtful = {
        "item": np.array([f"<i>{at}" for at in range(25)], dtype=object),
        "label": np.array(HOSTILE)[np.arange(25) % 4],
        "annotator": np.array([*PEOPLE, None, *PEOPLE] * 5, dtype=object),
        "said": np.arange(25) % 3 == 0,
        "wrong": np.linspace(0.9, 0.1, 25),
        "others": np.where(np.arange(25) == 1, math.nan, 0.125),
    }
    return people, doubtful


def draw_labels():
    Y = (np.random.default_rng(100).random((400, 4)) < [0.1, 0.2, 0.3, 0.4]).astype(np.uint8)
    Y[Y.all(axis=1), 0] = 0
    return Y


def do_not_draw(patch):
    """Leave the drawing of charts out, which takes most of the time."""
    patch.setattr(Chart, "svg", lambda chart, ident: Markup(f"<svg id='{ident}'></svg>"))
