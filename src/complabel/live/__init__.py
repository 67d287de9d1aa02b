"""Servers for people and programs: questions in the browser, and predictions."""

from complabel.live._model import ModelFile as ModelFile
from complabel.live._prediction import predicting as predicting
from complabel.live._server import guarded as guarded
from complabel.live._server import new_token as new_token
from complabel.live._server import run as run
