"""Who needs a table, or versions of it: an app registers who objects to their removal.

A guard names what still uses the table; a finder says which versions have to stay
readable, and until when.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import OperationalError

from apps.pages.registry import Registry
from apps.tables.models import Table

# Returns what still uses the table, each in words such as "the share sales".
Guard = Callable[[Table], list[str]]

guards: Registry[Guard] = Registry()


def users_of(table: Table) -> list[str]:
    """Return what still uses a table, in words."""
    return [user for guard in guards for user in guard(table)]


# === Versions that stay readable ===


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldVersions:
    """A version that stays readable, and all later ones.

    Attributes:
        version: The oldest of them.
        holder: For whom, in words such as "initech, who reads it as sales.orders".
    """

    version: int
    ends_at: datetime
    holder: str


Finder = Callable[[Table, datetime], Iterable[HeldVersions]]
finders: Registry[Finder] = Registry()


def holds_at(location: str, *, now: datetime) -> list[HeldVersions]:
    """Return what is held of the tables at a location, the oldest version first.

    Nothing where there is no catalog yet: a command takes any folder.
    """
    try:
        tables = list(Table.objects.filter(location=location))
    except OperationalError:
        return []
    found = [
        hold for table in tables for finder in finders for hold in finder(table, now)
    ]
    return sorted(found, key=lambda hold: (hold.version, hold.holder))


def oldest_held(holds: Iterable[HeldVersions]) -> int | None:
    """Return the oldest version that stays readable; None where none has to."""
    return min((hold.version for hold in holds), default=None)


def holds_text(holds: Iterable[HeldVersions]) -> str:
    """Return what is held and for whom, in sentences; "" for nothing."""
    return " ".join(
        f"Version {hold.version} and later ones stay readable for {hold.holder}, until "
        f"{hold.ends_at:%Y-%m-%d}."
        for hold in holds
    )
