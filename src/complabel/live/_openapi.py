"""The document about the routes of the server for predictions, in OpenAPI 3.1."""

from __future__ import annotations

from typing import Any

from complabel import __version__
from complabel.live._model import Model

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
    paths = {
        "/predict": {
            "post": _route(
                "Predict labels: of rows of features, as JSON or .npy; of texts; of known items; of"
                " tasks of Label Studio.",
                {JSON: {"oneOf": [predicted, _record(results=_list(result))]}, NPY: _BINARY},
                {JSON: {"oneOf": ways}, NPY: _BINARY},
            )
        },
        "/health": {
            "get": _route("Whether the server is up.", {JSON: _record(status=_TEXT, **version)})
        },
        "/labels": {
            "get": _route(
                "The labels, and from which probability on each is predicted.",
                {JSON: _OBJECT},
            )
        },
        "/setup": {
            "post": _route(
                "Label Studio asks for the version of the model, and tells its form.",
                {JSON: _record(**version)},
                {JSON: {**_OBJECT, "properties": {"schema": _TEXT}}},
            )
        },
        "/webhook": {
            "post": _route(
                "Label Studio tells of a new answer. The server does not use it.",
                {JSON: _record(**version)},
                {JSON: _OBJECT},
                status=201,
            )
        },
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
    error = {JSON: {"schema": _record(error=_TEXT)}}
    answers = {
        str(code): {"description": meaning, "content": error} for code, meaning in _ERRORS.items()
    }
    answers[str(status)] = {"description": "Done.", "content": _contents(gives)}
    found: dict[str, Any] = {"summary": summary, "responses": answers}
    if takes is not None:
        found["requestBody"] = {"required": True, "content": _contents(takes)}
    return found


def _contents(schemas: dict[str, Any]) -> dict[str, Any]:
    return {kind: {"schema": schema} for kind, schema in schemas.items()}
