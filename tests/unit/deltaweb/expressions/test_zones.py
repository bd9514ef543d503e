"""A condition has a zone: it is evaluated in it, and files are left out in it."""

import pickle
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime

import pyarrow as pa
import pytest

from deltaweb.delta.protocol.schema import schema_of_arrow
from deltaweb.delta.values.time_zones.errors import TimeZoneUnknownError
from deltaweb.expressions.condition import SQLAssignment, SQLCondition
from deltaweb.table import DeltaTable
from tests.support.tables.table_builder import TableBuilder

pytestmark = pytest.mark.slow

ZONES = ("UTC", "America/New_York", "Asia/Kolkata")
NEW_YORK = "America/New_York"
ROWS = pa.table(
    {
        "row": [1, 2, 3, 4],
        "ts": pa.array(
            [
                datetime(2024, 3, 10, 2, tzinfo=UTC),
                datetime(2024, 3, 10, 12, tzinfo=UTC),
                datetime(2024, 3, 10, 7, 30, tzinfo=UTC),
                datetime(2024, 11, 3, 5, 30, tzinfo=UTC),
            ],
            pa.timestamp("us", "UTC"),
        ),
        "clock": pa.array(
            [
                datetime(2024, 3, 10, 2, 30),  # noqa: DTZ001  # of a clock
                datetime(2024, 3, 10, 3, 10),  # noqa: DTZ001  # of a clock
                datetime(2024, 3, 10, 1),  # noqa: DTZ001  # of a clock
                None,
            ],
            pa.timestamp("us"),
        ),
        "day": [date(2024, 3, 10), date(2024, 3, 11), date(2024, 3, 9), None],
    }
)
SCHEMA = schema_of_arrow(ROWS.schema)
CASES = {
    "ts >= '2024-03-10 00:00:00'": ([1, 2, 3, 4], [2, 3, 4], [1, 2, 3, 4]),
    "ts < TIMESTAMP '2024-03-10'": ([], [1], []),
    "ts = '2024-03-10 02:30:00'": ([], [3], []),
    "ts = '2024-11-03 01:30:00'": ([], [4], []),
    "ts = '2024-03-10T12:00:00Z'": ([2], [2], [2]),
    "ts IN (DATE '2024-03-11', '2024-03-10 02:00')": ([1], [], []),
    "CAST(ts AS DATE) = '2024-03-09'": ([], [1], []),
    "hour(ts) = 8": ([], [2], []),
    "dayofyear(ts) = 70 AND minute(ts) = 30": ([3], [3], [1, 2]),
    "minute(ts) = 0": ([1, 2], [1, 2], [3, 4]),
    "CAST(ts AS STRING) LIKE '2024-03-10 0%'": ([1, 3], [2, 3], [1]),
    "clock > TIMESTAMP '2024-03-10 03:20:00'": ([], [1], []),
    "clock = ts": ([], [], []),
    "day <= ts": ([1, 3], [3], [1, 3]),
    "day = TIMESTAMP '2024-03-10 00:00:00'": ([1], [1], [1]),
    "day = to_date(ts)": ([1], [], [1]),
    "datediff(ts, day) = 0": ([1], [], [1]),
}


@pytest.fixture(scope="module")
def stores() -> list[DeltaTable]:
    """Tables with a file for each row: in one they are told by partition values."""
    plain = TableBuilder().rows(*(ROWS.slice(n, 1) for n in range(ROWS.num_rows)))
    parted = TableBuilder().partitioned_by("ts", "clock", "day").rows(ROWS)
    return [plain.build(), parted.build()]


def cases() -> Iterator[object]:
    """Every run has each condition in one zone and each zone in turn."""
    for number, (sql, expected) in enumerate(CASES.items()):
        for zone, rows in zip(ZONES, expected, strict=True):
            often = zone == ZONES[number % len(ZONES)]
            marks = [] if often else [pytest.mark.exhaustive]
            yield pytest.param(sql, zone, rows, id=f"{zone}: {sql}", marks=marks)


@pytest.mark.parametrize(("sql", "zone", "rows"), [*cases()])
def test_what_is_read_and_deleted_is_what_holds_in_the_zone(stores, sql, zone, rows):
    [batch] = ROWS.to_batches()
    judged = batch.filter(SQLCondition(sql, SCHEMA, zone).holds(batch))

    assert judged["row"].to_pylist() == rows
    for store in stores:
        table = DeltaTable.from_store(store.store, time_zone=zone)
        assert sorted(table.snapshot().read(["row"], sql)["row"].to_pylist()) == rows
        assert sorted(table.plan_delete(sql).before["row"].to_pylist()) == rows


@pytest.mark.parametrize(
    ("zone", "num_files"), [("UTC", 2), (NEW_YORK, 2), ("Asia/Kolkata", 3)]
)
def test_files_are_left_out_by_instants_of_the_zone(stores, zone, num_files):
    table = DeltaTable.from_store(stores[0].store, time_zone=zone)

    scan = table.snapshot().scan(None, "ts >= TIMESTAMP '2024-03-10 08:00:00'")

    assert sum(batch.num_rows for batch in scan) == num_files
    assert scan.files_scanned == num_files


def test_a_condition_keeps_its_zone_in_another_process() -> None:
    condition = SQLCondition("hour(ts) = 8", SCHEMA, NEW_YORK)

    there = pickle.loads(pickle.dumps(condition))  # noqa: S301  # our own

    [batch] = ROWS.to_batches()
    assert there.time_zone == NEW_YORK
    assert there.holds(batch).to_pylist() == [False, True, False, False]


@pytest.mark.parametrize(
    ("sql", "column", "values"),
    [
        ("TIMESTAMP '2024-03-10 12:00:00'", "ts", "2024-03-10T16:00:00+00:00"),
        ("DATE '2024-03-10'", "ts", "2024-03-10T05:00:00+00:00"),
        ("ts", "clock", "2024-03-09T21:00:00"),
        ("ts", "day", "2024-03-09"),
    ],
)
def test_new_values_are_of_the_zone(sql: str, column: str, values: str) -> None:
    field = SCHEMA.find(column)
    assert field is not None
    [batch] = ROWS.to_batches()

    found = SQLAssignment(sql, field, SCHEMA, NEW_YORK).values(batch)

    assert found[0].as_py().isoformat() == values


@pytest.mark.parametrize("zone", ["New York", "Mars/Olympus"])
def test_a_zone_that_is_not_known_is_refused(zone: str) -> None:
    with pytest.raises(TimeZoneUnknownError, match="No time zone is called"):
        DeltaTable.from_store(TableBuilder().build().store, time_zone=zone)


@pytest.fixture(params=ZONES)
def environment(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    """The zone of the process, as its environment says it."""
    with monkeypatch.context() as variables:
        variables.setenv("TZ", request.param)
        time.tzset()
        yield request.param
    time.tzset()


@pytest.mark.usefixtures("environment")
def test_the_zone_of_the_environment_changes_nothing() -> None:
    [batch] = ROWS.to_batches()
    for sql, expected in CASES.items():
        for zone, rows in zip(ZONES, expected, strict=True):
            holds = SQLCondition(sql, SCHEMA, zone).holds(batch)
            assert (sql, batch.filter(holds)["row"].to_pylist()) == (sql, rows)
