"""Who may object to the removal of a table: an app registers its own guard."""

from collections.abc import Callable

from apps.tables.models import Table

# Returns what still uses the table, each in words such as "the share sales".
Guard = Callable[[Table], list[str]]

_guards: list[Guard] = []


def register(guard: Guard) -> None:
    """Ask `guard` before a table is removed; registering it again changes nothing."""
    if guard not in _guards:
        _guards.append(guard)


def unregister(guard: Guard) -> None:
    """Ask `guard` no longer."""
    if guard in _guards:
        _guards.remove(guard)


def users_of(table: Table) -> list[str]:
    """Return what still uses a table, in words."""
    return [user for guard in _guards for user in guard(table)]
