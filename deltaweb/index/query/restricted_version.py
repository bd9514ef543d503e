"""A version of a table as a rule leaves it: some files, and others rewritten."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from deltaweb.delta.log.blocks import FileBlock, RawStatistics
from deltaweb.delta.log.file_actions import FILES_SCHEMA, PARTITION_VALUES
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.values.whole import exact_sum
from deltaweb.index.query.classification import ClassifiedPart
from deltaweb.index.query.file_part import FilePart
from deltaweb.index.query.shared_version import SharedVersion

if TYPE_CHECKING:
    from deltaweb.delta.protocol.actions import Metadata, Protocol

PREPARED_SCHEMA: Final = pa.schema(
    {
        "path": pa.string(),
        "size": pa.int64(),
        "modification_time": pa.int64(),
        "partition_values": PARTITION_VALUES,
        "stats": pa.string(),
    }
)
"""Rewritten files: paths are those in the store that has them."""


class PreparedPart(FilePart):
    """Rewritten files, whose paths are of another store than the table's."""

    def __init__(self, files: pa.Table) -> None:
        batch = files.cast(PREPARED_SCHEMA).combine_chunks()
        texts = batch.column("stats")
        columns = {
            name: _whole(batch.column(name), kind)
            for name, kind in zip(
                PREPARED_SCHEMA.names, PREPARED_SCHEMA.types, strict=True
            )
            if name != "stats"
        }
        columns["data_change"] = pa.array(np.ones(len(batch), np.bool_))
        rows = [
            columns.get(field.name, pa.nulls(len(batch), field.type))
            for field in FILES_SCHEMA
        ]
        files_of_block = pa.RecordBatch.from_arrays(rows, schema=FILES_SCHEMA)
        super().__init__(
            FileBlock(files_of_block, lambda: RawStatistics(texts, parsed=None))
        )


class RestrictedVersion(SharedVersion):
    """A version as recipients under a rule are offered it."""

    def __init__(  # noqa: PLR0913 (a version, and what of it is offered)
        self,
        version: SharedVersion,
        *,
        protocol: "Protocol",
        metadata: "Metadata",
        schema: StructType,
        classified: Sequence[ClassifiedPart],
        prepared: pa.Table,
    ) -> None:
        super().__init__(version.snapshot, root=version.root, parts=version.parts)
        self.protocol, self.metadata = protocol, metadata
        self._schema = schema
        self._parts = [
            (one.part, pa.array(one.signed)) for one in classified if one.signed.any()
        ]
        if prepared.num_rows:
            self._parts.append((PreparedPart(prepared), None))

    @property
    def schema(self) -> StructType:
        """The logical schema of what is seen."""
        return self._schema

    @property
    def num_files(self) -> int:
        return sum(int(np.count_nonzero(live)) for _, live in self.live_parts())

    @property
    def size_bytes(self) -> int:
        return sum(
            exact_sum(part.sizes.filter(pa.array(live)))
            for part, live in self.live_parts()
        )


def _whole(column: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, kind)
