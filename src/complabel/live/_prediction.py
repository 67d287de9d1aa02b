"""Predictions for programs: rows, texts or names of items in, probabilities and labels out."""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic_core import from_json, to_json

from complabel.errors import InputError
from complabel.live._batches import Answer, Batches, Question
from complabel.live._label_studio import FormError, control_of, question_of_tasks
from complabel.live._model import Model, ModelFile
from complabel.live._openapi import JSON, NPY, described
from complabel.live._server import missing

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_log = logging.getLogger(__name__)
_LOOK_EVERY = 1.0  # seconds between two looks at the model's file
_DECIMALS = 7  # of probabilities in JSON, about as exact as single precision
_WAYS = ("rows", "texts", "items")


class TooManyRowsError(InputError):
    """A request has more rows than the server answers at once."""


def predicting(file: ModelFile, *, most_rows: int, has_token: bool = False) -> Starlette:
    """Return an app that predicts with the model in a file.

    Parameters
    ----------
    file : ModelFile
        The app looks once a second whether it has changed.
    most_rows : int
        Most rows, texts, items or tasks of one request.
    has_token : bool, default=False
        Whether the document about the routes says that a token is needed.

    Returns
    -------
    Starlette app

    Raises
    ------
    InputError
        If starlette is not installed.
    """
    try:
        from starlette.applications import Starlette
        from starlette.exceptions import HTTPException
        from starlette.responses import Response
        from starlette.routing import Route
    except ImportError as error:
        raise missing("starlette") from error
    batches = Batches(file)

    def said(what: Any, status: int = 200) -> Response:
        return Response(to_json(what), status, media_type=JSON)

    async def predict(request: Request) -> Response:
        body = await request.body()
        kind, accept = (request.headers.get(name, JSON) for name in ("content-type", "accept"))
        read = partial(question_of, body, kind=kind, accept=accept, most_rows=most_rows)
        found = await batches.answer(read, len(body))
        return Response(found.body, media_type=found.kind)

    async def health(_: Request) -> Response:
        found = {"status": "UP", "model_version": file.now.version}
        return said(found if file.problem is None else {**found, "problem": file.problem})

    async def labels(_: Request) -> Response:
        return said(_about(file.now))

    async def openapi(_: Request) -> Response:
        return said(described(file.now, most_rows=most_rows, has_token=has_token))

    async def setup(request: Request) -> Response:
        control_of(_object(await request.body()).get("schema"), file.now.label_names)
        return said({"model_version": file.now.version})

    async def webhook(request: Request) -> Response:
        _object(await request.body())
        return said({"model_version": file.now.version}, 201)

    async def refuse(_: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            return said({"error": f"{error.detail}; see /openapi.json"}, error.status_code)
        if isinstance(error, FormError):  # Label Studio shows only the status
            _log.warning("refused Label Studio's request: %s", error)
        return said({"error": str(error)}, 413 if isinstance(error, TooManyRowsError) else 400)

    @contextlib.asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        looking = asyncio.create_task(_look(file))
        yield
        looking.cancel()
        batches.close()

    return Starlette(
        routes=[
            Route("/predict", predict, methods=["POST"]),
            Route("/health", health),
            Route("/labels", labels),
            Route("/openapi.json", openapi),
            Route("/setup", setup, methods=["POST"]),
            Route("/webhook", webhook, methods=["POST"]),
        ],
        exception_handlers={InputError: refuse, HTTPException: refuse},
        lifespan=life,
    )


async def _look(file: ModelFile) -> None:
    while True:
        await asyncio.sleep(_LOOK_EVERY)
        await asyncio.to_thread(file.refresh)


def _about(model: Model) -> dict[str, Any]:
    """Return the labels, and from which probability on each is predicted, if a number says it."""
    classifier = model.classifier
    thresholds = getattr(classifier, "thresholds_", None)
    if thresholds is None and classifier.threshold == "probability" and not classifier._single:
        thresholds = np.full(len(model.label_names), classifier.cut)
    return {
        "model_version": model.version,
        "n_features": classifier.n_features_in_,
        "label_names": model.label_names,
        "thresholds": None if thresholds is None else thresholds.tolist(),
    }


def question_of(
    body: bytes, model: Model, *, kind: str, accept: str, most_rows: int
) -> Question | Answer:
    """Return what a request for predictions asks.

    Parameters
    ----------
    body : bytes
        JSON with ``rows``, ``texts``, ``items`` or Label Studio's ``tasks``; or an array (n, d) in
        NumPy's format.
    model : Model
    kind, accept : str
        The types of the body, and of the answer that is wanted: JSON or NumPy's.
    most_rows : int

    Returns
    -------
    Question, or an Answer if nothing is to predict

    Raises
    ------
    InputError
        If the body is not such a thing, or does not fit the model.
    """
    if kind.partition(";")[0].strip().lower() in (NPY, "application/octet-stream"):
        X = array_of(body)
        _refuse_many(X.shape[0], most_rows)
    else:
        asked = _object(body)
        if "tasks" in asked:
            tasks = _listed(asked, "tasks", most_rows)
            return question_of_tasks(tasks, asked.get("label_config"), model)
        X = _features_of(asked, model, most_rows)
    return Question(X, partial(_as_array if accept.startswith(NPY) else _as_json, model))


def _as_array(_: Model, __: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> Answer:
    file = io.BytesIO()
    np.save(file, probabilities.astype(np.float32))
    return Answer(file.getvalue(), NPY)


def _as_json(
    model: Model, predicted: NDArray[np.bool_], probabilities: NDArray[np.float64]
) -> Answer:
    names = np.array(model.label_names, dtype=object)
    found = {
        "model_version": model.version,
        "label_names": model.label_names,
        "labels": [names[row].tolist() for row in predicted],
        "probabilities": probabilities.round(_DECIMALS).tolist(),
    }
    return Answer(to_json(found), JSON)


def _features_of(asked: dict[str, Any], model: Model, most_rows: int) -> Any:
    ways = [way for way in _WAYS if way in asked]
    if len(ways) != 1:
        raise InputError(
            f"the request has {' and '.join(ways) or 'none of rows, texts and items'}; give one:"
            ' {"rows": [[0.5, 1], ...]}, {"texts": ["..."]} or {"items": ["..."]}'
        )
    values = _listed(asked, ways[0], most_rows)
    if ways == ["rows"]:
        try:
            return np.array(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(
                f"rows must be lists of {model.classifier.n_features_in_:,} numbers each"
            ) from None
    if not all(isinstance(value, str) for value in values):
        raise InputError(f"{ways[0]} must be a list of texts")
    return model.of_texts(values) if ways == ["texts"] else model.of_items(values)


def _listed(asked: dict[str, Any], name: str, most_rows: int) -> list[Any]:
    values = asked[name]
    if not isinstance(values, list) or not values:
        raise InputError(f"{name} must be a list with at least one element")
    _refuse_many(len(values), most_rows)
    return values


def _refuse_many(n_rows: int, most_rows: int) -> None:
    if n_rows > most_rows:
        raise TooManyRowsError(
            f"the request has {n_rows:,} rows, and the server answers at most {most_rows:,} at"
            " once; send them in parts, or start the server with a greater --most-rows"
        )


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise InputError(f"the request is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise InputError("the request must be a JSON object, such as {\"rows\": [[0.5, 1]]}")
    return found


def array_of(body: bytes) -> NDArray[Any]:
    """Return the matrix of numbers in the bytes of a .npy file, without copying it.

    Unlike ``numpy.load``, it reserves no memory for what the header promises.
    """
    file = io.BytesIO(body)
    try:
        version = np.lib.format.read_magic(file)
        read = {(1, 0): np.lib.format.read_array_header_1_0}.get(
            version, np.lib.format.read_array_header_2_0
        )
        shape, by_columns, dtype = read(file)
        if dtype.kind not in "biuf" or len(shape) != 2:
            raise ValueError(f"it holds an array of shape {shape} and type {dtype}")
        flat = np.frombuffer(body, dtype, offset=file.tell())
        return flat.reshape(shape, order="F" if by_columns else "C")
    except ValueError as error:
        raise InputError(
            f"the request is not a .npy file with a matrix of numbers ({error!s:.200}); send what"
            " numpy.save writes"
        ) from None
