"""`complabel annotate` and `serve`: ask people in the browser; answer programs with predictions."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
import warnings
import webbrowser
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from complabel._questions import kinds_in_words
from complabel.cli import _options as options
from complabel.cli._console import command, doubt, remark, say, working
from complabel.cli._inputs import read_own_features
from complabel.cli._options import argument, flag, option
from complabel.cli._outputs import Output, has_written
from complabel.errors import ComplabelError, InputError

if TYPE_CHECKING:
    from complabel.live import Annotation, Learner, ModelFile, Things, Until
    from complabel.methods import SavedModel

_TOKEN = "COMPLABEL_TOKEN"
_SEEN = (
    " At least 8 characters. Programs such as ps show what is typed here to all users of the"
    f" machine, but not the variable {_TOKEN}."
)


def _is_of_sitting(model: Path, values: Mapping[str, Any]) -> bool:
    from complabel.live import has_learned

    return has_learned(model, Path(values["out"]))


@dataclass(kw_only=True)
class ThingsShown:
    """What is shown of each item, and what has another name since the last start."""

    text: str | None = option("COLUMN", "Of a table: the column with the text to show.")
    image: str | None = option(
        "COLUMN",
        "Of a table: the column with the picture to show: an address in the web, or a path in the"
        " folder of the table.",
    )
    url: str | None = option(
        "COLUMN", "Of a table: the column with the address of a page, which is shown as a link."
    )
    item: str | None = option(
        "COLUMN",
        "Of a table: the column with the name of each item. [default: item, else row numbers"
        " from 0]",
    )
    mend: bool = flag(
        "If FILE.sqlite is damaged, keep the answers in it that are whole, and go on. The damaged"
        " file is kept under another name.",
        "--mend",
    )
    merge: list[str] | None = option(
        "OLD=NEW",
        "Merge the label OLD, which --label-names does not have any more, into NEW. What follows"
        " from the answers of before goes on, and all that is known of other labels. Repeat for"
        " more.",
    )
    rename: list[str] | None = option(
        "OLD=NEW", "The label OLD is called NEW now, also in --label-names. Repeat for more."
    )
    rename_item: list[str] | None = option(
        "OLD=NEW",
        "The item OLD is called NEW now, such as a picture whose file was renamed. Repeat for"
        " more.",
    )

    @property
    def renamed(self) -> dict[str, dict[str, str]]:
        """The new names of items and labels, as a sitting takes them."""
        return {
            "merge": options.pairs_of("--merge", self.merge),
            "rename": options.pairs_of("--rename", self.rename),
            "rename_items": options.pairs_of("--rename-item", self.rename_item),
        }

    def read(self, path: Path, out: Path) -> Things:
        """Read the things to ask about, as the answers of before call them; say what is odd."""
        from complabel.files import about_row_numbers
        from complabel.live import as_before, read_things
        from complabel.trust import some

        columns = {"text": self.text, "image": self.image, "url": self.url}
        renamed = self.renamed["rename_items"]
        with working(f"reading {path}"):
            things = read_things(path, item=self.item, **columns)
            things = as_before(things, out, rename_items=renamed, mend=self.mend)
        doubt(about_row_numbers(path, self.item, *columns.values()))
        for problem in things.problems():
            doubt(problem)
        if hosts := things.hosts:  # the things may come from strangers
            remark(f"the browser loads pictures from {some(hosts)}, as the table says")
        return things


@dataclass(kw_only=True)
class Goals:
    """What is to be known when the sitting ends."""

    until: list[str] | None = option(
        "GOAL",
        "Ask until this is known, and say how far it is: frequencies +-.03 (of each label);"
        " precision, recall, f1 or average-precision +-.05 (over all labels; f1 +-.05 by label: of"
        " each label); model: until more answers are not worth their time. Repeat it for more.",
    )
    against: Path | None = option(
        "FILE",
        "With --until: predictions of a model, or a machine's answers, that precision, recall, F1"
        " and average precision are about; yes/no questions are then those that tell most about"
        " them. They save answers about frequencies. [default: the model that learns from"
        " --features]",
    )
    only_yes: bool = options.ONLY_YES
    missed: float = options.share(
        "With --until: share of the labels that apply about which people say no."
    )
    invented: float = options.share(
        "With --until: share of the labels that do not apply about which people say yes."
    )

    def usual_question(self, out: Path, n_labels: int) -> str:
        """Return what is asked by default; say where a sitting goes on as it would not begin."""
        from complabel.live import usual_question
        from complabel.trust import Goal

        aims = self.against is not None or any(
            Goal.parse(each).by_label for each in self.until or ()
        )
        question, is_other = usual_question(out, n_labels, aims=aims)
        if is_other:
            message = f"{out} began with --question {question}, and goes on with it"
            say(f"{message}; to ask otherwise, give another --out")
        return question

    def follow(
        self, question: str | None, things: Things, labels: Sequence[str], *, learns: bool
    ) -> Until | None:
        """Return what follows the goals; ``question`` is None if a file lists the questions."""
        from complabel.frequencies import read_machines
        from complabel.live import Until

        rates = {"missed": self.missed, "invented": self.invented}
        if not self.until:
            if self.against or any(rates.values()):
                raise InputError(
                    "--against, --missed and --invented are about a goal; also give --until. To"
                    " check a machine, draw questions with complabel ask --against, and give them"
                    " as --questions"
                )
            return None
        has_predictions = self.against is not None
        until = Until.of(
            self.until,
            len(labels),
            question,
            learns=learns,
            has_predictions=has_predictions,
            **rates,
        )
        if self.against is not None:
            with working(f"reading {self.against}"):
                names: Any = {"items": [*things.names], "label_names": labels}
                machine = read_machines(self.against, only_yes=self.only_yes, **names)
            say("\n".join(machine.lines()))
            until.predict(machine.said_by_any, self.against)
        return until


@dataclass(kw_only=True)
class Page:
    """Where the page is, and who is let in."""

    host: str = option(
        "HOST",
        "Listen at this address. Others than 127.0.0.1 let other machines in.",
        default="127.0.0.1",
    )
    port: int | None = option(
        "N",
        "Listen at this port. [default: one that is the same at each start, if it is free]",
        min=0,
        max=65535,
    )
    token: str | None = option(
        "TOKEN",
        "What the address must have to be let in; new: another secret, kept with the answers, in"
        f" place of the one before.{_SEEN} [default: a secret, kept with the answers]",
        envvar=_TOKEN,
    )
    no_browser: bool = flag("Do not open the page in a browser.", "--no-browser")

    def serve(self, annotation: Annotation) -> None:
        """Let people answer until the program ends."""
        from complabel.live import MOST_BYTES, guarded, is_loopback, new_token

        if not is_loopback(self.host):
            remark(
                f"other machines can open this at {self.host}: whoever has the address can answer,"
                " and read all items and answers. It is not encrypted",
                style="yellow",
            )
        ticket = new_token()  # programs such as ps show the address that a browser is started with
        settings: dict[str, Any] = {"most_bytes": MOST_BYTES, "ticket": ticket}
        app = guarded(annotation.app(), token=annotation.token, **settings)

        def started(address: str) -> None:
            page = f"{address}/?token={ticket}"
            say(f"open {address}/?token={quote(annotation.token, safe='')}")
            say("Ctrl-C ends it; all answers are kept")
            if not self.no_browser:
                threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()
            annotation.start()
            threading.Thread(target=_tell, args=(annotation, tell), daemon=True).start()

        # A port that is the same at each start, so that open pages find the server again.
        usual = 20_000 + zlib.crc32(os.fsencode(annotation.out.absolute())) % 10_000
        with working("asking") as tell:
            _run(app, self.host, [usual, 0] if self.port is None else [self.port], started)


@options.with_examples(
    "annotate photos/ --label-names labels.txt",
    "annotate tickets.csv --text body --label-names labels.txt --out answers.csv",
    "annotate tickets.csv --text body --label-names labels.txt --question asked --features X.npz",
    'annotate photos/ --label-names labels.txt --until "frequencies +-.03"',
    'annotate photos/ --label-names labels.txt --against predictions.csv --until "f1 +-.05"',
)
def annotate(
    things: Path = argument(
        "THINGS",
        "What to ask about: a folder of pictures, or a table (.csv, .tsv or .parquet) with a row"
        " for each item.",
    ),
    *,
    label_names: Path = option("FILE", "All labels, one on each line.", default=...),
    shown: ThingsShown,
    question: str | None = option(
        "QUESTION",
        f"What to ask. {kinds_in_words()} mixed: asked and ticked take turns, then the one that"
        " tells more in the time that people take. [default: as the answers in --out began; else"
        " mixed, or asked if there is one label, or if goals of --until aim the questions]",
    ),
    questions: Path | None = option(
        "FILE", "Ask what this table lists, which complabel ask wrote, in its order."
    ),
    features: Path | None = option(
        "FILE",
        "Features of the items, as for complabel fit. A model learns from the answers meanwhile,"
        " and the page shows how good it is.",
    ),
    model_out: Path | None = option(
        "FILE",
        "Write the model so far to this file at the end; it needs --features. It may replace the"
        " model of an earlier start.",
        output=Output((".safetensors",), is_own=_is_of_sitting),
    ),
    goals: Goals,
    overlap: float = options.share(
        "Share of the questions that a second person is asked, too, to find mistakes."
    ),
    out: Path = option(
        "FILE",
        "Write the table of answers to this file. The answers are in FILE.sqlite at once; the"
        " same command goes on where it ended.",
        default=Path("answers.csv"),
        output=Output(options.TABLE, source=".sqlite"),
    ),
    page: Page,
    trusted: list[str] | None = options.TRUSTED,
    seed: int = option("N", "Seed of the random questions.", default=0, min=0),
) -> None:
    """Ask people about pictures or texts in the browser, and keep their answers.

    It prints an address. Whoever opens it gives a name and answers; no two people get the same
    question, unless you ask for it with --overlap. Ctrl-C ends it.
    """
    from complabel.files import read_label_names
    from complabel.live import Annotation

    for name, value in (("--model-out", model_out), ("--trusted", trusted)):
        if value and features is None:
            raise InputError(f"{name} is given without --features; also give what to learn from")
    _check_token(page.token)
    if questions is not None and question is not None:
        raise InputError("--question and --questions are both given; leave one of them out")
    labels, all_things = read_label_names(label_names), shown.read(things, out)
    if questions is None and question is None:
        question = goals.usual_question(out, len(labels))
    until = goals.follow(question, all_things, labels, learns=features is not None)
    learner = None if features is None else _learner(features, all_things, seed, trusted or ())
    has_written(out)  # from now on it is written again and again
    settings: Any = {"overlap": overlap, "seed": seed, "learner": learner, "until": until}
    settings |= {"question": question or "asked", "questions": questions, **shown.renamed}
    annotation = Annotation.open(all_things, labels, out=out, token=page.token, **settings)
    _say_beginning(annotation)
    try:
        page.serve(annotation)
    finally:
        with contextlib.closing(annotation.store):
            annotation.end()
    _say_end(annotation, label_names, features)
    if model_out is not None and learner is not None and annotation.asker.answered:
        _save_model(learner, annotation, model_out)


def _say_beginning(annotation: Annotation) -> None:
    from complabel.files import some_of

    n_items = len(annotation.things) - len(annotation.things.gone)
    n_answers = annotation.asker.answered
    say(f"{n_items:,} items, {len(annotation.labels):,} labels, {n_answers:,} answers so far")
    for obstacle in () if annotation.until is None else annotation.until.obstacles.values():
        remark(obstacle, style="yellow")
    if new := annotation.store.added:
        remark(f"new labels: {some_of(new)}; what was asked before says nothing about them")


def _save_model(learner: Learner, annotation: Annotation, path: Path) -> None:
    """Write a model of all answers; if there is none, say why."""
    try:
        with working("learning from all answers"):
            learner.update(annotation.news)
            learner.save(path, sitting=annotation.store.mark)
    except ComplabelError as error:
        remark(f"no model was written: {error}", style="yellow")
    else:
        say(f"wrote {path}")


def _check_token(token: str | None) -> None:
    if token is None or token == "new" or (re.fullmatch(r"[!-~]{8,}", token)):
        return
    raise InputError(
        f"--token (or the variable {_TOKEN}) must have at least 8 letters, digits or signs, without"
        " blanks; give a longer one, or --token new, which makes one"
    )


def _run(app: Any, host: str, ports: list[int], started: Callable[[str], None]) -> None:
    from complabel.live import run

    for port in ports[:-1]:
        with contextlib.suppress(InputError):
            return run(app, host=host, port=port, started=started)
    return run(app, host=host, port=ports[-1], started=started)


def _learner(path: Path, things: Things, seed: int, trusted: Sequence[str]) -> Learner:
    import numpy as np

    from complabel.features import advice
    from complabel.live import Learner

    table = read_own_features(path)
    numbers = np.array([things.numbers.get(name, -1) for name in table.items])
    n_known = int((numbers >= 0).sum())
    if not n_known:
        raise InputError(
            f"{path} has features of none of the {len(things):,} items; use the same names in both,"
            f" such as {things.names[0]!r}"
        )
    if n_known < len(things):
        remark(f"{n_known:,} of {len(things):,} items have features; the model learns from these")
    if hint := advice(table.X, np.zeros(len(table.items), dtype=bool), table.recipe):
        remark(f"hint: {hint}")
    notes = {"features": str(path), **table.notes()}
    rows = numbers >= 0
    return Learner(table.X[rows], numbers[rows], seed=seed, notes=notes, trusted=trusted)


def _tell(annotation: Annotation, tell: Any) -> None:
    while not annotation.ended.wait(1.0):
        people = len(annotation.asker.by_person())
        answered = annotation.asker.answered
        learns = annotation.learner.now() if annotation.learner is not None else None
        who = f"{people:,} {'person' if people == 1 else 'people'}"
        until = annotation.until
        over = "the goal is reached: Ctrl-C ends it" if until and until.is_reached else None
        tell("; ".join(filter(None, (f"{answered:,} answers by {who}", over, learns))))


def _say_end(annotation: Annotation, labels: Path, features: Path | None) -> None:
    by_person = annotation.asker.by_person()
    if not by_person:
        say("nobody has answered yet; the same command goes on")
        return
    each = ", ".join(f"{name} {count:,}" for name, count in by_person.items())
    say(f"wrote {annotation.out}: {annotation.asker.answered:,} answers ({each})")
    if annotation.until is not None:
        annotation.until.look(annotation.news, annotation.asker.answered, last=True)
        known = {standing.goal: standing for standing in annotation.until.standings}
        for goal in annotation.until.goals:
            reached = goal in known and known[goal].is_reached
            say(f"{'reached' if reached else 'not reached'}: {goal}")
            say(f"  {known[goal].sentence() if goal in known else 'Nothing is known of it yet.'}")
            if goal in known and (obstacle := known[goal].obstacle()):
                say(f"  {obstacle}")
    say("next: the same command goes on asking; to see what the answers tell, and to learn:")
    say(f"  {command('inspect', annotation.out, label_names=labels)}")
    fit = {"features": features or "X.npz", "label_names": labels, "out": "model.safetensors"}
    say(f"  {command('fit', annotation.out, **fit)}")


_MIB = 2**20


@options.with_examples(
    "serve model.safetensors",
    "serve model.safetensors --features X.npz --port 9090",
    "serve model.safetensors --host 0.0.0.0 --token new",
)
def serve(
    model: Path = options.MODEL,
    *,
    features: Path | None = option(
        "FILE",
        "Features of items: .csv, .parquet, .npy, .npz or .svm. Programs can then ask by the names"
        " of items, as Label Studio does.",
    ),
    items: Path | None = options.ITEMS,
    host: str = option(
        "HOST",
        "Where to listen. Other machines reach the server at 0.0.0.0; then also give --token.",
        default="127.0.0.1",
    ),
    port: int = option("N", "Port; 0: any that is free.", default=9090, min=0, max=65_535),
    token: str | None = option(
        "TOKEN",
        f"Answer only to those who know this secret; new: make one, and print it.{_SEEN}",
        envvar=_TOKEN,
    ),
    open_: bool = flag("Let everybody in who reaches the server, without a token.", "--open"),
    most_rows: int = option("N", "Most rows, or tasks, of a request.", default=10_000, min=1),
    most_megabytes: int = option("N", "Most megabytes of a request.", default=32, min=1),
) -> None:
    """Answer programs, and Label Studio, with the predictions of a model.

    The server has POST /predict, GET /labels, GET /health and GET /openapi.json, and is a backend
    for Label Studio. If the model's file is replaced, it loads the new one. Ctrl-C or SIGTERM ends
    it, after it has answered what it took.
    """
    import numpy as np

    from complabel.live import ModelFile, guarded, is_loopback, new_token, predicting, run

    _check_token(token)
    if token is None and not open_ and not is_loopback(host):
        raise InputError(
            f"at --host {host} everybody who reaches this machine could ask the model; give --token"
            " new, which makes a secret, or --open to let everybody in"
        )
    if token is not None and open_:
        raise InputError("--token and --open are both given; leave one of them out")

    def known_items(saved: SavedModel) -> tuple[Any, Any]:
        assert features is not None
        table = read_own_features(features, items, model=saved)
        X = saved.columns_of(table)
        # A .npy file may be written anew in its place, which ends programs that still read it.
        return table.items, X if hasattr(X, "tocsr") else np.array(X)

    read = [path for path in (features, items) if path is not None]
    file = ModelFile(model, items=None if features is None else known_items, also=read)
    secret = new_token() if token == "new" else token
    app = predicting(file, most_rows=most_rows, has_token=secret is not None)

    if not is_loopback(host):
        remark("what is sent is not encrypted; put a proxy with https before it", style="yellow")
    # The thread that reads requests waits less for those that predict: the slowest answers come
    # twice as soon.
    sys.setswitchinterval(5e-4)
    warnings.filterwarnings("ignore", module="PIL")  # about odd but readable pictures
    run(
        guarded(app, token=secret, most_bytes=most_megabytes * _MIB, any_host=secret is not None),
        host=host,
        port=port,
        started=lambda at: _say_serving(file, at, features, secret, is_new=token == "new"),
    )


def _say_serving(
    file: ModelFile, address: str, features: Path | None, token: str | None, *, is_new: bool
) -> None:
    """Say what answers, and how to ask it; a new token is told."""
    now = file.now
    n_labels, d = len(now.label_names), now.classifier.n_features_in_
    say(f"{now.version} answers at {address}: {d:,} features, {n_labels} labels")
    if features is not None:
        say(f"  {len(now.row_of):,} items of {features} are known by name")
    if now.encoder is not None:
        say(f"  it makes features of {now.encoder.recipe}")
    elif now.no_encoder != type(now).no_encoder:
        remark(f"  it makes no features: {now.no_encoder}", style="yellow")
    if is_new:
        say(f"  token: {token}")
    header = f" -H 'X-Token: {token}'" if token else ""
    say(f"next: curl {address}/labels{header}")
    say("  in Label Studio: Settings > Model > Connect Model, with the address")
