"""The code of `Use this table` runs, and finds the rows that the page shows."""

import math
from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from apps.explorer.use.snippets import ShownView, view_snippets
from deltaweb.table import DeltaTable
from tests.support import by_turns, cases
from tests.support.pages.shown_views import (
    COLUMNS,
    CONDITIONS,
    FOLDERS,
    expected_rows,
    shown_view,
)
from tests.support.peers.duckdb_runner import SidecarDuckDB

pytestmark = pytest.mark.slow

TOOLS = ["pandas", "polars", "duckdb", "deltaweb"]
WAYS: dict[str, tuple[str, dict[str, str]]] = {
    **{tool: (tool, {}) for tool in TOOLS},
    "polars by deltalake": ("polars", {"Polars": "no"}),
    "duckdb by deltalake": ("duckdb", {"DuckDB": "no"}),
    "pandas by duckdb": ("pandas", {"deltalake": "no"}),
    "polars by duckdb": ("polars", {"Polars": "no", "deltalake": "no"}),
}
NAMES = ["order", "class", "select", "pl", "reader", "日付", "2024"]


# How a folder is spelled is no matter of the filter: the other tests are of both.
@pytest.mark.parametrize("location", FOLDERS[:1], ids=["plain"], indirect=True)
@by_turns({"filters": CONDITIONS, "tool, refusals": WAYS})
def test_finds_the_rows_of_a_filter(location, filters, tool, refusals, duckdb_beside):
    view = shown_view(location, *filters, columns=("id", "tick`s"))
    view = replace(view, refusals=refusals)

    assert rows_of(view, tool, duckdb_beside) == expected_rows(view)


def test_takes_a_condition_in_sql_where_a_tool_evaluates_it(location, duckdb_beside):
    view = shown_view(location, 'id + 1 > 2 OR `qu"ote` IS NULL', columns=("id",))
    made = {one.key: one for one in view_snippets(view)}

    assert rows_of(view, "deltaweb", duckdb_beside) == expected_rows(view)
    assert "WHERE (id + 1 > 2" in made["sql"].text
    assert made["pandas"].refusal.startswith("pandas takes no condition in Spark's SQL")


@by_turns({"columns": COLUMNS, "tool, refusals": WAYS})
def test_has_the_columns_and_the_version_of_the_page(
    location: str,
    columns: tuple[str, ...],
    tool: str,
    refusals: dict[str, str],
    duckdb_beside: SidecarDuckDB,
) -> None:
    view = replace(shown_view(location, columns=columns), refusals=refusals)

    assert rows_of(view, tool, duckdb_beside) == expected_rows(view)
    assert len(expected_rows(view)) == 4


@by_turns({"name": NAMES, "tool, refusals": WAYS})
def test_any_name_of_a_table_is_a_variable(
    location: str,
    name: str,
    tool: str,
    refusals: dict[str, str],
    duckdb_beside: SidecarDuckDB,
) -> None:
    view = replace(shown_view(location, "id:eq:1", name=name), refusals=refusals)

    assert rows_of(view, tool, duckdb_beside) == expected_rows(view)


@cases("tool, refusals", WAYS)
def test_reads_whichever_version_is_the_newest(location, tool, refusals, duckdb_beside):
    of_version = shown_view(location, "id:eq:1", columns=("id",))
    view = replace(of_version, version=None, refusals=refusals)

    assert rows_of(of_version, tool, duckdb_beside) == [{"id": 1}]
    assert rows_of(view, tool, duckdb_beside) == [{"id": 1}, {"id": 1}]


def rows_of(view: ShownView, tool: str, duckdb_beside: SidecarDuckDB):
    """Run a tool's code as a person runs it and return the rows that it reads."""
    made = next(made for made in view_snippets(view) if made.key == tool)
    if made.refusal:  # Its other ways are refused here.
        assert "DuckDB does not" in made.refusal
        return expected_rows(view)
    code = made.text
    if "delta_scan(" in code and "scan_delta" not in code:
        read = duckdb_beside.rows(code, view.variable)
    else:
        names: dict[str, Any] = {}
        exec(code, names)  # noqa: S102 (what people are told to run)
        read = names[view.variable]
    if not isinstance(read, (pa.Table, pd.DataFrame)):
        read = read.to_arrow_table() if tool == "duckdb" else read.to_arrow()
    if tool == "pandas":
        read = as_arrow(read, view)
    return sorted(map(plain, read.to_pylist()), key=repr)


def as_arrow(frame: pd.DataFrame, view: ShownView) -> pa.Table:
    schema = DeltaTable(view.location).snapshot(view.version).read().schema
    fields = [schema.field(name) for name in frame.columns]
    return pa.Table.from_pandas(frame, pa.schema(fields), preserve_index=False)


def plain(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in row.items()
    }
