"""How long do requests to ``complabel serve`` take, beside FastAPI with a pipeline of scikit-learn?

50 clients send a request each, wait for its answer, and send the next one; the model is linear,
with 256 features and 20 labels. Each server has one process; rounds of 2 seconds take turns, and
figures are medians of 7 of them, after one that warms up. "FastAPI" is an app as its documentation
writes one, "tuned" the fastest that we could write: one product for all labels, orjson, no checks.
"tasks" are 100 tasks of Label Studio a request. "stop" sends SIGTERM after 2 seconds under load.
Needs ``pip install "complabel[live]" fastapi orjson``.
"""

import asyncio
import contextlib
import io
import json
import socket
import tempfile
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._frame import need
from benchmarks._load import SERVERS, Load, Server
from complabel.methods import SelectionLikelihoodClassifier

N_FEATURES, N_LABELS, N_CLIENTS = 256, 20, 50
JSON, NPY = "application/json", "application/x-npy"
SECONDS, ROUNDS = 2.0, 7
CELLS = [
    *({"what": "rows", "rows": n, "kind": kind} for n in (1, 100) for kind in ("JSON", "npy")),
    *({"what": "tasks", "rows": 100, "kind": "JSON", "clients": n} for n in (1, N_CLIENTS)),
    {"what": "stop", "rounds": 10},
    {"what": "stop", "rounds": 1},
]
QUICK = {"what": ("stop",), "rounds": (1,)}
TIMES = ("p50", "p95", "p99", "rate", "cost")


def make_models(folder: Path) -> None:
    """Fit a linear model with each library to the same items, and save features of items."""
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


def request_of(path: str, body: bytes, kind: str) -> bytes:
    """Return the bytes of a request."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nAccept: {kind}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def requests_of(X: np.ndarray, n_rows: int, kind: str, path: str) -> list[bytes]:
    """Return a request for each client, each with rows of its own."""
    made = []
    for client in range(N_CLIENTS):
        rows = X[(client * n_rows + np.arange(n_rows)) % len(X)]
        if kind == NPY:
            file = io.BytesIO()
            np.save(file, rows)
            body = file.getvalue()
        else:
            body = json.dumps({"rows": rows.astype(float).round(6).tolist()}).encode()
        made.append(request_of(path, body, kind))
    return made


def requests_of_tasks(n_tasks: int) -> list[bytes]:
    """Return requests as Label Studio sends them, about known items."""
    choices = "".join(f'<Choice value="{k}"/>' for k in range(N_LABELS))
    control = f'<Choices name="c" toName="i" choice="multiple">{choices}</Choices>'
    form = f'<View><Image name="i" value="$image"/>{control}</View>'
    tasks = [
        {
            "id": n,
            "data": {"image": f"https://example.org/{n}.jpg", "item": str(n)},
            "meta": {},
            "created_at": "2026-11-23T08:00:00.000000Z",
            "updated_at": "2026-11-23T08:00:00.000000Z",
            "is_labeled": False,
            "overlap": 1,
            "project": 1,
            "annotations": [],
            "predictions": [],
        }
        for n in range(n_tasks)
    ]
    asked = {"tasks": tasks, "project": "1.1", "label_config": form, "params": {"context": None}}
    return [request_of("/predict", json.dumps(asked).encode(), JSON)] * N_CLIENTS


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def figures_of(loads: list[Load]) -> dict[str, float]:
    """Return the medians over rounds: milliseconds, requests a second, processor ms of one."""
    times = [1e3 * np.percentile(load.seconds, (50, 95, 99)) for load in loads]
    found = dict(zip(("p50", "p95", "p99"), np.median(times, axis=0), strict=True))
    found["rate"] = np.median([len(load.seconds) for load in loads]) / SECONDS
    return {**found, "cost": 1e3 * float(np.median([load.cost for load in loads]))}


async def compare(folder: Path, n_rows: int, kind: str) -> list[Any]:
    """Return a row for each server."""
    X, found = np.load(folder / "X.npy"), {name: [] for name in SERVERS}
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(name, folder, free_port())) for name in SERVERS]
        for server in servers:
            await server.ready()
        for number in range(ROUNDS + 1):
            for server in servers:
                is_rival = server.name != SERVERS[0]
                path = "/predict-npy" if kind == NPY and is_rival else "/predict"
                requests = requests_of(X, n_rows, kind, path)
                load = await server.under(Load(SECONDS if number else 0.5), requests)
                if number:  # the first one warms up
                    found[server.name].append(load)
    return [({"server": name}, figures_of(loads)) for name, loads in found.items()]


async def tasks(folder: Path, n_clients: int) -> dict[str, float]:
    """Return the times of requests with 100 tasks."""
    with Server(SERVERS[0], folder, free_port()) as server:
        await server.ready()
        requests = requests_of_tasks(100)[:n_clients]
        return figures_of([await server.under(Load(SECONDS), requests) for _ in range(5)])


async def stop(folder: Path, rounds: int) -> dict[str, int]:
    """Return what became of each request if the server is told to end under load."""
    X, found = np.load(folder / "X.npy"), {"sent": 0, "answered": 0, "unanswered": 0, "failed": 0}
    for _ in range(rounds):
        with Server(SERVERS[0], folder, free_port()) as server:
            await server.ready()
            load = Load(60)
            running = asyncio.create_task(
                load.run(server.port, requests_of(X, 100, JSON, "/predict"))
            )
            await asyncio.sleep(2)
            code = await asyncio.to_thread(server.stop)
            await running
        told = {"sent": load.sent, "answered": len(load.seconds), "unanswered": load.unanswered}
        for name, value in {**told, "failed": int(code != 0)}.items():
            found[name] += value
    return found


def measure(*, draw: int, data: Any, what: str, **cell: Any) -> Any:
    """Return times of requests, or what became of them."""
    need("starlette", "uvicorn", "h11", *(("fastapi", "orjson") if what == "rows" else ()))
    with tempfile.TemporaryDirectory() as name:
        make_models(Path(name))
        if what == "stop":
            return asyncio.run(stop(Path(name), cell["rounds"]))
        if what == "tasks":
            return asyncio.run(tasks(Path(name), cell["clients"]))
        kind = JSON if cell["kind"] == "JSON" else NPY
        return asyncio.run(compare(Path(name), cell["rows"], kind))
