"""The Parquet files below a folder that is to become a table: what they say they hold.

Every file that is not hidden is looked at. One whose name does not end as a Parquet
file's is skipped if it is not one; everything else that cannot be held is a problem
that names its file, and all of them are found.
"""

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, TypeAlias, TypeVar
from urllib.parse import quote

import pyarrow as pa

from deltaweb.delta.errors import DataFileError, PathEscapesTableError
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.schema import StructField
from deltaweb.delta.scan.data_file import reading
from deltaweb.delta.values.time_zones.rules import ZoneRules
from deltaweb.delta.writing.operations.data_places import tables_below
from deltaweb.parquet.conversion.merging import FileProblem
from deltaweb.parquet.errors import FileNotParquetError
from deltaweb.parquet.loading import ParquetFooter, load_footer
from deltaweb.parquet.values.verdicts import check_footer
from deltaweb.writer.making.folder_times import is_zoneless
from deltaweb.writer.making.hive import (
    folder_values,
    inferred_type,
    is_hidden,
    log_texts,
    misfit_reason,
)

SUFFIXES: Final = (".parquet", ".parq")
MAX_PROBLEMS: Final = 1_000
"""Problems after which no more files are looked at."""
MAX_FILES: Final = 5_000_000
REMOTE_READS: Final = 16
"""Footers that are asked for at a time where storage is far away."""

T = TypeVar("T")
FolderValues: TypeAlias = list[tuple[str, str | None]]
"""The partition columns of a folder, with their values as the log has them."""
Progress: TypeAlias = Callable[[int, int], None]
"""Called with the files that were looked at, and of how many; it may raise to stop."""


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The files below a root that are not hidden.

    Attributes:
        places: Where they are below the root, in order: string.
        modification_times: Milliseconds since the Unix epoch, row for row: int64.
    """

    places: pa.ChunkedArray
    modification_times: pa.ChunkedArray
    tables: tuple[str, ...]


def find_files(store: TableStore) -> FoundFiles:
    """List the files below a store's root, in order of their places."""
    batches: list[pa.RecordBatch] = []
    tables: set[str] = set()
    for batch in store.list_data_statuses():
        places = batch.column("place").to_pylist()
        tables.update(tables_below(pa.chunked_array([batch.column("place")])))
        mask = pa.array([not is_hidden(place) for place in places], pa.bool_())
        batches.append(batch.filter(mask))
    if not batches:
        nothing = pa.chunked_array([], pa.int64())
        return FoundFiles(pa.chunked_array([], pa.string()), nothing, ())
    found = pa.Table.from_batches(batches).sort_by("place")
    return FoundFiles(found["place"], found["modification_time"], tuple(sorted(tables)))


def is_remote(store: TableStore) -> bool:
    """Tell whether the files are far away: each look at one takes a while."""
    return "://" in store.root


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield items in lists of a size, the last one of what is left."""
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some


def path_of(place: str) -> str:
    """Return the path in the log of a file by its place below the root."""
    return quote(place, safe="/=")


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file that was looked at.

    Attributes:
        footer: What it says it holds; None where it is no Parquet, by its name either.
        problem: Why it cannot be held; None where it can.
        doubtful: The columns of which only decoding shows whether they can be read.
    """

    place: str
    size: int = 0
    footer: ParquetFooter | None = None
    problem: FileProblem | None = None
    doubtful: tuple[str, ...] = ()


def read_footers(store: TableStore, places: Iterable[str]) -> Iterator[ReadFile]:
    """Look at files, one after the other; many at a time where that means to wait."""
    if not is_remote(store):
        yield from (_read(store, place) for place in places)
        return
    with ThreadPoolExecutor(REMOTE_READS) as pool:
        for some in in_batches(places, 4 * REMOTE_READS):
            yield from pool.map(lambda place: _read(store, place), some)


def _read(store: TableStore, place: str) -> ReadFile:
    path = path_of(place)
    try:
        if posixpath.normpath(place) != place:
            reason = "its path has parts that a path of a log cannot have"
            return ReadFile(place, problem=FileProblem(place, (), reason))
        with reading(path), closing(store.open_data_file(path)) as source:
            return _looked_at(place, source)
    except (DataFileError, PathEscapesTableError) as error:
        reason = getattr(error, "reason", "") or error.message.rstrip(".")
        return ReadFile(place, problem=FileProblem(place, (), reason))


def _looked_at(place: str, source: pa.NativeFile) -> ReadFile:
    try:
        footer = load_footer(source)
    except FileNotParquetError:
        if place.lower().endswith(SUFFIXES):
            raise
        return ReadFile(place)
    size = source.size()
    doubtful = check_footer(footer, size)
    return ReadFile(place, size, footer, doubtful=doubtful)


# === Partitions ===


@dataclass(eq=False)
class FolderPartitions:
    """The partition values of files, by the folders that they are in.

    Attributes:
        declared: The partition columns, where somebody said what they are; None to
            find them out.
        zone: Where times are from that do not say it; None for nowhere.
        zoneless: The columns with such times, and how many of them there are.
    """

    declared: Sequence[StructField] | None
    problems: list[FileProblem]
    zone: ZoneRules | None = None
    zoneless: dict[str, int] = field(default_factory=dict)
    _names: tuple[str, ...] | None = None
    _first: str = ""
    _folders: dict[str, dict[str, str | None] | None] = field(default_factory=dict)

    def add(self, place: str) -> None:
        """Take the folder of a file into account."""
        folder = place.rpartition("/")[0]
        if folder in self._folders:
            return
        values = folder_values(folder)
        if self._names is None:
            self._first = place
            self._names = (
                tuple(values)
                if self.declared is None
                else tuple(column.name for column in self.declared)
            )
        known = {name.lower(): name for name in self._names}
        if {name.lower() for name in values} != set(known):
            self._folders[folder] = None
            self.problems.append(FileProblem(place, (), self._other_columns(values)))
            return
        self._folders[folder] = {
            known[name.lower()]: text for name, text in values.items()
        }

    def _other_columns(self, values: dict[str, str | None]) -> str:
        found = f"its folders name the columns {', '.join(values) or 'none'}"
        named = ", ".join(self._names or ()) or "none"
        if self.declared is not None:
            return f"{found}, where {named} were given"
        return f"{found}, and those of {self._first} {named}"

    def finish(self) -> tuple[tuple[StructField, ...], dict[str, FolderValues]]:
        """Return the columns, and the pairs of name and text of each folder."""
        columns, texts = [], {}
        for position, name in enumerate(self._names or ()):
            of_folders = {
                values[name]: folder
                for folder, values in self._folders.items()
                if values is not None and values[name] is not None
            }
            known = [text for text in of_folders if text is not None]
            column = (
                StructField(name, inferred_type(known))
                if self.declared is None
                else replace(self.declared[position], nullable=True)
            )
            texts[name], misfit = log_texts(known, column, self.zone)
            count = sum(is_zoneless(text, column) for text in texts[name])
            if count:
                self.zoneless[name] = count
            if misfit:
                reason = misfit_reason(misfit, column)
                self.problems.append(
                    FileProblem(f"{of_folders[misfit]}/", (name,), reason)
                )
            columns.append(column)
        values_of = {
            folder: [
                (name, None if text is None else texts[name].get(text))
                for name, text in sorted_as(columns, values)
            ]
            for folder, values in self._folders.items()
            if values is not None
        }
        return tuple(columns), values_of


def sorted_as(
    columns: Sequence[StructField], values: dict[str, str | None]
) -> FolderValues:
    """Return values in the order of the columns."""
    return [(column.name, values[column.name]) for column in columns]
