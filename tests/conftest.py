"""Fixtures that tests of several rooms share, and how property tests draw."""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from scipy import sparse
from tests.examples import USUAL

# A newcomer's scripts do their work when they are imported; tests/newcomer/session.py runs them.
collect_ignore_glob = ["newcomer/own_*.py"]

# By default, a quarter of the time to collect the tests goes into looking for garbage.
gc.set_threshold(50_000, 20, 100)

# Tests do not time anything: a busy machine must not fail them. Nor must luck: property tests draw
# the same examples in each run, unless `make fuzz` looks for new ones.
hypothesis.settings.register_profile(
    "same", deadline=None, derandomize=True, max_examples=USUAL, print_blob=True
)
hypothesis.settings.register_profile("new", deadline=None, max_examples=10 * USUAL, print_blob=True)
hypothesis.settings.load_profile("same")


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """Keep the modules that happen to be loaded from having a say in what is drawn.

    Hypothesis tries constants of the code that is loaded, which differs with the tests that ran
    before on the same worker. It has no setting for it.
    """
    providers = getattr(hypothesis.internal.conjecture, "providers", None)
    if hypothesis.settings().derandomize and hasattr(providers, "_get_local_constants"):
        none = providers.Constants()
        providers._get_local_constants = lambda: none


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the ten files that took longest; several workers report to this process, too."""
    seconds: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[report.nodeid.partition("::")[0]] += report.duration
    if len(seconds) > 10:
        terminalreporter.section("ten slowest files")
        for name, spent in seconds.most_common(10):
            terminalreporter.write_line(f"{spent:6.1f} s  {name}")


class Hiding:
    """A finder that finds all but some packages."""

    def __init__(self, finder: Any, names: tuple[str, ...]) -> None:
        self._finder, self._names = finder, names

    def find_spec(self, name: str, *more: Any) -> Any:
        hidden = name.partition(".")[0] in self._names
        return None if hidden else self._finder.find_spec(name, *more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._finder, name)


@pytest.fixture
def without() -> Iterator[Callable[..., None]]:
    """Call it with packages that shall be as if they were not installed."""
    finders, loaded = sys.meta_path[:], {}

    def hide(*names: str) -> None:
        for name in [name for name in sys.modules if name.partition(".")[0] in names]:
            loaded[name] = sys.modules.pop(name)
        sys.meta_path[:] = [Hiding(finder, names) for finder in finders]

    yield hide
    sys.meta_path[:] = finders
    sys.modules.update(loaded)


@pytest.fixture
def small_files() -> Callable[[int], contextlib.AbstractContextManager[None]]:
    """Call it with a number of bytes; the system writes no more of a file, as on a full disk."""

    @contextlib.contextmanager
    def limited(n_bytes: int) -> Iterator[None]:
        usual, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, most))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (usual, most))

    return limited


@pytest.fixture
def never_dense(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it once the sparse features are made: whoever makes them dense from then on fails."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("sparse features were made dense")

    def watch() -> None:
        kinds = product(("csr", "csc", "coo", "bsr", "lil", "dok", "dia"), ("array", "matrix"))
        for kind, name in product(map("_".join, kinds), ("toarray", "todense")):
            monkeypatch.setattr(getattr(sparse, kind), name, refuse)

    return watch


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real benchmark data, beside the project or named by the environment."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("COMPLABEL_TEST_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} is absent; set COMPLABEL_TEST_DATA to test with it")
    return folder


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A headless Chromium; tests leave its window and its colours as they like."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    programs = [shutil.which("chromium"), shutil.which("chromedriver")]
    if None in programs:
        pytest.skip("chromium and chromedriver are not on the path")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    profile = f"--user-data-dir={tmp_path_factory.mktemp('profile')}"
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-background-networking"):
        options.add_argument(f"--{argument}")
    options.add_argument(profile)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=programs[1], log_output=subprocess.DEVNULL)
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()
