from __future__ import annotations

import base64
import copy
import io
import json
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from complabel.annotations import draw_complementary
from complabel.datasets import make_digits
from complabel.errors import InputError
from complabel.methods import make_classifier
from complabel.metrics import METRIC_NAMES
from complabel.reports import _demo, render_demo
from complabel.reports._demo import DEMO_METHODS, run_demo
from complabel.studies import Monitor, _sources, split_folds
from complabel.studies._protocol import seeded

VOID = {"meta", "img", "br"}


@pytest.fixture(scope="module")
def canvases():
    return make_digits(240)


class Record(Monitor):
    """Remembers the folds that were run."""

    def __init__(self):
        self.told = []

    def finished(self, unit, outcome, seconds):
        self.told.append((unit.row.method, unit.fold))


@pytest.fixture(scope="module", autouse=True)
def few_canvases(canvases):
    """Let the demonstration's dataset be a small one."""
    with pytest.MonkeyPatch.context() as patch:
        _sources._loaded.cache_clear()
        patch.setattr(_sources, "load_dataset", lambda name, data_dir: canvases)
        yield
    _sources._loaded.cache_clear()


@pytest.fixture(scope="module")
def demo(few_canvases):
    """The summary, and what the monitor was told."""
    record = Record()
    return run_demo(seed=3, n_folds=2, monitor=record), record.told


@pytest.fixture(scope="module")
def summary(demo):
    return demo[0]


@pytest.fixture(scope="module")
def page(summary):
    return render_demo(summary)


class Document(HTMLParser):
    """Elements in order, as (tag, attributes, text inside); refuses wrong nesting."""

    def __init__(self, html):
        super().__init__()
        self.elements, self._open = [], []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))
        if tag not in VOID:
            self._open.append(self.elements[-1])

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))

    def handle_endtag(self, tag):
        assert self._open.pop()[0] == tag

    def handle_data(self, data):
        for _, _, text in self._open:
            text.append(data)

    def find(self, tag, **attributes):
        return [
            (attrs, "".join(text))
            for found, attrs, text in self.elements
            if found == tag and attributes.items() <= attrs.items()
        ]


def row_of(canvas, dataset):
    pixels = np.array(canvas["pixels"]).ravel()
    (row,) = np.flatnonzero((pixels == dataset.X).all(axis=1))
    return row


def test_summary_is_plain_data(summary):
    assert json.loads(json.dumps(summary)) == summary


def test_the_monitor_is_told_of_every_fold_of_every_method(demo):
    assert demo[1] == [(method, fold) for method in DEMO_METHODS for fold in range(2)]


def test_one_answer_per_canvas(summary):
    assert summary["n_annotations"] == summary["dataset"]["n_samples"] == 240


def test_methods_have_every_criterion_and_only_the_reference_sees_true_labels(summary):
    learns_from = {record["method"]: record["learns_from"] for record in summary["methods"]}
    assert learns_from == {
        "prior": "complementary",
        "mlcl": "complementary",
        "comrank": "complementary",
        "supervised": "relevant",
    }
    for record in summary["methods"]:
        assert set(record["metrics"]) == set(METRIC_NAMES)
        assert record["seconds"] > 0


def test_canvases_are_shown_with_their_own_labels(summary, canvases):
    names = np.array(canvases.label_names)
    complementary = draw_complementary(canvases.Y, random_state=3)
    train, test = split_folds(canvases, n_folds=2, seed=3)[0]
    assert len(summary["example"]["training"]) == len(summary["example"]["test"]) == 8
    for canvas in summary["example"]["training"]:
        row = row_of(canvas, canvases)
        assert row in train
        assert canvas["complementary"] == names[complementary[row] == 1].tolist()
    for canvas in summary["example"]["test"]:
        row = row_of(canvas, canvases)
        assert row in test
        assert canvas["relevant"] == names[canvases.Y[row] == 1].tolist()


def test_test_canvases_go_from_ranked_best_to_ranked_worst(summary):
    from sklearn.metrics import label_ranking_average_precision_score

    names = summary["dataset"]["label_names"]
    precision = []
    for canvas in summary["example"]["test"]:
        ranking = canvas["predictions"]["mlcl"]["ranking"]
        relevant = [[name in canvas["relevant"] for name in names]]
        scores = [[-ranking.index(name) for name in names]]
        precision.append(label_ranking_average_precision_score(relevant, scores))
    assert precision == sorted(precision, reverse=True)
    assert precision[0] > precision[-1]


def test_predictions_are_those_of_the_methods(summary, canvases):
    train, _ = split_folds(canvases, n_folds=2, seed=3)[0]
    answers = draw_complementary(canvases.Y, random_state=3)[train]
    for name in ("mlcl", "comrank"):
        classifier = seeded(make_classifier(name, dataset="digits"), seed=3, fold=0)
        classifier.fit(canvases.X[train], answers)
        for canvas in summary["example"]["test"]:
            scores = classifier.predict_proba(canvases.X[[row_of(canvas, canvases)]])[0]
            ranking = [int(label) for label in canvas["predictions"][name]["ranking"]]
            assert scores[ranking].tolist() == sorted(scores, reverse=True)


def test_matrices_are_those_of_the_first_training_part(summary, canvases):
    train, _ = split_folds(canvases, n_folds=2, seed=3)[0]
    candidate = draw_complementary(canvases.Y, random_state=3)[train] == 0
    C = [[(candidate[:, j] & candidate[:, k]).sum() / candidate[:, k].sum() for j in range(10)]
         for k in range(10)]  # fmt: skip
    example = summary["example"]
    assert np.allclose(example["label_correlation"], C)
    T = np.array(example["initial_transition"]) @ np.array(C).T
    np.fill_diagonal(T, 0)
    assert np.allclose(example["transition"], T / T.sum(axis=1, keepdims=True))


def test_same_seed_same_summary(summary):
    again = run_demo(seed=3, n_folds=2)
    for record in (*again["methods"], *(expected := copy.deepcopy(summary))["methods"]):
        del record["seconds"]
    assert again == expected


def test_the_shown_model_is_that_of_the_studys_first_fold(summary, monkeypatch):
    from complabel.studies import _protocol

    fitted = []
    fit_fold = _protocol.fit_fold

    def recording(*arguments, **named):
        fitted.append(fit_fold(*arguments, **named))
        return fitted[-1]

    monkeypatch.setattr(_protocol, "fit_fold", recording)  # what the study calls
    monkeypatch.setattr(_demo, "DEMO_METHODS", ("mlcl", "comrank"))
    shown = run_demo(seed=3, n_folds=2)["example"]
    assert fitted[0].classifier.transition_.tolist() == shown["transition"]


def test_page_is_a_document(page):
    document = Document(page)
    assert page.startswith("<!doctype html>")
    assert document.find("html")[0][0] == {"lang": "en"}
    assert document.find("meta", name="viewport")
    assert len(document.find("h1")) == len(document.find("main")) == 1
    assert len(page) < 1_000_000


def test_page_needs_nothing_from_outside(page):
    document = Document(page)
    for tag, attributes, _ in document.elements:
        assert tag not in {"script", "link", "iframe", "object"}
        for name in ("src", "href", "srcset", "poster"):
            assert attributes.get(name, "#").startswith(("#", "data:image/png;base64,"))
    assert "@import" not in page
    assert "http" not in page
    assert page.count("url(") == page.count("url(#")


def test_ids_are_unique_and_headings_are_found(page):
    attributes = [attributes for _, attributes, _ in Document(page).elements]
    ids = [found["id"] for found in attributes if "id" in found]
    assert len(ids) == len(set(ids))
    labelled = {found["aria-labelledby"] for found in attributes if "aria-labelledby" in found}
    assert labelled <= set(ids)


def test_figures_and_canvases_have_words(page, summary):
    from matplotlib.image import imread

    document = Document(page)
    figures = document.find("svg", role="img")
    assert len(figures) == 4
    assert all(attributes["aria-label"] for attributes, _ in figures)
    images = [attributes for attributes, _ in document.find("img")]
    shown = [*summary["example"]["training"], *summary["example"]["test"]]
    for image, canvas in zip(images, shown, strict=True):
        read = imread(io.BytesIO(base64.b64decode(image["src"].partition(",")[2])))
        assert np.abs(1 - read[..., 0] - canvas["pixels"]).max() <= 1.5 / 255
    for image, canvas in zip(images[8:], summary["example"]["test"], strict=True):
        assert image["alt"].endswith(f"it shows {', '.join(canvas['relevant'])}")


def test_the_table_has_the_summarys_numbers_and_marks_the_best(page, summary):
    table = page[page.index('<table class="results">') :]
    document = Document(table[: table.index("</table>") + len("</table>")])
    cells = [text for _, text in document.find("td")]
    bold = [text for _, text in document.find("b")]
    order = ["average_precision", "ranking_loss", "one_error", "coverage", "hamming_loss",
             "hamming_loss_minmax"]  # fmt: skip
    for name, best, row in zip(order, bold, np.reshape(cells, (7, 4))[:6], strict=True):
        values = [record["metrics"][name] for record in summary["methods"]]
        assert row.tolist() == [f"{value['mean']:.3f} ± {value['std']:.3f}" for value in values]
        learned = [value["mean"] for value in values[:3]]
        winner = max(learned) if name == "average_precision" else min(learned)
        assert best == f"{winner:.3f}"


def test_verdicts_equal_the_predictions(page, summary):
    lists = [text for _, text in Document(page).find("dl", **{"class": "verdict"})]
    for text, canvas in zip(lists, summary["example"]["test"], strict=True):
        relevant = set(canvas["relevant"])
        for method in ("mlcl", "comrank"):
            predicted = set(canvas["predictions"][method]["labels"])
            for sign, kind, labels in (
                ("✓", "correct", relevant & predicted),
                ("✗", "wrong", predicted - relevant),
                ("–", "missed", relevant - predicted),  # noqa: RUF001
            ):
                for label in labels:
                    assert f"{sign} {kind}: {label}" in text
    learned = page[: page.index('id="results"')]
    for canvas in summary["example"]["training"]:
        assert f"<span>not {canvas['complementary'][0]}</span>" in learned


def test_a_prediction_of_each_kind_is_marked(summary):
    changed = copy.deepcopy(summary)
    changed["example"]["test"] = changed["example"]["test"][:1]
    (canvas,) = changed["example"]["test"]
    canvas["relevant"] = ["1", "2"]
    canvas["predictions"] = {"mlcl": {"labels": ["2", "7"], "ranking": list("7201345689")}}
    document = Document(render_demo(changed))
    ((_, text),) = document.find("dl", **{"class": "verdict"})
    assert "MLCL predicts 2, 7" in text
    for mark in ("– missed: 1", "✓ correct: 2", "✗ wrong: 7"):  # noqa: RUF001
        assert mark in text
    ((_, ranking),) = document.find("span", **{"class": "ranking"})
    assert ranking.split() == ["Order:", *"7201345689"]


def test_every_name_is_escaped(summary):
    changed = json.loads(json.dumps(summary).replace('"7"', '"<script>7&</script>"'))
    changed["versions"]["torch"] = '"><img src=x>'
    html = render_demo(changed)
    document = Document(html)
    assert not document.find("script")
    assert len(document.find("img")) == 16
    assert "<script>7&</script>" in document.find("body")[0][1]


def test_the_snippet_runs(page, monkeypatch):
    ((_, snippet),) = Document(page).find("code", id="snippet")
    monkeypatch.setattr("complabel.datasets.load_dataset", lambda name: make_digits(700))
    scope = {}
    exec(compile(snippet, "snippet", "exec"), scope)
    assert scope["model"].transition_.shape == (10, 10)


@pytest.mark.parametrize("module", ["jinja2", "matplotlib"])
def test_a_missing_extra_is_named(summary, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=rf"{module}.*pip install \"complabel\[report\]\""):
        render_demo(summary)


def test_too_many_folds_are_refused():
    with pytest.raises(InputError, match="between 2 and 10, got 11"):
        run_demo(n_folds=11)
