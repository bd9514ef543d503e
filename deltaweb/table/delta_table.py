"""DeltaTable: all that is done with a table, and what makes one.

What writes is loaded by the method that needs it (`deltaweb.lazy`): who only reads
starts without.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from deltaweb import delta, writer
from deltaweb.delta.protocol.schema import StructField, StructType
from deltaweb.delta.shown import Shown
from deltaweb.delta.snapshot.frames import Frames
from deltaweb.table.definition import TableDefinition
from deltaweb.table.maintenance import TableMaintenance
from deltaweb.table.rows import TableWrites

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

    from deltaweb.delta.scan.rows import RowScan


class DeltaTable(TableWrites, TableDefinition, TableMaintenance, Shown, Frames):
    """A Delta table at a location; nothing is read before a method asks for it.

    Args:
        location: A path, as text or a `Path`, or a URL that fsspec knows.
        storage_options: Options of the store; a secret stays out of every error.
        allowed_roots: Roots outside the table whose files may be read when a path
            of the log leads there.
        time_zone: Whose clocks show the times without a zone in conditions, new values
            and constraints, where rows are read and written, and when it is asked for
            a version or for changes by their times: `America/New_York`, `+05:30`.
            SQL is of UTC for None, and other times without a zone are refused.

    What writes takes `checkpoint`: when a checkpoint is written that its commit makes
    due. `"now"` is before it returns, as for None where no block of
    `deltaweb.delta.writing.after_commit.checkpoints` says otherwise; `"background"` by
    a thread, whose end `wait_for_checkpoints` of that module waits for; or `"never"`.

    Raises:
        TimeZoneUnknownError: If no zone is called so.
        WrongTypeError: If an argument is of a wrong type.
    """

    # === A table that is not there yet ===

    @classmethod
    def create(  # noqa: PLR0913  # what a table is
        cls,
        location: str,
        schema: StructType | pa.Schema,
        *,
        partition_by: Sequence[str] = (),
        name: str | None = None,
        description: str | None = None,
        properties: Mapping[str, str] | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> Self:
        """Make a table in a place where nothing is, and return it.

        Raises:
            DeltaError: As `deltaweb.writer.making.new_table.create_table` lists them.
        """
        table = cls(location, storage_options)
        new = writer.making.new_table.NewTable(
            schema=schema,
            partition_by=partition_by,
            name=name,
            description=description,
            properties=properties or {},
        )
        writer.making.new_table.create_table(table._store, new)
        return table

    @classmethod
    def convert(  # noqa: PLR0913  # as above
        cls,
        location: str,
        *,
        partition_schema: Sequence[StructField] | str | None = None,
        name: str | None = None,
        description: str | None = None,
        properties: Mapping[str, str] | None = None,
        time_zone: str | None = None,
        on_progress: Callable[[int, int], None] | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> Self:
        """Make a folder of Parquet files a table where it lies, and return it.

        No file is written, moved or deleted: the log of one commit names them all.
        Columns that folders name (`year=2026/`) become partition columns.

        Args:
            location: The folder.
            partition_schema: Those columns with their types, as fields or as DDL
                (`year INT, country STRING`), in the table's order; None to find them
                out.
            name: What people call the table.
            description: What people are told of it.
            properties: Its properties.
            time_zone: Where times are from that folders name without a zone
                (`America/New_York`, `+05:30`); None to keep them as they are.
            on_progress: Called with the files that were looked at, and of how many;
                it may raise to stop the work.
            storage_options: Options of the store.

        Raises:
            LocationTakenError: If it is a table already.
            FolderNotConvertibleError: If files do not make one; names every reason.
            TimeZoneUnknownError: If no zone is called so.
            DeltaError: As `deltaweb.writer.making.conversion` lists them.
        """
        table = cls(location, storage_options)
        if isinstance(partition_schema, str):
            partition_schema = delta.protocol.schema_ddl.parse_columns_ddl(
                partition_schema
            )
        asked = writer.making.conversion.Conversion(
            partition_schema=partition_schema,
            name=name,
            description=description,
            properties=properties or {},
            time_zone=time_zone,
            **({} if on_progress is None else {"on_progress": on_progress}),
        )
        writer.making.conversion.convert_folder(table._store, asked)
        return table

    # === The rows of the newest version, looked up at each call ===

    def scan(
        self,
        columns: Sequence[str] | None = None,
        predicate: Any = None,  # noqa: ANN401  # as `Frames` says
        limit: int | None = None,
        *,
        typed_variants: bool = False,
    ) -> "RowScan":
        """Read rows of the newest version; see `Frames`."""
        return self.snapshot().scan(
            columns, predicate, limit, typed_variants=typed_variants
        )

    def to_pyarrow_dataset(self) -> "Dataset":
        """Return the files of the newest version as a dataset; see `Frames`."""
        return self.snapshot().to_pyarrow_dataset()

    def __repr__(self) -> str:
        return f"DeltaTable({self._store.root!r})"  # nothing is read for it

    def _title(self) -> str:
        return self._store.root

    def facts(self) -> Iterable[tuple[str, object]]:
        """Yield what a notebook shows of it."""
        newest = self.snapshot_metadata()
        yield "version", newest.version
        yield from newest.facts()

    def column_types(self) -> Iterable[Sequence[object]]:
        """Yield name and type of each column."""
        return self.snapshot_metadata().column_types()
