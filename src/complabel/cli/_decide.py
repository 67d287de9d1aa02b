"""`complabel decide`: choose from which probability on a label is predicted, from answers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from complabel.cli import _options as options
from complabel.cli import _own as own
from complabel.cli._console import command, explain, new_table, remark, say, show
from complabel.cli._options import option, target
from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel.trust import ChosenThresholds, Figure

_MOST_LABELS = 20


@options.with_examples(
    "decide model.safetensors X.csv --answers questions.csv --out decided.safetensors",
    "decide model.safetensors X.csv --answers questions.csv --precision 0.9 --out sure.safetensors",
    "decide model.safetensors X.csv --answers answers.csv --cross-fit 5 --out decided.safetensors",
)
def decide(
    model: Path = options.MODEL,
    features: Path = options.FEATURES_OF_MODEL,
    answers: list[Path] = option(
        "FILE",
        "Answers to random questions that the model did not learn from. Give the option again for"
        " more files.",
        default=...,
    ),
    out: Path = target(
        "Write the model with its thresholds to this file, which ends in .safetensors.",
        default=...,
        endings=(".safetensors",),
    ),
    precision: float | None = option(
        "P", "Promise that at least this share of the predicted labels apply.", min=0, max=1
    ),
    recall: float | None = option(
        "P",
        "Promise that at least this share of the labels that apply are predicted.",
        min=0,
        max=1,
    ),
    match_frequencies: bool = options.flag(
        "Predict each label as often as it applies.", "--match-frequencies"
    ),
    by_label: bool = options.flag(
        "Give each label with enough answers its own threshold, and its own promise.", "--by-label"
    ),
    confidence: float = option(
        "P", "How often a promise is kept, over draws of the questions.", default=0.95, min=0, max=1
    ),
    cross_fit: int | None = option(
        "N",
        "For --answers that the model learned from: fit it anew N times, each time without the"
        " answers about one part of the items, and decide about these fits. Give all the answers"
        " that the model learned from.",
        min=2,
    ),
    items: Path | None = options.ITEMS,
    question: str | None = options.QUESTION,
    contradictions: str = options.CONTRADICTIONS_OR_KEEP,
) -> None:
    """Choose from which probability on labels are predicted, and keep it in the model.

    Without --precision, --recall or --match-frequencies, F1 is as high as the answers let expect.
    """
    from complabel.methods import load, read_header
    from complabel.trust import choose_thresholds

    classifier = load(model)
    found = own.read_own_features(features, items, classifier.n_features_in_, model=model)
    names = [str(name) for name in classifier.classes_]
    said = own.read_own_answers(answers, list(found.items), names, question, contradictions)
    probabilities = own.probabilities_for(classifier, found, said, cross_fit)
    chosen = choose_thresholds(
        said,
        probabilities,
        precision=precision,
        recall=recall,
        match_frequencies=match_frequencies,
        by_label=by_label,
        confidence=confidence,
    )
    promises = precision is not None or recall is not None
    if promises and not chosen.promised.any():
        raise InputError("\n".join(chosen.remarks) + "\nno model was written")
    given = read_header(model)["provenance"]["given"]
    classifier.set_thresholds(chosen.values)
    classifier.save(out, provenance={**given, "thresholds": f"for {chosen.aim}"})
    _show(chosen, names, promises=promises)
    for line in chosen.remarks:
        remark(line, style="yellow")
    if cross_fit is None:
        promised = "more is promised than holds" if promises else "these figures are too good"
        about = own.about_learned_answers(model, answers, promised)
        remark(about, style="yellow" if about.startswith("warning") else "")
    say(f"wrote {out}")
    say(f"next: {command('predict', out, features, items=items, labels=True, out='labels.csv')}")


def _show(chosen: ChosenThresholds, names: list[str], *, promises: bool) -> None:
    """Print the thresholds, what is promised, and the estimated figures."""
    title = f"thresholds for {chosen.aim}"
    if not chosen.alone.any():
        say(f"{title}: {chosen.values[0]:.4f} for all {len(names)} labels")
    else:
        columns = ["threshold", "judged", *["promised"][: int(promises)]]
        table = new_table(title, "label", numbers=columns)
        for at, name in enumerate(names[:_MOST_LABELS]):
            promised = "no" if not chosen.promised[at] else "yes"
            if promised == "yes" and not chosen.alone[at]:
                promised = "together"
            cells = [f"{chosen.values[at]:.4f}", f"{chosen.n_judgements[at]:,}", promised]
            table.add_row(Text(name), *cells[: len(columns)])
        show(table)
        if len(names) > _MOST_LABELS:
            say(f"{len(names) - _MOST_LABELS:,} more labels are not shown")
    if promises:
        explain(
            f"promised: {chosen.aim}, over all items of this kind, but for a chance of"
            f" {1 - chosen.estimates.confidence:.2g} for each promise"
        )
    figures = chosen.estimates
    for name, figure in (
        ("precision", figures.precision),
        ("recall", figures.recall),
        ("F1", figures.f1),
    ):
        say(f"  {name:9} {_with_interval(figure)}")


def _with_interval(figure: Figure) -> str:
    if math.isnan(figure.value):
        return "not known"
    return f"{figure.value:.3f}, from {figure.low:.3f} to {figure.high:.3f}"
