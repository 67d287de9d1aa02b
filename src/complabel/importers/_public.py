"""Read public datasets in which some labels of some items were judged or ruled out.

- LVIS: boxes of objects. The categories in ``neg_category_ids`` are verified to be absent. Present
  are the categories of an image's annotations, and those in ``not_exhaustive_category_ids``, for
  which not every object was marked. Nothing is known about the others. COCO has only annotations,
  so the user says what the others mean.
- Open Images: labels of images that people verified, one row for each.
- OpenMIC-2018: clips of music, with judgements about some of the instruments.
- Partial multi-label files of MATLAB: labels that are not candidates are excluded.

The labels that people judged were chosen, often by a model, and not drawn at random. So no question
has a probability.
"""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from complabel._opening import existing, explained, fault, read_text
from complabel._parameters import AnyArray, Bools
from complabel._settings import setting
from complabel.errors import ComplabelError, DatasetFormatError, InputError
from complabel.files import array_names, read_arrays
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
    long_form,
    open_table,
    pieces,
    read_json,
    shown,
)

_AT_ONCE = 1 << 20  # cells of a matrix in a piece
_HEADERS = {"labelname", "code", "id", "mid", "label"}


def _matrix_pieces(items: Any, names: Any, said: Any, question: str) -> Iterator[Any]:
    """Yield the cells of a matrix in which something was said, some rows at a time."""
    n_rows = max(_AT_ONCE // max(len(names), 1), 1)
    for start in range(0, len(said), n_rows):
        part = slice(start, start + n_rows)
        yield long_form(items[part], names, said[part], question)


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
    found = [each for each in images if isinstance(each, dict)] if isinstance(images, list) else []
    if not found or any("neg_category_ids" in each for each in found):
        if options.unselected is not None:
            told = f"{setting('unselected')} is given, but LVIS says itself what is absent"
            raise InputError(f"{told}; leave it out", parameter="unselected")
        return None
    if options.unselected not in ("no", "unknown"):
        raise fault(
            path,
            "is COCO, which does not say what is absent. If each category that applies was"
            f" annotated, give {setting('unselected', 'no')}: the others do not apply; else"
            f" {setting('unselected', 'unknown')}: then there is only yes",
            proposes=[{"unselected": "no"}, {"unselected": "unknown"}],
        )
    parents = {each.get("supercategory") for each in whole.get("categories", ())}
    used = {each.get("category_id") for each in whole.get("annotations", ())}
    whole["categories"] = [  # Roboflow's first category only holds the others
        each for each in whole["categories"] if each["id"] in used or each["name"] not in parents
    ]
    for image in found:
        image |= {"neg_category_ids": [], "not_exhaustive_category_ids": []}
    return options.unselected


def _lvis_rows(path: Path, options: Options, tally: Tally) -> Iterator[Row]:
    whole = read_json(path)
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
        found = [*boxes[image.id], *image.not_exhaustive_category_ids]
        others = {each for each in names if rest == "no"}.difference(found)
        absent = [*image.neg_category_ids, *filter(others.__contains__, names)]
        said = {"no": dict.fromkeys(absent), "yes": dict.fromkeys(found)}
        name = checked_as(Text, raw.get(item), place, item)
        tally.counts["images"] += 1
        tally.counts["images without an answer"] += not any(said.values())
        tally.counts["absent"] += len(said["no"])
        tally.counts["present"] += len(said["yes"])
        clash = not said["no"].keys().isdisjoint(said["yes"])  # becomes two answers
        for answer, categories in said.items():
            answer_id = f"{image.id}-{answer}" if clash else str(image.id)
            for category in categories:
                if category not in names:
                    raise fault(place, f"has the category {category}, which is not in categories")
                yield Row(
                    answer_id, name, names[category], answer, "ticked" if rest == "no" else "asked"
                )


LVIS = Format(
    name="lvis",
    title="LVIS or COCO: JSON with boxes of objects; COCO needs --unselected",
    recognizes=_is_lvis,
    read=lambda *given: pieces(_lvis_rows(*given)),
    uses="item unselected drop",
    reads="`categories`, `annotations`, `images`",
    counts=("images", "images without an answer"),
)

# ---- Open Images ----

_COLUMNS = ("ImageID", "Source", "LabelName", "Confidence")


def _read_open_images(path: Path, options: Options, tally: Tally) -> Iterator[Any]:
    """Read verified labels; labels that only a machine gave are counted and left out."""
    names = None if options.class_names is None else _class_names(options.class_names)
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
            told = f"has no {name}; fill it in or leave the row out"
            table.check(piece[name], piece[name] == "", told)
        tally.counts["rows of the file"] += len(piece)
        tally.counts["machine-generated labels"] += int(machine.sum())
        label = piece["LabelName"]
        if names is not None:
            codes = label.cat.categories
            nameless.update(dict.fromkeys(code for code in codes if code not in names))
            label = label.map(lambda code: names.get(code, code))
        found = {"item": piece["ImageID"], "label": label, "answer": answer, "question": "asked"}
        rows = piece.assign(**found)[list(found)]
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

# ---- OpenMIC-2018 ----

_LABELS = ("Y_true", "Y_mask")
_KEY = "sample_key"


def _is_openmic(head: Head) -> bool:
    try:
        return head.start.startswith(b"PK") and {*_LABELS, _KEY} <= set(array_names(head.path))
    except ComplabelError:
        return False


def _read_openmic(path: Path, options: Options, tally: Tally) -> Iterator[Any]:
    """Read the judged labels: present if the likelihood is at least .5, else absent."""
    likely, judged, items = _openmic_arrays(path, tally)
    names = _openmic_names(likely.shape[1], options, tally)
    tally.list_labels(names)
    tally.counts["rows of the file"] = len(likely)
    tally.counts["items without an answer"] = int((~judged.any(axis=1)).sum())
    tally.remark(
        "A model chose which labels were judged, so the questions are not random: these answers do "
        "not say how often labels apply"
    )
    yield from _matrix_pieces(items, names, np.where(judged, likely >= 0.5, -1), "asked")


def _openmic_arrays(path: Path, tally: Tally) -> tuple[AnyArray, Bools, AnyArray]:
    """Return the likelihoods (n, K), which labels are judged (n, K), and the items' names."""
    there = array_names(path)
    missing = [name for name in (*_LABELS, _KEY) if name not in there]
    if missing:
        raise fault(path, f"has no array {missing[0]!r}; found {', '.join(there) or 'none'}")
    arrays = read_arrays(path, _LABELS)
    likely, mask = (arrays[name] for name in _LABELS)
    has_text = {*"US"} & {likely.dtype.kind, mask.dtype.kind}
    if likely.shape != mask.shape or likely.ndim != 2 or has_text:
        shapes = f"Y_true has shape {likely.shape}, Y_mask {mask.shape}"
        raise fault(path, f"{shapes}; both must hold numbers, in items x labels")
    judged = mask == 1
    _refuse(path, "Y_mask", "0 or 1", ~np.isin(mask, (0, 1)))
    outside = judged & ~((likely >= 0) & (likely <= 1))
    _refuse(path, "Y_true", "from 0 to 1 where Y_mask is 1", outside)
    try:
        key = read_arrays(path, [_KEY])[_KEY]
    except DatasetFormatError as refusal:
        if "Python objects are not read" not in str(refusal):
            raise
        tally.remark(
            "The names in sample_key are pickled Python objects, which are never read. Items are "
            "the row numbers from 0, as for features without names. To keep the names, save the "
            "file again with sample_key as np.array(names, dtype=str)"
        )
        return likely, judged, np.arange(len(likely)).astype(str).astype(object)
    if key.shape != (len(likely),):
        raise fault(path, f"sample_key has shape {key.shape}; give a name for each item")
    with explained(path, "save valid names as sample_key"):
        items = key.astype(np.str_).astype(object)
    if "" in items:
        raise fault(path, "sample_key has a blank; give each item a name")
    return likely, judged, items


def _refuse(path: Path, name: str, allowed: str, faulty: Bools) -> None:
    if faulty.any():
        row, column = np.argwhere(faulty)[0].tolist()
        where = f"row {row}, column {column} (counted from 0)"
        raise fault(path, f"{name} must be {allowed}, but it is not in {where}")


def _openmic_names(n_labels: int, options: Options, tally: Tally) -> tuple[str, ...]:
    if options.label_names is None and options.class_names is not None:
        known = _class_names(options.class_names)
        missing = [number for number in map(str, range(n_labels)) if number not in known]
        if missing:
            raise InputError(f"class_names has no name for label {missing[0]}; give one for each")
        return tuple(known[str(number)] for number in range(n_labels))
    if options.label_names is None:
        told = "The file has no label names, so labels are numbers from 0"
        tally.remark(f"{told}; give class-map.json as class_names")
    return _names_or_numbers(options, n_labels)


def _names_or_numbers(options: Options, n_labels: int) -> tuple[str, ...]:
    names = options.label_names or tuple(map(str, range(n_labels)))
    if len(names) != n_labels:
        told = f"label_names has {len(names)} names, the file {n_labels} labels"
        raise InputError(f"{told}; give one for each")
    return names


_OPENMIC_TITLE = "OpenMIC-2018: .npz with Y_true, Y_mask and sample_key"
OPENMIC = Format(
    "openmic",
    _OPENMIC_TITLE,
    _is_openmic,
    _read_openmic,
    uses="class_names",
    reads="`Y_true`, `Y_mask`, `sample_key`",
    counts=("rows of the file", "items without an answer"),
)

# ---- partial multi-label data ----


def _read_pml(path: Path, options: Options, tally: Tally) -> Iterator[Any]:
    """Read which labels are excluded; features and true labels are not used."""
    from complabel.datasets import read_pml

    data = read_pml(path)
    excluded = data.excluded
    assert excluded is not None  # a PML file always has candidates
    n_true, n_lost = int(data.Y.sum()), int((data.Y & excluded).sum())
    if 2 * n_lost > n_true:
        told = f"rules out {n_lost:,} of {n_true:,} true labels; 1 in partial_labels must mark"
        raise fault(path, f"{told} candidates, the labels that are not ruled out")
    n_items, n_labels = excluded.shape
    names = _names_or_numbers(options, n_labels)
    tally.list_labels(names)
    tally.counts["rows of the file"] = n_items
    tally.counts["items of which nothing is excluded"] = int((~excluded.any(axis=1)).sum())
    tally.remark(
        "Items are row numbers from 0"
        + ("" if options.label_names else ", and labels numbers from 0, as the file has no names")
    )
    tally.remark("The true labels and the features of the file were not used")
    items = np.arange(n_items).astype(str).astype(object)
    for piece in _matrix_pieces(items, names, np.where(excluded, 0, -1), "excluded"):
        # One answer for each item: labels that are not excluded count, too.
        yield piece.assign(answer_id=piece["item"])


PML = Format(
    "pml",
    "partial multi-label data: .mat with data, partial_labels and target",
    lambda head: head.start.startswith(b"MATLAB ") and head.path.suffix.lower() == ".mat",
    _read_pml,
    reads="`partial_labels`; `data` and `target` are not used",
    counts=("rows of the file", "items of which nothing is excluded"),
)

# ---- names of labels ----


def _class_names(path: Path) -> dict[str, str]:
    """Read names by code; if several codes have the same name, the code is added to it."""
    existing("class_names", path)
    pairs = _pairs_of_json(path) if path.suffix.lower() == ".json" else _pairs_of_csv(path)
    names: dict[str, str] = {}
    for code, name in pairs:
        if names.setdefault(code, name) != name:
            raise fault(path, f"code {code!r} has two names, {names[code]!r} and {name!r}")
    times = Counter(names.values())
    return {code: name if times[name] == 1 else f"{name} ({code})" for code, name in names.items()}


def _pairs_of_csv(path: Path) -> Iterator[tuple[str, str]]:
    lines = csv.reader(io.StringIO(read_text(path)))
    with explained(path, "check the quotes"):
        for number, row in enumerate(filter(None, lines), 1):
            code, name = (cell.strip() for cell in (*row, "", "")[:2])
            if number == 1 and code.casefold() in _HEADERS:
                continue
            if not code or not name:
                raise fault(path, "give a code and a name, as /m/011k07,Tortoise", row=number)
            yield code, name


def _pairs_of_json(path: Path) -> Iterator[tuple[str, str]]:
    found = read_json(path)
    if not isinstance(found, dict):
        raise fault(path, f"is {shown(found)}; give an object of names and numbers")
    for key, value in found.items():
        number = isinstance(value, int)
        code, name = (str(value), key) if number else (key, value)
        yield code, checked_as(Text, name, str(path), key)
