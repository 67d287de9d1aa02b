"""Counts over random distributions, and the tally that holds them."""

import json
import math
from dataclasses import asdict

import numpy as np
import pytest
from research.theory import Tally, survey_theory

from complabel.errors import InputError


def test_a_tally_by_hand():
    tally = Tally.of([3, 1, 1, np.nan, 0], [1, 1, 2, 0, 0.5])
    assert tally == Tally(
        above=1, equal=1, below=2, undefined=1, least=-1, median=-0.25, mean=0.125, greatest=2
    )
    assert (tally.n_cases, tally.share_below) == (4, 0.5)
    assert Tally.of([1, 1.05], [1.05, 1], tolerance=0.1).equal == 2


def test_a_tally_of_nothing_defined_has_no_numbers():
    tally = Tally.of([np.nan, 1], [0, np.nan])
    assert (tally.n_cases, tally.undefined) == (0, 2)
    assert math.isnan(tally.share_below)
    assert math.isnan(tally.median)
    assert math.isnan(tally.mean)


@pytest.fixture(scope="module")
def findings():
    return survey_theory(20, random_state=0)


TRUE = {
    "sum_k T_kj(x) p(y_k|x) >= p(ybar_j|x)",
    "the same on average over x, with one T",
    "T_zj >= Bayes' rule",
    "l_j >= |Cov(N, ybar_j|x)|",
}


def test_what_we_prove_never_fails(findings):
    proven = [finding for finding in findings if finding.statement in TRUE]
    assert {finding.statement for finding in proven} == TRUE
    for finding in proven:
        assert finding.tally.n_cases > 0
        assert finding.tally.below == 0, finding


def test_what_the_paper_prints_fails_in_every_part(findings):
    for part in ("Theorem 1", "Theorem 2", "Corollary", "Assumption", "Theorem 6"):
        printed = [finding for finding in findings if finding.part == part and finding.printed]
        assert sum(finding.tally.below for finding in printed) > 0, part


def test_the_claim_of_consistency_holds_where_one_label_applies(findings):
    exact = [
        finding
        for finding in findings
        if "one label applies" in finding.setting and "exact T" in finding.statement
    ]
    assert exact
    assert all(finding.tally.below == 0 for finding in exact)


def test_every_case_is_counted(findings):
    # 20 distributions, 4 points, K labels j
    for finding in findings:
        if finding.statement == "p(ybar_j|x) >= sum_k T_kj p(y_k|x)":
            n_labels = int(finding.setting.split(",")[0].removeprefix("K="))
            assert finding.tally.n_cases + finding.tally.undefined == 20 * 4 * n_labels


def test_the_same_seed_counts_the_same_and_goes_into_json(findings):
    again = survey_theory(20, random_state=0)
    assert json.dumps([asdict(each) for each in again]) == json.dumps(
        [asdict(each) for each in findings]
    )


def test_too_few_distributions_are_refused():
    with pytest.raises(InputError, match="n_distributions"):
        survey_theory(3)
