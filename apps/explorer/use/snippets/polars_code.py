"""Polars."""

import re
from urllib.parse import quote

from apps.explorer.rows.filters import RowFilter
from apps.explorer.use.snippets.python_values import (
    PYTHON_OPERATORS,
    python_lines,
    python_value,
    value_imports,
)
from apps.explorer.use.snippets.shown_view import ShownView
from apps.pages.snippets import python_text


def polars_code(view: ShownView) -> str:
    """Return Python that reads a view by Polars."""
    steps = [f".filter({_condition(wanted)})" for wanted in view.filters]
    if view.columns:
        names = ", ".join(_name(name) for name in view.columns)
        steps.append(f".select({names})")
    lines = [f"pl.scan_delta({_source(view)})", *steps, ".collect()"]
    return python_lines(
        ["# pip install polars deltalake"],
        value_imports(view.filters),
        ["import polars as pl"],
        [
            f"{view.variable} = (",
            *(f"    {line}" for line in lines),
            ")",
            f"{view.variable}.head()",
        ],
    )


def _source(view: ShownView) -> str:
    """Return the arguments that name a version of a table.

    Polars escapes a local path as a URL and then looks for files by that name; Arrow
    does not.
    """
    source = f"{python_text(view.location)}, version={view.version}"
    is_url = "://" in view.location
    is_escaped = not is_url and quote(view.location) != view.location
    return f"{source}, use_pyarrow=True" if is_escaped else source


def _condition(wanted: RowFilter) -> str:
    column = f"pl.col({_name(wanted.column)})"
    if wanted.operand is None:
        return f"{column}.{'is_null' if wanted.operator == 'null' else 'is_not_null'}()"
    value = python_value(wanted.operand, wanted.type_name)
    if wanted.operator == "contains":
        return f"{column}.str.contains({value}, literal=True)"
    if wanted.type_name == "float":
        value = f"pl.lit({value}, pl.Float32)"
    return f"{column} {PYTHON_OPERATORS[wanted.operator]} {value}"


def _name(name: str) -> str:
    """Return a name that Polars does not take for a pattern of names."""
    is_pattern = name == "*" or (name.startswith("^") and name.endswith("$"))
    return python_text(f"^{re.escape(name)}$" if is_pattern else name)
