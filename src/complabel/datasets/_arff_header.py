"""The part of an ARFF file before its rows: relation and attributes."""

import re
from dataclasses import dataclass

from complabel.datasets._text import numbered_lines
from complabel.errors import DatasetFormatError

_QUOTED = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE)
_NUMERIC = {"numeric", "real", "integer"}
_BINARY = {"0": 0, "0.0": 0, "1": 1, "1.0": 1}
_WORDS = {"FALSE": 0, "TRUE": 1}


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
    for number, line in numbered_lines(text, 0, stop, 1):
        if line.startswith("%"):
            continue
        keyword = line.split(None, 1)[0].lower()
        if keyword == "@relation":
            relation = line[len(keyword) :].strip()
        elif keyword == "@attribute":
            attributes.append(_parse_attribute(source, number, line))
        else:
            raise DatasetFormatError(
                f"{source}, line {number}: found {line[:60]!r}, "
                "expected @relation, @attribute or @data"
            )
    if not attributes:
        raise DatasetFormatError(f"{source}: no @attribute before @data; the file is no ARFF table")
    return relation, attributes


def unquote(text: str) -> str:
    r"""Strip the quotes round a name and undo its backslashes.

    >>> unquote(r"'it\'s, here'")
    "it's, here"
    """
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _parse_attribute(source: str, number: int, line: str) -> Attribute:
    """Read one @attribute line."""
    found = _ATTRIBUTE.fullmatch(line)
    if found is None:
        raise DatasetFormatError(
            f"{source}, line {number}: found {line[:60]!r}, expected @attribute <name> <type>"
        )
    name, kind = unquote(found[1]), found[2].strip()
    if kind.lower() in _NUMERIC:
        return Attribute(name)
    if kind.startswith("{") and kind.endswith("}"):
        return _nominal(source, number, name, kind)
    raise DatasetFormatError(
        f"{source}, line {number}: attribute {name!r} is of type {kind[:40]!r}; only numeric "
        "attributes and {0,1} can be used: remove or encode it"
    )


def _nominal(source: str, number: int, name: str, kind: str) -> Attribute:
    """Read ``{0,1}`` or ``{FALSE,TRUE}`` in either order."""
    declared = [unquote(value.strip()) for value in kind[1:-1].split(",")]
    upper = [value.upper() for value in declared]
    for meaning, words in ((_BINARY, False), (_WORDS, True)):
        if all(value in meaning for value in upper):
            one_first = meaning[upper[0]] == 1
            return Attribute(name, binary=True, words=words, omitted_means_one=one_first)
    raise DatasetFormatError(
        f"{source}, line {number}: attribute {name!r} has the values {kind[:60]}; of nominal "
        "attributes only {0,1} and {FALSE,TRUE} can be used: encode it as 0/1 columns"
    )
