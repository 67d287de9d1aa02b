"""Servers of ``complabel annotate``, people who ask their routes, and a Chromium."""

from __future__ import annotations

import contextlib
import csv
import http.client
import json
import multiprocessing
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks._frame import MissingError, need

TOKEN = "benchmarkbenchmark"
PRELOADED = [
    *("complabel.cli._app", "complabel.live._annotation", "complabel.live._drawing"),
    *("pyarrow.csv", "uvicorn", "uvicorn.lifespan.on", "uvicorn.protocols.http.auto"),
]
AWAY = (OSError, http.client.HTTPException)  # there was no reply


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def until_it_listens(port: int, is_alive: Callable[[], bool]) -> None:
    """Wait until somebody listens at a port."""
    while is_alive():
        with contextlib.suppress(OSError):
            return socket.create_connection(("127.0.0.1", port), 1).close()
        time.sleep(0.01)
    raise RuntimeError("the server has ended by itself")


def started(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start ``complabel annotate``."""
    return subprocess.Popen(
        [sys.executable, "-m", "complabel", "annotate", *words, "--no-browser"],
        cwd=folder,
        env={**os.environ, "COMPLABEL_TOKEN": TOKEN},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


class Server:
    """A process of ``complabel annotate``, as users start it, or forked from one with imports."""

    def __init__(
        self, folder: Path, n_items: int, n_labels: int, question: str | None = "asked"
    ) -> None:
        need("starlette", "uvicorn", "h11")
        self.folder, self.port = folder, free_port()
        rows = "".join(f"item {at},{'some words ' * 20}{at}\n" for at in range(n_items))
        (folder / "items.csv").write_text("item,body\n" + rows)
        (folder / "labels.txt").write_text("".join(f"label {at}\n" for at in range(n_labels)))
        words = f"items.csv --text body --label-names labels.txt --port {self.port}"
        self.words = [*words.split(), *(["--question", question] if question else [])]

    def start(self) -> float:
        """Start it and wait until it answers; return the seconds."""
        begun = time.perf_counter()
        self.process = started(self.folder, *self.words)
        until_it_listens(self.port, lambda: self.process.poll() is None)
        return time.perf_counter() - begun

    def fork(self) -> None:
        """Start it from a process that has imported everything."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(PRELOADED)
        self.child = context.Process(target=_serve, args=(self.folder, self.words))
        self.child.start()
        until_it_listens(self.port, self.child.is_alive)

    def end(self) -> None:
        """End it as a user does."""
        self.process.send_signal(signal.SIGTERM)
        printed = self.process.communicate()[0]
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
    sys.argv = ["complabel", "annotate", *words, "--no-browser"]
    with open(os.devnull, "w") as nothing:
        sys.stdout = sys.stderr = nothing
        main()


class Person:
    """Somebody who asks the routes, and tries again while the server is away."""

    def __init__(self, name: str, port: int) -> None:
        self.name, self.random = name, random.Random(f"{name} 0")
        self.line = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        self.seen: set[tuple[str, str]] = set()  # questions, by item and label
        self.confirmed: dict[str, tuple[str, str, str]] = {}  # by id: item, label, answer

    def once(self, method: str, path: str, body: object = None) -> Any:
        """Ask once; there may be no reply."""
        try:
            sent = None if body is None else json.dumps(body)
            self.line.request(method, path, sent, {"X-Token": TOKEN})
            reply = self.line.getresponse()
            said = reply.read()
        except AWAY:
            self.line.close()  # the next request opens it
            raise
        assert reply.status in (200, 204), (reply.status, said)
        return json.loads(said) if said else None

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Ask until there is a reply."""
        while True:
            with contextlib.suppress(*AWAY):
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

    def tell(self, applies: Mapping[str, Any], question: Any, seconds: float) -> float:
        """Say what is true; return the seconds, which are three times as many for a list."""
        said: Any = [each for each in question.get("offered", ()) if applies[each]]
        if question["question"] == "asked":
            said = "yes" if applies[question["label"]] else "no"
        else:
            seconds *= 3
        self.say(question, said, seconds)
        return seconds

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
        except AWAY:
            if self.next()["item"] != self.confirmed[last][0]:
                return
        del self.confirmed[last]

    def sit(self, is_over: Callable[[], bool]) -> None:
        """Answer until it is over."""
        while not is_over():
            self.next(self.random.randrange(4))
            self.answer()
            if self.random.random() < 0.1 and self.confirmed:
                self.undo()


@contextlib.contextmanager
def serving(folder: Path, *things: str) -> Iterator[str]:
    """Start ``complabel annotate``, and yield the address that it prints."""
    need("starlette", "uvicorn", "h11")
    words = (*things, "--label-names", "labels.txt", "--out", "answers.csv")
    server = started(folder, *words)
    try:
        yield next(line.split()[-1] for line in server.stdout or () if "http" in line)
    finally:
        server.terminate()
        server.communicate()


@contextlib.contextmanager
def browsing() -> Iterator[Any]:
    """Open a Chromium without a window."""
    need("selenium")
    from selenium import webdriver

    for name in ("chromium", "chromedriver"):
        if shutil.which(name) is None:
            raise MissingError(f"there is no {name}")
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "window-size=1280,800"):
        options.add_argument(f"--{argument}")
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    with webdriver.Chrome(options=options, service=service) as driver:
        yield driver
