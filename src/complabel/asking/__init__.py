"""Which questions to ask people next."""

from complabel.asking._questions import suggest_questions

__all__ = ["suggest_questions"]
