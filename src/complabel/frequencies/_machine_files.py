"""What machines say, read from files, and people's answers about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from complabel._opening import StrPaths, existing_ones
from complabel._parameters import Array
from complabel._settings import setting
from complabel.answers import Answers, ContradictionPolicy, Question, about_positives
from complabel.errors import DatasetFormatError, InputError
from complabel.files import (
    CONFIDENCE,
    ITEM_TABLES,
    AnswerFile,
    Table,
    read_features,
    read_judgments,
    read_quietly,
    some_of,
)
from complabel.frequencies._estimate import checked_probabilities
from complabel.frequencies._machine_strata import scores_of


@dataclass(frozen=True, eq=False, kw_only=True)
class MachineFiles:
    """What :func:`read_machines` returns: what machines say of items and labels.

    Attributes
    ----------
    answers : Answers
        What the first file says, with the names of the items and of the labels.
    said : dict of str to ndarray of shape (n_items, n_labels), dtype float64
        What each machine says, by the name of its file or of the annotator: 1 or 0, or
        probabilities; NaN where it says nothing.
    """

    answers: Answers
    said: Mapping[str, Array]
    _path: Path
    _lines: tuple[str, ...]

    def lines(self) -> list[str]:
        """Say what each file holds, and how often each machine says yes and no, in lines."""
        return [*self._lines]

    @property
    def item_names(self) -> list[str]:
        """The names of the items (n_items,)."""
        return _names(self.answers.item_names)

    @property
    def label_names(self) -> list[str]:
        """The names of the labels (n_labels,)."""
        return _names(self.answers.label_names)

    @property
    def said_by_any(self) -> Array:
        """What the first machine says (n_items, n_labels) that says something of a pair."""
        first, *others = self.said.values()
        for each in others:
            first = np.where(np.isnan(first), each, first)
        return first

    def refuse_swapped(self, path: StrPaths, people: Answers) -> None:
        """Refuse files of people that say more than the machine's: they are the machine's.

        Raises
        ------
        InputError
            If people answered about more pairs of an item and a label.
        """
        n_pairs = int((people.complementary + people.known_relevant > 0).sum())
        if n_pairs > (n_known := int((~np.isnan(self.said_by_any)).sum())):
            raise InputError(
                f"{_called(path)}: answers about {n_pairs:,} pairs of an item and a label, more"
                f" than the {n_known:,} of {self._path}; people answer about fewer than a machine:"
                " are the files in the right order? If not, exchange them"
            )

    def refuse_other_items(self, path: StrPaths, others: MachineFiles) -> None:
        """Refuse to compare two systems, if ``others`` are about other items.

        Raises
        ------
        InputError
        """
        if odd := sorted({*self.item_names} ^ {*others.item_names}):
            raise InputError(
                f"{_called(path)}: {len(odd):,} items are in one of both machines' tables alone,"
                f" such as {some_of(odd)}; systems are compared on the same items, so give them"
                f" the same names, and all with {setting('items')}"
            )

    def read_people(
        self,
        path: StrPaths,
        *,
        question: Question | None = None,
        contradictions: ContradictionPolicy = "error",
        trusted: Sequence[str] = (),
    ) -> AnswerFile:
        """Read people's answers about the machine's items and labels, as ``read_answers`` does.

        Files are refused with an InputError that seem to be swapped with the machine's, or are
        about other items or labels, or about no pair of which a machine says something.
        """
        alone = read_quietly(path, question=question, contradictions="keep").answers
        self.refuse_swapped(path, alone)
        for what, known, mentioned in (
            ("items", self.item_names, _names(alone.item_names)),
            ("labels", self.label_names, _names(alone.label_names)),
        ):
            if strangers := sorted({*mentioned} - {*known}):
                # Answers about other items, such as another month's, say nothing about this one.
                advice = f"If they are of an earlier month, give {setting('before')} with what the"
                advice += " machine said then, and these answers; else leave them out"
                if what == "labels":
                    advice = "If the machine says nothing about them, give all labels with"
                    advice += f" {setting('label_names')}"
                raise InputError(
                    f"{_called(path)}: answers about {what} that {self._path} does not mention:"
                    f" {some_of(strangers)} ({len(strangers):,} in all); it has {some_of(known)}."
                    f" {advice}"
                )
        rules: Any = {"contradictions": contradictions, "trusted": trusted, "question": question}
        names = {"items": self.item_names, "label_names": self.label_names}
        file = read_quietly(path, **names, **rules)
        people = file.answers.statements()
        if len(people.item) and np.isnan(self.said_by_any[people.item, people.label]).all():
            raise InputError(
                f"{_called(path)}: no answer is about a pair of an item and a label of which"
                f" {self._path} says yes or no; give answers to questions of complabel ask"
                " --against"
            )
        return file


def read_machines(
    path: StrPaths,
    *,
    items: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    question: Question | None = None,
    contradictions: ContradictionPolicy = "error",
    only_yes: bool = False,
    apart: bool = False,
) -> MachineFiles:
    r"""Read what machines say of items and labels.

    Parameters
    ----------
    path : path or sequence of paths
        Tables of answers as :func:`complabel.files.read_answers` takes them, yes or no about each
        item and label, perhaps with a column ``confidence``; or tables with the column ``item`` and
        a column of probabilities for each label.
    items, label_names : sequence of str, or None, default=None
        All items in the order of the rows, and all labels. By default those of the first file.
    question, contradictions : str or None
        As for :func:`complabel.files.read_answers`.
    only_yes : bool, default=False
        Whether the tables list only what applies, so that a machine says no of all else. It needs
        ``items``.
    apart : bool, default=False
        Whether annotators of a file who answer the same pairs are a machine each, unless
        ``contradictions`` makes them one.

    Returns
    -------
    MachineFiles

    Raises
    ------
    InputError
        If a machine never says yes, or never no; if nothing tells which of them a row says; or if
        the labels of tables of probabilities are not ``label_names``.
    DatasetFormatError, AnnotationError
        If a file cannot be read, or its answers contradict each other.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "machine.csv"
    >>> _ = path.write_text("item,sea,sky\na.jpg,0.9,0.2\nb.jpg,0.4,0.7\n")
    >>> machine = read_machines(path)
    >>> machine.item_names, machine.label_names
    (['a.jpg', 'b.jpg'], ['sea', 'sky'])
    >>> machine.said_by_any
    array([[0.9, 0.2],
           [0.4, 0.7]])
    """
    if only_yes and items is None:
        raise InputError(
            f"{setting('only_yes')} takes what is not listed as no, so give all items with"
            f" {setting('items')}: the machine may list nothing for some"
        )
    all_answers: list[Answers] = []
    by_name: dict[str, Array] = {}
    lines: list[str] = []
    rules: Any = {"question": question, "contradictions": contradictions, "only_yes": only_yes}
    for each in (paths := existing_ones("path", path)):
        names: dict[str, Any] = {"items": items, "label_names": label_names}
        answers, of_each = _Sheet(path=each, known=names, lines=lines, **rules).read(apart=apart)
        all_answers.append(answers)
        items, label_names = _names(answers.item_names), _names(answers.label_names)
        by_name |= {
            f"{each}: {name}" if name in by_name else name: of for name, of in of_each.items()
        }
    return MachineFiles(answers=all_answers[0], said=by_name, _path=paths[0], _lines=tuple(lines))


@dataclass(frozen=True, kw_only=True)
class _Sheet:
    """A file with what one machine says, or several; ``lines`` get what it holds."""

    path: Path
    known: Mapping[str, Any]  # items and label_names
    question: Question | None
    contradictions: ContradictionPolicy
    only_yes: bool
    lines: list[str]

    def read(self, *, apart: bool) -> tuple[Answers, dict[str, Array]]:
        """Return the answers, and what each machine says (n, K), by its name."""
        columns = {*Table.open(self.path, "tables of answers", endings=ITEM_TABLES).columns}
        if not {"item", "label"} <= columns:
            answers, scores = self._probabilities()
        else:
            if not (self.only_yes or self.question or columns & {"answer", "question"}):
                raise InputError(
                    f"{self.path}: no column answer says yes or no. If the table lists what"
                    f" applies, and the machine says no of all else, give {setting('only_yes')}"
                )
            if apart and not self.only_yes and self.contradictions == "error":
                answers, several = self._annotators()
                if several:
                    return answers, several
            answers, scores = self._answers()
        for word, says in (("yes", scores >= 0.5), ("no", scores < 0.5)):
            if not says.any():
                also = f"{about_positives(answers)}; if what it does not list is a no, give"
                also += f" {setting('only_yes')}"
                raise InputError(
                    f"{self.path}: the machine never says {word}{also * (word == 'no')}. Its"
                    " answers must be both, yes and no"
                )
        self._say_counts("", scores)
        return answers, {str(self.path): scores}

    def _answers(self) -> tuple[Answers, Array]:
        listed: Any = {"answer": "yes", "unselected": "unknown"} if self.only_yes else {}
        settings: dict[str, Any] = {**self.known, "question": self.question, **listed}
        file = read_quietly(self.path, contradictions=self.contradictions, **settings)
        self.lines.extend(file.lines())
        answers = file.answers
        scores = scores_of(answers)
        sure = self._confidence(answers, scores, **listed)
        if not self.only_yes:
            return answers, scores if sure is None else scores_of(answers, sure)
        if n_no := int((scores < 0.5).sum()):
            advice = f"leave out {setting('only_yes')}"
            raise InputError(f"{self.path}: the machine says no {n_no:,} times; {advice}")
        # The confidence of what is listed is the probability that it applies.
        return answers, np.where(np.isnan(scores), 0.0, scores if sure is None else sure)

    def _annotators(self) -> tuple[Answers, dict[str, Array]]:
        """Return what each annotator says, if two of them answer the same pair."""
        of = {**self.known, "question": self.question, "contradictions": "keep"}
        answers = read_quietly(self.path, **of).answers
        by_name, n_scores = {}, np.zeros(answers.shape, dtype=np.intp)
        n_lines = len(self.lines)
        for at, name in enumerate(answers.annotator_names):
            of_one = answers.only(answers.annotator == at)
            scores = scores_of(of_one)
            sure = self._confidence(of_one, scores, annotator=at)
            by_name[str(name)] = scores if sure is None else scores_of(of_one, sure)
            n_scores += ~np.isnan(scores)
        if (n_scores < 2).all():
            del self.lines[n_lines:]
            return answers, {}
        sentence = f"{len(by_name)} annotators answer the same pairs; each counts as a machine"
        self.lines.append(f"{self.path}: {sentence}")
        for name, scores in by_name.items():
            self._say_counts(f"{name}: ", scores)
        return answers, by_name

    def _confidence(
        self, answers: Answers, scores: Array, annotator: int | None = None, **listed: Any
    ) -> Array | None:
        """Return how sure a machine is of each answer (n, K); None if it is not told."""
        rows = read_judgments(self.path, answers, self.question, needed=CONFIDENCE, **listed)
        if not len(rows["item"]):
            return None
        agree = rows["answer"] == scores[rows["item"], rows["label"]]
        if annotator is not None:
            agree &= rows["annotator"] == annotator
        least = np.full(scores.shape, np.inf)
        np.minimum.at(least, (rows["item"][agree], rows["label"][agree]), rows[CONFIDENCE][agree])
        if gaps := int((~np.isfinite(least) & ~np.isnan(scores)).sum()):
            self.lines.append(f"  answers without a confidence: {gaps:,}; so only yes and no count")
            return None
        self.lines.append("  each answer has a confidence, which counts")
        return least

    def _probabilities(self) -> tuple[Answers, Array]:
        try:
            table = read_features(self.path)
            p = checked_probabilities("probabilities", table.X, table.X.shape)
        except (DatasetFormatError, InputError) as error:
            raise InputError(
                f"{self.path}: no table of answers, with the columns item and label, and no table"
                " with a column of probabilities for each label; complabel import reads other"
                f" files. {error}"
            ) from error
        columns, items = list(table.feature_names or ()), self.known["items"]
        names = list(self.known["label_names"] or columns)
        ids = list(table.items if items is None else items)
        if sorted(names) != sorted(columns):
            raise InputError(
                f"{self.path}: columns {some_of(columns)}, but labels {some_of(names)}"
            )
        row_of = {item: row for row, item in enumerate(table.items)}
        row = np.array([row_of.get(item, -1) for item in ids])
        scores = np.where(row[:, np.newaxis] < 0, np.nan, p[row][:, [*map(columns.index, names)]])
        self.lines.append(
            f"{self.path}: probabilities of {len(names)} labels, {some_of(names)}; .5 and more is"
            " yes"
        )
        return Answers.from_table({"item": [], "label": []}, items=ids, label_names=names), scores

    def _say_counts(self, name: str, scores: Array) -> None:
        n_yes, n_no = int((scores >= 0.5).sum()), int((scores < 0.5).sum())
        n_gaps = scores.size - n_yes - n_no
        gaps = f"; it says nothing about {n_gaps:,} pairs" * (n_gaps > 0)
        of = f"yes about {n_yes:,} pairs of an item and a label, no about {n_no:,}"
        self.lines.append(f"  {name}{of}{gaps}")


def _names(names: Any) -> list[str]:
    return [] if names is None else [*map(str, names)]


def _called(path: StrPaths) -> str:
    return " and ".join(map(str, existing_ones("path", path)))
