"""What tests of tabular importers share."""

import warnings

import pandas as pd

from complabel.answers import Answers, UnlistedLabelsWarning
from complabel.files import COLUMNS
from complabel.importers import Options, import_answers, import_file


def imported(path, content, format_=None, **options):
    """Write a file, import it in both ways, and return its rows and the tally.

    A row is a dict of what is filled. Both ways must agree, and answers must come of the table.
    """
    if isinstance(content, str):
        content = content.encode()
    if content is not None:
        path.write_bytes(content)
    table, tally = import_answers(path, format=format_, options=Options(**options))
    assert list(table) == list(COLUMNS)
    out = path.with_name("out.parquet")
    again = import_file(path, out, format=format_, options=Options(**options))
    assert (again.counts, again.remarks) == (tally.counts, tally.remarks)
    assert list(again.label_names) == list(tally.label_names)
    pd.testing.assert_frame_equal(table, pd.read_parquet(out), check_dtype=False)
    names = list(tally.label_names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnlistedLabelsWarning)
        answers = Answers.from_table(table, labels=names or None, contradictions="keep")
    assert answers.n_items == table["item"].nunique()
    return [filled(row) for row in table.to_dict("records")], tally


def filled(row):
    return {name: value for name, value in row.items() if value is not None and value == value}
