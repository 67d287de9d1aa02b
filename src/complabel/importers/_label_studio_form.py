"""The form of a project of Label Studio, a text in XML: where a model's labels can be shown.

That is the control with ``Choices`` that offers most of the labels.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from complabel.errors import InputError
from complabel.importers._questions import CONTROLS

# People must not see a model's guess while they are asked: the guess would change their answers.
_ASKS = (CONTROLS["named"], CONTROLS["ticked"])
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
def _controls_of(form: str) -> tuple[Control, ...]:
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
    controls = []
    for each in root.iter("Choices"):
        to_name = each.get("toName", "").split(",")[0]
        value = texts.get(to_name, "")
        if "true" not in (each.get("perRegion"), each.get("perItem")):
            names = (x.get("alias") or x.get("value") or "" for x in each.iter("Choice"))
            controls.append(
                Control(
                    name=each.get("name", ""),
                    to_name=to_name,
                    is_single=each.get("choice", "single") != "multiple",
                    choices=frozenset(names),
                    text=value[1:] if value.startswith("$") else None,
                )
            )
    return tuple(controls)


def control_of(form: Any, label_names: Sequence[str]) -> Control:
    """Return the control of a form that offers most of the labels, or refuse the form."""
    if not isinstance(form, str):
        raise FormError("there is no form; send the labelling configuration of the project")
    if len(form) > _LONGEST:  # forms are kept in memory
        raise FormError(f"the form has more than {_LONGEST:,} characters")
    controls = _controls_of(form)
    asks = next((control.name for control in controls if control.name in _ASKS), None)
    if asks is not None:
        raise FormError(
            f"the form is one of labelstudio-config, and asks people in its control {asks!r}; a"
            " guess of the model would change what they answer. Show guesses in another project"
        )
    offered = {each: len(each.choices & {*label_names}) for each in controls}
    most = max(offered.values(), default=0)
    best = [each for each in controls if offered[each] == most]
    if most == 0:
        listed = ", ".join(repr(each.name) for each in controls) or "none"
        raise FormError(
            f"no control of the form offers a label of the model, such as {label_names[0]!r:.80};"
            f" its controls with choices: {listed}"
        )
    if len(best) > 1:
        raise FormError(
            f"the controls {best[0].name!r} and {best[1].name!r} of the form offer equally many"
            " of the model's labels; keep the choices of one of them"
        )
    return best[0]
