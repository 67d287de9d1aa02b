import pytest

from complabel.experiments import paper
from complabel.experiments.methods import make_paper_classifier
from complabel.methods import METHODS
from complabel.metrics import METRICS


def test_every_printed_method_has_one_of_ours():
    ours = {paper.printed_name(name) for name in METHODS} - {""}
    assert ours == {row for _, _, row, _ in paper.published_cells("table2")}
    assert paper.printed_name("prior") == ""


@pytest.mark.parametrize("name", METHODS)
def test_criteria_are_held_against_printed_ones(name):
    criteria = paper.printed_criteria(name)
    assert set(criteria) <= set(METRICS)
    printed = {metric for *_, metric in paper.published_cells("table2")}
    assert set(criteria.values()) == printed


@pytest.mark.parametrize("dataset", ["yeast", "bookmark", "digits", ""])
@pytest.mark.parametrize("name", METHODS)
def test_settings_are_parameters_of_the_method(name, dataset):
    settings = paper.settings(name, dataset)
    assert settings.items() <= make_paper_classifier(name, dataset).get_params().items()
    if dataset not in ("yeast", "bookmark"):
        assert settings == {}


@pytest.mark.parametrize("name", paper.PLANS)
def test_every_plan_has_its_name(name):
    assert f'name = "{name}"' in paper.plan_text(name)


@pytest.mark.parametrize("name", ["table2", "table3"])
def test_tables_are_complete(name):
    table = paper.published_cells(name)
    datasets, _, methods, metrics = (set(column) for column in zip(*table, strict=True))
    assert len(datasets) == 8
    assert len(methods) == 7
    assert metrics == {
        "hamming_loss", "ranking_loss", "one_error", "coverage", "average_precision",
    }  # fmt: skip
    assert len(table) == len(datasets) * len(methods) * len(metrics)
    assert all(0 <= cell.mean <= 1 and 0 <= cell.std < 0.2 for cell in table.values())


def test_other_names_have_no_table():
    assert not paper.published_cells("synthetic")


def test_tables_cannot_be_changed():
    with pytest.raises(TypeError):
        paper.published_cells("table2")["yeast", "uniform", "MLCL", "coverage"] = None
