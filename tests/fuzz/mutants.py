"""Small sound dataset files of every format, and the ways to damage them."""

from __future__ import annotations

import bz2
import copy
import gzip
import io
import random
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from complabel.datasets import MultiLabelDataset
from complabel.experiments.datasets import load_file

DENSE = """@relation 'toy: -C 2'
% a comment
@attribute sea {0,1}
@attribute 'a sky' {0,1}
@attribute x numeric
@attribute "y 2" real
@data
1,0,2.5,-3
0,1,1e-3,'4'

0,0,-.5,7 % no comment
1,1,0,1E2
""".replace(" % no comment", "")
SPARSE = """@relation 'toy: -C -3'
@attribute x numeric
@attribute y integer
@attribute a {0,1}
@attribute b {FALSE,TRUE}
@attribute c {'0','1'}
@data
{0 2.5, 2 1, 3 TRUE}
{1 -3,4 '1'}
{}
{0 1e-3,1 4,2 1,3 FALSE}
"""
MULAN = SPARSE.replace(": -C -3", "")
XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="a"><label name="b"/></label>
<label name="c"></label>
</labels>
"""
OWN = {
    "X": np.array([[0.5, 0], [0, -1], [2, 3], [4, 0]]),
    "Y": np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 0]], dtype=np.uint8),
    "label_names": np.array(["sea", "sky", "sun"]),
    "groups": np.array([1, 1, 2, 2]),
}
OWN_SPARSE = {
    "X_data": np.array([0.5, -1, 2, 3, 4]),
    "X_indices": np.array([0, 1, 0, 1, 0], dtype=np.int32),
    "X_indptr": np.array([0, 1, 2, 4, 5], dtype=np.int32),
    "X_shape": np.array([4, 2]),
    **{name: OWN[name] for name in ("Y", "label_names")},
}
SVMLIGHT = "0,2 1:0.5 3:2\n1 2:-1e-1 # sea\n\n 4:1\n2,0 qid:3 1:1\n7 1:3 2:4 3:5 4:6\n"
WORDS = r"""
0 1 -1 2 1.0 .5 -0 1e400 -1e400 1e-400 1e20 nan inf -inf infinity 1_0 0_1 0x10 1d5 1e5 99999999999
300000000 2147483647 2147483648 4294967296 9223372036854775807 9223372036854775808
1' '1' ' " "" '' ? 1'5 "1 {0 {} } {{ , ,, : :: 1: :1 1:1 0:0 5:x 1,1 1:1_0 # % \ TRUE FALSE true
@data @DATA @end @relation @attribute {0,1} {1,0} {FALSE,TRUE} {TRUE,FALSE} {0} {} {a,b} numeric
string date relational -C -2 99 <label <label/> name="a"/> </labels> </label> <!DOCTYPE <!ENTITY
&lt; &a; &#0; <![CDATA[ ]]> <!-- --> name= xmlns="" qid:1 qid: PK encoding="gb18030"
encoding="utf-16" encoding="shift_jis" encoding="klingon" encoding="idna" encoding="utf-7"
descr fortran_order shape (4,2) (4,-2) (99999999999,2) (4,2,1) (True,) '<f8' '>i4' '|O' '<U3' '<U0'
'<M8[s]' '|b1' '<f2' '<c16' False
encoding="punycode" encoding="unicode_escape" encoding="cp037" encoding="rot13" encoding=""
"""
TOKENS = WORDS.split()
SIGNS = ["\u0661\u0662", "\ufeff", "\u2028", "\x85", "\xa0", "\u3000", "\x1c", "\x0b", "\x0c"]
ODD = [sign.encode() for sign in SIGNS]
ODD += [b"\x00", b"\r", b"\n", b"\r\n", b"\t", b" ", b"\xff", b"\xff\xfe", b"\xc3", b"\x1a"]
ODD += [b"\x1f\x8b"]
WORD = re.compile(rb"[^\s,:{}<>=\"']+")

Files = dict[str, bytes]
Reader = Callable[[Path], MultiLabelDataset]


@dataclass(frozen=True)
class Kind:
    """A format: its files before they are packed, how they are packed, and what reads them."""

    files: Files
    read: Reader
    pack: Callable[[bytes], bytes] = bytes
    packed: str | None = None


def zipped(method: int) -> Callable[[bytes], bytes]:
    """Make a packer that gives the same archive every time."""

    def pack(content: bytes) -> bytes:
        whole = io.BytesIO()
        with zipfile.ZipFile(whole, "w", method) as archive:
            info = zipfile.ZipInfo("d/toy.arff")
            info.compress_type = method
            archive.writestr(info, content)
            archive.writestr(zipfile.ZipInfo("__MACOSX/._toy.arff"), b"\0")
        return whole.getvalue()

    return pack


def npy(array: np.ndarray) -> bytes:
    """Write an array as a member of a NumPy archive."""
    content = io.BytesIO()
    np.lib.format.write_array(content, array, allow_pickle=False)
    return content.getvalue()


def archived(member: str, others: dict[str, np.ndarray]) -> Callable[[bytes], bytes]:
    """Make a packer that puts one member, damaged or not, beside sound ones."""

    def pack(content: bytes) -> bytes:
        whole = io.BytesIO()
        with zipfile.ZipFile(whole, "w") as archive:
            for name, array in others.items():
                archive.writestr(
                    zipfile.ZipInfo(f"{name}.npy"), content if name == member else npy(array)
                )
        return whole.getvalue()

    return pack


def own(folder: Path) -> MultiLabelDataset:
    """Read the file of a folder, or toy.arff where there are two."""
    return load_file(min(folder.iterdir()))


def gz(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def make_kinds() -> list[Kind]:
    """Make small sound files of every format but MATLAB's, which SciPy reads."""
    dense = DENSE.encode()
    kinds = [
        Kind({"toy.arff": dense}, own),
        Kind({"toy.arff": SPARSE.encode()}, own),
        Kind({"toy.arff": DENSE.replace("\n", "\r\n").encode("utf-8-sig")}, own),
        Kind({"toy.arff": MULAN.encode(), "toy.xml": XML.encode()}, own),
        Kind({"toy.svm": SVMLIGHT.encode()}, own),
        Kind({"toy.svm.gz": SVMLIGHT.encode()}, own, gz, "toy.svm.gz"),
        Kind({"toy.svm.bz2": SVMLIGHT.encode()}, own, bz2.compress, "toy.svm.bz2"),
    ]
    methods = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    kinds += [Kind({"toy.zip": dense}, own, zipped(way), "toy.zip") for way in methods]
    return kinds + [
        Kind({"toy.npz": npy(array)}, own, archived(member, arrays), "toy.npz")
        for arrays in (OWN, OWN_SPARSE)
        for member, array in arrays.items()
    ]


KINDS = make_kinds()
CONTENTS = [content for kind in KINDS for content in kind.files.values()]


def make_mutant(seed: int, index: int) -> tuple[Kind, Files]:
    """Make the files of one mutant; the same for the same seed and index."""
    rng = random.Random(f"{seed}:{index}")
    kind = rng.choice(KINDS)
    files = dict(kind.files)
    inside = kind.packed is None or rng.random() < 0.5
    victim = rng.choice(sorted(files))
    if inside:
        files[victim] = mutate(rng, files[victim])
    if kind.packed is not None:
        files[victim] = kind.pack(files[victim])
        if not inside:
            files[victim] = mutate(rng, files[victim])
    return kind, files


def mutate(rng: random.Random, content: bytes) -> bytes:
    """Damage a file in one to four ways."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        content = rng.choice(WAYS)(rng, content)
    return content


def place(rng: random.Random, content: bytes) -> int:
    return rng.randint(0, len(content))


def stretch(rng: random.Random, content: bytes) -> tuple[int, int]:
    start = place(rng, content)
    return start, min(len(content), start + rng.choice((1, 1, 2, 4, 8, 32, 128)))


def flip(rng: random.Random, content: bytes) -> bytes:
    if not content:
        return content
    at = rng.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :]


def insert(rng: random.Random, content: bytes) -> bytes:
    at, new = place(rng, content), rng.randbytes(rng.choice((1, 1, 2, 4)))
    return content[:at] + new + content[at:]


def delete(rng: random.Random, content: bytes) -> bytes:
    start, stop = stretch(rng, content)
    return content[:start] + content[stop:]


def duplicate(rng: random.Random, content: bytes) -> bytes:
    start, stop = stretch(rng, content)
    return content[:stop] + content[start:stop] * rng.choice((1, 1, 3, 50)) + content[stop:]


def truncate(rng: random.Random, content: bytes) -> bytes:
    at = place(rng, content)
    return content[:at] if rng.random() < 0.8 else content[at:]


def odd(rng: random.Random, content: bytes) -> bytes:
    at = place(rng, content)
    return content[:at] + rng.choice(ODD) + content[at:]


def token(rng: random.Random, content: bytes) -> bytes:
    """Put a token in the place of another, or between two."""
    found = list(WORD.finditer(content))
    new = rng.choice(TOKENS).encode()
    if not found:
        return content + new
    word = rng.choice(found)
    stop = word.end() if rng.random() < 0.7 else word.start()
    return content[: word.start()] + new + rng.choice((b"", b"", b" ")) + content[stop:]


def swap(rng: random.Random, content: bytes) -> bytes:
    found = list(WORD.finditer(content))
    if len(found) < 2:
        return content
    a, b = sorted(rng.sample(found, 2), key=lambda word: word.start())
    parts = content[: a.start()], b[0], content[a.end() : b.start()], a[0], content[b.end() :]
    return b"".join(parts)


def digits(rng: random.Random, content: bytes) -> bytes:
    """Lengthen a number."""
    found = list(re.finditer(rb"\d", content))
    at = rng.choice(found).end() if found else place(rng, content)
    length = rng.choice((1, 2, 3, 9, 10, 19, 20, 310, 4301, 6000))
    return content[:at] + rng.choice((b"9", b"0", b"1")) * length + content[at:]


def lines(rng: random.Random, content: bytes) -> bytes:
    """Swap, repeat, drop or borrow a line."""
    own = content.split(b"\n")
    a, b = rng.randrange(len(own)), rng.randrange(len(own))
    way = rng.randrange(4)
    if way == 0:
        own[a], own[b] = own[b], own[a]
    elif way == 1:
        own.insert(a, own[b])
    elif way == 2:
        del own[a]
    else:
        own.insert(a, rng.choice(rng.choice(CONTENTS).split(b"\n")))
    return b"\n".join(own)


def splice(rng: random.Random, content: bytes) -> bytes:
    """Join the front of one file to the back of another."""
    other = rng.choice(CONTENTS)
    return content[: place(rng, content)] + other[place(rng, other) :]


WAYS = (flip, insert, delete, duplicate, truncate, odd, token, token, swap, digits, lines, splice)


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Return all places in lists and objects, each as what holds it and its key there."""
    found, waiting = [], [tree]
    while waiting:
        holder = waiting.pop()
        if isinstance(holder, dict | list):
            keys = list(holder) if isinstance(holder, dict) else range(len(holder))
            found += [(holder, key) for key in keys]
            waiting += [holder[key] for key in keys]
    return found


def change(rng: random.Random, tree: Any, odd: Sequence[Any], lender: Any = None) -> Any:
    """Replace, drop, repeat, move or wrap a value; it may come from another tree, the lender."""
    found = places(tree)
    if not found:
        return copy.deepcopy(rng.choice(odd))
    holder, key = rng.choice(found)
    way = rng.randrange(7)
    if way <= 1:
        holder[key] = copy.deepcopy(rng.choice(odd))
    elif way == 2:
        del holder[key]
    elif way <= 4:
        other, place = rng.choice(found if way == 3 or lender is None else places(lender))
        holder[key] = copy.deepcopy(other[place])
    elif way == 5:
        for _ in range(rng.choice((1, 1, 1, 2, 50, 200))):
            holder[key] = [holder[key]] if rng.random() < 0.5 else {"value": holder[key]}
    elif isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    else:
        names = [name for each, name in found if isinstance(each, dict)]
        holder[rng.choice([*names, "extra"])] = (
            holder[key] if rng.random() < 0.5 else holder.pop(key)
        )
    return tree
