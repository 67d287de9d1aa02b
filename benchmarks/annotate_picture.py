"""What does the page of ``complabel annotate`` look like? Draws the two pictures of the manual.

A simulated person answers about canvases of digits without mistakes, yes or no in 1.4 seconds in
the median, and ticks in three times that. In "annotate-until", nothing learns; the goals are label
frequencies, and F1 of rough predictions. The pictures lie in ``.benchmarks``: look at them, and
move them to ``docs``. Figures are the answers so far.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
from PIL import Image

from benchmarks._frame import PARTS
from benchmarks._server import Person, browsing, serving
from complabel.datasets import make_digits

CELLS = {"picture": ("annotate", "annotate-until")}
QUICK = {"picture": ("annotate-until",)}
SHOWN = """return ['#caption', '#question strong']
    .map(name => document.querySelector(name).textContent)"""


def measure(*, draw: int, data: Any, picture: str) -> dict[str, int]:
    """Answer until there is something to see, and draw the page then."""
    from selenium.webdriver import ActionChains

    goals, digits, labels = picture == "annotate-until", make_digits(), [*map(str, range(10))]
    names, X, Y = [f"canvas-{row:04d}.png" for row in range(2000)], digits.X[:2000], digits.Y[:2000]
    truth = pd.DataFrame(Y, columns=labels, index=names)
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name, browsing() as driver:
        folder = Path(name)
        (folder / "canvases").mkdir()
        for item, canvas in zip(names, X, strict=True):
            grey = 255 * (1 - canvas.reshape(16, 16) / canvas.max())
            Image.fromarray(grey.astype("uint8")).save(folder / "canvases" / item)
        pd.DataFrame(X).assign(item=names).to_csv(folder / "X.csv", index=False)
        (folder / "labels.txt").write_text("\n".join(labels))
        more = ["--features", "X.csv"]
        if goals:
            rough = np.where(Y, 0.8, 0.15) + rng.normal(0, 0.25, (2000, 10))
            predictions = pd.DataFrame(rough.clip(0.01, 0.99), columns=labels)
            predictions.assign(item=names).to_csv(folder / "p.csv", index=False)
            more = ["--against", "p.csv", "--until", "frequencies +-.12", "--until", "f1 +-.05"]
        with serving(folder, "canvases", *more) as address:
            ann = Person("Ann", urlsplit(address).port or 0)
            for done in range(1, 131 if goals else 251):
                seconds, asked = float(rng.lognormal(np.log(1.4), 0.4)), ann.next()
                ann.tell(truth.loc[asked["item"]], asked, seconds)
                while not goals and done % 50 == 0:
                    learning = ann.ask("GET", "/api/progress")["learning"] or {}
                    if learning.get("answers", 0) >= done:
                        break
                    time.sleep(0.1)
            driver.set_window_size(1200, 860 if goals else 800)
            driver.get(f"{address}&person=Ann")
            for _ in range(20):
                time.sleep(rng.uniform(0.8, 1.8))
                item, label = driver.execute_script(SHOWN)
                applies = truth.loc[item]
                keys = "".join(str((at + 1) % 10) for at in np.flatnonzero(applies)) + "\ue007"
                ActionChains(driver).send_keys(
                    keys if label == "all" else "ny"[applies[label]]
                ).perform()
            time.sleep(3)
            PARTS.mkdir(exist_ok=True)
            driver.save_screenshot(str(PARTS / f"{picture}.png"))
            return {"answers": ann.ask("GET", "/api/progress")["answered"]}
