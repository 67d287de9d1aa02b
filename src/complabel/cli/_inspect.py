"""`complabel inspect` and `consensus`: what answers tell, before anything is fitted."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, cast

from complabel.cli import _options as options
from complabel.cli._console import (
    arguments,
    command,
    explain,
    output,
    save_json,
    say,
    show_rows,
    working,
)
from complabel.cli._inputs import ReadAs, read_own_features
from complabel.cli._options import argument, option, target
from complabel.cli._outputs import unused
from complabel.errors import AnnotationError, InputError

if TYPE_CHECKING:
    from complabel.answers import Answers
    from complabel.files import Features
    from complabel.methods import SavedModel

_TABLES = (".csv", ".tsv", ".gz", ".parquet")
# It loads benchmark datasets and files of one's own in which people really ruled labels out.
_LOAD_EXCLUDED = "complabel.experiments.datasets:load_excluded"
# Wider lines are hard to read.
_MOST_COLUMNS = 100
_MOST_IN_COMMAND = 6  # people whose rates stand in a command
_LONGEST_INTERVAL = 0.3  # of missed labels; with longer ones, the rates of people are not known
_ENOUGH_REPEATED = 30  # pairs; with fewer, complabel.people says that nothing tells who errs
_FEWEST_FITTED = 30
_MOST_FITTED = 2_000  # items whose answers tell what features know; more would take minutes
_MOST_JUDGED = 100_000  # judgements from which people are compared; more would take minutes


@options.with_examples(
    "inspect answers.csv",
    "inspect answers.csv answered-questions.csv --features X.csv --html page.html",
    "inspect answers.csv --model model.safetensors --features X.csv --doubtful doubtful.csv",
    "inspect mirflickr --data-dir DIR --json found.json",
)
def inspect(
    answers: list[str] = argument(
        "ANSWERS",
        "Tables of answers, as complabel import writes; or one dataset in which people"
        " ruled labels out, such as mirflickr.",
    ),
    *,
    features: Path | None = option("FILE", "Features of all items, with or without an answer."),
    items: Path | None = options.ITEMS,
    label_names: Path | None = options.LABEL_NAMES,
    reading: ReadAs,
    model: Path | None = option(
        "FILE",
        "With --features: a model of complabel fit. It says how often each person misses a label"
        " that applies, and invents one that does not.",
    ),
    doubtful: Path | None = target(
        "With --model: write the answers that are most probably wrong to this file, as questions"
        " to ask again.",
        endings=options.TABLE,
    ),
    n: int = options.QUESTIONS_TO_DRAW,
    html: Path | None = target(
        "Also write a web page with charts to this file. If several people judged the same, it"
        " shows how often each errs, and answers to check.",
        page=True,
    ),
    json_file: Path | None = options.JSON_FILE,
    data_dir: Path | None = options.DATA_DIR,
) -> None:
    """Check answers for gaps, contradictions and failed assumptions, and suggest what to ask next.

    No file is changed. With --features, models of parts of the answers, which are not kept, show of
    which labels the features tell nothing. A model of complabel fit says more: how often each
    person errs, and which answers are probably wrong.
    """
    from complabel.asking import inspect_answers
    from complabel.reports import inspection_lines, write_inspection_page

    of_features = {"features": features, "items": items}
    is_table = all(Path(name).suffix in _TABLES for name in answers)
    saved = _load(model, features, items, doubtful)
    if is_table:
        table = None if features is None else read_own_features(features, items, model=saved)
        item_names = None if table is None else list(table.items)
        names = saved.label_names if saved is not None and label_names is None else label_names
        answer_set = reading.answers([*map(Path, answers)], item_names, names, says=False)
        X = None if table is None else table.X
        settings = {"items": items, "label_names": label_names, "read_as": reading.read_as}
        source = arguments(*answers, **settings)
    else:
        answer_set, X = _of_dataset(answers, features, label_names, data_dir)
        source = ""
    with working("looking at the answers"):
        inspection = inspect_answers(
            answer_set,
            X,
            labels_listed=not is_table or label_names is not None or saved is not None,
            source=source,
            features="" if features is None else shlex.quote(str(features)),
        )
    for line in inspection_lines(inspection, min(output().width, _MOST_COLUMNS)):
        say(line)
    as_json = inspection.as_json()
    about_people = _say_what_features_tell(X, answer_set, as_json) if is_table else {}
    if saved is not None and is_table and table is not None:
        about_people |= _by_model(saved, table, answer_set)
        as_json["people"] = show_people(about_people["people"], "By the model")
    elif html is not None and inspection.people_compared:
        about_people |= _by_what_people_say(answer_set, sum(x.judged for x in inspection.labels))
    if html is not None:
        write_inspection_page(inspection, html, **about_people)
        say(f"wrote {html}")
    if doubtful is not None:
        again = _ask_again(about_people["doubtful"], doubtful, n)
        say_fit((*answers, again), label_names, reading, of_features)
    save_json(json_file, as_json)


def _ask_again(suspects: Mapping[str, Any], path: Path, n: int) -> Path:
    """Write doubtful answers as questions; say how they come back, and in which file."""
    write_doubtful(suspects, path, n)
    again = unused(path.with_name(f"answered-{path.name}"))
    say("next: fill in the columns answer (yes, no, unsure) and annotator, then")
    say(f"  {command('import', path, out=again)}")
    return again


def _say_what_features_tell(X: Any, answer_set: Answers, as_json: dict[str, Any]) -> dict[str, Any]:
    """Say what features tell of held-out answers, if enough judge labels; return it for a page."""
    import numpy as np

    rows = np.unique(answer_set.item[answer_set.judges])
    if X is None or len(rows) < _FEWEST_FITTED:
        return {}
    from complabel.answers import resolve_contradictions
    from complabel.methods import SelectionLikelihoodClassifier, held_out_score
    from complabel.trust import features_tell

    if len(rows) > _MOST_FITTED:
        rows = np.sort(np.random.default_rng(0).choice(rows, _MOST_FITTED, replace=False))
    X, answer_set = X[rows], resolve_contradictions(answer_set[rows], "majority")
    with working("looking at what the features tell"):
        try:
            score = held_out_score(SelectionLikelihoodClassifier(random_state=0), X, answer_set)
        except AnnotationError:  # as where nobody said no
            return {}
    tell = features_tell(answer_set, score.probabilities, folds=score.folds)
    as_json["features_tell"] = tell.as_dict()
    lines = [*tell.lines(), *filter(None, [tell.sentence()])]
    say("\n".join(["", *lines]))
    return {"told": lines}


def _by_model(saved: SavedModel, table: Features, answer_set: Answers) -> dict[str, Any]:
    """Return what a page shows of people by a model: who errs, and answers to check."""
    X, classifier = saved.columns_of(table), cast("Any", saved.classifier)
    return {
        "people": classifier.annotators_table(X, answer_set),
        "doubtful": classifier.doubtful_answers(X, answer_set),
        "found_by": "These are the rates and probabilities of the model that was given. It weighs"
        " the features of an item and all answers about it.",
    }


def _by_what_people_say(answer_set: Answers, n_judged: int) -> dict[str, Any]:
    """Return what a page shows of people without a model: who errs, and answers to check."""
    import numpy as np

    from complabel.people import find_consensus

    part = ""
    if n_judged > _MOST_JUDGED:
        n = max(1, answer_set.n_items * _MOST_JUDGED // n_judged)
        drawn = np.random.default_rng(0).choice(answer_set.n_items, n, replace=False)
        answer_set = answer_set[np.sort(drawn)]
        part = f" This page looks at a random {n:,} items only; complabel consensus looks at all."
    with working("comparing people"):
        result = find_consensus(None, answer_set, random_state=0)
    return {
        "people": result.people,
        "doubtful": result.doubtful,
        "found_by": "Nobody knows the truth here. Each person is compared with what people say"
        f" together, by the answers alone; {result.n_repeated:,} pairs of an item and a label were"
        f" judged more than once. People who all err in the same way look right.{part} With"
        " --model, the features count, too.",
    }


def say_fit(
    answers: Sequence[Any],
    label_names: Path | None,
    reading: ReadAs,
    of_features: Mapping[str, Any],
    mistakes: str = "missed=auto,invented=auto",
) -> None:
    """Print the command that fits a model which allows for mistakes to these answers."""
    features = {**of_features, "features": of_features["features"] or "X.csv"}
    of = {**features, "label_names": label_names, **reading.typed(), "contradictions": "keep"}
    of |= {"method": f"selection-likelihood:{mistakes}", "out": "model.safetensors"}
    say(f"  {command('fit', *answers, **of)}")


def _load(
    model: Path | None, features: Path | None, items: Path | None, doubtful: Path | None
) -> SavedModel | None:
    """Load the model of ``--model``, if it is given with what it needs and knows people."""
    if items is not None and features is None:
        raise InputError(
            "--items is given without --features; it names the rows of the features, so give both"
            " or neither"
        )
    if model is None and doubtful is not None:
        raise InputError("--doubtful is given without --model; also give a model of complabel fit")
    if model is None:
        return None
    if features is None:
        raise InputError("--model is given without --features; also give the features of the items")
    from complabel.methods import SavedModel

    saved = SavedModel.open(model)
    saved.refuse_without_people("--model")
    return saved


def show_people(columns: Mapping[str, Any], title: str) -> list[dict[str, Any]]:
    """Print how often people err, those who judged most first; return all as plain values."""
    from complabel.trust import some

    values = {name: column.tolist() for name, column in columns.items()}
    people = [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
    people.sort(key=lambda person: -person["judged"])
    if not people:
        say("\nNo known person judged labels, so nothing tells how often people err.")
        return people
    rows = []
    for person in people:
        rates = []
        for name in ("missed", "invented"):
            low, high = person[f"{name}_low"], person[f"{name}_high"]
            rates += [f"{person[name]:.1%}", f"{low:.1%} to {high:.1%}"]
        rows.append([person["annotator"] or "(not named)", f"{person['judged']:,}", *rates])
    show_rows(title, "annotator", ("judged", "misses", "95 %", "invents", "95 %"), rows)
    explain(
        "misses: of the labels that apply, the share that this person says does not; invents: of"
        " those that do not apply, the share that this person says does."
    )
    alike = [repr(person["annotator"]) for person in people if not person.get("told_apart", True)]
    if alike:
        explain(
            f"Nothing tells whether {some(alike)} err, or those who judged the same: the intervals"
            " reach from none to all of what they contradict. If a third person judges the same"
            " pairs as two of them, the answers tell."
        )
    return people


def write_doubtful(suspects: Mapping[str, Any], path: Path, n: int) -> None:
    """Write the n most doubtful pairs of an item and a label as questions without answers."""
    from complabel.files import AnswerWriter

    rows: dict[tuple[Any, Any], int] = {}
    for row, pair in enumerate(zip(suspects["item"], suspects["label"], strict=True)):
        rows.setdefault(pair, row)
        if len(rows) == n:
            break
    chosen = [*rows.values()]
    with AnswerWriter(path, more=("said", "said_by", "wrong")) as writer:
        writer.write(
            {
                "item": suspects["item"][chosen],
                "label": suspects["label"][chosen],
                "question": ["asked"] * len(chosen),
                "said": ["yes" if applies else "no" for applies in suspects["said"][chosen]],
                "said_by": suspects["annotator"][chosen],
                "wrong": [f"{chance:.3f}" for chance in suspects["wrong"][chosen]],
            }
        )
    expected = suspects["wrong"][chosen].sum()
    say(f"wrote {path}: {len(chosen):,} answers to check, of which about {expected:.0f} are wrong")


def _of_dataset(
    names: Sequence[str], features: Path | None, label_names: Path | None, data_dir: Path | None
) -> tuple[Answers, Any]:
    if len(names) > 1 or features is not None or label_names is not None:
        raise InputError(
            f"{' '.join(names)}: give either tables of answers ({', '.join(_TABLES)}), or one"
            " dataset without --features and --label-names, which it has itself"
        )
    loaded: tuple[Answers, Any] = resolve_name(_LOAD_EXCLUDED)(names[0], data_dir=data_dir)
    return loaded


@options.with_examples(
    "consensus answers.csv --out consensus.csv",
    "consensus answers.csv --features X.csv --out consensus.csv --doubtful doubtful.csv",
)
def consensus(
    answers: list[Path] = options.ANSWERS,
    *,
    out: Path = target(
        "Write the share of people who would say that a label applies: .csv, .csv.gz, .parquet or"
        " .jsonl.",
        default=...,
        endings=(*options.TABLE, ".jsonl"),
    ),
    features: Path | None = options.FEATURES_IF_ANY,
    items: Path | None = options.ITEMS,
    label_names: Path | None = options.LABEL_NAMES,
    reading: ReadAs,
    doubtful: Path | None = target(
        "Write the answers that others would least agree with to this file, as questions to ask"
        " again.",
        endings=options.TABLE,
    ),
    n: int = options.QUESTIONS_TO_DRAW,
    folds: int = option(
        "N", "Parts of the items: a model of the others looks at each.", default=5, min=2
    ),
    seed: int = option("N", "Seed of the parts.", default=0, min=0),
    json_file: Path | None = options.JSON_FILE,
) -> None:
    """Find what people would say together about the items that some of them judged.

    Needs yes/no answers or ticked labels. Items that several people judged tell who errs.
    """
    from complabel.files import PredictionWriter
    from complabel.people import find_consensus

    table = None if features is None else read_own_features(features, items)
    item_names = None if table is None else list(table.items)
    answer_set = reading.answers(answers, item_names, label_names)
    X = None if table is None else table.framed()
    assert answer_set.item_names is not None  # a table names its items
    labels = answer_set.label_names or [str(k) for k in range(answer_set.n_labels)]
    unsure = reading.unsure(answers, answer_set)
    if len(unsure[0]):
        say(f"  {len(unsure[0]):,} times somebody was unsure, which counts, too")
    with working("finding the consensus"):
        result = find_consensus(X, answer_set, unsure=unsure, cv=folds, random_state=seed)
    with PredictionWriter(out, list(labels)) as writer:
        writer.write(answer_set.item_names, result.share)
    people = show_people(result.people, "By what people say together")
    numbers = {"n_repeated": result.n_repeated, "n_states": result.n_states}
    save_json(json_file, {"people": people, **numbers})
    say(f"wrote {out}: {answer_set.n_items:,} items, {answer_set.n_labels} labels")
    say(f"  {result.n_repeated:,} pairs of an item and a label were judged more than once")
    if result.n_states == 2:
        say("  they do not show that people differ; if people miss many labels, shares are low:")
        say("  complabel predict --answers says how probably a label applies")
    if doubtful is not None:
        write_doubtful(result.doubtful, doubtful, n)
    # People who differ about doubtful cases do not err at random. On new items, models with rates
    # of missed labels were worse than those with a small error rate (benchmarks/relations.py).
    say("next: learn from the answers, to predict items that nobody was asked about:")
    mistakes = "error_rate=0.05"
    if result.n_states == 2 and result.n_repeated >= _ENOUGH_REPEATED:
        mistakes = _measured(result.people)
    of_features = {"features": features, "items": items}
    say_fit(answers, label_names, reading, of_features, mistakes=mistakes)


def _measured(people: Mapping[str, Any]) -> str:
    """Return the rates of people as settings of a method; of many people, that they be found.

    If an interval of missed labels is long, labels per item could be anything: then a small rate.
    """
    width = people["missed_high"] - people["missed_low"]
    if not width.size or not (width <= _LONGEST_INTERVAL).all():  # not a number: nobody judged
        return "error_rate=0.05"
    rates = [people[name].tolist() for name in ("missed", "invented")]
    are_rates = all(0 <= rate < 1 for each in rates for rate in each)
    if not are_rates or len(rates[0]) > _MOST_IN_COMMAND:
        return "missed=auto,invented=auto"
    missed, invented = (",".join(f"{rate:.3f}" for rate in each) for each in rates)
    return f"missed=[{missed}],invented=[{invented}]"
