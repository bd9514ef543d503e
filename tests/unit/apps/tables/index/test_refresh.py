"""Small logs are read by the worker itself until Spark runs; Spark reads the others."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from apps.jobs.models import Job
from apps.tables.index import spark_session
from apps.tables.index.refresh import REFRESH, refresh_table
from deltaweb.spark.driver import session
from tests.support import cases
from tests.support.pages.factories import NOW, new_unindexed_table

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("home")]


class SparkIsAskedError(Exception):
    """Spark would be started."""


@pytest.fixture(autouse=True)
def delays(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A worker whose Spark is not started yet, and takes longer than the test.

    After which delays it would be started beside is kept.
    """
    found: list[float] = []

    @contextmanager
    def never(delay_s: float) -> Iterator[Callable[[], bool]]:
        found.append(delay_s)
        yield lambda: False

    def ask(*_arguments: object, idle: str) -> None:
        raise SparkIsAskedError(idle)

    monkeypatch.setattr(session, "is_needed", lambda: True)
    monkeypatch.setattr(spark_session, "spark_after", never)
    monkeypatch.setattr(spark_session, "with_spark", ask)
    return found


@pytest.fixture
def job(lake: Path) -> Job:
    table = new_unindexed_table("returns", location=str(lake / "returns"))
    return refresh_table(table, now=NOW)


def test_a_small_log_is_read_without_spark(job: Job) -> None:
    REFRESH.work(job.id)

    job.refresh_from_db()
    assert (job.state, job.result) == ("DONE", {"version": 0, "state": "INDEXED"})
    assert job.steps[0]["name"] == "Reading the log"


def test_spark_is_started_beside_after_as_long_as_a_setting_says(job, delays, settings):
    settings.SPARK_AFTER_S = 30

    REFRESH.work(job.id)

    assert delays == [30]


@cases(
    "most, attempts",
    {
        "a log of more bytes": (100, 0),
        "any log, where a setting says so": (0, 0),
        "one that a worker has tried before": (8 << 20, 1),
    },
)
def test_is_left_to_spark(most, attempts, job, settings):
    settings.SMALL_LOG_BYTES = most
    Job.objects.update(attempts=attempts)

    REFRESH.work(job.id)

    job.refresh_from_db()
    assert job.state == "FAILED"
    assert "SparkIsAskedError" in job.error_detail
