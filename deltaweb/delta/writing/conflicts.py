"""Whether a transaction can give way to a commit that was made first.

One pure function of what we read and did, and of what won. Who gives way commits the
same actions as a later version, so everything that they depend on must be as if the
winner had come before: or, under WriteSerializable, a winner that read nothing as if
it came after.

Source: delta_protocol.md, "Delta Log Entries"; the isolation levels are those of the
reference implementation.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.changes.schema import FieldAspect, diff_schemas
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.features.identity_columns import differ_by_marks_alone
from deltaweb.delta.features.registry import writer_features
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import parse_schema
from deltaweb.delta.protocol.table_properties import CONSTRAINT_PREFIX, PREFIX
from deltaweb.delta.scan.predicate import Predicate
from deltaweb.delta.scan.pruning import files_for_predicate
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.values.partition_values import (
    partition_schema,
    type_partition_values,
)
from deltaweb.delta.values.statistics.columns import parse_statistics
from deltaweb.delta.writing.concurrent_commits import WinningCommit, may_define
from deltaweb.delta.writing.requirements import (
    action_rules,
    is_append_only,
    writing_refusal,
)
from deltaweb.delta.writing.transaction import IsolationLevel, Transaction

SCHEMA: Final = "schema_string"
HARMLESS_PROPERTIES: Final = frozenset(
    {
        "delta.checkpoint.writeStatsAsJson",
        "delta.checkpoint.writeStatsAsStruct",
        "delta.checkpointInterval",
        "delta.deletedFileRetentionDuration",
        "delta.enableExpiredLogCleanup",
        "delta.logRetentionDuration",
    }
)
"""Properties of the protocol that no write of rows depends on."""
OF_CHANGES: Final = frozenset(
    {
        "delta.appendOnly",
        "delta.checkpointPolicy",
        "delta.enableChangeDataFeed",
        "delta.enableDeletionVectors",
        "delta.enableTypeWidening",
        "delta.setTransactionRetentionDuration",
    }
)
"""Properties that matter to who changes rows or columns: new rows, and rows that are
only arranged again, are written as before."""
UNSEEN_PREFIXES: Final = (
    CONSTRAINT_PREFIX,
    "delta.autoOptimize.",
    "delta.columnMapping.maxColumnId",
    "delta.dataSkipping",
    "delta.isolationLevel",
    "delta.parquet.",
    "delta.targetFileSize",
)
"""Properties that matter to new rows, and not to rows that are only arranged again."""
UNSEEN_ASPECTS: Final = frozenset({FieldAspect.COMMENT})


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why a transaction cannot give way.

    Attributes:
        subject: The first file, property or application concerned; may be empty.
    """

    kind: str
    reason: str
    subject: str = ""


def find_conflict(ours: Transaction, winner: WinningCommit) -> Conflict | None:
    """Return why a transaction cannot follow a commit; None when it can."""
    return (
        _definition_conflict(ours, winner)
        or _transaction_conflict(ours, winner)
        or _removed_conflict(ours, winner)
        or _added_conflict(ours, winner)
    )


def is_ignored(ours: Transaction, commit: bytes) -> bool:
    """Return whether a winner is seen to be none that `find_conflict` objects to.

    An append that read nothing, and notes no transaction, depends on the table's
    definition alone: of a commit without one nothing else is looked at.
    """
    depends_on_more = ours.changes_definition or not ours.is_blind_append or ours.txn
    return not depends_on_more and not may_define(commit)


def _definition_conflict(ours: Transaction, winner: WinningCommit) -> Conflict | None:
    conflict = _protocol_conflict(ours, winner)
    if conflict is not None or winner.metadata is None or ours.is_mark:
        return conflict
    changed = _seen_change(ours, winner.metadata)
    if changed is None:
        return None
    return Conflict("metadata", "it changed the table's definition", changed)


def _protocol_conflict(ours: Transaction, winner: WinningCommit) -> Conflict | None:
    """Return why a transaction cannot follow a change of the protocol.

    It can where it is written by the same rules as before, and the others are known
    here: then what it prepared satisfies the new protocol as it does the old one.
    """
    if winner.protocol is None:
        return None
    if ours.base is None or ours.protocol is not None:
        return Conflict("protocol", "it changed the protocol of the table")
    before = replace(ours.base, metadata=ours.next_metadata)
    metadata = ours.metadata or winner.metadata or before.metadata
    after = Definition(winner.version, winner.protocol, metadata)
    gone = _lost_features(before.protocol, after.protocol)
    if gone is not None:
        return Conflict("protocol", "it removed from the protocol of the table", gone)
    changes_rows = bool(ours.removed.num_rows) and ours.data_change
    refusal = writing_refusal(after, root="")
    if refusal is None and not (
        changes_rows and is_append_only(metadata.configuration)
    ):
        rules = [
            action_rules(one, changes_rows=changes_rows) for one in (before, after)
        ]
        if rules[0] == rules[1]:
            return None
    new = {*writer_features(after.protocol)} - {*writer_features(before.protocol)}
    reason = "it changed the protocol to one that this write does not support"
    return Conflict("protocol", reason, ", ".join(sorted(new)))


def _lost_features(before: Protocol, after: Protocol) -> str | None:
    """Return what a protocol asks less than another, "" for a version; else None."""
    lost = {*writer_features(before)} - {*writer_features(after)}
    if lost:
        return min(lost)
    is_lower = (
        after.min_reader_version < before.min_reader_version
        or after.min_writer_version < before.min_writer_version
    )
    return "" if is_lower else None


def _seen_change(ours: Transaction, after: Metadata) -> str | None:
    """Return what a transaction depends on of a new metaData; "" for all of it."""
    if ours.base is not None and after == ours.base.metadata:
        return None  # some write it again with a protocol
    if ours.base is None or ours.changes_definition:
        return ""
    before = ours.base.metadata
    if differ_by_marks_alone(before, after):
        return None  # rows that it numbered, and none of ours
    if ours.is_blind_append:
        return _changed_part(before, after, is_harmless=_is_unseen_by_new_rows)
    if not _only_arranges(ours):
        return ""
    changed = _changed_part(before, after, is_harmless=_is_unseen)
    return None if changed == SCHEMA and only_grows(before, after) else changed


def _only_arranges(ours: Transaction) -> bool:
    """Return whether rows get other files, and nothing else becomes another."""
    has_files = ours.added.num_rows or ours.removed.num_rows
    return bool(has_files) and ours.isolation is IsolationLevel.SNAPSHOT


def only_grows(before: Metadata, after: Metadata) -> bool:
    """Return whether files of the old schema are as good as others under the new one.

    Columns that they lack are null in their rows, and words are not in files.
    """
    with suppress(DeltaError):
        schemas = [parse_schema(one.schema_string or "") for one in (before, after)]
        changes = diff_schemas(*schemas)
        return not changes.removed and all(
            {*change.aspects} <= UNSEEN_ASPECTS for change in changes.changed
        )
    return False


def _changed_part(
    before: Metadata, after: Metadata, *, is_harmless: Callable[[str], bool]
) -> str | None:
    """Return what of a definition changed that matters; its schema where it is alone.

    Args:
        is_harmless: Whether a property does not matter.
    """
    for part in ("id", "format"):
        if getattr(before, part) != getattr(after, part):
            return part
    if [*before.partition_columns] != [*after.partition_columns]:
        return "partition_columns"
    old, new = before.configuration, after.configuration
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name) and not is_harmless(name):
            return name
    return SCHEMA if before.schema_string != after.schema_string else None


def _is_harmless(name: str) -> bool:
    return name in HARMLESS_PROPERTIES or not name.startswith(PREFIX)


def _is_unseen_by_new_rows(name: str) -> bool:
    return _is_harmless(name) or name in OF_CHANGES


def _is_unseen(name: str) -> bool:
    return _is_unseen_by_new_rows(name) or name.startswith(UNSEEN_PREFIXES)


def _transaction_conflict(ours: Transaction, winner: WinningCommit) -> Conflict | None:
    if ours.txn is None or ours.txn.app_id not in winner.transactions:
        return None
    reason = "the same application committed it"
    return Conflict("transaction", reason, ours.txn.app_id)


def _removed_conflict(ours: Transaction, winner: WinningCommit) -> Conflict | None:
    removed = winner.removed
    if not removed.num_rows:
        return None
    for files, does in ((ours.removed, "removes"), (ours.added, "adds again")):
        both = _first_in(removed["path"], files["path"])
        if both is not None:
            reason = f"it removed a file that this {does}"
            return Conflict("file-removed", reason, both)
    if ours.read.is_nothing or not ours.data_change:
        return None
    if ours.removed.num_rows:
        # The rows of files that were only rearranged are where they were: elsewhere.
        removed = removed.filter(removed["data_change"])
    if not removed.num_rows:
        return None
    read = _first_read(ours, removed["path"])
    if read is None:
        return None
    return Conflict("file-removed", "it removed a file that this read", read)


def _first_read(ours: Transaction, paths: pa.ChunkedArray) -> str | None:
    if ours.read.everything or ours.read.files is None:
        return str(paths[0])
    return _first_in(paths, ours.read.files["path"])


def _first_in(paths: pa.ChunkedArray, others: pa.ChunkedArray) -> str | None:
    if not len(paths) or not len(others):
        return None
    found = paths.filter(pc.is_in(paths, value_set=others.combine_chunks()))
    return str(found[0]) if len(found) else None


def _added_conflict(ours: Transaction, winner: WinningCommit) -> Conflict | None:
    is_blind = winner.is_blind_append and not winner.removed.num_rows
    may_come_after = ours.isolation is IsolationLevel.WRITE_SERIALIZABLE and is_blind
    if ours.read.is_nothing or not ours.data_change or may_come_after:
        return None
    added = winner.added.filter(winner.added["data_change"])
    if not added.num_rows:
        return None
    read = ours.read
    if read.everything:
        matching = added
    elif read.predicate is not None and ours.base is not None:
        matching = _may_match(read.predicate, added, ours.base)
    else:
        return None
    if not matching.num_rows:
        return None
    reason = "it added rows that this operation should have read"
    return Conflict("file-added", reason, str(matching["path"][0]))


def _may_match(predicate: Predicate, added: pa.Table, base: Definition) -> pa.Table:
    """Return files that may hold a row of a condition; all where it is not clear."""
    metadata = base.metadata
    if metadata.schema_string is None:
        return added
    with suppress(DeltaError):
        schema = table_schema(base.protocol, metadata)
        partitions = type_partition_values(
            added["partition_values"],
            partition_schema(schema, metadata.partition_columns),
            added["path"],
        )
        mask = files_for_predicate(
            predicate,
            partitions.combine_chunks(),
            lambda columns: parse_statistics(added["stats"], schema, columns),
        )
        return added.filter(pa.array(mask))
    return added
