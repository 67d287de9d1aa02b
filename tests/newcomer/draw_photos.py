"""Draw what a new user has: a folder of pictures, a list of labels, and the truth to answer by."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from PIL import Image

from complabel.datasets import make_digits

N_PHOTOS = 300


def main() -> None:
    """Write 300 pictures to learn from, and 300 other ones."""
    data = make_digits()
    names = [f"digit {k}" for k in range(data.Y.shape[1])]
    rows = np.random.default_rng(0).permutation(len(data.Y))[: 2 * N_PHOTOS]
    truth = {}
    for folder, some in (("photos", rows[:N_PHOTOS]), ("new", rows[N_PHOTOS:])):
        Path(folder).mkdir()
        for row in some:
            pixels = (data.X[row].reshape(16, 16) * 255).astype(np.uint8)
            Image.fromarray(pixels).resize((192, 192)).save(f"{folder}/{row:04}.png")
            truth[f"{row:04}.png"] = [names[k] for k in np.flatnonzero(data.Y[row])]
    Path("photo-labels.txt").write_text("".join(f"{name}\n" for name in names))
    Path("photo-truth.json").write_text(json.dumps(truth))
    new = [f"{row:04}.png" for row in rows[N_PHOTOS:]]
    lines = [
        f"{item},{','.join(str(int(name in truth[item])) for name in names)}\n" for item in new
    ]
    Path("photo-truth.csv").write_text(f"item,{','.join(names)}\n{''.join(lines)}")


if __name__ == "__main__":
    main()
