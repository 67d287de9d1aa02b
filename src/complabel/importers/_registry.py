"""All formats, in the order in which a file is tried for them."""

from complabel.importers._format import Format

FORMATS: tuple[Format, ...] = ()
"""The formats that :func:`import_answers` knows; the first that recognizes a file reads it."""
