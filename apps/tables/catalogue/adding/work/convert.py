"""A folder of Parquet files becomes a table where it lies."""

from dataclasses import dataclass
from typing import Any, Final

from apps.tables.catalogue.adding.table_request import (
    finish_making,
    open_place,
    register_made,
    settle_nothing,
)
from apps.tables.operations.operation import Operation, register
from apps.tables.operations.parameters import parameter, zone_parameter
from apps.tables.operations.preview import OperationPreview, RunContext
from apps.tables.storage.locations import check_present
from deltaweb.delta.protocol.schema import type_text
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
        help="the columns that folders name: 'year INT, country STRING'; else their "
        "types are inferred",
    )
    time_zone: str = zone_parameter(
        "", of="names of folders (they stay as they are without)"
    )
    description: str = parameter(
        "", "--description", metavar="TEXT", help="its description in the catalog"
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


def preview_folder(plan: tuple[ConvertFolder, ConversionPlan]) -> OperationPreview:
    """Tell what the table would be."""
    asked, table = plan
    partitions = table.metadata.partition_columns
    fields = table.schema.fields
    return OperationPreview(
        version=None,
        counts={"num_files": table.files.num_rows, "num_rows": table.num_rows},
        detail={
            "name": asked.name,
            "location": asked.location,
            "size_bytes": table.size_bytes,
            "num_columns": len(fields),
            "schema": [
                {
                    "name": column.name,
                    "type": type_text(column.data_type),
                    "is_nullable": column.nullable,
                    "comment": str(column.metadata.get("comment", "")),
                    "is_partition": column.name in partitions,
                }
                for column in fields[:MAX_COLUMNS_SHOWN]
            ],
            "passed_over": [*table.skipped],
            "num_passed_over": table.num_skipped,
            "said_of_times": table.said_of_times,
            "min_reader_version": table.protocol.min_reader_version,
            "min_writer_version": table.protocol.min_writer_version,
        },
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
) -> dict[str, Any]:
    """Commit the files, and put the table into the catalogue."""
    asked, table = plan
    result = commit_conversion(opened.store, table, txn=context.txn)
    detail = {"version": result.version, "files": result.num_added_files}
    made = register_made(asked, context, "table.convert", detail)
    return {**made, **detail, "num_added_files": result.num_added_files}


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
        carry_out=convert,
        opens=open_place,
        settle=settle_nothing,
        resume=lambda asked, when: finish_making(asked, when, "table.convert"),
        result_text=lambda made: (
            f"Converted {made['location']} into {made['table']}: "
            f"version {made['version']}, {counted(made['num_added_files'], 'file')}"
        ),
    )
)
