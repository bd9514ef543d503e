"""The file actions of the checkpoint that the next one starts from."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.checkpoint import CheckpointReader
from deltaweb.delta.checkpoint_files import typed_column, with_path
from deltaweb.delta.checkpoint_part import READ_FAULTS, RowGroup
from deltaweb.delta.checkpoint_writer.checkpoint_schema import (
    ADD_EXTRAS,
    REMOVE_EXTRAS,
    TRANSACTION_EXTRAS,
)
from deltaweb.delta.checkpoint_writer.file_rows import valid_rows
from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.parquet_footer import FooterError, read_row_group_counts
from deltaweb.delta.replay import KeySet

ROWS_AT_ONCE: Final = 32_768  # memory of this size is used again and again
STREAMED_ROWS: Final = 2 * ROWS_AT_ONCE  # a row group of more is read in pieces
ADD_FIELDS: Final = (
    *("path", "partitionValues", "partitionValues_parsed", "size"),
    *("modificationTime", "dataChange", "stats", "stats_parsed", "tags"),
    *("deletionVector", *ADD_EXTRAS),
)
REMOVE_FIELDS: Final = (
    *("path", "deletionTimestamp", "dataChange", "deletionVector", *REMOVE_EXTRAS),
)

Actions = tuple[pa.StructArray | None, pa.StructArray | None]
"""Adds and removes; None where there are none."""


def checkpoint_extras(reader: CheckpointReader) -> set[str]:
    """Return the fields beside the specification's that the checkpoint may hold."""
    present = present_leaves(reader)
    names = [
        *(f"add.{name}" for name in ADD_EXTRAS),
        *(f"remove.{name}" for name in REMOVE_EXTRAS),
        *(f"txn.{name}" for name in TRANSACTION_EXTRAS),
    ]
    return {
        name
        for name in names
        if any(leaf == name or leaf.startswith(f"{name}.") for leaf in present)
    }


def present_leaves(reader: CheckpointReader) -> set[str]:
    """Return the leaf columns that hold a value, as far as the footers tell."""
    present: set[str] = set()
    for part in {group.part.name: group.part for group in reader.row_groups}.values():
        try:
            with reader.store.open_input(part.name) as source:
                counts = read_row_group_counts(source)
        except (FooterError, *READ_FAULTS):
            present.update(part.leaves)
            continue
        for group in counts:
            present.update(set(part.leaves) - group.null_leaves)
    return present


def count_rows(reader: CheckpointReader) -> int:
    """Return the actions that the checkpoint holds."""
    parts = {group.part.name: group.part for group in reader.row_groups}
    return sum(int(part.footer.num_rows) for part in parts.values())


def read_checkpoint_files(reader: CheckpointReader, newer: KeySet) -> Iterator[Actions]:
    """Yield the adds and the removes of which no newer commit speaks.

    Raises:
        LogCorruptError: If a file of the checkpoint does not read.
    """
    for group in reader.row_groups:
        for actions in read_group_files(group):
            with names_fault(group.part.path):
                adds, removes = (without(rows, newer) for rows in actions)
            if adds is not None or removes is not None:
                yield adds, removes


def read_group_files(group: RowGroup) -> Iterator[Actions]:
    """Yield the adds and the removes of a piece of a checkpoint.

    Raises:
        LogCorruptError: If it does not read.
    """
    leaves = _leaves(group)
    if not leaves:
        return
    for batch in _batches(group, leaves):
        with names_fault(group.part.path):
            adds, removes = (
                _named_rows(batch.column(name)) if name in batch.schema.names else None
                for name in ("add", "remove")
            )
        if adds is not None or removes is not None:
            yield adds, removes


def without(rows: pa.StructArray | None, newer: KeySet) -> pa.StructArray | None:
    """Return the rows that name a file of which no newer commit speaks."""
    if rows is not None and len(newer):
        hit = newer.contains(typed_column(rows, "path", pa.string()))
        if hit.true_count:
            rows = rows.filter(pc.invert(hit))
    return rows if rows is not None and len(rows) else None


@contextmanager
def names_fault(path: str) -> Iterator[None]:
    """Turn what goes wrong with file actions into a fault of their file.

    Raises:
        LogCorruptError: If anything does.
    """
    try:
        yield
    except READ_FAULTS:
        reason = "its file actions are not of their types"
        raise LogCorruptError(path=path, reason=reason) from None


def _batches(group: RowGroup, leaves: list[str]) -> Iterable[pa.RecordBatch]:
    """Read a row group at once, or in pieces where it is large."""
    if group.num_rows > STREAMED_ROWS:
        return group.part.stream(group.indices, leaves, max_rows=ROWS_AT_ONCE)
    table: pa.Table = group.part.read(group.indices, leaves)
    batches: list[pa.RecordBatch] = table.to_batches(max_chunksize=ROWS_AT_ONCE)
    return batches


def _named_rows(actions: pa.StructArray) -> pa.StructArray | None:
    """Return the rows that name a file; None without any."""
    rows = valid_rows(with_path(actions))
    return rows if len(rows) else None


def _leaves(group: RowGroup) -> list[str]:
    found: list[str] = []
    for action, names in (("add", ADD_FIELDS), ("remove", REMOVE_FIELDS)):
        if group.find_leaves(f"{action}.path"):
            found += [
                leaf for name in names for leaf in group.find_leaves(f"{action}.{name}")
            ]
    return found
