"""Partition values on the wire: as the log has them, but for instants.

The log may leave out the zone of an instant, and each client would then read it in its
own. So an instant goes out in the form that says that it is in UTC, which it is here.

Source: PROTOCOL.md, "Partition Value Serialization".
"""

from collections.abc import Collection, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.schema import PrimitiveType, StructType
from deltaweb.delta.values.partition_values import utc_partition_text
from deltaweb.sharing.json_text import object_texts

TIMESTAMP: Final = PrimitiveType("timestamp")


def instant_columns(
    schema: StructType, partition_columns: Sequence[str]
) -> frozenset[str]:
    """Return the partition columns of instants, by the names that the log has."""
    columns = map(schema.find, partition_columns)
    return frozenset(
        column.stored_name
        for column in columns
        if column is not None and column.data_type == TIMESTAMP
    )


def partition_objects(
    partition_values: pa.MapArray, instants: Collection[str]
) -> pa.StringArray:
    """Return the partition values of files as JSON objects."""
    if not instants:
        return object_texts(partition_values)
    keys, texts = partition_values.keys, partition_values.items
    is_instant = pc.is_in(keys, value_set=pa.array(sorted(instants), keys.type))
    encoded = texts.filter(is_instant).dictionary_encode()
    respelled = pa.array(map(_in_utc, encoded.dictionary.to_pylist()), texts.type)
    if not respelled.equals(encoded.dictionary):
        values = respelled.take(encoded.indices)
        texts = pc.replace_with_mask(texts, is_instant, values)
        offsets = partition_values.offsets
        partition_values = pa.MapArray.from_arrays(offsets, keys, texts)
    return object_texts(partition_values)


def _in_utc(text: str) -> str:
    """Return the text of an instant in UTC; one that is none is left as it is."""
    try:
        return utc_partition_text(text)
    except ValueError:
        return text
