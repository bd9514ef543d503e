"""`deltaweb table scan`: register every Delta table below a folder or URL."""

import sys
from pathlib import Path

from django.core.management.base import CommandParser

from deltaweb.index.history.sentences.commit_facts import counted
from deltaweb.web.pages.actions import command_stamp
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.catalogue.lakes.scanning import scan_lake
from deltaweb.web.tables.catalogue.lakes.services import LAKE_SCHEDULES, add_lake
from deltaweb.web.tables.catalogue.names import parse_namespace
from deltaweb.web.tables.catalogue.scanning import ScanReport, scan_root
from deltaweb.web.tables.storage.locations import parse_location


class Verb(WritingVerb):
    """Register every Delta table below ROOT."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("root", help="a folder, or a URL such as s3://bucket/lake")
        parser.add_argument(
            "--namespace",
            metavar="NS",
            help="of every table; default: as it was, or the path below ROOT",
        )
        parser.add_argument(
            "--repeat",
            choices=LAKE_SCHEDULES,
            metavar="INTERVAL",
            help=f"scan it repeatedly: {', '.join(LAKE_SCHEDULES)}; "
            "default: as it was, or never",
        )

    def run(
        self, *, root: str, namespace: str | None, repeat: str | None, dry_run: bool
    ) -> Output:
        """Register the tables below a folder or URL."""
        where = parse_location(root, base=Path.cwd())
        stamp = command_stamp()
        if dry_run:
            report = scan_root(
                root=where,
                namespace=parse_namespace(namespace or ""),
                stamp=stamp,
                is_dry_run=True,
            )
        else:
            lake = add_lake(where, namespace=namespace, schedule=repeat, stamp=stamp)
            report = scan_lake(lake, stamp=stamp, is_asked=True, on_progress=self._tell)
        self._warn_of(report)
        new, known = len(report.registered), len(report.known)
        done = "would be registered" if dry_run else "registered"
        return Output(
            report.as_json(most=report.num_found),
            f"{new} {done}, {known} known before, below {report.root}",
            [f"  {table.full_name}" for table in report.registered],
        )

    def _tell(self, step: str, done: int, _total: int | None, unit: str) -> None:
        """Say how far it is, to somebody who waits; Ctrl-C ends it."""
        stderr = self.command.stderr
        if sys.stderr.isatty():
            stderr.write(f"\r{step}: {done:,} {unit}\x1b[K", ending="\r")
            stderr.flush()

    def _warn_of(self, report: ScanReport) -> None:
        for table, wanted in report.renamed:
            self.warn(f"{wanted} is taken: {table.location} is {table.full_name}.")
        for folder in report.unreadable:
            self.warn(f"{folder} could not be listed.")
        if report.vanished:
            gone = counted(len(report.vanished), "table")
            self.warn(f"{gone} no longer there: {', '.join(report.vanished[:5])}")
        if report.truncated:
            self.warn("The scan ended early: the folder is very deep or very large.")
