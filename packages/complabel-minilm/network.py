"""The network of all-MiniLM-L6-v2 as ONNX: BERT of six layers, with weights of 8 bits.

A weight is stored as 8 bits and one scale for each output, and becomes float32 when the file is
loaded. What is computed is float32. So a row depends on no other text, as it would if activations
were rounded by a scale of the whole batch; and processors differ by the last digits only.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

LAYERS, HEADS, WIDTH, LONGEST = 6, 12, 384, 256
_SPREAD = 1e-12  # what layer norms add to a variance


def network(weights: Path) -> onnx.ModelProto:
    """Return the network of the weights in a ``model.safetensors``."""
    made = _Graph(load_file(weights))
    hidden = made.embeddings()
    for number in range(LAYERS):
        hidden = made.layer(hidden, f"encoder.layer.{number}")
    made.node("Identity", [hidden], "last_hidden_state")
    ids = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    shape = ["texts", "tokens", WIDTH]
    rows = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, shape)
    graph = helper.make_graph(made.nodes, "all-MiniLM-L6-v2", ids, [rows], made.weights)
    opset = [helper.make_opsetid("", 20)]
    found = helper.make_model(graph, opset_imports=opset, ir_version=9, producer_name="complabel")
    onnx.checker.check_model(found, full_check=True)
    return found


class _Graph:
    """Nodes and weights so far."""

    def __init__(self, tensors: dict[str, np.ndarray]) -> None:
        self.tensors = tensors
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.constant("zero", np.array([0], dtype=np.int64))
        self.constant("by_heads", np.array([0, 0, HEADS, WIDTH // HEADS], dtype=np.int64))
        self.constant("together", np.array([0, 0, WIDTH], dtype=np.int64))

    def node(self, kind: str, inputs: list[str], output: str, **how: object) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], **how))
        return output

    def constant(self, name: str, value: np.ndarray) -> str:
        self.weights.append(numpy_helper.from_array(value, name))
        return name

    def tensor(self, name: str) -> str:
        return self.constant(name, self.tensors[name].astype(np.float32))

    def in_8_bits(self, name: str, value: np.ndarray, axis: int) -> tuple[str, str]:
        """Keep a matrix as whole numbers from -127 to 127, and the scales along the other axis."""
        scales = np.abs(value).max(axis=axis, keepdims=True) / np.float32(127)
        scales[scales == 0] = 1
        whole = np.rint(value / scales).astype(np.int8)
        return self.constant(f"{name}.8", whole), self.constant(f"{name}.scales", scales)

    def embeddings(self) -> str:
        words = self.tensors["embeddings.word_embeddings.weight"].astype(np.float32)
        whole, scales = self.in_8_bits("words", words, axis=1)
        self.node("Gather", [whole, "input_ids"], "words.whole")
        self.node("Cast", ["words.whole"], "words.float", to=TensorProto.FLOAT)
        self.node("Gather", [scales, "input_ids"], "words.scale")
        self.node("Mul", ["words.float", "words.scale"], "words")
        places = self.tensors["embeddings.position_embeddings.weight"][:LONGEST]
        kind = self.tensors["embeddings.token_type_embeddings.weight"][0]  # of one text, no pair
        self.constant("places.all", (places + kind).astype(np.float32))
        self.node("Shape", ["input_ids"], "n_tokens", start=1, end=2)
        self.node("Slice", ["places.all", "zero", "n_tokens", "zero"], "places")
        self.node("Add", ["words", "places"], "embedded")
        # Tokens of no text are left out of each mean, by a weight of 0.
        self.node("Cast", ["attention_mask"], "mask.float", to=TensorProto.FLOAT)
        self.constant("mask.one", np.array(1, dtype=np.float32))
        self.constant("mask.least", np.array(np.finfo(np.float32).min, dtype=np.float32))
        self.node("Sub", ["mask.one", "mask.float"], "mask.left_out")
        self.node("Mul", ["mask.left_out", "mask.least"], "mask.flat")
        self.constant("mask.axes", np.array([1, 2], dtype=np.int64))
        self.node("Unsqueeze", ["mask.flat", "mask.axes"], "mask")
        return self.norm("embedded", "embeddings.LayerNorm")

    def norm(self, x: str, name: str) -> str:
        inputs = [x, self.tensor(f"{name}.weight"), self.tensor(f"{name}.bias")]
        return self.node("LayerNormalization", inputs, f"{name}.out", axis=-1, epsilon=_SPREAD)

    def linear(self, x: str, name: str) -> str:
        value = np.ascontiguousarray(self.tensors[f"{name}.weight"].astype(np.float32).T)
        whole, scales = self.in_8_bits(name, value, axis=0)
        self.node("Cast", [whole], f"{name}.float", to=TensorProto.FLOAT)
        self.node("Mul", [f"{name}.float", scales], f"{name}.matrix")
        self.node("MatMul", [x, f"{name}.matrix"], f"{name}.product")
        return self.node("Add", [f"{name}.product", self.tensor(f"{name}.bias")], f"{name}.out")

    def heads(self, x: str, name: str, order: list[int]) -> str:
        self.node("Reshape", [self.linear(x, name), "by_heads"], f"{name}.heads")
        return self.node("Transpose", [f"{name}.heads"], f"{name}.turned", perm=order)

    def layer(self, x: str, name: str) -> str:
        inner, (first, second) = f"{name}.attention", ([0, 2, 1, 3], [0, 2, 3, 1])
        asked = self.heads(x, f"{inner}.self.query", first)
        keys = self.heads(x, f"{inner}.self.key", second)
        values = self.heads(x, f"{inner}.self.value", first)
        self.node("MatMul", [asked, keys], f"{inner}.products")
        root = self.constant(f"{inner}.root", np.array((WIDTH // HEADS) ** 0.5, dtype=np.float32))
        self.node("Div", [f"{inner}.products", root], f"{inner}.divided")
        self.node("Add", [f"{inner}.divided", "mask"], f"{inner}.masked")
        self.node("Softmax", [f"{inner}.masked"], f"{inner}.shares", axis=-1)
        self.node("MatMul", [f"{inner}.shares", values], f"{inner}.seen")
        self.node("Transpose", [f"{inner}.seen"], f"{inner}.back", perm=first)
        self.node("Reshape", [f"{inner}.back", "together"], f"{inner}.context")
        out = self.linear(f"{inner}.context", f"{inner}.output.dense")
        self.node("Add", [out, x], f"{inner}.sum")
        x = self.norm(f"{inner}.sum", f"{inner}.output.LayerNorm")
        wide = self.linear(x, f"{name}.intermediate.dense")
        self.node("Gelu", [wide], f"{name}.gelu")
        out = self.linear(f"{name}.gelu", f"{name}.output.dense")
        self.node("Add", [out, x], f"{name}.sum")
        return self.norm(f"{name}.sum", f"{name}.output.LayerNorm")
