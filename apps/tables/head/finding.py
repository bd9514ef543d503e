"""A table by its name, and the version that a page asks for; neither loads Arrow."""

from typing import Final

from django.contrib.auth.models import AnonymousUser
from django.shortcuts import resolve_url

from apps.accounts.models import User
from apps.pages.errors import PageError
from apps.tables.models import Table
from apps.tables.permissions import (
    EDIT,
    VIEW,
    note_rights,
    require,
    rights,
    unknown_table,
)
from apps.tables.storage.received import provider_name

OF_TABLE: Final = "tables/<str:namespace>/<str:name>"
"""Where the REST API has a table, by the names that `get_table` takes."""
MAX_DIGITS = len(str(2**63))  # of a version


def get_table(user: User | AnonymousUser, namespace: str, name: str) -> Table:
    """Return a table that `user` may see."""
    named = Table.objects.with_privacy().filter(namespace=namespace, name=name)
    table = named.first() if "\x00" not in namespace + name else None
    if table is None:
        _take_as_long(user, namespace)
    if table is None or VIEW not in note_rights(user, table):
        full_name = name if namespace == "default" else f"{namespace}.{name}"
        if _is_listed(user, namespace, name):
            raise PageError(
                status=404,
                code="table-not-found",
                message=f"You cannot view {full_name}.",
                hint="It is listed, so you can request access to it.",
                way_out=(
                    "Request access",
                    resolve_url("tables:request-table", namespace, name),
                ),
            )
        raise unknown_table(user, full_name)
    return table


def _take_as_long(user: User | AnonymousUser, namespace: str) -> None:
    """Look up rights without a table, so that a hidden one takes no longer."""
    if "\0" not in namespace:
        rights(user, [Table(namespace=namespace)], private=[])


def _is_listed(user: User | AnonymousUser, namespace: str, name: str) -> bool:
    """Whether a user, who must have an account, finds a table without seeing it."""
    if not (user.is_authenticated and user.is_active) or "\0" in namespace + name:
        return False
    listed = Table.objects.filter(namespace=namespace, name=name, is_listed=True)
    return listed.exists()


class ReceivedTableError(PageError, code="table-received"):
    """Something that only the owner of a table can do, of a received one."""

    table: str
    provider: str
    status = 403
    message = "{table} is shared by {provider}. You can read it, but not change it."
    hint = "Ask {provider} for the change."


def get_own_table(
    user: User | AnonymousUser, namespace: str, name: str, right: str = EDIT
) -> Table:
    """Return a table on which `user` has a right, and which this server may change.

    Raises:
        RightRequiredError: If the user sees the table, and lacks the right.
        ReceivedTableError: If a provider shares it.
    """
    table = get_table(user, namespace, name)
    require(user, right, table)
    check_own(table)
    return table


def check_own(table: Table) -> None:
    """Refuse a table that a provider shares.

    Raises:
        ReceivedTableError: If it is one.
    """
    if provider := provider_name(table.location):
        raise ReceivedTableError(table=table.full_name, provider=provider)


def requested_version(table: Table, text: str) -> int | None:
    """Return the version that `?v=` asks for; the newest indexed one for ""."""
    if not text:
        return table.version
    first, latest = _version_range(table)
    digits = text.strip()
    known = digits.isascii() and digits.isdigit() and len(digits) < MAX_DIGITS
    if latest is None:
        raise PageError(
            status=404,
            code="version-not-found",
            message=f"{table.full_name} is not indexed yet: no version can be shown."
            if not table.error
            else f"No version of {table.full_name} could be indexed: {table.error}",
            hint=table.error_hint
            or "Wait for its index, or open the table without a version.",
            way_out=("To the table", table.get_absolute_url()),
        )
    if not known or not first <= int(digits) <= latest:
        raise PageError(
            status=404,
            code="version-not-found",
            message=f"{table.full_name} has no version {text[:40]!r}.",
            hint=f"Choose a version from {first} to {latest}.",
            way_out=(f"To version {latest}, the newest", table.get_absolute_url()),
        )
    return int(digits)


def _version_range(table: Table) -> tuple[int, int | None]:
    """Return the first version that is known of and the newest indexed one."""
    runs = table.summary.get("readable_runs") or [[0]]
    first = runs[0][0] if isinstance(runs[0], list) and runs[0] else 0
    return (first if isinstance(first, int) else 0), table.version
