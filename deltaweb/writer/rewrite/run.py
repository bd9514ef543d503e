"""Deletes and updates of rows, and what they would do."""

from collections.abc import Mapping

from deltaweb.delta.log.store import TableStore
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.state import load_state
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.delta.writing.requirements import check_writable
from deltaweb.writer.rewrite.engine import RewriteHere
from deltaweb.writer.rewrite.plan import Rewrite
from deltaweb.writer.rewrite.row_changes import RowChange, RowDeletion, RowUpdate


def read_for_rewrite(store: TableStore, operation: str) -> Snapshot:
    """Return the newest version of a table whose rows may be changed or removed."""
    state = load_state(store, None)
    check_writable(
        state.definition, root=store.root, operation=operation, removes_rows=True
    )
    return Snapshot(store, state)


def deletion(
    store: TableStore, where: str | None = None, *, time_zone: str = UTC_ZONE
) -> Rewrite:
    """Return the removal of the rows that a condition is true for; all for None."""
    snapshot = read_for_rewrite(store, RowDeletion.operation)
    return _here(store, snapshot, RowDeletion(), where, time_zone)


def update(
    store: TableStore,
    assignments: Mapping[str, str],
    where: str | None = None,
    *,
    time_zone: str = UTC_ZONE,
) -> Rewrite:
    """Return the change of the rows that a condition is true for; all for None."""
    snapshot = read_for_rewrite(store, RowUpdate.operation)
    change = RowUpdate(assignments, snapshot.schema, snapshot.metadata, time_zone)
    return _here(store, snapshot, change, where, time_zone)


def _here(
    store: TableStore,
    snapshot: Snapshot,
    change: RowChange,
    where: str | None,
    time_zone: str,
) -> Rewrite:
    engine = RewriteHere(store, snapshot, change, time_zone)
    return Rewrite(store, snapshot, change, where, engine)
