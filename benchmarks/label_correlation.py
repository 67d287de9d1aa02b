"""What knowing that labels occur together could give the estimate of label frequencies.

How often a label is named is computed as if labels applied independently. Here the counts of what
was named are corrected by what that assumption gets wrong, which only the true labels tell: the
most that modelling it could give. Printed are the mean errors of estimated frequencies, as it is
and corrected, and how far the chances of being named are off (root mean square of the logarithm).
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from benchmarks.audits import audit_of
from complabel.answers import Answers
from complabel.experiments.datasets import load_dataset
from complabel.frequencies._counts import Audit, Named
from complabel.frequencies._estimate import _estimate
from complabel.frequencies._naming import Integrals
from complabel.simulate import draw_answers, draw_propensities


def wrong_by(Y: Any, propensities: Any) -> tuple[Any, Any]:
    """Return the log-ratio of each label's chance to be named, assumed to true, and the true."""
    weights = propensities * (1 - Y)
    true = (weights / weights.sum(axis=1, keepdims=True)).mean(axis=0)
    shares = np.clip(Y.mean(axis=0), 1e-6, None)
    at = np.concatenate([special.logit(shares), np.log(propensities)])
    assumed = np.exp(Integrals.at(at).log_chances)
    return np.log(assumed / assumed.sum() / true), true


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=["scene", "yeast", "corel5k"])
    parser.add_argument("--data-dir")
    parser.add_argument("--sds", type=float, nargs="+", default=[0.0, 1.0])
    parser.add_argument("--audits", type=int, nargs="+", default=[50, 200, 600])
    parser.add_argument("--draws", type=int, default=8)
    options = parser.parse_args()
    print("| dataset | sd | asked | chances off by | error | corrected |")
    print("|---" * 6 + "|")
    for name in options.datasets:
        Y = np.asarray(load_dataset(name, data_dir=options.data_dir).Y)
        for sd in options.sds:
            off: list[float] = []
            errors: dict[int, list[tuple[float, float]]] = {size: [] for size in options.audits}
            for draw in range(options.draws):
                w = np.ones(Y.shape[1])
                if sd:
                    w = draw_propensities(Y.shape[1], sd, np.random.default_rng((draw, 1)))
                rng = np.random.default_rng((draw, 2))
                answers = draw_answers(Y, propensities=w, random_state=rng)
                ratio, true = wrong_by(Y, w)
                off.append(np.sqrt(true @ ratio**2))
                for size in options.audits:
                    both = Answers.concatenate([answers, audit_of(Y, size, (draw, 3))])
                    audit, named = Audit.of(both), Named.of(both)
                    assert named is not None
                    first = named.first * np.exp(ratio)
                    first *= named.first.sum() / first.sum()
                    found = [
                        _estimate(audit.counts(), each, size).values
                        for each in (named, replace(named, first=first))
                    ]
                    errors[size].append(tuple(np.abs(f - Y.mean(axis=0)).mean() for f in found))
            for size, pairs in errors.items():
                as_is, corrected = np.mean(pairs, axis=0)
                cells = f"{np.mean(off):.3f} | {as_is:.4f} | {corrected:.4f}"
                print(f"| {name} | {sd:g} | {size} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
