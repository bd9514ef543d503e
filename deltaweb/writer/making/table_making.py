"""The verbs of a table that is not there yet.

What writes is imported by the method that needs it: a command that only reads starts
without.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.schema import StructField, StructType


class TableMaking:
    """What makes a table; `DeltaTable` has all of it."""

    _store: TableStore

    if TYPE_CHECKING:

        def __init__(
            self, location: str, storage_options: Mapping[str, Any] | None = None
        ) -> None: ...

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
        from deltaweb.writer.making.new_table import NewTable, create_table

        table = cls(location, storage_options)
        new = NewTable(
            schema=schema,
            partition_by=partition_by,
            name=name,
            description=description,
            properties=properties or {},
        )
        create_table(table._store, new)
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
        from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
        from deltaweb.writer.making.conversion import Conversion, convert_folder

        table = cls(location, storage_options)
        if isinstance(partition_schema, str):
            partition_schema = parse_columns_ddl(partition_schema)
        asked = Conversion(
            partition_schema=partition_schema,
            name=name,
            description=description,
            properties=properties or {},
            time_zone=time_zone,
            **({} if on_progress is None else {"on_progress": on_progress}),
        )
        convert_folder(table._store, asked)
        return table
