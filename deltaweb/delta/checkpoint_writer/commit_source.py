"""The commits after a checkpoint, for the next one: read twice, held never.

The first pass keeps what identifies each file action and finds the last one of each
file; the second reads the fields of those alone. So memory holds one batch of commits
and the paths that they name, however long the log is.

Source: delta_protocol.md, "Action Reconciliation".
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.action_json import (
    PRESENCE,
    ActionBatch,
    CommitData,
    load_line,
    parse_actions,
)
from deltaweb.delta.action_values import parse_metadata, parse_protocol
from deltaweb.delta.actions import Metadata, Protocol, SetTransaction
from deltaweb.delta.checkpoint_writer.checkpoint_schema import (
    ADD_EXTRAS,
    DOMAIN,
    REMOVE_EXTRAS,
)
from deltaweb.delta.checkpoint_writer.commit_facts import CommitFacts
from deltaweb.delta.commit_file import (
    TRANSACTION,
    parse_transactions,
    raw_actions,
    read_commits,
)
from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.file_actions import (
    DELETION_VECTOR,
    PARTITION_VALUES,
    canonical_keys,
    dv_ids,
    file_keys,
    has_absolute_paths,
    partition_map,
)
from deltaweb.delta.log_store import LogStore
from deltaweb.delta.partition_keys import PartitionKeys, possible_keys
from deltaweb.delta.replay import KeySet, last_rows

Positions = np.ndarray[Any, np.dtype[np.int64]]

PRESENT_ONLY: Final = ("partitionValues", "tags")


@dataclass(frozen=True, slots=True, eq=False)
class CommitActions:
    """What the commits say, reconciled among themselves; files by their position.

    Attributes:
        facts: What they say beside the fields of their files.
        keys: Every file that the commits speak of.
        live: Positions of the last action of each file, where that is an add.
        removed: The same, where that is a remove.
    """

    facts: CommitFacts
    keys: KeySet
    live: Positions
    removed: Positions


def read_commit_actions(store: LogStore, names: Sequence[str]) -> CommitActions:
    """Read what the commits say, oldest first, but for the fields of files.

    Raises:
        LogCorruptError: If a commit does not read.
    """
    found = _Collected()
    for commits in read_commits(store, names):
        batch = parse_actions(commits, _KEY_SCHEMA)
        found.take_rare(batch, commits)
        found.take_keys(batch.table, path=commits[0].name)
    return found.finish()


def read_commit_files(
    store: LogStore,
    names: Sequence[str],
    actions: CommitActions,
    keys: PartitionKeys,
) -> Iterator[tuple[pa.StructArray, pa.StructArray]]:
    """Yield the adds and the removes that are the last ones of their files.

    Args:
        store: The table's log.
        names: The commits, oldest first.
        actions: What the first pass found.
        keys: The keys of partition values, known of the whole log.

    Raises:
        LogCorruptError: If a commit does not read, or is not what it was.
    """
    schema = _file_schema(keys.possible)
    first = 0
    for commits in read_commits(store, names):
        batch = parse_actions(commits, schema)
        last = first + batch.table.num_rows
        wanted = {"add": actions.live, "remove": actions.removed}
        adds, removes = (
            _chosen(
                batch,
                action,
                _between(positions, first, last),
                keys,
                path=commits[0].name,
            )
            for action, positions in wanted.items()
        )
        if adds.null_count or removes.null_count:
            raise LogCorruptError(path=commits[0].name, reason="it changed while read")
        if len(adds) or len(removes):
            yield adds, removes
        first = last


@dataclass(slots=True)
class _Collected:
    """Collects what the first pass finds."""

    protocol: Protocol | None = None
    metadata: Metadata | None = None
    transactions: dict[str, SetTransaction] = field(default_factory=dict)
    domains: dict[str, str | None] = field(default_factory=dict)
    keys: list[pa.Array] = field(default_factory=list)
    positions: list[Positions] = field(default_factory=list)
    is_add: list["np.ndarray[Any, np.dtype[np.bool_]]"] = field(default_factory=list)
    extras: set[str] = field(default_factory=set)
    partition_keys: dict[str, None] = field(default_factory=dict)
    num_rows: int = 0

    def take_rare(self, batch: ActionBatch, commits: Sequence[CommitData]) -> None:
        """Note the actions that a snapshot has one of, or few."""
        for path, raw in raw_actions(batch, "metaData", commits):
            self.metadata = parse_metadata(raw, path=path)
            self.partition_keys.update(dict.fromkeys(possible_keys(self.metadata)))
        for path, raw in raw_actions(batch, "protocol", commits):
            self.protocol = parse_protocol(raw, path=path)
        self.transactions.update(parse_transactions(batch.table["txn"]))
        for raw in batch.table["domainMetadata"].drop_null().to_pylist():
            if raw["domain"] is not None:
                gone = raw["removed"]
                text = None if gone else raw["configuration"] or ""
                self.domains[raw["domain"]] = text

    def take_keys(self, table: pa.Table, *, path: str) -> None:
        """Note which file each file action speaks of."""
        adds, removes = (_combined(table[name]) for name in ("add", "remove"))
        for action, column in (("add", adds), ("remove", removes)):
            self._take_extras(action, column)
            if pc.struct_field(column, ["path"]).null_count != column.null_count:
                raise LogCorruptError(path=path, reason="a file action has no path")
        is_add = adds.is_valid().to_numpy(zero_copy_only=False)
        is_remove = removes.is_valid().to_numpy(zero_copy_only=False)
        if (is_add & is_remove).any():
            raise LogCorruptError(path=path, reason="a line holds two file actions")
        rows = np.flatnonzero(is_add | is_remove)
        keys = file_keys(
            pc.coalesce(*(pc.struct_field(a, ["path"]) for a in (adds, removes))),
            pc.coalesce(*(_dv_ids(a) for a in (adds, removes))),
        )
        self.keys.append(keys.take(pa.array(rows)))
        self.positions.append(rows + self.num_rows)
        self.is_add.append(is_add[rows])
        self.num_rows += table.num_rows

    def finish(self) -> CommitActions:
        """Find the last action of each file."""
        keys = pa.concat_arrays(self.keys) if self.keys else pa.array([], pa.string())
        absolute = len(keys) and has_absolute_paths(keys)
        last = last_rows(canonical_keys(keys) if absolute else keys)
        nothing = np.empty(0, np.int64)
        positions = np.concatenate([nothing, *self.positions])[last]
        is_add = np.concatenate([nothing.astype(np.bool_), *self.is_add])[last]
        facts = CommitFacts(
            protocol=self.protocol,
            metadata=self.metadata,
            transactions=self.transactions,
            domains=self.domains,
            extras=frozenset(self.extras),
            partition_keys=tuple(self.partition_keys),
            num_actions=len(keys),
        )
        return CommitActions(
            facts=facts,
            keys=KeySet(keys.take(pa.array(last))),
            live=positions[is_add],
            removed=positions[~is_add],
        )

    def _take_extras(self, action: str, column: pa.StructArray) -> None:
        known = ADD_EXTRAS if action == "add" else REMOVE_EXTRAS
        for name in known:
            values = pc.struct_field(column, [name])
            if values.null_count < len(values):
                self.extras.add(f"{action}.{name}")


def _dv_ids(actions: pa.StructArray) -> pa.Array:
    return dv_ids(pc.struct_field(actions, ["deletionVector"]))


def _combined(column: pa.ChunkedArray) -> pa.StructArray:
    combined = column.combine_chunks()
    if isinstance(combined, pa.ChunkedArray):
        return pa.concat_arrays(combined.chunks) if combined.num_chunks else pa.array(
            [], column.type
        )  # fmt: skip
    return combined


# === The second pass ===


def _between(positions: Positions, first: int, last: int) -> Positions:
    """Return the rows of a batch whose positions are wanted."""
    low, high = np.searchsorted(positions, [first, last])
    return positions[low:high] - first


def _chosen(
    batch: ActionBatch, action: str, rows: Positions, keys: PartitionKeys, *, path: str
) -> pa.StructArray:
    """Return the wanted rows of an action, maps as maps."""
    actions = _combined(batch.table[action].take(pa.array(rows)))
    columns = {
        part.name: pc.struct_field(actions, [part.name]) for part in actions.type
    }
    values = columns["partitionValues"]
    required = frozenset(keys.required)
    if action == "remove" and not required.issuperset(keys.possible):
        required = frozenset()  # it may be of a time when others were the keys
    maps = partition_map(values, required)
    if values.null_count:
        maps = pc.if_else(values.is_valid(), maps, pa.scalar(None, PARTITION_VALUES))
    columns["partitionValues"] = maps
    if "tags" in columns:
        columns["tags"] = _tags(batch, columns["tags"], rows, path=path)
    return pa.StructArray.from_arrays(
        list(columns.values()), names=list(columns), mask=actions.is_null()
    )


def _tags(
    batch: ActionBatch, present: pa.Array, rows: Positions, *, path: str
) -> pa.Array:
    """Return the tags of files: their keys are not known before, so line by line."""
    if present.null_count == len(present):
        return pa.nulls(len(present), PARTITION_VALUES)
    tags: list[list[tuple[str, str | None]] | None] = []
    has_tags = present.is_valid().to_numpy(zero_copy_only=False)
    for row, has_any in zip(rows.tolist(), has_tags, strict=True):
        if not has_any:
            tags.append(None)
            continue
        raw = load_line(batch.lines[row], name=path)["add"]["tags"]
        tags.append([(key, _text(value)) for key, value in raw.items()])
    try:
        return pa.array(tags, PARTITION_VALUES)
    except UnicodeError:
        reason = "a tag of a file is no Unicode text"
        raise LogCorruptError(path=path, reason=reason) from None


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _fields(names: Mapping[str, pa.DataType]) -> list[pa.Field]:
    return [pa.field(name, data_type) for name, data_type in names.items()]


def _key_fields(extras: Mapping[str, pa.DataType]) -> pa.StructType:
    kept = {
        name: PRESENCE if name in PRESENT_ONLY else data_type
        for name, data_type in extras.items()
    }
    fields = {"path": pa.string(), "deletionVector": DELETION_VECTOR, **kept}
    return pa.struct(_fields(fields))


_KEY_SCHEMA: Final = pa.schema(
    [
        pa.field("add", _key_fields(ADD_EXTRAS)),
        pa.field("remove", _key_fields(REMOVE_EXTRAS)),
        pa.field("txn", TRANSACTION),
        pa.field("domainMetadata", DOMAIN),
        pa.field("protocol", PRESENCE),
        pa.field("metaData", PRESENCE),
    ]
)


def _file_schema(partition_columns: Sequence[str]) -> pa.Schema:
    values = pa.struct([pa.field(name, pa.string()) for name in partition_columns])
    shared: dict[str, pa.DataType] = {
        "path": pa.string(),
        "partitionValues": values,
        "size": pa.int64(),
        "dataChange": pa.bool_(),
        "deletionVector": DELETION_VECTOR,
    }
    add = {
        **shared,
        "modificationTime": pa.int64(),
        "stats": pa.string(),
        "tags": PRESENCE,
        **ADD_EXTRAS,
    }
    remove = {
        **REMOVE_EXTRAS,
        **shared,
        "deletionTimestamp": pa.int64(),
    }
    return pa.schema(
        [
            pa.field("add", pa.struct(_fields(add))),
            pa.field("remove", pa.struct(_fields(remove))),
        ]
    )
