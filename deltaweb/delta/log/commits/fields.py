"""The fields of the actions of a commit, and the schemas that ask for some of them.

Source: delta_protocol.md, "Actions".
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import pyarrow as pa

from deltaweb.delta.log.file_actions import DELETION_VECTOR

COMMIT_INFO: Final = "commitInfo"
METADATA: Final = "metaData"
PROTOCOL: Final = "protocol"
PRESENCE: Final = pa.struct([])
"""A column of this type asks only whether a line has the action, or field, at all."""
FILE_FIELDS: Final[Mapping[str, pa.DataType]] = MappingProxyType(
    {
        "path": pa.string(),
        "size": pa.int64(),
        "modificationTime": pa.int64(),
        "deletionTimestamp": pa.int64(),
        "dataChange": pa.bool_(),
        "deletionVector": DELETION_VECTOR,
        "stats": pa.string(),
    }
)
TRANSACTION: Final = pa.struct(
    {"appId": pa.string(), "version": pa.int64(), "lastUpdated": pa.int64()}
)


def file_action(
    names: Iterable[str],
    *,
    partition_columns: Sequence[str] | None = None,
    others: Mapping[str, pa.DataType] = MappingProxyType({}),
) -> pa.StructType:
    """Return the type of an add or a remove.

    Args:
        names: Its fields, of `FILE_FIELDS`.
        partition_columns: The keys of partitionValues; None to leave these out.
    """
    fields = {name: FILE_FIELDS[name] for name in names}
    if partition_columns is not None:
        values = [pa.field(name, pa.string()) for name in partition_columns]
        fields["partitionValues"] = pa.struct(values)
    return pa.struct({**fields, **others})


def commit_schema(*present: str, **actions: pa.DataType) -> pa.Schema:
    """Return the schema of lines: some actions, and whether others are there."""
    return pa.schema({**actions, **dict.fromkeys(present, PRESENCE)})
