"""`complabel ask`: questions to ask next."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from complabel.cli import _options as options
from complabel.cli import _own as own
from complabel.cli._console import command, explain, say, working
from complabel.cli._options import argument, option, target
from complabel.cli._outputs import unused
from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel.answers import Answers
    from complabel.files import Features
    from complabel.methods import ComplementaryClassifier

_HEADER = 4096  # most bytes of a file with a header alone


@options.with_examples(
    "ask --features X.csv --label-names labels.txt -n 200 --out questions.csv",
    "ask answers.csv --features X.csv -n 200 --out questions.csv",
    "ask answers.csv --out questions.csv --prompts prompts.jsonl --texts texts.csv",
    "ask answers.csv --kind ticked-10 -n 50 --out questions.csv --prompts tasks.json",
    "ask answers.csv --to-evaluate model.safetensors --features X.csv --out questions.csv",
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
    to_evaluate: Path | None = option(
        "MODEL",
        "With --features: ask what tells most about how good this model is, about items without an"
        " answer in ANSWERS. Give all answers that it learned from.",
    ),
    figure: str | None = option(
        "FIGURE",
        "With --to-evaluate: what the answers shall tell about, over all labels: f1, precision,"
        " recall or average-precision. [default: f1]",
        **options.one_of("f1", "precision", "recall", "average-precision"),
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
    from complabel.methods import load

    files = [path for path in answers or () if not _is_blank(path)]
    if to_evaluate is None and figure is not None:
        raise InputError("--figure is given without --to-evaluate; also give the model")
    if to_evaluate is not None:
        if features is None or kind != "asked" or label_names is not None:
            raise InputError(
                "--to-evaluate asks yes or no about the labels of the model, by the features of the"
                " items: give --features, and leave out --kind and --label-names"
            )
        classifier = load(to_evaluate)
        d = classifier.n_features_in_
        found = own.read_own_features(features, items, d, model=to_evaluate)
        names = [str(name) for name in classifier.classes_]
        said = _said_about(list(found.items), files, names, question, contradictions)
        table = _on_model(classifier, found, said, n, figure or "f1", seed)
    else:
        if features is not None:
            known: list[str] | None = list(own.read_own_features(features, items).items)
        else:  # without items, those that the answers mention
            known = None if items is None else read_item_names(items)
        said = _said_about(known, files, label_names, question, contradictions)
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
    if to_evaluate is not None:
        assert features is not None
        if said.answered.any():  # the figures are those of the items that could be drawn
            features, items = _unanswered(features), None if items is None else _unanswered(items)
            say(
                f"to evaluate, make {features}{f' and {items}' if items else ''} first: without the"
                " items that have an answer, which could not be drawn"
            )
        then = command("evaluate", to_evaluate, features, items=items, answers=answered)
    else:
        then = command(
            "fit",
            *(*files, answered),
            features=features or "X.csv",
            items=items if features else None,
            label_names=label_names,
            question=question,
            contradictions=contradictions,
            out="model.safetensors",
        )
    _say_next(then, out, answered, prompts, kind, has_texts=texts is not None)


def _say_next(
    then: str, out: Path, answered: Path, prompts: Path | None, kind: str, *, has_texts: bool
) -> None:
    """Print how the questions come back as answers, and the command ``then``."""
    if prompts is None:
        words = "yes, no, unsure" if kind == "asked" else "yes where a label applies, or one no"
        say(f"next: fill in the column answer ({words}), then")
        say(f"  {command('import', out, out=answered)}")
    elif prompts.suffix == ".json":
        say("next: import the tasks into Label Studio, with the form of")
        form = {"question": kind.partition("-")[0], "show": "text" if has_texts else None}
        say(f"  {command('labelstudio-config', **form, out='config.xml')}")
        say("and read the export with")
        say(f"  {command('import', 'export.json', out=answered)}")
    else:
        say("next: add the field reply to each line, save them as replies.jsonl, then")
        say(f"  {command('import', 'replies.jsonl', from_='replies', out=answered)}")
    say(f"  {then}")


def _on_model(
    classifier: ComplementaryClassifier,
    found: Features,
    said: Answers,
    n: int,
    figure: str,
    seed: int,
) -> Any:
    """Draw questions whose answers tell most about a model; say about which items."""
    from complabel.trust import suggest_evaluation_questions

    with working(f"predicting {said.n_items:,} items"):
        probabilities = classifier.predict_proba(own.for_model(found, classifier))
    n_answered = int(said.answered.sum())
    explain(
        f"{said.n_items - n_answered:,} items without an answer may be drawn; {n_answered:,} with"
        " an answer are left out, since the model may have learned from them"
    )
    return suggest_evaluation_questions(
        said,
        probabilities,
        n,
        figure=figure.replace("-", "_"),
        threshold=getattr(classifier, "thresholds_", math.nextafter(classifier.cut, 1)),
        random_state=seed,
    )


def _said_about(
    items: list[str] | None,
    files: Sequence[Path],
    label_names: Path | Sequence[str] | None,
    question: str | None,
    contradictions: str,
) -> Answers:
    """Return all answers so far; there may be none."""
    from complabel.answers import Answers
    from complabel.files import read_label_names

    if files:
        return own.read_own_answers(files, items, label_names, question, contradictions)
    if items is None or label_names is None:
        lacking = ["--label-names"] * (label_names is None)
        lacking += ["--features or --items"] * (not items)
        raise InputError(
            "there are no answers yet, so the items and the labels are not known: also give"
            f" {' and '.join(lacking)}"
        )
    labels = read_label_names(label_names) if isinstance(label_names, Path) else label_names
    say(f"no answers yet: {len(items):,} items, {len(labels)} labels")
    return Answers.from_table({"item": [], "label": []}, items=items, label_names=labels)


def _is_blank(path: Path) -> bool:
    """Return whether a text file of answers is empty, or has nothing but a header."""
    if path.suffix not in (".csv", ".tsv") or not path.is_file() or path.stat().st_size > _HEADER:
        return False
    first, *others = path.read_text("utf-8-sig", errors="replace").strip().splitlines() or [""]
    return not others and (not first or {"item", "label"} <= {*re.findall(r"\w+", first)})


def _unanswered(path: Path) -> Path:
    return path.with_name(f"unanswered-{path.name}")


def _answered(path: Path) -> Path:
    name = path.name.removesuffix(".gz").rpartition(".")[0]
    return path.with_name(f"answered-{name}.csv")
