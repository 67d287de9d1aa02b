"""What does the page of ``complabel annotate`` look like? Draws the two pictures of the manual.

A simulated person answers about canvases of digits without mistakes, yes or no in 1.4 seconds in
the median, and ticks in three times that. In "goals", nothing learns; the goals are label
frequencies, and F1 of rough predictions. The pictures lie in ``.benchmarks``: look at them, and
move them to ``docs``. Figures are the answers so far.
"""

from __future__ import annotations

import base64
import json
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
import pandas as pd
from PIL import Image

from benchmarks._browser import browsing, serving
from benchmarks._frame import PARTS
from complabel.datasets import make_digits

CELLS = {"picture": ("annotate", "annotate-until")}
QUICK = {"picture": ("annotate-until",)}


def ask(address: str, route: str, body: Any = None, **query: str) -> Any:
    """Use a route of the server, as the page does."""
    where, token = address.split("/?token=")
    more = "&".join(f"{key}={value}" for key, value in {"token": token, **query}.items())
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"{where}/api/{route}?{more}", data=data)) as reply:
        return json.load(reply)


def measure(*, draw: int, data: Any, picture: str) -> dict[str, int]:
    """Answer until there is something to see, and draw the page then."""
    from selenium.webdriver import ActionChains

    digits, names = make_digits(), [f"canvas-{row:04d}.png" for row in range(2000)]
    goals, truth = picture == "annotate-until", dict(zip(names, digits.Y, strict=False))
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name, browsing() as driver:
        folder = Path(name)
        (folder / "canvases").mkdir()
        for item, canvas in zip(names, digits.X, strict=False):
            grey = 255 * (1 - canvas.reshape(16, 16) / canvas.max())
            Image.fromarray(grey.astype("uint8")).save(folder / "canvases" / item)
        pd.DataFrame(digits.X[:2000]).assign(item=names).to_csv(folder / "X.csv", index=False)
        (folder / "labels.txt").write_text("\n".join(map(str, range(10))))
        more = ["--features", "X.csv"]
        if goals:
            rough = np.where(digits.Y[:2000], 0.8, 0.15) + rng.normal(0, 0.25, (2000, 10))
            predictions = pd.DataFrame(rough.clip(0.01, 0.99), columns=[*map(str, range(10))])
            predictions.assign(item=names).to_csv(folder / "p.csv", index=False)
            more = ["--against", "p.csv", "--until", "frequencies_+-.12", "--until", "f1_+-.05"]
        with serving(folder, "canvases", *(word.replace("_", " ") for word in more)) as address:
            for done in range(1, 131 if goals else 251):
                seconds = float(rng.lognormal(np.log(1.4), 0.4))
                asked = ask(address, "next", person="Ann")
                applies = truth[asked["item"]]
                said: Any = [each for each in asked.get("offered", ()) if applies[int(each)]]
                if asked["question"] == "asked":
                    said = "yes" if applies[int(asked["label"])] else "no"
                else:
                    seconds *= 3
                body = {"id": asked["id"], "person": "Ann", "answer": said, "seconds": seconds}
                ask(address, "answer", body)
                while not goals and done % 50 == 0:
                    if (ask(address, "progress")["learning"] or {}).get("answers", 0) >= done:
                        break
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
            drawn = base64.b64decode(driver.get_screenshot_as_base64())
            PARTS.mkdir(exist_ok=True)
            (PARTS / f"{picture}.png").write_bytes(drawn)
            return {"answers": ask(address, "progress")["answered"]}
