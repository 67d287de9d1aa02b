"""Features of texts and pictures: a row of numbers for each item.

Nothing is learned here. So the name of a model and a few words, the recipe, say how to make the
same features of new items.
"""

from complabel.features._encoder import Encoder as Encoder
from complabel.features._encoder import model_of as model_of
from complabel.features._lite0 import NetworkWarning
from complabel.features._make import ENDINGS as ENDINGS
from complabel.features._make import Made as Made
from complabel.features._make import Source as Source
from complabel.features._make import advice as advice
from complabel.features._make import encoder_for as encoder_for
from complabel.features._make import encoder_of as encoder_of
from complabel.features._make import make_features as make_features
from complabel.features._make import open_source as open_source
from complabel.features._pictures import MOST_PIXELS as MOST_PIXELS
from complabel.features._pictures import PICTURE_MODELS as PICTURE_MODELS
from complabel.features._pictures import as_png as as_png
from complabel.features._pictures import load_picture as load_picture
from complabel.features._pictures import picture_features
from complabel.features._texts import TEXT_MODELS as TEXT_MODELS
from complabel.features._texts import beyond_default as beyond_default
from complabel.features._texts import text_features

__all__ = ["NetworkWarning", "picture_features", "text_features"]
