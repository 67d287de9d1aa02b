"""`complabel consensus`: what people would say together about items that they answered about."""

from __future__ import annotations

from pathlib import Path

from complabel.cli import _options as options
from complabel.cli import _own as own
from complabel.cli._console import save_json, say, working
from complabel.cli._inspect import say_fit, show_people, write_doubtful
from complabel.cli._options import option, target

_ENDINGS = (".csv", ".csv.gz", ".parquet", ".jsonl")


@options.with_examples(
    "consensus answers.csv --out consensus.csv",
    "consensus answers.csv --features X.csv --out consensus.csv --doubtful doubtful.csv",
)
def consensus(
    answers: list[Path] = options.ANSWERS,
    out: Path = target(
        "Write the share of people who would say that a label applies: .csv, .csv.gz, .parquet or"
        " .jsonl.",
        default=...,
        endings=_ENDINGS,
    ),
    features: Path | None = options.FEATURES_IF_ANY,
    items: Path | None = options.ITEMS,
    label_names: Path | None = options.LABEL_NAMES,
    question: str | None = options.QUESTION,
    doubtful: Path | None = target(
        "Write the answers that others would least agree with to this file, as questions to ask"
        " again.",
        endings=options.TABLE,
    ),
    n: int = option("N", "Number of these questions.", "-n", "--number", default=200, min=1),
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

    found = None if features is None else own.read_own_features(features, items)
    known = None if found is None else list(found.items)
    said = own.read_own_answers(answers, known, label_names, question, "keep")
    X = None if found is None else own.framed(found.X, found.feature_names)
    with working("finding the consensus"):
        result = find_consensus(X, said, cv=folds, random_state=seed)
    assert said.item_names is not None  # a table names its items
    labels = said.label_names or [str(k) for k in range(said.n_labels)]
    with PredictionWriter(out, list(labels)) as writer:
        writer.write(said.item_names, result.share)
    people = show_people(result.people, "By what people say together")
    told = {"n_repeated": result.n_repeated, "n_states": result.n_states}
    save_json(json_file, {"people": people, **told})
    say(f"wrote {out}: {said.n_items:,} items, {said.n_labels} labels")
    say(f"  {result.n_repeated:,} pairs of an item and a label were judged more than once")
    if result.n_states == 2:
        say("  they do not show that people differ; if people miss many labels, shares are low:")
        say("  complabel predict --answers says how probably a label applies")
    if doubtful is not None:
        write_doubtful(result.doubtful, doubtful, n)
    # People who differ about doubtful cases do not err at random. On new items, models with rates
    # of missed labels were worse than those with a small error rate (benchmarks/relations.py).
    say("next: learn from the answers, to predict items that nobody was asked about:")
    say_fit(answers, features, items, label_names, question, mistakes="error_rate=0.05")
