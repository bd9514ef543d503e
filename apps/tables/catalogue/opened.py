"""A table that somebody opens by its location: it gets a name of its own."""

from pathlib import Path, PurePosixPath

from apps.pages.actions import Stamp
from apps.tables.catalogue.checks import check_location
from apps.tables.catalogue.names import free_name, name_from_path
from apps.tables.catalogue.registration import register_table
from apps.tables.models import Table
from apps.tables.storage.locations import check_allowed, parse_location
from apps.tables.storage.roots import roots_for


def open_table_at(text: str, *, base: Path, stamp: Stamp) -> Table:
    """Return the table at a location; one that is new is registered, and indexed.

    Args:
        text: A path or a URL.
        base: The folder that a relative path starts from.
    """
    where = parse_location(text, base=base)
    known = Table.objects.filter(location=where).first()
    if known is not None:
        return known
    check_allowed(where, roots=roots_for(None))
    check_location(where)
    wanted = name_from_path((PurePosixPath(where).name or "table",))
    taken = set(Table.objects.values_list("namespace", "name"))
    name = free_name(wanted, taken)
    return register_table(name=name, location=where, stamp=stamp)
