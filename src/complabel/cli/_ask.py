"""`complabel ask`: yes/no questions to ask next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from complabel.cli import _options as options
from complabel.cli import _own_data as own
from complabel.cli._console import say
from complabel.cli._help import with_examples
from complabel.cli._next import command
from complabel.cli._working import working


@with_examples(
    "ask answers.csv --features X.csv -n 200 --out questions.csv",
    "ask answers.csv --out questions.csv --prompts prompts.jsonl --texts texts.csv",
)
def ask(
    answers: own.AnswersFiles,
    out: Annotated[
        Path,
        typer.Option("--out", metavar="FILE", help="Write the table of questions to this file."),
    ],
    n: Annotated[
        int, typer.Option("-n", "--number", metavar="N", min=1, help="Number of questions.")
    ] = 200,
    features: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Features of all items, with or without an answer. [default: ask only about the"
            " items in ANSWERS]",
        ),
    ] = None,
    items: own.ItemsFile = None,
    label_names: own.LabelNames = None,
    question: own.Question = None,
    contradictions: own.Contradictions = "error",
    prompts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also write the questions as JSON lines, for a language model."
        ),
    ] = None,
    texts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the texts of the items beside the questions, in the column text. A table"
            " with the columns item and text.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Seed of the random questions.")
    ] = 0,
) -> None:
    """Draw yes/no questions about random labels. The answers tell how often each label applies.

    Fill in the column "answer" with yes, no or unsure. Then read the file with complabel import.
    """
    from complabel.asking import suggest_questions
    from complabel.importers import write_prompts
    from complabel.tables import AnswerWriter, read_features, read_texts

    for path, option in ((out, "--out"), (prompts, "--prompts")):
        options.check_folder(path, option)
    own.refuse_lone_items(items, features)
    everything = None
    if features is not None:
        with working(f"reading {features}"):
            everything = list(read_features(features, items=items).items)
    said = own.read_own_answers(
        answers,
        everything,
        label_names=label_names,
        question=question,
        contradictions=contradictions,
    )
    table = suggest_questions(said, n, random_state=seed)
    given = None if texts is None else read_texts(texts, items=table["item"])
    if prompts is not None:
        write_prompts(table, prompts, item_texts=given, labels=said.label_names)
        say(f"wrote {prompts}")
    columns = {name: table[name].tolist() for name in table}
    if given is not None:
        columns["text"] = [given[str(item)] for item in columns["item"]]
    with AnswerWriter(out, more=("text",) if given is not None else ()) as writer:
        writer.write(columns)
    say(f"wrote {out}: {'1 question' if n == 1 else f'{n:,} questions'} in random order")
    known = len(table) - n
    if known:
        counted = "1 row" if known == 1 else f"{known:,} rows"
        say(f"  and {counted} with known answers: leave them in, they also count")
    answered = _answered(out)
    fit = command(
        "fit",
        *(*answers, answered),
        features=features or "X.csv",
        items=items,
        label_names=label_names,
        question=question,
        contradictions=None if contradictions == "error" else contradictions,
        out="model.safetensors",
    )
    if prompts is None:
        say("next: fill in the column answer (yes, no, unsure), then")
        say(f"  {command('import', out, out=answered)}")
    else:
        say("next: add the field reply to each line, save them as replies.jsonl, then")
        say(f"  {command('import', 'replies.jsonl', from_='replies', out=answered)}")
    say(f"  {fit}")


def _answered(path: Path) -> Path:
    """Return the path for the answers to the questions in ``path``."""
    name = path.name.removesuffix(".gz").rpartition(".")[0]
    return path.with_name(f"answered-{name}.csv")
