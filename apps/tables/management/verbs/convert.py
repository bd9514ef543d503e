"""`deltaweb table convert`: make a folder of Parquet files a table, and register it."""

from pathlib import Path

from django.core.management.base import CommandParser
from django.utils import timezone

from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.pages.templatetags.deltaweb import size
from deltaweb.web.tables.catalogue.adding.work.convert import CONVERT, ConvertFolder
from deltaweb.web.tables.catalogue.registration import find_table
from deltaweb.web.tables.head.shapes import table_json
from deltaweb.web.tables.management.arguments import add_time_zone
from deltaweb.web.tables.management.terminal import TerminalReports
from deltaweb.web.tables.operations.preview import RunContext
from deltaweb.web.tables.storage.locations import parse_location


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
            plan = planned.table
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
        made = CONVERT.run(opened, planned, context, None, asked)
        data = {"version": made["version"], "num_added_files": made["files"]}
        text = (
            f"Converted {where} into {made['table']}: version {made['version']}, "
            f"{made['files']:,} files"
        )
        return Output(table_json(find_table(made["table"])) | data, text)
