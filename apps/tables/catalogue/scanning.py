"""Tables that are found in folders: registered together, under names of their own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from django.db import IntegrityError

from apps.accounts.models import User
from apps.pages.actions import Stamp
from apps.tables.catalogue.names import TableName, free_name, name_from_path
from apps.tables.catalogue.registration import register_many, register_table
from apps.tables.models import Lake, Namespace, Table
from apps.tables.models.rights import MANAGE, is_open
from apps.tables.permissions import EDIT, closed_namespaces
from apps.tables.storage.finding import find_tables
from apps.tables.storage.locations import (
    check_allowed,
    is_remote,
    parse_location,
)
from apps.tables.storage.roots import (
    check_scanned,
    hidden_places,
    open_places,
    roots_for,
    samples_folder,
)
from deltaweb.delta.errors import LocationError
from deltaweb.storage.objects.scan import FoundTables, Parts
from deltaweb.storage.spellings import HiddenPlaces, parts_of, url_of

SCAN_BATCH: Final = 500  # tables a transaction: the database is never held for long
NAMES_SHOWN: Final = 100  # of each list in a job's result

Seen = Callable[[str, int, int | None, str], None]
"""Told a step, how much of it is done, of how much, and of what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedTable:
    """A table that a scan registered."""

    name: str
    location: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RenamedTable:
    """A table that took another name, because the wanted one was taken."""

    wanted: str
    name: str
    location: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanResult:
    """What a scan did, as its job keeps it; lists are cut.

    Attributes:
        found: Tables that are there.
        folders: Folders that were listed.
        registered: New tables; `tables` are the first of them.
        known: The first of those that were registered before.
        vanished: The first of those that are no longer there.
        returned: The first of those that are there again.
        unreadable: The first folders below the root that could not be listed, or whose
            table could not be registered.
        truncated: Whether a bound ended the scan early.
    """

    root: str
    found: int
    folders: int
    registered: int
    num_registered: int
    num_known: int
    tables: tuple[ScannedTable, ...]
    known: tuple[str, ...]
    renamed: tuple[RenamedTable, ...]
    vanished: tuple[str, ...] = ()
    num_vanished: int = 0
    returned: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    truncated: bool = False


@dataclass(slots=True, kw_only=True)
class ScanReport:
    """What a scan did.

    Attributes:
        registered: New tables, in the order of their paths.
        known: Tables whose location was registered before.
        renamed: New tables that had to take another name, with the one they lost.
        unreadable: Folders below the root that could not be listed, or whose table
            could not be registered.
        truncated: Whether a bound ended the scan early.
        locations: Of all tables that were found, as the catalogue has them.
        vanished: Names of the lake's tables that are no longer there.
    """

    root: str
    num_found: int = 0
    num_folders: int = 0
    registered: list[Table] = field(default_factory=list)
    known: list[Table] = field(default_factory=list)
    renamed: list[tuple[Table, str]] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    truncated: bool = False
    locations: set[str] = field(default_factory=set)
    vanished: list[str] = field(default_factory=list)
    returned: list[str] = field(default_factory=list)

    def without_private(self) -> "ScanReport":
        """Return the report without the names of private tables.

        Every editor sees the job of a scan.
        """
        names = {(one.namespace, one.name) for one in (*self.registered, *self.known)}
        seen = {
            (one.namespace, one.name)
            for one in Table.objects.filter(
                is_open(), namespace__in={namespace for namespace, _ in names}
            ).only("namespace", "name")
        }

        def is_seen(one: Table) -> bool:
            return (one.namespace, one.name) in seen

        return replace(
            self,
            registered=[*filter(is_seen, self.registered)],
            known=[*filter(is_seen, self.known)],
            renamed=[one for one in self.renamed if is_seen(one[0])],
        )

    def shown(self, *, most: int = NAMES_SHOWN) -> ScanResult:
        """Return the report for a job's result and for commands.

        Args:
            most: How many entries each list has at most.
        """
        return ScanResult(
            root=self.root,
            found=self.num_found,
            folders=self.num_folders,
            registered=len(self.registered),
            num_registered=len(self.registered),
            num_known=len(self.known),
            tables=tuple(
                ScannedTable(name=table.full_name, location=table.location)
                for table in self.registered[:most]
            ),
            known=tuple(table.full_name for table in self.known[:most]),
            renamed=tuple(
                RenamedTable(
                    wanted=wanted, name=table.full_name, location=table.location
                )
                for table, wanted in self.renamed[:most]
            ),
            vanished=tuple(self.vanished[:most]),
            num_vanished=len(self.vanished),
            returned=tuple(self.returned[:most]),
            unreadable=tuple(self.unreadable[:most]),
            truncated=self.truncated,
        )


def scan_root(  # each is one fact of the scan
    *,
    root: str,
    namespace: str = "",
    created_by: User | None = None,
    stamp: Stamp,
    is_dry_run: bool = False,
) -> ScanReport:
    """Register every Delta table below a folder or URL that is not registered yet.

    A dry run only says which tables these are, and by which names.
    """
    where = parse_location(root)
    check_scanned(where, created_by)
    return register_found(
        find_tables(where),
        namespace=namespace,
        created_by=created_by,
        stamp=stamp,
        is_dry_run=is_dry_run,
    )


def register_found(
    found: FoundTables,
    *,
    namespace: str = "",
    created_by: User | None = None,
    stamp: Stamp,
    is_dry_run: bool = False,
) -> ScanReport:
    """Register the tables that a scan found; in a dry run, only name them."""
    registration = Registration(
        found.root,
        namespace=namespace,
        created_by=created_by,
        stamp=stamp,
        is_dry_run=is_dry_run,
    )
    return registration.finish(found)


class Registration:
    """The tables that a scan registers, all at its end or while it is looking.

    Those of a lake become its own, known ones too if they are of no other.
    """

    def __init__(  # noqa: PLR0913  # each is one fact of the scan
        self,
        root: str,
        *,
        lake: Lake | None = None,
        namespace: str = "",
        created_by: User | None = None,
        stamp: Stamp,
        on_progress: Seen = lambda *_: None,
        is_dry_run: bool = False,
    ) -> None:
        """Read which names and locations are taken.

        Args:
            lake: The lake that is scanned. Locations in `lake.removed` are left out.
        """
        self._report, self._lake = ScanReport(root=root), lake
        self._namespace = lake.namespace if lake else namespace
        self._created_by, self._stamp = created_by, stamp
        self._on_progress, self._is_dry_run = on_progress, is_dry_run
        self._skipped = frozenset(lake.removed if lake else ())
        self._roots = roots_for(created_by)
        self._hidden, self._num_hidden = hidden_places(created_by, MANAGE), 0
        self._done: set[Parts] = set()
        self._wanted: dict[str, TableName] = {}
        self._taken = _taken_names()
        self._closed = closed_namespaces(stamp, EDIT)
        self._private = frozenset(Namespace.objects.private_names())
        tables = Table.objects.only("id", "namespace", "name", "location", "lake_id")
        self._known = {_spelling(table.location): table for table in tables}

    @cached_property
    def _open(self) -> HiddenPlaces:
        """The places of open tables, which would still show a new private table."""
        return open_places()

    @property
    def num_done(self) -> int:
        """The number of tables that were taken so far."""
        return len(self._done)

    def take(self, found: FoundTables, tables: Sequence[Parts]) -> None:
        """Register some of the tables that were found, in one transaction."""
        new = self._new_tables(found, tables)
        for table in new:
            check_allowed(table.location, roots=self._roots)
        if new and not self._is_dry_run:
            self._register(new)
        self._done.update(tables)

    def finish(self, found: FoundTables) -> ScanReport:
        """Register the other tables, and report on all of them."""
        left = [parts for parts in found.tables if parts not in self._done]
        for start in range(0, len(left), SCAN_BATCH):
            self._on_progress("Registering tables", start, len(left), "tables")
            self.take(found, left[start : start + SCAN_BATCH])
        report = self._report
        report.num_found = len(found.tables) - self._num_hidden
        report.num_folders = found.num_folders
        report.unreadable += found.unreadable
        report.truncated = found.truncated
        for tables in (report.registered, report.known):
            tables.sort(key=lambda table: table.location)
        if self._lake is not None:
            self._adopt(self._lake)
        return report

    def _register(self, new: list[Table]) -> None:
        try:
            register_many(new, created_by=self._created_by, stamp=self._stamp)
        except IntegrityError:  # somebody took one of the names just now
            self._name_again(new)
            register_many(new, created_by=self._created_by, stamp=self._stamp)

    def _new_tables(self, found: FoundTables, batch: Sequence[Parts]) -> list[Table]:
        """Return rows for those of some tables that are not registered yet."""
        report, new = self._report, []
        for parts in batch:
            location = found.location(parts)
            if location in self._skipped:
                continue
            known = self._known.get(_spelling(location))
            if self._hidden.hides(location):
                self._num_hidden += 1
                report.locations.add(known.location if known else location)
                continue
            if known:
                report.known.append(known)
                report.locations.add(known.location)
                continue
            try:
                is_plain = parse_location(location) == location
            except LocationError:
                is_plain = False
            if not is_plain:  # such as a name with a question mark
                report.unreadable.append("/".join(parts))
                continue
            path = parts or (found.root.rstrip("/").rpartition("/")[2] or "table",)
            wanted = name_from_path(path, namespace=self._namespace)
            if wanted.namespace in self._closed:
                continue
            if wanted.namespace in self._private and self._open.hides(location):
                report.unreadable.append("/".join(parts))
                continue
            table = Table(location=location, lake=self._lake)
            self._wanted[location] = wanted
            self._give_name(table)
            report.registered.append(table)
            report.locations.add(location)
            new.append(table)
        return new

    def _name_again(self, tables: Sequence[Table]) -> None:
        """Give tables names that are free now."""
        self._taken |= _taken_names()
        self._report.renamed = [
            one for one in self._report.renamed if one[0] not in tables
        ]
        for table in tables:
            self._give_name(table)

    def _adopt(self, lake: Lake) -> None:
        """Make those tables a lake's own that were registered before, by hand."""
        ids = [table.id for table in self._report.known if table.lake_id is None]
        for start in range(0, len(ids), SCAN_BATCH):
            some = Table.objects.filter(id__in=ids[start : start + SCAN_BATCH])
            some.update(lake=lake)

    def _give_name(self, table: Table) -> None:
        wanted = self._wanted[table.location]
        name = free_name(wanted, self._taken)
        self._taken.add((name.namespace, name.name))
        table.namespace, table.name = name.namespace, name.name
        if name != wanted:
            self._report.renamed.append((table, str(wanted)))


def _taken_names() -> set[tuple[str, str]]:
    return set(Table.objects.values_list("namespace", "name"))


def _spelling(location: str) -> str:
    """Return a location as it compares: schemes that mean one store are one."""
    return url_of(parts_of(location)) if is_remote(location) else location


def load_samples(
    *,
    created_by: User | None = None,
    stamp: Stamp,
    on_table: Callable[[str, int, int], None] | None = None,
) -> list[Table]:
    """Make the sample tables that are missing and register those that are not.

    A sample whose name another table has taken gets a numbered name. `on_table` is told
    of each before it is made: its name, how many stand, how many there will be.
    """
    from deltaweb.samples import make_samples  # noqa: PLC0415 (a command rarely does)

    tables = []
    for sample in make_samples(samples_folder(), stamp.at, on_table):
        table = Table.objects.filter(location=sample.location).first()
        if table is None:
            wanted = TableName(sample.namespace, sample.name)
            name = free_name(wanted, _taken_names())
            table = register_table(
                name=name, location=sample.location, created_by=created_by, stamp=stamp
            )
        tables.append(table)
    return tables
