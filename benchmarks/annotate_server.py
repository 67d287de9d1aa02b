"""`complabel annotate` as a server: what is left when it is killed, and how long it takes.

    python -m benchmarks.annotate_server kills --kills 100
    python -m benchmarks.annotate_server people --people 200
    python -m benchmarks.annotate_server load --items 100000 --labels 300
    python -m benchmarks.annotate_server sitting --data made-17 --minutes 10 22

The first kills the server again and again while two people answer, take back and ask ahead, and
compares what it confirmed with the table of answers. Its servers are forked from a process that has
imported everything, so that little time goes into starts. In the second many people answer at
once. The third measures starts, memory and times of servers as users start them. In `sitting`, one
simulated person says yes or no in 1.5 seconds, in the median, and ticks in three times that,
without mistakes; what `fit` learns from the table is compared for three ways of asking: mean
average precision by label on other items of `annotate_sitting.py`.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import http.client
import json
import multiprocessing
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

TOKEN = "benchmarkbenchmark"
PRELOADED = [
    *("complabel.cli._app", "complabel.live._annotation", "complabel.live._drawing"),
    *("pyarrow.csv", "uvicorn", "uvicorn.lifespan.on", "uvicorn.protocols.http.auto"),
]


class Server:
    """A process of ``complabel annotate``, which can be killed and started again."""

    def __init__(
        self, folder: Path, n_items: int, n_labels: int, question: str | None = "asked"
    ) -> None:
        self.folder = folder
        more = () if question is None else ("--question", question)
        rows = "".join(f"item {at},{'some words ' * 20}{at}\n" for at in range(n_items))
        (folder / "items.csv").write_text("item,body\n" + rows)
        (folder / "labels.txt").write_text("".join(f"label {at}\n" for at in range(n_labels)))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        words = "annotate items.csv --text body --label-names labels.txt --no-browser"
        words += f" --port {self.port}"
        self.command = [sys.executable, "-m", "complabel", *words.split(), *more]
        self.limit: Any = None  # is called in the process before it starts

    def start(self) -> float:
        """Start it and wait until it answers; return the seconds."""
        begun = time.perf_counter()
        self.process = subprocess.Popen(
            self.command,
            cwd=self.folder,
            env={**os.environ, "COMPLABEL_TOKEN": TOKEN},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=self.limit,
        )
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return time.perf_counter() - begun
            if self.process.poll() is not None:
                raise SystemExit(self.process.communicate()[0].decode())
            time.sleep(0.02)

    def memory(self) -> float:
        """Return the megabytes that it holds."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

    def end(self) -> str:
        """End it as a user does, and return what it printed."""
        self.process.send_signal(signal.SIGTERM)
        printed = self.process.communicate()[0].decode()
        assert self.process.returncode == 0, printed
        return printed


class Forked(Server):
    """A server that is forked from a process that has imported everything."""

    def start(self) -> float:
        """Start it and wait until it answers; return the seconds."""
        begun = time.perf_counter()
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(PRELOADED)
        self.child = context.Process(target=_serve, args=(self.folder, self.command[2:]))
        self.child.start()
        while self.child.is_alive():
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return time.perf_counter() - begun
            time.sleep(0.01)
        raise SystemExit("the server has ended by itself")

    def kill(self) -> None:
        """Send SIGKILL, which no process can catch."""
        self.child.kill()
        self.child.join()
        assert self.child.exitcode == -signal.SIGKILL


def _serve(folder: Path, words: list[str]) -> None:
    """Be ``python -m complabel annotate`` in a process of its own."""
    from complabel.__main__ import main

    os.environ["COMPLABEL_TOKEN"] = TOKEN
    os.chdir(folder)
    sys.argv, sys.stdout = words, open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stdout
    main()


class Person:
    """Somebody who asks the routes, and tries again while the server is away."""

    def __init__(self, name: str, port: int, seed: int = 0) -> None:
        self.name, self.port, self.random = name, port, random.Random(f"{name} {seed}")
        self.line: http.client.HTTPConnection | None = None
        self.seen: set[tuple[str, str]] = set()  # questions, by item and label
        self.confirmed: dict[str, tuple[str, str, str]] = {}  # by id: item, label, answer
        self.n_lost = 0  # requests without a reply

    def once(self, method: str, path: str, body: object = None) -> Any:
        """Ask once; OSError or HTTPException: there was no reply."""
        if self.line is None:
            self.line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            sent = None if body is None else json.dumps(body)
            self.line.request(method, path, sent, {"X-Token": TOKEN})
            reply = self.line.getresponse()
            said = reply.read()
        except (OSError, http.client.HTTPException):
            self.line.close()
            self.line = None
            self.n_lost += 1
            raise
        assert reply.status in (200, 204), (reply.status, said)
        return json.loads(said) if said else None

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Ask until there is a reply."""
        while True:
            with contextlib.suppress(OSError, http.client.HTTPException):
                return self.once(method, path, body)
            time.sleep(0.05)

    def next(self, skip: int = 0) -> Any:
        """Return a question."""
        found = self.ask("GET", f"/api/next?person={self.name}&skip={skip}")
        if found:
            self.seen.add((found["item"], found["label"]))
        return found

    def answer(self) -> None:
        """Answer the present question."""
        question = self.next()
        said = self.random.choice(["yes", "no", "unsure"])
        body = {"id": question["id"], "person": self.name, "answer": said, "seconds": 1.5}
        assert self.ask("POST", "/api/answer", body)["stored"]
        self.confirmed[question["id"]] = (question["item"], question["label"], said)

    def undo(self) -> None:
        """Take the last answer back; without a reply, see whether it was."""
        last = list(self.confirmed)[-1]
        try:
            undone = self.once("POST", "/api/undo", {"person": self.name})["undone"]
            assert undone == last
        except (OSError, http.client.HTTPException):
            if self.next()["item"] != self.confirmed[last][0]:
                return
        del self.confirmed[last]

    def sit(self, stop: threading.Event) -> None:
        """Answer until told to stop."""
        while not stop.is_set():
            self.next(self.random.randrange(4))
            self.answer()
            if self.random.random() < 0.1 and self.confirmed:
                self.undo()


def kills(n_kills: int) -> None:
    """Kill the server while two people answer."""
    with tempfile.TemporaryDirectory() as name:
        server = Forked(Path(name), 5_000, 20)
        server.start()
        people = [Person(each, server.port) for each in ("ann", "ben")]
        stop, chance = threading.Event(), random.Random(0)
        threads = [threading.Thread(target=each.sit, args=(stop,)) for each in people]
        for thread in threads:
            thread.start()
        for _ in range(n_kills):
            time.sleep(chance.uniform(0.02, 0.5))
            server.kill()
            server.start()
        time.sleep(0.2)
        stop.set()
        for thread in threads:
            thread.join()
        os.kill(server.child.pid or 0, signal.SIGTERM)
        server.child.join()
        with (Path(name) / "answers.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
    found = {row["answer_id"]: (row["item"], row["label"], row["answer"]) for row in rows}
    confirmed = people[0].confirmed | people[1].confirmed
    print(f"{n_kills} kills, {sum(each.n_lost for each in people):,} requests without a reply")
    print(
        f"{len(confirmed):,} answers were confirmed and not taken back; the table has {len(rows):,}"
    )
    print(f"lost: {len(confirmed.keys() - found.keys())}")
    print(f"twice: {len(rows) - len(found)}")
    print(f"never confirmed: {len(found.keys() - confirmed.keys())}")
    print(f"changed: {sum(found.get(each) != confirmed[each] for each in confirmed)}")
    print(f"questions that both people had: {len(people[0].seen & people[1].seen)}")
    assert found == confirmed
    assert len(found) == len(rows)
    assert not people[0].seen & people[1].seen


def people(n_people: int) -> None:
    """Let many people answer at once."""
    with tempfile.TemporaryDirectory() as name:
        server = Server(Path(name), 5_000, 20)
        server.start()
        everybody = [
            Person(f"person {at}".replace(" ", "-"), server.port) for at in range(n_people)
        ]

        def sit(person: Person) -> None:
            for _ in range(10):
                person.answer()

        threads = [threading.Thread(target=sit, args=(each,)) for each in everybody]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        server.end()
        with (Path(name) / "answers.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
    found = {row["answer_id"]: (row["item"], row["label"], row["answer"]) for row in rows}
    confirmed = {id_: said for each in everybody for id_, said in each.confirmed.items()}
    seen = [pair for each in everybody for pair in each.seen]
    print(f"{n_people} people gave {len(confirmed):,} answers at once; the table has {len(rows):,}")
    print(f"lost: {len(confirmed.keys() - found.keys())}; twice: {len(rows) - len(found)}")
    print(f"changed: {sum(found.get(each) != confirmed[each] for each in confirmed)}")
    print(f"questions that two people had: {len(seen) - len(set(seen))}")
    assert found == confirmed
    assert len(found) == len(rows) == 10 * n_people


def load(n_items: int, n_labels: int, n_answers: int) -> None:
    """Measure starts, memory and times."""
    with tempfile.TemporaryDirectory() as name:
        server = Server(Path(name), n_items, n_labels)
        took = server.start()
        print(f"start with {n_items:,} items: {took:.1f} s, {server.memory():.0f} MB")
        _timed("one person", server, 1, n_answers)
        _timed("eight people", server, 8, n_answers // 8)
        stop = threading.Event()
        reader = Person("reader", server.port)

        def read() -> None:
            while not stop.is_set():
                reader.line = None
                line = http.client.HTTPConnection("127.0.0.1", server.port)
                line.request("GET", "/answers.csv", headers={"X-Token": TOKEN})
                line.getresponse().read()

        thread = threading.Thread(target=read)
        thread.start()
        _timed("one person while another reads the table", server, 1, n_answers // 4)
        stop.set()
        thread.join()
        print(f"then {server.memory():.0f} MB")
        server.end()
        took = server.start()
        print(f"start with all these answers: {took:.1f} s, {server.memory():.0f} MB")
        server.end()


def sitting(data: str, minutes: list[float]) -> None:
    """Let one person answer by each way of asking, and learn from the tables."""
    from sklearn.metrics import average_precision_score

    from annotate_sitting import load
    from complabel.files import read_answers
    from complabel.methods import SelectionLikelihoodClassifier

    X, Y, X_test, Y_test = load(data, None, 0)
    labels = [f"label {at}" for at in range(Y.shape[1])]
    for question, most in [(q, m) for q in ("asked", "ticked", None) for m in minutes]:
        rng, clock = np.random.default_rng(0), 0.0
        with tempfile.TemporaryDirectory() as name:
            server = Server(Path(name), len(X), len(labels), question)
            server.start()
            person = Person("ann", server.port)
            while clock < 60 * most:
                asked = person.ask("GET", "/api/next?person=ann")
                row = Y[int(asked["item"].split()[1])]
                said: Any = [each for each in asked.get("offered", ()) if row[labels.index(each)]]
                if asked["question"] == "asked":
                    said = "yes" if row[labels.index(asked["label"])] else "no"
                usual = 1.5 if isinstance(said, str) else 4.5
                seconds = usual * float(np.exp(0.4 * rng.normal()))
                body = {"id": asked["id"], "person": "ann", "answer": said, "seconds": seconds}
                assert person.ask("POST", "/api/answer", body)["stored"]
                clock += seconds
            kinds = person.ask("GET", "/api/progress")["by_kind"]
            server.end()
            items = [f"item {at}" for at in range(len(X))]
            table = Path(name) / "answers.csv"
            answers = read_answers(table, items=items, label_names=labels).answers
        p = SelectionLikelihoodClassifier(random_state=0).fit(X, answers).predict_proba(X_test)
        reached = average_precision_score(Y_test, p, average="macro")
        told = {kind: of["answers"] for kind, of in kinds.items()}
        print(
            f"{data}, {most:g} min, {question or 'the default'}: {told}, {reached:.3f}", flush=True
        )


def _timed(what: str, server: Server, n_people: int, n_answers: int) -> None:
    """Let people answer, and print the times of the two routes."""
    times: dict[str, list[float]] = {"next": [], "answer": []}

    def sit(name: str) -> None:
        person = Person(name, server.port)
        for _ in range(n_answers):
            begun = time.perf_counter()
            person.next(3)
            between = time.perf_counter()
            times["next"].append(between - begun)
            question = person.next()
            body = {"id": question["id"], "person": name, "answer": "no", "seconds": 2}
            between = time.perf_counter()
            person.ask("POST", "/api/answer", body)
            times["answer"].append(time.perf_counter() - between)

    threads = [
        threading.Thread(target=sit, args=(f"{what} {at}".replace(" ", "-"),))
        for at in range(n_people)
    ]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rate = n_people * n_answers / (time.perf_counter() - begun)
    for route, found in times.items():
        middle, most = 1000 * np.quantile(found, [0.5, 0.99])
        print(f"{what}: {route} {middle:.1f} ms (median), {most:.1f} ms (99 of 100)")
    print(f"{what}: {rate:.0f} answers a second")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ways = ["kills", "people", "load", "sitting"]
    parser.add_argument("what", choices=ways)
    parser.add_argument("--data", default="made-17")
    parser.add_argument("--minutes", type=float, nargs="+", default=[10.0, 22.0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--labels", type=int, default=300)
    parser.add_argument("--answers", type=int, default=4000)
    given = parser.parse_args()
    if given.what == "kills":
        kills(given.kills)
    elif given.what == "people":
        people(given.people)
    elif given.what == "sitting":
        sitting(given.data, given.minutes)
    else:
        load(given.items, given.labels, given.answers)


if __name__ == "__main__":
    main()
