"""Damaged files are read or refused; nothing else comes out of an importer."""

import io
import random

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from complabel.errors import AnnotationError, DatasetFormatError
from complabel.importers import Options, import_answers, import_file

TOKENS = [
    *(
        b"0",
        b"1",
        b"-1",
        b"0.5",
        b"nan",
        b"1e999",
        b"99999999999999999999",
        b"yes",
        b"no",
        b"machine",
    ),
    *(b"asked", b"named", b"item", b"label", b"{}", b"[]", b"null", b'"', b"'", b",", b";", b"\t"),
    *(
        b"\n",
        b"\r",
        b"\r\n",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xc3",
        b"{",
        b"[",
        b"]",
    ),
    *(b'""', b'"\n', b"\\ud800", b"\\u0000", b" ", b"\x1a", b"\x1f\x8b", b"\xe2\x80\xa8", b"|O"),
    *(b"(3,)", b"'<U9'", b"'<f8'", b"PAR1", b"PK", b"#", b"=1+1"),
]


def archive():
    out = io.BytesIO()
    key = np.array(["a", "b", "c"])
    np.savez(out, X=np.eye(3), Y_true=np.eye(3), Y_mask=np.eye(3) > 0, sample_key=key)
    return out.getvalue()


def matlab():
    out = io.BytesIO()
    labels = np.array([[1, 0, 1], [0, 1, 1]])
    savemat(out, {"data": np.eye(3), "partial_labels": labels, "target": labels})
    return out.getvalue()


def parquet():
    out = io.BytesIO()
    frame = pd.DataFrame({"item": ["a", "b"], "label": ["s", "t"], "offered": [["s", "t"], None]})
    frame.assign(question="named", answer=["no", "0"]).to_parquet(out)
    return out.getvalue()


def sheet():
    out = io.BytesIO()
    frame = pd.DataFrame({"item": ["a", 7], "label": ["s", "t"], "answer": ["y", False]})
    frame.to_excel(out, index=False)
    return out.getvalue()


FILES = {
    "open-images": (
        "v.csv",
        b"ImageID,Source,LabelName,Confidence\n00a,verification,/m/a,1\n00b,machine,/m/b,0.7\n"
        b"00b,verification,/m/b,0\n",
    ),
    "coded": ("t.csv", b'item,"sea, wide",sky\na,1,0\nb,,1.0\nc,-1,\n'),
    "table": (
        "t.csv",
        b"answer_id,item,label,answer,question,offered,asked_for,annotator,time,probability\n"
        b'1,a,sea,no,named,"[""sea"", ""sky""]",1,kim,now,\n,b,sky,,asked,,,,,0.5\n'
        b",b,sea,yes,asked,,,,,0.5\n",
    ),
    "replies": (
        "r.jsonl",
        b'{"id": "q1", "item": "a", "label": "sea", "reply": "No.", "probability": 0.5}\n'
        b'{"id": "q2", "item": 3, "offered": ["sea", "sky"], "asked_for": 2, "reply": '
        b'"{\\"named\\": [\\"sea\\"]}"}\n',
    ),
    "openmic": ("o.npz", archive()),
    "pml": ("p.mat", matlab()),
    "parquet": ("t.parquet", parquet()),
    "xlsx": ("t.xlsx", sheet()),
    "unicode text": ("t.txt", "item;label;answer\na;s;y\n;;\nb;t;n\n".encode("utf-16")),
}
TABLES = ("parquet", "xlsx", "unicode text")
OPTIONS = Options(unsure=("-1",))


def mutant(content, rng):
    """Damage a file in one to three places."""
    for _ in range(rng.randint(1, 3)):
        at, upto = sorted(rng.randrange(len(content) + 1) for _ in range(2))
        token = rng.choice((*TOKENS, bytes([rng.randrange(256)])))
        content = rng.choice(
            (
                content[:at] + token + content[at:],
                content[:at] + token + content[at + rng.randint(1, 6) :],
                content[:at],
                content[:at] + content[upto:],
                content[:upto] + content[at:],
            )
        )
    return content


@pytest.mark.parametrize("kind", FILES)
def test_the_files_that_are_damaged_are_sound(kind, tmp_path):
    name, content = FILES[kind]
    (tmp_path / name).write_bytes(content)
    table, _ = import_answers(tmp_path / name, options=OPTIONS)
    assert len(table) >= 2


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("told", [True, False], ids=["format told", "recognized"])
def test_damaged_files_are_read_or_refused_with_their_name(kind, told, tmp_path):
    name, content = FILES[kind]
    rng = random.Random(f"{kind} {told}")
    path, out = tmp_path / name, tmp_path / "out.csv"
    given = ("table" if kind in TABLES else kind) if told else None
    refusals = []
    for _ in range(150):
        path.write_bytes(mutant(content, rng))
        try:
            import_file(path, out, format=given, options=OPTIONS)
        except (DatasetFormatError, AnnotationError) as refusal:
            refusals.append(str(refusal))
            assert not out.exists()
        else:
            out.unlink()
    assert len(refusals) > 50
    assert all(str(path) in each for each in refusals)
