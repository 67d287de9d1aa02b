"""Are exports of Label Studio by forms of one's own read rightly, or is the option asked for?

People fill in a form about each of half of the items: they choose what applies, name one label that
does not, tick all that do not, or say yes or no about a random label. Nobody errs. Each export is
imported without an option, as JSON, JSON-MIN and CSV, which must go the same way. If that is
refused, the options are taken from the message, those that fit what people were asked. Then a model
with default settings is measured on the true labels of the other half.
"""

from __future__ import annotations

import csv
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
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


def tasks_of(
    data: MultiLabelDataset, control: str, asked: str, rng: np.random.Generator
) -> list[tuple[dict[str, Any], str, list[str]]]:
    """Return the fields of each task, the control, and what somebody chose in it."""
    names, found = np.array(data.label_names), []
    for item, row in enumerate(data.Y[::2].astype(bool)):
        task = {"image": f"/data/upload/1/9d3e1a2b-p{item:04}.jpg"}
        label = rng.integers(len(names))
        chosen = [*names[row if asked == "applies" else ~row]]
        if asked == "named":
            chosen = [str(rng.choice(chosen))]
        elif asked in ("asked", "lost"):
            task |= {"label": str(names[label])} if asked == "asked" else {}
            chosen = ["yes" if row[label] else "no"]
        found.append((task, control, chosen))
    return found


def write(path: Path, tasks: Sequence[tuple[dict[str, Any], str, list[str]]]) -> None:
    """Write an export: a.json, min.json (JSON-MIN) or a.csv."""
    if path.name == "a.json":
        who = {"completed_by": 1, "lead_time": 2.5}
        results = [[{"from_name": c, "value": {"choices": x}}] * bool(x) for _, c, x in tasks]
        made = [
            {"id": at, "data": task, "annotations": [{**who, "id": at, "result": result}]}
            for at, ((task, _, _), result) in enumerate(zip(tasks, results, strict=True), 1)
        ]
        path.write_text(json.dumps(made), "utf-8")
        return
    flat = [
        {"id": at, **task, control: chosen[0] if len(chosen) == 1 else {"choices": chosen}}
        | {"annotator": 1, "annotation_id": at, "lead_time": 2.5}
        for at, (task, control, chosen) in enumerate(tasks, 1)
    ]
    if path.suffix == ".json":
        path.write_text(json.dumps(flat), "utf-8")
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*flat[0]])
        writer.writeheader()
        for row in flat:
            cells = {k: json.dumps(v) if isinstance(v, dict) else v for k, v in row.items()}
            writer.writerow(cells)


def read(path: Path, labels: Path, right: str | None) -> bool:
    """Import a file as the message says; return whether it was refused at first."""
    base = [sys.executable, "-m", "complabel", "import", str(path), "--item-file", "image"]
    base += ["--out", str(path.with_name("answers.csv")), "--force"]
    if right is None:  # our own forms tell what they mean, but not their labels
        base += ["--label-names", str(labels)]
    done = subprocess.run(base, capture_output=True, text=True)
    if done.returncode == 0:
        return False
    lines = done.stderr.splitlines()
    at = next((n for n, line in enumerate(lines) if right and line.strip().startswith(right)), 0)
    if not at:
        return True
    options = lines[at - 1].strip().replace("FILE", str(labels))
    subprocess.run([*base, *shlex.split(options)], capture_output=True, check=True)
    return True


def measure(*, draw: int, data: Any, form: str, **cell: str) -> dict[str, float]:
    """Return whether a form was refused at first, and what a model learns from it."""
    digits = cell["set"] == "digits"
    loaded = make_digits(1_000) if digits else load_dataset(cell["set"], data_dir=data)
    items, (control, kind, right) = (
        [f"p{at:04}.jpg" for at in range(len(loaded.X[::2]))],
        FORMS[form],
    )
    with tempfile.TemporaryDirectory() as top:
        labels, refused, found = Path(top) / "labels.txt", set(), set()
        labels.write_text("".join(f"{name}\n" for name in loaded.label_names), "utf-8")
        out = Path(top) / "answers.csv"
        for name in ("a.json", "min.json", "a.csv"):
            write(Path(top) / name, tasks_of(loaded, control, kind, np.random.default_rng(0)))
            refused.add(read(Path(top) / name, labels, right))
            found.add(b"\n".join(sorted(out.read_bytes().splitlines())) if out.exists() else b"")
        assert len(refused) == len(found) == 1  # the three exports go the same way
        figures = {"refused": float(refused.pop())}
        if out.exists():
            names = [*loaded.label_names]
            answers = read_answers([out], items=items, label_names=names).answers
            model = SelectionLikelihoodClassifier(random_state=0).fit(loaded.X[::2], answers)
            given = loaded.Y[1::2], model.predict_proba(loaded.X[1::2])
            figures["precision"] = float(average_precision(*given))
            figures["ranking_loss"] = float(label_ranking_loss(*given))
    return figures
