"""What makes an old version the newest again."""

from apps.explorer.use.snippets.shown_view import ShownView
from apps.pages.snippets import (
    SPARK_SESSION,
    Snippet,
    python_lines,
    python_text,
    spark_location,
    sql_table,
)


def restore_snippets(view: ShownView) -> list[Snippet]:
    """Return the code that restores a version, for each tool that can."""
    path, version = python_text(view.location), view.version
    table = f"DeltaTable.forPath(spark, {python_text(spark_location(view.location))})"
    return [
        Snippet(
            key="restore-sql",
            label="Spark SQL",
            text=f"-- {SPARK_SESSION}\n"
            f"RESTORE TABLE {sql_table(view.location)} TO VERSION AS OF {version}",
        ),
        Snippet(
            key="restore-pyspark",
            label="PySpark",
            text=python_lines(
                [f"# {SPARK_SESSION}"],
                ["from delta.tables import DeltaTable"],
                [f"{table}.restoreToVersion({version})"],
            ),
        ),
        Snippet(
            key="restore-python",
            label="deltaweb",
            text=""
            if view.write_refusal
            else python_lines(
                ["# in the environment that has deltaweb"],
                ["from deltaweb import DeltaTable"],
                [f"DeltaTable({path}).restore({version})"],
            ),
            refusal=view.write_refusal,
        ),
    ]
