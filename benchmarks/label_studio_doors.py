"""Are exports of Label Studio by forms of one's own read rightly, or is the option asked for?

People fill in a form about each of half of the items: they choose what applies, name one label that
does not, tick all that do not, or say yes or no about a random label. Nobody errs. Each export is
imported without an option, as JSON, JSON-MIN and CSV, which must go the same way. If that is
refused, the options are taken from the message, those that fit what people were asked. Then a model
with default settings is measured on the true labels of the other half.
"""

from __future__ import annotations

import itertools
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import label_ranking_loss

from complabel.datasets import MultiLabelDataset, make_digits
from complabel.experiments.datasets import load_dataset
from complabel.files import read_answers
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision

APPLY, NOT = "people ticked all labels that apply", "people ticked all labels that do not apply"
CHOSEN = "a label that was chosen applies"
NAMED = "a label that was chosen does not apply"
# By form: the control, what people are asked, and what the right options of the message say.
FORMS: dict[str, tuple[str, str, str | None]] = {
    "what applies": ("choice", "applies", APPLY),
    "what applies (others are not known)": ("choice", "applies", CHOSEN),
    "what applies (read as before)": ("choice", "applies", NAMED),
    "one that does not apply": ("wrong", "named", NAMED),
    "all that do not apply": ("wrong", "rest", NOT),
    "yes or no about the field label": ("verdict", "asked", None),
    "yes or no (no such field)": ("verdict", "lost", None),
    "labelstudio-config --question ticked": ("applies", "applies", None),
    "labelstudio-config --question named": ("not_this", "named", None),
}

CELLS = {"set": ("scene", "digits"), "form": tuple(FORMS)}
NEEDS, QUICK = ("scene",), {"set": ("digits",), "form": ("what applies", "one that does not apply")}


def tasks_of(data: MultiLabelDataset, asked: str) -> list[tuple[dict[str, str], list[str]]]:
    """Return the fields of each task, and what somebody chose in it."""
    rng, names, found = np.random.default_rng(0), np.array(data.label_names), []
    for item, row in enumerate(data.Y[::2].astype(bool)):
        task = {"image": f"/data/upload/1/9d3e1a2b-p{item:04}.jpg"}
        label = rng.integers(len(names))
        chosen = [*names[row if asked == "applies" else ~row]]
        if asked == "named":
            chosen = [str(rng.choice(chosen))]
        elif asked in ("asked", "lost"):
            task |= {"label": str(names[label])} if asked == "asked" else {}
            chosen = ["yes" if row[label] else "no"]
        found.append((task, chosen))
    return found


def write(path: Path, control: str, tasks: Sequence[tuple[dict[str, str], list[str]]]) -> None:
    """Write an export: a.json, min.json (JSON-MIN) or a.csv."""
    rows: list[dict[str, Any]] = []
    for at, (task, chosen) in enumerate(tasks, 1):
        if path.name == "a.json":
            result = [{"from_name": control, "value": {"choices": chosen}}] * bool(chosen)
            said = {"completed_by": 1, "lead_time": 2.5, "id": at, "result": result}
            rows.append({"id": at, "data": task, "annotations": [said]})
            continue
        several: Any = {"choices": chosen}
        if path.suffix == ".csv":
            several = json.dumps(several)
        cell = chosen[0] if len(chosen) == 1 else several
        said = {"annotator": 1, "annotation_id": at, "lead_time": 2.5}
        rows.append({"id": at, **task, control: cell, **said})
    if path.suffix == ".json":
        path.write_text(json.dumps(rows), "utf-8")
    else:
        pd.DataFrame(rows).to_csv(path, index=False)


def read(path: Path, labels: Path, right: str | None) -> bool:
    """Import a file as the message says; return whether it was refused at first."""
    base = [sys.executable, "-m", "complabel", "import", str(path), "--item-file", "image"]
    base += ["--out", str(path.with_name("answers.csv")), "--force"]
    if right is None:  # our own forms tell what they mean, but not their labels
        base += ["--label-names", str(labels)]
    done = subprocess.run(base, capture_output=True, text=True)
    said = [line.strip() for line in done.stderr.splitlines()] * (done.returncode != 0)
    for options, meaning in itertools.pairwise(said):
        if right and meaning.startswith(right):
            words = shlex.split(options.replace("FILE", str(labels)))
            subprocess.run([*base, *words], capture_output=True, check=True)
            break
    return done.returncode != 0


def measure(*, draw: int, data: Any, form: str, **cell: str) -> dict[str, float]:
    """Return whether a form was refused at first, and what a model learns from it."""
    digits = cell["set"] == "digits"
    loaded = make_digits(1_000) if digits else load_dataset(cell["set"], data_dir=data)
    control, asked, right = FORMS[form]
    X, Y, names = loaded.X, loaded.Y, [*loaded.label_names]
    with tempfile.TemporaryDirectory() as top:
        labels, out = Path(top) / "labels.txt", Path(top) / "answers.csv"
        labels.write_text("".join(f"{name}\n" for name in names), "utf-8")
        ways = set()
        for name in ("a.json", "min.json", "a.csv"):
            write(Path(top) / name, control, tasks_of(loaded, asked))
            refused = read(Path(top) / name, labels, right)
            ways.add((refused, *sorted(out.read_bytes().splitlines() if out.exists() else ())))
        assert len(ways) == 1  # the three exports go the same way
        if not out.exists():
            return {"refused": float(refused)}
        items = [f"p{at:04}.jpg" for at in range(len(Y[::2]))]
        answers = read_answers([out], items=items, label_names=names).answers
    model = SelectionLikelihoodClassifier(random_state=0).fit(X[::2], answers)
    given = Y[1::2], model.predict_proba(X[1::2])
    figures = {"precision": average_precision(*given), "ranking_loss": label_ranking_loss(*given)}
    return {"refused": float(refused), **figures}
