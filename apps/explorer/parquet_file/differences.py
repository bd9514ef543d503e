"""How the columns of a file differ from those of its table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.columns.tree import kind_text
from deltaweb.delta.protocol.schema import StructField, StructType

MAX_DIFFERENCES: Final = 100
MAX_NAME_LENGTH: Final = 200
_COMPARED: Final = [
    *("path", "field_id", "delta_type", "delta_reason"),
    *("physical_type", "effective_type"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A column that is another in the file than in the table.

    Attributes:
        column: Its name in the table, or in the file where the table has none.
        kind: `missing` in the file, `unknown` to the table, `partition`, or `type`.
        table_type: Its type in the table.
        file_type: What the file has of it.
        note: What that means for readers.
    """

    column: str
    kind: str
    table_type: str | None
    file_type: str | None
    note: str


class StoredColumns:
    """The columns of a struct of a table, found as files have them."""

    def __init__(self, struct: StructType) -> None:
        self.fields = struct.fields
        self._by_name = {one.stored_name.lower(): one for one in struct.fields}
        self._by_id = {one.field_id: one for one in struct.fields if one.field_id}

    def find(self, name: str, field_id: int | None) -> StructField | None:
        """Return the column of a name in files; by its id where files are so read."""
        if self._by_id:
            return None if field_id is None else self._by_id.get(field_id)
        return self._by_name.get(name.lower())


def differences(
    nodes: pa.Table, table: StructType | None, partitions: Sequence[str]
) -> list[Difference]:
    """Return how the columns of a file differ from the table's, those at the top.

    Args:
        nodes: `NODE_SCHEMA`.
        table: The table's columns; None where nobody can tell them.
        partitions: Columns whose values are in the log.
    """
    if table is None:
        return []
    return list(_differences(nodes, table, frozenset(partitions)))[:MAX_DIFFERENCES]


def _differences(
    nodes: pa.Table, table: StructType, partitions: frozenset[str]
) -> Iterator[Difference]:
    top = nodes.filter(pc.equal(nodes["depth"], 0))
    rows = top.select(_COMPARED).to_pylist()
    columns = StoredColumns(table)
    found = [columns.find(row["path"][0], row["field_id"]) for row in rows]
    in_file = {
        column.name: row
        for column, row in zip(found, rows, strict=True)
        if column is not None
    }
    for column in columns.fields:
        yield from _column_difference(
            column, in_file.get(column.name), is_partition=column.name in partitions
        )
    for column_in_table, row in zip(found, rows, strict=True):
        if column_in_table is None:
            yield Difference(
                column=row["path"][0][:MAX_NAME_LENGTH],
                kind="unknown",
                table_type=None,
                file_type=row["delta_type"] or stored_text(row),
                note="the table has no such column, and readers pass over it",
            )


def _column_difference(
    column: StructField, row: Mapping[str, Any] | None, *, is_partition: bool
) -> Iterator[Difference]:
    word = kind_text(column.data_type)
    if row is None:
        yield Difference(
            column=column.name[:MAX_NAME_LENGTH],
            kind="partition" if is_partition else "missing",
            table_type=word,
            file_type=None,
            note="its value is in the log" if is_partition else "its rows read NULL",
        )
    elif row["delta_type"] != word:
        yield Difference(
            column=column.name[:MAX_NAME_LENGTH],
            kind="type",
            table_type=word,
            file_type=row["delta_type"] or stored_text(row),
            note=_type_note(row),
        )


def stored_text(row: Mapping[str, Any]) -> str:
    """Return the physical type of a node with its annotation."""
    physical = row["physical_type"] or "group"
    return f"{physical} {row['effective_type'] or ''}".strip()


def _type_note(row: Mapping[str, Any]) -> str:
    reason = row["delta_reason"]
    return reason or "readers convert its values, or refuse them"
