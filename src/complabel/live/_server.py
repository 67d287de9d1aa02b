"""What the servers share: who may come in, how much they may send, and a server's life."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ipaddress
import os
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from complabel.errors import InputError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_GRACE = 10  # seconds in which requests that the server took are answered after a signal to stop
_LAST = 0.5  # seconds after the signal in which requests on open connections are still taken
_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
"""Headers of every answer, unless the app gives others."""


def missing(package: str) -> InputError:
    return InputError(
        f'this needs the package {package}, which is not installed; run pip install "complabel'
        '[live]"'
    )


def new_token() -> str:
    """Return a secret that nobody guesses; it can stand in an address as it is."""
    return secrets.token_urlsafe(24)


def guarded(app: ASGIApp, *, token: str | None, most_bytes: int, any_host: bool = False) -> ASGIApp:
    """Return an app that answers only to those who know the token, and reads only so much.

    Who asks gives the token as ``Authorization: Bearer TOKEN``, as the password of basic
    authentication, as ``X-Token: TOKEN`` or as ``?token=TOKEN``; without a token, everybody may
    ask. The app gets the body of a request in one piece, of at most ``most_bytes``.

    It answers 403 without the token; 403 to a request that came to this machine under another
    machine's name, as pages of strangers send them (DNS rebinding); 413 to a request that is too
    large, also if the request does not say how large it is. It adds headers that keep browsers from
    running and showing what they should not. With ``any_host``, it also answers requests to this
    machine that call it by another name, as programs in a container do. Pages of strangers do so,
    too, so that needs a token.
    """
    from starlette.responses import JSONResponse

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await app(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close"})
        careful = _with_headers(send)
        headers = {name.lower(): value for name, value in scope["headers"]}
        other_host = None if any_host and token else _wrong_host(scope, headers)
        wrong = other_host or _wrong_token(scope, headers, token)
        status, body = 403, None
        if not wrong:
            try:
                body = await _read(receive, headers, most_bytes)
            except ValueError as error:
                status, wrong = 413, str(error)
        if wrong:
            close = {"connection": "close"}  # the rest of the request is not read
            await JSONResponse({"error": wrong}, status, close)(scope, receive, careful)
        elif body is not None:
            await app(scope, _replaying(body, receive), careful)
        return None

    return answer


def _wrong_host(scope: Scope, headers: Mapping[bytes, bytes]) -> str | None:
    """Say what is wrong if a request to this machine alone names another machine."""
    host = headers.get(b"host", b"").decode("latin-1")
    name, _, port = host.rpartition(":")
    name = (name if port.isdecimal() else host).removeprefix("[").removesuffix("]")
    if not _is_loopback((scope.get("server") or ("",))[0]) or _is_loopback(name):
        return None
    return (
        f"the address names the host {host[:100]!r}, but the server answers on this machine only;"
        " use 127.0.0.1 or localhost in the address (a proxy must send the header Host: localhost)"
    )


def _is_loopback(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host.lower() == "localhost"


def _wrong_token(scope: Scope, headers: Mapping[bytes, bytes], token: str | None) -> str | None:
    if token is None:
        return None
    scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
    said = [
        given.strip() if scheme.lower() == b"bearer" else b"",
        _password(given) if scheme.lower() == b"basic" else b"",
        headers.get(b"x-token", b""),
        parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0].encode(),
    ]
    if any(secrets.compare_digest(each, token.encode()) for each in said):
        return None
    return (
        "the token is missing or wrong; open the address that the command printed, which ends with"
        " ?token=..., or send the header X-Token"
    )


def _password(given: bytes) -> bytes:
    with contextlib.suppress(ValueError):
        return base64.b64decode(given).partition(b":")[2]
    return b""


async def _read(receive: Receive, headers: Mapping[bytes, bytes], most_bytes: int) -> bytes | None:
    """Return the whole body; None if the other side has gone. ValueError: it is too large."""
    too_large = f"the request has more than {most_bytes:,} bytes; send less at once"
    stated = headers.get(b"content-length", b"0")
    if not stated.isdigit() or len(stated) > 18 or int(stated) > most_bytes:
        raise ValueError(too_large)
    pieces, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        if size > most_bytes:
            raise ValueError(too_large)
        if not message.get("more_body", False):
            return b"".join(pieces)


def _replaying(body: bytes, receive: Receive) -> Receive:
    """Return what gives the body once, and then whatever else comes."""
    left = [body]

    async def replay() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return replay


def _with_headers(send: Send) -> Send:
    from starlette.datastructures import MutableHeaders

    async def careful(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=list(message.get("headers", [])))
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            message = {**message, "headers": headers.raw}
        await send(message)

    return careful


def run(app: ASGIApp, *, host: str, port: int, started: Callable[[str], None]) -> None:
    """Serve an app in this thread until SIGINT or SIGTERM comes; port 0 is any free port.

    Requests that the server took by then are answered; a second signal ends it at once. In another
    thread than the first, signals do not reach it. ``started`` is called with the address, such as
    ``http://127.0.0.1:8000``, once the server listens. Nothing is answered before it returns.
    """
    try:
        import uvicorn
    except ImportError as error:
        raise missing("uvicorn") from error
    listening = _listen(host, port)
    address = _address(listening, host)
    server: Any = None  # it needs the app, which asks it
    config = uvicorn.Config(
        _telling(app, lambda: bool(server.listens)),
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
        ws="none",
    )
    server = _stoppable(uvicorn.Server)(config)
    server.on_start = lambda: started(address)
    with listening:
        server.run(sockets=[listening])


def _telling(app: ASGIApp, listens: Callable[[], bool]) -> ASGIApp:
    """Return an app whose answers end their connections once the server no longer listens."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def last(message: Message) -> None:
            if message["type"] == "http.response.start" and not listens():
                headers = [*message.get("headers", ()), (b"connection", b"close")]
                message = {**message, "headers": headers}
            await send(message)

        await app(scope, receive, last)

    return answer


@contextlib.contextmanager
def _handling(stop: Callable[..., None]) -> Iterator[None]:
    """Call it at a signal, but do not raise the signal again: what follows ``run`` still runs."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = (signal.SIGINT, signal.SIGTERM)
    former = {each: signal.signal(each, stop) for each in signals}
    try:
        yield
    finally:
        for each, handler in former.items():
            signal.signal(each, handler)


def _stoppable(base: Any) -> Any:
    """Return uvicorn's server, which ends at a signal when all that it took is answered."""

    class Server(base):  # type: ignore[misc]
        listens, should_exit = True, False
        on_start: Callable[[], None]

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            if self.started:
                self.on_start()

        def capture_signals(self) -> contextlib.AbstractContextManager[None]:
            return _handling(self._stop)

        def _stop(self, *_: Any) -> None:
            self.force_exit = self.should_exit
            self.should_exit = True

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            """Take what has arrived on open connections, too, before these are closed."""
            for _ in range(2):  # connections that wait are taken
                await asyncio.sleep(0)
            for each in self.servers:
                each.close()
            self.listens = False
            if self.server_state.connections and not self.force_exit:
                await asyncio.sleep(_LAST)
            await super().shutdown(sockets=sockets)

    return Server


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # Only if the protocol is said, asyncio sends small answers at once, not after 40 ms.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if os.name == "posix":  # elsewhere two servers could then have the same port
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host, port))
            listening.listen(2048)
        except BaseException:
            listening.close()
            raise
        return listening
    except (OSError, OverflowError) as error:
        raise InputError(
            f"the server cannot listen at {host}, port {port}: "
            f"{getattr(error, 'strerror', None) or error}; give another port (0 is any that is"
            " free) or another host"
        ) from error


def _address(listening: socket.socket, host: str) -> str:
    """Return the address to open: the machine's name if the server listens everywhere."""
    name = socket.gethostname() if host in ("", "0.0.0.0", "::") else host
    shown = f"[{name}]" if ":" in name else name
    return f"http://{shown}:{listening.getsockname()[1]}"
