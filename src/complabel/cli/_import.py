"""`complabel import` and `features`: make tables of answers and features from other files."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from complabel.cli import _options as options
from complabel.cli import _own as own
from complabel.cli._console import command, remark, save, say, working
from complabel.cli._options import argument, flag, option, target
from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel.importers import Tally

# A copy of the names in complabel.importers, which would load NumPy for a help text. A test
# compares the two.
NAMES = (
    *("label-studio", "prodigy", "argilla", "lvis", "open-images", "batch"),
    *("coded", "columns", "replies", "results", "table"),
)


@options.with_examples(
    "import export.json --absent not_this --out answers.csv",
    "import lvis_val.json --out answers.parquet --labels-out labels.txt",
    "import labels.csv --from coded --yes 1 --no 0 --unsure -1 --out answers.csv",
    "import sheet.csv --from columns --absent anna --absent ben --separator ';' --out answers.csv",
)
def import_(
    files: list[Path] = argument(
        "FILE", "File with the answers; of the results of a batch, all files."
    ),
    out: Path = target(
        "Write the table here: .csv, .csv.gz or .parquet.", default=..., endings=options.TABLE
    ),
    from_: str | None = option(
        "FORMAT",
        f"Format of the file: {', '.join(NAMES)}; or one of yours, such as package.module:FORMAT."
        " [default: found from the content]",
        "--from",
        autocompletion=lambda incomplete: [n for n in NAMES if n.startswith(incomplete)],
    ),
    absent: list[str] | None = option(
        "CONTROL",
        "Labels chosen in this control, question or column do not apply; repeat for more.",
    ),
    present: list[str] | None = option(
        "CONTROL", "Labels chosen in this control, question or column apply; repeat for more."
    ),
    item: str | None = option(
        "FIELD", "Field with the item's name. [default: depends on the format]"
    ),
    item_file: str | None = option(
        "FIELD",
        "Field with the path or the address of the item's file; its name without folders names the"
        " item.",
    ),
    yes: list[str] | None = option("CODE", 'Code for "applies"; repeat for more.'),
    no: list[str] | None = option("CODE", 'Code for "does not apply"; repeat for more.'),
    unsure: list[str] | None = option("CODE", 'Code for "unsure"; repeat for more.'),
    unselected: str | None = option(
        "unknown|no|yes",
        "Meaning of labels that were shown but not chosen, if the file does not tell. In a blank"
        " cell, no and yes: nothing was ticked; unknown: nobody answered.",
        **options.one_of("unknown", "no", "yes"),
    ),
    question: str | None = options.QUESTION,
    answer: str | None = option(
        "yes|no",
        "What each row of a table of answers says, if it has no column answer.",
        **options.one_of("yes", "no"),
    ),
    none: list[str] | None = option(
        "WORD",
        "Word that says that no label applies, where a label is expected, such as None; repeat for"
        " more.",
    ),
    separator: str | None = option(
        "SIGN",
        "In batch and columns: what separates the labels in a cell, such as ';'. [default: that of"
        " the platform; else a cell holds one label]",
    ),
    random_questions: bool = flag(
        "Say that each question was about a random label of a random item.", "--random-questions"
    ),
    label_names: Path | None = option("FILE", "All labels, one on each line."),
    merge: list[str] | None = option(
        "OLD=NEW", "In a table of answers, merge the label OLD into NEW; repeat for more."
    ),
    column: list[str] | None = option(
        "OURS=THEIRS",
        "Which column of a table holds what, such as annotator=worker; repeat for more.",
    ),
    drop: list[str] | None = option(
        "COLUMN",
        "Do not read this column, although its name says that it may matter; repeat for more.",
    ),
    class_names: Path | None = option(
        "FILE", "CSV file with a code and a name per label, if the labels are codes."
    ),
    labels_out: Path | None = target(
        "Also write the names of all labels to this file, for --label-names."
    ),
) -> None:
    """Read answers from an annotation tool or a public dataset into one table of answers.

    Answers that contradict each other are kept. The commands fit and inspect report them.
    """
    from complabel.files import read_label_names
    from complabel.importers import Options, detect, import_file

    file, *more = files
    settings = Options(
        absent=tuple(absent or ()),
        present=tuple(present or ()),
        item=item,
        item_file=item_file,
        yes=tuple(yes or ()),
        no=tuple(no or ()),
        unsure=tuple(unsure or ()),
        unselected=unselected,
        question=question,
        answer=answer,
        none=tuple(none or ()),
        separator=separator,
        random_questions=random_questions,
        label_names=None if label_names is None else read_label_names(label_names),
        merge=options.pairs_of("--merge", merge),
        column=options.pairs_of("--column", column, "OURS=THEIRS"),
        drop=tuple(drop or ()),
        class_names=class_names,
        more=tuple(more),
    )
    with working(f"reading {file}") as far:
        tally = import_file(
            file,
            out,
            format=from_,
            options=settings,
            progress=lambda n_rows: far(f"{n_rows:,} rows"),
        )
    counts = {what: f"{count:,}" for what, count in tally.counts.items() if count}
    widest = max(map(len, counts.values()), default=0)
    say(f"{file}:")
    for what, count in counts.items():
        say(f"  {count:>{widest}}  {what}")
    for text in tally.remarks:
        remark(f"note: {text}", style="yellow")
    say(f"wrote {out}")
    names = settings.label_names or tuple(tally.label_names)
    if labels_out is not None:
        names = names or own.read_quietly([out]).answers.label_names or ()
        if any(len(name.splitlines()) != 1 for name in names):
            raise InputError(
                f"{labels_out}: this file holds one name on each line, but a label's name is empty"
                " or has line breaks; rename the label"
            )
        save(labels_out, "".join(f"{name}\n" for name in names))
    elif label_names is None and names and len(names) > tally.counts["labels"]:
        remark(
            f"note: the file lists {len(names):,} labels, but the answers mention only"
            f" {tally.counts['labels']:,} of them; keep all names with --labels-out labels.txt",
            style="yellow",
        )
    say(_next(from_ or detect(file).name, tally, out, labels_out or label_names))


def _next(format_: str, tally: Tally, out: Path, label_names: Path | None) -> str:
    """Say what comes next; a language model's answers about most pairs are checked by people."""
    of, words = tally.counts, [tally.counts[f"rows that say {word}"] for word in ("yes", "no")]
    n_pairs = of["items"] * of["labels"]
    if format_ in ("results", "replies") and all(words) and 2 * sum(words) > n_pairs:
        known = {"label_names": label_names, "number": min(200, n_pairs)}
        asked = command("ask", against=out, **known, out="check.csv")
        return f"next: let people check some answers; --items TABLE shows them the items\n  {asked}"
    return f"next: {command('inspect', out, label_names=label_names)}"


@options.with_examples(
    "features tickets.csv --text body --out X.npz",
    "features tickets.csv --text body --model all-MiniLM-L6-v2/ --out X.npz",
    "features photos/ --out X.npz",
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
    item: str | None = options.ITEM,
    model: str | None = option(
        "MODEL",
        "What makes the numbers. Of texts: words (counts of hashed words), wordllama, minilm (a"
        " sentence encoder), another one as FOLDER or FILE.onnx with its tokenizer.json,"
        " model2vec/NAME or sentence-transformers/NAME; with +words after the name, both. Of"
        " pictures: lite0 (a pretrained network), colours (small pixels, edges and colours), pixels"
        " (grey ones and edges alone), timm/NAME, torchvision/NAME or a network in FILE.onnx."
        " [default: the first of minilm, wordllama and words that is installed; lite0 if its"
        " weights can be had, else colours]",
    ),
    on_error: str = options.ON_ERROR,
) -> None:
    """Turn texts or pictures into features: a row of numbers for each item.

    Nothing is learned here, so new items get the same kind of row later. The file says how it was
    made; a model keeps that, and refuses other features. After an interruption, the same command
    continues where it stopped.
    """
    from complabel.features import beyond_default, encoder_for, make_features, open_source

    source = open_source(things, text=text, image=image, item=item)
    own.say_numbered(things, item, text, image)
    if source.folder is not None and source.folder.others:
        remark(f"{things}: {source.folder.left_out()}", style="yellow")
    with working("loading the model") as far:
        encoder = encoder_for(source.kind, model, far)
    started = time.monotonic()
    of = "" if source.n_items is None else f" of {source.n_items:,}"
    with working(f"reading {things}") as far:

        def show(done: int) -> None:
            speed = done / max(time.monotonic() - started, 1e-9)
            far(f"{done:,}{of} items, {speed:,.0f} a second")

        made = make_features(source, encoder, out, skips=on_error == "skip", on_part=show)
    say(f"wrote {out}: {len(made.items):,} items, {made.n_features:,} features")
    say(f"  {encoder.recipe}")
    if model is None and (more := beyond_default(encoder)):
        remark(f"hint: {more}")
    if made.n_kept_from_before:
        say(f"  {made.n_kept_from_before:,} items were done before an interruption")
    own.warn_of_rows(made)
    say(f"next: {command('fit', 'answers.csv', features=out, out='model.safetensors')}")
