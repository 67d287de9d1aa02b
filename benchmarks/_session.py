"""The files of a small session like the one of docs/answers.md, and its commands in forks."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from complabel.cli import main as complabel
from complabel.datasets import make_synthetic
from complabel.simulate import draw_answers

LIMIT = 120  # seconds of a run
N, K = 120, 4
LABELS = ["beach", "mühle", "road", "sea"]
ABOUT, NAMES = ("--features", "embeddings.csv"), ("--label-names", "labels.txt")
OWN = (*ABOUT, "--truth", "everything.csv", "--method", "prior", "--folds", "2", "--json")
# Each command, by a name of its own; its files are the words that name one in the folder.
SESSION = {
    "import export": "import export.json --absent not_this --label-names labels.txt --out out.csv",
    "inspect": "inspect answers.csv --features embeddings.csv --label-names labels.txt"
    " --json out.json",
    "ask": "ask answers.csv --features embeddings.csv --show tickets.csv -n 40 --out out.csv",
    "ask first": "ask --items ids.txt --label-names labels.txt -n 20 --out out.csv",
    "ask prompts": "ask --items ids.txt --label-names labels.txt -n 20 --for replies"
    " --show tickets.csv --out out.jsonl",
    "import questions": "import questions.csv --out out.csv",
    "import sheet": "import questions.xlsx --out out.csv",
    "features of texts": "features tickets.csv --text text --out out.npz",
    "features of pictures": "features photos --out out.npz",
    "fit": "fit answers.csv asked.csv --features embeddings.csv --label-names labels.txt"
    " --out out.safetensors",
    "fit to texts": "fit asked.csv --features X.npz --out out.safetensors",
    "show": "show model.safetensors --features embeddings.csv --json out.json",
    "evaluate by truth": "evaluate model.safetensors embeddings.csv --truth truth.csv"
    " --json out.json",
    "evaluate by answers": "evaluate model.safetensors embeddings.csv --answers later.csv"
    " --json out.json",
    "decide": "decide model.safetensors embeddings.csv --answers later.csv --match-frequencies"
    " --out out.safetensors",
    "predict": "predict model.safetensors embeddings.csv --out out.csv",
    "predict texts": "predict texts.safetensors X.npz --out out.csv",
    "consensus": "consensus asked.csv --label-names labels.txt --out out.csv",
    "onnx": "onnx model.safetensors --out out.onnx",
    "labelstudio-config": "labelstudio-config labels.txt --out out.xml",
    "datasets": "datasets own.npz",
    "benchmark": " ".join(["benchmark", *OWN, "out.json"]),
    "tune": " ".join(["tune", *OWN, "out.json"]).replace("prior", "ridge --grid alpha=0.1,10"),
    "study run": "study run plan.toml --store out.sqlite",
    "study report": "study report first --store study.sqlite --out out-report",
    "serve": "serve model.safetensors --features embeddings.csv --port 0",
    "annotate": "annotate photos --label-names labels.txt --features P.npz --no-browser"
    " --out clicked.csv",
}
PLAN = 'name="first"\ntitle="Küste"\ndatasets=["digits"]\nfolds=2\n[[rows]]\nmethod="prior"\n'


def make_files() -> None:
    """Write what a person has, then run the commands that make the other files."""
    data = make_synthetic(N, n_features=5, n_labels=K, signal=4.0, random_state=0)
    items = [f"föto-{i:03}.jpg" for i in range(N)]
    truth = pd.DataFrame(data.Y, columns=LABELS, index=pd.Index(items, name="item"))
    pd.DataFrame(data.X, index=truth.index).add_prefix("e").to_csv("embeddings.csv")
    truth.to_csv("everything.csv")
    truth[90:].to_csv("truth.csv")
    texts = [" ".join(("Grüße", *truth.columns[row.astype(bool)])) + f" {i}" for i, row in
             enumerate(data.Y)]  # fmt: skip
    pd.DataFrame({"item": items, "text": texts}).to_csv("tickets.csv", index=False)
    Path("labels.txt").write_text("\n".join(LABELS), encoding="utf-8")
    Path("ids.txt").write_text("\n".join(items), encoding="utf-8")
    Path("plan.toml").write_text(PLAN, encoding="utf-8")
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
        ran(f"ask answers.csv {' '.join(ABOUT)} -n 160 --seed {seed} --out {name}.csv")
        table = pd.read_csv(f"{name}.csv", dtype=str, keep_default_na=False)
        for row in table.index[table["answer"] == ""]:
            applies = truth.loc[table.loc[row, "item"], table.loc[row, "label"]]
            table.loc[row, "answer"] = "yes" if applies else "no"
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
    out = SESSION[name].split()[-1]
    ran(SESSION[name].replace(out, output))


def ran(command: str) -> None:
    """Run a command that must succeed."""
    code, _, error = run(Path.cwd(), command.split())
    if code:
        raise RuntimeError(f"{command}: exit {code}\n{error}")


def run(folder: Path, words: list[str]) -> tuple[int | str, str, str]:
    """Run a command in a fork; return its exit code and what it said on both channels."""
    said, errors = (folder.parent / f"{folder.name}.{end}" for end in ("said", "errors"))
    for path in (said, errors):
        path.touch()
    child = os.fork()
    if not child:
        os.chdir(folder)
        for number, path in ((1, said), (2, errors)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.argv = ["complabel", *words]
        signal.signal(signal.SIGINT, signal.default_int_handler)
        code = 0
        try:
            complabel()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException:
            sys.excepthook(*sys.exc_info())
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    started, stopped = time.monotonic(), False
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return code, said.read_text(errors="replace"), errors.read_text(errors="replace")
        if not stopped and b"http://127.0.0.1" in said.read_bytes() + errors.read_bytes():
            time.sleep(1)
            os.kill(child, signal.SIGINT)  # a server listens: the file was taken
            stopped = True
        if time.monotonic() - started > LIMIT:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "hangs", said.read_text(errors="replace"), errors.read_text(errors="replace")
        time.sleep(0.02)
