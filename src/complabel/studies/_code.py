"""A checksum of the code that a result depends on: edited code makes results of its own."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

_OWN = "complabel"
_LIBRARIES = tuple(
    Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib")
)


@functools.cache
def code_digest(*modules: str) -> str:
    """Return a checksum of modules and of all that they import, directly or not.

    Parameters
    ----------
    *modules : str
        Dotted names. Modules of the standard library and of installed packages other than
        complabel do not count: the versions of those that matter belong to a result's key.

    Returns
    -------
    str
        64 hexadecimal digits. Comments, docstrings and the layout of the code do not count.
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
        if name not in found:
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
            yield from (_origin(source, alias.name) for alias in node.names)


def _origin(module: str, name: str) -> str:
    """Return the module that ``from module import name`` takes the name from in the end.

    A package hands out names of its modules. Only the one that is asked for counts: a method does
    not depend on all others because they share a package.
    """
    if not _counts(module):
        return module
    if _file(f"{module}.{name}") is not None:
        return f"{module}.{name}"
    for node in _statements(_tree(module)):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if name == (alias.asname or alias.name):
                    return _origin(_absolute(node, module), alias.name)
    return module


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
    if file is None:
        return False
    installed = any(file.is_relative_to(folder) for folder in _LIBRARIES)
    return (top == _OWN or not installed) and _file(module) is not None


@functools.cache
def _file(module: str) -> Path | None:
    """Return the file of a module, or None where there is none."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):  # a name inside a module that is no package
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
