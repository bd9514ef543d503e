"""`read_table`: a version of a table becomes a DataFrame."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType as SparkStruct

from deltaweb.delta.protocol.column_path import column_field
from deltaweb.delta.protocol.schema import StructType
from deltaweb.expressions.session.zone_times import moment_of
from deltaweb.spark.arrow_frames import column_of
from deltaweb.spark.driver.pyspark_internals import analyzed_plan
from deltaweb.spark.writing.session.checked_sql import sql_column
from deltaweb.spark.writing.session.settings import settings_of
from deltaweb.spark.writing.source.data_source import SOURCE_NAME, register
from deltaweb.spark.writing.source.options import settings_options, source_options
from deltaweb.spark.writing.spark_types import spark_schema
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable


def read_table(  # noqa: PLR0913  # what a reading may be asked for
    spark: SparkSession,
    location: str,
    *,
    version: int | None = None,
    timestamp: datetime | str | None = None,
    columns: Sequence[str] | None = None,
    where: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    allowed_roots: Sequence[str] = (),
) -> DataFrame:
    """Return the rows of a version of a table; nothing is read of its files yet.

    Spark does not tell a source written in Python which columns it needs, and mixes up
    the filters of two uses of one DataFrame: say both here, so that files and columns
    are left unread.

    Args:
        spark: The session; it knows the data source `deltaweb` from now on.
        location: The table: a path, or a URL that fsspec knows.
        version: The version; not together with `timestamp`; else the newest.
        timestamp: A datetime with a zone or ISO 8601 text, of the session's zone where
            it names none: the newest version made at or before it.
        columns: Columns in the order wanted; all for None.
        where: Only rows that this SQL is true for, by the settings of the session;
            files that hold none are not read. Subqueries are refused.
        allowed_roots: Roots outside the table whose files may be read when a path of
            the log leads there.

    Raises:
        ColumnNotFoundError: If a name is no column.
        ExpressionMistakenError: If the condition is not one over the row.
        DeltaError: As `DeltaTable.snapshot` lists them.
    """
    place = TablePlace(
        location=location,
        storage_options=storage_options or {},
        allowed_roots=allowed_roots,
    )
    settings = settings_of(spark)
    moment = moment_of(timestamp, settings.time_zone)
    snapshot = DeltaTable.from_store(place.open()).snapshot(version, moment)
    names = snapshot.schema.names
    chosen = names if columns is None else _chosen(snapshot.schema, columns)
    # Which columns a condition needs only Spark knows: it is asked of no rows at all.
    everything = spark_schema(snapshot.schema)
    needed = (
        set()
        if where is None
        else _named_by(spark.createDataFrame([], everything), where)
    )
    register(spark)
    reader = spark.read.format(SOURCE_NAME).options(**source_options(place))
    reader = reader.option("versionAsOf", str(snapshot.version))
    if where is None:
        return reader.schema(_columns(snapshot.schema, chosen)).load(location)
    read = [*chosen, *(name for name in names if name in needed - {*chosen})]
    if settings.is_usual:
        reader = reader.option("filesWhere", where)
        reader = reader.options(**settings_options(settings))
    rows = reader.schema(_columns(snapshot.schema, read)).load(location)
    found = rows.where(sql_column(rows, where))
    return found.select(*(column_of(found, name) for name in chosen))


def _named_by(rows: DataFrame, where: str) -> set[str]:
    """Return the columns that a condition is about."""
    found = rows.where(sql_column(rows, where))
    references = analyzed_plan(found).condition().references().toSeq()
    return {references.apply(n).name() for n in range(references.size())}


def _columns(schema: StructType, names: Sequence[str]) -> SparkStruct:
    known = {column.name: column for column in schema.fields}
    return spark_schema(StructType(tuple(known[name] for name in names)))


def _chosen(schema: StructType, names: Sequence[str]) -> list[str]:
    return [column_field(schema, (name,)).name for name in names]
