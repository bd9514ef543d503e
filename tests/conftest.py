"""What all tests share: markers by folder."""

import time
from pathlib import Path

import pytest
from django.db import connection
from hypothesis import HealthCheck, settings
from pytest_django.plugin import DjangoDbBlocker

from apps.audit.append_only import drop_triggers
from apps.tables import bounded_read

# Every run tries the same examples, and slowness alone is no failure. Others are tried
# by `pytest --hypothesis-profile=explore`, as often as one likes.
settings.register_profile(
    "deltaweb",
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.function_scoped_fixture,
    ],
)
settings.register_profile(
    "explore", settings.get_profile("deltaweb"), derandomize=False
)
settings.load_profile("deltaweb")

DAY_S, END_OF_DAY_S = 86_400, 20  # days of UTC, as all of ours
MARKERS = {
    "acceptance": "acceptance",
    "benchmarks": "benchmark",
    "browser": "browser",
    "functional": "functional",
    "spark": "spark",
    "storage": "storage",
}
TESTS = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test's folder is its marker."""
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0]
        if marker := MARKERS.get(folder):
            item.add_marker(marker)


def pytest_runtest_setup() -> None:
    """Begin no test in the last moments of a day: many ask what happened today."""
    into_day_s = time.time() % DAY_S
    if DAY_S - into_day_s < END_OF_DAY_S:
        time.sleep(DAY_S - into_day_s)


@pytest.fixture(scope="session", autouse=True)
def _patience() -> None:
    """Give storage the time that it takes on a loaded machine: pages wait for it."""
    bounded_read.STORAGE_TIMEOUT_S = 60.0


@pytest.fixture(scope="session")
def django_db_setup(
    django_db_setup: None,  # noqa: ARG001 (what pytest-django sets up comes first)
    django_db_blocker: DjangoDbBlocker,
) -> None:
    """Take the audit's triggers away where a test's data is emptied by DELETE.

    SQLite has no TRUNCATE; the tests of the triggers put them back for themselves.
    """
    with django_db_blocker.unblock():
        if connection.vendor == "sqlite":
            drop_triggers(connection)
