"""Rows and file lists that a worker reads for a page."""

from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from apps.jobs.models import Job
from apps.jobs.results import job_rows
from apps.tables.catalogue.checks import CHECK_LOCATION, request_check
from apps.tables.models import Table
from apps.tables.work.preview import PREVIEW, Preview
from apps.tables.work.version_files import VERSION_FILES, VersionFiles
from tests.support import cases
from tests.support.pages.factories import NOW, new_table, new_user

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def orders(lake: Path, settings: Settings, tmp_path: Path) -> Table:
    settings.HOME = tmp_path
    return new_table("orders", location=str(lake / "orders"), version=21)


def preview(table: Table, **wanted: Any) -> Job:  # noqa: ANN401 (parameters)
    job = PREVIEW.request(table, Preview(**{"version": 21, **wanted}), now=NOW)
    PREVIEW.work(job.id)
    job.refresh_from_db()
    return job


def shown(job: Job) -> list[dict[str, Any]]:
    result = job_rows(PREVIEW, job)
    assert result is not None
    return list(result.rows.to_pylist())


def facts(job: Job) -> dict[str, Any]:
    assert isinstance(job.result, dict)
    return job.result


class TestPreviewRows:
    def test_reads_the_columns_and_rows_asked_for(self, orders: Table) -> None:
        job = preview(
            orders, columns=("order_id", "country"), predicate="country = 'SE'", limit=3
        )

        assert job.state == Job.State.DONE
        assert job.result == {
            "rows": 3,
            "files_scanned": 1,
            "files_total": 84,
            "more": True,
        }
        assert [list(row) for row in shown(job)] == [["order_id", "country"]] * 3
        assert {row["country"] for row in shown(job)} == {"SE"}

    def test_pages_without_a_gap(self, orders: Table) -> None:
        whole = shown(preview(orders, columns=("order_id",), limit=600))
        parts = [
            row
            for offset in range(0, 600, 150)
            for row in shown(
                preview(orders, columns=("order_id",), limit=150, offset=offset)
            )
        ]

        assert len(whole) == 600
        assert parts == whole

    def test_knows_the_end(self, orders: Table) -> None:
        job = preview(orders, limit=50, offset=5560)

        assert facts(job)["rows"] == 8
        assert facts(job)["more"] is False

    def test_reads_an_older_version(self, orders: Table) -> None:
        job = preview(orders, version=0)

        assert facts(job)["rows"] == 0
        assert job_rows(PREVIEW, job) is not None

    def test_says_what_is_wrong_with_a_filter(self, orders: Table) -> None:
        job = preview(orders, predicate="country ==== 'DE'")

        assert (job.state, job.error_code) == (Job.State.FAILED, "expression-mistaken")
        assert job_rows(PREVIEW, job) is None

    def test_says_that_a_version_is_not_there(self, orders: Table) -> None:
        job = preview(orders, version=99)

        assert (job.state, job.error_code) == (Job.State.FAILED, "version-not-found")

    def test_ends_when_the_table_was_removed(self, orders: Table) -> None:
        job = PREVIEW.request(orders, Preview(version=21), now=NOW)
        Table.objects.all().delete()

        PREVIEW.work(job.id)

        job.refresh_from_db()
        assert (job.state, job.error_code) == (Job.State.FAILED, "table-not-registered")

    def test_leaves_a_job_that_another_worker_has(self, orders: Table) -> None:
        job = PREVIEW.request(orders, Preview(version=21), now=NOW)
        Job.objects.update(state=Job.State.RUNNING, lease_owner="someone")

        PREVIEW.work(job.id)

        job.refresh_from_db()
        assert (job.state, job.lease_owner) == (Job.State.RUNNING, "someone")


class TestListVersionFiles:
    def test_lists_the_files_of_an_older_version(self, orders: Table) -> None:
        job = VERSION_FILES.request(orders, VersionFiles(3), now=NOW)

        VERSION_FILES.work(job.id)

        job.refresh_from_db()
        result = job_rows(VERSION_FILES, job)
        assert result is not None
        assert result.facts.files_total == result.rows.num_rows == 12
        assert result.rows["num_records"].null_count == 0
        assert result.rows.column_names == [
            "path",
            "size",
            "modification_time",
            "partition_values",
            "num_records",
        ]


@pytest.mark.usefixtures("orders")
@cases(
    "name, state, found",
    {
        "a table": ("device_readings", Job.State.DONE, {"version": 6, "num_files": 6}),
        "nothing": ("nothing", Job.State.FAILED, {}),
    },
)
def test_a_look_says_what_is_there(lake, name, state, found) -> None:
    ada = new_user("ada", role="ADMIN")
    job = request_check(location=str(lake / name), now=NOW, requested_by=ada)

    CHECK_LOCATION.work(job.id)

    job.refresh_from_db()
    assert job.state == state
    assert found.items() <= (job.result or {}).items()
    assert bool(job.error_hint) == (state == Job.State.FAILED)
