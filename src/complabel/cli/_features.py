"""`complabel features`: turn texts or pictures into numbers that a model can learn from."""

from __future__ import annotations

import time
from pathlib import Path

from complabel.cli import _options as options
from complabel.cli._console import command, remark, say, working
from complabel.cli._options import argument, option, target


@options.with_examples(
    "features tickets.csv --text body --out X.npz",
    "features tickets.csv --text body --model wordllama+words --out X.npz",
    "features photos/ --model timm/resnet50.a1_in1k --out X.npz",
)
def features(
    things: Path = argument("FOLDER|TABLE", "A folder of pictures, or a table: CSV or Parquet."),
    out: Path = target(
        "Write the features here, with the names of the items and how they were made: .npz, or"
        " .parquet if they are not sparse. Not .npy, which holds only numbers.",
        default=...,
        endings=(".npz", ".parquet"),
    ),
    text: str | None = option("COLUMN", "Column of the table with a text."),
    image: str | None = option(
        "COLUMN", "Column of the table with the path of a picture, seen from the table's folder."
    ),
    item: str | None = option(
        "COLUMN",
        "Column of the table with the name of the item. [default: item if there is one, else row"
        " numbers from 0]",
    ),
    model: str | None = option(
        "MODEL",
        "What makes the numbers. Of texts: words (counts of hashed words), wordllama,"
        " model2vec/NAME or sentence-transformers/NAME; with +words after the name, both. Of"
        " pictures: pixels (small grey ones, and edges), timm/NAME, torchvision/NAME or a network"
        " in FILE.onnx. [default: wordllama if it is installed, else words; pixels]",
    ),
    on_error: str = option(
        "stop|skip",
        "What to do with a picture that cannot be read.",
        default="stop",
        **options.one_of("stop", "skip"),
    ),
) -> None:
    """Turn texts or pictures into features: a row of numbers for each item.

    Nothing is learned here, so new items get the same kind of row later. The file says how it was
    made; a model keeps that, and refuses other features. After an interruption, the same command
    continues where it stopped.
    """
    from complabel.features import encoder_for, make_features, open_source

    source = open_source(things, text=text, image=image, item=item)
    with working("loading the model"):
        encoder = encoder_for(source.kind, model)
    started = time.monotonic()
    of = "" if source.n_items is None else f" of {source.n_items:,}"
    with working(f"reading {things}") as far:

        def show(done: int) -> None:
            speed = done / max(time.monotonic() - started, 1e-9)
            far(f"{done:,}{of} items, {speed:,.0f} a second")

        made = make_features(source, encoder, out, skips=on_error == "skip", on_part=show)
    say(f"wrote {out}: {len(made.items):,} items, {made.n_features:,} features")
    say(f"  {encoder.recipe}")
    if made.n_kept_from_before:
        say(f"  {made.n_kept_from_before:,} items were done before an interruption")
    if made.n_empty:
        remark(
            f"{made.n_empty:,} items have only zeros, for example texts without a word; a model"
            " gives all of them the same probabilities",
            style="yellow",
        )
    if made.skipped:
        remark(f"{len(made.skipped):,} pictures were left out, and have no row:", style="yellow")
        for reason in made.skipped:
            remark(f"  {reason}", style="yellow")
    say(f"next: {command('fit', 'answers.csv', features=out, out='model.safetensors')}")
