"""The words for questions, and for what happens where all labels on offer apply."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Question: TypeAlias = Literal["named", "asked", "ticked", "excluded"]
"""What an answer answers."""

QUESTIONS: tuple[Question, ...] = get_args(Question)
"""All questions that an answer can belong to; :class:`Answers` says what each means."""

AllApply: TypeAlias = Literal["answer", "skip", "pick", "never"]
"""What somebody does who is to name a label where all on offer apply."""

ALL_APPLY: tuple[AllApply, ...] = get_args(AllApply)
"""Where all on offer apply: say so, do not answer, name one all the same; or it is never so."""
