"""Small files of somebody's own: features, answers of two kinds, and true labels."""

import csv
import json

import numpy as np
import pytest
from tests.importers.samples import annotation, choices, task

from complabel.datasets import make_synthetic
from complabel.files import read_answers
from complabel.methods import make_classifier
from complabel.simulate import draw_answers

NAMES = ("sea, open", 'the "old" town', "été", "item x")
N_ITEMS, N_ANSWERED = 90, 60
DATA = make_synthetic(N_ITEMS, n_features=5, n_labels=4, signal=4.0, random_state=3)
# They look like numbers, and are none.
ITEMS = tuple(f"{number:03}" for number in range(N_ITEMS))
COLUMNS = tuple(f"f{number}" for number in range(5))


def write_table(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def write_files(folder):
    """Write X.csv, X.npy with ids.txt, named.csv, asked.csv, labels.txt, truth.csv, export.json."""
    rows = [[item, *values] for item, values in zip(ITEMS, DATA.X.tolist(), strict=True)]
    write_table(folder / "X.csv", ["item", *COLUMNS], rows)
    np.save(folder / "X.npy", DATA.X)
    (folder / "ids.txt").write_text("\n".join(ITEMS) + "\n", encoding="utf-8")
    (folder / "labels.txt").write_text("\n".join(NAMES) + "\n", encoding="utf-8")
    truth = zip(ITEMS[N_ANSWERED:], DATA.Y[N_ANSWERED:].tolist(), strict=True)
    write_table(folder / "truth.csv", ["item", *NAMES], [[item, *row] for item, row in truth])
    named = draw_answers(DATA.Y[:N_ANSWERED], random_state=0)
    chosen = [(ITEMS[n], NAMES[named.named[[at]].indices[0]]) for at, n in enumerate(named.item)]
    write_table(
        folder / "named.csv",
        ["item", "label", "answer", "question"],
        [[item, label, "no", "named"] for item, label in chosen],
    )
    rng = np.random.default_rng(1)
    pairs = rng.permutation(N_ANSWERED * len(NAMES))[:80]
    asked = [
        [ITEMS[item], NAMES[label], "yes" if DATA.Y[item, label] else "no", "asked", 0.1]
        for item, label in (divmod(pair, len(NAMES)) for pair in pairs.tolist())
    ]
    write_table(folder / "asked.csv", ["item", "label", "answer", "question", "probability"], asked)
    tasks = [
        task(number, {"item": item}, annotation(number, choices("not_this", label)))
        for number, (item, label) in enumerate(chosen)
    ]
    (folder / "export.json").write_text(json.dumps(tasks), encoding="utf-8")


def fit_to_asked():
    """Return a classifier that was fitted to the answers of asked.csv, and these."""
    answers = read_answers("asked.csv", items=ITEMS, label_names=NAMES).answers
    classifier = make_classifier("selection-likelihood:kernel=linear,alpha=0.1", random_state=0)
    with pytest.warns(UserWarning, match="have no answer"):
        return classifier.fit(DATA.X, answers), answers


def read_table(path):
    """Return the rows of a CSV file, each as texts by column."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_back(path, rows):
    """Write what ``read_table`` returned."""
    write_table(path, rows[0], [row.values() for row in rows])


def write_arff(path, seed=0, *, option=""):
    """Write a dataset of four labels and then three features, all different from 0/1."""
    data = make_synthetic(60, n_features=3, n_labels=4, random_state=seed)
    header = [f"@relation 'mine{option}'", *(f"@attribute label{i} {{0,1}}" for i in range(4))]
    header += [f"@attribute x{i} numeric" for i in range(3)]
    rows = [
        ",".join([*map(str, y.tolist()), *(f"{v:.6f}" for v in x)])
        for x, y in zip(data.X, data.Y, strict=True)
    ]
    path.write_text("\n".join([*header, "@data", *rows]) + "\n", encoding="utf-8")
    return path
