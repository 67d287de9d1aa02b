"""Files of answers, features, true labels and predictions, with the names of items and labels.

Every table of answers has the same columns, :data:`COLUMNS`; importers make such tables from the
files of other tools.
"""

from complabel.files._columns import COLUMNS
from complabel.files._features import Features, iterate_features, read_features
from complabel.files._names import read_label_names, rows_of
from complabel.files._predictions import PredictionWriter
from complabel.files._read_answers import AnswerFile, UnmatchedItemsWarning, read_answers
from complabel.files._read_predictions import Predictions, read_predictions
from complabel.files._texts import read_item_names, read_texts
from complabel.files._truth import Truth, read_truth
from complabel.files._write_answers import AnswerWriter, answers_to_arrow

__all__ = [
    "COLUMNS",
    "AnswerFile",
    "AnswerWriter",
    "Features",
    "PredictionWriter",
    "Predictions",
    "Truth",
    "UnmatchedItemsWarning",
    "answers_to_arrow",
    "iterate_features",
    "read_answers",
    "read_features",
    "read_item_names",
    "read_label_names",
    "read_predictions",
    "read_texts",
    "read_truth",
    "rows_of",
]
