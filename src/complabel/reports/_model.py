"""What is known of a model: what its file says.

``describe_model`` makes plain data; lines on a terminal and the page are renderings of it. A file
may come from a stranger, so notes count only if they are of the expected kind.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from complabel import __version__
from complabel.answers import STATEMENT_KINDS
from complabel.reports._templates import get_template, top_of_scale

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from complabel._parameters import AnyArray, Array
    from complabel.methods import ComplementaryClassifier

_DRAWN = 60  # labels or people; nobody can read a chart with a thousand
_NAMES = 5  # names in a line before the rest is only counted
_LONGEST = 500  # characters of a text of the file
_ORDER = "right order, of 100"
_ITEMS = 5  # the likeliest items of a label, and the unlikeliest
# What is chosen or estimated is shown, but not these.
_OTHER = ("n_features_in_", "n_iter_")
_WORDS = {
    "kernel_": "features",
    "scaling_": "scaling",
    "alpha_": "penalty",
    "cardinality_": "cardinality",
    "mean_cardinality_": "labels per item",
    "error_rate_": "share of mistakes",
}
# Figures of labels and of people, and the attributes that hold them.
_OF_LABELS = {
    "threshold": "thresholds_",
    "propensity": "propensities_",
    "exclusion_rate": "exclusion_rates_",
    "exposure": "exposure_",
}
# Which of STATEMENT_KINDS say so.
_SIDES = {
    "yes": ("relevant", "positive", "tagged", "implied"),
    "no": ("named", "absent", "excluded", "implied_no"),
}
_OF_PEOPLE = {"missed": "missed_", "invented": "invented_", "error_rate": "error_rates_"}


def describe_model(
    classifier: ComplementaryClassifier, header: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a fitted classifier and the header of its file say, as plain data.

    ``labels`` and ``people`` are lists with a dict for each.
    """
    from complabel.methods import about_cardinality

    notes = dict(header["provenance"]["given"])
    inner: Any = getattr(classifier, "classifier_", classifier)
    chosen = {
        name: value
        for each in {id(each): each for each in (inner, classifier)}.values()
        for name, value in vars(each).items()
        if name.endswith("_") and name not in _OTHER and isinstance(value, bool | int | float | str)
    }
    if not chosen.get("error_rate_"):  # with rates of missed and invented labels it is 0
        chosen.pop("error_rate_", None)
    return {
        "method": header["method"],
        "model": " ".join(repr(classifier).split()),
        "parameters": header["parameters"],
        "chosen": chosen,
        "cardinality": about_cardinality(inner),
        "predicts": _rule(classifier),
        "n_features": classifier.n_features_in_,
        "feature_names": [str(name) for name in getattr(classifier, "feature_names_in_", ())],
        "labels": _labels(classifier, notes),
        "people": _people(inner),
        "versions": {n: text for n, text in header["provenance"].items() if isinstance(text, str)},
        "notes": notes,
    }


def _rule(classifier: Any) -> str:
    if classifier._single:
        return "the most probable class"
    if hasattr(classifier, "thresholds_"):
        return "each label whose probability is at least its own threshold"
    scaled = ", scaled to [0, 1] within its row," if classifier.threshold == "minmax" else ""
    return f"each label whose probability{scaled} is above {classifier.cut:g}"


def _labels(classifier: Any, notes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each label: what is known of it, the least known first."""
    n = len(classifier.classes_)
    counts = notes.get("labels")
    columns: dict[str, AnyArray] = {
        kind: numbers.astype(int)
        for kind in STATEMENT_KINDS
        if isinstance(counts, dict) and (numbers := _numbers(counts.get(kind), n)) is not None
    }
    frequencies = _numbers(getattr(classifier, "label_frequencies_", None), n)
    ends = getattr(classifier, "label_frequencies_intervals_", None)
    if frequencies is None:
        frequencies, ends = _numbers(notes.get("frequencies"), n), notes.get("intervals")
    if frequencies is not None:
        columns["frequency"] = frequencies
    with contextlib.suppress(ValueError, TypeError):  # a stranger's notes may hold anything
        low, high = np.asarray(ends, dtype=float).T
        if frequencies is not None and low.shape == high.shape == (n,):
            columns |= {"low": low, "high": high}
    for name, attribute in _OF_LABELS.items():
        values = _numbers(getattr(classifier, attribute, None), n)
        if values is not None:
            columns[name] = values
    lists = (column.tolist() for column in columns.values())
    rows = [
        {"label": str(name), **dict(zip(columns, row, strict=True))}
        for name, *row in zip(classifier.classes_, *lists, strict=True)
    ]
    with contextlib.suppress(KeyError, ValueError, TypeError):
        figures = [notes["features_tell"]["labels"][row["label"]] for row in rows]
        for row, each in zip(rows, [_order(each) for each in figures], strict=True):
            row[_ORDER] = each
    if "low" in columns:
        rows.sort(key=lambda row: -(row["high"] - row["low"]) / max(row["frequency"], 1e-9))
    return rows


def _numbers(values: Any, n: int) -> Array | None:
    """Return n finite numbers as an array; None if they are something else."""
    with contextlib.suppress(ValueError, TypeError):
        numbers = np.asarray(values, dtype=float)
        if numbers.shape == (n,) and np.isfinite(numbers).all():
            return numbers
    return None


def _order(figures: Mapping[str, Any]) -> str:
    """Return a figure of ``features_tell`` that a file keeps, as text."""
    value, low, high = (
        math.nan if figures[x] is None else float(figures[x]) for x in ("value", "low", "high")
    )
    from complabel.trust import LabelOrder  # loads SciPy

    return str(LabelOrder(value, low, high, 0, 0))


def _people(classifier: Any) -> list[dict[str, Any]]:
    names = getattr(getattr(classifier, "_annotators", None), "names", ())
    columns = {
        name: rates.tolist()
        for name, attribute in _OF_PEOPLE.items()
        if (rates := _numbers(getattr(classifier, attribute, None), len(names))) is not None
    }
    return [
        {"annotator": str(name), **dict(zip(columns, row, strict=True))}
        for name, *row in zip(names, *columns.values(), strict=True)
        if columns
    ]


def likeliest_items(
    probabilities: Array, items: ArrayLike, labels: ArrayLike
) -> dict[str, dict[str, list[tuple[str, float]]]]:
    """Return the items that a label most likely applies to, and least likely.

    ``items`` and ``labels`` are the names in probabilities (n, K). Each label has ``likeliest`` and
    ``unlikeliest``: up to five items with probabilities.
    """
    by_label, names = {}, np.asarray(items)
    n = min(_ITEMS, len(names))
    for label, of_label in zip(np.asarray(labels), probabilities.T, strict=True):
        order = np.argsort(-of_label, kind="stable")
        sides = {"likeliest": order[:n], "unlikeliest": order[::-1][:n]}
        by_label[str(label)] = {
            side: [(str(names[row]), float(of_label[row])) for row in rows]
            for side, rows in sides.items()
        }
    return by_label


def model_facts(described: Mapping[str, Any]) -> dict[str, str]:
    """Return titles and texts: what the model is, and what it was trained on."""
    notes, versions = described["notes"], dict(described["versions"])
    ours = f"complabel {versions.pop('complabel', 'of an unknown version')}"
    others = ", ".join(f"{name} {version}" for name, version in versions.items())
    chosen = (
        f"{_WORDS.get(name, name)} {value:{'' if isinstance(value, str | bool) else '.4g'}}"
        for name, value in described["chosen"].items()
    )
    names = [*map(repr, described["feature_names"][:_NAMES])]
    if described["n_features"] > _NAMES:
        names += [f"and {described['n_features'] - _NAMES:,} more"]
    named = f": {', '.join(names)}" if described["feature_names"] else ""
    date, seconds = notes.get("date"), notes.get("seconds")
    duration = f"in {seconds:,.1f} seconds" if isinstance(seconds, int | float) else ""
    facts = {
        "model": described["model"],
        "method": described["method"],
        "chosen": ", ".join(chosen),
        "labels per item": described["cardinality"],
        "predicts": described["predicts"],
        "learned from": _learned_from(notes),
        "files": ", ".join(_files(notes)),
        "features": f"{described['n_features']:,}{named}",
        "labels": f"{len(described['labels']):,}",
        "held-out answers": held_out_in_words(notes.get("held_out")),
        "what features tell": _tell(notes.get("features_tell")),
        "fitted": ", ".join(filter(None, [date if isinstance(date, str) else "", duration])),
        "saved by": ours + (f" ({others})" if others else ""),
    }
    facts |= {
        name: value
        for name, value in notes.items()
        if isinstance(value, str) and name not in ("answers", "features", "date", *facts)
    }
    return {name: text[:_LONGEST] for name, text in facts.items() if text}


def _files(notes: Mapping[str, Any]) -> list[str]:
    answers = notes.get("answers")
    files = [*(answers if isinstance(answers, list) else []), notes.get("features")]
    return [name for name in files if isinstance(name, str)]


def _learned_from(notes: Mapping[str, Any]) -> str:
    questions, n_items, people = (notes.get(x) for x in ("questions", "n_items", "n_annotators"))
    if not isinstance(questions, dict) or not isinstance(n_items, int):
        return ""
    by_question = {word: n for word, n in questions.items() if isinstance(n, int)}
    kinds = ", ".join(f"{n:,} {word}" for word, n in by_question.items())
    text = f"{sum(by_question.values()):,} answers ({kinds}) about {n_items:,} items"
    if not isinstance(people, int) or not people:
        return text
    return f"{text}, by {people:,} {'person' if people == 1 else 'people'}"


def held_out_in_words(figures: Any) -> str:
    """Say what the figures of a ``HeldOutScore`` mean; empty if a file holds others."""
    with contextlib.suppress(KeyError, ValueError, TypeError, OverflowError):
        score, constant, n_folds = (figures[name] for name in ("score", "constant", "n_folds"))
        folds = "1 fold" if n_folds == 1 else f"{n_folds:d} folds"
        if figures["criterion"] == "ranking":
            return (
                "of a label that somebody ruled out and another one, the wrong one is first in"
                f" {-100 * score:.0f} of 100 cases, by one order for all items in"
                f" {-100 * constant:.0f} ({folds})"
            )
        if figures["criterion"] == "log-likelihood":
            return (
                f"what people said of an item is {math.exp(score - constant):.2f} times as likely"
                f" as by label frequencies alone ({folds}; the geometric mean of items)"
            )
    return ""


def _tell(figures: Any) -> str:
    with contextlib.suppress(KeyError, ValueError, TypeError):
        score, guess = (f"{100 * float(figures[name]):.0f}" for name in ("score", "guess"))
        doubt = f"; {figures['sentence']}" if figures["sentence"] else ""
        return (
            "of two labels, one that applies and one that does not, the right one is first in"
            f" {score} of 100 cases, by label frequencies alone in {guess}{doubt}"
        )
    return ""


def render_model(described: Mapping[str, Any]) -> str:
    """Render what ``describe_model`` returned as one HTML page without external files.

    If ``described`` has ``items``, as ``likeliest_items`` returns them, the page shows these.
    """
    labels, people = described["labels"], described["people"]
    facts = model_facts(described)
    shown = [
        row | {x: sum(row.get(kind, 0) for kind in kinds) for x, kinds in _SIDES.items()}
        for row in labels[:_DRAWN]
    ]
    rates = [name for name in _OF_PEOPLE if people and name in people[0]]
    return get_template("model.html.j2").render(
        headline=f"What {facts.pop('method')} knows about {len(labels):,} labels",
        facts=facts,
        labels=shown,
        counted=any(row["yes"] + row["no"] for row in shown),
        top=top_of_scale(row.get("high", row.get("frequency", 0.0)) for row in shown),
        n_labels=len(labels),
        people=people[:_DRAWN],
        tops={name: top_of_scale(row[name] for row in people[:_DRAWN]) for name in rates},
        n_people=len(people),
        items=described.get("items", {}),
        complabel=__version__,
    )
