"""Files of answers, features, true labels and predictions, with the names of items and labels.

Every table of answers has the same columns, :data:`COLUMNS`; importers make such tables from the
files of other tools.
"""

from complabel.answers import COLUMNS
from complabel.files._answers import AnswerFile as AnswerFile
from complabel.files._answers import AnswerSheet as AnswerSheet
from complabel.files._answers import UnmatchedItemsWarning, read_answers
from complabel.files._answers import about_open_questions as about_open_questions
from complabel.files._answers import read_judgments as read_judgments
from complabel.files._answers import read_quietly as read_quietly
from complabel.files._answers import read_unsure as read_unsure
from complabel.files._arrays import CSR_PARTS as CSR_PARTS
from complabel.files._arrays import as_texts as as_texts
from complabel.files._arrays import matrix_of as matrix_of
from complabel.files._arrays import read_arrays as read_arrays
from complabel.files._arrays import read_svmlight_parts as read_svmlight_parts
from complabel.files._cells import Cell as Cell
from complabel.files._cells import Cells as Cells
from complabel.files._cells import combined as combined
from complabel.files._cells import may_mean_none as may_mean_none
from complabel.files._cells import none_or_label as none_or_label
from complabel.files._cells import word_of as word_of
from complabel.files._columns import OWN_COLUMNS as OWN_COLUMNS
from complabel.files._columns import TO_DO as TO_DO
from complabel.files._columns import left_over as left_over
from complabel.files._columns import meaning_of as meaning_of
from complabel.files._features import MADE_OF_KEY as MADE_OF_KEY
from complabel.files._features import NETWORK_KEY as NETWORK_KEY
from complabel.files._features import RECIPE_KEY as RECIPE_KEY
from complabel.files._features import SVMLIGHT as SVMLIGHT
from complabel.files._features import Features as Features
from complabel.files._features import framed as framed
from complabel.files._features import iterate_features as iterate_features
from complabel.files._features import read_features, read_row_names, read_truth
from complabel.files._names import HEIC as HEIC
from complabel.files._names import PICTURES as PICTURES
from complabel.files._names import READ_PICTURES as READ_PICTURES
from complabel.files._names import SHOWN as SHOWN
from complabel.files._names import PictureFolder as PictureFolder
from complabel.files._names import has_shown as has_shown
from complabel.files._names import may_show as may_show
from complabel.files._names import read_folder as read_folder
from complabel.files._names import read_item_names as read_item_names
from complabel.files._names import read_label_names, read_shown
from complabel.files._names import rows_of as rows_of
from complabel.files._names import shown_pictures as shown_pictures
from complabel.files._names import to_install as to_install
from complabel.files._table import ITEM_TABLES as ITEM_TABLES
from complabel.files._table import Table as Table
from complabel.files._table import about_row_numbers as about_row_numbers
from complabel.files._table import delimiter_of as delimiter_of
from complabel.files._table import is_list as is_list
from complabel.files._table import pyarrow as pyarrow
from complabel.files._table import refuse_repeated as refuse_repeated
from complabel.files._table import separator_line as separator_line
from complabel.files._table import some_of as some_of
from complabel.files._write import CONFIDENCE as CONFIDENCE
from complabel.files._write import AnswerWriter
from complabel.files._write import FormulaWarning as FormulaWarning
from complabel.files._write import PredictionWriter as PredictionWriter
from complabel.files._write import answers_to_arrow as answers_to_arrow

__all__ = [
    "COLUMNS",
    "AnswerWriter",
    "UnmatchedItemsWarning",
    "read_answers",
    "read_features",
    "read_label_names",
    "read_row_names",
    "read_shown",
    "read_truth",
]
