"""A checksum of the code that a result depends on, so that edited code gives new results."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import sysconfig
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

_OWN = "complabel"
# Not followed: it only finds a class and its parameters, and the key of a result has both. If it
# were followed, every method would depend on all others.
_REGISTRY = "complabel.methods._registry"
_STANDARD = Path(sysconfig.get_path("stdlib")).resolve()
_INSTALLED = {"site-packages", "dist-packages"}


@functools.cache
def code_digest(*modules: str) -> str:
    """Return a checksum of modules and of all modules that they import, directly or not.

    The standard library and installed packages other than complabel do not count; the key of a
    result has the versions of the important ones. Comments, docstrings and the layout of the code
    do not count either.
    """
    digest = hashlib.sha256()
    for name in sorted(_reached(modules)):
        digest.update(f"{name}\n{_normalized(name)}\n".encode())
    return digest.hexdigest()


def own_files(*modules: str) -> dict[str, Path]:
    """Return the top-level modules of the user's own among modules and their imports, with files.

    The file of a package is its ``__init__.py``.
    """
    tops = {name.partition(".")[0] for name in _reached(modules)} - {_OWN}
    return {top: file for top in sorted(tops) if (file := _file(top)) is not None}


def forget() -> None:
    """Forget all code that was read, because files were changed."""
    for function in (code_digest, _counts, _file, _tree, _normalized, _distributions):
        function.cache_clear()


def _reached(modules: Iterable[str]) -> set[str]:
    """Return all modules that count among the given ones and their imports."""
    found: set[str] = set()
    waiting = [name for name in modules if _counts(name)]
    while waiting:
        name = waiting.pop()
        if name not in (*found, _REGISTRY):
            found.add(name)
            waiting.extend(imported for imported in _imports(name) if _counts(imported))
    return found


def _imports(module: str) -> Iterator[str]:
    """Yield the modules that a module imports, also inside its functions."""
    for node in _statements(_tree(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = _absolute(node, module)
            for alias in node.names:
                yield from _origins(source, alias.name)


def _origins(module: str, name: str, asked: frozenset[tuple[str, str]] = frozenset()) -> set[str]:
    """Return the modules in which the name of ``from module import name`` is really defined.

    A package re-exports names of its modules, but only the modules of imported names count. So a
    method does not depend on all others in its package. A package that imports its names when they
    are used repeats their imports for type checkers, so these count here.
    """
    if not _counts(module) or (module, name) in asked:
        return {module}
    if _file(f"{module}.{name}") is not None:
        return {f"{module}.{name}"}
    asked |= {(module, name)}
    found: set[str] = set()
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.ImportFrom):
            source = _absolute(node, module)
            for alias in node.names:
                if name == (alias.asname or alias.name):
                    found |= _origins(source, alias.name, asked)
        elif _makes(node, name):
            found.add(module)  # defined here, maybe from imported names
    return {origin for origin in found if _counts(origin)} or {module}


def _makes(node: ast.AST, name: str) -> bool:
    """Return whether a node defines a name or assigns to it."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name == name
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk through a module, without the blocks that only type checkers read."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from _statements(child)


def _absolute(node: ast.ImportFrom, module: str) -> str:
    """Return the absolute name of the module after ``from`` in an import statement."""
    if not node.level:
        return node.module or ""
    file = _file(module)
    is_package = file is not None and file.stem == "__init__"
    package = module if is_package else module.rpartition(".")[0]
    return importlib.util.resolve_name("." * node.level + (node.module or ""), package)


@functools.cache
def _counts(module: str) -> bool:
    """Return whether a module is complabel's or the user's own code, not a library."""
    top = module.partition(".")[0]
    file = _file(top)
    if file is None or (top != _OWN and _is_library(top, file)):
        return False
    return _file(module) is not None


def _is_library(top: str, file: Path) -> bool:
    """Return whether a top-level module was installed, and is not a checkout in development."""
    if file.is_relative_to(_STANDARD) or not _INSTALLED.isdisjoint(file.parts):
        return True
    distributions = _distributions().get(top, ())
    folders = (str(metadata.distribution(name).locate_file("")) for name in distributions)
    return any(file.is_relative_to(Path(folder).resolve()) for folder in folders)


_distributions = functools.cache(metadata.packages_distributions)


@functools.cache
def _file(module: str) -> Path | None:
    """Return the file of a module, or None if it has none."""
    try:
        spec = importlib.util.find_spec(module)
    except Exception:  # the parent is not a package, or it fails to load
        return None
    if spec is None or spec.origin is None or not spec.has_location:
        return None
    return Path(spec.origin).resolve()


@functools.cache
def _tree(module: str) -> ast.Module:
    """Parse a module without its docstrings; empty if it is not written in Python."""
    file = _file(module)
    if file is None or file.suffix != ".py":
        return ast.Module(body=[], type_ignores=[])
    tree = ast.parse(file.read_bytes(), filename=str(file))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:] or [ast.Pass()]
    return tree


@functools.cache
def _normalized(module: str) -> str:
    """Return a module's code without comments, docstrings and layout, or its file's checksum."""
    file = _file(module)
    if file is None or file.suffix == ".py":
        return repr(_plain(_tree(module)))
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _plain(node: object) -> object:
    """Turn a syntax tree into nested lists that are the same in every version of Python."""
    if isinstance(node, ast.AST):
        fields = ((name, value) for name, value in ast.iter_fields(node) if value not in (None, []))
        return [type(node).__name__, *((name, _plain(value)) for name, value in fields)]
    return [_plain(item) for item in node] if isinstance(node, list) else node
