"""How often `inspect_answers` says that labels are not named with equal chances.

    python benchmarks/choice_findings.py --data-dir DIR

Labels of scene and yeast, named freely or out of random menus, with random yes/no answers about a
share of the items; propensities exp(sd * normal). With sd 0 a finding is a false alarm.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from complabel.annotations import Answers, draw_answers, draw_propensities
from complabel.asking import inspect_answers
from complabel.datasets import load_dataset

QUESTIONS = (("free", 0.1), ("free", 0.5), ("menu-2", 0.3), ("menu-3", 0.3))


def main() -> None:
    """Print a line for each dataset, question and standard deviation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=5)
    told = parser.parse_args()
    print("dataset  question  yes/no  sd  found")
    for name in ("scene", "yeast"):
        Y = load_dataset(name, data_dir=told.data_dir).Y
        for question, share in QUESTIONS:
            for sd in (0.0, 0.5, 1.0):
                found = 0
                for seed in range(told.draws):
                    w = draw_propensities(Y.shape[1], sd, seed + 100)
                    named = draw_answers(Y, question=question, propensities=w, random_state=seed)
                    asked = draw_answers(
                        Y, question="asked", items_share=share, random_state=seed + 500
                    )
                    seen = inspect_answers(Answers.concatenate([named, asked]))
                    found += seen.finding("choice-not-uniform") is not None
                print(f"{name}  {question}  {share}  {sd}  {found} of {told.draws}", flush=True)


if __name__ == "__main__":
    main()
