"""Commits of any kind, parsed into Arrow columns that are checked, or line by line.

Source: delta_protocol.md, "Actions".
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.log.commits.actions import CommitActions, FileActionRows
from deltaweb.delta.log.commits.arrow_reader import (
    ActionBatch,
    CommitData,
    parse_actions,
)
from deltaweb.delta.log.commits.fields import (
    COMMIT_INFO,
    METADATA,
    PROTOCOL,
    TRANSACTION,
    commit_schema,
    file_action,
)
from deltaweb.delta.log.commits.newest import parse_transactions
from deltaweb.delta.log.commits.provenance import (
    SAYS_NOTHING,
    Provenances,
    RawProvenance,
    cut_provenance,
    write_provenance,
)
from deltaweb.delta.log.file_actions import dv_ids, file_vectors, no_dv_ids
from deltaweb.delta.protocol.actions import SetTransaction
from deltaweb.delta.values.statistics.record_counts import live_records, record_counts

ROWS_A_SLICE: Final = 4_096
_FIELDS: Final = ("path", "size", "dataChange", "stats", "deletionTimestamp")
_VECTOR: Final = "deletionVector"


def _schema(*identity: str) -> pa.Schema:
    action = file_action((*_FIELDS, *identity))
    return commit_schema(
        PROTOCOL, METADATA, COMMIT_INFO, add=action, remove=action, txn=TRANSACTION
    )


SCHEMA: Final = _schema(_VECTOR)
SCHEMA_WITHOUT_VECTORS: Final = _schema()


def parse_columns(commits: Sequence[CommitData], schema: pa.Schema) -> CommitActions:
    """Parse commits.

    Args:
        schema: `SCHEMA`, or the one without deletion vectors.
    """
    actions = parse_actions(commits, schema)
    return CommitActions(
        num_lines=np.diff(actions.row_ends, prepend=0),
        files=_file_rows(actions),
        provenance=Provenances.of(_said(actions)),
        metadata=dict(actions.objects(METADATA)),
        protocols=dict(actions.objects(PROTOCOL)),
        transactions=_transactions(actions),
    )


def _file_rows(actions: ActionBatch) -> FileActionRows:
    kinds = ("add", "remove")
    places = [actions.rows(kind) for kind in kinds]
    files = pa.concat_arrays(
        [
            actions.column(kind).take(pa.array(rows))
            for kind, rows in zip(kinds, places, strict=True)
        ]
    )
    lines = np.concatenate(places)
    order = np.argsort(lines, kind="stable")
    if all(map(len, places)):
        files = files.take(pa.array(order))
    has_vectors = files.type.get_field_index(_VECTOR) >= 0
    vectors = pc.struct_field(files, [_VECTOR]) if has_vectors else None
    num_records = _record_counts(pc.struct_field(files, ["stats"]))
    return FileActionRows(
        owners=actions.owners(lines[order]),
        is_add=order < len(places[0]),
        paths=pc.struct_field(files, ["path"]),
        dv_ids=no_dv_ids(len(files)) if vectors is None else dv_ids(vectors),
        sizes=pc.struct_field(files, ["size"]),
        changes=pc.struct_field(files, ["dataChange"]),
        num_records=num_records
        if vectors is None
        else live_records(num_records, file_vectors(vectors)),
        deletion_ms=pc.struct_field(files, ["deletionTimestamp"]),
    )


def _record_counts(stats: pa.StringArray) -> pa.Int64Array:
    """Count rows, holding the texts of few files at a time."""
    slices = [
        record_counts(stats.slice(first, ROWS_A_SLICE).to_pylist())
        for first in range(0, len(stats), ROWS_A_SLICE)
    ]
    return pa.concat_arrays(slices) if slices else pa.array([], pa.int64())


def _said(actions: ActionBatch) -> Sequence[RawProvenance]:
    said = [SAYS_NOTHING] * len(actions.paths)
    rows = actions.rows(COMMIT_INFO)
    infos: Sequence[RawProvenance | None] | None = cut_provenance(
        actions.lines.take(rows)
    )
    if infos is None:
        values = [line.get(COMMIT_INFO) for line in actions.load(rows)]
        infos = [
            write_provenance(raw) if isinstance(raw, dict) else None for raw in values
        ]
    for at, info in zip(actions.owners(rows).tolist(), infos, strict=True):
        if info is not None:
            said[at] = info
    return said


def _transactions(actions: ActionBatch) -> Mapping[int, Sequence[SetTransaction]]:
    found: dict[int, Sequence[SetTransaction]] = {}
    ends = [0, *actions.row_ends.tolist()]
    for at in np.unique(actions.owners(actions.rows("txn"))).tolist():
        column = actions.table["txn"].slice(ends[at], ends[at + 1] - ends[at])
        noted = parse_transactions(column)
        if noted:
            found[at] = [*noted.values()]
    return found
