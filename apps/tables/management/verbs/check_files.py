"""`deltaweb table check-files`: which data files of every version are there."""

import shlex
from collections.abc import Iterator

from django.core.management.base import CommandParser
from django.utils import timezone

from deltaweb.index.file_check import FileCheck
from deltaweb.index.history.sentences.commit_facts import counted
from deltaweb.web.pages.command import Output, Subcommand
from deltaweb.web.tables.catalogue.registration import find_table
from deltaweb.web.tables.index.engine import Engine
from deltaweb.web.tables.management.terminal import TerminalReports, add_engine
from deltaweb.web.tables.storage.locations import check_present
from deltaweb.web.tables.storage.opening import table_place
from deltaweb.web.tables.versions.file_checks import keep_check
from deltaweb.web.tables.work.check_files import checked


class Verb(Subcommand):
    """See which data files are there."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        add_engine(parser)

    def run(self, *, name: str, engine: Engine | None) -> Output:
        """List the storage once and count what every version lacks."""
        table = find_table(name)
        check_present(table.location)
        place = table_place(table, roots=None)
        check = checked(place, TerminalReports(self.warn), engine)
        facts = keep_check(table, check, now=timezone.now())
        missing = check.missing.to_pylist()
        data = {
            "name": table.full_name,
            "location": table.location,
            **facts,
            "versions": [
                {
                    "first": row["first_version"],
                    "last": row["last_version"],
                    "num_files": row["num_files"],
                    "num_missing": row["num_missing"],
                    "vacuum_version": row["vacuum_version"],
                }
                for row in missing
            ],
            "spellings": [one.describe() for one in check.spelled],
        }
        text = (
            f"{facts['num_complete']:,} of {counted(check.num_versions, 'version')} "
            f"can be read in full; {facts['num_partly']:,} lack some files, "
            f"{facts['num_gone']:,} all of them. Of "
            f"{counted(check.num_paths, 'file')}, {check.num_missing:,} "
            f"{'is' if check.num_missing == 1 else 'are'} not in storage."
        )
        lines = [*map(_line, missing), *_spellings(table.full_name, check)]
        return Output(data, text, lines)


def _spellings(name: str, check: FileCheck) -> Iterator[str]:
    """Yield what is spelled in several ways, and what to do about it."""
    yield from (f"  {one.sentence}." for one in check.spelled)
    if check.spelled:
        command = f"deltaweb table optimize {shlex.quote(name)} --respell"
        yield f"  {command} spells them alike."


def _line(row: dict[str, int]) -> str:
    first, last = row["first_version"], row["last_version"]
    versions = f"v{first}" if first == last else f"v{first} to v{last}"
    there = row["num_files"] - row["num_missing"]
    return f"  {versions}: {there:,} of {counted(row['num_files'], 'file')}"
