"""Files of answers, features, true labels and predictions, with the names of items and labels.

Every table of answers has the same columns, :data:`COLUMNS`; importers make such tables from the
files of other tools.
"""

from complabel.tables._columns import COLUMNS
from complabel.tables._features import Features, iterate_features, read_features
from complabel.tables._names import read_label_names, rows_of
from complabel.tables._predictions import PredictionWriter
from complabel.tables._read_answers import AnswerFile, UnmatchedItemsWarning, read_answers
from complabel.tables._read_predictions import Predictions, read_predictions
from complabel.tables._texts import read_item_names, read_texts
from complabel.tables._truth import Truth, read_truth
from complabel.tables._write_answers import AnswerWriter, answers_to_arrow

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
