"""What a batch of index jobs does when the database goes away under it."""

import threading
from contextlib import closing
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from django.db import OperationalError

from apps.jobs.models import Job
from apps.jobs.running.tracking import TrackedJob
from apps.jobs.services import cancel
from apps.tables.index.jobs import KIND, IndexBatch
from apps.tables.index.refresh import refresh_table
from apps.tables.models import Table
from deltaweb.index.folder.result import FAILED, INDEXED, IndexResult
from tests.support.pages.factories import NOW, new_job, new_unindexed_table

if TYPE_CHECKING:
    from pytest_django.fixtures import DjangoAssertNumQueries

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def clock() -> datetime:
    return NOW


def queue(name: str) -> Job:
    table = new_unindexed_table(name, location=f"/lake/{name}")
    return refresh_table(table, now=NOW)


@pytest.fixture
def away() -> OperationalError:
    return OperationalError("the server closed the connection unexpectedly")


class TestIndexBatch:
    def test_goes_on_with_what_it_has_when_no_more_can_be_taken(
        self, monkeypatch: pytest.MonkeyPatch, away: OperationalError
    ) -> None:
        jobs = [queue("orders"), queue("returns")]
        take = TrackedJob.take

        def take_one(job_id, *, clock, watch):
            if job_id == str(jobs[1].id):
                raise away
            return take(job_id, clock=clock, watch=watch)

        monkeypatch.setattr(TrackedJob, "take", take_one)

        with closing(IndexBatch.take(str(jobs[0].id), clock=clock)) as batch:
            assert [job.table.name for job in batch.jobs] == ["orders"]

        jobs[1].refresh_from_db()
        assert jobs[1].state == "QUEUED"

    @pytest.mark.parametrize("asked", ["slow", "quick", "long ago", "again"])
    def test_has_one_slow_table_which_comes_last(self, asked: str) -> None:
        jobs = {name: queue(name) for name in ("slow", "again", "quick", "long ago")}
        took: dict[str, list[int]] = {
            "slow": [1, 60],
            "quick": [5],
            "long ago": [60, 1],
        }
        for name, seconds in took.items():
            for number, took_s in enumerate(seconds):
                new_job(
                    kind=KIND,
                    subject_id=jobs[name].subject_id,
                    state=Job.State.DONE,
                    created_at=NOW - timedelta(days=9 - number),
                    started_at=NOW,
                    finished_at=NOW + timedelta(seconds=took_s),
                )
        for number, job in enumerate(jobs.values()):
            job.created_at = NOW + timedelta(seconds=number)
            job.attempts = int(job == jobs["again"])
            job.save()

        with closing(IndexBatch.take(str(jobs[asked].id), clock=clock)) as batch:
            names = [job.table.name for job in batch.jobs]

        assert sorted(names[:2]) == ["long ago", "quick"]
        assert names[2:] == ["again" if asked == "again" else "slow"]
        assert Job.objects.filter(state=Job.State.QUEUED).count() == 1

    def test_renews_no_lease_of_a_batch_that_was_not_made(self, monkeypatch):
        jobs = [queue("orders"), queue("returns")]
        take = TrackedJob.take

        def take_one(job_id, *, clock, watch):
            if job_id == str(jobs[1].id):
                raise KeyboardInterrupt
            return take(job_id, clock=clock, watch=watch)

        monkeypatch.setattr(TrackedJob, "take", take_one)

        with pytest.raises(KeyboardInterrupt):
            IndexBatch.take(str(jobs[0].id), clock=clock)

        names = [thread.name for thread in threading.enumerate()]
        assert not [name for name in names if name.startswith("lease-")]

    def test_asks_once_at_a_tick_whether_any_job_is_cancelled(
        self, django_assert_max_num_queries: "DjangoAssertNumQueries"
    ) -> None:
        jobs = [queue(f"t{number}") for number in range(8)]
        with closing(IndexBatch.take(str(jobs[0].id), clock=clock)) as batch:
            cancel(jobs[5], now=NOW)

            # A machine that stands still in between asks a second time.
            with django_assert_max_num_queries(2):
                to_stop = batch.on_tick(batch.jobs, {})

            assert [batch.jobs[n].job.id for n in to_stop] == [jobs[5].id]

    def test_stores_nothing_of_a_job_that_another_worker_has_by_now(self) -> None:
        job = queue("orders")
        failed = IndexResult(state=FAILED, error_code="late", error="It is too late.")
        with closing(IndexBatch.take(str(job.id), clock=clock)) as batch:
            Job.objects.update(lease_owner="elsewhere")

            batch.on_result(batch.jobs, 0, failed)

        job.refresh_from_db()
        assert (job.state, job.lease_owner) == ("RUNNING", "elsewhere")
        assert Table.objects.get().error == ""

    def test_fails_a_job_alone_that_nobody_can_begin(self) -> None:
        spoilt = new_job(kind=KIND, parameters={})
        good = queue("orders")

        with closing(IndexBatch.take(str(good.id), clock=clock)) as batch:
            assert [job.table.name for job in batch.jobs] == ["orders"]

        spoilt.refresh_from_db()
        assert (spoilt.state, spoilt.error_code) == ("FAILED", "internal-error")

    def test_gives_each_attempt_a_folder_of_its_own(self) -> None:
        job = queue("orders")
        with closing(IndexBatch.take(str(job.id), clock=clock)) as batch:
            folders = set()
            for attempt in range(2):
                now = NOW + timedelta(milliseconds=attempt)
                batch.jobs[0].begin("Starting Spark", now=now)
                folders.add(batch.jobs[0].folder)

        assert len(folders) == 2

    def test_puts_back_what_the_database_did_not_take(self, monkeypatch, away):
        job = queue("orders")

        def refuse(*_: object, **__: object) -> None:
            raise away

        monkeypatch.setattr("apps.jobs.running.tracking.time.sleep", lambda _: None)
        monkeypatch.setattr("apps.tables.index.jobs.store_result", refuse)
        with closing(IndexBatch.take(str(job.id), clock=clock)) as batch:
            batch.on_result(batch.jobs, 0, IndexResult(state=INDEXED))

        job.refresh_from_db()
        assert (job.state, job.attempts) == ("QUEUED", 1)
        assert "Queued again" in job.log
        assert Table.objects.get().error == ""
