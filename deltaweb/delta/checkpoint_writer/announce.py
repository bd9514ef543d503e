"""A checkpoint that is whole: its files become visible, and then it is named."""

from collections.abc import Sequence
from dataclasses import dataclass

from deltaweb.delta.checkpoint_writer.last_checkpoint import (
    LastCheckpoint,
    write_last_checkpoint,
)
from deltaweb.delta.checkpoint_writer.present_parts import make_way
from deltaweb.delta.checkpoint_writer.request import WrittenCheckpoint
from deltaweb.delta.log_path import checkpoint_name
from deltaweb.delta.log_store import LogStore, ReadyFile


@dataclass(frozen=True, slots=True)
class PreparedCheckpoint:
    """A checkpoint whose files are whole and durable, none of them visible.

    Attributes:
        version: Its version.
        names: The names that its files will have.
        num_actions: Its actions.
        num_files: Its live files.
        num_tombstones: Its tombstones.
        size_bytes: Bytes of its files.
    """

    version: int
    names: tuple[str, ...]
    num_actions: int
    num_files: int
    num_tombstones: int
    size_bytes: int


def announce(
    store: LogStore, prepared: PreparedCheckpoint, files: Sequence[ReadyFile]
) -> WrittenCheckpoint:
    """Put the files of a checkpoint in place, and then name it in the hint.

    Args:
        store: The table's log.
        prepared: The checkpoint.
        files: All its files, in order.

    Raises:
        CheckpointPartsError: If another writer has made as many parts.
        DeltaError: If storage does not take it; readers then see no checkpoint, or a
            whole one without a hint.
    """
    make_way(store, prepared.version, prepared.names)
    for file in files:
        file.commit()
    is_multi_part = prepared.names != (checkpoint_name(prepared.version),)
    hint = LastCheckpoint(
        version=prepared.version,
        num_actions=prepared.num_actions,
        parts=len(prepared.names) if is_multi_part else None,
        size_bytes=prepared.size_bytes,
        num_files=prepared.num_files,
    )
    is_last = write_last_checkpoint(store, hint)
    return WrittenCheckpoint(
        version=prepared.version,
        names=prepared.names,
        num_actions=prepared.num_actions,
        num_files=prepared.num_files,
        num_tombstones=prepared.num_tombstones,
        size_bytes=prepared.size_bytes,
        is_last=is_last,
    )
