"""The shape of the package: who may import whom, what loads when, what is documented."""

import ast
import functools
import importlib
import inspect
import itertools
import subprocess
import sys
from pathlib import Path

import pytest

import complabel

# From the bottom up: a room imports only from those before it.
ROOMS = (
    "errors",
    "_lazy",
    "_writing",
    "_parameters",
    "persistence",
    "answers",
    "simulate",
    "files",
    "metrics",
    "statistics",
    "datasets",
    "importers",
    "paper",
    "transition",
    "losses",
    "frequencies",
    "_training",
    "methods",
    "asking",
    "studies",
    "reports",
    "cli",
)
WITHOUT_TORCH = ROOMS[: ROOMS.index("losses")]
HEAVY = {"torch", "sklearn", "matplotlib", "pandas", "scipy"}

PACKAGE = Path(complabel.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))


def module_name(path):
    """complabel/metrics/_ranked.py is complabel.metrics._ranked."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(name):
    """The room that a dotted name lies in; None for the package itself."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else None


@functools.cache
def parse(path):
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imported_names(tree):
    """All modules that some code imports, in functions and for type checkers too.

    ``from complabel import metrics`` counts as complabel.metrics.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            if node.module == "complabel":
                yield from (f"complabel.{alias.name}" for alias in node.names)
            else:
                yield node.module


every_source = pytest.mark.parametrize("path", SOURCES, ids=module_name)


@every_source
def test_a_room_imports_only_from_rooms_above_it(path):
    own = room_of(module_name(path))
    if own is None or own == "__main__":
        return  # the package hands out names of every room, on demand
    assert own in ROOMS, f"{own} is no room of the design; give it its place in ROOMS"
    within = {
        name
        for name in imported_names(parse(path))
        if name.startswith("complabel.") and name != "complabel.__version__"
    }
    for name in within:
        room = room_of(name)
        assert room in ROOMS, f"{module_name(path)} imports {name}, which is in no room"
        assert ROOMS.index(room) <= ROOMS.index(own), f"{module_name(path)} imports {name}"


FAMILIES = ("baselines", "candidates", "gradient", "matched", "selection")


@every_source
def test_families_of_methods_do_not_know_each_other(path):
    parts = module_name(path).split(".")
    if parts[1:2] != ["methods"] or parts[-1] == "_registry" or len(parts) == 2:
        return  # the registry and the room's door know them all
    own = parts[2] if parts[2] in FAMILIES else None
    for name in imported_names(parse(path)):
        target = name.split(".")
        if target[:2] == ["complabel", "methods"] and len(target) > 2:
            assert target[2] not in set(FAMILIES) - {own}, f"{module_name(path)} imports {name}"


def n_lines(folder):
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in folder.rglob("*.py"))


def test_no_room_and_no_family_grows_into_a_house_of_its_own():
    total = n_lines(PACKAGE)
    folders = [folder for folder in PACKAGE.rglob("*") if (folder / "__init__.py").exists()]
    assert len(folders) > len(ROOMS) / 2
    for folder in folders:
        share = 0.27 if folder.parent == PACKAGE else 0.12
        assert n_lines(folder) <= share * total, folder.name


@every_source
def test_only_a_room_itself_opens_its_private_modules(path):
    own = room_of(module_name(path))
    for name in imported_names(parse(path)):
        parts = name.split(".")
        if parts[0] == "complabel" and any(part.startswith("_") for part in parts[2:]):
            assert parts[1] == own or name == "complabel.__version__", name


@every_source
def test_rooms_without_tensors_do_not_import_torch(path):
    if room_of(module_name(path)) in WITHOUT_TORCH:
        assert not any(name.split(".")[0] == "torch" for name in imported_names(parse(path)))


def loaded_after(code):
    """The top-level modules that a fresh interpreter has loaded after running some code."""
    script = f"{code}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    completed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert completed.returncode == 0, completed.stderr
    return set(completed.stdout.splitlines()[-1].split())


def test_importing_the_package_loads_nothing_heavy():
    assert not loaded_after("import complabel") & (HEAVY | {"numpy", "typer", "pydantic"})


def test_the_rooms_without_tensors_load_no_torch():
    imports = "\n".join(f"import complabel.{room}" for room in WITHOUT_TORCH)
    loaded = loaded_after(imports)
    assert "numpy" in loaded  # else nothing was imported at all
    assert not loaded & {"torch", "matplotlib", "pandas"}


def test_the_library_loads_nothing_that_only_commands_and_studies_need():
    blocked = "import sys\nfor name in ('typer', 'rich', 'pydantic'): sys.modules[name] = None\n"
    rooms = "complabel.methods as methods, complabel.losses, complabel.paper"
    loaded = loaded_after(
        f"{blocked}import {rooms}\nfor name in dir(methods): getattr(methods, name)"
    )
    assert "torch" in loaded


LAZY = ("complabel._training", "complabel.methods", "complabel.reports")


@pytest.mark.parametrize("name", LAZY)
def test_a_package_that_imports_names_when_they_are_used_tells_type_checkers_the_same(name):
    module = importlib.import_module(name)
    for node in parse(Path(module.__file__)).body:
        if isinstance(node, ast.If):
            told = {alias.name: each.module for each in node.body for alias in each.names}
    assert {*module._PLACES} == {*told} == {*module.__all__} & {*told}
    for public, place in module._PLACES.items():
        assert place == f"{told[public]}:{public}"
    assert {*module.__all__} <= {*dir(module)}
    with pytest.raises(AttributeError, match="no attribute 'absent'"):
        _ = module.absent


def test_the_command_line_starts_without_anything_heavy():
    assert not loaded_after("import complabel.cli") & {"torch", "sklearn", "matplotlib"}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]], ids=" ".join)
def test_asking_for_help_loads_nothing_heavy(arguments):
    code = f"""
import sys
from complabel.cli import main
sys.argv = ["complabel", *{arguments!r}]
try:
    main()
except SystemExit as stop:
    assert stop.code in (None, 0), stop.code
"""
    assert not loaded_after(code) & {"torch", "sklearn", "matplotlib"}


def public_modules():
    """The modules that say which of their names are public."""
    for path in SOURCES:
        assigned = {
            target.id
            for node in parse(path).body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        if "__all__" in assigned:
            yield module_name(path)


PUBLIC = list(public_modules())


def test_every_room_says_what_is_public():
    rooms = {f"complabel.{room}" for room in ROOMS if (PACKAGE / room / "__init__.py").exists()}
    assert rooms <= {*PUBLIC, "complabel.cli"}


@functools.cache
def documented_constants():
    """Module-level names assigned anywhere in the package with a string right after them."""
    pairs = itertools.chain.from_iterable(itertools.pairwise(parse(path).body) for path in SOURCES)
    return {
        target.id
        for node, following in pairs
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and isinstance(following, ast.Expr)
        and isinstance(following.value, ast.Constant)
        and isinstance(following.value.value, str)
        for target in getattr(node, "targets", [getattr(node, "target", None)])
        if isinstance(target, ast.Name)
    }


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_exists_and_is_documented(name):
    module = importlib.import_module(name)
    assert module.__doc__
    assert len(set(module.__all__)) == len(module.__all__)
    undocumented = []
    for public in module.__all__:
        value = getattr(module, public)
        if inspect.isclass(value):
            # A class that inherits its text says nothing about itself.
            text = value.__dict__.get("__doc__")
        elif inspect.isroutine(value) or inspect.ismodule(value):
            text = value.__doc__
        else:
            text = public in documented_constants() or public == "__version__"
        if not text:
            undocumented.append(public)
    assert not undocumented


def own_methods(cls):
    """The public methods and properties that a class defines itself."""
    for name, member in vars(cls).items():
        function = member.fget if isinstance(member, property) else member
        function = getattr(function, "__func__", function)  # of a class or static method
        if inspect.isfunction(function) and function.__name__ == name and not name.startswith("_"):
            yield name, function


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_method_is_documented(name):
    module = importlib.import_module(name)
    classes = [getattr(module, public) for public in module.__all__]
    undocumented = [
        f"{cls.__name__}.{method}"
        for cls in filter(inspect.isclass, classes)
        for method, function in own_methods(cls)
        if not function.__doc__
    ]
    assert not undocumented


@every_source
def test_only_the_command_line_prints(path):
    if room_of(module_name(path)) == "cli":
        return
    calls = [node for node in ast.walk(parse(path)) if isinstance(node, ast.Call)]
    printing = [node.lineno for node in calls if getattr(node.func, "id", None) == "print"]
    assert not printing


@every_source
def test_nobody_touches_the_global_random_state(path):
    legacy = {"seed", "rand", "randn", "randint", "shuffle", "permutation", "choice"}
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Attribute) and node.attr in legacy:
            assert ast.unparse(node.value) not in {"np.random", "numpy.random"}, node.lineno
