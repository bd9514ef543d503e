"""One run of the task ends every index job that waits, each in its own way."""

from pathlib import Path

import pytest

from apps.jobs.models import Job
from apps.jobs.services import cancel
from apps.tables.index import jobs as index_jobs
from apps.tables.index.refresh import REFRESH, refresh_table
from apps.tables.models import Table
from tests.support.pages.factories import NOW, new_unindexed_table

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("spark", "home"),
]


def queue(location: Path, name: str = "") -> Job:
    table = new_unindexed_table(name or location.name, location=str(location))
    return refresh_table(table, now=NOW)


def run(job: Job) -> None:
    REFRESH.work(job.id)


def end_of(job: Job) -> tuple[str, str]:
    job.refresh_from_db()
    return job.state, job.error_code


class TestIndexLog:
    def test_indexes_the_table_of_the_job(self, lake: Path) -> None:
        job = queue(lake / "customers")

        run(job)

        job.refresh_from_db()
        assert (job.state, job.result) == ("DONE", {"version": 59, "state": "INDEXED"})
        table = Table.objects.get()
        assert (table.version, table.num_records) == (59, 3438)
        steps = [step["name"] for step in job.steps]
        assert steps[:2] == ["Waiting for Spark", "Reading the log"]
        assert steps[-1] == "Storing the index"
        assert job.counters == {"commits": 60, "files": table.num_files}
        assert "Read version 59\n" in job.log
        assert (job.lease_owner, job.lease_expires_at) == ("", None)

    def test_takes_the_jobs_that_wait_beside_it(self, lake: Path) -> None:
        jobs = [queue(lake / name) for name in ("orders", "returns", "customers")]

        run(jobs[1])

        assert [end_of(job) for job in jobs] == [("DONE", "")] * 3
        assert set(Table.objects.values_list("state", flat=True)) == {"INDEXED"}

    def test_takes_a_bounded_number_of_them(self, lake: Path, monkeypatch) -> None:
        monkeypatch.setattr(index_jobs, "BATCH", 2)
        jobs = [queue(lake / "returns", f"t{n}") for n in range(4)]

        run(jobs[0])

        states = [end_of(job)[0] for job in jobs]
        assert states.count("DONE") == 2
        assert states.count("QUEUED") == 2

    def test_fails_the_job_of_a_broken_table_alone(self, lake: Path, tmp_path: Path):
        broken = queue(tmp_path / "nothing-here")
        good = queue(lake / "returns")

        run(good)

        assert end_of(good) == ("DONE", "")
        state, code = end_of(broken)
        assert state == "FAILED"
        assert code.startswith(("location-", "not-a-delta-table"))
        assert broken.error
        assert broken.error_hint
        table = Table.objects.get(name="nothing-here")
        assert (table.state, table.error_code) == ("FAILED", code)
        assert table.error == broken.error

    def test_ends_a_job_that_was_cancelled(self, lake: Path) -> None:
        jobs = [queue(lake / "customers", f"t{n}") for n in range(4)]
        Job.objects.filter(id=jobs[3].id).update(cancel_requested_at=NOW)

        run(jobs[0])

        states = [end_of(job)[0] for job in jobs]
        assert states == ["DONE", "DONE", "DONE", "CANCELLED"]
        assert Table.objects.get(name="t3").state == "NEW"

    def test_leaves_a_job_that_is_over(self, lake: Path) -> None:
        job = queue(lake / "returns")
        cancel(job, now=NOW)

        run(job)

        assert end_of(job) == ("CANCELLED", "")
        assert Table.objects.get().state == "NEW"

    def test_fails_the_job_of_a_table_that_was_removed(self, lake: Path) -> None:
        job = queue(lake / "returns")
        Table.objects.all().delete()

        run(job)

        assert end_of(job) == ("FAILED", "table-not-registered")

    def test_is_safe_to_run_twice(self, lake: Path, home: Path) -> None:
        job = queue(lake / "orders")
        run(job)
        before = Table.objects.values().get()

        run(job)

        assert Table.objects.values().get() == before
        again = refresh_table(Table.objects.get(), now=NOW)
        run(again)
        table = Table.objects.get()
        assert table.commits.count() == 22
        assert len(list((home / "index" / str(table.id)).iterdir())) == 1
