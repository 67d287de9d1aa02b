"""Answers to requests for predictions; those that come at the same time are answered together.

A prediction of one row takes hardly less time than that of fifty, because checks take most of it.
So a thread that becomes free takes all requests that wait, up to a size, and predicts their rows
in one call. Nothing waits for others to come.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from complabel.live._model import Model, ModelFile

_BATCH_BYTES = 2**20  # a larger request is answered alone


class Answer(NamedTuple):
    """The body of an answer, and its type."""

    body: bytes
    kind: str


class Question(NamedTuple):
    """Features (n, d) to predict for, and what makes the answer of labels and probabilities."""

    X: Any
    write: Callable[[NDArray[np.bool_], NDArray[np.float64]], Answer]


Reader = Callable[[Model], Question | Answer]
"""A request: it reads its body for a model, and may know the answer without a prediction."""


class Batches:
    """Answers requests in threads, one for each processor."""

    def __init__(self, file: ModelFile) -> None:
        self._file = file
        self._free = n_processors()
        self._threads = ThreadPoolExecutor(self._free, "predict", initializer=_keep_to_one_thread)
        self._waiting: deque[tuple[Reader, int, asyncio.Future[Answer]]] = deque()

    async def answer(self, request: Reader, n_bytes: int) -> Answer:
        """Answer a request; raise what was wrong with it."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, n_bytes, future))
        if self._free:
            self._free -= 1
            self._start()
        return await future

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown()

    def _start(self) -> None:
        """Give waiting requests to a free thread."""
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
        work.add_done_callback(lambda done: self._hand_out(futures, done.result()))

    def _hand_out(
        self, futures: Sequence[asyncio.Future[Answer]], found: Sequence[Answer | Exception]
    ) -> None:
        for future, each in zip(futures, found, strict=True):
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


def n_processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _keep_to_one_thread() -> None:
    """Compute products in the calling thread alone, as there is one for each processor."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def answers_to(requests: Sequence[Reader], model: Model) -> list[Answer | Exception]:
    """Return an answer to each request, or what was wrong with it."""
    found: list[Any] = [_tried(request, model) for request in requests]
    groups: dict[Any, list[int]] = {}
    for at, each in enumerate(found):
        if isinstance(each, Question):
            shape = (each.X.dtype, each.X.shape[1]) if isinstance(each.X, np.ndarray) else at
            groups.setdefault(shape, []).append(at)
    for members in groups.values():
        _answer_together(found, members, model)
    return found


def _answer_together(found: list[Any], part: Sequence[int], model: Model) -> None:
    """Replace some questions by their answers, from one prediction."""
    questions = [found[at] for at in part]
    X = questions[0].X if len(part) == 1 else np.concatenate([each.X for each in questions])
    predicted = _tried(model.predict, X)
    if isinstance(predicted, Exception) and len(part) > 1:  # one of them is wrong, but which?
        for at in part:
            _answer_together(found, [at], model)
        return
    start = 0
    for at, question in zip(part, questions, strict=True):
        rows = slice(start, start := start + question.X.shape[0])
        found[at] = (
            predicted
            if isinstance(predicted, Exception)
            else _tried(question.write, *(each[rows] for each in predicted))
        )


def _tried(work: Callable[..., Any], *given: Any) -> Any:
    try:
        return work(*given)
    except Exception as error:
        return error
