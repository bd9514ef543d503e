"""`deltaweb table vacuum`: delete files that no version within the retention needs."""

import re
from argparse import ArgumentTypeError

from django.core.management.base import CommandParser
from django.utils import timezone

from deltaweb.delta.writing.operations.vacuum import VacuumPlan, carry_out_vacuum
from deltaweb.index.history.sentences.commit_facts import counted
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.management.arguments import locate
from deltaweb.web.tables.management.audit import record
from deltaweb.web.tables.storage.opening import open_location

HOURS = {"h": 1.0, "d": 24.0, "m": 1 / 60}


class Verb(WritingVerb):
    """Delete files that no version within the retention needs."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument(
            "--retention", type=_hours, metavar="168h", help="as the table says, if not"
        )
        parser.add_argument(
            "--execute",
            action="store_true",
            help="delete, do not only list; --dry-run lists all the same",
        )
        parser.add_argument(
            "--allow-short-retention",
            action="store_true",
            help="even where present readers may lose their files",
        )

    def run(  # the arguments of the line
        self,
        *,
        table: str,
        retention: float | None,
        execute: bool,
        allow_short_retention: bool,
        dry_run: bool,
        **_: object,
    ) -> Output:
        """List the files; delete them after asking."""
        name, location = locate(table)
        opened, now = open_location(location), timezone.now()
        found = opened.vacuum(
            retention, now=now, allow_short_retention=allow_short_retention
        )
        if execute and not dry_run and found.files.num_rows:
            question = (
                f"Delete {counted(found.files.num_rows, 'file')} "
                f"({found.size_bytes:,} bytes) of {location}? {_lost(found)}"
            )
            self.ask(question)
            if not self.is_agreed:
                # An answer may take long: what could go may be live again by then.
                found = opened.vacuum(
                    retention, now=now, allow_short_retention=allow_short_retention
                )
            found = carry_out_vacuum(opened.store, found, is_told=True)
            record(
                "table.vacuum",
                name,
                version=found.version,
                num_files=found.files.num_rows,
                size_bytes=found.size_bytes,
            )
        return Output(_data(name, location, found), _text(found), _lines(found))


def _hours(text: str) -> float:
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)([hdm]?)", text.strip())
    if match is None:
        message = f"{text!r} is not a time such as 168h or 7d"
        raise ArgumentTypeError(message)
    return float(match[1]) * HOURS[match[2] or "h"]


def _data(name: str | None, location: str, found: VacuumPlan) -> dict[str, object]:
    return {
        "name": name,
        "location": location,
        "version": found.version,
        "cutoff": found.cutoff,
        "deleted": found.is_done,
        "num_files": found.files.num_rows,
        "size_bytes": found.size_bytes,
        "live_bytes": found.live_bytes,
        "kept_bytes": found.kept_bytes,
        "lost_versions": list(found.lost_versions),
        "files": found.files.to_pylist(),
    }


def _text(found: VacuumPlan) -> str:
    if not found.files.num_rows:
        return "No file can go."
    verb = "Deleted" if found.is_done else "Would delete"
    count = counted(found.files.num_rows, "file")
    return f"{verb} {count} ({found.size_bytes:,} bytes). {_lost(found)}"


def _lost(found: VacuumPlan) -> str:
    lost = found.lost_versions
    if not lost:
        return "Every version that reads now reads afterwards."
    count = counted(len(lost), "version")
    return f"{count} can no longer be read ({lost[0]} to {lost[-1]})."


def _lines(found: VacuumPlan) -> list[str]:
    if found.is_done:
        return []
    return [
        f"  {file['place']}  {file['size']:,}  {file['kind']}"
        for file in found.files.to_pylist()
    ]
