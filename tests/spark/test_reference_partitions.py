"""A table partitioned by every type, which Spark and we write in turn, in any zone.

Our tasks run in the session of the reference implementation, as in one of people's.
"""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from deltaweb.table import DeltaTable
from deltaweb.writer.respelling import spelled_columns
from tests.support.logs.spelled_partitions import spelled
from tests.support.peers.reference_implementation import Reference, zone_of

pytestmark = pytest.mark.exhaustive  # every run has test_reference_in_turn
MICROS = 1_710_054_000_000_000  # 07:00 UTC of 10 March 2024
COLUMNS = {
    "ts": ("TIMESTAMP", pa.timestamp("us", "UTC"), (MICROS, -2_208_988_799_999_999)),
    "tn": ("TIMESTAMP_NTZ", pa.timestamp("us"), (MICROS + 500_000, 0)),
    "f": ("FLOAT", pa.float32(), (1e10, float("nan"))),
    "x": ("DOUBLE", pa.float64(), (1e10, -1e-7)),
    "d": ("DECIMAL(10, 2)", pa.decimal128(10, 2), (Decimal("1.50"), Decimal("-0.05"))),
    "da": ("DATE", pa.date32(), (19_783, -1)),
    "l": ("BIGINT", pa.int64(), (-7, 2**62)),
    "i": ("INT", pa.int32(), (7, 0)),
    "h": ("SMALLINT", pa.int16(), (7, 0)),
    "y": ("TINYINT", pa.int8(), (7, -128)),
    "bo": ("BOOLEAN", pa.bool_(), (True, False)),
    "s": ("STRING", pa.string(), ("a b/ü=%3A", " ")),
    "bi": ("BINARY", pa.binary(), (b"AB", "ü".encode())),
}
A, B, NOTHING = 0, 1, 2
SCHEMA = pa.schema(
    [("k", pa.int32()), *((name, kind) for name, (_, kind, _) in COLUMNS.items())]
)
EVERY = (
    "SELECT k, unix_micros(ts), tn, f, x, d, da, l, i, h, y, bo, s, hex(bi) FROM {t}"
)


@pytest.fixture
def new_york(reference: Reference) -> Iterator[None]:
    """The zone of the session, as long as a test lasts: that of all others is UTC."""
    with zone_of(reference, "America/New_York"):
        yield


def rows(part: int, *keys: int) -> pa.Table:
    """Rows of a partition: A, B, or that of nulls."""
    columns = [
        pa.array([None if part == NOTHING else values[part]] * len(keys), _ticks(kind))
        for _, kind, values in COLUMNS.values()
    ]
    return pa.table([pa.array(keys, pa.int32()), *columns], names=SCHEMA.names).cast(
        SCHEMA
    )


def _ticks(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind):
        return pa.int64()
    return pa.int32() if pa.types.is_date(kind) else kind


def source(folder: Path, *some: pa.Table) -> str:
    """Write rows where the session reads them, and return how it does."""
    DeltaTable.create(str(folder), SCHEMA).append(pa.concat_tables(some))
    return f"delta.`{folder}`"


def by_tasks(reference: Reference, code: str) -> None:
    """Run code that writes by our tasks."""
    names = "from deltaweb.spark import merge_rows, write_table"
    reference.count(f"{names}\n{code}\nfound = spark.range(1)")


def there(reference: Reference, table: Path) -> list[str]:
    return sorted(map(repr, reference.sql(EVERY, table)))


def here(table: Path) -> list[str]:
    found = DeltaTable(str(table)).snapshot().read()
    micros = found["ts"].cast(pa.int64())
    found = found.set_column(found.schema.get_field_index("ts"), "ts", micros)
    return sorted(repr(_shown(list(row.values()))) for row in found.to_pylist())


def _shown(row: list[Any]) -> list[Any]:
    """Return values as they come through JSON."""
    plain = (int, float, bool, str, type(None))
    row = [value.hex().upper() if isinstance(value, bytes) else value for value in row]
    return [value if isinstance(value, plain) else str(value) for value in row]


def keys(table: Path) -> list[int]:
    found: list[int] = DeltaTable(str(table)).snapshot().read()["k"].to_pylist()
    return sorted(found)


@pytest.mark.usefixtures("new_york")
def test_both_read_the_same_whoever_wrote_last(reference: Reference, tmp_path: Path):
    folder = tmp_path / "table"
    columns = ", ".join(f"{name} {ddl}" for name, (ddl, _, _) in COLUMNS.items())
    reference.sql(
        f"CREATE TABLE {{t}} (k INT, {columns}) USING delta "
        f"PARTITIONED BY ({', '.join(COLUMNS)})",
        folder,
    )
    first = source(tmp_path / "first", rows(A, 1), rows(B, 2))
    again = source(tmp_path / "again", rows(A, 1, 9))
    five = source(tmp_path / "five", rows(B, 5))
    last = source(tmp_path / "last", rows(B, 22))
    on = "t.k = s.k AND t.ts = s.ts AND t.x = s.x AND t.tn = s.tn AND t.f = s.f"
    table = DeltaTable(str(folder))

    def check(*expected: int, by_both: bool = True) -> None:
        assert keys(folder) == sorted(expected)
        if by_both:
            assert there(reference, folder) == here(folder)

    reference.sql(f"INSERT INTO {{t}} TABLE {first}", folder)
    table.append(pa.concat_tables([rows(A, 3), rows(NOTHING, 4)]))
    by_tasks(reference, f"write_table(spark.table('{five}'), '{folder}')")
    check(1, 2, 3, 4, 5, by_both=False)  # its merge finds them by their partitions

    reference.sql(
        f"MERGE INTO {{t}} t USING {again} s ON {on} WHEN MATCHED THEN UPDATE SET "
        "k = t.k + 10 WHEN NOT MATCHED THEN INSERT *",
        folder,
    )
    merge = table.merge(rows(A, 3, 8), on=on)
    merge.when_matched_update({"k": "t.k + 10"}).when_not_matched_insert().execute()
    by_tasks(
        reference,
        f"merge = merge_rows(spark, '{folder}', spark.table('{five}'), '{on}')\n"
        "merge.when_matched_update({'k': 't.k + 10'}).execute()",
    )
    check(11, 2, 13, 4, 15, 8, 9, by_both=False)

    reference.sql(
        "DELETE FROM {t} WHERE k = 13 AND x = 1e10 AND f = 1e10F AND i = 7"
        " AND ts = TIMESTAMP'2024-03-10T07:00:00Z'",
        folder,
    )
    reference.sql("UPDATE {t} SET k = 12 WHERE k = 2 AND isnan(f)", folder)
    table.update({"k": "k + 1"}, "ts = TIMESTAMP'2024-03-10T07:00:00Z' AND k = 8")
    table.optimize()
    reference.sql("OPTIMIZE {t}", folder)
    check(11, 12, 4, 15, 9, 9)
    assert len(spelled(table)) == 3

    table.overwrite(rows(A, 21), dynamic=True)
    by_tasks(
        reference,
        f"write_table(spark.table('{last}'), '{folder}', 'overwrite', dynamic=True)",
    )
    check(21, 22, 4, by_both=False)
    reference.sql("SET spark.sql.sources.partitionOverwriteMode = dynamic", folder)
    reference.sql(f"INSERT OVERWRITE {{t}} TABLE {again}", folder)
    reference.sql("SET spark.sql.sources.partitionOverwriteMode = static", folder)
    check(1, 9, 22, 4)
    assert pc.count_distinct(table.snapshot().files["path"]).as_py() == 3


def test_respelled_times_are_the_same_in_any_zone_there(reference, tmp_path):
    folder, new = tmp_path / "table", "spark.databricks.delta.write.utcTimestamp"
    known = "SELECT k, unix_micros(ts), _metadata.row_id FROM {t} ORDER BY k"
    reference.sql(
        "CREATE TABLE {t} (k INT, ts TIMESTAMP) USING delta PARTITIONED BY (ts)"
        " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true',"
        " 'delta.enableRowTracking' = 'true')",
        folder,
    )
    reference.sql(f"SET {new}PartitionValues = false", folder)
    reference.sql(
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, TIMESTAMP'2024-03-10 07:00:00'"
        " FROM range(3)",
        folder,
    )
    reference.sql(f"SET {new}PartitionValues = true", folder)
    reference.sql("INSERT INTO {t} VALUES (3, TIMESTAMP'2024-03-10 07:00:00')", folder)
    reference.sql("DELETE FROM {t} WHERE k = 1", folder)
    table, expected = DeltaTable(str(folder)), reference.sql(known, folder)
    assert len(spelled_columns(table.snapshot())) == 1

    with zone_of(reference, "Asia/Kolkata"):
        before = reference.sql(known, folder)
        table.optimize(respell=True)
        after = reference.sql(known, folder)

    assert before != expected == after
    assert len(reference.live_files(folder)) == table.snapshot().num_files == 2
