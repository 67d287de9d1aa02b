"""Read exports of Label Studio: JSON, JSON-MIN, CSV and TSV.

A task has annotations, an annotation has results, and a result of a control "Choices" or "Taxonomy"
has a list of choices. If a choice has an ``alias``, the export has it instead of the value. A
choice with parents is a path. It becomes one label, "root / leaf", as Label Studio shows it.

JSON-MIN, CSV and TSV have a flat record for each annotation, with the task's data. A control's
field has a plain text for one choice, as data have, and JSON for several. Each record is turned
into a task of the JSON form.

An export does not say what a control means, so the user must. But tasks of ``complabel ask`` say
themselves what was asked, and the controls of forms by ``label_studio_config`` have names of their
own. Also, a control in which people chose only "yes", "no" and the like asks about something, and a
task with a field ``label`` says about what. Somebody who skips a task that says what was asked is
unsure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field

from complabel._opening import fault
from complabel._settings import setting
from complabel.answers import ANSWER_WORDS
from complabel.errors import InputError
from complabel.importers._format import (
    FieldsOfFiles,
    Format,
    Head,
    OptionalText,
    Options,
    Row,
    Seconds,
    Tally,
    Text,
    checked,
    checked_as,
    keep_files,
    names_from,
    open_table,
    parse,
    pieces,
    read_bytes,
    shown,
    text_of,
)
from complabel.importers._forms import SEPARATOR, Form, FormReader, settle, untold
from complabel.importers._questions import (
    CONTROLS,
    MARKED,
    UNSURE,
    Question,
    Travelled,
    question_in,
    question_of,
)

MENU = "options"  # the field with the choices of a task: <Choices value="$options">
_RANDOM = "random_questions"
_FROM_PREDICTION = "annotations that began with a prediction"
LABEL = "label"  # the field of a task with the label of its question
_CHOICES = ("choices", "taxonomy")
# A value with one of these keys is about a part of an item: a span, a box or a stretch of sound.
_PARTS = {
    *("start", "end", "startOffset", "endOffset", "globalOffsets", "ranges"),
    *("x", "y", "width", "height", "points", "vertices", "rle", "sequence", "item_index"),
}
_META = {
    *("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time"),
    *("agreement", "history", "was_cancelled"),
}
# What exports have besides, and what is left out because it says nothing of labels.
_TASK_FIELDS = {
    *("id", "data", "annotations", "completions", "predictions", "drafts", "meta", "created_at"),
    *("updated_at", "inner_id", "total_annotations", "cancelled_annotations", "total_predictions"),
    *("comment_count", "unresolved_comment_count", "last_comment_updated_at", "project", "state"),
    *("updated_by", "comment_authors", "file_upload", "agreement", "overlap", "is_labeled"),
    *("allow_skip", "assigned_to", "reviewers", "reviews_rejected", "precomputed_agreement"),
}
_ANNOTATION_FIELDS = {
    *("id", "unique_id", "completed_by", "created_at", "updated_at", "lead_time", "was_cancelled"),
    *("skipped", "ground_truth", "result", "reviews", "parent_prediction", "parent_annotation"),
    *("draft_created_at", "import_id", "last_action", "last_created_by", "bulk_created", "task"),
    *("project", "updated_by", "prediction", "result_count", "honeypot", "created_username"),
    *("created_ago", "model_version", "state", "comments", "unresolved_comment_count"),
}
_ALWAYS = {"annotator", "lead_time", "created_at", "updated_at"}
# A single letter or digit may well be the name of a label.
_WORDS = {word: answer for word, answer in ANSWER_WORDS.items() if len(word) > 1}


def _label(choice: Any) -> str:
    steps = choice if isinstance(choice, list) else [choice]
    return SEPARATOR.join(map(text_of, steps or [""]))


def _person(value: Any) -> Any:
    if isinstance(value, dict):
        return next((value[key] for key in ("email", "id", "username") if value.get(key)), None)
    return value


_Labels = list[Annotated[str, BeforeValidator(_label)]]


class _Result(BaseModel):
    from_name: Any = None
    item_index: Any = None  # of choices for each page or picture of a task
    value: Any = None  # relations between regions have none


class _Annotation(BaseModel):
    id: OptionalText = None
    unique_id: OptionalText = None
    completed_by: Annotated[OptionalText, BeforeValidator(_person)] = None
    created_at: OptionalText = None
    lead_time: Seconds = None
    was_cancelled: Any = None
    skipped: Any = None
    ground_truth: Any = None
    parent_prediction: Any = None
    prediction: Any = None
    reviews: Any = None
    result: list[_Result] | None = None

    @property
    def is_led(self) -> bool:
        """Whether it began with a model's prediction; older exports hold the prediction itself."""
        old = isinstance(self.prediction, dict) and bool(self.prediction.get("id"))
        return self.parent_prediction is not None or old

    @property
    def is_rejected(self) -> bool:
        """Whether the last review, if there is one, did not accept it."""
        last = self.reviews[-1] if isinstance(self.reviews, list) and self.reviews else None
        return isinstance(last, dict) and last.get("accepted") is False


class _Task(BaseModel):
    id: Any = None
    data: dict[str, Any]
    annotations: list[_Annotation] = Field(
        validation_alias=AliasChoices("annotations", "completions")  # completions: old versions
    )


def _recognizes(head: Head) -> bool:
    root, keys = head.keys()
    if not root:
        return _is_export(head.columns())
    if keys & {"annotations", "completions"}:
        return "data" in keys or (root == "[" and "id" in keys)
    return root == "[" and {"annotation_id", "annotator"} <= keys


def _is_export(columns: Sequence[str]) -> bool:
    return "annotation_id" in columns and not _ALWAYS.isdisjoint(columns)


def _read(path: Path, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    tally.start("tasks", "tasks without an annotation", "annotations", "cancelled annotations")
    tally.start("empty annotations", "ground truth annotations", "choices about parts of an item")
    records = _records(path)
    if not records:
        raise fault(path, "has no tasks; export annotated ones")
    first = records[0][1]
    if isinstance(first, dict) and "annotation_id" in first and "annotations" not in first:
        records = list(_as_tasks(records, options, path))
    forms = list(_forms(path, records, options, tally))
    controls = _question_controls(forms, options, path)
    reader = settle(forms, options, tally, path, tuple(controls.values()))
    yield from pieces(_rows(forms, controls, reader))


def _records(path: Path) -> list[tuple[str, Any]]:
    raw = read_bytes(path).removeprefix(b"\xef\xbb\xbf")
    if raw.lstrip()[:1] in (b"[", b"{"):
        parsed = parse(raw, str(path))
        tasks = parsed if isinstance(parsed, list) else [parsed]
        return [(f"{path}, record {number}", task) for number, task in enumerate(tasks, 1)]
    table = open_table(path)
    if not _is_export(table.columns):
        text = "is not an export of Label Studio, as CSV has annotation_id and annotator"
        raise fault(path, f"{text}, and JSON begins with a bracket; export it again")
    return [(f"{path}, row {number + 1}", row) for number, row in table.rows(table.columns)]


def _as_tasks(
    records: Sequence[tuple[str, Any]], options: Options, path: Path
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield flat records as tasks of the JSON form, each with one annotation or none."""
    for place, record in records:
        if not isinstance(record, dict) or "annotation_id" not in record:
            raise fault(place, "has no annotation_id, but others have; export the tasks again")
    flat = [record for _, record in records]
    controls, asked = _controls_of(flat, options, path)
    for place, record in records:
        number = record["annotation_id"]
        is_there = number not in (None, "")
        results = [
            {"from_name": name, "value": value if isinstance(value, dict) else {"choices": [value]}}
            for name in controls
            if is_there or name not in asked  # questions may come with known answers
            for value in _values(record.get(name), place)
        ]
        if results and not is_there:
            raise fault(place, "has choices, but no annotation_id; export the tasks again")
        annotation = {
            "id": number,
            "completed_by": record.get("annotator"),
            "created_at": record.get("created_at"),
            "lead_time": record.get("lead_time"),
            "was_cancelled": str(record.get("was_cancelled")).casefold() == "true",
            "result": results,
        }
        # In such a file "id" is the task's, and hides a field of this name.
        data = {name: value for name, value in record.items() if name not in (*controls, "id")}
        data[MENU] = _decoded(record.get(MENU), place)
        annotations = [annotation] if is_there else []
        yield place, {"id": record.get("id"), "data": data, "annotations": annotations}


def _values(cell: Any, place: str) -> list[Any]:
    value = _decoded(cell, place)
    return [] if value in (None, "") else value if isinstance(value, list) else [value]


def _decoded(value: Any, place: str) -> Any:
    if isinstance(value, str) and value.replace(" ", "")[:2] in ('{"', "[{", '["'):
        return parse(value, place)
    return value


def _controls_of(
    records: Sequence[Mapping[str, Any]], options: Options, path: Path
) -> tuple[list[str], list[str]]:
    """Return the fields of flat records that hold choices, and those of them that say yes or no.

    The former are those that the user told, else those with objects: several choices, or parents.
    """
    fields = dict.fromkeys(name for record in records for name in record if name not in _META)
    annotated = [each for each in records if each["annotation_id"] not in (None, "")]
    cells = {name: [r[name] for r in annotated if r.get(name) not in (None, "")] for name in fields}
    yes_no = [
        name
        for name, values in cells.items()
        if name != LABEL and values and all(isinstance(v, str) and _answer_of(v) for v in values)
    ]
    yes_no = [CONTROLS["asked"]] if CONTROLS["asked"] in yes_no else yes_no
    asked = yes_no if LABEL in fields else []
    kinds = {question_in(record) for record in records} - {None, "asked"}
    wanted = {*options.absent, *options.present, *(CONTROLS[kind or ""] for kind in kinds)}
    holding = [n for n in fields if any(_holds_choices(each.get(n)) for each in records)]
    ours = {*(CONTROLS[x] for x in ("named", "ticked", "positive")), MARKED}.intersection(fields)
    if ours and not wanted and not asked:
        wanted = ours.union(holding)
    if kinds and wanted.isdisjoint(fields):  # a form of one's own, with one choice in each record
        wanted |= {name for name in fields if cells[name] and _is_of_menus(name, annotated)}
    controls = [name for name in fields if name in wanted] or holding
    if not controls and not asked and not kinds:
        if yes_no:
            raise fault(path, _no_label(yes_no[0], "yes or no"))
        if not any(cells.values()):
            raise fault(path, "has no fields with labels; export the tasks again")
        values = {name: Counter(map(str, cells[name])) for name in fields if cells[name]}
        often = sorted(values, key=lambda name: len(values[name]) / values[name].total())
        choices = {name: values[name] for name in often}  # labels repeat, texts do not
        raise untold(path, choices, "field", options.label_names is not None)
    return [*controls, *(name for name in asked if name not in controls)], asked


def _is_of_menus(name: str, records: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a field has nothing but labels that its records offer."""
    filled = [record for record in records if record.get(name) not in (None, "")]
    menus = (_decoded(record.get("offered"), name) for record in filled)
    return all(record[name] in (menu or ()) for record, menu in zip(filled, menus, strict=True))


def _holds_choices(value: Any) -> bool:
    if isinstance(value, str):
        start = value[:40].replace(" ", "").removeprefix("[")
        return start.startswith(('{"choices"', '{"taxonomy"'))
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and not first.keys().isdisjoint(_CHOICES)


def _forms(
    path: Path, records: Sequence[tuple[str, Any]], options: Options, tally: Tally
) -> Iterator[Form]:
    data = [task.get("data") for _, task in records if isinstance(task, dict)]
    field = _item_field(data, options, tally)
    tasks: set[str] = set()
    first: dict[str, str] = {}  # the place of each annotation
    fields = set[str]()
    for number, (record_place, value) in enumerate(records, 1):
        task = checked(_Task, value, record_place)
        fields.update(value.keys() - _TASK_FIELDS)
        for raw in value.get("annotations", value.get("completions")) or ():
            fields.update(raw.keys() - _ANNOTATION_FIELDS)
        is_named = isinstance(task.id, int | str) and not isinstance(task.id, bool)
        name = shown(task.id) if is_named else f"number {number}"
        tasks.add(name)
        tally.counts["tasks without an annotation"] += not task.annotations
        for at, annotation in enumerate(task.annotations, 1):
            tally.counts["annotations"] += 1
            is_cancelled = annotation.was_cancelled is True or annotation.skipped is True
            kind = question_in(task.data)
            if annotation.is_rejected or (is_cancelled and kind is None):
                word = "rejected" if annotation.is_rejected else "cancelled"
                tally.counts[f"{word} annotations"] += 1
                continue
            tally.counts["cancelled annotations, read as unsure"] += is_cancelled
            tally.counts[_FROM_PREDICTION] += annotation.is_led
            tally.counts["ground truth annotations"] += annotation.ground_truth is True
            place = f"{record_place}, task {name}, annotation {at}"
            answer_id = annotation.id or annotation.unique_id or f"{name}.{at}"
            if first.setdefault(answer_id, place) != place:
                also = f"annotation {shown(answer_id)} is also {first[answer_id]}"
                raise fault(place, f"{also}; leave one of them out, as it would count twice")
            parts = set[str]()
            chosen = {} if is_cancelled else _chosen(annotation, place, tally, parts)
            yield Form(
                place=place,
                answer_id=answer_id,
                item=_item(task, value, field, options.item is not None, place),
                chosen=chosen,
                parts=frozenset(parts),
                is_tree=any(
                    isinstance(each.value, dict) and "taxonomy" in each.value
                    for each in annotation.result or []
                ),
                menu=_menu_of(task.data.get(MENU)) if kind in (None, "asked") else None,
                annotator=annotation.completed_by,
                time=annotation.created_at,
                seconds=annotation.lead_time,
                task=task.data,
                is_cancelled=is_cancelled,
                is_led=annotation.is_led,
            )
    tally.leave(path, sorted(fields), (), options)
    tally.counts["tasks"] += len(tasks)
    if n_led := tally.counts[_FROM_PREDICTION]:
        if options.random_questions:
            text = f"{setting(_RANDOM)} does not fit: {n_led:,} annotations began with a prediction"
            raise InputError(f"{text} of a model; leave it out", parameter=_RANDOM)
        tally.remark(
            f"{n_led:,} annotations began with a model's prediction. People agree with it too"
            " often, so these answers do not tell how often labels apply: they have no chance"
        )


def _chosen(
    annotation: _Annotation, place: str, tally: Tally, parts: set[str]
) -> dict[str, list[str]]:
    """Return the choices about the whole item, by control; add controls about ``parts`` of it."""
    chosen: dict[str, list[str]] = {}
    for result in annotation.result or []:
        value = result.value if isinstance(result.value, dict) else {}
        kind = next((key for key in _CHOICES if key in value), None)
        if kind is None:
            tally.counts["results that are no choices"] += 1
            continue
        if result.item_index is not None or not _PARTS.isdisjoint(value):
            tally.counts["choices about parts of an item"] += 1
            parts.add(str(result.from_name))
            continue
        name = checked_as(Text, result.from_name, place, "from_name")
        labels = checked_as(_Labels, value[kind], f"{place}, control {shown(name)}", kind)
        chosen.setdefault(name, []).extend(labels)
    return chosen


def _item_field(data: Sequence[Any], options: Options, tally: Tally) -> str | None:
    """Return the field of data that names the item; None if the task's id names it."""
    # The whole file uses one field, because ids of two kinds could be equal by accident.
    if options.item is not None:
        return options.item.removeprefix("data.")
    for field in ("item", "id"):
        if any(isinstance(each, dict) and each.get(field) is not None for each in data):
            return field
    files: FieldsOfFiles = {}
    for each in data:
        if isinstance(each, dict):
            keep_files(files, each)
    tally.remark(f"Items have the numbers of the tasks as names. {names_from(files)}")
    return None


def _item(task: _Task, raw: dict[str, Any], field: str | None, is_by_user: bool, place: str) -> str:
    """Return the item of a task; a field given by the user may also be outside of ``data``."""
    holder = raw if field is None or (is_by_user and field not in task.data) else task.data
    item = holder.get(field or "id")
    if item is None and field is not None:
        listed = ", ".join(map(shown, list(task.data)[:10]))
        gap = f"has no {shown(field)} in its data, which should name the item"
        raise fault(place, f"{gap}; fill it in, or give another with --item; it has {listed}")
    return str(checked_as(Text, item, place, field or "id"))


def _menu_of(options: Any) -> tuple[str, ...] | None:
    """Return the labels of a task's own menu; None if ``options`` is not a list of labels."""
    if not isinstance(options, list) or not options:
        return None
    names: list[str] = []
    waiting: list[tuple[str, Any]] = [("", option) for option in reversed(options)]
    while waiting:
        parents, option = waiting.pop()
        fields = option if isinstance(option, dict) else {"value": option}
        name = fields.get("alias") or fields.get("value")
        try:
            names.append(parents + text_of(name if isinstance(name, str) else None))
        except ValueError:
            return None
        children = fields.get("children")
        if isinstance(children, list):
            waiting += [(names[-1] + SEPARATOR, child) for child in reversed(children)]
    return tuple(dict.fromkeys(names))


def _rows(forms: Sequence[Form], controls: Mapping[str, str], reader: FormReader) -> list[Row]:
    all_rows: list[Row] = []
    options, tally, travelled = reader.options, reader.tally, Travelled()
    on_menus = {label for form in forms for label in form.menu or ()}
    if options.random_questions and not on_menus and not controls:
        raise InputError(
            "random_questions is given, but the tasks neither offer labels nor ask about one, so"
            " nothing was drawn; leave it out",
            parameter=_RANDOM,
        )
    for form in forms:
        tally.list_labels(form.menu or ())
        rows = reader.rows(form)
        answers: list[Row] = []
        question = _carried_question(form, controls)
        if question is not None:
            if form.is_led:
                question.probability, question.drawn = None, None
            more = {
                "answer_id": f"{form.answer_id}-asked" if any(reader.controls) else form.answer_id,
                "seconds": None if rows else form.seconds,
            }
            answer = _answer(form, question, controls[question.question], tally)
            if answer is not None:
                place = f"{form.place}, control {shown(controls[question.question])}"
                who = {"annotator": form.annotator, "time": form.time}
                answers = travelled.rows(question, answer, place, **who, **more)
        if len({row.answer_id for row in rows}) + bool(answers) > 1:  # whose time it is, is unknown
            rows = [row._replace(seconds=None) for row in rows]
        tally.counts["empty annotations"] += not rows and not answers and not form.is_cancelled
        all_rows += [*rows, *answers]
    return all_rows


def _answer(form: Form, question: Question, control: str, tally: Tally) -> str | list[str] | None:
    """Return what a form says to the question that the task brings along, if it says something."""
    tally.list_labels(question.offered)
    if form.is_cancelled:
        return UNSURE
    place = f"{form.place}, control {shown(control)}"
    answer = question.meaning(form.chosen.get(control, []), place)
    if answer == [] and question.question == "ticked":
        tally.counts["forms without a tick"] += 1
        tally.remark(
            "Where nothing was ticked, no labels on offer apply, because the tasks ask for all"
            " labels that do."
        )
    return answer


def _answer_of(choice: str) -> str | None:
    return _WORDS.get(choice.strip().casefold())


def _field(form: Form, name: str) -> Any:
    value = form.task.get(name)
    return None if isinstance(value, str) and not value.strip() else value


def _question_controls(forms: Sequence[Form], options: Options, path: Path) -> dict[str, str]:
    """Return the control with the answers to the questions of tasks, by kind of question."""
    controls: dict[str, str] = {}
    asked = _asked_control(forms, options, path)
    if asked is not None:
        controls["asked"] = asked
    for kind in dict.fromkeys(question_in(form.task) for form in forms):
        of_kind = [form for form in forms if question_in(form.task) == kind]
        has_word = any(form.task.get("question") for form in of_kind)
        if kind is None or kind in controls or not has_word:
            continue
        names = [*dict.fromkeys(name for form in of_kind for name in form.chosen)]
        others = [name for name in names if name not in (*options.absent, *options.present)]
        name = CONTROLS[kind] if CONTROLS[kind] in names or not names else [*others, *names][0]
        if kind == "asked" and others:
            text = f"control {shown(name)} has {_some(_choices_in(of_kind, name))}, which is no"
            raise fault(
                path,
                f"{text} answer to the question about the task's label; let people"
                " choose among yes, no and unsure",
            )
        if name != CONTROLS[kind] and (len(others) > 1 or name in CONTROLS.values()):
            raise fault(
                path,
                f"the questions of the tasks are {shown(kind)}, but people chose in control"
                f" {', '.join(map(shown, others))}; show such tasks the form that complabel"
                f" labelstudio-config writes for them, or call the control {CONTROLS[kind]!r}",
            )
        controls[kind] = name
    for name in controls.values():
        if name in (*options.absent, *options.present):
            raise fault(
                path,
                f"control {shown(name)} answers a question that each task brings along"
                f" (people chose {_some(_choices_in(forms, name))}), so what its labels mean is"
                " known; leave out --absent and --present for it",
            )
    return controls


def _choices_in(forms: Sequence[Form], control: str) -> list[str]:
    return [*dict.fromkeys(label for form in forms for label in form.chosen.get(control, ()))]


def _asked_control(forms: Sequence[Form], options: Options, path: Path) -> str | None:
    """Return the control with answers to the question about each task's label, if there is one.

    Choices such as "yes" are labels only if the user listed them, or if the task offered them.
    """
    chosen: dict[str, Counter[str]] = {}
    for form in forms:
        if question_in(form.task) in (None, "asked"):
            for name, labels in form.chosen.items():
                chosen.setdefault(name, Counter()).update(labels)
    listed = set(options.label_names or ())
    has_label = any(_field(form, LABEL) is not None for form in forms)
    controls = []
    for name, counts in chosen.items():
        words = [word for word in counts if _answer_of(word) and word not in listed]
        others = [word for word in counts if word not in words]
        if not words or (others and not has_label):
            continue
        by_user = (*options.absent, *options.present)
        if by_user and not has_label and name not in by_user:
            continue  # it asks about something else
        if others or not has_label:
            raise fault(path, _no_label(name, _some(words), others[0] if others else None))
        controls.append(name)
    if len(controls) > 1:
        text = f"has several controls with yes or no: {_some(controls)}; only one can be about the"
        raise fault(path, f"{text} task's label: export as JSON, or rename the choices of others")
    return controls[0] if controls else None


def _no_label(control: str, words: str, other: str | None = None) -> str:
    why = "but the tasks have no field 'label' to say about"
    why = why if other is None else f"and also {shown(other)}, which is no answer"
    return (
        f"in control {shown(control)} people chose {words}, {why}; if it asks whether a label"
        " applies, give each task the field 'label', and the choices yes, no and unsure; if these"
        " words are names of labels, list all with --label-names; if it asks about something else,"
        " say which control has labels with --present or --absent"
    )


def _some(words: Iterable[str]) -> str:
    return ", ".join(map(shown, list(words)[:3]))


def _carried_question(form: Form, controls: Mapping[str, str]) -> Question | None:
    kind = question_in(form.task) or ""
    if kind != "asked" and form.chosen.get(controls.get("asked", "")):
        text = f"control {shown(controls['asked'])} says yes or no, but the task's question is"
        text += f" {shown(form.task.get('question'))} and its label is {shown(_field(form, LABEL))}"
        raise fault(form.place, f"{text}; show each task the form of its question")
    return question_of(form.task, form.place, item=form.item) if kind in controls else None


_TITLE = "Label Studio: JSON, JSON-MIN, CSV, TSV"
LABEL_STUDIO = Format(
    name="label-studio",
    title=_TITLE,
    recognizes=_recognizes,
    read=_read,
    uses="absent present item unselected none question random_questions drop",
    reads="`data`, and of annotations choices, taxonomies, the person, times and reviews",
    counts=(*("annotations", "cancelled annotations", "rejected annotations"), "empty annotations"),
)
