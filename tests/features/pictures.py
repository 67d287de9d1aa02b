"""Small pictures for tests."""

import numpy as np
from PIL import Image


def noise(seed, height=30, width=40):
    """A picture of coloured squares, so that each place looks different."""
    values = np.random.default_rng(seed).integers(0, 256, (3, 4, 3), dtype=np.uint8)
    return Image.fromarray(values).resize((width, height), Image.Resampling.NEAREST)


def write_pictures(folder, n, first=0):
    """Write n pictures, 00.png and so on, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{number:02}.png" for number in range(first, first + n)]
    for number, path in enumerate(paths, start=first):
        noise(number).save(path)
    return paths
