import pytest

from complabel.paper import published_cells


@pytest.mark.parametrize("name", ["table2", "table3"])
def test_tables_are_complete(name):
    table = published_cells(name)
    datasets, _, methods, metrics = (set(column) for column in zip(*table, strict=True))
    assert len(datasets) == 8
    assert len(methods) == 7
    assert metrics == {
        "hamming_loss", "ranking_loss", "one_error", "coverage", "average_precision",
    }  # fmt: skip
    assert len(table) == len(datasets) * len(methods) * len(metrics)
    assert all(0 <= cell.mean <= 1 and 0 <= cell.std < 0.2 for cell in table.values())


def test_other_names_have_no_table():
    assert not published_cells("synthetic")


def test_tables_cannot_be_changed():
    with pytest.raises(TypeError):
        published_cells("table2")["yeast", "uniform", "MLCL", "coverage"] = None
