"""Shared tables opened, and which of their versions are shared."""

from deltaweb.sharing.errors import HistoryNotSharedError
from deltaweb.table import DeltaTable
from deltaweb.web.sharing.access.grants.rules import rule_for
from deltaweb.web.sharing.models import Recipient, SharedTable
from deltaweb.web.tables.storage.opening import open_table, roots_of_server


def open_shared(shared: SharedTable) -> DeltaTable:
    """Open a shared table."""
    return open_table(shared.table, roots=roots_of_server())


def terms_of(shared: SharedTable, recipient: Recipient) -> tuple[str, ...]:
    """Return what a table is shared on, as texts: other terms make another answer."""
    start = shared.start_version
    return (
        str(shared.id),
        rule_for(shared, recipient).digest,
        str(shared.with_history),
        "" if start is None else str(start),
    )


def check_history(shared: SharedTable) -> None:
    """Refuse other versions than the newest where these are not shared."""
    if not shared.with_history:
        raise HistoryNotSharedError(table=shared.full_name)


def check_start(shared: SharedTable, version: int | None) -> None:
    """Refuse a version before the first one that is shared."""
    start = shared.start_version
    if version is not None and start is not None and version < start:
        raise not_shared_before(shared)


def not_shared_before(shared: SharedTable) -> HistoryNotSharedError:
    """Return what a version before the first one that is shared is refused with."""
    return HistoryNotSharedError(table=shared.full_name, since=shared.start_version)
