"""Sittings that end when a goal is reached: how often they stop falsely, and what they cost.

``level`` sums up, for each frequency, the chance that the interval misses it at the moment when it
is short enough, with a look after each answer. ``frequencies`` and ``figures`` simulate sittings on
real data; people err there as they did on relations (they miss .23 and invent .028), as the command
says (``--people .2,.1``), or not at all.
"""

from __future__ import annotations

import argparse
import functools
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special
from scipy.io import loadmat
from sklearn.datasets import make_multilabel_classification

from complabel._questions import KINDS
from complabel.answers import Answers
from complabel.datasets import make_digits
from complabel.experiments.datasets import load_dataset, load_file
from complabel.frequencies import (
    Audit,
    answers_left,
    beside_predictions,
    interval_at_goal,
    interval_whenever,
)
from complabel.live._asker import Asker
from complabel.live._drawing import RandomQuestions
from complabel.live._learner import Refits
from complabel.live._until import Until, how_far_of_model
from complabel.trust._goals import _PARTS, Goal, Standing, _part, foreseen, how_far
from complabel.trust._metrics import _chances, figures_of
from complabel.trust._pairs import JudgedPairs, ScoredPairs

WHAT = ("level", "frequencies", "beside", "figures", "few", "learning", "time")
MISSED, INVENTED = 0.23, 0.028
MACHINES = {"good": (0.1, 0.01), "middling": (0.2, 0.03), "bad": (0.5, 0.1)}  # missed, invented
WIDTHS = (0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2)
FIXED = 0.05  # level of the interval for a fixed number of answers


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--sittings", type=int, default=2000)
    parser.add_argument("--within", type=float, nargs="*", default=[0.03, 0.05])
    parser.add_argument("--figures", nargs="*", default=["precision", "f1", "average_precision"])
    parser.add_argument("--data", nargs="*", default=["scene", "yeast", "digits", "corel5k"])
    parser.add_argument(
        "--people", nargs="*", default=["right", "err"], help="right, err, or MISSED,INVENTED"
    )
    parser.add_argument("--questions", nargs="*", default=["random", "aimed"])
    parser.add_argument("--against", action="store_true", help="time: beside a model")
    parser.add_argument("--items", type=int, default=10_000, help="most items of a sitting")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.what == "level":
        level(given.within or WIDTHS)
        return
    for name in given.data:
        X, Y = load(name, given.data_dir)
        for people in given.people:
            rates = {"err": (MISSED, INVENTED), "right": (0.0, 0.0)}.get(people) or tuple(
                float(each) for each in people.split(",")
            )
            for within in given.within:
                if given.what == "time":
                    of_time(name, X, Y > 0, within, people, rates, given)
                elif given.what == "learning":
                    of_learning(name, X, Y > 0, within, given)
                elif given.what == "frequencies":
                    of_frequencies(name, Y, within, people, rates, given)
                elif given.what == "beside":
                    of_frequencies_beside(name, X, Y, within, people, rates, given)
                elif given.what == "few":
                    of_few(name, X, Y, within, people, rates, given)
                else:
                    of_figures(name, X, Y, within, people, rates, given)


def load(name: str, folder: Path | None) -> tuple[Any, Any]:
    """Return features and true labels of all rows."""
    if name == "digits":
        data = make_digits(3000, random_state=0)
        return data.X, data.Y
    if name == "made":
        made: Any = {"n_features": 40, "n_classes": 12, "n_labels": 2, "random_state": 5}
        return make_multilabel_classification(3000, **made)
    if name == "mirflickr":
        found = loadmat(Path(folder or ".") / "pml" / "mirflickr.mat")
        return found["data"], np.asarray(found["target"]).T
    if name == "corel5k-all":
        data = load_file(Path(folder or ".") / "corel5k" / "Corel5k-sparse.arff")
    else:
        data = load_dataset(name, data_dir=folder)
    return data.X, data.Y


def level(widths: Any) -> None:
    """Print the greatest chance of a false stop, and mean numbers of answers."""
    print("within | most that miss | at | answers at .01 | .1 | .5 | a fixed number at .5")
    for within in widths:
        stops = ends_of_sittings(within)
        ends = np.unique(stops[3:])  # the chance jumps where an interval ends
        shares = np.concatenate([ends - 1e-9, ends + 1e-9, [0.01, 0.1, 0.5]])
        misses, answers = false_stops(stops, np.clip(shares, 1e-12, 1 - 1e-12))
        worst = int(misses.argmax())
        print(
            f"{within:g} | {misses[worst]:.4f} | {shares[worst]:.3f} | "
            + " | ".join(f"{each:.0f}" for each in answers[-3:])
            + f" | {fixed_number(0.5, within)}",
            flush=True,
        )


def ends_of_sittings(within: float) -> Any:
    """Return where sittings about a label may end, (5, stops).

    Rows: answers, "yes", the logarithm of how many courses lead there, both ends of the interval.
    """
    found, paths = [], np.zeros(1)
    while np.isfinite(paths).any():
        n = len(paths)
        now = np.logaddexp(np.append(-np.inf, paths), np.append(paths, -np.inf))
        low, high = interval_at_goal(np.arange(n + 1.0), np.full(n + 1, float(n)), within).T
        met = ((high - low) / 2 <= within) & np.isfinite(now)
        n_met = np.full(met.sum(), float(n))
        found.append(np.array([n_met, np.flatnonzero(met), now[met], low[met], high[met]]))
        paths = np.where(met, -np.inf, now)
    return np.concatenate(found, axis=1)


def false_stops(stops: Any, shares: Any) -> tuple[Any, Any]:
    """Return the chance of a false stop, and the mean number of answers, for each share."""
    n, yes, paths, low, high = (row[:, np.newaxis] for row in stops)
    misses, answers = [], []
    for share in np.array_split(shares, len(shares) // 100 + 1):
        chance = np.exp(paths + special.xlogy(yes, share) + special.xlog1py(n - yes, -share))
        misses.append((chance * ((share < low) | (share > high))).sum(axis=0))
        answers.append((chance * n).sum(axis=0))
    return np.concatenate(misses), np.concatenate(answers)


def fixed_number(share: float, within: float) -> int:
    """Return the number of answers whose interval of 95 % has this half, on average."""
    n = np.arange(1.0, 2 / within**2)
    yes = share * n
    low = special.betaincinv(np.maximum(yes, 1e-9), n - yes + 1, FIXED / 2)
    high = special.betaincinv(yes + 1, np.maximum(n - yes, 1e-9), 1 - FIXED / 2)
    return int(n[np.argmax((high - low) / 2 <= within)])


def of_frequencies(
    name: str, Y: Any, within: float, people: str, rates: tuple[float, float], given: Any
) -> None:
    """Print how sittings go that end when the frequency of each label is known."""
    rng = np.random.default_rng(given.seed)
    missed, invented = rates
    told = 1 - missed - invented
    n_items, n_labels = Y.shape
    most = min(n_items, int(np.ceil(1.3 / (within * told) ** 2)) + 50)
    is_met, ends = table_of_intervals(most, within * told, n_items if told == 1 else np.inf)
    stops, wrong, never = [], [], []
    for label in range(n_labels):
        said = np.where(Y[:, label] > 0, 1 - missed, invented)
        runs = []
        for _ in range(given.sittings):
            order = rng.permutation(n_items)[:most]
            runs.append(rng.random(most) < said[order])
        yes = np.cumsum(np.array(runs), axis=1)  # (sittings, most)
        met = is_met[np.arange(1, most + 1), yes]
        stop = np.where(met.any(axis=1), met.argmax(axis=1), most - 1)
        low, high = ends[stop + 1, yes[np.arange(len(yes)), stop]].T
        truth = float((Y[:, label] > 0).mean())
        low, high = ((each - invented) / told for each in (low, high))
        reached = met.any(axis=1)
        wrong.append(float(((truth < low - 1e-12) | (truth > high + 1e-12))[reached].mean()))
        never.append(float((~reached).mean()))
        stops.append(stop + 1)
    n = np.sort(np.array(stops), axis=0).astype(float)  # (K, sittings)
    # Once the first label is known, a tenth of the questions goes to labels that are known.
    asked = n_labels * n[0] + (n - n[0]).sum(axis=0) / 0.9
    fixed = max(fixed_number(invented + told * float(y), within * told) for y in Y.mean(axis=0))
    print(
        f"{name} | {n_labels} labels | ±{within:g} | {people} | false stops"
        f" {100 * np.mean(wrong):.1f}, worst label {100 * max(wrong):.1f} | not reached"
        f" {100 * np.mean(never):.1f} | answers {asked.mean():,.0f}"
        f" | random labels {n_labels * n[-1].mean():,.0f} | fixed number {n_labels * fixed:,}",
        flush=True,
    )


def of_frequencies_beside(
    name: str, X: Any, Y: Any, within: float, people: str, rates: tuple[float, float], given: Any
) -> None:
    """Print how sittings go that know what a machine, or a model of other items, says."""
    p, truth = predictions(X, Y, given.seed)
    rng = np.random.default_rng(given.seed)
    machines = {"model of other items": p >= 0.5}
    for quality, (missed, invented) in MACHINES.items():
        machines[f"{quality} machine"] = rng.random(p.shape) < np.where(truth, 1 - missed, invented)
    for machine, predicted in {"no machine": None, **machines}.items():
        runs: list[Any] = []
        for label in range(truth.shape[1]):
            column = None if predicted is None else predicted[:, label]
            runs.append(ends_of_label(truth[:, label], column, within, rates, given))
        n, wrong, ever, held = (np.array(each) for each in zip(*runs, strict=True))
        n = np.sort(n, axis=0).astype(float)
        asked = len(n) * n[0] + (n - n[0]).sum(axis=0) / 0.9
        print(
            f"{name} | {len(n)} labels | ±{within:g} | {people} | {machine} | false stops"
            f" {100 * wrong.mean():.1f}, worst label {100 * wrong.mean(axis=1).max():.1f}"
            f" | answers {asked.mean():,.0f} | left held {100 * np.nanmean(held):.0f}"
            f" | whenever left out {100 * ever.mean():.1f}",
            flush=True,
        )


def ends_of_label(
    truth: Any, predicted: Any, within: float, rates: tuple[float, float], given: Any
) -> tuple[Any, Any, Any, Any]:
    """Ask about one label in many sittings at once; all arrays are (sittings,)."""
    rng = np.random.default_rng([given.seed, int(truth.sum())])
    n_items, n_sittings = len(truth), given.sittings
    missed, invented = rates
    told, share = 1 - missed - invented, truth.mean()
    orders = np.array([rng.permutation(n_items) for _ in range(n_sittings)])
    said = rng.random(orders.shape) < np.where(truth[orders], 1 - missed, invented)
    stop, wrong = np.full(n_sittings, n_items), np.zeros(n_sittings, dtype=bool)
    ever, open_ = np.zeros(n_sittings, dtype=bool), np.arange(n_sittings)
    left = np.full((n_sittings, n_items + 1, 2), np.nan, dtype=np.float32)
    for n in range(1, n_items + 1):
        at = np.repeat(np.arange(len(open_)), n)
        item, applies = orders[open_, :n].ravel(), said[open_, :n].ravel()
        unknown, weight = np.full(len(at), -1), np.ones(len(at))
        audit = Audit(item, at, unknown, applies, weight, len(open_))
        all_predicted = None
        if predicted is not None:
            all_predicted = np.broadcast_to(predicted[:, np.newaxis], (n_items, len(open_)))
        yes, judged = said[open_, :n].sum(axis=1).astype(float), np.full(len(open_), float(n))
        reached, at_goal, whenever, more = frequencies_at(
            audit, all_predicted, yes, judged, within * told, n_items if told == 1 else np.inf
        )
        at_goal, whenever = ((ends - invented) / told for ends in (at_goal, whenever))
        if n >= 20:
            ever[open_] |= (share < whenever[:, 0]) | (share > whenever[:, 1])
        left[open_, n] = more
        ended = open_[reached]
        stop[ended] = n
        low, high = at_goal[reached].T
        wrong[ended] = (share < low - 1e-9) | (share > high + 1e-9)
        open_ = open_[~reached]
        if not len(open_):
            break
    rows, third = np.arange(n_sittings), (stop / 25).astype(int) * 10
    low, high = left[rows, third].T
    held = np.where(third >= 20, (low <= stop - third) & (stop - third <= high), np.nan)
    return stop, wrong, ever, held


def frequencies_at(
    audit: Audit, predicted: Any, yes: Any, judged: Any, within: float, n_items: float
) -> tuple[Any, Any, Any, Any]:
    """Return what a look tells: who is done, both intervals, and how many answers are left."""
    items, width = np.full(len(yes), float(n_items)), np.full(len(yes), within)
    draws: Any = {"n_draws": 1 if judged[0] % 10 else 100, "rng": np.random.default_rng(0)}
    if predicted is None:
        left = answers_left(yes, judged, width, items, **draws)
    else:
        yes, judged, items, left = beside_predictions(audit, predicted, width, items, **draws)
    at_goal = interval_at_goal(yes, judged, width, items)
    whenever = interval_whenever(yes, judged)
    more = np.quantile(left, [0.1, 0.9], axis=0).T
    return left.max(axis=0) <= 0, at_goal, whenever, more


def table_of_intervals(most: int, within: float, n_items: float) -> tuple[Any, Any]:
    """Return which numbers of answers and of "yes" are enough, and the intervals."""
    ends = np.zeros((most + 1, most + 1, 2))
    for n in range(1, most + 1):
        ends[n, : n + 1] = interval_at_goal(
            np.arange(n + 1.0), np.full(n + 1, float(n)), within, n_items
        )
    return (ends[..., 1] - ends[..., 0]) / 2 <= within, ends


def predictions(X: Any, Y: Any, seed: int) -> tuple[Any, Any]:
    """Return chances by a model of half of the rows about the other half, and their labels."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import MaxAbsScaler

    X = MaxAbsScaler().fit_transform(X)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(Y))
    train, test = order[: len(Y) // 2], order[len(Y) // 2 :]
    p = np.zeros((len(test), Y.shape[1]))
    for label in range(Y.shape[1]):
        y = Y[train, label] > 0
        if 0 < y.sum() < len(y):
            model = LogisticRegression(C=1.0, max_iter=200).fit(X[train], y)
            p[:, label] = model.predict_proba(X[test])[:, 1]
    return p, (Y[test] > 0)


def of_figures(
    name: str, X: Any, Y: Any, within: float, people: str, rates: tuple[float, float], given: Any
) -> None:
    """Print how sittings go that end when a figure of a model is known."""
    p, truth = predictions(X, Y, given.seed)
    n_items = min(len(p), given.items)
    for figure in given.figures:
        goal = Goal(figure, within)
        whole = figure_of(p, truth, figure)
        for questions in given.questions:
            rng = np.random.default_rng([given.seed, 7])
            began = time.perf_counter()
            runs = [
                sitting(goal, p, truth, whole, n_items, questions, rates, rng)
                for _ in range(given.sittings)
            ]
            *found, looks = zip(*runs, strict=True)
            n, low, high, reached, ever = map(np.array, found)
            left = Held()
            for each in zip(looks, n, reached, strict=True):
                left.add(*each)
            wrong = (whole < low) | (whole > high)
            print(
                f"{name} | {figure} {whole:.3f} | ±{within:g} | {people} | {questions}"
                " | false stops"
                f" {100 * wrong[reached].mean():.1f} | reached {reached.sum():,} of"
                f" {len(reached):,}, {wrong[reached].sum():,} falsely | answers"
                f" {n[reached].mean():,.0f} | {left}"
                f" | whenever left out {100 * np.mean(ever):.1f}"
                f" | {time.perf_counter() - began:.0f} s",
                flush=True,
            )


def of_few(
    name: str, X: Any, Y: Any, within: float, people: str, rates: tuple[float, float], given: Any
) -> None:
    """Print whether it is known before and during a sitting that its items are too few."""
    p, truth = predictions(X, Y, given.seed)
    names = [str(label) for label in range(p.shape[1])]
    for figure in given.figures:
        goal, found = Goal(figure, within, figure == "frequencies"), []
        for draw in range(given.sittings):
            rng = np.random.default_rng([given.seed, 9, draw])
            rows = rng.integers(len(p), size=given.items)
            said = rng.random((given.items, len(names))) < np.where(
                truth[rows], 1 - rates[0], rates[1]
            )
            against = {} if figure == "frequencies" else {"probabilities": p[rows]}
            ahead = foreseen(goal, said.shape, names, against.get("probabilities"), *rates)
            order, told = rng.permutation(said.size), [bool(ahead and ahead.obstacle())]
            for part in (0.4, 1):
                item, label = np.divmod(order[: int(part * said.size)], len(names))
                yes = np.eye(len(names), dtype=np.uint8)[label]
                applies = yes * said[item, label][:, np.newaxis]
                of: Any = {"item": item, "question": "asked", "probability": 1 / len(names)}
                answers = Answers.from_arrays(
                    relevant=applies, absent=yes - applies, n_items=given.items, **of
                )
                how = {"missed": rates[0], "invented": rates[1], **against}
                standing = how_far(answers, [goal], **how)[0]
                told.append(not standing.is_reached and bool(standing.obstacle() or part == 1))
            found.append(told)
        before, meanwhile, never = np.array(found).T
        print(
            f"{name} | {given.items} items | {figure} ±{within:g} | {people} | cannot be reached"
            f" {never.sum()} of {len(never)}: said before the first question in"
            f" {before[never].sum()}, after 40 % in {meanwhile[never].sum()} | can be reached:"
            f" denied before in {before[~never].sum()}, after 40 % in {meanwhile[~never].sum()}",
            flush=True,
        )


def of_time(
    name: str, X: Any, Y: Any, within: float, people: str, rates: tuple[float, float], given: Any
) -> None:
    """Print how often the time left was as it was said, for the frequency of each label."""
    kind, p = KINDS["asked"], None
    if given.against:
        p, Y = predictions(X, Y, given.seed)
    n_items, names = min(len(Y), given.items), [str(row) for row in range(len(Y))]
    labels = [str(label) for label in range(Y.shape[1])]
    held: dict[int, list[bool]] = {minute: [] for minute in (5, 10, 20)}
    ratios: dict[int, list[float]] = {minute: [] for minute in held}
    ends, left = [], Held()
    for draw in range(given.sittings):
        rng = np.random.default_rng([given.seed, draw])
        rows = rng.permutation(len(Y))[:n_items]
        goals, told_of = [Goal("frequencies", within, True)], None if p is None else p[rows]
        until = Until(goals, len(labels), None, told_of, *rates)
        until.has_equal_pairs, until.size = True, 1  # as for annotate --question asked
        aimed: Any = {"seed": draw, "weights": until.weights}
        source = RandomQuestions(names[:n_items], len(labels), lambda: kind, kind, **aimed)
        asker = Asker(source, labels, lambda: 0.0)
        told, looks, minutes = {}, [], 0.0
        while not until.is_reached:
            event = asker.next("ann")
            if event is None:
                break
            asked = asker.questions[event.number]
            seconds = float(rng.lognormal(np.log(1.5), 0.5))
            applies = Y[rows[asked.item], asked.labels[0]]
            said = rng.random() < (1 - rates[0] if applies else rates[1])
            _, n = asker.answer(event.id, "ann", "yes" if said else "no", seconds)
            for minute in held:
                if minutes < minute <= minutes + seconds / 60 and until.standings:
                    goal = until.state(asker.latest_seconds("asked"))["goals"][0]
                    told[minute] = goal["minutes_left"]
            minutes += seconds / 60
            if n >= until.next_look:
                until.look(lambda mark, asker=asker: asker.news(mark[0], n_items), n)
                more = until.state([])["goals"][0]["answers_left"]
                looks.append((n, *(np.nan if each is None else each for each in more)))
        ends.append(minutes)
        left.add(looks, n, until.is_reached)
        for minute, (low, middle, high) in told.items():
            held[minute].append(low <= minutes - minute <= high)
            ratios[minute].append((minutes - minute) / middle)
    print(
        f"{name} | frequencies | ±{within:g} | {people} | against {p is not None} | answers"
        f" {np.mean(left.ends):,.0f} | {left} | minutes {np.mean(ends):.0f}"
        " | held after 5, 10, 20: "
        + ", ".join(
            f"{100 * np.mean(each):.0f} of 100 ({np.median(ratios[minute]):.2f} times as long)"
            for minute, each in held.items()
            if each
        ),
        flush=True,
    )


class Held:
    """Counts in how many sittings the interval of what is left held, after 40 % of the answers."""

    def __init__(self) -> None:
        self.ends, self.sooner, self.later, self.held, self.lengths = [], 0, 0, 0, []
        self.unknown, self.never = 0, 0  # sittings without a number, and those that did not end

    def add(self, looks: Any, n: int, is_reached: bool) -> None:
        """Add a sitting of n answers; looks have answers so far, and how many more, three each."""
        self.never += not is_reached
        at = [each for each in looks if each[0] <= n / 2.5]
        if not is_reached or not at:
            return
        n_so_far, low, middle, high = at[-1]
        self.ends.append(n)
        self.unknown += bool(np.isnan(low))
        self.sooner += n - n_so_far < low
        self.later += n - n_so_far > high
        self.held += low <= n - n_so_far <= high
        self.lengths.append((n - n_so_far) / middle)

    def __str__(self) -> str:
        n = max(self.held + self.sooner + self.later, 1)
        return (
            f"left held {100 * self.held / n:.0f} of 100 (of {n}; it took less in"
            f" {100 * self.sooner / n:.0f}, more in {100 * self.later / n:.0f};"
            f" {np.nanmedian([*self.lengths, np.nan]):.2f} times as many), no number in"
            f" {self.unknown}, not reached {self.never}"
        )


def of_learning(name: str, X: Any, Y: Any, within: float, given: Any) -> None:
    """Print how sittings go whose goal is about the model that learns from the same answers."""
    for figure in given.figures:
        goal, found = Goal(figure, within), []
        for draw in range(given.sittings):
            rng = np.random.default_rng([given.seed, draw])
            rows = rng.permutation(len(Y))[: given.items]
            label = rng.integers(Y.shape[1], size=len(rows))
            find = functools.partial(how_far_of_model, [goal], {}, False)
            refits = Refits(X[rows], seed=draw)
            refits.follow(find)
            n, standings = 50, None
            while n <= len(rows):
                yes = np.zeros((n, Y.shape[1]), dtype=np.uint8)
                yes[np.arange(n), label[:n]] = 1
                applies = Y[rows[:n]] * yes
                answers = Answers.from_arrays(
                    relevant=applies,
                    absent=yes - applies,
                    question="asked",
                    probability=1 / Y.shape[1],
                    n_items=len(rows),
                )
                state = refits.update(answers, np.ones(n)) or {}
                standings = state.get("standings")
                if standings and standings[0].is_reached:
                    break
                n = standings[0].next_look(n) if standings else n + 50
            if standings:
                every = np.arange(len(rows))
                p = special.expit(refits._logits(refits._points[-1], every, Y.shape[1]))
                truth, (part,) = figure_of(p, Y[rows], figure), standings[0].parts
                found.append((n, part.is_reached, not part.low <= truth <= part.high, truth))
        n, reached, wrong, truth = map(np.array, zip(*found, strict=True))
        print(
            f"{name} | {figure} {truth.mean():.3f} | ±{within:g} | learning | reached"
            f" {100 * reached.mean():.0f} of 100 | false stops {wrong[reached].sum()} of"
            f" {reached.sum()} | answers {n[reached].mean():,.0f}",
            flush=True,
        )


def figure_of(p: Any, truth: Any, figure: str) -> float:
    """Return the figure by all true labels."""
    every = np.arange(p.size)
    none = np.zeros((1, p.shape[1]))
    judged = JudgedPairs(
        every // p.shape[1],
        every % p.shape[1],
        np.full(p.size, -1),
        truth.ravel(),
        np.ones(p.size),
        *p.shape,
    )
    pairs = ScoredPairs.of(judged, p, np.asarray(0.5), none, none)
    return float(figures_of(pairs, 0.95, new_items=False, names=(figure,))[figure].value)


def sitting(
    goal: Goal,
    p: Any,
    truth: Any,
    whole: float,
    n_items: int,
    questions: str,
    rates: tuple[float, float],
    rng: Any,
) -> tuple[Any, ...]:
    """Ask about items drawn from those at hand until the goal is reached, or 6,000 answers."""
    rows = rng.integers(len(p), size=n_items)
    p, truth = p[rows], truth[rows]
    n_labels = p.shape[1]
    if questions == "random":
        chance = np.full(p.size, 1 / n_labels)
    else:
        chance = _chances(p.ravel(), (p >= 0.5).ravel(), goal.figure, len(p))
    order = np.argsort(rng.random(p.size) / chance)[:6000]
    missed, invented = rates
    said = rng.random(len(order)) < np.where(truth.ravel()[order], 1 - missed, invented)
    by_label = [np.full((1, n_labels), rate) for rate in rates]
    n, looks, ever, ranking = 0, [], False, None
    n_next = 50
    while True:
        n = min(n_next, len(order))
        pair = order[:n]
        weight = 1 / chance[pair]
        judged = JudgedPairs(
            pair // n_labels,
            pair % n_labels,
            np.full(n, -1),
            said[:n],
            weight / weight.mean(),
            *p.shape,
        )
        pairs = ScoredPairs.of(judged, p, np.asarray(0.5), *by_label)
        if goal.figure == "average_precision":  # the order stays the same
            ranking = pairs.__dict__.setdefault("ranking", ranking or pairs.ranking)
        part = _part([pairs, *pairs.in_parts(_PARTS)], goal)
        looks.append((n, *part.left))
        if part.is_reached or n >= len(order):
            break
        n_next = Standing(goal, [part], n, part.left).next_look(n)
        ever |= not part.low <= whole <= part.high
    return n, part.low, part.high, part.is_reached, ever, looks


if __name__ == "__main__":
    main()
