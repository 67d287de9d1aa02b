"""Predictions for programs: rows, texts or names of items in, probabilities and labels out.

Label Studio sends tasks, and with each batch of them the form, a text in XML. It gets a result for
each task, in a control of the form: that with ``Choices`` that offers most of the model's labels.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import io
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from pydantic_core import SchemaValidator, core_schema, from_json, to_json

from complabel import __version__
from complabel.errors import InputError
from complabel.live._model import Answer, Batches, Model, ModelFile, Question
from complabel.live._server import missing

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from complabel.live._model import Model

_log = logging.getLogger(__name__)
_LOOK_EVERY = 1.0  # seconds between two looks at the model's file
_DECIMALS = 7  # of probabilities in JSON, about as exact as single precision
_WAYS = ("rows", "texts", "items")
_NUMBERS = SchemaValidator(
    core_schema.list_schema(core_schema.list_schema(core_schema.float_schema(strict=True)))
)
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class TooManyRowsError(InputError):
    """A request has more rows than the server answers at once."""


def predicting(file: ModelFile, *, most_rows: int, has_token: bool = False) -> Starlette:
    """Return an app that predicts with the model in a file.

    It looks once a second whether the file has changed. ``most_rows`` are those of one request, or
    its texts, items or tasks. With ``has_token``, the document about the routes says that a token
    is needed.
    """
    try:
        from starlette.applications import Starlette
        from starlette.exceptions import HTTPException
        from starlette.routing import Route
    except ImportError as error:
        raise missing("starlette") from error
    server = _Predictions(file, most_rows, has_token)
    app = Starlette(
        routes=[
            Route("/predict", server.predict, methods=["POST"]),
            Route("/health", server.health),
            Route("/labels", server.labels),
            Route("/openapi.json", server.openapi),
            Route("/setup", server.setup, methods=["POST"]),
            Route("/webhook", server.webhook, methods=["POST"]),
        ],
        exception_handlers={
            InputError: _refuse,
            HTTPException: _refuse_route,
            Exception: _fail,
        },
        lifespan=server.life,
    )
    app.router.redirect_slashes = False  # it would lead to the host that a request names
    return app


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
        return _response(*await self._batches.answer(read, len(body)))

    async def health(self, _: Request) -> Response:
        found = {"status": "UP", "model_version": self._file.now.version}
        if self._file.problem is not None:  # of a newer file
            found["problem"] = self._file.problem
        return _in_json(found)

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


def _response(body: bytes, kind: str, status: int = 200) -> Response:
    from starlette.responses import Response

    return Response(body, status, media_type=kind)


def _in_json(found: Any, status: int = 200) -> Response:
    return _response(to_json(found), JSON, status)


async def _refuse(_: Request, error: Exception) -> Response:
    if isinstance(error, FormError):  # Label Studio shows only the status
        _log.warning("Label Studio's request is refused: %s", error)
    return _in_json({"error": str(error)}, 413 if isinstance(error, TooManyRowsError) else 400)


async def _refuse_route(request: Request, error: Any) -> Response:
    path = request.scope["path"][:80]
    found = f"{request.method} {path}: {error.detail}; GET /openapi.json lists routes"
    return _in_json({"error": found}, error.status_code)


async def _fail(_: Request, __: Exception) -> Response:
    return _in_json({"error": "the server failed at this request; its terminal says why"}, 500)


def question_of(
    body: bytes, model: Model, *, kind: str, accept: str, most_rows: int
) -> Question | Answer:
    """Return what a request for predictions asks; an Answer if nothing is to predict.

    The body is JSON with ``rows``, ``texts``, ``items`` or Label Studio's ``tasks``; or an array
    (n, d) in NumPy's format. ``kind`` and ``accept`` are the types of the body, and of the answer
    that is wanted.
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
            ' {"rows": [[0.5, 1], ...]}, {"texts": ["...", ...]} or {"items": ["...", ...]}'
        )
    values = _listed(asked, ways[0], most_rows)
    if ways == ["rows"]:
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            X = np.array(values, dtype=np.float64)
            if X.ndim == 2 and _NUMBERS.isinstance_python(values):  # numpy takes "1" and true, too
                return X
        n_features = model.classifier.n_features_in_
        raise InputError(f"rows must be a list of lists of {n_features:,} numbers each")
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
        raise InputError('the request must be a JSON object, such as {"rows": [[0.5, 1]]}')
    return found


def array_of(body: bytes) -> NDArray[Any]:
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


JSON, NPY = "application/json", "application/x-npy"
_TEXT = {"type": "string"}
_OBJECT: dict[str, Any] = {"type": "object"}
_BINARY = {"type": "string", "format": "binary"}
_ERRORS = {
    400: "The request is wrong, or does not fit the model.",
    403: "The token is missing or wrong.",
    413: "The request has too many bytes or rows.",
}


def described(model: Model, *, most_rows: int, has_token: bool) -> dict[str, Any]:
    """Return the document for a model: it says how many features and which labels there are."""
    d, names = model.classifier.n_features_in_, list(model.label_names)
    row = _list({"type": "number"}, minItems=d, maxItems=d)
    most = {"minItems": 1, "maxItems": most_rows}
    version = {"model_version": _TEXT}
    ways = [
        _record(rows=_list(row, **most)),
        _record(texts=_list(_TEXT, **most)),
        _record(items=_list(_TEXT, **most)),
        _record(tasks=_list(_OBJECT, **most), label_config=_TEXT),
    ]
    chances = _list({"type": "number", "minimum": 0, "maximum": 1})
    label = {"type": "string", "enum": names}
    predicted = _record(
        **version,
        label_names=_list(label),
        labels=_list(_list(label)),
        probabilities=_list({**chances, "minItems": len(names), "maxItems": len(names)}),
    )
    result = _record(
        result=_list(_OBJECT),
        score={"type": ["number", "null"], "minimum": 0, "maximum": 1},
        **version,
    )
    say_version = {JSON: _record(**version)}
    paths = {
        "/predict": _route(
            "Predict labels: of rows of features, as JSON or .npy; of texts; of known items; of"
            " tasks of Label Studio.",
            {JSON: {"oneOf": [predicted, _record(results=_list(result))]}, NPY: _BINARY},
            {JSON: {"oneOf": ways}, NPY: _BINARY},
        ),
        "/health": _route("Whether the server is up.", {JSON: _record(status=_TEXT, **version)}),
        "/labels": _route(
            "The labels, and from which probability on each is predicted.", {JSON: _OBJECT}
        ),
        "/setup": _route(
            "Label Studio asks for the version of the model, and tells its form.",
            say_version,
            {JSON: {**_OBJECT, "properties": {"schema": _TEXT}}},
        ),
        "/webhook": _route(
            "Label Studio tells of a new answer. The server does not use it.",
            say_version,
            {JSON: _OBJECT},
            status=201,
        ),
    }
    found: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "complabel serve", "version": __version__},
        "paths": paths,
    }
    if has_token:
        schemes: dict[str, Any] = {"basic": {"type": "http", "scheme": "basic"}}
        schemes["token"] = {"type": "http", "scheme": "bearer"}
        found["components"] = {"securitySchemes": schemes}
        found["security"] = [{name: []} for name in schemes]
    return found


def _list(of: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": of, **more}


def _record(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties]}


def _route(
    summary: str, gives: dict[str, Any], takes: dict[str, Any] | None = None, *, status: int = 200
) -> dict[str, Any]:
    """Describe a route: what it gives and takes, by type; one that takes a body is POST."""
    error = {JSON: {"schema": _record(error=_TEXT)}}
    answers = {
        str(code): {"description": meaning, "content": error} for code, meaning in _ERRORS.items()
    }
    answers[str(status)] = {"description": "Done.", "content": _contents(gives)}
    found: dict[str, Any] = {"summary": summary, "responses": answers}
    if takes is None:
        return {"get": found}
    return {"post": {**found, "requestBody": {"required": True, "content": _contents(takes)}}}


def _contents(schemas: dict[str, Any]) -> dict[str, Any]:
    return {kind: {"schema": schema} for kind, schema in schemas.items()}


# The controls of labelstudio-config with labels. People must not see a model's guess while they are
# asked: the guess would change their answers.
_ASKS = ("not_this", "applies")
_LONGEST = 1_000_000
_TEXTS = ("Text", "HyperText")


class FormError(InputError):
    """A form has no control in which the model's labels could be shown."""


@dataclass(frozen=True)
class Control:
    """A control with choices; ``text`` is the field of a task that its object shows as a text."""

    name: str
    to_name: str
    is_single: bool
    choices: frozenset[str]
    text: str | None = None

    def result(self, labels: list[str]) -> list[dict[str, Any]]:
        """Return labels as a result of this control; none is no result."""
        about = {"from_name": self.name, "to_name": self.to_name, "type": "choices"}
        return [{**about, "value": {"choices": labels}}] if labels else []


@functools.lru_cache(maxsize=8)
def controls_of(form: str) -> tuple[Control, ...]:
    """Return the controls of a form with choices about a whole item.

    Nothing outside of the text is read, and no entities are expanded, because none can be declared.
    """
    if "<!DOCTYPE" in form:
        raise FormError("the form has a DOCTYPE, which no form of Label Studio needs")
    try:
        root = ElementTree.fromstring(form)
    except ElementTree.ParseError as error:
        raise FormError(f"the form is not XML: {error}") from None
    texts = {x.get("name", ""): x.get("value", "") for tag in _TEXTS for x in root.iter(tag)}
    found = []
    for each in root.iter("Choices"):
        to_name = each.get("toName", "").split(",")[0]
        value = texts.get(to_name, "")
        if "true" not in (each.get("perRegion"), each.get("perItem")):
            names = (x.get("alias") or x.get("value") or "" for x in each.iter("Choice"))
            found.append(
                Control(
                    name=each.get("name", ""),
                    to_name=to_name,
                    is_single=each.get("choice", "single") != "multiple",
                    choices=frozenset(names),
                    text=value[1:] if value.startswith("$") else None,
                )
            )
    return tuple(found)


def control_for(model: Model, form: Any) -> Control:
    """Return the control of a form that offers most of the model's labels, or refuse the form."""
    control = _control_of(form, model.label_names)
    if model.X is None and model.encoder is None:
        raise FormError(
            f"{model.no_texts}, so the model needs the features of the items: start the server with"
            " --features, a file with a row for each item that a task names"
        )
    if model.X is None and control.text is None:
        raise FormError(
            f"the model learned from texts, but the form shows none: control {control.name!r} is"
            f" about {control.to_name!r}, which must be a Text with a value such as $text"
        )
    return control


def _control_of(form: Any, label_names: Sequence[str]) -> Control:
    if not isinstance(form, str):
        raise FormError("there is no form; send the labelling configuration of the project")
    if len(form) > _LONGEST:  # forms are kept in memory
        raise FormError(f"the form has more than {_LONGEST:,} characters")
    controls = controls_of(form)
    asks = next((control.name for control in controls if control.name in _ASKS), None)
    if asks is not None:
        raise FormError(
            f"the form is one of labelstudio-config, and asks people in its control {asks!r}; a"
            " guess of the model would change what they answer. Show guesses in another project"
        )
    offered = {each: len(each.choices & {*label_names}) for each in controls}
    best = max(offered.values(), default=0)
    found = [each for each in controls if offered[each] == best]
    if best == 0:
        listed = ", ".join(repr(each.name) for each in controls) or "none"
        raise FormError(
            f"no control of the form offers a label of the model, such as {label_names[0]!r:.80};"
            f" its controls with choices: {listed}"
        )
    if len(found) > 1:
        raise FormError(
            f"the controls {found[0].name!r} and {found[1].name!r} of the form offer equally many"
            " of the model's labels; keep the choices of one of them"
        )
    return found[0]


def question_of_tasks(tasks: Sequence[Any], form: Any, model: Model) -> Question | Answer:
    """Return what is asked about tasks; the answer has a prediction for each, in their order.

    The features of a task are those of its item, if some are known, else those of its text. The
    prediction of an unknown item is empty. A score is the probability that the least certain
    decision about an offered label is right.
    """
    control = control_for(model, form)
    data = [task.get("data") if isinstance(task, dict) else None for task in tasks]
    if not all(isinstance(each, dict) for each in data):
        raise InputError("a task has no data; each must have an object of this name")
    found: list[dict[str, Any]] = [
        {"result": [], "score": None, "model_version": model.version} for _ in tasks
    ]
    rows, X = _features_of_tasks(tasks, data, control, model)
    columns = [k for k, name in enumerate(model.label_names) if name in control.choices]
    names = np.array(model.label_names, dtype=object)[columns]

    def write(predicted: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> Answer:
        predicted, probabilities = predicted[:, columns], probabilities[:, columns]
        scores = np.where(predicted, probabilities, 1 - probabilities).min(axis=1)
        if control.is_single:  # the most probable of them
            best = np.where(predicted, probabilities, -1.0).argmax(axis=1)
            predicted = predicted & (np.arange(len(names)) == best[:, None])
        for row, chosen, score in zip(rows, predicted, scores.tolist(), strict=True):
            found[row]["score"] = score
            found[row]["result"] = control.result(names[chosen].tolist())
        return _written(found)

    return Question(X, write) if rows else _written(found)


def _written(results: list[dict[str, Any]]) -> Answer:
    return Answer(to_json({"results": results}), "application/json")


def _features_of_tasks(
    tasks: Sequence[Mapping[str, Any]], data: Sequence[Any], control: Control, model: Model
) -> tuple[list[int], Any]:
    """Return the tasks that have features, and these."""
    if model.X is None:  # else, what the features of an item say counts
        texts = [each.get(control.text) for each in data]
        rows = [row for row, text in enumerate(texts) if isinstance(text, str)]
        return rows, model.of_texts([texts[row] for row in rows])
    # As complabel import names items: one field for all tasks, because ids could be equal by chance
    named = next((name for name in ("item", "id") if any(name in each for each in data)), None)
    told = [
        each.get(named) if named else task.get("id") for each, task in zip(data, tasks, strict=True)
    ]
    items = [str(each) for each in told]
    rows = [row for row, item in enumerate(items) if item in model.row_of]
    return rows, model.of_items([items[row] for row in rows])
