"""How long do requests to ``complabel serve`` take, beside FastAPI with a pipeline of scikit-learn?

50 clients send a request each, wait for its answer, and send the next one; the model is linear,
with 256 features and 20 labels. Each server has one process; rounds of 2 seconds take turns, and
figures are medians of 7 of them, after one that warms up: milliseconds, requests a second, and
"cost", milliseconds of a processor. "FastAPI" is an app as its documentation writes one, "tuned"
the fastest that we could write: one product for all labels, orjson, no checks. "tasks" are 100
tasks of Label Studio a request. "stop" sends SIGTERM after 2 seconds under load.
Needs ``pip install "complabel[live]" fastapi orjson``.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._frame import need
from benchmarks._results import CHECKOUT
from benchmarks._server import free_port, until_it_listens
from complabel.methods import SelectionLikelihoodClassifier

SERVERS = ("complabel serve", "FastAPI", "FastAPI, tuned")
N_FEATURES, N_LABELS, N_CLIENTS = 256, 20, 50
KINDS = {"JSON": "application/json", "npy": "application/x-npy"}
SECONDS, ROUNDS = 2.0, 7
CELLS = [
    *({"what": "rows", "rows": n, "kind": kind} for n in (1, 100) for kind in KINDS),
    *({"what": "tasks", "rows": 100, "kind": "JSON", "clients": n} for n in (1, N_CLIENTS)),
    {"what": "stop", "rounds": 10},
    {"what": "stop", "rounds": 1},
]
QUICK = {"what": ("stop",), "rounds": (1,)}
TIMES = ("p50", "p99", "rate", "cost")


def make_models(folder: Path) -> np.ndarray:
    """Fit a linear model with each library to the same items; return features of items."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000, N_FEATURES)).astype(np.float32)
    Y = (X @ rng.normal(size=(N_FEATURES, N_LABELS)) > 10).astype(int)
    chosen = (1 - Y) * rng.random(Y.shape)
    complementary = (chosen == chosen.max(axis=1, keepdims=True)).astype(int)
    ours = SelectionLikelihoodClassifier(kernel="linear", random_state=0).fit(X, complementary)
    ours.save(folder / "model.safetensors")
    theirs = make_pipeline(StandardScaler(), OneVsRestClassifier(LogisticRegression()))
    joblib.dump(theirs.fit(X, Y), folder / "pipeline.joblib")
    np.save(folder / "X.npy", X)
    return X


def request_of(path: str, body: bytes, kind: str) -> bytes:
    """Return the bytes of a request."""
    type_ = KINDS[kind]
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {type_}\r\nAccept: {type_}"
    return f"{head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def requests_of(X: np.ndarray, n_rows: int, kind: str, path: str = "/predict") -> list[bytes]:
    """Return a request for each client, each with rows of its own."""
    made = []
    for client in range(N_CLIENTS):
        rows, file = X[(client * n_rows + np.arange(n_rows)) % len(X)], io.BytesIO()
        if kind == "npy":
            np.save(file, rows)
        else:
            file.write(json.dumps({"rows": rows.astype(float).round(6).tolist()}).encode())
        made.append(request_of(path, file.getvalue(), kind))
    return made


def request_of_tasks() -> bytes:
    """Return a request as Label Studio sends it, about known items."""
    choices = "".join(f'<Choice value="{k}"/>' for k in range(N_LABELS))
    control = f'<Choices name="c" toName="i" choice="multiple">{choices}</Choices>'
    form = f'<View><Image name="i" value="$image"/>{control}</View>'
    at = "2026-11-23T08:00:00.000000Z"
    alike = {"meta": {}, "created_at": at, "updated_at": at, "is_labeled": False, "overlap": 1}
    alike |= {"project": 1, "annotations": [], "predictions": []}
    tasks = [
        {"id": n, "data": {"image": f"https://example.org/{n}.jpg", "item": str(n)}, **alike}
        for n in range(100)
    ]
    asked = {"tasks": tasks, "project": "1.1", "label_config": form, "params": {"context": None}}
    return request_of("/predict", json.dumps(asked).encode(), "JSON")


Running = tuple[subprocess.Popen[bytes], int]  # a server and its port


@contextlib.contextmanager
def serving(name: str, folder: Path) -> Iterator[Running]:
    """Start a server."""
    port = free_port()
    command = ["-m", "complabel", "serve", str(folder / "model.safetensors")]
    command += ["--port", str(port), "--features", str(folder / "X.npy")]
    if name != SERVERS[0]:
        given = f"{str(folder)!r}, {port}, tuned={name == SERVERS[2]}"
        command = ["-c", f"from benchmarks._rival import serve_rival; serve_rival({given})"]
    path = os.pathsep.join([str(CHECKOUT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path}
    words = [sys.executable, *command]
    process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL)
    try:
        until_it_listens(port, lambda: process.poll() is None)
        yield process, port
    finally:
        process.kill()
        process.wait()


class Load:
    """Clients who send requests to a server for some seconds, and what became of these."""

    def __init__(self, server: Running, seconds: float = SECONDS) -> None:
        self.process, self.port = server
        self.until, self.sent = time.perf_counter() + seconds, 0
        self.seconds: list[float] = []  # of each answer

    async def run(self, requests: list[bytes]) -> Load:
        """Send each of the requests again and again, with a client for each."""
        before = self.processor_seconds()
        await asyncio.gather(*map(self.client, requests))
        self.cost = (self.processor_seconds() - before) / len(self.seconds)
        return self

    async def client(self, request: bytes) -> None:
        """Send a request, wait for its answer, and so on."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**20)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):  # no answer came
            head = b""
            while time.perf_counter() < self.until and b"connection: close" not in head:
                self.sent, began = self.sent + 1, time.perf_counter()
                writer.write(request)
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                assert head.startswith(b"http/1.1 200"), head
                await reader.readexactly(int(head.split(b"content-length:")[1].split()[0]))
                self.seconds.append(time.perf_counter() - began)
        writer.close()

    def processor_seconds(self) -> float:
        """Return the seconds that the processors have spent on the server."""
        told = Path(f"/proc/{self.process.pid}/stat").read_text()
        user, system = told.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def figures_of(loads: list[Load]) -> dict[str, float]:
    """Return the medians over rounds."""
    p50, p99 = np.median([1e3 * np.percentile(each.seconds, (50, 99)) for each in loads], axis=0)
    rate = np.median([len(each.seconds) for each in loads]) / SECONDS
    cost = 1e3 * float(np.median([each.cost for each in loads]))
    return {"p50": p50, "p99": p99, "rate": rate, "cost": cost}


def compare(folder: Path, X: np.ndarray, n_rows: int, kind: str) -> list[Any]:
    """Return a row for each server."""
    found: dict[str, list[Load]] = {name: [] for name in SERVERS}
    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(serving(name, folder)) for name in SERVERS}
        for number in range(ROUNDS + 1):
            for name, server in servers.items():
                is_npy = kind == "npy" and name != SERVERS[0]
                requests = requests_of(X, n_rows, kind, "/predict-npy" if is_npy else "/predict")
                load = asyncio.run(Load(server, SECONDS if number else 0.5).run(requests))
                found[name] += [load] * (number > 0)  # the first one warms up
    return [({"server": name}, figures_of(loads)) for name, loads in found.items()]


async def stop(folder: Path, X: np.ndarray, rounds: int) -> dict[str, int]:
    """Return what became of requests if the server is told to end under load."""
    found = Counter(sent=0, answered=0, failed=0)
    for _ in range(rounds):
        with serving(SERVERS[0], folder) as server:
            running = asyncio.create_task(Load(server, 60).run(requests_of(X, 100, "JSON")))
            await asyncio.sleep(2)
            server[0].terminate()
            load, failed = await running, server[0].wait(timeout=30) != 0
        found.update(sent=load.sent, answered=len(load.seconds), failed=failed)
    return {**found}


def measure(*, draw: int, data: Any, what: str, **cell: Any) -> Any:
    """Return times of requests, or what became of them."""
    need("starlette", "uvicorn", "h11", *(("fastapi", "orjson") if what == "rows" else ()))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        X = make_models(folder)
        if what == "stop":
            return asyncio.run(stop(folder, X, cell["rounds"]))
        if what == "rows":
            return compare(folder, X, cell["rows"], cell["kind"])
        requests = [request_of_tasks()] * cell["clients"]
        with serving(SERVERS[0], folder) as server:
            return figures_of([asyncio.run(Load(server).run(requests)) for _ in range(5)])
