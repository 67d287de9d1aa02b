"""Write labelling configurations with which Label Studio asks the questions of complabel."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from complabel._parameters import check_choice
from complabel.errors import InputError

_ASKED = {
    "named": "Name one label that does not apply.",
    "ticked": "Tick every label that does not apply.",
    "both": "Name one label that does not apply. Then mark labels that apply, if you like.",
    "asked": "Does this label apply?",
}

_OBJECTS = {"image": "Image", "text": "Text", "audio": "Audio"}


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
        All labels; for the question "asked" none. For "ticked", none means the menu that each task
        has in its field ``options``, such as those that ``complabel ask --kind ticked`` writes.
    question : {"named", "ticked", "both", "asked"}, default="named"
        "named": name one label that does not apply, in the control ``not_this``. "ticked": tick all
        that do not apply, in ``not_this``. "both": name one in ``not_this``, and mark labels that
        apply in ``this``. "asked": yes, no or unsure about the label in the task's field
        ``label``; ``complabel ask`` writes such tasks. "ticked" without labels: tick all labels of
        the task that apply, in ``applies``.
    show : {"image", "text", "audio"}, default="image"
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
    menus = question == "ticked" and not len(label_names)
    names = [] if question == "asked" or menus else _checked(label_names)
    view = ElementTree.Element("View")
    ElementTree.SubElement(view, _OBJECTS[show], name="item", value=f"${field or show}")
    header = "Tick every label that applies." if menus else _ASKED[question]
    ElementTree.SubElement(view, "Header", value=header)
    if menus:
        _choices(view, "applies", "multiple", [], value="$options")
    elif question == "asked":
        ElementTree.SubElement(view, "Header", value="$label")
        _choices(view, "answer", "single", ["yes", "no", "unsure"])
    else:
        how = "multiple" if question == "ticked" else "single"
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
        ElementTree.SubElement(control, "Choice", value=value)


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
