"""Each tool's ways to a table, the best first; the first that reads it is shown."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from apps.explorer.use.snippets import duckdb_code as by_duckdb
from apps.explorer.use.snippets import polars_code as by_polars
from apps.explorer.use.snippets.deltalake_code import pandas_code
from apps.explorer.use.snippets.deltaweb_code import curl_code, deltaweb_code
from apps.explorer.use.snippets.sharing_code import delta_sharing_code
from apps.explorer.use.snippets.shown_view import ShownView
from apps.explorer.use.snippets.spark_code import pyspark_code, spark_sql_code
from apps.pages.snippets import Snippet
from deltaweb.delta.features.known.clients import DELTALAKE, DUCKDB, POLARS, SPARK
from deltaweb.delta.features.known.readings import in_words

DELTAWEB: Final = "deltaweb"
SHARING: Final = "delta-sharing, Python"


@dataclass(frozen=True, slots=True)
class Way:
    """A way of a tool to a table.

    Attributes:
        reader: The client that opens the table, by the name that `Readers` has.
        make: Returns the code; "" where there is none.
        misfit: Returns why it is no way to such a view at all; "" where it is one.
    """

    reader: str
    make: Callable[[ShownView], str]
    misfit: Callable[[ShownView], str] = lambda _view: ""

    def refusal(self, view: ShownView) -> str:
        """Return why a view is not read so; "" where it is, or may be."""
        return view.refusals.get(self.reader, "") or self.misfit(view)

    def reads(self, view: ShownView) -> bool:
        """Return whether a view is known to be read so."""
        return not self.refusal(view) and self.reader not in view.doubts


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that people read tables with.

    Attributes:
        ways: Its ways to a table, the best first.
        with_parts: Whether it reads parts of variants as values of a type, and takes
            conditions in Spark's SQL.
    """

    key: str
    label: str
    ways: tuple[Way, ...]
    with_parts: bool = False

    def snippet(self, view: ShownView) -> Snippet | None:
        """Return its code for a view, or why there is none; None for nothing at all."""
        if view.parts and not self.with_parts:
            return self._refused(
                f"{self.label} has no parts of variants as values of a type.", view
            )
        if view.sql and not self.with_parts:
            return self._refused(
                f"{self.label} takes no condition in Spark's SQL.", view
            )
        ways = [way for way in self.ways if not way.refusal(view)]
        way = next((one for one in ways if one.reads(view)), ways[0] if ways else None)
        if way is None:
            reasons = dict.fromkeys(one.refusal(view) for one in self.ways)
            return self._refused(" ".join(reasons), view)
        text = way.make(view)
        if not text:
            return None
        notes = [*_instead(self.ways[0], way, view), *_doubt(way, view)]
        mark = "--" if self.key == "sql" else "#"
        text = "\n".join([*(f"{mark} {note}" for note in notes), text])
        return Snippet(key=self.key, label=self.label, text=text)

    def _refused(self, sentence: str, view: ShownView) -> Snippet:
        others = [
            tool.label
            for tool in TOOLS
            if tool is not self
            and (tool.with_parts or not (view.parts or view.sql))
            and any(way.reads(view) and way.make(view) for way in tool.ways)
        ]
        who = f" {in_words(others)} can." if others else ""
        return Snippet(
            key=self.key, label=self.label, text="", refusal=f"{sentence}{who}"
        )


def _instead(best: Way, way: Way, view: ShownView) -> list[str]:
    """Say why it is not read by the best way, where the table is what stops that."""
    why = view.refusals.get(best.reader, "")
    return [f"{why} {way.reader} reads it."] if why and way is not best else []


def _doubt(way: Way, view: ShownView) -> list[str]:
    doubt = view.doubts.get(way.reader)
    return [] if doubt is None else [doubt]


TOOLS: Final = (
    Tool(
        "pandas",
        "pandas",
        (
            Way(DELTALAKE, pandas_code),
            Way(DUCKDB, by_duckdb.pandas_by_duckdb, by_duckdb.arrow_misfit),
        ),
    ),
    Tool("sharing", "delta-sharing", (Way(SHARING, delta_sharing_code),)),
    Tool("sql", "Spark SQL", (Way(SPARK, spark_sql_code),), with_parts=True),
    Tool("pyspark", "PySpark", (Way(SPARK, pyspark_code),), with_parts=True),
    Tool(
        "polars",
        "Polars",
        (
            Way(POLARS, by_polars.polars_code, by_polars.polars_misfit),
            Way(DELTALAKE, by_polars.polars_by_deltalake),
            Way(DUCKDB, by_duckdb.polars_by_duckdb, by_duckdb.arrow_misfit),
        ),
    ),
    Tool(
        "duckdb",
        "DuckDB",
        (
            # Elsewhere DuckDB wants a secret of its own; deltalake finds what is set.
            Way(DUCKDB, by_duckdb.duckdb_code, by_duckdb.local_delta_scan_misfit),
            Way(DELTALAKE, by_duckdb.duckdb_by_deltalake),
            Way(DUCKDB, by_duckdb.duckdb_code, by_duckdb.delta_scan_misfit),
        ),
    ),
    Tool("deltaweb", "deltaweb", (Way(DELTAWEB, deltaweb_code),), with_parts=True),
    Tool("curl", "curl", (Way(DELTAWEB, curl_code),), with_parts=True),
)
"""At most eight, in the order in which they are shown."""
