"""What findings are made of, and how they write numbers and names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from complabel.asking._inspection import Inspection

if TYPE_CHECKING:
    from complabel.annotations import Answers
    from complabel.asking._statements import Statements

AUDIT = 200
"""Questions that bring back most of what a biased choice costs: docs/frequencies.md."""

FEW_MARKS = 20
"""Answers below which hardly anything is learned of a label."""

_MOST_LISTED = 5


@dataclass(frozen=True)
class Context:
    """What findings are made of."""

    seen: Inspection
    answers: Answers
    statements: Statements
    labels_listed: bool
    source: str
    features: str

    def possible(self, n: int = AUDIT) -> int:
        """Return how many of n questions can be asked: one for each pair that is not known."""
        said = self.statements
        known = len(said.affirmed) + len(said.denied) - 2 * len(said.contradicted)
        return min(n, self.answers.n_items * self.answers.n_labels - known)

    def ask(self, n: int = AUDIT) -> str:
        """Return the command that writes random questions, as many as can be asked."""
        features = f" --features {self.features}" if self.features else ""
        asked = self.possible(n)
        return self.command(f"ask {{}}{features} -n {asked} --out questions.csv") if asked else ""

    def command(self, text: str) -> str:
        """Return a command about the answers; empty if they have no name."""
        return "complabel " + text.replace("{}", self.source, 1) if self.source else ""

    @property
    def names_labels(self) -> bool:
        """Whether labels are named at all."""
        return "named" in self.seen.questions


def num(number: int, noun: str) -> str:
    """Write a number of things."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def some(names: Sequence[str]) -> str:
    """List the first names."""
    return ", ".join(cut(names))


def cut(names: Iterable[str]) -> list[str]:
    """Return the first names, and how many more there are."""
    listed = list(names)
    more = len(listed) - _MOST_LISTED
    return [*listed[:_MOST_LISTED], f"and {more:,} more"] if more > 0 else listed
