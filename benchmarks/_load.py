"""Clients that put a server under load, and servers in processes of their own."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from benchmarks._results import CHECKOUT

SERVERS = ("complabel serve", "FastAPI", "FastAPI, tuned")


class Client(asyncio.Protocol):
    """Sends a request, waits for its answer, and sends the next one until the time is over."""

    def __init__(self, request: bytes, load: Load) -> None:
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


class Server:
    """A server in a process of its own."""

    def __init__(self, name: str, folder: Path, port: int) -> None:
        self.name, self.port = name, port
        if name == SERVERS[0]:
            command = ["-m", "complabel", "serve", str(folder / "model.safetensors")]
            command += ["--port", str(port), "--features", str(folder / "X.npy")]
        else:
            code = (
                f"from benchmarks._rival import serve_rival; serve_rival({str(folder)!r}, {port},"
            )
            command = ["-c", f"{code} tuned={name == SERVERS[2]})"]
        path = os.pathsep.join([str(CHECKOUT), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path}
        self.process = subprocess.Popen(
            [sys.executable, *command], env=environment, stdout=subprocess.DEVNULL
        )

    async def ready(self) -> Server:
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

    def __enter__(self) -> Server:
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

    async def under(self, load: Load, requests: list[bytes]) -> Load:
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
