"""Both servers' doors: what broke elsewhere, tried on all routes, also on those of tomorrow.

Routes are read from the apps. Requests are made by hand, because clients tidy up what is wrong.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import itertools
import json
import logging
import os
import re
import socket
import stat
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route
from tests.refusals import raises

from complabel._sqlite import connect
from complabel.errors import StoreError
from complabel.live import (
    Annotation,
    ModelFile,
    _server,
    _store,
    guarded,
    predicting,
    read_things,
    run,
)
from complabel.live._server import is_loopback
from complabel.live._store import AnswerStore
from complabel.methods import ComplementaryRidgeClassifier

TOKEN = "secret-token"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW")
HERE, THERE = ("127.0.0.1", 8000), ("192.168.1.5", 8000)
FIT = np.eye(3)[np.arange(9) % 3]
PICTURE = b"\x89PNG\r\n\x1a\n" + b"x" * 5000
HOSTILE = "<img src=x onerror=alert(1)>.png"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Both apps without their guard, by name, and what they are made of."""
    folder = tmp_path_factory.mktemp("doors")
    inside = folder / "photos"
    inside.mkdir()
    for name in (HOSTILE, "page.png"):
        (inside / name).write_bytes(PICTURE)
    (inside / "svg.png").write_bytes(b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>")
    (folder / "photos-secret").mkdir()
    for name in ("secret.png", "photos-secret/secret.png"):
        (folder / name).write_bytes(b"secret")
    (inside / "leads-out.png").symlink_to(folder / "secret.png")
    (inside / ".hidden.png").write_bytes(b"secret")
    ComplementaryRidgeClassifier().fit(FIT, FIT.astype(int)).save(folder / "m.safetensors")
    out = folder / "answers.csv"
    annotation = Annotation.open(read_things(inside), ["sea", "sky"], out=out, token=TOKEN)
    apps = {
        "annotate": annotation.app(),
        "serve": predicting(ModelFile(folder / "m.safetensors"), most_rows=9),
    }
    yield SimpleNamespace(folder=folder, annotation=annotation, apps=apps)
    annotation.store.close()


@pytest.fixture(params=["annotate", "serve", "serve without a token"])
def server(request, made):
    """An app with its guard, as the commands make it: all its routes with every method."""
    name, _, is_open = request.param.partition(" without ")
    token = None if is_open else TOKEN
    app = guarded(made.apps[name], token=token, most_bytes=10_000, any_host=name == "serve")
    walk = [(way, path) for path in paths(made.apps[name]) for way in METHODS]
    return SimpleNamespace(name=name, app=app, token=token, walk=walk)


def paths(app):
    found = [re.sub(r"\{.*\}", "a", route.path) for route in app.routes]
    assert len(found) >= 6
    return [*found, "/nothing", "/api/", "/%2e%2e/"]


def ask(app, method, path, *headers, server=HERE, host="127.0.0.1:8000", query="", body=b""):
    """Ask an app without a client; headers are pairs. Return status, headers, body."""
    pairs = [(b"host", host.encode("latin-1"))] if host is not None else []
    pairs += [(n.encode(), v if isinstance(v, bytes) else v.encode("latin-1")) for n, v in headers]
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": pairs,
        "server": server,
        "client": ("127.0.0.1", 1),
        "scheme": "http",
        "http_version": "1.1",
    }
    sent, left = [], [{"type": "http.request", "body": body, "more_body": False}]

    async def receive():
        return left.pop() if left else await asyncio.Event().wait()

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return SimpleNamespace(
        status=sent[0]["status"],
        headers=found,
        body=b"".join(each.get("body", b"") for each in sent[1:]),
    )


def let_in(server):
    return [("x-token", TOKEN)] if server.token else []


# ---------------------------------------------------------------------- 1, 2: names of the host


def test_01_no_route_answers_to_the_name_of_a_stranger(server):
    given = {"annotate": [("x-token", TOKEN)]}.get(server.name, [])
    for method, path in server.walk:
        reply = ask(server.app, method, path, *given, host="evil.example:8000")
        assert reply.status == 403, (method, path)
        assert b"error" in reply.body or method == "HEAD"


STRANGE = [
    *("", "evil.example", "localhost.", "127.1", "0.0.0.0", "2130706433", "0x7f.1", "[::]"),
    *("127.0.0.1.evil.example", "evil.example:127.0.0.1", "localhost:80@evil.example", "[::1"),
    *("10.0.0.7", "localhost.evil.example"),
    *("127.0.0.1/evil.example", "127.0.0.1#", "127.0.0.1?", "\x00127.0.0.1", "127.0.0.1 evil"),
]
FINE = ["127.0.0.1", "LOCALHOST:8000", "[::1]:8000", "[::ffff:127.0.0.1]:8000", "127.0.0.2"]


@pytest.mark.parametrize("reached", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_02_only_names_of_this_machine_reach_it_however_they_are_spelled(made, reached):
    app = guarded(made.apps["annotate"], token=None, most_bytes=10)
    assert is_loopback(reached)
    for hosts, status in ((STRANGE, 403), (FINE, 200)):
        for host in hosts:
            reply = ask(app, "GET", "/page.js", host=host, server=(reached, 8000))
            assert reply.status == status, host
    assert ask(app, "GET", "/page.js", host=None, server=(reached, 1)).status == 403
    assert ask(app, "GET", "/page.js", ("host", "evil.example")).status == 403
    assert ask(app, "GET", "/page.js", ("host", "127.0.0.1"), host="evil.example").status == 403


def test_02_without_a_token_a_network_reaches_it_by_addresses_only(made):
    app = guarded(made.apps["serve"], token=None, most_bytes=10, any_host=True)
    names = [*STRANGE, "our-server"]
    passing = {"0.0.0.0", "[::]", "10.0.0.7"}  # addresses: no name of strangers leads there
    for host in names:
        reply = ask(app, "GET", "/health", host=host, server=THERE)
        assert reply.status == (200 if host in passing else 403), host
    assert ask(app, "GET", "/health", host="192.168.1.5", server=THERE).status == 200


# ---------------------------------------------------------------------- 3, 4, 5: who asks


def test_03_a_new_route_is_guarded_without_being_listed(made):
    async def new(request):
        return PlainTextResponse("in")

    for app in made.apps.values():
        app.router.routes.append(Route("/new", new, methods=["GET", "POST"]))
        try:
            inside = guarded(app, token=TOKEN, most_bytes=5)
            for method in ("GET", "POST"):
                token, evil = ("x-token", TOKEN), ("sec-fetch-site", "cross-site")
                assert ask(inside, method, "/new", token).body == b"in"
                assert ask(inside, method, "/new").status == 403
                assert ask(inside, method, "/new", token, host="evil.example").status == 403
                assert ask(inside, method, "/new", token, evil).status == 403
                assert ask(inside, method, "/new", token, body=b"123456").status == 413
        finally:
            app.router.routes.pop()


FOREIGN = [
    [("origin", "http://evil.example")],
    [("origin", "null")],
    [("origin", "http://127.0.0.1:9999"), ("content-type", "text/plain")],
    [("origin", "http://127.0.0.1:8000.evil.example")],
    [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")],
    [("sec-fetch-site", "same-site"), ("origin", "http://127.0.0.1:8000")],
    [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "frame")],
]


@pytest.mark.parametrize("foreign", FOREIGN, ids=range(len(FOREIGN)))
def test_04_a_page_of_another_origin_changes_and_reads_nothing(server, made, foreign):
    cookie = cookie_of(server) if server.token else []
    for given in ([], let_in(server), cookie):
        for method, path in server.walk:
            reply = ask(server.app, method, path, *given, *foreign, query="person=a&token=" + TOKEN)
            assert reply.status == 403, (method, path)
    assert made.annotation.asker.answered == 0


def test_04_a_link_of_another_page_leads_people_in_and_a_form_does_not(server):
    link = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]
    link += [("sec-fetch-dest", "document")]
    first = {"annotate": "/", "serve": "/labels"}[server.name]

    assert ask(server.app, "GET", first, *link, *let_in(server)).status == 200
    assert ask(server.app, "POST", "/", *link, *let_in(server)).status == 403


def test_04_a_cookie_changes_nothing_unless_the_browser_says_that_it_is_the_own_page(made):
    app = guarded(made.apps["annotate"], token=TOKEN, most_bytes=100)
    cookie = cookie_of(SimpleNamespace(app=app))
    body = b'{"person": "ann"}'

    assert ask(app, "POST", "/api/undo", *cookie, body=body).status == 403
    for own in (("origin", "http://127.0.0.1:8000"), ("sec-fetch-site", "same-origin")):
        assert ask(app, "POST", "/api/undo", *cookie, own, body=body).status == 409  # it is in
    assert ask(app, "GET", "/api/progress", *cookie).status == 200


def test_05_a_websocket_is_closed(server):
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(server.app({"type": "websocket", "path": "/", "headers": []}, None, send))
    assert sent == [{"type": "websocket.close"}]


# ---------------------------------------------------------------------- 6 to 10: the token

WRONG_TOKENS = [
    *(b"", b"0", b"secret-toke", b"secret-token2", b"SECRET-TOKEN", b"\x00", b"secret-token\x00"),
    *(b"\xff\xfe", "sécret".encode(), b"%00", b"null", b"true", b"secret-token,", b"x" * 60_000),
    *(b"secret-token;", b"Bearer secret-token", b"[]", b"{}", b"=" * 1000, b"%73%25"),
]


@pytest.mark.parametrize("token", WRONG_TOKENS, ids=range(len(WRONG_TOKENS)))
def test_06_a_wrong_token_opens_no_place(made, token):
    app = guarded(made.apps["annotate"], token=TOKEN, most_bytes=10)
    places = [
        *(("x-token", token), ("authorization", b"Bearer " + token), ("cookie", token)),
        *(("authorization", b"Basic " + token), ("cookie", b"complabel-8000=" + token)),
        *(("cookie", b"token=" + token), ("cookie", b"token=secret-token"), ("token", token)),
    ]
    for place in places:
        assert ask(app, "GET", "/api/progress", place).status == 403, place
    query = f"token={token.decode('latin-1') or 'x'}&token={TOKEN}"
    assert ask(app, "GET", "/api/progress", query=query).status == 403
    empty = guarded(made.apps["annotate"], token="", most_bytes=10)  # nobody has it
    assert ask(empty, "GET", "/api/progress", ("x-token", token)).status == 403


def browse(app, path="/", query="", **more):
    return ask(app, "GET", path, ("accept", "text/html,*/*"), query=query, **more)


def cookie_of(server, **more):
    reply = browse(server.app, query=f"token={TOKEN}", **more)
    return [("cookie", "other=1; " + reply.headers["set-cookie"].partition(";")[0])]


def test_07_the_token_leaves_the_address_and_a_cookie_stands_for_it(made):
    app = guarded(made.apps["annotate"], token=TOKEN, most_bytes=10)
    reply = browse(app, query=f"person=%3Cb%3E+%22&token={TOKEN}&a=")

    assert 'content="0; url=./?person=%3Cb%3E+%22&amp;a="' in reply.body.decode()
    assert TOKEN not in reply.body.decode() + str(reply.headers)
    parts = reply.headers["set-cookie"].split("; ")
    assert parts[0].startswith("complabel-8000=")
    assert {*parts[1:]} == {"HttpOnly", "SameSite=Strict", "Path=/"}
    sent = [("cookie", f"a=b; {parts[0]} ; c")]
    page = browse(app, query="person=ann").status, browse(app, query="token=").status
    assert page == (403, 403)
    assert ask(app, "GET", "/", *sent).body.startswith(b"<!doctype html>")
    assert TOKEN.encode() not in ask(app, "GET", "/page.js", *sent).body
    # Another server of this host has another cookie; the one of another port opens nothing.
    assert ask(app, "GET", "/", *sent, host="127.0.0.1:8001").status == 403
    other = guarded(made.apps["annotate"], token="another-token", most_bytes=10)
    assert ask(other, "GET", "/", *sent).status == 403


def test_07_the_way_without_the_token_leads_nowhere_else(made):
    app = guarded(made.apps["annotate"], token=TOKEN, most_bytes=10)
    hostile = ("//evil.example", "//evil.example/", "/\\evil.example", "/a;b/'\"><x>", "/http://e")
    for path in hostile:
        found = re.search(r'url=(.*?)">', browse(app, path, f"token={TOKEN}").body.decode())
        assert re.fullmatch(r"\./[\w%.]*", found[1]), path


def test_07_folders_do_not_redirect_to_the_host_that_a_request_names(server):
    for path in {path for _, path in server.walk}:
        reply = ask(server.app, "GET", f"{path}/", *let_in(server), query=f"token={TOKEN}")
        assert reply.status in (200, 400, 404, 405), path
        assert "location" not in reply.headers


def test_08_no_error_and_no_log_repeats_the_token(server, caplog):
    caplog.set_level(logging.DEBUG)
    for method, path in server.walk:
        reply = ask(server.app, method, path, query=f"token={TOKEN}", body=b"{")
        assert TOKEN.encode() not in reply.body
        assert TOKEN not in str(reply.headers)
    assert TOKEN not in caplog.text


def test_08_a_ticket_lets_a_browser_in_once_and_nothing_else(made):
    app = guarded(made.apps["annotate"], token=TOKEN, most_bytes=10, ticket="ticket")

    assert ask(app, "GET", "/api/progress", query="token=ticket").status == 403
    assert ask(app, "GET", "/api/progress", ("x-token", "ticket")).status == 403
    first = browse(app, query="token=ticket")
    assert first.headers["set-cookie"] == browse(app, query="token=" + TOKEN).headers["set-cookie"]
    assert browse(app, query="token=ticket").status == 403


def test_09_a_new_token_for_an_old_file_and_the_old_one_is_dead(tmp_path):
    (tmp_path / "a.png").write_bytes(PICTURE)
    tokens = []
    for token in (None, None, "new", None, "given-token", None):
        opened = Annotation.open(
            read_things(tmp_path), ["sea"], out=tmp_path / "answers.csv", token=token
        )
        app = guarded(opened.app(), token=opened.token, most_bytes=10)
        tokens.append(opened.token)
        status = [ask(app, "GET", "/", ("x-token", each)).status for each in tokens]
        assert [each == 200 for each in status] == [each == tokens[-1] for each in tokens]
        opened.store.close()
    assert tokens[0] == tokens[1] != tokens[2] == tokens[3] == tokens[5]
    assert len(tokens[2]) >= 32


@pytest.mark.skipif(os.name != "posix", reason="needs permissions")
def test_10_the_answers_file_and_its_journals_are_the_owner_s_from_the_start(tmp_path, monkeypatch):
    about = {"labels": ["a"], "question": "asked"}
    before = os.umask(0)
    seen = []
    try:
        monkeypatch.setattr(
            _store,
            "connect",
            lambda path, **more: (seen.append(_mode(path)), connect(path, **more))[1],
        )
        for _ in range(2):
            with AnswerStore(tmp_path / "a.sqlite", about) as store:
                store.renew_token()
                journals = [*tmp_path.glob("a.sqlite-j*")]
                assert len(journals) == 1
                assert {_mode(each) for each in [store.path, *journals]} == {0o600}
            (tmp_path / "a.sqlite").chmod(0o644)  # as an older version left it
    finally:
        os.umask(before)
    assert set(seen) == {0o600}


def _mode(path):
    return stat.S_IMODE(path.stat().st_mode)


# ---------------------------------------------------------------------- 11 to 18: what is shown

OUTSIDE = [
    *("../secret.png", "%2e%2e/secret.png", "%2e%2e%2fsecret.png", "..\\secret.png", "a\0.png"),
    *("/etc/passwd", "C:\\secret.png", "\\\\host\\share\\secret.png", "//host/share/secret.png"),
    *("../photos-secret/secret.png", "-secret/secret.png", ".hidden.png", "leads-out.png", ""),
    *("page.png/", "./page.png", "page.png/../svg.png", "PAGE.PNG", "page.png%00", "x" * 9000),
]


def picture(made, name, *headers):
    app = guarded(made.apps["annotate"], token=None, most_bytes=10)
    return ask(app, "GET", f"/picture/{name}", *headers)


@pytest.mark.parametrize("name", OUTSIDE, ids=range(len(OUTSIDE)))
def test_11_and_12_nothing_outside_of_the_items_is_given_also_by_no_link(made, name):
    assert picture(made, name).status == 404


@pytest.mark.parametrize("name", ["../secret.png", "/etc/x.png", "\\\\host\\s\\x.png", "a\0.png"])
def test_11_a_table_that_names_files_elsewhere_is_refused(made, name):
    table = made.folder / "photos" / "t.csv"
    table.write_text(f'item,file\na,"{name}"\n')
    with raises(ValueError, "t.csv"):
        read_things(table, image="file")
    table.unlink()


def test_13_a_program_disguised_as_a_picture_is_a_picture(made):
    reply = picture(made, "svg.png")
    assert reply.headers["content-type"] == "image/png"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.parametrize(
    "ranges",
    ["bytes=0-1", "bytes=" + ",".join(f"{at}-" for at in range(10_000)), "bytes=-1", "x=1", "\xff"],
    ids=range(5),
)
def test_14_whatever_part_is_asked_for_the_whole_comes_once(made, ranges):
    reply = picture(made, "page.png", ("range", ranges), ("if-range", '"x"'))
    assert (reply.status, reply.body) == (200, PICTURE)


@pytest.mark.parametrize("host", ["a/page.css?", "a#", "a/x\\", "[::1", "a:99999", "a@b/../"])
def test_15_a_malformed_host_does_not_change_what_is_served(made, host):
    app = guarded(made.apps["annotate"], token=TOKEN, most_bytes=10)
    token = ("x-token", TOKEN)
    for path in ("/page.css", "/page.js", "/nothing"):
        found = [ask(app, "GET", path, token, host=each, server=THERE) for each in ("a", host)]
        assert found[0].body == found[1].body
        assert found[0].status == found[1].status


def test_16_names_and_labels_stand_in_json_and_never_in_the_page(made):
    app = guarded(made.apps["annotate"], token=None, most_bytes=10)
    page, progress = (ask(app, "GET", path) for path in ("/", "/api/progress"))
    assert HOSTILE.encode() not in page.body
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert progress.headers["content-type"] == "application/json"


def test_17_pictures_come_from_the_web_only_where_the_table_says_so(tmp_path):
    addresses = {
        "https://a.example/x.png": "https://a.example",
        "HTTP://u:p@B.example:81/?x": "http://b.example:81",
        "http://192.168.0.1/reboot": "http://192.168.0.1",
        "http://c.example; script-src *": None,
        "http://d.example' 'unsafe-inline'/": None,
        "http://e.example\\@f.example/": None,
    }
    rows = "".join(f'"{each}"\n' for each in addresses)
    (tmp_path / "t.csv").write_text(f"file\n{rows}")
    things = read_things(tmp_path / "t.csv", image="file")
    assert things.hosts == tuple(sorted(filter(None, addresses.values())))
    opened = Annotation.open(things, ["sea"], out=tmp_path / "answers.csv")
    policy = ask(opened.app(), "GET", "/").headers["content-security-policy"]
    opened.store.close()
    sources = re.search(r"img-src ([^;]*);", policy)[1].split()
    assert {*sources} == {"'self'", "https:", "http://b.example:81", "http://192.168.0.1"}
    assert "script-src 'self';" in policy


def test_18_nobody_is_called_like_a_formula(made):
    app = guarded(made.apps["annotate"], token=None, most_bytes=1000)
    for name in ("=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", " =1", "\t=1"):
        body = json.dumps({"person": name}).encode()
        reply = ask(app, "POST", "/api/undo", body=body)
        assert reply.status == 400, name
        assert b"does not begin with" in reply.body
    assert ask(app, "POST", "/api/undo", body=b'{"person": "a=b"}').status == 409


# ---------------------------------------------------------------------- 19, 20: what is sent


TAKEN = threading.Event()  # a slow request has come


async def _echo(scope, receive, send):
    """Tell what the server says of a request."""
    if scope["type"] == "lifespan":
        for _ in range(2):
            await send({"type": (await receive())["type"] + ".complete"})
        return
    body = (await receive())["body"]
    if scope["path"] == "/slow":
        TAKEN.set()
        await asyncio.sleep(0.3)
    about = {name: scope[name] for name in ("client", "scheme", "root_path", "path")}
    await JSONResponse({**about, "length": len(body)})(scope, receive, send)


@pytest.fixture
def real(monkeypatch):
    """A real server with short patience: a function that sends bytes, and returns the reply."""
    monkeypatch.setattr(_server, "_BODY", 0.5)
    told, ready = {}, threading.Event()

    def started(address):
        told.update(port=int(address.rpartition(":")[2]), task=asyncio.current_task())
        told["loop"] = asyncio.get_running_loop()
        ready.set()

    def serve():
        app = guarded(_echo, token=None, most_bytes=5000)
        with contextlib.suppress(asyncio.CancelledError):
            run(app, host="127.0.0.1", port=0, started=started)

    thread = threading.Thread(target=serve)
    thread.start()
    assert ready.wait(20)

    def connect():
        return socket.create_connection(("127.0.0.1", told["port"]), timeout=20)

    def send(request):
        with connect() as line:
            line.sendall(request)
            return b"".join(iter(lambda: line.recv(65_536), b""))

    yield SimpleNamespace(connect=connect, send=send)
    told["loop"].call_soon_threadsafe(told["task"].cancel)
    thread.join(20)


HEAD = b"POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
BODIES = {
    b"Content-Length: 3\r\n\r\nabc": b"200",
    b"Content-Length: 3\r\n\r\nabcdef": b"(200|400)",  # what is too much is no request
    b"\r\nabc": b"(200|400)",
    b"Content-Length: 3\r\nContent-Length: 6\r\n\r\nabcdef": b"400",
    b"Content-Length: -3\r\n\r\nabc": b"400",
    b"Content-Length: 0x3\r\n\r\nabc": b"400",
    b"Content-Length: 5001\r\n\r\n": b"413",
    b"Content-Length: 30\r\n\r\nabc": b"408",  # the rest never comes
    b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n": b"200",
    b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n": b"408",
    b"Transfer-Encoding: chunked\r\n\r\n" + b"800\r\n" + b"x" * 2048 + b"\r\n": b"408",
    b"Transfer-Encoding: chunked\r\n\r\n" + (b"800\r\n" + b"x" * 2048 + b"\r\n") * 3: b"413",
    b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n": b"400",
    b"Host: evil.example\r\n\r\n": b"4",
    b"X-Token: " + b"x" * 2**20 + b"\r\n\r\n": b"400",
    b"Upgrade: websocket\r\nConnection: upgrade\r\n\r\n": b"200",  # it stays http
}


def test_19_bodies_that_lie_are_refused_or_end(real):
    for rest, status in BODIES.items():
        try:
            reply = real.send(HEAD + rest)
        except ConnectionError:  # it does not read what it refuses
            assert status != b"200"
            continue
        assert re.match(b"HTTP/1.1 " + status, reply), rest[:80]
        assert reply.count(b"HTTP/1.1") == 1
    packed = b"Content-Encoding: gzip\r\nContent-Length: 20\r\n\r\n" + b"\x1f\x8b\x08" + b"\0" * 17
    assert b'"length":20' in real.send(HEAD + packed)  # nothing is unpacked
    assert real.send(b"GET / HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 403")


BAD_JSON = [
    *(b"", b"[" * 100_000, b'{"a":' * 100_000, b'"\\ud800"', b"NaN", b"\xff", b"\0", b"1e999"),
    b"{" + b",".join(b'"%d":1' % at for at in range(100_000)) + b"}",
    *(b'{"rows": [[1, 2, %s]]}' % each for each in (b"NaN", b"1e999", b'"1"', b"true", b"null")),
    *(b'{"rows": [[1, 2, %s]]}' % each for each in (b"1" * 400, b"-" + b"1" * 5000, b"[]")),
    *(b'{"person": "\\ud800"}', b'{"items": ["\\ud800"]}', b'{"texts": [true]}', b'{"rows": "12"}'),
    *(b'{"id": "1", "person": "a", "seconds": "\\ud800"}', b'{"schema": 1}', b'{"tasks": [[]]}'),
    b'{"id": "1", "person": "a", "answer": ["\\ud800"]}',
]


@pytest.mark.parametrize("body", BAD_JSON, ids=range(len(BAD_JSON)))
def test_20_what_is_wrong_gets_400_at_every_route_that_takes_a_body(made, body):
    made.annotation.asker.next("a", 0)
    for app in made.apps.values():
        inside = guarded(app, token=None, most_bytes=2**24)
        for route in app.routes:
            if "POST" in route.methods and route.path != "/webhook":
                reply = ask(inside, "POST", route.path, body=body)
                assert reply.status in (400, 404, 409), route.path  # 409: nothing to take back
                assert json.loads(reply.body)["error"]


def npy(shape, descr="'<f8'", data=b"\0" * 192, head=None):
    text = head or f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}"
    text = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


BAD_ARRAYS = [
    *(npy(each) for each in ("(True, 8)", "(-1, 3)", "(8, -1)", "(8.0, 3)", "(2**9, 3)", "(8,)")),
    *(
        npy(each)
        for each in ("(9" + "9" * 400 + ", 3)", "(8, 3, 1)", "()", "8", "('8', 3)", "(0, 3)")
    ),
    *(npy("(8, 3)", data=b"\0" * size) for size in (191, 193)),
    npy("(10**12, 10**6)"),  # numpy.load would reserve the memory first
    npy("(8, 3)").replace(b"\x01\x00", b"\x09\x00", 1),
    *(npy("(8, 3)", each) for each in ("'|O'", "'O'", "[('a', '<f8')]", "'<c16'", "'<U2'", "'x('")),
    *(npy("", head=each) for each in ("(" * 9000, "-" * 9000 + "1", "{'a': (", "\0", "f(1)", "{")),
    *(b"\x80\x04\x95pickle", b"\x93NUMPY", b"\x93NUMPY\x01\x00\xff\xff"),
]


@pytest.mark.parametrize("body", BAD_ARRAYS, ids=range(len(BAD_ARRAYS)))
def test_20_arrays_that_promise_something_else_get_400(made, body):
    kind = ("content-type", "application/x-npy")
    good = io.BytesIO()
    np.save(good, np.zeros((8, 3)))
    for content, status in ((body, 400), (good.getvalue(), 200)):
        assert ask(made.apps["serve"], "POST", "/predict", kind, body=content).status == status


# ---------------------------------------------------------------------- 21, 22: files


def test_21_whatever_takes_the_model_s_place_the_old_one_answers(made, tmp_path):
    path, whole = tmp_path / "m.safetensors", (made.folder / "m.safetensors").read_bytes()
    path.write_bytes(whole)
    file = ModelFile(path)
    first = file.now

    def put(make):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
        make()

    replaced = [
        lambda: path.write_bytes(b"rubbish"),
        lambda: path.write_bytes(whole[: len(whole) // 2]),
        lambda: path.write_bytes(b""),
        lambda: path.mkdir(),
        lambda: path.symlink_to(tmp_path / "nothing"),
        lambda: path.symlink_to(tmp_path),
        *(
            [lambda: os.mkfifo(path), lambda: path.symlink_to("/dev/zero")]
            if os.name == "posix"
            else []
        ),
    ]
    for make in replaced:
        put(make)
        file.refresh()
        assert file.now is first
        assert file.problem
    put(lambda: path.write_bytes(whole))
    file.refresh()
    assert (file.now.version, file.problem) == (first.version, None)


def test_22_two_servers_do_not_write_the_same_answers(made):
    with raises(StoreError, "answers.csv.sqlite", "--out"):
        Annotation.open(
            made.annotation.things, ["sea", "sky"], out=made.folder / "answers.csv", token=TOKEN
        )


# ---------------------------------------------------------------------- 23, 25: browsers, proxies


def test_23_every_answer_forbids_other_pages_to_read_show_or_hold_it(server):
    for (method, path), given in itertools.product(server.walk, ([], let_in(server))):
        headers = ask(server.app, method, path, *given, ("origin", "http://127.0.0.1:8000")).headers
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert not [name for name in headers if name.startswith("access-control-")]


PROXIES = [
    *(("x-forwarded-host", "127.0.0.1"), ("forwarded", "host=127.0.0.1;for=127.0.0.1;proto=https")),
    *(("x-forwarded-for", "127.0.0.1"), ("x-real-ip", "127.0.0.1"), ("x-original-url", "/health")),
    *(("x-forwarded-prefix", "/health"), ("x-http-method-override", "GET"), ("x-rewrite-url", "/")),
    *(("x-forwarded-proto", "https"), ("x-forwarded-port", "8000"), ("x-script-name", "/health")),
]


def test_25_what_a_proxy_says_opens_nothing(server, real):
    for method, path in server.walk:
        refused = [{"host": "evil.example"}, {"query": "x=1"}] if server.token else [{}]
        for more in refused:
            more = {"host": "evil.example", **more} if not server.token else more
            reply = ask(server.app, method, path, *PROXIES, **more)
            assert reply.status == 403, (method, path)
    said = "".join(f"{name}: {value}\r\n" for name, value in PROXIES).encode()
    about = json.loads(real.send(HEAD + said + b"\r\n").partition(b"\r\n\r\n")[2])
    assert (about["scheme"], about["root_path"], about["path"]) == ("http", "", "/x")
    assert about["client"][1] > 0  # the real one, not what the header says
