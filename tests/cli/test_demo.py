"""`complabel demo`: four ways of asking, learned from, compared and shown."""

import re

import numpy as np
import pytest
from tests.reports.small import Page

from complabel.cli import _demo


@pytest.fixture(scope="module")
def parts():
    return _demo._pictures(100, 3)


def digits_of(X):
    """The handwritten digits on some pictures, each as bytes."""
    blocks = X.reshape(-1, 2, 8, 2, 8).transpose(0, 1, 3, 2, 4).reshape(-1, 64)
    return {block.tobytes() for block in blocks if block.any()}


def test_parts_have_their_sizes_and_share_no_handwriting(parts):
    X, Y, X_test, Y_test = parts
    assert (len(X), len(X_test)) == (len(Y), len(Y_test)) == (80, 20)
    assert not digits_of(X) & digits_of(X_test)


def test_all_that_people_say_is_true_and_only_the_question_differs(parts):
    Y = parts[1]
    answers = _demo._ask(Y, 0)
    assert [*answers] == [*_demo.WAYS]
    for each in answers.values():
        truth = Y[each.item]
        assert not ((each.named + each.absent).toarray() * truth).any()
        assert (each.relevant.toarray() <= truth).all()
        assert len(set(each.item.tolist())) == each.n_answers, "one answer for a picture"
    sizes = {way: each.n_answers for way, each in answers.items()}
    assert sizes == {"named": 80, "mixed": 80, "asked": 80, "ticked": round(80 / 1.1)}
    is_asked = answers["mixed"].question == "asked"
    assert is_asked.sum() == 80 / 8
    for part, way in ((is_asked, "asked"), (~is_asked, "named")):
        mixed = answers["mixed"].only(part)
        same = answers[way].only(np.isin(answers[way].item, mixed.item))
        for mask in ("named", "absent", "relevant"):
            assert (getattr(mixed, mask) != getattr(same, mask)).nnz == 0


def test_the_page_words_what_was_said(parts):
    Y = parts[1]
    answers = _demo._ask(Y, 0)
    for row, labels in enumerate(Y):
        shown = {str(digit) for digit in np.flatnonzero(labels)}
        said = {way: _demo._in_words(answers[way], row) for way in answers}
        assert said["named"].startswith("no ")
        assert said["named"].removeprefix("no ") not in shown
        digit, word = said["asked"].split("? ")
        assert word == ("yes" if digit in shown else "no")
        assert said["mixed"] in (said["named"], said["asked"])
        assert said["ticked"] in ("no form", f"☑ {', '.join(sorted(shown))}")


def test_the_page_shows_the_figures_of_the_terminal_and_the_truth_of_each_picture(
    run, tmp_path, parts
):
    code, out, _ = run("demo", "--pictures", 100, "--seed", 3, "--out", tmp_path / "page.html")
    assert code == 0
    printed = re.findall(r"^  (.*\S) +([01]\.\d{3})", out, flags=re.MULTILINE)
    titles = [title for title, _ in (_demo.WAYS | _demo._COMPARED).values()]
    assert [title for title, _ in printed] == titles
    figures = {title: float(figure) for title, figure in printed}
    assert figures[titles[-2]] < min(figures[each] for each in titles[1:4])
    text = (tmp_path / "page.html").read_text("utf-8")
    page = Page(text)
    assert [figure for _, figure in printed] == re.findall(r"<b>(\d\.\d{3})</b>", text)
    shown = [attributes["alt"].partition(": it shows ")[2] for attributes, _ in page.find("img")]
    Y, Y_test = parts[1], parts[3]
    expected = [*Y[:8], *Y_test[Y_test.sum(axis=1) > 1][:8]]
    assert shown == [", ".join(map(str, np.flatnonzero(row))) for row in expected]
    guesses = re.findall(r'class="mark (correct|wrong)">. (\d)', text)
    truth = [row for row in expected[8:] for _ in range(4 * row.sum())]
    assert [kind == "correct" for kind, _ in guesses] == [
        row[int(digit)] == 1 for row, (_, digit) in zip(truth, guesses, strict=True)
    ]
