"""Arguments that several subcommands take: a table's name or location, and counts."""

import os
from argparse import ArgumentParser
from pathlib import Path

from apps.pages.changes.parameters import whole_number, zone_argument
from apps.tables.catalogue.names import find_table
from apps.tables.errors import TableNameError, TableNotRegisteredError
from apps.tables.models import Table
from apps.tables.storage.locations import (
    check_present,
    parse_location,
)
from apps.tables.storage.roots import check_usable
from deltaweb.storage.place import is_of_profile


def locate(text: str, *, may_be_made: bool = False) -> tuple[Table | None, str]:
    """Return the table, if registered, and the location of NAME|LOCATION.

    A path or a URL needs neither registration nor a database; nor does a table of a
    profile, `profile.share#share.schema.table`.

    Args:
        may_be_made: Whether nothing need be there, but tables may be made there.
    """
    if is_of_profile(text):
        return None, text
    is_path = "/" in text or text.startswith((".", "~"))
    if not is_path:
        try:
            table = find_table(text)
        except TableNotRegisteredError:
            if not is_folder_here(text):
                raise
        except TableNameError:
            if not is_folder_here(text):
                raise TableNotRegisteredError(name=text) from None
        else:
            check_present(table.location)
            return table, table.location
    location = parse_location(text, base=Path.cwd())
    if may_be_made:
        check_usable(location, None)
    else:
        check_present(location)
    return None, location


def is_folder_here(text: str) -> bool:
    """Whether a text is the path of a folder; `Path` raises where it is too long."""
    return os.path.isdir(text)  # noqa: PTH112 (as said)


def is_file_here(text: str) -> bool:
    """Whether a text is the path of a file; `Path` raises where it is too long."""
    return os.path.isfile(text)  # noqa: PTH113 (as said)


def names_of(table: Table | None, location: str) -> dict[str, str | None]:
    """Return what machine forms call a table: its name, where it is registered."""
    return {"name": table.full_name if table else None, "location": location}


def add_version(parser: ArgumentParser, *, of: str = "--timestamp") -> None:
    """Take a table, one of its versions by number or time, and the zone of times.

    Args:
        of: Where times without a zone may stand, for the help.
    """
    parser.add_argument("table", metavar="name|location")
    at = parser.add_mutually_exclusive_group()
    at.add_argument("--version", type=whole_number, dest="at_version", metavar="N")
    at.add_argument("--timestamp", metavar="T", help="such as 2026-01-31T12:00:00Z")
    add_time_zone(parser, of=of)


def add_time_zone(parser: ArgumentParser, *, of: str) -> None:
    """Take the zone of the times that people write without one.

    Args:
        of: Where such times stand, for the help.
    """
    parser.add_argument("--time-zone", **zone_argument(of))
