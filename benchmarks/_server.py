"""A server of ``complabel annotate`` that can be killed, and people who ask its routes."""

from __future__ import annotations

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
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks._frame import need

TOKEN = "benchmarkbenchmark"
PRELOADED = [
    *("complabel.cli._app", "complabel.live._annotation", "complabel.live._drawing"),
    *("pyarrow.csv", "uvicorn", "uvicorn.lifespan.on", "uvicorn.protocols.http.auto"),
]


class Server:
    """A process of ``complabel annotate``, as users start it, or forked from one with imports."""

    def __init__(
        self, folder: Path, n_items: int, n_labels: int, question: str | None = "asked"
    ) -> None:
        need("starlette", "uvicorn", "h11")
        self.folder = folder
        rows = "".join(f"item {at},{'some words ' * 20}{at}\n" for at in range(n_items))
        (folder / "items.csv").write_text("item,body\n" + rows)
        (folder / "labels.txt").write_text("".join(f"label {at}\n" for at in range(n_labels)))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        words = "annotate items.csv --text body --label-names labels.txt --no-browser"
        self.words = [*words.split(), "--port", str(self.port)]
        self.words += [] if question is None else ["--question", question]

    def start(self) -> float:
        """Start it and wait until it answers; return the seconds."""
        begun = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "complabel", *self.words],
            cwd=self.folder,
            env={**os.environ, "COMPLABEL_TOKEN": TOKEN},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return self.wait(begun, lambda: self.process.poll() is None)

    def wait(self, begun: float, is_alive: Any) -> float:
        """Wait until it answers; return the seconds since it began."""
        while is_alive():
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return time.perf_counter() - begun
            time.sleep(0.01)
        raise RuntimeError("the server has ended by itself")

    def fork(self) -> float:
        """Start it from a process that has imported everything."""
        begun = time.perf_counter()
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(PRELOADED)
        self.child = context.Process(target=_serve, args=(self.folder, self.words))
        self.child.start()
        return self.wait(begun, self.child.is_alive)

    def memory(self) -> float:
        """Return the megabytes that it holds."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

    def end(self) -> None:
        """End it as a user does."""
        self.process.send_signal(signal.SIGTERM)
        printed = self.process.communicate()[0].decode()
        assert self.process.returncode == 0, printed

    def table(self) -> list[dict[str, str]]:
        """Return the rows of the table of answers."""
        with (self.folder / "answers.csv").open(newline="") as file:
            return list(csv.DictReader(file))


def _serve(folder: Path, words: list[str]) -> None:
    """Be ``python -m complabel annotate`` in a process of its own."""
    from complabel.__main__ import main

    os.environ["COMPLABEL_TOKEN"] = TOKEN
    os.chdir(folder)
    sys.argv, sys.stdout = ["complabel", *words], open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stdout
    main()


class Person:
    """Somebody who asks the routes, and tries again while the server is away."""

    def __init__(self, name: str, port: int) -> None:
        self.name, self.port, self.random = name, port, random.Random(f"{name} 0")
        self.line: http.client.HTTPConnection | None = None
        self.seen: set[tuple[str, str]] = set()  # questions, by item and label
        self.confirmed: dict[str, tuple[str, str, str]] = {}  # by id: item, label, answer

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
        if found and "label" in found:
            self.seen.add((found["item"], found["label"]))
        return found

    def say(self, question: Any, said: Any, seconds: float = 1.5) -> None:
        """Answer a question."""
        body = {"id": question["id"], "person": self.name, "answer": said, "seconds": seconds}
        assert self.ask("POST", "/api/answer", body)["stored"]

    def answer(self) -> None:
        """Answer the present question."""
        question, said = self.next(), self.random.choice(["yes", "no", "unsure"])
        self.say(question, said)
        self.confirmed[question["id"]] = (question["item"], question["label"], said)

    def undo(self) -> None:
        """Take the last answer back; without a reply, see whether it was."""
        last = list(self.confirmed)[-1]
        try:
            assert self.once("POST", "/api/undo", {"person": self.name})["undone"] == last
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
