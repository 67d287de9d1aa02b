"""What the answers of a log say, as columns of a table of answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from complabel._questions import BY_STEM
from complabel.answers import COLUMNS, Answers, merge_labels
from complabel.live._history import History

Columns = dict[str, list[Any]]


def columns_of(rows: Iterable[tuple[str, Any]], history: History) -> tuple[Columns, Columns]:
    """Return the answers that were not taken back, and what follows from those about merged labels.

    ``rows`` are the entries of a log in their order; labels and items have the names that they have
    by ``history``. The first columns are about labels that people are still asked about.
    """
    questions: dict[int, Any] = {}
    standing: dict[int, Any] = {}  # by the id of the question that was answered
    for what, entry in rows:
        if what == "question":
            questions[entry[0]] = entry
        elif what == "answered":
            standing[entry[5]] = entry
        elif what == "undone":
            del standing[entry[5]]
    live, columns, old = {*history.now.labels}, _empty(), []
    for event in standing.values():
        question = questions[event[3]]
        offered = history.on_offer(question[0], question[3])
        if not live.issuperset(offered):
            old.append((event, question, offered))
            continue
        now = question[3] is None and offered == history.now.labels
        add_answer(columns, event, question, history, None if now else offered, history.names)
    return columns, _merged(old, history)


def _empty() -> Columns:
    return {name: [] for name in COLUMNS}


def add_answer(
    columns: Columns,
    event: Any,
    question: Any,
    history: History,
    offered: Sequence[int] | None,
    names: Sequence[str],
) -> None:
    """Add the rows of one answer: a row for each label that it says something about."""
    (_, item, kind, _, probability, asked_for, _, drawn), answer = question, event[6]
    listed = None if offered is None else [names[label] for label in offered]
    reply = answer if isinstance(answer, str) else [names[label] for label in answer]
    _add(
        columns,
        BY_STEM[kind].rows(reply, listed or history.labels),
        answer_id=str(event[5]),
        item=history.called.get(item, item),
        question=BY_STEM[kind].question,
        offered=None if kind == "asked" or listed is None else _json(listed),
        asked_for=asked_for,
        annotator=event[2],
        time=_time(event),
        probability=probability,
        drawn=drawn or None,
        seconds=event[7],
    )


def _add(columns: Columns, rows: Sequence[tuple[str | None, str]], **values: Any) -> None:
    for label, word in rows:
        columns["label"].append(label)
        columns["answer"].append(word)
    for name, value in values.items():
        columns[name] += [value] * len(rows)


def _time(event: Any) -> str:
    return datetime.fromtimestamp(event[1], UTC).isoformat(timespec="seconds")


def _json(names: Sequence[str]) -> str:
    return json.dumps(names, ensure_ascii=False)


def _merged(old: Sequence[tuple[Any, Any, Sequence[int]]], history: History) -> Columns:
    """Return what follows from answers about labels that were merged later."""
    merged = _empty()
    if not old:
        return merged
    names = [str(label) for label in range(len(history.names))]
    merges = [
        (new, {str(part): str(new) for part in parts}) for new, parts in history.parts.items()
    ]
    then: list[Columns] = [_empty() for _ in range(len(merges) + 1)]  # by how many came before
    for at, (event, question, offered) in enumerate(old):
        latest = history.latest(question[0])
        n_before = sum(new <= latest for new, _ in merges)
        # The place of an answer goes through the merges in the column of its seconds.
        add_answer(then[n_before], [*event[:7], float(at)], question, history, offered, names)
    items = list(dict.fromkeys(history.called.get(each[1], each[1]) for _, each, _ in old))
    answers: Answers | None = None
    listed: Any = [name for label, name in enumerate(names) if label not in history.parts]
    for columns, (_, into) in zip(then, [*merges, (0, {})], strict=True):
        more = Answers.from_table(columns, items=items, label_names=listed, contradictions="keep")
        answers = more if answers is None else Answers.concatenate([answers, more])
        answers = merge_labels(answers, into)
        listed = answers.label_names
    assert answers is not None
    last = {(question[1], event[2]): at for at, (event, question, _) in enumerate(old)}
    now = [history.names[int(name)] for name in answers.label_names or ()]
    origin = {history.called.get(question[1], question[1]): question[1] for _, question, _ in old}
    for row in range(answers.n_answers):
        item = items[answers.item[row]]
        person = str(answers.annotator_names[answers.annotator[row]])
        follows = bool(np.isnan(answers.seconds[row]))
        at = last[origin[item], person] if follows else int(answers.seconds[row])
        event, question, _ = old[at]
        kind, listed, reply = _reply_of(answers, row, now)
        chance = float(answers.probability[row])
        _add(
            merged,
            BY_STEM[kind].rows(reply, listed),
            answer_id=f"{event[5]} {listed[0]}" if follows else str(event[5]),
            item=item,
            question=BY_STEM[kind].question,
            offered=None if kind == "asked" else _json(listed),
            asked_for=int(answers.asked_for[row]) or None,
            annotator=person,
            time=_time(event),
            probability=None if np.isnan(chance) else chance,
            drawn=str(answers.drawn[row]) or None,
            seconds=None if follows else event[7],
        )
    return merged


def _reply_of(answers: Answers, row: int, names: Sequence[str]) -> tuple[str, list[str], Any]:
    """Return the kind of an answer's question, the labels on offer, and what was said."""
    marked = {
        name: [names[label] for label in mask.indices[mask.indptr[row] : mask.indptr[row + 1]]]
        for name in ("offered", "named", "positive", "relevant", "absent")
        for mask in [getattr(answers, name)]
    }
    kind = str(answers.question[row])
    if kind == "asked":
        return kind, marked["relevant"] + marked["absent"], "yes" if marked["relevant"] else "no"
    if kind == "named":
        kind = ("menu", "named")[answers.all_apply[row] == "answer"]
        return kind, marked["offered"] or [*names], marked["named"]
    if kind == "positive":
        kind = "positive-menu" if marked["offered"] else kind
        return kind, marked["offered"] or [*names], marked["positive"]
    return kind, marked["offered"] or [*names], marked["relevant"]
