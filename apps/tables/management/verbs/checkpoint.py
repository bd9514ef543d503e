"""`deltaweb table checkpoint`: write a checkpoint of a version."""

from argparse import ArgumentTypeError

from django.core.management.base import CommandParser
from django.utils import timezone

from deltaweb.delta.writing.checkpoint.plan import check_checkpoint
from deltaweb.delta.writing.checkpoint.request import MAX_PARTS
from deltaweb.index.history.sentences.commit_facts import counted
from deltaweb.table import DeltaTable
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.management.arguments import locate, whole_number
from deltaweb.web.tables.management.audit import record
from deltaweb.web.tables.storage.opening import open_location


class Verb(WritingVerb):
    """Write a checkpoint."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument(
            "--version", type=whole_number, dest="at_version", metavar="N"
        )
        parser.add_argument(
            "--parts", type=_part_count, metavar="N", help="into N files, not one"
        )

    def run(
        self,
        *,
        table: str,
        at_version: int | None,
        parts: int | None,
        dry_run: bool,
        **_: object,
    ) -> Output:
        """Write a checkpoint of a version, the newest by default."""
        name, location = locate(table)
        opened = open_location(location)
        if dry_run:
            return _foreseen(name, opened, at_version, parts)
        written = opened.create_checkpoint(at_version, parts=parts, now=timezone.now())
        record("table.checkpoint", name, version=written.version, parts=parts)
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


def _foreseen(
    name: str | None, opened: DeltaTable, version: int | None, parts: int | None
) -> Output:
    """Say of which version a checkpoint would be, and how many files it has.

    Raises:
        DeltaError: If the table may not get one from us, or the log does not build it.
    """
    snapshot = opened.snapshot_metadata(version)
    check_checkpoint(opened.store, snapshot.state.definition)
    data = {
        "name": name,
        "location": opened.root,
        "version": snapshot.version,
        "num_files": snapshot.num_files,
        "parts": parts,
    }
    text = (
        f"Would write the checkpoint of version {snapshot.version}: "
        f"{counted(snapshot.num_files, 'file')}, into "
        f"{'one file' if parts is None else counted(parts, 'file')}."
    )
    return Output(data, text)


def _part_count(text: str) -> int:
    """Read a whole number from 1 to what a log should ever hold."""
    count = whole_number(text)
    if not 1 <= count <= MAX_PARTS:
        message = f"{text!r} is not a whole number from 1 to {MAX_PARTS}"
        raise ArgumentTypeError(message)
    return count
