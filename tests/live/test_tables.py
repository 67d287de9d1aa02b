"""What becomes of a table of answers that people edit before it is written again."""

from __future__ import annotations

import csv
import io
from types import SimpleNamespace

import pandas as pd
import pytest

from complabel.answers import COLUMNS
from complabel.live._tables import AnswerTable, write_table

ANSWERS = {
    "answer_id": ["1", "3", "5", "known 7", None],
    "item": ["a.jpg", "ä, b", "c", "d", "d"],
    "label": ["sea", "sky", None, "sea", "sea"],
    "answer": ["yes", "no", "unsure", "yes", "yes"],
    "question": ["asked", "ticked", "asked", "asked", "asked"],
    "offered": [None, '["sky", "sea"]', None, None, None],
    "asked_for": [None, 2, None, None, None],
    "annotator": ["ann", "ben", "ann", "eve", "eve"],
    "time": [f"2026-01-0{day}T00:00:00+00:00" for day in (1, 2, 3, 9, 9)],
    "probability": [0.1 + 0.2, 1 / 3, None, 0.5, 0.5],
    "drawn": ["random", "random", "", None, None],
    "seconds": [0.1 + 0.2, 2.0, 1 / 3, None, None],
}
SPELLED_OUT = {
    "offered": [each or '["sea"]' for each in ANSWERS["offered"]],
    "probability": [1.0] * 5,
}


class _Sitting:
    """Writes to a folder what people answered; starts again for each table, or goes on."""

    def __init__(self, folder, ending=".csv", taken_back=()):
        self.path = folder / f"answers{ending}"
        self.store = SimpleNamespace(
            path="S", taken_back=lambda: {*taken_back}, renamed={}, has_merged=False
        )
        self.file = AnswerTable(self.path)

    def write(self, answers=ANSWERS):
        self.file.write(answers, self.store)
        return len([*self.path.parent.glob("answers.kept-*")])


def _records(path):
    with path.open(newline="", encoding="utf-8-sig") as file:
        return [*csv.DictReader(file)]


def _resave(path, records, **style):
    """Save a table as another program does."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [*records[0]], lineterminator="\r\n", **style)
    writer.writeheader()
    writer.writerows(records)
    path.write_bytes("\ufeff".encode() + out.getvalue().encode())


def _fewer(n):
    return {name: values[:n] for name, values in ANSWERS.items()}


@pytest.mark.parametrize("again", [True, False], ids=["next start", "same start"])
@pytest.mark.parametrize("column", [name for name in COLUMNS if name != "probability"])
def test_any_cell_that_somebody_edits_is_noticed_once(tmp_path, caplog, column, again):
    sitting = _Sitting(tmp_path)
    assert sitting.write() == 0
    records = _records(sitting.path)
    records[1][column] = "9"
    _resave(sitting.path, records)
    edited = sitting.path.read_bytes()
    if again:
        sitting.file = AnswerTable(sitting.path)
    assert [sitting.write() for _ in range(3)] == [1, 1, 1]
    assert (tmp_path / "answers.kept-1.csv").read_bytes() == edited
    assert caplog.text.count("answers.kept-1.csv") == 1
    assert _records(sitting.path)[1][column] != "9"


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
@pytest.mark.parametrize(
    ("old", "new", "taken_back", "is_kept"),
    [
        (ANSWERS, ANSWERS, "", False),
        (_fewer(2), ANSWERS, "", False),  # the server was killed before it wrote them
        (ANSWERS, _fewer(2), "", True),
        (_fewer(3), _fewer(2), "5", False),
        (ANSWERS, ANSWERS | SPELLED_OUT, "", False),
        ({name: values[1:] for name, values in ANSWERS.items()}, ANSWERS, "", True),
    ],
    ids=["same", "fewer", "lost", "taken back", "a label was added", "deleted"],
)
def test_a_table_is_kept_if_something_of_it_would_be_lost(
    tmp_path, ending, old, new, taken_back, is_kept
):
    sitting = _Sitting(tmp_path, ending, taken_back)
    write_table(sitting.path, old, {})
    content = sitting.path.read_bytes()
    assert sitting.write(new) == is_kept
    if is_kept:
        assert (tmp_path / f"answers.kept-1{ending}").read_bytes() == content


def test_what_spreadsheets_do_to_a_table_is_no_edit_and_own_columns_stay(tmp_path):
    sitting = _Sitting(tmp_path)
    write_table(sitting.path, _fewer(4), {})
    records = [{"mine": f"note {at}", **each} for at, each in enumerate(_records(sitting.path))]
    for each in records:  # spreadsheets keep 15 digits
        for name in ("seconds", "probability"):
            each[name] = each[name] and f"{float(each[name]):.15g}"
    german = [{k: v.replace("0.3", "0,3") for k, v in each.items()} for each in records]
    blank = dict.fromkeys(records[0], "")
    for saved, style in (
        ([*reversed(records), blank], {"quoting": csv.QUOTE_ALL}),
        (german, {"delimiter": ";"}),
    ):
        _resave(sitting.path, saved, **style)
        assert sitting.write() == 0
        notes = {each["answer_id"]: each["mine"] for each in _records(sitting.path)}
        assert notes == {"1": "note 0", "3": "note 1", "5": "note 2", "known 7": "note 3", "": ""}
    assert sitting.write() == 0
    assert _records(sitting.path)[0]["mine"] == "note 0"
    sitting.store.taken_back = lambda: {"5"}  # its note would be lost
    sitting.file = AnswerTable(sitting.path)
    assert sitting.write(_fewer(2)) == 1


def test_own_columns_of_parquet_stay(tmp_path):
    sitting = _Sitting(tmp_path, ".parquet")
    sitting.write()
    pd.read_parquet(sitting.path).assign(mine=range(5)).to_parquet(sitting.path)
    assert sitting.write() == 0
    assert pd.read_parquet(sitting.path)["mine"].tolist() == ["0", "1", "2", "3", "4"]


def test_what_is_no_table_of_answers_is_kept(tmp_path):
    sitting = _Sitting(tmp_path)
    sitting.path.write_text("mine")
    assert sitting.write() == 1
    assert (tmp_path / "answers.kept-1.csv").read_text() == "mine"
