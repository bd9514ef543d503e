"""Folders that name times without a zone are converted: the page says what it means."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apps.jobs.models import Job
from deltaweb.table import DeltaTable
from tests.support.logs.spelled_partitions import spelled

pytestmark = pytest.mark.django_db

Work = Callable[[], Job]


def text_of(response: Any) -> str:  # noqa: ANN401  # the test client has its own
    return str(response.content.decode())


@pytest.mark.parametrize(
    "case",
    [
        ("", "kept as they are", "2024-03-10 02:00:00"),
        ("Asia/Kolkata", "read as Asia/Kolkata", "2024-03-09T20:30:00.000000Z"),
        ("+05:30", "read as +05:30", "2024-03-09T20:30:00.000000Z"),
    ],
)
def test_times_of_folders_are_of_the_zone_that_is_given(editor, work, lake, case):
    zone, said, text = case
    folder = lake / "events/ts=2024-03-10 02%3A00%3A00"
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"id": [1]}), folder / "a.parquet")
    fields = {
        "name": "events",
        "location": f"{lake}/events",
        "partition_schema": "ts TIMESTAMP",
        "time_zone": zone,
    }

    refused = editor.post("/tables/new/convert", {**fields, "time_zone": "New York"})
    asked = editor.post("/tables/new/convert", fields)
    look = work()
    page = text_of(editor.get(asked.headers["Location"]))
    editor.post("/tables/new/convert", {"seen": look.id})
    work()

    assert "No time zone is called &#x27;New York&#x27;" in text_of(refused)
    assert "Did you mean America/New_York?" in text_of(refused)
    assert f"Folder times of ts have no zone: {said}" in page
    assert spelled(DeltaTable(f"{lake}/events")) == [{"ts": text}]
