"""The files that hold the changes of versions.

A version that has change data files is told by these alone. In every other one, a
file that was added inserted its rows and one that was removed deleted them, unless
the log says that no data changed. A file that is both has another deletion vector
now: what only one of the two deletes was deleted, or is back.

Source: delta_protocol.md, "Reader Requirements for AddCDCFile".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.changes.row_changes import CHANGE_TYPE, ChangeType
from deltaweb.delta.deletion_vectors.roaring import Flags
from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.feed.row_schema import COMMIT_TIMESTAMP, COMMIT_VERSION
from deltaweb.delta.log.commits.arrow_reader import ActionBatch, Longs
from deltaweb.delta.log.commits.fields import (
    METADATA,
    PROTOCOL,
    commit_schema,
    file_action,
)
from deltaweb.delta.log.commits.times import CommitTimes, to_datetime
from deltaweb.delta.log.file_actions import (
    DELETION_VECTOR,
    VECTOR,
    file_vectors,
    partition_map,
)
from deltaweb.delta.scan.rows import DELETED_BY

CHANGE_FILE: Final = "cdc"
KINDS: Final = (CHANGE_FILE, "add", "remove")
FEED_FIELDS: Final = ("path", "dataChange", "deletionVector")
SIZED_FIELDS: Final = (*FEED_FIELDS, "size")
_TYPES: Final = pa.array([None, ChangeType.INSERT, ChangeType.DELETE], pa.string())


@dataclass(frozen=True, eq=False)
class ChangedFiles:
    """Some files with changes, in the order of their versions.

    Attributes:
        files: path, partition_values, deletion_vector and deleted_by, as rows are read
            from; partition values also tell version and time, and the kind of change
            where the file does not. Their size, too, where it was asked for.
        tells_kinds: Whether the files themselves tell the kind of each change.
    """

    files: pa.Table
    versions: Longs
    tells_kinds: bool


def feed_actions(
    partition_keys: Sequence[str], fields: Sequence[str] = FEED_FIELDS
) -> pa.Schema:
    """Return what is asked of a commit's lines."""
    kinds = file_action(fields, partition_columns=partition_keys)
    return commit_schema(METADATA, PROTOCOL, **dict.fromkeys(KINDS, kinds))


def change_actions(
    batch: ActionBatch, *, with_change_files: bool
) -> tuple[pa.StructArray, Longs, Longs]:
    """Choose the file actions that tell what changed: with kinds and owners, in order.

    Args:
        batch: The commits, by `feed_actions`.
        with_change_files: Whether a version that has change data files is told by
            these alone; they are skipped otherwise.
    """
    places = [batch.rows(kind) for kind in KINDS]
    lines = np.concatenate(places)
    kinds = np.repeat(np.arange(len(KINDS)), [len(rows) for rows in places])
    actions = pa.concat_arrays(
        [
            batch.column(kind).take(pa.array(rows))
            for kind, rows in zip(KINDS, places, strict=True)
        ]
    )
    owners = batch.owners(lines)
    is_change_file = kinds == 0
    is_recorded = np.isin(owners, owners[is_change_file & with_change_files])
    changes = pc.fill_null(pc.struct_field(actions, ["dataChange"]), fill_value=True)
    has_changes = changes.to_numpy(zero_copy_only=False) & ~is_change_file
    chosen = np.flatnonzero(np.where(is_recorded, is_change_file, has_changes))
    chosen = chosen[np.argsort(lines[chosen], kind="stable")]
    found = actions.take(pa.array(chosen)), kinds[chosen], owners[chosen]
    _check(*found, batch)
    return found


def changed_files(
    batch: ActionBatch, first_version: int, times: CommitTimes
) -> Iterator[ChangedFiles]:
    """Yield the files of some commits, those of a kind that follow each other as one.

    Args:
        batch: The commits, by `feed_actions`.
    """
    actions, kinds, owners = change_actions(batch, with_change_files=True)
    others, is_whole = _other_vectors(actions, kinds, owners)
    files = _table(actions, kinds, owners + first_version, times)
    files = files.append_column(DELETED_BY, others)
    kept = ~is_whole
    files, owners, kinds = files.filter(pa.array(kept)), owners[kept], kinds[kept]
    tells = kinds == 0
    ends = [*(np.flatnonzero(np.diff(tells)) + 1).tolist(), len(tells)]
    for start, end in zip([0, *ends], ends, strict=False):
        if start < end:
            yield ChangedFiles(
                files.slice(start, end - start),
                owners[start:end] + first_version,
                bool(tells[start]),
            )


def action_vectors(actions: pa.StructArray) -> pa.StructArray:
    """Return the deletion vector of each file action, null without one."""
    vectors = file_vectors(pc.struct_field(actions, ["deletionVector"]))
    is_none = pa.types.is_null(vectors.type)
    return pa.nulls(len(vectors), DELETION_VECTOR) if is_none else vectors


def _other_vectors(
    actions: pa.StructArray, kinds: Longs, owners: Longs
) -> tuple[pa.StructArray, Flags]:
    """Find the files that a version both removes and adds.

    Returns:
        The other vector of each file, null where it is not both or has none; and
        which of those files have a vector of their own: no row of them changed, that
        is not told by the other action.
    """
    vectors = action_vectors(actions)
    nothing = np.zeros(len(actions), np.bool_)
    if vectors.null_count == len(vectors):
        return vectors, nothing
    keys = pc.binary_join_element_wise(
        pa.array(owners).cast(pa.string()), pc.struct_field(actions, ["path"]), " "
    )
    is_add, is_remove = kinds == KINDS.index("add"), kinds == KINDS.index("remove")
    others = np.full(len(actions), -1, np.int64)
    for mine, theirs in ((is_add, is_remove), (is_remove, is_add)):
        places, found = np.flatnonzero(theirs), np.flatnonzero(mine)
        at = pc.index_in(
            keys.take(pa.array(found)), value_set=keys.take(pa.array(places))
        )
        is_both = at.is_valid().to_numpy(zero_copy_only=False)
        others[found[is_both]] = places[at.drop_null().to_numpy()]
    is_both = others >= 0
    picked = vectors.take(pa.array(others, mask=~is_both))
    is_recorded = pc.and_(vectors.is_valid(), picked.is_null())
    return picked, is_both & is_recorded.to_numpy(zero_copy_only=False)


def _check(
    actions: pa.StructArray, kinds: Longs, owners: Longs, batch: ActionBatch
) -> None:
    paths = pc.struct_field(actions, ["path"])
    if paths.null_count:
        at = pc.index(paths.is_null(), value=True).as_py()
        reason = f"a {KINDS[kinds[at]]} has no path"
        raise LogCorruptError(path=batch.paths[owners[at]], reason=reason)
    values = pc.struct_field(actions, ["partitionValues"])
    if values.null_count and values.type.num_fields:
        at = pc.index(values.is_null(), value=True).as_py()
        reason = (
            f"the {KINDS[kinds[at]]} of {paths[at].as_py()[:200]!r} has no "
            "partition values"
        )
        raise LogCorruptError(path=batch.paths[owners[at]], reason=reason)


def _table(
    actions: pa.StructArray, kinds: Longs, versions: Longs, times: CommitTimes
) -> pa.Table:
    values = pc.struct_field(actions, ["partitionValues"])
    known, places = np.unique(versions, return_inverse=True)
    texts = pa.array(
        [_moment(times, version) for version in known.tolist()], pa.string()
    )
    children = {
        **{
            values.type.field(i).name: column
            for i, column in enumerate(values.flatten())
        },
        CHANGE_TYPE: _TYPES.take(pa.array(kinds)),
        COMMIT_VERSION: pa.array(versions).cast(pa.string()),
        COMMIT_TIMESTAMP: texts.take(pa.array(places)),
    }
    struct = pa.StructArray.from_arrays(list(children.values()), list(children))
    columns = {
        "path": pc.struct_field(actions, ["path"]),
        "partition_values": partition_map(struct, frozenset()),
        VECTOR: action_vectors(actions),
    }
    if actions.type.get_field_index("size") >= 0:
        columns["size"] = pc.struct_field(actions, ["size"])
    return pa.table(columns)


def _moment(times: CommitTimes, version: int) -> str:
    return to_datetime(times.time_ms(version) or 0).isoformat()
