"""`metadata.json`: a table with some of its versions as snapshots.

Source: Iceberg specification, "Table Metadata Fields" and "Snapshots".
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import NAMESPACE_OID, UUID, uuid5

from deltaweb.iceberg.avro_schemas import WITH_VECTORS
from deltaweb.iceberg.manifests import SnapshotFacts
from deltaweb.iceberg.operations import APPEND, OVERWRITE
from deltaweb.iceberg.schema import (
    FIRST_PARTITION_ID,
    FieldIds,
    TableColumns,
    name_mapping,
    partition_fields,
    schema_json,
    spec_json,
)

PLAIN_FORMAT: Final = 2
LONG_MASK: Final = (1 << 63) - 1
INTEGER_MASK: Final = (1 << 31) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TableVersion:
    """What a snapshot is made of.

    Attributes:
        num_rows: Count of rows of its files, deleted ones too.
        operation: What its commit did, for readers of changes.
        num_added_files: Count of files that its commit added, if that is all that the
            commit did; else None.
        num_added_rows: Count of rows of these files; None where it is not known.
    """

    version: int
    timestamp_ms: int
    columns: TableColumns
    num_files: int | None = None
    num_rows: int | None = None
    operation: str = OVERWRITE
    num_added_files: int | None = None
    num_added_rows: int | None = None


class TableLayout:
    """Schemas, partition specs and ids of some versions of a table.

    Args:
        versions: The versions, ascending; the last one is the newest.
        has_vectors: Whether files of one of them may have deletion vectors.
    """

    def __init__(
        self, table_id: str, versions: Sequence[TableVersion], *, has_vectors: bool
    ) -> None:
        self.table_id = table_id
        self.versions = versions
        self.format_version = WITH_VECTORS if has_vectors else PLAIN_FORMAT
        newest_first = [one.columns for one in reversed(versions)]
        self.ids = FieldIds(newest_first)
        self._names = name_mapping(newest_first, self.ids)
        self._snapshots = {one.version: self._facts(one) for one in versions}

    def snapshot(self, version: int) -> SnapshotFacts:
        """Return a version as its manifests know it."""
        return self._snapshots[version]

    def mark(self, version: int) -> str:
        """Return what distinguishes the manifests of a version from others of it."""
        facts = self._snapshots[version]
        marked = [self.format_version, facts.schema, spec_json(facts.fields)]
        if facts.has_added_files:
            marked.append(APPEND)  # entries of its manifests have another status
        text = json.dumps(marked)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def _facts(self, one: TableVersion) -> SnapshotFacts:
        schema = schema_json(one.columns, self.ids)
        fields = partition_fields(one.columns, self.ids)
        spec = spec_json(fields)
        has_added_files = one.num_added_files is not None
        parent_id = None
        if has_added_files and one.version:
            parent_id = snapshot_id(self.table_id, one.version - 1)
        return SnapshotFacts(
            snapshot_id=snapshot_id(self.table_id, one.version),
            sequence_number=one.version,
            schema={**schema, "schema-id": _number(schema)},
            fields=fields,
            spec_id=_number(spec) if spec else 0,
            format_version=self.format_version,
            has_added_files=has_added_files,
            parent_id=parent_id,
        )

    def metadata(
        self,
        *,
        location: str,
        list_locations: Sequence[str],
        referenced_only: bool = False,
    ) -> dict[str, Any]:
        """Return `metadata.json`.

        Args:
            referenced_only: Whether to leave out snapshots without a branch or a tag.
        """
        snapshots = self._snapshot_entries(list_locations)
        if referenced_only:
            snapshots = snapshots[-1:]  # the branch main is the one reference
        facts = self._snapshots.values()
        schemas = {one.schema["schema-id"]: one.schema for one in facts}
        specs = {one.spec_id: spec_json(one.fields) for one in facts}
        newest = self._snapshots[self.versions[-1].version]
        return {
            "format-version": self.format_version,
            "table-uuid": str(_uuid(self.table_id)),
            "location": location,
            "last-sequence-number": newest.sequence_number,
            "last-updated-ms": snapshots[-1]["timestamp-ms"],
            "last-column-id": self.ids.largest,
            "current-schema-id": newest.schema["schema-id"],
            "schemas": list(schemas.values()),
            "default-spec-id": newest.spec_id,
            "partition-specs": [
                {"spec-id": number, "fields": fields}
                for number, fields in specs.items()
            ],
            "last-partition-id": FIRST_PARTITION_ID - 1 + max(map(len, specs.values())),
            "default-sort-order-id": 0,
            "sort-orders": [{"order-id": 0, "fields": []}],
            "properties": {
                "schema.name-mapping.default": json.dumps(self._names),
                # Bounds leave out files; they are not the smallest and largest values.
                "write.metadata.metrics.default": "counts",
            },
            "current-snapshot-id": newest.snapshot_id,
            "refs": {"main": {"snapshot-id": newest.snapshot_id, "type": "branch"}},
            "snapshots": snapshots,
            "snapshot-log": [
                {"snapshot-id": one["snapshot-id"], "timestamp-ms": one["timestamp-ms"]}
                for one in snapshots
            ],
            "metadata-log": [],
            "statistics": [],
            "partition-statistics": [],
            **self._row_ids(),
        }

    def _row_ids(self) -> dict[str, int]:
        if not self._has_row_ids:
            return {}
        return {"next-row-id": max(one.num_rows or 0 for one in self.versions)}

    @property
    def _has_row_ids(self) -> bool:
        return self.format_version >= WITH_VECTORS

    def _snapshot_entries(self, list_locations: Sequence[str]) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = []
        time_ms = 0
        for one, location in zip(self.versions, list_locations, strict=True):
            time_ms = max(one.timestamp_ms, time_ms + 1)  # no two of one moment
            facts = self._snapshots[one.version]
            entry = {
                "snapshot-id": facts.snapshot_id,
                "sequence-number": facts.sequence_number,
                "timestamp-ms": time_ms,
                "manifest-list": location,
                "schema-id": facts.schema["schema-id"],
                "summary": _summary(one),
            }
            if entries:
                entry["parent-snapshot-id"] = entries[-1]["snapshot-id"]
            if self._has_row_ids:
                entry |= {"first-row-id": 0, "added-rows": one.num_rows or 0}
            entries.append(entry)
        return entries


def snapshot_id(table_id: str, version: int) -> int:
    """Return the id of a version, the same wherever it is asked for."""
    text = f"{table_id}\0{version}".encode("utf-8", "surrogatepass")
    found = int.from_bytes(hashlib.sha256(text).digest()[:8]) & LONG_MASK
    return found or 1


def _summary(one: TableVersion) -> dict[str, str]:
    counts = {
        "added-data-files": one.num_added_files,
        "added-records": one.num_added_rows,
        "total-data-files": one.num_files,
        "total-records": one.num_rows,
    }
    return {
        "operation": one.operation,
        "delta.version": str(one.version),
        **{name: str(value) for name, value in counts.items() if value is not None},
    }


def _number(value: object) -> int:
    """Return the number of a schema or a spec: the same wherever it is met."""
    text = json.dumps(value).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:4]) & INTEGER_MASK


def _uuid(table_id: str) -> UUID:
    return uuid5(NAMESPACE_OID, table_id)
