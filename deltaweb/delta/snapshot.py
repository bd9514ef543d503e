"""The table at one version."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa

from deltaweb.delta.actions import Metadata, Protocol, SetTransaction
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.schema import StructType


class Snapshot:
    """The table at one version: immutable, and lazy about what costs time.

    Attributes:
        version: The version.
        protocol: The protocol action in force.
        metadata: The metaData action in force.
        refusal: Why this version may not be read, None when it may. A snapshot of
            `DeltaTable.snapshot` has none; one of `snapshot_metadata` may.
    """

    version: int
    protocol: Protocol
    metadata: Metadata
    refusal: DeltaError | None

    @property
    def timestamp(self) -> datetime:
        """Time of the version's commit: aware UTC, monotonic over the log."""
        raise NotImplementedError

    @property
    def schema(self) -> StructType:
        """The logical schema; raises `SchemaError`."""
        raise NotImplementedError

    @property
    def files(self) -> pa.Table:
        """The live files, one a row, in no order.

        Columns: path string (as in the log), size int64 (bytes), modification_time
        int64 (ms), data_change bool, partition_values map<string, string> (as in
        the log), dv_id string (null without a deletion vector).
        """
        raise NotImplementedError

    @property
    def num_files(self) -> int:
        """Count of live files."""
        raise NotImplementedError

    @property
    def size_bytes(self) -> int:
        """Sum of the sizes of the live files."""
        raise NotImplementedError

    def statistics(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return typed statistics, row for row with `files`.

        See `deltaweb.delta.statistics.parse_statistics` for its columns.
        """
        raise NotImplementedError

    @property
    def tombstones(self) -> pa.Table:
        """All tombstones that the log holds, expired ones too.

        Columns: path string, deletion_timestamp int64 (ms; 0 where the log has
        none), data_change bool, size int64 or null, dv_id string.
        """
        raise NotImplementedError

    def unexpired_tombstones(self, now: datetime) -> pa.Table:
        """Return the tombstones that `delta.deletedFileRetentionDuration` keeps."""
        raise NotImplementedError

    @property
    def transactions(self) -> dict[str, SetTransaction]:
        """The newest transaction of each application."""
        raise NotImplementedError

    def read(
        self,
        columns: Sequence[str] | None = None,
        predicate: Any = None,  # noqa: ANN401  # a pyarrow expression, which is untyped
        limit: int | None = None,
    ) -> pa.Table:
        """Read rows by the logical schema."""
        raise NotImplementedError
