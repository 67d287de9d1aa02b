"""`complabel annotate`: the routes through which people are asked, and answer."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import json
import logging
import statistics
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from complabel._questions import QuestionKind
from complabel.answers import COLUMNS, Answers
from complabel.errors import ComplabelError, InputError, OutputError, StoreError
from complabel.files import PICTURES
from complabel.live._asker import LONGEST, Asker, Event, News, RefusedError, StaleError
from complabel.live._drawing import ListedQuestions, Mixed, RandomQuestions, Source, read_questions
from complabel.live._history import History
from complabel.live._mending import mend_store, open_store
from complabel.live._server import app_of, error_reply
from complabel.live._store import AnswerStore, history_of
from complabel.live._tables import AnswerTable, write_table
from complabel.live._things import Things
from complabel.live._until import Until, aimed_questions, shares_of
from complabel.methods import read_header
from complabel.trust import FREQUENCIES

if TYPE_CHECKING:
    from complabel.live._learner import Learner

MOST_BYTES = 1 << 20  # of a request: an answer that ticks thousands of labels
_FORMULA = ("=", "+", "-", "@")  # what spreadsheets run begins so
_NAME = 60  # most characters of a person's name
_LEARN_AFTER = 50  # answers
_LEARN_SECONDS = 60.0  # or these, if there is any new answer
_SAVE_SECONDS = 30.0  # the table is written this often while people answer
_PAGE = {"page.css": "text/css", "page.js": "text/javascript", "drawing.js": "text/javascript"}

_logger = logging.getLogger(__name__)


@dataclass
class Annotation:
    """Asks people about things, and keeps their answers.

    ``asker`` has everything that is in the store. ``out`` is the table of answers, which is written
    now and then; people and programs are let in by ``token``.
    """

    things: Things
    labels: Sequence[str]
    asker: Asker
    store: AnswerStore
    out: Path
    learner: Learner | None = None
    token: str = ""
    mixed: Mixed | None = None
    until: Until | None = None
    merged: dict[str, list[Any]] = field(default_factory=dict)  # what follows from old answers
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _converting: asyncio.Lock = field(default_factory=asyncio.Lock)
    ended: threading.Event = field(default_factory=threading.Event)
    _saved: int = 0  # the last event in the table that was written
    _n_taken: int = 0  # events that were stored, or that are being stored
    _n_stored: int = 0
    _saving: threading.Lock = field(default_factory=threading.Lock)
    _file: AnswerTable = field(init=False)

    def __post_init__(self) -> None:
        self._file = AnswerTable(self.out)

    @classmethod
    def open(
        cls,
        things: Things,
        labels: Sequence[str],
        *,
        out: Path,
        question: str = "asked",
        questions: Path | None = None,
        overlap: float = 0.0,
        seed: int = 0,
        learner: Learner | None = None,
        token: str | None = None,
        mend: bool = False,
        merge: Mapping[str, str] | None = None,
        rename: Mapping[str, str] | None = None,
        rename_items: Mapping[str, str] | None = None,
        until: Until | None = None,
    ) -> Annotation:
        """Open the file of answers beside ``out``, and go on with what is in it.

        Questions are asked ``until`` goals are reached, and aimed at them as far as that is
        possible. The token is that of the file, unless one is given; ``new`` draws another one.
        With ``mend``, a damaged file is moved aside, and what is whole in it goes on. ``merge`` and
        ``rename`` have the new name of each label of the file that is merged or renamed, and
        ``rename_items`` that of each item.
        """
        things = as_before(things, out, rename_items=rename_items, mend=mend)
        numbers, history = dict(things.numbers), _history_before(out)
        for first, name in () if history is None else history.called.items():
            numbers[first] = numbers[(rename_items or {}).get(name, name)]  # as a file may list it
        drawing = (overlap, seed, things.broken)
        make = functools.partial(_source_of, things, numbers, question, questions, until, drawing)
        source, mixed, question = make(labels)
        if merge or rename:
            _refuse_listed(source)
        about: dict[str, Any] = {
            "labels": list(labels),
            "question": question,
            "seed": seed,
            "merged": merge,
            "renamed": rename,
            "renamed_items": rename_items,
            "items": [name for name in things.names if name not in {*things.gone}],
        }
        if isinstance(source, RandomQuestions) and source.is_weighted:
            about["weighted"] = True
        store = open_store(_store_of(out), about)
        try:
            # Labels are in the order of the file of answers: new ones are the last.
            if until is not None:
                until.agree(labels, store.labels)
                until.omit(things.broken, len(things))
                until.foresee(len(things), store.labels)
            if store.labels != [*labels]:
                source, mixed, _ = make(store.labels)
            _go_on(source, store.history, until)
            asker = Asker(source, store.labels, time.time, store.history.now.labels)
            if mixed is not None:
                mixed.times = asker.latest_seconds
            asker.restore(store.load(things.numbers), things.broken)
            merged = store.tables()[1] if store.history.parts else {}
            here = [at for at, item in enumerate(merged.get("item", ())) if item not in things.gone]
            merged = {name: [values[at] for at in here] for name, values in merged.items()}
            if token == "new":
                store.renew_token()
                token = None
        except BaseException:
            store.close()
            raise
        if learner is not None and until is not None:
            until.learn_from(learner)
        token = token or store.token
        annotation = cls(things, labels, asker, store, out, learner, token, mixed, until)
        annotation.merged = merged
        return annotation

    def app(self) -> Starlette:
        routes = [
            Route("/", self._page),
            *(Route(f"/{name}", self._part) for name in _PAGE),
            Route("/favicon.ico", _no_icon),  # browsers ask for one by themselves
            Route("/picture/{name:path}", self._picture),
            Route("/api/next", self._next),
            Route("/api/answer", self._answer, methods=["POST"]),
            Route("/api/undo", self._undo, methods=["POST"]),
            Route("/api/progress", self._progress),
            Route("/answers.csv", self._table),
        ]
        return app_of(routes, {RefusedError: _refused, StoreError: _not_stored})

    def start(self) -> None:
        """Write the table and learn, now and then, until ``end`` is called.

        A sitting has a table from its start: without one, nobody could tell a file of answers that
        was lost from one that was never written.
        """
        threading.Thread(target=self._save_now_and_then, daemon=True).start()
        if self.learner is not None:
            threading.Thread(target=self._learn, daemon=True).start()
        if self.until is not None:
            threading.Thread(target=self._follow, daemon=True).start()

    def end(self) -> None:
        """Store what is left, and write the table of all answers."""
        self.ended.set()
        self.store.append(self.things.names, self.asker.new)
        self.asker.new.clear()
        try:
            self.save()
        except OutputError as error:
            raise OutputError(
                f"{error}. All {self.asker.answered:,} answers are safe in {self.store.path}; start"
                " the same command again when there is space, and end it: it writes the table"
            ) from error

    def save(self) -> None:
        """Write the table of all answers so far, if there are new ones.

        A table that somebody edited, or that has answers which the new one does not have, is kept
        under another name, unless they were taken back.
        """
        with self._saving:
            last = self.asker.last_id
            if last != self._saved or not self.out.exists():
                self._file.write(self.table(), self.store)
                self._saved = last

    def table(self) -> dict[str, list[Any]]:
        """Return all answers so far as a table, with those that a file of questions has."""
        columns = self.store.answers_table()
        source = self.asker.source
        if isinstance(source, RandomQuestions) and source.is_weighted:
            kinds = zip(columns["question"], columns["probability"], strict=True)
            asked = [at for at, (kind, p) in enumerate(kinds) if kind == "asked" and p is not None]
            answered = [at for at in asked if columns["answer"][at] != "unsure"]
            labels = [columns["label"][at] for at in answered]
            shares = dict(zip(labels, shares_of(np.array(labels, dtype=object)), strict=True))
            for at in asked:
                columns["probability"][at] = shares.get(columns["label"][at])
        elif isinstance(source, ListedQuestions) and source.chances_after and columns["item"]:
            n_asked = 1 + max((number for number, _ in list(self.asker.done)), default=0)
            chances = source.chances_after(n_asked, np.array(columns["probability"]))
            columns["probability"] = chances.tolist()
        known = self._known()
        return {name: [*values, *known[name]] for name, values in columns.items()}

    def news(self, mark: tuple[int, int, int] = (0, 0, 0)) -> News:
        """Return what the table says, without the file, of what came after a moment.

        Answers are about the things in their order; items and people contradict each other as they
        do in the table. If more or fewer rows of a file of questions count, all of them are news.
        """
        known, (start, n_before, n_answers) = self._before(), mark
        news, n_rows = self.asker.news(start, len(self.things)), len(known["item"])
        if n_rows == n_before:
            return replace(news, mark=(news.mark[0], n_before, n_answers))
        news = replace(news, gone=np.append(news.gone, -1 - np.arange(n_answers)))
        if not n_rows:
            return news
        before = Answers.from_table(
            known, items=self.things.names, label_names=self.asker.labels, contradictions="keep"
        )
        before = replace(before, item_names=None)  # the names would be sent
        mark, ids = (news.mark[0], n_rows, before.n_answers), -1 - np.arange(before.n_answers)
        return news.then(News(mark, news.gone[:0], before, ids, ids, before.seconds))

    def _before(self) -> dict[str, list[Any]]:
        """Return the answers that nobody can take back any more."""
        known = self._known()
        return {name: values + self.merged.get(name, []) for name, values in known.items()}

    def _known(self) -> dict[str, list[Any]]:
        """Return the answers that a file of questions has, as far as its questions were asked."""
        columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        source = self.asker.source
        if isinstance(source, ListedQuestions) and source.known:
            last = max((number for number, _ in list(self.asker.done)), default=-1)
            for before, row in source.known:
                if before <= last:
                    for name, values in columns.items():
                        value = row.get(name)
                        values.append(f"known {value}" if name == "answer_id" and value else value)
        return columns

    def _save_now_and_then(self) -> None:
        is_over = False
        while not is_over:
            begun = time.monotonic()
            try:
                self.save()
            except ComplabelError as error:
                _logger.warning("%s", error)
            took = time.monotonic() - begun
            is_over = self.ended.wait(max(_SAVE_SECONDS, 20 * took))

    def _learn(self) -> None:
        """Learn after enough answers or enough time; this thread does nothing else."""
        assert self.learner is not None
        known, since = 0, time.monotonic()
        while not self.ended.wait(0.2):
            new = self.asker.answered - known
            if new >= _LEARN_AFTER or (new and time.monotonic() - since > _LEARN_SECONDS):
                known, since = self.asker.answered, time.monotonic()
                try:
                    self.learner.update(self.news)
                except Exception as error:
                    self._log("the model could not be fitted to the answers so far: %s", error)

    def _follow(self) -> None:
        """Look now and then how far the goals are, until the sitting ends."""
        assert self.until is not None
        learned: Any = None
        while not self.ended.wait(0.2):
            now = None if self.learner is None else self.learner.standings
            if self.asker.answered >= self.until.next_look or now is not learned:
                learned = now
                try:
                    self.until.look(self.news, self.asker.answered)
                except Exception as error:
                    self._log("it is not known how far the goals are: %s", error)
                    self.until.next_look = self.asker.answered + 50

    def _log(self, message: str, error: Exception) -> None:
        """Log what is wrong; people go on answering whatever happens, and may have ended."""
        if not self.ended.is_set():
            _logger.error(message, error, exc_info=not isinstance(error, ComplabelError))

    async def _stored(self) -> None:
        """Wait until all that has happened is on the disk; what people did at once goes at once."""
        n_events = self._n_taken + len(self.asker.new)
        # A request that is cancelled, or a server that ends, forgets nothing.
        await asyncio.shield(asyncio.ensure_future(self._store(n_events)))

    async def _store(self, n_events: int) -> None:
        """Store what is not stored yet, unless so many events are."""
        async with self._writing:
            if self._n_stored >= n_events:  # somebody else's request took it along
                return
            new, self.asker.new = self.asker.new, []
            self._n_taken += len(new)
            try:
                await asyncio.to_thread(self.store.append, self.things.names, new)
            except Exception:  # it is tried again with the next request
                self.asker.new = new + self.asker.new
                self._n_taken -= len(new)
                raise
            self._n_stored += len(new)

    async def _next(self, request: Request) -> Response:
        person = _person(request.query_params.get("person"))
        skip = request.query_params.get("skip", "0")
        is_number = skip.isascii() and skip.isdigit() and len(skip) < 4
        self._refuse_stale(request.query_params.get("store"))
        over = self.until is not None and self.until.is_reached
        event = self.asker.next(person, int(skip) if is_number else skip, only_held=over)
        await self._stored()
        if event is None:
            return Response(status_code=204)
        return JSONResponse(self._question_json(event))

    async def _answer(self, request: Request) -> Response:
        body = await _body(request)
        person, seconds = _person(body.get("person")), body.get("seconds")
        id_ = body.get("id")
        if not isinstance(id_, str) or not id_.isascii() or not id_.isdigit() or len(id_) > 18:
            raise RefusedError(404, f"id={str(id_)[:60]!r} is not that of a question")
        is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if seconds is not None and not (is_number and 0 <= seconds <= LONGEST):
            raise RefusedError(
                400, f"seconds is {seconds!r:.20}; give a number from 0 to 86,400, or none"
            )
        answer: Any = body.get("answer")
        is_list = isinstance(answer, list) and all(isinstance(each, str) for each in answer)
        if not (isinstance(answer, str) or is_list):
            raise RefusedError(400, 'answer must be "yes", "no", "unsure" or a list of labels')
        self._refuse_stale(body.get("store"), int(id_), body)
        duration = None if seconds is None else float(seconds)
        is_new, answered = self.asker.answer(int(id_), person, answer, duration)
        await self._stored()
        reply: dict[str, Any] = {"stored": True, "again": not is_new, "answered": answered}
        if not is_new:  # the page may have sent another answer than the one that counts
            reply["answer"] = self.asker.standing(int(id_))
        return JSONResponse(reply)

    async def _undo(self, request: Request) -> Response:
        body = await _body(request)
        person = _person(body.get("person"))
        self._refuse_stale(body.get("store"))
        id_, event = self.asker.undo(person)
        await self._stored()
        return JSONResponse({"undone": str(id_), "question": self._question_json(event)})

    def _refuse_stale(
        self, store: Any, id_: int | None = None, page: Mapping[str, Any] | None = None
    ) -> None:
        """Refuse what a page believes that is not so: the file, the item or the labels."""
        if store is not None and store != self.store.mark:
            raise StaleError("this page belongs to another file of answers")
        event = None if id_ is None else self.asker.handed(id_)
        if event is None or page is None:
            return
        shown = self._question_json(event)
        for name in ("item", "label", "offered", "renamed"):
            current, claimed = shown.get(name), page.get(name)
            if isinstance(claimed, list) and isinstance(current, list):  # in any order
                current, claimed = sorted(current), sorted(map(str, claimed))
            if claimed is not None and claimed != current:
                which = "names of labels" if name == "renamed" else name
                raise StaleError(f"the page shows another {which} than the question has now")

    async def _progress(self, _: Request) -> Response:
        asker = self.asker
        kinds = {
            kind: {"answers": count, "seconds": _median(asker.latest_seconds(kind))}
            for kind, count in asker.by_kind.items()
            if count
        }
        return JSONResponse(
            {
                "items": len(self.things),
                "labels": len(self.labels),
                "answered": asker.answered,
                "by_person": asker.by_person(),
                "people": asker.people(),
                "by_kind": kinds,
                "left": asker.left(),
                "why": None if self.mixed is None else self.mixed.why,
                "learning": None if self.learner is None else self.learner.state(),
                "until": None if self.until is None else self.until.state(self._seconds()),
            }
        )

    def _seconds(self) -> list[float]:
        """Return how long the latest answers of all kinds took."""
        return [s for kind in self.asker.seconds for s in self.asker.latest_seconds(kind)]

    async def _table(self, _: Request) -> Response:
        def make() -> bytes:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "answers.csv"
                write_table(path, self.table(), {})
                return path.read_bytes()

        name = {"content-disposition": 'attachment; filename="answers.csv"'}
        return Response(await asyncio.to_thread(make), media_type="text/csv", headers=name)

    async def _picture(self, request: Request) -> Response:
        path = await asyncio.to_thread(self.things.picture, request.path_params["name"])
        if path is None:
            raise RefusedError(404, "there is no picture of this name among the items")
        headers = {"cache-control": "private, max-age=3600"}
        if kind := PICTURES.get(path.suffix.lower()):
            return FileResponse(path, media_type=kind, headers=headers)
        from complabel.features import as_png

        async with self._converting:  # one takes much memory
            picture = await asyncio.to_thread(as_png, path)
        if isinstance(picture, str):
            raise RefusedError(404, f"the picture cannot be read: {picture}")
        return Response(picture, media_type="image/png", headers=headers)

    async def _page(self, _: Request) -> Response:
        mark = f'data-store="{self.store.mark}"'
        text = self._part_of_page("index.html").replace('data-store=""', mark)
        # Pages of https may lead on to others; over http, a device at home would obey a request.
        hosts = {"https:" if each.startswith("https:") else each for each in self.things.hosts}
        images = " ".join(["'self'", *sorted(hosts)])
        policy = (
            f"default-src 'none'; script-src 'self'; style-src 'self'; img-src {images};"
            " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        return Response(text, media_type="text/html", headers={"content-security-policy": policy})

    async def _part(self, request: Request) -> Response:
        name = request.scope["path"].removeprefix("/")
        return Response(self._part_of_page(name), media_type=_PAGE[name])

    @staticmethod
    def _part_of_page(name: str) -> str:
        return resources.files("complabel").joinpath("live", "page", name).read_text("utf-8")

    def _question_json(self, event: Event) -> dict[str, Any]:
        question = self.asker.questions[event.number]
        labels = self.asker.labels_of(question)
        if question.labels is None:  # in the order in which they are listed now
            labels = [*self.labels]
        return {
            "id": str(event.id),
            "item": self.things.names[question.item],
            "question": question.kind,
            **({"label": labels[0]} if question.kind == "asked" else {"offered": labels}),
            **({"asked_for": question.asked_for} if question.asked_for else {}),
            "renamed": self.store.history.n_renamed,  # names may change places
            "show": self.things.show(question.item),
            "answered": self.asker.answered_by(event.person),
        }


def _store_of(out: Path) -> Path:
    return out.with_name(f"{out.name}.sqlite")


def _history_before(out: Path) -> History | None:
    with contextlib.suppress(ComplabelError):  # who opens the file says what is wrong
        return history_of(_store_of(out))
    return None


def as_before(
    things: Things, out: Path, *, rename_items: Mapping[str, str] | None = None, mend: bool = False
) -> Things:
    """Return things in the order of the sitting that ``out`` belongs to, with what is gone of it.

    With ``mend``, a damaged file of answers is mended before.
    """
    if mend:
        mend_store(_store_of(out))
    history = _history_before(out)
    return things if history is None else things.after(history.items_now(rename_items or {}))


def usual_question(out: Path, n_labels: int, *, aims: bool) -> tuple[str, bool]:
    """Return what is asked if nobody says it, and whether it is another one than in a new sitting.

    A sitting goes on as it began. A new one asks yes or no and lets people tick, and then the one
    that tells more; only yes or no if goals aim the questions, or if there is only one label.
    """
    usual = "asked" if aims or n_labels < 2 else "mixed"
    history = _history_before(out)
    if history is None or history.question.startswith("those "):  # aimed, or those of a file
        return usual, False
    return history.question, history.question != usual


def has_learned(model: Path, out: Path) -> bool:
    """Return whether a sitting of the answers of ``out`` wrote this model."""
    history = _history_before(out)
    with contextlib.suppress(ComplabelError, LookupError):
        written_by = read_header(model)["provenance"]["given"].get("sitting")
        return history is not None and written_by == history.mark
    return False


def _median(seconds: Sequence[float]) -> float | None:
    return statistics.median(seconds) if seconds else None


def _person(name: object) -> str:
    person = name.strip() if isinstance(name, str) else ""
    if 0 < len(person) <= _NAME and person.isprintable() and not person.startswith(_FORMULA):
        return person
    raise RefusedError(
        400,
        f"person is {str(name)[:80]!r}; give a name of 1 to {_NAME} printable characters, which"
        " does not begin with = + - or @ (the table would be a program in a spreadsheet)",
    )


async def _body(request: Request) -> dict[str, Any]:
    try:
        body = json.loads(await request.body())
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise RefusedError(400, 'the body must be JSON, an object such as {"person": "ann"}')
    return body


def _refuse_listed(source: Source) -> None:
    if not isinstance(source, RandomQuestions):
        raise InputError(
            "--merge and --rename are for random questions, and these are listed, or aimed at a"
            " figure; begin anew with another --out"
        )


def _go_on(source: Source, history: History, until: Until | None) -> None:
    """Tell a source of random questions what the file says of those before."""
    if isinstance(source, RandomQuestions):
        source.periods, source.parts = history.periods, history.parts
        source.names = [history.first_name(name) for name in source.names]
        # Labels that came later were asked about less often, as were those not preferred.
        only_asked = source.most is not None and source.most.name == "asked"
        source.is_weighted = history.is_weighted or (only_asked and any(history.since))
        if until is not None:
            until.has_equal_pairs = source.is_weighted


def _source_of(
    things: Things,
    numbers: Mapping[str, int],
    question: str,
    questions: Path | None,
    until: Until | None,
    drawing: tuple[float, int, Sequence[int]],
    labels: Sequence[str],
) -> tuple[Source, Mixed | None, str]:
    """Return where questions come from, what chooses their kind, and what the file says of them.

    ``numbers`` are those of items by the names that they have in a file of questions; ``drawing``
    has the overlap, the seed and the items that cannot be shown.
    """
    n_labels, (overlap, seed, _) = len(labels), drawing
    if questions is not None:
        digest = hashlib.sha256(questions.read_bytes()).hexdigest()
        source = read_questions(questions, numbers, labels, overlap=overlap, seed=seed)
        source.without = frozenset(things.broken)
        if until is not None and until.needs_chances and not source.tells_chances:
            raise InputError(
                f"--until needs random questions, and none in {questions} was drawn at random; draw"
                " them with complabel ask"
            )
        return source, None, f"those of a file, {digest}"
    if question == "mixed":
        mixed = Mixed.of(n_labels)
        return RandomQuestions(things.names, n_labels, mixed, None, *drawing), mixed, question
    kind = QuestionKind.parse(question, n_labels, others=["mixed"])
    aim = None if until is None or kind.name != "asked" else until.aim
    if until is not None and aim not in (None, FREQUENCIES):
        aimed = aimed_questions(until.probabilities, str(aim), *drawing)
        return aimed, None, f"those that tell about {aim}, {until.mark(labels)}"
    weights = None if until is None or aim is None else until.weights
    random_source = RandomQuestions(things.names, n_labels, lambda: kind, kind, *drawing, weights)
    return random_source, None, question


async def _no_icon(_: Request) -> Response:
    return Response(status_code=204)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    return error_reply(str(error), error.status, reload=isinstance(error, StaleError))


async def _not_stored(_: Request, error: Exception) -> Response:
    _logger.error("%s", error)
    return error_reply(f"not stored: {error}", 503)
