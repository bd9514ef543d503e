"""The columns of a checkpoint.

They are those of the specification's schema, in its order. Fields that it does not
list but that some action of the log holds come after them, so that a checkpoint loses
nothing that its log says: the fields of later features, and what writers tell of
tombstones.

Source: delta_protocol.md, "Checkpoint Schema".
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from deltaweb.delta.log.file_actions import PARTITION_VALUES

TEXTS: Final = pa.list_(pa.field("element", pa.string()))
METADATA: Final = pa.struct(
    [
        pa.field("id", pa.string()),
        pa.field("name", pa.string()),
        pa.field("description", pa.string()),
        pa.field(
            "format",
            pa.struct(
                [
                    pa.field("provider", pa.string()),
                    pa.field("options", PARTITION_VALUES),
                ]
            ),
        ),
        pa.field("schemaString", pa.string()),
        pa.field("partitionColumns", TEXTS),
        pa.field("createdTime", pa.int64()),
        pa.field("configuration", PARTITION_VALUES),
    ]
)
PROTOCOL: Final[Mapping[str, pa.DataType]] = {
    "minReaderVersion": pa.int32(),
    "minWriterVersion": pa.int32(),
}
PROTOCOL_EXTRAS: Final[Mapping[str, pa.DataType]] = {
    "readerFeatures": TEXTS,
    "writerFeatures": TEXTS,
}
TRANSACTION: Final[Mapping[str, pa.DataType]] = {
    "appId": pa.string(),
    "version": pa.int64(),
}
TRANSACTION_EXTRAS: Final[Mapping[str, pa.DataType]] = {"lastUpdated": pa.int64()}
DOMAIN: Final = pa.struct(
    [
        pa.field("domain", pa.string()),
        pa.field("configuration", pa.string()),
        pa.field("removed", pa.bool_()),
    ]
)
ROW_TRACKING: Final[Mapping[str, pa.DataType]] = {
    "baseRowId": pa.int64(),
    "defaultRowCommitVersion": pa.int64(),
}
VECTOR: Final = "deletionVector"
VECTOR_TYPE: Final = pa.struct(
    [
        pa.field("storageType", pa.string()),
        pa.field("pathOrInlineDv", pa.string()),
        pa.field("offset", pa.int32()),
        pa.field("sizeInBytes", pa.int32()),
        pa.field("cardinality", pa.int64()),
    ]
)
CHECKPOINT_METADATA: Final = pa.struct(
    [pa.field("version", pa.int64()), pa.field("tags", PARTITION_VALUES)]
)
ADD_EXTRAS: Final[Mapping[str, pa.DataType]] = {
    VECTOR: VECTOR_TYPE,
    **ROW_TRACKING,
    "clusteringProvider": pa.string(),
}
REMOVE: Final[Mapping[str, pa.DataType]] = {
    "path": pa.string(),
    "deletionTimestamp": pa.int64(),
    "dataChange": pa.bool_(),
}
REMOVE_EXTRAS: Final[Mapping[str, pa.DataType]] = {
    "extendedFileMetadata": pa.bool_(),
    "partitionValues": PARTITION_VALUES,
    "size": pa.int64(),
    VECTOR: VECTOR_TYPE,
    **ROW_TRACKING,
}


@dataclass(frozen=True, slots=True)
class CheckpointLayout:
    """What decides the columns of one checkpoint.

    Attributes:
        extras: Dotted names of fields beside the specification's that the log holds,
            such as `add.baseRowId` and `txn.lastUpdated`; `domainMetadata` for that
            action.
        has_json_stats: Whether statistics are JSON.
        stats_type: The type of typed statistics; None without them.
        version: That which a checkpoint of the second specification says it is of;
            None for one of the first.
    """

    extras: Collection[str]
    has_json_stats: bool
    stats_type: pa.StructType | None = None
    partition_type: pa.StructType | None = None
    version: int | None = None
    has_sidecars: bool = False

    @property
    def add(self) -> pa.StructType:
        fields: dict[str, pa.DataType] = {
            "path": pa.string(),
            "partitionValues": PARTITION_VALUES,
            "size": pa.int64(),
            "modificationTime": pa.int64(),
            "dataChange": pa.bool_(),
        }
        if self.has_json_stats:
            fields["stats"] = pa.string()
        fields["tags"] = PARTITION_VALUES
        if self.partition_type is not None:
            fields["partitionValues_parsed"] = self.partition_type
        if self.stats_type is not None:
            fields["stats_parsed"] = self.stats_type
        return self._struct("add", fields, ADD_EXTRAS)

    @property
    def remove(self) -> pa.StructType:
        return self._struct("remove", REMOVE, REMOVE_EXTRAS)

    @property
    def schema(self) -> pa.Schema:
        """All columns of the files with its file actions."""
        fields = [
            pa.field("metaData", METADATA),
            pa.field("protocol", self._struct("protocol", PROTOCOL, PROTOCOL_EXTRAS)),
            pa.field("txn", self._struct("txn", TRANSACTION, TRANSACTION_EXTRAS)),
            pa.field("add", self.add),
            pa.field("remove", self.remove),
        ]
        if self.has_sidecars:
            return pa.schema(fields[-2:])
        if "domainMetadata" in self.extras:
            fields.append(pa.field("domainMetadata", DOMAIN))
        if self.version is not None:
            fields.append(pa.field("checkpointMetadata", CHECKPOINT_METADATA))
        return pa.schema(fields)

    def _struct(
        self,
        action: str,
        fields: Mapping[str, pa.DataType],
        extras: Mapping[str, pa.DataType],
    ) -> pa.StructType:
        kept = {
            name: data_type
            for name, data_type in extras.items()
            if f"{action}.{name}" in self.extras
        }
        names = {**fields, **kept}
        return pa.struct([pa.field(name, names[name]) for name in names])
