"""Times of files that have no zone become instants, and what became of them is told."""

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.values.time_zones.errors import TimeZoneUnknownError
from deltaweb.table import DeltaTable
from deltaweb.writer.importing.options import BadRows, ImportColumn, TextForm
from deltaweb.writer.importing.plan import (
    Import,
    ImportPlan,
    begin_import,
)
from deltaweb.writer.importing.source_file import SourceFiles

NEW_YORK = TextForm(time_zone="America/New_York")


def asked(path: Path, form: TextForm, **types: str) -> Import:
    columns = [
        ImportColumn(source=name, name=name, type_name=kind)
        for name, kind in types.items()
    ]
    files = SourceFiles(paths=[str(path)], names=[path.name], form=form)
    return Import(files=files, columns=columns, bad_rows=BadRows.LEAVE_OUT)


def planned(place: Path, of: Import) -> ImportPlan:
    return begin_import(DeltaTable(str(place)).store, of).look()


def imported(place: Path, of: Import) -> list[datetime | None]:
    table = DeltaTable(str(place))
    begin_import(table.store, of).carry_out()
    found: list[datetime | None] = table.snapshot().read()["at"].to_pylist()
    return found


def test_times_that_do_not_exist_are_counted_by_how_far_they_move(tmp_path: Path):
    csv = tmp_path / "a.csv"
    rows = ("1,2024-03-10 02:30", "2,2024-03-10 02:59", "3,2024-03-10 12:00")
    csv.write_text("\n".join(["n,at", *rows, "x,2024-03-10 02:10\n"]))
    of = asked(csv, NEW_YORK, n="int", at="timestamp")

    plan = planned(tmp_path / "t", of)

    sentence = "2 times do not exist in America/New_York, moved forward by 1 hour"
    assert plan.describe()["times"] == {
        "time_zone": "America/New_York",
        "moved": [{"seconds": 3_600, "num_values": 2}],
        "sentences": [sentence],
    }
    assert [at and at.hour for at in imported(tmp_path / "t", of)] == [7, 7, 16]


def test_the_clocks_of_late_years_have_their_summers(tmp_path: Path) -> None:
    csv = tmp_path / "a.csv"
    csv.write_text("at\n2060-07-01 12:00\n2060-03-14 02:30\n")
    of = asked(csv, NEW_YORK, at="timestamp")

    moved = planned(tmp_path / "t", of).describe()["times"]["moved"]

    assert moved == [{"seconds": 3_600, "num_values": 1}]
    assert [at and at.hour for at in imported(tmp_path / "t", of)] == [16, 7]


@pytest.mark.parametrize("kind", ["timestamp", "int"])
def test_a_zone_that_is_not_known_is_refused_whatever_is_read(tmp_path, kind):
    csv = tmp_path / "a.csv"
    csv.write_text("at\n1\n")

    with pytest.raises(TimeZoneUnknownError, match="No time zone is called 'Mars'"):
        planned(tmp_path / "t", asked(csv, TextForm(time_zone="Mars"), at=kind))


@pytest.mark.parametrize(
    ("zone", "hour"),
    [("UTC", 2), ("America/New_York", 7), ("Asia/Kolkata", 21), ("+05:30", 21)],
)
@pytest.mark.parametrize("unit", ["ms", "us"])
def test_times_of_a_type_are_taken_by_the_zone_that_is_given_and_said(
    tmp_path: Path, unit: str, zone: str, hour: int
) -> None:
    local = pa.array([datetime(2024, 3, 10, 2, 30), None], pa.timestamp(unit))  # noqa: DTZ001  # it has none
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"at": local}), path)
    of = asked(path, TextForm(time_zone=zone), at="timestamp")

    plan = planned(tmp_path / "t", of)

    said = plan.describe()["times"]["sentences"]
    assert said[0] == (
        f"Column 'at': 1 time without a zone, read in the time zone {zone}"
    )
    first, second = imported(tmp_path / "t", of)
    assert (first and first.hour, second) == (hour, None)


def test_a_time_beyond_those_of_its_zone_does_not_fit(tmp_path: Path) -> None:
    kind = pa.timestamp("us")
    local = pa.array([2**63 - 1, 1_710_054_000_000_000], pa.int64()).cast(kind)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"at": local}), path)

    plan = planned(tmp_path / "t", asked(path, NEW_YORK, at="timestamp"))

    assert [(one.line, one.reason) for one in plan.rows.bad] == [(1, "not a time")]


def test_times_without_a_zone_are_not_made_of_instants(tmp_path: Path) -> None:
    kind = pa.timestamp("us", "America/New_York")
    instant = pa.array([datetime(2024, 3, 10, 12, tzinfo=UTC)], kind)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"at": instant}), path)

    plan = planned(tmp_path / "t", asked(path, NEW_YORK, at="timestamp_ntz"))

    assert [(one.value, one.reason) for one in plan.rows.bad] == [
        ("2024-03-10T12:00:00Z", "not a time without a zone")
    ]
