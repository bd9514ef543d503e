"""pandas, by `deltalake`, whose scan reads what its Arrow data sets do not."""

from apps.explorer.rows.sql_dialects import DATAFUSION
from apps.explorer.use.snippets.python_values import names_text, python_lines
from apps.explorer.use.snippets.shown_view import ShownView
from apps.explorer.use.snippets.sql_lines import condition_lines
from apps.pages.snippets import python_text


def pandas_code(view: ShownView) -> str:
    """Return Python that reads a view into pandas."""
    return python_lines(
        ["# pip install deltalake pandas pyarrow"],
        ["import pyarrow as pa", "from deltalake import DeltaTable"],
        [
            *scan_lines(view, "reader"),
            f"{view.variable} = pa.table(reader).to_pandas()",
            f"{view.variable}.head()",
        ],
    )


def scan_lines(view: ShownView, name: str) -> list[str]:
    """Return the lines that make a reader of a view, which can be read once.

    Args:
        view: The view.
        name: The variable of the reader.
    """
    version = "" if view.version is None else f", version={view.version}"
    table = f"DeltaTable({python_text(view.location)}{version})"
    arguments = []
    if view.columns:
        arguments.append(f"    columns={names_text(view.columns)},")
    if view.filters:
        predicate = " AND ".join(condition_lines(view, DATAFUSION))
        arguments.append(f"    predicate={python_text(predicate)},")
    if not arguments:
        return [f"{name} = {table}.scan()"]
    return [f"{name} = {table}.scan(", *arguments, ")"]
