"""What people's answers add to a machine's: label frequencies, and the machine's precision.

The machine is a classifier that learned from the true labels of a few items of a dataset, so its
mistakes depend on the item. It answers all other pairs, with 0 and 1 (as many labels as the few
items have, times 1.15, since models say too much). Then so many yes/no answers of a person who does
not err are drawn, again and again, and each estimator gets the same draws:

- machine: its own shares.
- before: what ``predictions=`` was until November 2026: regression (PPI++), and scaled counts.
- ours: ``estimate_label_frequencies(answers, predictions=machine)``.
- ppi++: prediction-powered means with the tuned factor, label by label (Angelopoulos et al. 2023).
- strata: plain shares in both strata of each label; intervals of Clopper and Pearson, combined.
- rogan-gladen: the machine's share, corrected by its two rates of mistakes over all labels.
- ppi_py; glide, scores: these packages (``pip install ppi-python``; ``pip install glide-py``, which
  needs Python 3.12); both are off unless ``--estimators`` names them.
- ours, scores: with the machine's probabilities, by which the questions are drawn, too.

Printed are the root mean square error, the share of 95 % intervals that hold (mean, worst label),
their mean width, and the error of the cardinality.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from scipy import stats

from benchmarks._sets import answers_to, items_of, machine_of, model_of, randomly
from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.frequencies import audit_machine, estimate_label_frequencies

Array: TypeAlias = Any
Found: TypeAlias = tuple[Array, Array]  # frequencies (K,), intervals (K, 2)
SHARES = (0.03, 0.1, 0.3)
_MORE = 1.15  # models say too many labels
_Z = 1.96


def against(Y: Array, machine: Array, n: int, draw: int, rounds: Sequence[int] = ()) -> Answers:
    """Ask by the machine's answer, in rounds of these sizes, or at once."""
    rng = np.random.default_rng([draw, 2])
    found = Answers.from_arrays(
        relevant=np.zeros((0, Y.shape[1]), np.uint8),
        absent=np.zeros((0, Y.shape[1]), np.uint8),
        question="asked",
        item=np.empty(0, dtype=np.intp),
        n_items=len(Y),
    )
    for size in rounds or (n,):
        table = suggest_questions(found, size, against=machine, random_state=rng)
        items, labels = np.asarray(table["item"]), np.asarray(table["label"]).astype(np.intp)
        found = Answers.concatenate([found, answers_to(Y, items, labels)])
    return found


def ours(answers: Answers, machine: Array) -> Found:
    """Return what complabel finds."""
    found = estimate_label_frequencies(answers, predictions=machine)
    return found.values, found.intervals


def raw(_: Answers, machine: Array) -> Found:
    """Return the machine's shares."""
    q = machine.mean(axis=0)
    return q, np.stack([q, q], axis=1)


def _pairs(answers: Answers) -> tuple[Array, Array, Array]:
    said = answers.statements()
    return said.item, said.label, said.applies


def ppi(answers: Answers, machine: Array) -> Found:
    """PPI++ of the mean, label by label; answers of one stratum have equal weights."""
    n, n_labels = machine.shape
    item, label, yes = _pairs(answers)
    values, widths = machine.mean(axis=0).astype(float), np.full(n_labels, np.nan)
    for k in range(n_labels):
        at = label == k
        if at.sum() < 2:
            widths[k] = 1.0
            continue
        y, f = yes[at].astype(float), machine[item[at], k].astype(float)
        q = machine[:, k].mean()
        n_yes, n_no = f.sum(), (1 - f).sum()
        w = np.where(f > 0.5, q / max(n_yes, 1), (1 - q) / max(n_no, 1))
        w /= w.sum()
        mean_y, mean_f = w @ y, w @ f
        variance = w @ (f - mean_f) ** 2
        factor = (w @ ((f - mean_f) * (y - mean_y))) / max(variance, 1e-9) / (1 + at.sum() / n)
        values[k] = factor * q + w @ (y - factor * f)
        rest = y - factor * f
        widths[k] = _Z * np.sqrt((w**2 @ (rest - w @ rest) ** 2) + factor**2 * q * (1 - q) / n)
    ends = np.stack([values - widths, values + widths], axis=1)
    return np.clip(values, 0, 1), np.clip(ends, 0, 1)


def strata(answers: Answers, machine: Array) -> Found:
    """Plain shares by stratum; half-widths of Clopper and Pearson are added in squares."""
    n_labels = machine.shape[1]
    item, label, yes = _pairs(answers)
    q = machine.mean(axis=0)
    values, low2, high2 = np.zeros(n_labels), np.zeros(n_labels), np.zeros(n_labels)
    for is_yes, share in ((True, q), (False, 1 - q)):
        at = (machine[item, label] > 0.5) == is_yes
        n = np.bincount(label[at], minlength=n_labels)
        x = np.bincount(label[at], weights=yes[at], minlength=n_labels)
        pooled = (x.sum() + 0.5) / (n.sum() + 1)
        theta = np.where(n > 0, x / np.maximum(n, 1), pooled)
        low = np.where(x > 0, stats.beta.ppf(0.025, np.maximum(x, 1e-9), n - x + 1), 0.0)
        high = np.where(x < n, stats.beta.ppf(0.975, x + 1, np.maximum(n - x, 1e-9)), 1.0)
        values += share * theta
        low2 += (share * (theta - low)) ** 2
        high2 += (share * (high - theta)) ** 2
    return values, np.clip(np.stack([values - np.sqrt(low2), values + np.sqrt(high2)], 1), 0, 1)


def rogan_gladen(answers: Answers, machine: Array) -> Found:
    """Correct shares by two rates over all labels; errors by the delta method."""
    item, label, yes = _pairs(answers)
    said = machine[item, label] > 0.5
    q = machine.mean(axis=0)
    # The rates of all pairs, by Bayes' rule from the shares of the strata.
    share = q.mean()
    right = (yes & said).sum() / max(said.sum(), 1) * share
    missed = (yes & ~said).sum() / max((~said).sum(), 1) * (1 - share)
    sensitivity = right / max(right + missed, 1e-9)
    invented = (share - right) / max(1 - right - missed, 1e-9)
    gap = max(sensitivity - invented, 0.05)
    values = np.clip((q - invented) / gap, 0, 1)
    n_yes, n_no = max(yes.sum(), 1), max((~yes).sum(), 1)
    of_rates = values**2 * sensitivity * (1 - sensitivity) / n_yes
    of_rates += (1 - values) ** 2 * invented * (1 - invented) / n_no
    half = _Z * np.sqrt(q * (1 - q) / len(machine) + of_rates) / gap
    return values, np.clip(np.stack([values - half, values + half], axis=1), 0, 1)


_SHARED, _TINY = 10.0, 1e-12


def before(answers: Answers, machine: Array) -> Found:
    """Estimate as ``predictions=`` did until November 2026."""
    from complabel.frequencies._counts import Audit, Counts
    from complabel.frequencies._posterior import from_audit

    strata_of = (machine > 0.5).astype(np.intp)
    audit = Audit.of(answers, None if not np.isnan(answers.probability).any() else strata_of)
    weight = audit.weight.copy()
    if np.isnan(answers.probability).any():  # as if the chances by stratum had been given
        asked = np.bincount(strata_of[audit.item, audit.label], minlength=2)
        n_pairs = np.bincount(strata_of.ravel(), minlength=2)
        inverse = (n_pairs / np.maximum(asked, 1))[strata_of[audit.item, audit.label]]
        total, squares = (audit_sum(audit, inverse**power) for power in (1, 2))
        weight = inverse * (total / np.maximum(squares, _TINY))[audit.label]
    yes, judged = (audit_sum(audit, weight * each) for each in (audit.applies, 1.0))
    pooled = (weight @ audit.applies + 1) / (weight.sum() + 2)
    base = (yes + 2 * pooled) / (judged + 2)
    p = machine.astype(float)
    x = (p - p.mean(axis=0))[audit.item, audit.label]
    y = audit.applies - base[audit.label]
    variance = p.var(axis=0)
    xy, xx = weight * x * y, weight * x * x
    common = xy.sum() / (xx.sum() + _SHARED * variance.mean() + _TINY)
    above = (audit_sum(audit, xy) + _SHARED * variance * common)[audit.label] - xy
    below = (audit_sum(audit, xx) + _SHARED * variance)[audit.label] - xx
    slope = np.maximum(above / np.maximum(below, _TINY), 0.0)
    n = np.maximum(judged, _TINY)
    share = audit_sum(audit, weight * (audit.applies - slope * x)) / n
    usual = base * (1 - base)
    whole, left = weight * y**2, weight * (y - slope * x) ** 2
    common = min(1.0, float((left.sum() + _SHARED * usual.mean()) / (whole.sum() + _TINY)))
    ratio = (audit_sum(audit, left) + _SHARED * common * usual) / (
        audit_sum(audit, whole) + _SHARED * usual
    )
    used = audit_sum(audit, weight * slope) / n
    ratio = ratio + used**2 * variance / len(p) * n / usual
    better = (ratio < 1) & (judged > 0)
    effective = np.where(better, judged / np.maximum(ratio, _TINY), judged)
    yes = np.where(better, np.clip(share, 0, 1) * effective, yes)
    found = from_audit(Counts.of_one_group(yes, effective))
    return found.values, found.intervals


def audit_sum(audit: Any, values: Any) -> Array:
    """Return sums (K,) over the judgements of each label."""
    values = np.broadcast_to(values, audit.label.shape)
    return np.bincount(audit.label, weights=values, minlength=audit.n_labels)


def ppi_py(answers: Answers, machine: Array) -> Found:
    """PPI++ of the mean, label by label, by the package ``ppi-python``."""
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    item, label, yes = _pairs(answers)
    values, ends = machine.mean(axis=0).astype(float), np.tile([0.0, 1.0], (machine.shape[1], 1))
    for k in range(machine.shape[1]):
        at = label == k
        f, said = machine[item[at], k].astype(float), machine[:, k].astype(float)
        if at.sum() < 2 or f.std() == 0:
            continue
        # As many answers in each stratum as it has pairs.
        q = (said > 0.5).mean()
        w = np.where(f > 0.5, q / max((f > 0.5).sum(), 1), (1 - q) / max((f <= 0.5).sum(), 1))
        given = (yes[at].astype(float), f, said)
        values[k] = np.ravel(ppi_mean_pointestimate(*given, w=w))[0]
        ends[k] = np.ravel(ppi_mean_ci(*given, alpha=0.05, w=w))
    return np.clip(values, 0, 1), np.clip(ends, 0, 1)


def glide(answers: Answers, machine: Array) -> Found:
    """Stratified PPI++ of ``glide-py``, label by label; the machine's share where it refuses.

    It refuses strata in which the machine says one word, so it needs scores, and those with fewer
    than two answers or equal ones.
    """
    from glide.estimators import StratifiedPPIMeanEstimator

    item, label, yes = _pairs(answers)
    values, ends = machine.mean(axis=0).astype(float), np.tile([0.0, 1.0], (machine.shape[1], 1))
    for k in range(machine.shape[1]):
        at, said = label == k, machine[:, k].astype(float)
        true = np.full(len(said), np.nan)
        true[item[at]] = yes[at]
        try:
            found = StratifiedPPIMeanEstimator().estimate(true, said, (said > 0.5).astype(int))
        except ValueError:
            continue
        of_it = found.confidence_interval
        values[k], ends[k] = of_it.mean, (of_it.lower_bound, of_it.upper_bound)
    return np.clip(values, 0, 1), np.clip(ends, 0, 1)


ESTIMATORS: dict[str, Callable[[Answers, Array], Found]] = {
    "machine": raw,
    "before": before,
    "ours": ours,
    "ppi++": ppi,
    "strata": strata,
    "rogan-gladen": rogan_gladen,
    "ppi_py": ppi_py,
    "glide, scores": glide,
}
_INSTALLED = [name for name in ESTIMATORS if name not in ("ppi_py", "glide, scores")]


def designs(n: int) -> dict[str, Callable[[Array, Array, int], Answers]]:
    """Return how n questions are drawn."""
    three = (int(0.4 * n), int(0.3 * n), n - int(0.4 * n) - int(0.3 * n))
    few = (int(0.4 * n), *[12] * ((n - int(0.4 * n)) // 12))
    return {
        "random": lambda Y, _, draw: randomly(Y, n, draw),
        "half and half": lambda Y, machine, draw: against(Y, machine, n, draw),
        "three rounds": lambda Y, machine, draw: against(Y, machine, n, draw, three),
        "12 at a time": lambda Y, machine, draw: against(Y, machine, n, draw, few),
    }


def cell(
    Y: Array, p: Array, said: Array, n: int, draws: range, design: str, names: Sequence[str]
) -> list[dict[str, Any]]:
    """Return what each draw found, of all estimators."""
    truth, found = Y.mean(axis=0), []
    for draw in draws:
        drawn = {
            words: designs(n)[design](Y, said if words else p, draw)
            for words in {name != "ours, scores" for name in names}
        }
        for name in names:
            scores = name.endswith(", scores")
            answers = drawn[name != "ours, scores"]
            estimator = ours if name == "ours, scores" else ESTIMATORS[name]
            start = time.process_time()
            values, ends = estimator(answers, p if scores else said)
            found.append(
                {
                    "name": name,
                    "rmse": np.sqrt(((values - truth) ** 2).mean()),
                    "held": (ends[:, 0] <= truth) & (truth <= ends[:, 1]),
                    "width": (ends[:, 1] - ends[:, 0]).mean(),
                    "sum": abs(values.sum() - truth.sum()),
                    "seconds": time.process_time() - start,
                }
            )
    return found


def share_of(part: Array, whole: Array) -> Array:
    """Return part / whole; NaN where there is nothing, such as the recall of a label of no item."""
    part, whole = np.asarray(part, float), np.asarray(whole, float)
    return np.divide(part, whole, out=np.full(whole.shape, np.nan), where=(whole != 0))


def rates_by_ppi(answers: Answers, machine: Array) -> dict[str, Array]:
    """Return intervals (K + 1, 2) of precision and recall, the last of all pairs.

    Within a stratum the machine says one word, so prediction-powered means are plain shares; those
    of all pairs weigh labels by their pairs. Recall is a ratio: the delta method.
    """
    item, label, yes = _pairs(answers)
    K, said = machine.shape[1], machine[item, label] > 0.5
    share = np.stack([1 - machine.mean(axis=0), machine.mean(axis=0)])
    n, x = np.zeros((2, 2, K))
    np.add.at(n, (said.astype(int), label), 1)
    np.add.at(x, (said.astype(int), label), yes)
    chance = np.where(n > 0, x / np.maximum(n, 1), np.nan)
    variance = chance * (1 - chance) / np.maximum(n - 1, 1)
    # Labels without an answer are left out of what is said about all pairs.
    joint, spread, of = share * chance, share**2 * variance, share
    joint, spread, of = (
        np.concatenate([each, np.nansum(np.where(np.isnan(chance), np.nan, each), 1)[:, None]], 1)
        for each in (joint, spread, of)
    )
    precision, of_precision = joint[1] / of[1], spread[1] / of[1] ** 2
    total = joint.sum(axis=0)
    recall = share_of(joint[1], total)
    of_recall = ((1 - recall) ** 2 * spread[1] + recall**2 * spread[0]) / total**2
    return {
        name: np.clip(np.stack([value - _Z * np.sqrt(of_it), value + _Z * np.sqrt(of_it)], 1), 0, 1)
        for name, value, of_it in (
            ("precision", precision, of_precision),
            ("recall", recall, of_recall),
        )
    }


def rates_by_us(answers: Answers, machine: Array) -> dict[str, Array]:
    """Return intervals (K + 1, 2) of precision and recall, the last of all pairs."""
    found = audit_machine(answers, machine)
    return {
        name: np.concatenate([of_it.intervals, [of_it.overall[1:]]])
        for name, of_it in (("precision", found.precision), ("recall", found.recall))
    }


def rates_cell(Y: Array, said: Array, n: int, draws: range, design: str) -> list[Any]:
    """Return, for each draw, rate and estimator, which intervals hold, and their widths."""
    both = (Y * said).sum(axis=0)
    truth = {
        rate: np.append(share_of(both, of.sum(axis=0)), share_of(both.sum(), of.sum()))
        for rate, of in (("precision", said), ("recall", Y))
    }
    found = []
    for draw in draws:
        answers = designs(n)[design](Y, said, draw)
        for name, estimator in (("ours", rates_by_us), ("ppi", rates_by_ppi)):
            for rate, ends in estimator(answers, said).items():
                at = truth[rate]
                held = (ends[:, 0] <= at) & (at <= ends[:, 1])
                found.append((name, rate, held, ends[:, 1] - ends[:, 0]))
    return found


def in_parts(given: argparse.Namespace, measure: Callable[[list[int]], list[Any]]) -> list[Any]:
    """Return what all draws gave, which are divided among the processes."""
    parts = np.array_split(np.arange(given.draws), given.jobs)
    found = Parallel(n_jobs=given.jobs)(delayed(measure)(part.tolist()) for part in parts)
    return [row for rows in found for row in rows]


def print_rates(given: argparse.Namespace) -> None:
    """Print how often intervals of precision and recall hold, and their widths."""
    print("| labels | machine of | answers | questions | rate | all pairs: ours held, width | PPI "
          "| five worst labels: ours held, width | PPI |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|")
    for name, share in itertools.product(given.datasets, given.shares):
        Y, _, said = _world(name, given.data, share)
        for n, design in itertools.product(given.answers, given.designs):
            found = in_parts(given, partial(rates_cell, Y, said, n, design=design))
            both = (Y * said).sum(axis=0)
            for rate, of in (("precision", said), ("recall", Y)):
                value = both / np.maximum(of.sum(axis=0), 1)
                value[of.sum(axis=0) < 5] = 2  # too few pairs for a rate
                worst = np.argsort(value)[:5]
                row = []
                for places in ([-1], worst):
                    for who in ("ours", "ppi"):
                        of_it = [(h, w) for a, r, h, w in found if (a, r) == (who, rate)]
                        held = np.mean([h[places] for h, _ in of_it])
                        widths = np.array([w[places] for _, w in of_it])
                        width = share_of(np.nansum(widths), np.isfinite(widths).sum())
                        row.append(f"{100 * held:.0f} %, {width:.3f}")
                print(
                    f"| {name} | {_called(share)} | {n} | {design} | {rate} | {' | '.join(row)} |",
                    flush=True,
                )


def print_plain(given: argparse.Namespace) -> None:
    """Print what random questions tell without a machine."""
    print("| labels | answers | rmse | held, % | worst label | width |")
    print("|---|---|---|---|---|---|")

    def found(Y: Array, n: int, draw: int) -> tuple[Any, ...]:
        of_draw, truth = estimate_label_frequencies(randomly(Y, n, draw)), Y.mean(axis=0)
        low, high = of_draw.intervals.T
        error = np.sqrt(((of_draw.values - truth) ** 2).mean())
        return error, (low <= truth) & (truth <= high), (high - low).mean()

    for name, n in itertools.product(given.datasets, given.answers):
        Y = np.asarray(items_of(name, given.data)[1])
        of_draws = Parallel(n_jobs=given.jobs)(
            delayed(found)(Y, n, draw) for draw in range(given.draws)
        )
        error, held, width = (np.mean(each, axis=0) for each in zip(*of_draws, strict=True))
        print(
            f"| {name} | {n} | {error:.5f} | {100 * held.mean():.1f} | {100 * held.min():.1f}"
            f" | {width:.4f} |",
            flush=True,
        )


def print_stopping(given: argparse.Namespace) -> None:
    """Print how often intervals hold where people stop after a look, by two rules.

    There are looks after 40, 80, 120, 160 and 200 answers, in rounds that follow what was answered.
    Both rules are about the label that the machine says most often. "Differs": stop as soon as its
    interval leaves out the machine's share, which is the rule that should harm most. "Narrow": stop
    as soon as its interval is narrower than in half of the draws at 120 answers.
    """
    print(
        "| labels | machine of | rule | answers | held there, % | of all labels | never stopped |"
    )
    print("|---|---|---|---|---|---|---|")
    looks = [40] * 5

    def found(Y: Array, said: Array, draw: int) -> list[Array]:
        return [
            ours(against(Y, said, 0, draw, looks[: at + 1]), said)[1] for at in range(len(looks))
        ]

    for name, share in itertools.product(given.datasets, given.shares):
        Y, _, said = _world(name, given.data, share)
        truth, of_machine, label = Y.mean(axis=0), said.mean(axis=0), said.sum(axis=0).argmax()
        ends = np.array(
            Parallel(n_jobs=given.jobs)(
                delayed(found)(Y, said, draw) for draw in range(given.draws)
            )
        )  # (draws, looks, K, 2)
        held = (ends[..., 0] <= truth) & (truth <= ends[..., 1])
        low, high = ends[:, :, label].transpose(2, 0, 1)
        rules = {
            "differs": (of_machine[label] < low) | (high < of_machine[label]),
            "narrow": high - low < np.median((high - low)[:, 2]),
        }
        for rule, stops in rules.items():
            stops[:, -1] = True
            at = stops.argmax(axis=1)
            there = held[np.arange(len(held)), at]
            print(
                f"| {name} | {_called(share)} | {rule} | {np.cumsum(looks)[at].mean():.0f}"
                f" | {100 * there[:, label].mean():.0f} | {100 * there.mean():.0f}"
                f" | {100 * held[:, -1, label].mean():.0f}, {100 * held[:, -1].mean():.0f} |",
                flush=True,
            )


def print_many(_: argparse.Namespace) -> None:
    """Print processor seconds of audits with 2,000 answers about 1,000 labels of 2,000 items."""
    rng = np.random.default_rng(0)
    often = np.geomspace(0.002, 0.3, 1000)
    Y = (rng.random((2000, 1000)) < often).astype(np.uint8)
    machine = np.where(Y, rng.random(Y.shape) < 0.75, rng.random(Y.shape) < often / 10)
    scores = np.clip(np.where(Y, 0.7, 0.05) + rng.normal(0, 0.2, Y.shape), 0.001, 0.999)
    answers = answers_to(Y, *np.divmod(rng.permutation(Y.size)[:2000], 1000))
    for what, said in {"yes and no": machine.astype(float), "scores": scores}.items():
        began = time.process_time()
        audit_machine(answers, said)
        print(f"{what}: {time.process_time() - began:.1f} s")


def _called(share: float) -> str:
    return f"{100 * share:g} %" if share else "model"


def _world(name: str, data: str, share: float) -> tuple[Array, Array, Array]:
    return machine_of(name, data, share) if share else model_of(name, data)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder with the files of the datasets")
    parser.add_argument(
        "--datasets",
        nargs="+",
        default=["scene", "yeast", "corel5k:15", "corel5k:374", "digits", "delicious:15"],
    )
    parser.add_argument(
        "--shares", nargs="+", type=float, default=[*SHARES], help="0: like a language model"
    )
    parser.add_argument("--answers", nargs="+", type=int, default=[200])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--designs", nargs="+", default=["random", "half and half", "three rounds"])
    parser.add_argument("--estimators", nargs="+", default=[*_INSTALLED, "ours, scores"])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rates", action="store_true", help="precision and recall")
    parser.add_argument("--plain", action="store_true", help="no machine")
    parser.add_argument("--stopping", action="store_true", help="who stops after a look")
    parser.add_argument("--many", action="store_true", help="seconds of audits of 1,000 labels")
    given = parser.parse_args(arguments)
    others = {"plain": print_plain, "rates": print_rates, "stopping": print_stopping}
    others["many"] = print_many
    for name, prints in others.items():
        if getattr(given, name):
            prints(given)
            return
    print("| labels | machine of | answers | questions | estimator | rmse | held, % | worst "
          "| width | sum | s | above the machine, % |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for name, share in itertools.product(given.datasets, given.shares):
        Y, p, said = _world(name, given.data, share)
        for n, design in itertools.product(given.answers, given.designs):
            how = {"design": design, "names": given.estimators}
            rows = in_parts(given, partial(cell, Y, p, said, n, **how))
            for each in given.estimators:
                of_it = [row for row in rows if row["name"] == each]
                held = np.mean([row["held"] for row in of_it], axis=0)
                raw = np.sqrt(((said.mean(axis=0) - Y.mean(axis=0)) ** 2).mean())
                above = 100 * np.mean([row["rmse"] > raw + 1e-12 for row in of_it])
                rmse, width, off, seconds = (
                    np.mean([row[key] for row in of_it])
                    for key in ("rmse", "width", "sum", "seconds")
                )
                print(
                    f"| {name} | {_called(share)} | {n} | {design} | {each} | {rmse:.4f}"
                    f" | {100 * held.mean():.0f} | {100 * held.min():.0f} | {width:.3f}"
                    f" | {off:.2f} | {seconds:.2f} | {above:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
