"""Batches of language models: out, answered as each family answers, and back."""

import base64
import json
import math
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.refusals import raises

from complabel._services import SERVICES, Results, Service
from complabel.errors import ComplabelError, InputError
from complabel.importers import Options, import_answers, write_failed, write_questions

LABELS = ["cat", 'a "dog"', "Möwe"]
N = 6
ASKED = {"item": [f"i{n}" for n in range(N)], "label": (LABELS * 2)[:N], "question": ["asked"] * N}
TICKED = {
    "answer_id": np.repeat([f"form {at}" for at in range(N)], 3),
    "item": np.repeat(ASKED["item"], 3),
    "label": LABELS * N,
    "question": ["ticked"] * (3 * N),
    "offered": [json.dumps(LABELS)] * (3 * N),
}
TEXTS = {item: {"text": f"Text of {item}."} for item in ASKED["item"]}
WORDS = ["yes", "no", "unsure", "yes", "no", "no"]
ROW = ("item", "label", "answer")
PICTURE = b"\x89PNG not really"


# As the services publish them, each from the page that it names; "ends" has what is no answer.
KEPT = json.loads(Path(__file__).with_name("results.json").read_text(encoding="utf-8"))
REPLIES, ENDS = KEPT["replies"], KEPT["ends"]


def filled(kept, ident, text="yes", end=None):
    """A result that was kept, with an id, a reply and the reason why it ended."""
    kept = json.dumps(kept)
    for gap, value in (("@id", ident), ("@end", end)):
        kept = kept.replace(json.dumps(gap), json.dumps(value))
    return json.loads(kept.replace("@text", json.dumps(text)[1:-1]))


def replied(family, ident, text, end="stop"):
    ends = dict(zip(("stop", "length"), REPLIES[family]["ends"], strict=True))
    return filled(REPLIES[family]["result"], ident, text, ends.get(end, end))


def ended(way, ident):
    """What a service writes where there is no answer."""
    kept = ENDS[way]
    return (
        replied(kept["of"], ident, "yes", kept["end"])
        if "of" in kept
        else filled(kept["result"], ident)
    )


openai, anthropic, gemini = (partial(replied, name) for name in ("openai", "anthropic", "gemini"))


def written(tmp_path, family="openai", table=ASKED, shown=TEXTS, **options):
    tool = REPLIES[family]["service"] if family in REPLIES else family
    path = tmp_path / ("batch.json" if tool == "anthropic" else "batch.jsonl")
    options = {"model": "gpt", **options}
    assert write_questions(table, path, tool=tool, shown=shown, **options) == N
    text = path.read_text(encoding="utf-8")
    found = (
        json.loads(text)["requests"]
        if tool == "anthropic"
        else list(map(json.loads, text.splitlines()))
    )
    ids = [next(each[k] for k in ("custom_id", "key", "recordId") if k in each) for each in found]
    return ids, found


def read(tmp_path, results):
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in results), encoding="utf-8")
    return import_answers(path)


@pytest.mark.parametrize("family", REPLIES)
def test_yes_and_no_come_back_as_they_were_said(tmp_path, family):
    ids, found = written(tmp_path, family)
    assert len(set(ids)) == N
    for ident, request, item in zip(ids, found, ASKED["item"], strict=True):
        assert ident.startswith("q0000")
        assert len(ident) <= 64
        assert item not in ident
        assert f"Text of {item}." in json.dumps(request)
    said = list(zip(ids, WORDS, strict=True))[::-1]  # results come in any order
    table, tally = read(tmp_path, [replied(family, *each) for each in said])
    assert list(table["item"]) == ASKED["item"]
    assert list(table["label"]) == ASKED["label"]
    assert list(table["answer"]) == WORDS
    model = REPLIES[family].get("model", "")
    assert all(x.startswith(f"{model} ") or not model for x in table["annotator"])
    assert table["annotator"].nunique() == 1  # the digest is that of the form, not of the label
    assert tally.counts["results"] == N
    if "tokens" in REPLIES[family]:
        asked, told = (N * n for n in REPLIES[family]["tokens"])
        assert f"had {asked} tokens, and the replies {told}" in tally.remarks[0]
    cut = [*said[1:], (said[0][0], "no")]  # of which one was cut off
    ends = ["stop"] * (N - 1) + ["length"]
    results = [replied(family, *each, end) for each, end in zip(cut, ends, strict=True)]
    assert read(tmp_path, results)[1].counts["replies that were cut off"] == 1


@pytest.mark.parametrize("family", REPLIES)
def test_all_labels_of_an_item_come_back_in_one_reply(tmp_path, family):
    ids, found = written(tmp_path, family, TICKED)
    assert all(
        label in json.dumps(found[0], ensure_ascii=False).replace('\\"', '"').replace('\\"', '"')
        for label in ("cat", "Möwe")
    )
    rng = np.random.default_rng(0)
    said = rng.choice(["yes", "no", "unsure"], size=(N, 3))
    said[:, 0] = "yes"
    replies = [json.dumps(dict(zip(LABELS, row.tolist(), strict=True))) for row in said]
    replies[1] = f"Here it is:\n```json\n{replies[1]}\n```"
    replies[2] = f'<think>\n{{"cat": "no"}}\n</think>\n{replies[2]}'
    replies[3] = replies[3].replace('"yes"', "true").replace('"no"', "false")
    results = [replied(family, *each) for each in zip(ids, replies, strict=True)]
    table, _ = read(tmp_path, results)
    assert list(table["answer"]) == said.ravel().tolist()
    assert list(table["label"]) == LABELS * N
    assert list(table["item"]) == np.repeat(ASKED["item"], 3).tolist()


@pytest.mark.parametrize("family", REPLIES)
def test_a_label_that_applies_comes_back_as_it_was_named(tmp_path, family):
    one = ASKED | {"label": [None] * N, "question": ["positive"] * N}
    ids, found = written(tmp_path, family, one, label_names=LABELS)
    assert "Name one of these labels that applies" in json.dumps(found[0])
    said = ["cat", '{"positive": ["Möwe"]}', "None apply.", '{"positive": []}', "no", "unsure"]
    table, tally = read(tmp_path, [replied(family, *each) for each in zip(ids, said, strict=True)])
    rows = table[["label", "answer", "question"]].astype(object).where(table.notna(), None)
    wanted = [("cat", "yes"), ("Möwe", "yes"), (None, "no"), (None, "unsure")]
    assert list(map(tuple, rows.to_numpy())) == [(*each, "positive") for each in wanted]
    assert tally.counts["replies that do not parse"] == 2


def test_what_failed_is_counted_and_nothing_is_guessed(tmp_path):
    ids, _ = written(tmp_path, table=TICKED)
    whole = json.dumps(dict.fromkeys(LABELS, "no"))
    twice = '{"cat": "yes", "cat": "no", "a \\"dog\\"": "no", "Möwe": "no"}'
    results = [
        openai(ids[0], whole, "length"),
        openai(ids[1], json.dumps({"cat": "no"})),  # two labels are missing
        openai(ids[2], twice),
        openai(ids[3], whole),
        openai(ids[3], json.dumps(dict.fromkeys(LABELS, "yes"))),
        ended("OpenAI, refused", ids[4]),
    ]
    with pytest.raises(ComplabelError):  # nothing is left to import
        import_answers_or_fail(tmp_path, results)
    table, tally = read(tmp_path, [*results, openai(ids[5], whole)])
    assert set(table["item"]) == {"i5"}
    counts = tally.counts
    assert counts["replies that were cut off"] == 1
    assert counts["replies that do not parse"] == 2
    assert counts["requests with two different replies"] == 1
    assert counts["requests that the model refused"] == 1
    assert any(ids[0] in each for each in tally.remarks)


def import_answers_or_fail(tmp_path, results):
    table, _ = read(tmp_path, results)
    if not len(table):
        raise InputError("no row")


def test_a_reply_that_is_not_clear_is_shown(tmp_path):
    ids, _ = written(tmp_path)
    results = [openai(ids[0], "yes"), openai(ids[2], "perhaps")]
    _, tally = read(tmp_path, results)
    shown = next(each for each in tally.remarks if each.startswith("replies that do not parse"))
    assert f"{ids[2]} ('perhaps')" in shown
    with raises(ComplabelError, "perhaps"):  # also if no reply is clear
        read(tmp_path, results[1:])


def test_ids_may_be_numbers_and_a_line_without_an_id_is_told_what_to_do(tmp_path):
    ids = [json.dumps({"id": n, "item": f"i{n}", "label": "cat"}) + "\n" for n in range(9)]
    (tmp_path / "own.ids.jsonl").write_text("".join(ids))
    table, _ = read(tmp_path, [openai(7, "no"), openai("3", "yes"), gemini(0, "no")])
    assert dict(zip(table["item"], table["answer"], strict=True)) == {
        "i0": "no",
        "i3": "yes",
        "i7": "no",
    }
    lost = replied("vertex", "x", "yes")
    del lost["key"]
    with raises(ComplabelError, "line 1"):
        read(tmp_path, [lost])
    with raises(ComplabelError, "custom_id"):
        read(tmp_path, [openai([7], "no")])


def test_a_retry_that_succeeded_counts_and_an_equal_repeat_does_not_disturb(tmp_path):
    ids, _ = written(tmp_path)
    results = [ended("OpenAI, expired", ids[0]), openai(ids[0], "no"), openai(ids[0], "no")]
    table, tally = read(tmp_path, results)
    assert list(table["answer"]) == ["no"]
    assert tally.counts["requests that failed"] == 0


def test_results_need_the_table_of_their_own_batch(tmp_path):
    ids, _ = written(tmp_path)
    (tmp_path / "batch.ids.jsonl").rename(tmp_path / "other.ids.jsonl")
    assert len(read(tmp_path, [openai(ids[0], "yes")])[0]) == 1  # found by the end of the id
    other = f"{ids[0][:-6]}ffffff"
    with raises(ComplabelError, "ids"):
        read(tmp_path, [openai(other, "yes")])
    with raises(ComplabelError, "q999999"):
        read(tmp_path, [openai(ids[0], "yes"), openai(f"q999999{ids[0][7:]}", "yes")])


CUT_, UNCLEAR_ = "replies that were cut off", "replies that do not parse"
FAILED_, REFUSED_ = "requests that failed", "requests that the model refused"


@pytest.mark.parametrize("way", ENDS)
def test_what_is_no_answer_is_counted_as_what_it_is(tmp_path, way):
    ids, _ = written(tmp_path)
    table, tally = read(tmp_path, [ended(way, ids[0]), openai(ids[1], "no")])
    assert list(table["item"]) == ["i1"]
    assert {name: n for name, n in tally.counts.items() if n and name[:4] in ("requ", "repl")} == {
        ENDS[way]["counted"]: 1,
        "requests without a result": N - 2,
    }


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines()


def test_failures_stand_in_a_second_file_and_a_batch_in_several(tmp_path, monkeypatch):
    assert SERVICES["openai"].most == 50_000  # as the service says
    monkeypatch.setitem(SERVICES, "openai", SERVICES["openai"]._replace(most=4))
    paths = []
    write_questions(
        ASKED, tmp_path / "b.jsonl", tool="openai", shown=TEXTS, model="m", written=paths
    )
    assert [path.name for path in paths] == ["b-1.jsonl", "b-2.jsonl"]
    assert not (tmp_path / "b.jsonl").exists()
    ids = [json.loads(line)["custom_id"] for path in paths for line in lines_of(path)]
    assert len(ids) == len(set(ids)) == N
    for name, results in (
        ("results-1.jsonl", [openai(each, "yes") for each in ids[:3]]),
        ("results-2.jsonl", [openai(each, "no") for each in ids[4:]]),
        ("errors.jsonl", [ended("OpenAI, the server failed", ids[3])]),
    ):
        (tmp_path / name).write_text("".join(json.dumps(each) + "\n" for each in results))
    table, tally = import_answers(tmp_path / "results-2.jsonl")  # the other file is not missing
    assert (len(table), tally.counts["requests without a result"]) == (2, 0)
    _, tally = import_answers(tmp_path / "results-1.jsonl")
    assert tally.counts["requests without a result"] == 1
    assert "second file" in tally.remarks[0]
    more = Options(more=(tmp_path / "errors.jsonl", tmp_path / "results-2.jsonl"))
    table, tally = import_answers(tmp_path / "results-1.jsonl", options=more)
    assert list(table["item"]) == [f"i{at}" for at in range(N) if at != 3]
    assert tally.counts["requests that failed"] == 1
    assert tally.counts["requests without a result"] == 0
    (tmp_path / "t.csv").write_text("item,label,answer\na,b,yes\n")
    with raises(InputError, "more"):
        import_answers(tmp_path / "t.csv", options=more)


def test_no_file_has_more_bytes_than_a_service_takes(tmp_path, monkeypatch):
    monkeypatch.setitem(SERVICES, "anthropic", SERVICES["anthropic"]._replace(most_megabytes=1))
    texts = {item: {"text": "é" * 200_000} for item in TEXTS}
    paths, options = [], {"tool": "anthropic", "model": "m", "written": []}
    options["written"] = paths
    write_questions(ASKED, tmp_path / "b.json", shown=texts, **options)
    assert [len(json.loads(path.read_text())["requests"]) for path in paths] == [2, 2, 2]
    assert all(path.stat().st_size <= 1_000_000 for path in paths)
    texts["i0"] = {"text": "é" * 500_000}
    with raises(InputError, "item 'i0'"):
        write_questions(ASKED, tmp_path / "c.json", shown=texts, **options)


SIXTH = Service(
    title="Sixth",
    request={"task": "{id}", "kind": "judge", "do": "{body}"},
    body={"engine": "{model}", "say": ["{content}"], "at_most": "{most_tokens}"},
    ticked={"form": "{schema}"},
    text={"words": "{text}"},
    picture={"photo": "{data}", "type": "{type}"},
    most=4,
    results=Results(
        lines={"task": "outcome"},
        own_keys="task",
        bodies="outcome.reply",
        well={"outcome.state": "done"},
        replies={"says": "why"},
        whole="finished",
        cut="too_long",
        refused="unwilling",
        model="by",
        n_in="spent.in",
        n_out="spent.out",
    ),
)


@pytest.mark.parametrize("service", [*SERVICES.values(), SIXTH], ids=lambda each: each.title)
def test_what_a_row_leaves_open_is_filled_in(service):
    def gaps(*templates):  # a gap of another name would be sent as it is
        return {*re.findall(r'"({\w+})"', json.dumps(templates))}

    assert gaps(service.request) == {"{id}", "{body}"}
    assert {"{content}"} <= gaps(service.body) <= {"{content}", "{model}", "{most_tokens}"}
    assert gaps(service.ticked, service.probable) <= {"{schema}", "{strict_schema}"}
    assert gaps(service.text) == {"{text}"}
    assert gaps(service.picture) in ({"{type}", "{data}"}, {"{url}"})
    assert gaps(service.address) <= {"{url}"}
    reasons = " ".join((service.results.whole, service.results.cut, service.results.refused))
    assert len(reasons.split()) == len({*reasons.casefold().split()})


def test_a_sixth_service_is_a_row_of_the_table(tmp_path, monkeypatch):
    monkeypatch.setitem(SERVICES, "sixth", SIXTH)
    (tmp_path / "p.png").write_bytes(PICTURE)
    shown, paths = {**TEXTS, "i0": {"text": "{model}", "image": "p.png"}}, []
    how = {"tool": "sixth", "model": "m", "folder": tmp_path, "shown": shown, "written": paths}
    write_questions(TICKED, tmp_path / "b.jsonl", **how)
    assert [path.name for path in paths] == ["b-1.jsonl", "b-2.jsonl"]
    found = [json.loads(line) for path in paths for line in lines_of(path)]
    (words, photo), ids = found[0]["do"]["say"][0], [each["task"] for each in found]
    assert words["words"].endswith("this text:\n{model}\n\nThe item is this picture.")
    assert photo == {"photo": base64.b64encode(PICTURE).decode(), "type": "image/png"}
    form = {name: found[0]["do"]["form"][name] for name in ("type", "required")}
    assert form == {"type": "object", "required": LABELS}
    assert {"kind": "judge", "engine": "m", "at_most": 1024 + 3 * 32}.items() <= {
        **found[0],
        **found[0]["do"],
    }.items()

    def result(at, why="finished", state="done"):
        says = json.dumps(dict(zip(LABELS, ["yes", "no", "unsure"], strict=True)))
        reply = {"says": says, "why": why, "by": "m-6", "spent": {"in": 40, "out": 2}}
        return {"task": ids[at], "outcome": {"state": state, "reply": reply}}

    odd = [result(1, "too_long"), result(2, state="broken"), result(3, "unwilling")]
    table, tally = read(tmp_path, [result(0), *odd, result(4, "tired"), openai(ids[5], "{}")])
    assert list(zip(*(table[name] for name in ROW), strict=True)) == [
        ("i0", label, word) for label, word in zip(LABELS, ["yes", "no", "unsure"], strict=True)
    ]
    assert table["annotator"][0].startswith("m-6 ")
    counts = {name: tally.counts[name] for name in (CUT_, FAILED_, REFUSED_, UNCLEAR_)}
    assert counts == {CUT_: 1, FAILED_: 1, REFUSED_: 1, UNCLEAR_: 2}
    assert "182 tokens" in tally.remarks[-1]


@pytest.mark.parametrize("family", ["openai", "responses", "anthropic", "gemini", "bedrock"])
def test_each_item_of_a_request_is_judged_by_itself(tmp_path, family):
    ids, found = written(tmp_path, family, TICKED, items_per_request=4)
    assert len(ids) == 2  # four items and two
    told = json.dumps(found[0])
    assert all(f"item {n + 1} is this text:\\nText of i{n}." in told for n in range(4))
    assert "i4" not in told
    words = {f"item {n}": dict(zip(LABELS, ["yes", "no", "unsure"], strict=True)) for n in (1, 2)}
    odd = {"item 3": {"cat": "perhaps"}, "item 4": dict.fromkeys(LABELS, "no")}
    results = [(ids[1], json.dumps(words)), (ids[0], "Here:\n" + json.dumps({**words, **odd}))]
    table, tally = read(tmp_path, [replied(family, *each) for each in results])
    assert list(table["item"]) == np.repeat(["i0", "i1", "i3", "i4", "i5"], 3).tolist()
    triples = ["yes", "no", "unsure"]
    assert list(table["answer"]) == [*triples * 2, *["no"] * 3, *triples * 2]
    assert table["annotator"].nunique() == 1
    assert tally.counts["replies that do not parse"] == 1
    assert f"{ids[0]} item 3" in tally.remarks[0]


@pytest.mark.parametrize(
    ("reply", "n_clear"),
    [
        ('{"item 1": %s, "item 2": {"cat": "no", "cat": "yes"}, "item 3": %s}', 2),
        ('{"item 1": %s, "item 1": %s, "item 3": %s}', 0),
        ('{"item 1": %s, "item 2": %s}', 2),
        ('{"item 1": %s, "item 2": %s, "item 3": %s, "item 4": %s}', 0),  # of what is not known
        ('{"item 1": %s} {"item 2": %s}', 0),
        ('{"item 1": %s, "item 2": ["yes"], "item 3": "no"}', 1),
        ('{"item 1": %s, "item 2"', 0),
        ("%s", 0),
        ("yes", 0),
    ],
)
def test_items_of_a_reply_are_not_guessed(tmp_path, reply, n_clear):
    ids, _ = written(tmp_path, table=TICKED, items_per_request=3)
    judged = json.dumps(dict.fromkeys(LABELS, "no"))
    whole = json.dumps(dict.fromkeys(["item 1", "item 2", "item 3"], json.loads(judged)))
    results = [openai(ids[0], reply.replace("%s", judged)), openai(ids[1], whole)]
    table, tally = read(tmp_path, results)
    assert len(table) == 3 * (n_clear + 3)
    assert tally.counts["replies that do not parse"] == 3 - n_clear


def test_two_prompts_are_two_annotators_and_a_drawn_menu_is_none(tmp_path):
    def annotators(table, **options):
        written(tmp_path, table=table, **options)
        return {json.loads(x)["annotator"] for x in lines_of(tmp_path / "batch.ids.jsonl")}

    others = {**TICKED, "label": [f"{label}s" for label in TICKED["label"]]}
    found = [annotators(TICKED), annotators(others), annotators(TICKED, items_per_request=4)]
    found.append(annotators(ASKED))
    assert [len(each) for each in found] == [1] * 4
    assert len(set.union(*found)) == 4
    menus = [["cat", "Möwe"], ["cat", "x"], ["x", "Möwe"]] * 2
    named = {"item": ASKED["item"], "question": ["named"] * N, "offered": menus}
    assert len(annotators(named)) == 1


def test_batches_that_differ_have_different_ids(tmp_path):
    of_all = [
        written(tmp_path, table=TICKED, **options)[0][0]
        for options in ({}, {"items_per_request": 2}, {"model": "m-2"})
    ]
    assert len(set(of_all)) == 3


def test_a_request_is_one_line_for_every_reader(tmp_path):
    odd = {item: {"text": "a\u2028b\u2029c\x85d\x0be\rf"} for item in ASKED["item"]}
    _, found = written(tmp_path, shown=odd)
    assert "a\u2028b\u2029c\x85d\x0be\rf" in found[0]["body"]["messages"][0]["content"][0]["text"]


def test_a_schema_has_each_word_once(tmp_path):
    _, found = written(tmp_path, table=TICKED, items_per_request=3)
    schema = found[0]["body"]["response_format"]["json_schema"]["schema"]
    assert json.dumps(schema).count("enum") == 1
    words = {label: {"$ref": "#/$defs/word"} for label in LABELS}
    assert schema["$defs"]["labels"]["properties"] == words
    assert list(schema["properties"]) == ["item 1", "item 2", "item 3"]


def test_results_of_pictures_are_recognized(tmp_path):
    ids, _ = written(tmp_path)
    for first in ("recordId", "modelInput"):
        result = {first: "", **replied("bedrock", ids[0], "yes"), "recordId": ids[0]}
        result["modelInput"] = {"messages": ["x" * 100_000]}
        assert list(read(tmp_path, [result])[0]["answer"]) == ["yes"]
    path = tmp_path / "listed.json"
    path.write_text(json.dumps([anthropic(ids[0], "yes")]))
    assert list(import_answers(path)[0]["answer"]) == ["yes"]


def likely(ident, word, other, *, first="", family="openai"):
    """A result in which yes and no are likely by their logs; ``first`` is a token before them."""
    logs = {"yes": word[1] - 1, " Yes": math.log1p(-math.exp(-1)) + word[1], "no": other}
    if word[0] == "no":
        logs = {"no": word[1], "yes": other}
    logs = {name: log for name, log in logs.items() if log is not None} | {"The": -11.0}
    key = "logProbability" if family == "gemini" else "logprob"
    top = [{"token": name, key: log} for name, log in logs.items()]
    tokens = [(first, [])] * bool(first) + [(word[0].title(), top), (".", [])]
    result = replied(family, ident, f"{first}{word[0].title()}.")
    if family == "gemini":
        chosen = [{"token": token, key: 0.0} for token, _ in tokens]
        found = {
            "chosenCandidates": chosen,
            "topCandidates": [{"candidates": t} for _, t in tokens],
        }
        result["response"]["candidates"][0]["logprobsResult"] = found
        return result
    found = [{"token": token, "logprob": 0.0, "top_logprobs": top} for token, top in tokens]
    body = result["response"]["body"]
    if family == "responses":
        body["output"][1]["content"][0]["logprobs"] = found
    else:
        body["choices"][0]["logprobs"] = {"content": found}
    return result


@pytest.mark.parametrize("family", ["openai", "responses", "gemini"])
def test_probabilities_of_yes_and_no_become_a_confidence(tmp_path, family):
    ids, found = written(tmp_path, family, logprobs=True)
    assert '"logprobs": ' in json.dumps(found[0])
    results = [
        likely(ids[0], ("yes", math.log(0.6)), math.log(0.2), family=family),
        likely(ids[1], ("no", math.log(0.3)), math.log(0.6), family=family),
        likely(ids[2], ("no", math.log(0.9)), math.log(0.1), first="Yes?</think>", family=family),
        likely(ids[3], ("yes", math.log(0.9)), None, family=family),  # no is below The, e^-11
        likely(ids[4], ("yes", -3.0), None, family=family),  # it may be a tenth
        replied(family, ids[5], "unsure"),
    ]
    table, _ = read(tmp_path, results)
    sure = [0.75, 1 / 3, 0.9, 1 - math.exp(-11) / (0.9 + math.exp(-11)), np.nan, np.nan]
    np.testing.assert_allclose(table["confidence"].astype(float), sure, atol=1e-12)
    assert "confidence" not in read(tmp_path, [replied(family, ids[0], "yes")])[0]


@pytest.mark.parametrize(
    "top",
    [
        *(None, 5, [5], [{}], [], [{"token": "Yes"}], [{"token": "Yes", "logprob": "0"}]),
        *([{"token": 5, "logprob": -1}], [{"token": "Yes", "logprob": -(10**400)}]),
        *([{"token": "Yes", "logprob": math.nan}], [{"token": "No", "logprob": -0.1}]),
    ],
)
def test_probabilities_that_are_none_are_left_out(tmp_path, top):
    ids, _ = written(tmp_path)
    result = openai(ids[0], "Yes")
    tokens = [{"token": "Yes", "top_logprobs": top}]
    result["response"]["body"]["choices"][0]["logprobs"] = {"content": tokens}
    table, _ = read(tmp_path, [result])
    assert list(table["answer"]) == ["yes"]
    assert "confidence" not in table


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"items_per_request": 2}, "items_per_request"),
        ({"table": TICKED, "logprobs": True}, "logprobs"),
        ({"family": "mistral", "logprobs": True}, "logprobs"),
    ],
)
def test_what_a_batch_cannot_ask_is_refused(tmp_path, options, named):
    with raises(InputError, named):
        written(tmp_path, **options)


@pytest.mark.parametrize("family", ["openai", "mistral", "anthropic", "gemini", "bedrock"])
def test_pictures_travel_in_the_request(tmp_path, family):
    (tmp_path / "p.png").write_bytes(PICTURE)
    shown = {item: {"image": "p.png"} for item in ASKED["item"]}
    _, found = written(tmp_path, family, shown=shown, folder=tmp_path)
    text = json.dumps(found[0])
    assert "iVBORyBub3QgcmVhbGx5"[:8] in text
    assert "image/png" in text


def test_pictures_of_several_items_stand_behind_their_names(tmp_path):
    (tmp_path / "p.png").write_bytes(PICTURE)
    shown = {**TEXTS, "i1": {"image": "p.png", "text": "Two."}, "i2": {"image": "p.png"}}
    _, found = written(tmp_path, table=TICKED, shown=shown, folder=tmp_path, items_per_request=N)
    parts = found[0]["body"]["messages"][0]["content"]
    assert [part["type"] for part in parts] == ["text", "image_url"] * 2 + ["text"]
    ends = [
        "item 1 is this text:\nText of i0.\n\nitem 2 is this text:\nTwo.\n\nitem 2 is this picture."
    ]
    ends.append("item 3 is this picture.")
    assert all(part["text"].endswith(end) for part, end in zip(parts[::2], ends, strict=False))
    assert parts[4]["text"].startswith("item 4 is this text:\nText of i3.")


@pytest.mark.parametrize("family", ["openai", "gemini", "bedrock"])
def test_requests_are_no_results(tmp_path, family):
    written(tmp_path, family)
    with raises(ComplabelError, "line 1"):
        import_answers(tmp_path / "batch.jsonl", format="results")


@pytest.mark.parametrize(
    ("options", "named"),
    [({"model": None}, "model"), ({"shown": None}, "shown"), ({"tool": "anthropic"}, "json")],
)
def test_what_a_batch_lacks_is_named(tmp_path, options, named):
    given = {"tool": "openai", "shown": TEXTS, "model": "gpt", **options}
    with raises(InputError, named):
        write_questions(ASKED, tmp_path / "b.jsonl", **given)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("n_mutants", [150, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "family", ["openai", "responses", "anthropic", "gemini", "bedrock", "several", "logprobs"]
)
def test_damaged_results_are_refused_or_counted_without_a_traceback(tmp_path, family, n_mutants):
    if family == "several":
        ids, _ = written(tmp_path, table=TICKED, items_per_request=3)
        judged = [dict(zip(LABELS, np.roll(WORDS, n)[:3].tolist(), strict=True)) for n in range(N)]
        replies = [{f"item {n + 1}": judged[at + n] for n in range(3)} for at in (0, 3)]
        good = [openai(ident, json.dumps(each)) for ident, each in zip(ids, replies, strict=True)]
        right = {(f"i{n}", name): judged[n][name] for n in range(N) for name in LABELS}
    else:
        ids, _ = written(tmp_path, "openai" if family == "logprobs" else family)
        good = [
            replied("openai" if family == "logprobs" else family, *each)
            for each in zip(ids, WORDS, strict=True)
        ]
        if family == "logprobs":
            good = [
                likely(i, (w, -0.5), -2.0) if w != "unsure" else openai(i, w)
                for i, w in zip(ids, WORDS, strict=True)
            ]
        pairs = zip(ASKED["item"], ASKED["label"], strict=True)
        right = dict(zip(pairs, WORDS, strict=True))
    text = "".join(json.dumps(each) + "\n" for each in good)
    rng = np.random.default_rng(0)
    path = tmp_path / "results.jsonl"
    n_read = 0
    for _ in range(n_mutants):
        at, size = int(rng.integers(len(text))), int(rng.integers(1, 9))
        filler = "".join(rng.choice(list('{}[]":,0x\n'), size=int(rng.integers(0, 4))))
        path.write_text(text[:at] + filler + text[at + size :], encoding="utf-8")
        try:
            table, _ = import_answers(path, format="results")
        except ComplabelError:
            continue
        n_read += 1
        for item, label, answer in zip(*(table[x] for x in ROW), strict=True):
            assert answer == right[item, label]
    print(f"\n{family}: {n_read:,} were read, {n_mutants - n_read:,} refused")  # noqa: T201  # for docs
    assert n_read > 10


@pytest.mark.slow
@pytest.mark.parametrize("family", ["openai", "mistral", "anthropic", "gemini", "bedrock"])
def test_ten_thousand_results_come_back_as_they_were_said(tmp_path, family):
    n, rng = 10_000, np.random.default_rng(1)
    items, words = [f"item {at}" for at in range(n)], rng.choice(WORDS, n).tolist()
    table = {"item": items, "label": rng.choice(LABELS, n), "question": ["asked"] * n}
    path = tmp_path / ("b.json" if family == "anthropic" else "b.jsonl")
    texts = {item: {"text": f"Text of {item}."} for item in items}
    write_questions(table, path, tool=family, shown=texts, model="gpt")
    names = tmp_path / "b.ids.jsonl"
    ids = [json.loads(line) for line in names.read_text(encoding="utf-8").splitlines()]
    ids = [each["id"] for each in ids if "item" in each or "id" in each][-n:]
    said = list(zip(ids, words, strict=True))
    rng.shuffle(said)
    found, _ = read(tmp_path, [replied(family, *each) for each in said])
    assert list(found["item"]) == items
    assert list(found["label"]) == list(table["label"])
    assert list(found["answer"]) == words


@pytest.mark.parametrize("family", REPLIES)
def test_what_has_no_answer_is_asked_again_in_the_same_words_until_all_have_one(tmp_path, family):
    ids, requests = written(tmp_path, family)
    ending = "json" if REPLIES[family]["service"] == "anthropic" else "jsonl"
    said = [replied(family, *each) for each in zip(ids[:3], WORDS, strict=False)]
    said[1] = replied(family, ids[1], "a yes, I think, or no")
    said[2] = replied(family, ids[2], "no", "length")
    files = [tmp_path / name for name in ("results.jsonl", "more.jsonl")]
    files[0].write_text("".join(json.dumps(each) + "\n" for each in said), "utf-8")
    again = tmp_path / f"again.{ending}"
    n, size = write_failed(files[0], again)
    text = again.read_text("utf-8")
    lines = (
        json.loads(text)["requests"] if ending == "json" else [*map(json.loads, text.splitlines())]
    )
    assert (n, lines) == (N - 1, requests[1:])
    original = (tmp_path / f"batch.{ending}").read_text("utf-8")
    assert all(line.strip(",") in original for line in text.splitlines())
    assert 0 <= len(text) - size < 50 + 2 * N
    said = [replied(family, *each) for each in zip(ids[1:4], WORDS[1:], strict=False)]
    files[1].write_text("".join(json.dumps(each) + "\n" for each in said), "utf-8")
    assert write_failed(files, again)[0] == N - 4
    table, _ = import_answers(files[0], options=Options(more=(files[1],)))
    assert list(table["answer"])[:4] == WORDS[:4]
    with raises(InputError):
        write_failed(files, tmp_path / "again.txt")
    said = [replied(family, *each) for each in zip(ids[4:], WORDS[4:], strict=True)]
    files[1].write_text(files[1].read_text("utf-8") + "".join(json.dumps(x) + "\n" for x in said))
    again.unlink()
    assert (write_failed(files, again), again.exists()) == ((0, 0), False)
    files[1].unlink()
    (tmp_path / f"batch.{ending}").unlink()
    with raises(ComplabelError):
        write_failed(files[0], again)
