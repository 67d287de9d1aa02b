"""Read public datasets in which some labels of some items were judged or ruled out.

- LVIS: boxes of objects. The categories in ``neg_category_ids`` are verified to be absent. Present
  are the categories of an image's annotations, and those in ``not_exhaustive_category_ids``, for
  which not every object was marked. Nothing is known about the others. COCO has only annotations,
  so the user says what the others mean.
- Open Images: labels of images that people verified, one row for each.
- A folder for each label, with pictures. A copy of a picture in another folder is the same item.

The labels that people judged were chosen, often by a model, and not drawn at random. So no question
has a probability.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from complabel._opening import existing, explained, fault, read_text, tidy
from complabel._settings import setting
from complabel.errors import InputError
from complabel.files import READ_PICTURES, Cell, may_mean_none, none_or_label, read_folder
from complabel.importers._format import (
    Format,
    Head,
    Number,
    Options,
    Row,
    Tally,
    Text,
    checked,
    checked_as,
    open_table,
    pieces,
    read_json,
    records,
    shown,
    some,
)
from complabel.importers._forms import Controls, Form, FormReader

_HEADERS = {"labelname", "code", "id", "mid", "label"}

# ---- LVIS ----

_KEYS = {"info", "licenses", "license", "licence", "contributor", "type", "categories"}
_KEYS |= {"images", "annotations"}


class _Category(BaseModel):
    id: Number
    name: Text


class _Box(BaseModel):
    image_id: Number
    category_id: Number


class _Image(BaseModel):
    id: Number
    neg_category_ids: list[Number]  # files of COCO have none
    not_exhaustive_category_ids: list[Number]


class _Lvis(BaseModel):
    categories: list[_Category]
    annotations: list[_Box]
    images: list[_Image]


def _is_lvis(head: Head) -> bool:
    root, keys = head.keys()
    return root == "{" and keys <= _KEYS and not keys <= {"info", "licenses"}


def _rest_of_coco(path: Path, whole: Any, options: Options) -> str | None:
    """Return what COCO's other categories mean, and fill in LVIS' fields; None if it is LVIS."""
    images = whole.get("images") if isinstance(whole, dict) else None
    rows = [each for each in images if isinstance(each, dict)] if isinstance(images, list) else []
    if not rows or any("neg_category_ids" in each for each in rows):
        if options.unselected is not None:
            text = f"{setting('unselected')} is given, but LVIS says itself what is absent"
            raise InputError(f"{text}; leave it out", parameter="unselected")
        return None
    if options.question is None and options.unselected not in ("no", "unknown"):
        raise fault(
            path,
            "is COCO, which does not say what is absent. If each category that applies was"
            f" annotated, give {setting('unselected', 'no')}: the others do not apply; else"
            f" {setting('unselected', 'unknown')}: then there is only yes. If some people marked"
            f" what they saw, in all images, give {setting('question', 'tagged')}",
            proposes=[{"unselected": "no"}, {"unselected": "unknown"}, {"question": "tagged"}],
        )
    parents = {each.get("supercategory") for each in whole.get("categories", ())}
    used = {each.get("category_id") for each in whole.get("annotations", ())}
    whole["categories"] = [  # Roboflow's first category only holds the others
        each for each in whole["categories"] if each["id"] in used or each["name"] not in parents
    ]
    for image in rows:
        image |= {"neg_category_ids": [], "not_exhaustive_category_ids": []}
    return options.unselected


def _lvis_rows(path: Path, options: Options, tally: Tally) -> Iterator[Row]:
    whole = read_json(path)
    _only_tagged(options)
    rest = _rest_of_coco(path, whole, options)
    lvis = checked(_Lvis, whole, str(path))
    tally.start("images", "images without an answer", "absent", "present")
    fields = {*itertools.chain(*whole["annotations"])} & {"score", "status"}
    tally.leave(path, sorted(fields), (), options)
    names = {category.id: category.name for category in lvis.categories}
    if not len(set(names.values())) == len(names) == len(lvis.categories):
        raise fault(path, "has two categories with the same id or name; rename one")
    tally.list_labels(names.values())
    boxes: dict[int, list[int]] = {image.id: [] for image in lvis.images}
    if len(boxes) < len(lvis.images):
        twice = Counter(image.id for image in lvis.images).most_common(1)[0][0]
        raise fault(path, f"has the image {twice} twice; leave one out")
    for box in lvis.annotations:
        if box.image_id not in boxes:
            raise fault(path, f"has annotations of image {box.image_id}, which is not an image")
        boxes[box.image_id].append(box.category_id)
    item = options.item or "id"
    for image, raw in zip(lvis.images, whole["images"], strict=True):
        place = f"{path}, image {image.id}"
        present = [*boxes[image.id], *image.not_exhaustive_category_ids]
        others = {each for each in names if rest == "no"}.difference(present)
        absent = [*image.neg_category_ids, *filter(others.__contains__, names)]
        by_answer = {"no": dict.fromkeys(absent), "yes": dict.fromkeys(present)}
        name = checked_as(Text, raw.get(item), place, item)
        tally.counts["images"] += 1
        tally.counts["images without an answer"] += not any(by_answer.values())
        tally.counts["absent"] += len(by_answer["no"])
        tally.counts["present"] += len(by_answer["yes"])
        question = options.question or ("ticked" if rest == "no" else "asked")
        if options.question and not any(by_answer.values()):
            yield Row(str(image.id), name, "", "no", question)
        clash = not by_answer["no"].keys().isdisjoint(by_answer["yes"])  # becomes two answers
        for answer, categories in by_answer.items():
            answer_id = f"{image.id}-{answer}" if clash else str(image.id)
            for category in categories:
                if category not in names:
                    raise fault(place, f"has the category {category}, which is not in categories")
                yield Row(answer_id, name, names[category], answer, question)


LVIS = Format(
    name="lvis",
    title="LVIS or COCO: JSON with boxes of objects; COCO needs --unselected or --read-as",
    recognizes=_is_lvis,
    read=lambda *arguments: pieces(_lvis_rows(*arguments)),
    uses="item unselected question drop",
    reads="`categories`, `annotations`, `images`",
    counts=("images", "images without an answer"),
)

# ---- events of issues ----


class _Name(BaseModel):
    name: Text


class _Issue(BaseModel):
    number: Number


class _Event(BaseModel):
    id: Number
    event: Text
    created_at: Text
    issue: _Issue
    label: _Name | None = None


def _only_tagged(options: Options, *, needs: bool = False) -> None:
    """Refuse another question than "tagged"."""
    if options.question != "tagged" and (needs or options.question is not None):
        raise InputError(
            f"{setting('question', options.question)} does not fit this format; give"
            f" {setting('question', 'tagged')} if people gave as many labels as they cared to",
            parameter="question",
            proposes=[{"question": "tagged"}],
        )


_UNDONE = "events that a later one undid or repeated"


def _event_rows(path: Path, options: Options, tally: Tally) -> Iterator[Row]:
    """Yield the last event of each issue and label: one that was removed does not apply."""
    _only_tagged(options, needs=True)
    tally.start(*EVENTS.counts)
    last: dict[tuple[int, str], str] = {}
    events = [checked(_Event, value, place) for place, value in records(path)]
    for each in sorted(events, key=lambda event: (event.created_at, event.id)):
        tally.counts["events"] += 1
        if each.event in ("labeled", "unlabeled") and each.label is not None:
            key = each.issue.number, each.label.name
            tally.counts[_UNDONE] += key in last
            last[key] = each.event
        else:
            tally.counts["other events"] += 1
    for (issue, label), event in sorted(last.items()):
        answer = "yes" if event == "labeled" else "no"
        yield Row(str(issue), str(issue), label, answer, "tagged")
    tally.remark(
        "Issues that never had a label are not in the file; add rows of a table with their numbers"
        " and no label, with --unselected no, if people looked at them, too"
    )


EVENTS = Format(
    name="github-events",
    title="GitHub: JSON of the events of issues; labels given, and removed",
    recognizes=lambda head: {"event", "issue", "created_at"} <= head.keys()[1],
    read=lambda *arguments: pieces(_event_rows(*arguments)),
    uses="question",
    reads="`id`, `event`, `created_at`, `issue.number`, `label.name`",
    counts=("events", "other events", _UNDONE),
)

# ---- Open Images ----

_COLUMNS = ("ImageID", "Source", "LabelName", "Confidence")


def _read_open_images(path: Path, options: Options, tally: Tally) -> Iterator[Any]:
    """Read verified labels; labels that only a machine gave are counted and left out."""
    names = None if options.class_names is None else class_names(options.class_names)
    table = open_table(path, *_COLUMNS)
    tally.start(*OPEN_IMAGES.counts)
    tally.leave(path, table.columns, _COLUMNS, options)
    nameless: dict[str, None] = {}
    for piece in table.frames(_COLUMNS):
        machine = piece["Source"].map(lambda text: text.strip().casefold() == "machine")
        machine = machine.astype(bool)
        answer = piece["Confidence"].map(_verdict)
        table.check(
            piece["Confidence"],
            answer.isna() & ~machine,
            "has Confidence {}; a verified label must have 1 (present) or 0 (absent), only labels"
            " with Source machine may have other values",
        )
        for name in ("ImageID", "LabelName"):
            problem = f"has no {name}; fill it in or leave the row out"
            table.check(piece[name], piece[name] == "", problem)
        tally.counts["rows of the file"] += len(piece)
        tally.counts["machine-generated labels"] += int(machine.sum())
        label = piece["LabelName"]
        if names is not None:
            codes = label.cat.categories
            nameless.update(dict.fromkeys(code for code in codes if code not in names))
            label = label.map(lambda code: names.get(code, code))
        columns = {"item": piece["ImageID"], "label": label, "answer": answer, "question": "asked"}
        rows = piece.assign(**columns)[list(columns)]
        yield {name: column[~machine] for name, column in rows.items()}
    tally.remark(
        "A machine proposed the labels that people verified, so the questions are not random: "
        "these answers do not say how often labels apply"
    )
    if tally.counts["machine-generated labels"]:
        tally.remark("Labels that only a machine gave are not answers of people and were left out")
    if nameless:
        tally.remark(
            f"{len(nameless):,} label codes, such as {next(iter(nameless))}, have no name in "
            "class_names and keep their code"
        )


def _verdict(confidence: str) -> str | None:
    with contextlib.suppress(ValueError):
        return {1.0: "yes", 0.0: "no"}.get(float(confidence))
    return None


OPEN_IMAGES = Format(
    "open-images",
    "Open Images: CSV of human-verified image labels",
    lambda head: set(_COLUMNS) <= set(head.columns()),
    _read_open_images,
    uses="class_names drop",
    reads="`ImageID`, `Source`, `LabelName`, `Confidence`",
    counts=("rows of the file", "machine-generated labels"),
)

# ---- a folder for each label ----

_MEANINGS = ("ticked", "positive", "tagged")


def _folder_rows(path: Path, options: Options, tally: Tally) -> Iterator[Row]:
    """Yield the labels of each picture: the folders in which it, or a copy of it, lies."""
    found = read_folder(path, READ_PICTURES)
    places = {name: name.rpartition("/")[0] for name in found.pictures}
    if deep := next((name for name, place in places.items() if "/" in place), None):
        text = "lies more than one folder down, so it is not known which folder is its label"
        raise fault(path / deep, f"{text}; give a folder whose folders are called as the labels")
    labels = [tidy(each) for each in dict.fromkeys(places.values()) if each]
    if options.question not in _MEANINGS:
        ticked, positive, tagged = (setting("question", each) for each in _MEANINGS)
        raise fault(
            path,
            f"has folders ({some(map(shown, labels))}), and nothing says what the others mean. Give"
            f" {ticked} if a picture lies in the folder of each label that applies; {positive} if"
            f" somebody named one that applies; {tagged} if as many as they cared to",
            proposes=[{"question": each} for each in _MEANINGS],
        )
    tally.start(*FOLDERS.counts)
    tally.list_labels(x for x in labels if x.casefold() not in options.none)
    if options.label_names is None and (odd := [*filter(may_mean_none, tally.label_names)]):
        raise none_or_label(odd[0], str(path))
    if found.others:
        tally.remark(found.left_out())
    pictures = _by_content(path, found.pictures)
    if copied := next((names for names in pictures if len(names) > 1), None):
        tally.remark(f"Copies are one item, such as {copied[0]!r} and {copied[1]!r}")
    bare = Counter(names[0].rpartition("/")[2] for names in pictures).most_common(1)[0]
    if bare[1] > 1:
        tally.remark(f"Pictures of one name that differ are different items, such as {bare[0]!r}")
    own = options.label_names or tuple(tally.label_names)
    menu = own if options.question == "ticked" else None
    reader = FormReader(Controls(present=("folder",)), options, tally)
    for number, names in enumerate(pictures, 1):
        chosen = [tidy(places[name]) for name in names if places[name]]
        at, cells = str(path / names[0]), {"folder": Cell(chosen, is_blank=not chosen)}
        form = Form.of_cells(at, str(number), names[0], cells, menu=menu)
        rows = reader.rows(form)
        for count, more in zip(FOLDERS.counts, (len(names), len(names) - 1, not rows), strict=True):
            tally.counts[count] += more
        yield from rows


def _by_content(folder: Path, names: Sequence[str]) -> list[list[str]]:
    """Return the names of files, those of the same bytes together; empty files differ."""
    sizes = {name: (folder / name).stat().st_size for name in names}
    often = Counter(sizes.values())
    alike: dict[Any, list[str]] = {}
    with explained(folder, "correct the permissions of its files"):
        for name, size in sizes.items():
            is_copied = size and often[size] > 1
            key = hashlib.sha256((folder / name).read_bytes()).digest() if is_copied else name
            alike.setdefault(key, []).append(name)
    return list(alike.values())


FOLDERS = Format(
    name="folders",
    title="a folder of pictures with a folder for each label; needs --read-as",
    recognizes=lambda _: False,  # it is no file
    read=lambda *arguments: pieces(_folder_rows(*arguments)),
    uses="question unselected none",
    reads="pictures, their folders",
    counts=("pictures", "copies of pictures", "pictures without an answer"),
)

# ---- names of labels ----


def class_names(path: Path) -> dict[str, str]:
    """Read names by code; if several codes have the same name, the code is added to it."""
    existing("class_names", path)
    names: dict[str, str] = {}
    for code, name in _codes_and_names(path):
        if names.setdefault(code, name) != name:
            raise fault(path, f"code {code!r} has two names, {names[code]!r} and {name!r}")
    times = Counter(names.values())
    return {code: name if times[name] == 1 else f"{name} ({code})" for code, name in names.items()}


def _codes_and_names(path: Path) -> Iterator[tuple[str, str]]:
    lines = csv.reader(io.StringIO(read_text(path)))
    with explained(path, "check the quotes"):
        for number, row in enumerate(filter(None, lines), 1):
            code, name = (cell.strip() for cell in (*row, "", "")[:2])
            if number == 1 and code.casefold() in _HEADERS:
                continue
            if not code or not name:
                raise fault(path, "give a code and a name, as /m/011k07,Tortoise", row=number)
            yield code, name
