"""Parquet files of several writers, each by a function that is given a path."""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import deltalake
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from tests.support import late

duckdb = late("duckdb")

Write = Callable[[Path], None]
MOMENT: Final = datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=UTC)
PLAIN: Final = pa.table(
    {
        "b": pa.array([True, None, False]),
        "i8": pa.array([-128, None, 127], pa.int8()),
        "i16": pa.array([-32768, None, 32767], pa.int16()),
        "i32": pa.array([-(1 << 31), None, (1 << 31) - 1], pa.int32()),
        "i64": pa.array([-(1 << 63), None, (1 << 63) - 1], pa.int64()),
        "f": pa.array([-1.5, None, 0.25], pa.float32()),
        "d": pa.array([float("inf"), None, -2.5], pa.float64()),
        "s": pa.array(["", None, "ü 😀"]),
        "bin": pa.array([b"", None, b"\x00\xff"]),
        "day": pa.array([date(1, 1, 1), None, date(9999, 12, 31)]),
        "dec9": pa.array([Decimal("-0.01"), None, Decimal("9999999.99")]),
        "dec38": pa.array([Decimal(-1), None, Decimal(10**18)], pa.decimal128(38, 18)),
    }
)
TIMES: Final = pa.table(
    {
        "ms": pa.array(
            [MOMENT.replace(microsecond=123000), None], pa.timestamp("ms", "UTC")
        ),
        "us": pa.array([MOMENT, None], pa.timestamp("us", "UTC")),
        "local": pa.array([MOMENT.replace(tzinfo=None), None], pa.timestamp("us")),
        "old": pa.array([datetime(1900, 1, 1), None], pa.timestamp("us")),  # noqa: DTZ001 (it has no zone)
    }
)
INNER: Final = pa.struct([("x", pa.int32()), ("y", pa.list_(pa.string()))])
NESTED: Final = pa.Table.from_pylist(
    [
        {
            "s": {"x": 1, "y": ["a", None]},
            "l": [{"x": 2, "y": []}, None],
            "m": [("k", 1)],
        },
        {"s": None, "l": [], "m": []},
        {"s": {"x": None, "y": None}, "l": None, "m": [("a", None), ("b", 2)]},
    ],
    pa.schema(
        [("s", INNER), ("l", pa.list_(INNER)), ("m", pa.map_(pa.string(), pa.int64()))]
    ),
)
REQUIRED: Final = pa.table(
    [pa.array([1, 2, 3], pa.int64()), pa.array(["a", "b", "a"])],
    pa.schema(
        [
            pa.field(
                "id", pa.int64(), nullable=False, metadata={"PARQUET:field_id": "7"}
            ),
            pa.field("a b,;{}()=", pa.string(), nullable=False),
        ]
    ),
)


def _by_pyarrow(rows: pa.Table, **options: Any) -> Write:  # noqa: ANN401 (pyarrow's own)
    return lambda path: pq.write_table(rows, path, **options)


def _by_duckdb(query: str, options: str = "") -> Write:
    return lambda path: duckdb.sql(
        f"COPY ({query}) TO '{path}' (FORMAT parquet{options})"
    )


def _by_polars(rows: pa.Table, **options: Any) -> Write:  # noqa: ANN401 (Polars' own)
    return lambda path: pl.DataFrame(rows).write_parquet(path, **options)


def _by_deltalake(rows: pa.Table) -> Write:
    def write(path: Path) -> None:
        folder = path.with_suffix(".table")
        deltalake.write_deltalake(str(folder), rows)
        next(folder.glob("*.parquet")).rename(path)

    return write


GOOD: Final[Mapping[str, Write]] = {
    "pyarrow_plain": _by_pyarrow(PLAIN),
    "pyarrow_plain_v2": _by_pyarrow(
        PLAIN, data_page_version="2.0", compression="zstd", use_dictionary=False
    ),
    "pyarrow_times": _by_pyarrow(TIMES),
    "pyarrow_times_int96": _by_pyarrow(
        TIMES.select(["local"]), use_deprecated_int96_timestamps=True
    ),
    "pyarrow_nested": _by_pyarrow(NESTED),
    "pyarrow_groups": _by_pyarrow(
        REQUIRED, row_group_size=2, write_page_index=True, compression="gzip"
    ),
    "pyarrow_decimals_as_integers": _by_pyarrow(
        PLAIN.select(["dec9"]), store_decimal_as_integer=True
    ),
    "pyarrow_no_rows": _by_pyarrow(PLAIN.slice(0, 0)),
    "pyarrow_time_of_day": _by_pyarrow(
        pa.table({"t": pa.array([time(12, 30, 1, 5), None], pa.time64("us"))})
    ),
    "pyarrow_unsigned": _by_pyarrow(
        pa.table({"u32": pa.array([0, (1 << 32) - 1, None], pa.uint32())})
    ),
    "duckdb_plain": _by_duckdb(
        "SELECT * FROM (VALUES (1::TINYINT, 'x', 1.25::DECIMAL(9, 2), DATE"
        " '2024-02-29',"
        " 1.5::DOUBLE, TIMESTAMP '2024-02-29 23:59:59.123456'),"
        " (NULL, NULL, NULL, NULL, NULL, NULL)) AS v(i, s, de, da, d, ts)"
    ),
    "duckdb_nested": _by_duckdb(
        "SELECT [1, NULL] AS l, {'a': 1, 'b': ['x']} AS st, MAP {'k': 1} AS m"
    ),
    "duckdb_v2": _by_duckdb(
        "SELECT range AS n, 'v' || range AS s FROM range(5000)",
        ", PARQUET_VERSION v2, ROW_GROUP_SIZE 2048, COMPRESSION zstd",
    ),
    "polars_plain": _by_polars(PLAIN),
    "polars_nested": _by_polars(NESTED.select(["s", "l"])),
    "deltalake_plain": _by_deltalake(PLAIN.drop_columns(["f"])),
    "deltalake_nested": _by_deltalake(NESTED),
}
SPARK: Final[Mapping[str, str]] = {
    "spark_plain": (
        "SELECT * FROM VALUES (1Y, 2S, 3, 4L, 1.5F, 2.5D, 'x', X'00FF', 1.25,"
        " DATE'2024-02-29', true), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,"
        " NULL, NULL, NULL) AS v(b, sh, i, l, f, d, s, bin, de, da, bo)"
    ),
    "spark_nested": (
        "SELECT named_struct('x', 1, 'y', array('a', NULL)) AS s,"
        " map('k', named_struct('z', 2)) AS m, array(array(1), NULL) AS l"
        " UNION ALL SELECT NULL, NULL, NULL"
    ),
}


def bad_files(good: Path) -> Mapping[str, tuple[str, bytes]]:
    """Return the kind and the bytes of damaged files, made of a good one."""
    data = good.read_bytes()
    length = int.from_bytes(data[-8:-4], "little")
    footer = data[-8 - length : -8]
    end = b"\x00" * 64
    return {
        "empty.parquet": ("short", b""),
        "magic_alone.parquet": ("short", b"PAR1"),
        "text.parquet": ("other-format", b"id,v\n1,a\n2,b\n"),
        "cut_in_half.parquet": ("truncated", data[: len(data) // 2]),
        "cut_before_the_magic.parquet": ("truncated", data[:-4]),
        "footer_too_long.parquet": (
            "length",
            data[:-8] + (1 << 30).to_bytes(4, "little") + b"PAR1",
        ),
        "footer_of_zeros.parquet": (
            "footer",
            data[: -8 - length] + bytes(length) + data[-8:],
        ),
        "pages_of_zeros.parquet": (
            "pages",
            data[:4] + bytes(len(data) - 12 - length) + footer + data[-8:],
        ),
        "zeros_at_the_end.parquet": ("other-format", data + end),
    }
