"""Read the replies of a language model: JSON lines, each a prompt with a reply."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from complabel.errors import DatasetFormatError
from complabel.files import COLUMNS
from complabel.importers._format import Format, Head, Options, Tally
from complabel.importers._parse_reply import parse_judgment, parse_naming
from complabel.importers._reading import open_binary, text_lines

_AT_ONCE = 20_000  # rows of a piece
_MAX_SHOWN = 3  # unclear replies in a remark
_COLUMNS = tuple(name for name in COLUMNS if name != "time")


def _recognizes(head: Head) -> bool:
    line = head.start.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and "id" in first and ("reply" in first or _FORM in first)


_FORM = "answer_form"


def _read(path: Path, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    """Read replies; unclear replies are counted and left out."""
    prompts = {} if options.prompts is None else _prompts(options.prompts)
    replies = _Replies(tally)
    rows: list[dict[str, Any]] = []
    for place, line in _lines(path):
        name = _name(place, line)
        asked = line if "item" in line else prompts.get(name)
        if asked is None:
            raise DatasetFormatError(
                f"{place}: has no item, and no prompt with id {name!r} is known; repeat the prompt "
                "in each line, or give the file of prompts (prompts=..., --prompts FILE)"
            )
        prompts.pop(name, None)
        rows += replies.read(place, name, asked, line)
        if len(rows) >= _AT_ONCE:
            yield _piece(rows)
            rows = []
    for name, prompt in prompts.items():  # prompts without a line: known before, or unanswered
        rows += replies.read(str(options.prompts), name, prompt, prompt)
    yield _piece(rows)
    replies.finish()


@dataclass
class _Replies:
    """Turns replies into rows, and counts unclear, missing and repeated replies."""

    tally: Tally
    seen: dict[str, set[str]] = field(default_factory=dict)  # the answers so far, by id
    unclear: list[str] = field(default_factory=list)

    def read(
        self, place: str, name: str, asked: dict[str, Any], line: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """Return the rows of one reply; an empty list if it is missing, unclear or repeated."""
        prompt = _Prompt.of(place, asked)
        reply = line.get("reply")
        if reply is None or reply == "":
            self.tally.counts["prompts without a reply"] += 1
            return []
        self.tally.counts["replies"] += 1
        rows = prompt.rows(reply)
        if not rows:
            self.tally.counts["replies that do not parse"] += 1
            if len(self.unclear) < _MAX_SHOWN:
                shown = reply if isinstance(reply, str) else json.dumps(reply)
                self.unclear.append(f"{place}: {shown[:80]!r}")
            return []
        annotator = _text(place, line, "annotator")
        said = json.dumps([rows, annotator])
        before = self.seen.setdefault(name, set())
        if said in before:
            self.tally.counts["repeated replies"] += 1
            return []
        before.add(said)
        answer_id = name if len(before) == 1 else f"{name} ({len(before)})"
        return [{**row, "answer_id": answer_id, "annotator": annotator} for row in rows]

    def finish(self) -> None:
        """Add remarks on the replies that were left out."""
        counts = self.tally.counts
        if self.unclear:
            self.tally.remark(
                f"{counts['replies that do not parse']:,} replies do not clearly answer the "
                f"question and were left out; the first: {'; '.join(self.unclear)}"
            )
        if counts["prompts without a reply"]:
            self.tally.remark(
                f"{counts['prompts without a reply']:,} prompts have no reply yet. Random "
                "questions are a random sample only if all were answered, or all up to some line "
                "and none after it"
            )


@dataclass(frozen=True)
class _Prompt:
    """The fields of a prompt."""

    item: str
    label: str | None
    offered: list[str]
    asked_for: int
    probability: float | None

    @classmethod
    def of(cls, place: str, asked: dict[str, Any]) -> _Prompt:
        """Read and check the fields of a prompt."""
        item = _text(place, asked, "item")
        if not item:
            raise DatasetFormatError(f"{place}: has no item; repeat the prompt in each line")
        label = _text(place, asked, "label")
        offered = asked.get("offered") or []
        if not isinstance(offered, list) or not all(isinstance(each, str) for each in offered):
            raise _misshapen(place, "offered", offered, "a list of labels")
        if label is None and len(offered) < 2:
            raise DatasetFormatError(
                f"{place}: has neither a label nor offered labels; repeat the prompt in each line"
            )
        wanted = asked.get("asked_for") or 1
        if type(wanted) is not int or not 1 <= wanted < 2**31:
            raise _misshapen(place, "asked_for", wanted, "a whole number of at least 1")
        chance = asked.get("probability")
        if chance is not None and (type(chance) not in (int, float) or not 0 < chance <= 1):
            raise _misshapen(place, "probability", chance, "above 0 and at most 1")
        return cls(item, label, offered, wanted, chance)

    def rows(self, reply: Any) -> list[dict[str, Any]]:
        """Return the rows of a reply; an empty list if it is not clear."""
        row = {"item": self.item, "probability": self.probability}
        if self.label is not None:
            word = parse_judgment(reply)
            row |= {"label": self.label, "question": "asked"}
            return [] if word is None else [{**row, "answer": word}]
        named = parse_naming(reply, self.offered, self.asked_for)
        row |= {
            "question": "named",
            "offered": json.dumps(self.offered, ensure_ascii=False),
            "asked_for": self.asked_for,
        }
        if named is None:
            return []
        if not named:
            return [{**row, "answer": "yes"}]
        return [{**row, "label": label, "answer": "no"} for label in named]


def _prompts(path: Path) -> dict[str, dict[str, Any]]:
    """Read the prompts that were sent, by id."""
    prompts: dict[str, dict[str, Any]] = {}
    for place, line in _lines(path):
        name = _name(place, line)
        if name in prompts:
            raise DatasetFormatError(f"{place}: id {name!r} occurs twice; give each its own id")
        prompts[name] = line
    return prompts


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a file of JSON lines, with their places."""
    with open_binary(path) as file:
        for number, text in enumerate(text_lines(path, file), 1):
            if not text.strip():
                continue
            place = f"{path}, line {number}"
            try:
                line = json.loads(text)
                text.encode()
                json.dumps(line, ensure_ascii=False).encode()
            except (ValueError, RecursionError) as cause:
                raise DatasetFormatError(
                    f"{place}: is not valid JSON ({str(cause)[:80]}); give one object on each line"
                ) from cause
            if not isinstance(line, dict):
                raise DatasetFormatError(f"{place}: is not a JSON object; give one on each line")
            yield place, line


def _name(place: str, line: dict[str, Any]) -> str:
    name = _text(place, line, "id")
    if not name:
        raise DatasetFormatError(f"{place}: has no id; keep the id of its prompt")
    return name


def _text(place: str, line: dict[str, Any], name: str) -> str | None:
    """Return a field that is a text or a whole number."""
    value = line.get(name)
    if value is None or value == "":
        return None
    if type(value) not in (str, int):
        raise _misshapen(place, name, value, "a text")
    return str(value)


def _misshapen(place: str, name: str, value: Any, wanted: str) -> DatasetFormatError:
    return DatasetFormatError(f"{place}: has {name} {str(value)[:40]!r}; it must be {wanted}")


def _piece(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: [row.get(name) for row in rows] for name in _COLUMNS}


REPLIES = Format(
    name="replies",
    title="replies of a language model: the JSON lines of --prompts, each with a reply",
    recognizes=_recognizes,
    read=_read,
)
"""``reply`` is JSON in the requested form, or begins with yes, no or unsure."""
