"""What holds of each page: of answers, of models, and of the demonstration."""

import re

import pytest
from tests.refusals import raises
from tests.reports.small import Page

from complabel.errors import InputError
from complabel.reports import render_inspection

KINDS = ("inspection", "model", "evaluation", "demo", "audit")
DRAWN = ("evaluation", "report")  # by matplotlib, with links; the report is a study's
SECTIONS = {"findings", "answers", "frequencies", "choice", "annotators", "contradictions"}
SECTIONS |= {"people", "doubtful"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_a_document_that_needs_nothing_from_outside(pages, kind):
    page = Page(pages[kind])
    assert pages[kind].startswith("<!doctype html>")
    assert page.find("html")[0][0] == {"lang": "en"}
    assert page.find("meta", name="viewport")
    assert len(page.find("h1")) == len(page.find("main")) == 1
    for tag, attributes, _ in page.elements:
        assert tag not in {"script", "link", "iframe", "object", "set", "small", "i"}
        assert "onload" not in attributes
        for name in ("src", "href", "srcset", "poster"):
            assert attributes.get(name, "#").startswith(("#", "data:image/png;base64,"))
    for listed in re.findall("<dl.*?</dl>", pages[kind], re.DOTALL):
        terms = "".join(re.findall("<(/?div|dt|dd)", listed))
        assert re.fullmatch("((dt)+(dd)+|div(dt)+(dd)+/div)+", terms)
    for outside in ("@import", "url(http", *(() if kind in DRAWN else ("http", "url("))):
        assert outside not in pages[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_ids_are_unique_and_links_lead_somewhere(pages, kind):
    attributes = Page(pages[kind]).attributes
    ids = [found["id"] for found in attributes if "id" in found]
    assert len(ids) == len(set(ids))
    links = {found["href"][1:] for found in attributes if found.get("href", "").startswith("#")}
    named = {found["aria-labelledby"] for found in attributes if "aria-labelledby" in found}
    assert links | named <= set(ids)
    assert bool(links) == (kind in DRAWN)
    if kind == "inspection":
        assert named == set(ids) == {*SECTIONS, "features"}


@pytest.mark.parametrize("module", ["jinja2", "matplotlib"])
def test_a_missing_extra_is_named(seen, without, module):
    without(module)
    with raises(InputError, module, 'pip install "complabel[report]"'):
        render_inspection(seen)


@pytest.fixture
def opened(browser, pages, tmp_path):
    """Open a page in a window of some width, all its details shown."""

    def open_(kind, width, scheme="light"):
        (tmp_path / "page.html").write_text(pages[kind], encoding="utf-8")
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        browser.get_log("browser")  # what other tests left in it
        browser.get((tmp_path / "page.html").as_uri())
        browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
        return browser.execute_script

    return open_


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_in_a_browser_nothing_sticks_out(browser, opened, pages, kind, width, scheme):
    script = opened(kind, width, scheme)
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    root = "document.documentElement"
    needed, given = script(f"return [{root}.scrollWidth, {root}.clientWidth]")
    assert width - 20 <= given <= width  # a scroll bar takes some
    assert needed == given
    shown = script(
        "return [...document.querySelectorAll('svg, main table')]"
        ".map(e => e.getBoundingClientRect())"
    )
    assert all(box["width"] > 100 and box["height"] > 30 for box in shown)
    assert len(shown) > (30 if kind == "report" else 0)
    tracks = script(
        "return [...document.querySelectorAll('td.track, div.track')].map(e => e.clientWidth)"
    )
    assert min(tracks, default=width) > 0.15 * width
    background, ink = script(
        "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]"
    )
    brightness = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (background, ink)]
    assert (brightness[0] < brightness[1]) == (scheme == "dark")
    axe = pytest.importorskip("axe_core_python.selenium", reason="no axe_core_python").Axe()
    found = axe.run(browser)["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
