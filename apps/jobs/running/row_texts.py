"""Texts of a job's row: moments, errors, and what a database can hold."""

from datetime import datetime
from typing import Any, Final

MAX_LINE: Final = 300


def iso(moment: datetime) -> str:
    """Write a moment in UTC, to the millisecond."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def begun_step(name: str, moment: datetime) -> dict[str, str | None]:
    """Return a step as a row keeps it, from its beginning on."""
    return {"name": name, "started_at": iso(moment), "finished_at": None}


def one_line(error: BaseException) -> str:
    """Return the name of an error and the first line of what it says."""
    first = (str(error).splitlines() or [""])[0][:MAX_LINE]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def storable(value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """Drop what PostgreSQL takes neither as text nor as JSON: NUL, lone surrogates."""
    if isinstance(value, str):
        text = value.replace("\x00", "\N{REPLACEMENT CHARACTER}")
        return text.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    return value
