"""`deltaweb table merge`: change a table by the rows of files or of another table."""

from pathlib import Path

import pyarrow as pa
from django.core.management.base import CommandError, CommandParser

from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.management.arguments import SQL_OF_UTC, add_time_zone, locate
from deltaweb.web.tables.management.commit_output import committed
from deltaweb.web.tables.management.rewrite_output import foreseen_merge, merge_text
from deltaweb.web.tables.operations.rows.merge_rows import (
    MergeSource,
    foresee_merge,
    merge_rows,
)
from deltaweb.web.tables.storage.opening import open_location
from deltaweb.writer.importing.plan import open_import


class Verb(WritingVerb):
    """Change a table by the rows of a file or of another table."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument(
            "source", metavar="SOURCE", help="a CSV, JSON or Parquet file, or a table"
        )
        parser.add_argument(
            "--on",
            required=True,
            metavar="SQL",
            help="which rows match: t is the table, s the source",
        )
        parser.add_argument(
            "--update-all", action="store_true", help="rows that match take its values"
        )
        parser.add_argument(
            "--insert-all", action="store_true", help="its other rows are added"
        )
        parser.add_argument(
            "--delete-where", metavar="SQL", help="rows that match and go instead"
        )
        add_time_zone(parser, of=SQL_OF_UTC)

    def run(  # noqa: PLR0913  # the arguments of the line
        self,
        *,
        table: str,
        source: str,
        on: str,
        update_all: bool,
        insert_all: bool,
        delete_where: str | None,
        time_zone: str | None,
        dry_run: bool,
        **_: object,
    ) -> Output:
        """Merge after asking."""
        if not (update_all or insert_all or delete_where):
            message = "Give --update-all, --insert-all or --delete-where."
            raise CommandError(message)
        name, location = locate(table)
        incoming = MergeSource(
            location=location,
            read=lambda: _rows(source),
            on=on,
            time_zone=time_zone or UTC_ZONE,
        )
        merge = merge_rows(incoming, self.warn)
        if delete_where:
            merge = merge.when_matched_delete(delete_where)
        if update_all:
            merge = merge.when_matched_update()
        if insert_all:
            merge = merge.when_not_matched_insert()
        if dry_run:
            outlook = foresee_merge(incoming, merge.clauses, self.warn)
            return foreseen_merge(name, location, outlook)
        if update_all or delete_where:
            question = f"Change the rows of {location} where {on}?"
            self.check_somebody_there(question)
            if not self.is_agreed:
                outlook = foresee_merge(incoming, merge.clauses, self.warn)
                self.ask(f"{merge_text(outlook)} {question}")
        result = merge.execute()
        return committed("table.merge", name, location, result, source=source, on=on)


def _rows(source: str) -> pa.RecordBatchReader:
    if Path(source).is_file():
        return open_import([source])
    scan = open_location(locate(source)[1]).snapshot().scan()
    return pa.RecordBatchReader.from_batches(scan.schema, scan)
