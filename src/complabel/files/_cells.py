"""What a cell says where labels are expected: a label, several, that none applies, or nothing.

A cell may hold a list as Python, JSON, pandas or NumPy spell it, or the JSON of a form. Nothing is
guessed: a sign that may separate labels, and a word such as "None", are asked for, unless the user
lists all labels.
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from complabel._opening import fault, tidy
from complabel._settings import setting
from complabel.answers import text_of
from complabel.errors import DatasetFormatError

# Where labels have one of these, it is asked what it means.
SURE_SIGNS = (
    *(";", ",", "|", "/", "\n", "\t", "::", "#", "~", "\u00b7"),
    *("\u3001", "\uff0c", "\uff1b", "\u060c", "\u061b"),  # of Japanese, Chinese and Arabic
)
_OUTSIDE = r"(?![^()]*\))"  # a sign in brackets belongs to a name
_WRAPPED = re.compile(
    r"(?:set|frozenset|c|list|tuple|array|character|Index)\((.*?)(?:,\s*dtype=.*)?\)", re.DOTALL
)
_MANY = 1.5  # so many more different cells than words are combinations of words
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_LIST = re.compile(rf"[\[({{]\s*(?:(?:{_QUOTED})(?:\s*,\s*|\s+)?)*[\])}}]", re.DOTALL)
_MOST = 40  # letters of a cell in a message
_NONE = {
    *("n/a", "n.a.", "na", "nan", "null", "nil", "<na>", "-", "--", "\u2013", "\u2014", "?", "k.a.")
}
_NONE_OF = re.compile(  # how words for none begin; they are only asked about
    r"(none|nil|null|nan|n/?a|nothing|empty|unlabel+ed|not applicable)$|none (of|apply|applies)\b"
    r"|\(?no (label|tag|finding|issue|emotion|category|categories|genre|topic)s?\b|nothing of"
    r"|keine?s?$|keine?s? (der|davon|angabe|label)|nichts( davon)?$|aucune?\b|rien$|ningun[oa]?\b"
    r"|ning\u00fan|nada$|nenhuma?\b|nessun[oa]?\b|geen( van)?\b|ingen\b|brak$|\u043d\u0435\u0442$"
    r"|\u306a\u3057|\u8a72\u5f53\u306a\u3057|\u4ee5\u4e0a\u90fd\u4e0d|\ud574\ub2f9 ?\uc5c6|\u65e0"
    r"|\u6ca1\u6709"
)


class Cell(NamedTuple):
    """The labels in a cell; ``is_none``: it says that none of all labels is among them."""

    labels: list[str]
    is_blank: bool = False
    is_none: bool = False


def word_of(text: str) -> str:
    """Return a word for *none* that the user gives in the form in which cells are compared."""
    return tidy(text).casefold()


def plain_word(text: str) -> str:
    """Return a word in the form in which words for *none* are compared."""
    return tidy(text).casefold().strip("[](){}<>*.\"' ") or tidy(text).casefold()


def may_mean_none(label: str) -> bool:
    """Return whether a label may be a word that says that no label applies, such as "None"."""
    return bool(_NONE_OF.match(plain_word(label))) or tidy(label).casefold() in _NONE


@dataclass
class Cells:
    """Reads the cells of one file.

    Attributes
    ----------
    separator : str or None
        What separates labels, as the user says.
    usual : str or None
        The same, as the platform does it that wrote the file.
    none : collection of str
        Words that say that no label applies, as ``word_of`` has them.
    listed : collection of str, or None
        All labels, if the user lists them.
    """

    separator: str | None = None
    usual: str | None = None
    none: Collection[str] = ()
    listed: Collection[str] | None = None
    _places: dict[str, str] = field(default_factory=dict)  # of each label that is not listed

    def read(self, text: str, place: str) -> Cell:
        """Return what a cell says; ``place`` is what messages call it."""
        text = tidy(text)
        if not text:
            return Cell([], is_blank=True)
        parts = list_in(text, place)
        if parts is None:
            sign = self.separator or self.usual
            whole = sign is None or text in (self.listed or ())
            parts = [text] if whole else re.split(re.escape(sign or "") + _OUTSIDE, text)
            parts = [tidy(part) for part in parts if part.strip()]
            self._check(parts, place)
        labels = [label for label in parts if label.casefold() not in self.none]
        for label in labels:
            if self.listed is None and may_mean_none(label):
                raise none_or_label(label, place)
        if len(labels) < len(parts) and labels:
            both = f"has {shown(parts[0])} and {shown(parts[-1])}, and one of them says that none"
            raise fault(place, f"{both} applies; correct it")
        return Cell(labels, is_none=len(labels) < len(parts))

    def finish(self) -> None:
        """Refuse labels that are combinations of others, with a blank or another sign between."""
        for label, place in self._places.items():
            if label[:1] == "[" and label[1:-1] in self._places:
                raise fault(place, f"has {shown(label)}, and another cell has it without brackets")
        combination = self.separator is None and self.listed is None and combined(self._places)
        if combination:
            label, sign = combination
            raise self._ask(label, sign, self._places[label])

    def _check(self, labels: Iterable[str], place: str) -> None:
        if self.separator is not None or self.listed is not None:
            return
        for label in labels:
            self._places.setdefault(label, place)
            plain = re.sub(r"\([^()]*\)", "", label)
            sign = next((sign for sign in SURE_SIGNS if sign in plain), None)
            if sign is not None:
                raise self._ask(label, sign, place)

    def _ask(self, label: str, sign: str, place: str) -> DatasetFormatError:
        text = f"has {shown(label)}; if these are several labels, give"
        text += f" {setting('separator')} {sign!r}, and if it is one label, all labels as"
        return fault(place, f"{text} {setting('label_names')}", proposes=[{"separator": sign}])


def shown(text: str) -> str:
    """Return a cell for a message."""
    return repr(text if len(text) <= _MOST else text[:_MOST] + "...")


def none_or_label(label: str, place: str) -> DatasetFormatError:
    """Return the error about a word that may say that no label applies."""
    return fault(
        place,
        f"has {shown(label)}, which may be a label, or say that no label applies: give"
        f" {setting('none')} {label!r} if no label applies there; if it is a label, list all labels"
        f" as {setting('label_names')}",
        proposes=[{"none": (label,)}],
    )


def combined(labels: Collection[str], listed: Collection[str] = ()) -> tuple[str, str] | None:
    """Return a label that is made of others, and the sign between them; None if there is none.

    Without ``listed``, the others are labels that also stand alone; or there are many more
    different labels with a blank in them than words.
    """
    known = set(listed or labels)
    for label in labels:
        for sign in sorted({each for each in label if not each.isalnum()}):
            parts = [tidy(part) for part in label.split(sign) if part.strip()]
            if len(parts) > 1 and known.issuperset(parts):
                return label, sign
    several = [label for label in labels if " " in label]
    words = {word for label in labels for word in label.split()}
    if not listed and len(several) > 2 and _MANY * len(words) <= len(set(labels)):
        return several[0], " "
    return None


def list_in(text: str, place: str) -> list[str] | None:
    """Return the labels in a list that a text spells; None if it spells none."""
    if wrapped := _WRAPPED.fullmatch(text):
        inner = wrapped[1].strip()
        text = "[]" if inner in ("", "0", "[]") else inner if inner[0] in "[{(" else f"[{inner}]"
    if text[:1] not in ("[", "{", "(") or text[-1] not in "]})":
        return None
    parsed: Any = None
    with contextlib.suppress(ValueError, RecursionError):
        parsed = json.loads(text)
    if parsed is None and _LIST.fullmatch(text):
        with contextlib.suppress(ValueError, SyntaxError):
            parsed = [ast.literal_eval(each) for each in re.findall(_QUOTED, text)]
    labels = _labels_of(parsed)
    if labels is None:
        if parsed is None and not re.search(r"[\"',{]", text[1:]):
            return None  # such as [treats], a name in brackets
        problem = f"has {shown(text)}, which is no plain list of labels"
        raise fault(place, f"{problem}; write one label, or labels with a sign between them")
    if any(not label for label in labels):
        raise fault(place, f"has {shown(text)}, a list with a blank; take it out")
    return labels


def _labels_of(value: Any) -> list[str] | None:
    """Return the labels of a list, or of the JSON of a form (crowd-html); None if it is neither."""
    if isinstance(value, list) and all(isinstance(each, dict) for each in value) and value:
        parts = [_labels_of(each) for each in value]
        return None if None in parts else [label for part in parts for label in part or ()]
    if isinstance(value, list):
        fine = all(isinstance(each, str | int) and not isinstance(each, bool) for each in value)
        return [tidy(text_of(each)) for each in value] if fine else None
    if not isinstance(value, dict) or not value:
        return None
    if all(isinstance(each, bool) for each in value.values()):
        return [tidy(name) for name, is_ticked in value.items() if is_ticked]
    inner = [*value.values()]
    if all(isinstance(each, dict) and [*each] == ["on"] for each in inner):  # crowd-checkbox
        return [tidy(name) for name, each in value.items() if each["on"] is True]
    if len(inner) == 1 and isinstance(inner[0], dict):
        labels = inner[0].get("labels", [inner[0]["label"]] if "label" in inner[0] else None)
        return _labels_of(inner[0] if labels is None else labels)
    return None
