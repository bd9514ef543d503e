"""Polars, by itself or over the rows that `deltalake` reads."""

import re
from urllib.parse import quote

from apps.explorer.rows.filters import RowFilter
from apps.explorer.use.snippets.deltalake_code import scan_lines
from apps.explorer.use.snippets.python_values import python_value, value_imports
from apps.explorer.use.snippets.shown_view import ShownView
from apps.pages.snippets import python_lines, python_text
from deltaweb.delta.scan.operators import OF_ADDRESSES


def polars_code(view: ShownView) -> str:
    """Return Python that reads a view by Polars itself."""
    version = "" if view.version is None else f", version={view.version}"
    steps = [f".filter({_condition(wanted)})" for wanted in view.filters]
    if view.columns:
        names = ", ".join(_name(name) for name in view.columns)
        steps.append(f".select({names})")
    source = f"pl.scan_delta({python_text(view.location)}{version})"
    return python_lines(
        ["# pip install polars deltalake"],
        value_imports(view.filters),
        ["import polars as pl"],
        [
            f"{view.variable} = (",
            *(f"    {line}" for line in (source, *steps, ".collect()")),
            ")",
            f"{view.variable}.head()",
        ],
    )


def polars_by_deltalake(view: ShownView) -> str:
    """Return Python that makes a frame of Polars of the rows that `deltalake` reads."""
    return python_lines(
        ["# pip install polars deltalake"],
        ["import polars as pl", "from deltalake import DeltaTable"],
        [
            *scan_lines(view, "reader"),
            f"{view.variable} = pl.DataFrame(reader)",
            f"{view.variable}.head()",
        ],
    )


def polars_misfit(view: ShownView) -> str:
    """Return why Polars does not find the files of a table by their paths.

    It escapes a local path as a URL and then looks for files by that name, and it
    takes any part of a path that has a `=` for a partition, also within a value.
    """
    if not view.is_remote and quote(view.location) != view.location:
        return "Polars does not find the files of a folder of that name."
    if view.has_text_partitions:
        return "Polars may take text in the path of a partition for its name."
    return ""


def _condition(wanted: RowFilter) -> str:
    column = f"pl.col({_name(wanted.column)})"
    if wanted.literal is None:
        return f"{column}.{'is_null' if wanted.operator == 'null' else 'is_not_null'}()"
    value = python_value(wanted.literal)
    if wanted.operator == "contains":
        return f"{column}.str.contains({value}, literal=True)"
    if wanted.literal.kind == "float":
        value = f"pl.lit({value}, pl.Float32)"
    return f"{column} {OF_ADDRESSES[wanted.operator].python} {value}"


def _name(name: str) -> str:
    """Return a name that Polars does not take for a pattern of names."""
    is_pattern = name == "*" or (name.startswith("^") and name.endswith("$"))
    return python_text(f"^{re.escape(name)}$" if is_pattern else name)
