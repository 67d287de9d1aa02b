"""Read records of Argilla 2 with their responses, flattened, as a JSON list or JSON lines.

``dataset.records(with_responses=True).to_list(flatten=True)`` makes three lists for each question:
values in ``QUESTION.responses``, users in ``QUESTION.responses.users`` and states in
``QUESTION.responses.status``. All responses of one user to one record are one form. Only submitted
responses count: a draft is not finished, and a discarded record has no answer.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from complabel._opening import fault
from complabel.importers._format import Format, Head, Options, Tally, pieces
from complabel.importers._forms import Form, rows_of, settle
from complabel.importers._json import OptionalText, Text, checked_as, records, shown

_END = ".responses"
_NESTED = frozenset(("fields", "responses", "_server_id"))


def _recognizes(head: Head) -> bool:
    _, keys = head.keys()
    return keys >= _NESTED or any(key.endswith(_END) for key in keys)


def _read(path: Path, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    tally.start("records", "records without a response", "responses", "discarded responses")
    tally.start("draft responses", "responses without a status", "empty responses")
    forms = list(_forms(path, options, tally))
    controls = settle(forms, options, tally, path, word="question")
    tally.say_unused(options, "Argilla's", "random_questions")
    found = [rows_of(form, controls, options, tally) for form in forms]
    tally.counts["empty responses"] += found.count([])
    yield from pieces(itertools.chain.from_iterable(found))


@dataclass
class _Person:
    name: str | None
    status: str | None = None
    chosen: dict[str, list[str]] = field(default_factory=dict)


def _forms(path: Path, options: Options, tally: Tally) -> Iterator[Form]:
    item = options.item or "id"
    for number, (place, value) in enumerate(records(path), 1):
        record = checked_as(dict[str, Any], value, place, "it")
        if record.keys() >= _NESTED and isinstance(record["responses"], dict):
            flat = "dataset.records(with_responses=True).to_list(flatten=True)"
            raise fault(place, f"does not say which responses were submitted; save {flat}")
        tally.counts["records"] += 1
        people = _people(record, place, tally)
        tally.counts["records without a response"] += not people
        for at, person in enumerate(people, 1):
            tally.counts["responses"] += 1
            if person.status != "submitted":
                known = person.status in ("discarded", "draft")
                word = f"{person.status} responses" if known else "responses without a status"
                tally.counts[word] += 1
                continue
            name = checked_as(Text, record.get(item), place, item)
            yield Form(place, f"{number}.{at}", name, person.chosen, annotator=person.name)


def _people(record: dict[str, Any], place: str, tally: Tally) -> list[_Person]:
    people: dict[str, _Person] = {}
    for key, responses in record.items():
        if not key.endswith(_END) or responses is None:
            continue
        question = key.removesuffix(_END)
        values = checked_as(list[Any], responses, place, shown(key))
        users = _beside(record, f"{key}.users", len(values), None, place)
        if record.get(f"{key}.status") is None:
            tally.remark("The records do not say which responses were submitted; all are read.")
        states = _beside(record, f"{key}.status", len(values), "submitted", place)
        for at, (value, user, status) in enumerate(zip(values, users, states, strict=True)):
            person = people.setdefault(user or f"number {at}", _Person(user))
            if person.status != "submitted":
                person.status = status
            if status == "submitted":
                labels = _labels(value, place, shown(key))
                person.chosen.setdefault(question, []).extend(labels)
    return list(people.values())


def _beside(
    record: dict[str, Any], key: str, length: int, default: str | None, place: str
) -> list[str | None]:
    """Return a list of the record with one entry for each response."""
    if record.get(key) is None:
        return [default] * length
    found: list[str | None] = checked_as(list[OptionalText], record[key], place, shown(key))
    if len(found) != length:
        told = f"{shown(key)} has {len(found)} entries for {length} responses"
        raise fault(place, f"{told}; export the records again")
    return found


def _labels(value: Any, place: str, what: str) -> list[str]:
    """Return the labels of a response; an empty list for rankings and questions about spans."""
    values = value if isinstance(value, list) else [] if value in (None, "") else [value]
    if any(isinstance(each, dict) for each in values):
        return []
    return list(dict.fromkeys(checked_as(list[Text], values, place, what)))


_TITLE = "Argilla 2: flattened records, a JSON list or JSON lines"
ARGILLA = Format("argilla", _TITLE, _recognizes, _read, takes_question=True)
