"""Labels added at a third of a sitting of `complabel annotate`, beside a sitting that had them all.

One simulated person, who makes no mistakes, answers yes/no questions or ticks labels. Average
precision of the old and of the added labels, on true labels of other items.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score

from complabel.datasets import make_digits
from complabel.experiments.datasets import load_dataset
from complabel.files import read_answers
from complabel.live import Annotation, read_things
from complabel.methods import SelectionLikelihoodClassifier


def sit(folder: Path, truth: Any, n_labels: int, question: str, n: int) -> None:
    """Answer n questions about the first labels, and go on with what is there."""
    labels = [str(label) for label in range(n_labels)]
    things = read_things(folder / "items.csv", text="text")
    annotation = Annotation.open(things, labels, out=folder / "answers.csv", question=question)
    asker = annotation.asker
    for _ in range(n):
        event = asker.next("ann")
        if event is None:
            break
        asked = asker.questions[event.number]
        shown = asker.labels_of(asked)
        chosen = [label for label in shown if truth[asked.item, int(label)]]
        answer: Any = chosen if question != "asked" else ("yes" if chosen else "no")
        asker.answer(event.id, "ann", answer, 1.0)
    annotation.end()
    annotation.store.close()


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--draws", type=int, default=3)
    given = parser.parse_args()
    print("| data | asked | answers | labels | from the start | added at a third |")
    print("|---|---|--:|---|--:|--:|")
    for name, n_added in (("digits", 3), ("scene", 2), ("yeast", 4)):
        data = make_digits() if name == "digits" else load_dataset(name, data_dir=given.data_dir)
        Y = np.asarray(data.Y) > 0
        for question, n in (("asked", 1500), ("ticked", 300)):
            found: dict[bool, list[Any]] = {False: [], True: []}
            for draw in range(given.draws):
                order = np.random.default_rng(draw).permutation(len(Y))
                train, test = order[: len(Y) // 2], order[len(Y) // 2 :]
                columns = np.random.default_rng([draw, 1]).permutation(Y.shape[1])
                truth, unseen = (Y[rows][:, columns] for rows in (train, test))
                n_old = Y.shape[1] - n_added
                for added in (False, True):
                    with tempfile.TemporaryDirectory() as place:
                        folder = Path(place)
                        rows = "".join(f"{row},x\n" for row in range(len(train)))
                        (folder / "items.csv").write_text(f"item,text\n{rows}")
                        sit(folder, truth, n_old if added else Y.shape[1], question, n // 3)
                        sit(folder, truth, Y.shape[1], question, n - n // 3)
                        answers = read_answers(
                            folder / "answers.csv",
                            items=[str(row) for row in range(len(train))],
                            label_names=[str(label) for label in range(Y.shape[1])],
                        ).answers
                    model = SelectionLikelihoodClassifier(random_state=0)
                    p = model.fit(data.X[train], answers).predict_proba(data.X[test])
                    each = [
                        average_precision_score(unseen[:, at], p[:, at]) for at in range(len(p.T))
                    ]
                    found[added].append((np.mean(each[:n_old]), np.mean(each[n_old:])))
            start, later = (np.array(found[added]) for added in (False, True))
            for at, of in enumerate(("old", "added")):
                cells = [f"{x[:, at].mean():.3f} ± {x[:, at].std():.3f}" for x in (start, later)]
                print(f"| {name} | {question} | {n:,} | {of} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
