"""All formats, in the order in which they are tried."""

from complabel.importers._argilla import ARGILLA
from complabel.importers._coded import CODED
from complabel.importers._columns import CELLS
from complabel.importers._format import Format
from complabel.importers._label_studio import LABEL_STUDIO
from complabel.importers._lvis import LVIS
from complabel.importers._open_images import OPEN_IMAGES
from complabel.importers._openmic import OPENMIC
from complabel.importers._pml import PML
from complabel.importers._prodigy import PRODIGY
from complabel.importers._replies import REPLIES
from complabel.importers._table import TABLE

# Questions may be answered in Label Studio, so its CSV is tried before the neutral table. Almost
# any CSV file can be a table of codes, so that is tried last.
FORMATS: tuple[Format, ...] = (
    REPLIES,
    PRODIGY,
    ARGILLA,
    LVIS,
    OPEN_IMAGES,
    PML,
    OPENMIC,
    LABEL_STUDIO,
    TABLE,
    CODED,
    CELLS,
)
"""The formats that :func:`import_answers` knows; the first that recognizes a file reads it."""
