"""pandas, by `deltalake`, whose scan reads what its Arrow data sets do not."""

from apps.explorer.use.snippets.shown_view import ShownView
from apps.explorer.use.snippets.sql_lines import condition_lines
from apps.pages.snippets import names_text, python_lines, python_text
from deltaweb.conditions.dialects import DATAFUSION


def pandas_code(view: ShownView) -> str:
    """Return Python that reads a view into pandas.

    What `deltalake` reads of texts are Arrow's views, which pandas does not take inside
    of arrays and maps.
    """
    lines = scan_lines(view, "reader")
    rows = "pa.table(reader)"
    if view.has_nested:
        lines = [f"table = {_table(view)}", *scan_lines(view, "reader", table="table")]
        schema = "pa.schema(table.schema())"
        if view.columns:
            lines.append(f"schema = {schema}")
            schema = "pa.schema([schema.field(name) for name in reader.schema.names])"
        lines.append(f"schema = {schema}")
        rows += ".cast(schema)"
    return python_lines(
        ["# pip install deltalake pandas pyarrow"],
        ["import pyarrow as pa", "from deltalake import DeltaTable"],
        [
            *lines,
            f"{view.variable} = {rows}.to_pandas()",
            f"{view.variable}.head()",
        ],
    )


def scan_lines(view: ShownView, name: str, *, table: str = "") -> list[str]:
    """Return the lines that make a reader of a view, which can be read once."""
    table = table or _table(view)
    arguments = []
    if view.columns:
        arguments.append(f"    columns={names_text(view.columns)},")
    if view.filters:
        predicate = " AND ".join(condition_lines(view, DATAFUSION))
        arguments.append(f"    predicate={python_text(predicate)},")
    if not arguments:
        return [f"{name} = {table}.scan()"]
    return [f"{name} = {table}.scan(", *arguments, ")"]


def _table(view: ShownView) -> str:
    version = "" if view.version is None else f", version={view.version}"
    return f"DeltaTable({python_text(view.location)}{version})"
