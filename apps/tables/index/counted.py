"""How many rows match a condition and have each partition value, by the index."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from apps.tables.index.explained import MAX_PARSED, IndexedFiles, indexed_files
from apps.tables.models import Table
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.protocol.schema import StructType
from deltaweb.environment.kept_values import KeptValues
from deltaweb.index.query.questions import Question
from deltaweb.index.query.value_counts import (
    MatchingFiles,
    ValueCounts,
    count_rows,
    count_values,
    matching_files,
)

KEPT_BYTES: Final = 32 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What the files say that may hold rows for which a condition is true.

    Attributes:
        num_rows: The number of their rows; None if a file does not say it.
        is_exact: Whether the condition is true for every row of them. Otherwise a
            count is the most that there can be.
        values: Of partition columns, by name; without those that cannot be read.
    """

    num_rows: int | None
    is_exact: bool
    values: Mapping[str, ValueCounts]


_kept: KeptValues[tuple[str, int, str, str, tuple[str, ...]], Counted]
_kept = KeptValues(KEPT_BYTES)


def counted_rows(  # noqa: PLR0913, PLR0917 (a version and a condition)
    table: Table,
    version: int | None,
    schema: StructType,
    sql: str,
    zone_name: str,
    columns: Sequence[str] = (),
) -> Counted | None:
    """Count the rows of a version that may match a condition.

    Args:
        sql: The condition; "" for every row.
        zone_name: Whose clocks show the times without a zone.
        columns: Partition columns whose values are counted.

    Returns:
        None if the index is not of this version, or cannot evaluate the condition.
    """
    files = indexed_files(table, version, schema)
    if files is None or (sql and files.num_files > MAX_PARSED):
        return None
    key = (*files.key, sql, zone_name, tuple(columns))
    known = _kept.find(key)
    if known is not None:
        return known[0]
    try:
        question = Question(sql, schema, files.metadata, zone_name) if sql else None
        matching = matching_files(question, files.live_parts)
        found = Counted(
            num_rows=count_rows(matching),
            is_exact=matching.is_exact,
            values=_values(matching, files, columns),
        )
    except DeltaError:
        return None
    held_bytes = sum(one.values.nbytes for one in found.values.values())
    return _kept.keep(key, found, held_bytes)


def _values(
    matching: MatchingFiles, files: IndexedFiles, columns: Sequence[str]
) -> dict[str, ValueCounts]:
    found = {}
    for name in columns:
        field = files.schema.find(name)
        if field is None or name not in files.metadata.partition_columns:
            continue
        try:
            found[name] = count_values(matching, field)
        except (KeyError, ValueError):  # a value that is not of the column's type
            continue
    return found
