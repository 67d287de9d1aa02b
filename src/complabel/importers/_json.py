"""Read JSON whole or by line, and check it with models; errors say where and what was found."""

from __future__ import annotations

import functools
import itertools
import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter, ValidationError

from complabel._opening import fault, open_binary
from complabel._opening import read_bytes as read_bytes
from complabel.errors import DatasetFormatError

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
    return value


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
    except (TypeError, ValueError):
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
        return fault(place, f"has no {field}; export the file again")
    told = _WANTED.get(first["type"]) or first["msg"].removeprefix("Value error, ")
    return fault(place, f"{field or 'it'} is {shown(first['input'])}; {told}")


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
    """Read a file that is one JSON value."""
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
    made = dict(pairs)
    if len(made) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"an object has the key {shown(twice)} twice")
    return made


def shown(value: Any) -> str:
    """Return a value for a message: short, on one line, with printable characters only."""
    if isinstance(value, list | dict):
        return f"a list of {len(value)}" if isinstance(value, list) else "an object"
    if isinstance(value, str):
        return repr(value if len(value) <= _SHOWN else value[:_SHOWN] + "...")
    if isinstance(value, int) and abs(value) >= 2**64:
        return "a huge number"
    return json.dumps(value, default=str)
