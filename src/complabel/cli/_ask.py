"""`complabel ask` and `complabel labelstudio-config`: what to ask next, and a form for it."""

from __future__ import annotations

import math
import re
import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from complabel._questions import BY_STEM
from complabel._services import SERVICES
from complabel.cli import _options as options
from complabel.cli._console import command, remark, save, say
from complabel.cli._options import argument, flag, option, target
from complabel.cli._outputs import unused
from complabel.cli._what_to_ask import AboutMachines, AboutModel, AtRandom, Known, drawn_for
from complabel.errors import InputError

_OF_PEOPLE = ("label-studio", "prodigy", "mturk")
_SERVICES = ", ".join(
    f"{name} (also {service.also})" if service.also else name for name, service in SERVICES.items()
)
_USUALLY: tuple[Any, ...] = (None, False, [], "error", "asked")  # options that nobody typed
_HEADER = 4096  # most bytes of a file with a header alone


@dataclass(kw_only=True)
class Shown:
    """What people see of an item beside its name."""

    show: Path | None = option(
        "FILE",
        "What people see: a table with the column item, and text, image (an address) or url."
        " [default: --items]",
    )
    text: str | None = option("COLUMN", "Of --show: the column with the text. [default: text]")
    image: str | None = option(
        "COLUMN", "Of --show: the column with the address of the picture. [default: image]"
    )
    url: str | None = option(
        "COLUMN", "Of --show: the column with the address of a page. [default: url]"
    )
    names_only: bool = flag("People see nothing but the names of the items.", "--names-only")

    @property
    def columns(self) -> dict[str, str]:
        """The columns that are given, by what they hold."""
        named = {"text": self.text, "image": self.image, "url": self.url}
        return {kind: column for kind, column in named.items() if column is not None}

    def find(self, tool: str, items: Path | None) -> None:
        """Take the table of items where none is given, if it shows something; it may be needed."""
        from complabel.files import has_shown

        if self.names_only and (self.show or self.columns):
            raise InputError("--names-only is given with what people see; leave one of them out")
        table = items if self.show is None and not self.names_only else self.show
        if table is not None and (self.show or self.columns or has_shown(table)):
            self.show = table
            return
        if self.columns:
            raise InputError(
                f"--{next(iter(self.columns))} names a column of --show or --items; give one of"
                " these tables"
            )
        if tool != "spreadsheet":
            who = "people see" if tool in _OF_PEOPLE else "the model sees"
            raise InputError(
                f"--for {tool} needs what {who} of each item: give a table with the columns item"
                " and text, image or url as --show"
            )

    def of(self, table: Any) -> tuple[dict[str, dict[str, str]] | None, Any]:
        """Return what people see, and the questions about items of which they see something."""
        from complabel.files import read_shown

        if self.show is None:
            if not self.names_only:
                say("people see nothing but the names of items; --show FILE has what else they see")
            return None, table
        views = read_shown(self.show, items=table["item"], columns=self.columns)
        is_blank = table["item"].map(lambda item: not views[str(item)])
        if is_blank.any():
            blank = list(dict.fromkeys(map(str, table["item"][is_blank])))
            remark(
                f"{self.show}: nothing is filled in for {len(blank):,} items, such as"
                f" {blank[0]!r}; questions about them are left out, since nobody can answer them",
                style="yellow",
            )
        return views, table[~is_blank]


@dataclass(kw_only=True)
class Batch:
    """How a language model is asked by a service."""

    llm: str | None = option("NAME", "In a batch: the language model that answers.", "--llm")
    items_per_request: int = option(
        "N",
        "In a batch with --question ticked: how many items a request is about.",
        "--items-per-request",
        default=1,
        min=1,
    )
    logprobs: bool = flag(
        "In a batch with --question asked: ask how probable yes and no are. Some models refuse it.",
        "--logprobs",
    )
    failed: list[Path] | None = option(
        "FILE",
        "Results of a batch; repeat for all of them. Write those of its requests again that failed,"
        " were refused or cut off, are missing, or have no clear reply, and nothing else.",
    )
    dry_run: bool = flag(
        "In a batch: say how many requests, characters, bytes and files there are; write nothing.",
        "--dry-run",
    )

    def settings(self, tool: str, show: Path | None) -> dict[str, Any]:
        """Return what only batches need, or refuse it."""
        size = {"items_per_request": self.items_per_request, "logprobs": self.logprobs}
        if tool in SERVICES:
            return {"model": self.llm, **size, "folder": Path() if show is None else show.parent}
        if self.dry_run or self.llm or size != {"items_per_request": 1, "logprobs": False}:
            raise InputError(
                "--dry-run, --llm, --items-per-request and --logprobs are about batches, such as"
                f" --for {next(iter(SERVICES))}"
            )
        return {}

    def again(self, out: Path) -> None:
        """Write the requests again that have no answer."""
        from complabel.importers import write_failed

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, out.name) if self.dry_run else out
            n, size = write_failed(self.failed or [], path)
        says = f"{n:,} requests without an answer, {size:,} characters"
        if not n or self.dry_run:
            say(f"{says}; nothing was written")
            return
        say(f"wrote {out}: {says}. Their ids are as before")
        again = unused(Path("results-again.jsonl"))
        files = [*(self.failed or ()), again]
        say(f"next: run it, save the results as {again} beside the others, and give all of them")
        say(f"  {command('import', *files, out='machine.csv')}")

    def say_size(self, written: list[Path], n_questions: int) -> None:
        """Say how large a batch is."""
        n_bytes = sum(path.stat().st_size for path in written)
        n_characters = sum(len(path.read_text(encoding="utf-8")) for path in written)
        n_files = "1 file" if len(written) == 1 else f"{len(written):,} files"
        say(
            f"{math.ceil(n_questions / self.items_per_request):,} requests,"
            f" {n_characters:,} characters, {n_bytes:,} bytes in {n_files}; nothing was written"
        )


@options.with_examples(
    "ask --features X.csv --label-names labels.txt -n 200 --out questions.csv",
    "ask answers.csv --annotator ann --features X.csv -n 200 --out questions.csv",
    "ask --items photos.csv --label-names labels.txt --for label-studio --out tasks.json",
    "ask answers.csv --question ticked-10 -n 50 --for prodigy --show texts.csv --out tasks.jsonl",
    "ask answers.csv --to-evaluate model.safetensors --features X.csv --out questions.csv",
    "ask --against machine.csv -n 200 --out check.csv",
    "ask --failed results.jsonl --out again.jsonl",
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
        "Write the questions to this file: a table or .xlsx, .json for label-studio and anthropic,"
        " .csv for mturk, .jsonl for all others.",
        default=...,
        endings=(*options.TABLE, ".xlsx", ".json", ".jsonl"),
    ),
    tool: str = option(
        "TOOL",
        "Where people answer: spreadsheet, label-studio, prodigy, mturk (Mechanical Turk); or how"
        " a language model is asked: replies (one prompt on each line), or a batch of one of"
        f" {_SERVICES}.",
        "--for",
        default="spreadsheet",
        **options.one_of("spreadsheet", *_OF_PEOPLE, "replies", *SERVICES),
    ),
    shown: Shown,
    at_random: AtRandom,
    about_model: AboutModel,
    about_machines: AboutMachines,
    known: Known,
    batch: Batch,
) -> None:
    """Draw questions about random labels. The answers tell how often each label applies.

    Answer them in a spreadsheet, whose column to_do says how, or in another tool. Then read the
    file, or the export of the tool, with complabel import. For the next round, give all answers so
    far, --annotator and another --out.
    """
    from complabel.importers import write_questions

    if batch.failed:
        groups = (known, at_random, about_model, about_machines, shown)
        typed = [each for group in groups for each in vars(group).values() if each not in _USUALLY]
        if answers or typed or batch.llm or tool != "spreadsheet":
            raise InputError("--failed repeats requests as they were; give --out alone beside it")
        batch.again(out)
        return
    known.files = [path for path in answers or () if not _is_blank(path)]
    # Without features, the items may be a table of what people see.
    shown.find(tool, known.items if known.features is None else None)
    settings = batch.settings(tool, shown.show)
    drawn = drawn_for(known, at_random, about_model, about_machines)
    if at_random.annotator is not None:
        drawn.table["annotator"] = [at_random.annotator] * len(drawn.table["item"])
    views, table = shown.of(drawn.table)
    written: list[Path] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, out.name) if batch.dry_run else out
        form: Any = {"tool": tool, "shown": views, "label_names": drawn.labels, "written": written}
        count = write_questions(table, path, **form, **settings)
        if batch.dry_run:
            batch.say_size(written, count)
            return
    paths = ", ".join(map(str, written or [out]))
    say(f"wrote {paths}: {'1 question' if count == 1 else f'{count:,} questions'} in random order")
    n_known = len(set(table["answer_id"])) if "answer_id" in table else len(table["item"])
    n_known -= count
    if n_known:
        counted = "1 known answer" if n_known == 1 else f"{n_known:,} known answers"
        say(f"  and {counted} of the random sample: leave them in, they also count")
    stem = out.name.removesuffix(".gz").rpartition(".")[0]
    answered = unused(out.with_name(f"answered-{stem}.csv"))
    last = drawn.then(answered)
    fields = {field for each in (views or {}).values() for field in each}
    for line in _way_back(tool, at_random.question.partition("-")[0], fields, out, answered):
        say(line)
    if tool in SERVICES:  # what a model says is checked by people
        show = None if shown.show == known.items else shown.show
        of: Any = {"items": known.items, "show": show, **shown.columns}
        last = f"  {command('ask', against=answered, **of, number=200, out='check.csv')}"
    say(last)


def _way_back(tool: str, kind: str, fields: set[str], out: Path, answered: Path) -> Iterator[str]:
    """Say how the questions come back as answers; ``fields`` have what is shown."""
    export = {"label-studio": "export.json", "prodigy": "export.jsonl", "mturk": "batch.csv"}
    file: Path | str = export.get(tool, out)
    if tool == "spreadsheet":
        yield "next: fill in what the column to_do says, then"
    elif tool == "label-studio":
        field = next((each for each in ("text", "image", "url") if each in fields), None)
        form = {"question": BY_STEM[kind].question, "item_kind": field}
        yield "next: make a project of Label Studio with the form of"
        yield f"  {command('labelstudio-config', **form, out='config.xml')}"
        yield f"import {out} into it, and let people answer. Export JSON, and read it with"
    elif tool == "prodigy":
        view = "classification" if kind == "asked" else "choice"
        yield "next: let people answer, and read what they said with"
        yield f"  prodigy mark questions {shlex.quote(str(out))} --view-id {view}"
        yield f"  prodigy db-out questions > {file}"
    elif tool == "mturk":
        yield f"next: publish a batch with {out}, download its results as {file}, then"
    elif tool in SERVICES:
        file = "results.jsonl"
        yield f"next: send the batch to {tool}, or run it yourself. It has short ids; what they ask"
        yield "stays in the files .ids.jsonl. Save the results here; if they are in several files,"
        yield "or failures in a second one, give import all of them"
    else:
        file = "replies.jsonl"
        picture = " with the picture that its field image names" if "image" in fields else ""
        yield f"next: send the field prompt of each line{picture}, add the field reply, save as"
        yield f"{file}, then"
    yield f"  {command('import', file, out=answered)}"


def _is_blank(path: Path) -> bool:
    """Return whether a text file of answers is empty, or has nothing but a header."""
    if path.suffix not in (".csv", ".tsv") or not path.is_file() or path.stat().st_size > _HEADER:
        return False
    first, *others = path.read_text("utf-8-sig", errors="replace").strip().splitlines() or [""]
    return not others and (not first or {"item", "label"} <= {*re.findall(r"\w+", first)})


@options.with_examples(
    "labelstudio-config labels.txt --out config.xml",
    "labelstudio-config --question asked --item-kind text",
    "labelstudio-config --question ticked --out config.xml",
)
def labelstudio_config(
    labels: Path | None = argument(
        "LABELS",
        "File with all labels, one on each line; none for asked, and for tasks of complabel ask,"
        " which have their own menus.",
        default=None,
    ),
    question: str = option(
        "QUESTION",
        "What to ask. named: one label that does not apply; without LABELS, one of the task's"
        " menu. ticked: all labels that apply; without LABELS, those of the task. both: one label"
        " that does not apply, and some that do. asked: whether the label in the task applies.",
        default="named",
    ),
    item_kind: str = option(
        "image|text|url|audio", "Kind of the items.", "--item-kind", default="image"
    ),
    field: str | None = option("FIELD", "Field of a task with the item. [default: as --item-kind]"),
    out: Path | None = target("Write to this file. [default: print to the terminal]"),
) -> None:
    """Write a Label Studio configuration that asks which labels apply, or do not."""
    from complabel.files import read_label_names
    from complabel.importers import label_studio_config

    names = () if labels is None else read_label_names(labels)
    text = label_studio_config(names, question=question, show=item_kind, field=field)
    if out is None:
        say(text)
    else:
        save(out, text + "\n")
    # On standard error: standard output is the configuration, perhaps redirected to a file.
    remark("next: in Label Studio, paste it at Settings > Labeling Interface > Code. Then export")
    remark("the answers as JSON, and read them with")
    meanings: dict[str, dict[str, Any]] = {
        "named": {"absent": "not_this"},
        "ticked": {"label_names": labels},  # an export does not list them
        "both": {"absent": "not_this", "present": "this"},
    }
    options_ = meanings.get(question, {}) if names else {}  # questions of ask say it themselves
    remark(f"  {command('import', 'export.json', **options_, out='answers.csv')}")
