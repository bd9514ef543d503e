"""The file actions of the checkpoint that the next one starts from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.checkpoints.files import dv_columns, typed_column, with_path
from deltaweb.delta.log.checkpoints.part import READ_FAULTS, CheckpointRowGroup
from deltaweb.delta.log.checkpoints.reader import CheckpointReader
from deltaweb.delta.log.file_actions import file_keys
from deltaweb.delta.writing.checkpoint.checkpoint_schema import (
    ADD_EXTRAS,
    REMOVE_EXTRAS,
    TRANSACTION_EXTRAS,
    VECTOR,
)
from deltaweb.delta.writing.checkpoint.file_rows import valid_rows
from deltaweb.delta.writing.checkpoint.last_actions import Covers
from deltaweb.parquet.counts import parse_row_group_counts
from deltaweb.parquet.tail import read_footer

ROWS_AT_ONCE: Final = 32_768  # memory of this size is used again and again
STREAMED_ROWS: Final = 2 * ROWS_AT_ONCE  # a row group of more is read in pieces
FIELDS: Final = {
    "add": (
        *("path", "partitionValues", "partitionValues_parsed", "size"),
        *("modificationTime", "dataChange", "stats", "stats_parsed", "tags"),
        *ADD_EXTRAS,
    ),
    "remove": (*("path", "deletionTimestamp", "dataChange", *REMOVE_EXTRAS),),
}
KEYS: Final = {"add": ("path", VECTOR), "remove": ("path", VECTOR)}

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
    """Return the leaf columns that hold a value, as far as the footers show."""
    present: set[str] = set()
    for part in {group.part.name: group.part for group in reader.row_groups}.values():
        try:
            with part.open() as source:
                counts = parse_row_group_counts(read_footer(source))
            for group in counts:
                present.update(set(part.leaves) - group.null_leaves())
        except READ_FAULTS:
            present.update(part.leaves)
    return present


def count_rows(reader: CheckpointReader) -> int:
    """Return the actions that the checkpoint holds."""
    parts = {group.part.name: group.part for group in reader.row_groups}
    return sum(int(part.footer.num_rows) for part in parts.values())


def read_checkpoint_files(
    reader: CheckpointReader, covers: Covers | None
) -> Iterator[Actions]:
    """Yield the adds and the removes of which no newer commit speaks."""
    for path, actions in _read_actions(reader, FIELDS):
        with names_fault(path):
            adds, removes = (
                _uncovered(name, rows, covers)
                for name, rows in zip(FIELDS, actions, strict=True)
            )
        if adds is not None or removes is not None:
            yield adds, removes


def read_checkpoint_keys(reader: CheckpointReader) -> Iterator[tuple[str, pa.Array]]:
    """Yield the keys of the same actions by their kinds, in the same order."""
    for path, actions in _read_actions(reader, KEYS):
        with names_fault(path):
            for name, rows in zip(KEYS, actions, strict=True):
                if rows is not None:
                    yield name, _keys(rows)


def _read_actions(
    reader: CheckpointReader, fields: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, Actions]]:
    """Yield adds and removes piece by piece, each with the path of its file."""
    for group in reader.row_groups:
        leaves = _leaves(group, fields)
        for batch in _batches(group, leaves) if leaves else ():
            with names_fault(group.part.path):
                adds, removes = (
                    _named_rows(batch.column(name))
                    if name in batch.schema.names
                    else None
                    for name in fields
                )
            yield group.part.path, (adds, removes)


def _keys(rows: pa.StructArray) -> pa.Array:
    return file_keys(typed_column(rows, "path", pa.string()), dv_columns(rows)[0])


def _uncovered(
    name: str, rows: pa.StructArray | None, covers: Covers | None
) -> pa.StructArray | None:
    """Return the rows of files of which no newer commit speaks; None without any."""
    if rows is not None and covers is not None:
        hit = covers(name, _keys(rows))
        if hit.true_count:
            rows = rows.filter(pc.invert(hit))
    return rows if rows is not None and len(rows) else None


@contextmanager
def names_fault(path: str) -> Iterator[None]:
    """Turn what goes wrong with file actions into a fault of their file."""
    try:
        yield
    except READ_FAULTS:
        reason = "its file actions have the wrong types"
        raise LogCorruptError(path=path, reason=reason) from None


def _batches(group: CheckpointRowGroup, leaves: list[str]) -> Iterable[pa.RecordBatch]:
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


def _leaves(
    group: CheckpointRowGroup, fields: Mapping[str, Sequence[str]]
) -> list[str]:
    return [
        leaf
        for action, names in fields.items()
        if group.find_leaves(f"{action}.path")
        for name in names
        for leaf in group.find_leaves(f"{action}.{name}")
    ]
