"""Build the package: read the original model, write it as ONNX with 8 bits, and make a wheel.

    python write.py FOLDER

FOLDER is sentence-transformers/all-MiniLM-L6-v2 as people download it; ``model.safetensors`` and
``tokenizer.json`` are read, and must be the known ones. Needs numpy, onnx, safetensors, build and
hatchling; nothing is downloaded. The same folder gives the same files, byte for byte.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
from pathlib import Path

from network import network

HERE = Path(__file__).parent
ORIGINAL = {  # SHA-256
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


def main() -> None:
    """Write the files and the wheel, and print their digests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    for name, known in ORIGINAL.items():
        found = digest(folder / name)
        if found != known:
            raise SystemExit(f"{folder / name} is another file: SHA-256 {found}, not {known}")
    made = HERE / "complabel_minilm"
    found = network(folder / "model.safetensors").SerializeToString(deterministic=True)
    (made / "model.onnx").write_bytes(found)
    (made / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    names = ("model.onnx", "tokenizer.json")
    sums = "".join(f"{digest(made / name)}  {name}\n" for name in names)
    (made / "SHA256SUMS").write_text(sums, encoding="utf-8")
    print(sums, end="")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist"]
    subprocess.run(command, cwd=HERE, check=True, stdout=subprocess.DEVNULL)
    for wheel in sorted((HERE / "dist").glob("*.whl")):
        print(f"{digest(wheel)}  {wheel.name}, {wheel.stat().st_size:,} bytes")


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
