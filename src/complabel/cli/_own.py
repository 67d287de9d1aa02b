"""The user's own answers, features and models: reads them and says what they hold."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from complabel.cli._console import command, remark, say, working
from complabel.errors import AnnotationError, DatasetFormatError, InputError

if TYPE_CHECKING:
    from complabel.answers import Answers
    from complabel.features import Encoder, Made
    from complabel.files import AnswerFile, Features
    from complabel.methods import ComplementaryClassifier

_MOST_SHOWN = 5


def read_own_answers(
    paths: Sequence[Path],
    items: Sequence[str] | None,
    label_names: Path | Sequence[str] | None = None,
    question: str | None = None,
    contradictions: str = "error",
    trusted: Sequence[str] | None = None,
    *,
    says: bool = True,
    **listed: Any,
) -> Answers:
    """Read answers about some items, and print what each file holds.

    Without ``label_names``, the labels are those that any of the files mentions. With
    ``says=False``, only files with answers about unknown items are reported. ``listed`` are what
    :func:`complabel.files.read_answers` takes of a list: ``answer`` and ``unselected``.
    """
    from complabel.files import read_label_names

    names = read_label_names(label_names) if isinstance(label_names, Path) else label_names
    has_names = names is not None
    policy = "keep" if contradictions == "error" else contradictions
    found = read_quietly(paths, items, names, question, policy, trusted or (), **listed)
    for path, file in zip(paths, found.parts, strict=True):
        if not says and not file.unmatched_items:
            continue
        say(f"{path}: {file.answers.n_answers:,} answers, {file.answers.n_labels} labels")
        for line in file.reconciliation():
            say(f"  {line}")
    if says and not has_names and (found.answers.question != "asked").any():
        remark(
            "labels that no answer mentions are unknown here; give all label names with"
            " --label-names",
            style="yellow",
        )
    if contradictions != "keep" and found.n_contradictions:
        _say_contradictions(found, paths, contradictions, trusted or ())
    return found.answers


def read_machine(
    path: Path,
    items: Sequence[str] | None = None,
    label_names: Path | Sequence[str] | None = None,
    question: str | None = None,
    contradictions: str = "error",
    *,
    only_yes: bool = False,
) -> tuple[Answers, Any]:
    """Read a machine's answers; return them, and as 1, 0 and NaN (n_items, n_labels)."""
    of_machine, said = _read_said(
        path, items, label_names, question, contradictions, only_yes=only_yes
    )
    return of_machine, said[str(path)]


def read_machines(
    paths: Sequence[Path],
    items: Sequence[str] | None = None,
    label_names: Path | Sequence[str] | None = None,
    question: str | None = None,
    contradictions: str = "error",
    *,
    only_yes: bool = False,
) -> tuple[Answers, dict[str, Any]]:
    """Read what machines say; return answers of the first file, and each machine's by its name.

    In a file in which several annotators answer the same pairs, each is a machine, unless
    ``contradictions`` says how to make them one.
    """
    found: dict[str, Any] = {}
    first: Answers | None = None
    asked_of = (question, contradictions)
    for path in paths:
        known = (items, label_names) if first is None else names_of(first)
        of_machine, said = _read_said(path, *known, *asked_of, only_yes=only_yes, apart=True)
        first = first or of_machine
        found |= {f"{path}: {name}" if name in found else name: of for name, of in said.items()}
    assert first is not None
    return first, found


def said_by_any(machines: dict[str, Any]) -> Any:
    """Return what the first machine says (n, K) that says something of a pair; NaN: none does."""
    import numpy as np

    first, *others = machines.values()
    for each in others:
        first = np.where(np.isnan(first), each, first)
    return first


def _read_said(
    path: Path,
    items: Sequence[str] | None,
    label_names: Path | Sequence[str] | None,
    question: str | None,
    contradictions: str,
    *,
    only_yes: bool,
    apart: bool = False,
) -> tuple[Answers, dict[str, Any]]:
    """Read what one machine says, or if ``apart``, each annotator who answers the same pairs.

    If the table has a confidence of each, or a column for each label instead, they are
    probabilities. With ``only_yes``, a machine says yes of what is listed, and no of all else.
    """
    import numpy as np

    from complabel.files import ITEM_TABLES, Table
    from complabel.frequencies import said_by

    if only_yes and items is None:
        raise InputError(
            "--only-yes takes what is not listed as no, so give all items with --items: the machine"
            " may list nothing for some"
        )
    columns = {*Table.open(path, "tables of answers", endings=ITEM_TABLES).columns}
    if {"item", "label"} <= columns:
        if not (only_yes or question or columns & {"answer", "question"}):
            raise InputError(
                f"{path}: no column answer says yes or no. If the table lists what applies, and the"
                " machine says no of all else, give --only-yes"
            )
        how: Any = {"answer": "yes", "unselected": "unknown"} if only_yes else {}
        if apart and not only_yes and contradictions == "error":
            of_all, several = _machines_in(path, items, label_names, question)
            if several:
                return of_all, several
        machine = read_own_answers([path], items, label_names, question, contradictions, **how)
        said = said_by(machine)
        sure = _confidence_of(path, machine, said, question, **how)
        said = said if sure is None or only_yes else said_by(machine, sure)
    else:
        (machine, said), sure = _read_probabilities(path, items, label_names), None
    n_yes, n_no = int((said >= 0.5).sum()), int((said < 0.5).sum())
    if only_yes and n_no:
        raise InputError(f"{path}: the machine says no {n_no:,} times; leave out --only-yes")
    if only_yes:  # the confidence of what is listed is the probability that it applies
        said = np.where(said != said, 0.0, said if sure is None else sure)
        n_yes = int((said >= 0.5).sum())
        n_no = said.size - n_yes
    if not n_yes or not n_no:
        lacking = "no; if what it does not list is a no, give --only-yes" if n_yes else "yes"
        raise InputError(
            f"{path}: the machine never says {lacking}. Its answers must be both, yes and no"
        )
    _say_counts("", n_yes, n_no, said.size)
    return machine, {str(path): said}


def _say_counts(name: str, n_yes: int, n_no: int, n_pairs: int) -> None:
    gaps = f"; it says nothing about {n_pairs - n_yes - n_no:,} pairs" * (n_pairs > n_yes + n_no)
    say(f"  {name}yes about {n_yes:,} pairs of an item and a label, no about {n_no:,}{gaps}")


def _machines_in(
    path: Path,
    items: Sequence[str] | None,
    label_names: Path | Sequence[str] | None,
    question: str | None,
) -> tuple[Answers, dict[str, Any]]:
    """Return what each annotator of a file says, if two of them answer the same pair."""
    import numpy as np

    from complabel.files import read_label_names
    from complabel.frequencies import said_by

    names = read_label_names(label_names) if isinstance(label_names, Path) else label_names
    answers = read_quietly([path], items, names, question).answers
    found, n_said = {}, np.zeros(answers.shape, dtype=np.intp)
    for at, name in enumerate(answers.annotator_names):
        of_one = answers.only(answers.annotator == at)
        said = said_by(of_one)
        sure = _confidence_of(path, of_one, said, question, annotator=at)
        found[str(name)] = said if sure is None else said_by(of_one, sure)
        n_said += ~np.isnan(said)
    if (n_said < 2).all():
        return answers, {}
    say(f"{path}: {len(found)} annotators answer the same pairs; each counts as a machine")
    for name, said in found.items():
        _say_counts(f"{name}: ", int((said >= 0.5).sum()), int((said < 0.5).sum()), said.size)
    return answers, found


def _confidence_of(
    path: Path,
    machine: Answers,
    said: Any,
    question: Any,
    annotator: int | None = None,
    **listed: Any,
) -> Any:
    """Return how sure a machine is of each answer (n_items, n_labels); None if it is not told."""
    import numpy as np

    from complabel.files import CONFIDENCE, read_judgments

    rows = read_judgments([path], machine, question, needed=CONFIDENCE, **listed)
    if not len(rows["item"]):
        return None
    agree = rows["answer"] == said[rows["item"], rows["label"]]
    if annotator is not None:
        agree &= rows["annotator"] == annotator
    least = np.full(said.shape, np.inf)
    np.minimum.at(least, (rows["item"][agree], rows["label"][agree]), rows[CONFIDENCE][agree])
    if gaps := int((~np.isfinite(least) & ~np.isnan(said)).sum()):
        say(f"  answers without a confidence: {gaps:,}; so only yes and no count")
        return None
    say("  each answer has a confidence, which counts")
    return least


def unsure_about(paths: Sequence[Path], people: Answers, question: Any = None) -> Any:
    """Return where people were unsure: the positions of items, labels and people."""
    from complabel.files import read_judgments

    rows = read_judgments(paths, people, question)
    return tuple(rows[name][rows["answer"] == 2] for name in ("item", "label", "annotator"))


def _read_probabilities(
    path: Path, items: Sequence[str] | None, label_names: Path | Sequence[str] | None
) -> tuple[Answers, Any]:
    """Read a table with a column of probabilities for each label."""
    import numpy as np

    from complabel.answers import Answers
    from complabel.files import read_label_names, some_of
    from complabel.frequencies import checked_probabilities

    try:
        table = read_own_features(path)
        p = checked_probabilities("probabilities", table.X, table.X.shape)
    except (DatasetFormatError, InputError) as error:
        raise InputError(
            f"{path}: no table of answers, with the columns item and label, and no table with a"
            f" column of probabilities for each label; complabel import reads other files. {error}"
        ) from error
    columns = list(table.feature_names or ())
    names = read_label_names(label_names) if isinstance(label_names, Path) else label_names
    names, ids = list(names or columns), list(table.items if items is None else items)
    if sorted(names) != sorted(columns):
        raise InputError(f"{path}: columns {some_of(columns)}, but labels {some_of(names)}")
    row_of = {item: row for row, item in enumerate(table.items)}
    row = np.array([row_of.get(item, -1) for item in ids])
    said = np.where(row[:, np.newaxis] < 0, np.nan, p[row][:, [*map(columns.index, names)]])
    say(f"{path}: probabilities of {len(names)} labels, {some_of(names)}; .5 and more is yes")
    return Answers.from_table({"item": [], "label": []}, items=ids, label_names=names), said


def names_of(answers: Answers) -> tuple[list[str], list[str]]:
    """Return the names of the items and of the labels."""
    items = () if answers.item_names is None else answers.item_names
    return [*map(str, items)], list(answers.label_names or ())


def read_people(
    paths: Sequence[Path],
    machine_path: Path,
    machine: Answers,
    said: Any,
    question: str | None = None,
    contradictions: str = "error",
    trusted: Sequence[str] | None = None,
) -> Answers:
    """Read people's answers about what a machine said; refuse files that are in the wrong order."""
    from complabel.answers import Answers
    from complabel.files import some_of

    items, names = names_of(machine)
    if not paths:
        return Answers.from_table({"item": [], "label": []}, items=items, label_names=names)
    alone, called = read_quietly(paths, question=question).answers, " and ".join(map(str, paths))
    refuse_swapped(paths, alone, machine_path, said)
    for what, found, known in zip(
        ("items", "labels"), names_of(alone), (items, names), strict=True
    ):
        if strangers := sorted({*found} - {*known}):
            # Answers about other items, such as another month's, say nothing about this machine.
            advice = (
                f"Leave out the answers about other items than the {len(known):,} of the machine"
                if what == "items"
                else "If the machine says nothing about them, give all labels with --label-names"
            )
            raise InputError(
                f"{called}: answers about {what} that {machine_path} does not mention:"
                f" {some_of(strangers)} ({len(strangers):,} in all); it has {some_of(known)}."
                f" {advice}"
            )
    people = read_own_answers(paths, items, names, question, contradictions, trusted)
    told = people.statements()
    if len(told.item) and not (said == said)[told.item, told.label].any():
        raise InputError(
            f"{called}: no answer is about a pair of an item and a label of which {machine_path}"
            " says yes or no; give answers to questions of complabel ask --against"
        )
    return people


def refuse_swapped(paths: Sequence[Path], people: Answers, machine: object, said: Any) -> None:
    """Refuse files of people that say more than the machine's: they are probably the machine's."""
    n_pairs = int((people.complementary + people.known_relevant > 0).sum())
    if n_pairs > (n_said := int((said == said).sum())):
        raise InputError(
            f"{' and '.join(map(str, paths))}: answers about {n_pairs:,} pairs of an item and a"
            f" label, more than the {n_said:,} of {machine}; people answer about fewer than a"
            " machine: are the files in the right order? If not, exchange them"
        )


def _say_contradictions(
    found: AnswerFile, paths: Sequence[Path], contradictions: str, trusted: Sequence[str]
) -> None:
    """Print the first contradictions and how they were settled, or refuse them."""
    from complabel.answers import contradictions_table

    left = contradictions_table(found.answers)
    refused = bool(left["item"])
    about = left if refused else found.contradictions
    columns = (about[of] for of in ("item", "label", "applies_by", "denied_by"))
    lines = [
        f"{item}: {label} applies, says {', '.join(yes) or 'somebody'}; does not, says"
        f" {', '.join(no) or 'somebody'}"
        for item, label, yes, no in itertools.islice(zip(*columns, strict=True), _MOST_SHOWN)
    ]
    number = len(about["item"])
    lines += [f"and {number - len(lines):,} more"] if number > len(lines) else []
    counted = "1 contradiction" if number == 1 else f"{number:,} contradictions"
    lines.insert(0, f"{counted} about whether a label applies to an item")
    if refused:
        raise AnnotationError(
            "\n  ".join([f"{' and '.join(map(str, paths))}: {lines[0]}", *lines[1:]])
            + "\ncorrect the files, or choose what to do with --contradictions: drop, majority or"
            " trust-relevant; --trusted names a person who is right"
        )
    remark("\n  ".join(lines), style="yellow")
    gone = found.n_dropped_answers
    total = found.answers.n_answers + gone
    by = ", ".join([*trusted, *[contradictions] * (contradictions != "error")])
    say(f"settled by {by}: {gone:,} of {total:,} answers were dropped")


def read_quietly(
    paths: Sequence[Path],
    items: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    question: Any = None,
    contradictions: Any = "keep",
    trusted: Sequence[str] = (),
    **listed: Any,
) -> AnswerFile:
    """Read files, and print nothing about what they hold."""
    from complabel.answers import UnlistedLabelsWarning
    from complabel.files import UnmatchedItemsWarning, read_answers

    with working(f"reading {' and '.join(map(str, paths))}"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UnmatchedItemsWarning)
        warnings.simplefilter("ignore", UnlistedLabelsWarning)
        how: Any = {"question": question, "contradictions": contradictions, "trusted": trusted}
        return read_answers(paths, items=items, label_names=names, **how, **listed)


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A model and what its file says, both from one reading of the file."""

    path: Path
    classifier: ComplementaryClassifier
    header: Mapping[str, Any]
    notes: Mapping[str, Any]  # by ``complabel fit``; a stranger's file may hold anything

    @property
    def recipe(self) -> str | None:
        """How the features were made that the model learned from, if its file says so."""
        recipe = self.notes.get("recipe")
        return recipe if isinstance(recipe, str) else None

    @property
    def made_of(self) -> tuple[str, ...]:
        """The columns of which ``complabel features`` made them, as in ``Features``."""
        names = self.notes.get("made_of")
        return tuple(map(str, names)) if isinstance(names, list) else ()

    @cached_property
    def encoder(self) -> Encoder:
        """What makes the features that the model learned from."""
        from complabel.features import encoder_of

        return encoder_of(self.recipe or "", self.path, self.notes.get("network"))

    @property
    def label_names(self) -> list[str]:
        return [str(name) for name in self.classifier.classes_]

    def columns_of(self, table: Features) -> Any:
        """Return the columns that the model needs, matched by name if both sides have names."""
        wanted = getattr(self.classifier, "feature_names_in_", None)
        framed_by = wanted if hasattr(self.classifier, "fit") else None
        if wanted is None or table.feature_names is None:
            if table.X.shape[1] != self.classifier.n_features_in_:
                raise InputError(
                    f"the features have {table.X.shape[1]} columns, but the model was fitted to"
                    f" {self.classifier.n_features_in_}; give the same features as in fit"
                )
            return framed(table.X, framed_by)
        missing = sorted({*wanted} - {*table.feature_names})
        if missing:
            some = ", ".join(missing[:_MOST_SHOWN]) + ", ..." * (len(missing) > _MOST_SHOWN)
            raise InputError(
                f"the features lack {len(missing)} columns that the model was fitted to: {some};"
                " give the same features as in fit"
            )
        if tuple(table.feature_names) == tuple(wanted):
            return framed(table.X, framed_by)
        place = {name: at for at, name in enumerate(table.feature_names)}
        return framed(table.X[:, [place[name] for name in wanted]], framed_by)

    def refuse_other_features(self, table: Features, path: Path) -> None:
        """Refuse features that ``complabel features`` made in another way than the model's."""
        if self.recipe is None or self.recipe == table.recipe:
            return
        from complabel.features import model_of

        kind, name = model_of(self.recipe)
        network = self.notes.get("network")
        again = command(
            "features",
            "TABLE" if kind == "text" else "FOLDER",
            text="COLUMN" if kind == "text" else None,
            model=Path(network).parent / name if isinstance(network, str) else name,
            out=path if path.suffix in (".npz", ".parquet") else path.with_suffix(".npz"),
        )
        if table.recipe is not None:
            raise InputError(
                f"{self.path} learned from features made as {self.recipe!r}, but {path} was made"
                f" as {table.recipe!r}; make the features of these items as the model needs them:"
                f" {again}"
            )
        remark(
            f"{path} does not say how it was made. {self.path} learned from features made as"
            f" {self.recipe!r}; if these were made otherwise, the result is worthless: {again}",
            style="yellow",
        )


def open_model(path: Path, *, only_predicts: bool = False) -> SavedModel:
    """Load a model that ``complabel fit`` wrote; if it only predicts, that is sooner."""
    from complabel.methods import read_model

    classifier, header = read_model(path, only_predicts=only_predicts)
    return SavedModel(path, classifier, header, header["provenance"]["given"])


def read_own_features(
    path: Path,
    items: Path | None = None,
    *,
    model: SavedModel | None = None,
    **which: Any,
) -> Features:
    """Read features, and show that it is done; for a model, refuse those made otherwise.

    ``which`` are ``rows`` and ``in_pieces`` of :func:`complabel.files.read_features`.
    """
    from complabel.files import read_features

    n_features = None if model is None else model.classifier.n_features_in_
    with working(f"reading {path}"):
        table = read_features(path, items=items, n_features=n_features, **which)
    if model is not None:
        model.refuse_other_features(table, path)
    return table


def notes_of_features(table: Features) -> dict[str, Any]:
    """Return what a model keeps of how its features were made."""
    notes: dict[str, Any] = {"recipe": table.recipe, "made_of": [*table.made_of]}
    return notes | ({"network": table.network} if table.network else {})


def say_numbered(path: Path, item: str | None, *shown: str | None) -> None:
    """Print that items are called by row numbers, if a column could name them."""
    from complabel.files import ITEM_TABLES, Table, some_of

    if item is not None or path.is_dir():
        return
    table = Table.open(path, "tables of items", endings=ITEM_TABLES)
    if "item" not in table.columns and (names := table.unique_columns(*filter(None, shown))):
        remark(
            f"{path}: items are called by the numbers of their rows, from 0, as there is no column"
            f" item. If a column names them ({some_of(names)}), give it as --item",
            style="yellow",
        )


def warn_of_rows(made: Made) -> None:
    """Print how many items have features that tell nothing, and which ones have none."""
    if made.n_empty:
        remark(
            f"{made.n_empty:,} items have only zeros: texts without a word that counts, or pictures"
            " of one colour. A model gives all of them the same probabilities",
            style="yellow",
        )
    if made.skipped:
        remark(f"{len(made.skipped):,} pictures were left out, and have no row:", style="yellow")
        for reason in made.skipped:
            remark(f"  {reason}", style="yellow")


def advise_on(found: Features, said: Answers) -> None:
    """Print what other features might gain, if the file says how these were made."""
    from complabel.features import advice

    text = advice(found.X, said.answered, found.recipe)
    if text:
        remark(f"hint: {text}")


def about_cardinality(classifier: ComplementaryClassifier) -> str:
    """Say between which numbers of labels per item the answers cannot tell; else nothing."""
    interval = getattr(classifier, "cardinality_interval_", None)
    if interval is None or len(interval) != 2:
        return ""
    low, high = map(float, interval)
    if hasattr(classifier, "missed_"):
        return f"by the rates of people found, from {low:.3g} to {high:.3g} (95 %)"
    least = f" from {low:.2g}" if low > 0 else ""
    most = f" up to {high:.2g}" if high < len(classifier.classes_) else ""
    return (
        f"with any number{least}{most} the answers are about as likely; 200 yes/no questions about"
        " random labels would tell it (complabel ask)"
    )


def about_learned_answers(
    model: SavedModel, answers: Sequence[Path], too_good: str, *, cross_fit: int | None = None
) -> str:
    """Say what is too good if the model learned from the answers: a warning if its file says so."""
    if cross_fit is not None:
        return (
            f"these are the figures of {cross_fit} fits with the model's settings, each to the"
            " answers about other items. They stand for the model if it learned from all these"
            " answers"
        )
    names = model.notes.get("answers")  # of the files, which are all that a model keeps of them
    names = names if isinstance(names, list) else []
    learned = [name for name in map(str, answers) if name in names]
    if learned:
        return (
            f"warning: the model was fitted to {' and '.join(learned)}, as its file says. So"
            f" {too_good}: add --cross-fit 5"
        )
    return (
        "the model must not have learned from these answers, which complabel cannot know. If it"
        f" did, {too_good}: add --cross-fit 5"
    )


def refuse_other_folds(model: SavedModel, cross_fit: int | None, machine: Path | None) -> None:
    """Refuse fits of ``--cross-fit`` that learn from other answers than the model did."""
    learned = "machine" in model.notes
    if machine is not None and not (cross_fit and learned):
        raise InputError(
            "--machine is about the fits of --cross-fit, of a model that learned beside a machine:"
            f" {model.path} {'did, so give --cross-fit' if learned else 'did not, so leave it out'}"
        )
    if cross_fit and learned and machine is None:
        raise InputError(
            f"{model.path} learned beside a machine, and so must the fits of --cross-fit: complabel"
            " evaluate takes its file as --machine"
        )


def refuse_without_people(model: SavedModel, option: str) -> None:
    """Refuse models that do not know how people answer."""
    if not hasattr(model.classifier, "predict_consensus"):
        kind = type(model.classifier).__name__
        raise InputError(
            f"{model.path} holds {kind}, which does not know how people answer;"
            f" {option} needs a model of complabel fit --method selection-likelihood"
        )


def framed(X: Any, names: Any) -> Any:
    """Return features as a data frame, if they are an array and the columns have names."""
    if names is None or hasattr(X, "tocsr") or hasattr(X, "pieces"):
        return X
    import pandas as pd  # type: ignore[import-untyped]

    return pd.DataFrame(X, columns=list(names), copy=False)
