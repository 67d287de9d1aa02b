"""How fast ``complabel features`` turns 100,000 texts into numbers, and in how much memory.

Texts are simulated (words by Zipf's law, lengths log-normal, about 45 words). Each way runs in a
process of its own. "HashingVectorizer" is what one would write without complabel: the table read by
pandas, all texts at once, and ``scipy.sparse.save_npz``. Figures are rows a second of processor
time, and the peak memory.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

CELLS = {"by": ("words", "wordllama", "wordllama+words", "HashingVectorizer")}
QUICK, TIMES, N_TEXTS = {"by": ("words",)}, ("rows", "megabytes"), 100_000
FEATURES = """
from complabel.cli import main
sys.argv = ["complabel", "features", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""
PLAIN = """
import numpy as np, pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer
texts = pd.read_csv(sys.argv[1])["body"]
X = HashingVectorizer(n_features=2**14, dtype=np.float32).transform(texts)
sparse.save_npz(sys.argv[2], X, compressed=False)
"""
TOOK = """
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(time.process_time(), int(peak.split()[1]) / 1024)
"""


def write_texts(path: Path, n: int) -> None:
    """Write a table of made texts."""
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlucmfwypvbgk"))
    words = np.array(["".join(rng.choice(letters, rng.integers(2, 10))) for _ in range(50_000)])
    chances = 1 / np.arange(1, len(words) + 1) ** 1.05
    drawn = words[rng.choice(len(words), size=(n, 200), p=chances / chances.sum())]
    lengths = np.clip(rng.lognormal(3.5, 0.8, n).astype(int), 1, 200)
    texts = [" ".join(row[:length]) for row, length in zip(drawn, lengths, strict=True)]
    pd.DataFrame({"item": [f"t{at}" for at in range(n)], "body": texts}).to_csv(path, index=False)


def measure(*, draw: int, data: Any, **cell: str) -> dict[str, float]:
    """Return rows a second of processor time, and peak memory."""
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder, "tickets.csv"), str(Path(folder, "X.npz"))
        write_texts(table, N_TEXTS)
        options = ["--text", "body", "--encoder", cell["by"], "--out", out, str(table)]
        code, words = FEATURES, options
        if cell["by"] == "HashingVectorizer":
            code, words = PLAIN, [str(table), out]
        command = [sys.executable, "-W", "ignore", "-c", f"import sys, time{code}{TOOK}", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, memory = map(float, done.stdout.splitlines()[-1].split())
    return {"rows": N_TEXTS / seconds, "megabytes": memory}
