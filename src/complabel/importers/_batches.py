"""Batch files of language models: requests out, results in, as each service has them.

A request has a short public id, such as ``q000123-5f0c2a``; its end is the same in one batch. A
second file beside the requests, ``NAME.ids.jsonl``, says what each id asked. It stays at home. A
request is about one question, or about all labels of several items, which it calls ``item 1``, ...

Results come back in any order. A result that failed, was refused, was cut off, does not parse, is
missing, or is there twice with two answers is counted and left out. Nothing is guessed.

Prompts for a language model that is asked in another way are lines that say what they ask. They
come back with a field ``reply``, and are read and counted as results are.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import math
import mimetypes
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from complabel._opening import StrPath, StrPaths, existing_ones, fault
from complabel._services import SERVICES, Service, filled
from complabel._settings import setting
from complabel._writing import explained, replacing
from complabel.errors import InputError
from complabel.files import SHOWN
from complabel.importers._format import (
    Format,
    Head,
    OptionalText,
    Options,
    Row,
    Tally,
    Text,
    checked,
    parse,
    pieces,
    records,
    some,
)
from complabel.importers._questions import (
    UNSURE,
    WORDINGS,
    Question,
    Task,
    Travelled,
    question_in,
    question_of,
)
from complabel.importers._replies import (
    CUT,
    FAILED,
    REFUSED,
    UNCLEAR,
    Result,
    ResultReader,
    answers_in,
    are_results,
    confidence,
    spoken,
)

IDS = ".ids.jsonl"
_TOKENS, _TOKENS_OF_LABEL = 1024, 32  # most tokens of a reply, where a request must say it
_MOST_SHOWN, _MOST_LETTERS = 3, 80
# These end a line for some readers of JSON lines.
_LINE_ENDS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}


class Batch(NamedTuple):
    """How questions become a batch; pictures are seen from ``folder``."""

    tool: str
    model: str
    folder: Path
    n_items: int = 1  # of a request
    logprobs: bool = False

    def check(self, tasks: Sequence[Task]) -> None:
        """Refuse what a batch cannot ask."""
        questions = {task["question"] for task in tasks}
        with_logprobs = [name for name, each in SERVICES.items() if each.probable]
        if self.n_items > 1 and (questions != {"ticked"} or _menus(tasks)[1:]):
            raise InputError(
                f"{setting('items_per_request', self.n_items)} needs questions of the kind ticked,"
                " about all labels of each item",
                parameter="items_per_request",
            )
        if self.logprobs and (questions != {"asked"} or self.tool not in with_logprobs):
            raise InputError(
                f"{setting('logprobs', True)} needs questions of the kind asked, whose reply is one"
                f" word, and one of {', '.join(with_logprobs)}",
                parameter="logprobs",
            )

    def requests(self, tasks: Sequence[Task]) -> Iterator[tuple[str, list[Task]]]:
        """Yield each request as JSON, with its lines of the table of ids."""
        menus, service = _menus(tasks), SERVICES[self.tool]
        about = [*menus, *([task["item"], task.get("label")] for task in tasks)]
        identity = json.dumps([self.tool, self.model, self.n_items, about])
        batch = hashlib.sha256(identity.encode()).hexdigest()[:6]
        for number, at in enumerate(range(0, len(tasks), self.n_items), 1):
            ident, chunk = f"q{number:06}-{batch}", tasks[at : at + self.n_items]
            first, several = chunk[0], self.n_items > 1
            names = [f"item {n}" for n in range(1, len(chunk) + 1)] if several else []
            content = self._content(_prompt(first, several), names or ["The item"], chunk)
            labels = first["offered"] if first["question"] == "ticked" else []
            n_tokens = _TOKENS + _TOKENS_OF_LABEL * len(labels) * max(len(names), 1)
            values = {"{model}": self.model, "{content}": content, "{most_tokens}": n_tokens}
            body = {**service.body, **(service.probable if self.logprobs else {})}
            if labels:
                body, values = {**body, **service.ticked}, values | _schemas(labels, names)
            body = filled(body, values)
            wrapped = filled(service.request, {"{id}": ident, "{body}": body})
            request = json.dumps(wrapped, ensure_ascii=False)
            # A label, and a menu that was drawn, are no part of the form of a prompt.
            form = {**first, "label": "LABEL", **({"offered": ["LABELS"]} if menus[1:] else {})}
            digest = hashlib.sha256(_prompt(form, several).encode()).hexdigest()[:8]
            kept = [{name: v for name, v in t.items() if name not in SHOWN} for t in chunk]
            lines = [{"id": ident, **t, "annotator": f"{self.model} {digest}"} for t in kept]
            for name, line in zip(names, lines, strict=False):
                line["called"] = name
            yield request.translate(_LINE_ENDS), lines

    def _content(self, prompt: str, names: Sequence[str], tasks: Sequence[Task]) -> list[Any]:
        parts, words, service = [], [prompt], SERVICES[self.tool]
        for name, task in zip(names, tasks, strict=True):
            words += _about(name, task)
            if task.get("image"):
                picture = _picture(service, str(task["image"]), self.folder)
                parts += [_text(service, words), picture]
                words = []
        return [*parts, _text(service, words)] if words else parts

    def files(self, tasks: Sequence[Task]) -> list[int]:
        """Return how many requests go into each file, so that a service takes it."""
        service, counts, size = SERVICES[self.tool], [0], 0
        most = service.most_megabytes * 1_000_000 - sum(map(len, service.around))
        for request, lines in self.requests(tasks):
            n_bytes = len(request.encode()) + len(service.around[1])
            if n_bytes > most:
                raise InputError(
                    f"the request about item {lines[0]['item']!r} has {n_bytes:,} bytes, and"
                    f" {self.tool} takes {most:,}; make its text or picture smaller"
                )
            if counts[-1] == service.most or size + n_bytes > most:
                counts, size = [*counts, 0], 0
            counts[-1], size = counts[-1] + 1, size + n_bytes
        return counts


_EACH = 'object that has each label as a key, with the value "yes", "no" or "unsure". The labels:'
_JUDGE = {
    False: "For each of these labels, say whether it applies to this item. Answer with one JSON",
    True: "Below are several items, each after its name, such as item 1. For each item and each of"
    " these labels, say whether the label applies to the item. Judge each item by itself. Answer"
    " with one JSON object that has the name of each item as a key. Its value is an",
}


def _menus(tasks: Sequence[Task]) -> list[str]:
    return list(dict.fromkeys(str(task.get("offered")) for task in tasks))


def _prompt(task: Task, several: bool) -> str:
    if task["question"] != "ticked":
        return WORDINGS[task["question"]].sentence(task)
    return f"{_JUDGE[several]} {_EACH} {json.dumps(task['offered'], ensure_ascii=False)}"


def _about(name: str, task: Task) -> list[str]:
    """Return an item in words; of a picture, that it goes with them."""
    openings = {"text": f"{name} is this text:\n", "url": f"{name} is this page: "}
    words = [f"{start}{task[each]}" for each, start in openings.items() if task.get(each)]
    return [*words, f"{name} is this picture."] if task.get("image") else words


def prompted(task: Task) -> Task:
    """Return a task as one line of prompts, which says itself what it asks."""
    prompt = "\n\n".join([_prompt(task, several=False), *_about("The item", task)])
    return {"id": task["answer_id"], **task, "prompt": prompt}


def _text(service: Service, words: Sequence[str]) -> Task:
    return dict(filled(service.text, {"{text}": "\n\n".join(words)}))


def _picture(service: Service, named: str, folder: Path) -> Task:
    if "://" in named and service.address:
        return dict(filled(service.address, {"{url}": named}))
    if "://" in named or named.startswith("data:"):
        raise InputError(f"the picture {named:.60} cannot be sent by its address; give a file")
    kind = mimetypes.guess_type(named)[0]
    if kind is None or not kind.startswith("image/"):
        raise InputError(f"{named}: its ending is not that of a picture, such as .jpg or .png")
    try:
        data = base64.b64encode((folder / named).read_bytes()).decode("ascii")
    except OSError as error:
        raise InputError(f"{folder / named}: this picture cannot be read: {error}") from error
    values = {"{type}": kind, "{data}": data, "{url}": f"data:{kind};base64,{data}"}
    return dict(filled(service.picture, values))


def _schemas(labels: Sequence[str], names: Sequence[str]) -> Task:
    """Return the schema of a reply; in the strict one, each part stands once, as services count."""

    def of(keys: Sequence[str], each: Task, **more: Any) -> Task:
        properties = dict.fromkeys(keys, each)
        return {"type": "object", "properties": properties, "required": list(keys), **more}

    word: Task = {"type": "string", "enum": ["yes", "no", UNSURE]}
    plain, closed = of(labels, word), {"additionalProperties": False}
    strict, parts = of(labels, {"$ref": "#/$defs/word"}, **closed), {"word": word}
    if names:
        plain, parts = of(names, plain), {**parts, "labels": strict}
        strict = of(names, {"$ref": "#/$defs/labels"}, **closed)
    return {"{schema}": plain, "{strict_schema}": {**strict, "$defs": parts}}


_MISSING, _DOUBLE = "requests without a result", "requests with two different replies"
_COUNTS = ("questions", "questions without an answer")  # of each model that answered
_OF_A_SAMPLE = (
    "; if a second file has failures, give it, too. Random questions are a random sample only if"
    " all were answered, or all up to some line and none after it"
)


class _Asked(NamedTuple):
    """One question of a request."""

    place: str
    annotator: str | None
    question: Question


_Questions = dict[str, dict[str, _Asked]]  # by id, and by the name of an item in its request
_Key = tuple[str, str]  # both of them
_Answer = tuple[Any, float | None]  # and its confidence; (None, None): two results differ
_Replies = dict[_Key, dict[str | None, _Answer]]  # by the model


def _read(path: Path, options: Options, tally: Tally, *, word: str) -> Iterator[dict[str, Any]]:
    """Read the results of batches, or else lines of prompts to each of which a reply was added."""
    failures = (FAILED, REFUSED, CUT) if word == "results" else ()
    tally.start(word, *_COUNTS, *failures, UNCLEAR, _DOUBLE, _MISSING)
    yield from pieces(_rows(path, options, tally, word))


def _results(
    path: Path, options: Options, asked: _Questions, word: str
) -> Iterator[tuple[str, Result]]:
    """Yield each id with its result, and add what it asked; prompts without a reply give none."""
    files, results = dict.fromkeys((path, *options.more)), ResultReader()
    for place, value in itertools.chain.from_iterable(map(records, files)):
        if word == "replies":
            line = checked(_Line, value, place)
            ident, result = line.id, Result(line.reply, model=line.annotator)
            if "item" in value:
                about = _asked_in(value, line, place, options)._replace(annotator=None)
                if asked.setdefault(ident, {"": about})[""].question != about.question:
                    raise fault(place, f"id {ident!r} has two questions; give each its own id")
        else:
            ident, result = results.read(value, place)
        if ident not in asked:
            asked |= _asked(path, options, ident)
        if word == "results" or result.text not in (None, ""):
            yield ident, result


def _rows(path: Path, options: Options, tally: Tally, word: str) -> Iterator[Row]:
    asked: _Questions = {}
    replies: _Replies = {}
    worst: dict[_Key, tuple[str, Any]] = {}  # of questions without a clear answer, the last reason
    used = []
    for ident, result in _results(path, options, asked, word):
        tally.counts[word] += 1
        used.append(result.used)
        questions = {name: each.question for name, each in asked[ident].items()}
        for name, answer in answers_in(questions, result.text).items():
            by_model = replies.setdefault((ident, name), {})
            if answer is None:
                worst[ident, name] = result.failed or UNCLEAR, result.message or result.text
            elif result.model not in by_model:
                sure = confidence(answer, result.text, result.tokens)
                by_model[result.model] = answer, sure
            elif by_model[result.model][0] != answer:
                by_model[result.model] = None, None
    yield from _answers(asked, replies, worst, tally)
    n_in, n_out = map(sum, zip((0, 0), *used, strict=True))
    if n_in or n_out:
        tally.remark(f"The requests had {n_in:,} tokens, and the replies {n_out:,}.")


def _answers(
    asked: _Questions, replies: _Replies, worst: Mapping[_Key, tuple[str, Any]], tally: Tally
) -> Iterator[Row]:
    """Yield rows in the order of the requests; count and list those without an answer."""
    travelled, without = Travelled(), dict[str, dict[str, None]]()
    # If one answer has a confidence, the column is there; NaN is a gap in it.
    known = any(sure is not None for x in replies.values() for _, sure in x.values())
    blank = math.nan if known else None
    for key, about in (((i, name), each) for i in asked for name, each in asked[i].items()):
        by_model = replies.get(key)
        for model, (answer, sure) in (by_model or {None: (None, None)}).items():
            tally.counts[_COUNTS[0]] += 1
            tally.counts[_COUNTS[1]] += answer is None
            if answer is not None:
                sure = blank if sure is None else sure
                yield from _rows_of(answer, about, travelled, model, sure)
                continue
            why, text = (_DOUBLE, "") if by_model else worst.get(key, (_MISSING, ""))
            listed = " ".join(key).strip() if why in (_DOUBLE, UNCLEAR) else key[0]
            text = (spoken(text) or text).strip() if isinstance(text, str) else json.dumps(text)
            shown = f" ({text[:_MOST_LETTERS]!r})" if text else ""
            without.setdefault(why, {})[listed + shown] = None
    for why, idents in without.items():
        tally.counts[why] = len(idents)
        more = _OF_A_SAMPLE * (why == _MISSING)
        shown = some(itertools.islice(idents, _MOST_SHOWN))
        tally.remark(f"{why}: {len(idents):,}, such as {shown}{more}")


def _rows_of(
    answer: Any, about: _Asked, travelled: Travelled, model: str | None, sure: float | None
) -> Iterator[Row]:
    who, question, open_ = about.annotator, about.question, set[str]()
    if model:
        who = f"{model} {str(who or '').rpartition(' ')[2]}".strip()
    if isinstance(answer, dict):
        open_ = {label for label, word in answer.items() if word == UNSURE}
        answer = [label for label, word in answer.items() if word == "yes"]
    rows = travelled.rows(question, answer, about.place, annotator=who)
    first = len(rows) - len(question.offered or [""])
    yield from rows[:first]  # what was known
    for row in rows[first:]:
        word = UNSURE if row.label in open_ else row.answer
        yield row._replace(answer=word, confidence=sure)


class _Line(BaseModel):
    """A line of a table of ids, of prompts or of replies; the other fields are its question's."""

    id: Text
    annotator: OptionalText = None
    reply: Any = None


def _asked(path: Path, options: Options, ident: str) -> _Questions:
    """Return what each id asked, from the table of ids, or the prompts, that hold this one."""
    beside = sorted(path.absolute().parent.glob(f"*{IDS}"))
    for table in beside if options.prompts is None else [options.prompts]:
        asked: _Questions = {}
        for place, value in records(table):
            line = checked(_Line, value, place)
            # The end of an id is the same in one batch.
            is_other = line.id.rpartition("-")[2] != ident.rpartition("-")[2]
            if is_other and "-" in line.id and not asked and options.prompts is None:
                break
            questions, name = asked.setdefault(line.id, {}), str(value.get("called") or "")
            if name in questions:
                raise fault(place, f"id {line.id!r} occurs twice; give each its own id")
            questions[name] = _asked_in(value, line, place, options)
        if ident in asked:
            return asked
    raise fault(
        path,
        f"no table of ids has {ident!r}; put the file that complabel ask wrote beside the requests,"
        f" whose name ends in {IDS}, into the folder of the results",
    )


def write_failed(results: StrPaths, path: StrPath) -> tuple[int, int]:
    """Write those requests of a batch again that have no answer in any file of results.

    They failed, were refused or cut off, are missing, or nothing in the reply is clear. Their ids
    are as before, so no new table of ids is needed, and all results can be imported together.

    Parameters
    ----------
    results : path or sequence of paths
        All results so far. The requests, and their tables of ids, lie beside the first file.
    path : path
        The file to write; nothing is written if each request has an answer.

    Returns
    -------
    tuple of int
        The number of requests, and of their characters.

    Raises
    ------
    InputError
        If the requests are not there, or ``path`` has another ending than they.
    """
    first, *more = existing_ones("results", results)
    asked: _Questions = {}
    answered = set()
    for ident, result in _results(first, Options(more=tuple(more)), asked, "results"):
        questions = {name: each.question for name, each in asked[ident].items()}
        if any(answer is not None for answer in answers_in(questions, result.text).values()):
            answered.add(ident)
    kept: list[str] = []
    around, target = ("", "\n", "\n"), Path(path)
    for table in sorted(first.absolute().parent.glob(f"*{IDS}")):
        mine = dict.fromkeys(str(line["id"]) for _, line in records(table)) & asked.keys()
        if not (wanted := mine - answered):
            continue
        requests, around = _requests_beside(table)
        if requests.suffix != target.suffix:
            raise InputError(f"{target}: the requests are in {requests}; end the name as theirs")
        text = requests.read_text("utf-8").removeprefix(around[0]).removesuffix(around[2])
        told = (field for each in SERVICES.values() for field in each.request.items())
        keys = {key for key, value in told if value == "{id}"}
        found: dict[str, str] = {}
        for request in text.split(around[1]):
            value = parse(request, str(requests))
            found |= {
                str(value[key]): request for key in keys & value.keys() if value[key] in wanted
            }
        if lost := sorted(wanted - found.keys()):
            raise fault(requests, f"lacks the requests {some(lost)}; give the file that ask wrote")
        kept += [found[ident] for ident in sorted(wanted)]
    if kept:
        with explained(target), replacing(target) as partial_file:
            partial_file.write_text(around[0] + around[1].join(kept) + around[2], "utf-8")
    return len(kept), sum(map(len, kept))


def _requests_beside(table: Path) -> tuple[Path, tuple[str, str, str]]:
    """Return the file of the requests of a table of ids, and what stands around these."""
    for service in SERVICES.values():
        path = table.with_name(table.name.removesuffix(IDS) + service.ending)
        if path.is_file():
            return path, service.around
    raise fault(table, "the batch that ask wrote beside it is not there; put it back")


def _asked_in(task: Task, line: _Line, place: str, options: Options) -> _Asked:
    kind = "asked" if task.get("label") else options.question
    task = {"question": kind, **task, "answer_id": task.get("answer_id") or line.id}
    if not task.get("label") and not task.get("offered"):
        raise fault(place, "has neither a label nor offered labels; repeat the prompt")
    if question_in(task) is None:
        raise fault(
            place,
            "has offered labels, but no question; repeat the prompt, or give --read-as named if"
            " replies name labels that do not apply, --read-as ticked if they list all that apply",
        )
    return _Asked(place, line.annotator, question_of(task, place))


_TITLE = f"results of a language model's batch: {', '.join(x.title for x in SERVICES.values())}"
RESULTS = Format(
    "results",
    _TITLE,
    are_results,
    partial(_read, word="results"),
    uses="prompts more",
    reads="the reply, and what its request asked from `.ids.jsonl`",
    counts=_COUNTS,
)


def _has_replies(head: Head) -> bool:
    root, keys = head.keys()
    is_known = root == "{" and "id" in keys and "testIdx" not in keys  # that is promptfoo's
    return is_known and not keys.isdisjoint(("reply", "prompt"))


_OF_REPLIES = "replies of a language model: the lines of ask --for replies, each with a reply"
_READ_REPLIES = partial(_read, word="replies")
REPLIES = Format(
    "replies",
    _OF_REPLIES,
    _has_replies,
    _READ_REPLIES,
    uses="question prompts",
    reads="`id`, `reply`, `annotator`, and the task of `ask`",
    counts=_COUNTS,
)
