"""Time requests to complabel serve, beside FastAPI with a pipeline of scikit-learn.

    pip install "complabel[live]" fastapi orjson
    python -m benchmarks.serve_requests            # 1 and 100 rows a request, JSON and .npy
    python -m benchmarks.serve_requests --tasks    # 100 tasks of Label Studio a request
    python -m benchmarks.serve_requests --stop     # SIGTERM under load: what became of each request

50 clients send a request each, wait for its answer, and send the next one. The servers run one
after the other, in turn, each with one process; the clients are another process.
"""

import argparse
import asyncio
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from pydantic import BaseModel

N_FEATURES, N_LABELS, N_CLIENTS = 256, 20, 50
JSON, NPY = "application/json", "application/x-npy"
SERVERS = ("complabel serve", "FastAPI", "FastAPI, tuned")


def make_models(folder: Path) -> None:
    """Fit a linear model with each library to the same items, and save features of items."""
    import joblib
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from complabel.methods import SelectionLikelihoodClassifier

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


class Rows(BaseModel):
    """A request to the rival."""

    rows: list[list[float]]


class Predictions(BaseModel):
    """The rival's answer."""

    label_names: list[str]
    labels: list[list[str]]
    probabilities: list[list[float]]


def rival(folder: Path, *, tuned: bool) -> object:
    """Return the FastAPI app: as its documentation writes one, or as fast as it can be made."""
    import joblib
    import orjson
    from fastapi import FastAPI, Request, Response

    app = FastAPI()
    pipeline = joblib.load(folder / "pipeline.joblib")
    names = [str(k) for k in range(N_LABELS)]

    def found(probabilities: np.ndarray) -> dict[str, object]:
        return {
            "label_names": names,
            "labels": [[names[k] for k in np.flatnonzero(row > 0.5)] for row in probabilities],
            "probabilities": probabilities.round(7).tolist(),
        }

    def of_array(body: bytes) -> bytes:
        file = io.BytesIO()
        np.save(file, predict(np.load(io.BytesIO(body))).astype(np.float32))
        return file.getvalue()

    if not tuned:
        predict = pipeline.predict_proba

        @app.post("/predict")
        def of_rows(asked: Rows) -> Predictions:
            return Predictions(**found(predict(np.array(asked.rows))))

        @app.post("/predict-npy")
        async def of_npy(request: Request) -> Response:
            return Response(of_array(await request.body()), media_type=NPY)

        return app

    # One product for all labels, in place of a call for each label, and no models of pydantic.
    scaler, models = (step for _, step in pipeline.steps)
    weights = np.stack([each.coef_[0] for each in models.estimators_], axis=1)
    weights /= scaler.scale_[:, None]
    constant = np.array([each.intercept_[0] for each in models.estimators_])
    constant = constant - scaler.mean_ @ weights

    def predict(X: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-(X @ weights + constant)))

    @app.post("/predict")
    async def of_rows(request: Request) -> Response:
        rows = np.array(orjson.loads(await request.body())["rows"])
        return Response(orjson.dumps(found(predict(rows))), media_type=JSON)

    @app.post("/predict-npy")
    async def of_npy(request: Request) -> Response:
        return Response(of_array(await request.body()), media_type=NPY)

    return app


def serve_rival(folder: Path, port: int, *, tuned: bool) -> None:
    """Run the rival's server, with the settings of ours."""
    import uvicorn

    uvicorn.run(rival(folder, tuned=tuned), port=port, access_log=False, log_level="warning")


class Client(asyncio.Protocol):
    """Sends a request, waits for its answer, and sends the next one until the time is over."""

    def __init__(self, request: bytes, load: "Load") -> None:
        self.request, self.load = request, load
        self.received = b""
        self.waits = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first request."""
        self.transport = transport
        self.ask()

    def ask(self) -> None:
        """Send a request."""
        self.received, self.waits = b"", True
        self.load.sent += 1
        self.began = time.perf_counter()
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        """Collect an answer; when it is whole, note its time and send the next request."""
        self.received += data
        head, found, body = self.received.partition(b"\r\n\r\n")
        if not found:
            return
        fields = head.lower().split(b"\r\n")
        length = next(int(f[15:]) for f in fields if f.startswith(b"content-length:"))
        if len(body) < length:
            return
        self.waits = False
        self.load.seconds.append(time.perf_counter() - self.began)
        self.load.statuses[head[9:12].decode()] = self.load.statuses.get(head[9:12].decode(), 0) + 1
        if time.perf_counter() < self.load.until and b"connection: close" not in fields:
            self.ask()
        else:
            self.transport.close()

    def connection_lost(self, _: Exception | None) -> None:
        """Note whether the connection ended without an answer."""
        self.load.unanswered += self.waits
        self.load.open -= 1
        if not self.load.open:
            self.load.done.set()


class Load:
    """Some clients at a server, and what became of their requests."""

    def __init__(self, seconds: float) -> None:
        self.until = time.perf_counter() + seconds
        self.seconds: list[float] = []
        self.statuses: dict[str, int] = {}
        self.sent = self.unanswered = self.open = 0
        self.cost = float("nan")
        self.done = asyncio.Event()

    async def run(self, port: int, requests: list[bytes]) -> None:
        """Start a client for each of the requests, and wait until all have ended."""
        self.open = len(requests)
        for request in requests:
            await asyncio.get_running_loop().create_connection(
                lambda request=request: Client(request, self), "127.0.0.1", port
            )
        await self.done.wait()


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


class Server:
    """A server in a process of its own."""

    def __init__(self, name: str, folder: Path, port: int) -> None:
        self.name, self.port = name, port
        if name == SERVERS[0]:
            command = ["-m", "complabel", "serve", str(folder / "model.safetensors")]
            command += ["--port", str(port), "--features", str(folder / "X.npy")]
        else:
            command = [__file__, "--rival", name, "--folder", str(folder), "--port", str(port)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, *command], env=environment, stdout=subprocess.DEVNULL
        )

    async def ready(self) -> "Server":
        """Wait until it listens."""
        for _ in range(600):
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except OSError:
                await asyncio.sleep(0.1)
            else:
                writer.close()
                return self
        raise TimeoutError(f"{self.name} does not listen")

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def processor_seconds(self) -> float:
        """Return the seconds that the processors have spent on it (on Linux, else NaN)."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return float("nan")
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    async def under(self, load: "Load", requests: list[bytes]) -> "Load":
        """Put it under load, and note what the requests cost it."""
        before = self.processor_seconds()
        await load.run(self.port, requests)
        assert set(load.statuses) == {"200"}, (self.name, load.statuses)
        load.cost = (self.processor_seconds() - before) / len(load.seconds)
        return load

    def stop(self) -> int:
        """End it as a process manager does, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)


async def compare(folder: Path, port: int, seconds: float, rounds: int) -> None:
    """Print a line for each kind of request and each server."""
    with contextlib.ExitStack() as stack:
        servers = [
            stack.enter_context(Server(name, folder, port + at)) for at, name in enumerate(SERVERS)
        ]
        await _compare(servers, np.load(folder / "X.npy"), seconds, rounds)


async def _compare(servers: list[Server], X: np.ndarray, seconds: float, rounds: int) -> None:
    for server in servers:
        await server.ready()
    head("request", "server", "rows")
    for n_rows in (1, 100):
        for kind in (JSON, NPY):
            found: dict[str, list[Load]] = {name: [] for name in SERVERS}
            for number in range(rounds + 1):
                for server in servers:
                    is_rival_npy = kind == NPY and server.name != SERVERS[0]
                    path = "/predict-npy" if is_rival_npy else "/predict"
                    requests = requests_of(X, n_rows, kind, path)
                    load = await server.under(Load(seconds if number else 0.5), requests)
                    if number:  # the first one warms up
                        found[server.name].append(load)
            for name in SERVERS:
                show(
                    f"{n_rows} row{'s' * (n_rows > 1)}, {kind[12:]}",
                    name,
                    found[name],
                    seconds,
                    n_rows,
                )


def head(first: str, second: str, things: str) -> None:
    """Print the head of a table."""
    print(
        f"| {first} | {second} | p50 (ms) | p95 | p99 | requests a second | {things} a second |"
        " processor ms a request |"
    )
    print("|---|---|--:|--:|--:|--:|--:|--:|")


def show(what: str, name: str, loads: list[Load], seconds: float, n_rows: int) -> None:
    """Print the medians over rounds."""
    p50, p95, p99 = (
        np.median([np.percentile(load.seconds, (50, 95, 99)) for load in loads], axis=0) * 1e3
    )
    rate = np.median([len(load.seconds) for load in loads]) / seconds
    print(
        f"| {what} | {name} | {p50:.1f} | {p95:.1f} | {p99:.1f} | {rate:,.0f} |"
        f" {rate * n_rows:,.0f} | {np.median([load.cost for load in loads]) * 1e3:.2f} |",
        flush=True,
    )


async def tasks(folder: Path, port: int, seconds: float, rounds: int) -> None:
    """Print the times of requests with 100 tasks, from one client and from many."""
    head("request", "clients", "tasks")
    with Server(SERVERS[0], folder, port) as server:
        await server.ready()
        for n_clients in (1, N_CLIENTS):
            loads = []
            for _ in range(rounds):
                requests = requests_of_tasks(100)[:n_clients]
                loads.append(await server.under(Load(seconds), requests))
            show("100 tasks", str(n_clients), loads, seconds, 100)


async def stop(folder: Path, port: int, rounds: int) -> None:
    """Print what became of each request if the server is told to end under load."""
    X = np.load(folder / "X.npy")
    for number in range(rounds):
        with Server(SERVERS[0], folder, port + number) as server:
            await server.ready()
            load = Load(60)
            requests = requests_of(X, 100, JSON, "/predict")
            running = asyncio.create_task(load.run(server.port, requests))
            await asyncio.sleep(2)
            code = await asyncio.to_thread(server.stop)
            await running
        print(
            f"{load.sent:,} requests sent, {len(load.seconds):,} answered {load.statuses},"
            f" {load.unanswered} without an answer; exit code {code}"
        )


def main() -> None:
    """Make the models, and run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", action="store_true")
    parser.add_argument("--stop", action="store_true")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--port", type=int, default=9470)
    parser.add_argument("--rival", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.rival:
        serve_rival(given.folder, given.port, tuned=given.rival == SERVERS[2])
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_models(folder)
        if given.tasks:
            asyncio.run(tasks(folder, given.port, given.seconds, given.rounds))
        elif given.stop:
            asyncio.run(stop(folder, given.port, given.rounds))
        else:
            asyncio.run(compare(folder, given.port, given.seconds, given.rounds))


if __name__ == "__main__":
    main()
