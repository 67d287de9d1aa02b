"""Fits on another device: a pretended one, whose tensors cannot meet those of the processor."""

import numpy as np
import pytest
import torch
from scipy import sparse
from tests.methods.selection.answered import ANSWERS, fixed
from tests.methods.selection.test_blocks import CASES, N, X
from tests.training.elsewhere import DEVICE, elsewhere
from tests.training.test_blocks import Pieces

import complabel
from complabel._training import _full_batch, device_for
from complabel.errors import InputError
from complabel.methods.selection._refit import LastFit

pytestmark = [
    pytest.mark.usefixtures("full_batches"),  # they alone use a device
    pytest.mark.filterwarnings("ignore::complabel.answers.AssumedUniformWarning"),
    pytest.mark.filterwarnings("ignore::complabel.answers.UnansweredRowWarning"),
]
FORMS = {"asked": sparse.csr_array, "frequencies": lambda X: Pieces(X, 50)}
FORMS |= {"mistakes": lambda X: Pieces(X, 50), "propensities": sparse.csr_array}
ASKED = ANSWERS["asked"][:N]
SMALL = {"alpha": 1.0, "n_components": 8}  # so that a fit takes few steps
CASES = CASES | {name: (ASKED, CASES[name][1]) for name in ("rank", "rbf")}  # menus take longer


@pytest.mark.parametrize("name", CASES)
def test_a_device_gives_what_the_processor_gives(name):
    answers, settings = CASES[name]
    settings, rows = {**settings, **SMALL}, FORMS.get(name, np.asarray)(X)
    expected = fixed(**settings).fit(rows, answers)
    with elsewhere() as used:
        found = fixed(device="cuda", **settings).fit(rows, answers)
    assert used.brought
    # Only the kernel is computed by other code, which rounds in another order.
    atol = 1e-9 if name == "rbf" else 0
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), 0, atol)


def test_features_are_brought_once_and_all_digits_count():
    before, seen = torch.get_float32_matmul_precision(), set()
    settings = {"alpha": "auto", "cv": 2, "cardinality": 1.5}
    expected = fixed(**settings).fit(X, ASKED)

    def note(*_):
        seen.add(torch.get_float32_matmul_precision())

    torch.set_float32_matmul_precision("medium")
    try:
        with elsewhere() as used:
            found = fixed(device="cuda", callback=note, **settings).fit(X, ASKED)
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)
    assert seen == {"highest"}
    # In single precision for all trials, in double for the last fit.
    assert [used.brought.count(size) for size in (X.size * 4, X.size * 8)] == [1, 1]
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))


def test_blocks_without_room_stay_and_are_copied_for_each_product(monkeypatch):
    monkeypatch.setattr(_full_batch, "_BLOCK", 25)
    settings = SMALL | {"cardinality": 1.5}  # not for Newton's method, which needs no products
    expected = fixed(**settings).fit(X, ASKED).predict_proba(X)
    with elsewhere(room=X.nbytes * 0.7) as used:
        found = fixed(device="cuda", **settings).fit(X, ASKED)
    # Of the five blocks, three have room. Both others are copied for each product.
    whole, rest = (used.brought.count(rows * X.shape[1] * 8) for rows in (25, 20))
    assert whole == 3 + rest
    assert rest >= 2 * found.n_iter_
    np.testing.assert_allclose(found.predict_proba(X), expected, rtol=0, atol=1e-9)


def test_without_memory_the_processor_fits_or_the_device_is_refused():
    expected = fixed(**SMALL).fit(X, ASKED).predict_proba(X)
    with elsewhere(most_bytes=X.nbytes), pytest.warns(UserWarning, match="too little memory"):
        found = fixed(**SMALL).fit(X, ASKED)
    np.testing.assert_array_equal(found.predict_proba(X), expected)
    with elsewhere(most_bytes=X.nbytes), pytest.raises(InputError, match="device='cpu'"):
        fixed(device="cuda", **SMALL).fit(X, ASKED)


def test_a_refit_uses_the_device_and_goes_on_on_another():
    first, both = ANSWERS["menu-2"][:N].only(np.arange(2 * N) % 9 > 0), ANSWERS["menu-2"][:N]
    expected = fixed(warm_start=True, **SMALL).fit(X, first).fit(X, both)
    with elsewhere() as used:
        found = fixed(warm_start=True, device="cuda", **SMALL).fit(X, first)
        before = len(used.brought)
        found.fit(X, both)
        assert len(used.brought) > before
    assert LastFit.usable(found.set_params(device="cpu"), X, both) is not None
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))


def test_tensors_of_any_device_are_rows():
    expected = fixed(**SMALL).fit(X, ASKED).predict_proba(X)
    rows = torch.nn.Parameter(torch.from_numpy(X))
    np.testing.assert_array_equal(fixed(**SMALL).fit(rows, ASKED).predict_proba(rows), expected)
    with elsewhere():
        there = torch.from_numpy(X).to(DEVICE)
        found = fixed(device="cuda", **SMALL).fit(there, ASKED).predict_proba(there)
    np.testing.assert_array_equal(found, expected)
    short = torch.from_numpy(X).bfloat16()
    near = fixed(**SMALL).fit(short, ASKED).predict_proba(short)
    np.testing.assert_allclose(near, expected, rtol=0, atol=0.01)


def test_auto_is_a_gpu_where_there_is_one_and_much_to_do(monkeypatch):
    if not torch.cuda.is_available():
        assert device_for("auto", 1e12).type == "cpu"
        with pytest.raises(InputError, match=r"device='cuda' cannot be used here.*'cpu'"):
            fixed(device="cuda").fit(X, ASKED)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    found = [device_for(*each).type for each in (("auto", 1e9), ("auto", 1e9 - 1), ("cpu", 1e12))]
    assert found == ["cuda", "cpu", "cpu"]


def test_a_model_of_a_gpu_is_loaded_anywhere(tmp_path):
    fitted = fixed(**SMALL).fit(X, ASKED)
    for device, expected in (("cuda", "auto"), ("cpu", "cpu")):
        fitted.set_params(device=device).save(tmp_path / "model.safetensors")
        found = complabel.load(tmp_path / "model.safetensors")
        assert found.device == expected
        np.testing.assert_array_equal(found.predict_proba(X), fitted.predict_proba(X))
