"""`complabel fit`: from answers and features to a model in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from complabel.cli import _options as options
from complabel.cli import _own_data as own
from complabel.cli._console import errors, remark, say
from complabel.cli._help import with_examples

if TYPE_CHECKING:
    from complabel.methods import ComplementaryClassifier, HeldOutScore


@with_examples(
    "fit answers.csv --features X.csv --out model.safetensors",
    "fit answers.csv --features X.npy --items ids.txt --out model.safetensors",
    "fit answers.csv --features X.csv --method ridge:alpha=1 --out ridge.safetensors",
)
def fit(
    answers: own.AnswersFiles,
    features: own.FeaturesFile,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Write the model here: .safetensors.")
    ],
    method: Annotated[
        str, typer.Option(metavar="NAME", help=f"What learns: {options.METHOD_HELP}.")
    ] = "selection-likelihood",
    items: own.ItemsFile = None,
    label_names: own.LabelNames = None,
    contradictions: own.Contradictions = "error",
    match_frequencies: options.MatchFrequencies = False,
    folds: Annotated[
        int, typer.Option(min=0, help="Folds of the score on held-out answers; 0: no score.")
    ] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the folds and the method.")] = 0,
) -> None:
    """Learn from answers, say what was chosen and how well it does, and save the model.

    No true label is needed. The score is on answers about items that were held out, beside the
    best guess that is the same for all items.
    """
    from complabel.methods import FrequencyMatchedClassifier, held_out_score, make_classifier
    from complabel.tables import read_features

    told = " ".join(map(str, answers))
    options.check_folder(out, "--out")
    own.refuse_ending(out, ".safetensors")
    classifier: Any = make_classifier(method)
    own.refuse_reference(classifier, method)
    if match_frequencies:
        classifier = FrequencyMatchedClassifier(classifier)
    if "random_state" in classifier.get_params():
        classifier.set_params(random_state=seed)
    with errors().status(f"reading {features}"):
        found = read_features(features, items=items)
    said = own.read_own_answers(
        answers, list(found.items), label_names=label_names, contradictions=contradictions
    )
    with errors().status(f"fitting {method} to all answers"):
        classifier.fit(own.with_names(found), said)
    for line in chosen(classifier):
        say(line)
    if folds:
        with errors().status("scoring on held-out answers") as status:

            def show(done: int) -> None:
                status.update(f"scoring on held-out answers: {done} of {folds} folds")

            score = held_out_score(
                classifier, found.X, said, n_folds=folds, random_state=seed, on_fold=show
            )
        for line in scored(score):
            say(line)
        if not score.gain > 2 * score.gain_error:
            remark(
                "the model is hardly better than a guess that ignores the features; ask more"
                f" questions: complabel ask {told} --features {features} --out questions.csv",
                style="yellow",
            )
    classifier.save(out, provenance={"answers": told, "features": str(features)})
    say(f"wrote {out}")
    say(f"next: complabel predict {out} {features} --out predictions.csv")


def chosen(classifier: ComplementaryClassifier) -> list[str]:
    """Write what a fitted classifier says of itself, a line for each thing."""
    shown = (
        ("features", _kernel(classifier)),
        ("penalty", _number(classifier, "alpha_")),
        ("labels that apply to an item, on average", _number(classifier, "mean_cardinality_")),
        ("share of mistakes", _number(classifier, "error_rate_")),
    )
    lines = [f"{type(classifier).__name__}, fitted:"]
    lines += [f"  {name}: {value}" for name, value in shown if value]
    frequencies = getattr(classifier, "label_frequencies_", None)
    if frequencies is not None:
        lines.append("  how often each label applies:")
        found = getattr(classifier, "label_frequencies_errors_", None)
        for at, name in enumerate(classifier.classes_):
            error = "" if found is None else f" ± {1.96 * found[at]:.2f}"
            lines.append(f"    {name}: {frequencies[at]:.2f}{error}")
    return lines


def _kernel(classifier: ComplementaryClassifier) -> str:
    """Name the features that were chosen."""
    kernel = getattr(classifier, "kernel_", "")
    scaling = getattr(classifier, "scaling_", "")
    return f"{kernel}, scaling {scaling}" if kernel and scaling else str(kernel)


def _number(classifier: ComplementaryClassifier, name: str) -> str:
    """Write a number that was found, if there is one."""
    value = getattr(classifier, name, None)
    return "" if value is None or not isinstance(value, int | float) else f"{value:.3g}"


def scored(score: HeldOutScore) -> list[str]:
    """Write a score beside that of a constant guess."""
    what = {
        "log-likelihood": "log-likelihood of held-out answers (nats an item, higher is better)",
        "ranking": "minus the ranking error on held-out answers (higher is better)",
    }[score.criterion]
    return [
        f"{what}:",
        f"  {score.score:.4f}; the same guess for all items: {score.constant:.4f}; features tell"
        f" {score.gain:.4f} ± {score.gain_error:.4f} ({score.n_folds} folds)",
    ]
