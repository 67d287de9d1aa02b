"""The page of `complabel audit`: its sentence, and a row for each label."""

from dataclasses import replace

import numpy as np
import pytest
from tests.frequencies.test_strata import asked_about, half_and_half, world
from tests.reports.small import Page

from complabel.frequencies import audit_machine
from complabel.reports import audit_headline, render_audit, verdicts


@pytest.fixture(scope="module")
def audited():
    Y, machine = world(n_labels=4, seed=3)
    machine[:, 3] = 0
    items, labels = half_and_half(Y, machine, 300, np.random.default_rng(3))
    found = audit_machine(asked_about(Y, items, labels), machine)
    return replace(found, label_names=["<b>sofa", "dog", "cat", "never said"])


def test_the_page_has_a_row_for_each_label_the_worst_first(audited):
    page = Page(render_audit(audited, notes=["a <note>"]))
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
