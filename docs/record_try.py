"""Record the page of the home page: `python docs/record_try.py` (a minute; needs the extra live).

A simulated person, who makes no mistakes, answers 1,500 questions of `complabel annotate` about
pictures of digits, while a model learns. What the page was told is written to
`_static/try/recorded.json`, with 40 more questions, which visitors answer. When the site is built,
`conf.py` copies the page itself; `recorded.js` answers in place of the server.
"""

import base64
import io
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import numpy as np
import pandas as pd
from PIL import Image

from complabel.datasets import make_digits

OUT = Path(__file__).parent / "_static" / "try" / "recorded.json"
ANSWERS, EACH, SHOWN, ITEMS = 1500, 50, 40, 1000


def picture(row):
    """Return a canvas of digits as the bytes of a PNG."""
    grey = 255 * (1 - row.reshape(16, 16) / row.max())
    file = io.BytesIO()
    Image.fromarray(grey.astype("uint8")).save(file, "PNG", optimize=True)
    return file.getvalue()


def main():
    """Ask, record, write."""
    digits = make_digits()
    names = [f"canvas-{row:04}.png" for row in range(ITEMS)]
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "canvases").mkdir()
        for item, row in zip(names, digits.X, strict=False):
            (folder / "canvases" / item).write_bytes(picture(row))
        pd.DataFrame(digits.X[:ITEMS]).assign(item=names).to_csv(folder / "X.csv", index=False)
        (folder / "labels.txt").write_text("\n".join(map(str, range(10))))
        command = [sys.executable, "-m", "complabel", "annotate", "canvases", "--no-browser"]
        command += ["--label-names", "labels.txt", "--features", "X.csv", "--out", "answers.csv"]
        command += ["--question", "asked"]  # visitors press y and n
        server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        where, token = next(line.split()[-1] for line in server.stdout if "http" in line).split(
            "/?"
        )

        def ask(route, body=None, **query):
            data = None if body is None else json.dumps(body).encode()
            address = f"{where}/api/{route}?{token}&{urlencode(query)}"
            with urlopen(Request(address, data=data)) as reply:
                return json.load(reply)

        def answer(question, seconds):
            yes = digits.Y[names.index(question["item"]), int(question["label"])]
            body = {"id": question["id"], "person": "Ann", "answer": "yes" if yes else "no"}
            ask("answer", body | {"seconds": seconds})

        learned = []
        for done in range(1, ANSWERS + 1):
            answer(ask("next", person="Ann"), float(rng.lognormal(np.log(1.4), 0.4)))
            while done % EACH == 0:
                learning = ask("progress")["learning"] or {}
                if learning.get("answers", 0) >= done:
                    learned.append(learning)
                    break
                time.sleep(0.1)
        questions = []
        while len(questions) < SHOWN:
            question = ask("next", person="Ann")
            yes = digits.Y[names.index(question["item"]), int(question["label"])]
            if yes or sum(not each["yes"] for each in questions) < SHOWN // 2:  # as many of both
                row = digits.X[names.index(question["item"])]
                encoded = base64.b64encode(picture(row)).decode()
                shown = {"image": f"data:image/png;base64,{encoded}"}
                questions.append(question | {"show": shown, "yes": bool(yes)})
            answer(question, 1.4)
        server.terminate()
        server.communicate()

    rng.shuffle(questions)
    kept = [{key: each[key] for key in each if key != "yes"} for each in questions]
    OUT.write_text(json.dumps({"questions": kept, "learned": learned, "items": ITEMS}))


if __name__ == "__main__":
    main()
