"""`complabel fit`: learn a model from answers and features, and save it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from complabel.cli import _options as options
from complabel.cli import _own_data as own
from complabel.cli._console import remark, say
from complabel.cli._fitted import chosen, scored, verdict
from complabel.cli._help import with_examples
from complabel.cli._next import command
from complabel.cli._outputs import Output
from complabel.cli._working import duration, working


def _folds(given: int) -> int:
    """Refuse a single fold before any file is read."""
    if given == 1:
        raise typer.BadParameter(
            "one fold leaves nothing to learn from; give 2 or more, or 0 for no score"
        )
    return given


@with_examples(
    "fit answers.csv --features X.csv --out model.safetensors",
    "fit answers.csv --features X.npy --items ids.txt --out model.safetensors",
    "fit answers.csv --features X.csv --method ridge:alpha=1 --out ridge.safetensors",
)
def fit(
    answers: own.AnswersFiles,
    features: own.FeaturesFile,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write the model to this file, which ends in .safetensors.",
        ),
        Output((".safetensors",)),
    ],
    method: Annotated[
        str, typer.Option(metavar="METHOD", help=f"Method to fit. {options.METHOD_HELP}")
    ] = "selection-likelihood",
    items: own.ItemsFile = None,
    label_names: own.LabelNames = None,
    question: own.Question = None,
    contradictions: own.Contradictions = "error",
    match_frequencies: options.MatchFrequencies = False,
    folds: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            callback=_folds,
            help="Folds for the score on held-out answers; each fold is one more fit. 0: no score.",
        ),
    ] = 3,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Seed of the folds and the method.")
    ] = 0,
) -> None:
    """Learn a model from answers, save it, and score it on held-out answers.

    No true labels are needed. The score is compared with that of the best constant guess, which is
    the same for all items.
    """
    from complabel.answers import UnansweredRowWarning
    from complabel.files import read_features
    from complabel.methods import FrequencyMatchedClassifier, held_out_score, make_classifier

    classifier: Any = make_classifier(method)
    own.refuse_reference(classifier, method)
    if match_frequencies:
        classifier = FrequencyMatchedClassifier(classifier)
    if "random_state" in classifier.get_params():
        classifier.set_params(random_state=seed)
    with working(f"reading {features}"):
        found = read_features(features, items=items)
    said = own.read_own_answers(
        answers,
        list(found.items),
        label_names=label_names,
        question=question,
        contradictions=contradictions,
    )
    started = time.monotonic()
    with working(f"fitting {method}") as far, warnings.catch_warnings():
        # The number of items with answers is printed already.
        warnings.simplefilter("ignore", UnansweredRowWarning)
        _tell(classifier, far)
        classifier.fit(own.with_names(found), said)
    seconds = time.monotonic() - started
    _tell(classifier, None)
    # Save the model before scoring: Ctrl-C during the score then loses nothing.
    classifier.save(
        out, provenance={"answers": " ".join(map(str, answers)), "features": str(features)}
    )
    for line in chosen(classifier, out, seconds):
        say(line)
    say(f"wrote {out}")
    if folds:
        with working("scoring on held-out answers") as far:
            far(f"{folds} folds, about {duration(seconds * (folds - 1))}")
            started = time.monotonic()

            def show(done: int) -> None:
                left = (time.monotonic() - started) / done * (folds - done)
                far(f"{done} of {folds} folds, about {duration(left)} left")

            score = held_out_score(
                classifier, found.X, said, n_folds=folds, random_state=seed, on_fold=show
            )
        for line in scored(score):
            say(line)
        advice = verdict(score)
        if advice:
            remark(advice, style="yellow")
            asked = command(
                "ask",
                *answers,
                features=features,
                items=items,
                label_names=label_names,
                question=question,
                contradictions=None if contradictions == "error" else contradictions,
                out="questions.csv",
            )
            remark(f"  {asked}", style="yellow")
    say(f"next: {command('predict', out, features, items=items, out='predictions.csv')}")


def _tell(classifier: Any, far: Callable[[str], None] | None) -> None:
    """Set or remove the progress callback of a classifier that has one."""
    settings = classifier.get_params()
    names = [name for name in settings if name == "callback" or name.endswith("__callback")]
    if not names:
        return
    told = None if far is None else _as_callback(far)
    classifier.set_params(**dict.fromkeys(names, told))


def _as_callback(far: Callable[[str], None]) -> Callable[..., None]:
    """Return a callback that puts a method's progress into words.

    It is a function, so that clones of a classifier share it: scikit-learn's ``clone`` copies other
    objects.
    """

    def told(stage: str, number: int, most: int | None, loss: float) -> None:
        del loss
        if stage == "search":
            far(f"settings tried: {number}" if most is None else f"setting {number} of {most}")
        else:
            far(f"step {number}" if most is None else f"step {number} of {most}")

    return told
