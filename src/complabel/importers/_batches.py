"""Batch files of language models: requests out, results in, in the formats of five families.

A request has a short public id, such as ``q000123-5f0c2a``; its end is the same in one file. A
second file beside the requests, ``NAME.ids.jsonl``, says what each id asked. It stays at home.

Results come back in any order. A result that failed, was refused, was cut off, does not parse, is
missing, or is there twice with two answers is counted and left out. Nothing is guessed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import mimetypes
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from complabel._opening import fault
from complabel.errors import InputError
from complabel.importers._format import Format, Head, Options, Row, Tally, pieces, records, some
from complabel.importers._questions import UNSURE, WORDINGS, Question, Task, Travelled, question_of
from complabel.importers._records import said_in_reply

IDS = ".ids.jsonl"
_WORDS = ("yes", "no", UNSURE)
_TOKENS, _TOKENS_OF_LABEL = 1024, 32  # most tokens of a reply, where a request must say it
_MOST_SHOWN = 3


class Family(NamedTuple):
    """How one family of services takes a request."""

    ending: str
    request: Callable[[str, str, list[Any], Task], Task]  # of id, model, content and task
    text: Callable[[str], Any]
    picture: Callable[[str, str], Any]  # of the kind of the picture, and its bytes as base64
    address: Callable[[str], Any] | None  # of a picture that has one; None: it is not taken
    whole: bool = False  # one JSON document


def write_requests(
    tasks: list[Task], path: Path, out: TextIO, *, tool: str, model: str, folder: Path
) -> list[Task]:
    """Write requests; return the lines of the table of ids. Pictures are seen from ``folder``."""
    family = FAMILIES[tool]
    about = [[task["item"], task.get("label"), task.get("offered")] for task in tasks]
    batch = hashlib.sha256(json.dumps(about).encode()).hexdigest()[:6]
    lines: list[Task] = []
    out.write('{"requests": [\n' if family.whole else "")
    for number, task in enumerate(tasks, 1):
        ident, prompt = f"q{number:06}-{batch}", _prompt(task)
        content = [family.text("\n\n".join([prompt, *_words_of_item(task)]))]
        if task.get("image"):
            content.append(_picture(family, str(task["image"]), folder, path))
        between = ",\n" if family.whole and number > 1 else ""
        request = family.request(ident, model, content, task)
        out.write(between + json.dumps(request, ensure_ascii=False) + "\n" * (not family.whole))
        plain = prompt.replace(repr(task.get("label")), "LABEL")
        digest = hashlib.sha256(plain.encode()).hexdigest()[:8]
        kept = {name: each for name, each in task.items() if name not in ("text", "image", "url")}
        lines.append({"id": ident, **kept, "annotator": f"{model} {digest}"})
    out.write("\n]}\n" if family.whole else "")
    return lines


def _prompt(task: Task) -> str:
    if task["question"] != "ticked":
        return WORDINGS[task["question"]].sentence(task)
    labels = json.dumps(task["offered"], ensure_ascii=False)
    return (
        "For each of these labels, say whether it applies to this item. Answer with one JSON"
        ' object that has each label as a key, with the value "yes", "no" or "unsure". The labels:'
        f" {labels}"
    )


def _words_of_item(task: Task) -> Iterator[str]:
    if task.get("text"):
        yield f"The item is this text:\n{task['text']}"
    if task.get("image"):
        yield "The item is this picture."
    if task.get("url"):
        yield f"The item is this page: {task['url']}"


def _picture(family: Family, named: str, folder: Path, path: Path) -> Any:
    if "://" in named or named.startswith("data:"):
        if family.address is None or named.startswith("data:"):
            raise InputError(
                f"{path}: the picture {named:.60} cannot be sent by its address here; give the path"
                " of a file"
            )
        return family.address(named)
    kind = mimetypes.guess_type(named)[0]
    if kind is None or not kind.startswith("image/"):
        raise InputError(f"{named}: its ending is not that of a picture, such as .jpg or .png")
    try:
        raw = (folder / named).read_bytes()
    except OSError as error:
        raise InputError(f"{folder / named}: this picture cannot be read: {error}") from error
    return family.picture(kind, base64.b64encode(raw).decode("ascii"))


def _most_tokens(task: Task) -> int:
    return _TOKENS + _TOKENS_OF_LABEL * len(task.get("offered") or ())


def _schema(task: Task) -> Task:
    labels = list(task["offered"])
    of_each = {label: {"type": "string", "enum": list(_WORDS)} for label in labels}
    return {"type": "object", "properties": of_each, "required": labels}


def _chat(model: str, content: list[Any], task: Task) -> Task:
    body: Task = {"model": model, "messages": [{"role": "user", "content": content}]}
    if task["question"] == "ticked":
        schema = {**_schema(task), "additionalProperties": False}
        told = {"name": "labels", "strict": True, "schema": schema}
        body["response_format"] = {"type": "json_schema", "json_schema": told}
    return body


def _openai(ident: str, model: str, content: list[Any], task: Task) -> Task:
    where = {"method": "POST", "url": "/v1/chat/completions"}
    return {"custom_id": ident, **where, "body": _chat(model, content, task)}


def _mistral(ident: str, model: str, content: list[Any], task: Task) -> Task:
    return {"custom_id": ident, "body": _chat(model, content, task)}


def _message(content: list[Any], task: Task) -> Task:
    return {
        "max_tokens": _most_tokens(task),
        "messages": [{"role": "user", "content": content}],
    }


def _anthropic(ident: str, model: str, content: list[Any], task: Task) -> Task:
    return {"custom_id": ident, "params": {"model": model, **_message(content, task)}}


def _bedrock(ident: str, _: str, content: list[Any], task: Task) -> Task:
    version = {"anthropic_version": "bedrock-2023-05-31"}
    return {"recordId": ident, "modelInput": {**version, **_message(content, task)}}


def _gemini(ident: str, _: str, content: list[Any], task: Task) -> Task:
    request: Task = {"contents": [{"role": "user", "parts": content}]}
    if task["question"] == "ticked":
        how = {"response_mime_type": "application/json", "response_schema": _schema(task)}
        request["generation_config"] = how
    return {"key": ident, "request": request}


def _text_part(text: str) -> Any:
    return {"type": "text", "text": text}


def _image_url(address: str) -> Any:
    return {"type": "image_url", "image_url": {"url": address}}


def _data_url(kind: str, data: str) -> Any:
    return _image_url(f"data:{kind};base64,{data}")


def _source(kind: str, data: str) -> Any:
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


def _source_at(address: str) -> Any:
    return {"type": "image", "source": {"type": "url", "url": address}}


def _inline(kind: str, data: str) -> Any:
    return {"inline_data": {"mime_type": kind, "data": data}}


FAMILIES = {
    "openai": Family(".jsonl", _openai, _text_part, _data_url, _image_url),
    "mistral": Family(".jsonl", _mistral, _text_part, _data_url, _image_url),
    "anthropic": Family(".json", _anthropic, _text_part, _source, _source_at, whole=True),
    "gemini": Family(".jsonl", _gemini, lambda text: {"text": text}, _inline, None),
    "bedrock": Family(".jsonl", _bedrock, _text_part, _source, None),
}
"""Formats of requests, by the name of ``--for``."""


class _Result(NamedTuple):
    """What became of one request: a text, or a word why there is none."""

    text: str | None
    failed: str = ""
    model: str | None = None
    n_in: int = 0
    n_out: int = 0


_FAILED, _REFUSED = "requests that failed", "requests that the model refused"
_CUT, _UNCLEAR = "replies that were cut off", "replies that do not parse"
_MISSING, _DOUBLE = "requests without a result", "requests with two different replies"
_CUT_BY = ("length", "max_tokens", "max_output_tokens", "incomplete")
_REFUSED_BY = (
    *("content_filter", "refusal", "safety", "recitation", "blocklist", "spii"),
    *("prohibited_content", "guardrail_intervened", "content_filtered"),
)


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
        status = _inside(body, "status_code")
        if status is not None and status != 200:
            return _Result(None, _FAILED)
        if isinstance(body, dict) and "body" in body:
            body = body["body"]
    if value.get("error") or not isinstance(body, dict) or _inside(body, "error"):
        return _Result(None, _FAILED)
    return _said_in(body)


def _said_in(body: Task) -> _Result:
    """Return the text of a body: of a chat, a response, a message or candidates."""
    several = _inside(body, "choices") or _inside(body, "candidates")
    if isinstance(several, list) and len(several) > 1:
        return _Result(None, _UNCLEAR)
    parts, ends = _parts_and_ends(body)
    words = {str(end).casefold() for end in ends if end}
    model = next((m for m in (body.get("model"), body.get("modelVersion")) if m), None)
    usage = _inside(body, "usage") or _inside(body, "usageMetadata")
    n_in = _number(usage, "prompt_tokens", "input_tokens", "promptTokenCount", "inputTokens")
    n_out = _number(
        usage, "completion_tokens", "output_tokens", "candidatesTokenCount", "outputTokens"
    )
    told = (model if isinstance(model, str) else None, n_in, n_out)
    refusal = _inside(body, "choices", 0, "message", "refusal")
    blocked = _inside(body, "promptFeedback", "blockReason")
    kinds = [_inside(part, "type") for part in parts]
    if refusal or blocked or "refusal" in kinds or words & {*_REFUSED_BY}:
        return _Result(None, _REFUSED, *told)
    if words & {*_CUT_BY}:
        return _Result(None, _CUT, *told)
    texts = [
        part if isinstance(part, str) else part["text"]
        for part in parts
        if isinstance(part, str)
        or (isinstance(_inside(part, "text"), str) and not _inside(part, "thought"))
    ]
    return _Result("".join(texts), "", *told) if texts else _Result(None, _UNCLEAR, *told)


def _parts_and_ends(body: Task) -> tuple[list[Any], list[Any]]:
    if "choices" in body:
        content = _inside(body, "choices", 0, "message", "content")
        ends = [_inside(body, "choices", 0, "finish_reason")]
    elif "candidates" in body:
        content = _inside(body, "candidates", 0, "content", "parts")
        ends = [_inside(body, "candidates", 0, "finishReason")]
        ends.append(_inside(body, "candidates", 0, "finish_reason"))
    elif isinstance(body.get("output"), list):  # of /v1/responses
        messages = [each for each in body["output"] if _inside(each, "type") == "message"]
        content = [part for each in messages for part in _listed(_inside(each, "content"))]
        ends = [_inside(body, "incomplete_details", "reason")]
        ends.append("incomplete" if body.get("status") == "incomplete" else None)
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
    return next((n for n in found if isinstance(n, int) and not isinstance(n, bool)), 0)


def _are_results(head: Head) -> bool:
    root, keys = head.keys()
    if root != "{":
        return False
    return (
        ("custom_id" in keys and not keys.isdisjoint(("response", "result", "error")))
        or ("key" in keys and not keys.isdisjoint(("response", "status", "error")))
        or ("recordId" in keys and not keys.isdisjoint(("modelOutput", "error")))
    )


def _read_results(path: Path, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    tally.start("results", _FAILED, _REFUSED, _CUT, _UNCLEAR, _DOUBLE, _MISSING)
    yield from pieces(_rows(path, options, tally))


def _rows(path: Path, options: Options, tally: Tally) -> Iterator[Row]:
    asked: dict[str, tuple[str, Task, Question]] | None = None
    said: dict[str, tuple[Any, str | None]] = {}
    worst: dict[str, str] = {}  # of requests without a clear answer, the last reason
    n_in = n_out = 0
    for place, value in records(path):
        if not isinstance(value, dict) or not isinstance(_id_of(value), str):
            raise fault(place, "is no result with an id (custom_id, key or recordId)")
        ident = _id_of(value)
        asked = asked or _asked(path, options, ident)
        if ident not in asked:
            raise fault(place, f"the table of ids does not have the id {ident!r}")
        tally.counts["results"] += 1
        result = _result_of(value)
        n_in, n_out = n_in + result.n_in, n_out + result.n_out
        if result.text is None:
            worst[ident] = result.failed
            continue
        answer = _answer_in(asked[ident][2], result.text)
        if answer is None:
            worst[ident] = _UNCLEAR
        elif ident in said and said[ident][0] != answer:
            said[ident] = (None, None)
        else:
            said[ident] = (answer, result.model)
    yield from _answers(asked or {}, said, worst, tally)
    if n_in or n_out:
        tally.remark(f"The requests had {n_in:,} tokens, and the replies {n_out:,}.")


def _answers(
    asked: dict[str, tuple[str, Task, Question]],
    said: dict[str, tuple[Any, str | None]],
    worst: dict[str, str],
    tally: Tally,
) -> Iterator[Row]:
    """Yield rows in the order of the requests; count and list those without an answer."""
    travelled, without = Travelled(), dict[str, list[str]]()
    for ident, (place, task, question) in asked.items():
        answer, model = said.get(ident, (None, None))
        if answer is None:
            why = _DOUBLE if ident in said else worst.get(ident, _MISSING)
            tally.counts[why] += 1
            without.setdefault(why, []).append(ident)
            continue
        digest = str(task.get("annotator") or "").rpartition(" ")[2]
        who = f"{model} {digest}" if model else task.get("annotator")
        open_: set[str] = set()
        if isinstance(answer, dict):
            open_ = {label for label, word in answer.items() if word == UNSURE}
            answer = [label for label, word in answer.items() if word == "yes"]
        rows = travelled.rows(question, answer, place, annotator=who)
        first = len(rows) - len(question.offered or [""])
        for at, row in enumerate(rows):
            yield row._replace(answer=UNSURE) if at >= first and row.label in open_ else row
    for why, idents in without.items():
        tally.remark(f"{why}: {len(idents):,}, such as {some(idents[:_MOST_SHOWN])}")


def _answer_in(question: Question, text: str) -> Any:
    """Return what a text says: a word, labels, or a word for each label; None: it is not clear."""
    if question.question != "ticked":
        return said_in_reply(question, text)
    found = [each for each in _plain_objects(text) if each.keys() & {*question.offered}]
    if len(found) != 1 or found[0].keys() != {*question.offered}:
        return None
    words = {
        label: word.strip().casefold() if isinstance(word, str) else None
        for label, word in found[0].items()
    }
    return words if all(word in _WORDS for word in words.values()) else None


def _plain_objects(text: str) -> Iterator[Task]:
    """Yield the JSON objects in a text; nothing if a key is there twice."""

    def once(pairs: list[tuple[str, Any]]) -> Task:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key is there twice")
        return dict(pairs)

    decoder, at = json.JSONDecoder(object_pairs_hook=once), text.find("{")
    for _ in range(100):  # a hostile text cannot take long
        if at == -1:
            return
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield found
        at = text.find("{", end)


def _asked(path: Path, options: Options, ident: str) -> dict[str, tuple[str, Task, Question]]:
    """Return what each id asked, from the table of ids that holds this one."""
    tables = [options.prompts] if options.prompts is not None else sorted(_tables_beside(path))
    for table in tables:
        found: dict[str, tuple[str, Task, Question]] = {}
        for place, line in records(table):
            if not isinstance(line, dict) or not isinstance(line.get("id"), str):
                raise fault(place, "is no line of a table of ids")
            if line["id"] in found:
                raise fault(place, f"id {line['id']!r} occurs twice; give each its own id")
            # The end of an id is the same in one file of requests.
            if not found and line["id"].rpartition("-")[2] != ident.rpartition("-")[2]:
                break
            found[line["id"]] = (place, line, question_of(line, place))
        if found:
            return found
    raise fault(
        path,
        f"no table of ids has {ident!r}; put the file that complabel ask wrote beside the requests,"
        f" whose name ends in {IDS}, into the folder of the results",
    )


def _tables_beside(path: Path) -> Sequence[Path]:
    return list(path.absolute().parent.glob(f"*{IDS}"))


_TITLE = "results of a language model's batch: OpenAI, Mistral, Anthropic, Gemini, Bedrock"
RESULTS = Format("results", _TITLE, _are_results, _read_results)
