"""All formats, in the order in which a file is tried for them."""

from complabel.importers._format import Format
from complabel.importers._open_images import OPEN_IMAGES

FORMATS: tuple[Format, ...] = (OPEN_IMAGES,)
"""The formats that :func:`import_answers` knows; the first that recognizes a file reads it."""
