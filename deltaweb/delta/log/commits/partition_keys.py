"""The keys of partitionValues: which of them a log's file actions have.

Source: delta_protocol.md, "Partition Value Serialization" and "Column Mapping".
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.features.column_mapping import (
    has_mapped_columns,
    is_mapped,
    physical_names,
)
from deltaweb.delta.log.commits.arrow_reader import CommitData, load_line
from deltaweb.delta.protocol.actions import Metadata, Protocol

MAX_GUESSED_KEYS: Final = 64  # no table partitions by more; a hostile line may
ADD_START: Final = b'{"add"'


class PartitionKeys(NamedTuple):
    """The keys of partition values, known of the whole log.

    Attributes:
        possible: Every key that a value is taken of.
        required: Those that each file has an entry of, in order.
    """

    possible: Sequence[str]
    required: Sequence[str]


def partition_keys(protocol: Protocol | None, metadata: Metadata | None) -> list[str]:
    """Return the keys of partitionValues: column names, or their physical names."""
    if metadata is None:
        return []
    names = list(dict.fromkeys(metadata.partition_columns))
    if not names or protocol is None or not has_mapped_columns(protocol, metadata):
        return names
    physical = physical_names(metadata.schema_string)
    return [physical.get(name, name) for name in names]


def possible_keys(metadata: Metadata | None) -> list[str]:
    """Return the keys that partitionValues may have, whatever the protocol says."""
    if metadata is None:
        return []
    names = metadata.partition_columns
    if not is_mapped(metadata.configuration):
        return list(dict.fromkeys(names))
    physical = physical_names(metadata.schema_string)
    return list(dict.fromkeys([*names, *(physical.get(name, name) for name in names)]))


def with_logical_partitions(
    files: pa.Table, protocol: Protocol, metadata: Metadata
) -> pa.Table:
    """Return files with their partition values under the names of the columns.

    Args:
        files: `partition_values` as in the log, and any other columns.
    """
    names = list(dict.fromkeys(metadata.partition_columns))
    return with_partition_names(files, names, partition_keys(protocol, metadata))


def with_partition_names(
    files: pa.Table, names: Sequence[str], keys: Sequence[str]
) -> pa.Table:
    """Return files with their partition values under other names.

    Args:
        files: `partition_values` as in the log, and any other columns.
        keys: The keys in the log, in the order of the names.
    """
    if [*keys] == [*names] or not files.num_rows:
        return files
    values = files["partition_values"]
    texts = [
        pc.map_lookup(values, query_key=key, occurrence="last").combine_chunks()
        for key in keys
    ]
    count, width = files.num_rows, len(names)
    by_row = np.arange(count * width).reshape(width, count).T.ravel()
    maps = pa.MapArray.from_arrays(
        np.arange(0, count * width + 1, width, dtype=np.int32),
        pa.array([*names], pa.string()).take(np.tile(np.arange(width), count)),
        pa.concat_arrays(texts).take(by_row),
    )
    place = files.column_names.index("partition_values")
    return files.set_column(place, "partition_values", maps)


def guess_keys(commits: Sequence[CommitData]) -> list[str] | None:
    """Return the partition columns that the first add names, None without any add."""
    for name, data, _ in commits:
        found = data.find(ADD_START)
        if found >= 0:
            start, end = data.rfind(b"\n", 0, found) + 1, data.find(b"\n", found)
            return _keys_of(data[start:end] if end >= 0 else data[start:], name=name)
    return None


def _keys_of(line: bytes, *, name: str) -> list[str] | None:
    try:
        keys = list(load_line(line, name=name)["add"]["partitionValues"].keys())
        "".join(keys).encode()  # a lone surrogate is no name of a field
    except (LogCorruptError, KeyError, TypeError, AttributeError, UnicodeError):
        return None
    return keys if len(keys) <= MAX_GUESSED_KEYS else None
