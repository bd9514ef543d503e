"""Commits of any kind, parsed into Arrow columns that are checked, or line by line.

Source: delta_protocol.md, "Actions".
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.action_json import (
    PRESENCE,
    ActionBatch,
    CommitData,
    load_rows,
    parse_actions,
)
from deltaweb.delta.actions import SetTransaction
from deltaweb.delta.commit_actions import CommitActions, FileActionRows
from deltaweb.delta.commit_file import TRANSACTION, owned_actions, parse_transactions
from deltaweb.delta.file_actions import DELETION_VECTOR, dv_ids, no_dv_ids
from deltaweb.delta.provenance import (
    SAYS_NOTHING,
    Provenances,
    RawProvenance,
    cut_provenance,
    write_provenance,
)
from deltaweb.delta.record_counts import record_counts

COMMIT_INFO: Final = "commitInfo"
ROWS_A_SLICE: Final = 4_096
_FILE_ACTION: Final = [
    pa.field("path", pa.string()),
    pa.field("size", pa.int64()),
    pa.field("dataChange", pa.bool_()),
    pa.field("stats", pa.string()),
    pa.field("deletionTimestamp", pa.int64()),
]
_VECTOR: Final = pa.field("deletionVector", DELETION_VECTOR)


def _actions_schema(*identity: pa.Field) -> pa.Schema:
    file_action = pa.struct([*_FILE_ACTION, *identity])
    return pa.schema(
        [
            pa.field("add", file_action),
            pa.field("remove", file_action),
            pa.field("txn", TRANSACTION),
            pa.field("protocol", PRESENCE),
            pa.field("metaData", PRESENCE),
            pa.field(COMMIT_INFO, PRESENCE),
        ]
    )


SCHEMA: Final = _actions_schema(_VECTOR)
SCHEMA_WITHOUT_VECTORS: Final = _actions_schema()


def parse_columns(commits: Sequence[CommitData], schema: pa.Schema) -> CommitActions:
    """Parse commits.

    Args:
        commits: Commits in ascending order of version.
        schema: `SCHEMA`, or the one without deletion vectors.

    Raises:
        LogCorruptError: If a commit does not read; names it.
    """
    actions = parse_actions(commits, schema)
    return CommitActions(
        num_lines=np.diff(actions.row_ends, prepend=0),
        files=_file_rows(actions),
        provenance=Provenances.of(_said(actions, commits)),
        metadata=dict(owned_actions(actions, "metaData", commits)),
        protocols=dict(owned_actions(actions, "protocol", commits)),
        transactions=_transactions(actions),
    )


def _file_rows(actions: ActionBatch) -> FileActionRows:
    kinds = [_array(actions.table[kind]) for kind in ("add", "remove")]
    places = [pc.indices_nonzero(kind.is_valid()).to_numpy() for kind in kinds]
    files = pa.concat_arrays(
        [kind.take(pa.array(rows)) for kind, rows in zip(kinds, places, strict=True)]
    )
    lines = np.concatenate(places).astype(np.int64)
    order = np.argsort(lines, kind="stable")
    if all(map(len, places)):
        files = files.take(pa.array(order))
    has_vectors = files.type.get_field_index(_VECTOR.name) >= 0
    vectors = pc.struct_field(files, [_VECTOR.name]) if has_vectors else None
    return FileActionRows(
        owners=_owners(actions, lines[order]),
        is_add=order < len(places[0]),
        paths=pc.struct_field(files, ["path"]),
        dv_ids=no_dv_ids(len(files)) if vectors is None else dv_ids(vectors),
        sizes=pc.struct_field(files, ["size"]),
        changes=pc.struct_field(files, ["dataChange"]),
        num_records=_record_counts(pc.struct_field(files, ["stats"])),
        deletion_ms=pc.struct_field(files, ["deletionTimestamp"]),
    )


def _record_counts(stats: pa.StringArray) -> pa.Int64Array:
    """Count rows, holding the texts of few files at a time."""
    slices = [
        record_counts(stats.slice(first, ROWS_A_SLICE).to_pylist())
        for first in range(0, len(stats), ROWS_A_SLICE)
    ]
    return pa.concat_arrays(slices) if slices else pa.array([], pa.int64())


def _array(column: pa.ChunkedArray) -> pa.StructArray:
    if column.num_chunks:
        return pa.concat_arrays(column.chunks)
    return pa.array([], column.type)


def _owners(
    actions: ActionBatch, lines: "np.ndarray[Any, np.dtype[np.int64]]"
) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """Return the position of the commit that each line belongs to."""
    found = np.searchsorted(actions.row_ends, lines, side="right")
    return found.astype(np.int64)


def _said(
    actions: ActionBatch, commits: Sequence[CommitData]
) -> Sequence[RawProvenance]:
    """Return what the last commitInfo of each commit says.

    Raises:
        LogCorruptError: If a line does not read.
    """
    said = [SAYS_NOTHING] * len(commits)
    column = actions.table[COMMIT_INFO]
    rows = pc.indices_nonzero(column.is_valid()).to_numpy().astype(np.int64)
    infos: Sequence[RawProvenance | None] | None = cut_provenance(
        actions.lines.take(rows)
    )
    if infos is None:
        values = [line.get(COMMIT_INFO) for line in load_rows(actions, rows, commits)]
        infos = [
            write_provenance(raw) if isinstance(raw, dict) else None for raw in values
        ]
    for at, info in zip(_owners(actions, rows).tolist(), infos, strict=True):
        if info is not None:
            said[at] = info
    return said


def _transactions(actions: ActionBatch) -> Mapping[int, Sequence[SetTransaction]]:
    column = actions.table["txn"]
    if column.null_count == len(column):
        return {}
    rows = pc.indices_nonzero(column.is_valid()).to_numpy().astype(np.int64)
    found: dict[int, Sequence[SetTransaction]] = {}
    ends = actions.row_ends.tolist()
    for at in np.unique(_owners(actions, rows)).tolist():
        start = ends[at - 1] if at else 0
        noted = parse_transactions(column.slice(start, ends[at] - start))
        if noted:
            found[at] = [*noted.values()]
    return found
