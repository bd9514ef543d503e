"""The job that compares rows takes Spark for large changes, and ends as it should."""

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from apps.jobs.models import Job
from apps.jobs.services import cancel
from apps.tables import services, tasks
from apps.tables.comparing import all_rows_path
from apps.tables.models import Table
from tests.factories import NOW, new_table

if TYPE_CHECKING:
    from pytest_django.fixtures import Settings

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("spark"),
]
VERSIONS = {"from": 3, "to": 20, "key": ["order_id"]}
EXACT = ("inserted", "deleted", "updated", "changed_cells", "files_read", "rows_read")


@pytest.fixture(autouse=True)
def home(settings: "Settings", tmp_path: Path) -> Path:
    settings.HOME = tmp_path / "home"
    settings.SPARK_DIFF_BYTES = 0
    return tmp_path / "home"


@pytest.fixture
def orders(lake: Path) -> Table:
    return new_table("orders", location=str(lake / "orders"), version=21)


def queue(table: Table, **parameters: object) -> Job:
    return services.request_row_diff(
        table, parameters={**VERSIONS, **parameters}, now=NOW
    )


def done(job: Job) -> Job:
    tasks.diff_rows(job_id=str(job.id))
    job.refresh_from_db()
    return job


class TestRowsOnSpark:
    def test_the_result_is_that_of_the_in_process_engine(
        self, orders: Table, home: Path, settings: "Settings"
    ) -> None:
        there = done(queue(orders))
        settings.SPARK_DIFF_BYTES = 1 << 40
        plain = done(queue(orders, again=True))

        assert [job.state for job in (there, plain)] == [Job.State.DONE] * 2
        steps = [step["name"] for step in there.steps]
        assert steps[-1] == "Reading and comparing the files that differ"
        assert plain.steps[-1]["name"] == "Reading the files that differ"
        assert there.progress_unit == "tasks"
        assert isinstance(there.result, dict)
        assert isinstance(plain.result, dict)
        assert there.result["inserted"] > 0
        assert {name: there.result[name] for name in EXACT} == {
            name: plain.result[name] for name in EXACT
        }
        rows, others = (pq.read_table(all_rows_path(job.id)) for job in (there, plain))
        assert rows.schema == others.schema
        order = [(name, "ascending") for name in ("order_id", "_change_type")]
        assert rows.sort_by(order) == others.sort_by(order)
        assert list((home / "scratch").iterdir()) == []

    def test_one_that_is_cancelled_reads_nothing(self, orders: Table) -> None:
        job = done(cancel(queue(orders), now=NOW))

        assert (job.state, job.result) == (Job.State.CANCELLED, None)
        assert not all_rows_path(job.id).exists()

    @pytest.mark.parametrize(
        ("change", "code"),
        [
            pytest.param({"key": ["nowhere"]}, "column-not-found", id="no such key"),
            pytest.param({"to": 99}, "version-not-found", id="no such version"),
        ],
    )
    def test_a_failure_has_its_own_code(
        self, orders: Table, change: dict[str, object], code: str
    ) -> None:
        job = done(queue(orders, **change))

        assert (job.state, job.error_code) == (Job.State.FAILED, code)
        assert not all_rows_path(job.id).exists()
