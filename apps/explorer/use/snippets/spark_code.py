"""Spark, in SQL and in Python."""

from apps.explorer.use.snippets.shown_view import ShownView
from apps.explorer.use.snippets.sql_lines import (
    condition_lines,
    select_lines,
    selected,
)
from apps.pages.snippets import (
    SPARK_SESSION,
    python_lines,
    python_text,
    spark_location,
    sql_table,
)
from deltaweb.conditions.dialects import SPARK

_ZONE = '"spark.sql.session.timeZone"'


def spark_sql_code(view: ShownView) -> str:
    """Return the query of a view, in a session of Spark that knows Delta."""
    version = "" if view.version is None else f" VERSION AS OF {view.version}"
    source = f"{sql_table(view.location)}{version}"
    zone = f"SET TIME ZONE {SPARK.text(view.time_zone)};"
    return "\n".join(
        [
            f"-- {SPARK_SESSION}",
            *[zone] * bool(view.sql),
            *select_lines(view, SPARK, source),
        ]
    )


def pyspark_code(view: ShownView) -> str:
    """Return Python that reads a view by a session of Spark that knows Delta."""
    conditions = condition_lines(view, SPARK)
    steps = [f".where({python_text(condition)})" for condition in conditions]
    if view.columns:
        columns = ", ".join(map(python_text, selected(view, SPARK)))
        steps.append(f".{'selectExpr' if view.parts else 'select'}({columns})")
    read = [
        'spark.read.format("delta")',
        *([] if view.version is None else [f'.option("versionAsOf", {view.version})']),
        f".load({python_text(spark_location(view.location))})",
    ]
    return python_lines(
        [f"# {SPARK_SESSION}"],
        [
            *[f"spark.conf.set({_ZONE}, {python_text(view.time_zone)})"]
            * bool(view.sql),
            f"{view.variable} = (",
            *(f"    {line}" for line in (*read, *steps)),
            ")",
            f"{view.variable}.show()",
        ],
    )
