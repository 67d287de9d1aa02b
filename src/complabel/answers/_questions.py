"""The words for questions, and for what annotators do if all offered labels apply."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Question: TypeAlias = Literal["named", "asked", "ticked", "excluded"]
"""The question that an answer belongs to."""

QUESTIONS: tuple[Question, ...] = get_args(Question)
"""All questions that an answer can belong to; :class:`Answers` says what each means."""

AllApply: TypeAlias = Literal["answer", "skip", "pick", "never"]
"""What an annotator who should name a label does if all offered labels apply."""

ALL_APPLY: tuple[AllApply, ...] = get_args(AllApply)
"""All such words. If all offered labels apply, the annotator says so ("answer"), does not answer
("skip"), or names one of them anyway ("pick"). "never" means that this does not happen."""

ANSWER_WORDS: dict[str, str] = {
    **dict.fromkeys(("yes", "y", "true", "1"), "yes"),
    **dict.fromkeys(("no", "n", "false", "0"), "no"),
    **dict.fromkeys(("unsure", "?", "skip"), "unsure"),
}
"""What may stand in the column ``answer`` of a table, in lower case, and the answer that it means.
"""
