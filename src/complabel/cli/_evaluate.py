"""`complabel evaluate`: measure a saved model on true labels, or on answers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from complabel.cli import _options as options
from complabel.cli import _own as own
from complabel.cli._console import (
    command,
    explain,
    new_table,
    remark,
    save_json,
    say,
    show,
    working,
)
from complabel.cli._estimates import show_estimates
from complabel.cli._options import option
from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel.answers import Answers
    from complabel.files import Features
    from complabel.methods import ComplementaryClassifier

# With more labels than this, only the worst and the best are shown.
_MOST_LABELS = 20


@options.with_examples(
    "evaluate model.safetensors X.csv --truth truth.csv",
    "evaluate model.safetensors X.csv --answers held-out.csv",
    "evaluate model.safetensors X.csv --answers questions.csv --cross-fit 5",
)
def evaluate(
    model: Path = options.MODEL,
    features: Path = options.FEATURES_OF_MODEL,
    truth: Path | None = option(
        "FILE", "True labels: a table with the column item and a column of 0 and 1 per label."
    ),
    answers: list[Path] | None = option(
        "FILE",
        "Instead of --truth: answers that the model did not learn from. Those to random questions"
        " give precision and recall. Give the option again for more files.",
    ),
    cross_fit: int | None = option(
        "N",
        "For --answers that the model learned from: fit it anew N times, each time without the"
        " answers about one part of the items, and measure these fits. Give all the answers that"
        " the model learned from.",
        min=2,
    ),
    missed: float = option(
        "P",
        "With --answers: how often people say no about a label that applies.",
        default=0.0,
        min=0,
        max=1,
    ),
    invented: float = option(
        "P",
        "With --answers: how often people say yes about a label that does not apply.",
        default=0.0,
        min=0,
        max=1,
    ),
    items: Path | None = options.ITEMS,
    question: str | None = options.QUESTION,
    contradictions: str = options.CONTRADICTIONS_OR_KEEP,
    json_file: Path | None = options.JSON_FILE,
) -> None:
    """Measure a model on true labels, or on answers that it did not learn from.

    Items without a row in the table of true labels or answers are left out. Figures on answers
    stand beside those of one order, or one guess, that is the same for all items.
    """
    from complabel.methods import load

    if (truth is None) == (not answers):
        raise InputError("give either --truth or --answers")
    if truth is not None and (cross_fit or missed or invented):
        raise InputError(
            "--cross-fit, --missed and --invented are about answers; give --answers instead of"
            " --truth"
        )
    classifier = load(model)
    found = own.read_own_features(features, items, classifier.n_features_in_)
    if truth is not None:
        result = _on_truth(classifier, found, truth)
    else:
        assert answers is not None
        said = own.read_own_answers(
            answers,
            list(found.items),
            [str(name) for name in classifier.classes_],
            question,
            contradictions,
        )
        result = _on_answers(classifier, found, said, cross_fit, missed, invented)
    save_json(json_file, result)
    say(f"next: {command('predict', model, features, items=items, out='predictions.csv')}")


def _on_truth(classifier: ComplementaryClassifier, found: Features, path: Path) -> dict[str, Any]:
    from complabel.files import read_truth, rows_of
    from complabel.metrics import METRIC_TITLES, evaluate, evaluate_labels

    names = [str(name) for name in classifier.classes_]
    truth = read_truth(path, label_names=names)
    rows = rows_of(truth.items, found.items, path)
    X = own.for_model(_part(found, rows), classifier)
    with working(f"predicting {len(rows):,} items"):
        predicted, probabilities = classifier.predict_with_proba(X)
    values = evaluate(truth.Y, probabilities, predicted, skip_trivial_rows=True)
    size = f"{len(rows):,} items, {len(names)} labels"
    table = new_table(size, "criterion", numbers=["value"])
    for name, title in METRIC_TITLES.items():
        table.add_row(title, f"{values[name]:.4f}")
    show(table)
    found_by_label = evaluate_labels(truth.Y, probabilities, predicted)
    labels = dict(zip(names, found_by_label, strict=True))
    _show_labels(labels)
    explain(
        "Average precision: higher is better; the other criteria: lower. An item with none or all"
        " of the labels counts only in the Hamming losses."
    )
    return {"n_items": len(rows), "criteria": values, "labels": labels}


def _show_labels(labels: Mapping[str, Mapping[str, float | None]]) -> None:
    """Print the figures of each label; with many labels, only the worst and the best."""
    shown = list(labels)
    if len(labels) > _MOST_LABELS:
        figures = ((each["average_precision"], name) for name, each in labels.items())
        measured = {name: value for value, name in figures if value is not None}
        shown = ranked = sorted(measured, key=measured.__getitem__)
        if len(ranked) <= _MOST_LABELS:
            explain(f"the {len(ranked)} labels that apply to some items, by average precision:")
        else:
            few = _MOST_LABELS // 2
            shown = [*ranked[:few], *ranked[-few:]]
            explain(
                f"by average precision, the lowest {few} and the highest {few} of {len(ranked):,}"
                " labels that apply to some items:"
            )
    headings = (heading.replace("_", " ") for heading in next(iter(labels.values()), {}))
    table = new_table("", "label", numbers=("F1" if each == "f1" else each for each in headings))
    for name in shown:
        table.add_row(Text(name), *(_shown(*each) for each in labels[name].items()))
    show(table)
    if len(shown) < len(labels):
        left = len(labels) - len(shown)
        say(f"{left:,} more labels are not shown; --json FILE writes all of them")


def _on_answers(
    classifier: ComplementaryClassifier,
    found: Features,
    said: Answers,
    cross_fit: int | None,
    missed: float,
    invented: float,
) -> dict[str, Any]:
    every = own.for_model(found, classifier)
    with working(f"predicting {said.n_items:,} items") as far:
        if cross_fit is None:
            probabilities = classifier.predict_proba(every)
        else:
            from complabel.methods import cross_fit_probabilities

            probabilities = cross_fit_probabilities(
                classifier,
                every,
                said,
                n_folds=cross_fit,
                on_fold=lambda number: far(f"{number} of {cross_fit} fits"),
            )
    estimates = show_estimates(said, probabilities, missed=missed, invented=invented)
    if cross_fit is not None:
        remark(
            f"these are the figures of {cross_fit} fits with the model's settings, each to the"
            " answers about other items. They stand for the model if it learned from all these"
            " answers"
        )
        return {"n_answers": said.n_answers, "cross_fit": cross_fit, **(estimates or {})}
    result = _scores(classifier, own.for_model(_part(found, said.answered), classifier), said)
    remark(
        "the model must not have learned from these answers, which complabel cannot know. If it"
        " did, these figures are too good: add --cross-fit 5"
    )
    return {**result, **(estimates or {})}


def _scores(classifier: ComplementaryClassifier, X: Any, said: Answers) -> dict[str, Any]:
    """Print how the model ranks labels and explains answers, beside one guess for all items."""
    from complabel.metrics import complementary_ranking_error

    answers = said[said.answered]
    explains = classifier.models_the_choice and classifier.understands_answers
    scores = classifier.decision_function(X)
    values = {"ranking_error": complementary_ranking_error(answers, scores)}
    if explains:
        values["log_likelihood"] = classifier.score(X, answers)
    constant = _constant(answers, explains=explains)
    say(f"{answers.n_answers:,} answers about {answers.n_items:,} items:")
    say(
        f"  complementary ranking error {values['ranking_error']:.4f} (lower is better; 0.5: a"
        " random order)"
    )
    say(f"    the same order for all items {constant['ranking_error']:.4f}")
    if explains:
        say(
            f"  log-likelihood of an item's answers {values['log_likelihood']:.4f} nats (higher is"
            " better)"
        )
        say(f"    the same guess for all items {constant['log_likelihood']:.4f} nats")
    labels = _by_label(classifier, X, answers)
    if labels:
        explain("\nBy label, over the items for which somebody said whether it applies:")
        _show_labels(labels)
    remark(
        "these figures come from answers, not from true labels: use them to compare models on the"
        " same answers. The order and the guess that are the same for all items were made from"
        " these answers: a useful model beats them"
    )
    return {
        "n_items": answers.n_items,
        "n_answers": answers.n_answers,
        **values,
        "constant": constant,
        "labels": labels,
    }


def _constant(answers: Answers, *, explains: bool) -> dict[str, float]:
    import numpy as np

    from complabel.methods import make_classifier
    from complabel.metrics import complementary_ranking_error

    nothing = np.zeros((answers.n_items, 1))
    with working("comparing with one guess for all items"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is wrong with the answers was said already
        prior = make_classifier("prior").fit(nothing, answers)
        order = prior.decision_function(nothing)
        found = {"ranking_error": complementary_ranking_error(answers, order)}
        if explains:
            blind = make_classifier("selection-likelihood:kernel=linear,scaling=global")
            found["log_likelihood"] = blind.fit(nothing, answers).score(nothing, answers)
    return found


def _by_label(
    classifier: ComplementaryClassifier, X: Any, answers: Answers
) -> dict[str, dict[str, float | None]]:
    import numpy as np

    from complabel.metrics import evaluate_labels

    judged = answers.only(np.isin(answers.question, ("asked", "ticked")))
    applies = judged.known_relevant
    told = applies != judged.complementary  # neither unknown nor contradictory
    if not told.any():
        return {}
    predicted, probabilities = classifier.predict_with_proba(X)
    found: dict[str, dict[str, float | None]] = {}
    for label, name in enumerate(classifier.classes_):
        rows = told[:, label]
        if rows.any():
            of_label = (part[rows][:, [label]] for part in (applies, probabilities, predicted))
            found[str(name)] = {"judged": float(rows.sum()), **evaluate_labels(*of_label)[0]}
    return found


def _part(found: Features, rows: Any) -> Features:
    return replace(found, X=found.X[rows], items=found.items[rows])


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if name == "judged" else f"{value:.3f}"
