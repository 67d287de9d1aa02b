"""Read exports of Label Studio: JSON here; JSON-MIN, CSV and TSV in ``_label_studio_wide``.

A task has annotations, an annotation has results, and a result of a control "Choices" or "Taxonomy"
has a list of choices. If a choice has an ``alias``, the export has it instead of the value. A
choice with parents is a path. It becomes one label, "root / leaf", as Label Studio shows it.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from complabel.errors import DatasetFormatError
from complabel.importers._controls import Controls, Form, rows_of, settle
from complabel.importers._format import Format, Head, Options, Tally
from complabel.importers._json import (
    list_of,
    object_of,
    optional_text,
    parse,
    read_bytes,
    shown,
    text_of,
)
from complabel.importers._label_studio_asked import asked_control, asked_row, labels_asked
from complabel.importers._label_studio_values import MENU, labels_of, menu_of
from complabel.importers._label_studio_wide import columns_of, is_wide, read_wide
from complabel.importers._peek import first_keys
from complabel.importers._rows import Row, as_json, chance, note, pieces, say_unused

_COUNTED = (
    "tasks",
    "tasks without an annotation",
    "annotations",
    "cancelled annotations",
    "empty annotations",
    "ground truth annotations",
    "choices about parts of an item",
    "forms without a tick",
    "answers",
)


def _recognizes(head: Head) -> bool:
    """Return whether this is an export of Label Studio."""
    root, keys = first_keys(head.start)
    if not root:
        return columns_of(head.start) is not None
    if keys & {"annotations", "completions"}:
        return "data" in keys or (root == "[" and "id" in keys)
    return root == "[" and {"annotation_id", "annotator"} <= keys


def _read(path: Path, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    """Read an export of Label Studio."""
    counts: Counter[str] = Counter()
    raw = read_bytes(path)
    if raw.lstrip()[:1] not in (b"[", b"{"):
        forms = list(read_wide(raw, path, options, counts))
    else:
        found = parse(raw, str(path))
        tasks = found if isinstance(found, list) else [found]
        if not tasks:
            raise DatasetFormatError(f"{path} has no tasks; export annotated ones")
        wide = is_wide(tasks[0])
        forms = list((read_wide if wide else _forms)(tasks, path, options, counts))
    del raw
    _refuse_repeated(forms)
    asked = asked_control(forms, options, path)
    uses = Counter(name for form in forms for name, labels in form.chosen.items() if labels)
    controls = Controls((), ())
    if asked is None or options.absent or options.present:
        controls = settle(uses, options, tally, path, asked)
    elif others := [shown(name) for name in uses if name != asked]:
        tally.remark(f"Not read: control {', '.join(others)}. Give --absent or --present to read.")
    forms = _with_chances(forms, options, tally, asked)
    rows = _rows(forms, controls, asked, options, tally, counts)
    yield from pieces(rows)
    note(tally, counts, _COUNTED)
    if counts["forms without a tick"]:
        tally.remark(
            "Where nothing was ticked, all labels on offer apply, because --question ticked says"
            " that people ticked all labels that do not apply."
        )


def _rows(
    forms: list[Form],
    controls: Controls,
    asked: str | None,
    options: Options,
    tally: Tally,
    counts: Counter[str],
) -> Iterator[Row]:
    """Yield the rows of all annotations, and count annotations and answers."""
    chance = None
    if asked is not None and options.random_questions:
        chance = 1 / len(options.label_names or labels_asked(forms))
    suffix = "-asked" if controls.absent or controls.present else ""
    for form in forms:
        tally.label_names.update(dict.fromkeys(form.menu or ()))
        rows = rows_of(form, controls, options, tally)
        if not rows and options.question == "ticked" and controls.absent:
            rows = [_nothing_ticked(form)]
            counts["forms without a tick"] += 1
        if asked is not None and (row := asked_row(form, asked, suffix, chance)):
            rows.append(row)
        counts["annotations"] += 1
        counts["empty annotations"] += not rows
        counts["answers"] += len({row.answer_id for row in rows})
        yield from rows


def _nothing_ticked(form: Form) -> Row:
    """Return the answer that all labels on offer apply."""
    return Row(
        form.answer_id,
        form.item,
        label="",
        answer="yes",
        question="ticked",
        offered=None if form.menu is None else as_json(form.menu),
        annotator=form.annotator,
        time=form.time,
        probability=form.probability,
    )


def _with_chances(
    forms: list[Form], options: Options, tally: Tally, asked: str | None
) -> list[Form]:
    """If menus were drawn at random, set the probability of each menu."""
    menus = [form for form in forms if form.menu is not None]
    if not options.random_questions or not menus:
        if asked is None:
            say_unused(options, tally, "Label Studio's", "random_questions")
        return forms
    n_labels = len(options.label_names or {label for form in menus for label in form.menu or ()})
    return [
        form
        if form.menu is None
        else dataclasses.replace(form, probability=chance(n_labels, min(n_labels, len(form.menu))))
        for form in forms
    ]


def _refuse_repeated(forms: list[Form]) -> None:
    """Refuse a file with the same annotation twice, which would count twice."""
    first: dict[str, str] = {}
    for form in forms:
        if form.answer_id in first:
            raise DatasetFormatError(
                f"{form.place}: annotation {shown(form.answer_id)} is also in"
                f" {first[form.answer_id].rpartition(', ')[2]}; leave one of them out"
            )
        first[form.answer_id] = form.place


def _forms(tasks: list[Any], path: Path, options: Options, counts: Counter[str]) -> Iterator[Form]:
    """Yield a form for each annotation of the tasks."""
    field = _item_field(tasks, options)
    for number, task in enumerate(tasks, 1):
        place = f"{path}, task {_task_name(task, number)}"
        task = object_of(task, place, "it")
        data = object_of(task.get("data"), place, "data")
        item = _item(task, data, field, options.item is not None, place)
        annotations = list_of(_annotations(task, place), place, "annotations")
        menu = menu_of(data.get(MENU))
        counts["tasks"] += 1
        counts["tasks without an annotation"] += not annotations
        for at, annotation in enumerate(annotations, 1):
            form = _form(annotation, f"{place}, annotation {at}", item, menu, data, counts)
            if form is not None:
                default = f"{_task_name(task, number)}.{at}"
                yield form if form.answer_id else dataclasses.replace(form, answer_id=default)


def _form(
    annotation: Any,
    place: str,
    item: str,
    menu: tuple[str, ...] | None,
    data: dict[str, Any],
    counts: Counter[str],
) -> Form | None:
    """Return the form of an annotation; None if it was cancelled."""
    if isinstance(annotation, int):
        raise DatasetFormatError(
            f"{place} is only a number; export the tasks with full annotations (JSON)"
        )
    annotation = object_of(annotation, place, "it")
    if annotation.get("was_cancelled") is True or annotation.get("skipped") is True:
        counts["annotations"] += 1
        counts["cancelled annotations"] += 1
        return None
    counts["ground truth annotations"] += annotation.get("ground_truth") is True
    chosen: dict[str, list[str]] = {}
    results = annotation.get("result")
    for result in [] if results is None else list_of(results, place, "result"):
        result = object_of(result, place, "a result")
        value = result.get("value")
        if not isinstance(value, dict):
            continue  # relations between regions have no value
        labels = labels_of(value, place, counts)
        if labels is not None:
            name = text_of(result.get("from_name"), place, "from_name")
            chosen.setdefault(name, []).extend(labels)
    number = annotation.get("id")
    return Form(
        place=place,
        answer_id=optional_text(number, place, "id")
        or optional_text(annotation.get("unique_id"), place, "unique_id")
        or "",
        item=item,
        chosen=chosen,
        menu=menu,
        annotator=_annotator(annotation.get("completed_by"), place),
        time=optional_text(annotation.get("created_at"), place, "created_at"),
        task=data,
    )


def _annotator(value: Any, place: str) -> str | None:
    """Return the annotator's email, id or user name; the value is a number or an object."""
    if isinstance(value, dict):
        value = next((value[key] for key in ("email", "id", "username") if value.get(key)), None)
    return optional_text(value, place, "completed_by")


def _annotations(task: dict[str, Any], place: str) -> Any:
    """Return the annotations of a task, which old versions call completions."""
    for key in ("annotations", "completions"):
        if key in task:
            return task[key]
    raise DatasetFormatError(f"{place} has no annotations; export the tasks with them (JSON)")


def _task_name(task: Any, number: int) -> str:
    """Return a task's id, or its number in the file."""
    name = task.get("id") if isinstance(task, dict) else None
    if isinstance(name, bool) or not isinstance(name, int | str):
        return f"number {number}"
    return shown(name)


def _item_field(tasks: list[Any], options: Options) -> str | None:
    """Return the field of data that names the item; None if the task's id names it.

    The whole file uses one field, because ids of two kinds could be equal by accident.
    """
    if options.item is not None:
        return options.item.removeprefix("data.")
    data = [task.get("data") for task in tasks if isinstance(task, dict)]
    for field in ("item", "id"):
        if any(isinstance(each, dict) and each.get(field) is not None for each in data):
            return field
    return None


def _item(
    task: dict[str, Any], data: dict[str, Any], field: str | None, told: bool, place: str
) -> str:
    """Return the item of a task; a field given by the user may also be outside of ``data``."""
    if field is None:
        return text_of(task.get("id"), place, "id")
    holder = task if told and field not in data else data
    if holder.get(field) is None:
        listed = ", ".join(map(shown, list(data)[:10]))
        raise DatasetFormatError(
            f"{place} has no {shown(field)} in its data, which should name the item; it has"
            f" {listed or 'nothing'}; fill it in, or give another field with --item"
        )
    return text_of(holder[field], place, shown(field))


LABEL_STUDIO = Format(
    name="label-studio",
    title="Label Studio: JSON, JSON-MIN, CSV, TSV",
    recognizes=_recognizes,
    read=_read,
    takes_question=True,
)
"""Exports of Label Studio."""
