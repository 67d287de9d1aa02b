"""Servers for people and programs: questions in the browser, and predictions."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from complabel._lazy import lazily, places_in
from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel.live._annotation import MOST_BYTES as MOST_BYTES
    from complabel.live._annotation import Annotation as Annotation
    from complabel.live._annotation import as_before as as_before
    from complabel.live._annotation import has_learned as has_learned
    from complabel.live._annotation import usual_question as usual_question
    from complabel.live._learner import Learner as Learner
    from complabel.live._model import ModelFile as ModelFile
    from complabel.live._prediction import predicting as predicting
    from complabel.live._server import guarded as guarded
    from complabel.live._server import is_loopback as is_loopback
    from complabel.live._server import new_token as new_token
    from complabel.live._server import run as run
    from complabel.live._things import Things as Things
    from complabel.live._things import read_things as read_things
    from complabel.live._until import Until as Until

for _package in ("starlette", "uvicorn", "h11"):
    if find_spec(_package) is None:
        raise InputError(
            f"this needs the package {_package}, which is not installed; run pip install"
            ' "complabel[live]"'
        )

_PLACES = places_in(
    __name__,
    {
        "_annotation": "MOST_BYTES Annotation as_before has_learned usual_question",
        "_learner": "Learner",
        "_model": "ModelFile",
        "_prediction": "predicting",
        "_server": "guarded is_loopback new_token run",
        "_things": "Things read_things",
        "_until": "Until",
    },
)
__getattr__, __dir__ = lazily(__name__, _PLACES)
