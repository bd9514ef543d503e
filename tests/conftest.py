"""What all tests share: markers by folder."""

import gc
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache, cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.assertion import rewrite
from django.db import connection, transaction
from django.utils import timezone
from filelock import FileLock
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from pytest_django import plugin as pytest_django
from pytest_django.plugin import DjangoDbBlocker

from apps.audit.append_only import drop_triggers
from tests.support.golden.recorded import missing_folders
from tests.support.shared_folder import SharedFolder

if TYPE_CHECKING:
    from django.test import Client
    from pytest_django.fixtures import Settings
    from xdist.remote import Producer, WorkerInteractor

    from deltaweb.table import DeltaTable
    from tests.support.tables.table_builder import TableBuilder

# Every run tries the same few examples, and slowness alone is no failure. Many others
# are tried by `pytest --hypothesis-profile=explore`, as often as one likes.
settings.register_profile(
    "deltaweb",
    max_examples=10,
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile(
    "explore", settings.get_profile("deltaweb"), max_examples=1_000, derandomize=False
)
settings.load_profile("deltaweb")

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MARKERS = {
    "acceptance": "acceptance",
    "benchmarks": "benchmark",
    "browser": "browser",
    "functional": "functional",
    "spark": "spark",
    "storage": "storage",
}
TESTS = Path(__file__).parent
# Of Python's own thresholds, tests of pages took an eighth longer.
RARELY = (50_000, 20, 100)
LONG_S = 0.05
NO_CASES = "DELTAWEB_GOLDEN or DELTAWEB_PARQUET names no folder with cases"
# pytest-django sets these up and down around every test, for what no test here uses:
# they are a third of what pytest does around a test.
UNUSED_FIXTURES = (
    "_django_clear_site_cache",
    "_django_isolate_apps",
    "_django_set_urlconf",
    "_django_setup_unittest",
    "_live_server_helper",
    "_template_string_if_invalid_marker",
)
_NUMBERS = count()  # of the folders of tests
# What takes long comes first, so that processes side by side end at the same time.
ORDER = ["browser", "spark", "docs", "functional", "storage", "acceptance", "unit"]
# What shares a server, or a JVM: a folder, or those of its files whose JVM is another.
ONE_PROCESS = (
    "tests/browser/",
    "tests/spark/test_reference_",
    "tests/spark/test_worker_killed",
    "tests/spark/",
    "tests/functional/sharing_clients/",
    "docs/",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test's folder is its marker and its place in the order, slow files first."""
    if settings.get_current_profile_name() != "explore":
        _draw_no_constants_of_modules()
    for item in items:
        if marker := MARKERS.get(_folder(item)):
            item.add_marker(marker)
    slow = {item.path for item in items if _takes_long(item)}
    items.sort(key=lambda item: (_place(item), item.path not in slow))


def pytest_configure(config: pytest.Config) -> None:
    """Look for no garbage while tests are collected: they stay, as libraries do."""
    gc.disable()
    for name in UNUSED_FIXTURES:
        delattr(pytest_django, name)
    for plugin in config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor":
            _tell_what_matters(config.pluginmanager, plugin)
    if {Path(one).name for one in config.args} == {*config.getini("testpaths")}:
        _rewrite_a_share(config)


def pytest_collection_finish() -> None:
    """Look for garbage rarely, and never among what stays to the end."""
    gc.freeze()
    gc.set_threshold(*RARELY)
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name what was not read or skipped, and why, in one line a reason."""
    for line in missing_folders():
        terminalreporter.write_line(line)
    reports = terminalreporter.stats.get("skipped", [])
    reasons = Counter(_reason(report) for report in reports)
    for reason, number in sorted(reasons.items()):
        terminalreporter.write_line(f"{number} skipped: {reason}")


def _reason(report: pytest.TestReport) -> str:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
    said = reason.removeprefix("Skipped: ")
    return NO_CASES if said.startswith("got empty parameter set") else said


def _tell_what_matters(
    plugins: pytest.PytestPluginManager, told_by: "WorkerInteractor"
) -> None:
    """Tell of a test that passes once: five messages a test take as long as two tests.

    That it has begun, was set up and taken down again is of interest where it took a
    while, or went wrong.
    """
    tell_all = told_by.pytest_runtest_logreport

    def tell(report: pytest.TestReport) -> None:
        small = report.passed and report.duration < LONG_S and not report.sections
        if report.when == "call" or not small:
            tell_all(report)

    plugins.unregister(told_by)
    for name in ("pytest_runtest_logstart", "pytest_runtest_logfinish"):
        setattr(told_by, name, None)
    told_by.pytest_runtest_logreport = tell
    plugins.register(told_by)


def _rewrite_a_share(config: pytest.Config) -> None:
    """Rewrite the asserts of every third file where three processes run side by side.

    In a new checkout each process would rewrite all files, as they collect in step.
    """
    process = os.environ.get("PYTEST_XDIST_WORKER")
    if process is None or sys.dont_write_bytecode:
        return
    number = int(process.removeprefix("gw"))
    num_processes = int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    state = config.stash[rewrite.assertstate_key]
    for file in sorted(TESTS.rglob("test_*.py"))[number::num_processes]:
        folder = rewrite.get_cache_dir(file)
        kept = folder / f"{file.stem}{rewrite.PYC_TAIL}"
        if not kept.exists() and rewrite.try_makedirs(folder):
            digest, code = rewrite._rewrite_test(file, config)  # noqa: SLF001 (pytest has no other name)
            rewrite._write_pyc(state, code, digest, kept)  # noqa: SLF001 (as above)


def _draw_no_constants_of_modules() -> None:
    """Keep Hypothesis from reading the source of all modules that are loaded.

    It takes six seconds a process, and what an example is would depend on which tests
    were collected beside its own.
    """
    name = "_get_local_constants"  # there is no setting
    assert hasattr(providers, name), "Hypothesis reads them elsewhere by now"
    setattr(providers, name, Constants)


def _folder(item: pytest.Item) -> str:
    return _folder_of(item.path)


@cache  # a file has many tests
def _folder_of(path: Path) -> str:
    return path.relative_to(TESTS).parts[0] if path.is_relative_to(TESTS) else "docs"


def _place(item: pytest.Item) -> int:
    folder = _folder(item)
    return ORDER.index(folder) if folder in ORDER else len(ORDER)


def _takes_long(item: pytest.Item) -> bool:
    draws = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    return draws or item.get_closest_marker("slow") is not None


class _Numbered(list[str]):
    """Names of tests, which know their places."""

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self)}

    def index(self, name: str, *_: object) -> int:
        return self._places[name]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer"):
    """Keep the tests of a file, which share what is slow to make, in one process."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
        def _split_scope(self, nodeid: str) -> str:
            for place in ONE_PROCESS:
                if nodeid.startswith(place):
                    return place
            return nodeid.partition("::")[0]

        # What it inherits looks through all tests for each test, twice.
        def add_node_collection(self, node: object, collection: list[str]) -> None:
            super().add_node_collection(node, collection)
            if node in self.registered_collections:
                self.registered_collections[node] = _Numbered(collection)

        def mark_test_complete(
            self, node: object, item_index: int, duration: float = 0
        ) -> None:
            del duration
            nodeid = self.registered_collections[node][item_index]
            units, unit = self.assigned_work[node], self._split_scope(nodeid)
            del units[unit][nodeid]
            if not units[unit]:
                del units[unit]
            self._reschedule(node)

    config.option.loadscopereorder = False  # the order is that of the collection
    return ByFile(config, log)


@pytest.fixture
def tmp_path(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder of the test's own, found without a look at those of all tests before.

    pytest's own lists them for each, which in the end takes longer than most tests do.
    """
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / f"{name}-{next(_NUMBERS)}"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(autouse=True)
def _switches_are_on() -> None:
    """Let no process ask for the switches now and then: tests count queries."""
    from apps.operate.switches.state import states

    states.assume_all_on()


@pytest.fixture
def standing_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the moment last in which a test begins: what is today is today to its end."""
    moment = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: moment)


_shared: list[SharedFolder] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Iterator[None]:
    """Fail a test, or the last one of a file, that has changed the shared lake."""
    yield
    for shared in _shared:
        if attempts := shared.attempts():
            pytest.fail(f"{item.nodeid} changes the shared lake: {attempts}")
        is_last = nextitem is None or nextitem.path != item.path
        if is_last and (changes := shared.changes()):
            file = item.nodeid.partition("::")[0]
            beside = " or of one that ran beside it" * (
                "PYTEST_XDIST_WORKER" in os.environ
            )
            pytest.fail(f"A test of {file}{beside} changed the shared lake: {changes}")


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the sample tables, which take seconds to make; no test changes it.

    The first process that needs it makes it for all that run side by side. A test that
    changes a table takes a copy: what changes the folder itself fails.
    """
    from deltaweb.samples import make_samples

    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "lake"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            make_samples(new := tmp_path_factory.mktemp("lake"), NOW)
            new.rename(folder)
    _shared.append(SharedFolder(folder))
    return folder


def _builder(request: pytest.FixtureRequest) -> "TableBuilder":
    """Return the constant TABLE of the test's class or file."""
    owner = request.cls if hasattr(request.cls, "TABLE") else request.module
    builder: TableBuilder = owner.TABLE
    return builder


@pytest.fixture
def table(request: pytest.FixtureRequest) -> "DeltaTable":
    """A table in memory, which the constant TABLE of the test's file builds."""
    return _builder(request).build()


@pytest.fixture
def local_table(request: pytest.FixtureRequest, tmp_path: Path) -> "DeltaTable":
    """A table in a folder, which the constant TABLE of the test's file builds."""
    return _builder(request).at(tmp_path / "t").build()


@pytest.fixture
def home(settings: "Settings", tmp_path: Path) -> Path:
    """The folder of an installation of the test's own, which is made by who writes."""
    settings.HOME = tmp_path / "home"
    return tmp_path / "home"


@pytest.fixture
def viewer(db: None) -> "Client":  # noqa: ARG001 (people are rows)
    """A browser in which a viewer is signed in."""
    from tests.support.pages.factories import signed_in

    return signed_in("vera")


@pytest.fixture
def editor(db: None) -> "Client":  # noqa: ARG001 (people are rows)
    """A browser in which an editor is signed in."""
    from tests.support.pages.factories import signed_in

    return signed_in("eve", role="EDITOR")


@pytest.fixture(scope="module")
def module_db(
    django_db_setup: None,  # noqa: ARG001 (the database comes first)
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[None]:
    """A database for what all tests of a module begin with, by its own fixtures.

    What each test adds is rolled back to that, and that is at the end of the module.
    None of its tests may be one of real transactions.
    """
    rows = transaction.atomic()
    rows._from_testcase = True  # type: ignore[attr-defined]  # noqa: SLF001 (as Django's own, for what asks to be the outermost)
    with django_db_blocker.unblock():
        rows.__enter__()
        yield
        transaction.set_rollback(True)
        rows.__exit__(None, None, None)


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """A test database is there before pytest-django asks for it."""
    return True


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None,  # noqa: ARG001 (it names the database)
) -> None:
    """Make the test database as a copy: migrations take seconds, in each process."""
    from tests.support.processes.databases import new_migrated_database
    from tests.support.processes.installation import migrated

    name = connection.creation._get_test_db_name()  # type: ignore[attr-defined]  # noqa: SLF001 (there is no other)
    if connection.vendor == "sqlite":
        shutil.copy(migrated(), name)
    else:
        new_migrated_database(os.environ["DELTAWEB_DATABASE_URL"], name)


@pytest.fixture(scope="session")
def django_db_setup(
    django_db_setup: None,  # noqa: ARG001 (what pytest-django sets up comes first)
    django_db_blocker: DjangoDbBlocker,
) -> None:
    """Have the database emptied quickly after tests that commit.

    SQLite has no TRUNCATE, so the audit's triggers are taken away; the tests of the
    triggers put them back for themselves. PostgreSQL truncates only what holds a row.
    The permissions of Django's, which nobody asks for, are not made again.
    """
    from django.contrib.auth.management import create_permissions
    from django.contrib.contenttypes.management import create_contenttypes
    from django.db.models.signals import post_migrate

    from tests.support.processes.databases import truncate_what_is_filled

    post_migrate.disconnect(create_contenttypes)
    uid = f"{create_permissions.__module__}.{create_permissions.__name__}"
    post_migrate.disconnect(dispatch_uid=uid)
    with django_db_blocker.unblock():
        if connection.vendor == "sqlite":
            drop_triggers(connection)
        else:
            truncate_what_is_filled(connection)
