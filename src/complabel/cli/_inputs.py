"""What commands read: answers and features in files, and the options that say how to read them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from complabel._settings import settings_as_options
from complabel.cli import _options as options
from complabel.cli._console import doubt, remark, say, working
from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel.answers import Answers
    from complabel.files import AnswerFile, Features
    from complabel.frequencies import MachineFiles
    from complabel.methods import SavedModel


@dataclass(kw_only=True)
class ReadAs:
    """How tables of answers are read that do not say it themselves."""

    read_as: str | None = options.READ_AS
    contradictions: str = field(default="keep", init=False)
    trusted: list[str] | None = field(default=None, init=False)

    def answers(
        self,
        paths: Sequence[Path],
        items: Sequence[str] | None = None,
        label_names: Path | Sequence[str] | None = None,
        *,
        says: bool = True,
    ) -> Answers:
        """Read answers about some items, and print what each file holds."""
        settled = self.contradictions, self.trusted
        return read_own_answers(paths, items, label_names, self.read_as, *settled, says=says)

    def machines(
        self,
        paths: Sequence[Path],
        items: Sequence[str] | None = None,
        label_names: Path | Sequence[str] | None = None,
        **settings: Any,
    ) -> MachineFiles:
        """Read what machines say; ``settings`` are what :func:`read_machines` takes beside that."""
        from complabel.frequencies import read_machines

        names: Any = {"items": items, "label_names": names_in(label_names)}
        names |= {"question": self.read_as, "contradictions": self.contradictions}
        with _reading(paths):
            machines = read_machines(paths, **names, **settings)
        say("\n".join(machines.lines()))
        return machines

    def people(self, paths: Sequence[Path], machines: MachineFiles) -> Answers:
        """Read people's answers about what machines say."""
        rules: Any = {"question": self.read_as, "contradictions": self.contradictions}
        with _reading(paths):
            file = machines.read_people(paths, trusted=self.trusted or (), **rules)
        return _reported(file)

    def unsure(self, paths: Sequence[Path], people: Answers) -> Any:
        """Return where people were unsure: the positions of items, labels and people."""
        from complabel.files import read_unsure

        with _reading(paths):
            return read_unsure(paths, people, self.read_as)  # type: ignore[arg-type]

    def typed(self) -> dict[str, Any]:
        """Return the options as typed, for a command that reads the same answers."""
        settled = {"contradictions": self.contradictions, "trusted": self.trusted}
        return {"read_as": self.read_as, **settled}


@dataclass(kw_only=True)
class Settled(ReadAs):
    """How contradictions are settled, too."""

    contradictions: str = options.CONTRADICTIONS
    trusted: list[str] | None = options.TRUSTED


@dataclass(kw_only=True)
class SettledOrKept(Settled):
    """The same, for a method that allows for mistakes."""

    contradictions: str = options.CONTRADICTIONS_OR_KEEP


@dataclass(kw_only=True)
class Before:
    """Earlier months of a machine."""

    before: list[Path] | None = options.BEFORE

    @property
    def pairs(self) -> list[tuple[Path, Path]]:
        """What the machine said, and people's answers about it, as they were typed."""
        return [*zip((self.before or [])[::2], (self.before or [])[1::2], strict=True)]

    def months(self, reading: ReadAs, *, only_yes: bool) -> list[tuple[Any, ...]]:
        """Read the months, as ``before`` of ``audit_machine`` takes them."""
        from complabel.files import read_quietly
        from complabel.frequencies import read_machines

        if self.before and only_yes:
            raise InputError(
                "--before is given with --only-yes, and the items of an earlier month are not"
                " known; give tables with a yes or a no about each item and label"
            )
        months, kept = [], {"question": reading.read_as, "contradictions": "keep"}
        for machine in dict.fromkeys(each for each, _ in self.pairs):
            tables = [table for each, table in self.pairs if each == machine]
            with _reading([machine, *tables]):  # it may have refused items that people judged
                names: Any = read_machines([machine], **kept).item_names  # type: ignore[arg-type]
                judged: Any = read_quietly(tables, **kept).answers.item_names
            machines = reading.machines([machine], [*dict.fromkeys([*names, *map(str, judged)])])
            people = reading.people(tables, machines)
            months.append((people, machines.said_by_any, reading.unsure(tables, people)[:2]))
        return months


def read_own_answers(
    paths: Sequence[Path],
    items: Sequence[str] | None,
    label_names: Path | Sequence[str] | None = None,
    question: str | None = None,
    contradictions: str = "error",
    trusted: Sequence[str] | None = None,
    *,
    says: bool = True,
) -> Answers:
    """Read answers about some items, and print what each file holds.

    Without ``label_names``, the labels are those that any of the files mentions. With
    ``says=False``, only files with answers about unknown items are reported.
    """
    from complabel.files import read_quietly

    names = names_in(label_names)
    rules: Any = {"question": question, "contradictions": contradictions, "trusted": trusted or ()}
    with _reading(paths):
        file = read_quietly(paths, items=items, label_names=names, **rules)
    answers = _reported(file, says=says)
    if says and names is None and (answers.question != "asked").any():
        remark(
            "labels that no answer mentions are unknown here; give all label names with"
            " --label-names",
            style="yellow",
        )
    return answers


@contextlib.contextmanager
def _reading(paths: Sequence[Path]) -> Iterator[None]:
    """Show that files are read; errors call the question of their rows as commands do."""
    with (
        working(f"reading {' and '.join(map(str, paths))}"),
        settings_as_options({"question": "--read-as"}),
    ):
        yield


def _reported(file: AnswerFile, *, says: bool = True) -> Answers:
    """Print what files hold, and which contradictions were settled; return the answers."""
    for part in file.parts:
        if says or part.unmatched_items:
            say("\n".join(part.lines()))
    doubt("\n".join(file.settled()))
    return file.answers


def names_in(label_names: Path | Sequence[str] | None) -> Sequence[str] | None:
    """Return the names of labels that a file holds, or that are known already."""
    from complabel.files import read_label_names

    return read_label_names(label_names) if isinstance(label_names, Path) else label_names


def read_own_features(
    path: Path, items: Path | None = None, *, model: SavedModel | None = None, **which: Any
) -> Features:
    """Read features, and show that it is done; for a model, refuse those made otherwise.

    ``which`` are ``rows`` and ``in_pieces`` of :func:`complabel.files.read_features`.
    """
    from complabel.files import read_features

    n_features = None if model is None else model.classifier.n_features_in_
    with working(f"reading {path}"):
        table = read_features(path, items=items, n_features=n_features, **which)
    if model is not None:
        doubt(model.about_features(table, path))
    return table


def advise_on(features: Features, answers: Answers) -> None:
    """Print what other features might gain, if the file says how these were made."""
    from complabel.features import advice

    text = advice(features.X, answers.answered, features.recipe)
    if text:
        remark(f"hint: {text}")
