"""Read the replies of a language model to questions that stand on JSON lines.

Each line of replies is a question with a field ``reply``, which is JSON in the requested form, or
free text. A free text is read if it is clear; nothing is guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from complabel._opening import fault
from complabel.importers._format import Format, Head, Options, Row, Tally, pieces
from complabel.importers._json import OptionalText, Text, checked, records
from complabel.importers._questions import (
    ALL_APPLY,
    NONE_APPLY,
    UNSURE,
    Question,
    Travelled,
    question_in,
    question_of,
)

_MAX_SHOWN = 3  # unclear replies in a remark
_JUDGMENTS = ("yes", "no", UNSURE)
# Matches a word that stands alone, as in "No." and "**No**, it is a cat", but not "No idea".
_AT_START = re.compile(r"\W*(yes|no|unsure)(?:[^\S\n]*[.,;:!*_`\"')\]]|\s*\n|\s*$)", re.IGNORECASE)
_AGAIN = re.compile(r"\W*(yes|no|unsure)\b", re.IGNORECASE)
_ENDS = " \t\r\n.,;:!?*_`\"'"
_MOST_BRACES = 100  # braces tried as the start of JSON, so that a hostile text cannot take long


class _Line(BaseModel):
    id: Text
    annotator: OptionalText = None
    reply: Any = None


def _recognizes(head: Head) -> bool:
    root, keys = head.keys()
    return root == "{" and "id" in keys and not keys.isdisjoint(("reply", "answer_form"))


def _read(path: Path, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    tally.start("replies", "replies that do not parse", "repeated replies")
    unclear: list[str] = []
    yield from pieces(_rows(path, options, tally, unclear))
    if unclear:
        tally.remark(
            f"{tally.counts['replies that do not parse']:,} replies do not clearly answer the "
            f"question and were left out; the first: {'; '.join(unclear)}"
        )
    if tally.counts["prompts without a reply"]:
        tally.remark(
            f"{tally.counts['prompts without a reply']:,} prompts have no reply yet. Random "
            "questions are a random sample only if all were answered, or all up to some line "
            "and none after it"
        )


def _rows(path: Path, options: Options, tally: Tally, unclear: list[str]) -> Iterator[Row]:
    seen: set[tuple[str, str, str | None]] = set()  # id, what was said, who
    travelled = Travelled()
    for place, value, line in _with_prompts(path, options):
        kind = "asked" if value.get("label") else "named"  # of a line that does not say it
        task = {"question": kind, **value, "answer_id": line.id}
        if question_in(task) is None:
            raise fault(place, "has neither a label nor offered labels; repeat the prompt")
        question = question_of(task, place)
        if line.reply is None or line.reply == "":
            tally.counts["prompts without a reply"] += 1
            continue
        tally.counts["replies"] += 1
        said = _said(question, line.reply)
        if said is None:
            tally.counts["replies that do not parse"] += 1
            shown = line.reply if isinstance(line.reply, str) else json.dumps(line.reply)
            unclear += [f"{place}: {shown[:80]!r}"] * (len(unclear) < _MAX_SHOWN)
        elif (line.id, str(said), line.annotator) in seen:
            tally.counts["repeated replies"] += 1
        else:
            seen.add((line.id, str(said), line.annotator))
            yield from travelled.rows(question, said, place, annotator=line.annotator)


def _said(question: Question, reply: Any) -> str | list[str] | None:
    """Return what a reply says about its question; None if it is not clear."""
    word = _judgment(reply)
    if question.question == "asked":
        return word
    offered, most, fixed = question.offered, question.asked_for, ALL_APPLY
    if question.question == "ticked":
        most, fixed = len(offered), NONE_APPLY
    chosen = _choice(reply, question.question, offered, most, fixed)
    return UNSURE if chosen is None and word == UNSURE else chosen


def _with_prompts(path: Path, options: Options) -> Iterator[tuple[str, Any, _Line]]:
    """Yield each reply with its place and prompt, then the prompts without a line of replies."""
    prompts: dict[str, tuple[str, Any, _Line]] = {}
    for place, value in () if options.prompts is None else records(options.prompts):
        line = checked(_Line, value, place)
        if line.id in prompts:
            raise fault(place, f"id {line.id!r} occurs twice; give each its own id")
        prompts[line.id] = (place, value, line)
    waiting = dict(prompts)
    for place, value in records(path):
        line = checked(_Line, value, place)
        waiting.pop(line.id, None)
        if "item" not in value and line.id not in prompts:
            told = f"has no item, and no prompt with id {line.id!r} is known"
            raise fault(place, f"{told}; repeat the prompt in each line, or give prompts=FILE")
        yield place, value if "item" in value else prompts[line.id][1], line
    yield from waiting.values()


def _judgment(reply: Any) -> str | None:
    """Return "yes", "no" or "unsure"; None if the reply does not clearly say one of them."""
    found = _field(reply, "answer")
    if isinstance(found, str):
        word = found.strip(_ENDS).casefold()
        return word if word in _JUDGMENTS else None
    if found is not None or not isinstance(reply, str):
        return None
    start = _AT_START.match(reply)
    if start is None or _AGAIN.match(reply, start.end()):
        return None
    return start[1].casefold()


def _choice(
    reply: Any, name: str, offered: Sequence[str], most: int, nothing: str
) -> list[str] | None:
    """Return the labels in a field of a reply, [] for ``nothing``; None if it is not clear."""
    found = _field(reply, name)
    if found is None:
        found = reply
    given = found if isinstance(found, list) else [found]
    if not all(isinstance(each, str) for each in given):
        return None
    if not given and (nothing == ALL_APPLY or found is reply):  # an empty list of ticks is clear
        return None
    if len(given) == 1 and given[0].strip(_ENDS).casefold() == nothing:
        return []
    labels = [_offered_label(each, offered) for each in given]
    chosen = [label for label in labels if label is not None]
    plain = len(chosen) == len(set(chosen)) == len(labels) <= most
    return chosen if plain else None


def _offered_label(text: str, offered: Sequence[str]) -> str | None:
    """Return the offered label that equals a text, exactly or without case and punctuation."""
    if text in offered:
        return text
    plain = text.strip(_ENDS).casefold()
    alike = [label for label in offered if label.strip(_ENDS).casefold() == plain]
    return alike[0] if len(alike) == 1 else None


def _field(reply: Any, name: str) -> Any:
    """Return the value of a field in the JSON objects of a reply; None if they differ."""
    objects = [reply] if isinstance(reply, dict) else []
    if isinstance(reply, str):
        objects = list(_objects(reply))
    values = [
        value
        for each in objects
        for key, value in each.items()
        if isinstance(key, str) and key.strip().casefold() == name
    ]
    return values[0] if values and all(value == values[0] for value in values) else None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    at, tried = text.find("{"), 0
    while at != -1 and tried < _MOST_BRACES:
        tried += 1
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if isinstance(found, dict):
                yield found
        at = text.find("{", end)


_TITLE = "replies of a language model: the lines of ask --for replies, each with a reply"
REPLIES = Format("replies", _TITLE, _recognizes, _read)
