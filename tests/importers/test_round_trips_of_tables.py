"""What is known of random pairs, written as each public dataset would, and read again."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from complabel.answers import Answers
from complabel.files import AnswerWriter
from complabel.importers import Options, import_answers

LABELS = ["sea", "a sky, blue", 'the "city"', "天空"]
ITEMS = [f"{number:03}.jpg" for number in range(12)]


def pairs(known):
    """Item, label and whether it applies, of all that is known."""
    rows, columns = np.nonzero(known >= 0)
    return [(ITEMS[i], LABELS[k], bool(known[i, k])) for i, k in zip(rows, columns, strict=True)]


def coded(known, folder):
    frame = pd.DataFrame(known, columns=LABELS).astype("Int64").mask(known < 0)
    frame.insert(0, "item", ITEMS)
    frame.to_csv(folder / "a.csv", index=False)
    return folder / "a.csv", {}


def open_images(known, folder):
    rows = [(item, "verification", label, int(yes)) for item, label, yes in pairs(known)]
    columns = ["ImageID", "Source", "LabelName", "Confidence"]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "a.csv", index=False)
    return folder / "a.csv", {}


def lvis(known, folder):
    document = {
        "categories": [{"id": 10 + k, "name": name} for k, name in enumerate(LABELS)],
        "images": [
            {
                "id": i,
                "file_name": item,
                "neg_category_ids": (10 + np.flatnonzero(known[i] == 0)).tolist(),
                "not_exhaustive_category_ids": [],
            }
            for i, item in enumerate(ITEMS)
        ],
        "annotations": [
            {"id": number, "image_id": int(i), "category_id": int(10 + k)}
            for number, (i, k) in enumerate(zip(*np.nonzero(known == 1), strict=True))
        ],
    }
    (folder / "a.json").write_text(json.dumps(document), encoding="utf-8")
    return folder / "a.json", {"item": "file_name"}


def openmic(known, folder):
    truth = np.where(known == 1, 0.9, 0.1)
    np.savez(folder / "a.npz", Y_true=truth, Y_mask=known >= 0, sample_key=np.array(ITEMS))
    (folder / "names.json").write_text(json.dumps({name: k for k, name in enumerate(LABELS)}))
    return folder / "a.npz", {"class_names": folder / "names.json"}


def as_table(ending):
    def written(known, folder):
        path = folder / f"a{ending}"
        item, label, yes = zip(*pairs(known), strict=True)
        answer = ["yes" if each else "no" for each in yes]
        with AnswerWriter(path) as writer:
            writer.write(
                {"item": item, "label": label, "answer": answer, "question": ["asked"] * len(item)}
            )
        return path, {}

    return written


def replies(known, folder):
    lines = [
        {"id": str(n), "item": item, "label": label, "reply": "Yes." if yes else "no"}
        for n, (item, label, yes) in enumerate(pairs(known))
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "a.jsonl").write_text(text, encoding="utf-8")
    return folder / "a.jsonl", {}


WRITERS = {
    "coded": coded,
    "open-images": open_images,
    "lvis": lvis,
    "openmic": openmic,
    "table, csv": as_table(".csv"),
    "table, csv.gz": as_table(".csv.gz"),
    "table, parquet": as_table(".parquet"),
    "replies": replies,
}


@pytest.mark.parametrize("format_", WRITERS)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_known_comes_back(format_, seed, tmp_path):
    known = np.random.default_rng(seed).integers(-1, 2, size=(len(ITEMS), len(LABELS)))
    path, options = WRITERS[format_](known, tmp_path)
    table, _ = import_answers(path, options=Options(**options))
    found = Answers.from_table(table, items=ITEMS, label_names=LABELS)
    np.testing.assert_array_equal(found.complementary, known == 0)
    np.testing.assert_array_equal(found.known_relevant, known == 1)


@pytest.mark.parametrize("seed", range(3))
def test_candidate_labels_of_a_mat_file_come_back(seed, tmp_path):
    rng = np.random.default_rng(seed)
    candidates = rng.integers(2, size=(4, 12))
    candidates[0, candidates.all(axis=0)] = 0  # each item has something that was ruled out
    data = {"data": rng.normal(size=(12, 2)), "partial_labels": candidates, "target": candidates}
    savemat(tmp_path / "a.mat", data)
    table, _ = import_answers(tmp_path / "a.mat")
    names = sorted(set(table["label"]))
    found = Answers.from_table(table, items=[str(i) for i in range(12)], label_names=names)
    np.testing.assert_array_equal(found.excluded.toarray(), 1 - candidates.T)
