"""The code of the page on label frequencies runs, and gives what the page says of it."""

import re
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "frequencies.md"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::complabel.answers.IgnoredAnswersWarning")
def test_the_code_of_the_page_runs_in_its_order():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) == 4
    names = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    classifier = names["classifier"]
    off = classifier.predict_proba(names["X"]).mean(axis=0) - names["Y"].mean(axis=0)
    assert (np.abs(off) < 2 * classifier.label_frequencies_errors_).all()
    assert names["ridge"].label_frequencies_.shape == (5,)
    assert names["found"].cardinality == pytest.approx(names["Y"].sum(axis=1).mean(), abs=0.5)
    # Nobody erred here, so to allow for labels that were missed makes all more frequent.
    assert names["corrected"].cardinality > 1.1 * names["found"].cardinality
