"""Completion in the shell: names of datasets, methods and plans, and matching files.

The shell calls this at each press of the Tab key, so nothing here loads NumPy or torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

# Endings that complabel.datasets reads, without those of archives.
_DATASET_ENDINGS = (".arff", ".npz", ".mat", ".svm", ".svmlight", ".libsvm")


def complete_dataset(incomplete: str) -> list[str]:
    """Return names of catalog datasets, and files that may be datasets."""
    return [*_beginning(catalog_names(), incomplete), *_files(incomplete, _DATASET_ENDINGS)]


def complete_catalog(incomplete: str) -> list[str]:
    """Return names of catalog datasets."""
    return _beginning(catalog_names(), incomplete)


def complete_method(incomplete: str) -> list[str]:
    """Return names of methods, with those of other installed packages."""
    from importlib import metadata

    from complabel.methods import METHODS

    offered = (entry.name for entry in metadata.entry_points(group="complabel.methods"))
    return _beginning((*METHODS, *offered), incomplete)


def complete_plan(incomplete: str) -> list[str]:
    """Return names of the plans in the package, and TOML files."""
    from complabel.paper import PLANS

    return [*_beginning(PLANS, incomplete), *_files(incomplete, (".toml",))]


def complete_table(incomplete: str) -> list[str]:
    """Return the names of the paper's tables of results."""
    from complabel.paper import TABLES

    return _beginning(TABLES, incomplete)


def catalog_names() -> list[str]:
    """Return all names in the catalog's file; ``complabel.datasets`` would load SciPy."""
    import tomllib
    from importlib import resources

    catalog = resources.files("complabel").joinpath("datasets", "catalog.toml")
    return [*tomllib.loads(catalog.read_text("utf-8"))]


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    """Return the names that begin with the text typed so far."""
    return [name for name in names if name.startswith(incomplete)]


def _files(incomplete: str, endings: tuple[str, ...]) -> Iterator[str]:
    """Yield the folders, and the files with these endings, that match the text typed so far."""
    before, slash, begun = incomplete.rpartition("/")
    try:
        found = sorted(Path(before + slash or ".").iterdir())
    except OSError:
        return
    for path in found:
        hidden = path.name.startswith(".") and not begun
        if not path.name.startswith(begun) or hidden:
            continue
        if path.is_dir():
            yield f"{before}{slash}{path.name}/"
        elif path.name.lower().endswith(endings):
            yield f"{before}{slash}{path.name}"
