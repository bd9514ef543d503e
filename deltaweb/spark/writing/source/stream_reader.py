"""Rows of a table as it grows, batch by batch."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType as SparkStruct

from deltaweb.delta.errors import VersionError
from deltaweb.delta.feed.versions import find_range
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.snapshot.times import load_commit_times
from deltaweb.delta.writing.errors import SchemaMismatchError
from deltaweb.expressions.session.zone_times import moment_of
from deltaweb.spark.writing.file_rows import FileReading
from deltaweb.spark.writing.source.batch_reader import dealt_out, reading_of_columns
from deltaweb.spark.writing.source.options import SourceOptionError, SourceOptions
from deltaweb.spark.writing.source.stream_files import (
    StreamBounds,
    StreamFiles,
    StreamOffset,
    StreamRules,
)
from deltaweb.table import DeltaTable

DEFAULT_MAX_FILES: Final = 1_000
NEWEST: Final = "latest"


class StreamSchemaError(VersionError, code="stream-schema"):
    """The columns of a table became others than those of a stream."""

    reason: str
    message = (
        "The stream of {root} stops: from version {version} on {reason}, so its "
        "columns are different."
    )
    hint = "Restart the query from its checkpoint to continue with the new columns."


class StreamPartition(InputPartition):
    """Files of a batch that one task reads.

    Attributes:
        value: How they are read, and what a `RowSource` needs of each.
    """

    def __init__(self, reading: FileReading, files: pa.Table) -> None:
        super().__init__((reading, files))


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a version whole, and then what each later one added."""

    def __init__(
        self, options: SourceOptions, columns: SparkStruct, *, is_whole: bool
    ) -> None:
        self._options = options
        self._columns = columns
        self._is_whole = is_whole
        self._place = options.place
        self._last: int | None = None
        rules = StreamRules(
            ignore_deletes=options.flag("ignoreDeletes"),
            ignore_changes=options.flag("ignoreChanges"),
            skip_changes=options.flag("skipChangeCommits"),
        )
        self._files = StreamFiles(self._place.open(), rules)
        self._max_bytes = options.number("maxBytesPerTrigger", least=1)
        max_files = options.number("maxFilesPerTrigger", least=1)
        if max_files is None and self._max_bytes is None:
            max_files = DEFAULT_MAX_FILES
        self._max_files = max_files

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802  # Spark's name
        """Return where a stream begins that has no checkpoint."""
        return self._first().to_json()

    def _first(self) -> StreamOffset:
        options = self._options
        version, timestamp = (
            options.text("startingVersion"),
            options.text("startingTimestamp"),
        )
        store = self._place.open()
        table = DeltaTable.from_store(store)
        if version is not None and timestamp is not None:
            expected = "possible together with startingVersion"
            raise SourceOptionError(
                name="startingTimestamp", value=timestamp, expected=expected
            )
        if version == NEWEST:
            return StreamOffset(table.latest_version() + 1)
        if version is None and timestamp is None:
            return StreamOffset(table.latest_version(), is_snapshot=True)
        number = None if version is None else options.number("startingVersion")
        times = load_commit_times(store)
        moment = moment_of(timestamp, options.settings.time_zone)
        found = find_range(
            store.root, times, versions=(number, None), timestamps=(moment, None)
        )
        return StreamOffset(found.first)

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802  # Spark's name
        """Return that batches are bounded; by what, `latestOffset` knows."""
        return ReadMaxFiles(self._max_files or DEFAULT_MAX_FILES)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802  # Spark's name
        """Note the version that a query which takes what there is ends with."""
        self._last = DeltaTable.from_store(self._place.open()).latest_version()

    def latestOffset(  # noqa: N802  # Spark's name
        self, start: dict[str, Any], limit: ReadLimit
    ) -> dict[str, Any]:
        """Return how far the next batch goes."""
        is_bounded = not isinstance(limit, ReadAllAvailable)
        bounds = StreamBounds(
            max_files=self._max_files if is_bounded else None,
            max_bytes=self._max_bytes if is_bounded else None,
            last_version=self._last,
        )
        return self._files.advance(StreamOffset.from_json(start), bounds).to_json()

    def partitions(
        self, start: dict[str, Any], end: dict[str, Any]
    ) -> Sequence[InputPartition]:
        """Deal the files of a batch out to tasks."""
        reading, tables = None, []
        for definition, files in self._files.between(
            StreamOffset.from_json(start), StreamOffset.from_json(end)
        ):
            if files.num_rows:
                reading = self._reading(definition)
                tables.append(files)
        if reading is None:
            return []
        shares = dealt_out(pa.concat_tables(tables))
        return [StreamPartition(reading, share.value) for share in shares]

    def _reading(self, definition: Definition) -> FileReading:
        """Return how files of a version are read, by the columns of the stream."""
        try:
            reading = reading_of_columns(definition, self._place, self._columns)
        except SchemaMismatchError as error:
            column, why = next(iter(error.misfits.items()))
            raise self._other(definition, f"{column!r} {why}") from None
        more = [name for name in reading.schema.names if name not in reading.columns]
        if self._is_whole and more:
            raise self._other(definition, f"there is {more[0]!r}")
        return reading

    def _other(self, definition: Definition, reason: str) -> StreamSchemaError:
        root = self._place.open().root
        return StreamSchemaError(root=root, version=definition.version, reason=reason)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        reading, files = partition.value
        yield from reading.rows(files)
