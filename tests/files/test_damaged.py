"""Damaged files of every format: read all the same, or refused with an error of ours."""

import random
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from tests.examples import examples
from tests.files.files import IDS, WITH_IDS, WITHOUT_IDS
from tests.fuzz.mutants import archived, mutate, npy
from tests.refusals import raises

from complabel.answers import UnlistedLabelsWarning
from complabel.errors import ComplabelError, DatasetFormatError
from complabel.files import (
    UnmatchedItemsWarning,
    iterate_features,
    read_answers,
    read_features,
    read_label_names,
    read_shown,
    read_truth,
)

X = np.array([[0.5, -2, 0], [0, 3, 4], [5, 0, 0.25], [0, 7, 8], [9, 1, 2]])
ANSWERS = pd.DataFrame(
    {
        "answer_id": ["1", "1", "2", None, "3"],
        "item": ["a", "a", "a", "b", "b"],
        "label": ["sea", "sky", "sky", "sea", None],
        "answer": ["no", "yes", "no", "unsure", "yes"],
        "question": ["asked", "asked", "excluded", None, "named"],
        "offered": [None, None, None, None, '["sea", "sky"]'],
        "asked_for": [None, None, None, None, "2"],
        "annotator": ["ann", "ann", None, "bob", "cy"],
        "probability": ["0.5", "0.5", None, None, None],
    }
)
TRUTH = pd.DataFrame({"item": ["a", "b"], "sea": [0, 1], "sky": [1, 1]})


def features(path):
    read_features(path)
    for _ in iterate_features(path, n_rows=2):
        pass


def answers(path):
    read_answers(path, items=["b", "a"], contradictions="majority")
    read_answers(path, contradictions="drop")


PARTS = sparse.csr_array(X)
WHOLE = {"X": X, "items": np.array(IDS), "feature_names": np.array(["a", "b", "c"])}
SPARSE = {
    "data": PARTS.data,
    "indices": PARTS.indices,
    "indptr": PARTS.indptr,
    "shape": np.array(PARTS.shape),
    "format": np.array(b"csr"),
}
MEMBERS = {
    f"{member} of an npz": (npy(array), archived(member, arrays))
    for arrays in (WHOLE, SPARSE)
    for member, array in arrays.items()
}

KINDS = {
    **{
        name: (file, lambda path, write=write: write(path, X, IDS), features)
        for name, (file, write) in WITH_IDS.items()
    },
    **{
        name: (file, lambda path, write=write: write(path, X), features)
        for name, (file, write) in WITHOUT_IDS.items()
    },
    "csv without ids": (
        "X.csv",
        lambda path: path.write_text("a,b\n1,2.5\n-3,4e5\n"),
        lambda path: read_features(path, name_column=None),
    ),
    "answers csv": ("a.csv", lambda path: ANSWERS.to_csv(path, index=False), answers),
    "answers parquet": ("a.parquet", lambda path: ANSWERS.to_parquet(path), answers),
    "truth csv": ("t.csv", lambda path: TRUTH.to_csv(path, index=False), read_truth),
    "truth parquet": ("t.parquet", lambda path: TRUTH.to_parquet(path), read_truth),
    "labels": ("labels.txt", lambda path: path.write_text("sea\nsky\n"), read_label_names),
}


def read_mutants(name, folder, count, seed=16):
    """Read mutants of a file, or of a member of an archive; return how many were refused."""
    if name in MEMBERS:
        path, read = folder / "X.npz", features
        sound, pack = MEMBERS[name]
    else:
        file, write, read = KINDS[name]
        path, pack = folder / file, bytes
        write(path)
        sound = path.read_bytes()
    refused = 0
    for at in range(count):
        path.write_bytes(pack(mutate(random.Random(f"{seed}:{name}:{at}"), sound)))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UnmatchedItemsWarning)
                warnings.simplefilter("ignore", UnlistedLabelsWarning)
                read(path)
        except ComplabelError as error:
            refused += bool(str(error))
        except BaseException as error:
            raise AssertionError(f"mutant {at} of {name}: {error!r}") from error
    return refused


@pytest.mark.filterwarnings("ignore::complabel.answers.UnlistedLabelsWarning")
@pytest.mark.parametrize("name", [*KINDS, *MEMBERS])
def test_the_files_that_are_mutated_are_sound(name, tmp_path):
    if name in MEMBERS:
        sound, pack = MEMBERS[name]
        (tmp_path / "X.npz").write_bytes(pack(sound))
        features(tmp_path / "X.npz")
        return
    file, write, read = KINDS[name]
    write(tmp_path / file)
    read(tmp_path / file)


@pytest.mark.parametrize("name", [*KINDS, *MEMBERS])
def test_mutants_are_read_or_cleanly_refused(name, tmp_path):
    count = examples(15).max_examples
    assert 0 < read_mutants(name, tmp_path, count) <= count


def test_a_small_parquet_file_of_many_rows_is_refused_unread(tmp_path):
    path = tmp_path / "X.parquet"
    pq.write_table(pa.table({"item": pa.nulls(2**28 + 1)}), path)  # 460 kB
    with raises(ComplabelError, "268,435,457"):
        read_features(path)


def test_a_sheet_is_told_by_the_rows_that_a_spreadsheet_shows(tmp_path):
    """Cells with several lines, and rows without a cell, move no row."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["item", "text"], ["a", "one\ntwo\n"], [None, None], ["b", "x"], ["a", "y"]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    with raises(DatasetFormatError, "row 2", "row 5"):
        read_shown(tmp_path / "t.xlsx")
