"""The page of `complabel audit`: its sentences, a row for each label, and other machines."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from tests.reports.small import Page, an_audit

from complabel.frequencies import MachineRates
from complabel.reports import agreement, audit_headline, audit_sentences, render_audit, verdicts


@pytest.fixture(scope="module")
def audited():
    return an_audit(["<b>sofa", "dog", "cat", "never said"])


def test_the_page_has_a_row_for_each_label_the_worst_first(audited):
    page = Page(render_audit(audited, ["a <note>"]))
    (_, *rows) = page.tables[0]
    assert {row[0] for row in rows} == set(audited.label_names)
    goods = [audited.good[audited.label_names.index(row[0])] for row in rows]
    assert goods == sorted(goods)
    for row in rows:
        at = audited.label_names.index(row[0])
        assert row[1] == verdicts(audited)[at]
        assert f"{100 * audited.frequencies.values[at]:.1f} %" in row[2]
        value = audited.precision.values[at]
        assert row[4].startswith("none" if np.isnan(value) else f"{100 * value:.0f} %")
        assert row[7].startswith(f"{100 * audited.invented.values[at]:.0f} %")
        assert row[-1] == f"{audited.n_more[at]:,}"
    assert "a <note>" in page.text


def test_the_headline_counts_and_names(audited):
    n = len(audited.label_names)
    known = replace(audited, good=np.array([0.01, 0.9, 0.95, 0.5]))
    told = audit_headline(known)
    assert f"2 of {n}" in told
    assert "<b>sofa" in told
    assert "dog" not in told
    assert f"{n} of {n}" in audit_headline(replace(audited, good=np.ones(n)))
    assert "too little" in audit_headline(replace(audited, good=np.full(n, 0.5)))


def rates(values):
    values = np.array(values)
    return MachineRates(values, np.stack([values, values], axis=1), (0.5, 0.4, 0.6))


def test_the_headline_says_how_much_is_wrong_and_how_much_is_missed(audited):
    known = replace(
        audited,
        good=np.array([0.01, 0.02, 0.95, 0.1]),
        precision=rates([0.2, 0.5, 0.9, np.nan]),
        missed=rates([0.1, 0.1, 0.1, 0.7]),
        machine_shares=np.array([0.3, 0.1, 0.5, 0.0]),
    )
    # (.3 x .8 + .1 x .5) / .4 = .725 of the yes are wrong.
    assert audit_headline(known) == (
        "You can use the machine for 1 of 4 labels; for <b>sofa and dog, 7 in 10 of its yes are"
        " wrong; for never said, 7 in 10 that apply are missed"
    )


def test_sentences_say_what_more_answers_give_and_what_is_not_there(audited):
    said = np.zeros((50, 4))
    *_, silent = sentences = audit_sentences(audited, said)
    assert len(sentences) == 4
    assert "says no of never said" in silent
    said[:2], said[5, 0] = np.nan, np.nan
    *_, more, _, nothing, unsure = audit_sentences(audited, said, 7)
    widest = np.ptp(audited.frequencies.intervals, axis=1).argmax()
    assert f"{audited.n_more[widest]:,} more answers about {audited.label_names[widest]}" in more
    assert "9 of 200 pairs" in nothing
    assert "2 items" in nothing
    assert "unsure 7 times" in unsure


def test_agreement_is_that_of_another_library():
    rng = np.random.default_rng(0)
    first, second = (rng.random((2, 300, 3)) * [0.6, 1, 1]).round(2)
    first[:40, 1], second[20:60, 1] = np.nan, np.nan
    same, kappa = agreement(first, second)
    pairs = [(first[:, at], second[:, at]) for at in range(3)] + [(first.ravel(), second.ravel())]
    for at, (one, other) in enumerate(pairs):
        both = ~np.isnan(one + other)
        a, b = one[both] >= 0.5, other[both] >= 0.5
        assert same[at] == pytest.approx((a == b).mean())
        assert kappa[at] == pytest.approx(cohen_kappa_score(a, b))


def test_other_machines_stand_beside_the_first(audited):
    never_the_same = agreement(np.eye(4), 1 - np.eye(4))
    one_word = agreement(np.zeros((9, 4)), np.zeros((9, 4)))
    agreements = {"<i>.csv": never_the_same, "b.csv": one_word}
    page = Page(render_audit(audited, [], agreements=agreements, others={"b.csv": audited}))
    (_, first, second) = page.tables
    assert first[1] == ["all pairs", "0.0 %", "-0.60"]
    assert second[1][:3] == ["all pairs", "100.0 %", "none"]
    assert len(second[1]) == 5
    assert "<i>.csv" in page.text
