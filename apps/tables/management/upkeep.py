"""`deltaweb table checkpoint` and `deltaweb table cleanup`: upkeep of a log."""

from argparse import ArgumentTypeError

from django.utils import timezone

from apps.pages.actions import COMMAND_LINE
from apps.pages.command import AddSubcommand, Output, SubcommandsCommand
from apps.tables import services
from apps.tables.management.arguments import locate, whole_number
from apps.tables.management.table_output import time_text
from apps.tables.opening import open_location
from deltaweb.delta.checkpoint_writer.request import MAX_PARTS
from deltaweb.delta.log_cleanup import LogCleanup
from deltaweb.index.history.commit_facts import counted


class UpkeepSubcommands(SubcommandsCommand):
    """The subcommands that write into a table's log, at once and only when asked."""

    def add_upkeep(self, add: AddSubcommand) -> None:
        """Add the subcommands."""
        parser = add("checkpoint", self.checkpoint, help="write a checkpoint")
        parser.add_argument("table", metavar="name|location")
        parser.add_argument(
            "--version", type=whole_number, dest="at_version", metavar="N"
        )
        parser.add_argument(
            "--parts", type=_part_count, metavar="N", help="into N files, not one"
        )
        parser = add("cleanup", self.cleanup, help="delete history that has expired")
        parser.add_argument("table", metavar="name|location")
        parser.add_argument(
            "--dry-run", action="store_true", help="only list what would go"
        )
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def checkpoint(
        self, *, table: str, at_version: int | None, parts: int | None, **_: object
    ) -> Output:
        """Write a checkpoint of a version, the newest by default."""
        name, location = locate(table)
        written = open_location(location).create_checkpoint(
            at_version, parts=parts, now=timezone.now()
        )
        _record("table.checkpoint", name, version=written.version, parts=parts)
        data = {
            "name": name,
            "location": location,
            "version": written.version,
            "files": list(written.names),
            "num_actions": written.num_actions,
            "num_files": written.num_files,
            "num_tombstones": written.num_tombstones,
            "size_bytes": written.size_bytes,
            "is_last": written.is_last,
        }
        text = (
            f"Wrote the checkpoint of version {written.version}: "
            f"{counted(written.num_files, 'file')} and "
            f"{counted(written.num_tombstones, 'tombstone')} "
            f"in {counted(written.size_bytes, 'byte')}."
        )
        return Output(data, text, [f"  {file}" for file in written.names])

    def cleanup(self, *, table: str, dry_run: bool, yes: bool, **_: object) -> Output:
        """List the history that has expired; delete it after asking."""
        name, location = locate(table)
        opened, now = open_location(location), timezone.now()
        found = opened.clean_up_log(now=now, is_dry_run=True)
        if not dry_run and found.files:
            count = counted(len(found.files), "file")
            size = counted(found.size_bytes, "byte")
            question = (
                f"Delete {count} ({size}) of the log of "
                f"{location}? Versions before {found.checkpoint_version} go for good."
            )
            self.confirm(question, yes=yes)
            found = opened.clean_up_log(now=now)
            _note_cleanup(name, found)
        data = {
            "name": name,
            "location": location,
            "cutoff": found.cutoff,
            "checkpoint_version": found.checkpoint_version,
            "deleted": found.is_done,
            "size_bytes": found.size_bytes,
            "files": [{"name": file.name, "size": file.size} for file in found.files],
        }
        return Output(data, _cleanup_text(found), _file_lines(found))


def _record(action: str, name: str | None, **detail: object) -> None:
    """Record what was done to a registered table."""
    if name is not None:
        services.record_upkeep(
            action,
            services.find_table(name),
            detail=detail,
            actor=COMMAND_LINE,
            now=timezone.now(),
        )


def _note_cleanup(name: str | None, found: LogCleanup) -> None:
    """Record the clean-up of a registered table, and have its history marked."""
    _record(
        "table.cleanup",
        name,
        checkpoint_version=found.checkpoint_version,
        num_files=len(found.files),
        size_bytes=found.size_bytes,
    )
    if name is not None:
        services.refresh_anew(services.find_table(name), now=timezone.now())


def _part_count(text: str) -> int:
    """Read a whole number from 1 to what a log should ever hold."""
    count = whole_number(text)
    if not 1 <= count <= MAX_PARTS:
        message = f"{text!r} is not a whole number from 1 to {MAX_PARTS}"
        raise ArgumentTypeError(message)
    return count


def _cleanup_text(found: LogCleanup) -> str:
    before = f"before {time_text(found.cutoff)}"
    if not found.files:
        return f"Nothing of the log {before} can go."
    count, size = counted(len(found.files), "file"), counted(found.size_bytes, "byte")
    what = f"{count} ({size}) of the log {before}"
    return f"Deleted {what}." if found.is_done else f"Would delete {what}:"


def _file_lines(found: LogCleanup) -> list[str]:
    if found.is_done:
        return []
    return [f"  {file.name}  {file.size:,}" for file in found.files]
