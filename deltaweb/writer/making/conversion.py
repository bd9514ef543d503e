"""A folder of Parquet files becomes a table where it lies: only a log is written.

Schemas are merged as by Delta's reference implementation: what Spark left in a footer
wins over Parquet's own, every column may be null, and types that conflict are refused
with both files named. The files, with statistics of their footers, are one commit.

Source: delta_protocol.md, "Actions"; Delta's reference implementation, "CONVERT TO
DELTA".
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import LocationError
from deltaweb.delta.features.column_mapping import MAPPING_MODE
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.actions import Metadata, Protocol, SetTransaction
from deltaweb.delta.protocol.schema import StructField, StructType, parse_schema
from deltaweb.delta.protocol.table_properties import string_prefix_length
from deltaweb.delta.values.time_zones.known import zone_rules
from deltaweb.delta.writing.commit import commit
from deltaweb.delta.writing.errors import LocationTakenError
from deltaweb.delta.writing.transaction import ADDED_FILES, CommitResult, Transaction
from deltaweb.parquet.conversion.merging import FileProblem, MergedSchema, SchemaMerger
from deltaweb.parquet.loading import ParquetFooter
from deltaweb.writer.files.statistics import statistics_columns
from deltaweb.writer.making.folder import (
    MAX_FILES,
    MAX_PROBLEMS,
    FolderPartitions,
    FolderValues,
    FoundFiles,
    Progress,
    ReadFile,
    find_files,
    in_batches,
    path_of,
    read_footers,
)
from deltaweb.writer.making.folder_times import said_of_times
from deltaweb.writer.making.footer_statistics import FooterStatistics
from deltaweb.writer.making.free_place import check_outside
from deltaweb.writer.making.new_table import NewTable, new_definition
from deltaweb.writer.making.readable import ReadableFiles

CONVERT: Final = "CONVERT"
HELD_FEATURES: Final = frozenset({"timestampNtz", "variantType"})
BATCH_FILES: Final = 4_096
MAX_KEPT_BYTES: Final = 16 << 20
"""Of footers, as they are stored, that are kept for the second look."""
MAX_SHOWN: Final = 10


class FolderNotConvertibleError(LocationError, code="folder-not-convertible"):
    """Files of a folder do not make a table.

    Attributes:
        problems: Each with its file, its column and the reason.
    """

    problems: Sequence[object]
    message = "{location} cannot become a table: {_problems}."
    hint = "Leave those files out, write them again, or import the rows instead."

    @property
    def _problems(self) -> str:
        shown = "; ".join(map(str, self.problems[:MAX_SHOWN]))
        more = len(self.problems) - MAX_SHOWN
        return f"{shown}; and {more:,} more" if more > 0 else shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """How a folder becomes a table.

    Attributes:
        partition_schema: The columns that folders name, in the table's order, with
            their types; None to find them out.
        time_zone: Where times are from that folders name without a zone; None to keep
            them as they are.
    """

    partition_schema: Sequence[StructField] | None = None
    name: str | None = None
    description: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    time_zone: str | None = None
    on_progress: Progress = lambda _done, _total: None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConversionPlan:
    """The table that a folder would be.

    Attributes:
        files: In the columns of `ADDED_FILES`.
        skipped: Files that are no Parquet, of which the first are named.
        zoneless_times: The columns whose folders name times without a zone, and how
            many of them.
        time_zone: Where these are from; None where they stay as they are.
    """

    metadata: Metadata
    protocol: Protocol
    files: pa.Table
    num_rows: int
    size_bytes: int
    skipped: tuple[str, ...]
    num_skipped: int
    zoneless_times: Mapping[str, int] = field(default_factory=dict)
    time_zone: str | None = None

    @property
    def said_of_times(self) -> str:
        """What becomes of times of folders without a zone; empty without any."""
        return said_of_times(self.zoneless_times, self.time_zone)

    @property
    def schema(self) -> StructType:
        return parse_schema(self.metadata.schema_string or "")

    def describe(self) -> dict[str, Any]:
        return {
            "schema": json.loads(self.metadata.schema_string or "{}"),
            "partition_columns": [*self.metadata.partition_columns],
            "num_files": self.files.num_rows,
            "num_rows": self.num_rows,
            "size_bytes": self.size_bytes,
            "passed_over": [*self.skipped],
            "num_passed_over": self.num_skipped,
            "zoneless_times": {**self.zoneless_times},
            "time_zone": self.time_zone,
            "min_reader_version": self.protocol.min_reader_version,
            "min_writer_version": self.protocol.min_writer_version,
        }


def plan_conversion(store: TableStore, asked: Conversion) -> ConversionPlan:
    """Return the table that a folder would be; nothing is written."""
    if store.list_names_from(""):
        raise LocationTakenError(location=store.root)
    check_outside(store)
    found = find_files(store)
    problems = [
        FileProblem(f"{folder}/", (), "it is a table of its own")
        for folder in found.tables
    ]
    if len(found.places) > MAX_FILES:
        reason = f"there are more than {MAX_FILES:,} files"
        problems.append(FileProblem("", (), reason))
    if problems:
        raise FolderNotConvertibleError(location=store.root, problems=problems)
    return _Planning(store, asked, found).plan()


def convert_folder(store: TableStore, asked: Conversion) -> CommitResult:
    return commit_conversion(store, plan_conversion(store, asked))


def commit_conversion(
    store: TableStore, plan: ConversionPlan, *, txn: SetTransaction | None = None
) -> CommitResult:
    """Make a folder the table that it was planned to be."""
    partitions = [*plan.metadata.partition_columns]
    transaction = Transaction(
        base=None,
        operation=CONVERT,
        parameters={
            "numFiles": plan.files.num_rows,
            "partitionedBy": partitions,
            "collectStats": True,
            "sourceFormat": "parquet",
        },
        metrics={"numConvertedFiles": plan.files.num_rows},
        added=plan.files,
        are_files_new=False,  # they stay, whatever becomes of the commit
        metadata=plan.metadata,
        protocol=plan.protocol,
        txn=txn,
    )
    return commit(store, transaction)


class _Planning:
    """Two passes over the files: their schemas first, then their statistics.

    The footers of the first files are kept in between; those of more are read twice,
    so that memory holds no more of them, however many there are.
    """

    def __init__(self, store: TableStore, asked: Conversion, found: FoundFiles) -> None:
        self.store = store
        self.asked = asked
        self.found = found
        self.readable = ReadableFiles(store)
        self.problems: list[FileProblem] = []
        self.skipped: list[str] = []
        self.num_skipped = 0
        self.kept: dict[str, ReadFile] = {}
        self.kept_bytes = 0

    def plan(self) -> ConversionPlan:
        asked, merger = self.asked, SchemaMerger()
        zone = None if asked.time_zone is None else zone_rules(asked.time_zone)
        partitions = FolderPartitions(asked.partition_schema, self.problems, zone)
        is_parquet = self._look(merger, partitions)
        merged = merger.merged()
        self.problems.extend(problem for problem in merged.problems if problem.file)
        if not any(is_parquet) and not self.problems:
            self.problems.append(FileProblem("", (), "no Parquet file is in it"))
        columns, values_of = partitions.finish()
        self._check_held(merged)
        self._raise_problems()
        names = {column.name.lower() for column in columns}
        data = tuple(
            _of_files(column)
            for column in parse_schema(json.dumps(merged.nullable)).fields
            if column.name.lower() not in names
        )
        metadata, protocol = self._definition(data, columns)
        statistics = FooterStatistics(
            StructType(data),
            statistics_columns(StructType(data), metadata.configuration),
            string_prefix_length(metadata.configuration),
        )
        files, num_rows = self._files(is_parquet, statistics, values_of)
        self._raise_problems()
        return ConversionPlan(
            metadata=metadata,
            protocol=protocol,
            files=files,
            num_rows=num_rows,
            size_bytes=pc.sum(files["size"]).as_py() or 0,
            skipped=tuple(self.skipped),
            num_skipped=self.num_skipped,
            zoneless_times=partitions.zoneless,
            time_zone=self.asked.time_zone,
        )

    def _look(self, merger: SchemaMerger, partitions: FolderPartitions) -> list[bool]:
        """Merge the schemas, and tell of each file whether it is Parquet."""
        total = len(self.found.places)
        is_parquet = []
        for done, file in enumerate(read_footers(self.store, self._places()), 1):
            is_parquet.append(file.footer is not None)
            if file.problem is not None:
                self.problems.append(file.problem)
            elif file.footer is None:
                self.num_skipped += 1
                if len(self.skipped) < MAX_SHOWN:
                    self.skipped.append(file.place)
            else:
                merger.add(file.place, file.footer)
                problem = self.readable.problem(file, file.footer)
                if problem is not None:
                    self.problems.append(problem)
                partitions.add(file.place)
                self._keep(file, file.footer)
            self.asked.on_progress(done, total)
            if len(self.problems) >= MAX_PROBLEMS:
                break
        return is_parquet

    def _places(self) -> Iterator[str]:
        for chunk in self.found.places.chunks:
            for start in range(0, len(chunk), BATCH_FILES):
                yield from chunk.slice(start, BATCH_FILES).to_pylist()

    def _keep(self, file: ReadFile, footer: ParquetFooter) -> None:
        self.kept_bytes += footer.metadata.footer_length
        if self.kept_bytes <= MAX_KEPT_BYTES:
            self.kept[file.place] = file

    def _check_held(self, merged: MergedSchema) -> None:
        """Note what a new table does not have."""
        self.problems.extend(
            FileProblem("", (), f"its columns need the table feature {name}")
            for name in merged.features
            if name not in HELD_FEATURES
        )
        if MAPPING_MODE in self.asked.properties:
            reason = "files that are there cannot have other names for columns"
            self.problems.append(FileProblem("", (), f"{MAPPING_MODE}: {reason}"))
        self.problems.extend(
            FileProblem("", path, "its name has characters that need column mapping")
            for path in merged.mapped_columns
        )

    def _raise_problems(self) -> None:
        if self.problems:
            location = self.store.root
            raise FolderNotConvertibleError(location=location, problems=self.problems)

    def _definition(
        self, data: tuple[StructField, ...], columns: tuple[StructField, ...]
    ) -> tuple[Metadata, Protocol]:
        new = NewTable(
            schema=StructType((*data, *columns)),
            partition_by=[column.name for column in columns],
            name=self.asked.name,
            description=self.asked.description,
            properties=self.asked.properties,
        )
        return new_definition(new)

    def _files(
        self,
        is_parquet: Sequence[bool],
        statistics: FooterStatistics,
        values_of: Mapping[str, FolderValues],
    ) -> tuple[pa.Table, int]:
        """Return the files as they are added, and how many rows they have."""
        num_rows, batches = 0, []
        for rows in in_batches(self._again(is_parquet), BATCH_FILES):
            files = [file for file, _ in rows]
            footers = [file.footer for file in files if file.footer is not None]
            num_rows += sum(footer.metadata.num_rows for footer in footers)
            columns = {
                "path": [path_of(file.place) for file in files],
                "size": [file.size for file in files],
                "modification_time": [time_ms for _, time_ms in rows],
                "partition_values": [
                    values_of[file.place.rpartition("/")[0]] for file in files
                ],
                "stats": [statistics.to_json(footer) for footer in footers],
            }
            batches.append(pa.RecordBatch.from_pydict(columns, schema=ADDED_FILES))
        return pa.Table.from_batches(batches, schema=ADDED_FILES), num_rows

    def _again(self, is_parquet: Sequence[bool]) -> Iterator[tuple[ReadFile, int]]:
        """Yield the files with their times, those that were not kept read again."""
        mask = pa.array(is_parquet, pa.bool_())
        places = self.found.places.filter(mask)
        times = self.found.modification_times.filter(mask)
        known = pc.is_in(places, value_set=pa.array(self.kept, pa.string()))
        missing = (place.as_py() for place in places.filter(pc.invert(known)))
        read = read_footers(self.store, missing)
        for place, time_ms in zip(places, times, strict=True):
            file = self.kept.get(place.as_py()) or next(read)
            if file.footer is None:
                reason = "it changed while it was read"
                problem = file.problem or FileProblem(file.place, (), reason)
                self.problems.append(problem)
                self._raise_problems()
            yield file, time_ms.as_py()


def _of_files(column: StructField) -> StructField:
    """Return a column of files, without what another table said of it.

    Its generated values or its mapping were that table's own.
    """
    metadata = {
        key: value
        for key, value in column.metadata.items()
        if not key.startswith("delta.")
    }
    return replace(column, metadata=metadata)
