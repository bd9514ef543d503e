"""Partition filters: which files of a table a share offers."""

from deltaweb.delta.errors import PredicateError, SchemaError
from deltaweb.delta.protocol.schema import StructType
from deltaweb.expressions.condition import SQLCondition
from deltaweb.web.sharing.errors import PartitionFilterError
from deltaweb.web.tables.models import Table

_NOT_INDEXED = "This table has no index yet, so its partition columns are not known."
_NOT_PARTITIONED = "This table is not partitioned, so there is nothing to filter by."


def check_partition_filter(table: Table, sql: str) -> str:
    """Return a filter as it is stored; empty means every file.

    Raises:
        PartitionFilterError: If it does not parse, or names another column than the
            partition columns of the table's newest metadata.
    """
    text = sql.strip()
    if text:
        schema = _partition_schema(table)
        if not schema.fields:
            raise PartitionFilterError(sentence=_NOT_PARTITIONED, columns=())
        try:
            SQLCondition(text, schema)
        except PredicateError as error:
            raise PartitionFilterError(
                sentence=error.message, columns=schema.names
            ) from error
    return text


def _partition_schema(table: Table) -> StructType:
    """Return the partition columns of a table's newest metadata.

    Raises:
        PartitionFilterError: If no metadata has been indexed, or it does not parse.
    """
    metadata = table.metadata_versions.first()
    if metadata is None:
        raise PartitionFilterError(sentence=_NOT_INDEXED, columns=())
    try:
        schema = metadata.schema()
    except SchemaError as error:
        raise PartitionFilterError(sentence=error.message, columns=()) from error
    wanted = set(metadata.partition_columns)
    return StructType(tuple(c for c in schema.fields if c.name in wanted))
