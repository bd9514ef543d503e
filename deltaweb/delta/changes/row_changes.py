"""What comparing rows is asked for, and what it answers; the same for both engines."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

import pyarrow as pa

from deltaweb.delta.changes.buckets import RowLimits
from deltaweb.delta.changes.common_type import CommonSchema
from deltaweb.delta.protocol.schema import arrow_schema

CHANGE_TYPE: Final = "_change_type"
SAMPLE_ROWS: Final = 100
KIND: Final = "kind"
CHANGED: Final = "changed"

Progress = Callable[[int, int], None]
"""Called with what was done so far, and of how much."""
WriteChanges = Callable[[pa.Table], None]
"""Takes changed rows: `_change_type`, then the columns of both versions."""


class ChangeType(StrEnum):
    """How a row changed, in the words of the change data feed.

    Source: PROTOCOL.md, "Change Data Files".
    """

    INSERT = "insert"
    DELETE = "delete"
    UPDATE_BEFORE = "update_preimage"
    UPDATE_AFTER = "update_postimage"


@dataclass(frozen=True, eq=False)
class RowSample:
    """Some of the changed rows, each with the columns of both versions."""

    inserted: pa.Table
    deleted: pa.Table
    updated_before: pa.Table
    updated_after: pa.Table
    changed: tuple[tuple[str, ...], ...]

    def to_table(self) -> pa.Table:
        """Return all of it as one table: kind, changed columns, then the columns.

        Names of columns may repeat; the first two are ours by their place.
        """
        parts = (
            (ChangeType.UPDATE_BEFORE, self.updated_before, self.changed),
            (ChangeType.UPDATE_AFTER, self.updated_after, self.changed),
            (ChangeType.INSERT, self.inserted, ()),
            (ChangeType.DELETE, self.deleted, ()),
        )
        texts = pa.list_(pa.string())
        tables = []
        for kind, rows, changed in parts:
            count = rows.num_rows
            kinds = pa.repeat(pa.scalar(kind.value, pa.string()), count)
            lists = pa.array(changed, texts) if changed else pa.nulls(count, texts)
            schema = rows.schema.insert(0, pa.field(CHANGED, texts))
            schema = schema.insert(0, pa.field(KIND, pa.string()))
            columns = [pa.chunked_array([kinds]), pa.chunked_array([lists])]
            columns += rows.columns
            tables.append(pa.Table.from_arrays(columns, schema=schema))
        return pa.concat_tables(tables).combine_chunks()

    @classmethod
    def from_table(cls, table: pa.Table) -> "RowSample":
        """Return what `to_table` made a table of."""
        kinds = table.column(0).to_pylist()
        rows = table.remove_column(0).remove_column(0)

        def places(kind: ChangeType) -> list[int]:
            return [place for place, other in enumerate(kinds) if other == kind]

        def part(kind: ChangeType) -> pa.Table:
            return rows.take(pa.array(places(kind), pa.int64()))

        changed = table.column(1)
        return cls(
            inserted=part(ChangeType.INSERT),
            deleted=part(ChangeType.DELETE),
            updated_before=part(ChangeType.UPDATE_BEFORE),
            updated_after=part(ChangeType.UPDATE_AFTER),
            changed=tuple(
                tuple(changed[place].as_py() or ())
                for place in places(ChangeType.UPDATE_AFTER)
            ),
        )


@dataclass(frozen=True, eq=False)
class RowChanges:
    """What comparing rows found; every count is exact.

    Attributes:
        updated: How many rows changed under their key; None without a key.
        unmatched_keys: Keys with several rows on a side, which count as inserted and
            deleted rows, since nobody can tell which became which.
        null_key_rows: Changed rows whose key has a null: inserted or deleted, for a
            null matches nothing.
    """

    inserted: int
    deleted: int
    updated: int | None
    changed_cells: dict[str, int]
    unmatched_keys: int
    null_key_rows: int
    key: tuple[str, ...]
    columns: CommonSchema
    sample: RowSample
    num_files_read: int
    num_rows_read: int


@dataclass(frozen=True)
class RowDiffRequest:
    """How rows are to be compared.

    Attributes:
        key: Columns that tell one row from another; none for whole rows alone.
        folder: Where rows go that do not fit in memory; the system's place for None.
            Executors of a cluster see it as well.
        sample_rows: How many rows of each kind the sample has at most.
        begin: Takes the schema of the changed rows, before any of them.
        write: Takes every changed row; None when they are not all wanted.
        on_progress: Called while rows are read and compared; it may raise to stop.
            In process it counts files, and Spark counts its tasks.
    """

    key: Sequence[str] = ()
    limits: RowLimits = field(default_factory=RowLimits)
    folder: Path | None = None
    sample_rows: int = SAMPLE_ROWS
    begin: Callable[[pa.Schema], None] | None = None
    write: WriteChanges | None = None
    on_progress: Progress | None = None


def change_schema(columns: CommonSchema) -> pa.Schema:
    """Return the schema of the rows that `RowDiffRequest.write` takes."""
    schema = arrow_schema(columns.schema)
    return schema.insert(0, pa.field(free_name(schema.names), pa.string()))


def free_name(taken: Sequence[str]) -> str:
    """Return the name of the column of change types, which no column has."""
    name = CHANGE_TYPE
    while name.lower() in {other.lower() for other in taken}:
        name = f"_{name}"
    return name
