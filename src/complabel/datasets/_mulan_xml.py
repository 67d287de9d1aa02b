"""The XML file that names the labels of a dataset in Mulan's format."""

import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from complabel.datasets._unpack import read_plain
from complabel.errors import DatasetFormatError

_DECLARED = re.compile(rb"""^(?:\xef\xbb\xbf)?<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']""")


def read_label_names(xml: Path) -> tuple[list[str], str | None]:
    """Return the names of all label elements, whatever their depth, and the declared encoding."""
    raw = read_plain(xml)
    found = _DECLARED.match(raw)
    encoding = found[1].decode("ascii", "replace") if found else None
    root = _parse(xml, raw, encoding)
    elements = [e for e in root.iter() if e.tag.rpartition("}")[2] == "label"]
    names = [element.get("name") for element in elements]
    labels = [name for name in names if name is not None]
    if not labels or len(labels) < len(names):
        raise DatasetFormatError(
            f"{xml}: {len(labels)} of {len(names)} <label> elements carry a name; "
            'expected at least one <label name="..."> and no nameless one'
        )
    repeated = [label for label, count in Counter(labels).items() if count > 1]
    if repeated:
        raise DatasetFormatError(f"{xml}: label {repeated[0]!r} is named twice, expected once")
    return labels, encoding


def _parse(xml: Path, raw: bytes, encoding: str | None) -> ElementTree.Element:
    """Parse an XML file; encodings that the parser does not know are left to Python's codecs."""
    try:
        try:
            return ElementTree.fromstring(raw)
        except (LookupError, ValueError):
            # The parser knows few encodings of several bytes a sign; from a str it needs none.
            return ElementTree.fromstring(raw.decode(encoding or "utf-8"))
    except ElementTree.ParseError as cause:
        raise DatasetFormatError(
            f"{xml}, line {cause.position[0]}: found no well-formed XML ({cause}), "
            'expected <labels> with <label name="..."> elements'
        ) from cause
    except LookupError as cause:
        raise DatasetFormatError(
            f"{xml}, line 1: found encoding {encoding!r}, which Python does not know; save the "
            "file as UTF-8 and declare that"
        ) from cause
    except ValueError as cause:
        position = cause.start if isinstance(cause, UnicodeDecodeError) else 0
        line = raw.count(b"\n", 0, position) + 1
        raise DatasetFormatError(
            f"{xml}, line {line}: found bytes that are not of the declared encoding {encoding!r}; "
            "save the file as UTF-8 and declare that"
        ) from cause
