"""The files of a small session like the one of docs/answers.md, and its commands in forks."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from complabel.cli import main as complabel
from complabel.datasets import make_synthetic
from complabel.simulate import draw_answers

LIMIT = 120  # seconds of a run
LABELS = ["beach", "mühle", "road", "sea"]
ABOUT, NAMES = "--features embeddings.csv", "--label-names labels.txt"
MODEL = "model.safetensors embeddings.csv"
OWN = f"{ABOUT} --truth everything.csv --method prior --folds 2 --json out.json"
# Each command, by a name of its own; its files are the words that name one in the folder.
SESSION = {
    "import export": f"import export.json --absent not_this {NAMES} --out out.csv",
    "inspect": f"inspect answers.csv {ABOUT} {NAMES} --json out.json",
    "ask": f"ask answers.csv {ABOUT} --show tickets.csv -n 40 --out out.csv",
    "ask first": f"ask --items ids.txt {NAMES} -n 20 --out out.csv",
    "ask prompts": f"ask --items ids.txt {NAMES} -n 20 --for replies"
    " --show tickets.csv --out out.jsonl",
    "import questions": "import questions.csv --out out.csv",
    "import sheet": "import questions.xlsx --out out.csv",
    "features of texts": "features tickets.csv --text text --out out.npz",
    "features of pictures": "features photos --out out.npz",
    "fit": f"fit answers.csv asked.csv {ABOUT} {NAMES} --out out.safetensors",
    "fit to texts": "fit asked.csv --features X.npz --out out.safetensors",
    "show": f"show model.safetensors {ABOUT} --json out.json",
    "evaluate by truth": f"evaluate {MODEL} --truth truth.csv --json out.json",
    "evaluate by answers": f"evaluate {MODEL} --answers later.csv --json out.json",
    "decide": f"decide {MODEL} --answers later.csv --match-frequencies --out out.safetensors",
    "predict": f"predict {MODEL} --out out.csv",
    "predict texts": "predict texts.safetensors X.npz --out out.csv",
    "consensus": f"consensus asked.csv {NAMES} --out out.csv",
    "onnx": "onnx model.safetensors --out out.onnx",
    "labelstudio-config": "labelstudio-config labels.txt --out out.xml",
    "datasets": "datasets own.npz",
    "benchmark": f"benchmark {OWN}",
    "tune": f"tune {OWN}".replace("prior", "ridge --grid alpha=0.1,10"),
    "study run": "study run plan.toml --store out.sqlite",
    "study report": "study report first --store study.sqlite --out out-report",
    "serve": f"serve model.safetensors {ABOUT} --port 0",
    "annotate": f"annotate photos {NAMES} --features P.npz --no-browser --out clicked.csv",
}
PLAN = ['name="first"', 'title="Küste"', 'datasets=["digits"]', "folds=2", "[[rows]]"]
PLAN += ['method="prior"', ""]


def make_files() -> None:
    """Write what a person has, then run the commands that make the other files."""
    data = make_synthetic(120, n_features=5, n_labels=4, signal=4.0, random_state=0)
    items = pd.Index([f"föto-{i:03}.jpg" for i in range(120)], name="item")
    truth = pd.DataFrame(data.Y, columns=LABELS, index=items)
    pd.DataFrame(data.X, index=items).add_prefix("e").to_csv("embeddings.csv")
    truth.to_csv("everything.csv")
    truth[90:].to_csv("truth.csv")
    words = [" ".join(["Grüße", *truth.columns[row == 1], str(i)]) for i, row in enumerate(data.Y)]
    pd.DataFrame({"text": words}, index=items).to_csv("tickets.csv")
    for name, text in {"labels.txt": LABELS, "ids.txt": items, "plan.toml": PLAN}.items():
        Path(name).write_text("\n".join(text), encoding="utf-8")
    np.savez("own.npz", X=data.X, Y=data.Y, label_names=np.array(LABELS))
    said = draw_answers(data.Y[:90], propensities=[1, 3, 2, 1], random_state=1).complementary
    by = ["ann@example.org", "bob@example.org"]
    tasks = [
        {
            "id": i,
            "data": {"id": items[i]},
            "annotations": [{"completed_by": {"email": by[i % 2]}, "result": [
                {"from_name": "not_this", "type": "choices",
                 "value": {"choices": [LABELS[said[i].argmax()]]}}]}],
        }
        for i in range(90)
        if said[i].any()
    ]  # fmt: skip
    Path("export.json").write_text(json.dumps(tasks, ensure_ascii=False), encoding="utf-8")
    Path("photos").mkdir()
    rng = np.random.default_rng(0)
    for i in range(6):
        Image.fromarray(rng.integers(0, 255, (40, 40, 3), dtype=np.uint8)).save(f"photos/{i}.png")
    made("import export", "answers.csv")
    for name, seed in (("questions", 0), ("later", 1)):
        ran(f"ask answers.csv {ABOUT} -n 160 --seed {seed} --out {name}.csv")
        table = pd.read_csv(f"{name}.csv", dtype=str, keep_default_na=False)
        pairs = zip(table["item"], table["label"], strict=True)
        table["answer"] = ["yes" if truth.loc[pair] else "no" for pair in pairs]
        table.to_csv(f"{name}.csv", index=False)
        table.to_excel(f"{name}.xlsx", index=False)
    ran("import questions.csv --out asked.csv")
    os.replace("later.csv", "typed.csv")
    ran("import typed.csv --out later.csv")
    made("features of texts", "X.npz")
    made("features of pictures", "P.npz")
    made("fit", "model.safetensors")
    made("fit to texts", "texts.safetensors")
    made("study run", "study.sqlite")


def made(name: str, output: str) -> None:
    """Run a command of the session, with another output."""
    ran(SESSION[name].replace(SESSION[name].split()[-1], output))


def ran(command: str) -> None:
    """Run a command that must succeed."""
    code, told = run(Path.cwd(), command)
    if code:
        raise RuntimeError(f"{command}: exit {code}\n{told}")


def run(folder: Path, command: str) -> tuple[int | str, str]:
    """Run a command in a fork; return its exit code and what it said."""
    output, end = folder.with_suffix(".output"), time.monotonic() + LIMIT
    output.write_bytes(b"")
    fork = multiprocessing.get_context("fork")
    child: Any = fork.Process(target=_called, args=(folder, command.split(), output))
    child.start()
    listens = False
    while child.is_alive() and time.monotonic() < end:
        if not listens and b"http://127.0.0.1" in output.read_bytes():
            listens = True
            time.sleep(1)
            os.kill(child.pid, signal.SIGINT)  # the file was taken
        child.join(0.02)
    hangs = child.is_alive()
    child.kill()
    child.join()
    return "hangs" if hangs else child.exitcode, output.read_text(errors="replace")


def _called(folder: Path, words: list[str], output: Path) -> None:
    """Be a command, in a process of its own."""
    os.chdir(folder)
    file = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    sys.argv = ["complabel", *words]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code = 1
    try:
        complabel()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # without waiting for what a command has left
