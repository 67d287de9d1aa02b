"""The part of an ARFF file before its rows: relation and attributes."""

import re
from dataclasses import dataclass

from complabel.datasets._reading import at_line, numbered_lines
from complabel.errors import DatasetFormatError

_QUOTED = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE)
_NUMERIC = {"numeric", "real", "integer"}
_BINARY = {"0": 0, "0.0": 0, "1": 1, "1.0": 1}
WORDS = {"FALSE": 0, "TRUE": 1}


@dataclass(frozen=True)
class Attribute:
    """One column: a number, or one of 0 and 1 (``words``: written FALSE and TRUE).

    ``omitted_means_one``: 1 is declared first, so that sparse rows leave out ones instead of zeros.
    """

    name: str
    binary: bool = False
    words: bool = False
    omitted_means_one: bool = False


def parse_header(source: str, text: str, stop: int) -> tuple[str, list[Attribute]]:
    """Return the relation's text and the attributes, which stand in text[:stop]."""
    relation = ""
    attributes: list[Attribute] = []
    for number, line in numbered_lines(text, 0, stop):
        keyword = line.split(None, 1)[0].lower()
        if keyword == "@relation":
            relation = line[len(keyword) :].strip()
        elif not line.startswith("%"):
            with at_line(source, number):
                attributes.append(_parse_attribute(line, keyword))
    if not attributes:
        raise DatasetFormatError(f"{source}: no @attribute before @data; the file is no ARFF table")
    return relation, attributes


def _parse_attribute(line: str, keyword: str) -> Attribute:
    """Read one @attribute line."""
    found = _ATTRIBUTE.fullmatch(line)
    if found is None:
        wanted = "@attribute <name> <type>"
        if keyword != "@attribute":
            wanted = "@relation, @attribute or @data"
        raise DatasetFormatError(f"found {line[:60]!r}, expected {wanted}")
    name, kind = _unquote(found[1]), found[2].strip()
    if kind.lower() in _NUMERIC:
        return Attribute(name)
    if not (kind.startswith("{") and kind.endswith("}")):
        raise DatasetFormatError(
            f"attribute {name!r} is of type {kind[:40]!r}; only numeric attributes and {{0,1}} can "
            "be used: remove or encode it"
        )
    declared = [_unquote(value.strip()).upper() for value in kind[1:-1].split(",")]
    for meaning in (_BINARY, WORDS):
        if all(value in meaning for value in declared):
            return Attribute(name, True, meaning is WORDS, meaning[declared[0]] == 1)
    raise DatasetFormatError(
        f"attribute {name!r} has the values {kind[:60]}; of nominal attributes only {{0,1}} and "
        "{FALSE,TRUE} can be used: encode it as 0/1 columns"
    )


def _unquote(text: str) -> str:
    """Strip the quotes round a name and undo its backslashes."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
