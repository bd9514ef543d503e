"""Statistics of checkpoints: as text, typed, or both."""

import io
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.log.paths import checkpoint_name
from deltaweb.delta.snapshot import Snapshot
from tests.support.logs.delta_logs import LogBuilder, add, metadata, txn
from tests.support.logs.small_checkpoints import (
    HEAD,
    SCHEMA_STRING,
    SMALL_HEAD,
    schema_with,
    snapshot_of,
)

pytestmark = pytest.mark.usefixtures("_checkpoints_are_read")
STATISTICS = '{"numRecords":3,"minValues":{"n":1},"maxValues":{"n":9}}'
LONG = pa.int64()
BOUNDS = pa.struct([("n", LONG)])


@pytest.mark.parametrize("null_counts", ["nullCount", "nullCounts"])
@pytest.mark.parametrize("has_json", [True, False], ids=["and JSON", "alone"])
def test_typed_statistics_are_read(null_counts: str, *, has_json: bool) -> None:
    parsed = pa.struct(
        [
            ("numRecords", pa.int64()),
            ("minValues", BOUNDS),
            ("maxValues", BOUNDS),
            (null_counts, BOUNDS),
        ]
    )
    fields = [("stats_parsed", parsed), *([("stats", pa.string())] * has_json)]
    values = {
        "numRecords": 3,
        "minValues": {"n": 1},
        "maxValues": {"n": 9},
        null_counts: {"n": 2},
    }
    files: list[dict[str, Any]] = [{"path": "a", "stats_parsed": values}, {"path": "b"}]
    if has_json:
        files[1]["stats"] = STATISTICS
    rows = [*SMALL_HEAD, *({"add": file} for file in files)]

    found = snapshot_of(rows, schema_with(*fields)).statistics(["n"]).to_pylist()

    assert found[0]["num_records"] == 3
    assert found[0]["min"] == {"n": 1}
    assert found[0]["max"] == {"n": 9}
    assert found[0]["null_count"] == {"n": 2}
    assert found[1]["num_records"] == (3 if has_json else None)


@pytest.mark.parametrize("has_json", [False, True])
def test_statistics_that_are_nulls_alone_give_way_to_json(*, has_json: bool) -> None:
    typed = pa.struct([("numRecords", pa.int64())])
    schema = schema_with(("stats", pa.string()), ("stats_parsed", typed))
    text = '{"numRecords":7}' if has_json else None
    file = {"path": "a", "stats": text, "stats_parsed": {"numRecords": None}}

    snapshot = snapshot_of([*SMALL_HEAD, {"add": file}], schema)

    assert snapshot.statistics()["num_records"].to_pylist() == [7 if has_json else None]


def test_statistics_of_old_timestamps_reach_to_the_end_of_time() -> None:
    sink = io.BytesIO()
    last = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    bounds = pa.struct([("n", pa.timestamp("us", "UTC"))])
    schema = schema_with(("stats_parsed", pa.struct([("maxValues", bounds)])))
    file = {"path": "a", "stats_parsed": {"maxValues": {"n": last}}}
    table = pa.Table.from_pylist([*SMALL_HEAD, {"add": file}], schema=schema)
    pq.write_table(table, sink, use_deprecated_int96_timestamps=True)
    builder = LogBuilder()
    builder.store.put(checkpoint_name(5), sink.getvalue())
    timestamps = SCHEMA_STRING.replace("long", "timestamp")
    builder.commit(6, metadata(schemaString=timestamps))

    statistics = builder.table.snapshot().statistics()

    assert statistics["max"].to_pylist() == [{"n": last}]


@pytest.mark.parametrize("is_int96", [True, False])
@pytest.mark.parametrize(
    ("zone", "stored_us", "meant_us"),
    [
        ("UTC", -27_448_157_600_999_178, -27_448_762_400_999_178),
        ("Asia/Kolkata", -3_645_234_408_998_082, -3_645_235_808_998_082),
    ],
)
def test_typed_statistics_of_the_old_calendar_leave_out_no_file(
    zone: str, stored_us: int, meant_us: int, *, is_int96: bool
) -> None:
    """As Spark writes its checkpoints where it is told to write the old calendar."""
    instants = pa.timestamp("us", "UTC")
    bounds = pa.struct([("n", instants)])
    schema = schema_with(
        ("partitionValues", pa.map_(pa.string(), pa.string())),
        (
            "stats_parsed",
            pa.struct([("numRecords", pa.int64()), ("maxValues", bounds)]),
        ),
    )
    keys = {
        "org.apache.spark.version": "4.2.1",
        "org.apache.spark.legacyINT96": "",
        "org.apache.spark.legacyDateTime": "",
        "org.apache.spark.timeZone": zone,
    }
    stored = pa.scalar(stored_us, pa.int64()).cast(instants).as_py()
    parsed = {"numRecords": 1, "maxValues": {"n": stored}}
    file = {"path": "a", "partitionValues": [("p", "x")], "stats_parsed": parsed}
    table = pa.Table.from_pylist([*SMALL_HEAD, {"add": file}], schema=schema)
    sink = io.BytesIO()
    pq.write_table(
        table.replace_schema_metadata(keys),
        sink,
        use_deprecated_int96_timestamps=is_int96,
    )
    builder = LogBuilder()
    builder.store.put(checkpoint_name(5), sink.getvalue())
    builder.commit(6, metadata(schemaString=SCHEMA_STRING.replace("long", "timestamp")))

    (found,) = builder.table.snapshot().statistics()["max"].to_pylist()

    assert found["n"] == pa.scalar(meant_us, pa.int64()).cast(instants).as_py()


def test_statistics_stand_beside_their_files() -> None:
    adds = [add(f"{n}", stats=f'{{"numRecords":{n}}}') for n in range(20)]
    actions = [*adds[:7], *HEAD, *adds[7:], txn("x", 1)]
    builder = LogBuilder().checkpoint(5, *actions, parts=3)
    builder.commit(6, {"remove": {"path": "3"}}, add("21", stats='{"numRecords":21}'))
    builder.commit(7, add("22"), {"remove": {"path": "11"}})

    snapshot = builder.table.snapshot()
    before = snapshot.statistics()["num_records"].to_pylist()

    paths = snapshot.files["path"].to_pylist()
    after = Snapshot(builder.store, snapshot.state).statistics()["num_records"]
    expected = [None if path == "22" else int(path) for path in paths]
    assert before == after.to_pylist() == expected
    assert len(paths) == 20
