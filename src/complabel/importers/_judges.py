"""Read verdicts of judges: what tools that evaluate language models write about their outputs.

An item is one output, a label one criterion. The label applies where the criterion is met: the
judge says pass, yes, true, or what the user says. A score alone does not say that, so the user
gives a threshold; no word is guessed either. Verdicts of people, of several systems and of several
prompts may stand in one file, and are read apart. Verdicts that failed, have no value, were
replaced or contradict each other are counted, listed and left out.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from complabel._opening import fault
from complabel._settings import setting
from complabel.errors import InputError
from complabel.files import CONFIDENCE
from complabel.importers._format import (
    WORDS,
    Format,
    Head,
    Number,
    OptionalText,
    Options,
    Row,
    Tally,
    Text,
    checked_as,
    open_table,
    pieces,
    read_json,
    records,
    shown,
    some,
)

_FAILED, _BLANK, _REPLACED = "failed verdicts", "blank verdicts", "replaced verdicts"
_OTHERS, _DROPPED = "verdicts of other sources", "dropped verdicts"
_TWICE, _DIFFER = "repeated verdicts", "contradicting verdicts"
_COUNTS = ("verdicts", _FAILED, _BLANK, _REPLACED, _OTHERS, _DROPPED, _TWICE, _DIFFER)
_MOST_SHOWN, _LONGEST = 3, 60  # names in a remark; letters of a prompt that is its own name
_PLAIN = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}
_Map = dict[str, Any]
_Maps = list[_Map]
_Flag = Annotated[bool, Field(strict=True)] | None
_Placed = Iterator[tuple[str, Any]]
_OF_LANGFUSE = ("traceId", "name", "value", "source", "stringValue", "dataType", "observationId")
_ALSO = ("authorUserId", "userId", "id", "sessionId", "comment", "metadata", "timestamp")
_OF_PROMPTFOO = (("evalId", "results"), ("gradingResult", "testIdx"), ("Grader Reason",))
_OF_TABLE = re.compile(r"(.+)/(value|score|error_message)")


class Verdict(NamedTuple):
    """What is said of one item and one criterion, and by whom; texts as the file has them."""

    item: Any
    criterion: Any
    value: Any
    judge: Any = None
    origin: tuple[Any, ...] = ()  # such as the system, and whether a person says it
    score: Any = None
    left: str = ""  # why it gives no answer


# ---- what all formats share ----


def _read(
    path: Path,
    options: Options,
    tally: Tally,
    *,
    verdicts: Callable[[Path, Options, Tally], Iterator[Verdict]],
    kinds: Sequence[str],
    words: Mapping[str, str],
) -> Iterator[dict[str, Any]]:
    tally.start(*_COUNTS)
    checked = [*_checked(path, verdicts(path, options, tally))]
    tally.counts["verdicts"] = len(checked)
    there = {each.criterion for each in checked}
    columns = open_table(path).columns if ".csv" in path.suffixes else ()
    known = {"drop": {*there, *columns}, "met_from": {*there, ""}}
    for name, names in (("drop", options.drop), ("met_from", options.met_from)):
        if strangers := {*names} - known[name]:
            message = (
                f"{setting(name)} names {shown(min(strangers))}, which is no criterion of {path}"
            )
            raise InputError(f"{message}; it has {some(map(shown, sorted(there)))}", parameter=name)
    kept = [each for each in checked if each.criterion not in options.drop]
    wanted = _of_sources(path, kept, kinds, options)
    tally.counts[_DROPPED], tally.counts[_OTHERS] = (
        len(checked) - len(kept),
        len(kept) - len(wanted),
    )
    yield from pieces(_rows(wanted, _Meaning(path, options, words), tally))


def _checked(path: Path, verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
    """Yield verdicts about one criterion each; a value may have several, by their names."""
    for each in verdicts:
        item = checked_as(Text, each.item, str(path), "the name of an item")
        place = f"{path}, item {shown(item)}"
        name, judge = _fields({"n": each.criterion, "j": each.judge}, place, n=Text, j=OptionalText)
        origin = tuple(checked_as(OptionalText, x, place, "source") or "?" for x in each.origin)
        made = each._replace(item=item, criterion=name, judge=judge, origin=origin)
        parts = each.value if isinstance(each.value, dict) and not each.left else {"": each.value}
        for part, value in parts.items():
            criterion = f"{name}/{checked_as(Text, part, place, name)}" if part else name
            yield made._replace(
                criterion=criterion, value=value, score=value if part else each.score
            )


def _of_sources(
    path: Path, verdicts: list[Verdict], kinds: Sequence[str], options: Options
) -> list[Verdict]:
    """Return the verdicts of the sources that the user wants; refuse to mix several."""
    everyone = {name for each in verdicts for name in each.origin}
    if strangers := {*options.only} - everyone:
        message = f"{setting('only')} is {shown(min(strangers))}, and the verdicts are of"
        raise InputError(f"{message} {some(map(shown, sorted(everyone)))}", parameter="only")
    for at, kind in enumerate(kinds):
        there = Counter(each.origin[at] for each in verdicts)
        only = {*options.only} & {*there}
        if len(there) > 1 and not only:
            counts = some(f"{shown(name)} ({n:,})" for name, n in there.most_common())
            raise fault(
                path,
                f"has verdicts of several {kind}, which must not be mixed: {counts}; give"
                f" {setting('only')} {shown(next(iter(there)))} or another one, and import each"
                " into a file of its own",
                proposes=[{"only": (name,)} for name in there],
            )
        verdicts = [each for each in verdicts if not only or each.origin[at] in only]
    return verdicts


def _rows(verdicts: list[Verdict], meaning: _Meaning, tally: Tally) -> Iterator[Row]:
    left: dict[str, list[str]] = {}
    rows: dict[tuple[str, str, str | None], list[Row]] = {}
    for each in verdicts:
        is_nan = isinstance(each.value, float) and math.isnan(each.value)
        if why := each.left or _BLANK * (is_nan or each.value in (None, "")):
            left.setdefault(why, []).append(f"{each.item} {each.criterion}")
            continue
        answer, sure = meaning.of(each)
        made = Row(None, each.item, each.criterion, answer, "asked", None, None, each.judge)
        key = each.item, each.criterion, each.judge
        rows.setdefault(key, []).append(made._replace(confidence=sure))
    for (item, criterion, _), same in rows.items():
        differ = len({row.answer for row in same}) > 1
        why, n_left = (_DIFFER, len(same)) if differ else (_TWICE, len(same) - 1)
        left.setdefault(why, []).extend([f"{item} {criterion}"] * n_left)
        if not differ:
            yield same[0]
    for why, names in left.items():
        tally.counts[why] = len(names)
        if names:
            examples = some(map(shown, [*dict.fromkeys(names)][:_MOST_SHOWN]))
            tally.remark(f"{why}: {len(names):,}, such as {examples}")
    n_pairs = len({each.item for each in verdicts}) * len({label for _, label, _ in rows})
    if n_pairs > (n := len({key[:2] for key in rows})):
        tally.remark(f"No verdict about {n_pairs - n:,} of {n_pairs:,} pairs of item and criterion")
    tally.remark(f"A label applies where its criterion is met: {some(meaning.seen)}")


def _number(value: Any) -> float:
    """Return a number, or a text that is one; NaN for anything else."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def _code(value: Any) -> str:
    """Return a value as it is compared with what the user says of values."""
    number = _number(value)
    return str(value).strip().casefold() if math.isnan(number) else repr(number).removesuffix(".0")


class _Meaning:
    """What values say, by their format and by the user."""

    def __init__(self, path: Path, options: Options, words: Mapping[str, str]) -> None:
        codes = {(_code(code), word) for word in WORDS for code in getattr(options, word)}
        self._of_codes, self._path = dict(codes), path
        if len(self._of_codes) < len(codes):
            raise InputError("a code is given twice, as --yes, --no or --unsure; give it once")
        self._words = {**words, **self._of_codes}
        self._least, self._is_sure = options.met_from, CONFIDENCE in options.column
        self.seen: dict[str, None] = {}
        if options.column.get(CONFIDENCE, "score") != "score":
            what = f"{setting('column')}: a confidence can be read of the score alone"
            raise InputError(f"{what}, as {CONFIDENCE}=score", parameter="column")

    def of(self, verdict: Verdict) -> tuple[str, float | None]:
        """Return yes, no or unsure; and how probable that is, if scores are probabilities."""
        value, name, number = verdict.value, verdict.criterion, _number(verdict.value)
        is_word, score = math.isnan(number), _number(verdict.score)
        code = _code(value)
        least = self._least.get(name, self._least.get("", math.nan))
        if code in (self._words if is_word else self._of_codes) and not isinstance(
            value, list | dict
        ):
            answer, meaning = self._words[code], f"{shown(value)} is {self._words[code]}"
        elif not is_word and not math.isnan(least):
            answer, meaning = "yes" if number >= least else "no", f"{shown(name)} from {least:g} on"
            score = number
        else:
            raise self._refusal(verdict, code, is_word)
        self.seen[meaning] = None
        if not self._is_sure:
            return answer, None
        if math.isnan(score) or answer == "unsure":
            return answer, math.nan
        if not 0 <= score <= 1 or (score >= 0.5) != (answer == "yes"):
            message = (
                f"criterion {shown(name)} of item {shown(verdict.item)} has the score {score:g}"
            )
            message += (
                f" and says {answer}, so scores are not how probable it is that a criterion is"
            )
            raise fault(self._path, f"{message} met; leave {setting('column')} out")
        return answer, score if answer == "yes" else 1 - score

    def _refusal(self, verdict: Verdict, code: str, is_word: bool) -> Exception:
        name, value = verdict.criterion, verdict.value
        ways: list[dict[str, object]] = [{"drop": (name,)}]
        advice = f"give {setting('drop')} {shown(name)} to leave the criterion out"
        if not isinstance(value, list | dict):
            code = str(value) if is_word else code
            ways += [{word: (code,)} for word in WORDS]
            advice += f", or say what {shown(code)} means with {', '.join(map(setting, WORDS))}"
        if not is_word:
            advice += f", or from which score on it is met with {setting('met_from')}"
        what = f"criterion {shown(name)} of item {shown(verdict.item)} is {shown(value)}"
        return fault(self._path, f"{what}, and the file does not say if that is met; {advice}",
                     proposes=ways)  # fmt: skip


def _fields(value: Any, place: str, /, **kinds: Any) -> tuple[Any, ...]:
    """Return some fields of an object, each as its type; a field that is missing is None."""
    record = checked_as(_Map, value, place, "it")
    return tuple(checked_as(kind, record.get(name), place, name) for name, kind in kinds.items())


def _values(path: Path, *way: str) -> _Placed:
    """Yield the records of a list, of lines, or of the list inside of one object."""
    if ".jsonl" in path.suffixes:
        yield from records(path)
        return
    value = read_json(path)
    for key in way:
        value = value.get(key, value) if isinstance(value, dict) else value
    listed = value if isinstance(value, list) else [value]
    yield from ((f"{path}, record {at}", each) for at, each in enumerate(listed, 1))


def _csv(
    path: Path, options: Options, tally: Tally, reads: Callable[[str], Any], *needed: str
) -> _Placed:
    table = open_table(path, *needed, *filter(None, [options.item]))
    columns = [name for name in table.columns if reads(name) or name == options.item]
    dropped = tuple(name for name in options.drop if name in table.columns)
    tally.leave(path, table.columns, columns, replace(options, drop=dropped))
    yield from ((f"{path}, row {number + 1}", row) for number, row in table.rows(columns))


def _named(options: Options, record: Mapping[str, Any], default: Any) -> Any:
    return default if options.item is None else record.get(options.item)


def _model(value: Any) -> str:
    """Return the name of a model that stands in an option, or no text."""
    value = value.get("model") or value.get("id") if isinstance(value, dict) else value
    return value.strip() if isinstance(value, str) else ""


# ---- the formats ----


def _of_inspect(path: Path, options: Options, tally: Tally) -> Iterator[Verdict]:
    if path.suffix == ".eval":
        command = f"inspect log dump {path.name} > log.json"
        raise fault(path, f"is a packed log; give JSON: {command}")
    kinds: Any = {"status": Text, "eval": _Map, "samples": _Maps | None}
    status, about, samples = _fields(read_json(path), str(path), **kinds)
    if status != "success":
        tally.remark(f"The log's status is {shown(status)}, so samples may be missing")
    kinds = {"scorers": _Maps | None, "model_roles": _Map | None}
    listed, roles = _fields(about, str(path), **kinds)
    judges = {}
    for each in listed or ():
        name, chosen = _fields(each, str(path), name=Text, options=_Map | None)
        model = _model((chosen or {}).get("model")) or _model((roles or {}).get("grader"))
        judges[name] = f"{name} {model}".strip()
    kinds = {"id": Text, "epoch": Number, "scores": dict[str, _Map] | None}
    scored = [
        (*_fields(x, f"{path}, sample {at}", **kinds), x) for at, x in enumerate(samples or (), 1)
    ]
    scorers = dict.fromkeys(name for _, _, scores, _ in scored for name in scores or ()) or judges
    n_epochs = len({epoch for _, epoch, _, _ in scored})
    if n_epochs > 1:
        tally.remark(f"{n_epochs:,} epochs: each output of a sample is an item of its own")
    for ident, epoch, scores, sample in scored:
        item = _named(options, sample, ident)
        item = f"{item} (epoch {epoch})" if n_epochs > 1 else item
        for name in scorers:
            score = (scores or {}).get(name)
            value, edits = _fields(
                score or {}, f"{path}, sample {ident}", value=Any, history=_Maps | None
            )
            authors = (x.get("provenance") for x in edits or ())
            people = [x.get("author") for x in authors if isinstance(x, dict)]
            judge = people[-1] if people else judges.get(name, name)
            left = _REPLACED * (sample.get("invalidation") is not None) or _FAILED * (score is None)
            yield Verdict(
                item, name, value, judge, ("people" if people else "scorers",), value, left
            )


def _of_promptfoo(path: Path, options: Options, _: Tally) -> Iterator[Verdict]:
    if ".csv" in path.suffixes:
        command = "promptfoo export eval ID -o results.json"
        raise fault(path, f"has one verdict for all assertions of a test; give the JSON: {command}")
    kinds: Any = {"testIdx": Number, "vars": _Map | None, "prompt": _Map | None}
    kinds |= {"gradingResult": _Map | None, "failureReason": Number | None}
    kinds |= dict.fromkeys(("provider", "promptIdx"), Any)
    of_part: Any = {"pass": _Flag, "assertion": _Map | None, "metadata": _Map | None, "score": Any}
    of_assertion: Any = {"type": Text, "metric": OptionalText, "value": Any, "provider": Any}
    for place, each in _values(path, "results", "results"):
        test, given, prompt, grading, reason, by, number = _fields(each, place, **kinds)
        item, is_error = _named(options, given or {}, test), reason == 2
        system = (by.get("label") if isinstance(by, dict) else None) or _model(by)
        label = (prompt or {}).get("label") or (prompt or {}).get("raw") or ""
        is_name = isinstance(label, str) and len(label) <= _LONGEST
        origin = system, label if is_name else f"prompt {number}"
        (parts,) = _fields(grading or {}, place, componentResults=_Maps | None)
        if is_error or not parts:  # or there is no assertion
            of_all = "all assertions", None, None, (*origin, "assertions"), None
            yield Verdict(item, *of_all, _FAILED if is_error else _BLANK)
            continue
        for part in parts:
            passed, assertion, metadata, score = _fields(part, place, **of_part)
            if assertion is None:
                continue  # a set of assertions; each of them stands in this list, too
            kind, metric, value, judge = _fields(assertion, place, **of_assertion)
            value = value if isinstance(value, str | int | float) else ""
            source = "people" if kind == "human" else "assertions"
            failed = bool((metadata or {}).get("graderError"))
            by_whom = f"{kind} {_model(judge)}".strip(), (*origin, source), score
            yield Verdict(item, metric or f"{kind} {value}", passed, *by_whom, _FAILED * failed)


def _of_deepeval(path: Path, options: Options, _: Tally) -> Iterator[Verdict]:
    of_metric: Any = {"success": _Flag, "evaluationModel": Any, "score": Any, "error": Any}
    (_place, whole), *_more = _values(path, "testRunData")
    for key in ("testCases", "conversationalTestCases"):
        (cases,) = _fields(whole, str(path), **{key: _Maps | None})
        for case in cases or ():
            item, metrics = _fields(case, f"{path}, {key}", name=Text, metricsData=_Maps | None)
            for each in metrics or ():
                passed, model, score, error = _fields(each, f"{path}, {item}", **of_metric)
                of = model, (), score, _FAILED * (error not in (None, ""))
                yield Verdict(_named(options, case, item), each.get("name"), passed, *of)


def _of_langfuse(path: Path, options: Options, tally: Tally) -> Iterator[Verdict]:
    is_csv, known = ".csv" in path.suffixes, {*_OF_LANGFUSE, *_ALSO}
    rows = _csv(path, options, tally, known.__contains__, *_OF_LANGFUSE[:4])
    kinds: Any = dict.fromkeys(("traceId", "observationId", "dataType"), OptionalText)
    observed: dict[tuple[str, Any], str] = {}
    for place, each in rows if is_csv else _values(path, "data"):
        trace, part, kind = _fields(each, place, **kinds)
        value, text, is_score = each.get("value"), each.get("stringValue"), kind == "NUMERIC"
        verdict = value if is_score or text in (None, "") else text
        if kind == "BOOLEAN" and _number(value) in (0, 1):
            verdict = _number(value) == 1
        about_no_trace = options.item is None and trace is None  # but a session, or a run
        name, left = each.get("name"), _BLANK * (about_no_trace or kind in ("CORRECTION", "TEXT"))
        if options.item is None and observed.setdefault((trace, str(name)), part) != part:
            message = f"trace {shown(trace)} has several observations with {shown(name)}; give"
            message += f" {setting('item', 'observationId')} if each observation is an item"
            raise fault(place, message, proposes=[{"item": "observationId"}])
        judge = each.get("authorUserId") or each.get("source")
        item = _named(options, each, trace or "no trace")
        yield Verdict(item, name, verdict, judge, (each.get("source"),), value, left)


def _of_mlflow(path: Path, options: Options, tally: Tally) -> Iterator[Verdict]:
    """Yield the verdicts of traces with assessments, or of a table of an evaluation."""
    if ".csv" in path.suffixes:
        reads = lambda name: name == "trace_id" or _OF_TABLE.fullmatch(name)  # noqa: E731
        for place, row in _csv(path, options, tally, reads):
            yield from _of_mlflow_row(row, place, options)
        return
    of_judge = {"source_type": OptionalText, "source_id": OptionalText}
    for place, value in _values(path, "traces"):
        names, data = _fields(value, place, columns=list[Text] | None, data=Any)
        if names is not None:
            for number, row in enumerate(checked_as(list[list[Any]], data, place, "data"), 1):
                record = dict(zip(names, row, strict=False))
                yield from _of_mlflow_row(record, f"{path}, row {number}", options)
            continue
        info = value.get("info", value)
        (assessments,) = _fields(info, place, assessments=_Maps | None)
        for each in assessments or ():
            if each.get("feedback") is None and {"expectation", "issue"} & {*each}:
                continue  # what is expected of the item, and no verdict
            feedback, source, valid = _fields(
                each, place, feedback=_Map | None, source=_Map | None, valid=_Flag
            )
            verdict, error = _fields(feedback or {}, place, value=Any, error=Any)
            kind, judge = _fields(source or {}, place, **of_judge)
            left = _FAILED * (error is not None) or _REPLACED * (valid is False)
            item = _named(options, info, info.get("trace_id"))
            yield Verdict(item, each.get("assessment_name"), verdict, judge, (kind,), verdict, left)


def _of_mlflow_row(row: Mapping[str, Any], place: str, options: Options) -> Iterator[Verdict]:
    if (options.item or "trace_id") not in row:
        message = f"has no column {options.item or 'trace_id'!r} with the items"
        raise fault(place, f"{message}; give {setting('item', 'COLUMN')}")
    for name, value in row.items():
        criterion, _, kind = name.rpartition("/")
        if kind in ("value", "score") and criterion:
            left = _FAILED * (row.get(f"{criterion}/error_message") not in (None, ""))
            item = _named(options, row, row.get("trace_id"))
            yield Verdict(item, criterion, value, None, ("a table",), value, left)


def _is_mlflow(head: Head) -> bool:
    root, keys = head.keys()
    if not root:
        return any(_OF_TABLE.fullmatch(name) for name in head.columns())
    is_table = {"columns", "data"} <= keys and re.search(rb'[^/]/(value|score)"', head.start)
    is_trace = {"info", "data"} <= keys and b'"trace_id"' in head.start
    return bool(is_table or is_trace or {"trace_id", "assessments"} <= keys or keys == {"traces"})


def _is_langfuse(head: Head) -> bool:
    in_a_page = {"data", "meta"} <= head.keys()[1] and b'"traceId"' in head.start
    return in_a_page or _has(head, *_OF_LANGFUSE[:4])


def _has(head: Head, *names: str) -> bool:
    return {*names} <= head.keys()[1] | {*head.columns()}


def _format(
    name: str, title: str, recognizes: Any, verdicts: Any, reads: str, *kinds: str, **more: Any
) -> Format:
    """Return a format; ``more``: words with a meaning there, or that all ``values`` have one."""
    words, values = more.get("words", {}), more.get("values", "yes no unsure met_from ")
    read = partial(_read, verdicts=verdicts, kinds=kinds, words=_PLAIN | words)
    uses = f"{values}{'only ' * bool(kinds)}item drop column"
    return Format(name, title, recognizes, read, uses, reads, (CONFIDENCE,), _COUNTS)


JUDGES = (
    _format(
        *("inspect-ai", "Inspect AI: JSON log of an evaluation"),
        lambda head: head.path.suffix == ".eval" or _has(head, "version", "status", "eval"),
        *(_of_inspect, "of samples `id`, `epoch` and `scores`; the scorers and their models"),
        *["sources"],
        words={"c": "yes", "i": "no"},
    ),
    _format(
        *("promptfoo", "promptfoo: JSON or JSON lines of results"),
        lambda head: any(_has(head, *names) for names in _OF_PROMPTFOO),
        *(
            _of_promptfoo,
            "of assertions `pass`, `score`, `metric`, the grader; provider and prompt",
        ),
        *("systems", "prompts", "sources"),
        values="",
    ),
    _format(
        *("deepeval", "DeepEval: JSON of a test run"),
        lambda head: _has(head, "testCases") or _has(head, "testRunData"),
        *(_of_deepeval, "`name`; the `name`, `success`, `score`, `evaluationModel` of metrics"),
        values="",
    ),
    _format(
        *("langfuse", "Langfuse: JSON or CSV of scores", _is_langfuse, _of_langfuse),
        "`traceId`, `name`, `value`, `stringValue`, `dataType`, `source`, `authorUserId`",
        "sources",
    ),
    _format(
        *("mlflow", "MLflow: JSON of traces, or JSON or CSV of an evaluation's table"),
        *(_is_mlflow, _of_mlflow),
        "`assessments`: the name, `source`, `feedback`, `valid`; `NAME/value`, `NAME/score`",
        "sources",
    ),
)
