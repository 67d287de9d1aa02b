"""`complabel ask`: yes/no questions to ask next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from complabel.cli import _options as options
from complabel.cli import _own_data as own
from complabel.cli._console import say
from complabel.cli._help import with_examples


@with_examples(
    "ask answers.csv --features X.csv -n 200 --out questions.csv",
    "ask answers.csv --out questions.csv --prompts prompts.jsonl --texts texts.csv",
)
def ask(
    answers: own.AnswersFiles,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Write the questions here, as a table.")
    ],
    n: Annotated[int, typer.Option("-n", "--number", min=1, help="How many to ask.")] = 200,
    features: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Features of all items, also of those without an answer. [default: ask about the"
            " items of ANSWERS only]",
        ),
    ] = None,
    items: own.ItemsFile = None,
    label_names: own.LabelNames = None,
    contradictions: own.Contradictions = "error",
    prompts: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write them as JSON lines, for a language model."),
    ] = None,
    texts: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="For the prompts: a table with columns item and text."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw.")] = 0,
) -> None:
    """Draw yes/no questions about random labels, which say how often each label applies.

    Fill in the column "answer" with yes, no or unsure. Then give the file back to complabel import.
    """
    from complabel.asking import suggest_questions
    from complabel.importers import write_prompts
    from complabel.tables import AnswerWriter, read_features, read_texts

    told = " ".join(map(str, answers))
    for path, option in ((out, "--out"), (prompts, "--prompts")):
        options.check_folder(path, option)
    everything = None if features is None else list(read_features(features, items=items).items)
    said = own.read_own_answers(
        answers, everything, label_names=label_names, contradictions=contradictions
    )
    table = suggest_questions(said, n, random_state=seed)
    with AnswerWriter(out) as writer:
        writer.write({name: table[name].tolist() for name in table})
    say(f"wrote {out}: {n} questions in random order")
    known = len(table) - n
    if known:
        say(f"  and {known} rows with an answer that is known: leave them in, they count, too")
    if prompts is not None:
        given = None if texts is None else read_texts(texts)
        write_prompts(table, prompts, item_texts=given, labels=said.label_names)
        say(f"wrote {prompts}")
        say(f"next: complabel import replies.jsonl --from replies --out {_answered(out)}")
    else:
        say(
            f"next: fill in the column answer (yes, no, unsure), then\n"
            f"  complabel import {out} --out {_answered(out)}\n"
            f"  complabel fit {told} {_answered(out)} --features {features or 'X.csv'}"
            " --out model.safetensors"
        )


def _answered(path: Path) -> Path:
    """Name the file that the answers go to."""
    return path.with_name(f"answered-{path.stem}.csv")
