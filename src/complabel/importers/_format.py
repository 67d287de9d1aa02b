"""What importers share: recognize a file, read JSON and tables, and name what is wrong in them."""

from __future__ import annotations

import csv
import functools
import io
import itertools
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np
from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter, ValidationError

from complabel import files
from complabel._opening import explained, fault, open_binary, tidy
from complabel._opening import read_bytes as read_bytes
from complabel._settings import setting
from complabel.errors import DatasetFormatError, InputError
from complabel.files import delimiter_of

ROWS_AT_ONCE = 50_000
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]', re.DOTALL)


@dataclass(frozen=True)
class Options:
    """What the user says about a file because the file itself does not say it.

    Attributes
    ----------
    absent, present : tuple of str
        Names of controls, questions or columns: labels chosen in them do not apply (``absent``),
        or do (``present``).
    item : str or None
        The field that names the item; None: it depends on the format.
    item_file : str or None
        Instead of ``item``: the field with the path or the address of the item's file, whose name
        without folders names the item.
    yes, no, unsure : tuple of str
        The codes with these meanings in a table of codes, or of answers.
    unselected : {"unknown", "no", "yes"} or None
        Meaning of labels that were shown and not chosen; None: the file or ``question`` says it.
        In a blank cell, and for a row without a label, "unknown" says that nobody answered.
    none : tuple of str
        Words that stand in the place of a label, and say that no label applies, such as "None".
    question : {"named", "asked", "ticked", "excluded", "positive", "tagged"} or None
        The question of answers for which the file does not say it. Labels chosen in ``absent`` are
        "named" by default; a table of answers has no default.
    answer : {"yes", "no"} or None
        What each row of a table of answers says, if it has no column ``answer``.
    separator : str or None
        What separates several labels in a cell; None: as the platform does it, else a cell is one
        label.
    random_questions : bool
        Whether all questions were drawn at random, with equal chances for all labels and items.
    label_names : tuple of str, or None
        All labels, in the order of the columns of the answers.
    merge : mapping of str to str
        In a table of answers: the new name of each label that is merged into another one.
    column : mapping of str to str
        Which column of a table holds what: one of :data:`complabel.files.COLUMNS`, or
        "confidence", and the name of the column.
    drop : tuple of str
        Columns and fields that are not read, although their names say that they may matter.
    met_from : mapping of str to float
        Of scores of a judge: from which score on a criterion is met, by its name; under "" for all
        others.
    only : tuple of str
        Of verdicts of several systems, prompts or sources, such as people: those to read.
    class_names : Path or None
        A table of codes and label names, for files that hold codes.
    prompts : Path or None
        The file of prompts, for replies that only hold the ids of their prompts.
    more : tuple of Path
        More files with results of a language model's batches, such as those of failures.

    Each format says which of these it uses. One that it does not use is refused.
    """

    absent: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    item: str | None = None
    item_file: str | None = None
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()
    unselected: str | None = None
    none: tuple[str, ...] = ()
    question: str | None = None
    answer: str | None = None
    separator: str | None = None
    random_questions: bool = False
    label_names: tuple[str, ...] | None = None
    merge: Mapping[str, str] = field(default_factory=dict)
    column: Mapping[str, str] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    met_from: Mapping[str, float] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    class_names: Path | None = None
    prompts: Path | None = None
    more: tuple[Path, ...] = ()


@dataclass
class Tally:
    """Counts of what was read and left out of a file, and remarks on what was assumed.

    The keys of ``counts`` are words in the plural, in the order in which they are shown.
    ``label_names`` are the labels that the file lists; some may be in no answer.
    """

    counts: Counter[str] = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)
    label_names: dict[str, None] = field(default_factory=dict)

    def start(self, *words: str) -> None:
        """Fix the order in which counts are shown."""
        self.counts.update(dict.fromkeys(words, 0))

    def list_labels(self, names: Iterable[str]) -> None:
        self.label_names.update(dict.fromkeys(names))

    def remark(self, text: str) -> None:
        """Add a sentence, unless it is there already."""
        if text not in self.remarks:
            self.remarks.append(text)

    def leave(
        self,
        path: Path,
        names: Iterable[str],
        read: Collection[str],
        options: Options,
        may_read: Collection[str] = (),
    ) -> None:
        """Name the columns that are not read; refuse a column or field that may matter."""
        if left := files.left_over(path, names, read, dropped=options.drop, may_read=may_read):
            self.remark(f"Not read: {some(map(shown, left))}")


@dataclass(frozen=True)
class Head:
    """The first 64 KiB of a file, unpacked, by which its format is recognized."""

    path: Path
    start: bytes

    def keys(self) -> tuple[str, set[str]]:
        """Return the first character of JSON, "[" or "{", and the first object's keys seen so far.

        Of other files, "" and an empty set.
        """
        text = self.start.removeprefix(b"\xef\xbb\xbf").lstrip()
        root = text[:1].decode("ascii", "replace")
        if root not in ("[", "{"):
            return "", set()
        level = 1 if root == "{" else 2
        depth, last, keys = 0, b"", set()
        for match in _TOKEN.finditer(text):
            token = match[0]
            depth += (token in b"{[") - (token in b"}]")
            if token in b"}]" and depth < level:
                break
            if token == b":" and depth == level and last:
                keys.add(last[1:-1].decode("utf-8", "replace"))
            last = token if token[:1] == b'"' else b""
        return root, keys

    def rows(self) -> list[list[str]]:
        """Return the complete rows of a CSV file; an empty list if it is not text."""
        try:
            text = self.start[: self.start.rfind(b"\n") + 1].decode("utf-8-sig")
            first, _, rest = text.partition("\n")
            sign = files.separator_line(first)
            text, delimiter = (rest, sign) if sign else (text, delimiter_of(first))
            rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
            return [] if "\0" in text else [row for row in rows if row]
        except (UnicodeDecodeError, csv.Error):
            return []

    def columns(self) -> list[str]:
        return [*map(tidy, next(iter(self.rows()), []))]


@dataclass(frozen=True)
class Format:
    """A kind of file that can be imported.

    ``recognizes`` never raises. ``read`` reads the file once, and yields the neutral table in
    pieces of at most about 100,000 rows: data frames, or columns of
    :data:`complabel.files.COLUMNS` as lists or arrays, without those that have no content.

    The other fields are declarations, from which options are refused and docs/files.md is made:
    ``uses`` has the names of the options that ``read`` uses, in one text, ``reads`` says which
    columns or fields it reads, ``may_read`` what ``options.column`` may name. ``counts`` names the
    count of what stands in the file, and behind it those of what gives no answer: all others give
    one.
    """

    name: str
    title: str
    recognizes: Callable[[Head], bool]
    read: Callable[[Path, Options, Tally], Iterator[Any]]
    uses: str = ""
    reads: str = ""
    may_read: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()

    def refuse_unused(self, options: Options) -> None:
        """Refuse options that were given and would not be used."""
        used = {"label_names", *self.uses.split()}
        for name, value in vars(options).items():
            known = name in used or (name == "item_file" and "item" in used)
            if not known and value != getattr(Options(), name):
                raise InputError(
                    f"{setting(name)} is given, but files of the format {self.name} are read"
                    " without it; leave it out, or give another format as"
                    f" {setting('format', 'NAME')}",
                    parameter=name,
                )
        if strangers := [name for name in options.column if name not in self.may_read]:
            raise InputError(
                f"{setting('column')} is given for {strangers[0]!r}; files of the format"
                f" {self.name} take {', '.join(self.may_read)}",
                parameter="column",
            )


class Row(NamedTuple):
    """One row of the table: :data:`complabel.files.COLUMNS`, in this order, and a confidence."""

    answer_id: str | None
    item: str
    label: str
    answer: str
    question: str
    offered: str | None = None
    asked_for: int | None = None
    annotator: str | None = None
    time: str | None = None
    probability: float | None = None
    drawn: str | None = None
    seconds: float | None = None
    confidence: float | None = None


def pieces(rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Yield pieces of many rows as columns; columns without content are left out."""
    rows = iter(rows)
    while some := list(itertools.islice(rows, ROWS_AT_ONCE)):
        columns = zip(Row._fields, zip(*some, strict=True), strict=True)
        yield {name: list(values) for name, values in columns if values.count(None) < len(some)}


@functools.lru_cache(maxsize=4096)
def as_json(labels: tuple[str, ...]) -> str:
    """Return the offered labels as a JSON list; cached, because menus repeat."""
    return json.dumps(labels, ensure_ascii=False)


def chance(n_labels: int, size: int) -> float:
    """Return the probability of a menu of this size, drawn at random from all labels."""
    # Only ratios between menus of the same size matter, so a tiny one may become the least float.
    return max(1 / math.comb(n_labels, size), sys.float_info.min)


def some(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:8]) + (", ..." if len(listed) > 8 else "")


def file_name_of(value: str) -> str:
    """Return the name of the file at a path or an address, as it was before Label Studio took it.

    It is "" if there is none, as in an address that holds the picture itself.
    """
    if value.startswith("data:"):
        return ""
    if "://" in value or value.startswith(_OF_LABEL_STUDIO):
        parts = urlsplit(value)
        inside = parse_qs(parts.query).get("d") if "/local-files" in parts.path else None
        value = inside[0] if inside else unquote(parts.path)
    name = re.split(r"[\\/]", value)[-1]
    return _TAG.sub("", name) if _OF_LABEL_STUDIO[0] in value else name


_OF_LABEL_STUDIO = ("/data/upload/", "/data/local-files/")
_TAG = re.compile("^[0-9a-f]{8}-(?=.)")  # before the name of each file that somebody uploads


_ENDINGS = "jpe?g png gif bmp tiff? webp svg wav mp3 flac ogg m4a mp4 avi mov txt md html? pdf json"
_IS_FILE = re.compile(rf"[^\s/\\]+\.({_ENDINGS.replace(' ', '|')})", re.IGNORECASE)

_LONGEST = 2000  # characters of an address
FieldsOfFiles = dict[str, dict[str, str] | None]


def keep_files(files: FieldsOfFiles, task: Mapping[str, Any]) -> None:
    """Keep of each field the path of each name of a file; None where a task has no such name."""
    if not files:
        files.update((key, {}) for key in task)
    for key, paths in files.items():
        if paths is not None:
            value = str(task.get(key) or "")
            name = "" if " " in value or len(value) > _LONGEST else file_name_of(value)
            if not _IS_FILE.fullmatch(name) or paths.setdefault(name, value) != value:
                files[key] = None


def names_from(files: FieldsOfFiles) -> str:
    """Return a sentence on how to name items by a field that all tasks have."""
    for key, paths in files.items():
        if paths:
            name = next(iter(paths))
            return f"To name them as the files, such as {name!r}, give --item-file {shown(key)}."
    fields = some(key for key in files if key[:1] != "_") or "no field"
    return f"If features have other names, give the field with them as --item; it has {fields}."


class FileNames:
    """Names items after their files, which must differ in their names."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._of: dict[str, str] = {}  # the path or address of each name

    def rename(self, table: Any) -> Any:
        """Return a table of answers (a pyarrow.Table) with other names of the items."""
        import pyarrow as pa  # type: ignore[import-untyped]

        at = table.schema.get_field_index("item")
        column = table.schema.field(at)
        names = pa.array(map(self._name, table["item"].to_pylist()), column.type)
        return table.set_column(at, column, names)

    def _name(self, value: str) -> str:
        name = file_name_of(value)
        if not name:
            text = f"item {shown(value)} has no name of a file; give another field as --item-file"
            raise fault(self._path, f"{text}, or as --item to take it as it is")
        first = self._of.setdefault(name, value)
        if first != value:
            text = f"items {shown(first)} and {shown(value)} have one name of a file, {name!r}"
            raise fault(self._path, f"{text}; give --item instead of --item-file")
        return name


MAX_LINE = 2**28  # bytes: 256 MiB, far more than a task with an image needs
_SHOWN = 60  # characters of a value in a message
_BOM = b"\xef\xbb\xbf"
_WANTED = dict.fromkeys(("model_type", "dict_type"), "it must be an object")
_WANTED["list_type"] = "it must be a list"
_Made = TypeVar("_Made", bound=BaseModel)


def text_of(value: Any) -> str:
    """Return a value as text if it is a text or a whole number."""
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**300:
        return str(value)
    if not isinstance(value, str):
        raise ValueError("it must be a text or a whole number")
    if not value.strip():
        raise ValueError("it must not be empty")
    value.encode()  # a lone surrogate raises an error, which is a ValueError
    return tidy(value)


Text = Annotated[str, BeforeValidator(text_of)]
OptionalText = Annotated[
    str | None, BeforeValidator(lambda value: None if value in (None, "") else text_of(value))
]
Number = Annotated[int, Field(strict=True, ge=-(2**63), lt=2**63)]


def _point(value: Any) -> Any:
    """Return a text with a decimal point in place of a comma."""
    if isinstance(value, bool):
        raise ValueError("it must be above 0 and at most 1")
    return value.replace(",", ".") if isinstance(value, str) else value


Chance = Annotated[float, Field(gt=0, le=1), BeforeValidator(_point)]


def seconds_of(value: Any) -> float | None:
    """Return a number or a text as seconds above 0; None if it is none, as no tool needs it."""
    try:
        seconds = float(_point(value))
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if 0 < seconds < math.inf else None


Seconds = Annotated[float | None, BeforeValidator(seconds_of)]


def checked(model: type[_Made], value: Any, place: str) -> _Made:
    """Return a record as its model; an error names the field and shows what was found."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _refusal(error, place) from error


_adapter = functools.cache(TypeAdapter)


def checked_as(kind: Any, value: Any, place: str, what: str) -> Any:
    """Return a value as a type; an error shows what was found."""
    try:
        return _adapter(kind).validate_python(value)
    except ValidationError as error:
        raise _refusal(error, place, what) from error


def _refusal(error: ValidationError, place: str, what: str = "") -> DatasetFormatError:
    """Return the error about the first field that does not fit."""
    first = error.errors(include_url=False, include_context=False)[0]
    field = ".".join([*([what] if what else []), *map(str, first["loc"])])
    if first["type"] == "missing":
        return fault(place, f"has no {field}, which a file of this format has; is it another one?")
    wanted = _WANTED.get(first["type"]) or first["msg"].removeprefix("Value error, ")
    return fault(place, f"{field or 'it'} is {shown(first['input'])}; {wanted}")


def records(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the values of a JSON list, or of JSON lines one by one, with their places in words."""
    with open_binary(path) as file:
        start = file.peek(2**16).removeprefix(_BOM).lstrip()  # type: ignore[attr-defined]
        if start[:1] == b"[":
            for number, record in enumerate(read_json(path), 1):
                yield f"{path}, record {number}", record
            return
        for number in itertools.count(1):
            line = file.readline(MAX_LINE + 1)
            place = f"{path}, line {number}"
            if len(line) > MAX_LINE:
                raise fault(place, f"is longer than {MAX_LINE:,} bytes; give JSON lines")
            if not line:
                return
            if line.removeprefix(_BOM).strip():
                yield place, parse(line.removeprefix(_BOM), place)


def read_json(path: Path) -> Any:
    return parse(read_bytes(path).removeprefix(_BOM), str(path))


def parse(raw: bytes | str, place: str) -> Any:
    """Parse JSON; an error says where it is not valid."""
    try:
        return json.loads(raw, object_pairs_hook=_object)
    except RecursionError as cause:
        raise fault(place, "has lists or objects nested too deeply") from cause
    except ValueError as cause:  # also of text that is not UTF-8, and of a huge number
        raise fault(place, f"is not valid JSON ({str(cause)[:200]}); export it again") from cause


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object as a dict; refuse repeated keys, as it is unclear which value is meant."""
    record = dict(pairs)
    if len(record) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"an object has the key {shown(twice)} twice")
    return record


def shown(value: Any) -> str:
    """Return a value for a message: short, on one line, with printable characters only."""
    if isinstance(value, list | dict):
        return f"a list of {len(value)}" if isinstance(value, list) else "an object"
    if isinstance(value, str):
        return repr(value if len(value) <= _SHOWN else value[:_SHOWN] + "...")
    if isinstance(value, int) and abs(value) >= 2**64:
        return "a huge number"
    return json.dumps(value, default=str)


WORDS = ("no", "yes", "unsure")
_ROWS = 1 << 15  # rows of a piece


class Table(files.Table):
    """A table of which only the names of the columns have been read."""

    def frames(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield pieces of some columns as data frames of categories of text.

        Cells without a value are blank. The index has the numbers of the rows, from 0.
        """
        import pyarrow as pa

        first = 0
        for piece in self.pieces(others=columns):
            with explained(self.path, "write the table again"):
                columns_of_text = {name: _as_text(piece[name]) for name in columns}
            texts = pa.RecordBatch.from_pydict(columns_of_text)
            for start in range(0, texts.num_rows, _ROWS):
                frame = texts.slice(start, _ROWS).to_pandas(strings_to_categorical=True)
                frame.index += first + start
                yield frame
            first += texts.num_rows

    def rows(self, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield the number of each row, from 0, and its cells in some columns."""
        for frame in self.frames(columns):
            yield from frame.astype(object).to_dict("index").items()

    def check(self, column: Any, faulty: Any, text: str) -> None:
        """Refuse the first row that is marked as faulty; ``{}`` in the text becomes its cell."""
        if faulty.any():
            row = int(faulty.idxmax())
            raise self.refuse(row, text.replace("{}", shown(column[row])))


def open_table(path: Path, *needed: str) -> Table:
    """Read the header of a table, which must have some columns."""
    is_parquet = path.suffix.lower() == ".parquet"
    table = Table.of_parquet(path) if is_parquet else Table.of_csv(path, may_lack_names=True)
    missing = [name for name in needed if name not in table.columns]
    if missing:
        text = f"has no column {missing[0]!r}; its columns are {some(map(shown, table.columns))}"
        is_ours = missing[0] in files.OWN_COLUMNS and missing[0] != "item"
        way = setting("column", {missing[0]: "COLUMN"}) if is_ours else setting("item", "COLUMN")
        raise fault(path, f"{text}; give the one that holds it, as {way}")
    return table


def long_form(
    items: Any, labels: Sequence[str], codes: Any, question: str, annotator: Any = None
) -> Any:
    """Return a row for each label of which something was said.

    ``codes`` (n, K) holds positions in ``WORDS``, or a negative number where nothing was said.
    ``annotator`` (n,) says who did, if that is known.
    """
    import pandas as pd  # type: ignore[import-untyped]

    row, column = np.nonzero(codes >= 0)
    who = {} if annotator is None else {"annotator": np.asarray(annotator)[row]}
    return pd.DataFrame(
        who
        | {
            "item": np.asarray(items)[row],
            "label": pd.Categorical.from_codes(column, list(labels)),
            "answer": pd.Categorical.from_codes(codes[row, column], WORDS),
            "question": pd.Categorical.from_codes(np.zeros(len(row), int), [question]),
        }
    )


def _as_text(column: Any) -> Any:
    """Return a Parquet column as text: booleans as 1 and 0, lists as JSON, nulls as ""."""
    import pyarrow as pa
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    kind = column.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        texts = [
            None if each is None else json.dumps(each, ensure_ascii=False, default=str)
            for each in column.to_pylist()
        ]
        column = pa.array(texts, pa.string())
    elif pa.types.is_boolean(kind):
        column = column.cast("int8")
    texts = pc.fill_null(column.cast("string"), "")
    texts.validate(full=True)  # Arrow does not check before that the bytes are text
    return texts
