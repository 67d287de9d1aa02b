"""All formats, in the order in which a file is tried for them."""

from complabel.importers._argilla import ARGILLA
from complabel.importers._format import Format
from complabel.importers._label_studio import LABEL_STUDIO
from complabel.importers._lvis import LVIS
from complabel.importers._prodigy import PRODIGY

FORMATS: tuple[Format, ...] = (LABEL_STUDIO, PRODIGY, ARGILLA, LVIS)
"""The formats that :func:`import_answers` knows; the first that recognizes a file reads it."""
