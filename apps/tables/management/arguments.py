"""Arguments that several subcommands take: a table's name or location, and counts."""

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path

from apps.tables.catalogue.registration import find_table
from apps.tables.errors import TableNameError, TableNotRegisteredError
from apps.tables.storage.locations import check_present, parse_location


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


def add_version(parser: ArgumentParser) -> None:
    """Take a table, and one of its versions by number or time."""
    parser.add_argument("table", metavar="name|location")
    at = parser.add_mutually_exclusive_group()
    at.add_argument("--version", type=whole_number, dest="at_version", metavar="N")
    at.add_argument("--timestamp", metavar="T", help="such as 2026-01-31T12:00:00Z")


def add_upgrade(parser: ArgumentParser) -> None:
    """Let a change raise the protocol as far as it needs, in the same commit."""
    parser.add_argument(
        "--upgrade",
        action="store_true",
        help="raise the protocol where the change needs it; there is no way back",
    )
