"""Arguments that several subcommands take: a table's name or location, and counts."""

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Final

from deltaweb.delta.values.time_zones.errors import TimeZoneUnknownError
from deltaweb.delta.values.time_zones.known import check_zone
from deltaweb.web.tables.catalogue.registration import find_table
from deltaweb.web.tables.errors import TableNameError, TableNotRegisteredError
from deltaweb.web.tables.storage.locations import check_present, parse_location

SQL_OF_UTC: Final = "SQL (UTC without)"
"""Where times stand that are of UTC if no zone is given."""


def locate(text: str) -> tuple[str | None, str]:
    """Return the name, if registered, and the location of NAME|LOCATION.

    A path or a URL needs neither registration nor a database.

    Raises:
        TableNotRegisteredError: If it is neither a name nor a folder.
        LocationError: If nothing is there, or it cannot be read.
    """
    is_path = "/" in text or text.startswith((".", "~"))
    if not is_path:
        try:
            table = find_table(text)
        except TableNotRegisteredError:
            if not Path(text).is_dir():
                raise
        except TableNameError:
            if not Path(text).is_dir():
                raise TableNotRegisteredError(name=text) from None
        else:
            check_present(table.location)
            return table.full_name, table.location
    location = parse_location(text, base=Path.cwd())
    check_present(location)
    return None, location


def whole_number(text: str) -> int:
    """Read a whole number from 0; argparse turns the error into bad usage."""
    value = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= value < 1 << 63:
        message = f"{text!r} is not a whole number from 0"
        raise ArgumentTypeError(message)
    return value


def add_version(parser: ArgumentParser, *, of: str = "--timestamp") -> None:
    """Take a table, one of its versions by number or time, and the zone of times.

    Args:
        parser: Of the command.
        of: Where times without a zone may stand, for the help.
    """
    parser.add_argument("table", metavar="name|location")
    at = parser.add_mutually_exclusive_group()
    at.add_argument("--version", type=whole_number, dest="at_version", metavar="N")
    at.add_argument("--timestamp", metavar="T", help="such as 2026-01-31T12:00:00Z")
    add_time_zone(parser, of=of)


def time_zone(text: str) -> str:
    """Read the name of a time zone; argparse turns the error into bad usage."""
    try:
        return check_zone(text)
    except TimeZoneUnknownError as error:
        message = f"{error.message} {error.hint}"
        raise ArgumentTypeError(message) from None


def add_time_zone(parser: ArgumentParser, *, of: str) -> None:
    """Take the zone of the times that people write without one.

    Args:
        parser: Of the command.
        of: Where such times stand, for the help.
    """
    parser.add_argument(
        "--time-zone",
        type=time_zone,
        metavar="ZONE",
        help=f"whose clocks show the times without a zone in {of}: such as "
        "America/New_York or +05:30",
    )


def add_upgrade(parser: ArgumentParser) -> None:
    """Let a change raise the protocol as far as it needs, in the same commit."""
    parser.add_argument(
        "--upgrade",
        action="store_true",
        help="raise the protocol where the change needs it; there is no way back",
    )
