"""The parameters of an operation or a change, of which command and form are made.

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Restore:
        version: int | None = parameter(
            None, "--version", line=Line(label="Version", least=0), metavar="N"
        )

A parameter with an option is named by it on a command's line; one whose option is ""
stands by its place; one that is declared without `parameter` is of no line. One with a
`Line` has one in the form of the page (`forms.form_of`).

A parameter of an update is `UNCHANGED` by default. One that can be removed has a second
option, `removed_by`, which makes it None.
"""

from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Final

from apps.pages.request.changes import UNCHANGED
from deltaweb.delta import protocol
from deltaweb.delta.values import time_zones
from deltaweb.delta.values.time_zones.errors import TimeZoneUnknownError

SQL_OF_UTC: Final = "SQL (UTC without)"
"""Where times stand that are of UTC if no zone is given."""

ARGUMENT: Final = "argument"
MAX_WHOLE_NUMBER: Final = (1 << 63) - 1
SERIALIZED: Final = "serializer_kwargs"
"""Of bounds, as djangorestframework-dataclasses takes them."""
PREFIX: Final = "asked_"
"""Of what argparse calls them, beside what all commands take."""
FACTORIES: Final = (dict, list)
REMOVED: Final = object()
"""The value of an option that removes one."""


def filled_lines(text: str) -> list[str]:
    """Return the lines of a text that are not blank."""
    return [line for line in text.splitlines() if line.strip()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A span of time in a form: one of some, or another that is typed.

    Attributes:
        own: The name of the field for another span or a date; "" if it has none.
        presets: Returns the spans that can be chosen, each with its label. One of ""
            means none.
        question: What is said if none is chosen.
        check: Raises an error for a span that cannot be taken.
    """

    own: str = ""
    presets: Callable[[], Mapping[str, str]]
    question: str
    check: Callable[[str], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A parameter in the form of a page.

    Attributes:
        placeholder: What stands in it while it is empty.
        most: The largest number, or the most characters of a text; of a list of texts,
            the most characters of the field that it is typed in.
        wrong: What is said of a number that is not one, of a text that is missing, or
            of a word that is not offered.
        splits: Of a list of texts, how what was typed becomes one. It keeps a blank
            value that is to be refused.
        is_button: Whether a flag is a button, which is sent without a value.
        is_boxes: Whether a list of texts is check boxes of one name.
        span: Of a text that is a span of time, what can be chosen.
        codes: Of errors that are shown beside it.
        choices: Of check boxes, what they are called; any name is taken without it.
        name: Its name in the form, if not that of the parameter.
    """

    label: str
    help: str = ""
    placeholder: str = ""
    least: int | None = None
    most: int | None = None
    wrong: str = ""
    is_needed: bool = False
    splits: Callable[[str], list[str]] = filled_lines
    is_button: bool = False
    is_boxes: bool = False
    span: Span | None = None
    codes: tuple[str, ...] = ()
    choices: Callable[[], Iterable[str]] | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Argument:
    """How a parameter is given to a command, and on a page.

    Attributes:
        option: Such as `--where`; "" where it stands by its place; None where a command
            does not take it.
        how: What argparse takes: `metavar`, `help`, `type`, `action`, `nargs`.
        line: In the form of the page; None where that is of its own.
        removed_by: The option that removes the value, such as `--no-contact`; several
            have spaces between them.
        reads: Returns the value by what was given on the line, if that differs.
    """

    option: str | None
    how: Mapping[str, Any]
    line: Line | None
    removed_by: str = ""
    reads: Callable[[Any], Any] | None = None


def parameter(  # noqa: PLR0913 (as `Argument` has them)
    default: Any,  # noqa: ANN401 (of a field)
    option: str | None = "",
    *,
    line: Line | None = None,
    is_stated: bool = False,
    removed_by: str = "",
    reads: Callable[[Any], Any] | None = None,
    **how: Any,  # noqa: ANN401 (as argparse takes it)
) -> Any:  # noqa: ANN401 (as above)
    """Return a field of a dataclass of parameters that a command or a page takes.

    Args:
        default: Its value where it is not given; `dict` or `list` for an empty one.
        option: As in `Argument`.
        line: Likewise. The command and the REST API keep to the bounds of a whole
            number and of a text that has one.
        is_stated: Whether the body of a REST call must have it, because its default
            removes something.
        removed_by: As in `Argument`.
        reads: Likewise.
    """
    argument = Argument(option, how, line, removed_by, reads)
    if line is not None and "type" not in how:
        if line.least is not None:
            how["type"] = within(line.least, line.most)
        elif line.most is not None and is_text(argument):
            how["type"] = at_most(line.most)
    needed: dict[str, Any] = {"required": True} if is_stated else {}
    metadata = {ARGUMENT: argument, SERIALIZED: _bounds_of(argument) | needed}
    if default in FACTORIES:
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


def is_text(argument: Argument) -> bool:
    """Whether a parameter with a line and without bounds of a number is one text."""
    line = argument.line
    is_list = line is not None and (line.is_boxes or line.splits is not filled_lines)
    return not is_list and "action" not in argument.how


def _bounds_of(argument: Argument) -> dict[str, int]:
    """Return the bounds of a whole number or a text; none of anything else."""
    line = argument.line
    if line is not None and line.least is not None:
        most = MAX_WHOLE_NUMBER if line.most is None else line.most
        return {"min_value": line.least, "max_value": most}
    if line is not None and line.most is not None and is_text(argument):
        return {"max_length": line.most}
    if argument.how.get("type") is whole_number:
        return {"min_value": 0, "max_value": MAX_WHOLE_NUMBER}
    return {}


def add_parameters(
    parser: ArgumentParser, kind: type, only: Collection[str] | None = None
) -> None:
    """Let a command take parameters.

    Args:
        kind: The dataclass.
        only: Those of them that it takes; None for all.
    """
    for one in fields(kind):
        argument = one.metadata.get(ARGUMENT)
        if argument is None or argument.option is None:
            continue
        if only is not None and one.name not in only:
            continue
        name = f"{PREFIX}{one.name}"
        how = dict(argument.how)
        if one.default is UNCHANGED and how.get("action") != "append":
            how["default"] = UNCHANGED
        if argument.option:
            if "action" not in how and "choices" not in how:
                how.setdefault("metavar", one.name.upper())
            parser.add_argument(argument.option, dest=name, **how)
        else:
            parser.add_argument(name, **{"metavar": one.name, **how})
        if argument.removed_by:
            parser.add_argument(
                *argument.removed_by.split(),
                dest=name,
                action="store_const",
                const=REMOVED,
                default=SUPPRESS,
                help=f"remove it: the opposite of {argument.option}",
            )


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that were given on the line, by their names."""
    return {
        name.removeprefix(PREFIX): None if value is REMOVED else value
        for name, value in options.items()
        if name.startswith(PREFIX) and value is not None and value is not UNCHANGED
    }


def read_values(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of parameters by what was given on the line."""
    found = dict(values)
    for one in fields(kind):
        argument: Argument | None = one.metadata.get(ARGUMENT)
        reads = argument.reads if argument else None
        if reads is not None and found.get(one.name) is not None:
            found[one.name] = reads(found[one.name])
    return found


def helps_of(kind: type) -> dict[str, str]:
    """Return the help of each parameter of a dataclass that has one, by its name."""
    return {
        one.name: str(one.metadata[ARGUMENT].how["help"])
        for one in fields(kind)
        if "help" in getattr(one.metadata.get(ARGUMENT), "how", {})
    }


# === Parameters that several operations have ===


def zone_parameter(default: str, *, of: str = SQL_OF_UTC) -> Any:  # noqa: ANN401 (of a field)
    """Return the field of whose clocks show times that are written without a zone.

    Args:
        of: Where such times stand, for the help.
    """
    return parameter(default, "--time-zone", **zone_argument(of))


def zone_argument(of: str) -> dict[str, Any]:
    """Return what argparse takes for such a zone."""
    return {
        "type": time_zone,
        "metavar": "ZONE",
        "help": f"time zone of times without one in {of}: such as "
        "America/New_York or +05:30",
    }


def upgrade_parameter() -> Any:  # noqa: ANN401 (of a field)
    """Return the field that lets a change raise the protocol in the same commit."""
    return parameter(
        default=False,
        option="--upgrade",
        action="store_true",
        help="upgrade the protocol if the change needs it; this cannot be undone",
    )


def time_zone(text: str) -> str:
    """Read the name of a time zone; argparse turns the error into bad usage."""
    try:
        return time_zones.known.check_zone(text)  # which loads Arrow
    except TimeZoneUnknownError as error:
        message = f"{error.message} {error.hint}"
        raise ArgumentTypeError(message) from None


def whole_number(text: str) -> int:
    """Read a whole number from 0; argparse turns the error into bad usage."""
    value = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= value <= MAX_WHOLE_NUMBER:
        message = f"{text!r} is not a whole number from 0"
        raise ArgumentTypeError(message)
    return value


def within(least: int, most: int | None) -> Callable[[str], int]:
    """Return what reads a whole number within bounds."""

    def read(text: str) -> int:
        number = whole_number(text)
        if number < least or (most is not None and number > most):
            upto = "" if most is None else f" to {most}"
            message = f"{text!r} is not a whole number from {least}{upto}"
            raise ArgumentTypeError(message)
        return number

    return read


def at_most(most: int) -> Callable[[str], str]:
    """Return what reads a text of so many characters at most."""

    def read(text: str) -> str:
        if len(text) > most:
            message = f"it has {len(text):,} characters, but {most:,} is the limit"
            raise ArgumentTypeError(message)
        return text

    return read


def names_of(text: str) -> tuple[str, ...]:
    """Read names with commas between them; backticks quote a name."""
    return tuple(protocol.column_path.split_names(text))  # which loads Arrow


def pair(text: str) -> tuple[str, str]:
    """Read `name=value`; argparse turns the error into bad usage."""
    name, separator, value = text.partition("=")
    if not separator or not name.strip():
        message = f"{text!r} is not of the form key=value"
        raise ArgumentTypeError(message)
    return name.strip(), value.strip()


def must_be_stated(kind: type) -> bool:
    """Whether the body of a REST call must have a parameter of a dataclass."""
    return any(
        one.default is one.default_factory is MISSING
        or one.metadata.get(SERIALIZED, {}).get("required", False)
        for one in fields(kind)
    )
