"""Write questions as JSON lines that a language model or another tool can answer."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from complabel._writing import explained, replacing
from complabel.errors import InputError
from complabel.files import answers_to_arrow

ALL_APPLY = "all apply"
"""The reply if all offered labels apply."""

_COLUMNS = ("item", "label", "answer", "question", "offered", "asked_for", "probability")


def write_prompts(
    table: Any,
    path: str | os.PathLike[str],
    *,
    item_texts: Mapping[Any, str] | None = None,
    labels: Sequence[str] | None = None,
) -> int:
    """Write questions as JSON lines, one prompt on each; ``--from replies`` reads the replies.

    Parameters
    ----------
    table : pandas.DataFrame, or mapping of column names to columns
        Questions as :func:`complabel.asking.suggest_questions` returns them: ``item``, ``label``,
        ``answer``, ``question``, ``probability``. A row with the question "named" has ``offered``
        instead of a label, and may have ``asked_for``.
    path : path
        The file to write.
    item_texts : mapping of item to str, or None, default=None
        The text of each item, for the field ``text`` of its prompts.
    labels : sequence of str, or None, default=None
        All labels; they are offered by "named" questions without ``offered``.

    Returns
    -------
    int
        Number of prompts that need a reply.

    Raises
    ------
    InputError
        If the table has other kinds of questions, a question without labels, a "named" question
        that is already answered, or an item without a text.
    OutputError
        If the file cannot be written. What was there before is unchanged.

    Notes
    -----
    Return each line with an added field ``reply``, which is free text or JSON. The field
    ``annotator`` is optional. Keep the lines that already have a ``reply``: they are known answers
    that belong to the random sample.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "prompts.jsonl"
    >>> questions = {"item": [4], "label": ["dog"], "question": ["asked"], "probability": [0.5]}
    >>> write_prompts(questions, path, item_texts={4: "A puppy in the snow."})
    1
    >>> json.loads(path.read_text())["question"]
    "Does the label 'dog' apply to this item? Answer yes, no, or unsure."
    """
    prompts = list(_prompts(table, item_texts, labels))
    target = Path(path)
    with (
        explained(target),
        replacing(target) as partial,
        partial.open("w", encoding="utf-8") as out,
    ):
        for prompt in prompts:
            out.write(json.dumps(prompt, ensure_ascii=False) + "\n")
    return sum("reply" not in prompt for prompt in prompts)


def _prompts(
    table: Any, item_texts: Mapping[Any, str] | None, labels: Sequence[str] | None
) -> Iterator[dict[str, Any]]:
    there = [name for name in _COLUMNS if name in getattr(table, "columns", table)]
    rows = answers_to_arrow({name: table[name] for name in there}).select(_COLUMNS).to_pylist()
    texts = None if item_texts is None else {str(item): text for item, text in item_texts.items()}
    width = len(str(len(rows)))
    for number, row in enumerate(rows, 1):
        place = f"row {number} of the questions"
        prompt: dict[str, Any] = {"id": f"q{number:0{width}}", "item": row["item"]}
        if texts is not None:
            if row["item"] not in texts:
                raise InputError(f"{place}: there is no text for item {row['item']!r} (item_texts)")
            prompt["text"] = texts[row["item"]]
        kind = row["question"] or ("asked" if row["label"] else "named")
        if kind == "asked":
            prompt |= _asked(row, place)
        elif kind == "named":
            prompt |= _named(row, labels, place)
        else:
            raise InputError(
                f"{place}: question {kind!r} cannot become a prompt; give only asked and named"
            )
        if row["probability"] is not None:
            prompt["probability"] = row["probability"]
        yield prompt


def _asked(row: Mapping[str, Any], place: str) -> dict[str, Any]:
    if row["label"] is None:
        raise InputError(f"{place}: has no label; fill it in")
    known = {} if row["answer"] is None else {"reply": row["answer"]}
    return {
        "label": row["label"],
        "question": f"Does the label {row['label']!r} apply to this item? Answer yes, no, or "
        "unsure.",
        "answer_form": {"answer": "yes | no | unsure"},
        **known,
    }


def _named(row: Mapping[str, Any], labels: Sequence[str] | None, place: str) -> dict[str, Any]:
    if row["answer"] is not None or row["label"] is not None:
        raise InputError(
            f"{place}: a question to name labels is already answered; leave such rows out"
        )
    menu = list(labels or ()) if row["offered"] is None else json.loads(row["offered"])
    if len(menu) < 2:
        raise InputError(f"{place}: offers {len(menu)} labels; give offered, or labels=[...]")
    if ALL_APPLY in map(str.casefold, menu):
        raise InputError(
            f"{place}: a label is called {ALL_APPLY!r}, which is a fixed answer; rename the label"
        )
    wanted = row["asked_for"] or 1
    listed = ", ".join(map(repr, menu))
    if wanted == 1:
        question = f"Name one of these labels that does not apply to this item: {listed}."
        form: Any = f"<one of offered, or '{ALL_APPLY}'>"
    else:
        question = (
            f"Name {wanted} of these labels that do not apply to this item, fewer only if no "
            f"others do not apply: {listed}."
        )
        form = [f"<up to {wanted} of offered>", "..."]
    return {
        "question": f"{question} If all of them apply, say '{ALL_APPLY}'.",
        "offered": menu,
        **({} if wanted == 1 else {"asked_for": wanted}),
        "answer_form": {"named": form},
    }
