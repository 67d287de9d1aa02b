"""The page of `complabel annotate` in a real browser, before the real server."""

import contextlib
import http.server
import json
import re
import threading
import time
import zlib
from functools import partial
from urllib.request import Request, urlopen

import numpy as np
import pytest

from complabel.errors import StoreError
from complabel.live import MOST_BYTES, Annotation, Until, guarded, read_things
from complabel.trust import Goal

TOKEN = "a1b2c3d4"
LABELS = [str(digit) for digit in range(10)]
STATE = "return document.querySelector('main')?.dataset.state"
SHOWN = "return document.querySelector('main')?.dataset.question"
FETCHED = (  # how many questions came
    "return performance.getEntriesByType('resource').filter(e => /api.next/.test(e.name)).length"
)
HOSTILE = [
    "<script>window.ran = 1</script>",
    '"><img src=x onerror="window.ran = 1">',
    "'; window.ran = 1; //",
    "</div></figure><svg onload=window.ran=1>",
    "&lt;b&gt; %3Cscript%3E #a ?b=c %2e%2e/ ${window.ran = 1} {{ran}}",
    "\u202eexe.gnp \u2066right\u2069 עברית 日本 \U0001f600",
]


class Served:
    """An annotation behind a real server, which can stop and go on at the same port."""

    def __init__(self, things, out, labels, question):
        self.given = (things, labels, out, question)
        self.port, self.token, self.stop = 0, TOKEN, None
        self.start()

    def start(self, **changes):
        """Begin, or go on with what is changed from now on."""
        import uvicorn

        things, labels, out, question = self.given
        given = {"things": things, "labels": labels, "question": question, **changes}
        self.annotation = Annotation.open(**given, out=out, token=self.token)
        app = guarded(self.annotation.app(), token=self.token, most_bytes=MOST_BYTES)
        server = uvicorn.Server(uvicorn.Config(app, port=self.port, log_config=None, ws="none"))
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        self.port = server.servers[0].sockets[0].getsockname()[1]

        def stop():
            server.should_exit = True
            thread.join()
            self.annotation.end()
            self.annotation.store.close()

        self.stop = stop

    def address(self, more=""):
        return f"http://127.0.0.1:{self.port}/?token={TOKEN}{more}"

    def ask(self, route, more="", body=None):
        """Use a route as another page does."""
        address = self.address(more).replace("/?", f"/api/{route}?")
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(address, data=data), timeout=30) as reply:
            return json.load(reply)

    def said(self):
        """The answers so far: item, label and answer."""
        table = self.annotation.store.answers_table()
        return list(zip(table["item"], table["label"], table["answer"], strict=True))


@pytest.fixture
def serve(tmp_path):
    with contextlib.ExitStack() as running:

        def start(things, question="asked", labels=LABELS):
            served = Served(things, tmp_path / "answers.csv", labels, question)
            running.callback(lambda: served.stop())
            return served

        yield start


@pytest.fixture
def pictures(tmp_path):
    """A folder of drawn pictures: square, wide, narrow, tiny; and one that is none."""
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number, (width, height) in enumerate([(200, 200), (1600, 200), (150, 1200), (16, 16)]):
        grey = np.linspace(0, 255, width * height).reshape(height, width).astype("uint8")
        image.fromarray(grey).save(folder / f"{number} 100%#?&é.png")
    (folder / "broken.png").write_bytes(b"GIF89a not a picture")
    return read_things(folder)


@pytest.fixture
def texts(tmp_path):
    """Make a table of texts, and open it."""

    def make(bodies, items=None):
        import pandas as pd

        items = [f"t{row}" for row in range(len(bodies))] if items is None else items
        path = tmp_path / "texts.csv"
        pd.DataFrame({"item": items, "body": bodies}).to_csv(path, index=False)
        return read_things(path, text="body")

    return make


class Page:
    """What a person sees and does."""

    def __init__(self, browser):
        self.browser = browser
        self.script = browser.execute_script

    def open(self, address, width=1280, height=800, scheme="light"):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        self.browser.get_log("browser")
        self.browser.get(address)

    def until(self, script, is_right=bool):
        """Wait until a script returns what is right, and return that."""
        for _ in range(1000):
            found = self.script(script)
            if is_right(found):
                return found
            time.sleep(0.01)
        raise AssertionError(f"{script}: {found!r}")

    def press(self, *keys):
        from selenium.webdriver import ActionChains

        ActionChains(self.browser).send_keys(*keys).perform()

    def answer(self, *keys):
        """Press keys, and wait until another question is shown; return its id."""
        before = self.until(SHOWN)
        self.press(*keys)
        return self.until(SHOWN, lambda id_: id_ and id_ != before)

    def text(self, selector):
        return self.script(f"return document.querySelector({selector!r}).innerText")

    def stored(self):
        self.until("return document.querySelector('#stored').dataset.waiting", "0".__eq__)

    def violations(self):
        """What axe-core finds wrong."""
        axe = pytest.importorskip("axe_core_python.selenium", reason="no axe_core_python").Axe()
        found = axe.run(self.browser)
        assert len(found["passes"]) > 10
        return [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]]

    def errors(self):
        """What the browser complains about."""
        return [each["message"] for each in self.browser.get_log("browser")]


@pytest.fixture
def page(browser):
    yield Page(browser)
    browser.get("about:blank")  # else it goes on asking a server that is gone


def test_keys_answer_and_take_back(page, serve, pictures):
    served = serve(pictures)
    page.open(served.address())
    page.until(STATE, lambda state: state == "name")
    assert not page.violations()
    page.press("Ann Ünder\n")
    page.until(SHOWN)
    assert "person=Ann+%C3%9Cnder" in page.browser.current_url
    assert TOKEN not in page.browser.current_url + page.browser.page_source
    assert re.fullmatch(r"Does \d apply\?", page.text("#question"))
    assert not page.violations()

    asked = []
    for key in "yns":
        label = page.text("#question strong")
        asked.append((page.text("#caption"), label, {"y": "yes", "n": "no", "s": "unsure"}[key]))
        page.answer(key)
    page.stored()
    assert served.said() == asked
    seconds = served.annotation.store.answers_table()["seconds"]
    assert all(0 < each < 10 for each in seconds)

    page.answer("u")
    page.stored()
    assert served.said() == asked[:2]
    assert (page.text("#caption"), page.text("#question strong")) == asked[2][:2]
    page.answer("y")
    page.stored()
    assert served.said() == [*asked[:2], (*asked[2][:2], "yes")]


def test_answers_given_while_the_server_is_away_are_stored_once(page, serve, texts):
    served = serve(texts([f"text {number}" for number in range(9)]))
    page.open(served.address("&person=Ann"))
    page.answer("y")
    page.stored()
    page.until(FETCHED, lambda n: n >= 5)
    served.stop()
    page.answer("n")
    page.answer("y")
    page.until("return document.querySelector('#alert').innerText", lambda t: "away" in t)
    assert page.text("#stored") == "1 stored, 2 not stored yet"
    assert page.script("return localStorage.length") == 2
    assert not page.violations()
    served.start()
    page.script("localStorage.setItem('complabel answer other 1', '{}')")  # of another table
    page.open(served.address("&person=Ann"))  # what is kept survives this
    page.until(SHOWN)
    page.until("return localStorage.length", lambda n: n == 1)
    page.script("localStorage.clear()")
    assert [answer for *_, answer in served.said()] == ["yes", "no", "yes"]
    assert (page.text("#alert"), page.text("#stored")) == ("", "2 stored")
    page.answer("n")
    page.stored()
    assert len(served.said()) == 4


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
@pytest.mark.parametrize("question", ["asked", "ticked", "menu-4", "named"])
def test_nothing_sticks_out_and_all_has_a_name(page, serve, pictures, question, scheme, width):
    served = serve(pictures, question)
    page.open(served.address("&person=Ann"), width, 844, scheme)
    for left in reversed(range(5)):
        page.until(SHOWN)
        assert not page.violations()
        assert page.script("return document.documentElement.scrollWidth") <= width
        frame, picture = page.script(
            "return [document.querySelector('#shown'), document.querySelector('#shown > *')]"
            ".map(e => e.getBoundingClientRect())"
        )
        assert frame["left"] <= picture["left"]
        assert picture["right"] <= frame["right"]
        assert picture["bottom"] <= frame["bottom"] <= 844
        page.answer("s") if left else page.press("s")
    if question in ("ticked", "named"):  # one question for each item
        page.until(STATE, lambda state: state == "done")
        assert not page.violations()
        assert page.script("return document.documentElement.scrollWidth") <= width
    assert all("broken.png" in error for error in page.errors())  # the page says it, too


@pytest.mark.slow
def test_zoomed_to_200_percent_everything_can_be_reached(page, serve, texts):
    served = serve(texts(["a long text. " * 500] * 3), "ticked", [f"label {n}" for n in range(40)])
    page.open(served.address("&person=Ann"), 640, 400)
    page.until(SHOWN)
    assert page.script("return document.documentElement.scrollWidth") <= 640
    assert not page.violations()
    for selector in ("#question", "#shown", "#filter", "[data-do=send]", "#progress"):
        box = page.script(
            "const e = document.querySelector(arguments[0]); e.scrollIntoView();"
            " return e.getBoundingClientRect()",
            selector,
        )
        assert box["height"] > 0
        assert -1 <= box["top"] < 400


@pytest.mark.slow
def test_lists_are_ticked_and_sent_by_keys(page, serve, texts):
    """Thirty labels fit on the page, and each has a key."""
    labels = [f"label {number}" for number in range(30)]
    served = serve(texts([f"text {number}" for number in range(9)]), "ticked", labels)
    page.open(served.address("&person=Ann"), 390, 844)
    page.until(SHOWN)
    assert page.script("return document.documentElement.scrollWidth") <= 390
    page.open(served.address("&person=Ann"))
    page.until(SHOWN)
    page.script("window.options = document.querySelector('#options')")
    assert page.script("return options.scrollHeight <= options.clientHeight")
    assert page.script("return document.documentElement.scrollHeight") <= 800
    assert not page.violations()
    assert "none applies" in page.text("#send")
    page.answer("2", "0", "y", "5", "5", "n", "z", "b", "\ue007")
    page.stored()
    said = served.said()
    yes = {label for _, label, answer in said if answer == "yes"}
    assert yes == {"label 1", "label 9", "label 10", "label 29"}
    page.answer("\ue007")
    page.stored()
    assert [answer for *_, answer in served.said()[30:]] == ["no"] * 30


@pytest.mark.slow
@pytest.mark.parametrize("question", ["menu-4", "named", "positive-menu-4", "positive"])
def test_labels_are_named_by_one_key(page, serve, texts, question):
    served = serve(texts([f"text {number}" for number in range(9)]), question)
    page.open(served.address("&person=Ann"))
    page.until(SHOWN)
    word, none = ("yes", "no") if question.startswith("positive") else ("no", "yes")
    asks = page.text("#question").partition("that")[2].strip()
    assert asks == ("applies" if word == "yes" else "does not apply")
    third = page.text("#options > :nth-child(3) bdi")
    is_positive = word == "yes"
    shown = page.text("#buttons")
    assert ("None of these applies" in shown, "All of these apply" in shown) == (
        is_positive,
        not is_positive,
    )
    page.answer("3")
    page.press("a" if is_positive else "n")  # the key of the other question does nothing
    page.answer("n" if is_positive else "a")
    page.answer("s")
    page.stored()
    assert [said[1:] for said in served.said()] == [(third, word), (None, none), (None, "unsure")]


@pytest.mark.slow
def test_a_box_finds_labels_among_hundreds(page, serve, texts):
    labels = [f"Straße {number}" for number in range(500)] + ["Über-y und n"]
    served = serve(texts([f"text {number}" for number in range(9)]), "ticked", labels)
    page.open(served.address("&person=Ann"))
    page.until(SHOWN)
    page.press("2", "/", "uber y")  # y and u are letters here
    assert page.text("#found") == "1 label found"
    assert not page.violations()
    page.press("\ue007")
    assert page.text("#ticked") == "Ticked: Straße 1, Über-y und n"
    page.press("499\ue007\ue00c")  # Enter takes it, Escape leaves the box
    page.answer("\ue007")
    page.stored()
    assert {label for _, label, said in served.said() if said == "yes"} == {
        "Straße 1",
        "Straße 499",
        "Über-y und n",
    }


@pytest.mark.slow
def test_what_was_typed_stands_first(page, serve, texts):
    """Typing "art" and Enter names art, not "apartment", which stands before it in the list."""
    labels = ["apartment", "cartoon", "article", "Art", *(f"label {n}" for n in range(100))]
    served = serve(texts([f"text {number}" for number in range(9)]), "positive", labels)
    page.open(served.address("&person=Ann"))
    page.until(SHOWN)
    shown = "document.querySelectorAll('#options > :not([hidden]) bdi')"
    order = f"return [...{shown}].map(e => e.innerText)"
    whole = page.script(order)
    page.press("/", "art")
    assert page.script(order) == ["Art", "article", "apartment", "cartoon"]
    page.answer("\ue007")
    assert page.script(order) == whole == labels
    page.answer("arti\ue007")  # the box is still the place to type
    page.stored()
    assert [(label, said) for _, label, said in served.said()] == [
        ("Art", "yes"),
        ("article", "yes"),
    ]


@pytest.mark.slow
def test_hostile_texts_and_names_run_nothing(page, serve, texts):
    bodies = [*HOSTILE, "line\nbreaks\tand  spaces", "x" * 1_000_000]
    items = [*(f"{number} {name}" for number, name in enumerate(HOSTILE)), "lines", "long"]
    served = serve(texts(bodies, items), "ticked", HOSTILE)
    page.open(served.address("&person=%3Cscript%3Ewindow.ran%3D1%3C/script%3E"))
    seen = {}
    for _ in bodies:
        page.until(SHOWN)
        item = page.script("return document.querySelector('#caption').textContent")
        seen[item] = page.script("return document.querySelector('#shown').textContent")
        page.answer("1", "\ue007") if len(seen) < len(bodies) else page.press("1", "\ue007")
    page.until(STATE, lambda state: state == "done")
    assert not page.violations()
    page.stored()
    assert page.script("return window.ran") is None
    assert page.errors() == []
    assert page.script("return document.querySelectorAll('script, img, svg').length") == 2
    assert all(seen[item] == body for item, body in zip(items[:-1], bodies[:-1], strict=True))
    assert "Show 980,000 more characters" in seen["long"]
    assert {item for item, *_ in served.said()} == set(items)


@pytest.mark.slow
def test_the_page_says_at_once_which_goals_cannot_be_reached(page, serve, texts):
    served = serve(texts([f"text {number}" for number in range(9)]))
    p = np.random.default_rng(0).random((9, 10))
    goals = [Goal.parse("f1 +-.05"), Goal.parse("frequencies +-.1")]
    until = Until(goals, 10, probabilities=p, missed=0.2, invented=0.1)
    until.foresee(9, LABELS)
    served.annotation.until = until
    page.open(served.address("&person=Ann"))
    page.until("return document.querySelectorAll('#goals .goal').length", lambda n: n == 2)
    for goal in goals:
        assert until.obstacles[goal][1:] in page.text("#goals")
    assert not page.violations()


class Told:
    """A learner that says what it is told to say."""

    def __init__(self, **state):
        self.state = lambda: state


@pytest.mark.slow
@pytest.mark.parametrize("question", ["asked", "ticked"])
def test_what_the_model_has_learned_is_drawn(page, serve, texts, question):
    served = serve(texts([f"text {number}" for number in range(9)]), question)
    served.annotation.learner = Told(advice="The model <b>starts</b> soon.")
    page.open(served.address("&person=Ann"))
    page.until(SHOWN)
    page.until("return document.querySelector('#advice').textContent")
    assert page.text("#advice") == "The model <b>starts</b> soon."
    assert not page.script("return document.querySelector('#curve').checkVisibility()")
    assert not page.violations()

    curve = [[1.0, 0.5, 0.05], [4.0, 0.7, 0.02], [9.0, 0.8, 0.01]]
    night = {"value": 0.52, "low": 0.41, "high": 0.63, "told": False}
    features = {"guess": 0.6, "sentence": "is night <b>told</b>?", "labels": {"<i>": night}}
    served.annotation.learner = Told(advice="Go on.", curve=curve, features=features)
    page.open(served.address("&person=Ann"))
    page.until("return document.querySelector('#curve').childElementCount")
    corners = page.script("return document.querySelector('#curve .line').getAttribute('points')")
    (x0, y0), (x1, y1), (x2, y2) = (map(float, each.split(",")) for each in corners.split())
    assert (x2 - x0) / (x1 - x0) == pytest.approx(8 / 3, rel=0.01)
    assert (y0 - y2) / (y0 - y1) == pytest.approx(3 / 2, rel=0.01)
    label = page.script("return document.querySelector('#curve').getAttribute('aria-label')")
    assert label == "Score on held-out answers: .800 after 9 minutes; .600 without features"
    assert page.text("#untold") == "Is night <b>told</b>?"
    page.script("document.querySelector('#told').open = true")
    assert page.text("#told li") == "<i>\n52 (41 to 63), nothing so far"
    assert not page.violations()
    assert page.errors() == []


def test_what_counts_is_said_if_another_window_was_faster(page, serve, texts):
    served = serve(texts([f"text {number}" for number in range(9)]))
    page.open(served.address("&person=Ann"))
    for sent, said, *told in (
        ("yes", "n", "answered elsewhere before: yes", "Your answer is not stored", ", no)"),
        ("yes", "y", "in the same way", ", yes)"),
    ):
        id_ = page.until(SHOWN)
        served.ask("answer", body={"id": id_, "person": "Ann", "answer": sent, "seconds": 1})
        page.answer(said)
        page.until(
            "return document.querySelector('#alert').textContent", lambda t, part=told[0]: part in t
        )
        assert all(each in page.text("#alert") for each in told)
    assert [answer for *_, answer in served.said()] == ["yes", "yes"]


@pytest.mark.slow
def test_links_open_in_another_tab_and_the_time_there_counts(page, serve, tmp_path):
    rows = "".join(f"{name},https://127.0.0.1:1/?a={name}\n" for name in "ab")
    (tmp_path / "links.csv").write_text(f"item,page\n{rows}")
    served = serve(read_things(tmp_path / "links.csv", url="page"))
    page.open(served.address("&person=Ann"))
    page.until(SHOWN)
    assert not page.violations()
    href, target, rel = page.script(
        "const a = document.querySelector('#shown a'); return [a.href, a.target, a.rel]"
    )
    assert href == f"https://127.0.0.1:1/?a={page.text('#caption')}"
    assert (target, rel) == ("_blank", "noopener noreferrer")
    elsewhere(page.browser, seconds=1)
    page.answer("n")
    page.stored()
    assert served.annotation.store.answers_table()["seconds"][0] > 1


def elsewhere(browser, seconds):
    """Look at another tab for a while."""
    here = browser.current_window_handle
    browser.switch_to.new_window("tab")
    time.sleep(seconds)
    browser.close()
    browser.switch_to.window(here)


@pytest.mark.slow
def test_time_in_another_tab_does_not_count(page, serve, texts):
    served = serve(texts([f"text {number}" for number in range(9)]))
    page.open(served.address("&person=Ann"))
    page.until(SHOWN)
    elsewhere(page.browser, seconds=1.5)
    page.answer("y")
    page.stored()
    (seconds,) = served.annotation.store.answers_table()["seconds"]
    assert seconds < 1.4


@pytest.mark.slow
def test_single_keys_can_be_switched_off(page, serve, texts):
    served = serve(texts([f"text {number}" for number in range(9)]))
    page.open(served.address("&person=Ann"))
    before = page.until(SHOWN)
    page.script("document.querySelector('#keys').click()")
    page.press("y", "n", "s")
    assert page.script(SHOWN) == before
    page.script("document.querySelector('[data-do=yes]').focus()")
    page.answer("\ue007")
    page.stored()
    assert [answer for *_, answer in served.said()] == ["yes"]


@pytest.mark.slow
def test_all_is_reached_with_the_tab_key(page, serve, texts):
    served = serve(texts(["text"] * 9), "named")
    page.open(served.address("&person=Ann"))
    page.until(SHOWN)
    seen = []
    while len(seen) < 40 and (not seen or seen[-1] != "BODY"):
        page.press("\ue004")
        seen.append(
            page.script(
                "const e = document.activeElement; return e.dataset.do ?? e.value ?? e.tagName"
            )
        )
    assert seen[-1] == "BODY"  # no trap
    assert {*LABELS, "all", "unsure", "undo"} <= set(seen)


@pytest.mark.slow
def test_a_link_of_another_site_leads_in_and_no_way_back_has_a_token(page, serve, texts, tmp_path):
    served = serve(texts([f"text {number}" for number in range(9)]))
    (tmp_path / "index.html").write_text(f'<a href="{served.address("&person=Ann")}">ask</a>')
    other = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    )
    threading.Thread(target=other.serve_forever).start()
    try:
        page.open(f"http://localhost:{other.server_port}/")
        page.script("document.querySelector('a').click()")
        page.until("return document.querySelector('main')?.dataset.question")
        assert page.browser.current_url == f"http://127.0.0.1:{served.port}/?person=Ann"
        assert page.script("return document.cookie") == ""
        page.answer("y")
        page.stored()
        page.browser.back()
        assert TOKEN not in page.browser.current_url
    finally:
        other.shutdown()
        other.server_close()
    assert [answer for *_, answer in served.said()] == ["yes"]


@pytest.mark.slow
def test_with_a_wrong_token_answers_are_kept(page, serve, texts):
    served = serve(texts([f"text {number}" for number in range(9)]))
    page.open(served.address("&person=Ann"))
    page.until(SHOWN)
    served.stop()
    served.token = "other"
    served.start()
    page.answer("y")
    page.until("return document.querySelector('#alert').innerText", lambda t: "token" in t)
    assert not page.violations()
    assert page.script("return localStorage.length") == 1
    served.stop()
    served.token = TOKEN
    served.start()
    page.answer("n")
    page.stored()
    assert [answer for *_, answer in served.said()] == ["yes", "no"]


@pytest.mark.slow
def test_after_a_question_that_somebody_else_answered_asking_goes_on(page, serve, texts):
    served = serve(texts([f"text {number}" for number in range(9)]), labels=["one label"])
    page.open(served.address("&person=Ann"))
    page.until(SHOWN)
    page.until(FETCHED, lambda n: n >= 4)
    item = page.text("#caption")
    served.annotation.asker.now = lambda: time.time() + 1000  # Ann was away for long
    lapsed = served.ask("next", "&person=Ben")
    assert lapsed["item"] == item
    served.ask("answer", body={"id": lapsed["id"], "person": "Ben", "answer": "no"})
    page.answer("y")
    page.until("return document.querySelector('#alert').innerText", lambda t: "lapsed" in t)
    for _ in range(7):
        page.answer("y")
    page.press("y")
    page.until(STATE, lambda state: state == "done")
    said = served.said()
    assert sorted(item for item, *_ in said) == [f"t{number}" for number in range(9)]
    assert [each for each in said if each[2] == "no"] == [(item, "one label", "no")]
    page.press("u")
    page.until(SHOWN)
    assert len(served.said()) == 8


@pytest.mark.slow
def test_answers_that_cannot_be_stored_wait(page, serve, texts, monkeypatch):
    served = serve(texts([f"text {number}" for number in range(9)]))
    page.open(served.address("&person=Ann"))
    page.until(FETCHED, lambda n: n >= 4)

    def full(*_):
        raise StoreError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(served.annotation.store, "append", full)
        page.answer("y")
        page.answer("n")
        page.until("return document.querySelector('#alert').innerText", lambda t: "full" in t)
        assert page.text("#stored") == "2 not stored yet"
        assert served.said() == []
    page.stored()
    assert [answer for *_, answer in served.said()] == ["yes", "no"]


def test_a_page_that_stays_open_while_labels_are_merged_stores_nothing_else(page, serve, texts):
    served = serve(texts([f"text {number}" for number in range(9)]), "ticked", ["a", "b", "c", "d"])
    page.open(served.address("&person=Ann"))
    page.answer("1", "\ue007")
    page.stored()
    page.until(FETCHED, lambda n: n >= 5)
    before = served.said()
    served.stop()
    served.start(labels=["a", "x", "d"], merge={"b": "a"}, rename={"c": "x"})
    page.script("window.isOld = true")
    page.press("2", "\ue007")  # of the labels of before
    page.until("return window.isOld", lambda is_old: not is_old)
    page.until(SHOWN)
    assert "not stored" in page.text("#alert")
    assert page.script("return [...document.querySelectorAll('#options input')].map(e => e.value)"
                       ) == ["a", "x", "d"]  # fmt: skip
    named = {"c": "x"}
    said = {(item, named.get(label, label), word) for item, label, word in before if label != "b"}
    assert {*served.said()} == said
    page.answer("2", "\ue007")
    page.stored()
    now = {*served.said()} - said
    assert {(label, word) for _, label, word in now} == {("a", "no"), ("x", "yes"), ("d", "no")}
    assert not page.errors() or all("409" in each for each in page.errors())


@pytest.mark.slow
def test_three_days_of_one_sitting_and_a_recomputation_from_the_table(page, serve, tmp_path):
    from PIL import Image

    from complabel.files import UnmatchedItemsWarning, read_answers
    from complabel.live import Until
    from complabel.live._until import with_shares
    from complabel.trust import Goal, how_far

    folder = tmp_path / "pictures"
    folder.mkdir()

    def draw(names):
        for name in names:
            Image.new("RGB", (40, 30), (len(name) * 9, 80, 120)).save(folder / f"{name}.png")

    def sit(person, n):
        page.open(served.address(f"&person={person}"))
        for _ in range(n):
            page.until(SHOWN)
            about = page.text("#caption") + page.text("#question strong")
            key = "yn"[zlib.crc32(about.encode()) % 3 > 0]
            said.append((person, key))
            page.answer(key)
        page.stored()

    def goals(labels):
        return Until([Goal.parse("frequencies +-.3")], len(labels), size=1)

    draw(f"old {at}" for at in range(30))
    said, labels = [], ["a", "b", "c", "d"]
    served = serve(read_things(folder), "asked", labels)
    served.stop()
    served.start(until=goals(labels))
    sit("Ann", 12), sit("Bo", 8)
    labels = ["a", "b", "c", "d", "e"]
    served.stop()
    served.start(labels=labels, until=goals(labels))
    sit("Bo", 10), sit("Ann", 6)
    for at in range(10):
        (folder / f"old {at}.png").unlink()
    draw(f"new {at}" for at in range(5))
    labels = ["a", "x", "d", "e"]
    served.stop()
    until = goals(labels)
    things = read_things(folder)
    served.start(things=things, labels=labels, merge={"b": "a"}, rename={"c": "x"}, until=until)
    sit("Ann", 14), sit("Cy", 9)
    annotation = served.annotation
    assert annotation.asker.answered == len(said)
    assert len(annotation.things.gone) == 10
    until.look(annotation.news, annotation.asker.answered, last=True)
    annotation.save()
    names = [name for name in annotation.things.names if name not in annotation.things.gone]
    with pytest.warns(UnmatchedItemsWarning):  # the ten that are gone
        told = read_answers(
            *(tmp_path / "answers.csv",), items=names, label_names=annotation.asker.labels,
            contradictions="keep",
        )  # fmt: skip
    answers = told.answers
    (wanted,) = how_far(with_shares(answers), until.goals, probabilities=None)
    (found,) = until.standings
    assert found.n_judgements == wanted.n_judgements > 20
    for one, other in zip(found.parts, wanted.parts, strict=True):
        assert one.label == other.label
        np.testing.assert_allclose(
            (one.value, one.low, one.high), (other.value, other.low, other.high), rtol=1e-9
        )
    assert not page.violations()
