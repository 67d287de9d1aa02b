"""Scripts and examples outside the package: the docs name them, and they import what is there."""

import ast
import importlib
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

from benchmarks import _studies, machine_rates
from complabel.experiments.datasets import load_dataset
from complabel.experiments.studies import Plan, run_fold
from complabel.simulate import draw_answers

CHECKOUT = Path(__file__).parents[1]
PAGES = [
    *(CHECKOUT / name for name in ("README.md", "CONTRIBUTING.md", "benchmarks/README.md")),
    *sorted((CHECKOUT / "docs").rglob("*.md")),
    CHECKOUT / "docs" / "evidence" / "successors.csv",
    CHECKOUT / "Makefile",
]
SCRIPTS = sorted((CHECKOUT / "benchmarks").glob("*.*"))
OUTSIDE = [
    *(path for path in SCRIPTS if path.suffix == ".py"),
    *sorted((CHECKOUT / "research").rglob("*.py")),
]


def imported(text):
    """The names of complabel that some code imports, as (module, name)."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "complabel":
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((a.name, None) for a in node.names if a.name.split(".")[0] == "complabel")


def missing(module, name):
    """Whether there is no such module, or it has no such name and no such module in it."""
    found = importlib.import_module(module)
    if name is None or hasattr(found, name):
        return False
    return importlib.util.find_spec(f"{module}.{name}") is None


def test_each_script_is_named_where_its_figures_stand_or_used_by_one_that_is():
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    code = "\n".join(path.read_text(encoding="utf-8") for path in {*OUTSIDE, *SCRIPTS})
    for path in SCRIPTS:
        if path.stem.startswith("_"):
            continue
        result = rf"benchmarks[./ ]{path.stem}\b|\{{results\}} {path.stem}\b"
        named = path.name in text or re.search(result, text)
        used = re.search(rf"(import|from) {path.stem}\b|{path.name}|\b{path.stem}:[A-Z]", code)
        assert named or used, f"{path.name}: no page names it; name it, or delete it"


def test_scripts_import_what_is_there():
    for path in OUTSIDE:
        for place in imported(path.read_text(encoding="utf-8")):
            assert not missing(*place), f"{path.name} imports {place}"


def test_examples_in_the_docs_import_what_is_there():
    n_examples = 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
            n_examples += 1
            for place in imported(textwrap.dedent(block)):
                assert not missing(*place), f"{page.name} imports {place}"
    assert n_examples > 20


def test_files_that_pages_name_are_there():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r"\b(?:tests|benchmarks|research)/[\w/]+\.(?:py|toml|json)\b", text):
            assert (CHECKOUT / name).exists(), f"{page.name} names {name}"


def test_rates_of_labels_that_no_item_has_are_measured_without_a_warning():
    Y = np.tile(np.arange(200)[:, None] % 4 == 0, (1, 6)).astype(np.uint8)
    machine, Y[:, 0] = 1 - Y, 0  # it is never right, and no item has the first label
    found = machine_rates.rates(Y, machine, (60,), range(2))
    assert [of["rate"] for of, _ in found] == ["precision", "recall"]
    assert all(np.isfinite([*figures.values()]).all() for _, figures in found)


@pytest.mark.filterwarnings("ignore::complabel.answers.IgnoredAnswersWarning")
def test_a_study_becomes_rows_with_means_deviations_and_break_evens(tmp_path, monkeypatch):
    draws = [{"name": "asked", "question": "asked"}]
    draws += [{"name": f"t{s}", "question": "ticked", "items_share": s} for s in (0.1, 1.0)]
    rows = [{"method": "ridge", "title": "Ridge (a)"}, {"method": "prior"}]
    how = {"name": "small", "title": "Small", "datasets": ["synthetic"], "folds": 2}
    plan = Plan(**how, draws=draws, rows=rows)
    monkeypatch.setattr(_studies, "plan_of", lambda study: plan)
    monkeypatch.setattr(_studies, "PARTS", tmp_path)

    made = _studies.rows_of("small", "synthetic", 0, None, ["average_precision"])

    found = {(cell["way"], cell["criterion"]): figures for cell, figures in made}
    dataset = load_dataset("synthetic")
    labels = draw_answers(dataset.Y, question="asked", random_state=0)
    rows = plan.expanded_rows()
    one = [run_fold(dataset, labels, rows[1], fold=f, folds=2, seed=0) for f in (0, 1)]
    values = [fold.metrics["average_precision"] for fold in one]
    asked = found["asked", "average_precision"]
    assert asked["Prior"] == pytest.approx(np.mean(values))
    assert asked["Prior_sd"] == pytest.approx(abs(values[0] - values[1]) / 2**0.5)
    assert {*asked} == {"Ridge_a", "Ridge_a_sd", "Prior", "Prior_sd"}
    assert {*found["ticked", "break-even"]} == {"Ridge_a", "Prior"}
