"""Is the consensus of real people about the relations that sentences state right?

The data are 24,032 answers of 201 people about 1,600 sentences and 18 relations (A. Dumitrache, L.
Aroyo and C. Welty, CrowdTruth Corpus for Open Domain Relation Extraction, 2018):
``crowd/relations`` in the folder of ``--data``, with answers.csv, sentences.csv and labels.txt.
Some of the 15 people of each sentence are shown to the methods (``shown``).

- ``about=shown sentences``: the majority of the *others* is taken for true. ``accuracy`` and
  ``pairs`` (average precision) are over all pairs, ``labels`` is the mean of the relations' average
  precisions, ``sentences`` the label ranking average precision.
- ``about=new sentences``: nobody was asked about these; the majority of all 15 people is taken for
  true. Logistic regressions learn from the "majority" or the "share" of votes, or from what another
  method says.
- ``about=rates``: rates of people that are ``found``, beside those ``counted`` against the majority
  of the 14 others, of people with at least 20 shown pairs that apply.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score

from benchmarks._people import AUTO, aggregated, aggregations, linear
from benchmarks._relations import Crowd, logistic
from complabel import metrics
from complabel.people import find_consensus

CELLS = [{"set": "relations", "about": "shown sentences", "shown": 3}]
CELLS += [{"set": "relations", "about": "new sentences", "shown": shown} for shown in (1, 3)]
CELLS += [{"set": "relations", "about": "rates", "shown": 3}]
DRAWS, QUICK, NEEDS = 3, {"about": ("rates",)}, ("relations",)
GIVEN = {"missed": 0.24, "invented": 0.03}  # means found from three answers


def scores_of(truth: Any, scores: Any) -> dict[str, float]:
    """Return all criteria of scores (n, K)."""
    some, known = truth.any(axis=1), truth.any(axis=0)
    precision = average_precision_score
    return {
        "accuracy": float(np.mean((scores > 0.5) == truth)),
        "pairs": float(precision(truth.ravel(), scores.ravel())),
        "labels": float(precision(truth[:, known], scores[:, known])),
        "sentences": metrics.average_precision(truth[some], scores[some]),
    }


def by_crowd_kit(crowd: Crowd, rows: Any) -> Any:
    """Yield methods of crowd-kit that say probabilities, and those (n, K) of each."""
    item, k = np.repeat(crowd.item[rows], crowd.n_labels), np.arange(crowd.n_labels)
    worker, label = np.repeat(crowd.person[rows], crowd.n_labels), np.tile(k, len(rows))
    shape = crowd.n_items, crowd.n_labels
    for name in ("Dawid-Skene", "one-coin", "MACE", "GLAD") if aggregations() else ():
        make = aggregations()[name]
        yield name, aggregated(make, shape, item, label, worker, crowd.ticks[rows].ravel())


def of_shown(crowd: Crowd, shown: int, draw: int) -> Any:
    """Yield the scores of each method for the sentences that some people answered about."""
    marked = crowd.shown(shown, np.random.default_rng(draw))
    truth, rows = crowd.votes(np.flatnonzero(~marked)) > 0.5, np.flatnonzero(marked)
    answers, model = crowd.answers(rows), linear(error_rate=0.05)
    found = find_consensus(crowd.X, answers, classifier=model, random_state=draw)
    ways = {
        "votes": crowd.votes(rows),
        **{f"crowd-kit {name}": scores for name, scores in by_crowd_kit(crowd, rows)},
        "find_consensus alone": find_consensus(None, answers).share,
        "find_consensus with sentences": found.share,
        "find_consensus applies": found.applies,
        "model with rates": linear(**AUTO)
        .fit(crowd.X, answers)
        .predict_consensus(crowd.X, answers),
    }
    for name, scores in ways.items():
        yield {"by": name}, scores_of(truth, scores)


def of_new(crowd: Crowd, shown: int, draw: int) -> Any:
    """Yield the scores of models on sentences that nobody was asked about."""
    rng = np.random.default_rng(draw)
    order = rng.permutation(crowd.n_items)
    train, test = np.sort(order[len(order) // 3 :]), np.sort(order[: len(order) // 3])
    truth = crowd.votes(np.arange(len(crowd.item)))[test] > 0.5
    for each in (1, 3)[: 1 + (shown > 1)]:  # one stream of chance for both
        marked = crowd.shown(each, rng)
    rows = np.flatnonzero(marked & np.isin(crowd.item, train))
    answers, X = crowd.answers(rows)[train], crowd.X
    ways: dict[str, dict[str, Any]] = {"without rates": {}, "with rates given": GIVEN}
    if shown > 1:  # one answer tells no rates, and "auto" assumes no mistakes then
        ways = {"without rates": {"error_rate": 0.05}, "with rates found": AUTO}
    for name, settings in ways.items():
        found = linear(**settings).fit(X[train], answers).predict_proba(X[test])
        yield {"by": f"likelihood {name}"}, scores_of(truth, found)
    votes = crowd.votes(rows)[train]
    learned = {"majority": votes > 0.5}
    if shown > 1:
        how: Any = {"classifier": linear(error_rate=0.05), "random_state": 0}
        shares = find_consensus(X[train], answers, **how).share
        learned |= {"share": votes, "find_consensus": shares > 0.5}
    for name, scores in by_crowd_kit(crowd, rows):
        learned |= {f"crowd-kit {name}": scores[train] > 0.5} if name != "one-coin" else {}
    for name, shares in learned.items():
        found = logistic(X[train], shares.astype(float), X[test])
        yield {"by": f"regression on {name}"}, scores_of(truth, found)


def of_rates(crowd: Crowd, shown: int, draw: int) -> Any:
    """Yield how near the rates that were found come to those that were counted."""
    rows = np.flatnonzero(crowd.shown(shown, np.random.default_rng(draw)))
    how: Any = {"classifier": linear(error_rate=0.05), "random_state": draw}
    found = find_consensus(crowd.X, crowd.answers(rows), **how)
    people = pd.DataFrame(found.people).set_index("annotator")
    judged = crowd.judged(rows).groupby("annotator").sum().query("applies >= 20")
    people = people.loc[judged.index]
    for rate, of in (("missed", "applies"), ("invented", "not")):
        ours, counted = people[rate], judged[rate] / judged[of]
        held = counted.between(people[f"{rate}_low"], people[f"{rate}_high"])
        figures = {"found": ours.mean(), "counted": counted.mean(), "of": len(counted)}
        figures |= {"apart": (ours - counted).abs().mean(), "correlation": ours.corr(counted)}
        yield {"rate": rate}, {**figures, "held": 100 * held.mean()}


def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Return the figures of a part."""
    crowd = Crowd.read(data / "crowd" / "relations")
    parts = {"shown sentences": of_shown, "new sentences": of_new, "rates": of_rates}
    return [*parts[cell["about"]](crowd, cell["shown"], draw)]
