"""Who may come in, how much they may send, and how a server ends."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import urllib.request

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from tests.refusals import raises

from complabel.errors import InputError
from complabel.live._server import _listen, guarded, new_token, run

SLOW = """
import asyncio
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from complabel.live._server import guarded, run

async def slow(request):
    print("taken", flush=True)
    await asyncio.sleep(0.3)
    return PlainTextResponse("done")

app = guarded(Starlette(routes=[Route("/", slow)]), token=None, most_bytes=10)
run(app, host="127.0.0.1", port=0, started=lambda address: print(address, flush=True))
print("after")
"""

KILLED = """
import contextlib, os, signal, socket, sys
from starlette.applications import Starlette
from complabel.live._server import run

@contextlib.asynccontextmanager
async def life(app):
    yield
    print("closed", flush=True)

def early(*address, found=socket.getaddrinfo, **more):
    os.kill(os.getpid(), signal.SIGTERM)
    return found(*address, **more)

def twice(address):
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGINT)

if sys.argv[1] == "early": socket.getaddrinfo, twice = early, id
run(Starlette(lifespan=life), host="127.0.0.1", port=0, started=twice)
print("after", flush=True)
"""


async def _echo(request):
    return PlainTextResponse(await request.body())


def _client(token="secret-token", most_bytes=100, **more):
    routes = [Route("/", _echo, methods=["GET", "POST"])]
    return TestClient(guarded(Starlette(routes=routes), token=token, most_bytes=most_bytes), **more)


@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("?token=secret-token", {}),
        ("?person=ann&token=secret%2Dtoken", {}),
        ("", {"X-Token": "secret-token"}),
        ("", {"Authorization": "bearer secret-token"}),
    ],
)
def test_the_token_goes_in_a_header_or_in_the_address(query, headers):
    reply = _client().post("/" + query, headers=headers, content=b"sent")

    assert (reply.status_code, reply.content) == (200, b"sent")


def test_a_request_that_is_too_large_is_refused_also_if_it_does_not_say_so():
    client = _client(token=None)

    assert client.post("/", content=b"x" * 100).status_code == 200
    for content in (b"x" * 101, iter([b"x" * 60, b"x" * 41])):  # the latter without a length
        reply = client.post("/", content=content)
        assert reply.status_code == 413
        assert "more than 100 bytes" in reply.json()["error"]
    for length in ("-5", "1e3", "9" * 30):
        assert client.post("/", headers={"content-length": length}).status_code == 413


@pytest.mark.parametrize("host", ["our-server", "192.168.1.5.evil.example", "", "localhost."])
def test_another_machine_comes_by_an_address_or_a_name_of_this_one_or_with_the_token(host):
    reached = {"base_url": "http://192.168.1.5:8000"}
    opened, closed = _client(token=None, **reached), _client(**reached)

    assert opened.get("/", headers={"host": host}).status_code == 403
    assert closed.get("/?token=secret-token", headers={"host": host}).status_code == 200
    for own in ("192.168.1.5:8000", "[fe80::1]:8000", "10.0.0.7", socket.gethostname()):
        assert opened.get("/", headers={"host": own}).status_code == 200


def test_a_port_in_use_is_an_error_that_says_what_to_do():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with raises(InputError, f"port {port}"):
            run(None, host="127.0.0.1", port=port, started=print)
    with raises(InputError, "port 0", "0"):
        run(None, host="no such host", port=0, started=print)


def test_tokens_differ_and_stand_in_an_address_as_they_are():
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(x) >= 32 and x.replace("-", "").replace("_", "").isalnum() for x in tokens)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_after_the_requests_that_it_took(number):
    process = subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE, text=True)
    address = process.stdout.readline().strip()
    replies = []
    asking = threading.Thread(
        target=lambda: replies.append(urllib.request.urlopen(address, timeout=10).read())
    )
    asking.start()
    assert process.stdout.readline() == "taken\n"
    process.send_signal(number)
    asking.join()

    assert replies == [b"done"]
    assert process.communicate(timeout=10)[0] == "after\n"
    assert process.returncode == 0
    with raises(OSError, "refused"):
        urllib.request.urlopen(address, timeout=10)


@pytest.mark.parametrize("moment", ["early", "twice"])  # early: its port does not listen yet
def test_an_early_or_a_second_signal_ends_it_without_a_traceback(moment):
    command = [sys.executable, "-c", KILLED, moment]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "closed\nafter\n", "")


def test_small_answers_go_at_once():
    """Else asyncio leaves it to the system, which gathers packets for 40 ms."""
    with _listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
