"""Read records of Argilla 2 with their responses, flattened, as a JSON list or JSON lines.

``dataset.records(with_responses=True).to_list(flatten=True)`` makes three lists for each question:
values in ``QUESTION.responses``, users in ``QUESTION.responses.users`` and states in
``QUESTION.responses.status``. All responses of one user to one record are one form. Only submitted
responses count: a draft is not finished, and a discarded record has no answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from complabel.errors import DatasetFormatError
from complabel.importers._controls import Controls, Form, rows_of, settle
from complabel.importers._format import Format, Head, Options, Tally
from complabel.importers._json import (
    list_of,
    optional_text,
    read_records,
    shown,
    text_of,
    texts_of,
)
from complabel.importers._peek import first_keys
from complabel.importers._rows import Row, note, pieces, say_unused

_END = ".responses"
_NESTED = frozenset(("fields", "responses", "_server_id"))
_COUNTED = (
    "records",
    "records without a response",
    "responses",
    "discarded responses",
    "draft responses",
    "responses without a status",
    "empty responses",
    "answers",
)


def _recognizes(head: Head) -> bool:
    """Return whether these are records of Argilla, flattened or not."""
    _, keys = first_keys(head.start)
    return keys >= _NESTED or any(key.endswith(_END) for key in keys)


def _read(path: Path, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    """Read records of Argilla."""
    counts: Counter[str] = Counter()
    forms = list(_forms(path, options, tally, counts))
    uses = Counter(name for form in forms for name, labels in form.chosen.items() if labels)
    controls = settle(uses, options, tally, path, word="question")
    say_unused(options, tally, "Argilla's", "random_questions")
    yield from pieces(_rows(forms, controls, options, tally, counts))
    note(tally, counts, _COUNTED)


def _rows(
    forms: list[Form], controls: Controls, options: Options, tally: Tally, counts: Counter[str]
) -> Iterator[Row]:
    """Yield the rows of all forms, and count answers and empty responses."""
    for form in forms:
        rows = rows_of(form, controls, options, tally)
        counts["empty responses"] += not rows
        counts["answers"] += len({row.answer_id for row in rows})
        yield from rows


@dataclass
class _Person:
    """The responses of one user to one record."""

    name: str | None
    status: str | None = None
    chosen: dict[str, list[str]] = field(default_factory=dict)


def _forms(path: Path, options: Options, tally: Tally, counts: Counter[str]) -> Iterator[Form]:
    """Yield a form for each user who submitted a response to a record."""
    for number, (place, record) in enumerate(read_records(path), 1):
        if record.keys() >= _NESTED and isinstance(record["responses"], dict):
            raise DatasetFormatError(
                f"{place} is not flattened, so it does not say which responses were submitted;"
                " save what dataset.records(with_responses=True).to_list(flatten=True) returns"
            )
        counts["records"] += 1
        people = _people(record, place, tally)
        counts["records without a response"] += not people
        for at, person in enumerate(people.values(), 1):
            counts["responses"] += 1
            if person.status != "submitted":
                known = person.status in ("discarded", "draft")
                word = f"{person.status} responses" if known else "responses without a status"
                counts[word] += 1
                continue
            name = options.item or "id"
            yield Form(
                place=place,
                answer_id=f"{number}.{at}",
                item=text_of(record.get(name), place, name),
                chosen=person.chosen,
                annotator=person.name,
            )


def _people(record: dict[str, Any], place: str, tally: Tally) -> dict[str, _Person]:
    """Return the users who responded to a record, with their responses."""
    people: dict[str, _Person] = {}
    for key, values in record.items():
        if not key.endswith(_END) or values is None:
            continue
        question = key.removesuffix(_END)
        values = list_of(values, place, shown(key))
        users = _beside(record, f"{key}.users", values, place)
        states = _beside(record, f"{key}.status", values, place)
        if states is None:
            tally.remark("The records do not say which responses were submitted; all are read.")
        for at, value in enumerate(values):
            user = optional_text(users[at], place, f"{key}.users") if users else None
            status = optional_text(states[at], place, f"{key}.status") if states else "submitted"
            person = people.setdefault(user or f"number {at}", _Person(user))
            if person.status != "submitted":
                person.status = status
            if status == "submitted":
                labels = _labels(value, place, shown(key))
                person.chosen.setdefault(question, []).extend(labels)
    return people


def _beside(record: dict[str, Any], key: str, values: list[Any], place: str) -> list[Any] | None:
    """Return a list with one entry for each value; None if the record does not have it."""
    if record.get(key) is None:
        return None
    found = list_of(record[key], place, shown(key))
    if len(found) != len(values):
        raise DatasetFormatError(
            f"{place}: {shown(key)} has {len(found)} entries for {len(values)} responses; export"
            " the records again"
        )
    return found


def _labels(value: Any, place: str, what: str) -> list[str]:
    """Return the labels of a response; an empty list for rankings and questions about spans."""
    if isinstance(value, list):
        return [] if any(isinstance(each, dict) for each in value) else texts_of(value, place, what)
    text = optional_text(value, place, what)
    return [] if text is None else [text]


ARGILLA = Format(
    name="argilla",
    title="Argilla 2: flattened records, a JSON list or JSON lines",
    recognizes=_recognizes,
    read=_read,
    takes_question=True,
)
"""Records of Argilla with their responses."""
