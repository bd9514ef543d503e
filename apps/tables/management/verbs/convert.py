"""`deltaweb table convert`: make a folder of Parquet files a table, and register it."""

from pathlib import Path

from django.core.management.base import CommandParser

from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.web.pages.actions import command_stamp
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.pages.templatetags.deltaweb import size
from deltaweb.web.tables.catalogue.names import parse_table_name
from deltaweb.web.tables.catalogue.registration import check_name_free, register_table
from deltaweb.web.tables.head.shapes import table_json
from deltaweb.web.tables.management.arguments import add_time_zone
from deltaweb.web.tables.management.audit import record
from deltaweb.web.tables.storage.locations import (
    check_allowed,
    check_present,
    parse_location,
)
from deltaweb.web.tables.storage.opening import open_location
from deltaweb.web.tables.storage.roots import roots_for
from deltaweb.writer.making.conversion import (
    Conversion,
    convert_folder,
    plan_conversion,
)


class Verb(WritingVerb):
    """Make a folder of Parquet files a table where it lies, and register it."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="table, or namespace.table")
        parser.add_argument("folder", help="a folder of Parquet files, or its URL")
        parser.add_argument(
            "--partition-schema",
            metavar="DDL",
            default="",
            help="the columns that folders name: 'year INT, country STRING'; else "
            "their types are inferred",
        )
        add_time_zone(parser, of="names of folders (they stay as they are without)")
        parser.add_argument(
            "--description", default="", help="its description in the catalog"
        )

    def run(  # noqa: PLR0913  # the arguments of the line
        self,
        *,
        name: str,
        folder: str,
        partition_schema: str,
        time_zone: str | None,
        description: str,
        dry_run: bool,
        **_: object,
    ) -> Output:
        """Write version 0 of all files in one commit, then register the table."""
        check_name_free(parse_table_name(name))
        where = parse_location(folder, base=Path.cwd())
        check_allowed(where, roots=roots_for(None))
        check_present(where)
        asked = Conversion(
            partition_schema=parse_columns_ddl(partition_schema)
            if partition_schema.strip()
            else None,
            description=description or None,
            time_zone=time_zone,
        )
        store = open_location(where).store
        if dry_run:
            plan = plan_conversion(store, asked)
            partitions = ", ".join(plan.metadata.partition_columns) or "nothing"
            text = (
                f"{where} would be a table of {plan.files.num_rows:,} files, "
                f"{plan.num_rows:,} rows, {size(plan.size_bytes)}, with "
                f"{len(plan.schema.fields)} columns, partitioned by {partitions}. "
                f"{plan.num_passed_over:,} other files are skipped. "
                f"{plan.said_of_times}{' ' if plan.said_of_times else ''}"
                "Nothing was written."
            )
            return Output({"location": where, **plan.describe()}, text)
        result = convert_folder(store, asked)
        table = register_table(
            name=name,
            location=where,
            description=description,
            restricted=False,
            stamp=command_stamp(),
        )
        record(
            "table.convert",
            table.full_name,
            version=result.version,
            files=result.num_added_files,
        )
        text = (
            f"Converted {where} into {table.full_name}: version {result.version}, "
            f"{result.num_added_files:,} files"
        )
        data = {"version": result.version, "num_added_files": result.num_added_files}
        return Output(table_json(table) | data, text)
