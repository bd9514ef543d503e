"""Rows dealt out to their partitions, and where the files of a partition go.

A folder is only ever named for people: partition values are in the log. Names are
encoded twice, once as names of a disk and once as the URI that the log has; no other
file has the name of a new one.

Source: delta_protocol.md, "Data Files" and "Add File and Remove File".
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final
from urllib.parse import quote
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.protocol.table_properties import DEFAULT_CODEC
from deltaweb.delta.values.partition_values import PartitionKey, partition_texts

NULL_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"
CODEC_MARKS: Final[Mapping[str, str]] = {
    "brotli": ".br",
    "gzip": ".gz",
    "lz4": ".lz4raw",
    "none": "",
    "snappy": ".snappy",
    "zstd": ".zstd",
}
"""What the names of files say of their codec, as Spark's do."""
PATH_SAFE: Final = "/=-_.~"  # what a path keeps unescaped besides letters and digits
MAX_COUNTED: Final = 1 << 20
MAX_NAME_LENGTH: Final = 150
"""Characters of a folder's name; file systems take 255 bytes."""


@dataclass(frozen=True, slots=True)
class PartitionSplit:
    """Deals rows out by the values of partition columns."""

    columns: StructType

    def deal(
        self, rows: pa.Table, stored: pa.Table
    ) -> Iterator[tuple[PartitionKey, pa.Table]]:
        """Yield the rows of each partition, in their order.

        They are slices of one table, and keep it in memory.

        Args:
            rows: The rows with their partition columns.
            stored: The same rows as files have them.
        """
        if not self.columns.fields:
            yield (), stored
            return
        if not rows.num_rows:
            return
        codes, keys = self._codes(rows)
        if len(keys) == 1:
            yield keys[0], stored
            return
        # numpy sorts small numbers by their digits, in half the time.
        order = np.argsort(codes.astype(np.min_scalar_type(len(keys))), kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=len(keys)))
        dealt = stored.combine_chunks().take(pa.array(order))
        start = 0
        for key, end in zip(keys, ends.tolist(), strict=True):
            yield key, dealt.slice(start, end - start)
            start = end

    def _codes(
        self, rows: pa.Table
    ) -> tuple[npt.NDArray[np.int64], list[PartitionKey]]:
        """Return the number of each row's partition, and the partitions' keys."""
        total = np.zeros(rows.num_rows, np.int64)
        keys: list[PartitionKey] = [()]
        for column in self.columns.fields:
            encoded = rows.column(column.name).combine_chunks()
            encoded = encoded.dictionary_encode(null_encoding="encode")
            if isinstance(encoded, pa.ChunkedArray):
                encoded = encoded.unify_dictionaries().combine_chunks()
            texts = partition_texts(encoded.dictionary)
            # Two values of one text are one partition: null, and the empty string.
            distinct = list(dict.fromkeys(texts))
            place = {text: number for number, text in enumerate(distinct)}
            numbers = np.array([place[text] for text in texts], np.int64)
            found = numbers[encoded.indices.to_numpy(zero_copy_only=False)]
            pairs = total * len(distinct) + found
            values, total = _distinct(pairs, len(keys) * len(distinct))
            keys = [
                (*keys[pair // len(distinct)], distinct[pair % len(distinct)])
                for pair in values.tolist()
            ]
        return total, keys


def _distinct(
    numbers: npt.NDArray[np.int64], count: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the distinct numbers in order, and for each number its place there.

    Args:
        count: A number above all of them. Without a sort this takes memory for so many.
    """
    if count > MAX_COUNTED:
        return np.unique(numbers, return_inverse=True)
    is_there = np.zeros(count, np.bool_)
    is_there[numbers] = True
    return np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[numbers]


# === Where files go ===


def new_data_path(
    partition_values: Mapping[str, str | None],
    number: int = 0,
    start: str = "part",
    codec: str = DEFAULT_CODEC,
) -> str:
    """Return the path of a new data file, as the log has it.

    Args:
        partition_values: The serialised value of every partition column.
    """
    folders = [_folder(name, value) for name, value in partition_values.items()]
    name = f"{start}-{number:05d}-{uuid4()}.c000{CODEC_MARKS[codec]}.parquet"
    return quote("/".join([*folders, name]), safe=PATH_SAFE)


def _folder(column: str, value: str | None) -> str:
    name = quote(column, safe="")
    if name[:1] in {".", "_"}:  # hidden, to whoever lists the table's folder
        name = f"%{ord(name[0]):02X}{name[1:]}"
    text = quote(value, safe=" ") if value else NULL_PARTITION
    folder = f"{name}={text}"
    if len(folder) <= MAX_NAME_LENGTH:
        return folder
    digest = sha256(folder.encode()).hexdigest()[:32]
    return f"{folder[: MAX_NAME_LENGTH - 33]}-{digest}"
