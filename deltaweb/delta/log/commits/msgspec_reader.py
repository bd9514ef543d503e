"""Commits as writers make them, parsed line by line into typed objects.

`msgspec` builds of a line only what is asked for, in a fraction of the time that
parsing columns takes. It takes strict JSON whose values are of their types; any
commit with something else is for `deltaweb.delta.log.commits.batch`.

Source: delta_protocol.md, "Actions".
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Annotated, Any, Final

import msgspec
import numpy as np
import pyarrow as pa

from deltaweb.delta.log.commits.actions import CommitActions, FileActionRows
from deltaweb.delta.log.commits.arrow_reader import CommitData, Longs, load_json
from deltaweb.delta.log.commits.provenance import (
    REFUSALS,
    SAYS_NOTHING,
    Provenances,
    RawProvenance,
)
from deltaweb.delta.log.file_actions import (
    DELETION_VECTOR,
    dv_ids,
    file_vectors,
    no_dv_ids,
)
from deltaweb.delta.protocol.actions import SetTransaction
from deltaweb.delta.values.statistics.record_counts import (
    LONG,
    live_records,
    record_counts,
)

MAX_BYTES: Final = 16 << 20
_Long = Annotated[int, LONG]
ABSENT: Final = msgspec.Raw(b"null")


class _Vector(msgspec.Struct, rename="camel", gc=False):
    storage_type: str | None = None
    path_or_inline_dv: str | None = None
    offset: _Long | None = None
    size_in_bytes: _Long | None = None
    cardinality: _Long | None = None


class _File(msgspec.Struct, rename="camel", gc=False):
    path: str | None = None
    size: _Long | None = None
    data_change: bool | None = None
    stats: str | None = None
    deletion_timestamp: _Long | None = None
    deletion_vector: _Vector | None = None


class _Transaction(msgspec.Struct, rename="camel", gc=False):
    app_id: str | None = None
    version: _Long | None = None
    last_updated: _Long | None = None


class DefiningLine(msgspec.Struct, rename="camel", gc=False):
    """What a line says of the definition of a table; `ABSENT` where nothing."""

    meta_data: msgspec.Raw = ABSENT
    protocol: msgspec.Raw = ABSENT


class _Line(DefiningLine, rename="camel", gc=False):
    add: _File | None = None
    remove: _File | None = None
    txn: _Transaction | None = None
    commit_info: RawProvenance | None = None


_LINES: Final = msgspec.json.Decoder(_Line)


class _OddError(Exception):
    """A commit is not as writers make them."""


def parse_lines(commits: Sequence[CommitData]) -> CommitActions | None:
    """Parse commits; None where one of them has to be looked at more closely.

    Objects take a multiple of what columns do, so commits of many bytes are left.
    """
    if sum(len(commit.data) for commit in commits) > MAX_BYTES:
        return None
    try:
        parsed = [_parse_commit(commit.data) for commit in commits]
        return _gathered(parsed)
    except (_OddError, *REFUSALS):
        return None


def _parse_commit(data: bytes) -> list[_Line]:
    lines = _LINES.decode_lines(data)
    # A value may not stand on two lines, nor two of them on one.
    if len(lines) != data.count(b"\n") + (data[-1:] not in {b"\n", b""}):
        raise _OddError
    if not data.isascii():
        data.decode()  # what is not asked for must be text too
    return lines


def _gathered(parsed: Sequence[list[_Line]]) -> CommitActions:
    num_lines = np.fromiter(map(len, parsed), np.int64, len(parsed))
    lines = [*chain.from_iterable(parsed)]
    owners = np.repeat(np.arange(len(parsed)), num_lines)
    said = [SAYS_NOTHING] * len(parsed)
    metadata: dict[int, Mapping[str, Any]] = {}
    protocols: dict[int, Mapping[str, Any]] = {}
    noted: dict[int, dict[str, SetTransaction]] = {}
    for owner, line in zip(owners.tolist(), lines, strict=True):
        if line.commit_info is not None:
            said[owner] = line.commit_info
        if line.meta_data is not ABSENT:
            _take_object(metadata, owner, line.meta_data)
        if line.protocol is not ABSENT:
            _take_object(protocols, owner, line.protocol)
        if line.txn is not None:
            _take_transaction(noted.setdefault(owner, {}), line.txn)
    return CommitActions(
        num_lines,
        _file_rows(lines, owners),
        Provenances.of(said),
        metadata,
        protocols,
        {owner: [*found.values()] for owner, found in noted.items() if found},
    )


def _take_object(
    objects: dict[int, Mapping[str, Any]], owner: int, raw: msgspec.Raw
) -> None:
    text = bytes(raw)
    if text[:1] == b"{":
        objects[owner] = load_json(text)
    elif text != bytes(ABSENT):
        raise _OddError


def _take_transaction(noted: dict[str, SetTransaction], raw: _Transaction) -> None:
    if raw.app_id is not None and raw.version is not None:
        noted[raw.app_id] = SetTransaction(
            app_id=raw.app_id, version=raw.version, last_updated=raw.last_updated
        )


def _file_rows(lines: Sequence[_Line], owners: Longs) -> FileActionRows:
    is_add = np.array([line.add is not None for line in lines], np.bool_)
    is_remove = np.array([line.remove is not None for line in lines], np.bool_)
    if (is_add & is_remove).any():
        raise _OddError
    is_file = is_add | is_remove
    files = [one for line in lines if (one := line.add or line.remove) is not None]
    vectors = _vectors(files)
    num_records = record_counts([one.stats for one in files])
    return FileActionRows(
        owners=owners[is_file],
        is_add=is_add[is_file],
        paths=pa.array([one.path for one in files], pa.string()),
        dv_ids=no_dv_ids(len(files)) if vectors is None else dv_ids(vectors),
        sizes=pa.array([one.size for one in files], pa.int64()),
        changes=pa.array([one.data_change for one in files], pa.bool_()),
        num_records=num_records
        if vectors is None
        else live_records(num_records, file_vectors(vectors)),
        deletion_ms=pa.array([one.deletion_timestamp for one in files], pa.int64()),
    )


def _vectors(files: Sequence[_File]) -> pa.StructArray | None:
    """Return the descriptors of vectors; None where no file has one."""
    vectors = [one.deletion_vector for one in files]
    if vectors.count(None) == len(vectors):
        return None
    known = [one or _Vector() for one in vectors]
    columns = [
        pa.array([one.storage_type for one in known], pa.string()),
        pa.array([one.path_or_inline_dv for one in known], pa.string()),
        pa.array([one.offset for one in known], pa.int64()),
        pa.array([one.size_in_bytes for one in known], pa.int64()),
        pa.array([one.cardinality for one in known], pa.int64()),
    ]
    return pa.StructArray.from_arrays(columns, fields=[*DELETION_VECTOR])
