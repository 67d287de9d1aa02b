"""What was found, as lines and as a page."""

import re

import numpy as np
import pytest
from tests.refusals import raises
from tests.reports.small import HOSTILE, PEOPLE, Page, draw_labels

from complabel.answers import Answers
from complabel.asking import inspect_answers
from complabel.errors import OutputError
from complabel.reports import inspection_lines, render_inspection, write_inspection_page
from complabel.simulate import draw_answers


@pytest.fixture
def page(pages):
    return pages["inspection"]


def test_names_are_shown_as_they_are(page):
    document = Page(page)
    rows = [" ".join(text.split()) for _, text in document.find("th", scope="row")]
    for name in (*HOSTILE, *PEOPLE):
        assert " ".join(name.split()) in rows
    assert "complabel fit <i>.csv" in document.find("code")[0][1]
    assert "{{ 7*7 }}" in page


def test_findings_come_first_with_words_for_their_severity(page, seen):
    document = Page(page)
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


def test_people_are_shown_with_their_rates_those_who_judged_most_first(page):
    block = page[page.index('id="people"') : page.index('id="doubtful"')]
    assert "<p>By a &lt;model&gt;.</p>" in block
    rows = block.split("<tr>")[2:]
    assert len(rows) == 2  # who judged nothing is left out
    assert [name in row for row, name in zip(rows, ("bob &amp; co", "&lt;b&gt;ann"), strict=True)]
    # The scales end at 100 % and 4 %, the largest ends of the intervals.
    (often, rarely) = (
        re.findall(r'class="(\w+)" style="left: ([\d.]+)%(?:; width: ([\d.]+)%)?', row)
        for row in rows
    )
    assert often == [
        ("range", "20.00", "20.00"), ("dot", "25.00", ""),
        ("range", "10.00", "20.00"), ("dot", "20.00", ""),
    ]  # fmt: skip
    assert [kind for kind, *_ in rarely] == ["range", "range", "dot"]  # one rate is not known
    assert "25.0 %" in rows[0]
    assert "(20.0 to 40.0)" in rows[0]
    assert "2,000" in rows[0]


def test_the_most_doubtful_answers_are_listed(page):
    document = Page(page)
    (table,) = [table for table in document.tables if table[0][:2] == ["Item", "Label"]
                and "Wrong" in table[0]]  # fmt: skip
    assert len(table) == 21
    assert table[1] == ["<i>0", HOSTILE[0], PEOPLE[0], "yes", "90.0 %", "12.5 %"]
    assert table[2] == ["<i>1", HOSTILE[1], PEOPLE[1], "no", "86.7 %", ""]
    assert table[3][2] == ""


def test_without_people_the_page_says_nothing_of_them(seen):
    page = render_inspection(seen)
    assert not {'id="people"', 'id="doubtful"'} & set(re.findall(r'id="\w+"', page))


def test_the_headline_counts_items_with_answers():
    answers = Answers.from_arrays(absent=np.eye(3, dtype=int), n_items=3000)
    (first, *_) = inspection_lines(inspect_answers(answers), 200)
    assert first.startswith("3 answers about 3 of 3,000 items and 3 labels: ")


def test_a_page_of_little(tmp_path):
    write_inspection_page(
        inspect_answers(Answers.from_arrays(absent=np.zeros((0, 3)), n_items=2)),
        tmp_path / "page.html",
    )
    Page((tmp_path / "page.html").read_text(encoding="utf-8"))


def test_a_thousand_labels_are_cut(seen):
    answers = Answers.from_arrays(absent=np.eye(1000, dtype=int)[:500])
    found = inspect_answers(answers)
    assert "Only the 60 labels with the most answers are shown, of 1,000" in render_inspection(
        found
    )
    assert "and 980 more labels, in fewer answers" in inspection_lines(found)


def test_a_page_that_cannot_be_written(seen, tmp_path):
    with raises(OutputError, "page.html"):
        write_inspection_page(seen, tmp_path / "nowhere" / "page.html")


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


def test_times_are_shown_by_kind_of_question_and_by_person():
    timed = {"question": "ticked", "annotator": ["ann", "bob"], "seconds": [8.0, 41.25]}
    found = inspect_answers(Answers.from_arrays(absent=np.eye(2, 3, dtype=int), **timed))
    lines = [" ".join(line.split()) for line in inspection_lines(found)]
    assert "question timed seconds middle half per label agree alpha" in lines
    assert "all labels ticked 2 24.6 16.3 to 32.9 8.2" in lines
    assert any(line.startswith("bob 1 41.2 ") for line in lines)
    document = Page(render_inspection(found))
    assert ["all labels ticked", "2", "24.6", "16.3 to 32.9", "8.2", "", ""] in [
        row for table in document.tables for row in table
    ]
    assert "41.2 s" in document.text
    without = Answers.from_arrays(absent=np.eye(2, 3, dtype=int), question="ticked")
    assert "How long" not in render_inspection(inspect_answers(without))
