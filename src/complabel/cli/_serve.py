"""`complabel serve`: answer programs, and Label Studio, with the predictions of a model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from complabel.cli import _options as options
from complabel.cli import _own as own
from complabel.cli._console import remark, say
from complabel.cli._options import option

if TYPE_CHECKING:
    from complabel.methods import ComplementaryClassifier

_MIB = 2**20


@options.with_examples(
    "serve model.safetensors",
    "serve model.safetensors --features X.npz --port 9090",
    "serve model.safetensors --host 0.0.0.0 --token new",
)
def serve(
    model: Path = options.MODEL,
    features: Path | None = option(
        "FILE",
        "Features of items: .csv, .parquet, .npy, .npz or .svm. Programs can then ask by the names"
        " of items, as Label Studio does.",
    ),
    items: Path | None = options.ITEMS,
    host: str = option(
        "ADDRESS",
        "Where to listen. Other machines reach the server at 0.0.0.0; then give --token, too.",
        default="127.0.0.1",
    ),
    port: int = option("N", "Port; 0: any that is free.", default=9090, min=0, max=65_535),
    token: str | None = option(
        "TOKEN",
        "Answer only to those who know this secret; new: make one, and print it.",
        envvar="COMPLABEL_TOKEN",
    ),
    most_rows: int = option("N", "Most rows, or tasks, of a request.", default=10_000, min=1),
    most_megabytes: int = option("N", "Most megabytes of a request.", default=32, min=1),
) -> None:
    """Answer programs, and Label Studio, with the predictions of a model.

    The server has POST /predict, GET /labels, GET /health and GET /openapi.json, and is a backend
    for Label Studio. If the model's file is replaced, it loads the new one. Ctrl-C or SIGTERM ends
    it, after it has answered what it took.
    """
    import numpy as np

    from complabel.live import ModelFile, guarded, new_token, predicting, run

    def known_items(classifier: ComplementaryClassifier) -> tuple[Any, Any]:
        assert features is not None
        found = own.read_own_features(features, items, classifier.n_features_in_, model=model)
        X = own.for_model(found, classifier)
        # A .npy file may be written anew in its place, which ends programs that still read it.
        return found.items, X if hasattr(X, "tocsr") else np.array(X)

    read = [path for path in (features, items) if path is not None]
    file = ModelFile(model, items=None if features is None else known_items, also=read)
    secret = new_token() if token == "new" else token
    app = predicting(file, most_rows=most_rows, has_token=secret is not None)

    def started(address: str) -> None:
        now = file.now
        n_labels, d = len(now.label_names), now.classifier.n_features_in_
        say(f"{now.version} answers at {address}: {d:,} features, {n_labels} labels")
        if features is not None:
            say(f"  {len(now.row_of):,} items of {features} are known by name")
        if token == "new":
            say(f"  token: {secret}")
        say(f"next: {_example(address, secret)}")
        say("  in Label Studio: Settings > Model > Connect Model, with the address")

    if secret is None and host not in ("127.0.0.1", "localhost", "::1"):
        remark(
            "everybody who reaches this machine can ask the model; give --token new, and put a"
            " proxy with https before it",
            style="yellow",
        )
    # The thread that reads requests waits less for those that predict: the slowest answers come
    # twice as soon.
    sys.setswitchinterval(5e-4)
    run(
        guarded(app, token=secret, most_bytes=most_megabytes * _MIB, any_host=secret is not None),
        host=host,
        port=port,
        started=started,
    )


def _example(address: str, secret: str | None) -> str:
    return f"curl {address}/labels" + (f" -H 'X-Token: {secret}'" if secret else "")
