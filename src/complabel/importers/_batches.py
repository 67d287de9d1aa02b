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
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    checked_as,
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
from complabel.importers._replies import place_of_word, said_in, spoken, word_of

IDS = ".ids.jsonl"
_WORDS = ("yes", "no", UNSURE)
_TOKENS, _TOKENS_OF_LABEL = 1024, 32  # most tokens of a reply, where a request must say it
_TOP = 20  # tokens with a probability, of each place in a reply
_SMALL = 1e-4  # a share that changes the fourth digit of a confidence at most
_MOST_SHOWN, _MOST_LETTERS = 3, 80
# These end a line for some readers of JSON lines.
_LINE_ENDS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}


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
        with_logprobs = [name for name, each in FAMILIES.items() if each.logprobs]
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
            request = json.dumps(
                FAMILIES[self.tool].request(ident, self.model, asks), ensure_ascii=False
            )
            # A label, and a menu that was drawn, are no part of the form of a prompt.
            form = {**first, "label": "LABEL", **({"offered": ["LABELS"]} if menus[1:] else {})}
            digest = hashlib.sha256(_prompt(form, several).encode()).hexdigest()[:8]
            kept = [{name: v for name, v in t.items() if name not in SHOWN} for t in chunk]
            lines = [{"id": ident, **t, "annotator": f"{self.model} {digest}"} for t in kept]
            for name, line in zip(names, lines, strict=False):
                line["called"] = name
            yield request.translate(_LINE_ENDS), lines

    def _content(self, prompt: str, names: Sequence[str], tasks: Sequence[Task]) -> list[Any]:
        parts, words, family = [], [prompt], FAMILIES[self.tool]
        for name, task in zip(names, tasks, strict=True):
            words += _about(name, task)
            if task.get("image"):
                text = family.text("\n\n".join(words))
                parts += [text, _picture(family, str(task["image"]), self.folder)]
                words = []
        return [*parts, family.text("\n\n".join(words))] if words else parts

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


def _picture(family: Family, named: str, folder: Path) -> Task:
    if "://" in named and family.address is not None:
        return family.address(named)
    if "://" in named or named.startswith("data:"):
        raise InputError(f"the picture {named:.60} cannot be sent by its address; give a file")
    kind = mimetypes.guess_type(named)[0]
    if kind is None or not kind.startswith("image/"):
        raise InputError(f"{named}: its ending is not that of a picture, such as .jpg or .png")
    try:
        data = base64.b64encode((folder / named).read_bytes()).decode("ascii")
    except OSError as error:
        raise InputError(f"{folder / named}: this picture cannot be read: {error}") from error
    return family.picture(kind, data)


def _of_chat(ident: str, model: str, asks: _Asks) -> Task:
    body: Task = {"model": model, "messages": [{"role": "user", "content": asks.content}]}
    if asks.labels:
        schema = _schema(asks, {"additionalProperties": False})
        told = {"name": "labels", "strict": True, "schema": schema}
        body["response_format"] = {"type": "json_schema", "json_schema": told}
    if asks.logprobs:
        body |= {"logprobs": True, "top_logprobs": _TOP}
    return {"custom_id": ident, "body": body}


def _of_openai(ident: str, model: str, asks: _Asks) -> Task:
    chat = _of_chat(ident, model, asks)
    return {"custom_id": ident, "method": "POST", "url": "/v1/chat/completions", **chat}


def _of_messages(asks: _Asks) -> Task:
    n_words = len(asks.labels) * max(len(asks.names), 1)
    most = _TOKENS + _TOKENS_OF_LABEL * n_words
    return {"max_tokens": most, "messages": [{"role": "user", "content": asks.content}]}


def _of_anthropic(ident: str, model: str, asks: _Asks) -> Task:
    return {"custom_id": ident, "params": {"model": model, **_of_messages(asks)}}


def _of_bedrock(ident: str, _model: str, asks: _Asks) -> Task:
    version = {"anthropic_version": "bedrock-2023-05-31"}
    return {"recordId": ident, "modelInput": version | _of_messages(asks)}


def _of_gemini(ident: str, _model: str, asks: _Asks) -> Task:
    how: Task = {"response_logprobs": True, "logprobs": _TOP} if asks.logprobs else {}
    if asks.labels:
        how = {"response_mime_type": "application/json", "response_schema": _schema(asks, {})}
    request: Task = {"contents": [{"role": "user", "parts": asks.content}]}
    return {"key": ident, "request": request | ({"generation_config": how} if how else {})}


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


def _typed_text(text: str) -> Task:
    return {"type": "text", "text": text}


def _by_address(address: str) -> Task:
    return {"type": "image_url", "image_url": {"url": address}}


def _in_address(kind: str, data: str) -> Task:
    return _by_address(f"data:{kind};base64,{data}")


def _as_source(kind: str, data: str) -> Task:
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


class Family(NamedTuple):
    """What a request of one family of services looks like, and what a file of them may be."""

    most: int  # requests; this and the size are the least that services of the family say
    most_megabytes: int
    request: Callable[[str, str, _Asks], Task]  # by its id and the model
    picture: Callable[[str, str], Task]  # by its type and its data
    address: Callable[[str], Task] | None = None  # of a picture; None: none may be sent
    text: Callable[[str], Task] = _typed_text
    logprobs: bool = False
    ending: str = ".jsonl"
    around: tuple[str, str, str] = ("", "\n", "\n")  # before, between and behind requests


FAMILIES = {
    "openai": Family(50_000, 200, _of_openai, _in_address, _by_address, logprobs=True),
    "mistral": Family(50_000, 100, _of_chat, _in_address, _by_address),
    "anthropic": Family(
        *(100_000, 256, _of_anthropic, _as_source),
        lambda address: {"type": "image", "source": {"type": "url", "url": address}},
        ending=".json",
        around=('{"requests": [\n', ",\n", "\n]}\n"),
    ),
    "gemini": Family(
        *(200_000, 2_000, _of_gemini),
        lambda kind, data: {"inline_data": {"mime_type": kind, "data": data}},
        text=lambda text: {"text": text},
        logprobs=True,
    ),
    "bedrock": Family(50_000, 200, _of_bedrock, _as_source),
}
"""Formats of requests, by the name of ``--for``."""


_Path = tuple[Any, ...]  # keys and positions on the way into JSON; ... goes to each message
_IDS = ("custom_id", "key", "recordId")
# Where a line of results has what a model gave back: Anthropic, Bedrock, OpenAI, and all others.
_BODIES = (("result", "message"), ("modelOutput",), ("response", "body"), ("response",))
# What such a line and its body say of a request that went well, if anything; all else is a failure.
_WELL = {("error",): "", ("status",): "", ("response", "status_code"): 200}
_WELL |= {("result", "type"): "succeeded"}
_TOLD = {path[0] for path in (*_BODIES, *_WELL)}  # a request has none of them


class _Body(NamedTuple):
    """Where a service's body has the reply, as a text or as parts, and why it ended."""

    reply: _Path
    ends: tuple[_Path, ...]  # the first that is there counts


_STOP, _FINISH = (("stop_reason",),), (("finish_reason",),)
_OF_CHOICE = ("choices", 0, "finish_reason"), ("choices", 0, "stop_reason")
_OF_CANDIDATE = ("candidates", 0, "finishReason"), ("candidates", 0, "finish_reason")
_FORMS = (
    _Body(("choices", 0, "message", "content"), _OF_CHOICE),  # chats: OpenAI, Mistral, vLLM
    _Body(("choices", 0, "text"), _OF_CHOICE),  # completions; DeepSeek on Bedrock
    _Body(("candidates", 0, "content", "parts"), _OF_CANDIDATE),  # Gemini
    _Body(("output", ..., "content"), (("incomplete_details", "reason"), ("status",))),  # responses
    _Body(("output", "message", "content"), (("stopReason",),)),  # Nova, Converse
    _Body(("content",), _STOP),  # Anthropic
    _Body(("completion",), _STOP),  # Anthropic, until 2023
    _Body(("generation",), _STOP),  # Llama
    _Body(("results", 0, "outputText"), (("results", 0, "completionReason"),)),  # Titan
    _Body(("outputs", 0, "text"), (("outputs", 0, "stop_reason"),)),  # Mistral on Bedrock
    _Body(("text",), _FINISH),  # Cohere: chat, generate, and the second version
    _Body(("generations", 0, "text"), (("generations", 0, "finish_reason"),)),
    _Body(("message", "content"), _FINISH),
)
_REFUSALS = ("choices", 0, "message", "refusal"), ("promptFeedback", "blockReason")
_USAGE = ("usage",), ("usageMetadata",), ("usage", "tokens"), (), ("results", 0)
_N_IN = (
    *("prompt_tokens", "input_tokens", "promptTokenCount", "inputTokens", "prompt_token_count"),
    "inputTextTokenCount",
)
_N_OUT = (
    *("completion_tokens", "output_tokens", "candidatesTokenCount", "outputTokens"),
    *("generation_token_count", "tokenCount"),
)


class _Result(NamedTuple):
    """What became of one request: a text, or a word why there is none."""

    text: Any  # of a reply that says itself what it is about, any JSON
    failed: str = ""
    told: Any = ""  # by the service, of a request without a text
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
_CUT_BY |= {"model_context_window_exceeded", "error_limit"}
_REFUSED_BY = {"content_filter", "content_filtered", "guardrail_intervened", "refusal", "safety"}
_REFUSED_BY |= {"recitation", "blocklist", "prohibited_content", "spii", "image_safety"}
_REFUSED_BY |= {"error_toxic"}
# A text that ended for a reason that is not known may be half a word.
_ENDED_BY = {"stop", "end_turn", "stop_sequence", "completed", "complete", "eos", "eos_token"}
_ENDED_BY |= {"finish_reason_unspecified", "finish", "stop_criteria_met"}


def _inside(value: Any, *keys: Any) -> Any:
    """Return what lies at these keys and positions; None if anything is not there."""
    for at, key in enumerate(keys):
        if key is ...:  # all that lies at the other keys in each message of a list
            inside = [x for x in _listed(value) if _inside(x, "type") == "message"]
            found = [_inside(each, *keys[at + 1 :]) for each in inside]
            return [part for each in found for part in _listed(each)] if found else None
        if isinstance(key, int):
            value = value[key] if isinstance(value, list) and len(value) > key else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def _id_of(value: Task, place: str) -> str:
    told = next(((value[key], key) for key in _IDS if value.get(key) is not None), None)
    if told is None:
        raise fault(
            place,
            f"is no result with an id ({', '.join(_IDS)}); copy the key of each request into the"
            " line with the same request",
        )
    return str(checked_as(Text, told[0], place, told[1]))


def _result_of(value: Task) -> _Result:
    path = next((p for p in _BODIES if p[-1] in (_inside(value, *p[:-1]) or ())), ("response",))
    body = _inside(value, *path)
    told = [x for path, well in _WELL.items() if (x := _inside(value, *path)) not in (None, well)]
    told.append(_inside(body, "error"))
    if any(told) or not isinstance(body, dict):
        return _Result(None, _FAILED, next(filter(None, told), "no body"))
    return _said_in(body)


def _said_in(body: Task) -> _Result:
    """Return what a body says, in one of the forms that services have."""
    found = [(form, at) for form in _FORMS if (at := _inside(body, *form.reply)) is not None]
    forms = [form for form, _ in found] or _FORMS
    ends = (next(filter(None, (_inside(body, *path) for path in form.ends)), "") for form in forms)
    words = {str(end).casefold() for end in ends} - {""}
    parts = _listed(found[0][1]) if len(found) == 1 and not _are_several(body) else []
    model = body.get("model") or body.get("modelVersion")
    n_in, n_out = _number(body, *_N_IN), _number(body, *_N_OUT)
    about = (model if isinstance(model, str) else None, n_in, n_out)
    refused = any(_inside(body, *path) for path in _REFUSALS)
    if refused or words & _REFUSED_BY or "refusal" in (_inside(part, "type") for part in parts):
        return _Result(None, _REFUSED, ", ".join(sorted(words)), *about)
    if words & _CUT_BY:
        return _Result(None, _CUT, "", *about)
    parts = [{"text": part} if isinstance(part, str) else part for part in parts]
    parts = [part for part in parts if _is_text(part)]
    if not parts or words - _ENDED_BY:
        told = f"ended by {', '.join(sorted(words))}" if words - _ENDED_BY else "not one text"
        return _Result(None, _UNCLEAR, told, *about)
    text = "".join(part["text"] for part in parts)
    return _Result(text, "", "", *about, list(_tokens(body, parts)))


def _are_several(body: Task) -> bool:
    return any(len(_listed(body.get(f.reply[0]))) > 1 for f in _FORMS if 0 in f.reply)


def _is_text(part: Any) -> bool:
    """Return whether a part of a reply is a text that is no thought."""
    is_text = _inside(part, "type") in (None, "text", "output_text")
    return is_text and isinstance(_inside(part, "text"), str) and not _inside(part, "thought")


def _listed(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content] if isinstance(content, str) else []


def _number(body: Task, *names: str) -> int:
    found = (_inside(body, *path, name) for path in _USAGE for name in names)
    return next((n for n in found if type(n) is int and 0 < n < 2**53), 0)


def _tokens(body: Task, parts: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each token of a reply with those that were likely there, as far as a body has them."""
    steps = _inside(body, "choices", 0, "logprobs", "content") or _inside(parts, 0, "logprobs")
    for step in _listed(steps):
        yield _inside(step, "token"), _inside(step, "top_logprobs")
    found = _inside(body, "candidates", 0, "logprobsResult")
    for at, step in enumerate(_listed(_inside(found, "chosenCandidates"))):
        yield _inside(step, "token"), _inside(found, "topCandidates", at, "candidates")


def _confidence(word: Any, text: Any, tokens: Sequence[tuple[Any, Any]]) -> float | None:
    """Return P(word) / (P(yes) + P(no)) at the word of a reply's text; None if it is not told.

    If the other word is not among the likely ones, it is less likely than all of them. The least of
    them then stands for it, if that changes the fourth digit at most.
    """
    likely = _likely(text, tokens)
    if word not in ("yes", "no") or likely is None:
        return None
    shares, least = {"yes": 0.0, "no": 0.0}, 1.0
    for each in _listed(likely):
        told = [_inside(each, name) for name in ("logprob", "logProbability")]
        log = next((log for log in told if isinstance(log, int | float)), 1)
        if not log <= _SMALL:
            return None
        share = math.exp(max(min(log, 0.0), -1e4))
        least = min(least, share)
        if (name := word_of(_inside(each, "token"))) in shares:
            shares[name] += share
    mine, other = shares.pop(word), *shares.values()
    if not mine or (not other and least > _SMALL * mine):
        return None
    return mine / (mine + (other or least))


def _likely(text: Any, tokens: Sequence[tuple[Any, Any]]) -> Any:
    """Return what was likely at the token that begins the word of a text; None if none does.

    Tokens may also have the thinking that came before the text.
    """
    words = [token if isinstance(token, str) else "?" for token, _ in tokens]
    whole = "".join(words)
    said, behind = spoken(str(text)), spoken(whole)
    place = None if behind is None else place_of_word(behind)
    if said is None or behind is None or place is None or said.strip()[:40] != behind.strip()[:40]:
        return None
    ends = itertools.accumulate(map(len, words))
    place += len(whole) - len(behind)
    at = next(at for at, end in enumerate(ends) if end > place)
    return tokens[at][1] if word_of(words[at]) else None


def _are_results(head: Head) -> bool:
    root, keys = head.keys()
    # A model's input may have pictures, so what comes behind it is not in the head.
    return (
        ("custom_id" in keys and not keys.isdisjoint(("response", "result", "error")))
        or ("recordId" in keys and not keys.isdisjoint(("modelInput", "modelOutput", "error")))
        or (root == "{" and "key" in keys and not keys.isdisjoint(("response", "status", "error")))
        or (root == "{" and "request" in keys and not keys.isdisjoint(("response", "status")))
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
        elif not isinstance(value, dict) or _TOLD.isdisjoint(value):
            raise fault(place, "is no result of a request; give the file that the service wrote")
        else:
            ident, result = _id_of(value, place), _result_of(value)
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
        questions = {name: each.question for name, each in asked[ident].items()}
        for name, answer in said_in(questions, result.text).items():
            by_model = said.setdefault((ident, name), {})
            if answer is None:
                worst[ident, name] = result.failed or _UNCLEAR, result.told or result.text
            elif result.model not in by_model:
                sure = _confidence(answer, result.text, result.tokens)
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
            why, told = worst.get(key, (_MISSING, "")) if found is None else (_DOUBLE, "")
            listed = " ".join(key).strip() if why in (_DOUBLE, _UNCLEAR) else key[0]
            told = (spoken(told) or told).strip() if isinstance(told, str) else json.dumps(told)
            shown = f" ({told[:_MOST_LETTERS]!r})" if told else ""
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
RESULTS = Format("results", _TITLE, _are_results, partial(_read, word="results"))


def _has_replies(head: Head) -> bool:
    root, keys = head.keys()
    is_ours = not keys.isdisjoint(("reply", "prompt", "answer_form"))  # the last one of old files
    return root == "{" and "id" in keys and is_ours


_OF_REPLIES = "replies of a language model: the lines of ask --for replies, each with a reply"
_READ_REPLIES = partial(_read, word="replies")
REPLIES = Format("replies", _OF_REPLIES, _has_replies, _READ_REPLIES, takes_question=True)
