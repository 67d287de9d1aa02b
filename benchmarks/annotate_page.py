"""How long is it from key to next question in ``complabel annotate``, in Chromium?

A real server, 100,000 items, and a simulated person who presses y every 0.3 seconds, 200 times: the
milliseconds run from the key's event to the frame after the one in which the next item is there.
"away" adds 100 ms to each request, as to a server in another country. Without questions ahead, the
page asks for the next question when the answer is stored.

"positive": a program names one label that applies of each web page of delicious, of 983: it types
the first letters into the filter until the label stands first, and presses Enter; "none of these"
has the key n. Figures are keys, the milliseconds until a letter shows and until the next question,
beside the key of a yes or no ("asked"). What a person reads and thinks is not in it.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from benchmarks._browser import browsing, serving
from complabel.datasets import make_digits
from complabel.experiments.datasets import load_dataset

CELLS = [
    *(
        {"items": items, "server": server, "ahead": ahead}
        for items in ("pictures", "texts")
        for server in ("here", "away")
        for ahead in (3, 0)
    ),
    {"set": "delicious", "asks": "positive"},
    {"set": "delicious", "asks": "asked"},
]
NEEDS, QUICK = ("delicious",), {"items": ("texts",), "server": ("here",), "ahead": (3,)}
TIMES = ("median", "most", "letter", "next")
N_ITEMS, N_ANSWERS, N_DRAWN, PAUSE = 100_000, 200, 200, 0.3
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
window.typed = [];
document.querySelector("#filter")?.addEventListener("input", ({ timeStamp }) => {
  const drawn = new MessageChannel();
  drawn.port1.onmessage = () => window.typed.push(performance.now() - timeStamp);
  requestAnimationFrame(() => drawn.port2.postMessage(0));
});
"""
FIRST = "return document.querySelector('#options > :not([hidden])')?.value"
IN_FILTER = "return document.activeElement.id === 'filter'"


def make_pictures(folder: Path) -> None:
    """Draw digits at 1200 x 900 with some noise, JPEG files of about 160 kB."""
    rng = np.random.default_rng(0)
    for number, canvas in enumerate(make_digits().X[:N_DRAWN].reshape(-1, 16, 16)):
        noisy = np.zeros((900, 1200)) + 255
        noisy[50:850, 200:1000] = np.kron(255 * (1 - canvas / canvas.max()), np.ones((50, 50)))
        noisy += rng.normal(0, 12, noisy.shape)
        Image.fromarray(noisy.clip(0, 255).astype("uint8")).save(folder / f"{number:06d}.jpg")
    for number in range(N_DRAWN, N_ITEMS):
        (folder / f"{number:06d}.jpg").hardlink_to(folder / f"{number % N_DRAWN:06d}.jpg")


def make_texts(path: Path) -> None:
    """Write texts of 20 to 400 made-up words."""
    rng = np.random.default_rng(0)
    words = np.array(["".join(rng.choice(list("abcdefghiklmnoprstuvw"), 6)) for _ in range(5000)])
    with path.open("w") as file:
        file.write("item,body\n")
        for number in range(N_ITEMS):
            file.write(f"t{number},{' '.join(rng.choice(words, rng.integers(20, 400)))}\n")


def press(driver: Any, key: str) -> None:
    """Press a key, and wait until the next question is there."""
    from selenium.webdriver import ActionChains

    before = driver.execute_script("return window.taken.length")
    ActionChains(driver).send_keys(key).perform()
    while driver.execute_script("return window.taken.length") <= before:
        time.sleep(0.01)


def of_keys(folder: Path, items: str, delay: float, ahead: int) -> dict[str, float]:
    """Answer questions with one key each."""
    (folder / "labels.txt").write_text("\n".join(map(str, range(10))))
    if items == "pictures":
        (folder / "pictures").mkdir()
        make_pictures(folder / "pictures")
    else:
        make_texts(folder / "texts.csv")
    things = ("pictures",) if items == "pictures" else ("texts.csv", "--text", "body")
    with serving(folder, *things, "--question", "asked") as address, browsing() as driver:
        driver.get(f"{address}&person=ann&ahead={ahead}")
        driver.execute_cdp_cmd("Network.enable", {})
        speed = {"offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
        driver.execute_cdp_cmd("Network.emulateNetworkConditions", speed | {"latency": delay})
        time.sleep(3)
        driver.execute_script(WATCH)
        for _ in range(N_ANSWERS):
            press(driver, "y")
            time.sleep(PAUSE)
        assert driver.execute_script("return document.querySelector('#alert').textContent") == ""
        taken = driver.execute_script("return window.taken")
    return {"median": np.median(taken), "most": np.quantile(taken, 0.99)}


def of_names(folder: Path, question: str, data: Any) -> dict[str, float]:
    """Name labels of 983 by typing, or say yes or no."""
    loaded = load_dataset("delicious", data_dir=data, preprocessed=False)
    labels = [name.removeprefix("TAG_") for name in loaded.label_names]
    truth = {f"page-{row}": np.flatnonzero(loaded.Y[row]) for row in range(4 * N_ANSWERS)}
    (folder / "labels.txt").write_text("\n".join(labels))
    pages = pd.DataFrame({"item": [*truth], "body": "a web page"})
    pages.to_csv(folder / "t.csv", index=False)
    rng, n_keys = np.random.default_rng(0), []
    things = ("t.csv", "--text", "body", "--item", "item", "--question", question)
    with serving(folder, *things) as address, browsing() as driver:
        driver.get(f"{address}&person=ann")
        time.sleep(3)
        driver.execute_script(WATCH)
        for _ in range(N_ANSWERS):
            item = driver.execute_script("return document.querySelector('#caption').innerText")
            applies, keys = truth[item.split()[0]], ["n"]
            if question == "positive":
                keys = named_by(driver, [labels[each] for each in applies], rng)
            press(driver, keys[-1])
            n_keys.append(len(keys))
        typing = driver.execute_script("return window.typed") or [0]
        taken = driver.execute_script("return window.taken").copy()
        answers = pd.read_csv(f"{address.split('/?')[0]}/answers.csv?{address.split('?')[1]}")
    stored = answers.dropna(subset="label") if question == "positive" else answers[:0]
    pairs = zip(stored["item"], stored["label"], strict=True)
    assert all(labels.index(label) in truth[item] for item, label in pairs)
    keys = {"keys": float(np.median(n_keys)), "most_keys": max(n_keys)}
    return {**keys, "letter": np.median(typing), "next": np.median(taken)}


def named_by(driver: Any, applies: list[str], rng: np.random.Generator) -> list[str]:
    """Press all keys that name a label, or that say "none", but the last; return all."""
    from selenium.webdriver import ActionChains

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


def measure(*, draw: int, data: Any, **cell: Any) -> dict[str, float]:
    """Return milliseconds, and keys where labels are named."""
    with tempfile.TemporaryDirectory() as name:
        if "set" in cell:
            return of_names(Path(name), cell["asks"], data)
        delay = 100 if cell["server"] == "away" else 0
        return of_keys(Path(name), cell["items"], delay, cell["ahead"])
