"""A model in a file that may be replaced while a server predicts with it."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from complabel.errors import ComplabelError, InputError
from complabel.methods import load

if TYPE_CHECKING:
    from complabel.methods import ComplementaryClassifier

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Model:
    """A classifier as it is served.

    ``row_of`` has the rows of ``X`` (n, d) by the names of known items. ``read_texts`` makes
    features of texts; None: the model does not learn from texts.
    """

    classifier: ComplementaryClassifier
    version: str
    row_of: Mapping[str, int] = field(default_factory=dict)
    X: Any = None
    read_texts: Callable[[Sequence[str]], Any] | None = None

    @cached_property
    def label_names(self) -> tuple[str, ...]:
        """The names of the labels (K,), in the order of the columns."""
        return tuple(map(str, self.classifier.classes_))

    def predict(self, X: Any) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Return which labels are predicted, by the model's thresholds, and probabilities (n, K)."""
        predicted, probabilities = self.classifier.predict_with_proba(X)
        if predicted.ndim == 1:  # exactly one class applies to each row
            predicted = predicted[:, None] == self.classifier.classes_
        return predicted.astype(np.bool_), probabilities

    def of_texts(self, texts: Sequence[str]) -> Any:
        """Return the features of texts; refuse them if the model learned from other features."""
        if self.read_texts is None:
            raise InputError(
                "the model's features are not made of text; send rows of numbers as rows"
            )
        return self.read_texts(texts)

    def of_items(self, items: Sequence[str]) -> Any:
        """Return the features of items; refuse those that are not known."""
        if self.X is None:
            raise InputError(
                "no features of items are known here; start the server with --features"
            )
        unknown = [item for item in items if item not in self.row_of]
        if unknown:
            raise InputError(
                f"{len(unknown)} of {len(items)} items have no features here, first"
                f" {unknown[0]!r:.100}; send their rows, or add them to the file of --features"
            )
        return self.X[[self.row_of[item] for item in items]]


class ModelFile:
    """The model in a file, with the features of items; ``now`` is what to predict with.

    Parameters
    ----------
    path : Path
        The file.
    items : callable or None, default=None
        It is called with the classifier, and returns the names of items and their features (n, d).
    also : sequence of Path, default=()
        The files that it reads.

    Raises
    ------
    ModelFileError
        If the file cannot be loaded.
    """

    def __init__(
        self,
        path: Path,
        *,
        items: Callable[[ComplementaryClassifier], tuple[Sequence[str], Any]] | None = None,
        also: Sequence[Path] = (),
    ) -> None:
        self._path, self._items, self._also = path, items, also
        self.problem: str | None = None
        self._seen = self._stamp()
        self.now = self._read()

    def refresh(self) -> None:
        """Load the files anew if one of them has changed; keep the model if that fails."""
        stamp = self._stamp()
        if stamp == self._seen:
            return
        try:
            found = self._read()
        except (ComplabelError, OSError) as error:
            self._seen, self.problem = stamp, str(error)
            _log.warning("%s; %s still answers", error, self.now.version)
            return
        if stamp == self._stamp():  # else it changed while it was read; the next look reads it
            if found.version != self.now.version:
                _log.warning("%s has changed; now %s answers", self._path, found.version)
            self._seen, self.now, self.problem = stamp, found, None

    def _stamp(self) -> list[tuple[int, ...]]:
        """Return what changes when a file is replaced."""
        stamps: list[tuple[int, ...]] = []
        for path in (self._path, *self._also):
            try:
                found = os.stat(path)
            except OSError:
                stamps.append(())
            else:
                stamps.append((found.st_ino, found.st_size, found.st_mtime_ns))
        return stamps

    def _read(self) -> Model:
        classifier = load(self._path)
        names, X = ((), None) if self._items is None else self._items(classifier)
        # Rows of requests have no names of columns; scikit-learn would warn of it each time.
        vars(classifier).pop("feature_names_in_", None)
        with self._path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
        for path in self._also:
            found = path.stat()
            digest.update(f"{found.st_size} {found.st_mtime_ns} ".encode())
        return Model(
            classifier,
            version=f"{self._path.stem}-{digest.hexdigest()[:12]}",
            row_of={str(name): row for row, name in enumerate(names)},
            X=X,
        )
