"""Turn the choices that one person made in a form into answers.

A form may have several controls: one for labels that do not apply, one for labels that do. No
export says which is which, so the user must say it.

Choices in both controls of a form become one answer: "named", with relevant labels. The choice
among the labels that do not apply is the naming; the labels that apply are additional knowledge.
In the likelihood, two separate answers about the item would give the same product. But a mistake of
the annotator concerns the whole form, and answers are counted, weighted and held out one by one.

If somebody chooses one label in both controls, the form becomes two answers. Then this is a
contradiction between answers, which the policy for contradictions resolves. In one answer, it
would make the whole file unreadable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from complabel.errors import DatasetFormatError
from complabel.importers._format import Options, Tally
from complabel.importers._json import shown
from complabel.importers._rows import Row, as_json


@dataclass(frozen=True)
class Controls:
    """Which controls hold labels that do not apply, and which hold labels that do."""

    absent: tuple[str, ...]
    present: tuple[str, ...]


@dataclass(frozen=True)
class Form:
    """The choices of one person about one item, by control, and the fields of the task."""

    place: str
    answer_id: str
    item: str
    chosen: Mapping[str, list[str]]
    menu: tuple[str, ...] | None = None
    annotator: str | None = None
    time: str | None = None
    probability: float | None = None
    task: Mapping[str, Any] = field(default_factory=dict)


def settle(
    found: Mapping[str, int],
    options: Options,
    tally: Tally,
    path: Path,
    asked: str | None = None,
    *,
    word: str = "control",
) -> Controls:
    """Decide which controls hold labels that do not apply, and which hold labels that do.

    ``found`` has the number of uses of each control; ``asked`` is one that holds no labels.
    """
    listed = ", ".join(f"{shown(name)} (used {count:,} times)" for name, count in found.items())
    both = [name for name in options.absent if name in options.present]
    if both:
        raise DatasetFormatError(
            f"{path}: {word} {shown(both[0])} is given with --absent and with --present; give it"
            " with only one of them"
        )
    for name in (*options.absent, *options.present):
        if name not in found:
            raise DatasetFormatError(
                f"{path} has no choice in a {word} {shown(name)}; it has {listed or 'none at all'}"
            )
    if not found:
        raise DatasetFormatError(
            f"{path} has no choice in any {word}: nothing was chosen, or everything was cancelled;"
            " export annotated items"
        )
    if options.absent or options.present:
        read = (*options.absent, *options.present, asked)
        unread = [shown(name) for name in found if name not in read]
        if unread:
            tally.remark(
                f"Not read: {word} {', '.join(unread)}. Give --absent or --present to read more."
            )
        return Controls(options.absent, options.present)
    if len(found) > 1:
        raise DatasetFormatError(
            f"{path} has several {word}s: {listed}; say what they mean: --absent {word.upper()} for"
            f" labels that do not apply, --present {word.upper()} for labels that do"
        )
    only = next(iter(found))
    tally.remark(
        f"The only {word}, {shown(only)}, is read as labels that do not apply. Give --present"
        f" {only!r} if they apply, or --absent {only!r} to confirm that they do not."
    )
    return Controls((only,), ())


def rows_of(form: Form, controls: Controls, options: Options, tally: Tally) -> list[Row]:
    """Return the rows of a form; no rows if nothing was chosen in the controls that are read."""
    absent = _chosen(form, controls.absent)
    present = _chosen(form, controls.present)
    # The menu may belong to one control only, so labels that apply need not be on it.
    _check_menu(form, absent + present if options.unselected == "no" else absent)
    if set(absent) & set(present):
        return [
            *_answer(form, "-absent", absent, [], options, tally),
            *_answer(form, "-present", [], present, options, tally),
        ]
    return list(_answer(form, "", absent, present, options, tally))


def _chosen(form: Form, names: tuple[str, ...]) -> list[str]:
    """Return the labels that were chosen in these controls, each once."""
    return list(dict.fromkeys(label for name in names for label in form.chosen.get(name, ())))


def _check_menu(form: Form, labels: list[str]) -> None:
    """Refuse chosen labels that the menu does not offer."""
    for label in labels:
        if form.menu is not None and label not in form.menu:
            raise DatasetFormatError(
                f"{form.place}: {shown(label)} was chosen, but the task's options do not offer it;"
                " correct the options, or rename the field if it is not a menu"
            )


def _answer(
    form: Form, suffix: str, absent: list[str], present: list[str], options: Options, tally: Tally
) -> Iterator[Row]:
    """Yield the rows of one answer."""
    question, unchosen = options.question or "named", []
    if present and options.unselected == "no":  # every label that was shown was judged
        offered = form.menu or options.label_names
        if offered is None:
            raise DatasetFormatError(
                f"{form.place}: --unselected no needs all labels that were shown, but the export"
                " does not list them; give --label-names"
            )
        taken = {*absent, *present}
        question, unchosen = "ticked", [label for label in offered if label not in taken]
    elif options.question == "ticked" and suffix != "-present":
        question = "ticked"
    elif not absent or (form.menu is not None and len(form.menu) == 1):
        question = "asked"  # a menu of one label is a yes/no question
    if question != "asked" and form.menu is None and options.label_names is None:
        tally.remark(
            "The export does not list the labels on offer, so only labels that were chosen are"
            " known. Give all labels with --label-names."
        )
    menu = form.menu
    if menu is not None and question == "asked" and not {*absent, *present} <= set(menu):
        menu = None  # it belongs to another control
    by_choice = question == "asked" and not absent  # volunteered labels were not drawn at random
    for answer, labels in (("no", absent), ("yes", present), ("no", unchosen)):
        for label in labels:
            yield Row(
                answer_id=form.answer_id + suffix,
                item=form.item,
                label=label,
                answer=answer,
                question=question,
                offered=None if menu is None else as_json(menu),
                asked_for=len(absent) if question == "named" else None,
                annotator=form.annotator,
                time=form.time,
                probability=None if by_choice else form.probability,
            )
