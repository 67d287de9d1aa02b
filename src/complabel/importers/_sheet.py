"""Read the sheet of a spreadsheet file."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

from complabel.errors import DatasetFormatError, InputError

_LARGEST = 1 << 30  # bytes of all unpacked parts, so that a damaged file cannot fill the memory


def sheet_as_csv(path: Path) -> str:
    """Return the only sheet of an ``.xlsx`` file that is not empty, as CSV; a row is a line."""
    try:
        import openpyxl  # type: ignore[import-untyped]  # noqa: F401
        import pandas as pd  # type: ignore[import-untyped]
    except ImportError as cause:
        raise InputError(
            f"{path}: reading .xlsx needs pandas and openpyxl; install them with: pip install"
            ' "complabel[tables]", or save the sheet as CSV'
        ) from cause
    try:
        with zipfile.ZipFile(path) as parts:
            size = sum(part.file_size for part in parts.infolist())
        if size > _LARGEST:
            raise DatasetFormatError(
                f"{path}: unpacks to more than {_LARGEST:,} bytes; save the sheet as CSV"
            )
        # As text, so that 007 stays 007; without a header, so that no name is changed.
        found = pd.read_excel(
            path, sheet_name=None, header=None, dtype=str, keep_default_na=False, engine="openpyxl"
        )
    except DatasetFormatError:
        raise
    except Exception as cause:  # openpyxl raises many types of exceptions
        told = " ".join(str(cause).split())[:200] or type(cause).__name__
        raise DatasetFormatError(
            f"{path}: is not an .xlsx file, or damaged ({told}); save it again, or as CSV"
        ) from cause
    sheets = {name: sheet for name, sheet in found.items() if (sheet != "").to_numpy().any()}
    if len(sheets) > 1:
        raise DatasetFormatError(
            f"{path}: has {len(sheets)} sheets with content, {', '.join(map(repr, sheets))}; keep"
            " one of them, or save one as CSV"
        )
    out = io.StringIO()
    for sheet in sheets.values():
        csv.writer(out, lineterminator="\n").writerows(sheet.to_numpy().tolist())
    return out.getvalue()
