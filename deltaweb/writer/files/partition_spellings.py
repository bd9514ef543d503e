"""The texts by which a table's log has the partition values of rows written again.

Writers spell values in their own ways, and read those of others: a file that takes the
place of another has its text, so that who reads the text otherwise than we do (Spark
reads a time without a zone in its session's) reads the same as before.

Source: delta_protocol.md, "Partition Value Serialization".
"""

from dataclasses import dataclass, field

import pyarrow as pa

from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.values.partition_values import (
    PartitionKey,
    canonical_keys,
    stored_keys,
)


@dataclass(frozen=True, slots=True)
class PartitionSpellings:
    """How the files that are written again spell their partitions.

    Attributes:
        columns: The partition columns with their types.
    """

    columns: StructType
    _known: dict[PartitionKey, PartitionKey] = field(default_factory=dict)

    def learn(self, files: pa.Table) -> None:
        """Take the texts of files that are written again.

        Args:
            files: With `partition_values`, as in the log.
        """
        if not self.columns.fields:
            return
        values = files["partition_values"]
        keys = canonical_keys(values, self.columns)
        for key, said in zip(keys, stored_keys(values, self.columns), strict=True):
            if self._known.setdefault(key, said) != said:
                self._known[key] = key  # files that do not agree get our own

    def of(self, key: PartitionKey) -> PartitionKey:
        """Return the texts of a partition: our own where no file has others."""
        return self._known.get(key, key)
