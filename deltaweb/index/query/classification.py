"""Which files of a version are given out under a rule: as they are, in part, or not.

A URL opens a whole file, so a file is signed only where every row of it is proved to
be one that may be seen, and every column. What is not proved is rewritten: a file that
nothing is known of as well.

    partition values   typed and exact: a condition over them alone is true or not
    statistics         bounds that no row is outside of, as loosely as writers cut them;
                       a null, or a NaN, may be wherever they do not deny it
    deletion vectors   statistics may leave out deleted rows, which are in the file yet
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from deltaweb.delta.errors import PartitionValueError, PropertyError
from deltaweb.delta.protocol.actions import Metadata
from deltaweb.delta.protocol.schema import StructField, type_text
from deltaweb.delta.protocol.table_properties import string_prefix_length
from deltaweb.delta.scan.predicate import NOTHING, Predicate
from deltaweb.delta.scan.skipping import Mask
from deltaweb.expressions.condition import SQLCondition
from deltaweb.index.query.file_part import FilePart, Rows
from deltaweb.index.query.partition_match import rows_where_true
from deltaweb.index.query.shared_version import SharedVersion

PREFIX_BYTES: Final = 32
"""Of texts as long as that, and longer, statistics may hold the start alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRule:
    """What of the files of a version somebody may see.

    Attributes:
        condition: Only rows that it is true for; None for every row.
        hides_columns: Whether some column may not be seen: any file may hold it, or
            tell a value of it by its path.
        shows_nothing: Whether the condition is known to be true for no row at all.
        copies_vectors: Whether a file with a deletion vector is rewritten, because
            clients would not apply the vector.
        copies_all: Whether each file is rewritten, because clients would not find its
            columns.
        checked_where: A file that may hold a row for which it is true is rewritten
            unless its footer shows that its types are plain.
    """

    condition: SQLCondition | None = None
    hides_columns: bool = False
    shows_nothing: bool = False
    copies_vectors: bool = False
    copies_all: bool = False
    checked_where: Predicate = NOTHING

    @property
    def of_rows(self) -> "FileRule":
        """The same rule of rows, which hides no column and needs no plain file."""
        return FileRule(condition=self.condition, shows_nothing=self.shows_nothing)

    @property
    def is_whole(self) -> bool:
        return self.condition is None and not self.hides_columns


@dataclass(frozen=True, slots=True, eq=False)
class ClassifiedPart:
    """The live files of a part: signed, rewritten, or absent where they are neither.

    Attributes:
        signed: Those that are served as stored.
        rewritten: Those that may hold a row to be seen, and more than that.
        absent: Those in which no row may be seen.
        checked: Those of `rewritten` that are served as stored once their types are
            known to be those of the schema.
    """

    part: FilePart
    signed: Mask
    rewritten: Mask
    absent: Mask
    checked: Mask

    def with_signed(self, rows: Rows) -> "ClassifiedPart":
        """Return the part with some of the checked files given out as they are."""
        known = np.zeros_like(self.checked)
        known[rows] = True
        known &= self.checked
        return replace(
            self,
            signed=self.signed | known,
            rewritten=self.rewritten & ~known,
            checked=self.checked & ~known,
        )


def classify(version: SharedVersion, rule: FileRule) -> list[ClassifiedPart]:
    """Return what becomes of each live file of a version under a rule."""
    return [
        _classified(version, part, live, rule) for part, live in version.live_parts()
    ]


def _classified(
    version: SharedVersion, part: FilePart, live: Mask, rule: FileRule
) -> ClassifiedPart:
    condition = rule.condition
    if rule.shows_nothing:
        possible = inside = np.zeros_like(live)
    elif condition is None:
        possible = inside = live
    elif partitions := _partition_columns(version, condition):
        possible = inside = live & _where_true(part, live, condition, partitions[0])
    else:
        possible, inside = _by_statistics(version, part, live, condition)
    if rule.hides_columns or rule.copies_all:
        signed = np.zeros_like(live)
    elif rule.copies_vectors and part.has_vectors is not None:
        signed = inside & ~part.has_vectors.to_numpy(zero_copy_only=False)
    else:
        signed = inside
    checked = np.zeros_like(live)
    if rule.checked_where != NOTHING and signed.any():
        checked = signed & version.may_match(part, signed, rule.checked_where)
        signed = signed & ~checked
    return ClassifiedPart(part, signed, possible & ~signed, live & ~possible, checked)


def _partition_columns(
    version: SharedVersion, condition: SQLCondition
) -> tuple[list[StructField]] | None:
    """Return the columns of a condition; None unless all are partition columns."""
    partitions = set(version.metadata.partition_columns)
    columns = [version.schema.find(name) for name in sorted(condition.names)]
    found = [column for column in columns if column and column.name in partitions]
    return (found,) if len(found) == len(columns) else None


def _where_true(
    part: FilePart, live: Mask, condition: SQLCondition, columns: list[StructField]
) -> Mask:
    """Mark the files whose partition values make a condition true."""
    typed = {column.name: part.partition(column) for column in columns}
    for column in columns:
        bad = typed[column.name].bad
        if bad is not None and (bad & live).any():
            position = int(np.flatnonzero(bad & live)[0])
            raise _bad_value(part, position, column)
    values = {name: found.values for name, found in typed.items()}
    return rows_where_true(condition, values, part.num_rows)


def _by_statistics(
    version: SharedVersion, part: FilePart, live: Mask, condition: SQLCondition
) -> tuple[Mask, Mask]:
    """Mark the files that may hold a row to be seen, and those that hold no other."""
    possible = live
    if condition.reach is not None:
        possible = live & version.may_match(part, live, condition.reach)
    outside = version.may_match(
        part, possible, condition.misses, cut_bytes=_cut_bytes(version.metadata)
    )
    inside = possible & ~outside
    if part.has_vectors is not None:
        inside &= ~part.has_vectors.to_numpy(zero_copy_only=False)
    return possible, inside


def _cut_bytes(metadata: Metadata) -> int:
    """Return from how many bytes on a largest text may be cut; 0 for any length."""
    try:
        return min(PREFIX_BYTES, string_prefix_length(metadata.configuration))
    except PropertyError:
        return 0


def _bad_value(
    part: FilePart, position: int, column: StructField
) -> PartitionValueError:
    row = part.rows().take(np.array([position]))
    values = dict(row["partition_values"][0].as_py() or ())
    return PartitionValueError(
        path=row["path"][0].as_py(),
        column=column.name,
        value=values.get(column.stored_name) or "",
        type_name=type_text(column.data_type),
    )
