"""From key to next question in `complabel annotate`: a real server, Chromium, 100,000 items.

Prints Markdown. A simulated person presses y every 0.3 seconds. The time runs from the key's event
to the frame after the one in which the next item is there. "Away" adds 100 ms to each request, as
to a server in another country. Without questions ahead, the page asks for the next question when
the answer is stored.

With --picture, it draws the picture of the page instead: a simulated person answers about canvases
of digits without mistakes, yes or no in 1.4 seconds in the median, and ticks in three times that.
With --goals, the sitting has goals.

With --names DIR, a program names one label that applies of each web page of delicious, of 983: it
types the first letters into the filter until the label stands first, and presses Enter; "none of
these" has the key n. Counted are keys, and milliseconds until a key shows and until the answer is
stored, beside the key of a yes or no. What a person reads and thinks is not in it.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
import pandas as pd
from PIL import Image
from selenium import webdriver
from selenium.webdriver import ActionChains

from complabel.experiments.datasets import load_dataset

AHEAD = 3  # questions that the page holds in advance
PAUSE = 0.3  # seconds between two keys
DELAY = 100  # milliseconds that a request takes longer where the server is away
N_DRAWN = 200  # different pictures; the others are links to them
WATCH = """
window.taken = [];
const main = document.querySelector("main");
addEventListener("keydown", ({ timeStamp }) => {
  const before = main.dataset.question;
  const look = () => {
    const id = main.dataset.question;
    if (!id || id === before) return requestAnimationFrame(look);
    const drawn = new MessageChannel();
    drawn.port1.onmessage = () => window.taken.push(performance.now() - timeStamp);
    requestAnimationFrame(() => drawn.port2.postMessage(0));
  };
  requestAnimationFrame(look);
}, { capture: true });
"""


TYPED = """
window.typed = [];
document.querySelector("#filter").addEventListener("input", ({ timeStamp }) => {
  const drawn = new MessageChannel();
  drawn.port1.onmessage = () => window.typed.push(performance.now() - timeStamp);
  requestAnimationFrame(() => drawn.port2.postMessage(0));
});
"""
FIRST = "return document.querySelector('#options > :not([hidden])')?.value"
IN_FILTER = "return document.activeElement.id === 'filter'"


def make_pictures(folder: Path, n_items: int) -> None:
    """Draw digits at 1200 x 900 with some noise, JPEG files of about 160 kB."""
    rng = np.random.default_rng(0)
    canvases = load_dataset("digits").X[:N_DRAWN].reshape(-1, 16, 16)
    for number, canvas in enumerate(canvases):
        large = np.kron(255 * (1 - canvas / canvas.max()), np.ones((50, 50)))
        noisy = np.zeros((900, 1200)) + 255
        noisy[50:850, 200:1000] = large
        noisy += rng.normal(0, 12, noisy.shape)
        Image.fromarray(noisy.clip(0, 255).astype("uint8")).save(folder / f"{number:06d}.jpg")
    for number in range(N_DRAWN, n_items):
        os.link(folder / f"{number % N_DRAWN:06d}.jpg", folder / f"{number:06d}.jpg")


def make_texts(path: Path, n_items: int) -> None:
    """Write texts of 20 to 400 made-up words."""
    rng = np.random.default_rng(0)
    words = np.array(["".join(rng.choice(list("abcdefghiklmnoprstuvw"), 6)) for _ in range(5000)])
    with path.open("w") as file:
        file.write("item,body\n")
        for number in range(n_items):
            file.write(f"t{number},{' '.join(rng.choice(words, rng.integers(20, 400)))}\n")


@contextlib.contextmanager
def serving(folder: Path, *things: str) -> Iterator[str]:
    """Start the command, and yield the address that it prints."""
    out = f"{things[0]}.answers.csv"
    arguments = ["annotate", *things, "--label-names", "labels.txt", "--out", out]
    command = [sys.executable, "-m", "complabel", *arguments, "--no-browser"]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        yield next(line.split()[-1] for line in server.stdout if "http" in line)
    finally:
        server.terminate()
        server.communicate()


@contextlib.contextmanager
def browsing() -> Iterator[Any]:
    """Open a Chromium without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "window-size=1280,800"):
        options.add_argument(f"--{argument}")
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield driver
    finally:
        driver.quit()


def measure(driver: Any, address: str, n: int, *, ahead: int, delay: float) -> np.ndarray:
    """Answer n questions; return the milliseconds from key to next question, (n,)."""
    driver.get(f"{address}&person=ann&ahead={ahead}")
    driver.execute_cdp_cmd("Network.enable", {})
    speed = {"offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", speed | {"latency": delay})
    time.sleep(3)
    driver.execute_script(WATCH)
    for done in range(n):
        ActionChains(driver).send_keys("y").perform()
        while driver.execute_script("return window.taken.length") <= done:
            time.sleep(0.01)
        time.sleep(PAUSE)
    assert driver.execute_script("return document.querySelector('#alert').textContent") == ""
    return np.array(driver.execute_script("return window.taken"))


def ask(address: str, route: str, body: Any = None, **query: str) -> Any:
    """Use a route of the server, as the page does."""
    where, token = address.split("/?token=")
    more = "&".join(f"{key}={value}" for key, value in {"token": token, **query}.items())
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"{where}/api/{route}?{more}", data=data)) as reply:
        return json.load(reply)


def draw_page(out: Path, n_answers: int, *, goals: bool = False) -> None:
    """Answer about canvases of digits until a model has learned, and draw the page then.

    With ``goals``, nothing learns; the goals are label frequencies, and F1 of rough predictions.
    """
    data = load_dataset("digits")
    names = [f"canvas-{row:04d}.png" for row in range(2000)]
    truth = dict(zip(names, data.Y, strict=False))
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name, browsing() as driver:
        folder = Path(name)
        (folder / "canvases").mkdir()
        for item, canvas in zip(names, data.X, strict=False):
            grey = 255 * (1 - canvas.reshape(16, 16) / canvas.max())
            Image.fromarray(grey.astype("uint8")).save(folder / "canvases" / item)
        features = pd.DataFrame(data.X[:2000]).assign(item=names)
        features.to_csv(folder / "X.csv", index=False)
        (folder / "labels.txt").write_text("\n".join(map(str, range(10))))
        more = ["--features", "X.csv"]
        if goals:
            rough = np.where(data.Y[:2000], 0.8, 0.15) + rng.normal(0, 0.25, (2000, 10))
            predictions = pd.DataFrame(rough.clip(0.01, 0.99), columns=[*map(str, range(10))])
            predictions.assign(item=names).to_csv(folder / "p.csv", index=False)
            wanted = ("frequencies +-.12", "f1 +-.05")
            more = ["--against", "p.csv", *(word for goal in wanted for word in ("--until", goal))]
        with serving(folder, "canvases", *more) as address:

            def reply(seconds: float) -> None:
                asked = ask(address, "next", person="Ann")
                applies = truth[asked["item"]]
                said: Any = [each for each in asked.get("offered", ()) if applies[int(each)]]
                if asked["question"] == "asked":
                    said = "yes" if applies[int(asked["label"])] else "no"
                else:
                    seconds *= 3
                body = {"id": asked["id"], "person": "Ann", "answer": said, "seconds": seconds}
                ask(address, "answer", body)

            for done in range(1, n_answers + 1):
                reply(float(rng.lognormal(np.log(1.4), 0.4)))
                while (
                    not goals
                    and done % 50 == 0
                    and (ask(address, "progress")["learning"] or {}).get("answers", 0) < done
                ):
                    time.sleep(0.1)
            driver.set_window_size(1200, 860 if goals else 800)
            driver.get(f"{address}&person=Ann")
            for _ in range(20):
                time.sleep(rng.uniform(0.8, 1.8))
                item, label = driver.execute_script(
                    "return ['#caption', '#question strong']"
                    ".map(name => document.querySelector(name).textContent)"
                )
                keys = "".join(str((at + 1) % 10) for at in np.flatnonzero(truth[item])) + "\ue007"
                if label != "all":
                    keys = "ny"[truth[item][int(label)]]
                ActionChains(driver).send_keys(keys).perform()
            time.sleep(3)
            out.write_bytes(base64.b64decode(driver.get_screenshot_as_base64()))


def name_labels(data_dir: Path, n_answers: int) -> None:
    """Name labels of 983 by typing, and say yes or no; print keys and milliseconds of an answer."""
    data = load_dataset("delicious", data_dir=data_dir, preprocessed=False)
    labels = [name.removeprefix("TAG_") for name in data.label_names]
    rng = np.random.default_rng(0)
    truth = {f"page-{row}": np.flatnonzero(data.Y[row]) for row in range(4 * n_answers)}
    print("| question | answers | keys: median | most | a letter, ms | last key to next, ms |")
    print("|---|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as name, browsing() as driver:
        for question in ("positive", "asked"):
            folder = Path(name) / question
            folder.mkdir()
            (folder / "labels.txt").write_text("\n".join(labels))
            pages = pd.DataFrame({"item": [*truth], "body": "a web page"})
            pages.to_csv(folder / "t.csv", index=False)
            things = ("t.csv", "--text", "body", "--item", "item", "--question", question)
            with serving(folder, *things) as address:
                driver.get(f"{address}&person=ann")
                time.sleep(3)
                driver.execute_script(WATCH + TYPED)
                n_keys, taken = [], []
                for _ in range(n_answers):
                    item = driver.execute_script(
                        "return document.querySelector('#caption').innerText"
                    )
                    applies, keys = truth[item.split()[0]], ["n"]
                    if question == "positive":
                        keys = named_by(driver, [labels[each] for each in applies], rng)
                    before = driver.execute_script("return window.taken.length")
                    ActionChains(driver).send_keys(keys[-1]).perform()
                    while driver.execute_script("return window.taken.length") <= before:
                        time.sleep(0.01)
                    taken.append(driver.execute_script("return window.taken.at(-1)"))
                    n_keys.append(len(keys))
                typing = driver.execute_script("return window.typed") or [0]
                answers = pd.read_csv(
                    f"{address.split('/?')[0]}/answers.csv?{address.split('?')[1]}"
                )
                if question == "positive":
                    stored = answers.dropna(subset="label")
                    assert len(answers) == n_answers
                    assert all(
                        labels.index(label) in truth[item]
                        for item, label in zip(stored["item"], stored["label"], strict=True)
                    )
                cells = [np.median(n_keys), max(n_keys), np.median(typing), np.median(taken)]
                print(f"| {question} | {n_answers} | {' | '.join(f'{x:.0f}' for x in cells)} |")


def named_by(driver: Any, applies: list[str], rng: np.random.Generator) -> list[str]:
    """Press all keys that name a label, or that say "none", but the last; return all."""
    inside, keys = driver.execute_script(IN_FILTER), []
    if not applies:
        if inside:
            ActionChains(driver).send_keys("\ue00c").perform()
        return [*["Escape"] * inside, "n"]
    label = rng.choice(applies)
    for key in [*["/"] * (not inside), *label]:
        ActionChains(driver).send_keys(key).perform()
        keys.append(key)
        if len(keys) > (not inside) and driver.execute_script(FIRST) == label:
            break
    return [*keys, "\ue007"]


def compare(n_items: int, n_answers: int) -> None:
    """Measure pictures and texts, here and away, with and without questions ahead."""
    print("| item | server | questions ahead | median, ms | 99th percentile, ms |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name, browsing() as driver:
        folder = Path(name)
        (folder / "labels.txt").write_text("\n".join(map(str, range(10))))
        (folder / "pictures").mkdir()
        make_pictures(folder / "pictures", n_items)
        make_texts(folder / "texts.csv", n_items)
        for things in (("pictures",), ("texts.csv", "--text", "body")):
            with serving(folder, *things, "--question", "asked") as address:
                for place, delay in (("here", 0), ("away", DELAY)):
                    for ahead in (AHEAD, 0):
                        taken = measure(driver, address, n_answers, ahead=ahead, delay=delay)
                        figures = " | ".join(f"{np.quantile(taken, q):.0f}" for q in (0.5, 0.99))
                        kind = things[0].removesuffix(".csv")
                        print(f"| {kind} | {place} | {ahead} | {figures} |", flush=True)


def main() -> None:
    """Measure, or draw the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--answers", type=int, default=250, help="in each row")
    parser.add_argument("--picture", type=Path, help="draw the page to this PNG file instead")
    parser.add_argument("--goals", type=Path, help="the same, with goals")
    parser.add_argument("--names", type=Path, help="name labels of delicious in this folder")
    args = parser.parse_args()
    if args.names:
        name_labels(args.names, args.answers)
    elif args.goals:
        draw_page(args.goals, n_answers=130, goals=True)
    elif args.picture:
        draw_page(args.picture, n_answers=250)
    else:
        compare(args.items, args.answers)


if __name__ == "__main__":
    main()
