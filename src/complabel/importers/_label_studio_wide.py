"""Read Label Studio's JSON-MIN, CSV and TSV: one record for each annotation, with the task's data.

The field of a control has a plain text for one choice, and JSON for several choices. So a control
that allows only one choice looks like a field of data.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from complabel.errors import DatasetFormatError
from complabel.importers._controls import Form
from complabel.importers._format import Options
from complabel.importers._json import (
    list_of,
    object_of,
    optional_text,
    parse,
    shown,
    text_of,
)
from complabel.importers._label_studio_asked import LABEL, yes_no_fields
from complabel.importers._label_studio_values import MENU, labels_of, menu_of

_OWN = {
    *("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time"),
    *("agreement", "history", "was_cancelled"),
}
_ALWAYS = {"annotator", "lead_time", "created_at", "updated_at"}
_LONGEST = 2**24  # characters of a cell, which may hold a whole document
_TOO_MANY = 10**5  # bytes of the first line that are read to recognize the columns


def is_wide(record: Any) -> bool:
    """Return whether this is a record of JSON-MIN, and not a task."""
    return isinstance(record, dict) and "annotation_id" in record and "annotations" not in record


def columns_of(start: bytes) -> tuple[str, list[str]] | None:
    """Return the delimiter and the columns of a CSV or TSV export; None for other tables."""
    line = start.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0][:_TOO_MANY]
    for delimiter in (",", "\t", ";"):
        try:
            columns = next(csv.reader([line.decode()], delimiter=delimiter), [])
        except (csv.Error, UnicodeDecodeError):
            return None
        if "annotation_id" in columns and not _ALWAYS.isdisjoint(columns):
            return delimiter, columns
    return None


def read_wide(
    source: bytes | list[Any], path: Path, options: Options, counts: Counter[str]
) -> Iterator[Form]:
    """Yield a form for each annotation."""
    is_text = isinstance(source, bytes)
    records = list(_lines(source, path) if isinstance(source, bytes) else _records(source, path))
    if not records:
        raise DatasetFormatError(f"{path} has no annotations; export annotated tasks")
    fields = dict.fromkeys(name for _, record in records for name in record if name not in _OWN)
    told = [*options.absent, *options.present]
    yes_no = yes_no_fields([record for _, record in records], fields)
    asked = yes_no if LABEL in fields else []
    controls = [name for name in fields if name in told]
    controls = controls or _evident(records, fields, is_text, path, yes_no)
    controls += [name for name in asked if name not in controls]
    tasks: set[str] = set()
    item_field = options.item or ("item" if "item" in fields and "item" not in controls else "id")
    for place, record in records:
        task = optional_text(record.get("id"), place, "id") or place
        counts["tasks"] += task not in tasks
        tasks.add(task)
        if str(record.get("was_cancelled")).casefold() == "true":
            counts["annotations"] += 1
            counts["cancelled annotations"] += 1
            continue
        number = optional_text(record.get("annotation_id"), place, "annotation_id")
        chosen = {
            name: _choices(record.get(name), f"{place}: {shown(name)}", is_text, counts)
            for name in controls
            if number is not None or name not in asked  # questions may come with known answers
        }
        if number is None:
            if any(chosen.values()):
                raise DatasetFormatError(
                    f"{place} has choices, but no annotation_id; export the tasks again"
                )
            counts["tasks without an annotation"] += 1
            continue
        yield Form(
            place=place,
            answer_id=number,
            item=text_of(record.get(item_field), place, item_field),
            chosen=chosen,
            menu=menu_of(_decoded(record.get(MENU), place, is_text)),
            annotator=optional_text(record.get("annotator"), place, "annotator"),
            time=optional_text(record.get("created_at"), place, "created_at"),
            task=record,
        )


def _records(source: list[Any], path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the records of JSON-MIN, with their places."""
    for number, record in enumerate(source, 1):
        place = f"{path}, record {number}"
        record = object_of(record, place, "it")
        if "annotation_id" not in record:
            raise DatasetFormatError(
                f"{place} has no annotation_id, but records before it have; export the tasks again"
            )
        yield place, record


def _lines(raw: bytes, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the records of a CSV or TSV, with their places."""
    found = columns_of(raw)
    if found is None:
        raise DatasetFormatError(
            f"{path} is not an export of Label Studio: JSON begins with a bracket, and the first"
            " line of CSV and TSV has annotation_id and annotator; export it again"
        )
    delimiter, columns = found
    if len(set(columns)) < len(columns):
        twice = Counter(columns).most_common(1)[0][0]
        raise DatasetFormatError(f"{path} has the column {shown(twice)} twice; rename one")
    before = csv.field_size_limit(_LONGEST)
    lines = []
    number = 1
    try:
        text = io.StringIO(raw.decode(), newline="")
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        for cells in reader:
            place = f"{path}, line {number}"  # the first line of the record
            if cells and len(cells) != len(columns):
                raise DatasetFormatError(
                    f"{place} has {len(cells)} cells, but the first line {len(columns)}; export it"
                    " again"
                )
            if cells and number > 1:
                lines.append((place, dict(zip(columns, cells, strict=True))))
            number = reader.line_num + 1
    except UnicodeDecodeError as error:
        raise DatasetFormatError(f"{path} is not valid UTF-8: {error.reason}") from error
    except csv.Error as error:
        told = str(error).replace("\t", "tab")
        raise DatasetFormatError(f"{path}, line {number} is not valid CSV: {told}") from error
    finally:
        csv.field_size_limit(before)
    yield from lines


def _evident(
    records: list[tuple[str, dict[str, Any]]],
    fields: dict[str, None],
    is_text: bool,
    path: Path,
    yes_no: list[str],
) -> list[str]:
    """Return the fields that surely hold choices: those with several choices, or with parents.

    There may be none if fields hold yes and no, and each record names its label.
    """
    found = dict.fromkeys(
        name for place, record in records for name in fields if _is_evident(record, name, is_text)
    )
    if not found and not (yes_no and LABEL in fields):
        hint = "".join(
            f"; if field {shown(name)} says whether a label applies, give each task the field"
            " 'label'"
            for name in yes_no[:1]
        )
        listed = ", ".join(map(shown, list(fields)[:20]))
        raise DatasetFormatError(
            f"{path} does not say which of these fields are controls: {listed or 'no fields'}; give"
            " them as --absent FIELD (labels do not apply) or --present FIELD (labels apply)" + hint
        )
    return list(found)


def _is_evident(record: dict[str, Any], name: str, is_text: bool) -> bool:
    """Return whether a field holds an object with choices."""
    value = record.get(name)
    if is_text:
        start = value[:40].replace(" ", "") if isinstance(value, str) else ""
        return start.removeprefix("[").startswith(('{"choices"', '{"taxonomy"'))
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and not {"choices", "taxonomy"}.isdisjoint(first)


def _decoded(value: Any, place: str, is_text: bool) -> Any:
    """Return the value of a cell; parse it if it begins like JSON."""
    if is_text and isinstance(value, str) and value.replace(" ", "")[:2] in ('{"', "[{", '["'):
        return parse(value, place)
    return value


def _choices(value: Any, place: str, is_text: bool, counts: Counter[str]) -> list[str]:
    """Return the labels that were chosen in a control."""
    value = _decoded(value, place, is_text)
    if value is None or value == "":
        return []
    labels: list[str] = []
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, dict):
            found = labels_of(each, place, counts)
            if found is None and {"choices", "taxonomy"}.isdisjoint(each):
                list_of(each.get("choices"), place, "choices")
            labels += found or []
        else:
            labels.append(text_of(each, place, "a choice"))
    return labels
