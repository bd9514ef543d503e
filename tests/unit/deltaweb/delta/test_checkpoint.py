"""Checkpoints as many writers have written them."""

import io
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta import checkpoint_part
from deltaweb.delta.errors import (
    LogCorruptError,
    MissingMetadataError,
    MissingProtocolError,
)
from deltaweb.delta.log_path import checkpoint_name
from deltaweb.delta.schema import PrimitiveType
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.value_text import parse_value
from tests.delta_logs import (
    LogBuilder,
    add,
    checkpoint_bytes,
    deletion_vector,
    metadata,
    protocol,
    txn,
)

HEAD = [protocol(), metadata(partitionColumns=["p"])]
SCHEMA_STRING = (
    '{"type":"struct","fields":[{"name":"n","type":"long","nullable":true,'
    '"metadata":{}}]}'
)


@pytest.fixture(
    autouse=True,
    params=[(0, 4), (20_000, 4), (20_000, 0)],
    ids=["large", "small", "small with many row groups"],
)
def _checkpoints_are_read(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read checkpoints in each of the ways that their size can call for."""
    rows, row_groups = request.param
    monkeypatch.setattr(checkpoint_part, "SMALL_ROWS", rows)
    monkeypatch.setattr(checkpoint_part, "FEW_ROWS", 0)
    monkeypatch.setattr(checkpoint_part, "FEW_ROW_GROUPS", row_groups)


def snapshot_of(rows: list[dict[str, Any]], schema: pa.Schema) -> Snapshot:
    """Return the snapshot of a checkpoint with a schema of its own."""
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), sink)
    return snapshot_of_bytes(sink.getvalue())


def snapshot_of_bytes(data: bytes) -> Snapshot:
    builder = LogBuilder()
    builder.store.put(checkpoint_name(5), data)
    return builder.table.snapshot()


def schema_with(*add_fields: tuple[str, pa.DataType]) -> pa.Schema:
    """Return the smallest checkpoint schema, and more fields of add."""
    return pa.schema(
        [
            ("add", pa.struct([("path", pa.string()), *add_fields])),
            (
                "metaData",
                pa.struct(
                    [
                        ("id", pa.string()),
                        ("schemaString", pa.string()),
                        ("partitionColumns", pa.list_(pa.string())),
                    ]
                ),
            ),
            (
                "protocol",
                pa.struct(
                    [("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32())]
                ),
            ),
        ]
    )


SMALL_HEAD: list[dict[str, Any]] = [
    {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
    {
        "metaData": {
            "id": "t",
            "schemaString": SCHEMA_STRING,
            "partitionColumns": ["p"],
        }
    },
]


class TestColumns:
    def test_that_are_missing_read_as_null(self) -> None:
        rows = [*SMALL_HEAD, {"add": {"path": "a"}}]

        snapshot = snapshot_of(rows, schema_with())

        (row,) = snapshot.files.to_pylist()
        assert row["path"] == "a"
        assert {value for key, value in row.items() if key != "path"} == {None}
        assert snapshot.tombstones.num_rows == 0
        assert snapshot.transactions == {}
        assert snapshot.statistics()["num_records"].to_pylist() == [None]

    def test_may_be_of_narrower_types(self) -> None:
        schema = schema_with(("size", pa.int32()), ("modificationTime", pa.int16()))
        rows = [*SMALL_HEAD, {"add": {"path": "a", "size": 5, "modificationTime": 7}}]

        (row,) = snapshot_of(rows, schema).files.to_pylist()

        assert (row["size"], row["modification_time"]) == (5, 7)

    def test_of_another_type_are_a_fault(self) -> None:
        schema = schema_with(("size", pa.string()))
        rows = [*SMALL_HEAD, {"add": {"path": "a", "size": "large"}}]

        with pytest.raises(LogCorruptError):
            snapshot_of(rows, schema)

    def test_may_be_in_any_order_with_others_between(self) -> None:
        schema = schema_with(("x", pa.list_(pa.int8())), ("size", pa.int64()))
        schema = pa.schema([("new", pa.struct([("y", pa.int8())])), *reversed(schema)])
        rows = [*SMALL_HEAD, {"add": {"path": "a", "x": [1], "size": 9}}]

        assert snapshot_of(rows, schema).size_bytes == 9

    def test_that_are_structs_of_nulls_hold_no_action(self) -> None:
        empty = {"add": {"path": None}, "metaData": {"id": None}, "protocol": {}}
        rows = [{**empty, **row} for row in [*SMALL_HEAD, {"add": {"path": "a"}}]]

        assert snapshot_of(rows, schema_with()).files["path"].to_pylist() == ["a"]

    def test_between_other_actions_are_found(self) -> None:
        actions = [add("a"), txn("x", 1), add("b"), *HEAD, add("c"), txn("y", 2)]
        builder = LogBuilder().checkpoint(5, *actions)

        snapshot = builder.table.snapshot()

        assert sorted(snapshot.files["path"].to_pylist()) == ["a", "b", "c"]
        assert sorted(snapshot.transactions) == ["x", "y"]


class TestPartitionValues:
    @pytest.mark.parametrize(
        "values_type",
        [
            pytest.param(pa.map_(pa.string(), pa.string()), id="a map"),
            pytest.param(
                pa.list_(pa.struct([("key", pa.string()), ("value", pa.string())])),
                id="a list of pairs without the map's annotation",
            ),
            pytest.param(pa.map_(pa.large_string(), pa.large_string()), id="large"),
        ],
    )
    def test_of_any_encoding(self, values_type: pa.DataType) -> None:
        pairs = [("p", "x"), ("q", None)]
        if pa.types.is_list(values_type):
            values: Any = [{"key": key, "value": value} for key, value in pairs]
        else:
            values = pairs
        schema = schema_with(("partitionValues", values_type))
        adds = [{"add": {"path": name, "partitionValues": values}} for name in "ab"]

        files = snapshot_of([*SMALL_HEAD, *adds], schema).files

        assert files["partition_values"].to_pylist() == [pairs, pairs]

    def test_that_are_typed_alone_read_as_their_text(self) -> None:
        typed = pa.struct(
            [
                ("d", pa.date32()),
                ("n", pa.int32()),
                ("b", pa.bool_()),
                ("m", pa.decimal128(5, 2)),
                ("s", pa.string()),
                ("t", pa.timestamp("us", "UTC")),
            ]
        )
        values = {
            "d": date(2026, 1, 31),
            "n": -1,
            "b": True,
            "m": Decimal("-1.50"),
            "s": None,
            "t": 1_000_000,
        }
        schema = schema_with(("partitionValues_parsed", typed))
        rows = [*SMALL_HEAD, {"add": {"path": "a", "partitionValues_parsed": values}}]

        (row,) = snapshot_of(rows, schema).files.to_pylist()

        found = dict(row["partition_values"])
        assert found.pop("t").startswith("1970-01-01 00:00:01")
        assert found == {
            "d": "2026-01-31",
            "n": "-1",
            "b": "true",
            "m": "-1.50",
            "s": None,
        }

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (float("inf"), "Infinity"),
            (float("-inf"), "-Infinity"),
            (float("nan"), "NaN"),
            (1.5, "1.5"),
        ],
    )
    def test_that_are_typed_floats_read_as_writers_spell_them(
        self, value: float, expected: str
    ) -> None:
        typed = pa.struct([("x", pa.float64())])
        schema = schema_with(("partitionValues_parsed", typed))
        file = {"path": "a", "partitionValues_parsed": {"x": value}}

        files = snapshot_of([*SMALL_HEAD, {"add": file}], schema).files

        assert files["partition_values"].to_pylist() == [[("x", expected)]]

    @pytest.mark.parametrize("value", [b"ab", b"\xff\x00a"])
    def test_that_are_typed_bytes_read_as_the_same_bytes(self, value: bytes) -> None:
        typed = pa.struct([("x", pa.binary())])
        schema = schema_with(("partitionValues_parsed", typed))
        file = {"path": "a", "partitionValues_parsed": {"x": value}}

        files = snapshot_of([*SMALL_HEAD, {"add": file}], schema).files

        ((_, text),) = files["partition_values"][0].as_py()
        assert parse_value(text, PrimitiveType("binary")) == value

    @pytest.mark.parametrize("values", [{}, None])
    def test_of_a_table_without_partitions_are_none_and_not_unknown(
        self, values: dict[str, str] | None
    ) -> None:
        adds = [add(name, partitionValues=values) for name in "ab"]
        builder = LogBuilder().checkpoint(5, *HEAD, *adds)

        files = builder.table.snapshot().files

        assert files["partition_values"].to_pylist() == [[], []]

    def test_beside_a_schema_of_arrows_that_is_none_are_read(self) -> None:
        actions = [*HEAD, txn("app", 7), add("a", partitionValues={"p": "x"})]
        plain = pq.read_table(io.BytesIO(checkpoint_bytes(actions)))
        sink = io.BytesIO()
        odd = plain.replace_schema_metadata({"ARROW:schema": "no schema (*)"})
        pq.write_table(odd, sink, store_schema=False)

        snapshot = snapshot_of_bytes(sink.getvalue())

        assert snapshot.files["partition_values"].to_pylist() == [[("p", "x")]]
        assert snapshot.metadata.partition_columns == ["p"]
        assert snapshot.transactions["app"].version == 7

    def test_that_are_missing_of_one_file_alone_are_none_of_it(self) -> None:
        builder = LogBuilder().checkpoint(
            5,
            *HEAD,
            add("a", partitionValues=None),
            add("b", partitionValues={"p": "x", "q": None}),
        )

        files = builder.table.snapshot().files

        assert files.select(["path", "partition_values"]).to_pylist() == [
            {"path": "a", "partition_values": []},
            {"path": "b", "partition_values": [("p", "x"), ("q", None)]},
        ]

    def test_that_are_all_null_keep_their_keys(self) -> None:
        builder = LogBuilder().checkpoint(
            5, *HEAD, add("a", partitionValues={"p": None})
        )

        files = builder.table.snapshot().files

        assert files["partition_values"].to_pylist() == [[("p", None)]]


STATISTICS = '{"numRecords":3,"minValues":{"n":1},"maxValues":{"n":9}}'
BOUNDS = pa.struct([("n", pa.int64())])


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


@pytest.mark.parametrize("marked", ["path", "value"])
def test_text_that_is_not_utf_8_is_a_fault_of_the_checkpoint(marked: str) -> None:
    sink = io.BytesIO()
    schema = schema_with(("partitionValues", pa.map_(pa.string(), pa.string())))
    file = {"path": "the path", "partitionValues": [("p", "the value")]}
    table = pa.Table.from_pylist([*SMALL_HEAD, {"add": file}], schema=schema)
    pq.write_table(table, sink, compression="none")
    data = sink.getvalue().replace(
        f"the {marked}".encode(), b"\xff" * (4 + len(marked))
    )

    with pytest.raises(LogCorruptError, match="add"):
        snapshot_of_bytes(data)


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


def test_a_deletion_vector_is_part_of_the_identity() -> None:
    vectors = [deletion_vector("v"), deletion_vector("v", 1), None]
    adds = [add("a", deletionVector=vector) for vector in vectors]
    builder = LogBuilder().checkpoint(5, *HEAD, *adds)
    builder.commit(6, {"remove": {"path": "a", "deletionVector": vectors[1]}})

    assert builder.table.snapshot(5).files["dv_id"].to_pylist() == ["uv", "uv@1", None]
    assert builder.table.snapshot(6).files["dv_id"].to_pylist() == ["uv", None]


class TestHead:
    def test_without_a_protocol_is_an_error_whatever_the_commits_say(self) -> None:
        builder = LogBuilder().start().checkpoint(1, metadata()).commit(1)

        with pytest.raises(MissingProtocolError):
            builder.table.snapshot()

    def test_without_metadata_is_an_error_whatever_the_commits_say(self) -> None:
        builder = LogBuilder().start().checkpoint(1, protocol()).commit(1, metadata())

        with pytest.raises(MissingMetadataError):
            builder.table.snapshot()

    def test_wins_over_the_commits_before_it(self) -> None:
        builder = LogBuilder().start(add("json"))
        builder.checkpoint(0, protocol(), metadata("other"), add("checkpoint"))

        snapshot = builder.table.snapshot()

        assert snapshot.metadata.id == "other"
        assert snapshot.files["path"].to_pylist() == ["checkpoint"]

    def test_is_the_first_of_several(self) -> None:
        builder = LogBuilder().checkpoint(
            5, *HEAD, add("a"), add("b"), metadata("again"), add("c")
        )

        snapshot = builder.table.snapshot()

        assert snapshot.metadata.id == "table"
        assert snapshot.files["path"].to_pylist() == ["a", "b", "c"]

    def test_may_stand_after_the_files(self) -> None:
        builder = LogBuilder().checkpoint(5, *map(add, "abcd"), protocol(), metadata())

        snapshot = builder.table.snapshot()

        assert snapshot.metadata.id == "table"
        assert snapshot.files["path"].to_pylist() == ["a", "b", "c", "d"]

    def test_of_another_kind_of_parquet_is_passed_over(self) -> None:
        sink = io.BytesIO()
        pq.write_table(pa.table({"x": [1]}), sink)
        builder = LogBuilder().start(add("json"))
        builder.store.put(checkpoint_name(0), sink.getvalue())

        assert builder.table.snapshot().num_files == 1
