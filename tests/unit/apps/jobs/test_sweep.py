"""Jobs that nobody runs, files that no job needs, and workers that live."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from apps.jobs import services, tasks
from apps.jobs.models import Job, Worker
from apps.jobs.results import RESULTS_FOLDER
from apps.jobs.running.process import process_name
from apps.jobs.sweep import (
    ABANDONED_AFTER_S,
    SCRATCH_FOLDER,
    Heartbeat,
    beat_once,
    remove_leftovers,
    remove_results,
    sweep,
)
from tests.support import cases
from tests.support.pages.factories import new_job
from tests.support.processes.installation import wait_for

pytestmark = [pytest.mark.django_db, pytest.mark.database]
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def running_job(**overrides: object) -> Job:
    job = services.enqueue(kind="test.nothing", title="Do nothing", now=NOW)
    fields = {
        "state": Job.State.RUNNING,
        "attempts": 1,
        "lease_owner": f"{process_name()}#1",
        "lease_expires_at": NOW + MINUTE,
    }
    Job.objects.filter(id=job.id).update(**(fields | overrides))
    job.refresh_from_db()
    return job


class TestLostLeases:
    def test_a_lease_that_ran_out_is_queued_again(self) -> None:
        job = running_job(lease_expires_at=NOW - MINUTE)

        result = sweep(now=NOW)

        job.refresh_from_db()
        assert result.requeued == 1
        assert job.state == Job.State.QUEUED
        assert job.lease_owner == ""

    def test_a_lease_that_is_renewed_stays(self) -> None:
        job = running_job()

        assert sweep(now=NOW).requeued == 0
        job.refresh_from_db()
        assert job.state == Job.State.RUNNING

    def test_a_dead_process_on_this_machine_has_lost_its_lease_at_once(self) -> None:
        machine, pid, _ = process_name().rsplit("/", 2)
        job = running_job(lease_owner=f"{machine}/{pid}/1#1")

        assert sweep(now=NOW).requeued == 1
        job.refresh_from_db()
        assert job.state == Job.State.QUEUED

    def test_of_a_process_elsewhere_nothing_is_assumed(self) -> None:
        running_job(lease_owner="another-host/1/1/1#1")

        assert sweep(now=NOW).requeued == 0

    def test_a_job_that_killed_three_workers_is_given_up(self) -> None:
        job = running_job(lease_expires_at=NOW - MINUTE, attempts=3)

        result = sweep(now=NOW)

        job.refresh_from_db()
        assert result.given_up == 1
        assert job.state == Job.State.FAILED
        assert job.error_code == "worker-lost"
        assert "3 times" in job.error

    def test_a_job_that_was_to_be_cancelled_is_not_run_again(self) -> None:
        job = running_job(lease_expires_at=NOW - MINUTE, cancel_requested_at=NOW)

        sweep(now=NOW)

        job.refresh_from_db()
        assert job.state == Job.State.CANCELLED


class TestWaking:
    def test_a_job_that_waits_for_long_is_woken_again(self) -> None:
        job = services.enqueue(kind="test.nothing", title="Wait", now=NOW - 2 * MINUTE)

        assert sweep(now=NOW).woken == 1
        job.refresh_from_db()
        assert job.woken_at == NOW

    def test_a_job_that_was_just_woken_is_left_in_peace(self) -> None:
        services.enqueue(kind="test.nothing", title="Wait", now=NOW)

        assert sweep(now=NOW).woken == 0

    def test_a_job_that_was_woken_in_the_future_is_woken_again(self) -> None:
        services.enqueue(kind="test.nothing", title="Wait", now=NOW + 60 * MINUTE)

        assert sweep(now=NOW).woken == 1


class TestDropping:
    def test_old_finished_jobs_go_with_their_results(self, home: Path) -> None:
        old = running_job(state=Job.State.DONE, created_at=NOW - timedelta(days=31))
        kept = running_job(state=Job.State.DONE, created_at=NOW - timedelta(days=29))
        waiting = running_job(
            state=Job.State.QUEUED, created_at=NOW - timedelta(days=31)
        )
        result = home / RESULTS_FOLDER / f"{old.id}.arrow"
        result.write_bytes(b"rows")

        assert sweep(now=NOW).dropped == 1
        assert set(Job.objects.values_list("id", flat=True)) == {kept.id, waiting.id}
        assert not result.exists()

    def test_workers_not_heard_of_for_a_day_are_forgotten(self) -> None:
        long_ago = NOW - timedelta(days=2)
        for name, seen_at in (("gone", long_ago), ("here", NOW - timedelta(hours=1))):
            Worker.objects.create(name=name, started_at=long_ago, seen_at=seen_at)

        sweep(now=NOW)

        assert Worker.objects.get().name == "here"


OLD_S = NOW.timestamp() - ABANDONED_AFTER_S - 1
STATES = {"running": Job.State.RUNNING, "queued": Job.State.QUEUED}


@pytest.fixture(autouse=True)
def home(settings: Settings, tmp_path: Path) -> Path:
    settings.HOME = tmp_path
    for name in (RESULTS_FOLDER, SCRATCH_FOLDER):
        (tmp_path / name).mkdir()
    return tmp_path


def new_place(path: Path, *, changed_at_s: float = OLD_S) -> Path:
    """Make a folder with a file in it below scratch, a file elsewhere."""
    if path.parent.name == SCRATCH_FOLDER:
        path.mkdir()
        (path / "part-0.arrow").write_bytes(b"rows")
    else:
        path.write_bytes(b"rows")
    os.utime(path, (changed_at_s, changed_at_s))
    return path


def job_id(whose: str) -> str:
    """The id of a job in a state, or of one that nobody knows."""
    if whose == "unknown":
        return str(uuid4())
    return str(new_job(state=STATES.get(whose, Job.State.DONE)).id)


class TestRemoveLeftovers:
    @cases(
        "name, kept_for",
        {
            "a folder to work in": ("scratch/{}", {"running", "queued"}),
            "a result": ("results/{}.arrow", {"running", "queued", "done"}),
            "half a result": ("results/{}.arrow.part", {"running", "queued"}),
            "half a file of rows": (
                "results/.{}.parquet.partial",
                {"running", "queued"},
            ),
        },
    )
    @pytest.mark.parametrize("whose", ["running", "queued", "done", "unknown"])
    def test_of_jobs_in_each_state(self, home, name, kept_for, whose):
        place = new_place(home / name.format(job_id(whose)))

        assert remove_leftovers(now=NOW) == (whose not in kept_for)
        assert place.exists() == (whose in kept_for)

    def test_leaves_what_is_not_old(self, home: Path) -> None:
        for name in ("scratch/{}", "results/{}.arrow", "results/{}.arrow.part"):
            new_place(home / name.format(uuid4()), changed_at_s=OLD_S + 2)

        assert remove_leftovers(now=NOW) == 0

    @pytest.mark.parametrize("name", ["scratch/notes", "results/notes.arrow"])
    def test_leaves_what_bears_no_id(self, home: Path, name: str) -> None:
        place = new_place(home / name)

        assert remove_leftovers(now=NOW) == 0
        assert place.exists()

    def test_finds_nothing_where_no_job_has_left_anything(self, settings, tmp_path):
        settings.HOME = tmp_path / "fresh"

        assert remove_leftovers(now=NOW) == 0


def test_results_are_files_and_folders(home: Path) -> None:
    gone, kept = uuid4(), uuid4()
    results = home / "results"
    (results / f"{gone}.parts").mkdir()
    for name in (
        f"{gone}.arrow",
        f"{gone}.parquet",
        f"{gone}.parts/0",
        f"{kept}.arrow",
    ):
        (results / name).write_bytes(b"rows")

    remove_results(gone)

    assert [path.name for path in results.iterdir()] == [f"{kept}.arrow"]


@pytest.mark.django_db
def test_a_beat_keeps_one_row_a_process() -> None:
    long_ago = timezone.now() - timedelta(hours=1)
    beat_once()
    Worker.objects.update(seen_at=long_ago, started_at=long_ago)

    beat_once()

    worker = Worker.objects.get(name=process_name())
    assert worker.started_at == long_ago
    assert worker.seen_at > long_ago


@pytest.mark.django_db
def test_a_beat_tells_the_queues() -> None:
    beat_once(["default", "spark"])

    assert Worker.objects.get().queues == ["default", "spark"]


@pytest.mark.django_db(transaction=True)
def test_a_worker_beats_and_sweeps_when_it_starts_and_leaves_no_row() -> None:
    lost = new_job(state=Job.State.RUNNING, lease_owner="gone")

    beating = Heartbeat()
    has_swept = wait_for(lambda: Job.objects.get(id=lost.id).state == Job.State.QUEUED)
    is_known = Worker.objects.exists()
    beating.stop()

    assert has_swept
    assert is_known
    assert not Worker.objects.exists()


@pytest.mark.django_db
def test_the_periodic_task_sweeps() -> None:
    lost = new_job(state=Job.State.RUNNING, lease_owner="gone")

    tasks.sweep_leases()

    lost.refresh_from_db()
    assert lost.state == Job.State.QUEUED
