"""A footer that contradicts itself is a named error of rows and of the preview."""

import io
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import DataFileError
from deltaweb.delta.protocol.schema import schema_of_arrow
from deltaweb.delta.scan.data_file import DataFile
from deltaweb.parquet.errors import ParquetError
from deltaweb.parquet.metadata import SchemaElement
from deltaweb.parquet.values.reading import read_rows
from tests.support import cases
from tests.support.files.changed_schemas import Claims, elements_of, with_schema
from tests.support.files.lossy_files import written

ROWS = pa.table({"n": range(24), "s": [{"a": i, "l": [i]} for i in range(24)]})
DATA = written(ROWS, row_group_size=10, use_dictionary=False)
PATHS = [("n",), ("s", "a"), ("s", "l", "list", "element")]


def rows_of(data: bytes, rows: pa.Table = ROWS) -> pa.Table:
    schema = schema_of_arrow(rows.schema)
    with DataFile("a.parquet", lambda _: pa.BufferReader(data)) as file:
        groups = file.row_groups(schema, None)
        found = [
            pa.table(columns)
            for group in groups
            for _, columns in file.batches(schema, group)
        ]
    return pa.concat_tables(found) if found else rows.slice(0, 0)


def renamed(old: str, new: str) -> list[SchemaElement]:
    return [
        one._replace(name=new) if one.name == old else one for one in elements_of(DATA)
    ]


def repeated_as(name: str, repetition: str | None) -> list[SchemaElement]:
    return [
        one._replace(repetition=repetition) if one.name == name else one
        for one in elements_of(DATA)
    ]


def test_a_footer_that_agrees_gives_its_rows() -> None:
    data = with_schema(DATA, elements_of(DATA))

    assert rows_of(data).to_pylist() == ROWS.to_pylist()
    assert read_rows(pa.BufferReader(data), 24) == ROWS.to_pylist()


@cases(
    "data, reason",
    {
        "an unknown repetition": (
            with_schema(DATA, repeated_as("n", "UNKNOWN(3)")),
            r"repetition UNKNOWN\(3\) is not known",
        ),
        "an unknown repetition of a field": (
            with_schema(DATA, repeated_as("a", "UNKNOWN(7)")),
            r"repetition UNKNOWN\(7\) is not known",
        ),
        "another name": (
            with_schema(DATA, renamed("n", "m"), paths=PATHS),
            "column m is stored as n",
        ),
        "another name of a field": (
            with_schema(DATA, renamed("a", "b"), paths=PATHS),
            "column s.b is stored as s.a",
        ),
        "no row groups": (
            with_schema(DATA, elements_of(DATA), claims=Claims(has_row_groups=False)),
            "the footer says 24 rows, but the row groups have 0",
        ),
        "more rows": (
            with_schema(DATA, elements_of(DATA), claims=Claims(num_rows=25)),
            "the footer says 25 rows, but the row groups have 24",
        ),
        "fewer rows": (
            with_schema(DATA, elements_of(DATA), claims=Claims(num_rows=0)),
            "the footer says 0 rows, but the row groups have 24",
        ),
        "fewer rows than values": (
            with_schema(DATA, elements_of(DATA), claims=Claims(more_rows=-1)),
            "column n has 10 values in a row group of 9 rows",
        ),
        "no rows, and values": (
            with_schema(DATA, elements_of(DATA), claims=Claims(more_rows=-10)),
            "column n has 10 values in a row group of 0 rows",
        ),
        "more rows than values": (
            with_schema(DATA, elements_of(DATA), claims=Claims(more_rows=1)),
            "row group 0 has 11 rows, but its pages have 10",
        ),
    },
)
def test_a_contradiction_is_named(data: bytes, reason: str) -> None:
    with pytest.raises(DataFileError, match=reason):
        rows_of(data)
    with pytest.raises(ParquetError, match=reason):
        read_rows(pa.BufferReader(data), 24)


def test_values_beyond_the_rows_of_a_field_are_named() -> None:
    data = written(ROWS.select(["s"]), use_dictionary=False)
    changed = with_schema(data, elements_of(data), claims=Claims(more_rows=-3))

    with pytest.raises(DataFileError, match=r"column s\.a has 24 values"):
        rows_of(changed, ROWS.select(["s"]))


class TestAnnotations:
    money = pa.table({"d": pa.array([105], pa.int64()), "n": [1]})

    def file(self, precision: int | None, scale: int | None) -> bytes:
        data = written(self.money)
        changed = [
            one._replace(converted_type="DECIMAL", precision=precision, scale=scale)
            if one.name == "d"
            else one
            for one in elements_of(data)
        ]
        return with_schema(data, changed)

    @cases(
        "precision, scale",
        {
            "too many digits": (19, 2),
            "no digits": (0, 0),
            "more behind the point": (3, 5),
            "a scale below zero": (3, -2),
        },
    )
    def test_a_decimal_that_does_not_fit_is_refused(self, precision: int, scale: int):
        kind = pa.decimal128(10, 2)
        wanted = pa.table({"d": pa.array([Decimal("1.05")], kind)})

        with pytest.raises(DataFileError, match="DECIMAL"):
            rows_of(self.file(precision, scale), wanted)

    def test_a_decimal_that_fits_is_read(self) -> None:
        wanted = pa.table({"d": pa.array([Decimal("1.05")], pa.decimal128(10, 2))})

        assert rows_of(self.file(10, 2), wanted).equals(wanted)

    def test_other_columns_of_the_file_are_read(self) -> None:
        wanted = self.money.select(["n"])

        assert rows_of(self.file(19, 2), wanted).equals(wanted)


@cases("name", {"a column": "n", "a struct": "s", "a field": "a"})
def test_a_repetition_that_is_left_out_is_required(name: str) -> None:
    columns = [pa.field(f.name, f.type, nullable=False) for f in ROWS.schema]
    fields = [
        pa.field(f.name, f.type, nullable=False) for f in ROWS.schema.field(1).type
    ]
    columns[1] = columns[1].with_type(pa.struct(fields))
    sink = io.BytesIO()
    pq.write_table(ROWS.cast(pa.schema(columns)), sink)
    elements = [
        one._replace(repetition=None) if one.name == name else one
        for one in elements_of(sink.getvalue())
    ]
    data = with_schema(sink.getvalue(), elements)

    assert rows_of(data).to_pylist() == ROWS.to_pylist()
    assert read_rows(pa.BufferReader(data), 24) == ROWS.to_pylist()
