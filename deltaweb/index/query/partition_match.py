"""Partition values of files against a condition: what may be true, and what is."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.schema import DataType, StructField
from deltaweb.delta.scan.predicate import Predicate, to_expression
from deltaweb.delta.scan.skipping import Mask
from deltaweb.delta.values.partition_values import type_partition_texts
from deltaweb.delta.values.value_text import arrow_array


@dataclass(frozen=True, slots=True, eq=False)
class TypedValues:
    """One partition column of some files, row for row.

    Attributes:
        values: Of the column's type.
        bad: The files whose text is no value of the type, null in `values`; None
            where there is none.
    """

    values: pa.Array
    bad: Mask | None = None


def type_values(partition_values: pa.MapArray, column: StructField) -> TypedValues:
    """Type one partition column of files from their maps of texts.

    Raises:
        SchemaError: If the column's type cannot be read.
    """
    texts = pc.map_lookup(
        partition_values, query_key=column.stored_name, occurrence="last"
    )
    encoded = texts.dictionary_encode()
    try:
        values = type_partition_texts(encoded.dictionary, column.data_type)
    except ValueError:
        return _type_each(encoded, column.data_type)
    return TypedValues(values.take(encoded.indices))


def _type_each(encoded: pa.DictionaryArray, data_type: DataType) -> TypedValues:
    """Type the distinct texts one by one; those that are no value are null."""
    values, bad = [], []
    for position in range(len(encoded.dictionary)):
        text = encoded.dictionary.slice(position, 1)
        try:
            values.append(type_partition_texts(text, data_type))
            bad.append(False)
        except ValueError:
            values.append(pa.nulls(1, arrow_array([], data_type).type))
            bad.append(True)
    is_bad = pc.fill_null(pa.array(bad).take(encoded.indices), fill_value=False)
    return TypedValues(
        pa.concat_arrays(values).take(encoded.indices),
        is_bad.to_numpy(zero_copy_only=False),
    )


def rows_where_true(condition: Predicate, columns: dict[str, pa.Array]) -> Mask:
    """Mark the rows for which a condition is true: neither false nor unknown.

    Args:
        condition: Over the columns alone.
        columns: Typed values by name, of equal length and one at least.
    """
    names = list(columns)
    num_rows = len(columns[names[0]])
    position = "position"
    while position in columns:
        position += "_"
    table = pa.table(
        [*columns.values(), pa.array(np.arange(num_rows))], names=[*names, position]
    )
    mask: Mask = np.zeros(num_rows, np.bool_)
    mask[table.filter(to_expression(condition))[position].to_numpy()] = True
    return mask
