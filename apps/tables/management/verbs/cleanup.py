"""`deltaweb table cleanup`: delete history that has expired."""

from django.core.management.base import CommandParser
from django.utils import timezone

from deltaweb.delta.writing.log_cleanup import LogCleanup
from deltaweb.index.history.sentences.commit_facts import counted
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.catalogue.registration import find_table
from deltaweb.web.tables.index.refresh import refresh_anew
from deltaweb.web.tables.management.arguments import locate
from deltaweb.web.tables.management.audit import record
from deltaweb.web.tables.management.text_output import time_text
from deltaweb.web.tables.storage.opening import open_location


class Verb(WritingVerb):
    """Delete history that has expired."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")

    def run(self, *, table: str, dry_run: bool, **_: object) -> Output:
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
            self.ask(question)
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


def _note_cleanup(name: str | None, found: LogCleanup) -> None:
    """Record the clean-up of a registered table, and have its history marked."""
    record(
        "table.cleanup",
        name,
        checkpoint_version=found.checkpoint_version,
        num_files=len(found.files),
        size_bytes=found.size_bytes,
    )
    if name is not None:
        refresh_anew(find_table(name), now=timezone.now())


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
