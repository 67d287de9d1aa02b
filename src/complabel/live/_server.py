"""What the servers share: who may come in, how much they may send, and a server's life."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import ipaddress
import logging
import os
import secrets
import socket
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote, urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from complabel.errors import InputError

_GRACE = 10  # seconds in which requests that the server took are answered after a signal to stop
_LAST = 0.5  # seconds after the signal in which requests on open connections are still taken
_IDLE = 10  # seconds after an answer in which the next request may begin on its connection
_BODY = 60.0  # seconds for its body, and one more for each MiB that it may have
_MOST = 1024  # connections at once, or half of the files that the process may have open
_WAITING = 2048  # connections that wait until they are accepted
_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
"""Headers of every answer, unless the app gives others."""
_IGNORED = (b"range", b"if-range")  # a picture is sent whole: parts of it are work, and no use

_log = logging.getLogger(__name__)


def app_of(
    routes: Sequence[Route], handlers: Mapping[Any, Any], *, hint: str = "", lifespan: Any = None
) -> Starlette:
    """Return an app whose errors are JSON; ``hint`` says where the routes are listed."""

    async def not_there(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        causes = {404: "there is no such route", 405: "this route has another method"}
        cause = causes.get(error.status_code, error.detail)
        path = request.scope["path"][:80]
        return error_reply(
            f"{request.method} {path}: {cause}{hint}", error.status_code, error.headers
        )

    handlers = {**handlers, HTTPException: not_there}
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
    app.router.redirect_slashes = False  # it would lead to the host that a request names
    return app


def error_reply(
    error: str, status: int, headers: Mapping[str, str] | None = None, **more: Any
) -> Response:
    """Return an error, which may repeat half a character that somebody sent."""
    text = error.encode("utf-8", "backslashreplace").decode()
    return JSONResponse({"error": text, **more}, status, headers)


def new_token() -> str:
    """Return a secret that nobody guesses; it can stand in an address as it is."""
    return secrets.token_urlsafe(24)


def guarded(
    app: ASGIApp,
    *,
    token: str | None,
    most_bytes: int,
    any_host: bool = False,
    ticket: str | None = None,
) -> ASGIApp:
    """Return an app that answers only to those who know the token, and reads only so much.

    Who asks gives the token as ``Authorization: Bearer TOKEN``, as the password of basic
    authentication, as ``X-Token: TOKEN`` or as ``?token=TOKEN``; without a token, everybody may
    ask. A browser that opens ``?token=TOKEN`` gets a cookie in place of it, and goes to the address
    without it. ``ticket`` stands for the token once, in an address that others may see. The app
    gets the body of a request in one piece, of at most ``most_bytes``.

    It answers 403 without the token; 403 to a request that came to this machine under another
    machine's name, as pages of strangers send them (DNS rebinding), and to one that a browser says
    a page of another origin made; 413 to a request that is too large, also if the request does not
    say how large it is, and 408 to one that takes too long. It adds headers that keep browsers from
    running and showing what they should not. With ``any_host``, it also answers requests to this
    machine that call it by another name, as programs in a container do. Pages of strangers do so,
    too, so that needs a token.
    """
    keys = None if token is None else _Keys(token, ticket)
    seconds = _BODY + most_bytes / 2**20

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await app(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close"})
        careful = _with_headers(send)
        headers = {name.lower(): value for name, value in scope["headers"]}
        wrong = _wrong_host(scope, headers, any_host=any_host, has_token=keys is not None)
        wrong = wrong or _wrong_site(scope, headers)
        wrong = wrong or (None if keys is None else keys.wrong(scope, headers))
        status, body = 403, None
        if not wrong:
            if keys is not None and (page := keys.page(scope, headers)):
                cookie = f"{keys.cookie(headers)}; HttpOnly; SameSite=Strict; Path=/"
                leading = HTMLResponse(page, headers={"set-cookie": cookie})
                return await leading(scope, receive, careful)
            try:
                async with asyncio.timeout(seconds):
                    body = await _read(receive, headers, most_bytes)
            except ValueError as error:
                status, wrong = 413, str(error)
            except TimeoutError:
                status, wrong = 408, f"the request took over {seconds:.0f} s; send less at once"
        if wrong:
            close = {"connection": "close"}  # the rest of the request is not read
            await JSONResponse({"error": wrong}, status, close)(scope, receive, careful)
        elif body is not None:
            passed_on = [each for each in scope["headers"] if each[0].lower() not in _IGNORED]
            await app({**scope, "headers": passed_on}, _replaying(body, receive), careful)
        return None

    return answer


def _wrong_host(
    scope: Scope, headers: Mapping[bytes, bytes], *, any_host: bool, has_token: bool
) -> str | None:
    """Say what is wrong if the address names another machine.

    Pages of strangers make a name of theirs lead here. So a request to this machine alone names it
    as such, and without a token nobody comes by a name that is not this machine's.
    """
    host = headers.get(b"host", b"").decode("latin-1")
    if sum(name.lower() == b"host" for name, _ in scope["headers"]) > 1:
        return "the request has several headers Host; send one"
    name, _, port = host.rpartition(":")
    name = (name if port.isdecimal() else host).removeprefix("[").removesuffix("]").lower()
    reached = (scope.get("server") or ("",))[0]
    here, advice = is_loopback(reached), "the server answers on this machine only; use 127.0.0.1"
    if has_token and (any_host or not here):
        return None
    if is_loopback(name) or (not here and (_is_address(name) or name in {reached, *_names()})):
        return None
    if not here:
        advice = f"this machine is {_names()[0]}, and the server has no token; use its IP address"
    return (
        f"the address names the host {host[:100]!r}, but {advice} or localhost in the address (a"
        " proxy must send the header Host: localhost)"
    )


def _names() -> tuple[str, ...]:
    name = socket.gethostname().lower()
    return name, name.partition(".")[0], f"{name.partition('.')[0]}.local"


def _is_address(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(host))
    return False


def is_loopback(host: str) -> bool:
    """Whether a host is this machine as only it itself sees it."""
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host)
        mapped = getattr(address, "ipv4_mapped", None)  # as a server at :: sees 127.0.0.1
        return bool((mapped or address).is_loopback)
    return host.lower() == "localhost"


def _wrong_site(scope: Scope, headers: Mapping[bytes, bytes]) -> str | None:
    """Say what is wrong if a browser says that a page of another origin asks.

    People may come from anywhere, by a link; programs say nothing of it.
    """
    site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin")
    if site is not None:
        is_same_site = site in (b"same-origin", b"none")
    else:
        host = headers.get(b"host", b"").lower()
        is_same_site = origin is None or origin.lower().partition(b"://")[2] == host
    comes = headers.get(b"sec-fetch-mode"), headers.get(b"sec-fetch-dest")
    if is_same_site or (scope["method"] == "GET" and comes == (b"navigate", b"document")):
        return None
    return "a page of another address sent this, which no other page may; open the server's own"


class _Keys:
    """What lets people and programs in."""

    def __init__(self, token: str, ticket: str | None) -> None:
        self._token = token.encode()
        self._ticket = None if ticket is None else ticket.encode()
        # Browsers send cookies to all servers of a host, and these shall not learn the token.
        self._mark = hashlib.sha256(b"cookie of complabel " + self._token).hexdigest()

    def cookie(self, headers: Mapping[bytes, bytes]) -> str:
        """Return the cookie, named by the port: a host may have several servers."""
        port = headers.get(b"host", b"").rpartition(b":")[2].decode("latin-1")
        return f"complabel-{port if port.isdecimal() else '80'}={self._mark}"

    def wrong(self, scope: Scope, headers: Mapping[bytes, bytes]) -> str | None:
        scheme, _, credentials = headers.get(b"authorization", b"").partition(b" ")
        tokens = [
            credentials.strip() if scheme.lower() == b"bearer" else b"",
            _password(credentials) if scheme.lower() == b"basic" else b"",
            headers.get(b"x-token", b""),
        ]
        tokens.append(_token_in_query(scope))
        if any(self._is_token(each) for each in tokens) or self._is_ticket(scope, headers):
            return None
        cookie = self.cookie(headers).encode()
        sent = headers.get(b"cookie", b"").split(b";")
        if any(secrets.compare_digest(each.strip(), cookie) for each in sent):
            says_origin = b"origin" in headers or b"sec-fetch-site" in headers
            if says_origin or scope["method"] in ("GET", "HEAD"):
                return None
            return "a cookie alone changes nothing; send the header X-Token"
        return (
            "the token is missing or wrong; open the address that the command printed, which ends"
            " with ?token=... (the browser must allow its cookie), or send the header X-Token"
        )

    def page(self, scope: Scope, headers: Mapping[bytes, bytes]) -> str | None:
        """Return the page that leads a browser to the address without the token, if it is in it.

        A redirection would be followed without the cookie, if a link of another site led here.
        """
        if self._is_ticket(scope, headers):
            self._ticket = None
        elif not (_is_browser(scope, headers) and self._is_token(_token_in_query(scope))):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        last = quote(scope["path"].rpartition("/")[2], safe="")
        return (
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>complabel</title>'
            f'<meta http-equiv="refresh" content="0; url={escape(f"./{last}?{rest}".rstrip("?"))}">'
        )

    def _is_ticket(self, scope: Scope, headers: Mapping[bytes, bytes]) -> bool:
        ticket = self._ticket if _is_browser(scope, headers) else None
        return ticket is not None and secrets.compare_digest(_token_in_query(scope), ticket)

    def _is_token(self, token: bytes) -> bool:
        return secrets.compare_digest(token, self._token) and token != b""


def _is_browser(scope: Scope, headers: Mapping[bytes, bytes]) -> bool:
    return bool(scope["method"] == "GET" and b"text/html" in headers.get(b"accept", b""))


def _token_in_query(scope: Scope) -> bytes:
    query: bytes = scope.get("query_string", b"")
    return parse_qs(query.decode("latin-1")).get("token", [""])[0].encode()


def _password(credentials: bytes) -> bytes:
    with contextlib.suppress(ValueError):
        return base64.b64decode(credentials).partition(b":")[2]
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
    ending = asyncio.Event()
    config = uvicorn.Config(
        _telling(app, ending),
        http="h11",  # httptools, which uvicorn prefers, has no limit for the size of a head
        loop="asyncio",
        access_log=False,
        backlog=_WAITING,
        limit_concurrency=_most_connections(),
        log_config=None,
        log_level="error",  # strangers could fill the terminal with warnings
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
        timeout_keep_alive=_IDLE,
        ws="none",
    )

    def begin() -> None:
        listening.listen(_WAITING)  # more than asyncio accepts at once, which it had said here
        started(_address(listening, host))

    server = _Server(config, ending, begin)
    with server.capture_signals(), _listen(host, port) as listening:
        server.run(sockets=[listening])


class _Server(uvicorn.Server):
    """Uvicorn's server, which loses no request of clients that keep their connections.

    Uvicorn closes these at once, and does not tell clients so before: each loses the request that
    it sends meanwhile.
    """

    def __init__(
        self, config: uvicorn.Config, ending: asyncio.Event, begin: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._ending, self._begin = ending, begin

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._begin()

    def handle_exit(self, *_: Any) -> None:
        """End at a signal, which is not raised again: what follows ``run`` still runs."""
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take what has arrived on open connections, too, before these are closed."""
        for _ in range(2):  # connections that wait are taken
            await asyncio.sleep(0)
        for each in self.servers:
            each.close()
        self._ending.set()
        if self.server_state.connections and not self.force_exit:
            await asyncio.sleep(_LAST)
        await super().shutdown(sockets=sockets)
        if self.force_exit:  # uvicorn leaves this out, and shows how the app was cancelled
            await self.lifespan.shutdown()


def _most_connections() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return _MOST
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return max(16, min(files // 2, _MOST)) if files > 0 else _MOST


def _telling(app: ASGIApp, ending: asyncio.Event) -> ASGIApp:
    """Return an app that tells clients to close their connections once the server ends."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def last(message: Message) -> None:
            if message["type"] == "http.response.start" and ending.is_set():
                headers = [*message.get("headers", ()), (b"connection", b"close")]
                message = {**message, "headers": headers}
            await send(message)

        await app(scope, receive, last)

    return answer


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # Only if the protocol is said, asyncio sends small answers at once, not after 40 ms.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if os.name == "posix":  # elsewhere two servers could then have the same port
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host, port))
            listening.listen(_WAITING)
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
