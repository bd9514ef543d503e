"""Who commits, and when, is said once for all that is written."""

import json
from datetime import UTC, datetime, timedelta

import pyarrow as pa

from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.writing.authorship import author, authored, now
from tests.support.stores.memory import MemoryTableStore
from tests.support.tables.table_builder import TableBuilder

AT = datetime(2020, 2, 29, 12, 0, 0, 250_000, tzinfo=UTC)
ROWS = pa.table({"x": [1]})


def test_a_commit_its_files_and_its_table_are_of_that_time() -> None:
    store = MemoryTableStore()

    with authored("ada", at=AT):
        TableBuilder(store).rows(ROWS).build()

    ms = int(AT.timestamp() * 1_000)
    lines = [
        json.loads(line)
        for version in (0, 1)
        for line in store.read(commit_name(version)).splitlines()
    ]
    infos = [line["commitInfo"] for line in lines if "commitInfo" in line]
    assert [(info["timestamp"], info["userName"]) for info in infos] == [
        (ms, "ada"),
        (ms, "ada"),
    ]
    assert [x["metaData"]["createdTime"] for x in lines if "metaData" in x] == [ms]
    assert [x["add"]["modificationTime"] for x in lines if "add" in x] == [ms]


def test_a_checkpoint_is_of_the_time_of_its_commit() -> None:
    table = TableBuilder().property("delta.checkpointInterval", "3").rows(ROWS).build()
    table.delete()  # the tombstone is of today

    with authored(at=datetime.now(UTC) + timedelta(days=30)):
        table.append(ROWS)

    assert table.snapshot().state.tombstones().num_rows == 0


def test_nothing_said_is_nobody_and_now() -> None:
    with authored("ada", at=AT):
        assert (author(), now()) == ("ada", AT)

    assert author() is None
    assert abs(datetime.now(UTC) - now()) < timedelta(days=1)
