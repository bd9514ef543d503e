"""A table of odd names and of every type that a condition compares."""

from datetime import UTC, date, datetime
from pathlib import Path

import deltalake
import pyarrow as pa

from apps.explorer.rows.form import RowQuery
from apps.explorer.rows.plan import row_plan
from apps.explorer.use.snippets import ShownView
from deltaweb.table import DeltaTable

ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3, None], pa.int64()),
        "small": pa.array([1, -2, None, 4], pa.int16()),
        "price": pa.array(["1.50", "2.25", "-3.00", None], pa.string()).cast(
            pa.decimal128(12, 2)
        ),
        "single": pa.array([0.1, 0.25, None, -1.5], pa.float32()),
        "ratio": pa.array([0.1, 1e300, None, -1.5], pa.float64()),
        "day": pa.array([date(2026, 1, 2), date(1969, 12, 31), None, date(2026, 1, 3)]),
        "at": pa.array(
            [
                datetime(2026, 1, 2, 3, 4, 5, 600, tzinfo=UTC),
                datetime(1969, 12, 31, 23, 59, tzinfo=UTC),
                None,
                datetime(2026, 7, 1, tzinfo=UTC),
            ],
            pa.timestamp("us", "UTC"),
        ),
        "done": pa.array([True, False, None, True]),
        "a.b": pa.array(["O'Neil", 'say "hi"', "50%_\\", None]),
        "with space": pa.array(["x", "y", "漢字 é", ""]),
        'qu"ote': pa.array(["`tick`", "a\nb", None, "null"]),
        "tick`s": pa.array(['"""', "\\", "'", "%"]),
        "^n.*$": pa.array([7, 8, 9, 10], pa.int32()),
        "*": pa.array(["a", "b", "c", "d"]),
    }
)


FOLDERS = ["orders", 'it\'s a "folder" of {%} `ü`']


def write_table(folder: Path) -> str:
    """Write a table of two versions whose second holds each row twice."""
    folder.mkdir(parents=True)
    for _ in range(2):
        deltalake.write_deltalake(str(folder), ROWS, mode="append")
    return str(folder)


CONDITIONS: dict[str, tuple[str, ...]] = {
    "a long": ("id:eq:2",),
    "a short": ("small:lt:0",),
    "a decimal of fewer digits": ("price:ge:1.5",),
    "a whole decimal": ("price:ne:-3",),
    "a float that no double equals": ("single:eq:0.1",),
    "a negative float": ("single:le:-1.5",),
    "a double": ("ratio:eq:0.1",),
    "a large double": ("ratio:lt:1e300",),
    "more than any double": ("ratio:lt:1e399",),
    "a date": ("day:gt:2026-01-02",),
    "a date before 1970": ("day:lt:1970-01-01",),
    "an instant": ("at:eq:2026-01-02T03:04:05.0006Z",),
    "an instant elsewhere": ("at:lt:1970-01-01T00:00:00+02:00",),
    "a boolean": ("done:eq:true",),
    "not a boolean": ("done:ne:true",),
    "a quote, a dot in the name": ("a.b:eq:O'Neil",),
    "a double quote": ('a.b:eq:say "hi"',),
    "wildcards": ("a.b:contains:%_\\",),
    "other characters": ("with space:contains:漢",),
    "the empty text": ("with space:eq:",),
    "the text null": ('qu"ote:eq:null',),
    "no value": ('qu"ote:null',),
    "two conditions": ('qu"ote:notnull', "id:le:1"),
    "a line break": ('qu"ote:eq:a\nb',),
    "a backslash": ("tick`s:eq:\\",),
    "one quote": ("tick`s:eq:'",),
    "three double quotes": ('tick`s:contains:"""',),
    "a name that is a pattern": ("^n.*$:gt:8",),
    "a name that is all names": ("*:eq:c",),
}
COLUMNS: dict[str, tuple[str, ...]] = {
    "a dot": ("id", "a.b"),
    "a space and quotes": ("with space", 'qu"ote', "tick`s"),
    "patterns": ("^n.*$", "*"),
    "all": (),
}


def shown_view(
    location: str,
    *filters: str,
    columns: tuple[str, ...] = (),
    name: str = "orders",
    version: int = 0,
) -> ShownView:
    """A version as a page shows it whose address has these parts."""
    snapshot = DeltaTable(location).snapshot(version)
    plan = row_plan(snapshot.schema, RowQuery(columns=columns, filters=filters), UTC)
    return ShownView(
        name=name,
        location=location,
        version=version,
        columns=plan.chosen if columns else (),
        filters=plan.filters,
        sql=tuple(wanted.sql for wanted in plan.sql),
        time_zone=plan.zone_name,
        parts=plan.parts,
    )


def expected_rows(view: ShownView) -> list[dict[str, object]]:
    """What the page itself shows: the rows that our own reader finds."""
    snapshot = DeltaTable(view.location).snapshot(view.version)
    conditions = [*(wanted.sql for wanted in view.filters), *view.sql]
    predicate = " AND ".join(f"({condition})" for condition in conditions)
    rows = snapshot.read(
        columns=list(view.columns) or None, predicate=predicate or None
    )
    return sorted(rows.to_pylist(), key=repr)
