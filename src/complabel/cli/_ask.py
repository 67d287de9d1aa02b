"""`complabel ask` and `complabel labelstudio-config`: what to ask next, and a form for it."""

from __future__ import annotations

import math
import re
import shlex
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from complabel._questions import BY_STEM, kinds_in_words
from complabel._services import SERVICES
from complabel.cli import _options as options
from complabel.cli._console import command, explain, remark, save, say, working
from complabel.cli._inputs import Before, Settled, names_in, read_own_features
from complabel.cli._options import argument, flag, option, target
from complabel.cli._outputs import unused
from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel.answers import Answers

_OF_PEOPLE = ("label-studio", "prodigy", "mturk")
_SERVICES = ", ".join(
    f"{name} (also {service.also})" if service.also else name for name, service in SERVICES.items()
)
_MOST_NAMES = 5  # in a message
_ONLY_FEATURES = (
    "--to-evaluate asks yes or no about the labels of the model, by the features of items without"
    " an answer: give --features, and leave out --question, --label-names, --annotator, --until,"
    " --all-known and --all-items"
)
_ONLY_MACHINE = (
    "--against asks about a machine's answers, with --question asked, ticked or ticked-M: leave out"
    " --to-evaluate, --figure, --until, --all-known, --all-items and --features; --items names all"
    " items"
)
# Questions if no number is given, and with a machine: in the first round, and in later ones.
_USUAL, _FIRST, _LATER = 200, 80, 60
_AFTER_OTHERS = 0.5  # of these, if there are answers of earlier months
_USUALLY: tuple[Any, ...] = (
    None,
    False,
    [],
    "error",
    "asked",
)  # what options are that nobody typed
_HEADER = 4096  # most bytes of a file with a header alone


@dataclass(frozen=True)
class _Questions:
    """Questions in the order in which they are asked, all labels, and what to do with answers."""

    table: Any
    labels: Sequence[str] | None
    then: Callable[[Path], str]


@dataclass(kw_only=True)
class Known(Settled):
    """What all kinds of questions need: answers so far, and files that list items and labels."""

    features: Path | None = option(
        "FILE",
        "Features of all items, with or without an answer. [default: ask only about the"
        " items in ANSWERS]",
    )
    items: Path | None = option(
        "FILE",
        "With --features: the item of each of its rows, one on each line. Without: all"
        " items, one on each line, or a table with the column item.",
    )
    label_names: Path | None = options.LABEL_NAMES
    seed: int = option("N", "Seed of the random questions.", default=0, min=0)
    files: list[Path] = field(default_factory=list, init=False)

    def known_items(self) -> list[str] | None:
        """Return all items; None: those that the answers mention."""
        from complabel.files import read_item_names

        if self.features is not None:
            return list(read_own_features(self.features, self.items).items)
        return None if self.items is None else read_item_names(self.items)

    def so_far(self, items: list[str] | None, label_names: Path | Sequence[str] | None) -> Answers:
        """Return all answers so far; there may be none."""
        if self.files:
            return self.answers(self.files, items, label_names)
        labels = names_in(label_names)
        if items is None or labels is None:
            lacking = ["--label-names"] * (labels is None)
            lacking += ["--features or --items"] * (not items)
            raise InputError(
                "there are no answers yet, so the items and the labels are not known: also give"
                f" {' and '.join(lacking)}"
            )
        say(f"no answers yet: {len(items):,} items, {len(labels)} labels")
        return _no_answers(items, labels)

    def then(self, name: str, *words: object, out: str | None = None, **more: object) -> str:
        """Return a command that reads the answers, too."""
        of = {**more, "label_names": self.label_names, **self.typed()}
        return f"  {command(name, *words, **of, out=out)}"

    def fit(self, answered: Path) -> str:
        """Say how to learn from the answers."""
        words, out = (*self.files, answered), "model.safetensors"
        if self.features is None:
            fit = self.then("fit", *words, features="X.csv", out=out)
            return f"and, with features of these items in X.csv,\n{fit}"
        return self.then("fit", *words, features=self.features, items=self.items, out=out)


def _no_answers(items: Sequence[str], labels: Sequence[str]) -> Answers:
    from complabel.answers import Answers

    return Answers.from_table({"item": [], "label": []}, items=items, label_names=labels)


@dataclass(kw_only=True)
class AtRandom:
    """Questions about random labels that are not known."""

    n: int | None = option(
        "N",
        "Number of questions. [default: 200; with --against 80 at first, and 60 in later rounds"
        " or of questions to tick; with --before half of these]",
        "-n",
        "--number",
        min=1,
    )
    all_items: bool = flag(
        "Ask about all items, or with --question asked about all pairs of an item and a label.",
        "--all-items",
    )
    until: list[str] | None = option(
        "GOAL",
        "Ask no more than this needs, by ANSWERS so far: frequencies +-.03, or another number, for"
        " the frequency of each label.",
    )
    question: str = option("QUESTION", f"What to ask. {kinds_in_words()}", default="asked")
    annotator: str | None = option(
        "NAME",
        "Who will answer. What NAME said in ANSWERS is not asked again; its share of the random"
        " sample is written, with NAME. [default: all pairs of an item and a label may be asked"
        " about, whatever others or a machine said of them]",
    )
    all_known: bool = flag(
        "The same for everything in ANSWERS, whoever said it: if all of it is right, such as rules"
        " that never err.",
        "--all-known",
    )

    def draw(self, inputs: Known) -> _Questions:
        """Draw questions; with goals, no more than these need, and none if all are reached."""
        from complabel.asking import suggest_questions

        answers = inputs.so_far(inputs.known_items(), inputs.label_names)
        known_answers = self._known(answers)
        n = None if self.all_items else self.n or _USUAL
        if n is None:
            n_known = int((known_answers.complementary ^ known_answers.known_relevant).sum())
            n_pairs = known_answers.n_items * known_answers.n_labels
            n = known_answers.n_items if self.question != "asked" else n_pairs - n_known
        if self.until:
            n = min(n, self._left(answers))
            if not n:
                say("each goal is reached: nothing more has to be asked, and nothing was written")
                raise SystemExit(0)
        table = suggest_questions(known_answers, n, kind=self.question, random_state=inputs.seed)
        return _Questions(table, known_answers.label_names, inputs.fit)

    def _known(self, answers: Answers) -> Answers:
        """Return what the person who will answer said; nothing, if it is not said who that is."""
        if self.all_known and self.annotator is not None:
            raise InputError("--annotator is given with --all-known; leave one of them out")
        if self.all_known:
            return answers
        if self.annotator is None:
            if answers.n_answers:
                explain(
                    f"{answers.n_answers:,} earlier answers do not count as those of the person who"
                    " is asked: give --annotator NAME if some do, or --all-known if all are right"
                )
            return answers.only(answers.annotator < -1)  # none
        if answers.n_answers and self.annotator not in answers.annotator_names:
            names = ", ".join(map(repr, answers.annotator_names[:_MOST_NAMES])) or "nobody"
            raise InputError(
                f"--annotator {self.annotator}: the answers are by {names}; give one of these"
                " names, or leave the option out if this person did not answer before"
            )
        code = [*answers.annotator_names, self.annotator].index(self.annotator)
        return answers.only(answers.annotator == code)

    def _left(self, answers: Answers) -> int:
        """Say how far goals are; return how many questions are enough with a chance of .9."""
        from complabel._questions import QuestionKind
        from complabel.trust import FREQUENCIES, Goal, how_far, questions_left

        left, goals = 0.0, [Goal.parse(text) for text in self.until or ()]
        for goal in goals:
            if goal.figure != FREQUENCIES:
                raise InputError(
                    f"--until {goal}: ask knows only frequencies, such as frequencies +-.03; for"
                    " others use complabel annotate, or complabel.trust.how_far in Python"
                )
        kind = QuestionKind.parse(self.question, answers.n_labels)
        goals[0].refuse_question(kind)
        for standing in how_far(answers, goals):
            say(f"{'reached' if standing.is_reached else 'not reached'}: {standing.goal}")
            say(f"  {standing.sentence()}")
            low, _, high = questions_left(standing, kind.n_offered(answers.n_labels))
            if not standing.is_reached:
                say(f"  it takes {low:,.0f} to {high:,.0f} more questions in 8 of 10 cases")
            left = max(left, high)
        return int(left)


@dataclass(kw_only=True)
class AboutModel:
    """Questions whose answers tell most about a model."""

    to_evaluate: Path | None = option(
        "MODEL",
        "With --features: ask what tells most about how good this model is, about items without an"
        " answer in ANSWERS. Give all answers that it learned from.",
    )
    figure: str | None = option(
        "FIGURE",
        "With --to-evaluate: what the answers shall tell about, over all labels: f1, precision,"
        " recall or average-precision. [default: f1]",
        **options.one_of("f1", "precision", "recall", "average-precision"),
    )

    def draw(self, inputs: Known, n: int) -> _Questions:
        """Draw questions; say about which items."""
        from complabel.methods import SavedModel
        from complabel.trust import suggest_evaluation_questions

        if self.to_evaluate is None:
            raise InputError("--figure is given without --to-evaluate; also give the model")
        if inputs.features is None or inputs.label_names is not None:
            raise InputError(_ONLY_FEATURES)
        model = SavedModel.open(self.to_evaluate)
        features = read_own_features(inputs.features, inputs.items, model=model)
        answers = inputs.so_far(list(features.items), model.label_names)
        n_answered, classifier = int(answers.answered.sum()), model.classifier
        with working(f"predicting {answers.n_items:,} items"):
            probabilities = classifier.predict_proba(model.columns_of(features))
        explain(
            f"{answers.n_items - n_answered:,} items without an answer may be drawn; {n_answered:,}"
            " with an answer are left out, since the model may have learned from them"
        )
        table = suggest_evaluation_questions(
            answers,
            probabilities,
            n,
            figure=(self.figure or "f1").replace("-", "_"),
            threshold=getattr(classifier, "thresholds_", math.nextafter(classifier.cut, 1)),
            random_state=inputs.seed,
        )

        def evaluate(answered: Path) -> str:
            """Return the command that evaluates a model; say which items it is about."""
            about: list[Path | None] = [inputs.features, inputs.items]
            if n_answered:  # the figures are those of the items that could be drawn
                about = [each and each.with_name(f"unanswered-{each.name}") for each in about]
                say(
                    f"to evaluate, make {' and '.join(str(each) for each in about if each)} first:"
                    " without the items that have an answer, which could not be drawn"
                )
            of: Any = {"items": about[1], "answers": answered}
            return f"  {command('evaluate', self.to_evaluate, about[0], **of)}"

        return _Questions(table, answers.label_names, evaluate)


@dataclass(kw_only=True)
class AboutMachines(Before):
    """Questions by what machines say: a number of them, or the first or the next round."""

    against: list[Path] | None = option(
        "FILE",
        "Table of a machine's answers; repeat for several machines. Ask about random pairs of which"
        " it says yes, and of which it says no, half of them each. If ANSWERS has people's answers"
        " to earlier questions of this kind, the next round goes where it tells most. With"
        " --question ticked, people tick all labels of items, drawn by what it says of these."
        " Nothing that the machine said is shown.",
    )
    only_yes: bool = options.ONLY_YES

    def draw(self, inputs: Known, n: int | None, kind: str) -> _Questions:
        """Draw questions about pairs of which the machines say something, or about items."""
        from complabel.asking import suggest_questions

        first, *others = self.against or []
        files = inputs.files
        machines = inputs.machines(
            [first, *others],
            inputs.known_items(),
            inputs.label_names,
            only_yes=self.only_yes,
            apart=True,
        )
        people = _no_answers(machines.item_names, machines.label_names)
        if files:
            people = inputs.people(files, machines)
        unsure = inputs.unsure(files, people)[:2] if files else None
        months = self.months(inputs, only_yes=self.only_yes)
        most = people.n_items * (people.n_labels if kind == "asked" else 1)
        size = n or self._size(bool(files) or kind != "asked", most)
        of: Any = {"against": [*machines.said.values()], "random_state": inputs.seed, "kind": kind}
        of["before"] = months
        table = suggest_questions(people, size, unsure=unsure, **of)

        later = round(_LATER * (_AFTER_OTHERS if self.before else 1))

        def then(answered: Path) -> str:
            html, words = unused(Path("audit.html")), (first, *files, answered)
            of: Any = {"items": inputs.items, "only_yes": self.only_yes}
            of["before"] = self.pairs
            audit = inputs.then("audit", *words, other=others, **of, html=html)
            if n or files:
                return audit
            more = inputs.then("ask", answered, against=[first, *others], **of, out="more.csv")
            return (
                f"this is the first round: the next one, of {later}, goes where answers tell most"
                f"\n{more}\nwhat is known so far:\n{audit}"
            )

        return _Questions(table, people.label_names, then)

    def _size(self, is_later: bool, most: int) -> int:
        """Return how many questions there are if nobody says it; say if they are fewer."""
        usual = _LATER if is_later else _FIRST
        if not self.before:
            return min(usual, most)
        size = min(round(usual * _AFTER_OTHERS), most)
        say(
            f"{size} questions in place of {min(usual, most)}: the answers of {self.before[1].name}"
            " count, too, as far as the new ones agree with them"
        )
        return size


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
    drawn = _drawn(known, at_random, about_model, about_machines)
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


def _drawn(
    known: Known, at_random: AtRandom, about_model: AboutModel, about_machines: AboutMachines
) -> _Questions:
    """Draw questions of one kind; refuse options of the other kinds."""
    n, kind = at_random.n, at_random.question
    of_model = about_model.to_evaluate is not None or about_model.figure is not None
    whole = at_random.all_known or at_random.all_items
    if about_machines.against:
        if of_model or known.features or whole or at_random.until:
            raise InputError(_ONLY_MACHINE)
        return about_machines.draw(known, n, kind)
    if of_model:
        if at_random.annotator is not None or whole or at_random.until or kind != "asked":
            raise InputError(_ONLY_FEATURES)
        return about_model.draw(known, n or _USUAL)
    return at_random.draw(known)


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
