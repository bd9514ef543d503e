"""The code of `Use this table` runs, and finds the rows that the page shows."""

import math
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from apps.explorer.use.snippets import ShownView, view_snippets
from tests.shown_views import COLUMNS, CONDITIONS, expected_rows, shown_view

TOOLS = ["pandas", "polars", "duckdb"]


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("filters", CONDITIONS)
def test_finds_the_rows_of_a_filter(
    location: str, filters: tuple[str, ...], tool: str
) -> None:
    view = shown_view(location, *filters, columns=("id", "tick`s"))

    assert rows_of(view, tool) == expected_rows(view)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("columns", COLUMNS)
def test_has_the_columns_and_the_version_of_the_page(
    location: str, columns: tuple[str, ...], tool: str
) -> None:
    view = shown_view(location, columns=columns)

    assert rows_of(view, tool) == expected_rows(view)
    assert len(expected_rows(view)) == 4


@pytest.mark.parametrize("name", ["order", "class", "select", "pl", "日付", "2024"])
@pytest.mark.parametrize("tool", TOOLS)
def test_any_name_of_a_table_is_a_variable(location: str, name: str, tool: str) -> None:
    view = shown_view(location, "id:eq:1", name=name)

    assert rows_of(view, tool) == expected_rows(view)


def rows_of(view: ShownView, tool: str) -> list[dict[str, object]]:
    """Run a tool's code as a person runs it and return the rows that it reads."""
    code = {made.key: made.text for made in view_snippets(view)}[tool]
    names: dict[str, Any] = {}
    if tool == "duckdb":
        code = code.replace("duckdb.sql(", "shown = duckdb.sql(").replace(
            ").show()", ").to_arrow_table()"
        )
    exec(code, names)  # noqa: S102 (what people are told to run)
    read = names["shown" if tool == "duckdb" else view.variable]
    if tool == "polars":
        read = read.to_arrow()
    elif tool == "pandas":
        read = as_arrow(read, view)
    return sorted(map(plain, read.to_pylist()), key=repr)


def as_arrow(frame: pd.DataFrame, view: ShownView) -> pa.Table:
    from deltaweb.table import DeltaTable

    schema = DeltaTable(view.location).snapshot(view.version).read().schema
    fields = [schema.field(name) for name in frame.columns]
    return pa.Table.from_pandas(frame, pa.schema(fields), preserve_index=False)


def plain(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in row.items()
    }
