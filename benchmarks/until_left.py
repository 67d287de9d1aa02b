"""Is it known how many answers and minutes are left, and that items are too few?

"few": 169 items are drawn; whether a goal that they cannot reach is denied before the first
question, and after 40 % of the answers (shares of sittings; ``never`` cannot reach it). "time":
until the frequency of each label is known, with 1.5 seconds an answer in the median; ``held_5``
says how often, of 100 sittings, the interval of 80 % of the minutes left held after 5 minutes, and
``held`` the same of answers, after about 40 % of them. "learning": the goal is F1 of the model that
learns from the same answers; people do not err. A draw is 3 sittings.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from scipy import special

from benchmarks._draws import block, means
from benchmarks._models import true_figures
from benchmarks._sets import answers_to
from benchmarks._until import NEEDS as NEEDS
from benchmarks._until import held_left, load, predictions, rates_of
from complabel._questions import KINDS
from complabel.live._asker import Asker
from complabel.live._drawing import RandomQuestions
from complabel.live._learner import Refits
from complabel.live._until import Until, how_far_of_model
from complabel.trust._goals import Goal, foreseen, how_far

SITTINGS, N_FEW, MINUTES = 3, 169, (5, 10, 20)
LARGE = ("mirflickr", "made")
FEW = (
    (("mirflickr", "made", "yeast"), 0.03, "right", ("f1", "precision", "recall")),
    (LARGE, 0.06, "err", ("frequencies", "f1")),
    (("made", "yeast"), 0.05, "right", ("f1", "precision", "average_precision")),
)
CELLS = [
    *(
        {"what": "few", "set": name, "within": within, "people": people, "figure": figure}
        for names, within, people, figures in FEW
        for name in names
        for figure in figures
    ),
    *(
        {"what": "time", "set": name, "within": within, "people": "right", "figure": "frequencies"}
        for within, names in ((0.05, ("scene", "yeast", "digits", "corel5k")), (0.1, LARGE))
        for name in names
    ),
    *(
        {"what": "learning", "set": name, "within": 0.05, "people": "right", "figure": "f1"}
        for name in ("scene", "yeast", "digits")
    ),
]
DRAWS = 12
QUICK = {"what": ("few", "time"), "set": ("made",), "figure": ("precision", "frequencies")}


def of_few(p: Any, truth: Any, goal: Goal, rates: Any, draw: int) -> dict[str, float]:
    """Return whether it is known before and during a sitting that its items are too few."""
    rng, n_labels = np.random.default_rng([0, 9, draw]), p.shape[1]
    rows, names = rng.integers(len(p), size=N_FEW), [str(label) for label in range(n_labels)]
    said = rng.random((N_FEW, n_labels)) < np.where(truth[rows], 1 - rates[0], rates[1])
    against = {} if goal.figure == "frequencies" else {"probabilities": p[rows]}
    ahead = foreseen(goal, said.shape, names, against.get("probabilities"), *rates)
    order, told = rng.permutation(said.size), [bool(ahead and ahead.obstacle())]
    for part in (0.4, 1):
        item, label = np.divmod(order[: int(part * said.size)], n_labels)
        answers = answers_to(said.astype(np.uint8), item, label, 1 / n_labels)
        standing = how_far(answers, [goal], missed=rates[0], invented=rates[1], **against)[0]
        told.append(not standing.is_reached and bool(standing.obstacle() or part == 1))
    before, meanwhile, never = told
    both = {"before_never": before and never, "meanwhile_never": meanwhile and never}
    return {"never": never, "before": before, **both}


def of_time(Y: Any, goal: Goal, rates: Any, draw: int, n_items: int) -> dict[str, float]:
    """Return how long a sitting took, and whether it took as long as it was said."""
    kind, rng = KINDS["asked"], np.random.default_rng([0, draw])
    rows, names = rng.permutation(len(Y))[:n_items], [str(row) for row in range(n_items)]
    labels = [str(label) for label in range(Y.shape[1])]
    until = Until([goal], len(labels), None, None, *rates)
    until.has_equal_pairs, until.size = True, 1  # as for annotate --question asked
    aimed: Any = {"seed": draw, "weights": until.weights}
    source = RandomQuestions(names, len(labels), lambda: kind, kind, **aimed)
    asker = Asker(source, labels, lambda: 0.0)
    told: dict[int, Any] = {}
    looks, minutes, n = [], 0.0, 0
    while not until.is_reached and (event := asker.next("ann")) is not None:
        asked = asker.questions[event.number]
        seconds = float(rng.lognormal(np.log(1.5), 0.5))
        applies = Y[rows[asked.item], asked.labels[0]]
        said = rng.random() < (1 - rates[0] if applies else rates[1])
        _, n = asker.answer(event.id, "ann", "yes" if said else "no", seconds)
        for minute in MINUTES:
            if minutes < minute <= minutes + seconds / 60 and until.standings:
                state = until.state(asker.latest_seconds("asked"))
                told[minute] = state["goals"][0]["minutes_left"]
        minutes += seconds / 60
        if n >= until.next_look:
            until.look(lambda mark: asker.news(mark[0], n_items), n)
            more = until.state([])["goals"][0]["answers_left"]
            looks.append((n, *(np.nan if each is None else each for each in more)))
    found = {"minutes": minutes}
    for minute, (low, _, high) in told.items():
        found[f"held_{minute}"] = 100 * (low <= minutes - minute <= high)
    if until.is_reached and looks and looks[0][0] <= n / 2.5:
        found["held"] = 100 * bool(held_left(looks, n))
    return found


def of_learning(X: Any, Y: Any, goal: Goal, draw: int) -> dict[str, float]:
    """Return how a sitting goes whose goal is about the model that learns meanwhile."""
    rng, n_labels = np.random.default_rng([11, draw]), Y.shape[1]
    rows = rng.permutation(len(Y))[:10_000]
    label = rng.integers(n_labels, size=len(rows))
    refits = Refits(X[rows], seed=draw)
    refits.follow(functools.partial(how_far_of_model, [goal], {}, False))
    n, standings = 50, None
    while n <= len(rows):
        answers = answers_to(Y[rows].astype(np.uint8), np.arange(n), label[:n], 1 / n_labels)
        standings = (refits.update(answers, np.ones(n)) or {}).get("standings")
        if standings and standings[0].is_reached:
            break
        n = standings[0].next_look(n) if standings else n + 50
    if not standings:
        return {"reached": 0, "false": 0}
    p = special.expit(refits._logits(refits._points[-1], np.arange(len(rows)), n_labels))
    truth, (part,) = true_figures(Y[rows], p)[goal.figure], standings[0].parts
    false = part.is_reached and not part.low <= truth <= part.high
    found = {"reached": int(part.is_reached), "false": int(false)}
    return found | ({"answers": n} if part.is_reached else {})


@means
def measure(*, draw: int, data: Any, what: str, people: str, **cell: Any) -> Any:
    """Yield the figures of some sittings."""
    (X, Y), rates = load(cell["set"], data), rates_of(people)
    goal = Goal(cell["figure"], cell["within"], cell["figure"] == "frequencies")
    p, truth = predictions(X, Y) if what == "few" else (None, None)
    n_items = min(len(Y), 800 if cell["set"] in LARGE else 10_000)
    for at in block(draw, SITTINGS):
        if what == "few":
            yield {}, of_few(p, truth, goal, rates, at)
        elif what == "time":
            yield {}, of_time(Y > 0, goal, rates, at, n_items)
        else:
            yield {}, of_learning(X, Y > 0, goal, at)
