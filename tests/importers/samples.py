"""One small sound file of each form that importers read, as JSON values or text."""

import csv
import io
import json
from pathlib import Path

import pandas as pd

MENU = [{"value": "sea"}, {"value": "Sky", "alias": "sky"}, {"value": "city"}]


def choices(control, *labels, kind="choices"):
    """A result of a control, as Label Studio writes it."""
    return {
        "id": "Dx_aB91ISN",
        "from_name": control,
        "to_name": "image",
        "type": kind,
        "origin": "manual",
        "value": {kind: list(labels)},
    }


def annotation(number, *results, **more):
    return {
        "id": number,
        "completed_by": 7,
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2026-03-09T22:16:08.728353Z",
        "lead_time": 4.288,
        "result": list(results),
        **more,
    }


def task(number, data, *annotations):
    return {
        "id": number,
        "annotations": list(annotations),
        "drafts": [],
        "predictions": [],
        "data": data,
        "project": 83,
    }


def record(number, data, form, **more):
    """An annotation in a flat export: one choice is bare text, several are an object."""
    return {
        **data,
        "id": number,
        **{at: got[0] if len(got) == 1 else {"choices": got} for at, got in form.items() if got},
        "annotator": 7,
        "annotation_id": 1000 + number,
        "created_at": "2026-03-09T22:16:08.728353Z",
        "updated_at": "2026-03-09T22:16:08.728378Z",
        "lead_time": 4.288,
        **more,
    }


LABEL_STUDIO = [
    task(
        1,
        {"image": "/a.jpg", "item": "a"},
        annotation(10, choices("not_this", "sea", "city"), choices("this", "sky")),
        annotation(11, choices("not_this", "sea"), completed_by={"id": 8, "email": "b@c.org"}),
    ),
    task(
        2,
        {"image": "/b.jpg", "item": "b"},
        annotation(12, choices("this", "city"), ground_truth=True),
        annotation(13, choices("not_this", "sky"), was_cancelled=True),
        annotation(14),
    ),
    task(3, {"image": "/c.jpg", "item": "c"}),
]
MENUS = [
    task(
        1, {"image": "/a.jpg", "id": 5, "options": MENU}, annotation(10, choices("not_this", "sky"))
    ),
    task(
        2,
        {"image": "/b.jpg", "id": 6, "options": [{"value": "forest"}]},
        annotation(11, choices("not_this", "forest")),
    ),
]
TREES = [
    task(
        1,
        {"text": "x"},
        annotation(10, choices("not_this", ["animal", "cat"], ["plant"], kind="taxonomy")),
    )
]
A = {"image": "/a.jpg", "item": "a"}
NO_TIME = dict.fromkeys(("created_at", "updated_at"))
JSON_MIN = [
    record(1, A, {"not_this": ["sea", "city"], "this": ["sky"]}, annotation_id=10),
    record(
        1, A, {"not_this": ["sea"]}, annotator="b@c.org", annotation_id=11, lead_time=2.5, **NO_TIME
    ),
    {"id": 3, "image": "/c.jpg", "item": "c", "annotator": None, "annotation_id": None},
]


ASKED_DATA = {"item": "a", "label": "sea", "question": "asked", "probability": 0.25}
ASKED = [
    task(1, ASKED_DATA, annotation(10, choices("answer", "yes"))),
    task(2, {**ASKED_DATA, "item": "b"}, annotation(11, choices("answer", "unsure"))),
]
ASKED_MIN = [
    record(number, ASKED_DATA | {"item": f"{number}"}, {"answer": [said]}, created_at=None)
    for number, said in enumerate(("yes", "No"))
]


def delimited(delimiter, records=tuple(JSON_MIN), quoting=csv.QUOTE_NONNUMERIC):
    """The CSV or TSV of the same annotations."""
    columns = sorted({name for record in records for name in record})
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, delimiter=delimiter, quoting=quoting, lineterminator="\n")
    writer.writeheader()
    for record in records:
        writer.writerow(
            {
                name: json.dumps(value) if isinstance(value, dict | list) else value
                for name, value in record.items()
            }
        )
    return out.getvalue()


HASHES = {"_input_hash": -12, "_task_hash": 34, "_view_id": "choice"}
PRODIGY = [
    {"text": "x", "label": "sea", **HASHES, "answer": "accept", "_annotator_id": "set-anna"},
    {"text": "x", "label": "sky", **HASHES, "answer": "reject", "_session_id": "set-bob"},
    {"text": "x", "label": "sky", **HASHES, "answer": "ignore", "_timestamp": 1757000000},
]
OPTIONS = [{"id": "sea", "text": "The sea"}, {"id": "sky", "text": "The sky"}, {"id": "city"}]


def choice(answer, accept, style="multiple", **more):
    return {
        "text": "x",
        "options": OPTIONS,
        **HASHES,
        "accept": accept,
        "config": {"choice_style": style},
        "answer": answer,
        **more,
    }


PRODIGY_CHOICE = [
    choice("accept", ["sea"]),
    choice("reject", ["sky", "city"]),
    choice("accept", ["city"], "single"),
    choice("accept", []),
    choice("ignore", ["sea"]),
]
ARGILLA = [
    {
        "id": "r1",
        "_server_id": "3f2a",
        "text": "x",
        "not_applicable.responses": [["sea", "city"], ["sky"], ["sea"]],
        "not_applicable.responses.users": ["u1", "u2", "u3"],
        "not_applicable.responses.status": ["submitted", "draft", "discarded"],
        "applicable.responses": [["sky"]],
        "applicable.responses.users": ["u1"],
        "applicable.responses.status": ["submitted"],
        "applicable.suggestion": ["sea"],
    },
    {
        "id": "r2",
        "_server_id": "3f2b",
        "text": "y",
        "not_applicable.responses": None,
        "not_applicable.responses.users": None,
        "not_applicable.responses.status": None,
        "applicable.responses": ["city"],
        "applicable.responses.users": ["u2"],
        "applicable.responses.status": ["submitted"],
        "applicable.suggestion": None,
    },
]
LVIS = {
    "info": {"version": "1.0"},
    "categories": [
        {"id": 3, "name": "acorn", "synset": "acorn.n.01", "frequency": "r"},
        {"id": 1, "name": "bed", "synset": "bed.n.01", "frequency": "f"},
        {"id": 2, "name": "cat", "synset": "cat.n.01", "frequency": "f"},
    ],
    "annotations": [
        {"id": 1, "image_id": 50, "category_id": 2, "bbox": [1, 2, 3, 4]},
        {"id": 2, "image_id": 50, "category_id": 2, "bbox": [5, 2, 3, 4]},
    ],
    "images": [
        {
            "id": number,
            "file_name": f"{number}.jpg",
            "neg_category_ids": absent,
            "not_exhaustive_category_ids": partial,
        }
        for number, absent, partial in ((50, [1, 3], [2]), (60, [], []), (70, [2], []))
    ],
}


def event(number, what, issue, label, day):
    """An event of an issue, as GitHub lists it."""
    told = {"id": number, "event": what, "created_at": f"2026-03-{day:02}T10:00:00Z"}
    told |= {"actor": {"login": "ann"}, "issue": {"number": issue, "title": "It fails"}}
    return told | ({"label": {"name": label, "color": "d73a4a"}} if label else {})


EVENTS = [  # the latest first
    event(16, "labeled", 8, "docs", 5),
    event(15, "unlabeled", 7, "docs", 4),
    event(14, "closed", 7, None, 4),
    event(13, "labeled", 7, "bug", 3),
    event(12, "unlabeled", 7, "bug", 3),
    event(11, "labeled", 7, "docs", 2),
]
# Written by doccano 1.8.4's own formatters and writers, and by the serializers of 1.2.0.
DOCCANO = [
    {"id": 1, "text": "Noon.", "by": "x", "label": ["sea", "sky"], "Comments": []},
    {"id": 2, "text": 'A "note".', "by": "y", "label": [], "Comments": ["Look again"]},
    {"id": 3, "text": "Fog.", "by": "z", "label": ["sky"], "Comments": []},
]
DOCCANO_CSV = """id,text,by,label,Comments
1,Noon.,x,sea#sky,
2,"A ""note"".",y,,Look again
3,Fog.,z,sky,
"""
_TIMES = dict.fromkeys(("created_at", "updated_at"), "2021-02-01T10:00:00Z")
DOCCANO_BEFORE = [
    {
        "id": number,
        "text": "Noon.",
        "meta": {},
        "annotation_approver": None,
        "comments": [],
        "annotations": [{"label": code, "user": user, **_TIMES} for code, user in given],
    }
    for number, given in ((1, [(4, 1), (9, 1), (9, 2)]), (2, []), (3, [(9, 2)]))
]
# Written by Inspect AI 0.3.285, promptfoo 0.121.20, DeepEval 4.3.1, Langfuse's 5.0.4 and MLflow's
# 3.17.2 own classes, without a model; texts and other long fields are cut.
JUDGED = json.loads(Path(__file__).with_name("judges.json").read_text(encoding="utf-8"))
TABLE_OF_MLFLOW = {
    "columns": ["trace_id", "inputs", "safety/value", "safety/error_message", "tone/v1/score"],
    "data": [["t1", "q", "yes", None, 4], ["t2", "q", None, "boom", 2], ["t3", "q", "no", None, 5]],
}
OF_INSPECT = {"met_from": {"": 0.5}, "unsure": ("P",)}
OF_LANGFUSE = {"met_from": {"": 0.5}, "yes": ("warm",), "no": ("cold",), "only": ("EVAL",)}
BOTH = {"absent": ("not_this",), "present": ("this",)}
SAMPLES = {
    # what it is: format, name of the file, content, options that it needs
    "github-events": ("github-events", "e.json", EVENTS, {"question": "tagged"}),
    "doccano": ("doccano", "all.jsonl", DOCCANO, {"present": ("label",)}),
    "doccano, csv": ("doccano", "all.csv", DOCCANO_CSV, {"present": ("label",)}),
    "label studio": ("label-studio", "a.json", LABEL_STUDIO, BOTH),
    "label studio, one task": ("label-studio", "a.json", LABEL_STUDIO[0], BOTH),
    "label studio, menus": ("label-studio", "a.json", MENUS, {}),
    "label studio, taxonomy": ("label-studio", "a.json", TREES, {"absent": ("not_this",)}),
    "label studio, json-min": ("label-studio", "a.json", JSON_MIN, BOTH),
    "label studio, csv": ("label-studio", "a.csv", delimited(","), BOTH),
    "label studio, tsv": ("label-studio", "a.tsv", delimited("\t"), BOTH),
    "label studio, asked": ("label-studio", "a.json", ASKED, {}),
    "label studio, asked, json-min": ("label-studio", "a.json", ASKED_MIN, {}),
    "prodigy, binary": ("prodigy", "a.jsonl", PRODIGY, {}),
    "prodigy, choice": ("prodigy", "a.jsonl", PRODIGY_CHOICE, {"unselected": "unknown"}),
    "argilla": (
        "argilla",
        "a.json",
        ARGILLA,
        {"absent": ("not_applicable",), "present": ("applicable",)},
    ),
    "argilla, lines": ("argilla", "a.jsonl", ARGILLA, {"absent": ("not_applicable",)}),
    "lvis": ("lvis", "a.json", LVIS, {}),
    "inspect-ai": ("inspect-ai", "a.json", JUDGED["inspect-ai"], OF_INSPECT),
    "promptfoo": ("promptfoo", "a.json", JUDGED["promptfoo"], {"only": ("Say: {{q}}",)}),
    "promptfoo, lines": (
        *("promptfoo", "a.jsonl", JUDGED["promptfoo"]["results"]["results"]),
        {"only": ("Tell: {{q}}",), "item": "q"},
    ),
    "deepeval": ("deepeval", "a.json", JUDGED["deepeval"], {"column": {"confidence": "score"}}),
    "langfuse": ("langfuse", "a.json", JUDGED["langfuse"], OF_LANGFUSE),
    "langfuse, csv": ("langfuse", "a.csv", delimited(",", JUDGED["langfuse"]["data"]), OF_LANGFUSE),
    "mlflow": ("mlflow", "a.json", JUDGED["mlflow"], {"only": ("LLM_JUDGE",)}),
    "mlflow, table": ("mlflow", "a.json", TABLE_OF_MLFLOW, {"met_from": {"tone/v1": 3}}),
    "mlflow, csv": (
        *("mlflow", "a.csv"),
        delimited(
            ",",
            [
                dict(zip(TABLE_OF_MLFLOW["columns"], x, strict=True))
                for x in TABLE_OF_MLFLOW["data"]
            ],
        ),
        {"met_from": {"tone/v1": 3}},
    ),
}


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
        b'{"id": "q2", "item": 3, "question": "named", "offered": ["sea", "sky"], "reply": '
        b'"{\\"named\\": [\\"sea\\"]}"}\n',
    ),
    "parquet": ("t.parquet", parquet()),
    "xlsx": ("t.xlsx", sheet()),
    "unicode text": ("t.txt", "item;label;answer\na;s;y\n;;\nb;t;n\n".encode("utf-16")),
}
TABLES = ("parquet", "xlsx", "unicode text")
