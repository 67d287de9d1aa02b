"""Fits of several classifiers side by side: their linear maps are trained together."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator, Sequence
from contextvars import ContextVar
from itertools import islice
from typing import Any, TypeAlias

from complabel._training import LinearMap, LinearTraining, train_side_by_side

Fitting: TypeAlias = Generator[list[LinearTraining], list[LinearMap], Any]
"""A fit that yields the trainings it needs next, and is sent their results."""

# The classifier whose fit is to wait, and a place for this fit.
_waiting: ContextVar[tuple[object, list[Fitting]] | None] = ContextVar("_waiting", default=None)


def run(classifier: object, fitting: Fitting) -> None:
    """Run a fit of a classifier, or keep it for the call of ``fit_side_by_side`` that asks for it.

    It must be the last thing that the classifier's ``fit`` does.
    """
    waiting = _waiting.get()
    if waiting is not None and waiting[0] is classifier:
        waiting[1].append(fitting)
    else:
        finished(fitting)


def finished(fitting: Fitting) -> Any:
    """Run a fit to its end, and return what it returns."""
    try:
        wanted = next(fitting)
        while True:
            wanted = fitting.send(train_side_by_side(wanted))
    except StopIteration as end:
        return end.value


def together(fittings: Sequence[Fitting]) -> Generator[Any, Any, list[Exception | None]]:
    """Join several fits to one; return the error of each, None for those without one."""
    errors: list[Exception | None] = [None] * len(fittings)
    wanted: dict[int, list[LinearTraining]] = {}

    def advance(number: int, maps: list[LinearMap] | None) -> None:
        try:
            wanted[number] = fittings[number].send(maps)  # type: ignore[arg-type]
        except StopIteration:
            wanted.pop(number, None)
        except Exception as error:
            errors[number] = error
            wanted.pop(number, None)

    for number in range(len(fittings)):
        advance(number, None)
    while wanted:
        asked = {**wanted}
        trained = iter((yield [training for each in asked.values() for training in each]))
        for number, each in asked.items():
            advance(number, list(islice(trained, len(each))))
    return errors


def fit_side_by_side(
    classifiers: Sequence[Any], arguments: Sequence[tuple[Any, Any, dict[str, Any]]]
) -> list[Exception | None]:
    """Fit each classifier to its X, y and further arguments; return the error of each, or None.

    Linear maps of gradient methods are trained together where they have the same size and settings;
    seeds and learning rates may differ. With one thread of the processor, each result is the same
    bit for bit as that of ``fit``. Other classifiers are fitted one after the other.
    """
    errors: list[Exception | None] = [None] * len(classifiers)
    numbers, fittings = [], []
    for number, (classifier, (X, y, options)) in enumerate(
        zip(classifiers, arguments, strict=True)
    ):
        with _waits(classifier) as own:
            try:
                classifier.fit(X, y, **options)
            except Exception as error:
                errors[number] = error
                continue
        numbers += [number] * len(own)
        fittings += own
    try:
        fitted = finished(together(fittings))
    except Exception as error:  # a training raised, for example by a loss of the user's
        if len(classifiers) == 1:
            return [error]
        alone = zip(classifiers, arguments, strict=True)
        return [fit_side_by_side([each], [its])[0] for each, its in alone]
    for number, failed in zip(numbers, fitted, strict=True):
        errors[number] = failed
    return errors


@contextlib.contextmanager
def _waits(classifier: object) -> Iterator[list[Fitting]]:
    own: list[Fitting] = []
    token = _waiting.set((classifier, own))
    try:
        yield own
    finally:
        _waiting.reset(token)
