"""The shape of the package: who may import whom, what loads when, what is documented."""

import ast
import functools
import importlib
import inspect
import itertools
from collections.abc import Iterator

import pytest
from tests.house import (
    BUDGET,
    BUILDINGS,
    CHECKOUT,
    ROOMS,
    SOURCE,
    House,
    buildings,
    circles,
    module_name,
    room_of,
)
from tests.refusals import raises
from tests.spawned import python

WITHOUT_TORCH = ROOMS[: ROOMS.index("losses")] + BUILDINGS["experiments"][:3]
HEAVY = {"torch", "sklearn", "matplotlib", "pandas", "scipy"}
FAMILIES = ("baselines", "gradient", "matched", "selection")
FAMILIES += ("candidates", "class_conditional", "complementary_loss", "supervised")

MOST_FILES_OF_A_QUESTION = 12


@pytest.fixture(scope="module")
def house():
    return House.here()


def arrows(house: House) -> Iterator[tuple[str, str]]:
    """All pairs of a module and a module that it imports, but for those of the front doors."""
    for path in house.sources:
        name = module_name(path)
        if room_of(name) not in (None, "__main__"):
            yield from ((name, target) for target in house.imports(path))


def test_the_house_does_not_outgrow_its_budget(house):
    left = {name: BUDGET[name] - lines for name, lines in buildings(house).items()}
    assert min(left.values()) >= 0, left


def test_a_kind_of_question_costs_at_most_twelve_files():
    blocks = (CHECKOUT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("```diff\n")
    (question,) = (block for block in blocks if "\n+    QuestionKind(" in block)
    files = [line for line in question.splitlines() if line.startswith("+++ ")]
    assert 0 < len(files) <= MOST_FILES_OF_A_QUESTION


@pytest.mark.slow
def test_walks_reach_their_ends():
    assert "likelihood" in python("-m", "tests.walks", cwd=CHECKOUT, timeout=300)


def test_no_modules_import_each_other(house):
    assert not circles(house)


def test_a_circle_is_found():
    files = {"a": "def use():\n    import complabel.b", "b": "from complabel.a import use"}
    house = House({f"{SOURCE}/{name}.py": text for name, text in files.items()})
    assert circles(house) == [{"complabel.a", "complabel.b"}]


def test_a_room_imports_only_from_rooms_above_it(house):
    for name, target in arrows(house):
        assert room_of(name) in ROOMS, f"{name} is in no room; give it its place in ROOMS"
        if room_of(target) is not None:  # the package itself hands out its version
            assert room_of(target) in ROOMS, f"{name} imports {target}, which is in no room"
            above = ROOMS.index(room_of(target)) <= ROOMS.index(room_of(name))
            assert above, f"{name} imports {target}"


def test_nothing_in_the_tool_imports_the_experiments(house):
    for name, target in arrows(house):
        if room_of(name) in BUILDINGS["tool"]:
            assert not target.startswith("complabel.experiments"), f"{name} imports {target}"


def test_only_a_room_itself_opens_its_private_modules(house):
    for name, target in arrows(house):
        if any(part.startswith("_") for part in target.split(".")[2:]):
            assert room_of(name) == room_of(target), f"{name} imports {target}"


def test_families_of_methods_do_not_know_each_other(house):
    def family(name):
        return next((part for part in name.split(".")[2:4] if part in FAMILIES), None)

    for name, target in arrows(house):
        if room_of(target) == room_of(name) and ".methods." in name:
            knows_all = name.endswith("._registry")
            assert knows_all or family(target) in (None, family(name)), f"{name} imports {target}"


def test_rooms_without_tensors_do_not_import_torch(house):
    # A pretrained network runs in torch; only its functions import it, as the next tests demand.
    network = f"{SOURCE}/features/_lite0.py"
    for path in house.sources:
        if room_of(module_name(path)) in WITHOUT_TORCH and path != network:
            for node in ast.walk(house.tree(path)):
                names = [alias.name for alias in getattr(node, "names", ())]
                if isinstance(node, ast.Import | ast.ImportFrom):
                    names.append(getattr(node, "module", "") or "")
                    assert not any(name.split(".")[0] == "torch" for name in names), path


def loaded_after(code):
    """The top-level modules that a fresh interpreter has loaded after running some code."""
    script = f"{code}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    return set(python("-c", script).splitlines()[-1].split())


def test_importing_the_package_loads_nothing_heavy():
    assert not loaded_after("import complabel") & (HEAVY | {"numpy", "typer", "pydantic"})


def test_the_rooms_without_tensors_load_no_torch():
    imports = "\n".join(f"import complabel.{room}" for room in WITHOUT_TORCH)
    loaded = loaded_after(imports)
    assert "numpy" in loaded  # else nothing was imported at all
    assert not loaded & {"torch", "matplotlib", "pandas"}


def test_the_library_loads_nothing_that_only_commands_and_studies_need():
    blocked = "import sys\nfor name in ('typer', 'rich', 'pydantic'): sys.modules[name] = None\n"
    rooms = (
        "complabel.methods as methods, complabel.losses, complabel.experiments.methods as others"
    )
    loaded = loaded_after(
        f"{blocked}import {rooms}\nfor name in dir(methods): getattr(methods, name)"
    )
    assert "torch" in loaded


LAZY = ("complabel", "complabel._training", "complabel.methods", "complabel.reports")
LAZY += ("complabel.experiments", "complabel.experiments.methods")


def test_packages_that_import_names_when_they_are_used_tell_type_checkers_the_same(house):
    for name in LAZY:
        module = importlib.import_module(name)
        path = f"src/{name.replace('.', '/')}/__init__.py"
        (told,) = (
            {
                alias.name: each.module
                for each in node.body
                if isinstance(each, ast.ImportFrom) and each.module.startswith("complabel")
                for alias in each.names
            }
            for node in house.tree(path).body
            if isinstance(node, ast.If)
        )
        assert {*module._PLACES} == {*told}
        for public, place in module._PLACES.items():
            assert place == f"{told[public]}:{public}"
        assert {*getattr(module, "__all__", ())} <= {*dir(module)}
        with raises(AttributeError, "attribute 'absent'"):
            _ = module.absent


def public_modules(house: House) -> list[str]:
    """The modules that say which of their names are public."""
    return [module_name(path) for path in house.sources if house.public(path)]


def test_every_room_says_what_is_public(house):
    rooms = {x for x in ROOMS if f"{SOURCE}/{x.replace('.', '/')}/__init__.py" in house.texts}
    public = {f"complabel.{room}" for room in rooms if not room.startswith("_")}
    # The command line and the servers are used by commands and routes, not by names.
    by_commands = {"complabel.cli", "complabel.live", "complabel.experiments.cli"}
    assert public <= {*public_modules(house), *by_commands}


@functools.cache
def documented_constants():
    """Module-level names assigned anywhere in the package with a string right after them."""
    house = House.here()
    bodies = (house.tree(path).body for path in house.sources)
    pairs = itertools.chain.from_iterable(itertools.pairwise(body) for body in bodies)
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


def test_every_public_name_exists_and_is_documented(house):
    for name in public_modules(house):
        module = importlib.import_module(name)
        assert module.__doc__, name
        assert len(set(module.__all__)) == len(module.__all__), name
        for public in module.__all__:
            value = getattr(module, public)
            if inspect.isclass(value):
                # A class that inherits its text says nothing about itself.
                text = value.__dict__.get("__doc__")
            elif inspect.isroutine(value) or inspect.ismodule(value):
                text = value.__doc__
            else:
                text = public in documented_constants() or public == "__version__"
            assert text, f"{name}.{public}"


def own_methods(cls):
    """The public methods and properties that a class defines itself."""
    for name, member in vars(cls).items():
        function = member.fget if isinstance(member, property) else member
        function = getattr(function, "__func__", function)  # of a class or static method
        if inspect.isfunction(function) and function.__name__ == name and not name.startswith("_"):
            yield name, function


def test_every_public_method_is_documented(house):
    for name in public_modules(house):
        module = importlib.import_module(name)
        classes = [getattr(module, public) for public in module.__all__]
        for cls in filter(inspect.isclass, classes):
            for method, function in own_methods(cls):
                assert function.__doc__, f"{cls.__name__}.{method}"


def test_only_the_command_line_prints(house):
    for path in house.sources:
        if room_of(module_name(path)) not in ("cli", "experiments.cli"):
            for node in ast.walk(house.tree(path)):
                assert getattr(getattr(node, "func", None), "id", None) != "print", path


def test_nobody_touches_the_global_random_state(house):
    legacy = {"seed", "rand", "randn", "randint", "shuffle", "permutation", "choice"}
    for path in house.sources:
        for node in ast.walk(house.tree(path)):
            if isinstance(node, ast.Attribute) and node.attr in legacy:
                assert ast.unparse(node.value) not in {"np.random", "numpy.random"}, path
