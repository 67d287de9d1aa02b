"""Exports of Label Studio by forms of one's own: read rightly, or the option is asked for.

People fill in a form about each of half of the items of a dataset: they choose what applies, name
one label that does not, tick all that do not, or say yes or no about a random label. Nobody errs.
Each export is imported without an option, as JSON, JSON-MIN and CSV. If that is refused, the script
takes the options from the message, those that fit what people were asked. Then a model is fitted,
and measured on the true labels of the other half.

    python -m benchmarks.label_studio_doors scene --data-dir FOLDER
"""

from __future__ import annotations

import argparse
import csv
import json
import shlex
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import label_ranking_loss

from complabel.datasets import MultiLabelDataset
from complabel.experiments.datasets import load_dataset
from complabel.files import read_answers
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision

APPLY, NOT = "people ticked all labels that apply", "people ticked all labels that do not apply"
CHOSEN = "a label that was chosen applies"
NAMED = "a label that was chosen does not apply"
# By form: the control, what people are asked, and what the right options of the message say.
FORMS = {
    "what applies": ("choice", "applies", APPLY),
    "what applies, only the chosen are known": ("choice", "applies", CHOSEN),
    "what applies, read as before": ("choice", "applies", NAMED),
    "one that does not apply": ("wrong", "named", NAMED),
    "all that do not apply": ("wrong", "rest", NOT),
    "yes or no about the field label": ("verdict", "asked", None),
    "yes or no, and no such field": ("verdict", "lost", None),
    "labelstudio-config --question ticked": ("applies", "applies", None),
    "labelstudio-config --question named": ("not_this", "named", None),
}


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


def read(path: Path, labels: Path, right: str | None) -> tuple[str, str]:
    """Import a file as the message says; return what happened at first, and the options."""
    base = [sys.executable, "-m", "complabel", "import", str(path), "--item-file", "image"]
    base += ["--out", str(path.with_name("answers.csv")), "--force"]
    if right is None:  # our own forms tell what they mean, but not their labels
        base += ["--label-names", str(labels)]
    done = subprocess.run(base, capture_output=True, text=True)
    if done.returncode == 0:
        return "read", ""
    lines = done.stderr.splitlines()
    at = next((n for n, line in enumerate(lines) if right and line.strip().startswith(right)), 0)
    if not at:
        return "refused", ""
    options = lines[at - 1].strip().replace("FILE", str(labels))
    subprocess.run([*base, *shlex.split(options)], capture_output=True, check=True)
    return "refused", options.replace(str(labels), "labels.txt")


def main() -> None:
    """Print a line for each form."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", nargs="?", default="digits")
    parser.add_argument("--data-dir")
    asked = parser.parse_args()
    data = load_dataset(asked.dataset, data_dir=asked.data_dir)
    items = [f"p{item:04}.jpg" for item in range(len(data.X[::2]))]
    print("| form | without an option | option | average precision | ranking loss |")
    print("|---|---|---|--:|--:|")
    for form, (control, kind, right) in FORMS.items():
        with tempfile.TemporaryDirectory() as top:
            labels, said, found = Path(top) / "labels.txt", set(), []
            labels.write_text("".join(f"{name}\n" for name in data.label_names), "utf-8")
            for name in ("a.json", "min.json", "a.csv"):
                tasks = tasks_of(data, control, kind, np.random.default_rng(0))
                write(Path(top) / name, tasks)
                said.add(read(Path(top) / name, labels, right))
                out = Path(top) / "answers.csv"
                found += [out.read_bytes()] if out.exists() else []
            ((first, options),) = said  # the three exports go the same way
            assert len({b"\n".join(sorted(each.splitlines())) for each in found}) <= 1
            figures = "- | -"
            if found:
                figures = measure(data, Path(top) / "answers.csv", items)
        print(f"| {form} | {first} | `{options or '-'}` | {figures} |", flush=True)


def measure(data: MultiLabelDataset, path: Path, items: Sequence[str]) -> str:
    """Return average precision and ranking loss of a model that learned from the answers."""
    names = list(data.label_names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of labels that were named freely
        answers = read_answers([path], items=items, label_names=names).answers
        scores = SelectionLikelihoodClassifier(random_state=0).fit(data.X[::2], answers)
    given = data.Y[1::2], scores.predict_proba(data.X[1::2])
    return f"{average_precision(*given):.3f} | {label_ranking_loss(*given):.3f}"


if __name__ == "__main__":
    main()
