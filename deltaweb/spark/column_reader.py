"""One column of a table as tasks read it, for Spark to add up."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from deltaweb.delta.profile.column import ProfiledColumn
from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.spark.arrow_frames import Batches
from deltaweb.spark.task_faults import faults_are_carried
from deltaweb.storage.place import TablePlace

if TYPE_CHECKING:
    from pyspark import Broadcast


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRequest:
    """A column to profile."""

    place: TablePlace
    version: int
    column: ColumnPath
    num_files: int | None = None


def read_part(
    place: TablePlace,
    column: ProfiledColumn,
    parts: "Broadcast[list[pa.Table]]",
    number: int,
) -> Batches:
    """Read the column from one part of the files, by its number."""
    yield from _values(place, column, parts.value[number])


def read_batches(
    place: TablePlace, column: ProfiledColumn, batches: Batches
) -> Batches:
    """Read the column from files that come as batches of a replay."""
    for batch in batches:
        yield from _values(place, column, pa.Table.from_batches([batch]))


def _values(place: TablePlace, column: ProfiledColumn, files: pa.Table) -> Batches:
    with faults_are_carried():
        yield from column.read(files, place.open().open_data_file)
