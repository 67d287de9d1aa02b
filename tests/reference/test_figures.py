"""Every method's figures are those of the file: nothing shifts unseen."""

import json

import pytest
from tests.reference import figures

FROZEN = json.loads(figures.FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", figures.ROWS)
@pytest.mark.parametrize("dataset", figures.DATASETS)
def test_the_figures_are_those_of_the_file(dataset, name, request):
    data_dir = None if dataset == "digits" else request.getfixturevalue("data_dir")
    row = figures.ROWS[name]
    expected = pytest.approx(FROZEN[dataset][name], rel=row.relative, abs=row.absolute)
    computed = figures.compute(name, dataset, data_dir)
    assert {key: computed[key] for key in FROZEN[dataset][name]} == expected


def test_the_file_has_just_these_entries():
    assert {dataset: set(rows) for dataset, rows in FROZEN.items()} == {
        dataset: set(figures.ROWS) for dataset in figures.DATASETS
    }
