"""What was found, as lines and as a page."""

import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from tests.reports.test_demo import Document

from complabel.answers import Answers
from complabel.asking import inspect_answers
from complabel.errors import InputError, OutputError
from complabel.reports import inspection_lines, render_inspection, write_inspection_page
from complabel.simulate import draw_answers

HOSTILE = ["<script>alert(1)</script>", "a\"b' onload=x", "sea & sky\n{{ 7*7 }}", "łódź" * 12]


def draw_labels(seed=100):
    rng = np.random.default_rng(seed)
    Y = (rng.random((400, 4)) < [0.1, 0.2, 0.3, 0.4]).astype(np.uint8)
    Y[Y.all(axis=1), 0] = 0
    return Y


@pytest.fixture(scope="module")
def seen():
    """Everything that a page can show."""
    Y = draw_labels()
    answers = Answers.concatenate(
        [
            draw_answers(Y, random_state=1),
            draw_answers(Y, question="ticked", random_state=2, items_share=0.3),
            draw_answers(
                Y, question="asked", error_rate=[0.3, 0.1], answers_per_item=3, random_state=3
            ),
            draw_answers(Y, question="excluded", exclusion_rates=0.3, random_state=4),
        ]
    )
    people = ("<b>ann</b>", "bob & co")
    named = dict(zip(["0", "1"], people, strict=True))
    table = Answers.from_arrays(
        **{name: getattr(answers, name) for name in
           ("named", "absent", "relevant", "excluded", "offered", "question", "item",
            "asked_for", "probability", "all_apply")},
        annotator=[named.get(str(code)) for code in answers.annotator],
        label_names=HOSTILE,
    )  # fmt: skip
    return inspect_answers(table, np.ones((400, 2)), source="<i>.csv")


@pytest.fixture(scope="module")
def page(seen):
    return render_inspection(seen)


def test_the_page_is_a_document_that_needs_nothing_from_outside(page):
    document = Document(page)
    assert page.startswith("<!doctype html>")
    assert len(document.find("h1")) == len(document.find("main")) == 1
    for tag, attributes, _ in document.elements:
        assert tag not in {"script", "link", "iframe", "object", "img", "i", "b"}
        assert not {"src", "href", "srcset", "onload"} & set(attributes)
    for outside in ("@import", "http", "url("):
        assert outside not in page


def test_names_are_shown_as_they_are(page):
    document = Document(page)
    rows = [" ".join(text.split()) for _, text in document.find("th", scope="row")]
    for name in (*HOSTILE, "<b>ann</b>", "bob & co"):
        assert " ".join(name.split()) in rows
    assert "complabel fit <i>.csv" in document.find("code")[0][1]
    assert "{{ 7*7 }}" in page


def test_findings_come_first_with_words_for_their_severity(page, seen):
    document = Document(page)
    assert len(seen.findings) >= 4
    items = [text for attributes, text in document.find("li")
             if "finding" in attributes.get("class", "").split()]  # fmt: skip
    assert len(items) == len(seen.findings)
    for text, finding in zip(items, seen.findings, strict=True):
        words = " ".join(text.split())
        assert words[2:].startswith(f"{finding.severity}{finding.title} {finding.name}")
        assert finding.what in words
    order = [text for _, text in document.find("h2")]
    assert order[0] == "Findings"
    headline = document.find("h1")[0][1]
    assert headline.startswith(f"{seen.n_answers:,} answers about 400 items and 4 labels: ")
    assert seen.next_step.advice in document.find("header")[0][1]


def test_bars_are_as_long_as_the_counts(page, seen):
    rows = page[page.index('id="answers"') : page.index('id="frequencies"')].split("<tr>")[2:]
    ordered = sorted(seen.labels, key=lambda label: -label.mentioned)
    for row, label in zip(rows, ordered, strict=True):
        widths = dict(re.findall(r'class="is-(\w+)" style="width: ([\d.]+)%"', row))
        for kind in ("named", "excluded", "absent", "relevant"):
            expected = 100 * getattr(label, kind) / ordered[0].mentioned
            assert float(widths[kind]) == pytest.approx(expected, abs=0.006)


def test_shares_of_rare_labels_fill_the_scale():
    Y = (np.random.default_rng(0).random((2000, 3)) < 0.02).astype(np.uint8)
    found = inspect_answers(draw_answers(Y, question="ticked", random_state=0))
    page = render_inspection(found)
    (end,) = re.findall(r"The scale ends at ([\d.]+) %", page)
    assert 2 < float(end) <= 5
    dots = [float(left) for left in re.findall(r'class="dot" style="left: ([\d.]+)%', page)]
    assert dots == pytest.approx(
        [100 * 100 * label.frequency / float(end) for label in found.labels], abs=0.01
    )


def test_the_headline_counts_items_with_answers():
    answers = Answers.from_arrays(absent=np.eye(3, dtype=int), n_items=3000)
    (first, *_) = inspection_lines(inspect_answers(answers), 200)
    assert first.startswith("3 answers about 3 of 3,000 items and 3 labels: ")


def test_every_section_has_its_heading(page):
    attributes = [attributes for _, attributes, _ in Document(page).elements]
    ids = [found["id"] for found in attributes if "id" in found]
    labelled = {found["aria-labelledby"] for found in attributes if "aria-labelledby" in found}
    assert len(ids) == len(set(ids))
    assert labelled == set(ids) == {
        "findings", "answers", "frequencies", "choice", "annotators", "contradictions", "features"
    }  # fmt: skip


def test_a_page_of_little(tmp_path):
    write_inspection_page(
        inspect_answers(Answers.from_arrays(absent=np.zeros((0, 3)), n_items=2)),
        tmp_path / "page.html",
    )
    Document((tmp_path / "page.html").read_text(encoding="utf-8"))


def test_a_thousand_labels_are_cut(seen):
    answers = Answers.from_arrays(absent=np.eye(1000, dtype=int)[:500])
    found = inspect_answers(answers)
    assert "Only the 60 labels with the most answers are shown, of 1,000" in render_inspection(
        found
    )
    assert "and 980 more labels, in fewer answers" in inspection_lines(found)


def test_a_page_that_cannot_be_written(seen, tmp_path):
    with pytest.raises(OutputError, match="cannot be written"):
        write_inspection_page(seen, tmp_path / "nowhere" / "page.html")


@pytest.mark.parametrize("module", ["jinja2", "matplotlib"])
def test_a_missing_extra_is_named(seen, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=rf"{module}.*pip install \"complabel\[report\]\""):
        render_inspection(seen)


@pytest.mark.parametrize("width", [40, 60, 100])
def test_lines_keep_to_the_width_but_for_commands(seen, width):
    lines = inspection_lines(seen, width)
    commands = {each.command for each in seen.findings}
    for line in lines:
        assert len(line) <= max(width, 48) or line.strip() in commands
        assert line == line.rstrip()
        assert "\n" not in line


def test_lines_say_what_to_do_first(seen):
    text = "\n".join(inspection_lines(seen, 100))
    before = text.partition("Next: ")[2]
    assert " ".join(before.split()).startswith(seen.next_step.advice)
    for finding in seen.findings:
        assert f"{finding.severity}: {finding.title} [{finding.name}]" in text
    assert "Krippendorff" in text
    assert "<b>ann</b>" in text


def test_lines_without_findings_say_so():
    asked = draw_answers(draw_labels(), question="ticked", error_rate=[0.0], random_state=1)
    (first, *_) = inspection_lines(inspect_answers(asked), 100)
    assert first == "400 answers about 400 items and 4 labels: ready for a fit."


@pytest.mark.slow
@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser_nothing_sticks_out(page, tmp_path, width, scheme):
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    programs = [shutil.which("chromium"), shutil.which("chromedriver")]
    if None in programs:
        pytest.skip("chromium and chromedriver are not on the path")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu",
                     f"--user-data-dir={tmp_path / 'profile'}"):  # fmt: skip
        options.add_argument(argument)
    service = webdriver.ChromeService(executable_path=programs[1], log_output=subprocess.DEVNULL)
    browser = webdriver.Chrome(options=options, service=service)
    try:
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        (tmp_path / "page.html").write_text(page, encoding="utf-8")
        browser.get((tmp_path / "page.html").as_uri())
        root = "document.documentElement"
        needed, given = browser.execute_script(f"return [{root}.scrollWidth, {root}.clientWidth]")
        tracks = browser.execute_script(
            "return [...document.querySelectorAll('.track')].map(e => e.clientWidth)"
        )
    finally:
        browser.quit()
    assert needed == given
    assert min(tracks) > width / 3
