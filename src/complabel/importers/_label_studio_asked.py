"""Read yes/no questions from Label Studio: each task names its label, people choose yes or no.

``label_studio_config(question="asked")`` writes this form, and ``complabel ask`` the questions. An
export does not say what a control means. But a control in which people chose only "yes", "no" and
the like asks about something, and a task with a field ``label`` says about what.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from complabel.answers import ANSWER_WORDS, QUESTIONS
from complabel.errors import DatasetFormatError
from complabel.importers._controls import Form
from complabel.importers._format import Options
from complabel.importers._json import list_of, parse, shown, text_of
from complabel.importers._rows import Row, as_json

LABEL = "label"
"""The field of a task with the label of its question."""
CONTROL = "answer"
"""The control in the form that ``label_studio_config`` writes."""
# A single letter or digit may well be the name of a label.
_WORDS = {word: answer for word, answer in ANSWER_WORDS.items() if len(word) > 1}


def _says_yes_or_no(values: Sequence[Any]) -> bool:
    """Return whether these values are such words; there must be at least one."""
    return bool(values) and all(isinstance(each, str) and _answer(each) for each in values)


def _answer(choice: str) -> str | None:
    """Return "yes", "no" or "unsure"; None if a choice is no such word."""
    return _WORDS.get(choice.strip().casefold())


def asked_control(forms: Sequence[Form], options: Options, path: Path) -> str | None:
    """Return the control with answers to the question about each task's label, if there is one.

    Choices such as "yes" are labels only if the user listed them as labels. If they are not, and
    tasks have no label or the control has other choices, too, the control is not understood.
    """
    chosen: dict[str, Counter[str]] = {}
    for form in forms:
        for name, labels in form.chosen.items():
            chosen.setdefault(name, Counter()).update(labels)
    listed = set(options.label_names or ())
    has_label = any(_field(form, LABEL) is not None for form in forms)
    found = []
    for name, counts in chosen.items():
        words = [word for word in counts if _answer(word) and word not in listed]
        if not words or not (has_label or len(words) == len(counts)):
            continue
        if len(words) < len(counts):
            others = [word for word in counts if word not in words]
            raise _unclear(path, name, words, f"and also {shown(others[0])}, which is no answer")
        if not has_label:
            raise _unclear(path, name, words, "but the tasks have no field 'label' to say about")
        if name in (*options.absent, *options.present):
            raise DatasetFormatError(
                f"{path}: control {shown(name)} answers a question about each task's label (people"
                f" chose {_some(words)}), so it holds no labels; leave out --absent and --present"
                " for it"
            )
        found.append(name)
    if len(found) > 1:
        raise DatasetFormatError(
            f"{path} has several controls with yes or no: {', '.join(map(shown, found))}; only one"
            " can be about the task's label. Export the annotations as JSON, which tells controls"
            " from the task's own fields; if there really are several, rename the choices of others"
        )
    return found[0] if found else None


def _unclear(path: Path, name: str, words: Sequence[str], why: str) -> DatasetFormatError:
    """Return the error about a control with "yes" or "no" that is not understood."""
    return DatasetFormatError(
        f"{path}: in control {shown(name)} people chose {_some(words)}, {why}; if it asks whether a"
        " label applies, give each task the field 'label', and the choices yes, no and unsure; if"
        " these words are names of labels, list all labels with --label-names"
    )


def _some(words: Sequence[str]) -> str:
    return ", ".join(map(shown, words[:3]))


def asked_row(form: Form, control: str, suffix: str, chance: float | None) -> Row | None:
    """Return the answer that a form gives in this control; None if there is none.

    ``chance`` is the probability of the question where the task does not say it.
    """
    words = {_answer(choice) for choice in form.chosen.get(control, ())}
    if not words:
        return None
    if len(words) > 1:
        raise DatasetFormatError(
            f"{form.place}: several answers were chosen in control {shown(control)}; keep one of"
            " them, and let people choose only one"
        )
    kind = _field(form, "question")
    kind = kind.strip().casefold() if isinstance(kind, str) else None
    if kind in QUESTIONS and kind != "asked":
        raise DatasetFormatError(
            f"{form.place}: the task's question is {shown(kind)}, but control {shown(control)}"
            " answers it by yes or no; show each task the form of its question"
        )
    probability = _probability(form)
    return Row(
        answer_id=form.answer_id + suffix,
        item=form.item,
        label=text_of(_field(form, LABEL), form.place, LABEL),
        answer=words.pop() or "",
        question="asked",
        offered=_offered(form),
        annotator=form.annotator,
        time=form.time,
        probability=chance if probability is None else probability,
    )


def labels_asked(forms: Sequence[Form]) -> set[str]:
    """Return the labels of all questions."""
    return {str(label) for form in forms if (label := _field(form, LABEL)) is not None}


def _field(form: Form, name: str) -> Any:
    """Return a field of the task's data; None if it is missing or blank."""
    value = form.task.get(name)
    return None if isinstance(value, str) and not value.strip() else value


def _probability(form: Form) -> float | None:
    """Return the chance with which the task's question was drawn."""
    value = _field(form, "probability")
    if value is None:
        return None
    try:
        chance = float(value.replace(",", ".") if isinstance(value, str) else value)
    except (TypeError, ValueError):
        chance = math.nan
    if isinstance(value, bool) or not 0 < chance <= 1:
        raise DatasetFormatError(
            f"{form.place}: probability is {shown(value)}; it must be above 0 and at most 1"
        )
    return chance


def _offered(form: Form) -> str | None:
    """Return the labels that the task offers, as JSON."""
    value = _field(form, "offered")
    if isinstance(value, str):
        value = parse(value, f"{form.place}: offered")
    if value is None or value == []:
        return None
    return as_json(tuple(text_of(each, form.place, "an entry of offered")
                         for each in list_of(value, form.place, "offered")))  # fmt: skip


def yes_no_fields(records: Sequence[Mapping[str, Any]], fields: Iterable[str]) -> list[str]:
    """Return the fields of flat records that hold only "yes", "no" and the like.

    A flat record does not tell the choice in a control from the task's data. If several fields hold
    such words, the control is the one with the name that ``label_studio_config`` gives it.
    """
    found = [
        name
        for name in fields
        if name != LABEL and _says_yes_or_no([r[name] for r in records if _told(r, name)])
    ]
    return [CONTROL] if CONTROL in found else found


def _told(record: Mapping[str, Any], name: str) -> bool:
    """Return whether the annotation of a flat record has something in a field."""
    return record.get("annotation_id") not in (None, "") and record.get(name) not in (None, "")
