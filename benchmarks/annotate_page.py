"""How long is it from key to next question in ``complabel annotate``, in Chromium?

A real server, 100,000 items, and a simulated person who presses y every 0.3 seconds, 200 times: the
milliseconds run from the key's event to the frame after the one in which the next item is there.
"away" adds 100 ms to each request, as to a server in another country. Without questions ahead, the
page asks for the next question when the answer is stored.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks._server import browsing, serving
from complabel.datasets import make_digits

CELLS = {"items": ("pictures", "texts"), "server": ("here", "away"), "ahead": (3, 0)}
QUICK = {"items": ("texts",), "server": ("here",), "ahead": (3,)}
TIMES = ("median", "most")
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
"""


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


def measure(*, draw: int, data: Any, items: str, server: str, ahead: int) -> dict[str, float]:
    """Answer questions with one key each; return milliseconds."""
    from selenium.webdriver import ActionChains

    with tempfile.TemporaryDirectory() as name:
        folder, things = Path(name), ("texts.csv", "--text", "body")
        (folder / "labels.txt").write_text("\n".join(map(str, range(10))))
        if items == "pictures":
            things = ("pictures",)
            (folder / "pictures").mkdir()
            make_pictures(folder / "pictures")
        else:
            make_texts(folder / "texts.csv")
        with serving(folder, *things, "--question", "asked") as address, browsing() as driver:
            driver.get(f"{address}&person=ann&ahead={ahead}")
            driver.execute_cdp_cmd("Network.enable", {})
            speed = {"offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
            speed["latency"] = 100 if server == "away" else 0
            driver.execute_cdp_cmd("Network.emulateNetworkConditions", speed)
            time.sleep(3)
            driver.execute_script(WATCH)
            for n_before in range(N_ANSWERS):
                ActionChains(driver).send_keys("y").perform()
                while driver.execute_script("return window.taken.length") <= n_before:
                    time.sleep(0.01)
                time.sleep(PAUSE)
            alert = driver.execute_script("return document.querySelector('#alert').textContent")
            assert alert == ""
            taken = driver.execute_script("return window.taken")
    return {"median": np.median(taken), "most": np.quantile(taken, 0.99)}
