"""The kinds of questions that people are asked, in one table that all rooms look into.

What a person types is the name of a kind, with a number for M: "asked", "ticked-10", "menu-4". It
is the same word for simulated people, in plans, for ``complabel ask`` and for ``annotate``. The
word of its answers is ``question``: tables, tasks of other tools and ``Answers`` have it.

This file needs no other library, so that the command line can list the kinds at once.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from complabel._settings import setting
from complabel.errors import InputError

_SIZE = re.compile(r"[1-9][0-9]{0,8}")
_EXAMPLE = 5  # labels on offer where a text shows how a kind with a number is typed


@dataclass(frozen=True, slots=True)
class QuestionKind:
    """A kind of question: how it is typed, what is on offer, and what an answer says."""

    name: str  # how it is typed; M stands for the number of labels on offer
    question: str  # what its answers are called in tables of answers
    title: str  # what its answers are, in a few words
    asks: str = ""  # what people are asked, as a question; empty if it is not asked by that name
    # What simulated people answer, in a title and beside a line of a chart. "{labels}" is how many
    # labels are named.
    drawn: str = ""
    drawn_short: str = ""
    size: int = 0  # labels on offer; 0 if all labels are, or if the number is not given yet
    held_as: str = ""  # the question of ``Answers`` that its answers belong to
    # Of answers that are held as "named": what people do if all labels on offer apply, as there.
    all_apply: Literal["answer", "pick"] = "answer"

    def __post_init__(self) -> None:
        object.__setattr__(self, "held_as", self.held_as or self.question)

    @classmethod
    def parse(
        cls,
        word: object,
        n_labels: int | None = None,
        *,
        parameter: str = "question",
        others: Sequence[str] = (),
    ) -> QuestionKind:
        """Read a kind as it is typed, such as "ticked-10".

        With ``n_labels``, no more labels may be on offer. The words ``others`` may be typed, too:
        "free", which is "named", "excluded", "tagged", and those that the caller reads itself.
        Messages call the word ``parameter``.
        """
        text = str(word)
        if text in others and text in _OTHERS:
            return KINDS[_OTHERS[text]]
        stem, dash, digits = text.rpartition("-")
        kind = KINDS.get(f"{stem}-M" if dash else text)
        most = math.inf if n_labels is None else n_labels
        if kind is not None and kind.asks:
            size = kind.size
            if dash and _SIZE.fullmatch(digits):
                size = int(digits)
            if (not dash and kind.size <= most) or 2 <= size <= most:
                return replace(kind, size=size)
        plain = [each.name for each in ASKED if not each.takes_size]
        sized = [each.name for each in ASKED if each.takes_size]
        to = "" if n_labels is None else f" to {n_labels}, the number of labels"
        raise InputError(
            f"{setting(parameter, text)} is no kind of question; give"
            f" {', '.join([*plain, *others])}, or {' or '.join(sized)} with M from 2{to}, such as"
            f" {sized[0].replace('M', str(_EXAMPLE))}",
            parameter=parameter,
        )

    @property
    def takes_size(self) -> bool:
        """Whether the number of labels on offer is typed with it."""
        return self.name.endswith("-M")

    @property
    def word(self) -> str:
        """What is typed, with its number."""
        return self.in_words(self.name)

    def in_words(self, text: str) -> str:
        """Return a text about the kind with its number in place of M."""
        return re.sub(r"\bM\b", str(self.size), text)

    @property
    def stem(self) -> str:
        """What is typed before the number: how the servers of ``annotate`` keep it."""
        return self.name.removesuffix("-M")

    @property
    def judges(self) -> bool:
        """Whether people say of each label on offer whether it applies."""
        return self.held_as in JUDGING

    @property
    def chooses(self) -> bool:
        """Whether people choose some labels among others, which says something of each other."""
        return self.held_as in CHOOSING

    @property
    def names(self) -> bool:
        """Whether people name labels, or say that there is none to name."""
        return self.chooses and self.all_apply == "answer"

    @property
    def names_positive(self) -> bool:
        """Whether people name labels that apply."""
        return CHOOSING.get(self.held_as) == "yes"

    def n_offered(self, n_labels: int) -> int:
        """Return how many of all labels are on offer."""
        return self.size or n_labels

    def rows(
        self, answer: str | Iterable[str], offered: Sequence[str]
    ) -> list[tuple[str | None, str]]:
        """Return the label and the word of each row that an answer has in a table of answers.

        ``answer`` is "yes", "no" or "unsure", or the labels on offer that somebody chose.
        """
        if isinstance(answer, str):
            return [(offered[0] if self.size == 1 and offered else None, answer)]
        chosen = list(answer)
        if self.judges:
            return [(label, "yes" if label in chosen else "no") for label in offered]
        word, none = ("yes", "no") if self.names_positive else ("no", "yes")
        return [(label, word) for label in chosen] or [(None, none)]

    def probability(self, n_labels: int) -> float:
        """Return the chance with which the labels on offer are drawn; 1 if these are all."""
        return max(1 / math.comb(n_labels, self.n_offered(n_labels)), sys.float_info.min)


JUDGING = ("asked", "ticked")
"""Questions whose answers say of each label on offer whether it applies."""
CHOOSING = {"named": "no", "positive": "yes"}
"""Questions to which people name labels of their choice, and what is said of these."""
LISTING = {"excluded": "no", "tagged": "yes"}
"""Questions whose answers list labels, each with a chance of its own, and what is said of these.
They say nothing of the others."""
RATES_OF_LISTS = {"excluded": "exclusion_rates", "tagged": "exposure"}
"""What these chances are called: (K,), of a label of which it is true."""

_TABLE = (
    QuestionKind(
        name="asked",
        question="asked",
        title="yes or no about one label",
        asks="does this random label apply?",
        drawn="a yes/no question about a random label",
        drawn_short="asked yes/no",
        size=1,
    ),
    QuestionKind(name="several", question="asked", title="yes or no about several labels"),
    QuestionKind(
        name="ticked-M",
        question="ticked",
        title="a menu of labels ticked",
        asks="which of these M random labels apply?",
        drawn="M random labels judged",
        drawn_short="M random labels ticked",
    ),
    QuestionKind(
        name="ticked",
        question="ticked",
        title="all labels ticked",
        asks="which of all labels apply?",
        drawn="all labels judged",
        drawn_short="all labels ticked",
    ),
    QuestionKind(
        name="menu-M",
        question="named",
        title="labels of a menu named",
        asks="which one of these M random labels does not apply?",
        drawn="{labels} named from a random menu of M",
        drawn_short="named from menus of M",
    ),
    QuestionKind(
        name="named",
        question="named",
        title="labels named freely",
        asks="which one of all labels does not apply?",
        drawn_short="named freely",
    ),
    QuestionKind(
        name="positive-menu-M",
        question="positive",
        title="labels of a menu that apply, named",
        asks="which one of these M random labels applies?",
        drawn="{labels} named as applying, from a random menu of M",
        drawn_short="that applies, from menus of M",
    ),
    QuestionKind(
        name="positive",
        question="positive",
        title="labels that apply, named freely",
        asks="which one of all labels applies?",
        drawn="{labels} named freely as applying",
        drawn_short="that applies, named freely",
    ),
    QuestionKind(name="excluded", question="excluded", title="labels ruled out"),
    QuestionKind(name="tagged", question="tagged", title="labels that apply, as tags"),
)

KINDS = {kind.name: kind for kind in _TABLE}
"""All kinds by name. The first that fits an answer is its kind."""
ASKED = tuple(kind for kind in _TABLE if kind.asks)
"""The kinds that people may be asked."""
BY_QUESTION = {kind.question: kind for kind in _TABLE}
"""A kind for each question that a table of answers may have; all such kinds are held alike."""
BY_STEM = {kind.stem: kind for kind in ASKED}
"""The same by what is typed before a number. The word of a table's question is one of them, too."""
_OTHERS = {"free": "named"} | {word: word for word in LISTING}
ASKED_QUESTIONS = tuple(dict.fromkeys(kind.question for kind in ASKED))
"""What a table says of questions that people may be asked."""


def kinds_in_words() -> str:
    """Return how each kind that people may be asked is typed, and what it asks."""
    examples = [replace(kind, size=_EXAMPLE) if kind.takes_size else kind for kind in ASKED]
    return " ".join(f"{kind.word}: {kind.in_words(kind.asks)}" for kind in examples)
