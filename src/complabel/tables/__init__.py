"""Files of answers, features, true labels and predictions, read and written by item and label name.

Every table of answers has the same columns, :data:`COLUMNS`; importers make it of other tools'
files.
"""

from complabel.tables._columns import COLUMNS
from complabel.tables._write_answers import AnswerWriter, answers_to_arrow

__all__ = ["COLUMNS", "AnswerWriter", "answers_to_arrow"]
