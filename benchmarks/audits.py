"""What a few random yes/no answers are worth where labels do not come to mind alike.

Every training row has one label named freely, with propensities exp(sd z), and so many item-label
pairs of the training rows, drawn at random, are asked about (the audit). The selection likelihood
with a linear map, everything automatic, learns from what was named alone, from the audit alone,
from both, and from what was named with the true frequencies of the training rows. Printed are mean
average precision on the test rows, and the error of the estimated cardinality.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import KFold

from complabel.answers import Answers
from complabel.experiments.datasets import load_dataset
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers, draw_propensities


def audit_of(Y: Any, size: int, seed: tuple[int, ...]) -> Answers:
    """Return yes/no answers about pairs of items and labels, drawn at random."""
    n_labels = Y.shape[1]
    item, label = np.divmod(np.random.default_rng(seed).permutation(Y.size)[:size], n_labels)
    asked = np.eye(n_labels, dtype=np.uint8)[label]
    yes = asked * Y[item]
    return Answers.from_arrays(
        relevant=yes,
        absent=asked - yes,
        question="asked",
        item=item,
        probability=1 / n_labels,
        n_items=len(Y),
    )


def name_labels(Y: Any, sd: float, draw: int, n_annotators: int) -> Answers:
    """Return one label named of each row, by one of some annotators with their own propensities."""
    if n_annotators == 1:
        w = draw_propensities(Y.shape[1], sd, np.random.default_rng((draw, 1))) if sd else None
        return draw_answers(Y, propensities=w, random_state=np.random.default_rng((draw, 2)))
    who = np.random.default_rng((draw, 4)).integers(n_annotators, size=len(Y))
    named = np.zeros_like(Y)
    for person in range(n_annotators):
        w = draw_propensities(Y.shape[1], sd, np.random.default_rng((draw, 1, person)))
        answers = draw_answers(Y, propensities=w, random_state=np.random.default_rng((draw, 2)))
        named[who == person] = answers.complementary[who == person]
    return Answers.from_arrays(
        named=named, annotator=who, question="named", n_items=len(Y), all_apply="never"
    )


def unit(
    name: str, sd: float, draw: int, fold: int, options: argparse.Namespace
) -> list[dict[str, Any]]:
    """Return the figures of one fold of one draw."""
    warnings.simplefilter("ignore")
    data = load_dataset(name, data_dir=options.data_dir)
    X, Y = data.X, np.asarray(data.Y)
    folds = [*KFold(options.folds, shuffle=True, random_state=draw).split(X)]
    train, test = folds[fold]
    named = name_labels(Y, sd, draw, options.annotators)[train]

    def fit(answers: Answers, source: str, size: int, **settings: Any) -> dict[str, Any]:
        kernel = {} if options.kernel else {"kernel": "linear"}
        model = SelectionLikelihoodClassifier(random_state=0, **kernel, **settings)
        model.fit(X[train], answers)
        off = model.mean_cardinality_ - float(Y[train].sum(axis=1).mean())
        found = {"ap": average_precision(Y[test], model.predict_proba(X[test])), "off": off}
        cell = {"dataset": name, "sd": sd, "audit": size, "source": source}
        return cell | {"draw": draw, "fold": fold} | found

    rows = [fit(named, "named", 0)]
    share = Y[train].mean(axis=0)
    rows.append(fit(named, "true frequencies", 0, label_frequencies=share))
    for size in options.audits:
        audit = audit_of(Y[train], size, (draw, 3, fold))
        if sd == options.sds[0]:  # what is asked knows nothing of propensities
            rows.append(fit(audit, "audit", size))
        rows.append(fit(Answers.concatenate([named, audit]), "both", size))
    return rows


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=["scene", "yeast", "corel5k"])
    parser.add_argument("--data-dir")
    parser.add_argument("--sds", type=float, nargs="+", default=[0.0, 0.5, 1.0])
    parser.add_argument("--audits", type=int, nargs="+", default=[50, 200, 600])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument(
        "--annotators", type=int, default=1, help="so many people, each with propensities of theirs"
    )
    parser.add_argument("--kernel", action="store_true", help="let the kernel be chosen, too")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, help="file for the figures of each fold")
    options = parser.parse_args()
    units = [
        delayed(unit)(name, sd, draw, fold, options)
        for name in options.datasets
        for draw in range(options.draws)
        for fold in range(options.folds)
        for sd in options.sds
    ]
    rows: list[dict[str, Any]] = []
    for found in Parallel(n_jobs=options.jobs, return_as="generator")(units):
        rows += found
        if options.json:
            options.json.write_text(json.dumps(rows), encoding="utf-8")
    cells: dict[tuple[Any, ...], list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        key = (row["dataset"], row["sd"], row["source"], row["audit"])
        cells[key].append((row["ap"], row["off"]))
    print("| dataset | sd | learns from | asked | average precision | cardinality off by | fits |")
    print("|---" * 7 + "|")
    for (name, sd, source, size), values in cells.items():
        ap, off = np.array(values).T
        error = np.sqrt((off**2).mean())
        print(
            f"| {name} | {sd:g} | {source} | {size} | {ap.mean():.4f} | {error:.2f} | {len(ap)} |"
        )


if __name__ == "__main__":
    main()
