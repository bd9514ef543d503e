"""Partition values of files against a condition: what may be true, and what is."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.schema import DataType, PrimitiveType, StructField
from deltaweb.delta.scan.column_ranges import partition_range
from deltaweb.delta.scan.pruning import files_where_true
from deltaweb.delta.scan.row_condition import RowCondition
from deltaweb.delta.scan.skipping import ColumnRange, Mask
from deltaweb.delta.values.partition_values import type_partition_texts
from deltaweb.delta.values.value_text import MICROS_PER_DAY, arrow_array

TIMESTAMP: Final = PrimitiveType("timestamp")
SAYS_ZONE: Final = r":.*(Z|UTC|[+-][0-9:]+)$"
_LAST = np.iinfo(np.int64).max - MICROS_PER_DAY


@dataclass(frozen=True, slots=True, eq=False)
class TypedValues:
    """One partition column of some files, row for row.

    Attributes:
        bad: The files whose text is no value of the type, null in `values`; None
            where there is none.
        zoneless: The files whose text is an instant that does not say its zone, in
            UTC in `values`; None where there is none.
    """

    values: pa.Array
    bad: Mask | None = None
    zoneless: Mask | None = None

    @property
    def hinted_range(self) -> ColumnRange:
        """What a client may take the values for.

        Writers meant an instant without a zone in theirs, and clients that are told
        of it read it in theirs: it is any within a day of the one in UTC.
        """
        known = partition_range(self.values, self.bad)
        if self.zoneless is None:
            return known
        days = np.where(self.zoneless, MICROS_PER_DAY, 0)
        micros = self.values.cast(pa.int64()).fill_null(0).to_numpy()
        micros = np.clip(micros, -_LAST, _LAST)
        is_null = self.values.is_null().to_numpy(zero_copy_only=False)
        low, high = (
            pa.array(bound, mask=is_null).cast(self.values.type)
            for bound in (micros - days, micros + days)
        )
        return replace(known, low=low, high=high, is_exact=False)


def type_values(partition_values: pa.MapArray, column: StructField) -> TypedValues:
    """Type one partition column of files from their maps of texts."""
    texts = pc.map_lookup(
        partition_values, query_key=column.stored_name, occurrence="last"
    )
    encoded = texts.dictionary_encode()
    zoneless = _zoneless(encoded) if column.data_type == TIMESTAMP else None
    try:
        values = type_partition_texts(encoded.dictionary, column.data_type)
    except ValueError:
        return replace(_type_each(encoded, column.data_type), zoneless=zoneless)
    return TypedValues(values.take(encoded.indices), zoneless=zoneless)


def _zoneless(encoded: pa.DictionaryArray) -> Mask | None:
    says_zone = pc.match_substring_regex(encoded.dictionary, SAYS_ZONE)
    if pc.all(says_zone).as_py() is not False:
        return None
    found = pc.fill_null(says_zone.take(encoded.indices), fill_value=True)
    mask: Mask = ~found.to_numpy(zero_copy_only=False)
    return mask


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


def rows_where_true(
    condition: RowCondition, columns: Mapping[str, pa.Array], num_rows: int
) -> Mask:
    """Mark the rows for which a condition is true: neither false nor unknown."""
    values = [*columns.values()]
    rows = (
        pa.StructArray.from_arrays(values, names=[*columns])
        if values
        else pa.array([{}] * num_rows, pa.struct([]))
    )
    mask: Mask = files_where_true(condition, rows).to_numpy(zero_copy_only=False)
    return mask
