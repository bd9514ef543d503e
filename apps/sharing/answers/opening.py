"""Shared tables opened, and which of their versions are shared."""

from collections.abc import Iterator
from contextlib import contextmanager

from apps.sharing.access.grants.rules import TableRule
from apps.sharing.models import SharedTable
from apps.tables.storage.opening import open_table, roots_of_server
from deltaweb.delta.errors import VersionNotFoundError
from deltaweb.sharing.errors import HistoryNotSharedError
from deltaweb.table import DeltaTable


def open_shared(shared: SharedTable) -> DeltaTable:
    """Open a shared table."""
    return open_table(shared.table, roots=roots_of_server())


def terms_of(shared: SharedTable, rule: TableRule) -> tuple[str, ...]:
    """Return the terms on which a table is shared: other terms make another answer.

    Args:
        rule: The rule that the answer was made under. It is not looked up again,
            because a rule that changes meanwhile must not sign files of the old one.
    """
    start = shared.history_start
    return (str(shared.id), rule.digest, str(start is not None), str(start or ""))


def check_history(shared: SharedTable) -> None:
    """Refuse other versions than the newest where these are not shared."""
    if shared.history_start is None:
        raise HistoryNotSharedError(table=shared.full_name)


def check_start(shared: SharedTable, version: int | None) -> None:
    """Refuse a version before the first one that is shared."""
    if version is not None and version < shared.first_version:
        raise not_shared_before(shared)


@contextmanager
def naming_shared_versions(shared: SharedTable) -> Iterator[None]:
    """Name no version before the first one that is shared to who asks for another."""
    try:
        yield
    except VersionNotFoundError as error:
        start = shared.first_version
        if start <= error.earliest:
            raise
        raise VersionNotFoundError(
            root=error.root,
            version=error.version,
            earliest=min(start, error.latest),
            latest=error.latest,
        ) from error


def not_shared_before(shared: SharedTable) -> HistoryNotSharedError:
    """Return what a version before the first one that is shared is refused with."""
    return HistoryNotSharedError(table=shared.full_name, since=shared.first_version)
