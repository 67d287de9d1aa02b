"""Predictions for programs: rows, texts, pictures or names of items in, probabilities out.

Label Studio sends tasks, and with each batch of them the form, a text in XML. It gets a result for
each task, in a control of the form: that with ``Choices`` that offers most of the model's labels.
The shapes of requests and replies check what comes, and ``/openapi.json`` shows them.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import io
import logging
import reprlib
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictStr, TypeAdapter
from pydantic.json_schema import models_json_schema
from pydantic_core import from_json, to_json
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from complabel import __version__
from complabel._parameters import AnyArray, Array, Bools
from complabel.errors import InputError
from complabel.importers import Control, FormError, control_of
from complabel.live._model import Answer, Batches, Model, ModelFile, Question
from complabel.live._server import app_of, error_reply

JSON, NPY = "application/json", "application/x-npy"
_log = logging.getLogger(__name__)
_LOOK_EVERY = 1.0  # seconds between two looks at the model's file
_DECIMALS = 7  # of probabilities in JSON, about as exact as single precision
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class TooManyRowsError(InputError):
    """A request has more rows than the server answers at once."""


def predicting(file: ModelFile, *, most_rows: int, has_token: bool = False) -> Starlette:
    """Return an app that predicts with the model in a file.

    It looks once a second whether the file has changed. ``most_rows`` are those of one request, or
    its texts, pictures, items or tasks. With ``has_token``, the document about the routes says that
    a token is needed.
    """
    server = _Predictions(file, most_rows, has_token)
    return app_of(
        [
            Route("/predict", server.predict, methods=["POST"]),
            Route("/health", server.health),
            Route("/labels", server.labels),
            Route("/openapi.json", server.openapi),
            Route("/setup", server.setup, methods=["POST"]),
            Route("/webhook", server.webhook, methods=["POST"]),
        ],
        {InputError: _refuse, Exception: _fail},
        hint="; GET /openapi.json lists routes",
        lifespan=server.life,
    )


class _Predictions:
    """The routes."""

    def __init__(self, file: ModelFile, most_rows: int, has_token: bool) -> None:
        self._file, self._most_rows, self._has_token = file, most_rows, has_token
        self._batches = Batches(file)

    @contextlib.asynccontextmanager
    async def life(self, _: Starlette) -> AsyncIterator[None]:
        """Look for a new model while the server runs."""
        looking = asyncio.create_task(self._look())
        yield
        looking.cancel()
        self._batches.close()

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            await asyncio.to_thread(self._file.refresh)

    async def predict(self, request: Request) -> Response:
        body = await request.body()
        kind, accept = (request.headers.get(name, JSON) for name in ("content-type", "accept"))
        read = partial(question_of, body, kind=kind, accept=accept, most_rows=self._most_rows)
        answer = await self._batches.answer(read, len(body))
        return Response(answer.body, media_type=answer.kind)

    async def health(self, _: Request) -> Response:
        about = {"status": "UP", "model_version": self._file.now.version}
        if self._file.problem is not None:  # of a newer file
            about["problem"] = self._file.problem
        return _in_json(about)

    async def labels(self, _: Request) -> Response:
        model = self._file.now
        classifier: Any = model.classifier
        thresholds = getattr(classifier, "thresholds_", None)
        return _in_json(
            {
                "model_version": model.version,
                "n_features": classifier.n_features_in_,
                "label_names": model.label_names,
                "thresholds": None if thresholds is None else thresholds.tolist(),
            }
        )

    async def openapi(self, _: Request) -> Response:
        document = described(self._file.now, most_rows=self._most_rows, has_token=self._has_token)
        return _in_json(document)

    async def setup(self, request: Request) -> Response:
        """Tell Label Studio the version, or refuse the form of a project."""
        form = _object(await request.body()).get("schema")
        control_for(self._file.now, form)
        return _in_json({"model_version": self._file.now.version})

    async def webhook(self, request: Request) -> Response:
        """Take notice of what happened in Label Studio; the model is fitted elsewhere."""
        _object(await request.body())
        return _in_json({"model_version": self._file.now.version}, 201)


def _in_json(content: Any, status: int = 200) -> Response:
    return Response(to_json(content), status, media_type=JSON)


async def _refuse(_: Request, error: Exception) -> Response:
    if isinstance(error, FormError):  # Label Studio shows only the status
        _log.warning("Label Studio's request is refused: %s", error)
    return error_reply(str(error), 413 if isinstance(error, TooManyRowsError) else 400)


async def _fail(_: Request, __: Exception) -> Response:
    return error_reply("the server failed at this request; its terminal says why", 500)


def question_of(
    body: bytes, model: Model, *, kind: str, accept: str, most_rows: int
) -> Question | Answer:
    """Return what a request for predictions asks; an Answer if nothing is to predict.

    The body is JSON with ``rows``, ``texts``, ``pictures``, ``items`` or Label Studio's ``tasks``;
    or an array (n, d) in NumPy's format; or the file of a picture. ``kind`` and ``accept`` are the
    types of the body, and of the answer that is wanted.
    """
    kind = kind.partition(";")[0].strip().lower()
    if kind in (NPY, "application/octet-stream"):
        X = array_of(body)
        _refuse_many(X.shape[0], most_rows)
    elif kind.startswith("image/"):
        X = model.of_things("pictures", [body])
    else:
        request = _object(body)
        way = _way_of(request, most_rows)
        if way == "tasks":
            return question_of_tasks(request["tasks"], request.get("label_config"), model)
        X = _features_of(way, request[way], model)
    return Question(X, partial(_as_array if accept.startswith(NPY) else _as_json, model))


def _as_array(_: Model, __: Bools, probabilities: Array) -> Answer:
    file = io.BytesIO()
    np.save(file, probabilities.astype(np.float32))
    return Answer(file.getvalue(), NPY)


def _as_json(model: Model, predicted: Bools, probabilities: Array) -> Answer:
    names = np.array(model.label_names, dtype=object)
    reply = {
        "model_version": model.version,
        "label_names": model.label_names,
        "labels": [names[row].tolist() for row in predicted],
        "probabilities": probabilities.round(_DECIMALS).tolist(),
    }
    return Answer(to_json(reply), JSON)


def _way_of(request: dict[str, Any], most_rows: int) -> str:
    """Return which of rows, texts, items and tasks a request has; refuse one of another shape."""
    ways = ["tasks"] if "tasks" in request else [way for way in _REQUESTS if way in request]
    if len(ways) != 1:
        raise InputError(
            f"the request has {' and '.join(ways) or 'none of rows, texts, pictures and items'};"
            ' give one: {"rows": [[0.5, 1], ...]}, {"texts": ["...", ...]}, {"pictures": ["...",'
            ' ...]} or {"items": ["...", ...]}'
        )
    (way,) = ways
    if isinstance(request[way], list):
        _refuse_many(len(request[way]), most_rows)
    if not _CHECKS[way].isinstance_python(request):
        description = _REQUESTS[way].model_fields[way].description
        raise InputError(f"{way} is {reprlib.repr(request[way])}; give {description}")
    return way


def _features_of(way: str, values: list[Any], model: Model) -> Any:
    if way == "pictures":
        return model.of_things("pictures", [_bytes_of(*each) for each in enumerate(values)])
    if way != "rows":
        return model.of_things("text", values) if way == "texts" else model.of_items(values)
    if len({len(row) for row in values}) > 1:
        d = model.classifier.n_features_in_
        raise InputError(f"rows have different lengths; give lists of {d:,} numbers each")
    return np.array(values, dtype=np.float64)


def _bytes_of(at: int, text: str) -> bytes:
    """Return the content of a file from base64, which may stand in the address of a data URL."""
    try:
        return base64.b64decode(
            text[text.find(",") + 1 :] if text[:5] == "data:" else text, validate=True
        )
    except ValueError as error:
        raise InputError(
            f"pictures[{at}] is not base64 ({error}); send the content of each file as base64"
            " without line breaks"
        ) from None


def _refuse_many(n_rows: int, most_rows: int) -> None:
    if n_rows > most_rows:
        raise TooManyRowsError(
            f"the request has {n_rows:,} rows, and the server answers at most {most_rows:,} at"
            " once; send them in parts, or start the server with a greater --most-rows"
        )


def _object(body: bytes) -> dict[str, Any]:
    try:
        content = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise InputError(f"the request is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise InputError('the request must be a JSON object, such as {"rows": [[0.5, 1]]}')
    return content


def array_of(body: bytes) -> AnyArray:
    """Return the matrix of numbers in the bytes of a .npy file, without copying it.

    Unlike ``numpy.load``, it reserves no memory for what the header promises.
    """
    file = io.BytesIO(body)
    try:
        version = np.lib.format.read_magic(file)
        if version not in _HEADERS:
            raise ValueError(f"version {version} of the format")
        shape, by_columns, dtype = _HEADERS[version](file)
        is_matrix = len(shape) == 2 and all(type(size) is int and size > 0 for size in shape)
        if dtype.kind not in "biuf" or not is_matrix:
            raise ValueError(f"an array of shape {shape} and type {dtype}")
        flat = np.frombuffer(body, dtype, offset=file.tell())
        return flat.reshape(shape, order="F" if by_columns else "C")
    except Exception as error:  # numpy reads the header as Python, which can fail in many ways
        raise InputError(
            f"the request is not a .npy file with a matrix of numbers ({error!s:.200}); send what"
            " numpy.save writes of a matrix with a row for each item"
        ) from None


_Chance = Annotated[float, Field(ge=0, le=1)]


class _Shape(BaseModel):
    """A request or a reply. Requests are checked by their shape; programs read all shapes."""

    model_config = ConfigDict(protected_namespaces=())


class Rows(_Shape):
    rows: list[list[StrictFloat]] = Field(min_length=1, description="a list of lists of numbers")


class Texts(_Shape):
    texts: list[StrictStr] = Field(min_length=1, description="a list of texts")


class Pictures(_Shape):
    pictures: list[StrictStr] = Field(
        min_length=1, description="a list of texts, the content of files of pictures as base64"
    )


class Items(_Shape):
    items: list[StrictStr] = Field(min_length=1, description="a list of texts, names of items")


class Task(_Shape):
    id: Any = None
    data: dict[str, Any]


class Tasks(_Shape):
    tasks: list[Task] = Field(
        min_length=1, description="a list of tasks, each with an object data; and label_config"
    )
    label_config: StrictStr | None = Field(None, description="the form of the project")


class Form(_Shape):
    form: str = Field("", alias="schema")


class Version(_Shape):
    model_version: str


class Health(Version):
    status: str
    problem: str | None = Field(None, description="why a newer file is not used")


class Labels(Version):
    n_features: int
    label_names: list[str]
    thresholds: list[float] | None


class Predictions(Version):
    label_names: list[str]
    labels: list[list[str]]
    probabilities: list[list[_Chance]]


class Result(Version):
    result: list[dict[str, Any]]
    score: _Chance | None = Field(description="null for an item without features")


class Results(_Shape):
    results: list[Result]


class Refusal(_Shape):
    error: str


_REQUESTS: dict[str, type[_Shape]] = {
    next(iter(each.model_fields)): each for each in (Rows, Texts, Pictures, Items, Tasks)
}
_CHECKS = {way: TypeAdapter(shape).validator for way, shape in _REQUESTS.items()}
_REFUSED = {
    400: "The request is wrong, or does not fit the model.",
    403: "The token is missing or wrong.",
    413: "The request has too many bytes or rows.",
}
# What each route does, what it takes if it takes a body, and what it gives.
_ROUTES: dict[str, tuple[str, Sequence[type[_Shape]], Sequence[type[_Shape]]]] = {
    "/predict": (
        "Predict labels: of rows of features, as JSON or .npy; of texts; of pictures; of known"
        " items; of tasks of Label Studio.",
        [*_REQUESTS.values()],
        [Predictions, Results],
    ),
    "/health": ("Whether the server is up.", [], [Health]),
    "/labels": ("The labels, and from which probability on each is predicted.", [], [Labels]),
    "/setup": ("Label Studio asks for the version, and tells its form.", [Form], [Version]),
    "/webhook": ("Label Studio tells of an answer, which is not used.", [Form], [Version]),
}


def described(model: Model, *, most_rows: int, has_token: bool) -> dict[str, Any]:
    """Return the document for a model: it says how many features and which labels there are."""
    shapes: list[type[_Shape]] = [Refusal]
    for _, takes, gives in _ROUTES.values():
        shapes += [shape for shape in [*takes, *gives] if shape not in shapes]
    template = "#/components/schemas/{model}"
    schemas = models_json_schema([(each, "validation") for each in shapes], ref_template=template)
    components: dict[str, Any] = {"schemas": schemas[1]["$defs"]}
    fields = {name: each["properties"] for name, each in components["schemas"].items()}
    for way, shape in _REQUESTS.items():
        fields[shape.__name__][way]["maxItems"] = most_rows
    n_features, names = model.classifier.n_features_in_, list(model.label_names)
    fields["Rows"]["rows"]["items"] |= {"minItems": n_features, "maxItems": n_features}
    fields["Predictions"]["label_names"]["items"]["enum"] = names
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "complabel serve", "version": __version__},
        "components": components,
        "paths": {path: _route(path, *about) for path, about in _ROUTES.items()},
    }
    if has_token:
        components["securitySchemes"] = {
            "basic": {"type": "http", "scheme": "basic"},
            "token": {"type": "http", "scheme": "bearer"},
        }
        document["security"] = [{name: []} for name in components["securitySchemes"]]
    return document


def _route(
    path: str, summary: str, takes: Sequence[type[_Shape]], gives: Sequence[type[_Shape]]
) -> dict[str, Any]:
    def content(shapes: Sequence[type[_Shape]]) -> dict[str, Any]:
        refs = [{"$ref": f"#/components/schemas/{shape.__name__}"} for shape in shapes]
        kinds: dict[str, Any] = {JSON: {"schema": {"oneOf": refs}}}
        if Rows in shapes or Predictions in shapes:  # matrices
            kinds[NPY] = {"schema": {"type": "string", "format": "binary"}}
        if Pictures in shapes:
            kinds["image/*"] = {"schema": {"type": "string", "format": "binary"}}
        return kinds

    replies = {
        str(code): {"description": meaning, "content": content([Refusal])}
        for code, meaning in _REFUSED.items()
    }
    done = "201" if path == "/webhook" else "200"
    replies[done] = {"description": "Done.", "content": content(gives)}
    about: dict[str, Any] = {"summary": summary, "responses": replies}
    if not takes:
        return {"get": about}
    return {"post": {**about, "requestBody": {"required": True, "content": content(takes)}}}


def control_for(model: Model, form: Any) -> Control:
    """Return the control of a form that offers most of the model's labels, or refuse the form."""
    control = control_of(form, model.label_names)
    if model.X is None and (lacking := model.lacks("text")):
        raise FormError(
            f"{lacking}, so the server needs the features of the items: start it with --features, a"
            " file with a row for each item that a task names"
        )
    if model.X is None and control.text is None:
        raise FormError(
            f"the model learned from texts, but the form shows none: control {control.name!r} is"
            f" about {control.to_name!r}, which must be a Text with a value such as $text"
        )
    return control


def question_of_tasks(tasks: Sequence[Any], form: Any, model: Model) -> Question | Answer:
    """Return what is asked about tasks; the answer has a prediction for each, in their order.

    The features of a task are those of its item, if some are known, else those of its text. The
    prediction of an unknown item is empty. A score is the probability that the least certain
    decision about an offered label is right.
    """
    control = control_for(model, form)
    data = [task["data"] for task in tasks]
    results: list[dict[str, Any]] = [
        {"result": [], "score": None, "model_version": model.version} for _ in tasks
    ]
    rows, X = _features_of_tasks(tasks, data, control, model)
    columns = [k for k, name in enumerate(model.label_names) if name in control.choices]
    names = np.array(model.label_names, dtype=object)[columns]

    def write(predicted: Bools, probabilities: Array) -> Answer:
        predicted, probabilities = predicted[:, columns], probabilities[:, columns]
        scores = np.where(predicted, probabilities, 1 - probabilities).min(axis=1)
        if control.is_single:  # the most probable of them
            best = np.where(predicted, probabilities, -1.0).argmax(axis=1)
            predicted = predicted & (np.arange(len(names)) == best[:, None])
        for row, chosen, score in zip(rows, predicted, scores.tolist(), strict=True):
            results[row]["score"] = score
            results[row]["result"] = control.result(names[chosen].tolist())
        return _written(results)

    return Question(X, write) if rows else _written(results)


def _written(results: list[dict[str, Any]]) -> Answer:
    return Answer(to_json({"results": results}), "application/json")


def _features_of_tasks(
    tasks: Sequence[Mapping[str, Any]], data: Sequence[Any], control: Control, model: Model
) -> tuple[list[int], Any]:
    if model.X is None:  # else, what the features of an item say counts
        texts = [each.get(control.text) for each in data]
        rows = [row for row, text in enumerate(texts) if isinstance(text, str)]
        return rows, model.of_things("text", [texts[row] for row in rows])
    # As complabel import names items: one field for all tasks, because ids could be equal by chance
    named = next((name for name in ("item", "id") if any(name in each for each in data)), None)
    ids = [d.get(named) if named else task.get("id") for d, task in zip(data, tasks, strict=True)]
    items = [str(each) for each in ids]
    rows = [row for row, item in enumerate(items) if item in model.row_of]
    return rows, model.of_items([items[row] for row in rows])
