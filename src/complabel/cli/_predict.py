"""`complabel predict`: predict the labels of items with a saved model."""

from __future__ import annotations

import time
from pathlib import Path

from complabel.cli import _options as options
from complabel.cli import _own as own
from complabel.cli._console import command, say, working
from complabel.cli._options import option, target


@options.with_examples(
    "predict model.safetensors X.csv --out predictions.csv",
    "predict model.safetensors X.npy --top 3 --out top.jsonl",
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
    top: int | None = option("K", "Write only the K most probable labels of each item.", min=1),
    threshold: float | None = option(
        "P",
        "Write 1 where the probability is at least P, else 0. [default: write probabilities]",
        min=0,
        max=1,
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
    names = [str(name) for name in classifier.classes_]
    started, done = time.monotonic(), 0
    pieces = iterate_features(
        features, items=items, n_features=classifier.n_features_in_, n_rows=rows
    )
    with (
        working(f"predicting from {features}") as far,
        PredictionWriter(out, names, top=top, threshold=threshold) as writer,
    ):
        for piece in pieces:
            found = classifier.predict_proba(own.for_model(piece, classifier))
            # A threshold is compared with the exact probabilities, before rounding.
            writer.write(piece.items, found if threshold is not None else found.astype(np.float32))
            done += len(piece.items)
            speed = done / max(time.monotonic() - started, 1e-9)
            far(f"{done:,} items, {speed:,.0f} a second")
    say(f"wrote {out}: {done:,} items, {len(names)} labels")
    say("next: measure the model on answers that it did not learn from, or on true labels:")
    for how in ({"answers": "held-out.csv"}, {"truth": "truth.csv"}):
        say(f"  {command('evaluate', model, features, items=items, **how)}")
