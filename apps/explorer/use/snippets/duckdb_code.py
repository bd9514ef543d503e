"""DuckDB, by its delta extension or over the rows that `deltalake` reads."""

from apps.explorer.use.snippets.deltalake_code import scan_lines
from apps.explorer.use.snippets.shown_view import ShownView
from apps.explorer.use.snippets.sql_lines import select_lines
from apps.pages.snippets import python_lines, python_text
from deltaweb.conditions.dialects import DUCKDB

READER = "reader"
_INSTALL = "pip install duckdb; it fetches its extension delta at the first use"
_ASKS = "DuckDB needs CREATE SECRET first, where the storage needs credentials."


def duckdb_code(view: ShownView) -> str:
    """Return Python that reads a view by DuckDB's delta extension."""
    return _delta_scan(view, ["duckdb"], [".show()"])


def pandas_by_duckdb(view: ShownView) -> str:
    """Return Python that reads a view into pandas by DuckDB's delta extension."""
    return _delta_scan(
        view,
        ["duckdb", "pandas", "pyarrow"],
        [".to_arrow_table()", ".to_pandas()", ".head()"],
    )


def polars_by_duckdb(view: ShownView) -> str:
    """Return Python that reads a view into Polars by DuckDB's delta extension."""
    return _delta_scan(view, ["duckdb", "polars", "pyarrow"], [".pl()", ".head()"])


def duckdb_by_deltalake(view: ShownView) -> str:
    """Return Python that has DuckDB query the rows that `deltalake` reads.

    They are a table, since DuckDB would scan what streams only once.
    """
    return python_lines(
        ["# pip install duckdb deltalake pyarrow"],
        ["import duckdb", "import pyarrow as pa", "from deltalake import DeltaTable"],
        [
            *scan_lines(view, READER),
            f"{READER} = pa.table({READER})",
            f'{view.variable} = duckdb.sql("SELECT * FROM {READER}")',  # noqa: S608 (shown)
            f"{view.variable}.show()",
        ],
    )


def delta_scan_misfit(view: ShownView) -> str:
    """Return why DuckDB's delta extension does not find a view; "" where it does.

    It takes a local path as a URL whose characters are escaped twice, and a condition
    on a column with dots for one on what is inside of a column.
    """
    is_plain = view.location.isascii() and "%" not in view.location
    if not view.is_remote and not is_plain:
        return "DuckDB does not find the files of a folder of that name."
    dotted = [one.column for one in view.filters if "." in one.column]
    if dotted:
        return f"DuckDB does not filter by a name with dots, such as {dotted[0]}."
    return ""


def arrow_misfit(view: ShownView) -> str:
    """Return the same of rows that DuckDB hands on to other tools."""
    if view.has_variants:
        return "DuckDB cannot pass variants to other tools."
    return delta_scan_misfit(view)


def local_delta_scan_misfit(view: ShownView) -> str:
    """Return the same, and that DuckDB asks for a secret of its own elsewhere."""
    return _ASKS if view.is_remote else delta_scan_misfit(view)


def _delta_scan(view: ShownView, packages: list[str], ends: list[str]) -> str:
    version = "" if view.version is None else f", version = {view.version}"
    source = f"delta_scan({DUCKDB.text(view.location)}{version})"
    query = "\n".join(select_lines(view, DUCKDB, source))
    *made, shown = ends
    install = _INSTALL.replace("duckdb", " ".join(packages), 1)
    return python_lines(
        [f"# {install}", *([f"# {_ASKS}"] if view.is_remote else [])],
        ["import duckdb"],
        [
            f"{view.variable} = duckdb.sql({_lines_text(query)}){''.join(made)}",
            f"{view.variable}{shown}",
        ],
    )


def _lines_text(text: str) -> str:
    """Return a text of several lines as it reads best, if its characters let it."""
    is_plain = "\\" not in text and '"""' not in text and "\r" not in text
    return f'"""\n{text}\n"""' if is_plain else python_text(text)
