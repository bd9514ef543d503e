"""The clock requests repeated maintenance, and failures become a finding."""

import shutil
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest

from apps.jobs import kinds
from apps.jobs.models import Job
from apps.tables.health.examining import follow_repeats
from apps.tables.health.repeats.resources import repeats_of
from apps.tables.health.repeats.running import request_due_repeats
from apps.tables.models import RepeatedOperation, StoredFinding, Table
from apps.tables.models.repeats import next_run, repeat_words
from apps.tables.storage.roots import allow_root
from tests.support.pages.factories import NOW, new_table

pytestmark = pytest.mark.django_db


def _repeat(table: Table, operation: str = "optimize", **fields: object):
    values: dict[str, object] = {
        "every": "sunday",
        "at": time(3),
        "due_at": NOW - timedelta(minutes=1),
        "created_at": NOW,
    }
    return RepeatedOperation.objects.create(
        table=table, operation=operation, **{**values, **fields}
    )


@pytest.mark.parametrize(
    ("every", "at", "after", "due"),
    [
        ("sunday", time(3), "2026-11-28 12:00", "2026-11-29 03:00"),
        ("sunday", time(3), "2026-11-29 03:00", "2026-12-06 03:00"),
        ("sunday", time(3), "2026-11-29 02:59", "2026-11-29 03:00"),
        ("monday", time(23, 30), "2026-11-29 12:00", "2026-11-30 23:30"),
        ("day", time(3), "2026-11-29 02:00", "2026-11-29 03:00"),
        ("day", time(3), "2026-12-31 04:00", "2027-01-01 03:00"),
        ("6h", time(3), "2026-11-29 10:00", "2026-11-29 15:00"),
        ("12h", time(15), "2026-11-29 00:00", "2026-11-29 03:00"),
    ],
)
def test_a_schedule_is_due_at_its_next_time(
    every: str, at: time, after: str, due: str
) -> None:
    moment = datetime.fromisoformat(after).replace(tzinfo=UTC)

    found = next_run(every, at, after=moment)

    assert f"{found:%Y-%m-%d %H:%M}" == due


def test_schedules_are_said_in_words() -> None:
    assert repeat_words("sunday", time(3)) == "Sundays at 03:00 UTC"
    assert repeat_words("day", time(3, 30)) == "every day at 03:30 UTC"
    assert repeat_words("6h", time(1)) == "every 6 hours from 01:00 UTC"


def test_what_is_due_is_requested_once_and_by_nobody() -> None:
    repeat = _repeat(new_table())

    assert request_due_repeats(now=NOW) == 1
    assert request_due_repeats(now=NOW) == 0

    job = Job.objects.get(kind="tables.optimize")
    assert job.requested_by is None
    assert job.parameters["seen"]["by"] == "deltaweb schedule"
    assert job.parameters["seen"]["version"] is None
    repeat.refresh_from_db()
    assert repeat.last_job == job
    assert repeat.due_at == datetime(2026, 11, 22, 3, tzinfo=UTC)


def test_a_run_that_is_not_over_is_not_requested_again() -> None:
    repeat = _repeat(new_table())
    request_due_repeats(now=NOW)
    RepeatedOperation.objects.filter(pk=repeat.pk).update(due_at=NOW)

    assert request_due_repeats(now=NOW + timedelta(days=7)) == 0


def test_what_has_vanished_or_is_not_indexed_is_left_alone() -> None:
    _repeat(new_table("gone", vanished_at=NOW))
    _repeat(new_table("new", version=None, state=Table.State.NEW))

    assert request_due_repeats(now=NOW) == 0


def test_two_failures_in_a_row_are_a_finding_that_a_success_closes() -> None:
    table = new_table("sales.orders")
    repeat = _repeat(table)

    def end(state: str, now: datetime) -> list[str]:
        RepeatedOperation.objects.filter(pk=repeat.pk).update(due_at=now)
        follow_repeats(now=now)
        jobs = Job.objects.filter(kind="tables.optimize", finished_at=None)
        jobs.update(state=state, finished_at=now, error="Storage does not answer.")
        follow_repeats(now=now)
        return [one.sentence for one in StoredFinding.objects.open()]

    first = end(Job.State.FAILED, NOW)
    second = end(Job.State.FAILED, NOW + timedelta(days=7))
    (resource,) = repeats_of(table)
    third = end(Job.State.DONE, NOW + timedelta(days=14))

    said = "The scheduled `optimize` failed 2 times in a row."
    assert (first, second, third) == ([], [said], [])
    assert (resource.failures, resource.last_state) == (2, "FAILED")
    assert resource.last_result == "Storage does not answer."


def test_a_run_is_a_normal_commit(lake: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(lake / "device_readings", tmp_path / "readings"))
    allow_root(str(tmp_path), reason="LAKE", now=NOW)
    versions = [int(one.stem) for one in (folder / "_delta_log").glob("*.json")]
    before, table = max(versions), new_table("t", location=str(folder))
    _repeat(table)

    request_due_repeats(now=NOW)
    job = Job.objects.get(kind="tables.optimize")
    kinds.do_job(job.kind, str(job.id))

    job.refresh_from_db()
    assert (job.state, job.error) == (Job.State.DONE, "")
    log = Path(table.location, "_delta_log")
    assert (log / f"{before + 1:020d}.json").exists()
    follow_repeats(now=NOW)
    (resource,) = repeats_of(table)
    assert resource.last_result.startswith(f"Committed version {before + 1}")
