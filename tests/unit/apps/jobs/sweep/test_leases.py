from datetime import UTC, datetime, timedelta

import pytest

from deltaweb.web.jobs import services
from deltaweb.web.jobs.models import Job, Worker
from deltaweb.web.jobs.running.process import process_name
from deltaweb.web.jobs.sweep.leases import sweep

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
    def test_old_finished_jobs_go_with_their_results(self, settings, tmp_path):
        settings.HOME = tmp_path
        (tmp_path / "results").mkdir()
        old = running_job(state=Job.State.DONE, created_at=NOW - timedelta(days=31))
        kept = running_job(state=Job.State.DONE, created_at=NOW - timedelta(days=29))
        waiting = running_job(
            state=Job.State.QUEUED, created_at=NOW - timedelta(days=31)
        )
        result = tmp_path / "results" / f"{old.id}.arrow"
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
