"""What counts as the code of a result."""

import shutil
import textwrap
from pathlib import Path

import pytest

import complabel
from complabel.methods import METHODS
from complabel.studies import _code

PACKAGE = Path(complabel.__file__).parent


@pytest.fixture(autouse=True)
def _fresh():
    _code.forget()
    yield
    _code.forget()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of somebody's own; call it with a file's name and lines to write the file."""
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / f"own_{tmp_path.name}"
    folder.mkdir()

    def write(file, lines):
        (folder / file).write_text(textwrap.dedent(lines), encoding="utf-8")
        _code.forget()
        return folder.name

    write("__init__.py", "from .near import helper\nfrom .far import other\n")
    write("near.py", "def helper():\n    return 1\n")
    write("far.py", "def other():\n    return 1\n")
    return write


METHOD = '''
    """What it does."""
    import numpy as np
    from typing import TYPE_CHECKING
    if TYPE_CHECKING:
        from . import typed
    class Mine:
        """A method."""
        def fit(self):  # learns
            from {package} import helper
            return helper()
'''


@pytest.fixture
def digest(package):
    """The checksum of a method that imports one of two helpers from the package's door."""
    name = package("typed.py", "")
    package("method.py", METHOD.format(package=name))
    return lambda: _code.code_digest(f"{name}.method")


def test_code_that_is_imported_counts(package, digest):
    before = digest()
    package("near.py", "def helper():\n    return 2\n")
    assert digest() != before


@pytest.mark.parametrize("file", ["far.py", "typed.py"])
def test_code_that_is_not_imported_does_not_count(package, digest, file):
    before = digest()
    package(file, "def other():\n    return 2\n")
    assert digest() == before


def test_words_and_layout_do_not_count(package, digest):
    before = digest()
    package("near.py", '"""Helps."""\n\n\ndef helper():\n    """One."""\n    return (1)  # one\n')
    assert digest() == before


def test_what_a_package_hands_out_under_a_name_may_move(package, digest):
    before = digest()
    package("__init__.py", "from .far import other as helper\n")
    assert digest() != before


def test_modules_that_import_from_each_other_end(package):
    name = package("method.py", "")
    package("__init__.py", f"def go():\n    from {name} import helper\n\ndef helper():\n    ...\n")
    package("near.py", f"def one():\n    from {name}.far import other\n")
    package("far.py", f"def other():\n    from {name}.near import one\n")
    package("method.py", f"from {name} import helper\nfrom {name}.near import one\n")
    reached = _code._reached([f"{name}.method"])
    assert reached == {name, f"{name}.method", f"{name}.near", f"{name}.far"}


def test_each_of_two_ways_to_get_a_name_counts(package):
    name = package("fast.py", "def helper():\n    return 1\n")
    lines = f"try:\n    from {name}.{{0}} import helper\nexcept ImportError:\n"
    lines += f"    from {name}.near import helper\n"
    package("method.py", f"from {name} import helper\n")
    package("__init__.py", lines.format("fast"))
    assert {f"{name}.fast", f"{name}.near"} <= _code._reached([f"{name}.method"])
    package("__init__.py", lines.format("absent"))
    assert f"{name}.near" in _code._reached([f"{name}.method"])


@pytest.mark.parametrize("folder", ["site-packages", "dist-packages", "libraries"])
def test_a_library_counts_nowhere(folder, tmp_path, monkeypatch):
    library = tmp_path / folder / "somebodys_library"
    library.mkdir(parents=True)
    (library / "__init__.py").write_text("def f():\n    return 1\n", encoding="utf-8")
    if folder == "libraries":  # as by pip install --target
        info = tmp_path / folder / "somebodys-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: somebodys\nVersion: 1.0\n")
        (info / "top_level.txt").write_text("somebodys_library\n")
    monkeypatch.syspath_prepend(str(tmp_path / folder))
    _code.forget()
    assert not _code._counts("somebodys_library")


def test_installed_libraries_do_not_count():
    assert not _code._counts("numpy.linalg")
    assert not _code._counts("json")
    assert _code._counts("complabel.methods.gradient.mlcl")


HELPERS = {
    "mlcl": """
        transition _parameters annotations._draws losses._complementary
        methods.gradient._base methods._base methods._targets _training._linear""",
    "selection-likelihood": """
        losses._answers_likelihood losses._facts losses._quadrature losses._selection_kernel
        methods.selection._choices methods.selection._determined methods.selection._model
        methods.selection._search _training._lbfgs""",
    "ridge": "methods.baselines._reduced_rank",
    "pml-lrs": "methods._linear_systems methods.candidates._proximal",
    "prior": "annotations._draws metrics._ranked studies._protocol",
}


@pytest.mark.parametrize("method", HELPERS)
def test_every_helper_of_a_method_counts(method):
    reached = _code._reached(roots(method))
    assert {f"complabel.{helper}" for helper in HELPERS[method].split()} <= reached
    assert "complabel.methods.candidates.lift" not in reached


def roots(method):
    return METHODS[method].classifier.__module__, "complabel.studies._protocol"


def test_an_edit_of_the_installed_package_changes_the_checksum(tmp_path, monkeypatch):
    copy = tmp_path / "complabel"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    installed = _code._file

    def copied(module):
        found = installed(module)
        inside = found is not None and found.is_relative_to(PACKAGE)
        return copy / found.relative_to(PACKAGE) if inside else found

    monkeypatch.setattr(_code, "_file", copied)

    def digest_after(addition):
        with (copy / "transition.py").open("a", encoding="utf-8") as source:
            source.write(addition)
        for function in (_code.code_digest, _code._tree, _code._normalized):
            function.cache_clear()
        return [_code.code_digest(*roots(method)) for method in ("mlcl", "ridge")]

    mlcl, ridge = digest_after("")
    assert digest_after("# a word\n") == [mlcl, ridge]
    edited_mlcl, edited_ridge = digest_after("_EDITED = True\n")
    assert edited_mlcl != mlcl
    assert edited_ridge == ridge  # it has no transition matrix
