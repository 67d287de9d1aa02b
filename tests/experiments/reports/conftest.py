import pytest
from tests.experiments.reports.small import make_plan, make_results
from tests.reports.conftest import without_charts as without_charts

from complabel.experiments.reports import render_report, summarize_study


@pytest.fixture(scope="session")
def results():
    return make_results(make_plan())


@pytest.fixture(scope="session")
def summary(results):
    return summarize_study(results)


@pytest.fixture(scope="session")
def pages(results):
    """The page of a study, as tests of all pages take it."""
    return {"report": render_report(results)}
