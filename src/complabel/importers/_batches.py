"""Batch files of language models: requests out, results in, in the formats of five families.

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

from complabel._opening import fault
from complabel._settings import setting
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
from complabel.importers._records import ENDS, objects_in, said_in_reply

IDS = ".ids.jsonl"
_WORDS = ("yes", "no", UNSURE)
_TOKENS, _TOKENS_OF_LABEL = 1024, 32  # most tokens of a reply, where a request must say it
_TOP = 20  # tokens with a probability, of each place in a reply
_SMALL = 1e-4  # a share that changes the fourth digit of a confidence at most
_MOST_SHOWN, _MOST_LETTERS = 3, 80
# These end a line for some readers of JSON lines.
_LINE_ENDS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}


class Family(NamedTuple):
    """What a file of one family of services may be."""

    most: int  # requests; this and the size are the least that services of the family say
    most_megabytes: int
    ending: str = ".jsonl"
    around: tuple[str, str, str] = ("", "\n", "\n")  # before, between and behind requests


FAMILIES = {
    "openai": Family(50_000, 200),
    "mistral": Family(50_000, 100),
    "anthropic": Family(100_000, 256, ".json", ('{"requests": [\n', ",\n", "\n]}\n")),
    "gemini": Family(200_000, 2_000),
    "bedrock": Family(50_000, 200),
}
"""Formats of requests, by the name of ``--for``."""
_WITH_LOGPROBS, _WITHOUT_ADDRESSES = ("openai", "gemini"), ("gemini", "bedrock")


class _Asks(NamedTuple):
    content: list[Any]
    labels: Sequence[str]  # of which each is judged, in JSON; none: a reply in words
    names: Sequence[str]  # of several items
    logprobs: bool


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
        if self.n_items > 1 and (questions != {"ticked"} or _menus(tasks)[1:]):
            raise InputError(
                f"{setting('items_per_request', self.n_items)} needs questions of the kind ticked,"
                " about all labels of each item",
                parameter="items_per_request",
            )
        if self.logprobs and (questions != {"asked"} or self.tool not in _WITH_LOGPROBS):
            raise InputError(
                f"{setting('logprobs', True)} needs questions of the kind asked, whose reply is one"
                f" word, and one of {', '.join(_WITH_LOGPROBS)}",
                parameter="logprobs",
            )

    def requests(self, tasks: Sequence[Task]) -> Iterator[tuple[str, list[Task]]]:
        """Yield each request as JSON, with its lines of the table of ids."""
        menus = _menus(tasks)
        about = [*menus, *([task["item"], task.get("label")] for task in tasks)]
        said = json.dumps([self.tool, self.model, self.n_items, about])
        batch = hashlib.sha256(said.encode()).hexdigest()[:6]
        for number, at in enumerate(range(0, len(tasks), self.n_items), 1):
            ident, chunk = f"q{number:06}-{batch}", tasks[at : at + self.n_items]
            first, several = chunk[0], self.n_items > 1
            names = [f"item {n}" for n in range(1, len(chunk) + 1)] if several else []
            content = self._content(_prompt(first, several), names or ["The item"], chunk)
            labels = first["offered"] if first["question"] == "ticked" else ()
            asks = _Asks(content, labels, names, self.logprobs)
            request = json.dumps(_request(self.tool, ident, self.model, asks), ensure_ascii=False)
            # A label, and a menu that was drawn, are no part of the form of a prompt.
            form = {**first, "label": "LABEL", **({"offered": ["LABELS"]} if menus[1:] else {})}
            digest = hashlib.sha256(_prompt(form, several).encode()).hexdigest()[:8]
            kept = [{name: v for name, v in t.items() if name not in SHOWN} for t in chunk]
            lines = [{"id": ident, **t, "annotator": f"{self.model} {digest}"} for t in kept]
            for name, line in zip(names, lines, strict=False):
                line["called"] = name
            yield request.translate(_LINE_ENDS), lines

    def _content(self, prompt: str, names: Sequence[str], tasks: Sequence[Task]) -> list[Any]:
        parts, words = [], [prompt]
        for name, task in zip(names, tasks, strict=True):
            words += _about(name, task)
            if task.get("image"):
                text = "\n\n".join(words)
                parts += [self._text(text), _picture(self.tool, str(task["image"]), self.folder)]
                words = []
        return [*parts, self._text("\n\n".join(words))] if words else parts

    def _text(self, text: str) -> Task:
        return {"text": text} if self.tool == "gemini" else {"type": "text", "text": text}

    def files(self, tasks: Sequence[Task]) -> list[int]:
        """Return how many requests go into each file, so that a service takes it."""
        family, counts, size = FAMILIES[self.tool], [0], 0
        most = family.most_megabytes * 1_000_000 - sum(map(len, family.around))
        for request, lines in self.requests(tasks):
            n_bytes = len(request.encode()) + len(family.around[1])
            if n_bytes > most:
                raise InputError(
                    f"the request about item {lines[0]['item']!r} has {n_bytes:,} bytes, and"
                    f" {self.tool} takes {most:,}; make its text or picture smaller"
                )
            if counts[-1] == family.most or size + n_bytes > most:
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
    told = {"text": f"{name} is this text:\n", "url": f"{name} is this page: "}
    words = [f"{start}{task[each]}" for each, start in told.items() if task.get(each)]
    return [*words, f"{name} is this picture."] if task.get("image") else words


def prompted(task: Task) -> Task:
    """Return a task as one line of prompts, which says itself what it asks."""
    prompt = "\n\n".join([_prompt(task, several=False), *_about("The item", task)])
    return {"id": task["answer_id"], **task, "prompt": prompt}


def _picture(tool: str, named: str, folder: Path) -> Task:
    if named.startswith("data:") or ("://" in named and tool in _WITHOUT_ADDRESSES):
        raise InputError(f"the picture {named:.60} cannot be sent by its address; give a file")
    if "://" in named and tool == "anthropic":
        return {"type": "image", "source": {"type": "url", "url": named}}
    if "://" in named:
        return {"type": "image_url", "image_url": {"url": named}}
    kind = mimetypes.guess_type(named)[0]
    if kind is None or not kind.startswith("image/"):
        raise InputError(f"{named}: its ending is not that of a picture, such as .jpg or .png")
    try:
        data = base64.b64encode((folder / named).read_bytes()).decode("ascii")
    except OSError as error:
        raise InputError(f"{folder / named}: this picture cannot be read: {error}") from error
    if tool == "gemini":
        return {"inline_data": {"mime_type": kind, "data": data}}
    if tool in ("openai", "mistral"):
        return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


def _request(tool: str, ident: str, model: str, asks: _Asks) -> Task:
    if tool == "gemini":
        how: Task = {"response_logprobs": True, "logprobs": _TOP} if asks.logprobs else {}
        if asks.labels:
            how = {"response_mime_type": "application/json", "response_schema": _schema(asks, {})}
        request: Task = {"contents": [{"role": "user", "parts": asks.content}]}
        return {"key": ident, "request": request | ({"generation_config": how} if how else {})}
    body: Task = {"messages": [{"role": "user", "content": asks.content}]}
    if tool in ("anthropic", "bedrock"):
        n_words = len(asks.labels) * max(len(asks.names), 1)
        body = {"max_tokens": _TOKENS + _TOKENS_OF_LABEL * n_words, **body}
        if tool == "anthropic":
            return {"custom_id": ident, "params": {"model": model, **body}}
        version = {"anthropic_version": "bedrock-2023-05-31"}
        return {"recordId": ident, "modelInput": version | body}
    body = {"model": model, **body}
    if asks.labels:
        schema = _schema(asks, {"additionalProperties": False})
        told = {"name": "labels", "strict": True, "schema": schema}
        body["response_format"] = {"type": "json_schema", "json_schema": told}
    if asks.logprobs:
        body |= {"logprobs": True, "top_logprobs": _TOP}
    where = {"method": "POST", "url": "/v1/chat/completions"} if tool == "openai" else {}
    return {"custom_id": ident, **where, "body": body}


def _schema(asks: _Asks, strict: Task) -> Task:
    """Return the schema of a reply; if it is strict, each part stands once, as services count."""

    def of(names: Sequence[str], each: Task) -> Task:
        properties = dict.fromkeys(names, each)
        return {"type": "object", "properties": properties, "required": list(names), **strict}

    word: Task = {"type": "string", "enum": list(_WORDS)}
    labels = of(asks.labels, {"$ref": "#/$defs/word"} if strict else word)
    if not strict:
        return of(asks.names, labels) if asks.names else labels
    if not asks.names:
        return {**labels, "$defs": {"word": word}}
    whole = of(asks.names, {"$ref": "#/$defs/labels"})
    return {**whole, "$defs": {"word": word, "labels": labels}}


_TOLD = {"response", "result", "modelOutput", "error", "status"}  # a request has none of them


class _Result(NamedTuple):
    """What became of one request: a text, or a word why there is none."""

    text: Any  # of a reply that says itself what it is about, any JSON
    failed: str = ""
    model: str | None = None
    n_in: int = 0
    n_out: int = 0
    tokens: Sequence[tuple[Any, Any]] = ()  # of the text, each with those that were likely there


_FAILED, _REFUSED = "requests that failed", "requests that the model refused"
_CUT, _UNCLEAR = "replies that were cut off", "replies that do not parse"
_MISSING, _DOUBLE = "requests without a result", "requests with two different replies"
_OF_A_SAMPLE = (
    "; if a second file has failures, give it, too. Random questions are a random sample only if"
    " all were answered, or all up to some line and none after it"
)
_CUT_BY = {"length", "max_tokens", "max_output_tokens", "incomplete", "abort"}
_CUT_BY |= {"model_context_window_exceeded"}
_REFUSED_BY = {"content_filter", "content_filtered", "guardrail_intervened", "refusal", "safety"}
_REFUSED_BY |= {"recitation", "blocklist", "prohibited_content", "spii", "image_safety"}
# A text that ended for a reason that is not known may be half a word.
_ENDED_BY = {"stop", "end_turn", "stop_sequence", "completed", "complete", "eos", "eos_token"}
_ENDED_BY |= {"finish_reason_unspecified"}


def _inside(value: Any, *keys: Any) -> Any:
    """Return what lies at these keys and positions; None if anything is not there."""
    for key in keys:
        if isinstance(key, int):
            value = value[key] if isinstance(value, list) and len(value) > key else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def _id_of(value: Any) -> Any:
    return next((value[key] for key in ("custom_id", "key", "recordId") if key in value), None)


def _result_of(value: Task) -> _Result:
    if "result" in value:  # Anthropic
        body = _inside(value, "result", "message")
        if _inside(value, "result", "type") != "succeeded":
            return _Result(None, _FAILED)
    elif "modelOutput" in value:  # Bedrock
        body = value["modelOutput"]
    else:
        body = value.get("response")
        if _inside(body, "status_code") not in (None, 200):
            return _Result(None, _FAILED)
        if isinstance(body, dict) and "body" in body:
            body = body["body"]
    if value.get("error") or not isinstance(body, dict) or body.get("error"):
        return _Result(None, _FAILED)
    return _said_in(body)


def _said_in(body: Task) -> _Result:
    """Return the text of a body: of a chat, a response, a message or candidates."""
    several = body.get("choices") or body.get("candidates")
    if isinstance(several, list) and len(several) > 1:
        return _Result(None, _UNCLEAR)
    parts, ends = _parts_and_ends(body)
    words = {str(end).casefold() for end in ends if end}
    model = body.get("model") or body.get("modelVersion")
    usage = body.get("usage") or body.get("usageMetadata")
    n_in = _number(usage, "prompt_tokens", "input_tokens", "promptTokenCount", "inputTokens")
    names = "completion_tokens", "output_tokens", "candidatesTokenCount", "outputTokens"
    told = (model if isinstance(model, str) else None, n_in, _number(usage, *names))
    refusal = _inside(body, "choices", 0, "message", "refusal")
    blocked = _inside(body, "promptFeedback", "blockReason")
    kinds = [_inside(part, "type") for part in parts]
    if refusal or blocked or "refusal" in kinds or words & _REFUSED_BY:
        return _Result(None, _REFUSED, *told)
    if words & _CUT_BY:
        return _Result(None, _CUT, *told)
    texts = [
        part if isinstance(part, str) else part["text"]
        for part in parts
        if isinstance(part, str)
        or (isinstance(_inside(part, "text"), str) and not _inside(part, "thought"))
    ]
    if not texts or words - _ENDED_BY:
        return _Result(None, _UNCLEAR, *told)
    return _Result("".join(texts), "", *told, list(_tokens(body, parts)))


def _parts_and_ends(body: Task) -> tuple[list[Any], list[Any]]:
    if "choices" in body:
        content = _inside(body, "choices", 0, "message", "content")
        ends = [_inside(body, "choices", 0, "finish_reason")]
    elif "candidates" in body:
        content = _inside(body, "candidates", 0, "content", "parts")
        ends = [_inside(body, "candidates", 0, key) for key in ("finishReason", "finish_reason")]
    elif isinstance(body.get("output"), list):  # of /v1/responses
        messages = [each for each in body["output"] if _inside(each, "type") == "message"]
        content = [part for each in messages for part in _listed(_inside(each, "content"))]
        ends = [_inside(body, "incomplete_details", "reason"), body.get("status")]
    elif "output" in body:
        content = _inside(body, "output", "message", "content")
        ends = [body.get("stopReason")]
    else:
        content, ends = body.get("content"), [body.get("stop_reason")]
    return _listed(content), ends


def _listed(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content] if isinstance(content, str) else []


def _number(usage: Any, *names: str) -> int:
    found = (_inside(usage, name) for name in names)
    return next((n for n in found if type(n) is int and 0 < n < 2**53), 0)


def _tokens(body: Task, parts: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each token of a reply with those that were likely there, as far as a body has them."""
    steps = _inside(body, "choices", 0, "logprobs", "content") or _inside(parts, 0, "logprobs")
    for step in _listed(steps):
        yield _inside(step, "token"), _inside(step, "top_logprobs")
    found = _inside(body, "candidates", 0, "logprobsResult")
    for at, step in enumerate(_listed(_inside(found, "chosenCandidates"))):
        yield _inside(step, "token"), _inside(found, "topCandidates", at, "candidates")


def _confidence(word: Any, tokens: Sequence[tuple[Any, Any]]) -> float | None:
    """Return P(word) / (P(yes) + P(no)) at the first word of a reply; None if it is not told.

    If the other word is not among the likely ones, it is less likely than all of them. The least of
    them then stands for it, if that changes the fourth digit at most.
    """
    token, likely = next((each for each in tokens if _plain(each[0])), ("", None))
    if word not in ("yes", "no") or _plain(token) != word:
        return None
    shares, least = {"yes": 0.0, "no": 0.0}, 1.0
    for each in _listed(likely):
        told = [_inside(each, name) for name in ("logprob", "logProbability")]
        log = next((log for log in told if isinstance(log, int | float)), 1)
        if not log <= _SMALL:
            return None
        share = math.exp(max(min(log, 0.0), -1e4))
        least = min(least, share)
        if (name := _plain(_inside(each, "token"))) in shares:
            shares[name] += share
    mine, other = shares.pop(word), *shares.values()
    if not mine or (not other and least > _SMALL * mine):
        return None
    return mine / (mine + (other or least))


def _plain(token: Any) -> str:
    return token.strip(ENDS).casefold() if isinstance(token, str) else "?"


def _are_results(head: Head) -> bool:
    root, keys = head.keys()
    # A model's input may have pictures, so what comes behind it is not in the head.
    return (
        ("custom_id" in keys and not keys.isdisjoint(("response", "result", "error")))
        or ("recordId" in keys and not keys.isdisjoint(("modelInput", "modelOutput", "error")))
        or (root == "{" and "key" in keys and not keys.isdisjoint(("response", "status", "error")))
    )


class _Asked(NamedTuple):
    """One question of a request."""

    place: str
    annotator: str | None
    question: Question


class _Said(NamedTuple):
    """What one result says about one question; None: two results differ."""

    answer: Any = None
    model: str | None = None
    confidence: float | None = None


_Questions = dict[str, dict[str, _Asked]]  # by id, and by the name of an item in its request
_Key = tuple[str, str]  # both of them


def _read(path: Path, options: Options, tally: Tally, *, word: str) -> Iterator[dict[str, Any]]:
    """Read the results of batches, or else lines of prompts to each of which a reply was added."""
    failures = (_FAILED, _REFUSED, _CUT) if word == "results" else ()
    tally.start(word, *failures, _UNCLEAR, _DOUBLE, _MISSING)
    yield from pieces(_rows(path, options, tally, word))


def _results(
    path: Path, options: Options, asked: _Questions, word: str
) -> Iterator[tuple[str, _Result]]:
    """Yield each id with its result, and add what it asked; prompts without a reply give none."""
    files = dict.fromkeys((path, *options.more))
    for place, value in itertools.chain.from_iterable(map(records, files)):
        if word == "replies":
            line = checked(_Line, value, place)
            ident, result = line.id, _Result(line.reply, model=line.annotator)
            if "item" in value:
                about = _asked_in(value, line, place, options)._replace(annotator=None)
                if asked.setdefault(ident, {"": about})[""].question != about.question:
                    raise fault(place, f"id {ident!r} has two questions; give each its own id")
        elif not isinstance(value, dict) or _TOLD.isdisjoint(value) or not _id_of(value):
            raise fault(place, "is no result with an id (custom_id, key or recordId)")
        else:
            ident, result = _id_of(value), _result_of(value)
        if ident not in asked:
            asked |= _asked(path, options, ident)
        if word == "results" or result.text not in (None, ""):
            yield ident, result


def _rows(path: Path, options: Options, tally: Tally, word: str) -> Iterator[Row]:
    asked: _Questions = {}
    said: dict[_Key, dict[str | None, _Said]] = {}  # by the model
    worst: dict[_Key, tuple[str, Any]] = {}  # of questions without a clear answer, the last reason
    n_in = n_out = 0
    for ident, result in _results(path, options, asked, word):
        tally.counts[word] += 1
        n_in, n_out = n_in + result.n_in, n_out + result.n_out
        for name, answer in _answers_in(asked[ident], result.text).items():
            by_model = said.setdefault((ident, name), {})
            if answer is None:
                worst[ident, name] = result.failed or _UNCLEAR, result.text
            elif result.model not in by_model:
                sure = _confidence(answer, result.tokens)
                by_model[result.model] = _Said(answer, result.model, sure)
            elif by_model[result.model].answer != answer:
                by_model[result.model] = _Said()
    yield from _answers(asked, said, worst, tally)
    if n_in or n_out:
        tally.remark(f"The requests had {n_in:,} tokens, and the replies {n_out:,}.")


def _answers(
    asked: _Questions,
    said: Mapping[_Key, Mapping[str | None, _Said]],
    worst: Mapping[_Key, tuple[str, Any]],
    tally: Tally,
) -> Iterator[Row]:
    """Yield rows in the order of the requests; count and list those without an answer."""
    travelled, without = Travelled(), dict[str, dict[str, None]]()
    answers = [each for by_model in said.values() for each in by_model.values()]
    # If one answer has a confidence, the column is there; NaN is a gap in it.
    blank = math.nan if any(each.confidence is not None for each in answers) else None
    for key, about in (((i, name), each) for i in asked for name, each in asked[i].items()):
        heard: list[_Said | None] = [*said.get(key, {}).values()]
        for found in heard or [None]:
            if found is not None and found.answer is not None:
                yield from _rows_of(found, about, travelled, blank)
                continue
            why, text = worst.get(key, (_MISSING, "")) if found is None else (_DOUBLE, "")
            listed = " ".join(key).strip() if why in (_DOUBLE, _UNCLEAR) else key[0]
            shown = f" ({str(text)[:_MOST_LETTERS]!r})" if why == _UNCLEAR else ""
            without.setdefault(why, {})[listed + shown] = None
    for why, idents in without.items():
        tally.counts[why] = len(idents)
        more = _OF_A_SAMPLE * (why == _MISSING)
        shown = some(itertools.islice(idents, _MOST_SHOWN))
        tally.remark(f"{why}: {len(idents):,}, such as {shown}{more}")


def _rows_of(
    said: _Said, about: _Asked, travelled: Travelled, blank: float | None
) -> Iterator[Row]:
    who, question = about.annotator, about.question
    if said.model:
        who = f"{said.model} {str(who or '').rpartition(' ')[2]}".strip()
    answer, open_ = said.answer, set[str]()
    if isinstance(answer, dict):
        open_ = {label for label, word in answer.items() if word == UNSURE}
        answer = [label for label, word in answer.items() if word == "yes"]
    rows = travelled.rows(question, answer, about.place, annotator=who)
    first = len(rows) - len(question.offered or [""])  # before it, what was known
    for at, row in enumerate(rows):
        if at >= first:
            sure = blank if said.confidence is None else said.confidence
            word = UNSURE if row.label in open_ else row.answer
            row = row._replace(answer=word, confidence=sure)
        yield row


def _answers_in(questions: Mapping[str, _Asked], reply: Any) -> Mapping[str, Any]:
    """Return what a reply says of each question: a word, labels, or a word for each label.

    It is None if it is not clear.
    """
    question = next(iter(questions.values())).question
    alone, judges = "" in questions, question.question == "ticked"
    if reply is None:
        return dict.fromkeys(questions)
    whole = None
    if judges:
        keys = {*question.offered} if alone else {*questions}
        text = reply if isinstance(reply, str) else json.dumps(reply)
        found = [each for each in objects_in(text) if each is None or each.keys() & keys]
        whole = found[0] if len(found) == 1 else None
        if not alone:
            whole = whole if whole is not None and whole.keys() <= keys else {}
            return {name: _words_in(whole.get(name), question) for name in questions}
    words = _words_in(whole, question)
    return {"": said_in_reply(question, reply) if words is None else words}


def _words_in(found: Any, question: Question) -> dict[str, str] | None:
    """Return the word for each label in an object; None if one is missing, or strange."""
    if not isinstance(found, dict) or found.keys() != {*question.offered}:
        return None
    if not all(isinstance(word, str) for word in found.values()):
        return None
    words = {label: word.strip().casefold() for label, word in found.items()}
    return words if {*words.values()} <= {*_WORDS} else None


class _Line(BaseModel):
    """A line of a table of ids, of prompts or of replies; the other fields are its question's."""

    id: Text
    annotator: OptionalText = None
    reply: Any = None


def _asked(path: Path, options: Options, ident: str) -> _Questions:
    """Return what each id asked, from the table of ids, or the prompts, that hold this one."""
    beside = sorted(path.absolute().parent.glob(f"*{IDS}"))
    for table in beside if options.prompts is None else [options.prompts]:
        found: _Questions = {}
        for place, value in records(table):
            line = checked(_Line, value, place)
            # The end of an id is the same in one batch.
            is_other = line.id.rpartition("-")[2] != ident.rpartition("-")[2]
            if is_other and not found and options.prompts is None:
                break
            questions, name = found.setdefault(line.id, {}), str(value.get("called") or "")
            if name in questions:
                raise fault(place, f"id {line.id!r} occurs twice; give each its own id")
            questions[name] = _asked_in(value, line, place, options)
        if ident in found:
            return found
    raise fault(
        path,
        f"no table of ids has {ident!r}; put the file that complabel ask wrote beside the requests,"
        f" whose name ends in {IDS}, into the folder of the results",
    )


def _asked_in(task: Task, line: _Line, place: str, options: Options) -> _Asked:
    kind = "asked" if task.get("label") else options.question
    task = {"question": kind, **task, "answer_id": task.get("answer_id") or line.id}
    if not task.get("label") and not task.get("offered"):
        raise fault(place, "has neither a label nor offered labels; repeat the prompt")
    if question_in(task) is None:
        raise fault(
            place,
            "has offered labels, but no question; repeat the prompt, or give --question named if"
            " replies name labels that do not apply, --question ticked if they list all that apply",
        )
    return _Asked(place, line.annotator, question_of(task, place))


_TITLE = "results of a language model's batch: OpenAI, Mistral, Anthropic, Gemini, Bedrock"
_LOST = (_FAILED, _REFUSED, _CUT, _UNCLEAR, _DOUBLE, _MISSING)
RESULTS = Format(
    "results",
    _TITLE,
    _are_results,
    partial(_read, word="results"),
    uses="prompts more",
    reads="the reply in the form of the service, and what its request asked from `.ids.jsonl`",
    counts=("questions", *_LOST),
)


def _has_replies(head: Head) -> bool:
    root, keys = head.keys()
    is_ours = not keys.isdisjoint(("reply", "prompt", "answer_form"))  # the last one of old files
    return root == "{" and "id" in keys and is_ours


_OF_REPLIES = "replies of a language model: the lines of ask --for replies, each with a reply"
_READ_REPLIES = partial(_read, word="replies")
REPLIES = Format(
    "replies",
    _OF_REPLIES,
    _has_replies,
    _READ_REPLIES,
    uses="question prompts",
    reads="`id`, `reply`, `annotator`, and the fields of a task of complabel ask",
    counts=("questions", *_LOST[3:]),
)
