"""The short way to give answers: one mask (n, K) for each kind, one answer of each kind a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from complabel.annotations import (
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
    """Return ``y`` if it is answers, or those that masks hold; None where ``y`` is labels alone."""
    given = {name: mask for name, mask in masks.items() if mask is not None}
    if isinstance(y, Answers):
        beside = [*given, *([] if relevant is None else ["relevant"])]
        if beside:
            raise InputError(
                f"{' and '.join(beside)} came beside Answers: make Answers of that as well, and"
                " give Answers.concatenate of both"
            )
        return y
    if not given:
        return None
    if "offered" in given and y is None:
        raise InputError("offered came without y: give the labels named of those offered as y")
    if y is not None and is_single(y):
        raise InputError(
            f"y holds one class per row and {' and '.join(given)} came beside it: give y as an"
            " indicator, which indicator_from_names makes"
        )
    everything = {"y": y, **given, "relevant": relevant}
    return _answers_of({name: mask for name, mask in everything.items() if mask is not None})


def refuse_for_reference(answers: Answers | None, relevant: Any) -> None:
    """Refuse what a method that learns from true labels cannot take."""
    if relevant is not None:
        raise InputError("relevant is what y is for this reference method; leave it out")
    if answers is not None:
        raise InputError(
            "this reference method learns from true labels, not from answers: give an indicator"
            " of the labels that apply as y, and nothing beside"
        )


def _answers_of(given: dict[str, Any]) -> Answers:
    """Return an answer a row for what was named, one for what was judged, one for exclusions."""
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
                # Nobody says of a free naming that all labels apply; of a menu one can.
                all_apply=np.where(on_menu[rows], "answer", "never"),
                n_items=len(nothing),
                label_names=names,
            )
            answers.append(found)
    if not answers:
        found_in = " and ".join(masks)
        raise AnnotationError(f"no row has a mark in {found_in}; at least one needs some")
    return Answers.concatenate(answers)


def _checked(given: dict[str, Any]) -> tuple[dict[str, Indicator], list[str] | None]:
    """Return the masks as indicators of one shape, and the names of their columns if any has."""
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
                f"{name} has shape {masks[name].shape} but {first} {masks[first].shape}; both need"
                " one row per sample and one column per label"
            )
    return masks, names


def _refuse_off_menu(beyond: Any, on_menu: Any, names: list[str] | None) -> None:
    """Refuse labels that were named though others were offered."""
    beyond = beyond & on_menu[:, np.newaxis]
    if beyond.any():
        row, label = (int(at) for at in np.unravel_index(np.argmax(beyond), beyond.shape))
        raise AnnotationError(
            f"row {row} of y marks label {label if names is None else names[label]!r}, which"
            " offered does not hold; offer it, or empty the row of offered if all labels were"
        )
