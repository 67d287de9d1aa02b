"""The data that findings are made from, and how they write numbers and names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from complabel.asking._inspection import Inspection

if TYPE_CHECKING:
    from complabel.answers import Answers
    from complabel.asking._statements import Statements

AUDIT = 200
"""Number of questions that repair most of the damage of a biased choice: docs/frequencies.md."""

FEW_MARKS = 20
"""With fewer answers than this, hardly anything is learned about a label."""

FEW_YES = 10
"""With fewer answers that say so than this, hardly anything is learned about where it applies."""

_MOST_LISTED = 5  # names in a message before the rest is only counted


@dataclass(frozen=True)
class Context:
    """The data that findings are made from."""

    seen: Inspection
    answers: Answers
    statements: Statements
    labels_listed: bool
    source: str
    features: str

    def possible(self, n: int = AUDIT) -> int:
        """Return n, or the number of item-label pairs that are not known if it is smaller."""
        said = self.statements
        known = len(said.affirmed) + len(said.denied) - 2 * len(said.contradicted)
        return min(n, self.answers.n_items * self.answers.n_labels - known)

    def ask(self, n: int = AUDIT) -> str:
        """Return the command that writes up to n random questions; empty if none is left."""
        features = f" --features {self.features}" if self.features else ""
        asked = self.possible(n)
        return self.command(f"ask {{}}{features} -n {asked} --out questions.csv") if asked else ""

    def command(self, text: str) -> str:
        """Return a command, with the name of the answers for ``{}``; empty without a name."""
        return "complabel " + text.replace("{}", self.source, 1) if self.source else ""

    @property
    def names_labels(self) -> bool:
        """Whether any answer belongs to the question "named"."""
        return "named" in self.seen.questions


def num(number: int, noun: str) -> str:
    """Write a number with its noun, in the plural if needed."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def some(names: Sequence[str]) -> str:
    """Write the first names, separated by commas, and how many more there are."""
    return ", ".join(cut(names))


def cut(names: Iterable[str]) -> list[str]:
    """Return the first names, and how many more there are."""
    listed = list(names)
    more = len(listed) - _MOST_LISTED
    return [*listed[:_MOST_LISTED], f"and {more:,} more"] if more > 0 else listed
