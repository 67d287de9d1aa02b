"""The short way to give answers: a mask (n, K) for each kind holds one answer of it per row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from complabel.answers import (
    Answers,
    check_indicator,
    check_known,
    check_label_names,
    label_names_of,
)
from complabel.errors import AnnotationError, InputError
from complabel.methods._classes import is_single

if TYPE_CHECKING:
    from complabel.methods._arrays import Indicator


def read_answers(y: Any, *, relevant: Any, **masks: Any) -> Answers | None:
    """Return ``y`` if it is Answers, else the answers in the masks; None if there are no masks."""
    given = {name: mask for name, mask in masks.items() if mask is not None}
    if isinstance(y, Answers):
        beside = [*given, *([] if relevant is None else ["relevant"])]
        if beside:
            raise InputError(
                f"y is Answers, but {' and '.join(beside)} is given, too; convert that to Answers"
                " and pass Answers.concatenate of both"
            )
        return y
    if not given:
        return None
    if "offered" in given and y is None:
        raise InputError(
            "offered is given, but y is not; give an indicator of the labels that were named as y"
        )
    if y is not None and is_single(y):
        raise InputError(
            f"y holds one class per row, but {' and '.join(given)} is given, too; give y as an"
            " indicator, for example by indicator_from_names"
        )
    everything = {"y": y, **given, "relevant": relevant}
    return _answers_of({name: mask for name, mask in everything.items() if mask is not None})


def refuse_for_reference(answers: Answers | None, relevant: Any) -> None:
    """Refuse arguments that a method which learns from true labels cannot use."""
    if relevant is not None:
        raise InputError("this reference method takes the relevant labels as y; leave out relevant")
    if answers is not None:
        raise InputError(
            "this reference method learns from true labels, not from answers; give an indicator"
            " of the labels that apply as y, and no masks"
        )


def _answers_of(given: dict[str, Any]) -> Answers:
    """Return up to three answers per row: the named, the judged and the excluded labels."""
    masks, names = _checked(given)
    nothing = np.zeros_like(next(iter(masks.values())))
    named, offered = masks.get("y", nothing), masks.get("offered", nothing)
    absent, relevant = masks.get("absent", nothing), masks.get("relevant", nothing)
    excluded, judged = masks.get("excluded", nothing), absent | relevant
    check_known(relevant, named | absent | excluded, names, name=next(iter(masks)))
    on_menu = np.asarray(offered.any(axis=1))
    _refuse_off_menu(named > offered, on_menu, names)
    parts: list[tuple[str, dict[str, Indicator]]] = [
        ("named", {"named": named, "offered": offered}),
        ("asked", {"absent": absent, "relevant": relevant, "offered": judged}),
        ("excluded", {"excluded": excluded}),
    ]
    answers = []
    for question, part in parts:
        rows = np.flatnonzero(np.any([mask.any(axis=1) for mask in part.values()], axis=0))
        if rows.size:
            found = Answers.from_arrays(
                **{name: mask[rows] for name, mask in part.items()},
                question=question,
                item=rows,
                # "All of these apply" is a possible answer only to a menu.
                all_apply=np.where(on_menu[rows], "answer", "never"),
                n_items=len(nothing),
                label_names=names,
            )
            answers.append(found)
    if not answers:
        found_in = " and ".join(masks)
        raise AnnotationError(f"no row has a mark in {found_in}; at least one row needs a mark")
    return Answers.concatenate(answers)


def _checked(given: dict[str, Any]) -> tuple[dict[str, Indicator], list[str] | None]:
    """Return the masks as indicators of one shape, and the column names if a mask has names."""
    masks: dict[str, Indicator] = {}
    names, named_by = None, ""
    for name, values in given.items():
        if names is None:
            names, named_by = label_names_of(values), name
        else:
            check_label_names(values, names, name=name, reference=named_by)
        masks[name] = check_indicator(values, name=name)
        first = next(iter(masks))
        if masks[name].shape != masks[first].shape:
            raise AnnotationError(
                f"{name} has shape {masks[name].shape}, but {first} has shape"
                f" {masks[first].shape}; both need one row per sample and one column per label"
            )
    return masks, names


def _refuse_off_menu(beyond: Any, on_menu: Any, names: list[str] | None) -> None:
    """Refuse labels that were named but are not on the row's menu."""
    beyond = beyond & on_menu[:, np.newaxis]
    if beyond.any():
        row, label = (int(at) for at in np.unravel_index(np.argmax(beyond), beyond.shape))
        raise AnnotationError(
            f"row {row} of y marks label {label if names is None else names[label]!r}, but the same"
            " row of offered does not; mark it there, or leave that row empty if all labels were"
            " on offer"
        )
