"""The parameters of an operation, of which the arguments of its command are made.

    @dataclass(frozen=True, slots=True, kw_only=True)
    class DeleteRows:
        where: str = parameter("", "--where", metavar="SQL", help="which rows")

A parameter with an option is named by it on the line; one whose option is "" stands by
its place; one that is declared without `parameter` is not of the line.
"""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from deltaweb.delta.values.time_zones.errors import TimeZoneUnknownError
from deltaweb.delta.values.time_zones.known import check_zone

SQL_OF_UTC: Final = "SQL (UTC without)"
"""Where times stand that are of UTC if no zone is given."""

ARGUMENT: Final = "argument"
PREFIX: Final = "asked_"
"""Of what argparse calls them, beside what all commands take."""


@dataclass(frozen=True, slots=True)
class Argument:
    """How a parameter is given to a command.

    Attributes:
        option: Such as `--where`; "" where it stands by its place.
        how: What argparse takes: `metavar`, `help`, `type`, `action`, `nargs`.
    """

    option: str
    how: Mapping[str, Any]


def parameter(default: Any, option: str = "", **how: Any) -> Any:  # noqa: ANN401 (of a field)
    """Return a field of a dataclass of parameters that a command takes.

    Args:
        default: Its value where it is not given.
        option: As in `Argument`.
        how: Likewise.
    """
    return field(default=default, metadata={ARGUMENT: Argument(option, how)})


def add_parameters(
    parser: ArgumentParser, kind: type, only: Collection[str] | None = None
) -> None:
    """Let a command take parameters.

    Args:
        parser: Of the command.
        kind: The dataclass.
        only: Those of them that it takes; None for all.
    """
    for one in fields(kind):
        argument = one.metadata.get(ARGUMENT)
        if argument is None or (only is not None and one.name not in only):
            continue
        name = f"{PREFIX}{one.name}"
        if argument.option:
            parser.add_argument(argument.option, dest=name, **argument.how)
        else:
            parser.add_argument(name, **{"metavar": one.name, **argument.how})


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that were given on the line, by their names."""
    return {
        name.removeprefix(PREFIX): value
        for name, value in options.items()
        if name.startswith(PREFIX) and value is not None
    }


# === Parameters that several operations have ===


def zone_parameter(default: str, *, of: str = SQL_OF_UTC) -> Any:  # noqa: ANN401 (of a field)
    """Return the field of whose clocks show times that are written without a zone.

    Args:
        default: Where nobody names one.
        of: Where such times stand, for the help.
    """
    return parameter(default, "--time-zone", **zone_argument(of))


def zone_argument(of: str) -> dict[str, Any]:
    """Return what argparse takes for such a zone."""
    return {
        "type": time_zone,
        "metavar": "ZONE",
        "help": f"whose clocks show the times without a zone in {of}: such as "
        "America/New_York or +05:30",
    }


def upgrade_parameter() -> Any:  # noqa: ANN401 (of a field)
    """Return the field that lets a change raise the protocol in the same commit."""
    return parameter(
        default=False,
        option="--upgrade",
        action="store_true",
        help="raise the protocol where the change needs it; there is no way back",
    )


def time_zone(text: str) -> str:
    """Read the name of a time zone; argparse turns the error into bad usage."""
    try:
        return check_zone(text)
    except TimeZoneUnknownError as error:
        message = f"{error.message} {error.hint}"
        raise ArgumentTypeError(message) from None


def whole_number(text: str) -> int:
    """Read a whole number from 0; argparse turns the error into bad usage."""
    value = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= value < 1 << 63:
        message = f"{text!r} is not a whole number from 0"
        raise ArgumentTypeError(message)
    return value


def names_of(text: str) -> tuple[str, ...]:
    """Read names with commas between them; empty ones are left out."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def pair(text: str) -> tuple[str, str]:
    """Read `name=value`; argparse turns the error into bad usage."""
    name, separator, value = text.partition("=")
    if not separator or not name.strip():
        message = f"{text!r} is not of the form key=value"
        raise ArgumentTypeError(message)
    return name.strip(), value.strip()
