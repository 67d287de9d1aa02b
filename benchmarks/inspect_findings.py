"""How often `inspect_answers` raises each finding where all is well, and where an assumption fails.

    python -m benchmarks.inspect_findings [--draws 100] [--jobs 1] [--costs] [--only NAME]

Each draw has a size of its own: 3 to 30 labels and 500 to 5,000 items, if the world does not say
otherwise. Labels apply with unequal frequencies, 1.8 to an item on average, and are correlated
through three hidden factors. Propensities are exp(sd z) with z standard normal. Findings that only
count something are not here: they cannot be wrong. ``--costs`` also fits the selection likelihood
to the failing worlds, and prints what they cost in average precision.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from scipy import optimize, special

from complabel.answers import Answers
from complabel.asking import inspect_answers
from complabel.simulate import draw_answers

Rng = np.random.Generator
World = Callable[[Rng], Answers]


def sizes(rng: Rng, most_labels: int = 30) -> tuple[int, int]:
    """Draw numbers of items and labels, evenly on a log scale."""
    n = int(np.exp(rng.uniform(np.log(500), np.log(5000))))
    return n, int(np.exp(rng.uniform(np.log(3), np.log(most_labels + 1))))


def truth(rng: Rng, n: int, K: int, cardinality: float = 1.8) -> np.ndarray:
    """Draw correlated labels; no item has all of them."""
    shifts = 0.8 * rng.normal(size=K) + rng.normal(size=(n, 3)) @ rng.normal(size=(3, K)) * 0.5
    mean = min(cardinality, 0.45 * K)
    level = optimize.brentq(
        lambda at: special.expit(shifts + at).sum(axis=1).mean() - mean, -20, 20
    )
    Y = (rng.random((n, K)) < special.expit(shifts + level)).astype(np.uint8)
    full = Y.all(axis=1)
    Y[full, rng.integers(K, size=full.sum())] = 0
    return Y


def named(Y: np.ndarray, rng: Rng, sd: float = 0.0, **more: object) -> Answers:
    """Name a label in proportion to propensities."""
    w = np.exp(sd * rng.normal(size=Y.shape[1]))
    return draw_answers(Y, propensities=w, random_state=rng, **more)


def depending(Y: np.ndarray, rng: Rng, ratio: float) -> Answers:
    """Name a label that comes to mind ``ratio`` times as readily where the next label applies."""
    w = (1 - Y) * np.where(np.roll(Y, -1, axis=1) == 1, ratio, 1.0)
    steps = w.cumsum(axis=1)
    chosen = (steps <= rng.random((len(Y), 1)) * steps[:, -1:]).sum(axis=1)
    return Answers.from_arrays(named=np.eye(Y.shape[1], dtype=np.uint8)[chosen])


def ask(Y: np.ndarray, rng: Rng, question: str = "asked", **more: object) -> Answers:
    """Draw answers to another question."""
    return draw_answers(Y, question=question, random_state=rng, **more)


def ticked_world(sd: float | None, ratio: float = 1.0, mistakes: float = 0.0, **at: int) -> World:
    """Return a world in which one person names a label of an item, and another ticks all."""

    def world(rng: Rng) -> Answers:
        n, K = sizes(rng)
        Y = truth(rng, at.get("n", n), at.get("K", K))
        spread = rng.choice([0.0, 1.0, 2.0]) if sd is None else sd
        first = (
            named(Y, rng, spread, error_rate=mistakes) if ratio == 1 else depending(Y, rng, ratio)
        )
        return Answers.concatenate([first, ask(Y, rng, "ticked", error_rate=mistakes)])

    return world


def audited_world(
    sd: float, question: str, share: float, most_labels: int = 30, least: tuple[int, int] = (0, 4)
) -> World:
    """Return a world of named labels, with yes/no questions about a share of the items."""

    def world(rng: Rng) -> Answers:
        n, K = sizes(rng, most_labels)
        Y = truth(rng, max(n, least[0]), max(K, least[1]))
        first = named(Y, rng, sd, question=question)
        if not share:
            return first
        return Answers.concatenate([first, ask(Y, rng, items_share=share)])

    return world


def people_world(rates: list[float], share: float) -> World:
    """Return a world in which two people of each item judge the same, with these error rates."""

    def world(rng: Rng) -> Answers:
        n, K = sizes(rng)
        Y = truth(rng, n, K)[: max(int(share * n), 1)]
        item, label = np.arange(len(Y)), rng.integers(K, size=len(Y))
        people = np.array([rng.permutation(len(rates))[:2] for _ in item])
        both = []
        for which in people.T:
            right = Y[item, label]
            random = rng.random(len(Y)) < np.array(rates)[which]
            says = np.where(random, rng.integers(2, size=len(Y)), right)
            marks = np.eye(K, dtype=np.uint8)[label]
            both.append(
                Answers.from_arrays(
                    relevant=marks * says[:, None],
                    absent=marks * (1 - says[:, None]),
                    annotator=[f"p{person}" for person in which],
                    probability=1 / K,
                )
            )
        return Answers.concatenate(both)

    return world


def strangers_world(bad: str, n_people: int, least: int = 3) -> World:
    """Return a world in which people answer 300 random questions each, about items of their own.

    All err in one answer of fifty. ``bad`` says what the first of them does: "yes", "no" or
    "random"; nothing: the same as the others.
    """

    def world(rng: Rng) -> Answers:
        K = max(sizes(rng)[1], least)
        Y = truth(rng, 300 * n_people, K)
        item, label = np.arange(len(Y)), rng.integers(K, size=len(Y))
        says = Y[item, label] ^ (rng.random(len(Y)) < 0.02)
        of_first = {"yes": 1, "no": 0, "random": rng.integers(2, size=300)}
        says[:300] = of_first.get(bad, says[:300])
        marks = np.eye(K, dtype=np.uint8)[label]
        return Answers.from_arrays(
            relevant=marks * says[:, None],
            absent=marks * (1 - says[:, None]),
            annotator=[f"p{person}" for person in item // 300],
            probability=1 / K,
        )

    return world


def flips_world(rate: float) -> World:
    """Return a world in which two of ten people judge each pair, and some answers are wrong."""
    return people_world([2 * rate] * 10, 1)


def twice(Y: np.ndarray, rng: Rng, rate: float) -> Answers:
    """Two people judge the same pairs, and err at this rate; contradictions are dropped."""
    item, label = np.arange(len(Y)), rng.integers(Y.shape[1], size=len(Y))
    says = Y[item, label] ^ (rng.random((2, len(Y))) < rate)
    kept = says[0] == says[1]
    marks, yes = np.eye(Y.shape[1], dtype=np.uint8)[label[kept]], says[0][kept, None]
    said = {"relevant": marks * yes, "absent": marks * (1 - yes), "item": item[kept]}
    return Answers.from_arrays(**said, n_items=len(Y), probability=1 / Y.shape[1])


def picked(rng: Rng) -> Answers:
    """Chosen labels that do not apply, written down as answers to yes/no questions."""
    n, K = sizes(rng)
    return Answers.from_arrays(absent=named(truth(rng, n, K), rng).complementary)


def volunteered(rng: Rng) -> Answers:
    """Yes/no answers about chosen labels, with one "yes" in twenty."""
    n, K = sizes(rng)
    marks = np.eye(K, dtype=np.uint8)[rng.integers(K, size=n)]
    yes = marks * (rng.random((n, 1)) < 0.05)
    return Answers.from_arrays(relevant=yes, absent=marks - yes)


def audit(n_questions: int) -> World:
    """Return a world with this many random yes/no questions."""

    def world(rng: Rng) -> Answers:
        _, K = sizes(rng)
        return ask(truth(rng, n_questions, K), rng)

    return world


def excluded(kind: str) -> World:
    """Return a world in which rules exclude labels, independently or not."""

    def world(rng: Rng) -> Answers:
        n, K = sizes(rng)
        Y = truth(rng, n, K)
        rates = rng.uniform(0.05, 0.9, size=K)
        marks = ask(Y, rng, "excluded", exclusion_rates=rates).excluded.toarray()
        if kind == "copied":
            marks[:, 0] = marks[:, 1]
        if kind == "nested":
            marks[:, 0] |= marks[:, 1]
        return Answers.from_arrays(excluded=marks, question="excluded")

    return world


def yes_world(per_label: float) -> World:
    """Return a world of ticked items, with so many "yes" on average about one of the labels."""

    def world(rng: Rng) -> Answers:
        n, K = sizes(rng)
        Y = (rng.random((n, K)) < max(0.2, 60 / n)).astype(np.uint8)
        Y[:, 0] = rng.random(n) < per_label / n
        return ask(Y, rng, "ticked")

    return world


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
            changed = (
                which.upper()
                if len(which) < 5 or rng.random() < 0.5
                else which[:at] + which[at + 1 :]
            )
            labels[rng.choice(np.flatnonzero(labels == which), 2, replace=False)] = changed
        rows = {
            "item": [str(at) for at in range(n)],
            "label": labels.tolist(),
            "question": ["named"] * n,
        }
        return Answers.from_table(rows, label_names=sorted(set(labels.tolist())))

    return world


@dataclass(frozen=True)
class Case:
    """A finding, a world in which all is well, and one in which its assumption fails."""

    finding: str
    well: str
    clean: World
    fails: str
    failing: World


AUDITED = "yes/no questions about half of the items"
CASES = [
    Case("choice-depends", "named and ticked; propensities of sd 0, 1 or 2", ticked_world(None),
         "4 times as readily where the next label applies, 3 to 8 labels, 2,000 items",
         lambda rng: ticked_world(0, 4, n=2000, K=int(rng.integers(3, 9)))(rng)),
    Case("choice-depends", "the same, 5,000 items, 5 labels, sd 1", ticked_world(1, n=5000, K=5),
         "the same, 30 labels, 5,000 items", ticked_world(0, 4, n=5000, K=30)),
    Case("choice-depends", "one answer in ten at random", ticked_world(None, mistakes=0.1),
         "2 times as readily, 5 labels, 5,000 items", ticked_world(0, 2, n=5000, K=5)),
    Case("choice-not-uniform", "named and ticked", ticked_world(0),
         "propensities of sd 1, 5 labels or more",
         lambda rng: ticked_world(1, K=int(rng.integers(5, 31)))(rng)),
    Case("choice-not-uniform", "the same, one answer in ten at random",
         ticked_world(0, mistakes=0.1), "the same, propensities of sd 2, 5 labels",
         ticked_world(2, mistakes=0.1, K=5)),
    Case("choice-not-uniform", f"named, {AUDITED}", audited_world(0, "free", 0.5),
         "propensities of sd 1, at least 1,000 items and 5 labels",
         audited_world(1, "free", 0.5, least=(1000, 5))),
    Case("choice-not-uniform", f"menus of 3, {AUDITED}", audited_world(0, "menu-3", 0.5),
         "the same", audited_world(1, "menu-3", 0.5, least=(1000, 5))),
    Case("choice-not-uniform", "menus of 2 alone, 4 to 8 labels", audited_world(0, "menu-2", 0, 8),
         "propensities of sd 2", audited_world(2, "menu-2", 0, 8)),
    Case("mistakes", "one answer in twenty at random, 10 people", people_world([0.05] * 10, 1),
         "three in ten", people_world([0.3] * 10, 1)),
    Case("mistakes", "the same, a tenth of the items", people_world([0.05] * 10, 0.1),
         "3 people, one of whom answers at random", people_world([0.0, 0.0, 1.0], 1)),
    Case("no-agreement", "one answer in ten at random", people_world([0.1] * 10, 1),
         "all answers at random", people_world([1.0] * 10, 1)),
    *(
        Case("yes-shares-differ", f"{n} people, 300 random questions each, no item in common",
             strangers_world("", n, 5), f"the first {does}; 5 labels or more",
             strangers_world(bad, n, 5))
        for n in (2, 5, 10)
        for bad, does in {"yes": "always says yes", "no": "always says no",
                          "random": "answers at random"}.items()
    ),
    Case("people-contradict", "1 % of answers wrong", flips_world(0.01),
         "10 %", flips_world(0.1)),
    Case("people-contradict", "2 % of answers wrong", flips_world(0.02),
         "one answer in ten wrong, 3 people", people_world([0.2] * 3, 1)),
    Case("people-contradict", "3 % of answers wrong", flips_world(0.03),
         "3 people, one of whom answers at random", people_world([0.0, 0.0, 1.0], 1)),
    Case("low-alpha", "no mistakes", people_world([0.0] * 10, 1),
         "one label in fifty applies; 7 answers in 100 at random",
         lambda rng: rare_people(rng)),
    Case("audit-too-small", "3,000 questions, 3 to 30 labels",
         audit(3000), "60 questions", audit(60)),
    Case("only-no", "one yes in twenty", volunteered, "picked labels", picked),
    Case("identical-labels", "rates of exclusion of .05 to .9", excluded(""),
         "one label is a copy of another", excluded("copied")),
    Case("nested-exclusions", "the same", excluded(""),
         "one label is excluded wherever another is", excluded("nested")),
    Case("few-yes", "30 yes for the rarest label", yes_world(30), "3 yes", yes_world(3)),
    Case("similar-names", "29 names of Corel5k", spelt(False),
         "2 answers with a letter less, or in capitals; 40 answers about a label", spelt(True)),
]  # fmt: skip


def rare_people(rng: Rng) -> Answers:
    """Two of ten people judge rare labels of 5,000 items, and make some mistakes."""
    Y = (rng.random((5000, 10)) < 0.02).astype(np.uint8)
    item, label = np.arange(len(Y)), rng.integers(10, size=len(Y))
    marks = np.eye(10, dtype=np.uint8)[label]
    both = []
    for person in "ab":
        random = rng.random(len(Y)) < 0.07
        says = np.where(random, rng.integers(2, size=len(Y)), Y[item, label])[:, None]
        both.append(
            Answers.from_arrays(
                relevant=marks * says, absent=marks * (1 - says), annotator=[person] * len(Y)
            )
        )
    return Answers.concatenate(both)


def found(case: Case, failing: bool, seed: int) -> bool:
    """Return whether the finding is raised in one draw."""
    rng = np.random.default_rng([seed, CASES.index(case), failing])
    answers = (case.failing if failing else case.clean)(rng)
    listed = case.finding != "similar-names"
    seen = inspect_answers(answers, labels_listed=listed)
    # The same with few "yes" has another advice.
    raised = seen.finding(case.finding) or seen.finding(f"{case.finding}-seldom")
    if case.finding == "people-contradict":  # a note says how often; a warning that it matters
        return raised is not None and raised.severity == "warning"
    return raised is not None


def costs(draws: int) -> None:
    """Print average precision of the selection likelihood in sound and in failing worlds."""
    warnings.simplefilter("ignore")  # namings alone: AssumedUniformWarning
    from complabel.datasets import make_synthetic
    from complabel.methods import SelectionLikelihoodClassifier
    from complabel.metrics import evaluate

    def worlds(Y: np.ndarray, rng: Rng) -> dict[str, tuple[Answers, dict[str, object]]]:
        yes_no = lambda e: ask(Y, rng, error_rate=e)  # noqa: E731
        return {
            "named, equal propensities": (named(Y, rng), {}),
            "choice-not-uniform: propensities of sd 1": (named(Y, rng, 1), {}),
            "choice-depends: 2 times as readily": (depending(Y, rng, 2), {}),
            "choice-depends: 4 times as readily": (depending(Y, rng, 4), {}),
            "asked, no mistakes": (yes_no(0.0), {}),
            "mistakes: one answer in twenty at random": (yes_no(0.05), {}),
            "mistakes: three answers in ten at random": (yes_no(0.3), {}),
            **{
                f"people-contradict: {rate:.0%} of answers wrong": (twice(Y, rng, rate), {})
                for rate in (0.01, 0.03, 0.05, 0.1)
            },
        }

    print("\n| world | average precision |\n|---|--:|")
    rows: dict[str, list[float]] = {}
    for seed in range(draws):
        data = make_synthetic(3000, n_labels=8, cardinality=1.8, random_state=seed)
        train, test = slice(0, 2000), slice(2000, None)
        for name, (answers, settings) in worlds(
            np.asarray(data.Y[train]), np.random.default_rng(seed)
        ).items():
            model = SelectionLikelihoodClassifier(kernel="linear", random_state=0, **settings).fit(
                data.X[train], answers
            )
            scores = model.decision_function(data.X[test])
            result = evaluate(data.Y[test], scores, model.predict(data.X[test]))
            rows.setdefault(name, []).append(result["average_precision"])
    for name, values in rows.items():
        print(f"| {name} | {np.mean(values):.3f} |")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only")
    parser.add_argument("--costs", action="store_true")
    told = parser.parse_args()
    print("| finding | all is well | false alarms | an assumption fails | found |")
    print("|---|---|--:|---|--:|", flush=True)
    with Parallel(n_jobs=told.jobs) as parallel:
        for case in CASES:
            if told.only not in (None, case.finding):
                continue
            counts = [
                sum(parallel(delayed(found)(case, failing, seed) for seed in range(told.draws)))
                for failing in (False, True)
            ]
            print(
                f"| `{case.finding}` | {case.well} | {counts[0]} | {case.fails} | {counts[1]} |",
                flush=True,
            )
    if told.costs:
        costs(max(told.draws // 20, 1))


if __name__ == "__main__":
    main()
