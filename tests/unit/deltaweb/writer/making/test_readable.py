"""A folder becomes a table if the rows of its files can be read; else it is named."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from deltaweb.delta.errors import DataFileUnsupportedError
from deltaweb.delta.protocol.schema import schema_of_arrow
from deltaweb.delta.scan.data_file import DataFile
from deltaweb.parquet.errors import ParquetUnsupportedError
from deltaweb.parquet.values.reading import read_rows
from deltaweb.table import DeltaTable
from deltaweb.writer.making.conversion import FolderNotConvertibleError
from tests.support import cases
from tests.support.files.changed_schemas import Claims, Paths, elements_of, with_schema
from tests.support.files.lossy_files import written

Write = Callable[[Path], object]
ROWS = pa.table({"n": range(5), "s": [{"a": i} for i in range(5)]})
DATA = written(ROWS)


def by_duckdb(expression: str) -> Write:
    """Return what writes 3,000 rows of an expression over their number `i`."""
    chosen = f"SELECT {expression} AS c"

    def write(path: Path) -> None:
        duckdb.sql(f"CREATE OR REPLACE VIEW rows AS FROM range(3000) t(i) {chosen}")
        duckdb.sql(f"COPY rows TO '{path}' (FORMAT parquet, PARQUET_VERSION v2)")

    return write


def by_changes(
    rows: pa.Table,
    changes: dict[str, Any] | None = None,
    claims: Claims | None = None,
    paths: Paths | None = None,
) -> Write:
    """Return what writes a file whose leaf columns and footer say something else."""
    data = written(rows)
    elements = [
        one._replace(**changes) if changes and one.physical_type else one
        for one in elements_of(data)
    ]
    return lambda path: path.write_bytes(
        with_schema(data, elements, claims=claims, paths=paths)
    )


WIDE = "(CASE WHEN i % 2 = 0 THEN -2147483648 + i ELSE 2147483647 - i END)::INT"
DECIMAL = {"converted_type": "DECIMAL", "precision": 38, "scale": 2}


@cases(
    "write, reason",
    {
        "differences of 33 bits": (
            by_duckdb(WIDE),
            "a.parquet: column c packs differences of 32-bit numbers",
        ),
        "differences of 33 bits in lists": (
            by_duckdb(f"[{WIDE}, 1]"),
            "a.parquet: column c.list.element packs differences of 32-bit numbers",
        ),
        "decimals of many bytes": (
            by_changes(pa.table({"d": pa.array([bytes(33)], pa.binary(33))}), DECIMAL),
            "a.parquet: column d has DECIMAL(38,2) of 33 bytes",
        ),
        "a decimal of many bytes": (
            by_changes(pa.table({"d": [b"\1", bytes(33)]}), DECIMAL),
            "a.parquet: a decimal has no bytes or more than 32",
        ),
        "a codec that is not read": (
            by_changes(ROWS, claims=Claims(codec=3)),
            "a.parquet: column n is compressed with LZO",
        ),
        "an unknown codec": (
            by_changes(ROWS, claims=Claims(codec=99)),
            "a.parquet: column n is compressed with UNKNOWN(99)",
        ),
        "an unknown encoding": (
            by_changes(ROWS, claims=Claims(encodings=[0, 42])),
            "a.parquet: column n has an unsupported encoding (PLAIN, UNKNOWN(42))",
        ),
        "other paths": (
            by_changes(ROWS, paths=[("n",), ("s", "b")]),
            "column s.a is stored as s.b",
        ),
        "fewer rows than values": (
            by_changes(ROWS, claims=Claims(more_rows=-1)),
            "column n has 5 values in a row group of 4 rows",
        ),
        "more rows than values": (
            by_changes(ROWS, claims=Claims(more_rows=1)),
            "row group 0 has 6 rows, but its pages have 5",
        ),
        "an unknown repetition": (
            by_changes(ROWS, {"repetition": "UNKNOWN(3)"}),
            "column n: the repetition UNKNOWN(3) is not known",
        ),
    },
)
def test_a_file_that_is_not_read_is_refused_before_anything_is_written(
    tmp_path: Path, write: Write, reason: str
) -> None:
    write(tmp_path / "a.parquet")

    with pytest.raises(FolderNotConvertibleError) as caught:
        DeltaTable.convert(str(tmp_path))

    assert reason in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


@pytest.mark.parametrize("key", ["k", None])
def test_a_key_of_a_map_may_be_optional_and_not_null(
    tmp_path: Path, key: str | None
) -> None:
    pair = pa.struct({"key": pa.string(), "value": pa.int32()})
    kind = pa.list_(pa.field("element", pair, nullable=False))
    data = written(pa.table({"m": pa.array([[{"key": key, "value": 1}]], kind)}))
    elements = [
        one._replace(converted_type="MAP") if one.name == "m" else one
        for one in elements_of(data)
    ]
    entries = [one for one in elements if one.name != "element"]
    paths = [("m", "list", "key"), ("m", "list", "value")]
    changed = [
        one._replace(num_children=2) if one.name == "list" else one for one in entries
    ]
    (tmp_path / "a.parquet").write_bytes(with_schema(data, changed, paths=paths))

    if key is None:
        with pytest.raises(FolderNotConvertibleError, match="a key of the map is null"):
            DeltaTable.convert(str(tmp_path))
    else:
        rows = DeltaTable.convert(str(tmp_path)).snapshot().read()
        assert rows["m"].to_pylist() == [[("k", 1)]]


def test_every_such_file_is_named(tmp_path: Path) -> None:
    for name in "ab":
        by_duckdb(WIDE)(tmp_path / f"{name}.parquet")

    with pytest.raises(FolderNotConvertibleError) as caught:
        DeltaTable.convert(str(tmp_path))

    assert len(caught.value.problems) == 2


def test_a_healthy_file_is_not_to_be_restored(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    by_duckdb(WIDE)(path)
    data = path.read_bytes()

    with pytest.raises(ParquetUnsupportedError, match="column c packs") as shown:
        read_rows(pa.BufferReader(data), 5)
    with pytest.raises(DataFileUnsupportedError, match="column c packs") as read:
        _read_all(data)
    assert "may be intact" in shown.value.hint
    assert "may be intact" in read.value.hint


def _read_all(data: bytes) -> None:
    schema = schema_of_arrow(pa.schema({"c": pa.int32()}))
    with DataFile("a.parquet", lambda _: pa.BufferReader(data)) as file:
        list(file.batches(schema, 0))


@pytest.mark.parametrize("many", ["-40000000 + i", "i % 7", "NULL::INT"])
def test_differences_of_32_bits_are_read(tmp_path: Path, many: str) -> None:
    by_duckdb(f"({many})::INT")(tmp_path / "a.parquet")

    table = DeltaTable.convert(str(tmp_path))

    assert table.snapshot().read().num_rows == 3_000


def test_decimals_of_many_bytes_are_read(tmp_path: Path) -> None:
    raw = (105).to_bytes(20, "big")
    rows = pa.table({"d": pa.array([raw, None], pa.binary(20))})
    by_changes(rows, DECIMAL)(tmp_path / "a.parquet")

    rows = DeltaTable.convert(str(tmp_path)).snapshot().read()

    assert [str(one) for one in rows["d"].to_pylist()] == ["1.05", "None"]
