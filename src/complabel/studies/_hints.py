"""Warnings that every fold repeats: shown once for each method."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from complabel.answers import AssumedUniformWarning, IgnoredAnswersWarning, UnansweredRowWarning

if TYPE_CHECKING:
    from complabel.studies._units import Unit

# These warnings say what a method can use of the answers; they are alike in all folds.
_SAID_ONCE = (IgnoredAnswersWarning, AssumedUniformWarning, UnansweredRowWarning)

Hint = tuple[type[Warning], str]
"""A kind of warning, and its text."""


@contextlib.contextmanager
def collected() -> Iterator[list[Hint]]:
    """Collect the warnings that are to be shown once, for the main process to show.

    Other warnings are shown as usual.
    """
    hints: list[Hint] = []
    with warnings.catch_warnings():
        show = warnings.showwarning

        def keep(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, _SAID_ONCE):
                hints.append((category, str(message)))
            else:
                show(message, category, filename, lineno, file, line)

        warnings.showwarning = keep
        for category in _SAID_ONCE:
            warnings.simplefilter("always", category)
        yield hints


@dataclass
class HintsSaid:
    """Shows each kind of hint once for each method."""

    said: set[tuple[str, type[Warning]]] = field(default_factory=set)

    def say(self, unit: Unit, hints: list[Hint]) -> None:
        """Show hints that are new, and that the plan does not already explain."""
        for category, text in hints:
            told = category is UnansweredRowWarning and unit.draw.leaves_items_out
            place = unit.row.method, category
            if not told and place not in self.said:
                self.said.add(place)
                warnings.warn(f"{unit.row.method}: {text}", category, stacklevel=2)
