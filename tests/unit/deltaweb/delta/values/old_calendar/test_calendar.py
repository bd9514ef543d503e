from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.errors import DataFileError
from deltaweb.delta.protocol.schema import (
    ArrayType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    arrow_schema,
)
from deltaweb.delta.scan.predicate import Comparison
from deltaweb.delta.values.old_calendar.calendar import Leaves, OldCalendar
from tests.support.tables.row_tables import LONG, TIMESTAMP, Table, schema_of

DATE = PrimitiveType("date")
LOCAL = PrimitiveType("timestamp_ntz")
INSTANTS = pa.timestamp("us", "UTC")
TOLD_BY = b"org.apache.spark.legacyDateTime"
OLD = {b"org.apache.spark.version": b"2.4.8"}
TOLD = {
    b"org.apache.spark.version": b"4.0.0",
    TOLD_BY: b"",
    b"org.apache.spark.timeZone": b"UTC",
}
NEW = {b"org.apache.spark.version": b"3.5.0"}
TOLD_INT96 = {**TOLD, b"org.apache.spark.legacyINT96": b""}

# Days since 1970 as they are stored, and the day that they mean in the old calendar.
DAYS = [
    (-719_164, date(1, 1, 1)),
    (-170_165, date(1504, 1, 30)),
    (-141_428, date(1582, 10, 4)),
    (-141_427, date(1582, 10, 15)),
    (0, date(1970, 1, 1)),
]

# Microseconds as Spark 4.2 stored them in a zone, and as it reads them there.
TIMES = [
    ("UTC", -62_135_769_600_000_000, -62_135_596_800_000_000),
    ("UTC", -27_448_157_600_999_178, -27_448_762_400_999_178),
    ("UTC", -2_208_988_800_996_438, -2_208_988_800_996_438),
    ("America/New_York", -62_135_769_362_000_000, -62_135_596_800_000_000),
    ("America/New_York", -27_448_157_362_999_178, -27_448_762_400_999_178),
    ("America/New_York", -12_219_206_162_998_904, -12_219_206_400_998_904),
    ("America/New_York", -3_155_695_092_997_671, -3_155_695_330_997_671),
    ("America/New_York", -2_450_998_800_996_712, -2_450_998_800_996_712),
    ("Asia/Kolkata", -62_135_768_192_000_000, -62_135_596_800_000_000),
    ("Asia/Kolkata", -12_219_291_391_998_767, -12_219_292_799_998_767),
    ("Asia/Kolkata", -3_645_234_408_998_082, -3_645_235_808_998_082),
    ("Asia/Kolkata", -2_208_989_330_996_438, -2_208_988_800_996_438),
    ("Asia/Kolkata", 4_247, 4_247),
    ("Europe/Amsterdam", -27_448_160_150_999_178, -27_448_762_400_999_178),
    ("Europe/Amsterdam", -2_208_992_400_996_438, -2_208_988_800_996_438),
    ("EST", -62_135_769_600_000_000, -62_135_596_800_000_000),
    ("GMT-08:00", -12_219_206_400_998_904, -12_219_206_400_998_904),
    ("GMT-08:00", -12_219_292_801_000_000, -12_220_156_801_000_000),
    ("+05:30", -12_219_292_801_000_000, -12_220_156_801_000_000),
]


def no_int96() -> Leaves:
    return frozenset()


def some_int96() -> Leaves:
    return frozenset({("t", 0)})


def in_zone(zone: str, keys: dict[bytes, bytes] = TOLD) -> dict[bytes, bytes]:
    return {**keys, b"org.apache.spark.timeZone": zone.encode()}


def instants(*ticks: int | None) -> pa.Array:
    return pa.array(ticks, pa.int64()).cast(INSTANTS)


def _as(values: list[Any], kind: pa.DataType) -> pa.Array:
    return pa.array(values, _plain(kind)).cast(kind)


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return a type with numbers in the place of times."""
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(f.name, _plain(f.type)) for f in kind])
    if pa.types.is_map(kind):
        return pa.map_(_plain(kind.key_type), _plain(kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(_plain(kind.value_type))
    return pa.int64() if pa.types.is_timestamp(kind) else kind


def dated(keys: dict[bytes, bytes], **columns: pa.Array) -> pa.Table:
    return pa.table(columns).replace_schema_metadata(keys)


def days(*numbers: int | None) -> pa.Array:
    return pa.array(numbers, pa.int32()).cast(pa.date32())


@pytest.mark.parametrize("keys", [OLD, TOLD])
@pytest.mark.parametrize(("stored", "expected"), DAYS)
def test_days_are_the_same_day_of_the_month(keys, stored, expected):
    calendar = OldCalendar.of(keys, no_int96)
    assert calendar is not None

    found = calendar.corrected(days(stored, None), "d")

    assert found.to_pylist() == [expected, None]


@pytest.mark.parametrize(
    "keys", [None, {}, NEW, {b"org.apache.spark.legacyDateTime": b""}]
)
def test_other_footers_leave_days_alone(keys: dict[bytes, bytes] | None) -> None:
    assert OldCalendar.of(keys, some_int96) is None


def test_times_of_96_bits_have_a_version_of_their_own() -> None:
    keys = {b"org.apache.spark.version": b"3.0.3"}

    assert OldCalendar.of(keys, no_int96) is None
    calendar = OldCalendar.of(keys, some_int96)
    assert calendar is not None
    old = pa.array([-719_164 * 86_400 * 10**6 + 1], pa.timestamp("us"))
    assert calendar.corrected(old, "t").to_pylist() == [
        datetime(1, 1, 1, 0, 0, 0, 1)  # noqa: DTZ001  # as Arrow has 96 bits
    ]
    assert calendar.corrected(old, "other") == old
    assert calendar.corrected(days(-719_164), "d") == days(-719_164)


@pytest.mark.parametrize(("zone", "stored", "expected"), TIMES)
def test_times_are_those_that_spark_reads(zone: str, stored: int, expected: int):
    calendar = OldCalendar.of(in_zone(zone), no_int96)
    assert calendar is not None

    found = calendar.corrected(instants(stored, None), "t")

    assert found == instants(expected, None)
    thousandth = instants(stored // 1000).cast(pa.int64()).cast(pa.timestamp("ms"))
    of_millis = calendar.corrected(thousandth.cast(pa.timestamp("ms", "UTC")), "t")
    assert of_millis.cast(pa.int64()).to_pylist() == [expected // 1000]


def test_times_without_a_zone_were_never_old() -> None:
    calendar = OldCalendar.of(TOLD_INT96, some_int96)
    assert calendar is not None
    local = instants(-5 * 10**16).cast(pa.timestamp("us"))

    assert calendar.corrected(local, "l") == local
    assert calendar.corrected(local, "t") != local


def test_nested_days_are_corrected() -> None:
    calendar = OldCalendar.of(OLD, no_int96)
    assert calendar is not None
    kind = pa.map_(pa.date32(), pa.struct({"days": pa.list_(pa.date32())}))
    rows = [[(-141_428, {"days": [-141_428, None]})], None, []]
    plain = pa.map_(pa.int32(), pa.struct({"days": pa.list_(pa.int32())}))

    found = calendar.corrected(pa.array(rows, plain).cast(kind), "m")

    found.validate(full=True)
    last = date(1582, 10, 4)
    assert found.to_pylist() == [[(last, {"days": [last, None]})], None, []]


class TestFiles:
    def test_are_read_in_the_new_calendar(self, tmp_path: Path) -> None:
        table = Table(tmp_path, schema_of(d=DATE))
        table.add(dated(OLD, d=days(*(stored for stored, _ in DAYS))))
        first = pa.scalar(date(1, 1, 1))

        assert [row["d"] for row in table.read()] == [day for _, day in DAYS]
        assert len(table.read(predicate=Comparison(("d",), "=", first))) == 1

    def test_of_row_groups_whose_bounds_are_old_are_all_looked_at(self, tmp_path: Path):
        table = Table(tmp_path, schema_of(d=DATE))
        table.add(dated(OLD, d=days(-719_164, 0)), row_group_size=1)
        first = pa.scalar(date(1, 1, 1))

        assert len(table.read(predicate=Comparison(("d",), "=", first))) == 1

    @pytest.mark.parametrize("is_int96", [True, False])
    @pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kolkata"])
    def test_have_their_times_at_every_depth(self, tmp_path, zone, *, is_int96):
        of_zone = [times for name, *times in TIMES if name == zone]
        stored, read = of_zone[1]
        inner = schema_of(n=LONG, l=LOCAL, t=TIMESTAMP)
        schema = schema_of(
            t=TIMESTAMP, s=inner, m=MapType(TIMESTAMP, ArrayType(TIMESTAMP)), l=LOCAL
        )
        table = Table(tmp_path, schema)
        types = {field.name: field.type for field in arrow_schema(schema)}
        rows: dict[str, list[Any]] = {
            "t": [stored, None, 0],
            "s": [{"n": 1, "l": stored, "t": stored}, None, {"t": stored}],
            "m": [[(stored, [stored, None])], None, []],
        }
        columns = {name: _as(values, types[name]) for name, values in rows.items()}
        table.add(
            dated(in_zone(zone, TOLD_INT96), **columns),
            use_deprecated_int96_timestamps=is_int96,
            row_group_size=1,
        )
        moment = instants(read)[0].as_py()

        found = table.read()

        assert [row["t"] for row in found] == [moment, None, instants(0)[0].as_py()]
        assert [row["s"] and row["s"]["t"] for row in found] == [moment, None, moment]
        assert found[0]["m"] == [(moment, [moment, None])]
        asked = Comparison(("t",), "=", pa.scalar(moment, INSTANTS))
        assert len(table.read(predicate=asked)) == 1

    def test_keep_times_without_a_zone_beside_those_of_96_bits(self, tmp_path: Path):
        table = Table(tmp_path, schema_of(t=TIMESTAMP, l=LOCAL))
        local = instants(-5 * 10**16).cast(pa.timestamp("us"))
        rows = dated(in_zone("Asia/Kolkata", TOLD_INT96), t=instants(0), l=local)
        table.add(rows)

        assert [row["l"] for row in table.read()] == local.to_pylist()

    def test_of_a_zone_whose_clocks_are_not_known_are_refused(self, tmp_path: Path):
        schema = StructType((StructField("t", TIMESTAMP),))
        table = Table(tmp_path, schema)
        table.add(dated(in_zone("Mars/Phobos"), t=instants(0)))
        assert len(table.read()) == 1
        table.add(dated(in_zone("Mars/Phobos"), t=instants(-(10**17))))

        with pytest.raises(DataFileError, match="Mars/Phobos"):
            table.read()
