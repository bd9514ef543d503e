"""The job that compares rows takes Spark for large changes, and ends as it should."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apps.jobs.models import Job
from apps.jobs.results import result_path
from apps.pages.actions import COMMAND_LINE, Stamp
from apps.tables.models import Table
from apps.tables.storage.connections import add_connection
from apps.tables.storage.options import parse_options
from apps.tables.work.diff_rows import ALL_ROWS, DIFF_ROWS, DiffRows
from deltaweb.delta.changes import RowDiffRequest
from tests.support.pages.factories import NOW, new_table
from tests.support.stores.s3_server import SECRET_KEY, S3Server
from tests.support.tables.table_builder import TableBuilder

if TYPE_CHECKING:
    from pytest_django.fixtures import Settings

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("spark")]
ASKED = DiffRows(from_=17, to=20, key=("order_id",))
EXACT = ("inserted", "deleted", "updated", "changed_cells", "files_read", "rows_read")


@pytest.fixture(autouse=True)
def home(settings: "Settings", tmp_path: Path) -> Path:
    settings.HOME = tmp_path / "home"
    settings.SPARK_DIFF_BYTES = 0
    return tmp_path / "home"


@pytest.fixture
def orders(lake: Path) -> Table:
    return new_table("orders", location=str(lake / "orders"), version=21)


def queue(table: Table, asked: DiffRows = ASKED) -> Job:
    return DIFF_ROWS.request(table, asked, now=NOW)


def done(job: Job) -> Job:
    DIFF_ROWS.work(job.id)
    job.refresh_from_db()
    return job


class TestRowsOnSpark:
    def test_the_result_is_that_of_the_in_process_engine(self, orders, home, settings):
        there = done(queue(orders))
        Job.objects.update(key="")  # or it would be the answer
        settings.SPARK_DIFF_BYTES = 1 << 40
        plain = done(queue(orders))

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
        rows, others = (
            pq.read_table(result_path(job.id, ALL_ROWS)) for job in (there, plain)
        )
        assert rows.schema == others.schema
        order = [(name, "ascending") for name in ("order_id", "_change_type")]
        assert rows.sort_by(order) == others.sort_by(order)
        assert list((home / "scratch").iterdir()) == []

    def test_a_failure_has_its_own_code(self, orders: Table) -> None:
        job = done(queue(orders, replace(ASKED, key=("nowhere",))))

        assert (job.state, job.error_code) == (Job.State.FAILED, "column-not-found")
        assert not result_path(job.id, ALL_ROWS).exists()

    def test_tasks_read_with_the_options_of_the_storage_and_tell_none(
        self, s3: S3Server, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        rows = pa.table({"id": range(40), "n": range(40)})
        local = TableBuilder(tmp_path / "t").rows(rows).build()
        local.update({"n": "-n"}, "id > 30")
        local.delete("id < 3")
        bucket = s3.new_bucket()
        s3.upload(tmp_path / "t", bucket, "t")
        add_connection(
            name="lake",
            prefix="s3://",
            options=parse_options(s3.option_texts, base=Path("/")),
            stamp=Stamp(COMMAND_LINE, NOW),
        )
        table = new_table("t", location=f"s3://{bucket}/t", version=3)
        job = done(queue(table, DiffRows(from_=1, to=3, key=("id",))))

        assert job.state == Job.State.DONE, job.error
        here = local.compare(1, 3).rows(RowDiffRequest(key=("id",)))
        assert isinstance(job.result, dict)
        assert here.updated
        assert job.result["changed_cells"] == here.changed_cells
        assert (job.result["inserted"], job.result["deleted"]) == (
            here.inserted,
            here.deleted,
        )
        row = Job.objects.filter(id=job.id).values().get()
        assert SECRET_KEY not in f"{row} {capfd.readouterr()}"
