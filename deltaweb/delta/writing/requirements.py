"""What a table asks of its writers: looked at before any file is written.

Some of it is about rows (`row_constraints`); whoever has the rows evaluates that, and
aborts the whole commit where a constraint is false or unknown for one of them.

Source: delta_protocol.md, "Requirements for Writers" and "Writer Version
Requirements".
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.features.change_feed import CHANGE_DATA_FEED, writes_changes
from deltaweb.delta.features.clustering import is_clustered
from deltaweb.delta.features.column_mapping import has_mapped_columns, mapping_mode
from deltaweb.delta.features.in_commit_timestamps import own_times
from deltaweb.delta.features.materialized_partitions import stores_partitions
from deltaweb.delta.features.registry import (
    FEATURES_WRITER_VERSION,
    find_feature,
    reading_refusal,
    writer_features,
)
from deltaweb.delta.features.row_tracking import assigns_row_ids
from deltaweb.delta.protocol.actions import Metadata
from deltaweb.delta.protocol.schema import (
    StructField,
    StructType,
    fields_in,
    parse_schema,
)
from deltaweb.delta.protocol.schema.field_keys import GENERATION, INVARIANTS
from deltaweb.delta.protocol.table_properties import CONSTRAINT_PREFIX
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.writing.errors import (
    AppendOnlyError,
    ConstraintViolatedError,
    UnsupportedWriteError,
)
from deltaweb.delta.writing.transaction import Transaction
from deltaweb.environment.bounded_json import parse_json

APPEND_ONLY: Final = "delta.appendOnly"
PARQUET: Final = "parquet"
ROW_METRICS_OF_COPIES: Final = ("numTargetRowsCopied", "numCopiedRows")
"""Rows that were only written again, by the names of the log."""


@dataclass(frozen=True, slots=True)
class RowConstraint:
    """A condition that must be true of every row that is written.

    Attributes:
        name: Of the constraint; of an invariant, the path of its column.
        sql: A boolean expression of Spark's SQL. False and unknown abort the commit.
        is_check: Whether it is a CHECK constraint of the table, which can be dropped.
    """

    name: str
    sql: str
    is_check: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRows:
    """What the rows of a version say to a constraint.

    Attributes:
        num_violating: Those for which it is false or unknown.
        rows: The first of them, `MAX_ROWS_SHOWN` at most, by column.
    """

    constraint: RowConstraint
    num_rows: int
    num_violating: int
    rows: tuple[Mapping[str, object], ...] = ()

    def check(self) -> None:
        """Refuse a constraint that is not true of every row."""
        if self.num_violating:
            raise ConstraintViolatedError(
                name=self.constraint.name,
                expression=self.constraint.sql,
                rows=[*self.rows],
                num_rows=self.num_violating,
            )


def check_writable(
    definition: Definition,
    *,
    root: str,
    operation: str = "",
    removes_rows: bool = False,
) -> None:
    """Refuse to write a table that asks more than is done here.

    Call it before a data file is written.
    """
    refusal = (
        removal_refusal(definition, root=root, operation=operation)
        if removes_rows
        else writing_refusal(definition, root=root)
    )
    if refusal is not None:
        raise refusal


def check_requirements(transaction: Transaction, *, root: str) -> None:
    """Refuse a transaction that the table, as it is read or as it would be, refuses."""
    removes_rows = bool(transaction.removed.num_rows) and transaction.data_change
    base = transaction.base
    if base is not None and _hides_changes(transaction):
        raise UnsupportedWriteError(
            root=root, version=base.version, needs=[CHANGE_DATA_FEED]
        )
    if base is not None:
        check_writable(
            base, root=root, operation=transaction.operation, removes_rows=removes_rows
        )
    if transaction.changes_definition:
        version = 0 if base is None else base.version + 1
        after = Definition(
            version, transaction.next_protocol, transaction.next_metadata
        )
        check_writable(after, root=root)


def _hides_changes(transaction: Transaction) -> bool:
    """Return whether rows that stay would look as if they had gone and come again."""
    if not writes_changes(transaction.next_protocol, transaction.next_metadata):
        return False
    copied = any(transaction.metrics.get(name) for name in ROW_METRICS_OF_COPIES)
    return copied and transaction.data_change and not transaction.change_files.num_rows


def writing_refusal(definition: Definition, *, root: str) -> DeltaError | None:
    """Return why a table is not written here, None where it is."""
    protocol, metadata = definition.protocol, definition.metadata
    refusal = reading_refusal(protocol, metadata, root=root, version=definition.version)
    if refusal is not None:
        return refusal
    needs = [
        name
        for name in writer_features(protocol)
        if find_feature(name).refuses_rows(metadata)
    ]
    if protocol.min_writer_version > FEATURES_WRITER_VERSION:
        needs = [f"writer version {protocol.min_writer_version}"]
    if metadata.format.provider.lower() != PARQUET:
        needs.append(f"data files of format {metadata.format.provider}")
    if not needs:
        return None
    return UnsupportedWriteError(root=root, version=definition.version, needs=needs)


def removal_refusal(
    definition: Definition, *, root: str, operation: str
) -> DeltaError | None:
    """Return why no operation takes rows out of a table here, None where one may."""
    refusal = writing_refusal(definition, root=root)
    if refusal is None and is_append_only(definition.metadata.configuration):
        return AppendOnlyError(
            root=root, version=definition.version, operation=operation
        )
    return refusal


def action_rules(definition: Definition, *, changes_rows: bool) -> tuple[object, ...]:
    """Return what decides how the files and the commit of a transaction are written.

    What was prepared by the same rules is as good for another definition.

    Args:
        changes_rows: Whether rows are changed or removed.
    """
    protocol, metadata = definition.protocol, definition.metadata
    is_mapped = has_mapped_columns(protocol, metadata)
    return (
        mapping_mode(metadata.configuration) if is_mapped else None,
        assigns_row_ids(protocol, metadata),
        own_times(protocol, metadata) is None,
        is_clustered(protocol),
        stores_partitions(protocol, metadata),
        changes_rows and writes_changes(protocol, metadata),
    )


def is_append_only(configuration: Mapping[str, str]) -> bool:
    """Tell whether a table only takes new rows.

    Source: delta_protocol.md, "Append-only Tables".
    """
    return configuration.get(APPEND_ONLY, "").strip().lower() == "true"


# === Conditions on rows ===


def row_constraints(metadata: Metadata) -> tuple[RowConstraint, ...]:
    """Return what must be true of every row that is written, but for types.

    Source: delta_protocol.md, "Column Invariants" and "Writer Version Requirements".
    """
    checks = [
        RowConstraint(key[len(CONSTRAINT_PREFIX) :], sql, is_check=True)
        for key, sql in sorted(metadata.configuration.items())
        if key.startswith(CONSTRAINT_PREFIX)
    ]
    text = metadata.schema_string or ""
    if INVARIANTS not in text and GENERATION not in text:
        return tuple(checks)
    schema = parse_schema(text)
    return (*checks, *_invariants(schema), *_generated(schema))


def _generated(schema: StructType) -> Iterator[RowConstraint]:
    """Yield what must be true of columns whose values are made of others.

    Source: delta_protocol.md, "Generated Columns".
    """
    for column in schema.fields:
        sql = column.metadata.get(GENERATION)
        if sql is not None:
            name = "`{}`".format(column.name.replace("`", "``"))
            yield RowConstraint(f"generated {column.name}", f"{name} <=> ({sql})")


def _invariants(schema: StructType) -> Iterator[RowConstraint]:
    for path, column in fields_in(schema):
        sql = invariant_sql(column)
        if sql is not None:
            yield RowConstraint(".".join(path), sql)


def invariant_sql(column: StructField) -> str | None:
    """Return the SQL of a column's invariant, None without one.

    The reference implementation wraps it twice in JSON objects.
    """
    said = column.metadata.get(INVARIANTS)
    if said is None:
        return None
    text = said if isinstance(said, str) else json.dumps(said)
    try:
        return str(parse_json(text)["expression"]["expression"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return text
