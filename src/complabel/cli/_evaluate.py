"""`complabel evaluate`: measure a saved model on true labels, or on answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from complabel.cli import _options as options
from complabel.cli._console import (
    command,
    explain,
    new_table,
    remark,
    save,
    save_json,
    say,
    show,
    show_rows,
    working,
)
from complabel.cli._inputs import SettledOrKept
from complabel.cli._made import FeaturesOrThings
from complabel.cli._options import option
from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel.files import Features
    from complabel.methods import SavedModel
    from complabel.trust import Evaluation, MetricEstimates, OnTruth

# With more labels than this, only some are shown.
_MOST_LABELS = 20
_MOST_NAMED = 5  # labels in a warning
_OF_LABELS = ("precision", "recall", "f1", "average_precision")


@options.with_examples(
    "evaluate model.safetensors X.csv --truth truth.csv",
    "evaluate model.safetensors X.csv --answers held-out.csv",
    "evaluate model.safetensors X.csv --answers questions.csv --cross-fit 5 --html page.html",
)
def evaluate(
    model: Path = options.MODEL,
    features: Path = options.FEATURES_OF_MODEL,
    *,
    truth: Path | None = option(
        "FILE",
        "True labels: a table with the column item and a column of 0 and 1 per label; blank: not"
        " known.",
    ),
    answers: list[Path] | None = option(
        "FILE",
        "Instead of --truth: answers that the model did not learn from. Those to random questions"
        " give precision and recall. Give the option again for more files.",
    ),
    cross_fit: int | None = options.cross_fit("measure"),
    source: FeaturesOrThings,
    reading: SettledOrKept,
    machine: Path | None = option(
        "FILE", "With --cross-fit: the machine's answers, if the model learned from them, too."
    ),
    only_yes: bool = options.ONLY_YES,
    missed: float = options.share(
        "With --answers: how often people say no about a label that applies."
    ),
    invented: float = options.share(
        "With --answers: how often people say yes about a label that does not apply."
    ),
    html: Path | None = options.target(
        "Also write a web page with charts to this file. It needs --answers to random questions.",
        page=True,
    ),
    json_file: Path | None = options.JSON_FILE,
) -> None:
    """Measure a model on true labels, or on answers that it did not learn from.

    Items without a row in the table of true labels or answers are left out. If true labels are
    blank, each figure is that of the known pairs of an item and a label. Figures on answers
    stand beside those of one order, or one guess, that is the same for all items.
    """
    from complabel.methods import SavedModel
    from complabel.trust import evaluate_model

    about_answers = bool(cross_fit or missed or invented or machine)
    _refuse_mixed(truth, answers, about_answers=about_answers, html=html)
    saved = SavedModel.open(model)
    table = source.read(saved, features)
    measured: Evaluation | OnTruth
    if truth is not None:
        measured = _on_truth(saved, table, truth)
        _show_truth(measured)
    else:
        assert answers is not None
        names = list(table.items), saved.label_names
        people, scores = reading.answers(answers, *names), None
        saved.refuse_other_folds(cross_fit, machine)
        if machine is not None:
            scores = reading.machines([machine], *names, only_yes=only_yes).said_by_any
        settings: dict[str, Any] = {"missed": missed, "invented": invented, "machine": scores}
        with working(f"predicting {people.n_items:,} items") as far:
            measured = evaluate_model(
                saved.classifier,
                saved.columns_of(table),
                people,
                n_folds=cross_fit,
                on_fold=lambda number: far(f"{number} of {cross_fit} fits"),
                **settings,
            )
        learned = saved.about_answers(answers, "these figures are too good", n_folds=cross_fit)
        _show_evaluation(measured, n_all_items=len(table.items))
        if html is not None:
            note = (
                f"People are taken to miss {100 * missed:g} % of the labels that apply, and to"
                f" invent {100 * invented:g} % of the others. If this is wrong, so are the figures"
            )
            _write_page(html, measured, [learned, note])
        remark(learned, style="yellow" if learned.startswith("warning") else "")
    save_json(json_file, measured.as_dict())
    say(f"next: {command('predict', model, features, **source.typed(), out='predictions.csv')}")


def _refuse_mixed(
    truth: Path | None, answers: Any, *, about_answers: bool, html: Path | None
) -> None:
    if (truth is None) == (not answers):
        raise InputError("give either --truth or --answers")
    if truth is not None and about_answers:
        raise InputError(
            "--cross-fit, --machine, --missed and --invented are about answers; give --answers"
            " instead of --truth"
        )
    if truth is not None and html is not None:
        raise InputError("--html is about answers to random questions; with --truth, give --json")


def _on_truth(saved: SavedModel, table: Features, path: Path) -> OnTruth:
    from complabel.files import read_truth, rows_of
    from complabel.trust import evaluate_on_truth

    truth = read_truth(path, label_names=saved.label_names, complete=False)
    rows = rows_of(truth.items, table.items, path)
    X = saved.columns_of(replace(table, X=table.X[rows], items=table.items[rows]))
    with working(f"predicting {len(rows):,} items"):
        return evaluate_on_truth(saved.classifier, X, truth.Y, truth.known)


def _show_evaluation(measured: Evaluation, *, n_all_items: int) -> None:
    """Print figures with intervals, if there are some, and how all answers agree with the model."""
    if measured.estimates is not None:
        _show_estimates(measured.estimates, n_all_items)
        explain(
            f"{measured.rule} The figures are about all items like these, if these are a random"
            " sample of them, and chance drew the questions. To halve an interval, ask so many more"
            " random questions, or fewer with complabel ask --to-evaluate."
        )
        _show_least_known(measured)
    if measured.ranking_error is not None:
        _show_ranking(measured)
    for line in measured.remarks:
        remark(line)


def _show_estimates(estimates: MetricEstimates, n_all_items: int) -> None:
    from complabel.trust import COLUMNS, FIGURES

    say(
        f"{estimates.n_judgements:,} random judgements of labels, of {estimates.n_items:,} among"
        f" {n_all_items:,} items:"
    )
    table = new_table("", "figure", numbers=[column.title for column in COLUMNS])
    for name, (title, _) in FIGURES.items():
        figure = getattr(estimates, name)
        table.add_row(title, *(column.text(figure) for column in COLUMNS))
    show(table)


def _show_least_known(measured: Evaluation) -> None:
    """Print the figures of labels with their intervals, the least known first."""
    from complabel.trust import FIGURES

    assert measured.estimates is not None
    labels = measured.estimates.labels
    if len(labels) < 2:
        return
    titles = [FIGURES[name][0] for name in _OF_LABELS]
    rows = []
    for label in measured.least_known:
        row = [label, f"{labels[label].share.n_judgements:,}"]
        for figure in (getattr(labels[label], name) for name in _OF_LABELS):
            value = "-" if math.isnan(figure.value) else f"{figure.value:.2f}"
            row.append(f"{value} ({figure.low:.2f} to {figure.high:.2f})")
        rows.append(row)
    show_rows("Labels, the least known first", "label", ["judged", *titles], rows)


def _show_ranking(measured: Evaluation) -> None:
    """Print how the model ranks labels and explains answers, beside what is the same for all."""
    constant = measured.constant
    say(f"{measured.n_answers:,} answers about {measured.n_items:,} items:")
    say(
        f"  complementary ranking error {measured.ranking_error:.4f} (lower is better; 0.5: a"
        " random order)"
    )
    say(f"    the same order for all items {constant['ranking_error']:.4f}")
    if measured.log_likelihood is not None:
        say(
            f"  log-likelihood of an item's answers {measured.log_likelihood:.4f} nats (higher is"
            " better)"
        )
        say(f"    the same guess for all items {constant['log_likelihood']:.4f} nats")
    remark(
        "these figures come from answers, not from true labels: use them to compare models on the"
        " same answers. The order and the guess that are the same for all items were made from"
        " these answers: a useful model beats them"
    )


def _write_page(path: Path, measured: Evaluation, notes: list[str]) -> None:
    from complabel.reports import render_evaluation

    if measured.estimates is None:
        raise InputError(
            "--html: precision and recall need answers to random questions, and none of these is"
            " one"
        )
    warnings = [line for line in measured.remarks if line.startswith("warning")]
    save(path, render_evaluation(measured, notes=[*notes, *warnings]))


def _show_truth(measured: OnTruth) -> None:
    """Print criteria, the figures of labels, and how known pairs were chosen if not all are."""
    _show_criteria(measured)
    _show_labels({"all pairs": measured.pooled, "mean of labels": measured.mean_of_labels})
    _show_labels(measured.labels)
    explain(
        "Average precision: higher is better; the other criteria: lower. An item with none or all"
        " of the labels counts only in the Hamming losses."
    )
    if measured.complete:
        return
    explain(
        "Only known pairs of an item and a label count. Of a label, precision rests on those of"
        " its known items for which it is predicted; recall and average precision on those to"
        " which it applies."
    )
    explain(
        f"Of the known pairs {measured.pooled['applies']:.3f} apply, and their mean probability is"
        f" {measured.mean_known:.3f}; that of all pairs with the same labels is"
        f" {measured.mean_of_all:.3f}. If these differ by much, somebody or a machine chose which"
        " pairs to check: then precision and average precision are not those of all pairs."
    )
    _warn_of_contrasts(measured.labels)


def _show_criteria(measured: OnTruth) -> None:
    """Print the criteria, and on what they rest if some pairs are not known."""
    from complabel.metrics import CRITERIA

    size = f"{measured.n_items:,} items, {len(measured.labels)} labels"
    rests_on = [] if measured.complete else ["items", "known pairs"]
    table = new_table(size, "criterion", numbers=["value", *rests_on])
    for each in CRITERIA:
        if each.name in measured.criteria:
            counts = measured.counted[each.name][: len(rests_on)]
            # Labels have an average precision of their own, over the items.
            by_item = ", by item" * (each.name == "average_precision")
            value = f"{measured.criteria[each.name]:.4f}"
            table.add_row(each.title + by_item, value, *(f"{count:,}" for count in counts))
    show(table)


def _warn_of_contrasts(labels: Mapping[str, Mapping[str, float | None]]) -> None:
    """Warn of labels of which nothing is known, or only pairs of one kind."""
    lacks = {
        "only pairs that apply are known, so precision is 1 whatever the model does": 1.0,
        "only pairs that do not apply are known, so nothing tells the recall": 0.0,
        "nothing is known": None,
    }
    for problem, share in lacks.items():
        names = [name for name, each in labels.items() if each["applies"] == share]
        if names:
            others = len(names) - _MOST_NAMED
            ending = f" and {others:,} more" if others > 0 else ""
            remark(f"warning: {problem}: {', '.join(names[:_MOST_NAMED])}{ending}")


def _show_labels(labels: Mapping[str, Mapping[str, float | None]]) -> None:
    """Print the figures of each label; of many labels, the worst."""
    names = [*labels]
    if len(names) > _MOST_LABELS:
        explain("by average precision, the lowest first:")
        figures = {name: each["average_precision"] for name, each in labels.items()}
        known = {name: value for name, value in figures.items() if value is not None}
        names.sort(key=lambda name: known.get(name, math.inf))
    headings = (heading.replace("_", " ") for heading in next(iter(labels.values()), {}))
    titles = {"f1": "F1", "average precision": "average precision, by label"}
    rows = [[name, *(_cell(*each) for each in labels[name].items())] for name in names]
    show_rows("", "label", [titles.get(each, each) for each in headings], rows, _MOST_LABELS)


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if name == "known" else f"{value:.3f}"
