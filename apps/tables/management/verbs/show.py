"""`deltaweb table show`: a version as its log tells it."""

from django.core.management.base import CommandParser

from apps.pages.command import Output, Subcommand
from apps.tables.management import table_output, text_output
from apps.tables.management.arguments import add_version, locate
from apps.tables.storage.opening import open_location
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.protocol.schema import type_text
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.checksum import check_version
from deltaweb.index.folder.result import log_fault, version_before
from deltaweb.table import DeltaTable


class ShowVerb(Subcommand):
    """Show a version, as described by its log."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        add_version(parser)
        parser.add_argument("--files", action="store_true", help="also list its files")

    def run(
        self,
        *,
        table: str,
        at_version: int | None,
        timestamp: str | None,
        time_zone: str | None,
        files: bool,
    ) -> Output:
        """Show one version."""
        registered, location = locate(table)
        name = registered.full_name if registered else None
        opened = open_location(location, time_zone=time_zone)
        if at_version is None and timestamp is None:
            snapshot, behind = _newest_readable(opened)
        else:
            snapshot, behind = opened.snapshot_metadata(at_version, timestamp), ""
        data = table_output.snapshot_json(
            snapshot, name=name, location=location, files=files
        )
        data["behind"] = behind or None
        if behind:
            self.warn(f"Behind: {behind}. The newest readable version is shown.")
        verdict = check_version(opened.store, snapshot)
        data["checksum"] = verdict.describe()
        if snapshot.refusal is not None:
            self.warn(snapshot.refusal.message)
        protocol = snapshot.protocol
        versions = (protocol.min_reader_version, protocol.min_writer_version)
        text = text_output.facts(
            [
                ("name", name or "(not registered)"),
                ("location", location),
                ("version", snapshot.version),
                *([("state", f"behind: {behind}")] if behind else []),
                ("timestamp", text_output.time_text(snapshot.timestamp)),
                ("protocol", "reader {}, writer {}".format(*versions)),
                ("files", data["num_files"]),
                ("bytes", data["size_bytes"]),
                ("partitioned by", ", ".join(data["partition_columns"]) or "nothing"),
                ("checksum file", verdict.sentence),
            ]
        )
        lines = table_output.file_lines(data) if files else _column_lines(snapshot)
        return Output(data, text, lines)


def _newest_readable(opened: DeltaTable) -> tuple[Snapshot, str]:
    """Return the newest version, or the newest that reads and what hides others."""
    try:
        return opened.snapshot_metadata(), ""
    except DeltaError as error:
        before = version_before(error)
        if before is None:
            raise
        try:
            return opened.snapshot_metadata(before), log_fault(error)
        except DeltaError:
            raise error from None


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
    return ["", *text_output.aligned(("COLUMN", "TYPE", ""), rows)]
