"""A model in a file that may be replaced while a server predicts with it; predictions by batches.

A prediction of one row takes hardly less time than that of fifty, because checks take most of it.
So a thread that becomes free takes all requests that wait, up to a size, and predicts their rows
in one call. Nothing waits for others to come.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from complabel._parameters import Array, Bools
from complabel.errors import InputError
from complabel.features import MOST_PIXELS, load_picture
from complabel.methods import SavedModel

if TYPE_CHECKING:
    from complabel.features import Encoder
    from complabel.methods import ComplementaryClassifier

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Model:
    """A classifier as it is served.

    ``X`` (n, d) has the features of known items, and ``row_of`` their rows by name. ``encoder``
    makes features of texts, or of pictures; without one, ``no_encoder`` says why.
    """

    classifier: ComplementaryClassifier
    version: str
    X: Any = None
    row_of: Mapping[str, int] = field(default_factory=dict)
    encoder: Encoder | None = None
    no_encoder: str = "the model's features are not made of texts or pictures by complabel features"

    @cached_property
    def label_names(self) -> tuple[str, ...]:
        """The names of the labels (K,), in the order of the columns."""
        return tuple(map(str, self.classifier.classes_))

    def predict(self, X: Any) -> tuple[Bools, Array]:
        """Return the labels that the model predicts, as an indicator, and probabilities (n, K)."""
        predicted, probabilities = self.classifier.predict_with_proba(X)
        if predicted.ndim == 1:  # exactly one class applies to each row
            predicted = predicted[:, None] == self.classifier.classes_
        return predicted.astype(np.bool_), probabilities

    def lacks(self, kind: str) -> str | None:
        """Say why the model makes no features of such things; None if it does."""
        if self.encoder is None:
            return self.no_encoder
        return None if self.encoder.kind == kind else f"the model learned from {self.encoder.kind}"

    def of_things(self, kind: str, things: Sequence[Any]) -> Any:
        """Return features (n, d) of texts, or of the contents of files of pictures."""
        if self.encoder is None or self.lacks(kind):
            raise InputError(
                f"{self.lacks(kind)}; send rows of numbers, or start the server with --features to"
                " ask by the names of items"
            )
        step = self.encoder.rows
        parts, wrong, left = [], [], MOST_PIXELS
        for start in range(0, len(things), step):
            part = list(things[start : start + step])
            if kind == "pictures":
                for at, picture in enumerate(part):
                    part[at], left = load_picture(picture, self.encoder.prepare, left)
                    wrong += [(start + at, part[at])] if isinstance(part[at], str) else []
            if not wrong:
                parts.append(self.encoder.encode(part))
        if wrong:
            each = "; ".join(f"pictures[{at}]: {reason}" for at, reason in wrong[:5])
            raise InputError(
                f"{len(wrong)} of {len(things)} pictures cannot be read: {each}. Leave these"
                f" out; all pictures of a request may have {MOST_PIXELS:,} pixels together"
            )
        return sparse.vstack(parts, "csr") if self.encoder.is_sparse else np.concatenate(parts)

    def of_items(self, items: Sequence[str]) -> Any:
        unknown = [item for item in items if item not in self.row_of]
        if unknown:
            raise InputError(
                f"{len(unknown)} of {len(items)} items have no features here, first"
                f" {unknown[0]!r:.100}; give their features with --features, or send rows"
            )
        return self.X[[self.row_of[item] for item in items]]


class ModelFile:
    """The model in a file, with the features of items; ``now`` is what to predict with.

    ``items`` is called with the model, and returns the names of items and their features (n, d);
    ``also`` are the files that it reads.
    """

    def __init__(
        self,
        path: Path,
        *,
        items: Callable[[SavedModel], tuple[Sequence[str], Any]] | None = None,
        also: Sequence[Path] = (),
    ) -> None:
        self._path, self._items, self._also = path, items, also
        self.problem: str | None = None
        self._encoders: dict[str, Encoder] = {}
        self._seen = self._stamp()
        self.now = self._read()

    def refresh(self) -> None:
        """Load the files anew if one of them has changed; keep the model if that fails."""
        stamp = self._stamp()
        if stamp == self._seen:
            return
        try:
            model = self._read()
        except Exception as error:  # half a file may raise anything
            self._seen, self.problem = stamp, str(error)
            _log.warning("%s; %s still answers", error, self.now.version)
            return
        if stamp == self._stamp():  # else it changed while it was read; the next look reads it
            if model.version != self.now.version:
                _log.warning("%s has changed; now %s answers", self._path, model.version)
            self._seen, self.now, self.problem = stamp, model, None

    def _stamp(self) -> list[tuple[int, ...]]:
        """Return what changes when a file is replaced."""
        stamps: list[tuple[int, ...]] = []
        for path in (self._path, *self._also):
            try:
                stat = os.stat(path)
            except OSError:
                stamps.append(())
            else:
                stamps.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
        return stamps

    def _read(self) -> Model:
        for path in (self._path, *self._also):
            if path.exists() and not path.is_file():  # a pipe would be waited for
                raise InputError(f"{path} is not a file; put the file in its place")
        saved = SavedModel.open(self._path)
        items, X = ((), None) if self._items is None else self._items(saved)
        # Rows of requests have no names of columns; scikit-learn would warn of it each time.
        saved.classifier._forget("feature_names_in_")
        fields: dict[str, Any] = {"X": X, "row_of": {str(name): n for n, name in enumerate(items)}}
        try:
            fields["encoder"] = self._encoder(saved)
        except InputError as error:  # rows are still answered
            fields["no_encoder"] = str(error)
        return Model(saved.classifier, self._version(saved.header["sha256"]), **fields)

    def _version(self, sha256: str) -> str:
        digest = hashlib.sha256(sha256.encode())
        for path in self._also:  # these may be large
            stat = path.stat()
            digest.update(f"{stat.st_size} {stat.st_mtime_ns} ".encode())
        return f"{self._path.stem}-{digest.hexdigest()[:12]}"

    def _encoder(self, saved: SavedModel) -> Encoder | None:
        """Return what makes the features, as the model's file says, if it does."""
        if saved.recipe is None:
            return None
        if saved.recipe not in self._encoders:
            self._encoders = {saved.recipe: saved.encoder}
        return self._encoders[saved.recipe]


_BATCH_BYTES = 2**20  # a larger request is answered alone


class Answer(NamedTuple):
    """The body of an answer, and its type."""

    body: bytes
    kind: str


class Question(NamedTuple):
    """Features (n, d) to predict for, and what makes the answer of labels and probabilities."""

    X: Any
    write: Callable[[Bools, Array], Answer]


Reader = Callable[[Model], Question | Answer]
"""A request: it reads its body for a model, and may know the answer without a prediction."""


class Batches:
    """Answers requests in threads, one for each processor."""

    def __init__(self, file: ModelFile) -> None:
        self._file = file
        self._free = n_processors()
        # Products are computed in the calling thread alone, as there is one for each processor.
        self._threads = ThreadPoolExecutor(self._free, "predict", threadpool_limits, (1,))
        self._waiting: deque[tuple[Reader, int, asyncio.Future[Answer]]] = deque()

    async def answer(self, request: Reader, n_bytes: int) -> Answer:
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, n_bytes, future))
        if self._free:
            self._free -= 1
            self._start()
        return await future

    def close(self) -> None:
        self._threads.shutdown()

    def _start(self) -> None:
        requests: list[Reader] = []
        futures: list[asyncio.Future[Answer]] = []
        size = 0
        while self._waiting and (not requests or size + self._waiting[0][1] <= _BATCH_BYTES):
            request, n_bytes, future = self._waiting.popleft()
            requests.append(request)
            futures.append(future)
            size += n_bytes
        work = asyncio.get_running_loop().run_in_executor(
            self._threads, answers_to, requests, self._file.now
        )
        work.add_done_callback(lambda done: self._hand_out(futures, _done(done, len(futures))))

    def _hand_out(
        self, futures: Sequence[asyncio.Future[Answer]], answers: Sequence[Answer | Exception]
    ) -> None:
        for future, each in zip(futures, answers, strict=True):
            if future.done():  # its client has gone
                continue
            if isinstance(each, Exception):
                future.set_exception(each)
            else:
                future.set_result(each)
        if self._waiting:
            self._start()
        else:
            self._free += 1


def _done(work: asyncio.Future[list[Answer | Exception]], count: int) -> list[Any]:
    """Return the answers; if a bug has ended their thread, its error for each, so none waits."""
    return work.result() if work.exception() is None else [work.exception()] * count


def n_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def answers_to(requests: Sequence[Reader], model: Model) -> list[Answer | Exception]:
    results: list[Any] = [_tried(request, model) for request in requests]
    groups: dict[Any, list[int]] = {}
    for at, each in enumerate(results):
        if isinstance(each, Question):
            shape = (each.X.dtype, each.X.shape[1]) if isinstance(each.X, np.ndarray) else at
            groups.setdefault(shape, []).append(at)
    for members in groups.values():
        _answer_together(results, members, model)
    return results


def _answer_together(results: list[Any], part: Sequence[int], model: Model) -> None:
    questions = [results[at] for at in part]
    X = questions[0].X if len(part) == 1 else np.concatenate([each.X for each in questions])
    predicted = _tried(model.predict, X)
    if isinstance(predicted, Exception) and len(part) > 1:  # one of them is wrong, but which?
        for at in part:
            _answer_together(results, [at], model)
        return
    start = 0
    for at, question in zip(part, questions, strict=True):
        rows = slice(start, start := start + question.X.shape[0])
        results[at] = (
            predicted
            if isinstance(predicted, Exception)
            else _tried(question.write, *(each[rows] for each in predicted))
        )


def _tried(work: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return work(*arguments)
    except Exception as error:
        return error
