"""`complabel predict` and `complabel onnx`: use a saved model, here or in other programs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from complabel.cli import _options as options
from complabel.cli import _own as own
from complabel.cli._console import command, say, working
from complabel.cli._options import option, target
from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel.answers import Answers
    from complabel.files import Features
    from complabel.methods import ComplementaryClassifier


@options.with_examples(
    "predict model.safetensors X.csv --out predictions.csv",
    "predict model.safetensors X.npy --top 3 --out top.jsonl",
    "predict model.safetensors X.csv --labels --out labels.csv",
    "predict model.safetensors X.csv --answers answers.csv --out consensus.csv",
)
def predict(
    model: Path = options.MODEL,
    features: Path = options.FEATURES_OF_MODEL,
    out: Path = target(
        "Write here: .csv, .csv.gz, .parquet or .jsonl.",
        default=...,
        endings=(".csv", ".csv.gz", ".parquet", ".jsonl"),
    ),
    items: Path | None = options.ITEMS,
    answers: list[Path] | None = option(
        "FILE",
        "Answers about some of the items. The probabilities of these items are then the consensus:"
        " given the features and all that people said, by how often each person errs. Give the"
        " option again for more files.",
    ),
    question: str | None = options.QUESTION,
    top: int | None = option("K", "Write only the K most probable labels of each item.", min=1),
    threshold: float | None = option(
        "P",
        "Write 1 where the probability is at least P, else 0. [default: write probabilities]",
        min=0,
        max=1,
    ),
    labels: bool = options.flag(
        "Write 1 where the probability is at least the label's threshold in the model, else 0;"
        " 'complabel decide' chooses thresholds.",
        "--labels",
    ),
    rows: int = option("N", "Number of rows in memory at a time.", default=65_536, min=1),
) -> None:
    """Predict the labels of items: one row for each item, one probability for each label.

    Probabilities are rounded to single precision, about 7 digits.
    """
    import numpy as np

    from complabel.files import PredictionWriter, iterate_features
    from complabel.methods import load

    classifier = load(model)
    if labels and (threshold is not None or top is not None):
        other = "--top" if threshold is None else "--threshold"
        raise InputError(f"--labels and {other} are both given; choose one of them")
    thresholds = _thresholds(classifier, model) if labels else threshold
    names = [str(name) for name in classifier.classes_]
    said, row_of = None, {}
    if answers:
        own.refuse_without_people(classifier, model, "--answers")
        said = own.read_own_answers(answers, None, names, question, "keep")
        assert said.item_names is not None  # a table names its items
        row_of = {str(name): row for row, name in enumerate(said.item_names)}
    started, done, answered = time.monotonic(), 0, 0
    pieces = iterate_features(
        features, items=items, n_features=classifier.n_features_in_, n_rows=rows
    )
    with (
        working(f"predicting from {features}") as far,
        PredictionWriter(out, names, top=top, threshold=thresholds) as writer,
    ):
        for piece in pieces:
            if done == 0:
                own.refuse_other_features(model, piece, features)
            found = classifier.predict_proba(own.for_model(piece, classifier))
            if said is not None:
                answered += _give_consensus(found, classifier, piece, said, row_of)
            # Thresholds are compared with the exact probabilities, before rounding.
            writer.write(piece.items, found if thresholds is not None else found.astype(np.float32))
            done += len(piece.items)
            speed = done / max(time.monotonic() - started, 1e-9)
            far(f"{done:,} items, {speed:,.0f} a second")
    say(f"wrote {out}: {done:,} items, {len(names)} labels")
    if said is not None:
        say(f"  {answered:,} of them by consensus; {said.n_items:,} items have answers")
    say("next: measure the model on answers that it did not learn from, or on true labels:")
    for how in ({"answers": "held-out.csv"}, {"truth": "truth.csv"}):
        say(f"  {command('evaluate', model, features, items=items, **how)}")


def _thresholds(classifier: ComplementaryClassifier, model: Path) -> Any:
    """Return the thresholds (K,) of a model, or say how it gets some."""
    found = getattr(classifier, "thresholds_", None)
    if found is None:
        raise InputError(
            f"{model} holds no thresholds; choose some from answers to random questions with"
            " complabel decide, or give one for all labels with --threshold"
        )
    return found


def _give_consensus(
    found: Any, classifier: Any, piece: Features, said: Answers, row_of: Mapping[str, int]
) -> int:
    """Replace the probabilities (b, K) of items that have answers; return their number."""
    import numpy as np

    rows = np.array([row for row, item in enumerate(piece.items) if item in row_of], dtype=np.intp)
    if len(rows):
        about = said[[row_of[item] for item in piece.items[rows]]]
        part = own.for_model(replace(piece, X=piece.X[rows]), classifier)
        found[rows] = classifier.predict_consensus(part, about)
    return len(rows)


@options.with_examples("onnx model.safetensors --out model.onnx")
def onnx(
    model: Path = options.MODEL,
    out: Path = target("Write to this file.", default=..., endings=(".onnx",)),
) -> None:
    """Save a model as an ONNX file, which runs in other programs and languages.

    The file takes features in single precision, and returns probabilities and labels as predict
    does. Names of labels and thresholds are in its metadata.
    """
    from complabel.methods import load, save_onnx

    classifier = load(model)
    save_onnx(classifier, out)
    n_labels = len(classifier.classes_)
    say(f"wrote {out}: {classifier.n_features_in_:,} features in, {n_labels} labels out")
    say('next: run it with onnxruntime, from Python, C#, Java or JavaScript (docs: "ONNX")')
