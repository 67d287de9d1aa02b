"""What holds of each page, tried on a study's report, and what only that page has."""

import pytest
from tests.reports import test_pages as every_page
from tests.reports.test_pages import opened as opened


def test_a_report_is_a_document_that_needs_nothing_from_outside(pages):
    every_page.test_a_page_is_a_document_that_needs_nothing_from_outside(pages, "report")


def test_in_a_report_ids_are_unique_and_links_lead_somewhere(pages):
    every_page.test_ids_are_unique_and_links_lead_somewhere(pages, "report")


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser_nothing_of_a_report_sticks_out(browser, opened, pages, width, scheme):
    every_page.test_in_a_browser_nothing_sticks_out(browser, opened, pages, "report", width, scheme)


@pytest.mark.slow
def test_row_titles_stay_in_sight_while_a_table_scrolls(opened):
    moved = opened("report", 390)(
        """const box = document.querySelector('.scroll');
        const [title, cell] = box.querySelectorAll('tbody th, tbody td');
        const left = e => e.getBoundingClientRect().left;
        const before = [left(title), left(cell)];
        box.scrollLeft = 80;
        return [left(title) - before[0], left(cell) - before[1]];"""
    )
    assert moved == [0, -80]
