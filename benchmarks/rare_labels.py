"""How well is the frequency of each single label estimated, rare ones included, beside rivals?

A ridge regression learns from a tenth of the items, with all their labels, and predicts the others,
about which random yes/no questions are asked, in 200 samples (corel5k: 100, digits: 30). Compared
are plain "counts" with intervals of Clopper and Pearson, prediction-powered inference ("ppi_py";
``pip install ppi-python``), and ``estimate_label_frequencies`` without and with these predictions.
Figures over all labels: root mean square ``error`` and the ``largest``, of 100 intervals of 95 %
those that ``held``, on average and of the ``worst`` label, labels ``below`` 90, and the ``length``;
of yeast also each label, named by its frequency. If people "err" (they miss .25, invent .03),
complabel is told, and counts are corrected by the formula of Rogan and Gladen.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from scipy import sparse, stats
from sklearn.linear_model import Ridge

from benchmarks._people import yes_or_no
from complabel.answers import Answers
from complabel.experiments.datasets import load_dataset
from complabel.frequencies import estimate_label_frequencies
from complabel.simulate import draw_answers

CASES = (("digits", 200), ("scene", 200), ("yeast", 200), ("yeast", 600), ("corel5k", 5000))
CELLS = [{"set": name, "asked": n, "people": "right"} for name, n in CASES]
CELLS += [{"set": "yeast", "asked": 600, "people": "err"}]
QUICK, NEEDS = {"set": ("digits",)}, ("scene", "yeast", "corel5k")


def asked(Y: Any, n: int, sample: int) -> Answers:
    """Ask n questions, one about each item in each round."""
    n_rounds = -(-n // len(Y))
    how: Any = {"question": "asked", "items_share": n / n_rounds / len(Y)}
    streams = (np.random.default_rng([sample, number]) for number in range(n_rounds))
    return Answers.concatenate([draw_answers(Y, random_state=each, **how) for each in streams])


def erring(answers: Answers, missed: float, invented: float, draw: int) -> Answers:
    """Return yes/no answers with mistakes at these rates."""
    true = answers.statements()
    random = np.random.default_rng([draw, 8]).random(len(true))[true.answer]
    said = random < np.where(true.applies, 1 - missed, invented)
    return yes_or_no(answers.shape, true.item, true.label, said, None)


def counted(answers: Answers, missed: float, invented: float) -> tuple[Any, Any]:
    """Estimate by plain counts, with intervals of Clopper and Pearson, corrected for mistakes."""
    said, K = answers.statements(), answers.n_labels
    yes, n = np.bincount(said.label, said.applies, K), np.bincount(said.label, minlength=K)
    low = np.where(yes > 0, stats.beta.ppf(0.025, np.maximum(yes, 1e-9), n - yes + 1), 0.0)
    high = np.where(yes < n, stats.beta.ppf(0.975, yes + 1, np.maximum(n - yes, 1e-9)), 1.0)
    shares = np.where(n > 0, yes / np.maximum(n, 1), yes.sum() / n.sum())
    corrected = [(each - invented) / (1 - missed - invented) for each in (shares, low, high)]
    values, *ends = (np.clip(each, 0, 1) for each in corrected)
    return values, np.stack(ends, axis=1)


def powered(answers: Answers, predictions: Any) -> tuple[Any, Any]:
    """Estimate by ``ppi_py``; a label with fewer than two judgements counts as unknown."""
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    said = answers.statements()
    values = np.full(answers.n_labels, said.applies.mean())
    intervals = np.tile([0.0, 1.0], (len(values), 1))
    for k in np.flatnonzero(np.bincount(said.label, minlength=len(values)) >= 2):
        rows = said.label == k
        of_k = predictions[said.item[rows], k]
        given = said.applies[rows].astype(float), of_k, predictions[:, k]
        # Its tuned weight is 0 / 0 where predictions are all alike: then it is not powered.
        weight = None if np.ptp(of_k) > 0 else 0.0
        values[k] = float(np.ravel(ppi_mean_pointestimate(*given, lam=weight))[0])
        intervals[k] = np.ravel(ppi_mean_ci(*given, alpha=0.05, lam=weight))
    return values, intervals


def estimates(answers: Answers, predictions: Any, missed: float, invented: float) -> dict[str, Any]:
    """Return what each estimator finds, values (K,) and intervals (K, 2)."""
    found = {"counts": counted(answers, missed, invented)}
    rates = {"missed": missed, "invented": invented}
    for name, of in (("complabel", None), ("predicted", predictions)):
        ours = estimate_label_frequencies(answers, predictions=of, **rates)
        found[name] = ours.values, ours.intervals
    with contextlib.suppress(ImportError):
        found["ppi_py"] = powered(answers, predictions)
    return found


def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Return the figures of each estimator, over all labels, and of each of few labels."""
    # As published: preprocessing would leave out rare labels.
    loaded: Any = load_dataset(cell["set"], data_dir=data, preprocessed=False)
    X, Y = (sparse.csr_array(each).toarray() for each in (loaded.X, loaded.Y))
    few, rest = np.split(np.random.default_rng(draw).permutation(len(Y)), [len(Y) // 10])
    predictions = np.clip(Ridge(alpha=1.0).fit(X[few], Y[few]).predict(X[rest]), 0, 1)
    rates = (0.25, 0.03) if cell["people"] == "err" else (0.0, 0.0)
    found: dict[str, list[Any]] = {}
    for sample in range({"digits": 30, "corel5k": 100}.get(cell["set"], 200)):
        answers = asked(Y[rest], cell["asked"], sample)
        answers = erring(answers, *rates, sample) if any(rates) else answers
        for name, each in estimates(answers, predictions, *rates).items():
            found.setdefault(name, []).append(each)
    truth, rows = Y[rest].mean(axis=0), []
    for name, samples in found.items():
        values, intervals = (np.stack(part) for part in zip(*samples, strict=True))
        low, high = intervals[..., 0], intervals[..., 1]
        error = np.sqrt(((values - truth) ** 2).mean(axis=0))
        held = 100 * ((low <= truth) & (truth <= high)).mean(axis=0)
        of_all = {
            "error": error.mean(),
            "largest": error.max(),
            "held": held.mean(),
            "worst": held.min(),
            "below": int((held < 90).sum()),
            "length": (high - low).mean(),
        }
        rows.append(({"estimate": name, "label": "all"}, of_all))
        for k in np.argsort(truth) if cell["set"] == "yeast" else ():
            of_label = {"error": error[k], "held": held[k]}
            rows.append(({"estimate": name, "label": f"{truth[k]:.3f}"[1:]}, of_label))
    return rows
