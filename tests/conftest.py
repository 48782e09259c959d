"""Settings shared by all tests."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from headway.jit import cache as jit_cache
from random_examples import ALL

if TYPE_CHECKING:
    from commands import Headway

try:
    import fcntl
except ImportError:  # no such locks here: every process does all of it
    fcntl = None  # type: ignore[assignment]

# Libraries that count what is left when a process ends see all of it collected.
atexit.register(gc.unfreeze)


# How long an example takes depends on the machine, so it is no part of any test.
# Each run draws new ones: `make test` tries fewer of them than `make test-all`, which asks for "thorough".
settings.register_profile("quick", deadline=None, max_examples=30)
settings.register_profile("thorough", deadline=None, max_examples=ALL)
settings.load_profile("quick")


COMPILED = frozenset((Path(__file__).parent / "compiled.txt").read_text().split())
"""Files of tests that need compiled kernels: real logs, large ones, processes. All others run interpreted."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of those files, but for those that are marked as interpreted."""
    for item in items:
        if item.path.name in COMPILED and item.get_closest_marker("interpreted") is None:
            item.add_marker("compiled")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Note which kernels a test has compiled; those that are built are only loaded."""
    before = len(jit_cache.compiled)
    try:
        return (yield)
    finally:
        if names := jit_cache.compiled[before:]:
            item.user_properties.append(("compiled", ", ".join(names)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which tests have compiled most."""
    reports = [each for kind in ("passed", "failed") for each in terminalreporter.getreports(kind)]
    found = [(each.nodeid, str(dict(each.user_properties)["compiled"])) for each in reports
             if each.when == "call" and "compiled" in dict(each.user_properties)]  # fmt: skip
    found.sort(key=lambda one: -one[1].count(","))
    if found:
        number = sum(names.count(",") + 1 for _, names in found)
        terminalreporter.section(f"{number} kernels compiled by {len(found)} tests")
        for test, names in found[:10]:
            terminalreporter.line(f"{test}: {names[:80]}")


def pytest_configure() -> None:
    """Only the thorough draw constants that stand in our modules, too: to gather those takes each process as
    long as to import all of them."""
    if settings().max_examples < ALL:
        setattr(providers, "is_local_module_file", lambda file: False)  # noqa: B010


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """No garbage is looked for while files are collected: there is none, and it would take a fifth longer.
    Later it is not looked for among what was made by then, which lives as long as the process, and less often
    than Python would."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Processes that collect side by side take turns at a file: the first keeps its assertions as pytest
    rewrites them, which takes longer than all else, and the others read that."""
    if fcntl is None or not isinstance(collector, pytest.Module):
        return (yield)
    with collector.path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        return (yield)


@pytest.fixture
def headway(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Headway:
    """The command, in a folder of its own."""
    from commands import Headway

    return Headway(tmp_path, capsys, monkeypatch)


@pytest.fixture
def run(headway: Headway) -> Headway:
    """The same, for tests that use the package under its name."""
    return headway


@pytest.fixture(scope="module")
def nothing_kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No kernel was kept before: what is called is compiled."""
    from headway.jit import cache

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADWAY_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        cache.keeping.cache_clear()
        yield
    cache.keeping.cache_clear()
