"""The XML file that names the labels of a dataset in Mulan's format."""

import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from complabel.datasets._reading import read_plain
from complabel.errors import DatasetFormatError

_DECLARED = re.compile(rb"""^(?:\xef\xbb\xbf)?<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']""")


def read_label_names(xml: Path) -> tuple[list[str], str | None]:
    """Return the names of all label elements, whatever their depth, and the declared encoding."""
    raw = read_plain(xml)
    found = _DECLARED.match(raw)
    encoding = found[1].decode("ascii", "replace") if found else None
    root = _parse(xml, raw, encoding)
    names = [e.get("name") for e in root.iter() if e.tag.rpartition("}")[2] == "label"]
    labels = [name for name in names if name is not None]
    if not labels or len(labels) < len(names):
        raise DatasetFormatError(
            f"{xml}: {len(labels)} of {len(names)} <label> elements carry a name; "
            'expected at least one <label name="..."> and no nameless one'
        )
    repeated, count = Counter(labels).most_common(1)[0]
    if count > 1:
        raise DatasetFormatError(f"{xml}: label {repeated!r} is named twice, expected once")
    return labels, encoding


def _parse(xml: Path, raw: bytes, encoding: str | None) -> ElementTree.Element:
    """Parse an XML file; encodings that the parser does not know are left to Python's codecs."""
    todo = "save the file as UTF-8 and declare that"
    try:
        try:
            return ElementTree.fromstring(raw)
        except (LookupError, ValueError):
            # The parser knows few encodings of several bytes a sign; from a str it needs none.
            return ElementTree.fromstring(raw.decode(encoding or "utf-8"))
    except ElementTree.ParseError as cause:
        line = cause.position[0]
        problem = (
            f"found no well-formed XML ({cause}), expected <labels> with "
            '<label name="..."> elements'
        )
    except LookupError:
        line = 1
        problem = f"found encoding {encoding!r}, which Python does not know; {todo}"
    except ValueError as cause:
        position = cause.start if isinstance(cause, UnicodeDecodeError) else 0
        line = raw.count(b"\n", 0, position) + 1
        problem = f"found bytes that are not of the declared encoding {encoding!r}; {todo}"
    raise DatasetFormatError(f"{xml}, line {line}: {problem}")
