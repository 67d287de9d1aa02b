"""Multi-label classifiers learned from complementary labels."""

from typing import TYPE_CHECKING

from complabel._lazy import lazily, places_in

if TYPE_CHECKING:
    from complabel.answers import Answers
    from complabel.asking import inspect_answers, suggest_questions
    from complabel.methods import SelectionLikelihoodClassifier, load
    from complabel.simulate import draw_answers

__all__ = [
    "Answers",
    "SelectionLikelihoodClassifier",
    "__version__",
    "draw_answers",
    "inspect_answers",
    "load",
    "suggest_questions",
]
__version__ = "0.1.0"
_PLACES = places_in(
    __name__,
    {
        "answers": "Answers",
        "asking": "inspect_answers suggest_questions",
        "methods": "SelectionLikelihoodClassifier load",
        "simulate": "draw_answers",
    },
)
__getattr__, __dir__ = lazily(__name__, _PLACES)
