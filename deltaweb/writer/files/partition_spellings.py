"""The texts by which a table's log has the partition values of rows written again.

Writers spell values in their own ways, and read those of others: a file that takes the
place of another has its text, so that who reads the text otherwise than we do (Spark
reads a time without a zone in its session's) reads the same as before.

Source: delta_protocol.md, "Partition Value Serialization".
"""

from collections.abc import Mapping
from typing import TypeAlias

import pyarrow as pa

from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.values.partition_values import (
    PartitionKey,
    canonical_keys,
    stored_keys,
)

Spellings: TypeAlias = Mapping[PartitionKey, PartitionKey]
"""The texts of partitions that have others than ours, by ours."""


def spellings_of(files: pa.Table | None, columns: StructType) -> Spellings:
    """Return how files spell their partitions, where not as we do.

    Those of one partition that do not agree are written together, and get our text.

    Args:
        files: With `partition_values`, as in the log; None for none.
    """
    if files is None or not columns.fields:
        return {}
    values = files["partition_values"]
    found: dict[PartitionKey, PartitionKey] = {}
    keys = canonical_keys(values, columns)
    for key, said in zip(keys, stored_keys(values, columns), strict=True):
        if found.setdefault(key, said) != said:
            found[key] = key
    return {key: said for key, said in found.items() if said != key}
