"""Predictions as Label Studio wants them: a result for each task, in a control of its form.

Label Studio sends the form, a text in XML, with each batch of tasks. The control is the one with
``Choices`` that offers most of the model's labels.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray
from pydantic_core import to_json

from complabel.errors import InputError
from complabel.live._model import Answer, Question

if TYPE_CHECKING:
    from complabel.live._model import Model

# The control of labelstudio-config for labels that do not apply. People must not see a model's
# guess while they are asked: the guess would change their answers.
_ASKS = "not_this"
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


@dataclass
class _Reader:
    """Collects controls and texts while a form is read."""

    controls: list[dict[str, Any]] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)

    def start(self, tag: str, given: dict[str, str]) -> None:
        if tag == "Choices":
            self.controls.append({**given, "of": []})
        elif tag == "Choice" and self.controls:
            self.controls[-1]["of"].append(given.get("alias") or given.get("value") or "")
        elif tag in _TEXTS and given.get("value", "").startswith("$"):
            self.texts[given.get("name", "")] = given["value"][1:]

    def refuse(self, *_: Any) -> None:
        raise FormError("the form has a DOCTYPE, which no form of Label Studio needs")


@functools.lru_cache(maxsize=8)
def controls_of(form: str) -> tuple[Control, ...]:
    """Return the controls of a form with choices about a whole item.

    Nothing outside of the text is read, and no entities are expanded, because none can be declared.
    """
    reader, parser = _Reader(), expat.ParserCreate()
    parser.StartElementHandler = reader.start
    parser.StartDoctypeDeclHandler = reader.refuse
    try:
        parser.Parse(form, True)
    except expat.ExpatError as error:
        raise FormError(f"the form is not XML: {error}") from None
    return tuple(
        Control(
            name=each.get("name", ""),
            to_name=(to_name := each.get("toName", "").split(",")[0]),
            is_single=each.get("choice", "single") != "multiple",
            choices=frozenset(each["of"]),
            text=reader.texts.get(to_name),
        )
        for each in reader.controls
        if "true" not in (each.get("perRegion"), each.get("perItem"))
    )


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
    if any(control.name == _ASKS for control in controls):
        raise FormError(
            f"the form asks for labels that do not apply, in its control {_ASKS!r}; a guess of the"
            " model would change what people answer. Show guesses in another project"
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
    rows, X = _features_of(tasks, data, control, model)
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


def _features_of(
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
