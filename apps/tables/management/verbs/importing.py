"""`deltaweb table import`: add the rows of CSV, JSON or Parquet files to a table."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from django.core.management.base import CommandParser

from deltaweb.web.pages.actions import command_stamp
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.catalogue.registration import find_table
from deltaweb.web.tables.errors import TableNameError, TableNotRegisteredError
from deltaweb.web.tables.management.arguments import names_of
from deltaweb.web.tables.management.options import (
    add_file_options,
    asked_files,
    narrower_lines,
    with_types,
)
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.operations.operation import commit_text
from deltaweb.web.tables.storage.locations import check_allowed, parse_location
from deltaweb.web.tables.storage.opening import open_location
from deltaweb.web.tables.storage.roots import roots_for
from deltaweb.web.tables.work.log_writing import record_log_writing
from deltaweb.words import counted
from deltaweb.writer.importing.checked_rows import ImportedRows, bad_text
from deltaweb.writer.importing.options import BadRows
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
MAX_WARNED = 5


class ImportVerb(WritingVerb):
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
        """Check every row; then write them in one commit, or make the table."""
        registered, location = _place(table)
        asked = Import(
            files=asked_files(files, options),
            mode=ImportMode(mode),
            bad_rows=BadRows(bad_rows),
            merge_schema=merge_schema,
            partition_by=[text.strip() for text in partition_by.split(",") if text],
        )
        store = open_location(location).store
        proposed = import_columns(existing(store), asked)
        columns = with_types([one.column for one in proposed], types)
        asked = replace(asked, columns=columns)
        hints = [*narrower_lines(proposed, columns, types)]
        if dry_run:
            plan = plan_import(store, asked)
            return Output(
                {**names_of(registered, location), **plan.describe()},
                _plan_text(plan, location),
                _hint_lines(hints),
            )
        if asked.mode is ImportMode.OVERWRITE and existing(store) is not None:
            question = f"Replace every row of {location}?"
            self.check_somebody_there(question)
            if not self.is_agreed:
                said = _rows_text(plan_import(store, asked), location)
                self.ask(f"{said} {question}")
        result, rows = carry_out_import(store, asked)
        for line in hints:
            self.warn(line)
        for sentence in rows.times.sentences():
            self.warn(f"{sentence}.")
        if rows.num_bad:
            self.warn(_left_out(rows))
        if registered is not None:
            record_log_writing(
                "table.import",
                registered,
                detail={"version": result.version, "files": files},
                stamp=command_stamp(),
            )
        facts = asdict(result)
        return Output({**names_of(registered, location), **facts}, commit_text(facts))


def _left_out(rows: ImportedRows) -> str:
    """Say how many rows did not fit, and which are the first of them."""
    were = "was" if rows.num_bad == 1 else "were"
    is_null = rows.bad_rows is BadRows.STORE_NULL
    done = f"{were} left out" + ", or stored with null" * is_null
    first = "; ".join(bad_text(one) for one in rows.bad[:MAX_WARNED])
    more = "; ..." if len(rows.bad) > MAX_WARNED else ""
    return f"{counted(rows.num_bad, 'row')} {done}: {first}{more}."


def _hint_lines(hints: Sequence[str]) -> Iterator[str]:
    if hints:
        yield "--bad-rows leave-out leaves out rows that do not fit:"
        yield from (f"  {line}" for line in hints)


def _rows_text(plan: ImportPlan, location: str) -> str:
    rows = plan.rows
    verb = "would be made of" if plan.base is None else "would get"
    return f"{location} {verb} {rows.num_rows:,} rows; {rows.num_bad:,} do not fit."


def _plan_text(plan: ImportPlan, location: str) -> str:
    rows = plan.rows
    lines = [
        _rows_text(plan, location),
        *(
            f"{counted(number, 'row')} would break the constraint "
            f"{rule.name!r}: {rule.sql}."
            for rule, number in rows.bad_by_rule.items()
        ),
        *(f"{sentence}." for sentence in rows.times.sentences()),
        *(f"  {bad_text(one)}" for one in rows.bad[:MAX_SHOWN]),
    ]
    if len(rows.bad) > MAX_SHOWN:
        lines.append("  ... and more")
    if plan.new_columns:
        lines.append(f"New columns: {', '.join(plan.new_columns)}.")
    return "\n".join([*lines, "Nothing was written."])


def _place(text: str) -> tuple[Table | None, str]:
    """Return the table, if registered, and the location, where nothing need be."""
    if "/" not in text and not text.startswith((".", "~")):
        try:
            found = find_table(text)
        except (TableNotRegisteredError, TableNameError):
            if not Path(text).is_dir():
                raise
        else:
            return found, found.location
    location = parse_location(text, base=Path.cwd())
    check_allowed(location, roots=roots_for(None))
    return None, location
