"""New tables: `create` an empty one, `convert` Parquet files into one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from deltaweb.delta.protocol.schema import StructType, parse_schema, type_text
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.delta.writing.transaction import Transaction
from deltaweb.web.pages.actions import command_stamp
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.pages.templatetags.deltaweb import size
from deltaweb.web.tables.catalogue.adding.work.convert import CONVERT, ConvertFolder
from deltaweb.web.tables.catalogue.names import parse_table_name
from deltaweb.web.tables.catalogue.registration import (
    check_name_free,
    find_table,
    register_table,
)
from deltaweb.web.tables.head.shapes import table_json
from deltaweb.web.tables.management.arguments import add_time_zone
from deltaweb.web.tables.management.options import (
    add_file_options,
    asked_files,
)
from deltaweb.web.tables.management.terminal import TerminalReports
from deltaweb.web.tables.operations.parameters import names_of
from deltaweb.web.tables.operations.preview import RunContext
from deltaweb.web.tables.storage.locations import check_allowed, parse_location
from deltaweb.web.tables.storage.opening import open_location
from deltaweb.web.tables.storage.roots import roots_for
from deltaweb.web.tables.work.log_writing import record_log_writing
from deltaweb.words import counted
from deltaweb.writer.importing.checked_rows import schema_of as columns_schema
from deltaweb.writer.importing.proposal import propose_columns, with_types
from deltaweb.writer.making.new_table import NewTable, create_table, plan_table


class CreateVerb(WritingVerb):
    """Make an empty table and register it."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="table, or namespace.table")
        parser.add_argument("location", help="an empty folder or a URL")
        columns = parser.add_mutually_exclusive_group(required=True)
        columns.add_argument(
            "--schema",
            default="",
            metavar="FILE|DDL",
            help="a file of the schema's JSON or DDL, or DDL: 'id BIGINT, at DATE'",
        )
        columns.add_argument(
            "--schema-of",
            default="",
            metavar="FILE",
            help="a CSV, JSON or Parquet file whose columns it gets, without its rows",
        )
        add_file_options(parser)
        parser.add_argument("--partition-by", default="", metavar="a,b")
        parser.add_argument(
            "--description", default="", help="its description in the catalog"
        )

    def run(  # noqa: PLR0913  # the arguments of the line
        self,
        *,
        name: str,
        location: str,
        schema: str,
        schema_of: str,
        types: str,
        partition_by: str,
        description: str,
        dry_run: bool,
        **options: object,
    ) -> Output:
        """Make version 0, then register the table."""
        if types and not schema_of:
            message = "--types changes those of a file: it goes with --schema-of."
            raise CommandError(message)
        check_name_free(parse_table_name(name))
        where = parse_location(location, base=Path.cwd())
        check_allowed(where, roots=roots_for(None))
        new = NewTable(
            schema=self._schema_of_file(schema_of, types, options)
            if schema_of
            else _schema(schema),
            partition_by=names_of(partition_by),
            description=description or None,
        )
        store = open_location(where).store
        if dry_run:
            return _preview(name, where, plan_table(store, new))
        create_table(store, new)
        table = register_table(
            name=name,
            location=where,
            description=description,
            restricted=False,
            stamp=command_stamp(),
        )
        record_log_writing(
            "table.create", table, detail={"version": 0}, stamp=command_stamp()
        )
        text = f"Created {table.full_name} at {where}: version 0, no rows"
        return Output(table_json(table) | {"version": 0}, text)

    def _schema_of_file(
        self, file: str, types: str, options: Mapping[str, Any]
    ) -> StructType:
        proposed = with_types(propose_columns(asked_files([file], options)), types)
        for one in proposed:
            if one.hint:
                self.warn(one.hint)
        return columns_schema([one.column for one in proposed])


def _preview(name: str, location: str, made: Transaction) -> Output:
    """Say which columns the table would have, and what it would ask of clients."""
    metadata, protocol = made.next_metadata, made.next_protocol
    columns = parse_schema(metadata.schema_string or "").fields
    versions = (protocol.min_reader_version, protocol.min_writer_version)
    data = {
        "name": name,
        "location": location,
        "columns": [
            {
                "name": column.name,
                "type": type_text(column.data_type),
                "is_nullable": column.nullable,
            }
            for column in columns
        ],
        "partition_columns": metadata.partition_columns,
        "min_reader_version": versions[0],
        "min_writer_version": versions[1],
    }
    said = (
        f"{location} would be {name}, an empty table of "
        f"{counted(len(columns), 'column')}, reader {versions[0]} and writer "
        f"{versions[1]}. Nothing was written."
    )
    return Output(
        data, said, (f"  {c.name}  {type_text(c.data_type)}" for c in columns)
    )


def _schema(text: str) -> StructType:
    path = Path(text)
    if len(text) < 1_000 and path.is_file():  # noqa: PLR2004  # longer is no path
        text = path.read_text()
    if text.lstrip().startswith("{"):
        return parse_schema(text)
    return StructType(tuple(parse_columns_ddl(text)))


class ConvertVerb(WritingVerb):
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
    ) -> Output:
        """Write version 0 of all files in one commit, then register the table."""
        where = parse_location(folder, base=Path.cwd())
        asked = ConvertFolder(
            name=name,
            location=where,
            description=description,
            user_id=None,
            partition_schema=partition_schema,
            time_zone=time_zone or "",
        )
        context = RunContext(job=TerminalReports(self.warn), now=timezone.now())
        opened = CONVERT.opens(None, asked)
        planned = CONVERT.plan(opened, asked, context)
        if dry_run:
            _, plan = planned
            partitions = ", ".join(plan.metadata.partition_columns) or "nothing"
            text = (
                f"{where} would be a table of {plan.files.num_rows:,} files, "
                f"{plan.num_rows:,} rows, {size(plan.size_bytes)}, with "
                f"{len(plan.schema.fields)} columns, partitioned by {partitions}. "
                f"{plan.num_skipped:,} other files are skipped. "
                f"{plan.said_of_times}{' ' if plan.said_of_times else ''}"
                "Nothing was written."
            )
            return Output({"location": where, **plan.describe()}, text)
        made = CONVERT.run(opened, planned, context, None, asked)
        data = {"version": made["version"], "num_added_files": made["files"]}
        text = (
            f"Converted {where} into {made['table']}: version {made['version']}, "
            f"{made['files']:,} files"
        )
        return Output(table_json(find_table(made["table"])) | data, text)
