"""Tables that are there and become registered: `add`, and `scan` of a folder."""

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser

from apps.pages.actions import command_stamp
from apps.pages.changes.parameters import add_parameters, given
from apps.pages.command import Output, WritingVerb
from apps.pages.request.changes import value_of
from apps.tables.catalogue.checks import LocationCheck, check_location
from apps.tables.catalogue.lakes.changes import NewLake
from apps.tables.catalogue.lakes.scanning import scan_lake
from apps.tables.catalogue.lakes.services import add_reached_lake
from apps.tables.catalogue.names import (
    TableName,
    parse_namespace,
    parse_table_name,
)
from apps.tables.catalogue.registration import (
    TableSettings,
    check_name_free,
    register_table,
)
from apps.tables.catalogue.scanning import ScanReport, scan_root
from apps.tables.errors import TableNameTakenError
from apps.tables.head.shapes import table_json
from apps.tables.storage.connections import options_for
from apps.tables.storage.locations import parse_location
from apps.tables.storage.roots import check_usable
from deltaweb.words import counted

AT_ONCE: Final = 8  # logs are inspected together: each waits for its storage


@dataclass(frozen=True, slots=True)
class Wanted:
    """A table that is to be registered, and what is at its location."""

    name: TableName
    location: str
    found: LocationCheck


class AddVerb(WritingVerb):
    """Register tables."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="table, or namespace.table")
        parser.add_argument("location", help="a folder or a URL")
        parser.add_argument(
            "more", nargs="*", metavar="name location", help="further tables"
        )
        add_parameters(parser, TableSettings)

    def run(
        self,
        *,
        name: str,
        location: str,
        more: Sequence[str],
        dry_run: bool,
        **options: object,
    ) -> Output:
        """Check what is there, all of it, then register it."""
        if len(more) % 2:
            message = f"{more[-1]} has no location: give NAME LOCATION pairs."
            raise CommandError(message)
        texts = (name, location, *more)
        wanted = _checked(list(zip(texts[::2], texts[1::2], strict=True)))
        for one in wanted:
            if one.found.warning:
                self.warn(f"{one.found.warning} Metadata and history are shown.")
        if dry_run:
            return _answer(
                [_facts(one) for one in wanted],
                [f"Would register {_words(one)}" for one in wanted],
            )
        data, settings = [], TableSettings(**given(options))
        for one in wanted:
            table = register_table(
                name=one.name,
                location=one.location,
                settings=settings,
                stamp=command_stamp(),
            )
            said = table_json(table)
            data.append(said | {"found": one.found})
        return _answer(data, [f"Registered {_words(one)}" for one in wanted])


def _checked(pairs: Sequence[tuple[str, str]]) -> list[Wanted]:
    """Look at every location before one of them is registered."""
    names = [parse_table_name(name) for name, _ in pairs]
    places = [parse_location(place, base=Path.cwd()) for _, place in pairs]
    seen: set[TableName] = set()
    for name, place in zip(names, places, strict=True):
        check_name_free(name)
        if name in seen:
            raise TableNameTakenError(name=str(name))
        seen.add(name)
        check_usable(place, None)
    found = _look(places)
    return [Wanted(*one) for one in zip(names, places, found, strict=True)]


def _look(places: Sequence[str]) -> Iterator[LocationCheck]:
    options = [options_for(place) for place in places]  # the database is asked here
    with ThreadPoolExecutor(min(AT_ONCE, len(places))) as pool:
        yield from pool.map(check_location, places, options)


def _facts(wanted: Wanted) -> dict[str, Any]:
    return {
        "name": str(wanted.name),
        "location": wanted.location,
        "found": wanted.found,
    }


def _words(wanted: Wanted) -> str:
    return f"{wanted.name}: version {wanted.found.version} of {wanted.location}"


def _answer(data: list[dict[str, Any]], lines: Sequence[str]) -> Output:
    """One table answers as itself, several as a list."""
    if len(data) == 1:
        return Output(data[0], lines[0])
    return Output(data, lines=lines)


class ScanVerb(WritingVerb):
    """Register every Delta table below ROOT."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        add_parameters(parser, NewLake)

    def run(self, *, dry_run: bool, **options: object) -> Output:
        """Register the tables below a folder or URL."""
        asked = NewLake(**given(options))
        where = parse_location(asked.url, base=Path.cwd())
        stamp = command_stamp()
        if dry_run:
            report = scan_root(
                root=where,
                namespace=parse_namespace(value_of(asked.namespace, "", removed="")),
                stamp=stamp,
                is_dry_run=True,
            )
        else:
            lake = add_reached_lake(where, asked, stamp=stamp)
            report = scan_lake(lake, stamp=stamp, is_asked=True, on_progress=self._tell)
        self._warn_of(report)
        new, known = len(report.registered), len(report.known)
        done = "would be registered" if dry_run else "registered"
        return Output(
            report.shown(most=report.num_found),
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
            self.warn(f"{folder} could not be listed or registered.")
        if report.vanished:
            gone = counted(len(report.vanished), "table")
            self.warn(f"{gone} no longer there: {', '.join(report.vanished[:5])}")
        if report.truncated:
            self.warn("The scan ended early: the folder is very deep or very large.")
