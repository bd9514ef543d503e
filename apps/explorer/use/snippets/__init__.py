"""What a page of a table shows, as code for other tools: `Use this table`.

shown_view      which version, columns and rows a page shows, and who reads it
tools           each tool's ways to a table; the first that reads it is shown
deltalake_code  pandas, by `deltalake`
sharing_code    pandas, by `delta-sharing`
polars_code     Polars
duckdb_code     DuckDB
spark_code      Spark, in SQL and in Python
deltaweb_code   deltaweb's own Python, and curl
restore_code    what makes an old version the newest
"""

from apps.explorer.use.snippets.restore_code import restore_snippets
from apps.explorer.use.snippets.shown_view import ShownView
from apps.explorer.use.snippets.tools import TOOLS
from apps.pages.snippets import Snippet

__all__ = ["ShownView", "restore_snippets", "view_snippets"]


def view_snippets(view: ShownView) -> list[Snippet]:
    """Return the code that reads a view, for each tool, or why it cannot.

    Tools that cannot come last: the first is the one that a page shows unasked.
    """
    found = [made for tool in TOOLS if (made := tool.snippet(view)) is not None]
    return sorted(found, key=lambda made: bool(made.refusal))
