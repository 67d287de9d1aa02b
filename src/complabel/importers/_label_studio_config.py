"""Write labelling configurations with which Label Studio asks the questions of complabel."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from complabel._parameters import check_choice
from complabel.errors import InputError
from complabel.importers._questions import CONTROLS

_ASKED = {
    "named": "Name one label that does not apply.",
    "ticked": "Tick every label that does not apply.",
    "both": "Name one label that does not apply. Then mark labels that apply, if you like.",
    "asked": "Does this label apply?",
}

_MENUS = {
    "named": "Choose one label that does not apply.",
    "ticked": "Tick every label that applies. If none does, submit without a tick.",
}
_OBJECTS = {"image": "Image", "text": "Text", "url": "HyperText", "audio": "Audio"}
_KEYS = {"yes": "y", "no": "n", "unsure": "s"}


def label_studio_config(
    label_names: Sequence[str],
    *,
    question: str = "named",
    show: str = "image",
    field: str | None = None,
) -> str:
    """Write a labelling configuration for Label Studio.

    Parameters
    ----------
    label_names : sequence of str
        All labels; for the question "asked" none. For "named" and "ticked", none means the menu
        that each task of ``complabel ask --for label-studio`` has in its field ``options``.
    question : {"named", "ticked", "both", "asked"}, default="named"
        "named": name one label that does not apply, in the control ``not_this``. "ticked": tick all
        that do not apply, in ``not_this``. "both": name one in ``not_this``, and mark labels that
        apply in ``this``. "asked": yes, no or unsure about the label in the task's field
        ``label``; the keys y, n and s choose. "named" without labels: name one of the task's menu
        that does not apply, in ``not_this``. "ticked" without labels: tick all labels of the task
        that apply, in ``applies``.
    show : {"image", "text", "url", "audio"}, default="image"
        What a task shows.
    field : str or None, default=None
        The field of a task that holds it; None: named as ``show``.

    Returns
    -------
    str
        XML that can be pasted into the settings of a project.

    Raises
    ------
    InputError
        If labels are missing, empty, repeated or not printable, or a word is not allowed.

    Examples
    --------
    >>> print(label_studio_config(["sea", "sky & sun"]))
    <View>
      <Image name="item" value="$image" />
      <Header value="Name one label that does not apply." />
      <Choices name="not_this" toName="item" choice="single" showInline="true">
        <Choice value="sea" />
        <Choice value="sky &amp; sun" />
      </Choices>
    </View>
    """
    check_choice("question", question, tuple(_ASKED))
    check_choice("show", show, tuple(_OBJECTS))
    menus = question in _MENUS and not len(label_names)
    names = [] if question == "asked" or menus else _checked(label_names)
    view = ElementTree.Element("View")
    item = ElementTree.SubElement(view, _OBJECTS[show], name="item", value=f"${field or show}")
    if show == "url":
        item.set("valueType", "url")
    header = _MENUS[question] if menus else _ASKED[question]
    ElementTree.SubElement(view, "Header", value=header)
    how = "multiple" if question == "ticked" else "single"
    if question == "asked":
        ElementTree.SubElement(view, "Header", value="$label")
        _choices(view, CONTROLS[question], how, [*_KEYS])
    elif menus:
        _choices(view, CONTROLS[question], how, [], value="$options")
    else:
        _choices(view, "not_this", how, names)
    if question == "both":
        ElementTree.SubElement(view, "Header", value="These apply:")
        _choices(view, "this", "multiple", names)
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode")


def _choices(
    view: ElementTree.Element, name: str, how: str, values: Sequence[str], **more: str
) -> None:
    given = {"name": name, "toName": "item", "choice": how, "showInline": "true", **more}
    control = ElementTree.SubElement(view, "Choices", given)
    for value in values:
        choice = ElementTree.SubElement(control, "Choice", value=value)
        if name == CONTROLS["asked"]:
            choice.set("hotkey", _KEYS[value])


def _checked(label_names: Sequence[str]) -> list[str]:
    names = list(label_names)
    if not names:
        raise InputError("there are no labels; give their names, one on each line of a file")
    for at, name in enumerate(names):
        if not name.strip():
            raise InputError(f"label {at} is {name!r}; give each label a name")
        if name in names[:at]:
            raise InputError(f"the label {name!r} occurs twice; give each label once")
        if not name.isprintable():
            raise InputError(f"the label {name!r} cannot be shown; give another name")
    return names
