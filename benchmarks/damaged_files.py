"""Every command once with each of its files damaged: what becomes of it.

``python -m benchmarks.damaged_files --out damaged.csv`` makes the files of a small session like the
one of docs/answers.md. Then each command runs with each of its files in turn emptied, cut in half,
doubled, in another encoding and so on. The table has a row for each run. A verdict is one of

- traceback: an error of Python reached the user; hangs: the command did not end
- half: the command failed, and an output is there
- silent: exit 0, and a result that differs from the sound one by numbers or names alone
- unnamed: the command refused, and its message does not name the damaged file
- told: exit 0, another result, and a line that the sound run did not print: look at it
- same, refused: as it should be

A flipped bit may turn a number into another one: nobody can see this in a table.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import multiprocessing
import os
import pkgutil
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from safetensors import safe_open

import complabel as package
from complabel.cli import main as complabel
from complabel.datasets import make_synthetic
from complabel.simulate import draw_answers

# Times, addresses and tokens, which differ from run to run.
VARYING = re.compile(
    r'[0-9.]+ s\b|https?://\S+|"[a-z_]*(seconds|memory)[a-z_]*": [^,}\n]*|scoring .* folds.*'
)
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
        sys.exit(f"{command}: exit {code}\n{error}")


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


def recoded(encoding: str, before: bytes = b"") -> Callable[[bytes], bytes | None]:
    """Make a change of the encoding of what is text."""

    def change(content: bytes) -> bytes | None:
        try:
            return before + content.decode().encode(encoding)
        except UnicodeDecodeError:
            return None  # this is no text

    return change


def flipped(content: bytes) -> bytes:
    """Flip a bit in the middle."""
    at = len(content) // 2
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def is_text(content: bytes) -> bool:
    """Say whether these are the bytes of a text."""
    return recoded("utf-8")(content) is not None


DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "empty": lambda _: b"",
    "half": lambda content: content[: len(content) // 2],
    "bit": flipped,
    "doubled": lambda content: content * 2,
    "utf-16": recoded("utf-16"),
    "latin-1": recoded("latin-1"),
    "crlf": lambda content: content.replace(b"\n", b"\r\n") if is_text(content) else None,
    "bom": recoded("utf-8", b"\xef\xbb\xbf"),
    "nul": lambda content: content[: len(content) // 2] + b"\0" + content[len(content) // 2 :],
    "random": lambda _: random.Random(0).randbytes(3000),
    "missing": lambda content: content,
    "folder": lambda content: content,
}


def damage(path: Path, way: str) -> bool:
    """Damage a file; return whether this makes sense for it."""
    content = path.read_bytes()
    new = DAMAGES[way](content)
    if new is None or (new == content and way not in ("missing", "folder")):
        return False
    path.unlink()
    if way == "folder":
        path.mkdir()
    elif way != "missing":
        path.write_bytes(new)
    return True


def results(folder: Path) -> dict[str, object]:
    """Return what a command wrote, so that equal results are equal."""
    found: dict[str, object] = {}
    for path in sorted([*folder.glob("out*"), *folder.glob("clicked*")]):
        if path.suffix == ".npz":
            with np.load(path) as file:
                found[path.name] = {name: file[name].tolist() for name in file.files}
        elif path.suffix == ".safetensors":
            with safe_open(path, framework="numpy") as file:
                found[path.name] = {
                    name: file.get_tensor(name).tolist() for name in sorted(file.keys())
                }
        elif path.is_dir():
            found[path.name] = sorted(each.name for each in path.iterdir())
        elif path.suffix == ".sqlite" or "sqlite" in path.name:
            found[path.name] = "a database"
        else:
            found[path.name] = VARYING.sub("", path.read_bytes().decode(errors="replace"))
    return found


def tried(source: str, name: str, file: str, way: str) -> dict[str, object] | None:
    """Run one command with one damaged file, beside the same command with sound ones."""
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / "session"
        shutil.copytree(source, folder)
        if way != "sound" and not damage(folder / file, way):
            return None
        code, said, errors = run(folder, SESSION[name].split())
        lines = [line.strip() for line in errors.splitlines() if line.strip()]
        row = {"command": name, "file": file, "damage": way, "exit": code}
        row["first line"] = next((line for line in lines if "rror" in line), "".join(lines[:1]))
        row |= {"result": results(folder), "errors": errors, "said": said}
        return row


def verdict(row: dict[str, object], sound: dict[str, object]) -> str:
    """Judge a run by what the same command did with sound files."""
    text = f"{row['said']}{row['errors']}"
    name = Path(str(row["file"])).name
    if row["exit"] == "hangs":
        return "hangs"
    if "Traceback" in text or (isinstance(row["exit"], int) and row["exit"] < 0):
        return "traceback"
    if row["exit"] not in (0, sound["exit"]):
        if row["result"]:
            return "half"
        return "refused" if name in text.replace("\n", "") else "unnamed"
    news = [line for line in lines(row) if line not in lines(sound)]
    row["first line"] = row["first line"] or "".join(news[:1])
    without_times = [VARYING.sub("", str(each["said"])) for each in (row, sound)]
    if row["result"] == sound["result"] and len({*without_times}) == 1:
        return "same"
    return "told" if news else "silent"


def lines(row: dict[str, object]) -> list[str]:
    """Return what a command said, without numbers and what is drawn around them."""
    text = VARYING.sub("", f"{row['errors']}\n{row['said']}")
    return [" ".join(re.sub(r"[-0-9.,:±─━]+", " ", line).split()) for line in text.splitlines()]


def main() -> None:
    """Run the survey."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="damaged.csv", help="the table (%(default)s)")
    parser.add_argument("--only", default="", help="only commands whose name holds this text")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    for module in pkgutil.walk_packages(package.__path__, "complabel."):
        if "__main__" not in module.name:
            importlib.import_module(module.name)  # here once, not in each run
    os.environ |= {"COLUMNS": "300", "TERM": "dumb", "NO_COLOR": "1"}
    with tempfile.TemporaryDirectory() as top:
        source, here = Path(top) / "session", Path.cwd()
        source.mkdir()
        os.chdir(source)
        make_files()
        os.chdir(here)
        cases = []
        for name, command in SESSION.items():
            words = ["photos/3.png" if word == "photos" else word for word in command.split()]
            files = [word for word in words if (source / word).is_file()]
            if given.only in name:
                cases.append((name, "", "sound"))
                cases += [(name, file, way) for file in files for way in DAMAGES]
        rows, counts, sound = [], Counter(), {}
        with ProcessPoolExecutor(given.jobs, multiprocessing.get_context("fork")) as pool:
            waiting = [pool.submit(tried, str(source), *case) for case in cases]
            for each in waiting:
                row = each.result()
                if row is None:
                    continue
                if row["damage"] == "sound":
                    sound = row
                    ok = row["exit"] in (0, 130)
                    row["verdict"] = "sound" if ok else f"broken: {row['errors']}"
                else:
                    row["verdict"] = verdict(row, sound)
                counts[row["verdict"]] += 1
                rows.append({key: row[key] for key in ("command", "file", "damage", "exit",
                             "verdict", "first line")})  # fmt: skip
                print(*rows[-1].values(), sep=" | ", flush=True)
                if row["verdict"] in ("traceback", "hangs"):
                    print(str(row["errors"])[-1500:], flush=True)
    with open(given.out, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    print(", ".join(f"{count} {what}" for what, count in counts.most_common()))


if __name__ == "__main__":
    main()
