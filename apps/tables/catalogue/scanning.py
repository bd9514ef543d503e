"""Tables that are found in folders: registered together, under names of their own."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from deltaweb.web.accounts.models import User
from deltaweb.web.pages.actions import Actor
from deltaweb.web.tables.catalogue.names import TableName, free_name, name_from_path
from deltaweb.web.tables.catalogue.registration import register_table
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.storage.finding import ScanResult, find_tables
from deltaweb.web.tables.storage.locations import check_allowed, parse_location
from deltaweb.web.tables.storage.roots import roots_for, samples_folder

SCAN_BATCH = 100  # tables a transaction: the database is never held for long


@dataclass(slots=True, kw_only=True)
class ScanReport:
    """What a scan did.

    Attributes:
        registered: New tables, in the order of their paths.
        known: Tables whose location was registered before.
        renamed: New tables that had to take another name, with the one they lost.
        unreadable: Folders that could not be listed.
        truncated: Whether a bound ended the scan early.
    """

    root: str
    registered: list[Table] = field(default_factory=list)
    known: list[Table] = field(default_factory=list)
    renamed: list[tuple[Table, str]] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    truncated: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON, for a job's result and for commands."""
        return {
            "root": self.root,
            "num_registered": len(self.registered),
            "num_known": len(self.known),
            "registered": [
                {"name": table.full_name, "location": table.location}
                for table in self.registered
            ],
            "known": [table.full_name for table in self.known],
            "renamed": [
                {"wanted": wanted, "name": table.full_name, "location": table.location}
                for table, wanted in self.renamed
            ],
            "unreadable": self.unreadable,
            "truncated": self.truncated,
        }


def scan_root(
    *,
    root: str,
    now: datetime,
    created_by: User | None = None,
    actor: Actor | None = None,
    is_dry_run: bool = False,
) -> ScanReport:
    """Register every Delta table below a local folder that is not registered yet.

    A dry run only says which tables these are, and by which names.

    Raises:
        LocationInvalidError: If `root` is no path.
        LocationNotAllowedError: If the user may not register from there.
        ScanRootError: If the folder cannot be scanned.
    """
    where = parse_location(root)
    check_allowed(where, roots=roots_for(created_by))
    found = find_tables(where)
    return register_found(
        found, now=now, created_by=created_by, actor=actor, is_dry_run=is_dry_run
    )


def register_found(
    found: ScanResult,
    *,
    now: datetime,
    created_by: User | None = None,
    actor: Actor | None = None,
    is_dry_run: bool = False,
) -> ScanReport:
    """Register the tables that a scan found; in a dry run, only name them."""
    report = ScanReport(
        root=str(found.root), unreadable=found.unreadable, truncated=found.truncated
    )
    taken = set(Table.objects.values_list("namespace", "name"))
    by_location = {table.location: table for table in Table.objects.defer("summary")}
    roots = roots_for(created_by)
    for start in range(0, len(found.tables), SCAN_BATCH):
        with transaction.atomic():
            for parts in found.tables[start : start + SCAN_BATCH]:
                location = str(found.root.joinpath(*parts))
                if known := by_location.get(location):
                    report.known.append(known)
                    continue
                wanted = name_from_path(parts or (found.root.name or "table",))
                name = free_name(wanted, taken)
                taken.add((name.namespace, name.name))
                check_allowed(location, roots=roots)
                if is_dry_run:
                    table = Table(
                        namespace=name.namespace, name=name.name, location=location
                    )
                else:
                    table = register_table(
                        name=name,
                        location=location,
                        now=now,
                        created_by=created_by,
                        actor=actor,
                    )
                report.registered.append(table)
                if name != wanted:
                    report.renamed.append((table, str(wanted)))
    return report


def load_samples(
    *,
    now: datetime,
    created_by: User | None = None,
    actor: Actor | None = None,
    on_table: Callable[[str, int, int], None] | None = None,
) -> list[Table]:
    """Make the sample tables that are missing and register those that are not.

    A sample whose name another table has taken gets a numbered name. `on_table` is told
    of each before it is made: its name, how many stand, how many there will be.
    """
    from deltaweb.samples import make_samples  # noqa: PLC0415 (a command rarely does)

    tables = []
    for sample in make_samples(samples_folder(), now, on_table):
        table = Table.objects.filter(location=sample.location).first()
        if table is None:
            taken = set(Table.objects.values_list("namespace", "name"))
            name = free_name(TableName(sample.namespace, sample.name), taken)
            table = register_table(
                name=name,
                location=sample.location,
                now=now,
                created_by=created_by,
                actor=actor,
            )
        tables.append(table)
    return tables
