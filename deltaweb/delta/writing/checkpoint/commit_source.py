"""The commits after a checkpoint, for the next one: read twice, held never.

The first pass collects what identifies each file action (`last_actions`); the second
reads the fields of those alone that are the last ones of their files. So memory holds
one batch of commits, keys of bounded size and a byte a line, however long the log is.

Source: delta_protocol.md, "Action Reconciliation".
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.commits.arrow_reader import ActionBatch, load_line
from deltaweb.delta.log.commits.fields import (
    METADATA,
    PRESENCE,
    PROTOCOL,
    TRANSACTION,
    commit_schema,
    file_action,
)
from deltaweb.delta.log.commits.newest import NewestActions
from deltaweb.delta.log.commits.partition_keys import PartitionKeys
from deltaweb.delta.log.commits.reading import parsed_commits
from deltaweb.delta.log.file_actions import (
    DELETION_VECTOR,
    PARTITION_VALUES,
    dv_ids,
    file_keys,
    partition_map,
)
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.values.whole import one_array
from deltaweb.delta.writing.checkpoint.checkpoint_schema import (
    ADD_EXTRAS,
    DOMAIN,
    REMOVE_EXTRAS,
    VECTOR,
)
from deltaweb.delta.writing.checkpoint.last_actions import (
    ADD,
    KINDS,
    REMOVE,
    ActionKeys,
    Kinds,
    Numbers,
)
from deltaweb.delta.writing.checkpoint.rare_actions import CommitFacts

PRESENT_ONLY: Final = frozenset({"partitionValues", "tags"})


def read_commit_facts(
    store: LogStore, names: Sequence[str], keys: ActionKeys
) -> CommitFacts:
    """Read what the commits say beside the fields of their files.

    Args:
        keys: Takes what identifies each file action.
    """
    found = _Collected(keys)
    for _, batch in parsed_commits(store, names, _KEY_SCHEMA):
        found.take_rare(batch)
        found.take_keys(batch)
    return found.facts()


def read_commit_files(
    store: LogStore, names: Sequence[str], kinds: Kinds, keys: PartitionKeys
) -> Iterator[tuple[pa.StructArray, pa.StructArray]]:
    """Yield the adds and the removes that are the last ones of their files.

    Args:
        kinds: What each line is, as `LastActions` has it.
        keys: The keys of partition values, known of the whole log.
    """
    schema = _file_schema(keys.possible)
    for first, batch in parsed_commits(store, names, schema):
        mine = kinds[first : first + batch.table.num_rows]
        adds, removes = (
            _chosen(batch, action, np.flatnonzero(mine == kind), keys)
            for action, kind in KINDS.items()
        )
        if adds.null_count or removes.null_count:
            raise LogCorruptError(
                path=batch.paths[0], reason="it changed while it was read"
            )
        if len(adds) or len(removes):
            yield adds, removes


@dataclass(slots=True)
class _Collected:
    keys: ActionKeys
    newest: NewestActions = field(default_factory=NewestActions)
    domains: dict[str, str | None] = field(default_factory=dict)
    extras: set[str] = field(default_factory=set)

    def take_rare(self, batch: ActionBatch) -> None:
        """Note the actions that a snapshot has one of, or few."""
        self.newest.take_metadata(batch)
        self.newest.take_protocol(batch)
        self.newest.take_transactions(batch)
        for raw in batch.table["domainMetadata"].drop_null().to_pylist():
            if raw["domain"] is not None:
                gone = raw["removed"]
                text = None if gone else raw["configuration"] or ""
                self.domains[raw["domain"]] = text

    def take_keys(self, batch: ActionBatch) -> None:
        path = batch.paths[0]
        adds, removes = batch.column("add"), batch.column("remove")
        for action, column in (("add", adds), ("remove", removes)):
            self._take_extras(action, column)
            if pc.struct_field(column, ["path"]).null_count != column.null_count:
                raise LogCorruptError(path=path, reason="a file action has no path")
        is_add = adds.is_valid().to_numpy(zero_copy_only=False)
        is_remove = removes.is_valid().to_numpy(zero_copy_only=False)
        if (is_add & is_remove).any():
            raise LogCorruptError(path=path, reason="a line has two file actions")
        rows = np.flatnonzero(is_add | is_remove)
        keys = file_keys(
            pc.coalesce(*(pc.struct_field(a, ["path"]) for a in (adds, removes))),
            pc.coalesce(*(_dv_ids(a) for a in (adds, removes))),
        )
        kinds = np.where(is_add[rows], ADD, REMOVE)
        num_rows = batch.table.num_rows
        self.keys.add(keys.take(pa.array(rows)), rows, kinds, num_rows)

    def facts(self) -> CommitFacts:
        return CommitFacts(
            protocol=self.newest.protocol,
            metadata=self.newest.metadata,
            transactions=self.newest.transactions,
            domains=self.domains,
            extras=frozenset(self.extras),
            partition_keys=tuple(self.newest.keys),
            num_actions=self.keys.num_actions,
        )

    def _take_extras(self, action: str, column: pa.StructArray) -> None:
        known = ADD_EXTRAS if action == "add" else REMOVE_EXTRAS
        for name in known:
            values = pc.struct_field(column, [name])
            if values.null_count < len(values):
                self.extras.add(f"{action}.{name}")


def _dv_ids(actions: pa.StructArray) -> pa.Array:
    return dv_ids(pc.struct_field(actions, [VECTOR]))


# === The second pass ===


def _chosen(
    batch: ActionBatch, action: str, rows: Numbers, keys: PartitionKeys
) -> pa.StructArray:
    """Return the wanted rows of an action, maps as maps."""
    actions = one_array(batch.table[action].take(pa.array(rows)))
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
        columns["tags"] = _tags(batch, columns["tags"], rows)
    return pa.StructArray.from_arrays(
        list(columns.values()), names=list(columns), mask=actions.is_null()
    )


def _tags(batch: ActionBatch, present: pa.Array, rows: Numbers) -> pa.Array:
    """Return the tags of files: their keys are not known before, so line by line."""
    path = batch.paths[0]
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
        reason = "a tag of a file is not Unicode text"
        raise LogCorruptError(path=path, reason=reason) from None


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _key_action(extras: Mapping[str, pa.DataType]) -> pa.StructType:
    present = dict.fromkeys(PRESENT_ONLY & extras.keys(), PRESENCE)
    others = {**extras, **present, VECTOR: DELETION_VECTOR}
    return file_action(("path",), others=others)


_KEY_SCHEMA: Final = commit_schema(
    PROTOCOL,
    METADATA,
    add=_key_action(ADD_EXTRAS),
    remove=_key_action(REMOVE_EXTRAS),
    txn=TRANSACTION,
    domainMetadata=DOMAIN,
)


def _file_schema(partition_columns: Sequence[str]) -> pa.Schema:
    shared = ("path", "size", "dataChange")
    vector = {VECTOR: DELETION_VECTOR}
    return commit_schema(
        add=file_action(
            (*shared, "modificationTime", "stats"),
            partition_columns=partition_columns,
            others={"tags": PRESENCE, **ADD_EXTRAS, **vector},
        ),
        remove=file_action(
            (*shared, "deletionTimestamp"),
            partition_columns=partition_columns,
            others={
                k: v
                for k, v in {**REMOVE_EXTRAS, **vector}.items()
                if k != "partitionValues"
            },
        ),
    )
