"""Verdicts of judges: files of the tools' own classes, with what they say written by hand."""

import copy
import json
import math

import pytest
from tests.importers.reading import changed, filled_counts, imported, read, refused, short, write
from tests.importers.samples import JUDGED, OF_INSPECT, OF_LANGFUSE, SAMPLES, TABLE_OF_MLFLOW

from complabel.errors import DatasetFormatError, InputError

SAID = {  # by the sample: the rows, each an item, a criterion, yes or no, and the judge
    "inspect-ai": """
        a (epoch 1)|graded|yes|graded      a (epoch 2)|graded|yes|graded
        b (epoch 1)|graded|no|graded       b (epoch 2)|graded|no|graded
        c (epoch 1)|graded|unsure|graded   c (epoch 2)|graded|unsure|graded
        a (epoch 1)|rubric/polite|yes|rubric   a (epoch 2)|rubric/polite|yes|rubric
        b (epoch 1)|rubric/polite|yes|rubric   b (epoch 2)|rubric/polite|yes|rubric
        a (epoch 1)|rubric/cites|no|rubric     a (epoch 2)|rubric/cites|yes|rubric
        b (epoch 1)|rubric/cites|no|rubric     b (epoch 2)|rubric/cites|yes|rubric
        a (epoch 1)|rubric/safe|yes|rubric     a (epoch 2)|rubric/safe|yes|rubric
        b (epoch 1)|rubric/safe|yes|rubric     b (epoch 2)|rubric/safe|yes|rubric
        a (epoch 1)|model_graded_qa|yes|model_graded_qa mockllm/model
        b (epoch 1)|model_graded_qa|yes|model_graded_qa mockllm/model
        a (epoch 2)|model_graded_qa|yes|model_graded_qa mockllm/model
        b (epoch 2)|model_graded_qa|yes|model_graded_qa mockllm/model""",
    "promptfoo": """
        0|greets|yes|contains   0|long|yes|javascript   0|polite|yes|llm-rubric file://judge.js
        0|contains zzz|no|contains   0|not-contains yyy|yes|not-contains""",
    "promptfoo, lines": """
        hello|greets|yes|contains   hello|long|yes|javascript
        hello|polite|yes|llm-rubric file://judge.js
        hello|contains zzz|no|contains   hello|not-contains yyy|yes|not-contains""",
    "deepeval": """
        test_case_0|Answer Relevancy|yes|gpt-4.1   test_case_0|Polite [GEval]|no|gpt-4.1
        test_case_1|Answer Relevancy|no|gpt-4.1   test_case_2|Answer Relevancy|yes|gpt-4.1
        test_case_2|Polite [GEval]|yes|gpt-4.1
        conversational_test_case_0|Polite [GEval]|yes|gpt-4.1""",
    **dict.fromkeys(
        ("langfuse", "langfuse, csv"),
        """
        t1|polite|yes|EVAL   t2|polite|no|EVAL   t1|tone|yes|EVAL   t2|tone|no|EVAL
        t1|helpful|yes|EVAL   t2|helpful|no|EVAL""",
    ),
    "mlflow": """
        tr-0|safety|yes|openai:/gpt-4.1   tr-0|cites|yes|openai:/gpt-4.1
        tr-1|safety|no|openai:/gpt-4.1    tr-2|safety|yes|openai:/gpt-4.1""",
    **dict.fromkeys(
        ("mlflow, table", "mlflow, csv"),
        "t1|safety|yes|   t3|safety|no|   t1|tone/v1|yes|   t2|tone/v1|no|   t3|tone/v1|yes|",
    ),
}
LEFT = {
    "inspect-ai": {"verdicts": 26, "failed verdicts": 4},
    "promptfoo": {"verdicts": 14, "failed verdicts": 1, "blank verdicts": 1},
    "deepeval": {"verdicts": 7, "failed verdicts": 1},
    "langfuse": {"verdicts": 7},
    "mlflow": {"verdicts": 12, "failed verdicts": 1, "replaced verdicts": 1},
    "mlflow, table": {"verdicts": 6, "failed verdicts": 1},
}
OTHERS = {"promptfoo": 7, "langfuse": 1, "mlflow": 6}


def rows_of(text):
    cells = [each.strip() for line in text.split("\n") for each in line.split("   ")]
    return sorted(tuple(each.split("|")) for each in cells if each)


@pytest.mark.parametrize("sample", SAID)
def test_what_each_tool_says_is_read_verdict_by_verdict(tmp_path, sample):
    own, name, content, options = SAMPLES[sample]
    table, tally = read(own, write(tmp_path, name, content), **options)
    columns = ("item", "label", "answer", "annotator")
    assert sorted((*r[:3], r[3] or "") for r in short(table, *columns)) == rows_of(SAID[sample])
    assert {*table["question"]} == {"asked"}
    known = LEFT.get(sample) or LEFT[sample.partition(",")[0]]
    others = OTHERS.get(sample.partition(",")[0]) if "table" not in known else None
    if sample.startswith("mlflow,"):
        known, others = LEFT["mlflow, table"], None
    assert filled_counts(tally) == known | ({"verdicts of other sources": others} if others else {})
    told = " ".join(tally.remarks)
    assert "A label applies where its criterion is met" in told
    assert ("No verdict about" in told) == (sample.partition(",")[0] != "langfuse")


@pytest.mark.parametrize(
    ("sample", "options", "way"),
    [
        ("inspect-ai", {"unsure": ("P",)}, {"drop": ("rubric/polite",)}),
        ("inspect-ai", {"met_from": {"": 0.5}}, {"unsure": ("P",)}),
        ("promptfoo", {}, {"only": ("Tell: {{q}}",)}),
        ("langfuse", {**OF_LANGFUSE, "only": ()}, {"only": ("ANNOTATION",)}),
        ("langfuse", {**OF_LANGFUSE, "yes": ()}, {"yes": ("warm",)}),
        ("langfuse", {**OF_LANGFUSE, "met_from": {"polite": 1}}, {"drop": ("helpful",)}),
        ("mlflow", {}, {"only": ("HUMAN",)}),
        ("mlflow, table", {}, {"yes": ("4",)}),
    ],
)
def test_what_the_file_does_not_say_is_asked(tmp_path, sample, options, way):
    own, name, content, _ = SAMPLES[sample]
    with pytest.raises(DatasetFormatError) as refusal:
        read(own, write(tmp_path, name, content), **options)
    assert way in refusal.value.proposes
    assert next(iter(way.values()))[0] in str(refusal.value)


def test_people_and_their_names_stay_apart(tmp_path):
    told = {"only": ("ANNOTATION",)}
    table, _ = read("langfuse", write(tmp_path, "a.json", JUDGED["langfuse"]), **told)
    assert short(table, "item", "label", "answer", "annotator") == [("t1", "polite", "no", "ann")]
    table, _ = read("mlflow", write(tmp_path, "b.json", JUDGED["mlflow"]), only=("HUMAN",))
    assert {*table["annotator"]} == {"ann@x.org"}
    assert [*table["answer"]] == ["yes", "yes", "no"]
    edited = copy.deepcopy(JUDGED["inspect-ai"])
    score = edited["samples"][0]["scores"]["graded"]
    score["history"] = [{"value": "C"}, {"value": "I", "provenance": {"author": "eva"}}]
    score["value"] = "I"
    options = OF_INSPECT | {"only": ("people",)}
    table, _ = read("inspect-ai", write(tmp_path, "c.json", edited), **options)
    assert short(table, "label", "answer", "annotator") == [("graded", "no", "eva")]
    rated = copy.deepcopy(JUDGED["promptfoo"])
    parts = rated["results"]["results"][0]["gradingResult"]["componentResults"]
    parts.append({"pass": False, "score": 0, "assertion": {"type": "human", "metric": "polite"}})
    options = {"only": ("Say: {{q}}", "people")}
    table, _ = read("promptfoo", write(tmp_path, "d.json", rated), **options)
    assert short(table, "label", "answer", "annotator") == [("polite", "no", "human")]


def test_repeated_verdicts_count_once_and_contradicting_ones_not_at_all(tmp_path):
    data = JUDGED["deepeval"]["testCases"]
    for name, value, n_rows, why in (
        ("success", True, 6, "repeated verdicts"),
        ("success", False, 5, "contradicting verdicts"),
        ("error", "boom", 6, "failed verdicts"),
    ):
        more = {**data[0]["metricsData"][0], name: value}
        content = changed(JUDGED["deepeval"], ["testCases", 0, "metricsData"],
                          [*data[0]["metricsData"], more])  # fmt: skip
        table, tally = read("deepeval", write(tmp_path, "a.json", content))
        assert len(table["item"]) == n_rows
        assert tally.counts[why] == {"success": 1 + (not value), "error": 2}[name]
        assert any(each.startswith(why) and "test_case_0" in each for each in tally.remarks)


def test_a_score_is_a_probability_if_the_user_says_so_and_it_agrees(tmp_path):
    own, name, content, options = SAMPLES["deepeval"]
    path = write(tmp_path, name, content)
    rows, _ = imported(path, None, own, **options)
    assert [row["confidence"] for row in rows] == pytest.approx([0.9, 0.7, 0.6, 0.6, 0.8, 0.7])
    odd = changed(content, ["testCases", 0, "metricsData", 0, "score"], 0.2)  # and a success
    assert "test_case_0" in refused(write(tmp_path, name, odd), None, own, **options)
    table, _ = read(own, write(tmp_path, name, odd))  # as a verdict it is clear
    assert table["answer"][0] == "yes"
    assert "confidence" not in table
    table, _ = read(
        "mlflow",
        write(tmp_path, "b.json", TABLE_OF_MLFLOW),
        drop=("tone/v1",),
        column={"confidence": "score"},
    )
    assert all(math.isnan(each) for each in table["confidence"])


def test_codes_are_compared_as_numbers_and_mean_one_thing(tmp_path):
    path = write(tmp_path, "a.json", changed(JUDGED["langfuse"], ["data", 4, "value"], 1.0000001))
    told = OF_LANGFUSE | {"met_from": {}}
    way = refused(path, None, "langfuse", **told | {"yes": ("warm", "1", "0.250"), "no": ("cold",)})
    assert "1.0000001" in way
    table, _ = read("langfuse", path, **told | {"yes": ("warm", "1.00000010", ".25")})
    assert dict(zip(table["label"], table["answer"], strict=True))["helpful"] == "yes"
    refused(path, None, "langfuse", InputError, **told | {"yes": ("1",), "no": ("1.0",)})


@pytest.mark.parametrize(
    ("option", "value"), [("drop", ("zz",)), ("met_from", {"zz": 1.0}), ("only", ("zz",))]
)
def test_a_name_that_is_not_in_the_file_is_refused(tmp_path, option, value):
    path = write(tmp_path, "a.json", JUDGED["langfuse"])
    text = refused(path, None, "langfuse", InputError, **OF_LANGFUSE | {option: value})
    assert "zz" in text
    assert "EVAL" in text or "polite" in text


def test_forms_that_do_not_hold_verdicts_say_what_to_export(tmp_path):
    path = write(tmp_path, "a.eval", b"PK\x03\x04")
    assert "inspect log dump a.eval" in refused(path, None)
    path = write(tmp_path, "a.csv", "Description,q,Status,Score,Grader Reason\nx,y,PASS,1,ok\n")
    assert "results.json" in refused(path, None)
    path = write(tmp_path, "b.csv", "inputs,safety/value\nq,yes\n")
    assert "--item" in refused(path, None) or "item" in refused(path, None)
    part = JUDGED["langfuse"]["data"][0] | {"observationId": "o1"}
    both = [part, part | {"id": "s9", "observationId": "o2"}]
    path = write(tmp_path, "c.json", both)
    assert "'t1'" in refused(path, None)
    table, _ = read("langfuse", path, item="observationId")
    assert [*table["item"]] == ["o1", "o2"]
    no_value = json.loads(json.dumps(JUDGED["langfuse"]["data"][:2]))
    no_value[0]["value"] = no_value[0]["stringValue"] = None
    _, tally = read("langfuse", write(tmp_path, "d.json", no_value))
    assert tally.counts["blank verdicts"] == 1
