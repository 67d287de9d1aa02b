"""How near people's answers and a machine's labels come to how often labels apply.

The machine "3%" is a classifier that learned from the true labels of 3 % of the items, "model" errs
as often as a language model did (``_sets``), and "none" is random questions alone. A person who
does not err answers questions that are drawn by what the machine says: at once, half of them where
it says yes, or in three "rounds". Figures are root mean square errors of frequencies, means over
draws: of the machine's own shares ("raw"); of PPI++ label by label (Angelopoulos et al. 2023), here
the same as plain shares in both strata; of Rogan and Gladen's correction by two rates over all
labels; and of ``estimate_label_frequencies`` ("ours"), also with the machine's probabilities, by
which its questions are then drawn, too ("scores"). Of our intervals of 95 %, "held" is how many
hold, "worst" how many do of the worst label.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks._draws import block
from benchmarks._sets import Array, answers_to, items_of, machine_of, model_of, randomly
from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.frequencies import estimate_label_frequencies

SETS = ("scene", "yeast", "corel5k:15", "digits", "delicious:15")
LARGE, LEARNED = "corel5k:374", ("3%", "10%", "30%")
KEYS = ("set", "machine", "questions", "answers")
OF = [(s, m, "once", 200) for s in (*SETS, LARGE) for m in ("model", *LEARNED)]
OF += [
    (s, m, *how) for s in SETS for m in ("model", "10%") for how in (("rounds", 200), ("once", 300))
]
OF += [(s, "none", "random", n) for s in (*SETS, LARGE) for n in (200, 1000)]
CELLS = [dict(zip(KEYS, each, strict=True)) for each in OF]
QUICK = {"set": ("digits",), "machine": ("model",), "answers": (200,)}
NEEDS = ("scene", "yeast", "corel5k:15", "delicious:15", LARGE)


def world(name: str, machine: str, data: Any) -> tuple[Array, Any, Any]:
    """Return true labels, and the probabilities and 0/1 answers of a machine, (n, K)."""
    if machine == "none":
        return np.asarray(items_of(name, str(data))[1]), None, None
    if machine == "model":
        return model_of(name, str(data))
    return machine_of(name, str(data), float(machine[:-1]) / 100)


def against(
    Y: Array, machine: Any, sizes: Iterable[int], draw: Any, found: Any = None, **how: Any
) -> Answers:
    """Ask by what a machine, or several, say, in rounds of these sizes; after what was found."""
    rng = np.random.default_rng([draw, 2]) if isinstance(draw, int) else draw
    none = np.empty(0, dtype=np.intp)
    found = answers_to(Y, none, none) if found is None else found
    for size in sizes:
        table = suggest_questions(found, size, against=machine, random_state=rng, **how)
        items, labels = (np.asarray(table[of]).astype(np.intp) for of in ("item", "label"))
        found = Answers.concatenate([found, answers_to(Y, items, labels)])
    return found


def rounds_of(questions: str, n: int) -> tuple[int, ...]:
    """Return how many questions each round has."""
    first, second = int(0.4 * n), int(0.3 * n)
    return (first, second, n - first - second) if questions == "rounds" else (n,)


def ours(answers: Answers, machine: Any = None) -> tuple[Array, Array]:
    """Return frequencies (K,) and their intervals (K, 2)."""
    found = estimate_label_frequencies(answers, predictions=machine)
    return found.values, found.intervals


def holding(ends: Array, truth: Array) -> Array:
    """Return which intervals hold the truth."""
    return (ends[..., 0] <= truth + 1e-12) & (truth <= ends[..., 1] + 1e-12)


def off(values: Array, truth: Array) -> Any:
    """Return root mean square errors over labels."""
    return np.sqrt(((np.asarray(values) - truth) ** 2).mean(axis=-1))


def summary(found: Any, truth: Array) -> dict[str, float]:
    """Return the error, and what is known of intervals, of (values, intervals) of several draws."""
    values, ends = (np.array(each) for each in zip(*found, strict=True))
    held = holding(ends, truth).mean(axis=0)
    width = (ends[..., 1] - ends[..., 0]).mean()
    error = off(values, truth).mean()
    return {"rmse": error, "held": held.mean(), "worst": held.min(), "width": width}


def ppi(answers: Answers, machine: Array) -> Array:
    """Return PPI++ means with the tuned factor; answers of one stratum have equal weights."""
    said, values = answers.statements(), machine.mean(axis=0).astype(float)
    for k, q in enumerate(machine.mean(axis=0)):
        at = said.label == k
        if at.sum() < 2:
            continue
        y, f = said.applies[at].astype(float), machine[said.item[at], k].astype(float)
        w = np.where(f > 0.5, q / max(f.sum(), 1), (1 - q) / max((1 - f).sum(), 1))
        w /= w.sum()
        from_mean = f - w @ f
        factor = (w @ (from_mean * (y - w @ y))) / max(w @ from_mean**2, 1e-9)
        factor /= 1 + at.sum() / len(machine)
        values[k] = factor * q + w @ (y - factor * f)
    return np.clip(values, 0, 1)


def rogan_gladen(answers: Answers, machine: Array) -> Array:
    """Return shares that are corrected by two rates over all labels."""
    told = answers.statements()
    said, yes, q = machine[told.item, told.label] > 0.5, told.applies, machine.mean(axis=0)
    # The rates of all pairs, by Bayes' rule from the shares of the strata.
    share = q.mean()
    right = (yes & said).sum() / max(said.sum(), 1) * share
    missed = (yes & ~said).sum() / max((~said).sum(), 1) * (1 - share)
    sensitivity = right / max(right + missed, 1e-9)
    invented = (share - right) / max(1 - right - missed, 1e-9)
    return np.clip((q - invented) / max(sensitivity - invented, 0.05), 0, 1)


def n_draws(cell: Any) -> int:
    """Return over how many draws the figures of one cell are means."""
    if cell["set"] == LARGE:
        return 20
    if cell["machine"] == "none":
        return 200 if cell["answers"] == 200 else 60
    return 60 if (cell["questions"], cell["answers"]) == ("once", 200) else 40


def measure(*, draw: int, data: Any, **cell: Any) -> dict[str, float]:
    """Return the errors of all estimators, and how ours holds."""
    Y, p, said = world(cell["set"], cell["machine"], data)
    sizes, truth = rounds_of(cell["questions"], cell["answers"]), Y.mean(axis=0)
    by_us, by_scores, others = [], [], []
    for each in block(draw, n_draws(cell)):
        if said is None:
            by_us.append(ours(randomly(Y, cell["answers"], each)))
            continue
        answers = against(Y, said, sizes, each)
        by_us.append(ours(answers, said))
        by_scores.append(ours(against(Y, p, sizes, each), p))
        others.append([ppi(answers, said), rogan_gladen(answers, said)])
    found = summary(by_us, truth)
    found = {"ours": found.pop("rmse"), **found}
    if said is None:
        return found
    by_ppi, by_two_rates = off(others, truth).mean(axis=0)
    found |= {"raw": off(said.mean(axis=0), truth), "ppi": by_ppi, "rogan_gladen": by_two_rates}
    return found | {"scores": summary(by_scores, truth)["rmse"]}
