"""Read files of annotation tools and public datasets into the neutral table of answers."""

from complabel.importers._batches import write_failed
from complabel.importers._format import Format as Format
from complabel.importers._format import Head as Head
from complabel.importers._format import Options
from complabel.importers._format import Tally as Tally
from complabel.importers._import import FORMATS as FORMATS
from complabel.importers._import import detect as detect
from complabel.importers._import import import_answers, import_file
from complabel.importers._write_questions import TOOLS as TOOLS
from complabel.importers._write_questions import Control as Control
from complabel.importers._write_questions import FormError as FormError
from complabel.importers._write_questions import control_of as control_of
from complabel.importers._write_questions import label_studio_config, write_questions

__all__ = [
    "Options",
    "import_answers",
    "import_file",
    "label_studio_config",
    "write_failed",
    "write_questions",
]
