"""Checkpoints: what each holds, read by column name when it is asked for.

    part        one file: its footer and its leaf columns
    json_file   one that is JSON, as the Parquet that it could be
    sidecars    the files that a checkpoint names for its file actions
    files       live files, tombstones and statistics of a row group

Source: delta_protocol.md, "Checkpoint Format" and "Checkpoint Schema".
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from deltaweb.delta.errors import MissingMetadataError, MissingProtocolError
from deltaweb.delta.log.blocks import FileBlock
from deltaweb.delta.log.checkpoints.files import (
    add_leaves,
    read_blocks,
    read_tombstones,
)
from deltaweb.delta.log.checkpoints.part import (
    CheckpointRowGroup,
    open_part,
    raw_actions,
)
from deltaweb.delta.log.checkpoints.sidecars import find_sidecars, open_sidecar
from deltaweb.delta.log.file_actions import TOMBSTONES_SCHEMA
from deltaweb.delta.log.replay import ROWS_WORTH_THREADS, run_in_threads
from deltaweb.delta.log.segment import Checkpoint
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.protocol.action_values import parse_metadata, parse_protocol
from deltaweb.delta.protocol.actions import Metadata, Protocol, SetTransaction


class CheckpointReader:
    """What a checkpoint holds, each kind of action read when asked for."""

    def __init__(self, store: LogStore, checkpoint: Checkpoint) -> None:
        self.store = store
        self.version = checkpoint.version
        # Each footer is a round trip of its own where storage is far away.
        parts = run_in_threads(
            partial(open_part, store), checkpoint.names, num_rows=ROWS_WORTH_THREADS
        )
        self.path = f"{store.root}/_delta_log/{checkpoint.names[0]}"
        self._groups = [group for groups in parts for group in groups]
        self.sidecars = find_sidecars(store, checkpoint, self._groups)
        if self.sidecars:
            found = run_in_threads(
                partial(open_sidecar, store),
                [sidecar.name for sidecar in self.sidecars],
                num_rows=ROWS_WORTH_THREADS,
            )
            self._groups += [group for groups in found for group in groups]

    @property
    def row_groups(self) -> Sequence[CheckpointRowGroup]:
        """What is read at once, in order."""
        return self._groups

    def protocol_and_metadata(
        self, *, reads_ahead: bool = True
    ) -> tuple[Protocol, Metadata]:
        """Return the one protocol and the one metaData.

        Args:
            reads_ahead: Whether `blocks` is called next, and nothing else: of a
                small part, both are then one read.
        """
        found = self._actions(
            "protocol", "metaData", is_opening=True, reads_ahead=reads_ahead
        )
        if not found["protocol"]:
            raise MissingProtocolError(root=self.store.root, version=self.version)
        if not found["metaData"]:
            raise MissingMetadataError(root=self.store.root, version=self.version)
        return (
            parse_protocol(found["protocol"][0], path=self.path),
            parse_metadata(found["metaData"][0], path=self.path),
        )

    def transactions(self) -> dict[str, SetTransaction]:
        found: dict[str, SetTransaction] = {}
        for raw in self._actions("txn")["txn"]:
            app_id, version = raw.get("appId"), raw.get("version")
            if isinstance(app_id, str) and isinstance(version, int):
                found[app_id] = SetTransaction(
                    app_id=app_id,
                    version=version,
                    last_updated=raw.get("lastUpdated"),
                )
        return found

    def domains(self) -> dict[str, str]:
        """Return the configuration of each domain of the table's metadata."""
        return {
            raw["domain"]: raw.get("configuration") or ""
            for raw in self._actions("domainMetadata")["domainMetadata"]
            if isinstance(raw.get("domain"), str) and not raw.get("removed")
        }

    def blocks(self) -> list[FileBlock]:
        """Return the live files, a block a row group."""
        groups = self._row_groups("add.path")
        found = run_in_threads(read_blocks, groups, num_rows=_count_rows(groups))
        return [block for blocks in found for block in blocks]

    def tombstones(self) -> pa.Table:
        """Return the tombstones by `TOMBSTONES_SCHEMA`."""
        groups = self._row_groups("remove.path")
        num_rows = _count_rows(groups)
        batches = run_in_threads(read_tombstones, groups, num_rows=num_rows)
        return pa.Table.from_batches(
            [batch for found in batches for batch in found], TOMBSTONES_SCHEMA
        )

    def _row_groups(self, *prefixes: str) -> list[CheckpointRowGroup]:
        """Return the row groups in which any leaf below a prefix holds a value."""
        return [
            group
            for group in self._groups
            if any(group.find_leaves(prefix) for prefix in prefixes)
        ]

    def _actions(
        self, *kinds: str, is_opening: bool = False, reads_ahead: bool = False
    ) -> dict[str, list[dict[str, Any]]]:
        """Return the actions of rare kinds as they are.

        Args:
            is_opening: Whether one action of each kind is all there can be.
            reads_ahead: Whether `blocks` is called next.
        """
        found: dict[str, list[dict[str, Any]]] = {kind: [] for kind in kinds}
        for group in self._row_groups(*kinds):
            if is_opening and all(found.values()):
                break
            leaves = {kind: group.find_leaves(kind) for kind in kinds}
            ahead = add_leaves(group) if reads_ahead and group.part.is_small else ()
            wanted = [leaf for some in leaves.values() for leaf in some]
            table = group.read(wanted, ahead)
            for kind in kinds:
                if leaves[kind]:
                    found[kind].extend(raw_actions(group.part, table[kind], kind))
        return found


def _count_rows(groups: Sequence[CheckpointRowGroup]) -> int:
    return sum(group.num_rows for group in groups)
