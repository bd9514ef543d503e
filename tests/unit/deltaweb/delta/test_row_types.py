"""Values of rows in the types of the schema, whatever the files hold."""

from base64 import b64decode
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.errors import (
    DataFileError,
    DataFileMissingError,
    PathEscapesTableError,
)
from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructType,
    arrow_schema,
)
from deltaweb.delta.scan.rows import RowSource, read_rows
from tests.support import cases
from tests.support.tables.row_tables import LONG, STRING, TIMESTAMP, Table, schema_of


def _decimal(value: str) -> Decimal:
    return Decimal(value)


MAP_WITH_AN_OPTIONAL_KEY = (
    "UEFSMRUAFSAVICwVAhUAFQYVBgAAAgAAAAIAAgAAAAIDAQAAABUAFSIVIiwVAhUAFQYVBgAAAgAA"
    "AAIAAgAAAAICAQAAAGEVAhlcSAZzY2hlbWEVAgA1AhgBbRUCFQJMLAAAADUEGAlrZXlfdmFsdWUV"
    "BAAVAiUCGAV2YWx1ZQAVDCUAGANrZXklAEwcAAAAFgIZHBksJgAcFQIZJQAGGTgBbQlrZXlfdmFs"
    "dWUFdmFsdWUVABYCFkIWQiYIAAAmABwVDBklAAYZOAFtCWtleV92YWx1ZQNrZXkVABYCFkQWRCZK"
    "AAAWhgEWAgAoKWRlbHRhd2ViLWhhbmRtYWRlIHZlcnNpb24gMS4wLjAgKGJ1aWxkIDApGSwcAAAc"
    "AAAA2QAAAFBBUjE="
)
"""A file of one row: a MAP of `optional int32 value` and `required binary key`.

The first of the two is the key, whatever it is called.
"""


class TestTypes:
    @pytest.mark.parametrize(
        ("stored", "data_type", "expected"),
        [
            pytest.param(
                pa.array([1, None], pa.int32()), LONG, [1, None], id="a narrower int"
            ),
            pytest.param(
                pa.array([-5], pa.int32()), PrimitiveType("byte"), [-5], id="a byte"
            ),
            pytest.param(
                pa.array([1.5], pa.float32()),
                PrimitiveType("double"),
                [1.5],
                id="float",
            ),
            pytest.param(
                pa.array([b"x"], pa.binary()),
                STRING,
                ["x"],
                id="text that is not said so",
            ),
            pytest.param(
                pa.array(["x"]), PrimitiveType("binary"), [b"x"], id="text as bytes"
            ),
            pytest.param(
                pa.array(["x", "x"]).dictionary_encode(), STRING, ["x", "x"], id="codes"
            ),
            pytest.param(
                pa.array([2**64 - 1, None], pa.uint64()),
                DecimalType(20, 0),
                [_decimal("18446744073709551615"), None],
                id="an unsigned long",
            ),
            pytest.param(
                pa.array([-5, None], pa.duration("us")),
                LONG,
                [-5, None],
                id="a number that is a duration to Arrow alone",
            ),
            pytest.param(
                pa.array([_decimal("1.5")], pa.decimal128(4, 1)),
                DecimalType(10, 3),
                [_decimal("1.500")],
                id="a decimal of another scale",
            ),
            pytest.param(
                pa.array([-1], pa.timestamp("ms")),
                TIMESTAMP,
                [datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=UTC)],
                id="milliseconds",
            ),
            pytest.param(
                pa.array([-1, 1999], pa.timestamp("ns")),
                PrimitiveType("timestamp_ntz"),
                [
                    datetime(1969, 12, 31, 23, 59, 59, 999999),  # noqa: DTZ001 # no zone
                    datetime(1970, 1, 1, 0, 0, 0, 1),  # noqa: DTZ001 # no zone
                ],
                id="nanoseconds are cut, never rounded",
            ),
            pytest.param(
                pa.array([date(1, 1, 1)], pa.date32()),
                PrimitiveType("date"),
                [date(1, 1, 1)],
                id="a date",
            ),
            pytest.param(
                pa.array([5], pa.int64()),
                PrimitiveType("void"),
                [None],
                id="void is null",
            ),
            pytest.param(pa.nulls(2), LONG, [None, None], id="a column of nulls"),
        ],
    )
    def test_become_exactly_those_of_the_schema(
        self, tmp_path: Path, stored: pa.Array, data_type: DataType, expected: list[Any]
    ) -> None:
        table = Table(tmp_path, schema_of(c=data_type))
        table.add(pa.table({"c": stored}), version="2.6")

        rows = read_rows(table.source)

        assert rows.schema.equals(arrow_schema(table.schema))
        assert rows["c"].to_pylist() == expected

    def test_of_old_timestamps_keep_their_microseconds(self, tmp_path: Path) -> None:
        table = Table(tmp_path, schema_of(t=TIMESTAMP))
        at = datetime(2024, 2, 29, 12, 0, 0, 123456, tzinfo=UTC)
        table.add(
            pa.table({"t": pa.array([at], pa.timestamp("us"))}),
            use_deprecated_int96_timestamps=True,
        )

        assert table.read() == [{"t": at}]

    @cases(
        "stored, data_type",
        {
            "text for a number": (pa.array(["x"]), LONG),
            "a wider number": (pa.array([1]), PrimitiveType("integer")),
            "a number for text": (pa.array([1]), STRING),
            "a fraction for a whole number": (pa.array([1.5]), LONG),
            "a wider float": (pa.array([1.5]), PrimitiveType("float")),
            "a number for a time": (pa.array([1]), TIMESTAMP),
            "range": (pa.array([300], pa.int32()), PrimitiveType("byte")),
            "bytes that are no text": (pa.array([b"\xff"]), STRING),
            "a number for a list": (pa.array([1]), ArrayType(LONG)),
            "a number for a map": (pa.array([1]), MapType(LONG, LONG)),
            "a number for a struct": (pa.array([1]), StructType(())),
            "lost digits": (pa.array([_decimal("1.23")]), DecimalType(5, 1)),
            "a decimal that would overflow": (
                pa.array([_decimal("1" + "0" * 30)]),
                DecimalType(38, 18),
            ),
            "a decimal of too many digits": (
                pa.array([_decimal("1")], pa.decimal256(50, 0)),
                DecimalType(38, 18),
            ),
        },
    )
    def test_that_do_not_fit_are_refused_by_file_and_column(
        self, tmp_path: Path, stored: pa.Array, data_type: DataType
    ) -> None:
        table = Table(tmp_path, schema_of(c=data_type))
        path = table.add(pa.table({"c": stored}))

        with pytest.raises(DataFileError, match=rf"{path}.*'c") as caught:
            table.read()
        assert caught.value.code == "data-file-corrupt"

    def test_inside_of_lists_are_named_to_the_element(self, tmp_path: Path) -> None:
        table = Table(tmp_path, schema_of(c=ArrayType(schema_of(x=LONG))))
        table.add(pa.table({"c": [[{"x": "no number"}]]}))

        with pytest.raises(DataFileError, match=r"'c\.element\.x'"):
            table.read()

    def test_of_a_list_in_two_levels_are_read(self, tmp_path: Path) -> None:
        table = Table(tmp_path, schema_of(c=ArrayType(LONG)))
        table.add(pa.table({"c": [[1, 2], [], None]}), use_compliant_nested_type=False)

        assert table.read() == [{"c": [1, 2]}, {"c": []}, {"c": None}]

    @pytest.mark.parametrize("kept", ["no base64 (*)", "bm8gc2NoZW1h"])
    def test_are_read_beside_a_schema_of_arrows_that_is_none(self, tmp_path, kept):
        rows = pa.table({"c": [1], "ARROW:schema": ["x"]})
        rows = rows.replace_schema_metadata({"ARROW:schema": kept})
        table = Table(tmp_path, schema_of(c=LONG, **{"ARROW:schema": STRING}))
        table.add(rows, store_schema=False)

        assert table.read() == [{"c": 1, "ARROW:schema": "x"}]

    def test_of_a_map_whose_key_is_optional_are_read(self, tmp_path: Path) -> None:
        table = Table(tmp_path, schema_of(m=MapType(PrimitiveType("integer"), STRING)))
        path = table.add(pa.table({"m": [None]}))
        (tmp_path / path).write_bytes(b64decode(MAP_WITH_AN_OPTIONAL_KEY))

        assert table.read() == [{"m": [(1, "a")]}]


class TestFaults:
    def test_of_a_missing_file_name_it(self, tmp_path: Path) -> None:
        table = Table(tmp_path, schema_of(a=LONG))
        path = table.add(pa.table({"a": [1]}))
        (tmp_path / path).unlink()

        with pytest.raises(DataFileMissingError) as caught:
            table.read()
        assert caught.value.path == path

    @cases(
        "content",
        {"empty": b"", "no footer": b"PAR1 no parquet PAR1", "encrypted": b"PARE" * 9},
    )
    def test_of_a_damaged_file_name_it(self, tmp_path: Path, content: bytes) -> None:
        table = Table(tmp_path, schema_of(a=LONG))
        path = table.add(pa.table({"a": [1]}))
        (tmp_path / path).write_bytes(content)

        with pytest.raises(DataFileError, match=path):
            table.read()

    def test_of_a_damaged_page_name_the_file(self, tmp_path: Path) -> None:
        table = Table(tmp_path, schema_of(a=STRING))
        path = table.add(pa.table({"a": ["x" * 1000] * 10}), use_dictionary=False)
        content = bytearray((tmp_path / path).read_bytes())
        content[4:60] = b"\xff" * 56
        (tmp_path / path).write_bytes(content)

        with pytest.raises(DataFileError, match=path):
            table.read()

    def test_of_the_store_pass_through(self, tmp_path: Path) -> None:
        table = Table(tmp_path, schema_of(a=LONG))
        table.add(pa.table({"a": [1]}))

        def refuse(path: str) -> pa.NativeFile:
            raise PathEscapesTableError(path=path)

        source = RowSource(table.schema, (), table.source.files, refuse)
        with pytest.raises(PathEscapesTableError):
            read_rows(source)
