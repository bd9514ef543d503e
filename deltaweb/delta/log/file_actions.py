"""The columns that file actions are held in, and the identity of a file.

Source: delta_protocol.md, "Add File and Remove File".
"""

from functools import lru_cache, reduce
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

PARTITION_VALUES: Final = pa.map_(pa.string(), pa.string())
ENCODED_TEXT: Final = pa.dictionary(pa.int32(), pa.string())
ENCODED_VALUES: Final = pa.map_(ENCODED_TEXT, ENCODED_TEXT)
_AS_LIST: Final = pa.list_(
    pa.struct(
        [pa.field("key", pa.string(), nullable=False), pa.field("value", pa.string())]
    )
)
VECTOR: Final = "deletion_vector"
NUM_RECORDS: Final = "num_records"
"""How many rows the log says that a file has, deleted ones too; null if unknown."""
DELETION_VECTOR: Final = pa.struct(
    [
        pa.field("storageType", pa.string()),
        pa.field("pathOrInlineDv", pa.string()),
        pa.field("offset", pa.int64()),
        pa.field("sizeInBytes", pa.int64()),
        pa.field("cardinality", pa.int64()),
    ]
)
FILES_SCHEMA: Final = pa.schema(
    [
        pa.field("path", pa.string()),
        pa.field("size", pa.int64()),
        pa.field("modification_time", pa.int64()),
        pa.field("data_change", pa.bool_()),
        pa.field("partition_values", PARTITION_VALUES),
        pa.field("dv_id", pa.string()),
        pa.field(VECTOR, DELETION_VECTOR),
    ]
)
TOMBSTONES_SCHEMA: Final = pa.schema(
    [
        pa.field("path", pa.string()),
        pa.field("deletion_timestamp", pa.int64()),
        pa.field("data_change", pa.bool_()),
        pa.field("size", pa.int64()),
        pa.field("dv_id", pa.string()),
    ]
)
KEY_SEPARATOR: Final = "\0"  # cannot be part of a file's name
MAX_SHARED_ROWS: Final = 1 << 18  # what is shared stays in memory


def no_dv_ids(num_rows: int) -> pa.StringArray:
    """Return the ids of files without deletion vectors: one null for each.

    Blocks of equal length share one array, which a million files would feel.
    """
    if num_rows > MAX_SHARED_ROWS:
        return pa.nulls(num_rows, pa.string())
    return _shared_nulls(num_rows)


@lru_cache(maxsize=4)
def _shared_nulls(num_rows: int) -> pa.StringArray:
    return pa.nulls(num_rows, pa.string())


def dv_ids(deletion_vectors: pa.StructArray) -> pa.StringArray:
    """Return the id of each deletion vector, null where a file has none.

    The id is storageType, pathOrInlineDv and, where there is one, `@` and the offset.
    """
    kind, location, offset, *_ = deletion_vectors.flatten()
    if kind.null_count == len(kind):
        return no_dv_ids(len(kind))
    if kind.null_count > len(kind) // 2:
        return _few_dv_ids(deletion_vectors, kind.is_valid())
    base = pc.binary_join_element_wise(kind, location, "")
    suffix = pc.binary_join_element_wise("@", offset.cast(pa.string()), "")
    return pc.coalesce(pc.binary_join_element_wise(base, suffix, ""), base)


def _few_dv_ids(
    deletion_vectors: pa.StructArray, has_vector: pa.BooleanArray
) -> pa.StringArray:
    """Return the same, made of those files alone that have a vector."""
    ids = dv_ids(deletion_vectors.filter(has_vector))
    places = pc.subtract(pc.cumulative_sum(has_vector.cast(pa.int32())), 1)
    return ids.take(pc.if_else(has_vector, places, pa.scalar(None, pa.int32())))


def file_vectors(deletion_vectors: pa.StructArray) -> pa.Array:
    """Return the descriptors of deletion vectors, null where a file has none.

    Where no file has one the result is of Arrow's type of nulls, which takes no memory.
    """
    parts = deletion_vectors.flatten()
    has_vector = reduce(pc.or_, [part.is_valid() for part in parts])
    if not has_vector.true_count:
        return pa.nulls(len(deletion_vectors))
    # The parts stay where they are: choosing among structs copies each of them.
    return pa.StructArray.from_arrays(
        parts, fields=[*deletion_vectors.type], mask=pc.invert(has_vector)
    )


def vector_ids(vectors: pa.Array) -> pa.StringArray:
    """Return the ids of what `file_vectors` returned."""
    if pa.types.is_null(vectors.type):
        return no_dv_ids(len(vectors))
    return dv_ids(vectors)


def no_vectors(num_rows: int) -> pa.StructArray:
    """Return the descriptors of files without deletion vectors."""
    if num_rows > MAX_SHARED_ROWS:
        return pa.nulls(num_rows, DELETION_VECTOR)
    return _shared_no_vectors(num_rows)


@lru_cache(maxsize=4)
def _shared_no_vectors(num_rows: int) -> pa.StructArray:
    return pa.nulls(num_rows, DELETION_VECTOR)


def file_keys(paths: pa.Array, ids: pa.Array | None) -> pa.Array:
    """Return what identifies each file: its path, and its deletion vector if any."""
    if ids is None or ids.null_count == len(ids):
        return paths
    joined = pc.binary_join_element_wise(paths, ids, KEY_SEPARATOR)
    return pc.coalesce(joined, paths)


def has_absolute_paths(keys: pa.Array) -> bool:
    """Tell whether any key is an absolute path of a local file system."""
    is_absolute = pc.or_(
        pc.starts_with(keys, "/"), pc.starts_with(keys, "file:", ignore_case=True)
    )
    return bool(pc.any(is_absolute).as_py())


def canonical_keys(keys: pa.Array) -> pa.Array:
    """Return keys with one spelling for absolute paths: `/p`, not `file:/p`.

    Source: RFC 8089, "The file URI Scheme"; the host may be `localhost`.
    """
    return pc.replace_substring_regex(
        keys, pattern="^(?i:file:)(?://(?i:localhost)?/|/([^/]))", replacement=r"/\1"
    )


def partition_map(
    values: pa.StructArray, required: frozenset[str]
) -> pa.MapArray:  # fmt: skip
    """Return partition values as maps.

    Args:
        values: One string field a partition column, parsed from the log.
        required: Columns that are entries even where their value is null; others
            are entries where they have a value.
    """
    num_rows, num_columns = len(values), values.type.num_fields
    names = [values.type.field(index).name for index in range(num_columns)]
    if not num_columns:
        offsets = np.zeros(num_rows + 1, dtype=np.int32)
        return _map_array(offsets, pa.array([], pa.string()), pa.array([], pa.string()))
    by_column = pa.concat_arrays(
        [child.cast(pa.string()) for child in values.flatten()]
    )
    row_major = np.arange(num_rows * num_columns, dtype=np.int64)
    row_major = row_major.reshape(num_columns, num_rows).T.ravel()
    items = by_column.take(pa.array(row_major))
    keys = pa.DictionaryArray.from_arrays(
        pa.array(np.tile(np.arange(num_columns, dtype=np.int32), num_rows)),
        pa.array(names, pa.string()),
    ).cast(pa.string())
    if required.issuperset(names):
        offsets = np.arange(0, num_rows * num_columns + 1, num_columns, dtype=np.int32)
        return _map_array(offsets, keys, items)
    is_required = np.tile([name in required for name in names], num_rows)
    kept = is_required | items.is_valid().to_numpy(zero_copy_only=False)
    counts = kept.reshape(num_rows, num_columns).sum(axis=1)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    mask = pa.array(kept)
    return _map_array(offsets, keys.filter(mask), items.filter(mask))


def _map_array(
    offsets: "np.ndarray[tuple[int], np.dtype[np.int32]]",
    keys: pa.Array,
    items: pa.Array,
) -> pa.MapArray:
    return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), keys, items)


def as_text_map(array: pa.Array) -> pa.MapArray:
    """Return maps of strings from any encoding that checkpoints have used.

    Maps whose texts are dictionary-encoded stay so: they are a fraction of the size.
    A map without its annotation is a list of structs of two fields.
    """
    if array.type in {PARTITION_VALUES, ENCODED_VALUES}:
        return array
    if pa.types.is_map(array.type):
        texts = {array.type.key_type, array.type.item_type}
        # The names of a map's parts are its writer's own; they are not the type.
        return array.cast(
            ENCODED_VALUES if texts == {ENCODED_TEXT} else PARTITION_VALUES
        )
    if pa.types.is_list(array.type) and array.type.value_type.num_fields == 2:  # noqa: PLR2004  # a key and its value
        keys, items = array.flatten().flatten()
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy()
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        return _map_array(offsets, keys.cast(pa.string()), items.cast(pa.string()))
    raise pa.ArrowInvalid(str(array.type))


def filled_map(maps: pa.MapArray) -> pa.MapArray:
    """Return maps of text where a missing one is empty; others stay as encoded."""
    if not maps.null_count:
        return maps
    if maps.null_count == len(maps):
        offsets = np.zeros(len(maps) + 1, dtype=np.int32)
        return _map_array(offsets, pa.array([], pa.string()), pa.array([], pa.string()))
    entries = maps.cast(PARTITION_VALUES).cast(_AS_LIST)
    lengths = pc.fill_null(pc.list_value_length(entries), 0).to_numpy()
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    pairs = entries.flatten()
    return _map_array(offsets, pairs.field(0), pairs.field(1))


def files_batch(columns: list[pa.Array]) -> pa.RecordBatch:
    """Return files in the columns of `FILES_SCHEMA`, as blocks hold them.

    Partition values are as they come, and vectors as `file_vectors` has them.
    """
    return pa.RecordBatch.from_arrays(columns, names=FILES_SCHEMA.names)


def files_of_block(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the files of a block by `FILES_SCHEMA`."""
    if pa.types.is_null(batch.schema.field(VECTOR).type):
        place = batch.schema.get_field_index(VECTOR)
        nothing = no_vectors(batch.num_rows)
        batch = batch.set_column(place, FILES_SCHEMA.field(VECTOR), nothing)
    return batch.cast(FILES_SCHEMA)
