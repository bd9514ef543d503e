"""`deltaweb table scan`: register every Delta table below a folder."""

from pathlib import Path

from django.core.management.base import CommandParser
from django.utils import timezone

from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.catalogue.scanning import scan_root
from deltaweb.web.tables.storage.locations import parse_location


class Verb(WritingVerb):
    """Register every Delta table below ROOT."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("root", help="a local folder")

    def run(self, *, root: str, dry_run: bool, **_: object) -> Output:
        """Register the tables below a folder."""
        where = parse_location(root, base=Path.cwd())
        report = scan_root(root=where, now=timezone.now(), is_dry_run=dry_run)
        for table, wanted in report.renamed:
            self.warn(f"{wanted} is taken: {table.location} is {table.full_name}.")
        for folder in report.unreadable:
            self.warn(f"{folder} could not be listed.")
        if report.truncated:
            self.warn("The scan ended early: the folder is very deep or very large.")
        new, known = len(report.registered), len(report.known)
        done = "would be registered" if dry_run else "registered"
        return Output(
            report.as_json(),
            f"{new} {done}, {known} known before, below {report.root}",
            [f"  {table.full_name}" for table in report.registered],
        )
