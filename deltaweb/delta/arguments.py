"""Arguments of a wrong type, refused by their name before anything is read."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import index
from os import PathLike, fspath

from deltaweb.errors import DeltawebError

MAX_SHOWN = 60


class WrongTypeError(DeltawebError, TypeError, code="wrong-type"):
    """An argument is of a type that is not taken.

    Attributes:
        advice: What else may be meant; or nothing.
    """

    name: str
    wanted: str
    given: str
    found: str
    advice: str
    message = "{name} takes {wanted}, not {found}: {given}."
    hint = "{advice}"


def check_number(name: str, value: object) -> None:
    """Refuse what is neither a whole number nor None; numpy's numbers are some."""
    if value is None:
        return
    try:
        if not isinstance(value, bool):
            index(value)  # type: ignore[arg-type]  # that is the question
            return
    except TypeError:
        pass
    hint = ""
    if name == "version" and isinstance(value, str | datetime):
        hint = "Give the time of a version as timestamp=."
    raise _wrong(name, "a whole number", value, hint=hint)


def check_time(name: str, value: object) -> None:
    """Refuse what is neither a datetime, ISO 8601 text nor None."""
    if not isinstance(value, str | datetime | None):
        raise _wrong(name, "a datetime, or text such as '2026-01-31T12:00:00Z'", value)


def check_names(name: str, value: object) -> None:
    """Refuse what is neither a list of names nor None; a text is one name."""
    if value is None:
        return
    is_list = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    if is_list and all(isinstance(one, str) for one in value):  # type: ignore[attr-defined]  # a Sequence
        return
    hint = f"Of one column, as {name}=[{value!r}]." if isinstance(value, str) else ""
    raise _wrong(name, "a list of column names", value, hint=hint)


def check_location(name: str, value: object) -> str:
    """Return a location as text: a path or a URL."""
    found = fspath(value) if isinstance(value, PathLike) else value
    if not isinstance(found, str):
        raise _wrong(name, "a path, or a URL as text", value)
    return found


def check_mapping(name: str, value: object) -> None:
    """Refuse what is no mapping, nor None; its values are not shown."""
    if not isinstance(value, Mapping | None):
        raise _wrong(name, "a dict", value, shown="its value is not shown")


def _wrong(
    name: str, wanted: str, value: object, *, hint: str = "", shown: str = ""
) -> WrongTypeError:
    given = shown or repr(value)
    if len(given) > MAX_SHOWN:
        given = f"{given[:MAX_SHOWN]}…"
    found = type(value).__name__
    return WrongTypeError(
        name=name, wanted=wanted, given=given, found=found, advice=hint
    )
