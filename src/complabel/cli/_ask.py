"""`complabel ask` and `complabel labelstudio-config`: what to ask next, and a form for it."""

from __future__ import annotations

import math
import re
import shlex
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from complabel._questions import BY_STEM, kinds_in_words
from complabel._services import SERVICES
from complabel.cli import _options as options
from complabel.cli import _own as own
from complabel.cli._console import command, explain, remark, save, say, working
from complabel.cli._options import argument, flag, option, target
from complabel.cli._outputs import unused
from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel.answers import Answers
    from complabel.files import Features

_OF_PEOPLE = ("label-studio", "prodigy", "mturk")
_SERVICES = ", ".join(
    f"{name} (also {service.also})" if service.also else name for name, service in SERVICES.items()
)
_MOST_NAMES = 5  # in a message
_ONLY_FEATURES = (
    "--to-evaluate asks yes or no about the labels of the model, by the features of items without"
    " an answer: give --features, and leave out --kind, --label-names, --annotator and --until"
)
_ONLY_MACHINE = (
    "--against asks yes or no about a machine's answers: leave out --to-evaluate, --figure, --kind,"
    " --until, --all-known, --all-items and --features; --items names all items"
)
# Questions if no number is given, and with a machine: in the first round, and in later ones.
_USUAL, _FIRST, _LATER = 200, 80, 60
_HEADER = 4096  # most bytes of a file with a header alone


@options.with_examples(
    "ask --features X.csv --label-names labels.txt -n 200 --out questions.csv",
    "ask answers.csv --annotator ann --features X.csv -n 200 --out questions.csv",
    "ask --items photos.csv --label-names labels.txt --for label-studio --out tasks.json",
    "ask answers.csv --kind ticked-10 -n 50 --for prodigy --show texts.csv --out tasks.jsonl",
    "ask answers.csv --to-evaluate model.safetensors --features X.csv --out questions.csv",
    "ask --against machine.csv -n 200 --out check.csv",
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
    model: str | None = option("NAME", "In a batch: the model that answers."),
    all_items: bool = flag(
        "Ask about all items, or with --kind asked about all pairs of an item and a label.",
        "--all-items",
    ),
    items_per_request: int = option(
        "N",
        "In a batch of the kind ticked: how many items a request is about.",
        "--items-per-request",
        default=1,
        min=1,
    ),
    logprobs: bool = flag(
        "In a batch of the kind asked: ask how probable yes and no are. Some models refuse that.",
        "--logprobs",
    ),
    dry_run: bool = flag(
        "In a batch: say how many requests, characters, bytes and files there are; write nothing.",
        "--dry-run",
    ),
    show: Path | None = option(
        "FILE",
        "What people see: a table with the column item, and text, image (an address) or url."
        " [default: --items]",
    ),
    text: str | None = option("COLUMN", "Of --show: the column with the text. [default: text]"),
    image: str | None = option(
        "COLUMN", "Of --show: the column with the address of the picture. [default: image]"
    ),
    url: str | None = option(
        "COLUMN", "Of --show: the column with the address of a page. [default: url]"
    ),
    names_only: bool = flag("People see nothing but the names of the items.", "--names-only"),
    n: int | None = option(
        "N",
        "Number of questions. [default: 200; with --against 80 at first, and 60 in later rounds]",
        "-n",
        "--number",
        min=1,
    ),
    until: list[str] | None = option(
        "GOAL",
        "Ask no more than this needs, by ANSWERS so far: frequencies +-.03, or another number, for"
        " the frequency of each label.",
    ),
    kind: str = option("KIND", f"What to ask. {kinds_in_words()}", default="asked"),
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
    against: list[Path] | None = option(
        "FILE",
        "Table of a machine's answers; repeat for several machines. Ask about random pairs of which"
        " it says yes, and of which it says no, half of them each. If ANSWERS has people's answers"
        " to earlier questions of this kind, the next round goes where it tells most. Nothing that"
        " the machine said is shown.",
    ),
    only_yes: bool = options.ONLY_YES,
    annotator: str | None = option(
        "NAME",
        "Who will answer. What NAME said in ANSWERS is not asked again; its share of the random"
        " sample is written, with NAME. [default: all pairs of an item and a label may be asked"
        " about, whatever others or a machine said of them]",
    ),
    all_known: bool = flag(
        "The same for everything in ANSWERS, whoever said it: if all of it is right, such as rules"
        " that never err.",
        "--all-known",
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
    trusted: list[str] | None = options.TRUSTED,
    seed: int = option("N", "Seed of the random questions.", default=0, min=0),
) -> None:
    """Draw questions about random labels. The answers tell how often each label applies.

    Answer them in a spreadsheet, whose column to_do says how, or in another tool. Then read the
    file, or the export of the tool, with complabel import. For the next round, give all answers so
    far, --annotator and another --out.
    """
    from complabel.importers import write_questions

    named = (("text", text), ("image", image), ("url", url))
    columns = {kind: column for kind, column in named if column is not None}
    alone = {"items": items} if features is None else {}  # without features, they may be a table
    show = _with_what_is_shown(show, tool, columns, names_only=names_only, **alone)
    settings = {"model": model, "items_per_request": items_per_request, "logprobs": logprobs}
    batch = _of_batch(tool, settings, show, dry_run)
    files = [path for path in answers or () if not _is_blank(path)]
    given = _Given(files, features, items, label_names, question, contradictions, seed, trusted)
    known = annotator, all_known
    if against:
        if to_evaluate or figure or features or all_known or all_items or until or kind != "asked":
            raise InputError(_ONLY_MACHINE)
        table, labels, then = _on_machine(against, given, n, only_yes=only_yes)
    elif to_evaluate is not None or figure is not None:
        n = n or _USUAL
        if kind != "asked" or annotator is not None or until:
            raise InputError(_ONLY_FEATURES)
        table, labels, then = _to_evaluate(to_evaluate, given, n, figure or "f1")
    else:
        table, labels, then = _at_random(
            given, until, known, None if all_items else n or _USUAL, kind
        )
    if annotator is not None:
        table["annotator"] = [annotator] * len(table["item"])
    seen, table = _with_things_shown(show, table, columns, names_only=names_only)
    written: list[Path] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, out.name) if dry_run else out
        how: Any = {"tool": tool, "shown": seen, "label_names": labels, "written": written}
        asked = write_questions(table, path, **how, **batch)
        if dry_run:
            _say_size(written, math.ceil(asked / items_per_request))
            return
    paths = ", ".join(map(str, written or [out]))
    say(f"wrote {paths}: {'1 question' if asked == 1 else f'{asked:,} questions'} in random order")
    n_known = len(set(table["answer_id"])) if "answer_id" in table else len(table["item"])
    n_known -= asked
    if n_known:
        counted = "1 known answer" if n_known == 1 else f"{n_known:,} known answers"
        say(f"  and {counted} of the random sample: leave them in, they also count")
    stem = out.name.removesuffix(".gz").rpartition(".")[0]
    answered = unused(out.with_name(f"answered-{stem}.csv"))
    last = then(answered)
    fields = {field for each in (seen or {}).values() for field in each}
    for line in _way_back(tool, kind.partition("-")[0], fields, out, answered):
        say(line)
    if tool in SERVICES:  # what a model says is checked by people
        of: Any = {"items": items, "show": None if show == items else show, **columns}
        last = f"  {command('ask', against=answered, **of, number=200, out='check.csv')}"
    say(last)


@dataclass(frozen=True)
class _Given:
    """What all kinds of questions need: answers so far, and files that list items and labels."""

    files: list[Path]
    features: Path | None
    items: Path | None
    label_names: Path | None
    question: str | None
    contradictions: str
    seed: int
    trusted: list[str] | None

    def known_items(self) -> list[str] | None:
        """Return all items; None: those that the answers mention."""
        from complabel.files import read_item_names

        if self.features is not None:
            return list(own.read_own_features(self.features, self.items).items)
        return None if self.items is None else read_item_names(self.items)

    def answers(self, items: list[str] | None, label_names: Path | Sequence[str] | None) -> Answers:
        """Return all answers so far; there may be none."""
        from complabel.answers import Answers
        from complabel.files import read_label_names

        asked_of = (self.question, self.contradictions, self.trusted)
        if self.files:
            return own.read_own_answers(self.files, items, label_names, *asked_of)
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

    def then(self, name: str, *words: object, out: str | None = None, **more: object) -> str:
        """Return a command that reads the answers, too."""
        of: Any = {"question": self.question, "contradictions": self.contradictions}
        of["trusted"] = self.trusted
        return f"  {command(name, *words, **more, label_names=self.label_names, **of, out=out)}"

    def fit(self, answered: Path) -> str:
        """Say how to learn from the answers."""
        words, out = (*self.files, answered), "model.safetensors"
        if self.features is None:
            fit = self.then("fit", *words, features="X.csv", out=out)
            return f"and, with features of these items in X.csv,\n{fit}"
        return self.then("fit", *words, features=self.features, items=self.items, out=out)


_Questions = tuple[Any, Sequence[str] | None, Callable[[Path], str]]


def _at_random(
    given: _Given,
    until: list[str] | None,
    known_to: tuple[str | None, bool],
    n: int | None,
    kind: str,
) -> tuple[Any, Sequence[str] | None, Callable[[Path], str]]:
    """Draw n questions about labels that are not known; None: about all items.

    With goals, there are no more questions than these need; the command ends if all are reached.
    """
    from complabel.asking import suggest_questions

    answers = given.answers(given.known_items(), given.label_names)
    known = _said_by(answers, known_to[0], all_known=known_to[1])
    if n is None:
        told = int((known.complementary ^ known.known_relevant).sum())
        n = known.n_items if kind != "asked" else known.n_items * known.n_labels - told
    if until:
        n = min(n, _left(until, answers, kind))
        if not n:
            say("each goal is reached: nothing more has to be asked, and nothing was written")
            raise SystemExit(0)
    table = suggest_questions(known, n, kind=kind, random_state=given.seed)
    return table, known.label_names, given.fit


def _left(texts: Sequence[str], answers: Answers, kind: str) -> int:
    """Say how far goals are, and return how many more questions are enough with a chance of .9."""
    from complabel._questions import QuestionKind
    from complabel.trust import FREQUENCIES, Goal, how_far, questions_left

    left, goals = 0.0, [Goal.parse(text) for text in texts]
    for goal in goals:
        if goal.figure != FREQUENCIES:
            raise InputError(
                f"--until {goal}: ask knows only frequencies, such as frequencies +-.03; for others"
                " use complabel annotate, or complabel.trust.how_far in Python"
            )
    goals[0].refuse_question(QuestionKind.parse(kind, answers.n_labels))
    for standing in how_far(answers, goals):
        say(f"{'reached' if standing.is_reached else 'not reached'}: {standing.goal}")
        say(f"  {standing.sentence()}")
        size = QuestionKind.parse(kind, answers.n_labels).n_offered(answers.n_labels)
        low, _, high = questions_left(standing, size)
        if not standing.is_reached:
            say(f"  it takes {low:,.0f} to {high:,.0f} more questions in 8 of 10 cases")
        left = max(left, high)
    return int(left)


def _on_machine(
    paths: Sequence[Path], given: _Given, n: int | None, *, only_yes: bool
) -> _Questions:
    """Draw questions by what machines say: a number of them, or the first or the next round."""
    from complabel.asking import suggest_questions

    asked_of = (given.question, given.contradictions)
    machine, machines = own.read_machines(
        paths, given.known_items(), given.label_names, *asked_of, only_yes=only_yes
    )
    first, said = paths[0], own.said_by_any(machines)
    people = own.read_people(given.files, first, machine, said, *asked_of, given.trusted)
    files = given.files
    unsure = own.unsure_about(files, people, given.question)[:2] if files else None
    size = n or min(_LATER if files else _FIRST, people.n_items * people.n_labels)
    against = [*machines.values()]
    table = suggest_questions(people, size, against=against, unsure=unsure, random_state=given.seed)
    of: Any = {"items": given.items, "only_yes": only_yes}

    def then(answered: Path) -> str:
        html, words = unused(Path("audit.html")), (first, *files, answered)
        audit = given.then("audit", *words, other=[*paths[1:]], **of, html=html)
        if n or files:
            return audit
        more = given.then("ask", answered, against=[*paths], **of, out="more.csv")
        return (
            f"this is the first round: the next one, of {_LATER}, goes where answers tell most\n"
            f"{more}\nwhat is known so far:\n{audit}"
        )

    return table, people.label_names, then


def _to_evaluate(path: Path | None, given: _Given, n: int, figure: str) -> _Questions:
    """Draw questions about a model."""
    if path is None:
        raise InputError("--figure is given without --to-evaluate; also give the model")
    features, items = given.features, given.items
    if features is None or given.label_names is not None:
        raise InputError(_ONLY_FEATURES)
    model = own.open_model(path)
    feature_table = own.read_own_features(features, items, model=model)
    answers = given.answers(list(feature_table.items), model.label_names)

    def evaluate(answered: Path) -> str:
        """Return the command that evaluates a model; say which items it is about."""
        about: list[Path | None] = [features, items]
        if answers.answered.any():  # the figures are those of the items that could be drawn
            about = [each and each.with_name(f"unanswered-{each.name}") for each in about]
            say(
                f"to evaluate, make {' and '.join(str(each) for each in about if each)} first:"
                " without the items that have an answer, which could not be drawn"
            )
        return f"  {command('evaluate', path, about[0], items=about[1], answers=answered)}"

    table = _on_model(model, feature_table, answers, n, figure, given.seed)
    return table, answers.label_names, evaluate


def _of_batch(
    tool: str, settings: dict[str, Any], show: Path | None, dry_run: bool
) -> dict[str, Any]:
    """Return what only batches need, or refuse it."""
    if tool in SERVICES:
        return {**settings, "folder": Path() if show is None else show.parent}
    if dry_run or settings != {"model": None, "items_per_request": 1, "logprobs": False}:
        raise InputError(
            "--dry-run, --model, --items-per-request and --logprobs are about batches, such as"
            f" --for {next(iter(SERVICES))}"
        )
    return {}


def _say_size(written: list[Path], n_requests: int) -> None:
    """Say how large a batch is."""
    n_bytes = sum(path.stat().st_size for path in written)
    n_characters = sum(len(path.read_text(encoding="utf-8")) for path in written)
    say(
        f"{n_requests:,} requests, {n_characters:,} characters, {n_bytes:,} bytes in"
        f" {'1 file' if len(written) == 1 else f'{len(written):,} files'}; nothing was written"
    )


def _with_what_is_shown(
    show: Path | None,
    tool: str,
    columns: dict[str, str],
    *,
    names_only: bool,
    items: Path | None = None,
) -> Path | None:
    """Return the table with what people see; None if the questions show nothing."""
    from complabel.files import has_shown

    if names_only and (show or columns):
        raise InputError("--names-only is given with what people see; leave one of them out")
    table = items if show is None and not names_only else show
    if table is not None and (show or columns or has_shown(table)):
        return table
    if columns:
        raise InputError(
            f"--{next(iter(columns))} names a column of --show or --items; give one of these tables"
        )
    if tool != "spreadsheet":
        raise InputError(
            f"--for {tool} needs what {'people see' if tool in _OF_PEOPLE else 'the model sees'} of"
            " each item: give a table with the columns item and text, image or url as --show"
        )
    return None


def _with_things_shown(
    show: Path | None, table: Any, columns: dict[str, str], *, names_only: bool
) -> tuple[dict[str, dict[str, str]] | None, Any]:
    """Return what people see, and the questions about items of which they see something."""
    from complabel.files import read_shown

    if show is None:
        if not names_only:
            say("people see nothing but the names of items; --show FILE has what else they see")
        return None, table
    seen = read_shown(show, items=table["item"], columns=columns)
    is_blank = table["item"].map(lambda item: not seen[str(item)])
    if is_blank.any():
        blank = list(dict.fromkeys(map(str, table["item"][is_blank])))
        remark(
            f"{show}: nothing is filled in for {len(blank):,} items, such as {blank[0]!r};"
            " questions about them are left out, since nobody can answer them",
            style="yellow",
        )
    return seen, table[~is_blank]


def _way_back(tool: str, kind: str, fields: set[str], out: Path, answered: Path) -> Iterator[str]:
    """Say how the questions come back as answers; ``fields`` have what is shown."""
    export = {"label-studio": "export.json", "prodigy": "export.jsonl", "mturk": "batch.csv"}
    file: Path | str = export.get(tool, out)
    if tool == "spreadsheet":
        yield "next: fill in what the column to_do says, then"
    elif tool == "label-studio":
        field = next((each for each in ("text", "image", "url") if each in fields), None)
        form = {"question": BY_STEM[kind].question, "show": field}
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


def _on_model(
    model: own.SavedModel, table: Features, answer_set: Answers, n: int, figure: str, seed: int
) -> Any:
    """Draw questions whose answers tell most about a model; say about which items."""
    from complabel.trust import suggest_evaluation_questions

    with working(f"predicting {answer_set.n_items:,} items"):
        classifier = model.classifier
        probabilities = classifier.predict_proba(model.columns_of(table))
    n_answered = int(answer_set.answered.sum())
    explain(
        f"{answer_set.n_items - n_answered:,} items without an answer may be drawn;"
        f" {n_answered:,} with an answer are left out, since the model may have learned from them"
    )
    return suggest_evaluation_questions(
        answer_set,
        probabilities,
        n,
        figure=figure.replace("-", "_"),
        threshold=getattr(classifier, "thresholds_", math.nextafter(classifier.cut, 1)),
        random_state=seed,
    )


def _said_by(answer_set: Answers, annotator: str | None, *, all_known: bool) -> Answers:
    """Return what the person who will answer said; nothing, if it is not said who that is."""
    if all_known and annotator is not None:
        raise InputError("--annotator is given with --all-known; leave one of them out")
    if all_known:
        return answer_set
    if annotator is None:
        if answer_set.n_answers:
            explain(
                f"{answer_set.n_answers:,} earlier answers do not count as those of the person who"
                " is asked: give --annotator NAME if some do, or --all-known if all are right"
            )
        return answer_set.only(answer_set.annotator < -1)  # none
    if answer_set.n_answers and annotator not in answer_set.annotator_names:
        names = ", ".join(map(repr, answer_set.annotator_names[:_MOST_NAMES])) or "nobody"
        raise InputError(
            f"--annotator {annotator}: the answers are by {names}; give one of these names, or"
            " leave the option out if this person did not answer before"
        )
    code = [*answer_set.annotator_names, annotator].index(annotator)
    return answer_set.only(answer_set.annotator == code)


def _is_blank(path: Path) -> bool:
    """Return whether a text file of answers is empty, or has nothing but a header."""
    if path.suffix not in (".csv", ".tsv") or not path.is_file() or path.stat().st_size > _HEADER:
        return False
    first, *others = path.read_text("utf-8-sig", errors="replace").strip().splitlines() or [""]
    return not others and (not first or {"item", "label"} <= {*re.findall(r"\w+", first)})


@options.with_examples(
    "labelstudio-config labels.txt --out config.xml",
    "labelstudio-config --question asked --show text",
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
        "named|ticked|both|asked",
        "What to ask. named: one label that does not apply; without LABELS, one of the task's"
        " menu. ticked: all labels that apply; without LABELS, those of the task. both: one label"
        " that does not apply, and some that do. asked: whether the label in the task applies.",
        default="named",
    ),
    show: str = option("image|text|url|audio", "Kind of the items.", default="image"),
    field: str | None = option("FIELD", "Field of a task with the item. [default: as --show]"),
    out: Path | None = target("Write to this file. [default: print to the terminal]"),
) -> None:
    """Write a Label Studio configuration that asks which labels apply, or do not."""
    from complabel.files import read_label_names
    from complabel.importers import label_studio_config

    names = () if labels is None else read_label_names(labels)
    text = label_studio_config(names, question=question, show=show, field=field)
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
