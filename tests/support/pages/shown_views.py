"""A table of odd names and of every type that a condition compares."""

from datetime import UTC, date, datetime
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest

from deltaweb.table import DeltaTable
from deltaweb.web.explorer.rows.form import RowQuery
from deltaweb.web.explorer.rows.plan import row_plan
from deltaweb.web.explorer.use.snippets import ShownView

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


CONDITIONS = [
    pytest.param(("id:eq:2",), id="a long"),
    pytest.param(("small:lt:0",), id="a short"),
    pytest.param(("price:ge:1.5",), id="a decimal of fewer digits"),
    pytest.param(("price:ne:-3",), id="a whole decimal"),
    pytest.param(("single:eq:0.1",), id="a float that no double equals"),
    pytest.param(("single:le:-1.5",), id="a negative float"),
    pytest.param(("ratio:eq:0.1",), id="a double"),
    pytest.param(("ratio:lt:1e300",), id="a large double"),
    pytest.param(("ratio:lt:1e399",), id="more than any double"),
    pytest.param(("day:gt:2026-01-02",), id="a date"),
    pytest.param(("day:lt:1970-01-01",), id="a date before 1970"),
    pytest.param(("at:eq:2026-01-02T03:04:05.0006Z",), id="an instant"),
    pytest.param(("at:lt:1970-01-01T00:00:00+02:00",), id="an instant elsewhere"),
    pytest.param(("done:eq:true",), id="a boolean"),
    pytest.param(("done:ne:true",), id="not a boolean"),
    pytest.param(("a.b:eq:O'Neil",), id="a quote, a dot in the name"),
    pytest.param(('a.b:eq:say "hi"',), id="a double quote"),
    pytest.param(("a.b:contains:%_\\",), id="wildcards"),
    pytest.param(("with space:contains:漢",), id="other characters"),
    pytest.param(("with space:eq:",), id="the empty text"),
    pytest.param(('qu"ote:eq:null',), id="the text null"),
    pytest.param(('qu"ote:null',), id="no value"),
    pytest.param(('qu"ote:notnull', "id:le:1"), id="two conditions"),
    pytest.param(('qu"ote:eq:a\nb',), id="a line break"),
    pytest.param(("tick`s:eq:\\",), id="a backslash"),
    pytest.param(("tick`s:eq:'",), id="one quote"),
    pytest.param(('tick`s:contains:"""',), id="three double quotes"),
    pytest.param(("^n.*$:gt:8",), id="a name that is a pattern"),
    pytest.param(("*:eq:c",), id="a name that is all names"),
]
COLUMNS = [
    pytest.param(("id", "a.b"), id="a dot"),
    pytest.param(("with space", 'qu"ote', "tick`s"), id="a space and quotes"),
    pytest.param(("^n.*$", "*"), id="patterns"),
    pytest.param((), id="all"),
]


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
