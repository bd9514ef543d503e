"""`deltaweb table ...`: the catalogue, and tables read straight from their logs."""

import time
from argparse import ArgumentParser
from itertools import chain
from pathlib import Path
from typing import Any

from django.utils import timezone

from apps.jobs.models import Job
from apps.jobs.selectors import is_attended
from apps.pages.actions import COMMAND_LINE
from apps.pages.command import AddSubcommand, Output, SubcommandsCommand
from apps.pages.errors import PageError
from apps.pages.responses import to_json
from apps.tables import services
from apps.tables.checks import check_location
from apps.tables.errors import NoWorkerError
from apps.tables.locations import check_allowed, parse_location
from apps.tables.management import row_output, table_output
from apps.tables.management.arguments import locate, whole_number
from apps.tables.management.comparison import ComparisonSubcommands
from apps.tables.management.file_check import FileCheckSubcommand
from apps.tables.management.schedule import ScheduleSubcommand
from apps.tables.management.upkeep import UpkeepSubcommands
from apps.tables.models import Table
from apps.tables.names import parse_table_name
from apps.tables.opening import open_location
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.schema import read_columns, type_text, unread_type
from deltaweb.delta.snapshot import Snapshot

DEFAULT_ROWS = 50  # of the format for people
POLL_S = 0.3
NO_WORKER_AFTER_S = 10.0


class Command(
    ComparisonSubcommands,
    FileCheckSubcommand,
    ScheduleSubcommand,
    UpkeepSubcommands,
    SubcommandsCommand,
):
    """Register, list and read tables; `--json` answers with one JSON document."""

    help = (
        "Tables: add, scan, list, rename, remove, show, history, rows, diff, refresh, "
        "schedule, check-files, checkpoint, cleanup."
    )
    _answers_json = False

    def handle(self, *args: object, **options: Any) -> None:  # noqa: ANN401 (the base's)
        """Run the subcommand; `rows` has no default limit when it answers JSON."""
        self._answers_json = bool(options.get("json"))
        super().handle(*args, **options)

    def add_subcommands(self, add: AddSubcommand) -> None:
        """Add the subcommands."""
        self._add_catalogue(add)
        self._add_readers(add)
        self.add_schedule(add)
        self.add_comparison(add)
        self.add_upkeep(add)
        self.add_file_check(add)

    def _add_catalogue(self, add: AddSubcommand) -> None:
        parser = add("add", self.add_table, help="register a table")
        parser.add_argument("name", help="table, or namespace.table")
        parser.add_argument("location", help="a folder or a URL")
        parser.add_argument("--description", default="", help="what people read of it")
        parser.add_argument(
            "--restricted", action="store_true", help="hide it from viewers"
        )
        parser = add("scan", self.scan, help="register every Delta table below ROOT")
        parser.add_argument("root", help="a local folder")
        add("list", self.list_tables, help="list the registered tables")
        parser = add("rename", self.rename, help="give a table another name")
        parser.add_argument("name")
        parser.add_argument("new_name", metavar="new")
        parser = add("remove", self.remove, help="forget a table; its files stay")
        parser.add_argument("name")
        parser.add_argument("--yes", action="store_true", help="do not ask")
        parser = add("refresh", self.refresh, help="index a table's new commits")
        parser.add_argument("name")
        parser.add_argument("--wait", action="store_true", help="wait for the end")

    def _add_readers(self, add: AddSubcommand) -> None:
        parser = add("show", self.show, help="show a version as its log tells it")
        _add_version(parser)
        parser.add_argument("--files", action="store_true", help="list its files, too")
        parser = add("history", self.history, help="list the commits, newest first")
        parser.add_argument("table", metavar="name|location")
        parser.add_argument("--limit", type=whole_number, help="at most so many")
        parser = add("rows", self.rows, help="print rows")
        _add_version(parser)
        parser.add_argument("--columns", help="names, separated by commas")
        parser.add_argument("--where", metavar="SQL", help="such as: amount > 10")
        parser.add_argument(
            "--limit",
            type=whole_number,
            help=f"at most so many (a table for people: {DEFAULT_ROWS})",
        )
        parser.add_argument(
            "--format", choices=["table", "csv", "json"], default="table"
        )

    # === The catalogue ===

    def add_table(
        self,
        *,
        name: str,
        location: str,
        description: str,
        restricted: bool,
        **_: object,
    ) -> Output:
        """Check what is there, then register it."""
        parse_table_name(name)
        where = parse_location(location, base=Path.cwd())
        check_allowed(where, roots=services.roots_for(None))
        found = check_location(where)
        table = services.register_table(
            name=name,
            location=where,
            description=description,
            restricted=restricted,
            now=timezone.now(),
        )
        if found.warning:
            self.warn(f"{found.warning} Metadata and history are shown.")
        text = f"Registered {table.full_name}: version {found.version} of {where}"
        return Output(table_output.table_json(table) | {"found": found.as_json()}, text)

    def scan(self, *, root: str, **_: object) -> Output:
        """Register the tables below a folder."""
        where = parse_location(root, base=Path.cwd())
        report = services.scan_root(root=where, now=timezone.now())
        for table, wanted in report.renamed:
            self.warn(f"{wanted} is taken: {table.location} is {table.full_name}.")
        for folder in report.unreadable:
            self.warn(f"{folder} could not be listed.")
        if report.truncated:
            self.warn("The scan ended early: the folder is very deep or very large.")
        new, known = len(report.registered), len(report.known)
        return Output(
            report.as_json(),
            f"{new} registered, {known} known before, below {report.root}",
            [f"  {table.full_name}" for table in report.registered],
        )

    def list_tables(self, **_: object) -> Output:
        """List every table, whoever may see it."""
        tables = list(Table.objects.defer("summary"))
        lines = table_output.aligned(
            ("NAME", "VERSION", "STATE", "INDEXED", "LOCATION"),
            [
                (
                    table.full_name,
                    "" if table.version is None else str(table.version),
                    table.state,
                    table_output.time_text(table.indexed_at),
                    table.location,
                )
                for table in tables
            ],
        )
        shown = lines if tables else ["No tables yet: table add NAME LOCATION"]
        return Output([table_output.table_json(t) for t in tables], lines=shown)

    def rename(self, *, name: str, new_name: str, **_: object) -> Output:
        """Rename a table."""
        table = services.find_table(name)
        services.rename_table(
            table, name=new_name, actor=COMMAND_LINE, now=timezone.now()
        )
        return Output(table_output.table_json(table), f"Renamed to {table.full_name}")

    def remove(self, *, name: str, yes: bool, **_: object) -> Output:
        """Forget a table after asking."""
        table = services.find_table(name)
        services.check_removable(table)
        self.confirm(f"Remove {table.full_name} from the catalog?", yes=yes)
        services.remove_table(table, actor=COMMAND_LINE, now=timezone.now())
        data = {"name": table.full_name, "location": table.location, "removed": True}
        return Output(data, f"Removed {table.full_name}; its files were not touched.")

    def refresh(self, *, name: str, wait: bool, **_: object) -> Output:
        """Queue an index job; with `--wait` say how it ended."""
        table = services.find_table(name)
        job = services.refresh_table(table, now=timezone.now())
        if wait:
            self._wait(job)
            table.refresh_from_db()
        job.refresh_from_db()
        data = table_output.table_json(table) | {
            "job": {"id": job.id, "state": job.state}
        }
        done = f"Indexed {table.full_name}: version {table.version}"
        return Output(data, done if wait else f"Queued: {job}")

    def _wait(self, job: Job) -> None:
        """Wait until the job has ended.

        Raises:
            PageError: If it failed or was cancelled, with the job's own code.
            NoWorkerError: If no worker is there to take it.
        """
        started = time.monotonic()
        while job.state in Job.ACTIVE_STATES:
            waits = job.state == Job.State.QUEUED
            is_late = time.monotonic() - started > NO_WORKER_AFTER_S
            if waits and is_late and not is_attended(job, now=timezone.now()):
                raise NoWorkerError(job=str(job))
            time.sleep(POLL_S)
            job.refresh_from_db()
        if job.state != Job.State.DONE:
            fallback = f"The job was {job.get_state_display()}."
            raise PageError(
                status=422,
                code=job.error_code or f"job-{job.state.lower()}",
                message=job.error or fallback,
                hint=job.error_hint,
            )

    # === Reading the log ===

    def show(
        self,
        *,
        table: str,
        at_version: int | None,
        timestamp: str | None,
        files: bool,
        **_: object,
    ) -> Output:
        """Show one version."""
        name, location = locate(table)
        snapshot = open_location(location).snapshot_metadata(at_version, timestamp)
        data = table_output.snapshot_json(
            snapshot, name=name, location=location, files=files
        )
        if snapshot.refusal is not None:
            self.warn(snapshot.refusal.message)
        protocol = snapshot.protocol
        versions = (protocol.min_reader_version, protocol.min_writer_version)
        text = table_output.facts(
            [
                ("name", name or "(not registered)"),
                ("location", location),
                ("version", snapshot.version),
                ("timestamp", table_output.time_text(snapshot.timestamp)),
                ("protocol", "reader {}, writer {}".format(*versions)),
                ("files", data["num_files"]),
                ("bytes", data["size_bytes"]),
                ("partitioned by", ", ".join(data["partition_columns"]) or "nothing"),
            ]
        )
        lines = table_output.file_lines(data) if files else _column_lines(snapshot)
        return Output(data, text, lines)

    def history(self, *, table: str, limit: int | None, **_: object) -> Output:
        """List commits."""
        location = locate(table)[1]
        opened = open_location(location)
        commits = opened.history(limit=limit)
        lines = table_output.aligned(
            ("VERSION", "TIME", "OPERATION", "USER", "ENGINE"),
            [
                (
                    str(commit.version),
                    table_output.time_text(commit.timestamp),
                    commit.operation or "",
                    commit.user or "",
                    commit.engine_info or "",
                )
                for commit in commits
            ],
        )
        note = table_output.times_note_of(opened)
        return Output(
            [table_output.commit_json(commit) for commit in commits],
            lines=chain(lines, ["", note]),
        )

    def rows(  # noqa: PLR0913 (each is one option)
        self,
        *,
        table: str,
        at_version: int | None,
        timestamp: str | None,
        columns: str | None,
        where: str | None,
        limit: int | None,
        format: str,  # noqa: A002 (the option's name is a promise)
        **_: object,
    ) -> Output:
        """Print rows of one version."""
        location = locate(table)[1]
        for_people = format == "table" and not self._answers_json
        if limit is None and for_people:
            limit = DEFAULT_ROWS
        snapshot = open_location(location).snapshot(at_version, timestamp)
        names = [name.strip() for name in columns.split(",")] if columns else None
        names = names or self._columns_read(snapshot)
        rows = snapshot.read(columns=names, predicate=where, limit=limit)
        if for_people and rows.num_rows == limit == DEFAULT_ROWS:
            self.stderr.write(f"The first {limit} rows; --limit N prints more.")
        if self._answers_json or format == "json":
            data = row_output.json_rows(rows)
            return Output(data, text=to_json(data, indent=2))
        make_lines = row_output.csv_lines if format == "csv" else row_output.row_lines
        return Output(None, lines=make_lines(rows))

    def _columns_read(self, snapshot: Snapshot) -> list[str] | None:
        """Return the columns that are read, None for all; the others are named."""
        read = read_columns(snapshot.schema).names
        if not read or read == snapshot.schema.names:
            return None
        for column in snapshot.schema.fields:
            if column.name not in read:
                kind = unread_type(column.data_type)
                self.warn(f"{column.name} is left out: its type {kind} is not read.")
        return list(read)


def _column_lines(snapshot: Snapshot) -> list[str]:
    """Return a line a column; a schema that does not parse says so."""
    try:
        columns = snapshot.schema.fields
    except DeltaError as error:
        return ["", str(error)]
    rows = [
        (field.name, type_text(field.data_type), "" if field.nullable else "not null")
        for field in columns
    ]
    return ["", *table_output.aligned(("COLUMN", "TYPE", ""), rows)]


def _add_version(parser: ArgumentParser) -> None:
    parser.add_argument("table", metavar="name|location")
    at = parser.add_mutually_exclusive_group()
    at.add_argument("--version", type=whole_number, dest="at_version", metavar="N")
    at.add_argument("--timestamp", metavar="T", help="such as 2026-01-31T12:00:00Z")
