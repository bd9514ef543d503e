from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.delta.errors import DataFileError
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.delta.scan.predicate import Comparison
from deltaweb.delta.values.old_calendar import OldCalendar
from tests.row_tables import TIMESTAMP, Table, schema_of

DATE = PrimitiveType("date")
TOLD_BY = b"org.apache.spark.legacyDateTime"
OLD = {b"org.apache.spark.version": b"2.4.8"}
TOLD = {
    b"org.apache.spark.version": b"4.0.0",
    TOLD_BY: b"",
    b"org.apache.spark.timeZone": b"UTC",
}
NEW = {b"org.apache.spark.version": b"3.5.0"}

# Days since 1970 as they are stored, and the day that they mean in the old calendar.
DAYS = [
    (-719_164, date(1, 1, 1)),
    (-170_165, date(1504, 1, 30)),
    (-141_428, date(1582, 10, 4)),
    (-141_427, date(1582, 10, 15)),
    (0, date(1970, 1, 1)),
]


def dated(keys: dict[bytes, bytes], **columns: pa.Array) -> pa.Table:
    return pa.table(columns).replace_schema_metadata(keys)


def days(*numbers: int | None) -> pa.Array:
    return pa.array(numbers, pa.int32()).cast(pa.date32())


@pytest.mark.parametrize("keys", [OLD, TOLD])
@pytest.mark.parametrize(("stored", "expected"), DAYS)
def test_days_are_the_same_day_of_the_month(
    keys: dict[bytes, bytes], stored: int, expected: date
) -> None:
    calendar = OldCalendar.of(keys, lambda: False)
    assert calendar is not None

    found = calendar.corrected(days(stored, None), "d")

    assert found.to_pylist() == [expected, None]


@pytest.mark.parametrize(
    "keys", [None, {}, NEW, {b"org.apache.spark.legacyDateTime": b""}]
)
def test_other_footers_leave_days_alone(keys: dict[bytes, bytes] | None) -> None:
    assert OldCalendar.of(keys, lambda: True) is None


def test_times_of_96_bits_have_a_version_of_their_own() -> None:
    keys = {b"org.apache.spark.version": b"3.0.3"}

    assert OldCalendar.of(keys, lambda: False) is None
    calendar = OldCalendar.of(keys, lambda: True)
    assert calendar is not None
    old = pa.array([-719_164 * 86_400 * 10**6 + 1], pa.timestamp("us", "UTC"))
    assert calendar.corrected(old, "t").to_pylist() == [
        datetime(1, 1, 1, 0, 0, 0, 1, tzinfo=UTC)
    ]
    assert calendar.corrected(days(-719_164), "d") == days(-719_164)


def test_nested_days_are_corrected() -> None:
    calendar = OldCalendar.of(OLD, lambda: False)
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

    def test_of_row_groups_whose_bounds_are_old_are_all_looked_at(
        self, tmp_path: Path
    ) -> None:
        table = Table(tmp_path, schema_of(d=DATE))
        table.add(dated(OLD, d=days(-719_164, 0)), row_group_size=1)
        first = pa.scalar(date(1, 1, 1))

        assert len(table.read(predicate=Comparison(("d",), "=", first))) == 1

    def test_of_a_zone_whose_clocks_are_not_known_are_refused(
        self, tmp_path: Path
    ) -> None:
        keys = {**TOLD, b"org.apache.spark.timeZone": b"Europe/Berlin"}
        schema = StructType((StructField("t", TIMESTAMP),))
        kind = pa.timestamp("us", "UTC")
        late, early = (pa.array([moment], kind) for moment in (0, -(10**17)))
        table = Table(tmp_path, schema)
        table.add(dated(keys, t=late))
        assert len(table.read()) == 1
        table.add(dated(keys, t=early))

        with pytest.raises(DataFileError, match="Europe/Berlin"):
            table.read()
