"""Rows that a worker compares, while another worker compares the same ones.

A worker that stood still for long has lost its job to another, and does not know it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apps.jobs.results import keep_rows, result_path
from apps.tables.work.diff_rows import ALL_ROWS, compare_rows
from deltaweb.delta.changes import RowChanges, RowDiffRequest, diff_rows
from deltaweb.table import DeltaTable
from tests.support.pages.factories import new_table

pytestmark = pytest.mark.django_db

JOB_ID = "6a1f6b0e-5a3c-4a55-9f3b-0d4f9e0f7a11"


def _no_report(_done: int, _total: int) -> None:
    """Tell nobody."""


@pytest.mark.usefixtures("home")
def test_a_result_is_of_one_worker_alone() -> None:
    schema = pa.schema({"n": pa.int64()})

    def batch(value: int) -> pa.RecordBatch:
        return pa.RecordBatch.from_pydict({"n": [value]}, schema)

    def slowly() -> Iterator[pa.RecordBatch]:
        yield batch(1)
        keep_rows(JOB_ID, schema, [batch(value) for value in range(7, 9)])
        yield batch(2)

    keep_rows(JOB_ID, schema, slowly())

    (path,) = result_path(JOB_ID).parent.iterdir()
    with pa.memory_map(str(path)) as source:
        assert pa.ipc.open_file(source).read_all()["n"].to_pylist() == [1, 2]


def test_rows_are_compared_in_a_folder_of_each_worker(home: Path, lake: Path) -> None:
    table = new_table("orders", location=str(lake / "orders"))
    diff = DeltaTable(table.location).compare(20, 21)
    spread: list[Path] = []

    def engine(*arguments: Any) -> RowChanges:  # noqa: ANN401 (of `diff_rows`)
        (request,) = (one for one in arguments if isinstance(one, RowDiffRequest))
        assert request.folder is not None
        place = request.folder / "mine"
        place.write_text("rows")
        spread.append(request.folder)
        if len(spread) == 1:
            compare_rows(diff, (), job_id=JOB_ID, report=_no_report, engine=engine)
        place.unlink()
        return diff_rows(*arguments)

    result = compare_rows(diff, (), job_id=JOB_ID, report=_no_report, engine=engine)

    assert pq.read_metadata(result_path(JOB_ID, ALL_ROWS)).num_rows == (
        result.inserted + result.deleted
    )
    assert len(set(spread)) == 2
    assert list((home / "scratch").iterdir()) == []
    assert {path.suffix for path in result_path(JOB_ID).parent.iterdir()} == {
        ".arrow",
        ".parquet",
    }
