"""The rule of a shared table as it is stored: checked against the newest metadata."""

from collections.abc import Iterable

from apps.sharing.errors import ColumnsError, ConditionError
from apps.tables.models import MetadataVersion, Table
from deltaweb.conditions.recipients import bound_to
from deltaweb.delta.errors import PredicateError, SchemaError
from deltaweb.delta.protocol.schema import StructType
from deltaweb.expressions.compiler import parse_expression
from deltaweb.expressions.condition import SQLCondition

_NOT_INDEXED = "This table has no index yet, so its columns are not known."
_INDEX_IT = (
    "Run 'deltaweb table refresh {table}', or wait until its page shows a version. To "
    "share the whole table, leave out columns and condition."
)
_BLANK = "A name in the list of columns is blank."
_NO_DATA = "All of these are partition columns: name at least one other column."


def check_condition(table: Table, sql: str) -> str:
    """Return a condition as it is stored; empty means every row."""
    text = sql.strip()
    if text:
        schema = _schema(_newest(table))
        try:
            SQLCondition(bound_to(parse_expression(text), {}, schema), schema)
        except PredicateError as error:
            raise ConditionError(
                sentence=error.message, columns=schema.names
            ) from error
    return text


def check_columns(table: Table, names: Iterable[str]) -> list[str]:
    """Return the columns that are offered, in the table's order; empty means all.

    A blank name is refused: a list of nothing else would offer all columns.
    """
    wanted = [name.strip() for name in names]
    if not wanted:
        return []
    metadata = _newest(table)
    schema = _schema(metadata)
    found = {}
    for name in wanted:
        column = schema.find(name)
        if column is None:
            sentence = f"The table has no column {name[:80]!r}."
            raise ColumnsError(
                sentence=sentence if name else _BLANK, columns=schema.names
            )
        found[column.name] = column
    if set(found) <= set(metadata.partition_columns):
        raise ColumnsError(sentence=_NO_DATA, columns=schema.names)
    return [name for name in schema.names if name in found]


def _newest(table: Table) -> MetadataVersion:
    metadata = table.metadata_versions.first()
    if metadata is None:
        advice = _INDEX_IT.format(table=table.full_name)
        raise ConditionError(sentence=_NOT_INDEXED, columns=(), advice=advice)
    return metadata


def _schema(metadata: MetadataVersion) -> StructType:
    try:
        return metadata.schema()
    except SchemaError as error:
        raise ConditionError(sentence=error.message, columns=()) from error
