import pytest
from tests.reports.small import failing, make_plan, make_results

from complabel.reports import _render, render_report, summarize_study


@pytest.fixture(scope="session")
def results():
    return make_results(make_plan())


@pytest.fixture(scope="session")
def partial():
    return make_results(make_plan(), change=failing, missing=("scene",))


@pytest.fixture(scope="session")
def summary(results):
    return summarize_study(results)


@pytest.fixture(scope="session")
def page(results):
    return render_report(results)


@pytest.fixture
def without_charts(monkeypatch):
    """Leave out what takes most of the time where it is not looked at."""
    choose = _render.study_charts
    monkeypatch.setattr(
        _render, "study_charts", lambda summary, tables: dict.fromkeys(choose(summary, tables), ())
    )
