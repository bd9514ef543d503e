import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError, connection
from pytest_django.fixtures import DjangoAssertNumQueries, Settings

from apps.jobs import services
from apps.jobs.models import Job
from apps.jobs.running import tracking
from apps.jobs.running.held_lease import LeaseLostError
from apps.jobs.running.tracking import JobCancelled, TrackedJob, track_job
from deltaweb.delta.errors import VersionNotFoundError
from tests.support.processes.installation import wait_for

pytestmark = [pytest.mark.django_db, pytest.mark.database]
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def clock() -> datetime:
    return NOW


@pytest.fixture
def job() -> Job:
    return services.enqueue(kind="test.nothing", title="Do nothing", now=NOW)


class TestTaking:
    def test_a_job_is_running_and_leased_inside_the_block(self, job: Job) -> None:
        with track_job(job.id, clock=clock) as tracked:
            job.refresh_from_db()

            assert tracked is not None
            assert tracked.attempt == 1
            assert job.state == Job.State.RUNNING
            assert job.lease_expires_at is not None
            assert job.lease_expires_at > NOW

    def test_a_second_worker_gets_nothing(self, job: Job) -> None:
        with track_job(job.id) as first, track_job(job.id) as second:
            assert first is not None
            assert second is None

        job.refresh_from_db()
        assert job.state == Job.State.DONE
        assert job.attempts == 1

    @pytest.mark.parametrize(
        "state", [Job.State.DONE, Job.State.FAILED, Job.State.CANCELLED]
    )
    def test_a_finished_job_is_not_run_again(self, job: Job, state: Job.State) -> None:
        Job.objects.update(state=state)

        with track_job(job.id) as tracked:
            assert tracked is None

        job.refresh_from_db()
        assert job.state == state

    def test_an_unknown_job_is_nothing_to_do(self) -> None:
        with track_job("00000000-0000-0000-0000-000000000000") as tracked:
            assert tracked is None


class TestEnds:
    def test_a_block_that_ends_is_done_with_its_result(self, job: Job) -> None:
        with track_job(job.id, clock=clock) as tracked:
            assert tracked is not None
            tracked.result = {"rows": 3}

        job.refresh_from_db()
        assert job.state == Job.State.DONE
        assert job.result == {"rows": 3}
        assert job.finished_at == NOW
        assert job.lease_owner == ""

    def test_a_delta_error_is_said_in_its_own_words(self, job: Job) -> None:
        with track_job(job.id):
            raise VersionNotFoundError(root="/lake/t", version=7, earliest=0, latest=5)

        job.refresh_from_db()
        assert job.state == Job.State.FAILED
        assert job.error_code == "version-not-found"
        assert "has no version 7" in job.error
        assert "from 0 to 5" in job.error_hint

    def test_any_other_error_keeps_its_cause_and_its_details(self, job: Job) -> None:
        with track_job(job.id):
            message = "it broke\x00 here"
            raise ValueError(message)

        job.refresh_from_db()
        assert job.error_code == "internal-error"
        assert "ValueError: it broke" in job.error
        assert "\x00" not in job.error + job.error_detail
        assert "Traceback" in job.error_detail

    def test_a_worker_that_is_stopped_puts_the_job_back(self, job: Job) -> None:
        with pytest.raises(SystemExit), track_job(job.id):
            raise SystemExit

        job.refresh_from_db()
        assert job.state == Job.State.QUEUED
        assert job.attempts == 0
        assert job.finished_at is None

    def test_an_end_within_the_block_stands(self, job: Job) -> None:
        with track_job(job.id) as tracked:
            assert tracked is not None
            tracked.fail(ValueError("one of many"))

        job.refresh_from_db()
        assert job.state == Job.State.FAILED


class TestReports:
    def test_a_step_known_before_costs_no_statement_of_its_own(
        self, job: Job, django_assert_num_queries
    ) -> None:
        with (
            django_assert_num_queries(3),  # taken, read, ended
            track_job(job.id, clock=clock, first_step="Reading rows") as tracked,
        ):
            assert tracked is not None
            tracked.progress(501, unit="rows")

        job.refresh_from_db()
        assert job.step == "Reading rows"
        assert "Reading rows" in job.log
        assert [one["name"] for one in job.steps] == ["Reading rows"]
        assert job.steps[0]["finished_at"] is not None

    def test_a_step_known_before_is_there_from_the_beginning(self, job: Job) -> None:
        with track_job(job.id, first_step="Reading rows"):
            job.refresh_from_db()
            assert job.step == "Reading rows"

    def test_steps_are_kept_with_their_times(self, job: Job) -> None:
        times = iter([NOW + timedelta(seconds=n) for n in range(20)])

        with track_job(job.id, clock=lambda: next(times)) as tracked:
            assert tracked is not None
            tracked.step("Listing the log")
            tracked.step("Replaying")
            tracked.count("files_listed", 12)

        job.refresh_from_db()
        assert [step["name"] for step in job.steps] == ["Listing the log", "Replaying"]
        assert all(step["finished_at"] >= step["started_at"] for step in job.steps)
        assert job.counters == {"files_listed": 12}
        assert "Listing the log" in job.log

    def test_progress_is_written_at_most_twice_a_second(
        self, job: Job, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        with track_job(job.id) as tracked:
            assert tracked is not None
            with django_assert_max_num_queries(6):
                for done in range(1000):
                    tracked.progress(done, total=1000, unit="commits")

        job.refresh_from_db()
        assert job.progress_done == 999
        assert job.percent == 99

    def test_a_long_log_keeps_its_tail(self, job: Job) -> None:
        with track_job(job.id) as tracked:
            assert tracked is not None
            for number in range(2000):
                tracked.log(f"line {number}")

        job.refresh_from_db()
        assert len(job.log) <= tracking.LOG_LIMIT
        assert job.log.endswith("line 1999\n")


class TestCancelling:
    def test_progress_stops_a_cancelled_job(self, job, monkeypatch):
        monkeypatch.setattr(tracking, "WRITE_INTERVAL_S", 0)

        with track_job(job.id) as tracked:
            assert tracked is not None
            services.cancel(job, now=NOW)
            with pytest.raises(JobCancelled):
                tracked.progress(1)
            raise JobCancelled

        job.refresh_from_db()
        assert job.state == Job.State.CANCELLED

    def test_a_worker_that_lost_its_lease_stops_and_writes_nothing(
        self, job: Job, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tracking, "WRITE_INTERVAL_S", 0)

        with track_job(job.id) as tracked:
            assert tracked is not None
            Job.objects.update(lease_owner="elsewhere", step="theirs")
            tracked.progress(1)
            pytest.fail("the work went on without its lease")

        job.refresh_from_db()
        assert job.state == Job.State.RUNNING
        assert job.step == "theirs"


@pytest.mark.django_db(transaction=True)
class TestRenewing:
    def test_a_block_that_reports_nothing_keeps_its_lease(self, settings: Settings):
        settings.JOB_LEASE_S = 0.3
        row = services.enqueue(kind="test.nothing", title="Do nothing", now=NOW)

        with track_job(row.id) as tracked:
            assert tracked is not None
            row.refresh_from_db()
            assert row.lease_expires_at is not None
            renewed = Job.objects.filter(
                id=row.id, lease_expires_at__gt=row.lease_expires_at
            )

            assert wait_for(renewed.exists)

    def test_a_worker_learns_that_its_lease_is_gone_without_writing(self, settings):
        settings.JOB_LEASE_S = 0.3
        row = services.enqueue(kind="test.nothing", title="Do nothing", now=NOW)

        with track_job(row.id) as tracked:
            assert tracked is not None
            Job.objects.update(lease_owner="elsewhere")

            assert wait_for(lambda: _has_lost(tracked))
            raise LeaseLostError

        row.refresh_from_db()
        assert row.state == Job.State.RUNNING
        assert row.lease_owner == "elsewhere"


@pytest.mark.django_db(transaction=True)
class TestALockedDatabase:
    def test_loses_a_report_but_not_the_work(self, job, monkeypatch):
        monkeypatch.setattr(tracking, "WRITE_INTERVAL_S", 0)

        with track_job(job.id) as tracked:
            assert tracked is not None
            with _writes_fail(times=1):
                tracked.progress(5, total=10)
            tracked.progress(6, total=10)

        job.refresh_from_db()
        assert job.state == Job.State.DONE
        assert job.progress_done == 6

    def test_does_not_lose_the_end(self, job: Job, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(time, "sleep", lambda _: None)

        with track_job(job.id) as tracked:
            assert tracked is not None
            with _writes_fail(times=3):
                tracked.succeed({"rows": 1})

        job.refresh_from_db()
        assert job.state == Job.State.DONE
        assert job.result == {"rows": 1}

    def test_is_waited_for_when_a_job_is_taken(self, job, monkeypatch):
        monkeypatch.setattr(time, "sleep", lambda _: None)

        with _writes_fail(times=3), track_job(job.id) as tracked:
            assert tracked is not None

        job.refresh_from_db()
        assert (job.state, job.attempts) == (Job.State.DONE, 1)

    def test_that_cannot_tell_of_a_cancel_lets_the_work_go_on(self, job: Job) -> None:
        with track_job(job.id) as tracked:
            assert tracked is not None
            with _writes_fail(times=1, verb="SELECT"):
                tracked.check_cancelled()

        job.refresh_from_db()
        assert job.state == Job.State.DONE

    @pytest.mark.parametrize("error", [OperationalError, InterfaceError])
    def test_in_the_middle_of_the_work_puts_the_job_back_a_few_times(self, job, error):
        message = "the server closed the connection"
        states = []
        for _ in range(Job.MAX_ATTEMPTS):
            with track_job(job.id):
                raise error(message)
            job.refresh_from_db()
            states.append(job.state)

        assert states == ["QUEUED", "QUEUED", "FAILED"]
        assert message in job.error
        assert job.log.count("Queued again") == 2


def _has_lost(job: TrackedJob) -> bool:
    try:
        job.check_cancelled()
    except LeaseLostError:
        return True
    return False


@contextmanager
def _writes_fail(*, times: int, verb: str = "UPDATE") -> Iterator[None]:
    """Let the database refuse the next writes, as a locked one does."""
    left = times

    def refuse(execute: Any, sql: str, *arguments: Any) -> Any:  # noqa: ANN401 (Django's hook)
        nonlocal left
        if sql.startswith(verb) and left:
            left -= 1
            message = "database is locked"
            raise OperationalError(message)
        return execute(sql, *arguments)

    with connection.execute_wrapper(refuse):
        yield
