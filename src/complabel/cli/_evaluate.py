"""`complabel evaluate`: measure a saved model on true labels, or on answers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rich.text import Text

from complabel.cli import _options as options
from complabel.cli import _own as own
from complabel.cli._console import (
    command,
    explain,
    new_table,
    remark,
    save,
    save_json,
    say,
    show,
    working,
)
from complabel.cli._options import option
from complabel.errors import AnnotationError, InputError

if TYPE_CHECKING:
    from complabel.answers import Answers
    from complabel.files import Features
    from complabel.methods import ComplementaryClassifier
    from complabel.trust import Figure, Figures

# With more labels than this, only the worst and the best are shown.
_MOST_LABELS = 20
_MOST_NAMED = 5  # labels in a warning
_BY_ANSWERS = {  # title, unit, a note, and what is the same for all items
    "ranking_error": (
        *("complementary ranking error", "", "lower is better; 0.5: a random order", "order"),
    ),
    "log_likelihood": (
        *("log-likelihood of an item's answers", " nats", "higher is better", "guess"),
    ),
}


@options.with_examples(
    "evaluate model.safetensors X.csv --truth truth.csv",
    "evaluate model.safetensors X.csv --answers held-out.csv",
    "evaluate model.safetensors X.csv --answers questions.csv --cross-fit 5 --html page.html",
)
def evaluate(
    model: Path = options.MODEL,
    features: Path = options.FEATURES_OF_MODEL,
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
    missed: float = options.share(
        "With --answers: how often people say no about a label that applies.", metavar="P"
    ),
    invented: float = options.share(
        "With --answers: how often people say yes about a label that does not apply.", metavar="P"
    ),
    items: Path | None = options.ITEMS,
    question: str | None = options.QUESTION,
    contradictions: str = options.CONTRADICTIONS_OR_KEEP,
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
    from complabel.methods import load

    if (truth is None) == (not answers):
        raise InputError("give either --truth or --answers")
    if truth is not None and (cross_fit or missed or invented):
        raise InputError(
            "--cross-fit, --missed and --invented are about answers; give --answers instead of"
            " --truth"
        )
    if truth is not None and html is not None:
        raise InputError(
            "--html is about answers to random questions; with --truth, give --json instead"
        )
    classifier = load(model)
    found = own.read_own_features(features, items, classifier.n_features_in_, model=model)
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
        about = (
            own.about_learned_answers(model, answers, "these figures are too good")
            if cross_fit is None
            else f"these are the figures of {cross_fit} fits with the model's settings, each to the"
            " answers about other items. They stand for the model if it learned from all these"
            " answers"
        )
        more = {"missed": missed, "invented": invented, "html": html, "about": about}
        result = _on_answers(classifier, found, said, cross_fit, **more)
        remark(about, style="yellow" if about.startswith("warning") else "")
    save_json(json_file, result)
    say(f"next: {command('predict', model, features, items=items, out='predictions.csv')}")


def _on_truth(classifier: ComplementaryClassifier, found: Features, path: Path) -> dict[str, Any]:
    import numpy as np

    from complabel.files import read_truth, rows_of
    from complabel.metrics import evaluate_labels

    names = [str(name) for name in classifier.classes_]
    truth = read_truth(path, label_names=names, complete=False)
    rows = rows_of(truth.items, found.items, path)
    X = own.for_model(_part(found, rows), classifier)
    with working(f"predicting {len(rows):,} items"):
        predicted, probabilities = classifier.predict_with_proba(X)
    complete = bool(truth.known.all())
    known = None if complete else truth.known
    given = (truth.Y, probabilities, predicted)
    result = {"n_items": len(rows), **_criteria_of(given, truth.known, len(names))}
    labels = dict(zip(names, evaluate_labels(*given, known=known), strict=True))
    # As one label of which all pairs are known, so that common labels count for more.
    (pooled,) = evaluate_labels(*(part[truth.known][:, np.newaxis] for part in given))
    if not complete:
        pooled = {"known": result["n_known"], **pooled}
    mean = _mean(list(labels.values()))
    _show_labels(labels, {"all pairs": pooled, "mean of labels": mean})
    explain(
        "Average precision: higher is better; the other criteria: lower. An item with none or all"
        " of the labels counts only in the Hamming losses."
    )
    if not complete:
        explain(
            "Only known pairs of an item and a label count. Of a label, precision rests on those of"
            " its known items for which it is predicted; recall and average precision on those to"
            " which it applies."
        )
        _say_what_was_chosen(labels, pooled["applies"], truth.known, probabilities)
    return {**result, "pooled": pooled, "mean_of_labels": mean, "labels": labels}


def _criteria_of(given: tuple[Any, Any, Any], known: Any, n_labels: int) -> dict[str, Any]:
    """Print the criteria, and what they rest on if not all pairs are ``known``, (n, K)."""
    import numpy as np

    from complabel.metrics import CRITERIA, evaluate

    complete = bool(known.all())
    n_known = np.count_nonzero(known, axis=1)
    n_relevant = np.count_nonzero(given[0], axis=1)
    ranked = (n_relevant > 0) & (n_relevant < n_known)
    criteria = [each for each in CRITERIA if complete or ranked.any() or each.of_rows is None]
    mask = None if complete else known
    values = evaluate(*given, criteria=criteria, skip_trivial_rows=True, known=mask)
    size = f"{len(known):,} items, {n_labels} labels"
    rests_on = [] if complete else ["items", "known pairs"]
    table = new_table(size, "criterion", numbers=["value", *rests_on])
    for each in criteria:
        counted = (n_known > 0) if each.of_rows is None else ranked
        counts = (counted.sum(), n_known[counted].sum())
        cells = [f"{count:,}" for count in counts[: len(rests_on)]]
        # Labels have an average precision of their own, over the items.
        by_item = ", by item" * (each.name == "average_precision")
        table.add_row(each.title + by_item, f"{values[each.name]:.4f}", *cells)
    show(table)
    return {"n_known": int(n_known.sum()), "n_ranked": int(ranked.sum()), "criteria": values}


def _mean(figures: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return the mean of each figure over the labels that have it."""
    found: dict[str, float | None] = {}
    for name in figures[0]:
        values = [value for each in figures if (value := each[name]) is not None]
        found[name] = sum(values) / len(values) if values else None
    return found


def _say_what_was_chosen(
    labels: Mapping[str, Mapping[str, float | None]],
    applies: float | None,
    known: Any,
    probabilities: Any,
) -> None:
    """Say how far the known pairs differ from a random sample."""
    import numpy as np

    counts = np.count_nonzero(known, axis=0)
    of_all = counts @ probabilities.mean(axis=0) / counts.sum()
    explain(
        f"Of the known pairs {applies:.3f} apply, and their mean probability is"
        f" {probabilities[known].mean():.3f}; that of all pairs with the same labels is"
        f" {of_all:.3f}. If these differ by much, somebody or a machine chose which pairs to check:"
        " then precision and average precision are not those of all pairs."
    )
    lacks = {
        "only pairs that apply are known, so precision is 1 whatever the model does": 1.0,
        "only pairs that do not apply are known, so nothing tells the recall": 0.0,
        "nothing is known": None,
    }
    for problem, applies in lacks.items():
        some = [name for name, each in labels.items() if each["applies"] == applies]
        if some:
            more = f" and {len(some) - _MOST_NAMED:,} more" * (len(some) > _MOST_NAMED)
            remark(f"warning: {problem}: {', '.join(some[:_MOST_NAMED])}{more}")


def _show_labels(
    labels: Mapping[str, Mapping[str, float | None]],
    overall: Mapping[str, Mapping[str, float | None]] = MappingProxyType({}),
) -> None:
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
    called = {"f1": "F1", "average precision": "average precision, by label"}
    table = new_table("", "label", numbers=(called.get(each, each) for each in headings))
    for name in shown:
        table.add_row(Text(name), *(_shown(*each) for each in labels[name].items()))
    if overall:
        table.add_section()
    for name, each in overall.items():
        table.add_row(Text(name), *(_shown(*figure) for figure in each.items()))
    show(table)
    if len(shown) < len(labels):
        left = len(labels) - len(shown)
        say(f"{left:,} more labels are not shown; --json FILE writes all of them")


def _on_answers(
    classifier: ComplementaryClassifier,
    found: Features,
    said: Answers,
    cross_fit: int | None,
    **more: Any,
) -> dict[str, Any]:
    import numpy as np

    if not said.n_answers:
        raise InputError("there are no answers; fill in some and give their file to --answers")
    probabilities = own.probabilities_for(classifier, found, said, cross_fit)
    estimates = show_estimates(said, probabilities, classifier, **more)
    if cross_fit is not None:
        return {"n_answers": said.n_answers, "cross_fit": cross_fit, **(estimates or {})}
    counts = {"n_items": int(said.answered.sum()), "n_answers": said.n_answers}
    chances = said.probability[said.question == "asked"]
    chances = chances[chances > 0]  # not NaN
    if estimates is not None and len(chances) and not np.allclose(chances, chances[0]):
        remark(
            "the questions were drawn with unequal chances. Only the figures above allow for that;"
            " how the model ranks the labels of these answers is left out"
        )
        return {**counts, **estimates}
    X = own.for_model(_part(found, said.answered), classifier)
    try:
        return {**_scores(classifier, X, said), **(estimates or {})}
    except AnnotationError as lacking:  # all answers are yes, so that nothing can be ranked
        if estimates is None:
            raise
        remark(f"there are no other figures: {lacking}")
    return {**counts, **estimates}


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
    for name, value in values.items():
        title, unit, note, same = _BY_ANSWERS[name]
        say(f"  {title} {value:.4f}{unit} ({note})")
        say(f"    the same {same} for all items {constant[name]:.4f}{unit}")
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

    from complabel.metrics import evaluate_labels

    judged = answers.only(answers.judges)
    applies = judged.known_relevant
    told = applies != judged.complementary  # neither unknown nor contradictory
    if not told.any():
        return {}
    predicted, probabilities = classifier.predict_with_proba(X)
    found = evaluate_labels(applies, probabilities, predicted, known=told)
    named = zip(map(str, classifier.classes_), found, strict=True)
    return {name: each for name, each in named if each["known"]}


def _part(found: Features, rows: Any) -> Features:
    return replace(found, X=found.X[rows], items=found.items[rows])


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if name == "known" else f"{value:.3f}"


_FIGURES = {
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "average_precision": "Average precision",
    "share": "Share of labels that apply",
}
# Labels whose figures are known least are shown, so many of them.
_MOST_UNKNOWN = 5


def show_estimates(
    answers: Answers,
    probabilities: Any,
    classifier: ComplementaryClassifier,
    *,
    missed: float,
    invented: float,
    html: Path | None,
    about: str,
) -> dict[str, Any] | None:
    """Print figures with intervals, and return them; None if no question was random.

    The page says what is known ``about`` how the model learned.
    """
    from complabel.errors import AnnotationError
    from complabel.trust import estimate_metrics, reliability

    own = getattr(classifier, "thresholds_", None)
    # Without thresholds of its own, a model predicts above the cut, and not at it.
    threshold = math.nextafter(classifier.cut, 1) if own is None else own
    rates: Mapping[str, Any] = {"missed": missed, "invented": invented}
    try:
        found = estimate_metrics(answers, probabilities, threshold=threshold, **rates)
    except AnnotationError as error:
        problem = (
            "precision and recall need answers to random questions, and none of these is one: ask"
            " some with complabel ask, about these items, and keep the column probability"
        )
        if html is not None:
            raise InputError(f"--html: {problem}") from error
        remark(problem)
        return None
    say(
        f"{found.n_judgements:,} random judgements of labels, of {found.n_items:,} among"
        f" {answers.n_items:,} items:"
    )
    table = new_table("", "figure", numbers=["estimate", "95 % interval", "judgements", "to halve"])
    for name, title in _FIGURES.items():
        figure = getattr(found, name)
        more = "more items" if figure.more_questions is None else f"{figure.more_questions:+,}"
        table.add_row(title, *_cells(figure), f"{figure.n_judgements:,}", more)
    show(table)
    least = (
        f"above {threshold:g}" if own is None else "at least the model's threshold of this label"
    )
    rule = f"A label is predicted if its probability is {least}."
    explain(
        f"{rule} The figures hold for all items of which these are a random sample, if the"
        " questions were drawn from all of these. To halve an interval, ask so many more random"
        " questions, or fewer with complabel ask --to-evaluate."
    )
    notes = [about]
    other = "the most probable class alone" if classifier._single else "threshold=minmax"
    if classifier._single or (own is None and classifier.threshold != "probability"):
        notes.append(f"warning: the model itself predicts by another rule: {other}")
        remark(notes[-1])
    _show_least_known(found.labels)
    if html is not None:
        from complabel.reports import render_evaluation

        notes.append(
            f"People are taken to miss {100 * missed:g} % of the labels that apply, and to invent"
            f" {100 * invented:g} % of the others. If this is wrong, so are the figures"
        )
        reliable = reliability(answers, probabilities, **rates)
        save(html, render_evaluation(found, reliable, rule=rule, notes=notes))
    return {
        "figures": _plain(found),
        "n_judgements": found.n_judgements,
        "figures_by_label": {name: _plain(each) for name, each in found.labels.items()},
    }


def _show_least_known(labels: Any) -> None:
    widest = sorted(labels, key=lambda name: labels[name].f1.low - labels[name].f1.high)
    if len(widest) < 2:
        return
    shown = widest[:_MOST_UNKNOWN]
    columns = ("precision", "recall", "f1")
    numbers = [text for name in columns for text in (_FIGURES[name], f"{_FIGURES[name]} from, to")]
    table = new_table("The labels that are known least", "label", numbers=["judged", *numbers])
    for name in shown:
        figures = [getattr(labels[name], column) for column in columns]
        cells = [cell for figure in figures for cell in _cells(figure)]
        table.add_row(Text(name), f"{labels[name].share.n_judgements:,}", *cells)
    show(table)


def _cells(figure: Figure) -> tuple[str, str]:
    value = "-" if math.isnan(figure.value) else f"{figure.value:.3f}"
    return value, f"{figure.low:.3f} to {figure.high:.3f}"


def _plain(found: Figures) -> dict[str, Any]:
    """Return the figures as JSON can hold them: no NaN."""
    figures = {name: asdict(getattr(found, name)) for name in _FIGURES}
    for each in figures.values():
        each["value"] = None if math.isnan(each["value"]) else each["value"]
    return figures
