import json

import pytest

from complabel.errors import InputError
from complabel.metrics import METRIC_NAMES
from complabel.studies import compare_with_published, comparison_markdown, read_results


def record(method="mlcl", dataset="yeast", labels="uniform", value=0.5):
    return {
        "dataset": dataset,
        "labels": labels,
        "method": method,
        "metrics": {name: {"mean": value, "std": 0.01, "folds": []} for name in METRIC_NAMES},
    }


def by_metric(cells):
    return {cell.metric: cell for cell in cells}


def test_cells_are_held_against_the_printed_ones():
    cells = by_metric(compare_with_published([record()]))
    assert cells["average_precision"].published.mean == 0.718
    assert cells["ranking_loss"].published.mean == 0.211
    # MLCL's published Hamming loss comes from the min-max rule.
    assert cells["hamming_loss_minmax"].published.mean == 0.235
    assert cells["hamming_loss"].published is None


def test_biased_labels_have_a_table_of_their_own():
    cells = by_metric(compare_with_published([record(labels="biased")]))
    assert cells["ranking_loss"].published.mean == 0.199


def test_advantage_is_positive_where_ours_is_better():
    cells = by_metric(compare_with_published([record(value=0.5)]))
    assert cells["average_precision"].advantage == pytest.approx((0.5 - 0.718) / 0.019)
    assert cells["coverage"].advantage == pytest.approx((0.525 - 0.5) / 0.021)


def test_methods_and_datasets_the_paper_lacks_have_no_published_cell():
    for own in (record(method="prior"), record(dataset="digits")):
        assert all(cell.published is None for cell in compare_with_published([own]))


def test_markdown_marks_what_is_far_away():
    text = comparison_markdown(compare_with_published([record(value=0.5)]))
    assert "**yeast, uniform labels**" in text
    assert "0.500±0.010<br>(0.718±0.019) ▼" in text
    assert "0.500±0.010<br>(0.525±0.021) |" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows} == {8}


def test_markdown_marks_references():
    assert "| Supervised † |" in comparison_markdown(
        compare_with_published([record(method="supervised")])
    )


def test_results_are_read_back(tmp_path):
    path = tmp_path / "results.json"
    path.write_text(json.dumps([record(), record(method="prior")]))
    assert [r["method"] for r in read_results([path, path])] == ["mlcl", "prior"] * 2


@pytest.mark.parametrize("content", ["{", "[1]", '{"a": 1}', '[{"metrics": 3}]'])
def test_files_that_hold_something_else_are_refused(tmp_path, content):
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"other\.json cannot be read as results"):
        read_results([path])


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read as results"):
        read_results([tmp_path / "absent.json"])
