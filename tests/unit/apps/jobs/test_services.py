from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from uuid import UUID

import pytest
from django.db import connection

from apps.jobs import services
from apps.jobs.models import Job
from apps.pages.actions import COMMAND_LINE, Stamp

pytestmark = [pytest.mark.django_db, pytest.mark.database]
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def queue(**overrides: object) -> Job:
    arguments = {"kind": "test.nothing", "title": "Do nothing", "now": NOW}
    return services.enqueue(**(arguments | overrides))  # type: ignore[arg-type]  # a test's shorthand


class TestEnqueueMany:
    def test_tells_workers_of_the_first_alone(self) -> None:
        jobs = [
            Job(kind="test.nothing", title=f"{number}", created_at=NOW)
            for number in range(5)
        ]

        services.enqueue_many(jobs, num_woken=2)

        told = Job.objects.exclude(woken_at=None).values_list("title", flat=True)
        assert sorted(told) == ["0", "1"]
        assert Job.objects.waiting().count() == 5

    def test_one_that_somebody_looks_for_is_told_at_once(self) -> None:
        job = Job(kind="test.nothing", title="t", created_at=NOW)
        services.enqueue_many([job], num_woken=0)

        services.bring_forward(job, now=NOW)

        job.refresh_from_db()
        assert job.woken_at == NOW
        services.bring_forward(job, now=NOW + timedelta(hours=1))
        job.refresh_from_db()
        assert job.woken_at == NOW


class TestEnqueue:
    def test_makes_a_waiting_job(self) -> None:
        job = queue(parameters={"version": 3})

        job.refresh_from_db()
        assert job.state == Job.State.QUEUED
        assert job.parameters == {"version": 3}
        assert job.created_at == NOW

    @pytest.mark.parametrize("state", [Job.State.QUEUED, Job.State.RUNNING])
    def test_returns_the_active_job_of_the_same_key(self, state: Job.State) -> None:
        first = queue(key="index:1")
        Job.objects.update(state=state)

        assert queue(key="index:1").id == first.id
        assert Job.objects.count() == 1

    def test_makes_a_new_job_once_the_last_has_finished(self) -> None:
        first = queue(key="index:1")
        Job.objects.update(state=Job.State.DONE)

        assert queue(key="index:1").id != first.id

    def test_reuses_a_finished_result_when_asked_to(self) -> None:
        first = queue(key="preview:1")
        Job.objects.update(state=Job.State.DONE)

        assert queue(key="preview:1", reuse=True).id == first.id

    def test_never_reuses_a_failure(self) -> None:
        first = queue(key="preview:1")
        Job.objects.update(state=Job.State.FAILED)

        assert queue(key="preview:1", reuse=True).id != first.id

    def test_jobs_without_a_key_are_never_the_same(self) -> None:
        assert queue().id != queue().id


class TestCancel:
    def test_a_waiting_job_is_cancelled_at_once(self) -> None:
        job = services.cancel(queue(), now=NOW)

        assert job.state == Job.State.CANCELLED
        assert job.finished_at == NOW

    def test_a_running_job_is_asked_to_stop(self) -> None:
        job = queue()
        Job.objects.update(state=Job.State.RUNNING)

        job = services.cancel(job, now=NOW)

        assert job.state == Job.State.RUNNING
        assert job.cancel_requested_at == NOW

    def test_a_finished_job_stays_as_it_is(self) -> None:
        job = queue()
        Job.objects.update(state=Job.State.DONE)

        job = services.cancel(job, now=NOW + timedelta(hours=1))

        assert job.state == Job.State.DONE
        assert job.cancel_requested_at is None


class TestRetry:
    @pytest.mark.parametrize("state", [Job.State.FAILED, Job.State.CANCELLED])
    def test_queues_the_same_work_as_a_new_job(self, state: Job.State) -> None:
        job = queue(key="index:1", parameters={"a": 1})
        Job.objects.update(state=state)
        job.refresh_from_db()

        again = services.retry(job, requested_by=None, stamp=Stamp(COMMAND_LINE, NOW))

        assert again.id != job.id
        assert (again.kind, again.key, again.parameters) == (
            "test.nothing",
            "index:1",
            {"a": 1},
        )

    def test_is_refused_while_the_job_runs(self) -> None:
        job = queue()
        Job.objects.update(state=Job.State.RUNNING)
        job.refresh_from_db()

        with pytest.raises(services.JobNotRetryableError, match="is running"):
            services.retry(job, requested_by=None, stamp=Stamp(COMMAND_LINE, NOW))


@pytest.mark.django_db(transaction=True)
def test_of_many_requests_at_once_for_the_same_work_one_makes_the_job() -> None:
    barrier = Barrier(4)

    def ask() -> UUID:
        barrier.wait()
        try:
            return queue(key="index:1").id
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ask) for _ in range(4)]

    assert {future.result() for future in asked} == {Job.objects.get().id}
