"""How often ``inspect_answers`` raises a finding where all is well, and where an assumption fails.

Worlds are those of ``_worlds.py``. Findings that only count something are not here: they cannot be
wrong. Figures are draws out of 100: ``false_alarms`` of the world in which all is well, and
``found`` of the world in which the assumption fails. A block has 20 draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._worlds import (
    Rng,
    World,
    audit,
    audited_world,
    excluded,
    people_world,
    picked,
    rare_people,
    sizes,
    strangers_world,
    ticked_world,
    volunteered,
    yes_world,
)
from complabel.answers import Answers
from complabel.asking import inspect_answers

NAMES = """
boat bridge building car castle cloud coral desert eagle field flower forest garden glacier grass
harbor horse house island leopard market meadow mountain ocean palace pillar plane plants river
"""


def spelt(wrong: bool) -> World:
    """Return a world in which one label is sometimes written with another letter or case."""

    def world(rng: Rng) -> Answers:
        n, K = sizes(rng, 29)
        n = max(n, 40 * K)
        words = rng.permutation(NAMES.split())[:K]
        labels = words[rng.integers(K, size=n)].astype(object)
        if wrong:
            which = rng.choice([word for word in words if len(word) > 4] or [words[0]])
            at = int(rng.integers(1, len(which)))
            in_capitals = len(which) < 5 or rng.random() < 0.5
            changed = which.upper() if in_capitals else which[:at] + which[at + 1 :]
            labels[rng.choice(np.flatnonzero(labels == which), 2, replace=False)] = changed
        rows = {"item": np.arange(n).astype(str), "label": labels, "question": ["named"] * n}
        return Answers.from_table(rows, label_names=sorted({*labels}))

    return world


AUDITED = "yes/no questions about half of the items"
# A finding, a world in which all is well, and one in which its assumption fails.
CASES: list[tuple[str, str, World, str, World]] = [
    ("choice-depends", "named and ticked; propensities of sd 0, 1 or 2", ticked_world(None),
     "4 times as readily where the next label applies, 3 to 8 labels, 2,000 items",
     lambda rng: ticked_world(0, 4, n=2000, K=int(rng.integers(3, 9)))(rng)),
    ("choice-depends", "the same, 5,000 items, 5 labels, sd 1", ticked_world(1, n=5000, K=5),
     "the same, 30 labels, 5,000 items", ticked_world(0, 4, n=5000, K=30)),
    ("choice-depends", "one answer in ten at random", ticked_world(None, mistakes=0.1),
     "2 times as readily, 5 labels, 5,000 items", ticked_world(0, 2, n=5000, K=5)),
    ("choice-not-uniform", "named and ticked", ticked_world(0),
     "propensities of sd 1, 5 labels or more",
     lambda rng: ticked_world(1, K=int(rng.integers(5, 31)))(rng)),
    ("choice-not-uniform", "the same, one answer in ten at random", ticked_world(0, mistakes=0.1),
     "the same, propensities of sd 2, 5 labels", ticked_world(2, mistakes=0.1, K=5)),
    ("choice-not-uniform", f"named, {AUDITED}", audited_world(0, "free", 0.5),
     "propensities of sd 1, at least 1,000 items and 5 labels",
     audited_world(1, "free", 0.5, least=(1000, 5))),
    ("choice-not-uniform", f"menus of 3, {AUDITED}", audited_world(0, "menu-3", 0.5), "the same",
     audited_world(1, "menu-3", 0.5, least=(1000, 5))),
    ("choice-not-uniform", "menus of 2 alone, 4 to 8 labels", audited_world(0, "menu-2", 0, 8),
     "propensities of sd 2", audited_world(2, "menu-2", 0, 8)),
    ("mistakes", "one answer in twenty at random, 10 people", people_world([0.05] * 10, 1),
     "three in ten", people_world([0.3] * 10, 1)),
    ("mistakes", "the same, a tenth of the items", people_world([0.05] * 10, 0.1),
     "3 people, one of whom answers at random", people_world([0.0, 0.0, 1.0], 1)),
    ("no-agreement", "one answer in ten at random", people_world([0.1] * 10, 1),
     "all answers at random", people_world([1.0] * 10, 1)),
    *(
        ("yes-shares-differ", f"{n} people, 300 random questions each, no item in common",
         strangers_world("", n), f"the first {does}; 5 labels or more", strangers_world(bad, n))
        for n in (2, 5, 10)
        for bad, does in {"yes": "always says yes", "no": "always says no",
                          "random": "answers at random"}.items()
    ),
    ("people-contradict", "1 % of answers wrong", people_world([0.02] * 10, 1), "10 %",
     people_world([0.2] * 10, 1)),
    ("people-contradict", "2 % of answers wrong", people_world([0.04] * 10, 1),
     "one answer in ten wrong, 3 people", people_world([0.2] * 3, 1)),
    ("people-contradict", "3 % of answers wrong", people_world([0.06] * 10, 1),
     "3 people, one of whom answers at random", people_world([0.0, 0.0, 1.0], 1)),
    ("low-alpha", "no mistakes", people_world([0.0] * 10, 1),
     "one label in fifty applies; 7 answers in 100 at random", rare_people),
    ("audit-too-small", "3,000 questions, 3 to 30 labels", audit(3000), "60 questions", audit(60)),
    ("only-no", "one yes in twenty", volunteered, "picked labels", picked),
    ("identical-labels", "rates of exclusion of .05 to .9", excluded(""),
     "one label is a copy of another", excluded("copied")),
    ("nested-exclusions", "the same", excluded(""), "one label is excluded wherever another is",
     excluded("nested")),
    ("few-yes", "30 yes for the rarest label", yes_world(30), "3 yes", yes_world(3)),
    ("similar-names", "29 names of Corel5k", spelt(False),
     "2 answers with a letter less, or in capitals; 40 answers about a label", spelt(True)),
]  # fmt: skip

CELLS = [{"finding": case[0], "well": case[1], "fails": case[3]} for case in CASES]
DRAWS, BLOCK = 5, 20
QUICK = {"finding": ("mistakes", "only-no", "few-yes", "low-alpha", "audit-too-small")}


def is_raised(finding: str, answers: Answers) -> bool:
    """Return whether a look at answers raises a finding."""
    seen = inspect_answers(answers, labels_listed=finding != "similar-names")
    # The same with few "yes" has another advice.
    raised = seen.finding(finding) or seen.finding(f"{finding}-seldom")
    if finding == "people-contradict":  # a note says how often; a warning that it matters
        return raised is not None and raised.severity == "warning"
    return raised is not None


def measure(*, draw: int, data: Any, **cell: str) -> dict[str, float]:
    """Return how often a finding is raised, out of 100."""
    at = CELLS.index(cell)
    finding, _, well, _, fails = CASES[at]
    found = {"false_alarms": 0.0, "found": 0.0}
    for seed in range(BLOCK * draw, BLOCK * (draw + 1)):
        for is_bad, (name, world) in enumerate(zip(found, (well, fails), strict=True)):
            answers = world(np.random.default_rng([seed, at, is_bad]))
            found[name] += 100 / BLOCK * is_raised(finding, answers)
    return found
