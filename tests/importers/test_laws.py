"""Laws over all formats: what a file says is read, named, counted or refused; advice is right."""

import ast
import csv
import io
import json
import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.importers.reading import FORMAT, conserved, write
from tests.importers.samples import FILES, SAMPLES, TABLES

import complabel
from complabel.answers import Answers
from complabel.errors import ComplabelError, DatasetFormatError, InputError
from complabel.importers import FORMATS, Options, import_answers
from complabel.importers._judges import JUDGES

CODES = {"yes": ("1",), "no": ("0",), "unsure": ("-1",)}
WIDE = "item,anna,ben\na,sea,sky\nb,sky,\n"
BATCH = "item,annotator,tags\na,w1,sea\nb,w2,sky\n"
PICTURES = {"sea/1.jpg": "one", "sky/1.jpg": "another", "sky/2.png": "one", "sky/a.txt": "note"}
KNOWN = {  # what it is: format, name of the file, content, options that it needs
    **SAMPLES,
    **{
        name: ("table" if name in TABLES else name, *FILES[name], CODES if name == "coded" else {})
        for name in FILES
    },
    "folders": ("folders", "photos/", PICTURES, {"question": "tagged"}),
    "columns": ("columns", "w.csv", WIDE, {"present": ("anna", "ben")}),
    "batch": ("batch", "b.csv", BATCH, {"present": ("tags",)}),
}
GIVEN = {
    "absent": ("x",),
    "present": ("x",),
    "item": "x",
    "item_file": "x",
    "yes": ("x",),
    "no": ("x",),
    "unsure": ("x",),
    "unselected": "no",
    "none": ("x",),
    "question": "asked",
    "answer": "yes",
    "separator": ";",
    "random_questions": True,
    "merge": {"x": "y"},
    "column": {"annotator": "x"},
    "drop": ("x",),
    "met_from": {"x": 0.5},
    "only": ("x",),
    "class_names": Path("x"),
    "prompts": Path("x"),
    "more": (Path("x"),),
}


def test_all_options_are_tried():
    assert {*GIVEN, "label_names"} == {*vars(Options())}
    assert {each[0] for each in KNOWN.values()} == {each.name for each in FORMATS} - {"results"}


@pytest.mark.parametrize("option", GIVEN)
@pytest.mark.parametrize("sample", KNOWN)
def test_an_option_that_a_format_does_not_use_is_refused(tmp_path, sample, option):
    own, name, content, options = KNOWN[sample]
    uses = FORMAT[own].uses.split()
    if option in uses or (option == "item_file" and "item" in uses):
        return
    path = write(tmp_path, name, content)
    with pytest.raises(InputError) as refusal:
        import_answers(path, format=own, options=Options(**options | {option: GIVEN[option]}))
    assert refusal.value.parameter == option


def with_column(content, name, values):
    """A CSV text with one more column, a value for each row."""
    rows = list(csv.reader(io.StringIO(content)))
    more = [name, *(str(values[at % len(values)]) for at in range(len(rows) - 1))]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([*r, m] for r, m in zip(rows, more, strict=True))
    return out.getvalue()


CSV = [name for name, each in KNOWN.items() if each[1].endswith(".csv")]
MATTERS = ("Worker ID", "rater", "score", "label_value", "status", "gold")


@pytest.mark.parametrize("sample", CSV)
@pytest.mark.parametrize("column", [*MATTERS, "remark"])
def test_a_column_that_is_not_read_is_named_and_one_that_matters_is_refused(
    tmp_path, sample, column
):
    own, name, content, options = KNOWN[sample]
    content = content.decode() if isinstance(content, bytes) else content
    if own == "label-studio":
        pytest.skip("the columns of its tables are what people saw")
    before, _ = import_answers(
        write(tmp_path, name, content), format=own, options=Options(**options)
    )
    path = write(tmp_path, name, with_column(content, column, ["xy", "zw"]))
    if column == "remark":
        after, tally = import_answers(path, format=own, options=Options(**options))
        assert any("'remark'" in each for each in tally.remarks)
    else:
        with pytest.raises(DatasetFormatError) as refusal:
            import_answers(path, format=own, options=Options(**options))
        assert repr(column) in str(refusal.value)
        assert {"drop": (column,)} in refusal.value.proposes
        after, _ = import_answers(path, format=own, options=Options(**options, drop=(column,)))
    pd.testing.assert_frame_equal(before, after)


LABEL = st.sampled_from(["sea", "sky", "fog", "K\u00e4fer", " sea "])
ITEM = st.sampled_from(["a", "b", "c.jpg"])


def batch_text(rows):
    return "item,annotator,tags\n" + "".join(f"{i},w{n},{'|'.join(t)}\n" for n, (i, t) in rows)


@st.composite
def generated(draw):
    """A file of a format with its options: rows, blanks and everything that is left out."""
    own = draw(
        st.sampled_from(["table", "coded", "columns", "batch", "label-studio", "open-images"])
    )
    n = draw(st.integers(1, 6))
    items = [f"i{at}" for at in range(n)]
    cell = st.sampled_from(["1", "0", "", "-1", "NA", "1.0"])
    labels = st.lists(LABEL, max_size=3)
    if own == "coded":
        rows = [f"{item},{draw(cell)},{draw(cell)}\n" for item in items]
        return (
            own,
            "t.csv",
            "item,sea,sky\n" + "".join(rows),
            {**CODES, "label_names": ("sea", "sky")},
        )
    if own == "table":
        word = st.sampled_from(["yes", "no", "unsure", "", "Y"])
        rows = [f"{draw(st.sampled_from([item, item, '']))},{draw(LABEL)},{draw(word)},asked\n"
                for item in items]  # fmt: skip
        rows = [row if row[0] != "," else ",,,asked\n" for row in rows]
        return own, "t.csv", "item,label,answer,question\n" + "".join(rows), {}
    if own in ("columns", "batch"):
        cells = [";".join(draw(labels)) for _ in items]
        who = "annotator," if own == "batch" else ""
        rows = [
            f"{item},{'w,' if who else ''}{each}\n" for item, each in zip(items, cells, strict=True)
        ]
        told = {"present": ("tags",), "separator": ";", "question": "ticked"}
        told |= {"label_names": ("sea", "sky", "fog", "K\u00e4fer")}
        told["unselected"] = draw(st.sampled_from(["no", "unknown"]))
        return own, "t.csv", f"item,{who}tags\n" + "".join(rows), told
    if own == "open-images":
        rows = [f"{i},{draw(st.sampled_from(['machine', 'crowd']))},/m/{i},1\n" for i in items]
        return own, "t.csv", "ImageID,Source,LabelName,Confidence\n" + "".join(rows), {}
    return own, "a.json", draw(st.lists(annotated(), min_size=1, max_size=5)).copy(), {
        "present": ("tags",), "question": "ticked",
        "label_names": ("sea", "sky", "fog", "K\u00e4fer"),
    }  # fmt: skip


@st.composite
def annotated(draw):
    """A task of Label Studio with annotations of all kinds."""
    number = draw(st.integers(1, 10**9))
    found = []
    for at in range(draw(st.integers(0, 3))):
        result = {"from_name": "tags", "value": {"choices": draw(st.lists(LABEL, max_size=2))}}
        part = draw(st.sampled_from([{}, {}, {"item_index": 1}]))
        more = draw(st.sampled_from([
            {}, {}, {"was_cancelled": True}, {"parent_prediction": 7},
            {"reviews": [{"accepted": False}]}, {"reviews": [{"accepted": True}]},
        ]))  # fmt: skip
        results = [{**result, **part}] if result["value"]["choices"] else []
        found.append({"id": number * 10 + at, "result": results, **more})
    return {"id": number, "data": {"text": "x"}, "annotations": found}


@settings(max_examples=150, deadline=None)
@given(generated())
def test_nothing_is_lost_and_nothing_is_made_up(tmp_path_factory, file):
    own, name, content, options = file
    path = write(tmp_path_factory.mktemp("law"), name, content)
    found, _ = attempted(path, {**options, "format": own})
    if found is not None:
        conserved(FORMAT[own], *found)


def attempted(path, options):
    """Return the table and the tally, or None and the refusal."""
    told = {name: value for name, value in options.items() if name != "format"}
    try:
        return import_answers(path, format=options.get("format"), options=Options(**told)), None
    except ComplabelError as refusal:
        return None, refusal


TICKED = {"question": "ticked"}
TRUTH = {  # what is meant by each file: name, content, options that are true of it, right answers
    "list with blanks": ("l.csv", "item,label\nt1,sea\nt2,\nt3,sky\n",
        {"answer": "yes", **TICKED, "unselected": "no"}, "t1 +sea t2 -sea t2 -sky t3 +sky"),
    "list with a word": ("l.csv", "item,label\nt1,sea\nt2,None\nt3,sky\n",
        {"answer": "yes", **TICKED, "none": ("None",)}, "t1 +sea t2 -sea t2 -sky t3 +sky"),
    "a yes about a blank": ("l.csv", "item,label,answer\nt1,sea,yes\nt2,,yes\nt1,sky,no\n",
        {"unselected": "unknown"}, "t1 +sea t1 -sky"),
    "lists as Python writes them": ("l.csv", "item,x\nt1,\"['sea', 'sky']\"\nt2,[]\nt3,['sky']\n",
        {"format": "columns", "present": ("x",)}, "t1 +sea t1 +sky t3 +sky"),
    "lists as NumPy writes them": ("l.csv", "item,x\nt1,['sea' 'sky']\nt3,['sky']\n",
        {"format": "columns", "present": ("x",)}, "t1 +sea t1 +sky t3 +sky"),
    "labels with a blank between": ("l.csv", "item,x\nt1,sea sky\nt2,sea\nt3,sky\n",
        {"format": "columns", "present": ("x",), "separator": " "},
        "t1 +sea t1 +sky t2 +sea t3 +sky"),
    "labels with # between": ("l.csv", "item,x\nt1,sea#sky\nt2,sea\nt3,sky\n",
        {"format": "columns", "present": ("x",), "separator": "#"},
        "t1 +sea t1 +sky t2 +sea t3 +sky"),
    "the same in a column label": ("l.csv", "item,label\nt1,sea sky\nt2,sea\nt3,sky\n",
        {"format": "columns", "present": ("label",), "separator": " "},
        "t1 +sea t1 +sky t2 +sea t3 +sky"),
    "words for none in cells": ("l.csv", "item,x\nt1,sea\nt2,No Finding\n",
        {"format": "columns", "present": ("x",), "none": ("No Finding",), "label_names": ("sea",)},
        "t1 +sea t2 -sea"),
    "marks": ("m.csv", "item,sea,sky\np1,x,\np2,,\n",
        {"format": "coded", "yes": ("x",), "unselected": "no"}, "p1 +sea p1 -sky p2 -sea p2 -sky"),
    "marks of what does not apply": ("m.csv", "item,sea,sky\np1,1,0\np2,0,1\n",
        {"no": ("1",), "unsure": ("0",)}, "p1 -sea p2 -sky"),
    "codes": ("m.csv", "item,sea,sky\np1,1,0\np2,0,1\n",
        {"yes": ("1",), "no": ("0",)}, "p1 +sea p1 -sky p2 -sea p2 +sky"),
    "raters": ("r.csv", "rater,item,label,value\nw1,t1,sea,1\nw2,t1,sky,0\n",
        {"column": {"annotator": "rater", "answer": "value"}}, "t1 +sea t1 -sky"),
    "a column of answers that is missing": ("l.csv", "item,label\nt1,sea\nt2,sky\n",
        {"question": "asked", "answer": "no"}, "t1 -sea t2 -sky"),
    "what was asked": ("l.csv", "item,label,answer\nt1,sea,no\nt2,sky,no\n",
        {"question": "excluded"}, "t1 -sea t2 -sky"),
    "a column that is no label": ("m.csv", "item,sea,sky,note\np1,1,0,x\np2,0,1,1\n",
        {"yes": ("1",), "no": ("0",), "drop": ("note",)}, "p1 +sea p1 -sky p2 -sea p2 +sky"),
    "a form of one's own": ("a.json", json.dumps([
        {"id": at, "data": {"id": f"t{at}"}, "annotations": [
            {"id": at, "result": [{"from_name": "x", "value": {"choices": [label]}}]}]}
        for at, label in ((1, "sea"), (2, "sky"))]),
        {"absent": ("x",)}, "t1 -sea t2 -sky"),
    "options of Prodigy": ("a.jsonl", json.dumps(
        {"text": "x", "item": "t1", "options": [{"id": "sea"}, {"id": "sky"}], "accept": ["sea"],
         "answer": "accept", "_input_hash": 1}), {"unselected": "no"}, "t1 +sea t1 -sky"),
    "boxes of COCO": ("a.json", json.dumps(
        {"images": [{"id": 1}], "annotations": [{"id": 1, "image_id": 1, "category_id": 1}],
         "categories": [{"id": 1, "name": "sea"}, {"id": 2, "name": "sky"}]}),
        {"unselected": "no"}, "1 +sea 1 -sky"),
    "a blank that was ticked": ("w.csv", "item,x\nt1,sea\nt2,\n",
        {"format": "columns", "present": ("x",), **TICKED, "unselected": "no",
         "label_names": ("sea",)}, "t1 +sea t2 -sea"),
}  # fmt: skip


def follow(path, options, right, taken=()):
    """Import; follow what a refusal proposes if it is true of the file; return the answers."""
    found, refusal = attempted(path, options)
    if found is not None:
        return found[0]
    assert len(taken) < 6, refusal
    true = [w for w in refusal.proposes if all(fits(right.get(n), v) for n, v in w.items())]
    assert true or not refusal.proposes, f"{refusal} proposes only what is wrong"
    # Where nothing is proposed, the message names a setting, and the user knows what to give.
    name = next((name for name in right if name not in options), None)
    assert true or name, refusal
    way = true[0] if true else {name: right[name]}
    merged = {}
    for name, value in way.items():  # options that may be given several times
        before = options.get(name)
        value = before | value if isinstance(before, dict) else value
        merged[name] = (*before, *value) if isinstance(before, tuple) else value
    return follow(path, options | merged, right, (*taken, *merged))


def fits(right, proposed):
    if isinstance(proposed, dict):
        return isinstance(right, dict) and proposed.items() <= right.items()
    if isinstance(proposed, tuple) and isinstance(right, tuple):
        return {*proposed} <= {*right}
    return right == proposed


@pytest.mark.parametrize("case", TRUTH)
def test_advice_that_is_followed_leads_to_what_the_file_means(tmp_path, case):
    name, text, right, meant = TRUTH[case]
    path = write(tmp_path, name, text)
    table = follow(path, {key: right[key] for key in ("question",) if key in right}, right)
    labels = [*dict.fromkeys(table["label"])]
    said = Answers.from_table(table, contradictions="keep", label_names=labels)
    names = list(said.item_names)
    found = said.statements()
    stated = {
        f"{names[i]} {'-+'[int(a)]}{labels[k]}"
        for i, k, a in zip(found.item, found.label, found.applies, strict=True)
    }
    words = re.findall(r"\S+ [+-]\S+", meant)
    # One label alone in a "ticked" answer implies the others; these are no statements of the file.
    assert {*words} <= stated
    assert all(each[len(each.split()[0]) + 1] == "-" for each in stated - {*words}), stated


def documented(formats):
    """The table of docs/files.md, or docs/judges.md, as the formats declare it."""
    flags = {name: f"`--{name.replace('_', '-')}`" for name in vars(Options())}
    flags["question"] = "`--read-as`"
    known = {}
    lines = ["| format | what is read | options | counted as left out |", "|---|---|---|---|"]
    for each in sorted(formats, key=lambda each: each.name):
        options = ", ".join(flags[name] for name in sorted(each.uses.split())) or "-"
        left = f"of {each.counts[0]}: {', '.join(each.counts[1:]) or '-'}"
        left = (
            f"as `{first}`" if (first := known.setdefault(left, each.name)) != each.name else left
        )
        lines.append(f"| `{each.name}` | {each.reads} | {options} | {left} |")
    return "\n".join(lines)


@pytest.mark.parametrize("page", ["files", "judges"])
def test_the_table_in_the_docs_is_the_declarations(page):
    text = (Path(__file__).parents[2] / "docs" / f"{page}.md").read_text("utf-8")
    assert documented([x for x in FORMATS if (x in JUDGES) == (page == "judges")]) in text


# These name a setting that was given, or one of which only the user knows the value.
GIVEN_BY_USERS = {"check", "open_table", "__post_init__", "_read", "_settings", "finish"}


@pytest.mark.parametrize("room", ["answers", "files", "importers"])
def test_what_a_message_proposes_also_stands_in_the_field(room):
    """A function that proposes a value of a setting gives the error ``proposes``."""
    for path in sorted((Path(complabel.__file__).parent / room).glob("*.py")):
        for each in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(each, ast.FunctionDef) and each.name not in GIVEN_BY_USERS:
                text = ast.unparse(each)
                if re.search(r"setting\('\w+', (?!'[A-Z]+'|\{'\w+': 'COLUMN'\})", text):
                    assert "proposes" in text or ".refuse(" in text, (path.name, each.name)
