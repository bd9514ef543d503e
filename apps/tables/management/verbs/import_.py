"""`deltaweb table import`: add the rows of CSV, JSON or Parquet files to a table."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from django.core.management.base import CommandParser

from apps.pages.command import Output, WritingVerb
from apps.tables.catalogue.registration import find_table
from apps.tables.errors import TableNameError, TableNotRegisteredError
from apps.tables.management.commit_output import committed
from apps.tables.management.options.file_options import (
    add_file_options,
    asked_files,
    with_types,
)
from apps.tables.storage.locations import check_allowed, parse_location
from apps.tables.storage.opening import open_location
from apps.tables.storage.roots import roots_for
from deltaweb.delta.log.store import TableStore
from deltaweb.writer.importing.checked_rows import bad_text
from deltaweb.writer.importing.options import BadRows, ImportColumn
from deltaweb.writer.importing.plan import (
    Import,
    ImportMode,
    ImportPlan,
    carry_out_import,
    existing,
    import_columns,
    plan_import,
)

MAX_SHOWN = 20


class Verb(WritingVerb):
    """Add the rows of CSV, JSON or Parquet files to a table."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument(
            "files", nargs="+", metavar="FILE", help="a path, or a URL such as s3://..."
        )
        add_file_options(parser)
        parser.add_argument(
            "--mode",
            choices=[*ImportMode],
            default=ImportMode.APPEND,
            help="what becomes of the rows that are there; error refuses a table",
        )
        parser.add_argument("--merge-schema", action="store_true")
        parser.add_argument(
            "--bad-rows",
            choices=[*BadRows],
            default=BadRows.REFUSE,
            help="what becomes of rows with a value that does not fit",
        )
        parser.add_argument("--partition-by", default="", metavar="a,b")

    def run(  # noqa: PLR0913  # the arguments of the line
        self,
        *,
        table: str,
        files: list[str],
        mode: str,
        merge_schema: bool,
        bad_rows: str,
        types: str,
        partition_by: str,
        dry_run: bool,
        **options: object,
    ) -> Output:
        """Look at every row; then write them in one commit, or make the table."""
        name, location = _place(table)
        asked = Import(
            files=asked_files(files, options),
            mode=ImportMode(mode),
            bad_rows=BadRows(bad_rows),
            merge_schema=merge_schema,
            partition_by=[text.strip() for text in partition_by.split(",") if text],
        )
        store = open_location(location).store
        asked = replace(asked, columns=_columns(store, asked, types))
        if dry_run:
            plan = plan_import(store, asked)
            return Output(
                {"name": name, "location": location, **plan.describe()},
                _plan_text(plan, location),
            )
        if asked.mode is ImportMode.OVERWRITE and existing(store) is not None:
            self.ask(f"Replace every row of {location}?")
        result, rows = carry_out_import(store, asked)
        if rows.num_bad:
            self.warn(f"{rows.num_bad:,} rows or values did not fit.")
        return committed("table.import", name, location, result, files=files)


def _columns(store: TableStore, asked: Import, types: str) -> Sequence[ImportColumn]:
    """Return what the columns of the files become: those of `types` as it says."""
    proposed = [one.column for one in import_columns(existing(store), asked)]
    return with_types(proposed, types)


def _plan_text(plan: ImportPlan, location: str) -> str:
    rows = plan.rows
    verb = "would be made of" if plan.base is None else "would get"
    lines = [
        f"{location} {verb} {rows.num_rows:,} rows; {rows.num_bad:,} do not fit.",
        *(bad_text(one) for one in rows.bad[:MAX_SHOWN]),
    ]
    if plan.new_columns:
        lines.append(f"New columns: {', '.join(plan.new_columns)}.")
    return "\n".join([*lines, "Nothing was written."])


def _place(text: str) -> tuple[str | None, str]:
    """Return the name, if registered, and the location, where nothing need be."""
    if "/" not in text and not text.startswith((".", "~")):
        try:
            found = find_table(text)
        except (TableNotRegisteredError, TableNameError):
            if not Path(text).is_dir():
                raise
        else:
            return found.full_name, found.location
    location = parse_location(text, base=Path.cwd())
    check_allowed(location, roots=roots_for(None))
    return None, location
