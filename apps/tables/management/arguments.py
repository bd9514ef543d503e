"""Arguments that several subcommands take: a table's name or location, and counts."""

from argparse import ArgumentTypeError
from pathlib import Path

from apps.tables import services
from apps.tables.errors import TableNameError, TableNotRegisteredError
from apps.tables.locations import check_present, parse_location


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
            table = services.find_table(text)
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
