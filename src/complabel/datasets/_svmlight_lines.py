"""Finds the line of a svmlight file that does not parse."""

import math
import re
from collections.abc import Sequence
from pathlib import Path

from complabel.errors import DatasetFormatError

LARGEST_LABEL = 2**53
"""Labels are below it: float64 leaves out whole numbers beyond."""

_COMMENT = re.compile(rb"#[^\n]*")
_KNOWN = b"0123456789+-.eE:,qid \t\n\r\v\f"  # "qid:5" numbers a query, and is skipped
_NUMBER = rb"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_LABELS = re.compile(rb"%b(?:,%b)*" % (_NUMBER, _NUMBER))
_QUERY = re.compile(rb"qid:[-+]?\d+")
_PAIR = re.compile(rb"(\d+):(%b)" % _NUMBER)


def foreign_signs(text: bytes) -> bool:
    """Tell whether there are signs outside comments with which float() reads more than numbers.

    It takes 1_0, nan and the digits of other scripts.
    """
    return bool(_COMMENT.sub(b"", text).translate(None, _KNOWN))


def explain(
    paths: Sequence[Path], texts: Sequence[bytes], largest: int, cause: str
) -> DatasetFormatError:
    """Name the first line that does not parse; only runs once something has failed."""
    for path, text in zip(paths, texts, strict=True):
        for number, line in enumerate(text.split(b"\n"), start=1):
            problem = _problem(line, largest)
            if problem:
                return DatasetFormatError(f"{path}, line {number}: {problem}")
    return DatasetFormatError(f"{', '.join(map(str, paths))}: not in svmlight format ({cause})")


def _problem(line: bytes, largest: int) -> str:
    """Say what is wrong with a line; empty where nothing is."""
    fields = line.partition(b"#")[0].split()
    labels = [fields.pop(0)] if fields and b":" not in fields[0] else []
    if fields and labels and _QUERY.fullmatch(fields[0]):
        del fields[0]
    pairs = [_PAIR.fullmatch(field) for field in fields]
    if None in pairs or (labels and not _LABELS.fullmatch(labels[0])):
        shown = line.decode("utf-8", "replace").strip()[:60]
        return f"found {shown!r}, expected 'label,label index:value ...'"
    for label in labels[0].split(b",") if labels else []:
        value = float(label)
        if not (0 <= value < LARGEST_LABEL and value.is_integer()):
            return f"found label {_show(label)}, which is no whole number from 0 on below 2**53"
    previous = -1
    for pair in pairs:
        assert pair is not None
        # int() refuses thousands of digits.
        index = int(pair[1]) if len(pair[1]) <= 20 else LARGEST_LABEL
        if index > largest:
            return (
                f"found index {_show(pair[1])}, which is above {largest:,}, the most features that "
                "are read; if it is right, give n_features"
            )
        if index <= previous:
            return f"found index {index} after {previous}, expected each once and in order"
        if not math.isfinite(float(pair[2])):
            return f"found {_show(pair[2])} for index {index}, expected a finite number"
        previous = index
    return ""


def _show(text: bytes) -> str:
    """Quote a number, which may be long, for a message."""
    return repr(text[:40].decode("ascii") + ("..." if len(text) > 40 else ""))
