"""`complabel import` and `features`: make tables of answers and features from other files."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from complabel.cli import _options as options
from complabel.cli._console import command, doubt, remark, save, say, working
from complabel.cli._inputs import names_in
from complabel.cli._made import warn_of_others, warn_of_rows
from complabel.cli._options import argument, flag, option, target
from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel.importers import Options, Tally

# A copy of the names in complabel.importers, which would load NumPy for a help text. A test
# compares the two.
NAMES = (
    *("label-studio", "prodigy", "argilla", "doccano", "lvis", "open-images", "github-events"),
    *("folders", "batch", "coded", "columns", "replies", "results", "table"),
    *(_JUDGES := ("inspect-ai", "promptfoo", "deepeval", "langfuse", "mlflow")),
)


@dataclass(kw_only=True)
class Meanings:
    """What the user says about a file because the file itself does not say it."""

    absent: list[str] | None = option(
        "CONTROL",
        "Labels chosen in this control, question or column do not apply; repeat for more.",
    )
    present: list[str] | None = option(
        "CONTROL", "Labels chosen in this control, question or column apply; repeat for more."
    )
    item: str | None = option(
        "COLUMN", "Field or column with the item's name. [default: depends on the format]"
    )
    item_file: str | None = option(
        "FIELD",
        "Field with the path or the address of the item's file; its name without folders names the"
        " item.",
    )
    yes: list[str] | None = option("CODE", 'Code for "applies"; repeat for more.')
    no: list[str] | None = option("CODE", 'Code for "does not apply"; repeat for more.')
    unsure: list[str] | None = option("CODE", 'Code for "unsure"; repeat for more.')
    unselected: str | None = option(
        "unknown|no|yes",
        "Meaning of labels that were shown but not chosen, if the file does not tell. In a blank"
        " cell, no and yes: nothing was ticked; unknown: nobody answered.",
        **options.one_of("unknown", "no", "yes"),
    )
    read_as: str | None = options.READ_AS
    answer: str | None = option(
        "yes|no",
        "What each row of a table of answers says, if it has no column answer.",
        **options.one_of("yes", "no"),
    )
    none: list[str] | None = option(
        "WORD",
        "Word that says that no label applies, where a label is expected, such as None; repeat for"
        " more.",
    )
    separator: str | None = option(
        "SIGN",
        "In batch and columns: what separates the labels in a cell, such as ';'. [default: that of"
        " the platform; else a cell holds one label]",
    )
    random_questions: bool = flag(
        "Say that each question was about a random label of a random item.", "--random-questions"
    )
    label_names: Path | None = option("FILE", "All labels, one on each line.")
    merge: list[str] | None = option(
        "OLD=NEW", "In a table of answers, merge the label OLD into NEW; repeat for more."
    )
    column: list[str] | None = option(
        "OURS=THEIRS",
        "Which column of a table holds what, such as annotator=worker; repeat for more.",
    )
    drop: list[str] | None = option(
        "COLUMN",
        "Do not read this column, although its name says that it may matter; repeat for more.",
    )
    met_from: list[str] | None = option(
        "[CRITERION=]NUMBER",
        "Of a judge's scores: from which score on the criterion is met; repeat for more.",
    )
    only: list[str] | None = option(
        "NAME",
        "Read only the verdicts of this system, prompt or source, such as HUMAN; repeat for more.",
    )
    class_names: Path | None = option(
        "FILE", "CSV file with a code and a name per label, if the labels are codes."
    )

    def of_importers(self, more: Sequence[Path]) -> Options:
        """Return these as importers take them; ``more`` are files of the same batch."""
        from complabel.importers import Options

        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
        values |= {
            "question": values.pop("read_as"),
            "label_names": names_in(self.label_names),
            "merge": options.pairs_of("--merge", self.merge),
            "column": options.pairs_of("--column", self.column, "OURS=THEIRS"),
            "met_from": _met_from(self.met_from),
        }
        return Options(more=tuple(more), **{k: v for k, v in values.items() if v is not None})


def _met_from(texts: list[str] | None) -> dict[str, float]:
    """Read what is typed as 0.5 or CRITERION=0.5; a number alone is for all other criteria."""
    pairs = [(name, number) for name, _, number in (t.rpartition("=") for t in texts or ())]
    try:
        least = {name: float(number) for name, number in pairs}
    except ValueError:
        least = {}
    if len(least) < len(pairs) or not all(map(math.isfinite, least.values())):
        message = f"--met-from is {', '.join(texts or ())}; give NUMBER, or CRITERION=NUMBER once"
        raise InputError(message, parameter="met_from")
    return least


@options.with_examples(
    "import export.json --absent not_this --out answers.csv",
    "import lvis_val.json --out answers.parquet --labels-out labels.txt",
    "import results.json --met-from helpful=0.7 --only LLM_JUDGE --out judge.csv",
    "import labels.csv --from coded --yes 1 --no 0 --unsure -1 --out answers.csv",
    "import sheet.csv --from columns --absent anna --absent ben --separator ';' --out answers.csv",
)
def import_(
    files: list[Path] = argument(
        "FILE", "File with the answers; of the results of a batch, all files."
    ),
    *,
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
    meanings: Meanings,
    labels_out: Path | None = target(
        "Also write the names of all labels to this file, for --label-names."
    ),
) -> None:
    """Read answers from an annotation tool or a public dataset into one table of answers.

    Answers that contradict each other are kept. The commands fit and inspect report them.
    """
    from complabel.files import read_quietly
    from complabel.importers import detect, import_file

    file, *more = files
    settings = meanings.of_importers(more)
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
        _write_labels(names or read_quietly([out]).answers.label_names or (), labels_out)
    elif meanings.label_names is None and names and len(names) > tally.counts["labels"]:
        remark(
            f"note: the file lists {len(names):,} labels, but the answers mention only"
            f" {tally.counts['labels']:,} of them; keep all names with --labels-out labels.txt",
            style="yellow",
        )
    say(_next(from_ or detect(file).name, tally, out, labels_out or meanings.label_names))


def _write_labels(names: Sequence[str], path: Path) -> None:
    if any(len(name.splitlines()) != 1 for name in names):
        raise InputError(
            f"{path}: this file holds one name on each line, but a label's name is empty or has"
            " line breaks; rename the label"
        )
    save(path, "".join(f"{name}\n" for name in names))


def _next(format_: str, tally: Tally, out: Path, label_names: Path | None) -> str:
    """Say what comes next; a language model's answers about most pairs are checked by people."""
    of, words = tally.counts, [tally.counts[f"rows that say {word}"] for word in ("yes", "no")]
    n_pairs = of["items"] * of["labels"]
    if format_ in ("results", "replies", *_JUDGES) and all(words) and 2 * sum(words) > n_pairs:
        known = {"label_names": label_names, "number": min(200, n_pairs)}
        check = command("ask", against=out, **known, out="check.csv")
        return f"next: let people check some answers; --items TABLE shows them the items\n  {check}"
    return f"next: {command('inspect', out, label_names=label_names)}"


@options.with_examples(
    "features tickets.csv --text body --out X.npz",
    "features tickets.csv --text body --encoder all-MiniLM-L6-v2/ --out X.npz",
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
    encoder: str | None = option(
        "ENCODER",
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
    from complabel.files import about_row_numbers

    source = open_source(things, text=text, image=image, item=item)
    doubt(about_row_numbers(things, item, text, image))
    warn_of_others(source, things)
    with working("loading the encoder") as far:
        makes = encoder_for(source.kind, encoder, far)
    started = time.monotonic()
    of = "" if source.n_items is None else f" of {source.n_items:,}"
    with working(f"reading {things}") as far:

        def show(done: int) -> None:
            speed = done / max(time.monotonic() - started, 1e-9)
            far(f"{done:,}{of} items, {speed:,.0f} a second")

        made = make_features(source, makes, out, skips=on_error == "skip", on_part=show)
    say(f"wrote {out}: {len(made.items):,} items, {made.n_features:,} features")
    say(f"  {makes.recipe}")
    if encoder is None and (more := beyond_default(makes)):
        remark(f"hint: {more}")
    if made.n_kept_from_before:
        say(f"  {made.n_kept_from_before:,} items were done before an interruption")
    warn_of_rows(made)
    say(f"next: {command('fit', 'answers.csv', features=out, out='model.safetensors')}")
