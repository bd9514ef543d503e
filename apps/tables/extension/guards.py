"""Who may object to the removal of a table: an app registers its own guard."""

from collections.abc import Callable

from deltaweb.web.pages.registry import Registry
from deltaweb.web.tables.models import Table

# Returns what still uses the table, each in words such as "the share sales".
Guard = Callable[[Table], list[str]]

guards: Registry[Guard] = Registry()


def users_of(table: Table) -> list[str]:
    """Return what still uses a table, in words."""
    return [user for guard in guards for user in guard(table)]
