"""Write questions as the tasks of a tool, and forms of Label Studio that ask them.

The importer of the tool's export reads the answers. A form also says where a model's labels can be
shown: in the control with ``Choices`` that offers most of them.
"""

from __future__ import annotations

import csv
import functools
import itertools
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TextIO
from xml.etree import ElementTree

from complabel._opening import StrPath, ending_of
from complabel._parameters import check_choice
from complabel._questions import BY_STEM
from complabel._services import SERVICES
from complabel._settings import setting
from complabel._writing import explained, replacing
from complabel.errors import InputError
from complabel.files import COLUMNS, SHOWN, TO_DO, AnswerWriter, answers_to_arrow
from complabel.importers._batches import IDS, Batch, prompted
from complabel.importers._questions import CONTROLS, MARKED, WORDINGS, Task, tasks_of

XLSX = ".xlsx"


class Tool(NamedTuple):
    """How one tool gets its questions: what a task becomes, and how the tasks become a file."""

    endings: tuple[str, ...]
    task: Callable[[Task], Task]
    write: Callable[[list[Task], TextIO], object]


def write_questions(
    table: Any,
    path: StrPath,
    *,
    tool: str = "spreadsheet",
    shown: Mapping[Any, Mapping[str, str]] | None = None,
    label_names: Sequence[str] | None = None,
    model: str | None = None,
    folder: StrPath = ".",
    items_per_request: int = 1,
    logprobs: bool = False,
    written: list[Path] | None = None,
) -> int:
    """Write questions for a tool; ``complabel import`` reads its export without an option.

    Parameters
    ----------
    table : pandas.DataFrame, or mapping of column names to columns
        Questions as :func:`complabel.asking.suggest_questions` returns them; the rows of one to
        tick follow each other. A row with the question "named" has ``offered`` instead of
        ``label``, and may have ``asked_for``.
    path : path
        The file to write.
    tool : str, default="spreadsheet"
        One of "spreadsheet", "label-studio", "prodigy", "mturk", "replies", "openai", "mistral",
        "anthropic", "gemini" and "bedrock".
        "spreadsheet": the table itself, with a column that says what to fill in, as .xlsx,
        .csv, .csv.gz or .parquet. "label-studio": JSON; :func:`label_studio_config` writes the
        form. "prodigy": JSON lines for the views classification and choice. "mturk": a CSV file
        for Mechanical Turk. "replies": JSON lines for a language model. The last five: a batch of
        requests to a language model, with short ids. What each id asked stands in a file of the
        same name that ends in ``.ids.jsonl``. A question to tick asks for yes, no or unsure about
        each label. What is too much for one file of a service is divided: ``NAME-1.jsonl``, ...
    shown : mapping of item to mapping, or None, default=None
        What people see of each item, in the fields ``text``, ``image`` and ``url``; "replies" need
        it.
    label_names : sequence of str, or None, default=None
        All labels; they are offered by "named" questions without ``offered``.
    model : str or None, default=None
        The name of the model, in batches; they need it.
    folder : path, default="."
        From where the paths of pictures are seen, in batches.
    items_per_request : int, default=1
        How many items a request of a batch is about, if all labels of each are judged.
    logprobs : bool, default=False
        Whether requests about one label ask how probable yes and no are; some models refuse that.
    written : list of Path or None, default=None
        The paths of the files of requests are appended to it.

    Returns
    -------
    int
        Number of questions that need an answer.

    Raises
    ------
    InputError
        If the table has other questions, one without labels, a naming that is already answered,
        none to ask, or an item that is not in ``shown``; if the file's name has another ending.
    OutputError
        If the file cannot be written.

    Notes
    -----
    Known answers belong to the random sample of questions. In a spreadsheet they stand in their
    row. In tasks they travel in the field ``known`` of the question that follows them, and the
    importer takes them from there.

    To a language model, send the field ``prompt`` of each line, which holds the item's text, and
    with it the picture that the field ``image`` names, if there is one. Add what it says as
    ``reply``, and if you like ``annotator``.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "prompts.jsonl"
    >>> questions = {"item": [4], "label": ["dog"], "question": ["asked"], "probability": [0.5]}
    >>> texts = {4: {"text": "A puppy in the snow."}}
    >>> write_questions(questions, path, tool="replies", shown=texts)
    1
    >>> print(json.loads(path.read_text())["prompt"])
    Does the label 'dog' apply to this item? Answer yes, no, or unsure.
    <BLANKLINE>
    The item is this text:
    A puppy in the snow.
    """
    check_choice("tool", tool, ("spreadsheet", *TOOLS, *SERVICES))
    if tool in ("replies", *SERVICES) and shown is None:
        raise InputError(
            "a prompt holds what the model sees of the item, and nothing is shown; give"
            f" {setting('shown')}",
            parameter="shown",
        )
    target = Path(path)
    seen = None if shown is None else {str(item): dict(each) for item, each in shown.items()}
    tasks = tasks_of(table, seen, label_names)
    if tool == "spreadsheet":
        _write_sheet(table, target, seen)
        return len(tasks)
    if tool in SERVICES:
        if not model:
            raise InputError(f"a batch names its model; give {setting('model')}", parameter="model")
        batch = Batch(tool, model, Path(folder), items_per_request, logprobs)
        paths = _write_batch(tasks, target, batch)
        if written is not None:
            written += paths
        return len(tasks)
    its = TOOLS[tool]
    if not ending_of(target, its.endings):
        raise InputError(f"{target}: {tool} needs a name that ends in {', '.join(its.endings)}")
    with (
        explained(target),
        replacing(target) as partial,
        partial.open("w", encoding="utf-8", newline="") as out,
    ):
        its.write([its.task(task) for task in tasks], out)
    return len(tasks)


def _write_batch(tasks: list[Task], target: Path, batch: Batch) -> list[Path]:
    """Write requests, and beside each file of them the table of their ids; return the files."""
    service = SERVICES[batch.tool]
    ending = ending_of(target, (service.ending,))
    if not ending:
        raise InputError(f"{target}: {batch.tool} needs a name that ends in {service.ending}")
    batch.check(tasks)
    counts, requests = batch.files(tasks), batch.requests(tasks)
    stem, before = target.name.removesuffix(ending), service.around[0]
    names = [f"{stem}-{n}{ending}" for n in range(1, len(counts) + 1)]
    paths = [target] if len(counts) == 1 else [target.with_name(name) for name in names]
    for path, count in zip(paths, counts, strict=True):
        with (
            explained(table_of_ids(path)),
            replacing(table_of_ids(path)) as partial_ids,
            explained(path),
            replacing(path) as partial,
            partial.open("w", encoding="utf-8", newline="") as out,
            partial_ids.open("w", encoding="utf-8", newline="") as table,
        ):
            for at, (request, lines) in enumerate(itertools.islice(requests, count)):
                out.write((service.around[1] if at else before) + request)
                _write_lines(lines, table)
            out.write(service.around[2])
    return paths


def table_of_ids(path: Path) -> Path:
    """Return the path of the table of ids beside a file of requests."""
    return path.with_name(path.name.rpartition(".")[0] + IDS)


def _label_studio(task: Task) -> Task:
    options = [{"value": label} for label in _choices(task)]
    return {"data": {**task, **({"options": options} if options else {})}}


def _prodigy(task: Task) -> Task:
    # By its own hashes of text and label, Prodigy would ask only once about two equal texts.
    asked = json.dumps([task["item"], task["answer_id"], task.get("label"), task.get("offered")])
    hashed = {"_input_hash": task["item"], "_task_hash": asked}
    task = task | {name: zlib.crc32(text.encode()) for name, text in hashed.items()}
    if task["question"] == "asked":
        return task
    style = "single" if task.get("asked_for") == 1 else "multiple"
    options = [{"id": label, "text": label} for label in _choices(task)]
    return {**task, "options": options, "config": {"choice_style": style}}


def _choices(task: Task) -> list[str]:
    """Return what a form offers; who names a label may also say that there is none to name."""
    question = task["question"]
    none = [WORDINGS[question].fixed] if BY_STEM[question].names else []
    return [*task.get("offered", ()), *none]


def _mturk(task: Task) -> Task:
    cells = {name: task.get(name, "") for name in (*SHOWN, *_CELLS)} | {
        "sentence": WORDINGS[task["question"]].sentence(task)
    }
    return {
        name: json.dumps(cell, ensure_ascii=False) if isinstance(cell, list) else cell
        for name, cell in cells.items()
    }


_CELLS = [
    *("item", "question", "label", "offered", "asked_for", "probability", "drawn", "answer_id"),
    "known",
]


def _write_lines(tasks: list[Task], out: TextIO) -> None:
    out.writelines(json.dumps(task, ensure_ascii=False) + "\n" for task in tasks)


def _write_cells(tasks: list[Task], out: TextIO) -> None:
    writer = csv.DictWriter(out, [*tasks[0]])
    writer.writeheader()
    writer.writerows(tasks)


TOOLS = {
    "label-studio": Tool(
        (".json",), _label_studio, partial(json.dump, ensure_ascii=False, indent=1)
    ),
    "prodigy": Tool((".jsonl",), _prodigy, _write_lines),
    "mturk": Tool((".csv",), _mturk, _write_cells),
    "replies": Tool((".jsonl",), prompted, _write_lines),
}

_KNOWN = "This was known before. Leave the row as it is."


def _write_sheet(table: Any, target: Path, shown: Mapping[str, Task] | None) -> None:
    columns: dict[str, list[Any]] = {
        name: list(table[name]) for name in COLUMNS if name in getattr(table, "columns", table)
    }
    items = list(map(str, columns["item"]))
    n_rows = len(items)
    for name in SHOWN:
        if shown is not None and any(name in each for each in shown.values()):
            columns[name] = [shown[item].get(name) for item in items]
    kinds = columns.get("question", ["asked"] * n_rows)
    answers = columns.get("answer", [None] * n_rows)
    columns[TO_DO] = [
        WORDINGS[kind].to_do if answer is None or answer != answer else _KNOWN
        for kind, answer in zip(kinds, answers, strict=True)
    ]
    more = [name for name in columns if name not in COLUMNS]
    if ending_of(target, (XLSX,)):
        _write_xlsx(answers_to_arrow(columns, more=more), target)
        return
    with AnswerWriter(target, more=more) as writer:
        writer.write(columns)


def _write_xlsx(table: Any, target: Path) -> None:
    """Write a sheet in which texts stay texts, also "0012" and those that look like formulas."""
    try:
        from openpyxl import Workbook  # type: ignore[import-untyped]
        from openpyxl.cell import WriteOnlyCell  # type: ignore[import-untyped]
        from openpyxl.cell.cell import (  # type: ignore[import-untyped]
            ILLEGAL_CHARACTERS_RE,
        )
    except ModuleNotFoundError as cause:
        raise InputError(
            f'{target}: writing .xlsx needs openpyxl; run pip install "complabel[tables]", or give'
            " a name that ends in .csv"
        ) from cause
    book = Workbook(write_only=True)
    sheet = book.create_sheet("questions")
    sheet.freeze_panes = "A2"
    for row in [table.schema.names, *zip(*table.to_pydict().values(), strict=True)]:
        cells = [
            WriteOnlyCell(sheet, ILLEGAL_CHARACTERS_RE.sub("", v) if isinstance(v, str) else v)
            for v in row
        ]
        for cell, value in zip(cells, row, strict=True):
            if isinstance(value, str):
                cell.data_type = "s"
        sheet.append(cells)
    with explained(target), replacing(target) as partial:
        book.save(partial)


_BOTH = "Name one label that does not apply. Then mark labels that apply, if you like."
_OBJECTS = {"image": "Image", "text": "Text", "url": "HyperText", "audio": "Audio"}
_KEYS = {"yes": "y", "no": "n", "unsure": "s"}


def label_studio_config(
    label_names: Sequence[str],
    *,
    question: str = "named",
    show: str = "image",
    field: str | None = None,
) -> str:
    """Write a labelling configuration for Label Studio.

    Parameters
    ----------
    label_names : sequence of str
        All labels; for the question "asked" none. For "named" and "ticked", none means the menu
        that each task of ``complabel ask --for label-studio`` has in its field ``options``.
    question : {"named", "ticked", "both", "asked", "positive"}, default="named"
        "positive": name one that applies, in ``one_that_applies``; without labels, of the menu.
        "named": name one label that does not apply, in the control ``not_this``; without labels,
        one of the task's menu. "ticked": tick all that apply, in ``applies``; without labels, all
        of the task. "both": name one in ``not_this``, and mark labels that apply in ``this``.
        "asked": yes, no or unsure about the label in the task's field ``label``; the keys y, n and
        s choose.
    show : {"image", "text", "url", "audio"}, default="image"
        What a task shows.
    field : str or None, default=None
        The field of a task that holds it; None: named as ``show``.

    Returns
    -------
    str
        XML that can be pasted into the settings of a project.

    Raises
    ------
    InputError
        If labels are missing, empty, repeated or not printable, or a word is not allowed.

    Examples
    --------
    >>> print(label_studio_config(["sea", "sky & sun"]))
    <View>
      <Image name="item" value="$image" />
      <Header value="Name one label that does not apply." />
      <Choices name="not_this" toName="item" choice="single" showInline="true">
        <Choice value="sea" />
        <Choice value="sky &amp; sun" />
      </Choices>
    </View>
    """
    check_choice("question", question, (*WORDINGS, "both"))
    check_choice("show", show, tuple(_OBJECTS))
    wording = WORDINGS["named" if question == "both" else question]
    menus = question not in ("asked", "both") and not len(label_names)
    names = [] if question == "asked" or menus else _checked(label_names)
    view = ElementTree.Element("View")
    item = ElementTree.SubElement(view, _OBJECTS[show], name="item", value=f"${field or show}")
    if show == "url":
        item.set("valueType", "url")
    header = _BOTH if question == "both" else wording.header
    ElementTree.SubElement(view, "Header", value=header)
    mode = "multiple" if question == "ticked" else "single"
    if question == "asked":
        ElementTree.SubElement(view, "Header", value="$label")
        _choice_tags(view, wording.control, mode, [*_KEYS])
    elif menus:
        _choice_tags(view, wording.control, mode, [], value="$options")
    else:
        _choice_tags(view, wording.control, mode, names)
    if question == "both":
        ElementTree.SubElement(view, "Header", value="These apply:")
        _choice_tags(view, MARKED, "multiple", names)
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode")


def _choice_tags(
    view: ElementTree.Element, name: str, mode: str, values: Sequence[str], **more: str
) -> None:
    attributes = {"name": name, "toName": "item", "choice": mode, "showInline": "true", **more}
    control = ElementTree.SubElement(view, "Choices", attributes)
    for value in values:
        choice = ElementTree.SubElement(control, "Choice", value=value)
        if name == WORDINGS["asked"].control:
            choice.set("hotkey", _KEYS[value])


def _checked(label_names: Sequence[str]) -> list[str]:
    names = list(label_names)
    if not names:
        raise InputError("there are no labels; give their names, one on each line of a file")
    for at, name in enumerate(names):
        if not name.strip():
            raise InputError(f"label {at} is {name!r}; give each label a name")
        if name in names[:at]:
            raise InputError(f"the label {name!r} occurs twice; give each label once")
        if not name.isprintable():
            raise InputError(f"the label {name!r} cannot be shown; give another name")
    return names


# People must not see a model's guess while they are asked: the guess would change their answers.
_ASKS = (CONTROLS["named"], CONTROLS["ticked"], CONTROLS["positive"])
_LONGEST = 1_000_000
_TEXTS = ("Text", "HyperText")


class FormError(InputError):
    """A form has no control in which the model's labels could be shown."""


@dataclass(frozen=True)
class Control:
    """A control with choices; ``text`` is the field of a task that its object shows as a text."""

    name: str
    to_name: str
    is_single: bool
    choices: frozenset[str]
    text: str | None = None

    def result(self, labels: list[str]) -> list[dict[str, Any]]:
        """Return labels as a result of this control; none is no result."""
        about = {"from_name": self.name, "to_name": self.to_name, "type": "choices"}
        return [{**about, "value": {"choices": labels}}] if labels else []


@functools.lru_cache(maxsize=8)
def _controls_of(form: str) -> tuple[Control, ...]:
    """Return the controls of a form with choices about a whole item.

    Nothing outside of the text is read, and no entities are expanded, because none can be declared.
    """
    if "<!DOCTYPE" in form:
        raise FormError("the form has a DOCTYPE, which no form of Label Studio needs")
    try:
        root = ElementTree.fromstring(form)
    except ElementTree.ParseError as error:
        raise FormError(f"the form is not XML: {error}") from None
    texts = {x.get("name", ""): x.get("value", "") for tag in _TEXTS for x in root.iter(tag)}
    controls = []
    for each in root.iter("Choices"):
        to_name = each.get("toName", "").split(",")[0]
        value = texts.get(to_name, "")
        if "true" not in (each.get("perRegion"), each.get("perItem")):
            names = (x.get("alias") or x.get("value") or "" for x in each.iter("Choice"))
            controls.append(
                Control(
                    name=each.get("name", ""),
                    to_name=to_name,
                    is_single=each.get("choice", "single") != "multiple",
                    choices=frozenset(names),
                    text=value[1:] if value.startswith("$") else None,
                )
            )
    return tuple(controls)


def control_of(form: Any, label_names: Sequence[str]) -> Control:
    """Return the control of a form that offers most of the labels, or refuse the form."""
    if not isinstance(form, str):
        raise FormError("there is no form; send the labelling configuration of the project")
    if len(form) > _LONGEST:  # forms are kept in memory
        raise FormError(f"the form has more than {_LONGEST:,} characters")
    controls = _controls_of(form)
    asks = next((control.name for control in controls if control.name in _ASKS), None)
    if asks is not None:
        raise FormError(
            f"the form is one of labelstudio-config, and asks people in its control {asks!r}; a"
            " guess of the model would change what they answer. Show guesses in another project"
        )
    offered = {each: len(each.choices & {*label_names}) for each in controls}
    most = max(offered.values(), default=0)
    best = [each for each in controls if offered[each] == most]
    if most == 0:
        listed = ", ".join(repr(each.name) for each in controls) or "none"
        raise FormError(
            f"no control of the form offers a label of the model, such as {label_names[0]!r:.80};"
            f" its controls with choices: {listed}"
        )
    if len(best) > 1:
        raise FormError(
            f"the controls {best[0].name!r} and {best[1].name!r} of the form offer equally many"
            " of the model's labels; keep the choices of one of them"
        )
    return best[0]
