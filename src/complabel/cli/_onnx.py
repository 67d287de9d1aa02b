"""`complabel onnx`: save a model as an ONNX file, for other programs and languages."""

from __future__ import annotations

from pathlib import Path

from complabel.cli import _options as options
from complabel.cli._console import say
from complabel.cli._options import target


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
