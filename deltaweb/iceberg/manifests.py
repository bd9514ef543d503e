"""Manifests, which list files, and the list of the manifests of a version.

Source: Iceberg specification, "Manifests" and "Manifest Lists".
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.iceberg.avro import (
    NULL_BRANCH,
    VALUE_BRANCH,
    Encoded,
    container,
    encoded_bytes,
    encoded_long,
    encoded_longs,
    encoded_map,
    encoded_texts,
    joined,
    optional,
    where_valid,
)
from deltaweb.iceberg.avro_schemas import (
    VECTOR_FIELDS,
    WITH_VECTORS,
    entry_schema,
    list_schema,
)
from deltaweb.iceberg.files import DataFiles
from deltaweb.iceberg.schema import PartitionField, spec_json
from deltaweb.iceberg.values import bound_bytes, partition_bytes

FILES_A_MANIFEST: Final = 10_000
EXISTING, ADDED = 0, 1  # status of an entry
DATA, DELETES = 0, 1  # content of a manifest
DATA_FILE, POSITION_DELETES = 0, 1  # content of a file


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotFacts:
    """A version of the table as its manifests know it.

    Attributes:
        has_added_files: Whether it is known which files its commit added, and that this
            is all that the commit did.
        parent_id: Id of the version before; None for the first one, and where it is
            not known what was added.
    """

    snapshot_id: int
    sequence_number: int
    schema: dict[str, Any]
    fields: Sequence[PartitionField]
    spec_id: int
    format_version: int
    has_added_files: bool = False
    parent_id: int | None = None

    def place(self, status: int) -> tuple[int, int]:
        """Return the snapshot id and the sequence number of entries of a status.

        Files that are known to be older were there at the version before. Where this is
        not known, all files count as files of this version.
        """
        if status == ADDED or self.parent_id is None:
            return self.snapshot_id, self.sequence_number
        return self.parent_id, self.sequence_number - 1


@dataclass(frozen=True, slots=True, eq=False)
class VectorFiles:
    """Deletion vectors of some data files, row for row.

    Attributes:
        content_sizes: How long it is there, in bytes.
    """

    locations: pa.StringArray
    sizes: pa.Array
    num_deleted: pa.Array
    data_locations: pa.StringArray
    content_offsets: pa.Array
    content_sizes: pa.Array
    partition: Sequence[pa.Array]

    def __len__(self) -> int:
        return len(self.locations)


# === Manifests ===


def data_manifest(
    files: DataFiles, snapshot: SnapshotFacts, status: int = EXISTING
) -> bytes:
    """Write a manifest of data files, all entries of one status."""
    num_rows = len(files)
    records = _longs(files.num_records)
    value_counts = [
        (one.field_id, where_valid(records, one.null_counts)) for one in files.columns
    ]
    null_counts = [(one.field_id, _longs(one.null_counts)) for one in files.columns]
    lower = [(one.field_id, encoded_texts(one.lower)) for one in files.columns]
    upper = [(one.field_id, encoded_texts(one.upper)) for one in files.columns]
    rows = joined(
        [
            _entry_head(snapshot, status),
            encoded_long(DATA_FILE),
            encoded_texts(files.locations),
            encoded_bytes(b"PARQUET"),
            *map(optional, map(partition_bytes, files.partition)),
            records,
            _longs(files.sizes),
            encoded_map(value_counts, num_rows),
            encoded_map(null_counts, num_rows),
            encoded_map(lower, num_rows),
            encoded_map(upper, num_rows),
            *([NULL_BRANCH] * _num_vector_fields(snapshot)),
        ],
        num_rows,
    )
    return _manifest(rows, snapshot, "data")


def vector_manifest(vectors: VectorFiles, snapshot: SnapshotFacts) -> bytes:
    num_rows = len(vectors)
    rows = joined(
        [
            _entry_head(snapshot, EXISTING),
            encoded_long(POSITION_DELETES),
            encoded_texts(vectors.locations),
            encoded_bytes(b"PUFFIN"),
            *map(optional, map(partition_bytes, vectors.partition)),
            _longs(vectors.num_deleted),
            _longs(vectors.sizes),
            *([NULL_BRANCH] * 5),
            optional(encoded_texts(vectors.data_locations)),
            optional(_longs(vectors.content_offsets)),
            optional(_longs(vectors.content_sizes)),
        ],
        num_rows,
    )
    return _manifest(rows, snapshot, "deletes")


def _entry_head(snapshot: SnapshotFacts, status: int) -> bytes:
    snapshot_id, sequence_number = snapshot.place(status)
    number = VALUE_BRANCH + encoded_long(sequence_number)
    head = encoded_long(status) + VALUE_BRANCH + encoded_long(snapshot_id)
    return head + number + number


def _num_vector_fields(snapshot: SnapshotFacts) -> int:
    return len(VECTOR_FIELDS) if snapshot.format_version >= WITH_VECTORS else 0


def _longs(values: pa.Array) -> Encoded:
    """Encode whole numbers; null stays null."""
    encoded = encoded_longs(values.fill_null(0).to_numpy().astype(np.int64))
    return where_valid(encoded, values)


def _manifest(rows: Encoded, snapshot: SnapshotFacts, content: str) -> bytes:
    return container(
        rows,
        entry_schema(snapshot.fields, snapshot.format_version),
        {
            "schema": json.dumps(snapshot.schema),
            "schema-id": str(snapshot.schema["schema-id"]),
            "partition-spec": json.dumps(spec_json(snapshot.fields)),
            "partition-spec-id": str(snapshot.spec_id),
            "format-version": str(snapshot.format_version),
            "content": content,
        },
    )


# === The list ===


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedManifest:
    """A manifest as the list tells of it.

    Attributes:
        num_rows: Count of rows, in the files or deleted by them.
        status: The status of all its entries.
    """

    location: str
    length: int
    content: int
    num_files: int
    num_rows: int
    partition: Sequence[pa.Array]
    status: int = EXISTING


def manifest_list(
    manifests: Sequence[ListedManifest], snapshot: SnapshotFacts
) -> bytes:
    """Write the list of a version's manifests."""
    has_row_ids = snapshot.format_version >= WITH_VECTORS
    first_row_id, rows = 0, []
    for one in manifests:
        row = _list_row(one, snapshot)
        if has_row_ids and one.content == DATA:
            row += VALUE_BRANCH + encoded_long(first_row_id)
            first_row_id += one.num_rows
        elif has_row_ids:
            row += NULL_BRANCH
        rows.append(row)
    return container(
        pa.array(rows, pa.binary()),
        list_schema(snapshot.format_version),
        {
            "snapshot-id": str(snapshot.snapshot_id),
            "parent-snapshot-id": json.dumps(snapshot.parent_id),
            "sequence-number": str(snapshot.sequence_number),
            "format-version": str(snapshot.format_version),
        },
    )


def _list_row(one: ListedManifest, snapshot: SnapshotFacts) -> bytes:
    _, min_sequence_number = snapshot.place(one.status)
    is_added = one.status == ADDED
    numbers = (
        one.length,
        snapshot.spec_id,
        one.content,
        snapshot.sequence_number,
        min_sequence_number,
        snapshot.snapshot_id,
        *_by_status(one.num_files, is_added=is_added),
        *_by_status(one.num_rows, is_added=is_added),
    )
    return (
        encoded_bytes(one.location.encode())
        + b"".join(map(encoded_long, numbers))
        + _summaries(one.partition)
        + NULL_BRANCH  # key_metadata
    )


def _by_status(count: int, *, is_added: bool) -> tuple[int, int, int]:
    """Return counts of what was added, what existed, and what was deleted."""
    return (count, 0, 0) if is_added else (0, count, 0)


def _summaries(partition: Sequence[pa.Array]) -> bytes:
    if not partition:
        return NULL_BRANCH
    summaries = b"".join(map(_summary, partition))
    return VALUE_BRANCH + encoded_long(len(partition)) + summaries + b"\x00"


def _summary(values: pa.Array) -> bytes:
    """Say whether some value is null, and which are the smallest and the largest."""
    has_null = b"\x01" if values.null_count else b"\x00"
    if pa.types.is_floating(values.type) or pa.types.is_binary(values.type):
        return has_null + NULL_BRANCH * 3
    known = pc.min_max(values)
    bounds = pa.concat_arrays([_one(known["min"]), _one(known["max"])])
    return (
        has_null
        + NULL_BRANCH
        + b"".join(
            NULL_BRANCH if bound is None else VALUE_BRANCH + encoded_bytes(bound)
            for bound in bound_bytes(bounds).to_pylist()
        )
    )


def _one(value: pa.Scalar) -> pa.Array:
    return pa.array([value.as_py()], value.type)
