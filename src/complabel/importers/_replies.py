"""Write questions as JSON lines for a language model or another tool, and read its replies.

Each line of replies is a prompt with a field ``reply``, which is JSON in the requested form, or
free text. A free text is read if it is clear; nothing is guessed.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from complabel._opening import fault
from complabel._writing import explained, replacing
from complabel.errors import InputError
from complabel.files import answers_to_arrow
from complabel.importers._format import Format, Head, Options, Row, Tally, as_json, pieces
from complabel.importers._json import Chance, OptionalText, Text, checked, records

ALL_APPLY = "all apply"  # the reply if all offered labels apply
NONE_APPLY = "none apply"  # the reply of somebody who ticks no label

_COLUMNS = (
    *("answer_id", "item", "label", "answer", "question", "offered", "asked_for"),
    "probability",
)
_MAX_SHOWN = 3  # unclear replies in a remark
_JUDGMENTS = ("yes", "no", "unsure")
# Matches a word that stands alone, as in "No." and "**No**, it is a cat", but not "No idea".
_AT_START = re.compile(r"\W*(yes|no|unsure)(?:[^\S\n]*[.,;:!*_`\"')\]]|\s*\n|\s*$)", re.IGNORECASE)
_AGAIN = re.compile(r"\W*(yes|no|unsure)\b", re.IGNORECASE)
_ENDS = " \t\r\n.,;:!?*_`\"'"
_MOST_BRACES = 100  # braces tried as the start of JSON, so that a hostile text cannot take long


def write_prompts(
    table: Any,
    path: str | os.PathLike[str],
    *,
    item_texts: Mapping[Any, str] | None = None,
    label_names: Sequence[str] | None = None,
) -> int:
    """Write questions as JSON lines, one prompt on each; ``--from replies`` reads the replies.

    A file that ends in ``.json`` holds them as tasks for Label Studio.

    Parameters
    ----------
    table : pandas.DataFrame, or mapping of column names to columns
        Questions as :func:`complabel.asking.suggest_questions` returns them; the rows of one to
        tick follow each other. A row with the question "named" has ``offered`` instead of
        ``label``, and may have ``asked_for``.
    path : path
        The file to write.
    item_texts : mapping of item to str, or None, default=None
        Texts for the field ``text`` of the prompts.
    label_names : sequence of str, or None, default=None
        All labels; they are offered by "named" questions without ``offered``.

    Returns
    -------
    int
        Number of prompts that need a reply.

    Raises
    ------
    InputError
        If the table has other questions, one without labels, a naming that is already answered, or
        an item without a text.
    OutputError
        If the file cannot be written.

    Notes
    -----
    Return each line with a field ``reply``, free text or JSON, and if you like ``annotator``. Keep
    lines that already have a ``reply``: known answers belong to the random sample.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "prompts.jsonl"
    >>> questions = {"item": [4], "label": ["dog"], "question": ["asked"], "probability": [0.5]}
    >>> write_prompts(questions, path, item_texts={4: "A puppy in the snow."})
    1
    >>> json.loads(path.read_text())["question"]
    "Does the label 'dog' apply to this item? Answer yes, no, or unsure."
    """
    prompts = list(_prompts(table, item_texts, label_names))
    target = Path(path)
    texts = [json.dumps(prompt, ensure_ascii=False) + "\n" for prompt in prompts]
    if target.suffix == ".json":
        tasks = [prompt | _choices_of(prompt) for prompt in prompts]
        texts = [json.dumps(tasks, ensure_ascii=False, indent=1)]
    with (
        explained(target),
        replacing(target) as partial,
        partial.open("w", encoding="utf-8") as out,
    ):
        out.writelines(texts)
    return sum("reply" not in prompt for prompt in prompts)


def _prompts(
    table: Any, item_texts: Mapping[Any, str] | None, label_names: Sequence[str] | None
) -> Iterator[dict[str, Any]]:
    there = [name for name in _COLUMNS if name in getattr(table, "columns", table)]
    rows = answers_to_arrow({name: table[name] for name in there}).select(_COLUMNS).to_pylist()
    texts = None if item_texts is None else {str(item): text for item, text in item_texts.items()}
    width = len(str(len(rows)))
    forms = [  # the first row of each question with its number, and all its rows
        list(form) for _, form in itertools.groupby(enumerate(rows, 1), _question_of)
    ]
    for form in forms:
        number, row = form[0]
        place = f"row {number} of the questions"
        prompt: dict[str, Any] = {"id": f"q{number:0{width}}", "item": row["item"]}
        if texts is not None:
            if row["item"] not in texts:
                raise InputError(f"{place}: there is no text for item {row['item']!r} (item_texts)")
            prompt["text"] = texts[row["item"]]
        kind = row["question"] or ("asked" if row["label"] else "named")
        if kind == "asked":
            prompt |= _asked(row, place)
        elif kind == "named":
            prompt |= _named(row, label_names, place)
        elif kind == "ticked":
            prompt |= _ticked([each for _, each in form], place)
        else:
            told = f"{kind!r} cannot become a prompt"
            raise InputError(f"{place}: {told}; give asked, ticked or named")
        if row["probability"] is not None:
            prompt["probability"] = row["probability"]
        yield prompt


def _choices_of(prompt: Mapping[str, Any]) -> dict[str, Any]:
    """Return the field from which a form of Label Studio takes its choices, if there is a menu."""
    menu = prompt.get("offered")
    return {} if menu is None else {"options": [{"value": label} for label in menu]}


def _question_of(numbered: tuple[int, Mapping[str, Any]]) -> tuple[str, Any]:
    number, row = numbered
    is_form = row["question"] == "ticked" and row["answer_id"] is not None
    return ("form", row["answer_id"]) if is_form else ("row", number)


def _ticked(rows: Sequence[Mapping[str, Any]], place: str) -> dict[str, Any]:
    menu = [row["label"] for row in rows]
    if len(menu) < 2 or None in menu:
        told = "a question to tick needs a row with the same answer_id for each label"
        raise InputError(f"{place}: {told}; fill them in")
    if NONE_APPLY in map(str.casefold, menu):
        raise InputError(f"{place}: {NONE_APPLY!r} is a fixed answer; rename the label")
    ticked = [row["label"] for row in rows if row["answer"] == "yes"]
    is_known = any(row["answer"] is not None for row in rows)
    return {
        "kind": "ticked",
        "question": f"Which of these labels apply to this item: {', '.join(map(repr, menu))}? "
        f"List all that apply. If none of them applies, say '{NONE_APPLY}'.",
        "offered": menu,
        "answer_form": {"ticked": ["<each of offered that applies>", "..."]},
        **({"reply": {"ticked": ticked}} if is_known else {}),
    }


def _asked(row: Mapping[str, Any], place: str) -> dict[str, Any]:
    if row["label"] is None:
        raise InputError(f"{place}: has no label; fill it in")
    known = {} if row["answer"] is None else {"reply": row["answer"]}
    return {
        "label": row["label"],
        "question": f"Does the label {row['label']!r} apply to this item? Answer yes, no, or "
        "unsure.",
        "answer_form": {"answer": "yes | no | unsure"},
        **known,
    }


def _named(row: Mapping[str, Any], label_names: Sequence[str] | None, place: str) -> dict[str, Any]:
    if row["answer"] is not None or row["label"] is not None:
        raise InputError(f"{place}: a naming is already answered; leave such rows out")
    menu = list(label_names or ()) if row["offered"] is None else json.loads(row["offered"])
    if len(menu) < 2:
        raise InputError(f"{place}: offers {len(menu)} labels; give offered, or label_names=[...]")
    if ALL_APPLY in map(str.casefold, menu):
        raise InputError(f"{place}: {ALL_APPLY!r} is a fixed answer; rename the label")
    wanted = row["asked_for"] or 1
    listed = ", ".join(map(repr, menu))
    if wanted == 1:
        question = f"Name one of these labels that does not apply to this item: {listed}."
        form: Any = f"<one of offered, or '{ALL_APPLY}'>"
    else:
        question = (
            f"Name {wanted} of these labels that do not apply to this item, fewer only if no "
            f"others do not apply: {listed}."
        )
        form = [f"<up to {wanted} of offered>", "..."]
    return {
        "question": f"{question} If all of them apply, say '{ALL_APPLY}'.",
        "offered": menu,
        **({} if wanted == 1 else {"asked_for": wanted}),
        "answer_form": {"named": form},
    }


class _Prompt(BaseModel):
    item: Text
    kind: Any = None
    label: OptionalText = None
    offered: list[Text] | None = None
    asked_for: int | None = Field(None, strict=True, ge=1, lt=2**31)
    probability: Chance | None = None

    def rows(self, reply: Any, annotator: str | None) -> list[Row]:
        """Return the rows of a reply, without an id; an empty list if it is not clear."""
        shared: dict[str, Any] = {"annotator": annotator, "probability": self.probability}
        if self.label is not None:
            word = _judgment(reply)
            row = Row(None, self.item, self.label, word or "", "asked", **shared)
            return [] if word is None else [row]
        offered, wanted = self.offered or [], self.asked_for or 1
        if self.kind == "ticked":
            ticked = _choice(reply, "ticked", offered, len(offered), NONE_APPLY)
            shared["offered"] = as_json(tuple(offered))
            words = [(label, "yes" if label in (ticked or ()) else "no") for label in offered]
            rows = [Row(None, self.item, label, word, "ticked", **shared) for label, word in words]
            return [] if ticked is None else rows
        named = _choice(reply, "named", offered, wanted, ALL_APPLY)
        if named is None:
            return []
        shared |= {"offered": as_json(tuple(offered)), "asked_for": wanted}
        said = [(label, "no") for label in named] or [("", "yes")]
        return [Row(None, self.item, label, word, "named", **shared) for label, word in said]


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
    seen: dict[str, list[list[Row]]] = {}  # the answers so far, by id
    for place, value, line in _with_prompts(path, options):
        prompt = checked(_Prompt, value, place)
        if prompt.label is None and len(prompt.offered or ()) < 2:
            raise fault(place, "has neither a label nor offered labels; repeat the prompt")
        if line.reply is None or line.reply == "":
            tally.counts["prompts without a reply"] += 1
            continue
        tally.counts["replies"] += 1
        rows = prompt.rows(line.reply, line.annotator)
        if not rows:
            tally.counts["replies that do not parse"] += 1
            shown = line.reply if isinstance(line.reply, str) else json.dumps(line.reply)
            unclear += [f"{place}: {shown[:80]!r}"] * (len(unclear) < _MAX_SHOWN)
            continue
        before = seen.setdefault(line.id, [])
        if rows in before:
            tally.counts["repeated replies"] += 1
            continue
        before.append(rows)
        answer_id = line.id if len(before) == 1 else f"{line.id} ({len(before)})"
        for row in rows:
            yield row._replace(answer_id=answer_id)


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


_TITLE = "replies of a language model: the JSON lines of --prompts, each with a reply"
REPLIES = Format("replies", _TITLE, _recognizes, _read)
