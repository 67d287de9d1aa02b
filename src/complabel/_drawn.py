"""How a question was drawn: the words of the column ``drawn`` in a table of answers.

- "random": chance drew it. ``probability`` has the chance, unless it is about all labels.
- "aimed": complabel drew it by a rule that prefers some pairs of an item and a label. With a
  ``probability`` it counts with that chance; without one it is no sample.
- "rule": a rule decided it, so it is no sample.
- "machine 3f2a91c0 yes 8.33/218": chance drew it among the 218 pairs of its label of which this
  machine says yes. Of these, 8.33 were to be drawn until then, whatever people answered. It is 0
  where earlier answers led there: such a question is random among these pairs, but it is a sample
  only to who knows the machine. With scores, "yes.3" is a part of the pairs. It has no
  ``probability``, so that a table without ``drawn`` is no sample.
- "machine 3f2a91c0 form.20 0.83/4952": chance drew a form about 20 labels of one of 4,952 items.
  Forms were drawn one by one: each time with chances in proportion to the sizes of the items left,
  which go by what this machine says of all their labels. The size here is .83 of the mean. If
  some of all labels were asked about, chance alone decided which.
- "": somebody chose it, or it is not known.

Who answers must not see what the machine says. So questions have the last part sealed: hidden by
the name of the pair (of a form: of its item), and of one length. This keeps nobody out who wants to
know; it only shows nothing. What reads a table opens the seal.

This file needs no other library.
"""

from __future__ import annotations

import hashlib
import math
import re
import sys
from typing import NamedTuple, Self

RANDOM, AIMED, RULE = "random", "aimed", "rule"
AS_WRITTEN = (
    f"it must be {RANDOM}, {AIMED}, {RULE}, or as complabel wrote it: leave the cell as it was, or"
    " blank"
)
_OF_MACHINE = re.compile(
    r"machine ([0-9a-f]{8}) ((?:yes|no)(?:\.\d{1,2})?|nothing|form\.[1-9]\d{0,8})"
    r" (\d+(?:\.\d+)?)/([1-9]\d{0,11})"
)
_SEALED = re.compile(r"(machine [0-9a-f]{8} )~((?:[0-9a-f]{2})+)")
_FORM = "form."
_SIZE = 24  # characters of what is sealed, or a multiple, whatever it says
_CHECK = 3  # bytes by which a seal is known
_LEAST = 1e-4
_LEAST_CHANCE = 1e-12


class ByMachine(NamedTuple):
    """A draw among the ``pairs`` of one label of which a machine says the same ``word``.

    Or a draw of a form: ``pairs`` are the items, and ``planned`` is the size of the form's item.
    """

    digest: str  # of the machine
    word: str
    planned: float  # how many of the pairs were to be drawn until then, whatever was answered
    pairs: int

    @classmethod
    def of(cls, text: str) -> Self | None:
        """Read a text; None if it is about no machine."""
        found = _OF_MACHINE.fullmatch(text)
        if found is None or float(found[3]) > int(found[4]):
            return None
        draw = cls(found[1], found[2], float(found[3]), int(found[4]))
        return None if draw.labels and not draw.planned else draw

    @classmethod
    def of_form(cls, digest: str, labels: int, size: float, items: int) -> Self:
        """Return the draw of a form about so many labels of an item, of this size among all."""
        return cls(digest, f"{_FORM}{labels}", size, items)

    @property
    def labels(self) -> int:
        """How many labels a form is about; 0 of a question about one pair."""
        return int(self.word.removeprefix(_FORM)) if self.word.startswith(_FORM) else 0

    def __str__(self) -> str:
        planned = max(self.planned, _LEAST) if self.planned else 0
        number = f"{planned:{'.0f' if planned >= 1000 else '.4g'}}"
        return f"machine {self.digest} {self.word} {number}/{self.pairs}"


def least_chance(n_labels: int, n_offered: int) -> float:
    """Return the least chance that a question about so many of all labels may say it had.

    With less, one answer would stand for all pairs there are. A menu may have that much less as
    there are menus of its size.
    """
    if n_offered <= 1:
        return _LEAST_CHANCE
    sizes = (n_labels, n_offered, n_labels - n_offered)
    of_all, of_menu, rest = (math.lgamma(n + 1) for n in sizes)
    return max(_LEAST_CHANCE * math.exp(of_menu + rest - of_all), sys.float_info.min)


def sealed(text: str, item: object, label: object) -> str:
    """Return a text as people may see it, who are asked about an item and a label."""
    draw = ByMachine.of(text)
    if draw is None:
        return text
    label = "" if draw.labels else label  # all rows of a form say the same
    start, rest = text[:17], text[17:]
    plain = rest.ljust(-(-len(rest) // _SIZE) * _SIZE).encode()
    return f"{start}~{_mixed(_check_of(start, plain, item, label) + plain, start, item, label)}"


def is_sealed(text: str) -> bool:
    """Return whether a text has a seal to open."""
    return _SEALED.fullmatch(text.strip()) is not None


def opened(text: str, item: object, label: object) -> str:
    """Return a text in clear; a ValueError if it is no word, or sealed for another pair."""
    text = text.strip()
    found = _SEALED.fullmatch(text)
    if found is not None:
        start, hidden = found[1], bytes.fromhex(found[2])
        for name in (label, ""):
            plain = bytes.fromhex(_mixed(hidden, start, item, name))
            check, plain = plain[:_CHECK], plain[_CHECK:]
            if check == _check_of(start, plain, item, name):
                text = start + plain.decode().rstrip()
    if text.lower() in ("", RANDOM, AIMED, RULE):
        return text.lower()
    if ByMachine.of(text) is None:
        raise ValueError(AS_WRITTEN)
    return text


def _mixed(plain: bytes, start: str, item: object, label: object) -> str:
    stream = hashlib.shake_256(f"{start}\0{item}\0{label}".encode()).digest(len(plain))
    return bytes(a ^ b for a, b in zip(plain, stream, strict=True)).hex()


def _check_of(start: str, plain: bytes, item: object, label: object) -> bytes:
    key = f"{start}\0{item}\0{label}\0".encode()
    return hashlib.sha256(key + plain).digest()[:_CHECK]
