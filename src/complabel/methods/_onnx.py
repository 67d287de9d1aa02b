"""Saving classifiers as ONNX graphs, which other programs and languages run without complabel."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse, special
from sklearn.utils.validation import check_is_fitted

from complabel import __version__
from complabel._opening import StrPath
from complabel._parameters import AnyArray, Features
from complabel._writing import explained, replacing
from complabel.errors import InputError
from complabel.methods._base import ComplementaryClassifier
from complabel.methods._decisions import RegressionScores

# Versions of ONNX's operators and of its file format: as old as possible, so that old runtimes read
# the files. Gelu came later.
_OPSET, _FORMAT = 18, 8
_OPSET_OF_GELU, _FORMAT_OF_GELU = 20, 9
# A file holds at most 2 GB.
_MOST_BYTES = 2e9
# Layers that ONNX has under the same name, or this one, with these settings as attributes.
_ACTIVATIONS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "ReLU": ("Relu", ()),
    "SELU": ("Selu", ()),
    "Tanh": ("Tanh", ()),
    "Sigmoid": ("Sigmoid", ()),
    "ELU": ("Elu", ("alpha",)),
    "GELU": ("Gelu", ("approximate",)),
}


def save_onnx(classifier: ComplementaryClassifier, path: StrPath) -> None:
    """Save a fitted classifier as an ONNX file, which onnxruntime runs in many languages.

    The graph takes ``features``, float32 of shape (n, n_features). It returns ``probabilities``,
    float32 of shape (n, K), and ``labels``, int64: the indicator (n, K) of the labels that
    ``predict`` predicts, or after a fit on one class per row the number (n,) of the class.
    Metadata of the file are JSON: ``label_names``, ``thresholds`` with one number per label,
    ``threshold`` with the rule of ``predict``, and ``complabel``, the version.

    Parameters
    ----------
    classifier : ComplementaryClassifier
        Its scores are a linear map of the features or of an RBF kernel, or a network of torch's
        usual layers: the selection likelihood, all methods that are trained by gradient descent,
        ridge, fPML, PML-LRS, and what matches one of them to label frequencies.
    path : path-like
        The file; ``.onnx`` is the usual ending.

    Raises
    ------
    InputError
        If the package ``onnx`` is missing, or the scores have another form.
    OutputError
        If the file cannot be written. A file that was there before is unchanged.

    Notes
    -----
    Linear maps and kernels are computed in float64, as ``predict_proba`` computes them, and
    networks in float32. So probabilities are those of ``predict_proba`` for features in float32,
    up to rounding. Sparse features must be made dense for the graph.

    References
    ----------
    ONNX, "Open Neural Network Exchange", https://onnx.ai.
    """
    check_is_fitted(classifier, "classes_")
    onnx = _package()
    graph = _Graph(onnx)
    probabilities, labels = _outputs(graph, classifier)
    d, K = classifier.n_features_in_, len(classifier.classes_)
    types, value = onnx.TensorProto, onnx.helper.make_tensor_value_info
    made = onnx.helper.make_graph(
        graph.nodes,
        "complabel",
        [value("features", types.FLOAT, ["n", d])],
        [
            value(probabilities, types.FLOAT, ["n", K]),
            value(labels, types.INT64, ["n"] if classifier._single else ["n", K]),
        ],
        graph.constants,
    )
    gelu = any(node.op_type == "Gelu" for node in graph.nodes)
    model = onnx.helper.make_model(
        made,
        opset_imports=[onnx.helper.make_opsetid("", _OPSET_OF_GELU if gelu else _OPSET)],
        ir_version=_FORMAT_OF_GELU if gelu else _FORMAT,
        producer_name="complabel",
        producer_version=__version__,
    )
    thresholds = np.broadcast_to(getattr(classifier, "thresholds_", classifier.cut), K)
    about = {
        "label_names": classifier.classes_.tolist(),
        "thresholds": thresholds.tolist(),
        "threshold": classifier.threshold,
        "complabel": __version__,
    }
    onnx.helper.set_model_props(model, {name: json.dumps(each) for name, each in about.items()})
    onnx.checker.check_model(model)
    target = Path(path)
    with explained(target), replacing(target) as partial:
        partial.write_bytes(model.SerializeToString())


def _package() -> Any:
    try:
        import onnx
    except ModuleNotFoundError as cause:
        raise InputError(
            "ONNX files need the package onnx, which is not installed; run pip install"
            ' "complabel[onnx]"'
        ) from cause
    return onnx


class _Graph:
    """The nodes of a graph and its constants."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._n_bytes = 0

    def add(self, operator: str, *inputs: str | AnyArray, name: str = "", **attributes: Any) -> str:
        """Add a node and return the name of its result; inputs that are arrays are constants."""
        names = [each if isinstance(each, str) else self._constant(each) for each in inputs]
        made = name or f"{operator}_{len(self.nodes)}"
        self.nodes.append(self._onnx.helper.make_node(operator, names, [made], **attributes))
        return made

    def cast(self, value: str, kind: str, name: str = "") -> str:
        return self.add("Cast", value, name=name, to=getattr(self._onnx.TensorProto, kind))

    def _constant(self, values: AnyArray) -> str:
        self._n_bytes += values.nbytes
        if self._n_bytes > _MOST_BYTES:
            raise InputError(
                f"the model has more than {_MOST_BYTES / 1e9:g} GB of numbers, and an ONNX file"
                " cannot hold them; use fewer features or n_components"
            )
        name = f"constant_{len(self.constants)}"
        dense = np.ascontiguousarray(values)
        self.constants.append(self._onnx.numpy_helper.from_array(dense, name))
        return name


def _outputs(graph: _Graph, classifier: ComplementaryClassifier) -> tuple[str, str]:
    """Add what ``predict_proba`` and ``predict`` do; return the names of their results."""
    decision = _decision(graph, classifier)
    if classifier._single:
        f = graph.add("Softmax", decision, axis=1)
        return (
            graph.cast(f, "FLOAT", "probabilities"),
            graph.add("ArgMax", decision, name="labels", axis=1, keepdims=0),
        )
    log_odds = decision
    if isinstance(classifier, RegressionScores):
        log_odds = graph.add("Mul", decision, classifier._log_odds(np.ones(1)))
    elif type(classifier)._log_odds is not ComplementaryClassifier._log_odds:
        raise _other_form(classifier)
    f = graph.add("Sigmoid", log_odds)
    thresholds = getattr(classifier, "thresholds_", None)
    if thresholds is not None:
        # As log-odds, since onnxruntime takes the smallest probabilities for 0.
        above = graph.add("GreaterOrEqual", log_odds, special.logit(thresholds))
    elif classifier.threshold == "probability":
        above = graph.add("Greater", log_odds, np.array([special.logit(classifier.cut)]))
    else:
        above = graph.add("Greater", f, _row_cuts(graph, f, classifier.cut))
    return graph.cast(f, "FLOAT", "probabilities"), graph.cast(above, "INT64", "labels")


def _row_cuts(graph: _Graph, f: str, cut: float) -> str:
    """Add the cuts (n, 1) of the rule "minmax"; a row of equal f has the plain cut."""
    lowest, highest = (graph.add(f"Reduce{end}", f, np.array([1])) for end in ("Min", "Max"))
    apart = graph.add("Mul", graph.add("Sub", highest, lowest), np.array([cut]))
    point = graph.add("Add", lowest, apart)
    return graph.add("Where", graph.add("Equal", lowest, highest), np.array([cut]), point)


def _decision(graph: _Graph, classifier: ComplementaryClassifier) -> str:
    inner = getattr(classifier, "classifier_", None)
    if inner is not None:  # matched to frequencies
        parts = vars(classifier)
        scaled = graph.add("Mul", _decision(graph, inner), np.array([parts["scale_"]]))
        return graph.add("Add", scaled, parts["shift_"])
    if isinstance(classifier, RegressionScores):
        coef = vars(classifier)["coef_"]
        intercept = classifier._decision(np.zeros((1, coef.shape[1])))[0]
        return _linear(graph, graph.cast("features", "DOUBLE"), coef, intercept)
    model = classifier._state().get("model_")
    if model is None:
        raise _other_form(classifier)
    if "layers" in model:
        return graph.cast(_network(graph, model["layers"], model["weights"]), "DOUBLE")
    x = graph.cast("features", "DOUBLE")
    transformer, coef = model.get("transformer"), model["coef"]
    if isinstance(transformer, dict):
        x = _kernel(graph, x, transformer["landmarks"], transformer["gamma"])
        # The features are k(x, Z) L^-T, so the map of k(x, Z) is L^-T coef^T.
        coef = linalg.solve_triangular(transformer["factor"], coef.T, lower=True, trans="T").T
    elif transformer == "rows":
        squares = graph.add("ReduceSumSquare", x, np.array([1]))
        # A row of zeros stays as it is.
        squares = graph.add("Where", graph.add("Equal", squares, np.zeros(1)), np.ones(1), squares)
        x = graph.add("Div", x, graph.add("Sqrt", squares))
    return _linear(graph, x, coef, model["intercept"])


def _linear(graph: _Graph, x: str, coef: AnyArray, intercept: AnyArray) -> str:
    return graph.add("Add", graph.add("MatMul", x, coef.T), intercept)


def _kernel(graph: _Graph, x: str, landmarks: Features, gamma: float) -> str:
    """Add the kernel exp(-gamma ||x - z||^2) of all landmarks z, (n, m)."""
    dense = sparse.csr_array(landmarks).toarray()
    # The kernel depends only on differences. Far from 0, rounding hides them in its squares.
    centre = dense.mean(axis=0, dtype=np.float64)
    x, near = graph.add("Sub", x, centre), dense - centre
    products = graph.add("MatMul", x, 2 * gamma * near.T)
    squares = graph.add("Mul", graph.add("ReduceSumSquare", x, np.array([1])), np.array([gamma]))
    exponent = graph.add("Sub", products, squares)
    exponent = graph.add("Sub", exponent, gamma * (near**2).sum(axis=1))
    return graph.add("Exp", graph.add("Min", exponent, np.zeros(1)))


def _network(graph: _Graph, layers: list[dict[str, Any]], weights: Mapping[str, Any]) -> str:
    """Add a chain of torch's layers, as they are when they predict; weights are those of torch."""
    x = "features"
    for number, layer in enumerate(layers):
        prefix = f"{number}."
        own = {n.removeprefix(prefix): each for n, each in weights.items() if n.startswith(prefix)}
        x = _layer(graph, x, layer, own)
    return x


def _layer(graph: _Graph, x: str, layer: dict[str, Any], weights: Mapping[str, Any]) -> str:
    def number(name: str) -> NDArray[np.float32]:
        return np.array([layer[name]], dtype=np.float32)

    kind = layer["layer"]
    if kind in ("Dropout", "Identity"):
        return x
    if kind in _ACTIVATIONS:
        operator, settings = _ACTIVATIONS[kind]
        return graph.add(operator, x, **{name: layer[name] for name in settings})
    if kind == "Linear":
        return graph.add("Gemm", x, weights["weight"], *_if_any(weights, "bias"), transB=1)
    if kind == "LeakyReLU":
        return graph.add("LeakyRelu", x, alpha=layer["negative_slope"])
    if kind == "SiLU":
        return graph.add("Mul", x, graph.add("Sigmoid", x))
    if kind == "Softplus":
        scaled = graph.add("Mul", x, number("beta"))
        soft = graph.add("Div", graph.add("Softplus", scaled), number("beta"))
        return graph.add("Where", graph.add("Greater", scaled, number("threshold")), x, soft)
    if kind == "LayerNorm":
        scale = weights.get("weight", np.ones(layer["normalized_shape"], dtype=np.float32))
        axis, epsilon = -len(layer["normalized_shape"]), layer["eps"]
        bias = _if_any(weights, "bias")
        return graph.add("LayerNormalization", x, scale, *bias, axis=axis, epsilon=epsilon)
    assert kind == "BatchNorm1d"  # the last layer that a model file may hold
    mean, variance = weights["running_mean"], weights["running_var"]
    scale = weights.get("weight", np.ones_like(mean))
    moved = weights.get("bias", np.zeros_like(mean)), mean, variance
    return graph.add("BatchNormalization", x, scale, *moved, epsilon=layer["eps"])


def _if_any(weights: Mapping[str, Any], name: str) -> list[Any]:
    return [weights[name]] if name in weights else []


def _other_form(classifier: ComplementaryClassifier) -> InputError:
    return InputError(
        f"{type(classifier).__name__} cannot be saved as ONNX: its scores are no linear map of the"
        " features or of a kernel, and no network. The selection likelihood, ridge, fPML, PML-LRS"
        " and all methods that are trained by gradient descent can"
    )
