"""What a page of a table shows, as code for other tools: `Use this table`.

shown_view    which version, columns and rows a page shows
arrow_code    pandas, by `deltalake` and by `delta-sharing`
polars_code   Polars
duckdb_code   DuckDB
spark_code    Spark, in SQL and in Python
restore_code  what makes an old version the newest
"""

from collections.abc import Callable

from apps.explorer.use.snippets.arrow_code import delta_sharing_code, pandas_code
from apps.explorer.use.snippets.curl_code import curl_code
from apps.explorer.use.snippets.duckdb_code import duckdb_code
from apps.explorer.use.snippets.polars_code import polars_code
from apps.explorer.use.snippets.restore_code import restore_snippets
from apps.explorer.use.snippets.shown_view import ShownView
from apps.explorer.use.snippets.spark_code import pyspark_code, spark_sql_code
from apps.pages.snippets import Snippet

__all__ = ["ShownView", "restore_snippets", "view_snippets"]

_MAKERS: tuple[tuple[str, str, Callable[[ShownView], str]], ...] = (
    ("pandas", "pandas", pandas_code),
    ("sharing", "delta-sharing", delta_sharing_code),
    ("sql", "Spark SQL", spark_sql_code),
    ("pyspark", "PySpark", pyspark_code),
    ("polars", "Polars", polars_code),
    ("duckdb", "DuckDB", duckdb_code),
    ("curl", "curl", curl_code),
)

_WITH_PARTS = frozenset({"sql", "pyspark", "curl"})
"""What reads parts of variants as values of a type."""


def view_snippets(view: ShownView) -> list[Snippet]:
    """Return the code that reads a view, for each tool that can."""
    made = [
        (key, label, make(view))
        for key, label, make in _MAKERS
        if key in _WITH_PARTS or not view.parts
    ]
    return [
        Snippet(key=key, label=label, text=text) for key, label, text in made if text
    ]
