"""`complabel ask`: questions to ask next."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from complabel.cli import _options as options
from complabel.cli import _own as own
from complabel.cli._console import command, say
from complabel.cli._options import argument, option, target
from complabel.cli._outputs import unused
from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel.answers import Answers

_HEADER = 4096  # most bytes of a file with a header alone


@options.with_examples(
    "ask --features X.csv --label-names labels.txt -n 200 --out questions.csv",
    "ask answers.csv --features X.csv -n 200 --out questions.csv",
    "ask answers.csv --out questions.csv --prompts prompts.jsonl --texts texts.csv",
    "ask answers.csv --kind ticked-10 -n 50 --out questions.csv --prompts tasks.json",
)
def ask(
    answers: list[Path] | None = argument(
        "ANSWERS",
        "Tables of all answers so far. [default: none; then give --label-names, and"
        " --features or --items]",
        default=None,
    ),
    *,
    out: Path = target(
        "Write the table of questions to this file.", default=..., endings=options.TABLE
    ),
    n: int = option("N", "Number of questions.", "-n", "--number", default=200, min=1),
    kind: str = option(
        "asked|ticked|ticked-M",
        "What to ask. asked: does this random label apply? ticked: which of all labels apply?"
        " ticked-10: which of these 10 random labels apply?",
        default="asked",
    ),
    features: Path | None = option(
        "FILE",
        "Features of all items, with or without an answer. [default: ask only about the"
        " items in ANSWERS]",
    ),
    items: Path | None = option(
        "FILE",
        "With --features: the item of each of its rows, one on each line. Without: all"
        " items, one on each line, or a table with the column item.",
    ),
    label_names: Path | None = options.LABEL_NAMES,
    question: str | None = options.QUESTION,
    contradictions: str = options.CONTRADICTIONS,
    prompts: Path | None = target(
        "Also write the questions as JSON lines, for a language model; as tasks for Label Studio"
        " if the name ends in .json."
    ),
    texts: Path | None = option(
        "FILE",
        "A table with the columns item and text. The texts of the items are written"
        " beside the questions, in the column text.",
    ),
    seed: int = option("N", "Seed of the random questions.", default=0, min=0),
) -> None:
    """Draw questions about random labels. The answers tell how often each label applies.

    Fill in the column "answer" with yes, no or unsure. If labels are to be ticked, yes at those
    that apply is enough. Then read the file with complabel import. For the next round, give all
    answers so far and another --out.
    """
    from complabel.asking import suggest_questions
    from complabel.files import AnswerWriter, read_item_names, read_texts
    from complabel.importers import write_prompts

    files = [path for path in answers or () if not _is_blank(path)]
    if features is not None:
        known: list[str] | None = list(own.read_own_features(features, items).items)
    else:  # without items, those that the answers mention
        known = None if items is None else read_item_names(items)
    if files:
        said = own.read_own_answers(files, known, label_names, question, contradictions)
    else:
        said = _no_answers(known, label_names)
    table = suggest_questions(said, n, kind=kind, random_state=seed)
    given = None if texts is None else read_texts(texts, items=table["item"])
    if prompts is not None:
        write_prompts(table, prompts, item_texts=given, label_names=said.label_names)
        say(f"wrote {prompts}")
    columns = {name: table[name].tolist() for name in table}
    if given is not None:
        columns["text"] = [given[str(item)] for item in columns["item"]]
    with AnswerWriter(out, more=("text",) if given is not None else ()) as writer:
        writer.write(columns)
    say(f"wrote {out}: {'1 question' if n == 1 else f'{n:,} questions'} in random order")
    more = len(columns["item"]) - columns["answer"].count(None)
    if more:
        counted = "1 row" if more == 1 else f"{more:,} rows"
        say(f"  and {counted} with known answers: leave them in, they also count")
    answered = unused(_answered(out))
    fit = command(
        "fit",
        *(*files, answered),
        features=features or "X.csv",
        items=items if features else None,
        label_names=label_names,
        question=question,
        contradictions=contradictions,
        out="model.safetensors",
    )
    if prompts is None:
        words = "yes, no, unsure" if kind == "asked" else "yes where a label applies, or one no"
        say(f"next: fill in the column answer ({words}), then")
        say(f"  {command('import', out, out=answered)}")
    elif prompts.suffix == ".json":
        say("next: import the tasks into Label Studio, with the form of")
        form = {"question": kind.partition("-")[0], "show": "text" if texts is not None else None}
        say(f"  {command('labelstudio-config', **form, out='config.xml')}")
        say("and read the export with")
        say(f"  {command('import', 'export.json', out=answered)}")
    else:
        say("next: add the field reply to each line, save them as replies.jsonl, then")
        say(f"  {command('import', 'replies.jsonl', from_='replies', out=answered)}")
    say(f"  {fit}")


def _no_answers(items: list[str] | None, label_names: Path | None) -> Answers:
    from complabel.answers import Answers
    from complabel.files import read_label_names

    if items is None or label_names is None:
        lacking = ["--label-names"] * (label_names is None)
        lacking += ["--features or --items"] * (not items)
        raise InputError(
            "there are no answers yet, so the items and the labels are not known: also give"
            f" {' and '.join(lacking)}"
        )
    labels = read_label_names(label_names)
    say(f"no answers yet: {len(items):,} items, {len(labels)} labels")
    return Answers.from_table({"item": [], "label": []}, items=items, label_names=labels)


def _is_blank(path: Path) -> bool:
    """Return whether a text file of answers is empty, or has nothing but a header."""
    if path.suffix not in (".csv", ".tsv") or not path.is_file() or path.stat().st_size > _HEADER:
        return False
    first, *others = path.read_text("utf-8-sig", errors="replace").strip().splitlines() or [""]
    return not others and (not first or {"item", "label"} <= {*re.findall(r"\w+", first)})


def _answered(path: Path) -> Path:
    name = path.name.removesuffix(".gz").rpartition(".")[0]
    return path.with_name(f"answered-{name}.csv")
