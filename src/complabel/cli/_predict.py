"""`complabel predict`, `decide`, `onnx` and `show`: use a saved model, and see what it holds."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from complabel.cli import _options as options
from complabel.cli._console import (
    command,
    doubt,
    explain,
    remark,
    save,
    save_json,
    say,
    show_rows,
    visible,
    working,
)
from complabel.cli._inputs import ReadAs, SettledOrKept
from complabel.cli._made import FeaturesOrThings, say_made
from complabel.cli._options import option, target
from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel.answers import Answers
    from complabel.files import Features
    from complabel.methods import ComplementaryClassifier, SavedModel
    from complabel.trust import ChosenThresholds

_NEARLY_ALL = 0.95  # of the items


@options.with_examples(
    "predict model.safetensors X.csv --out predictions.csv",
    "predict model.safetensors X.npy --top 3 --out top.jsonl",
    "predict model.safetensors X.csv --labels --out labels.csv",
    "predict model.safetensors X.csv --answers answers.csv --out consensus.csv",
    "predict model.safetensors photos/ --out predictions.csv",
    "predict model.safetensors tickets.csv --out predictions.csv",
    "predict model.safetensors tickets.csv --text body --item id --out predictions.csv",
)
def predict(
    model: Path = options.MODEL,
    features: Path = options.FEATURES_OF_MODEL,
    *,
    out: Path = target(
        "Write here: .csv, .csv.gz, .parquet or .jsonl.",
        default=...,
        endings=(*options.TABLE, ".jsonl"),
    ),
    source: FeaturesOrThings,
    answers: list[Path] | None = option(
        "FILE",
        "Answers about some of the items. The probabilities of these items are then the consensus:"
        " given the features and all that people said, by how often each person errs. Give the"
        " option again for more files.",
    ),
    reading: ReadAs,
    top: int | None = option("K", "Write only the K most probable labels of each item.", min=1),
    threshold: float | None = options.share(
        "Write 1 where the probability is at least this, else 0. [default: write probabilities]",
        default=None,
    ),
    labels: bool = options.flag(
        "Write 1 where the probability is at least the label's threshold in the model, else 0;"
        " 'complabel decide' chooses thresholds.",
        "--labels",
    ),
    rows: int = option("N", "Number of rows in memory at a time.", default=65_536, min=1),
) -> None:
    """Predict the labels of items: one row for each item, one probability for each label.

    A folder of pictures, or a table of texts or of paths of pictures, may stand in place of the
    features, which are then made as the model's file says. It also says which column the texts are
    in. Probabilities are rounded to single precision, about 7 digits.
    """
    import numpy as np

    from complabel.files import PredictionWriter, iterate_features
    from complabel.methods import SavedModel, about_cardinality

    other = "--top" if threshold is None else "--threshold"
    if labels and (threshold is not None or top is not None):
        raise InputError(f"--labels and {other} are both given; choose one of them")
    saved = SavedModel.open(model, only_predicts=not answers)
    classifier, names = saved.classifier, saved.label_names
    thresholds = _thresholds(saved) if labels else threshold
    consensus = None
    if answers:
        saved.refuse_without_people("--answers")
        consensus = _Consensus(saved, reading.answers(answers, None, names))
    started, done = time.monotonic(), 0
    with (
        source.file(saved, features) as (read, made_of),
        working(f"predicting from {features}") as far,
        PredictionWriter(out, names, top=top, threshold=thresholds) as writer,
    ):
        settings: dict[str, Any] = {"n_features": classifier.n_features_in_, "n_rows": rows}
        for piece in iterate_features(read, items=source.items, **settings):
            if done == 0:
                doubt(saved.about_features(piece, read))
            exact = classifier.predict_proba(saved.columns_of(piece))
            if consensus is not None:
                consensus.replace_rows(exact, piece)
            # Thresholds are compared with the exact probabilities, before rounding.
            writer.write(piece.items, exact if thresholds is not None else exact.astype(np.float32))
            done += len(piece.items)
            speed = done / max(time.monotonic() - started, 1e-9)
            far(f"{done:,} items, {speed:,.0f} a second")
    say(f"wrote {out}: {done:,} items, {len(names)} labels")
    if consensus is not None:
        n_items = consensus.answers.n_items
        say(f"  {consensus.n_replaced:,} of them by consensus; {n_items:,} items have answers")
    if cardinality := about_cardinality(classifier):
        say(f"  labels per item: {cardinality}")
    say("next: measure the model on answers that it did not learn from, or on true labels:")
    if made_of is not None:
        features = say_made(saved, made_of)
    for of in ({"answers": "held-out.csv"}, {"truth": "truth.csv"}):
        say(f"  {command('evaluate', model, features, items=source.items, **of)}")


def _thresholds(model: SavedModel) -> Any:
    """Return the thresholds (K,) of a model, or say how it gets some."""
    thresholds = getattr(model.classifier, "thresholds_", None)
    if thresholds is None:
        raise InputError(
            f"{model.path} holds no thresholds; choose some from answers to random questions with"
            " complabel decide, or give one for all labels with --threshold"
        )
    return thresholds


class _Consensus:
    """What a model and people say together about items that have answers."""

    def __init__(self, model: SavedModel, answers: Answers) -> None:
        assert answers.item_names is not None  # a table names its items
        self.answers, self.n_replaced = answers, 0
        self._model: Any = model
        self._row_of = {str(name): row for row, name in enumerate(answers.item_names)}

    def replace_rows(self, probabilities: Any, piece: Features) -> None:
        """Replace the probabilities (b, K) of the items of a piece that have answers."""
        import numpy as np

        with_answers = [row for row, item in enumerate(piece.items) if item in self._row_of]
        if with_answers:
            rows = np.array(with_answers, dtype=np.intp)
            about = self.answers[[self._row_of[item] for item in piece.items[rows]]]
            X = self._model.columns_of(replace(piece, X=piece.X[rows]))
            probabilities[rows] = self._model.classifier.predict_consensus(X, about)
            self.n_replaced += len(rows)


@options.with_examples("onnx model.safetensors --out model.onnx")
def onnx(
    model: Path = options.MODEL,
    out: Path = target("Write to this file.", default=..., endings=(".onnx",)),
) -> None:
    """Save a model as an ONNX file, which runs in other programs and languages.

    The file takes features in single precision, and returns probabilities and labels as predict
    does. Names of labels and thresholds are in its metadata.
    """
    from complabel.methods import load, save_onnx

    classifier = load(model)
    save_onnx(classifier, out)
    n_labels = len(classifier.classes_)
    say(f"wrote {out}: {classifier.n_features_in_:,} features in, {n_labels} labels out")
    say('next: run it with onnxruntime, from Python, C#, Java or JavaScript (docs: "ONNX")')


@options.with_examples(
    "show model.safetensors", "show model.safetensors --html page.html --features X.csv"
)
def show_(
    model: Path = options.MODEL,
    features: Path | None = options.FEATURES_IF_ANY,
    items: Path | None = options.ITEMS,
    html: Path | None = target(
        "Also write a web page with charts to this file. With --features, it shows the likeliest"
        " items of each label.",
        page=True,
    ),
    json_file: Path | None = options.JSON_FILE,
) -> None:
    """Show what a model was trained on, what it chose, and what it knows of labels and people.

    Nothing in the file is run, so a stranger's file is safe to look at.
    """
    from complabel.methods import SavedModel
    from complabel.reports import describe_model, likeliest_items, render_model

    if features is None and items is not None:
        raise InputError("--items is given without --features; give both or neither")
    if features is not None and html is None and json_file is None:
        raise InputError(
            "--features is given, but nothing is written; add --html or --json, which get the"
            " likeliest items of each label"
        )
    saved = SavedModel.open(model, only_predicts=True)
    described = describe_model(saved.classifier, saved.header)
    if features is not None:
        table = FeaturesOrThings.of(items).read(saved, features)
        with working(f"predicting {len(table.items):,} items"):
            probabilities = saved.classifier.predict_proba(saved.columns_of(table))
        described["items"] = likeliest_items(probabilities, table.items, saved.label_names)
    say_model(described)
    if html is not None:
        save(html, render_model(described))
    save_json(json_file, described)


def say_model(described: Mapping[str, Any], only: Sequence[str] = ()) -> None:
    """Print what is known of a model, of its labels and of people; ``only`` some of the facts."""
    from complabel.reports import model_facts

    facts = model_facts(described)
    facts = {title: text for title, text in facts.items() if not only or title in only}
    widest = max(map(len, facts), default=0)
    for title, text in facts.items():
        say(f"{_one_line(title):{widest}}  {_one_line(text)}")
    _show_rows(described["labels"], "label", "Labels")
    if "low" in described["labels"][0]:
        explain(
            "frequency: the estimated share of the items to which the label applies; low, high: its"
            " interval of 95 %; those that are known least come first."
        )
    _show_rows(described["people"], "annotator", "People")


def say_fitted(classifier: ComplementaryClassifier, path: Path) -> None:
    """Print what a model chose in its fit, of a file that was written just now."""
    from complabel.methods import read_header
    from complabel.reports import describe_model

    only = ("chosen", "labels per item")
    say_model(describe_model(classifier, read_header(path)), only)


def _show_rows(rows: Sequence[Mapping[str, Any]], name: str, title: str) -> None:
    """Print a table of figures with a line for each label or person, if there are figures."""
    if not rows or len(rows[0]) == 1:
        return
    figures = [*rows[0]][1:]
    cells = [[_one_line(row[name]), *(_cell(row[each]) for each in figures)] for row in rows]
    left = "; complabel show --json FILE writes all of them"
    show_rows(title, name, [each.replace("_", " ") for each in figures], cells, left=left)


def _cell(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def _one_line(text: str) -> str:
    """Return a text of the file on one line, without control characters."""
    return visible(" ".join(text.split()))


@options.with_examples(
    "decide model.safetensors X.csv --answers questions.csv --out decided.safetensors",
    "decide model.safetensors X.csv --answers questions.csv --precision 0.9 --out sure.safetensors",
    "decide model.safetensors X.csv --answers answers.csv --cross-fit 5 --out decided.safetensors",
)
def decide(
    model: Path = options.MODEL,
    features: Path = options.FEATURES_OF_MODEL,
    *,
    answers: list[Path] = option(
        "FILE",
        "Answers to random questions that the model did not learn from. Give the option again for"
        " more files.",
        default=...,
    ),
    out: Path = target(
        "Write the model with its thresholds to this file, which ends in .safetensors.",
        default=...,
        endings=(".safetensors",),
    ),
    precision: float | None = options.share(
        "Promise that at least this share of the predicted labels apply.", default=None
    ),
    recall: float | None = options.share(
        "Promise that at least this share of the labels that apply are predicted.", default=None
    ),
    match_frequencies: bool = options.flag(
        "Predict each label as often as it applies.", "--match-frequencies"
    ),
    by_label: bool = options.flag(
        "Give each label with enough answers its own threshold, and its own promise.", "--by-label"
    ),
    confidence: float = options.share(
        "How often a promise is kept, over draws of the questions.", default=0.95
    ),
    cross_fit: int | None = options.cross_fit("decide about"),
    source: FeaturesOrThings,
    reading: SettledOrKept,
) -> None:
    """Choose from which probability on labels are predicted, and keep it in the model.

    Without --precision, --recall or --match-frequencies, F1 is as high as the answers let expect.
    """
    from complabel.methods import SavedModel
    from complabel.trust import choose_thresholds

    saved = SavedModel.open(model)
    saved.refuse_other_folds(cross_fit, None)
    table = source.read(saved, features)
    names = saved.label_names
    of_people = reading.answers(answers, list(table.items), names)
    probabilities = _probabilities(saved, table, of_people, cross_fit)
    chosen = choose_thresholds(
        of_people,
        probabilities,
        precision=precision,
        recall=recall,
        match_frequencies=match_frequencies,
        by_label=by_label,
        confidence=confidence,
    )
    promises = precision is not None or recall is not None
    if promises and not chosen.promised.any():
        raise InputError("\n".join(chosen.remarks) + "\nno model was written")
    saved.classifier.set_thresholds(chosen.values)
    saved.classifier.save(out, provenance={**saved.notes, "thresholds": f"for {chosen.aim}"})
    _show_thresholds(chosen, names, promises=promises)
    doubts = _doubts(of_people, probabilities, chosen, names, cross_fit)
    for line in (*chosen.remarks, *doubts):
        remark(line, style="yellow")
    if cross_fit is None:
        promised = "more is promised than holds" if promises else "these figures are too good"
        about = saved.about_answers(answers, promised)
        remark(about, style="yellow" if about.startswith("warning") else "")
    say(f"wrote {out}")
    of = {**source.typed(), "labels": True}
    say(f"next: {command('predict', out, features, **of, out='labels.csv')}")


def _probabilities(
    saved: SavedModel, table: Features, answers: Answers, cross_fit: int | None
) -> Any:
    """Return probabilities (n, K) by the model, or by fits without the answers about each item."""
    X = saved.columns_of(table)
    with working(f"predicting {answers.n_items:,} items") as far:
        if cross_fit is None:
            return saved.classifier.predict_proba(X)
        from complabel.methods import cross_fit_probabilities

        return cross_fit_probabilities(
            saved.classifier,
            X,
            answers,
            n_folds=cross_fit,
            on_fold=lambda number: far(f"{number} of {cross_fit} fits"),
        )


def _doubts(
    answers: Answers, probabilities: Any, chosen: ChosenThresholds, names: list[str], folds: Any
) -> list[str]:
    """Warn if features tell nothing of labels, or nearly all items get the same labels."""
    import numpy as np

    from complabel.methods import folds_of
    from complabel.trust import features_tell, some

    of_items = None if folds is None else folds_of(answers.answered, folds)
    sentence = features_tell(answers, probabilities, folds=of_items).sentence()
    doubts = [f"warning: {sentence}"] if sentence else []
    predicted = probabilities >= chosen.values
    sets = np.packbits(predicted, axis=1)
    _, first, counts = np.unique(sets, axis=0, return_index=True, return_counts=True)
    if (share := counts.max() / len(sets)) >= _NEARLY_ALL:
        labels = [names[k] for k in np.flatnonzero(predicted[first[counts.argmax()]])]
        which = f"the same labels ({some(labels)})" if labels else "no label at all"
        doubts.append(f"warning: with these thresholds, {share:.0%} of the items get {which}")
    return doubts


def _show_thresholds(chosen: ChosenThresholds, names: list[str], *, promises: bool) -> None:
    title = f"thresholds for {chosen.aim}"
    if not chosen.alone.any():
        say(f"{title}: {chosen.values[0]:.4f} for all {len(names)} labels")
    else:
        columns = ["threshold", "judged", *["promised"][: int(promises)]]
        rows = []
        for at, name in enumerate(names):
            promised = "no" if not chosen.promised[at] else "yes"
            if promised == "yes" and not chosen.alone[at]:
                promised = "together"
            cells = [f"{chosen.values[at]:.4f}", f"{chosen.n_judgements[at]:,}", promised]
            rows.append([name, *cells[: len(columns)]])
        show_rows(title, "label", columns, rows, left="")
    if promises:
        explain(
            f"promised: {chosen.aim}, over all items of this kind, but for a chance of"
            f" {1 - chosen.estimates.confidence:.2g} for each promise"
        )
    estimates = chosen.estimates
    figures = {"precision": estimates.precision, "recall": estimates.recall, "F1": estimates.f1}
    for name, figure in figures.items():
        interval = f"{figure.value:.3f}, from {figure.low:.3f} to {figure.high:.3f}"
        say(f"  {name:9} {'not known' if math.isnan(figure.value) else interval}")
