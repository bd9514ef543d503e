"""DuckDB, over the files that `deltalake` lists."""

from apps.explorer.rows.sql_dialects import DUCKDB
from apps.explorer.use.snippets.python_values import python_lines
from apps.explorer.use.snippets.shown_view import ShownView
from apps.explorer.use.snippets.sql_lines import select_lines
from apps.pages.snippets import python_text


def duckdb_code(view: ShownView) -> str:
    """Return Python that reads a view by DuckDB, which finds the variable by name."""
    table = f"DeltaTable({python_text(view.location)}, version={view.version})"
    query = "\n".join(select_lines(view, DUCKDB, DUCKDB.name(view.variable)))
    return python_lines(
        ["# pip install duckdb deltalake pyarrow"],
        ["import duckdb", "from deltalake import DeltaTable"],
        [
            f"{view.variable} = {table}.to_pyarrow_dataset()",
            f"duckdb.sql({_lines_text(query)}).show()",
        ],
    )


def _lines_text(text: str) -> str:
    """Return a text of several lines as it reads best, if its characters let it."""
    is_plain = "\\" not in text and '"""' not in text and "\r" not in text
    return f'"""\n{text}\n"""' if is_plain else python_text(text)
