"""A model in a file, with what the file says of the features and answers that it learned from."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from complabel._opening import StrPath
from complabel._settings import setting
from complabel._writing import unused
from complabel.errors import InputError
from complabel.files import Features, framed, some_of
from complabel.methods._saving import read_model

if TYPE_CHECKING:
    from complabel.features import Encoder
    from complabel.methods._base import ComplementaryClassifier


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A model and what its file says, both from one reading of the file."""

    path: Path
    classifier: ComplementaryClassifier
    header: Mapping[str, Any]

    @classmethod
    def open(cls, path: StrPath, *, only_predicts: bool = False) -> Self:
        """Load a model that ``complabel fit`` wrote; if it only predicts, that is sooner."""
        return cls(Path(path), *read_model(path, only_predicts=only_predicts))

    @property
    def notes(self) -> Mapping[str, Any]:
        """What was noted of the fit; a stranger's file may hold anything."""
        notes: Mapping[str, Any] = self.header["provenance"]["given"]
        return notes

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
        """The names of the labels (K,)."""
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
        if missing := sorted({*wanted} - {*table.feature_names}):
            raise InputError(
                f"the features lack {len(missing)} columns that the model was fitted to:"
                f" {some_of(missing)}; give the same features as in fit"
            )
        if tuple(table.feature_names) == tuple(wanted):
            return framed(table.X, framed_by)
        place = {name: at for at, name in enumerate(table.feature_names)}
        return framed(table.X[:, [place[name] for name in wanted]], framed_by)

    def about_features(self, table: Features, path: Path) -> str:
        """Refuse features that were made in another way; warn if nothing says how they were."""
        if self.recipe is None or self.recipe == table.recipe:
            return ""
        from complabel.features import model_of

        kind, name = model_of(self.recipe)
        network = self.notes.get("network")
        model = str(Path(network).parent / name) if isinstance(network, str) else name
        source = ["TABLE", "--text", "COLUMN"] if kind == "text" else ["FOLDER"]
        out = unused(path if path.suffix in (".npz", ".parquet") else path.with_suffix(".npz"))
        words = ["complabel", "features", *source, "--encoder", model, "--out", str(out)]
        again = shlex.join(words)
        if table.recipe is not None:
            raise InputError(
                f"{self.path} learned from features made as {self.recipe!r}, but {path} was made"
                f" as {table.recipe!r}; make the features of these items as the model needs them:"
                f" {again}"
            )
        return (
            f"{path} does not say how it was made. {self.path} learned from features made as"
            f" {self.recipe!r}; if these were made otherwise, the result is worthless: {again}"
        )

    def about_answers(
        self, answers: Sequence[Path], too_good: str, *, n_folds: int | None = None
    ) -> str:
        """Say what is too good if the model learned from these; a warning if its file says so."""
        if n_folds is not None:
            return (
                f"these are the figures of {n_folds} fits with the model's settings, each to the"
                " answers about other items. They stand for the model if it learned from all these"
                " answers"
            )
        names = self.notes.get("answers")  # of the files, which are all that a model keeps of them
        names = names if isinstance(names, list) else []
        learned = [name for name in map(str, answers) if name in names]
        advice = f"{too_good}: add {setting('cross_fit', 5)}"
        if learned:
            return (
                f"warning: the model was fitted to {' and '.join(learned)}, as its file says. So"
                f" {advice}"
            )
        return (
            "the model must not have learned from these answers, which complabel cannot know. If it"
            f" did, {advice}"
        )

    def refuse_other_folds(self, n_folds: int | None, machine: Path | None) -> None:
        """Refuse fits of parts of the answers that learn from other answers than the model did."""
        learned, folds = "machine" in self.notes, setting("cross_fit")
        if machine is not None and not (n_folds and learned):
            advice = f"did, so give {folds}" if learned else "did not, so leave it out"
            raise InputError(
                f"{setting('machine')} is about the fits of {folds}, of a model that learned"
                f" beside a machine: {self.path} {advice}"
            )
        if n_folds and learned and machine is None:
            raise InputError(
                f"{self.path} learned beside a machine, and so must the fits of {folds}: complabel"
                " evaluate takes its file as --machine"
            )

    def refuse_without_people(self, what: str) -> None:
        """Refuse a model that does not know how people answer, which something needs."""
        if not hasattr(self.classifier, "predict_consensus"):
            kind = type(self.classifier).__name__
            raise InputError(
                f"{self.path} holds {kind}, which does not know how people answer; {what} needs a"
                " model of complabel fit --method selection-likelihood"
            )


def about_cardinality(classifier: ComplementaryClassifier) -> str:
    """Say how many labels the model takes to apply to an item, if answers hardly tell it."""
    interval = getattr(classifier, "cardinality_interval_", None)
    if interval is None or len(interval) != 2:
        return ""
    (low, high), number = map(float, interval), f"{classifier.mean_cardinality_:.3g} on average"
    if hasattr(classifier, "missed_"):
        return f"{number}; by the rates of people found, from {low:.3g} to {high:.3g} (95 %)"
    least = f" from {low:.2g}" if low > 0 else ""
    most = f" up to {high:.2g}" if high < len(classifier.classes_) else ""
    return (
        f"{number}; with any number{least}{most} the answers are about as likely; 200 yes/no"
        " questions about random labels would tell it (complabel ask)"
    )
