"""What a new user does, in an environment of its own: install, README, own data, a study.

``make newcomer`` runs it with nothing but the standard library. It installs the project as README
says, into a folder that is removed afterwards, and works in another folder, far from the checkout.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[2]
HERE = Path(__file__).parent
MINUTES = 60
LIMIT = 10 * MINUTES

EXTRAS = '".[live,photos,report,tables]"'
N_ANSWERS = 120  # in the browser
LEAST_PRECISION = 0.3
# What annotate's page asks, as a person reads it there.
SHOWN = """(() => {
  const main = document.querySelector("main");
  const [label] = document.querySelectorAll("#question bdi");
  const [picture] = document.querySelectorAll("#shown img");
  const options = main.dataset.kind === "ticked" ? [...document.querySelectorAll(".option")] : [];
  const of = (option, what) => option.querySelector(what).textContent;
  const keys = options.map((option) => [of(option, "bdi"), of(option, "kbd")]);
  return main.dataset.question && (label || keys.length) && picture &&
    {id: main.dataset.question, label: label?.textContent, keys, item: picture.alt};
})()"""

PLAN = """
name = "first"
title = "Two methods"
datasets = ["synthetic"]
folds = 10

[[rows]]
method = "mlcl"
settings = { learning_rate = 0.01 }

[[rows]]
method = "ridge"
"""


class Session:
    """Commands of one environment, run in one folder."""

    def __init__(self, environment: Path, folder: Path) -> None:
        self.bin = environment / ("Scripts" if os.name == "nt" else "bin")
        self.folder = folder
        hidden = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "COMPLABEL_DATA"}
        hidden.add("PYTHONDONTWRITEBYTECODE")  # each command would compile torch and SciPy anew
        self.outside = {key: value for key, value in os.environ.items() if key not in hidden}
        self.variables = self.outside | {"XDG_CACHE_HOME": str(folder / "cache")}

    def run(self, *command: str, expect: int = 0) -> str:
        """Run a command to its end; return what it printed."""
        done = subprocess.run(
            [str(self.bin / command[0]), *command[1:]],
            cwd=self.folder,
            env=self.variables,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        if done.returncode != expect:
            shown = f"{done.stdout}\n{done.stderr}"
            sys.exit(f"{' '.join(command)}: exit {done.returncode}, not {expect}\n{shown}")
        return done.stdout + done.stderr

    def start(self, *command: str) -> subprocess.Popen[str]:
        """Start a command that Ctrl-C ends; it has a group of processes of its own."""
        return subprocess.Popen(
            [str(self.bin / command[0]), *command[1:]],
            cwd=self.folder,
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # A script may run in the background of another, where Ctrl-C is ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            start_new_session=True,
        )

    def python(self, script: str | Path) -> str:
        """Run a script; a warning that it does not expect is an error."""
        file = Path(script)
        return self.run("python", "-W", "error", str(file))


@contextlib.contextmanager
def step(what: str) -> Iterator[None]:
    """Say what is done and how long it took."""
    print(f"{what} ...", end=" ", flush=True)
    started = time.perf_counter()
    yield
    print(f"{time.perf_counter() - started:.0f} s", flush=True)


def demand(truth: object, what: str) -> None:
    """Stop if something is not so."""
    if not truth:
        sys.exit(f"not so: {what}")


def install(environment: Path, variables: dict[str, str]) -> None:
    """Make an environment and install the project with the command in README.

    What pip has downloaded before is not downloaded again, and only what is imported is compiled.
    """
    variables = {**variables, "PIP_COMPILE": "0"}
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True, timeout=LIMIT)
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    command = f"pip install -c constraints.txt {EXTRAS}"
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    demand(f"\n{command}\n" in readme, "README says how to install")
    words = ["-m", *shlex.split(command)]
    subprocess.run(
        [str(python), *words, "-qq"], cwd=CHECKOUT, env=variables, check=True, timeout=LIMIT
    )


def readme_code() -> str:
    """Return the Python code of README."""
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", readme, flags=re.DOTALL | re.MULTILINE)
    demand(blocks, "README holds Python code")
    return "\n".join(blocks)


def own_data(session: Session) -> None:
    """Go through the page about one's own data: its code and its commands, in their order."""
    page = (HERE / "own_data.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(python|console)\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    said = ""
    for number, (language, text) in enumerate(blocks):
        if language == "python":
            script = session.folder / f"own-data-{number}.py"
            script.write_text(text, encoding="utf-8")
            said += session.run("python", script.name)
            continue
        for line in text.splitlines():
            demand(line.startswith("$ complabel "), f"the page shows a command: {line}")
            said += session.run(*shlex.split(line.removeprefix("$ ")))
    found = [float(text) for text in re.findall(r"Average precision, by item +([.0-9]+)", said)]
    told = [float(text) for text in re.findall(r"average precision is \*\*([.0-9]+)\*\*", page)]
    for on_page, value in zip(told, found, strict=True):
        demand(abs(on_page - value) < 0.02, f"the page says {on_page}, the commands {value}")
    demand("choices may be biased" in said.lower(), "inspect says what is wrong")
    demand("average precision 0.8" in said, "it is the same in Python")


def first_round(session: Session) -> None:
    """Ask before there are answers; answer in a spreadsheet and in Label Studio's yes/no form."""
    features = ("--features", "embeddings.csv", "--label-names", "labels.txt")
    ask = ("complabel", "ask", *features, "-n", "400", "--out", "round-1.csv")
    session.run(*ask)
    session.python(HERE / "answer_first_round.py")
    session.run("complabel", "import", "round-1.xlsx", "--out", "sheet.csv")
    session.run("complabel", "import", "yes-no.json", "--out", "form.csv")
    model = "first-round.safetensors"
    session.run("complabel", "fit", "sheet.csv", "form.csv", *features, "--out", model)
    said = session.run("complabel", "evaluate", model, "embeddings.csv", "--truth", "truth.csv")
    found = re.search(r"Average precision, by item +([.0-9]+)", said)
    demand(found and float(found[1]) > 0.7, f"400 questions teach much\n{said}")
    typed = (session.folder / "round-1.csv").read_bytes()
    session.run(*ask, expect=1)
    demand((session.folder / "round-1.csv").read_bytes() == typed, "no file is overwritten")


def other_peoples_files(session: Session) -> None:
    """Read a plain export, a model's replies and a sheet of two people; none upside down."""
    session.python(HERE / "draw_tickets.py")
    session.run("complabel", "features", "tickets.csv", "--text", "text", "--out", "T.npz")
    truth = session.folder / "tickets-truth.csv"
    with truth.open(encoding="utf-8") as file:
        applies = {row["item"]: row for row in csv.DictReader(file)}
    labels = ("--label-names", "kinds.txt")

    read = ("complabel", "import", "plain.json", *labels, "--out", "plain.csv")
    said = session.run(*read, expect=1)
    demand("topics" in said and "--present" in said, f"the control and the option\n{said}")
    demand(not (session.folder / "plain.csv").exists(), "what is not understood is not read")
    session.run(*read, "--present", "topics", "--read-as", "ticked")
    model = "tickets.safetensors"
    session.run("complabel", "fit", "plain.csv", "--features", "T.npz", *labels, "--out", model)
    said = session.run("complabel", "evaluate", model, "T.npz", "--truth", truth.name)
    found = re.search(r"[Aa]verage precision.*? ([.0-9]+)", said)
    demand(found and float(found[1]) > 0.9, f"the model is not upside down\n{said}")

    asked = ("ask", "--items", "tickets.csv", *labels, "-n", "300", "--for", "replies")
    session.run("complabel", *asked, "--show", "tickets.csv", "--out", "prompts.jsonl")
    session.run("python", str(HERE / "answer_prompts.py"))
    session.run("complabel", "import", "replies.jsonl", "--out", "machine.csv")
    sheet = ("import", "sheet-of-two.csv", "--from", "columns", "--separator", ";")
    people = ("--present", "ann", "--present", "ben", "--read-as", "ticked", *labels)
    session.run("complabel", *sheet, *people, "--out", "two.csv", expect=1)  # what is a blank?
    session.run("complabel", *sheet, *people, "--unselected", "no", "--out", "two.csv")
    for name, number in (("plain.csv", 400), ("machine.csv", 300), ("two.csv", 800)):
        with (session.folder / name).open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        answers = {row["answer_id"] or at for at, row in enumerate(rows)}
        demand(len(answers) == number, f"{name} has {len(answers)} answers, not {number}")
        for row in rows:
            right = "yes" if applies[row["item"]][row["label"]] == "1" else "no"
            demand(row["answer"] == right, f"{name} says what was meant: {row}")


def a_models_labels(session: Session) -> None:
    """Send a batch to a language model, and check its answers in two rounds."""
    truth = session.folder / "tickets-truth.csv"
    with truth.open(encoding="utf-8") as file:
        applies = {row["item"]: row for row in csv.DictReader(file)}
    batch = ("ask", "--for", "openai", "--llm", "gpt-5-mini", "--question", "ticked", "--all-items")
    labels = ("--items", "tickets.csv", "--label-names", "kinds.txt")
    said = session.run("complabel", *batch, *labels, "--out", "batch.jsonl")
    demand("--against answered-batch.csv" in said, f"ask says how people check a batch\n{said}")
    session.run("python", str(HERE / "answer_batch.py"))
    said = session.run("complabel", "import", "results.jsonl", "--out", "model.csv")
    demand("1  requests that failed" in said, f"what failed is counted\n{said}")
    demand("1  requests that the model refused" in said, f"what was refused is counted\n{said}")
    demand("ask --against model.csv" in said, f"import says how people check a model\n{said}")

    against = ("--against", "model.csv", "--items", "tickets.csv")
    answers: list[str] = []
    for out, n in (("check.csv", 120), ("more.csv", 80)):
        session.run("complabel", "ask", *answers, *against, "-n", str(n), "--out", out)
        with (session.folder / out).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            row["answer"] = "yes" if applies[row["item"]][row["label"]] == "1" else "no"
        with (session.folder / out).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        answers.append(f"answered-{out}")
        session.run("complabel", "import", out, "--out", answers[-1])
    told = ("--items", "tickets.csv", "--html", "audit.html", "--json", "audit.json")
    said = session.run("complabel", "audit", "model.csv", *answers, *told)
    demand("You can use the machine for" in said, f"audit says what can be used\n{said}")
    demand("all labels of 2 items" in said, f"it says what was refused\n{said}")
    page = (session.folder / "audit.html").read_text(encoding="utf-8")
    demand("You can use the machine for" in page, "the page says what can be used")
    found = json.loads((session.folder / "audit.json").read_text(encoding="utf-8"))["labels"]
    shares = {label: sum(row[label] == "1" for row in applies.values()) for label in found}
    # One draw may miss by chance; how often intervals hold is tested over many draws elsewhere.
    near = [
        abs(of["frequency"] - shares[label] / len(applies)) < 0.1 for label, of in found.items()
    ]
    demand(all(near), f"the audit finds about how often labels apply: {found}")

    learned = ("--machine", "model.csv")
    both = "both.safetensors"
    session.run("complabel", "fit", *answers, *learned, "--features", "T.npz", "--out", both)
    given = [word for file in answers for word in ("--answers", file)]
    measured = ("complabel", "evaluate", both, "T.npz", *given, "--cross-fit", "3", *learned)
    said = session.run(*measured)
    for figure in ("Precision", "Recall"):
        shown = re.search(rf"{figure} +([.0-9]+) +([.0-9]+) to ([.0-9]+)", said)
        demand(shown, f"{figure} has an interval\n{said}")
        estimate, low, high = map(float, shown.groups())
        demand(low <= estimate <= high and 0.6 < low < high, f"the model is good\n{said}")
    demand("--random-questions" not in said, f"how questions were drawn is known\n{said}")
    claim = ("import", "check.csv", "--random-questions", "--out", "claimed.csv")
    said = session.run("complabel", *claim, expect=1)
    demand("--random-questions does not fit" in said, f"the file says otherwise\n{said}")
    said = session.run("complabel", "inspect", *answers, "--label-names", "kinds.txt")
    shown = re.search(r"Labels that apply to an item: ([.0-9]+) on average", said)
    meant = sum(shares.values()) / len(applies)
    demand(shown and abs(float(shown[1]) - meant) < 0.5, f"{meant} labels apply to an item\n{said}")


def the_next_month(session: Session) -> None:
    """Check 300 new tickets of the same kinds, of which the same model says the same."""
    said = session.run("complabel", "ask", "--failed", "results.jsonl", "--out", "again.jsonl")
    demand("2 requests without an answer" in said, f"what failed is asked again\n{said}")
    tables = {}
    for name in ("tickets.csv", "tickets-truth.csv", "model.csv"):
        with (session.folder / name).open(encoding="utf-8", newline="") as file:
            tables[name] = list(csv.DictReader(file))
    names = [row["item"] for row in tables["tickets.csv"]]
    new = {f"f{at:03}": names[7 * at % 400] for at in range(300)}
    for name, rows in tables.items():
        of_item: dict[str, list[dict[str, str]]] = {}
        for row in rows:
            of_item.setdefault(row["item"], []).append(row)
        with (session.folder / f"february-{name}").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            for item, old in new.items():
                writer.writerows(row | {"item": item} for row in of_item.get(old, ()))
    model, items = "february-model.csv", ("--items", "february-tickets.csv")
    answers = ("answered-check.csv", "answered-more.csv")
    before = [word for each in answers for word in ("--before", "model.csv", each)]
    said = session.run(
        "complabel", "ask", "--against", model, *before, *items, "--out", "february.csv"
    )
    demand("40 questions in place of 80" in said, f"the months before save questions\n{said}")
    truth = {row["item"]: row for row in tables["tickets-truth.csv"]}
    with (session.folder / "february.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with (session.folder / "february.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        for row in rows:
            yes = truth[new[row["item"]]][row["label"]] == "1"
            writer.writerow(row | {"answer": "yes" if yes else "no"})
    session.run("complabel", "import", "february.csv", "--out", "answered-february.csv")
    audit = ("audit", model, "answered-february.csv", *before, *items)
    said = session.run("complabel", *audit)
    demand("Since model.csv, nothing is known to have changed" in said, f"nothing did\n{said}")
    session.run("complabel", *audit, "--least", "1", "--check", expect=2)


def a_list_with_blanks(session: Session) -> None:
    """Read a list of what applies, in which some items have no label; a blank is not all labels."""
    with (session.folder / "tickets-truth.csv").open(encoding="utf-8") as file:
        applies = {row.pop("item"): row for row in csv.DictReader(file)}
    rows = []
    for item, row in applies.items():
        rows += [(item, label) for label in row if row[label] == "1"] or [(item, "")]
    with (session.folder / "list.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("item", "label"), *rows])

    ticked = ("--answer", "yes", "--read-as", "ticked", "--label-names", "kinds.txt")
    read = ("complabel", "import", "list.csv", *ticked, "--column", "answer_id=item")
    said = session.run(*read, "--out", "l.csv", expect=1)
    demand("--unselected no if no label applies" in said, f"what is a blank?\n{said}")
    session.run(*read, "--unselected", "no", "--out", "l.csv")
    with (session.folder / "l.csv").open(encoding="utf-8", newline="") as file:
        told = [(row["item"], row["label"], row["answer"]) for row in csv.DictReader(file)]
    demand({item for item, *_ in told} == applies.keys(), "each item has an answer")
    yes = {(item, label) for item, label, answer in told if answer == "yes"}
    demand(yes == {row for row in rows if row[1]}, "the list says what was meant")

    against = ("list.csv", "answered-check.csv", "--only-yes", "--items", "tickets.csv")
    said = session.run("complabel", "audit", *against)
    demand(f"yes about {len(yes)} pairs" in said, f"a blank is no yes\n{said}")
    demand("You can use the machine for 4 of 4 labels" in said, f"the list is right\n{said}")


def annotate(session: Session) -> None:
    """Answer about pictures in the browser by keys, then learn, predict and evaluate: README."""
    from browser import Browser

    session.python(HERE / "draw_photos.py")
    session.run("complabel", "features", "photos", "--out", "P.npz")
    command = ["annotate", "photos", "--label-names", "photo-labels.txt", "--features", "P.npz"]
    process = session.start("complabel", *command, "--out", "clicked.csv", "--no-browser")
    try:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if found := re.search(r"http://127\.0\.0\.1:\S+", line):
                break
        demand(lines and found, f"annotate prints its address: {lines}")
        said_by = json.loads((session.folder / "photo-truth.json").read_text(encoding="utf-8"))
        with Browser() as browser:
            browser.open(f"{found[0]}&person=ann" if "?" in found[0] else f"{found[0]}?person=ann")
            before = None
            for _ in range(N_ANSWERS):
                asked = wait_for(browser, before)
                before = asked["id"]
                applies = said_by[asked["item"]]
                for key in [key for label, key in asked["keys"] if label in applies]:
                    browser.press(key)
                last = "\ue007" if asked["keys"] else "y" if asked["label"] in applies else "n"
                browser.press(last)
            deadline = time.monotonic() + LIMIT
            while browser.ask("document.getElementById('stored').dataset.waiting") != "0":
                demand(time.monotonic() < deadline, "the page says that all answers are stored")
                time.sleep(0.01)
    finally:
        os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=LIMIT)
    demand("complabel fit" in said, f"annotate says what comes next\n{said}")
    with (session.folder / "clicked.csv").open(encoding="utf-8") as file:
        stored_answers = list(csv.DictReader(file))
    stored = {row["answer_id"]: row["question"] for row in stored_answers}
    demand(len(stored) == N_ANSWERS, f"{len(stored)} answers are in the table")
    demand(
        {*stored.values()} == {"asked", "ticked"}, "annotate asks yes or no and lets people tick"
    )
    for row in stored_answers:
        applies = row["label"] in said_by[row["item"]]
        demand(row["answer"] == ("yes" if applies else "no"), f"the answer is what was said: {row}")
    model = ("--label-names", "photo-labels.txt", "--out", "photos.safetensors")
    session.run("complabel", "fit", "clicked.csv", "--features", "P.npz", *model)
    session.run("complabel", "features", "new", "--out", "N.npz")
    session.run("complabel", "predict", "photos.safetensors", "N.npz", "--out", "guesses.csv")
    truth = ("--truth", "photo-truth.csv")
    said = session.run("complabel", "evaluate", "photos.safetensors", "N.npz", *truth)
    reached = re.search(r"Average precision, by item +([.0-9]+)", said)
    demand(reached and float(reached[1]) > LEAST_PRECISION, f"the answers teach\n{said}")


def wait_for(browser: Any, before: str | None) -> dict[str, Any]:
    """Return the question that the page shows, once it is another than before."""
    deadline = time.monotonic() + LIMIT
    while True:
        found = browser.ask(SHOWN)
        if found and found["id"] and found["id"] != before:
            return dict(found)
        demand(time.monotonic() < deadline, "the page shows the next question")
        time.sleep(0.01)


def interrupted_study(session: Session) -> None:
    """Run a study, press Ctrl-C after its first results, and run it again."""
    plan, store = session.folder / "plan.toml", session.folder / "study.sqlite"
    plan.write_text(PLAN, encoding="utf-8")
    command = ["study", "run", plan.name, "--store", store.name, "--jobs", "2"]
    process = session.start("complabel", *command)
    deadline = time.monotonic() + LIMIT
    while not stored(store) and process.poll() is None:
        demand(time.monotonic() < deadline, "a first unit is stored")
        time.sleep(0.05)
    before_interruption = process.poll() is None
    if before_interruption:
        os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=LIMIT)
    demand(before_interruption, f"the study still runs when its first unit is stored\n{said}")
    demand(process.returncode == 130, f"Ctrl-C ends with 130, not {process.returncode}\n{said}")
    demand("give the same command again to continue" in said, f"it says how to go on\n{said}")
    kept = stored(store)
    demand(0 < len(kept) < 20, f"some of 20 units are kept, not {len(kept)}")
    session.run("complabel", "study", "status", "first", "--store", store.name)
    said = session.run("complabel", *command)
    demand(f"ran {20 - len(kept)} of 20 units" in said, f"only the rest is run\n{said}")
    demand(kept.items() <= stored(store).items(), "what was kept is as it was")
    session.run("complabel", "study", "export", "results.json", "--store", store.name)
    units = json.loads((session.folder / "results.json").read_text(encoding="utf-8"))
    found = {(unit["method"], unit["fold"]) for unit in units if unit["status"] == "done"}
    demand(len(units) == len(found) == 20, "each fold of each method is there once")
    extra = ["-c", str(CHECKOUT / "constraints.txt"), f"{CHECKOUT}[study]"]
    session.run("python", "-m", "pip", "install", "--quiet", *extra)
    session.run("complabel", "study", "report", "first", "--store", store.name)
    demand((session.folder / "first-report" / "report.html").is_file(), "there is a page")


def stored(store: Path) -> dict[str, str]:
    """Return the key of each finished unit and when it was finished."""
    if not store.is_file():
        return {}
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        try:
            return dict(connection.execute("SELECT key, finished FROM results").fetchall())
        except sqlite3.OperationalError:  # the tables are being made
            return {}


def main() -> None:
    """Go through the session."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="newcomer-", ignore_cleanup_errors=True) as root:
        folder = Path(root) / "work"
        folder.mkdir()
        session = Session(Path(root) / "environment", folder)
        with step("install"):
            install(Path(root) / "environment", session.outside)
        with step("help, version, datasets"):
            demand("Usage" in session.run("complabel", "--help"), "--help shows the usage")
            session.run("complabel", "--version")
            demand("digits" in session.run("complabel", "datasets"), "digits are at hand")
        with step("README's code"):
            (folder / "readme.py").write_text(readme_code(), encoding="utf-8")
            session.python("readme.py")
        for file in sorted(HERE.glob("own_*.py")):
            with step(file.stem.replace("_", " ")):
                session.python(file)
        with step("own data: an export, five commands, a model"):
            own_data(session)
        with step("a first round of questions, a spreadsheet, the yes/no form"):
            first_round(session)
        with step("a plain export, a model's replies, people who ticked nothing"):
            other_peoples_files(session)
        with step("a language model's labels, checked by 200 answers"):
            a_models_labels(session)
        with step("the next month of the same model"):
            the_next_month(session)
        with step("a list of what applies, with blanks"):
            a_list_with_blanks(session)
        if all(map(shutil.which, ("chromium", "chromedriver"))):
            with step("README's session: pictures, answers in the browser, a model"):
                annotate(session)
        else:
            print("Chromium is not installed: nobody answers in the browser")
        with step("a study, interrupted and resumed"):
            interrupted_study(session)
        print(f"a newcomer's session: all done in {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
