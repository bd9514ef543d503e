"""Partition values of checkpoints, however they are encoded."""

import io
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.protocol.schema import PrimitiveType
from deltaweb.delta.values.value_text import parse_value
from tests.support import cases
from tests.support.logs.delta_logs import LogBuilder, add, checkpoint_bytes, txn
from tests.support.logs.small_checkpoints import (
    HEAD,
    SMALL_HEAD,
    schema_with,
    snapshot_of,
    snapshot_of_bytes,
)

pytestmark = pytest.mark.usefixtures("_checkpoints_are_read")


class TestPartitionValues:
    @cases(
        "values_type",
        {
            "a map": pa.map_(pa.string(), pa.string()),
            "a list of pairs without the map's annotation": pa.list_(
                pa.struct([("key", pa.string()), ("value", pa.string())])
            ),
            "large": pa.map_(pa.large_string(), pa.large_string()),
        },
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
                ("l", pa.timestamp("us")),
            ]
        )
        values = {
            "d": date(2026, 1, 31),
            "n": -1,
            "b": True,
            "m": Decimal("-1.50"),
            "s": None,
            "t": 1_000_000,
            "l": 1_000_000,
        }
        schema = schema_with(("partitionValues_parsed", typed))
        rows = [*SMALL_HEAD, {"add": {"path": "a", "partitionValues_parsed": values}}]

        (row,) = snapshot_of(rows, schema).files.to_pylist()

        assert dict(row["partition_values"]) == {
            "d": "2026-01-31",
            "n": "-1",
            "b": "true",
            "m": "-1.50",
            "s": None,
            "t": "1970-01-01T00:00:01.000000Z",
            "l": "1970-01-01 00:00:01",
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
    def test_that_are_typed_floats_read_as_writers_spell_them(self, value, expected):
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
    def test_of_a_table_without_partitions_are_none_and_not_unknown(self, values):
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
