"""A checksum of the code that a result depends on: edited code makes results of its own."""

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
# Only gives a class and its parameters, which are in a result's key by themselves; following it
# would make every method depend on all others.
_REGISTRY = "complabel.methods._registry"
_STANDARD = Path(sysconfig.get_path("stdlib")).resolve()
_INSTALLED = {"site-packages", "dist-packages"}


@functools.cache
def code_digest(*modules: str) -> str:
    """Return a checksum of modules and of all that they import, directly or not.

    Modules of the standard library and of installed packages other than complabel do not count:
    the versions of those that matter belong to a result's key. Neither do comments, docstrings
    and the layout of the code.
    """
    digest = hashlib.sha256()
    for name in sorted(_reached(modules)):
        digest.update(f"{name}\n{_normalized(name)}\n".encode())
    return digest.hexdigest()


def _reached(modules: Iterable[str]) -> set[str]:
    """Return the modules that count, reached from some by their imports."""
    found: set[str] = set()
    waiting = [name for name in modules if _counts(name)]
    while waiting:
        name = waiting.pop()
        if name not in (*found, _REGISTRY):
            found.add(name)
            waiting.extend(imported for imported in _imports(name) if _counts(imported))
    return found


def _imports(module: str) -> Iterator[str]:
    """Yield the modules that a module's own lines import, in functions too."""
    for node in _statements(_tree(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = _absolute(node, module)
            for alias in node.names:
                yield from _origins(source, alias.name)


def _origins(module: str, name: str, asked: frozenset[tuple[str, str]] = frozenset()) -> set[str]:
    """Return the modules that ``from module import name`` may take the name from in the end.

    A package hands out names of its modules. Only those that are asked for count: a method does
    not depend on all others because they share a package.
    """
    if not _counts(module) or (module, name) in asked:
        return {module}
    if _file(f"{module}.{name}") is not None:
        return {f"{module}.{name}"}
    asked |= {(module, name)}
    found: set[str] = set()
    for node in _statements(_tree(module)):
        if isinstance(node, ast.ImportFrom):
            source = _absolute(node, module)
            for alias in node.names:
                if name == (alias.asname or alias.name):
                    found |= _origins(source, alias.name, asked)
        elif _makes(node, name):
            found.add(module)  # maybe out of what was imported
    return {origin for origin in found if _counts(origin)} or {module}


def _makes(node: ast.AST, name: str) -> bool:
    """Tell a definition of a name, or an assignment to it."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name == name
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk through a module, leaving out what only type checkers read."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from _statements(child)


def _absolute(node: ast.ImportFrom, module: str) -> str:
    """Return the absolute name of what an import statement imports from."""
    if not node.level:
        return node.module or ""
    file = _file(module)
    is_package = file is not None and file.stem == "__init__"
    package = module if is_package else module.rpartition(".")[0]
    return importlib.util.resolve_name("." * node.level + (node.module or ""), package)


@functools.cache
def _counts(module: str) -> bool:
    """Tell code that is the user's or ours from libraries."""
    top = module.partition(".")[0]
    file = _file(top)
    if file is None or (top != _OWN and _is_library(top, file)):
        return False
    return _file(module) is not None


def _is_library(top: str, file: Path) -> bool:
    """Tell whether a top-level module was installed, and is not a checkout somebody works on."""
    if file.is_relative_to(_STANDARD) or not _INSTALLED.isdisjoint(file.parts):
        return True
    distributions = _distributions().get(top, ())
    folders = (str(metadata.distribution(name).locate_file("")) for name in distributions)
    return any(file.is_relative_to(Path(folder).resolve()) for folder in folders)


_distributions = functools.cache(metadata.packages_distributions)


@functools.cache
def _file(module: str) -> Path | None:
    """Return the file of a module, or None where there is none."""
    try:
        spec = importlib.util.find_spec(module)
    except Exception:  # a name inside a module that is no package, or a package that fails to load
        return None
    if spec is None or spec.origin is None or not spec.has_location:
        return None
    return Path(spec.origin).resolve()


@functools.cache
def _tree(module: str) -> ast.Module:
    """Parse a module, without its docstrings; one that is not written in Python has no lines."""
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
    """Turn a tree into nested lists, which look the same under every version of Python."""
    if isinstance(node, ast.AST):
        fields = ((name, value) for name, value in ast.iter_fields(node) if value not in (None, []))
        return [type(node).__name__, *((name, _plain(value)) for name, value in fields)]
    return [_plain(item) for item in node] if isinstance(node, list) else node
