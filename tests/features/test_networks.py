"""Networks in files and of other packages: how pictures get in, and rows come out."""

import sys
import types

import numpy as np
import pytest
from PIL import Image
from tests.features.pictures import write_pictures
from tests.refusals import raises

from complabel.errors import InputError
from complabel.features import encoder_for, picture_features

MEAN, SPREAD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


def write_mean(path, shape, kind="float", axes=(2, 3)):
    """Write a network whose output is the mean of its input over some axes."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    types_of = {"float": onnx.TensorProto.FLOAT, "uint8": onnx.TensorProto.UINT8}
    cast = onnx.helper.make_node("Cast", ["x"], ["f"], to=onnx.TensorProto.FLOAT)
    mean = onnx.helper.make_node("ReduceMean", ["f"], ["y"], axes=list(axes), keepdims=0)
    graph = onnx.helper.make_graph(
        [cast, mean],
        "mean",
        [onnx.helper.make_tensor_value_info("x", types_of[kind], shape)],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
    )
    opset = [onnx.helper.make_opsetid("", 13)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    return str(path)


def colours(paths, side=8):
    """The pictures as arrays (n, side, side, 3), from 0 to 255."""
    size, how = (side, side), Image.Resampling.BICUBIC
    return np.stack([np.asarray(Image.open(p).convert("RGB").resize(size, how)) for p in paths])


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("at_once", ["b", 1, 2], ids=str)
def test_a_network_in_a_file_gets_scaled_colours(tmp_path, at_once):
    paths = write_pictures(tmp_path / "photos", 3)
    model = write_mean(tmp_path / "net.onnx", [at_once, 3, 8, 8])
    expected = unit(((colours(paths) / 255 - MEAN) / SPREAD).mean(axis=(1, 2)))
    found = picture_features(paths, model=model)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_colours_may_come_last_and_as_bytes(tmp_path):
    paths = write_pictures(tmp_path / "photos", 3)
    model = write_mean(tmp_path / "net.onnx", ["b", 8, 8, 3], "uint8", axes=(1, 2))
    expected = unit(colours(paths).mean(axis=(1, 2)))
    np.testing.assert_allclose(picture_features(paths, model=model), expected, rtol=1e-5)


def test_rows_of_several_places_are_averaged(tmp_path):
    paths = write_pictures(tmp_path / "photos", 3)
    model = write_mean(tmp_path / "tokens.onnx", ["b", 8, 8, 3], "uint8", axes=(1,))
    expected = unit(colours(paths).mean(axis=(1, 2)))
    np.testing.assert_allclose(picture_features(paths, model=model), expected, rtol=1e-5)


def test_the_recipe_changes_with_the_weights_and_not_with_the_folder(tmp_path):
    first = write_mean(tmp_path / "net.onnx", ["b", 3, 8, 8])
    (tmp_path / "other").mkdir()
    same = write_mean(tmp_path / "other" / "net.onnx", ["b", 3, 8, 8])
    recipes = [encoder_for("pictures", model).recipe for model in (first, same)]
    assert recipes[0] == recipes[1]
    write_mean(tmp_path / "other" / "net.onnx", ["b", 3, 8, 8], axes=(1, 2))
    assert encoder_for("pictures", same).recipe != recipes[0]


def test_files_that_are_no_network_of_pictures_are_refused(tmp_path):
    flat = write_mean(tmp_path / "flat.onnx", ["b", 5, 8, 8])
    with raises(InputError, "['b', 5, 8, 8]"):
        encoder_for("pictures", flat)
    (tmp_path / "odd.onnx").write_bytes(b"odd")
    for name in ("odd.onnx", "absent.onnx"):
        with raises(InputError, name):
            encoder_for("pictures", str(tmp_path / name))


def _with_weights(path, where, location):
    """Write a network with a weight in another file, held by a part of the model."""
    onnx = pytest.importorskip("onnx")
    write_mean(path, ["b", 3, 8, 8])
    model, value = onnx.load(path), np.ones((1, 3), np.float32)
    weight = onnx.numpy_helper.from_array(value, "w")
    onnx.external_data_helper.set_external_data(weight, location, 0, value.nbytes)
    weight.ClearField("raw_data")
    if where == "graph":
        model.graph.initializer.append(weight)
        model.graph.node[-1].output[0] = "m"
        model.graph.node.append(onnx.helper.make_node("Add", ["m", "w"], ["y"]))
    else:
        constant = onnx.helper.make_node("Constant", [], ["c"], value=weight)
        inner = onnx.helper.make_graph([constant], "inner", [], [])
        choice = onnx.helper.make_node("If", ["x"], ["z"], then_branch=inner)
        held = onnx.helper.make_function("own", "F", ["x"], ["z"], [choice], [])
        model.functions.append(held)
    path.write_bytes(model.SerializeToString())
    return str(path)


@pytest.mark.parametrize("where", ["graph", "function"])
@pytest.mark.parametrize("location", ["w.bin", "../w.bin"])
def test_a_network_with_weights_in_another_file_is_refused(tmp_path, where, location):
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / location).write_bytes(np.ones(3, np.float32).tobytes())
    model = _with_weights(folder / "net.onnx", where, location)
    with raises(InputError, f"'{location}'"):
        encoder_for("pictures", model)
    if (where, location) == ("graph", "w.bin"):  # as the message says
        onnx = pytest.importorskip("onnx")
        onnx.save(onnx.load(model), folder / "one.onnx")
        (folder / location).unlink()
        assert encoder_for("pictures", str(folder / "one.onnx"))


class Change:
    """What torch packages do to a picture before the network."""

    def __call__(self, image):
        import torch

        values = np.asarray(image.resize((8, 8), Image.Resampling.BICUBIC), dtype=np.float32)
        return torch.from_numpy(values.transpose(2, 0, 1).copy())

    def __repr__(self):
        return "Change(\n  8 x 8\n)"


def network():
    import torch

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.drop = torch.nn.Dropout(0.9)
            self.scale = torch.nn.Parameter(torch.ones(3, 1, 1))
            self.fc = torch.nn.Linear(3, 1000)

        def forward(self, x):
            return self.fc(self.drop(x * self.scale).mean(dim=(2, 3)))

    return Network()


def fake_timm():
    import torch

    def create_model(name, *, pretrained, num_classes):
        assert (name, pretrained, num_classes) == ("small", True, 0)
        made = network()
        made.fc = torch.nn.Identity()
        return made

    module = types.ModuleType("timm")
    module.create_model = create_model
    module.data = types.SimpleNamespace(
        resolve_model_data_config=lambda made: {"size": 8},
        create_transform=lambda *, size, is_training: Change(),
    )
    return {"timm": module}


def fake_torchvision():
    import torch

    weights = types.SimpleNamespace(DEFAULT=types.SimpleNamespace(transforms=Change))
    models = types.ModuleType("torchvision.models")
    models.get_model_weights = lambda name: weights
    models.get_model = lambda name, *, weights: network()
    models.resnet = types.SimpleNamespace(nn=torch.nn)
    module = types.ModuleType("torchvision")
    module.models = models
    return {"torchvision": module, "torchvision.models": models}


@pytest.mark.parametrize("package", ["timm", "torchvision"])
def test_networks_of_torch_lose_their_last_layer(monkeypatch, tmp_path, package):
    pytest.importorskip("torch")
    for name, module in (fake_timm() if package == "timm" else fake_torchvision()).items():
        monkeypatch.setitem(sys.modules, name, module)
    paths = write_pictures(tmp_path, 3)
    found = picture_features(paths, model=f"{package}/small")
    np.testing.assert_allclose(found, unit(colours(paths).mean(axis=(1, 2))), rtol=1e-5)
    recipe = encoder_for("pictures", f"{package}/small").recipe
    assert recipe.startswith(f"pictures by {package}/small: Change( 8 x 8 ), rows scaled (1), ")


@pytest.mark.parametrize("model", ["timm/a", "torchvision/a"])
def test_a_package_that_is_missing_is_named(without, model):
    without(model.partition("/")[0])
    with raises(InputError, f"pip install {model.partition('/')[0]}"):
        encoder_for("pictures", model)
