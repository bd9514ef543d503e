"""Checkpoints as many writers have written them."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import (
    LogCorruptError,
    MissingMetadataError,
    MissingProtocolError,
)
from deltaweb.delta.log.paths import checkpoint_name
from tests.support.logs.delta_logs import (
    LogBuilder,
    add,
    deletion_vector,
    metadata,
    protocol,
    txn,
)
from tests.support.logs.small_checkpoints import (
    HEAD,
    SMALL_HEAD,
    schema_with,
    snapshot_of,
    snapshot_of_bytes,
)

pytestmark = pytest.mark.usefixtures("_checkpoints_are_read")


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
