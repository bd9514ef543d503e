"""A folder of Parquet files becomes a table where it lies."""

from dataclasses import dataclass
from typing import Final

from apps.pages.changes.parameters import parameter, zone_parameter
from apps.pages.page_json import IfKnown, Spread
from apps.tables.catalogue.adding.table_request import (
    ShownColumn,
    finish_making,
    open_place,
    register_made,
    settle_nothing,
    shown_columns,
)
from apps.tables.operations.operation import Operation, register
from apps.tables.operations.preview import OperationPreview, RunContext
from apps.tables.operations.stored import MadeTable
from apps.tables.storage.locations import check_present
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.table import DeltaTable
from deltaweb.words import counted, size_text
from deltaweb.writer.making.conversion import (
    Conversion,
    ConversionPlan,
    commit_conversion,
    plan_conversion,
)

MAX_COLUMNS_SHOWN: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionDetail:
    """What else the preview of a conversion shows.

    Attributes:
        name: Of the table.
        size_bytes: Bytes of its files.
        schema: The first of the columns.
        passed_over: The first of the files that are no Parquet files.
        said_of_times: A sentence about times without a zone in names of folders.
    """

    name: str
    location: str
    size_bytes: int
    num_columns: int
    schema: tuple[ShownColumn, ...]
    passed_over: tuple[str, ...]
    num_passed_over: int
    said_of_times: str
    min_reader_version: int
    min_writer_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedTable:
    """A folder that became a table.

    Attributes:
        made: The table.
        files: How many files it has; None where only its log says that it was made.
    """

    made: Spread[MadeTable]
    files: IfKnown[int | None] = None
    num_added_files: IfKnown[int | None] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertFolder:
    """A folder that is to become a table.

    Attributes:
        partition_schema: The columns that its folders name, as DDL; empty to find
            them out.
        time_zone: Where times are from that folders name without a zone; empty to
            keep them as they are.
    """

    user_id: int | None
    name: str = parameter("", help="table, or namespace.table")
    location: str = parameter(
        "", metavar="folder", help="a folder of Parquet files, or its URL"
    )
    partition_schema: str = parameter(
        "",
        "--partition-schema",
        metavar="DDL",
        help="the partition columns in folder names: 'year INT, country STRING'; "
        "types are inferred without",
    )
    time_zone: str = zone_parameter(
        "", of="names of folders (they stay as they are without)"
    )
    description: str = parameter(
        "", "--description", metavar="TEXT", help="description in the catalog"
    )


def plan_folder(
    opened: DeltaTable, asked: ConvertFolder, context: RunContext
) -> tuple[ConvertFolder, ConversionPlan]:
    """Look at every file of the folder."""
    job = context.job
    check_present(asked.location)
    columns = asked.partition_schema.strip()

    def tell(done: int, total: int) -> None:
        job.progress(done, total=total, unit="files")

    conversion = Conversion(
        partition_schema=parse_columns_ddl(columns) if columns else None,
        description=asked.description or None,
        time_zone=asked.time_zone or None,
        on_progress=tell,
    )
    return asked, plan_conversion(opened.store, conversion)


def preview_folder(
    plan: tuple[ConvertFolder, ConversionPlan],
) -> OperationPreview[ConversionDetail]:
    """Tell what the table would be."""
    asked, table = plan
    partitions = table.metadata.partition_columns
    fields = table.schema.fields
    return OperationPreview(
        version=None,
        counts={"num_files": table.files.num_rows, "num_rows": table.num_rows},
        detail=lambda: ConversionDetail(
            name=asked.name,
            location=asked.location,
            size_bytes=table.size_bytes,
            num_columns=len(fields),
            schema=tuple(shown_columns(fields[:MAX_COLUMNS_SHOWN], partitions)),
            passed_over=tuple(table.skipped),
            num_passed_over=table.num_skipped,
            said_of_times=table.said_of_times,
            min_reader_version=table.protocol.min_reader_version,
            min_writer_version=table.protocol.min_writer_version,
        ),
        says=_says(asked, table),
        exact=table.describe,
    )


def _says(asked: ConvertFolder, table: ConversionPlan) -> str:
    partitions = ", ".join(table.metadata.partition_columns) or "nothing"
    files = counted(table.files.num_rows, "file")
    others = f"{counted(table.num_skipped, 'other file')} would be skipped."
    more = [others * bool(table.num_skipped), table.said_of_times]
    return (
        f"{asked.location} would be a table of {files}, "
        f"{counted(table.num_rows, 'row')}, {size_text(table.size_bytes)}, with "
        f"{counted(len(table.schema.fields), 'column')}, partitioned by {partitions}. "
        f"{''.join(f'{one} ' for one in more if one)}Nothing was written."
    )


def convert(
    opened: DeltaTable, plan: tuple[ConvertFolder, ConversionPlan], context: RunContext
) -> ConvertedTable:
    """Commit the files, and put the table into the catalogue."""
    asked, table = plan
    result = commit_conversion(opened.store, table, txn=context.txn)
    files = result.num_added_files
    detail = {"version": result.version, "files": files}
    made = register_made(asked, context, "table.convert", detail)
    return ConvertedTable(made=made, files=files, num_added_files=files)


def finish(asked: ConvertFolder, context: RunContext) -> ConvertedTable | None:
    """Register a table whose maker was killed; None where there is none."""
    made = finish_making(asked, context, "table.convert")
    return None if made is None else ConvertedTable(made=made)


CONVERT: Final = register(
    Operation(
        name="convert_folder",
        words="Convert a folder of Parquet files",
        title="Convert a folder of Parquet files",
        doing="Committing its files",
        action="table.convert",
        parameters=ConvertFolder,
        plan=plan_folder,
        preview=preview_folder,
        detail=ConversionDetail,
        carry_out=convert,
        result=ConvertedTable,
        opens=open_place,
        settle=settle_nothing,
        resume=finish,
        result_text=lambda done: (
            f"Converted {done.made.location} into {done.made.table}: "
            f"version {done.made.version}, {counted(done.num_added_files or 0, 'file')}"
        ),
    )
)
