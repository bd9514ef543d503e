"""A batch of commits as an index wants it: rows, changes, and file actions.

What depends on the commits before them is left to `History`, so that parts can be
made in any order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import pyarrow as pa

from deltaweb.delta.log.commits.batch import CommitBatch
from deltaweb.delta.log.commits.provenance import load_object
from deltaweb.delta.log.commits.summary import CommitSummary, commit_numbers, summed_up
from deltaweb.delta.log.commits.times import RunningTimes
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.index.folder.file_index import COMMIT_SCHEMA
from deltaweb.index.history.commit_files import batch_file_actions
from deltaweb.index.history.lifetimes import FileActions
from deltaweb.index.history.sentences.changes import commit_sentence
from deltaweb.index.history.sentences.commit_facts import Facts
from deltaweb.index.history.stored_values import bounded_texts, clean_text, clean_texts

MAX_NAME_LENGTH: Final = 300
MAX_OPERATION_LENGTH: Final = 100
VACUUM_STARTS: Final = frozenset({"VACUUM START", "VACUUM"})
VACUUM_ENDS: Final = frozenset({"VACUUM END", "VACUUM"})
_VACUUMS: Final = VACUUM_STARTS | VACUUM_ENDS


class CommitChange(NamedTuple):
    """A commit that changes more than the files of the table.

    Attributes:
        retention_ms: How long that VACUUM keeps files; None where it does not say.
        claimed_ms: When its writer claims to have made it; None likewise.
    """

    row: int
    metadata: Metadata | None
    protocol: Protocol | None
    is_vacuum_start: bool
    is_vacuum_end: bool
    retention_ms: int | None
    claimed_ms: int | None


@dataclass(frozen=True, slots=True, eq=False)
class CommitPart:
    """Consecutive commits of a log, oldest first.

    Attributes:
        rows: By `COMMIT_SCHEMA`; null what depends on other commits, and the time
            where reading does not show it.
        changes: Those that change more than files, ascending by row.
        is_faulty: Whether the one commit of the part does not read.
        file_actions: Their file actions; None where it is not known of which files.
        own_ms: The time that each commit carries; null where it carries none.
    """

    rows: pa.RecordBatch
    changes: Sequence[CommitChange]
    is_faulty: bool
    file_actions: FileActions | None
    own_ms: pa.Int64Array

    @property
    def versions(self) -> list[int]:
        found: list[int] = self.rows["version"].to_pylist()
        return found

    def at_times(self, times: RunningTimes) -> "CommitPart":
        """Return the part with its times after those of the commits before it."""
        place = COMMIT_SCHEMA.get_field_index("timestamp_ms")
        versions = self.rows["version"].to_numpy()
        times_ms = pa.array(times.take(versions, self.rows[place], self.own_ms))
        rows = self.rows.set_column(place, COMMIT_SCHEMA.field(place), times_ms)
        return replace(self, rows=rows)


def commit_part(batch: CommitBatch) -> CommitPart:
    """Take from parsed commits what an index holds of them."""
    said = batch.provenance
    numbers = commit_numbers(batch)
    alike = pa.array(said.parameters, pa.binary()).dictionary_encode()
    distinct, kinds = alike.dictionary.to_pylist(), alike.indices.to_pylist()
    objects = [load_object(text) for text in distinct]
    facts = [Facts(one) for one in objects]
    details = summed_up(batch, numbers, [objects[kind] for kind in kinds])
    columns: dict[str, Any] = {
        **numbers,
        "version": batch.versions,
        "timestamp_ms": [commit.time_ms for commit in batch.commits],
        "operation": _names(said.operations, MAX_OPERATION_LENGTH),
        "parameters": bounded_texts(distinct).take(alike.indices),
        "metrics": bounded_texts(said.metrics),
        "user_name": _names(said.users, MAX_NAME_LENGTH),
        "engine_info": _names(said.engine_infos, MAX_NAME_LENGTH),
        "sentence": clean_texts(
            [
                commit_sentence(one, facts[kind])
                for one, kind in zip(details, kinds, strict=True)
            ]
        ),
        "changes_metadata": [one.metadata is not None for one in details],
    }
    arrays = [
        pa.array(columns[field.name], field.type)
        if field.name in columns
        else pa.nulls(len(details), field.type)
        for field in COMMIT_SCHEMA
    ]
    return CommitPart(
        rows=pa.RecordBatch.from_arrays(arrays, schema=COMMIT_SCHEMA),
        changes=_changes(batch, details),
        is_faulty=batch.fault is not None,
        file_actions=batch_file_actions(batch) if batch.has_identities else None,
        own_ms=pa.array(said.own_ms, pa.int64()),
    )


def _names(texts: Sequence[str | None], length: int) -> list[str]:
    """Cut and clean texts, most of which are like many others."""
    known = {text: clean_text((text or "")[:length]) for text in set(texts)}
    return [known[text] for text in texts]


def _changes(
    batch: CommitBatch, details: Sequence[CommitSummary]
) -> list[CommitChange]:
    changes = []
    names = {one.operation for one in details}
    vacuums = {name for name in names if name.strip().upper() in _VACUUMS}
    for row, one in enumerate(details):
        is_vacuum = one.operation in vacuums
        if not is_vacuum and one.metadata is None and one.protocol is None:
            continue
        operation = one.operation.strip().upper()
        parameters = Facts(one.parameters)
        retention_ms = parameters.number("specifiedRetentionMillis")
        if retention_ms is None:
            retention_ms = parameters.number("defaultRetentionMillis")
        changes.append(
            CommitChange(
                row=row,
                metadata=one.metadata,
                protocol=one.protocol,
                is_vacuum_start=operation in VACUUM_STARTS,
                is_vacuum_end=operation in VACUUM_ENDS,
                retention_ms=retention_ms,
                claimed_ms=Facts(batch.info(row) or {}).number("timestamp"),
            )
        )
    return changes
