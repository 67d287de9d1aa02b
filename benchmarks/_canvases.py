"""Pictures of which the labels are known: handwriting, coloured shapes, collages of photographs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageEnhance

from complabel.datasets import make_digits

PHOTOGRAPHS = (
    *("astronaut.png", "chelsea.png", "coffee.png", "hubble_deep_field.jpg", "ihc.png"),
    *("motorcycle_left.png", "retina.jpg", "rocket.jpg", "china.jpg", "flower.jpg"),
)
SHADES = ((200, 40, 40), (40, 160, 60), (50, 70, 200), (220, 200, 50))
SHAPES = ("red", "green", "blue", "yellow", "circle", "square", "triangle", "dark")
Drawn = tuple[list[Path], np.ndarray, np.ndarray]  # paths, labels (n, K), and which are for tests


def write_digits(folder: Path, n: int) -> Drawn:
    """Write canvases of digits as PNG."""
    data = make_digits(n)
    paths = [folder / f"{at:05}.png" for at in range(n)]
    for path, row in zip(paths, data.X, strict=True):
        Image.fromarray((row.reshape(16, 16) * 255).astype(np.uint8)).save(path)
    return paths, data.Y, data.groups >= 8


def write_shapes(folder: Path, n: int) -> Drawn:
    """Write canvases of coloured shapes as PNG."""
    rng = np.random.default_rng(0)
    Y = np.zeros((n, len(SHAPES)), dtype=np.uint8)
    paths = [folder / f"{at:05}.png" for at in range(n)]
    for at, path in enumerate(paths):
        Y[at, -1] = rng.random() < 0.4
        level = rng.integers(10, 90) if Y[at, -1] else rng.integers(150, 245)
        tint = (level + rng.integers(-10, 11, 3)).clip(0, 255).tolist()
        canvas = Image.new("RGB", (128, 128), tuple(tint))
        draw = ImageDraw.Draw(canvas)
        for _ in range(rng.integers(1, 4)):
            colour, shape = rng.integers(4), rng.integers(3)
            Y[at, [colour, 4 + shape]] = 1
            shade = np.array(SHADES[colour]) * rng.uniform(0.6, 1.2) + rng.normal(0, 12, 3)
            fill = tuple(shade.astype(int).clip(0, 255).tolist())
            r = int(rng.integers(10, 26))
            x, y = rng.integers(r, 128 - r, 2).tolist()
            corners = [(x, y - r), (x - r, y + r), (x + r, y + r)]
            if shape == 2:
                draw.polygon(corners, fill=fill)
            else:
                box = (x - r, y - r, x + r, y + r)
                (draw.ellipse if shape == 0 else draw.rectangle)(box, fill=fill)
        grains = np.asarray(canvas) + rng.normal(0, 8, (128, 128, 1))
        Image.fromarray(grains.clip(0, 255).astype(np.uint8)).save(path)
    return paths, Y, np.arange(n) % 3 == 0


def write_collages(folder: Path, photographs: list[Path], n: int) -> Drawn:
    """Write 2 x 2 collages of random crops of one to three photographs."""
    rng = np.random.default_rng(0)
    images, halves = [Image.open(path).convert("RGB") for path in photographs], []
    for image in images:
        middle, (width, height) = image.width // 2, image.size
        halves.append([image.crop((0, 0, middle, height)), image.crop((middle, 0, width, height))])
    Y = np.zeros((n, len(photographs)), dtype=np.uint8)
    test = np.arange(n) % 3 == 0
    paths = [folder / f"{at:05}.jpg" for at in range(n)]
    for at, path in enumerate(paths):
        shown = rng.permutation(len(photographs))[: rng.integers(1, 4)]
        Y[at, shown] = 1
        canvas = Image.new("RGB", (224, 224))
        for cell, place in enumerate(rng.permutation(4)):
            half = halves[shown[cell % len(shown)]][int(test[at])]
            side = int(min(half.size) * rng.uniform(0.35, 0.8))
            left, top = (int(rng.integers(0, each - side + 1)) for each in half.size)
            crop = half.crop((left, top, left + side, top + side)).resize((112, 112))
            crop = crop.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if rng.random() < 0.5 else crop
            crop = ImageEnhance.Brightness(crop).enhance(rng.uniform(0.6, 1.4))
            canvas.paste(crop, (112 * (place % 2), 112 * (place // 2)))
        canvas.save(path)
    return paths, Y, test
