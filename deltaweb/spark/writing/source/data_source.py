"""The data source itself, and how a session gets to know it.

Spark asks it in a new process each time, so each answer imports what it needs alone.
"""

from typing import TYPE_CHECKING, Final

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType as SparkStruct

from deltaweb.expressions import session
from deltaweb.spark import writing
from deltaweb.spark.writing import source
from deltaweb.spark.writing.session.settings import tell_tasks
from deltaweb.spark.writing.source.options import SourceOptionError, SourceOptions

if TYPE_CHECKING:
    from deltaweb.delta.snapshot import Snapshot
    from deltaweb.spark.writing.source.batch_reader import BatchReader
    from deltaweb.spark.writing.source.batch_writer import BatchWriter
    from deltaweb.spark.writing.source.stream_reader import StreamReader
    from deltaweb.spark.writing.source.stream_writer import StreamWriter

SOURCE_NAME: Final = "deltaweb"
REGISTERED: Final = "spark.deltaweb.source"


def register(spark: SparkSession) -> None:
    """Let a session know the data source `deltaweb`; once a session is enough."""
    if spark.conf.get(REGISTERED, "") != SOURCE_NAME:
        spark.dataSource.register(DeltawebSource)
        tell_tasks(spark)
        spark.conf.set(REGISTERED, SOURCE_NAME)


class DeltawebSource(DataSource):
    """Tables as `spark.read.format("deltaweb")` and `df.write.format("deltaweb")`.

    Options of reading: `path`, `versionAsOf`, `timestampAsOf`, and `filesWhere`, SQL
    that leaves files out which hold no row of it; a schema chooses columns. `timeZone`
    and `ansi` say by which settings that is meant: Spark tells a source written in
    Python nothing of the session, and what depends on it leaves no file out. Of
    writing: `partitionBy`, `mergeSchema`, `overwriteSchema`, `replaceWhere`,
    `partitionOverwriteMode`, `txnAppId` and `txnVersion`. Of streams that are read:
    `startingVersion` (a number, or `latest`), `startingTimestamp`,
    `maxFilesPerTrigger`, `maxBytesPerTrigger`, `ignoreDeletes`, `ignoreChanges` and
    `skipChangeCommits`. Of all: `storageOptions` and `allowedRoots`, as JSON.
    """

    _version: int | None = None

    @classmethod
    def name(cls) -> str:
        return SOURCE_NAME

    @property
    def _options(self) -> SourceOptions:
        return SourceOptions(self.options)

    def schema(self) -> SparkStruct:
        """Return the columns of the version that is read from now on."""
        return writing.spark_types.spark_schema(self._snapshot().schema)

    def reader(self, schema: SparkStruct) -> "BatchReader":
        """Return what reads the columns of a schema."""
        if self._version is None:
            self._snapshot()
        options = self._options
        return source.batch_reader.BatchReader(
            options.place,
            self._version or 0,
            schema,
            options.text("filesWhere"),
            options.settings,
        )

    def streamReader(self, schema: SparkStruct) -> "StreamReader":  # noqa: N802  # Spark's name
        """Return what reads a table as it grows."""
        return source.stream_reader.StreamReader(
            self._options, schema, is_whole=self._version is not None
        )

    def streamWriter(  # noqa: N802  # Spark's name
        self,
        schema: SparkStruct,
        overwrite: bool,  # noqa: FBT001  # Spark's signature
    ) -> "StreamWriter":
        return source.stream_writer.StreamWriter(
            self._options, schema, overwrite=overwrite
        )

    def writer(self, schema: SparkStruct, overwrite: bool) -> "BatchWriter":  # noqa: FBT001  # Spark's signature
        return source.batch_writer.BatchWriter(
            self._options, schema, overwrite=overwrite
        )

    def _snapshot(self) -> "Snapshot":
        options = self._options
        version, timestamp = (
            options.number("versionAsOf"),
            options.text("timestampAsOf"),
        )
        if version is not None and timestamp is not None:
            expected = "possible together with versionAsOf"
            raise SourceOptionError(
                name="timestampAsOf", value=timestamp, expected=expected
            )
        from deltaweb.table import DeltaTable  # noqa: PLC0415  # writers need none

        table = DeltaTable.from_store(options.place.open())
        moment = session.zone_times.moment_of(timestamp, options.settings.time_zone)
        snapshot = table.snapshot(version, moment)
        self._version = snapshot.version
        return snapshot
