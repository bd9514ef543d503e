"""Rows of a table and of a source joined by Spark, and which clause counts for each.

Rows of the table go through the join with no more columns than the SQL names: what is
written of them is read again by the task that writes it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name that all Spark code has)
from sqlglot import exp

from deltaweb.conditions.sql_text import parse_sql
from deltaweb.delta.errors import PredicateError
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.scan.predicate import Predicate
from deltaweb.expressions.char_columns import refuse_char
from deltaweb.spark.arrow_frames import column_of
from deltaweb.spark.writing.file_rows import FILE_NUMBER, FILE_PLACE, numbered_rows
from deltaweb.spark.writing.merge.merge_request import MergeRequest
from deltaweb.spark.writing.session.checked_sql import (
    check_condition,
    check_value,
    is_true,
    sql_column,
)
from deltaweb.spark.writing.session.conditions import (
    VERDICT,
    value_of_sql,
    with_verdicts,
)
from deltaweb.spark.writing.session.stored_values import null_of
from deltaweb.spark.writing.spark_types import exact_schema, spark_schema
from deltaweb.writer.merge.clauses import (
    SOURCE,
    TABLE,
    About,
    MergeAction,
    MergeClause,
    assigned,
    quoted,
)
from deltaweb.writer.merge.pairs import MAX_VALUES, all_of, join_keys

SOURCE_NUMBER: Final = "_deltaweb_source"
"""The column that says which row of the source a row is, or is joined with."""
CHOICE: Final = "_deltaweb_choice"
"""The column that says which clause counts for a row; null for none."""
SENT: Final = "_deltaweb_sent_"
"""What comes with a row for its task, by the fields of `MergeRequest.sent`."""


def numbered_source(frame: DataFrame) -> DataFrame:
    """Return the rows of a source as `SOURCE`, each with its `SOURCE_NUMBER`.

    They are kept as they are: looked at again they could be others.
    """
    columns = [column_of(frame, name) for name in frame.columns]
    numbered = frame.select(
        F.struct(*columns).alias(SOURCE),
        F.monotonically_increasing_id().alias(SOURCE_NUMBER),
    )
    return numbered.localCheckpoint(eager=True)


def reach_of(
    request: MergeRequest, source: DataFrame, num_rows: int
) -> Predicate | None:
    """Return what is true of every row of the table that can match.

    Returns:
        The condition; None where nothing is known of them.
    """
    try:
        keys, _ = join_keys(request.on, request.schema, request.source)
    except PredicateError:
        return None
    keys = [key for key in keys if key.keeps_type]
    if not keys or not num_rows:
        return None
    values = [F.col(quoted(SOURCE, *key.source_path)) for key in keys]
    are_all = num_rows <= MAX_VALUES
    if are_all:
        found = source.select(*_named(values)).toArrow()
    else:
        least = source.agg(*_named([F.min(value) for value in values])).toArrow()
        most = source.agg(*_named([F.max(value) for value in values])).toArrow()
        found = pa.concat_tables([least, most])
    columns = zip(keys, found.columns, strict=True)
    parts = (
        key.reach(pc.cast(column, key.mine.kind), are_all=are_all)
        for key, column in columns
    )
    return all_of([part for some in parts for part in some])


@contextmanager
def table_rows(
    spark: SparkSession, request: MergeRequest, files: pa.Table
) -> Iterator[DataFrame]:
    """Give the rows of files as `TABLE`, with `FILE_NUMBER` and `FILE_PLACE`."""
    names = _columns_named(request)
    reading = replace(request.reading, columns=names)
    with numbered_rows(spark, reading, files) as rows:
        columns = [column_of(rows, name) for name in names]
        mine = F.struct(*columns).alias(TABLE)
        yield rows.select(mine, FILE_NUMBER, FILE_PLACE)


def joined_rows(
    request: MergeRequest, table: DataFrame, source: DataFrame
) -> DataFrame:
    """Return the rows of the table that match or change, kept as they are.

    Returns:
        `FILE_NUMBER`, `FILE_PLACE`, `SOURCE_NUMBER` (null for rows that match none),
        `CHOICE`, and what is sent; a row once for each that it matches.
    """
    matched = request.of(About.MATCHED)
    alone = request.of(About.NOT_MATCHED_BY_SOURCE)
    how = "left" if alone else "inner"
    matches = sql_column(table.crossJoin(source), request.on)
    joined = table.join(source, matches, how)
    is_pair = F.col(SOURCE_NUMBER).isNotNull()
    of_pairs, of_others = (
        _choice(joined, clauses, first)
        for clauses, first in ((matched, 0), (alone, len(matched)))
    )
    choice = F.when(is_pair, of_pairs).otherwise(of_others)
    chosen = joined.withColumn(CHOICE, choice)
    kept = F.col(CHOICE).isNotNull()
    if request.of(About.NOT_MATCHED):
        kept = kept | is_pair
    places = (FILE_NUMBER, FILE_PLACE, SOURCE_NUMBER, CHOICE)
    with_values = _with_sent(request, chosen.filter(kept), request.changes, places)
    return with_values.localCheckpoint(eager=True)


def new_rows(request: MergeRequest, source: DataFrame, joined: DataFrame) -> DataFrame:
    """Return the rows of the source that are inserted: `CHOICE` and what is sent."""
    inserts = request.of(About.NOT_MATCHED)
    met = joined.select(SOURCE_NUMBER).filter(F.col(SOURCE_NUMBER).isNotNull())
    left = source.join(met, SOURCE_NUMBER, "left_anti")
    chosen = left.withColumn(CHOICE, _choice(left, inserts))
    some = chosen.filter(F.col(CHOICE).isNotNull())
    return _with_sent(request, some, inserts, (CHOICE,))


def check_merge(spark: SparkSession, request: MergeRequest) -> None:
    """Refuse a merge of which Spark does not evaluate what is asked."""
    columns = exact_schema(request.schema)
    rows_of_table = spark.createDataFrame([], spark_schema(request.schema))
    table = rows_of_table.select(F.struct("*").alias(TABLE))
    theirs = spark.createDataFrame([], spark_schema(request.source))
    source = theirs.select(F.struct("*").alias(SOURCE))
    both = table.crossJoin(source)
    for sql in _said(request):
        refuse_char(sql, request.schema)
        refuse_char(sql, request.source)
    check_condition(both, request.on)
    rows = {
        About.MATCHED: both,
        About.NOT_MATCHED: source,
        About.NOT_MATCHED_BY_SOURCE: table,
    }
    for clause in request.clauses:
        frame = rows[clause.about]
        if clause.condition is not None:
            check_condition(frame, clause.condition)
        for name, sql in assigned(clause, request.schema, request.source).items():
            check_value(frame, sql, columns[name], may_lack=clause.takes_all)


def _said(request: MergeRequest) -> Iterator[str]:
    yield request.on
    for clause in request.clauses:
        if clause.condition is not None:
            yield clause.condition
        yield from assigned(clause, request.schema, request.source).values()


# === Columns ===


def _named(values: Sequence[Column]) -> list[Column]:
    """Return columns by names of their own: those of two sides may be the same."""
    return [value.alias(f"{SENT}{place}") for place, value in enumerate(values)]


def _choice(rows: DataFrame, clauses: Sequence[MergeClause], first: int = 0) -> Column:
    """Return the place of the first clause whose condition is true."""
    found: Column | None = None
    for place, clause in enumerate(clauses, first):
        condition = "TRUE" if clause.condition is None else clause.condition
        holds = is_true(rows, condition)
        value = F.lit(place).cast("int")
        found = F.when(holds, value) if found is None else found.when(holds, value)
    return F.lit(None).cast("int") if found is None else found


def _with_sent(
    request: MergeRequest,
    rows: DataFrame,
    clauses: Sequence[MergeClause],
    kept: Sequence[str],
) -> DataFrame:
    """Return columns that are kept, and after them what is sent with chosen rows."""
    kept_columns = [F.col(name) for name in kept]
    if not clauses:
        return rows.select(*kept_columns)
    if request.is_evaluated_here:
        is_chosen = F.col(CHOICE).isNotNull()
        sent = [
            F.when(is_chosen, F.col(SOURCE)[name]).alias(f"{SENT}{place}")
            for place, name in enumerate(request.source.names)
        ]
        return rows.select(*kept_columns, *sent)
    values = _new_values(request, clauses, rows)
    known = rows.select(*kept_columns, *(v.alias(n) for n, v in values.items()))
    known = known.withColumns(_generated(request, clauses, known))
    judged = with_verdicts(known, request.schema, request.elsewhere)
    verdicts = [f"{VERDICT}{place}" for place in range(len(request.elsewhere))]
    columns = [
        column_of(judged, name).alias(f"{SENT}{place}")
        for place, name in enumerate((*values, *verdicts))
    ]
    return judged.select(*kept, *columns)


def _new_values(
    request: MergeRequest, clauses: Sequence[MergeClause], rows: DataFrame
) -> Mapping[str, Column]:
    """Return what columns hold in chosen rows, by the name of the column."""
    takes = [
        {
            **request.filled(clause, are_all=True).defaults,
            **assigned(clause, request.schema, request.source),
        }
        for clause in clauses
    ]
    found = {}
    for field in spark_schema(request.schema).fields:
        value = F.when(F.lit(False), null_of(field))  # noqa: FBT003  # a value
        for place, (clause, taken) in enumerate(zip(clauses, takes, strict=True)):
            sql = taken.get(field.name)
            if sql is None and clause.action is MergeAction.UPDATE:
                sql = quoted(TABLE, field.name)
            if sql is not None:
                new = value_of_sql(rows, sql, field, may_lack=clause.takes_all)
                value = value.when(F.col(CHOICE) == place, new)
        found[field.name] = value
    return found


def _generated(
    request: MergeRequest, clauses: Sequence[MergeClause], rows: DataFrame
) -> dict[str, Column]:
    """Return what is generated of new values, by the name of the column."""
    kinds = spark_schema(request.schema)
    found: dict[str, Column] = {}
    for place, clause in enumerate(clauses):
        made = request.filled(clause, are_all=True).generated
        for name, sql in made.items():
            new = value_of_sql(rows, sql, kinds[name])
            old = found.get(name, column_of(rows, name))
            found[name] = F.when(F.col(CHOICE) == place, new).otherwise(old)
    return found


def _columns_named(request: MergeRequest) -> tuple[str, ...]:
    """Return the columns of the table that the join needs, at least one."""
    schema = request.schema
    if not request.is_evaluated_here:
        return schema.names  # new rows are made of them
    asked = [clause.condition for clause in request.changes]
    said = [request.on, *(sql for sql in asked if sql is not None)]
    try:
        named = {name for sql in said for name in _words(sql)}
    except PredicateError:
        return schema.names
    found = tuple(name for name in schema.names if name.lower() in named)
    return found or schema.names[:1]


def _words(sql: str) -> Iterator[str]:
    for word in parse_sql(sql).tree.find_all(exp.Identifier):
        yield word.name.lower()


def source_fields(schema: StructType) -> list[str]:
    """Return the names of the columns that carry what is sent."""
    return [f"{SENT}{place}" for place in range(len(schema.fields))]
